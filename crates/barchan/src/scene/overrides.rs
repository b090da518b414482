//! Overrides: `--set solver.tolerance=1e-4` on top of what a file says.
//!
//! They act on the parsed document, before it becomes a scene, so that an override may do just
//! what an edit of the file may do. Values that come from override k carry a span that no text
//! can have, [`span_of`]`(k)`: whatever goes wrong with them later is traced back to it.
//!
//! An entry of a list is meant by its number, or by its name where entries have names: `material.sand.friction`.

use super::error::{Fault, Location};
use crate::util::words::{nearest, quoted};
use crate::world::Material;
use std::borrow::Cow;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// The span that marks what comes from override `k`.
pub(crate) fn span_of(k: usize) -> Range<usize> {
    let end = usize::MAX - k;
    end - 1..end
}

/// The override that a span marks, if it marks one of `count`.
pub(crate) fn override_of(span: &Range<usize>, count: usize) -> Option<usize> {
    (0..count).find(|&k| span_of(k) == *span)
}

/// The keys and indices of a dotted path; `a[0].b` and `a.0.b` are the same.
pub(crate) fn segments(path: &str) -> Vec<String> {
    path.replace('[', ".").replace(']', "").split('.').map(|s| s.trim().to_owned()).collect()
}

/// Lists whose entries have names, and the name of an entry that says none.
fn default_name(list: &str) -> Option<String> {
    (list == "material").then(|| Material::default().name)
}

/// Sets the value at a dotted path; tables and lists on the way are made if they are missing.
pub(crate) fn apply<'i>(root: &mut Spanned<DeTable<'i>>, k: usize, key: &'i str, value: &'i str) -> Result<(), Fault> {
    let fault = |message: String| Fault { place: Location::Override(key.to_owned()), path: String::new(), message };
    let value = parse(value).map_err(fault)?;
    let path = segments(key);
    if path.iter().any(String::is_empty) {
        return Err(fault("a key must be dotted names, such as solver.tolerance or material.0.friction".into()));
    }
    let table = std::mem::take(root.get_mut());
    let mut document = Spanned::new(root.span(), DeValue::Table(table));
    let done = set(&mut document, &path, marked(value, k), k);
    if let DeValue::Table(table) = document.into_inner() {
        *root.get_mut() = table;
    }
    done.map_err(fault)
}

/// Walks to the place and puts the value there.
fn set<'i>(
    document: &mut Spanned<DeValue<'i>>,
    path: &[String],
    value: Spanned<DeValue<'i>>,
    k: usize,
) -> Result<(), String> {
    let mut node = document;
    for (depth, segment) in path.iter().enumerate() {
        // What a missing node becomes: a list if an index follows. A list of names that is not in the text has the
        // one entry that is there by default.
        let missing = || {
            let next = path.get(depth + 1);
            let index = next.is_some_and(|next| next.parse::<usize>().is_ok());
            let by_name = !index && next.is_some() && default_name(segment).is_some();
            let mut array = DeArray::new();
            if by_name {
                array.push(Spanned::new(span_of(k), DeValue::Table(DeTable::new())));
            }
            let empty = if index || by_name { DeValue::Array(array) } else { DeValue::Table(DeTable::new()) };
            Spanned::new(span_of(k), empty)
        };
        let kind = node.get_ref().type_str();
        node = match node.get_mut() {
            DeValue::Table(table) => {
                let key = Spanned::new(span_of(k), Cow::Owned(segment.clone()));
                table.entry(key).or_insert_with(missing)
            }
            DeValue::Array(array) => {
                let index = match segment.parse() {
                    Ok(index) => index,
                    Err(_) => by_name(array, &path[..depth], segment)?,
                };
                let count = array.len();
                if index == count {
                    array.push(missing());
                }
                array.get_mut(index).ok_or_else(|| {
                    format!("{} has {count} entries, numbered from 0: there is no {index}", path[..depth].join("."))
                })?
            }
            _ => return Err(format!("{} is a {kind} and has no \"{segment}\" in it", path[..depth].join("."))),
        };
    }
    *node = value;
    Ok(())
}

/// The number of the entry with this name, in the list at this path.
fn by_name(array: &DeArray<'_>, path: &[String], name: &str) -> Result<usize, String> {
    let list = path.join(".");
    let Some(default) = default_name(&list) else {
        return Err(format!("{list} is a list: an index must follow, not \"{name}\""));
    };
    let names: Vec<&str> = array.iter().map(|entry| name_of(entry.get_ref()).unwrap_or(&default)).collect();
    names.iter().position(|known| *known == name).ok_or_else(|| {
        let hint = nearest(name, names.iter().copied()).map(|best| format!("; did you mean \"{best}\"?"));
        let names = quoted(names.iter().copied());
        format!(
            "{list} has no entry \"{name}\"{} Expected a name, of {names}, or an index, from 0",
            hint.unwrap_or_else(|| ".".into())
        )
    })
}

/// The name that an entry says it has.
fn name_of<'a>(entry: &'a DeValue<'_>) -> Option<&'a str> {
    entry.as_table()?.get("name")?.get_ref().as_str()
}

/// Reads the text as a TOML value; words that are none are strings.
fn parse(text: &str) -> Result<DeValue<'_>, String> {
    match DeValue::parse(text) {
        Ok(value) => Ok(value.into_inner()),
        Err(_) if text.starts_with(|c: char| c.is_alphabetic()) => Ok(DeValue::String(Cow::Borrowed(text))),
        Err(error) => Err(format!("cannot read the value {text:?}: {} (quote a string: '\"...\"')", error.message())),
    }
}

/// The value with the mark of override `k` on all its parts.
fn marked(value: DeValue<'_>, k: usize) -> Spanned<DeValue<'_>> {
    let value = match value {
        DeValue::Array(array) => {
            let mut marks = DeArray::new();
            array.into_iter().for_each(|item| marks.push(marked(item.into_inner(), k)));
            DeValue::Array(marks)
        }
        DeValue::Table(table) => DeValue::Table(
            table
                .into_iter()
                .map(|(key, value)| (Spanned::new(span_of(k), key.into_inner()), marked(value.into_inner(), k)))
                .collect(),
        ),
        other => other,
    };
    Spanned::new(span_of(k), value)
}

//! All that serde refuses, where it stops at the first: what it has refused is taken out of the document, and
//! it reads the rest.
//!
//! What is taken out may leave something missing. Faults that only follow from others are not told: a name that
//! is needed and was taken out because its value is wrong, or a table that is empty without its only key.

use super::Scene;
use super::error::{Fault, Location};
use super::locate::{Source, path_of};
use super::toml::{explain, hinted};
use serde::Deserialize;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue, Deserializer};

/// So many faults are enough for one time.
const MOST: usize = 50;

/// What became of a document.
pub(super) struct Reading {
    /// The scene of all that could be read, if any could.
    pub(super) scene: Option<Scene>,
    /// What could not, in the order of lines.
    pub(super) faults: Vec<Fault>,
    /// Whether entries of lists are missing from the scene: others have lower numbers than in the text then.
    pub(super) lacks_entries: bool,
}

/// Reads as much of a document as can be read.
pub(super) fn read(document: &Spanned<DeTable<'_>>, source: &Source<'_>) -> Reading {
    let mut rest = document.clone();
    let mut reading = Reading { scene: None, faults: Vec::new(), lacks_entries: false };
    // The keys that were refused, as far as they are known.
    let mut refused: Vec<String> = Vec::new();
    while reading.faults.len() < MOST {
        let error = match Scene::deserialize(Deserializer::from(rest.clone())) {
            Ok(scene) => {
                reading.scene = Some(scene);
                break;
            }
            Err(error) => error,
        };
        let span = error.span().filter(|span| *span != (0..0));
        let path = span.as_ref().map_or_else(String::new, |span| path_of(document.get_ref(), span));
        let culprit = match missing(error.message()) {
            Some(name) if !path.is_empty() => format!("{path}.{name}"),
            _ => path,
        };
        let fault = explain(&error, document.get_ref(), source);
        let told = reading.faults.iter().any(|other| is_same_override(&other.place, &fault.place));
        if !told && !refused.iter().any(|other| is_within(other, &culprit)) {
            // A key by another name is not told to be missing beside that.
            let table = culprit.rsplit_once('.').map_or("", |(table, _)| table);
            refused.extend(hinted(&fault).map(|name| format!("{table}.{name}")));
            reading.faults.push(fault);
        }
        refused.push(culprit);
        match span.and_then(|span| take_out(rest.get_mut(), &span)) {
            Some(is_entry) => reading.lacks_entries |= is_entry,
            None => break,
        }
    }
    reading.faults.sort_by_key(|fault| line(&fault.place));
    reading
}

/// The key that serde misses.
fn missing(message: &str) -> Option<&str> {
    message.strip_prefix("missing field `")?.split('`').next()
}

/// Whether a path is another one, or lies below it.
pub(super) fn is_within(path: &str, above: &str) -> bool {
    !above.is_empty() && path.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Of an override, one fault is enough.
fn is_same_override(a: &Location, b: &Location) -> bool {
    matches!(a, Location::Override(_)) && a == b
}

/// Overrides come after the text.
fn line(place: &Location) -> usize {
    match place {
        Location::Line { line, .. } => *line,
        Location::Whole(_) => 0,
        Location::Override(_) => usize::MAX,
    }
}

/// Takes out the innermost key or entry of a list that has this span, or whose value has it: tables that one
/// override has made may hold what others have set. Whether it was an entry; `None` if there is nothing to take out.
fn take_out(table: &mut DeTable<'_>, span: &Range<usize>) -> Option<bool> {
    let below = table.iter_mut().find_map(|(_, value)| take_out_below(value, span));
    if below.is_some() {
        return below;
    }
    let own = table.iter().find(|(key, value)| key.span() == *span || is_value(value, span));
    let key = own.map(|(key, _)| key.get_ref().to_string())?;
    table.remove(key.as_str());
    Some(false)
}

/// Whether a value has this span, or is a list of plain values of which one has it. A list of tables has the span
/// of its first entry: that entry is meant.
fn is_value(value: &Spanned<DeValue<'_>>, span: &Range<usize>) -> bool {
    match value.get_ref() {
        DeValue::Array(array) if array.iter().any(|item| item.get_ref().is_table()) => false,
        DeValue::Array(array) => value.span() == *span || array.iter().any(|item| is_value(item, span)),
        _ => value.span() == *span,
    }
}

fn take_out_below(value: &mut Spanned<DeValue<'_>>, span: &Range<usize>) -> Option<bool> {
    match value.get_mut() {
        DeValue::Table(table) => take_out(table, span),
        DeValue::Array(array) => {
            let below = array.iter_mut().find_map(|item| take_out_below(item, span));
            if below.is_some() {
                return below;
            }
            let is_table = |item: &Spanned<DeValue<'_>>| item.get_ref().is_table();
            if let Some(k) = array.iter().position(|item| is_table(item) && is_value(item, span)) {
                let kept = std::mem::replace(array, DeArray::new()).into_iter().enumerate().filter(|(i, _)| *i != k);
                let mut rest = DeArray::new();
                kept.for_each(|(_, item)| rest.push(item));
                *array = rest;
                return Some(true);
            }
            None
        }
        _ => None,
    }
}

//! From a place in the text to a key path and back.

use super::error::{Location, push_segment};
use super::overrides::{override_of, segments};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A parsed document with what is needed to say where things stand in it.
pub(crate) struct Source<'a> {
    pub(crate) text: &'a str,
    pub(crate) origin: &'a str,
    pub(crate) overrides: &'a [(String, String)],
}

impl Source<'_> {
    /// The place that a span means.
    pub(crate) fn place(&self, span: Option<Range<usize>>) -> Location {
        let Some(span) = span else { return Location::Whole(self.origin.to_owned()) };
        if let Some(k) = override_of(&span, self.overrides.len()) {
            return Location::Override(self.overrides[k].0.clone());
        }
        let before = &self.text.as_bytes()[..span.start.min(self.text.len())];
        Location::Line { origin: self.origin.to_owned(), line: 1 + before.iter().filter(|&&b| b == b'\n').count() }
    }

    /// The place of the value at a path, or of the nearest thing above it that the text has.
    pub(crate) fn place_of(&self, document: &DeTable<'_>, path: &str) -> Location {
        self.place(Self::walk(document, path).0)
    }

    /// Whether there is a value at a path.
    pub(crate) fn has(&self, document: &DeTable<'_>, path: &str) -> bool {
        Self::walk(document, path).1
    }

    /// The span of the value at a path, or of the nearest thing above it, and whether it is the value.
    fn walk(document: &DeTable<'_>, path: &str) -> (Option<Range<usize>>, bool) {
        let mut span = None;
        let mut node: Option<&Spanned<DeValue<'_>>> = None;
        for segment in segments(path) {
            let next = match node.map(Spanned::get_ref) {
                None => document.get(segment.as_str()),
                Some(DeValue::Table(table)) => table.get(segment.as_str()),
                Some(DeValue::Array(array)) => segment.parse().ok().and_then(|i: usize| array.get(i)),
                Some(_) => None,
            };
            let Some(next) = next else { return (span, false) };
            span = Some(next.span());
            node = Some(next);
        }
        (span, true)
    }
}

/// The path of the first key or value with exactly this span; among nested ones the outermost
/// key. Empty if there is none.
pub(crate) fn path_of(document: &DeTable<'_>, span: &Range<usize>) -> String {
    in_table(document, span, "").unwrap_or_default()
}

fn in_table(table: &DeTable<'_>, span: &Range<usize>, path: &str) -> Option<String> {
    table.iter().find_map(|(key, value)| {
        let mut here = path.to_owned();
        push_segment(&mut here, key.get_ref());
        if key.span() == *span { Some(here) } else { in_value(value, span, &here) }
    })
}

fn in_value(value: &Spanned<DeValue<'_>>, span: &Range<usize>, path: &str) -> Option<String> {
    // A list of tables has the span of its first header: the entry is the better answer.
    let below = match value.get_ref() {
        DeValue::Table(table) => in_table(table, span, path),
        DeValue::Array(array) => {
            array.iter().enumerate().find_map(|(i, item)| in_value(item, span, &format!("{path}[{i}]")))
        }
        _ => None,
    };
    below.or_else(|| (value.span() == *span).then(|| path.to_owned()))
}

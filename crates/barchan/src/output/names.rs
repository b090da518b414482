//! What names of files say.

use super::atomic::PARTIAL_SUFFIX;

/// The name that a partial file is to have; that of any other file is its own.
pub(super) fn whole_name(name: &str) -> &str {
    partial_of(name).unwrap_or(name)
}

/// The name that a partial file is to have; `None` of any other file.
pub(super) fn partial_of(name: &str) -> Option<&str> {
    name.strip_prefix('.').and_then(|name| name.strip_suffix(PARTIAL_SUFFIX))
}

/// Whether a text is a number of so many digits or more.
pub(super) fn is_number(text: &str, digits: usize) -> bool {
    text.len() >= digits && text.bytes().all(|b| b.is_ascii_digit())
}

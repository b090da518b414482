//! What can be wrong with a file, and where.

use std::fmt;

/// Why something cannot be read from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    object: String,
    offset: Option<u64>,
    what: String,
}

impl Error {
    /// The path of the object that was read, empty if it was the file itself.
    pub fn object(&self) -> &str {
        &self.object
    }

    /// The place in the file, in bytes from its start, if there is one.
    pub fn offset(&self) -> Option<u64> {
        self.offset
    }

    /// What was found and what was expected.
    pub fn what(&self) -> &str {
        &self.what
    }

    pub(crate) fn new(object: &str, fault: Fault) -> Self {
        Self { object: object.into(), offset: fault.offset, what: fault.what }
    }
}

/// As "object, byte place: what".
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.object.as_str(), self.offset) {
            ("", None) => write!(f, "{}", self.what),
            ("", Some(offset)) => write!(f, "byte {offset}: {}", self.what),
            (object, None) => write!(f, "{object}: {}", self.what),
            (object, Some(offset)) => write!(f, "{object}, byte {offset}: {}", self.what),
        }
    }
}

impl std::error::Error for Error {}

/// An error that does not know yet in which object it occurred.
#[derive(Debug)]
pub(crate) struct Fault {
    offset: Option<u64>,
    what: String,
}

impl Fault {
    pub(crate) fn at(offset: u64, what: impl Into<String>) -> Self {
        Self { offset: Some(offset), what: what.into() }
    }

    /// One that no single place is to blame for.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { offset: None, what: what.into() }
    }
}

//! Problems as files.

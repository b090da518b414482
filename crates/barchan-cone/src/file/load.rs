//! Problems from files of any format that can be read, told apart by how they begin.

use crate::Problem;
use crate::file::text::{HEADER_NAME, ProblemFileError};
use crate::problem::assembled::Assembled;
use barchan_hdf5::SIGNATURE;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

/// Bytes by which formats are told apart.
const HEAD: u64 = 64;

/// A problem in either of its forms.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time, and it is read from a file")]
pub enum AnyProblem {
    /// By its bodies: Barchan's own format.
    Bodies(Problem),
    /// By its matrix: the format of whitespace-separated numbers, or FCLIB's.
    Matrix(Assembled),
}

impl AnyProblem {
    /// Reads a file of any known format.
    ///
    /// # Errors
    /// If it cannot be read, or does not hold a valid problem: with the line and what is expected.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ProblemFileError> {
        let path = path.as_ref();
        let origin = path.display().to_string();
        match File::open(path) {
            Ok(file) => Self::read(BufReader::new(file), &origin),
            Err(source) => Err(ProblemFileError::Read { origin, source }),
        }
    }

    /// Reads a problem of any known format; `origin` names the source in errors.
    ///
    /// # Errors
    /// As [`AnyProblem::load`].
    pub fn read(mut input: impl BufRead, origin: &str) -> Result<Self, ProblemFileError> {
        let mut head = Vec::new();
        let read = input.by_ref().take(HEAD).read_to_end(&mut head);
        read.map_err(|source| ProblemFileError::Read { origin: origin.into(), source })?;
        let format = Format::of(&head);
        let mut input = Cursor::new(&head).chain(input);
        match format {
            Format::Own => Problem::read(input, origin).map(Self::Bodies),
            Format::Numbers => Assembled::read(input, origin).map(Self::Matrix),
            Format::Hdf5 => {
                let mut bytes = Vec::new();
                let read = input.read_to_end(&mut bytes);
                read.map_err(|source| ProblemFileError::Read { origin: origin.into(), source })?;
                Assembled::read_fclib(bytes, origin).map(Self::Matrix)
            }
            Format::Other(what) => Err(ProblemFileError::Unknown { origin: origin.into(), what }),
        }
    }

    /// Number of contacts.
    pub fn contacts(&self) -> usize {
        match self {
            Self::Bodies(problem) => problem.contacts(),
            Self::Matrix(problem) => problem.contacts(),
        }
    }

    /// Writes the problem as text: by its bodies or by its matrix.
    ///
    /// # Errors
    /// If `out` cannot be written to.
    pub fn write(&self, out: &mut impl io::Write) -> io::Result<()> {
        match self {
            Self::Bodies(problem) => problem.write(out),
            Self::Matrix(problem) => problem.write(out),
        }
    }
}

/// What a file seems to hold.
enum Format {
    Own,
    Numbers,
    /// In which FCLIB keeps its problems.
    Hdf5,
    /// Nothing that can be read.
    Other(String),
}

impl Format {
    fn of(head: &[u8]) -> Self {
        if head.starts_with(SIGNATURE) {
            return Self::Hdf5;
        }
        let mut words = head.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let first = words.next().map(String::from_utf8_lossy);
        match first.as_deref() {
            None => Self::Other("the file is empty, expected a contact problem".into()),
            Some(HEADER_NAME) => Self::Own,
            Some(word) if word.parse::<f64>().is_ok() => Self::Numbers,
            Some(word) => Self::Other(format!(
                "not a contact problem: it begins with {word:?}, expected {HEADER_NAME:?} (Barchan's own format), \"3\" \
                 (the text format with the matrix) or the signature of an HDF5 file (FCLIB's format)"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(bytes: &[u8]) -> String {
        AnyProblem::read(bytes, "some.file").unwrap_err().to_string()
    }

    #[test]
    fn formats_are_told_by_how_they_begin() {
        let mut text = Vec::new();
        Problem::default().write(&mut text).unwrap();
        let own = AnyProblem::read(text.as_slice(), "own").unwrap();
        assert_eq!(own, AnyProblem::Bodies(Problem::default()));
        let matrix = AnyProblem::read("\n 3 1  0 3 3 3 3  1 0 0  0 1 0  0 0 1  -1 0 0  0.5\n".as_bytes(), "m").unwrap();
        assert!(matches!(&matrix, AnyProblem::Matrix(_)));
        assert_eq!(matrix.contacts(), 1);
        // And each is written as it was read.
        for problem in [own, matrix] {
            let mut text = Vec::new();
            problem.write(&mut text).unwrap();
            assert_eq!(AnyProblem::read(text.as_slice(), "again").unwrap(), problem);
        }
    }

    #[test]
    fn what_is_no_problem_is_named() {
        assert_eq!(error(b""), "some.file: the file is empty, expected a contact problem");
        assert_eq!(error(b" \n\t\n"), "some.file: the file is empty, expected a contact problem");
        assert!(error(b"\x89HDF\r\n\x1a\n\0\0").starts_with("some.file: byte 9: expected"));
        assert!(error(b"[solver]\n").contains("begins with \"[solver]\", expected \"barchan-problem\""));
        assert!(error(&[0xff; 200]).contains("not a contact problem"));
        assert!(error(b"barchan-problem 7\n").starts_with("some.file:1: expected \"barchan-problem 2\""));
        assert!(error(b"2 1 0").starts_with("some.file:1: "));
        let error = AnyProblem::load("there/is/none").unwrap_err().to_string();
        assert!(error.starts_with("there/is/none: No such file"), "{error}");
    }
}

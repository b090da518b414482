//! Assembled problems as files of whitespace-separated numbers, the text format of other
//! programs of the field.
//!
//! ```text
//! 3                                  the dimension
//! 1                                  contacts
//! 1  3 3                             the matrix: 1 for sparse in blocks, its rows and columns
//! 1  1 1                             blocks, block rows, block columns
//! 3                                  where each block row ends
//! 3                                  where each block column ends
//! 2 1                                lengths of the next two lists
//! 0 1                                where the blocks of each row start, and their number
//! 0                                  the column of each block
//! 0  1.0 0.0 0.0  0.0 2.0 0.0  0.0 0.0 2.0
//! -1.0 0.1 0.0                       the right-hand side
//! 0.5                                the friction
//! ```
//!
//! A block is its number, from 0, and its entries column by column. A matrix of the kind 0 is
//! dense: rows and columns, rows and columns again, and all entries column by column. Where lines
//! end does not matter. The text behind the numbers above is not part of the format.

use crate::file::text::ProblemFileError;
use crate::problem::assembled::{Assembled, BadAssembled};
use crate::problem::law::bounded;
use crate::{ContactScalars, ContactVec};
use glam::{DMat3, DVec3};
use std::fmt::{Arguments, Display};
use std::io::{self, BufRead, ErrorKind, Write};

/// The only dimension there is here.
const DIMENSION: usize = 3;
/// Kinds of matrices.
const DENSE: usize = 0;
const SPARSE_BLOCK: usize = 1;
const KINDS: &str = "the kind of matrix, 0 (dense) or 1 (sparse in blocks)";
/// Bytes that a word may have: no program writes longer numbers, and a file without spaces must
/// not fill the memory.
const LONGEST_WORD: usize = 1000;
/// Letters of a word that errors show.
const SHOWN: usize = 40;

impl Assembled {
    /// Writes the problem, its matrix sparse in blocks.
    ///
    /// # Errors
    /// If `out` cannot be written to.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let (m, blocks) = (self.contacts(), self.blocks.len());
        writeln!(out, "{DIMENSION}\n{m}\n{SPARSE_BLOCK}\n{}\n{}\n{blocks}\n{m}\n{m}", 3 * m, 3 * m)?;
        for _ in 0..2 {
            write_list(out, (1..=m).map(|i| 3 * i))?;
        }
        writeln!(out, "{}\n{blocks}", m + 1)?;
        write_list(out, &self.starts)?;
        write_list(out, &self.columns)?;
        for (index, block) in self.blocks.iter().enumerate() {
            writeln!(out, "{index}")?;
            for column in [block.x_axis, block.y_axis, block.z_axis] {
                write_vector(out, column)?;
            }
        }
        self.bias.iter().try_for_each(|b| write_vector(out, b))?;
        (0..m).try_for_each(|i| writeln!(out, "{:?}", self.friction[i]))
    }

    /// Reads a problem; `origin` names the source in errors.
    ///
    /// # Errors
    /// If it cannot be read, something is not as it should be, or [`Assembled::check`] objects.
    pub fn read(input: impl BufRead, origin: &str) -> Result<Self, ProblemFileError> {
        let mut tokens = Tokens { input, origin, ahead: 1, line: 1, word: Vec::new() };
        tokens.exactly(DIMENSION, format_args!("the dimension {DIMENSION}"))?;
        let m = tokens.index(format_args!("the number of contacts"))?;
        if u32::try_from(m).is_err() {
            return Err(tokens.fault(format_args!("{m} contacts are too many, expected fewer than 2^32")));
        }
        let kind = match tokens.index(format_args!("{KINDS}"))? {
            found @ (DENSE | SPARSE_BLOCK) => found,
            found => return Err(tokens.fault(format_args!("expected {KINDS}, found {found}"))),
        };
        tokens.size(m)?;
        let mut matrix = if kind == DENSE { read_dense(&mut tokens, m)? } else { read_sparse(&mut tokens, m)? };

        let mut bias = Vec::new();
        for contact in 0..m {
            let mut b = DVec3::ZERO;
            for k in 0..3 {
                b[k] = tokens.number(format_args!("entry {} of the right-hand side", 3 * contact + k))?;
            }
            if !b.length_squared().is_finite() {
                let what = format_args!("the right-hand side of contact {contact} is too large to compute with");
                return Err(tokens.fault(what));
            }
            bias.push(b);
        }
        let mut friction = Vec::new();
        for contact in 0..m {
            let μ = tokens.number(format_args!("the friction of contact {contact}"))?;
            if μ < 0.0 {
                let what = format_args!("the friction of contact {contact} must not be negative, found {μ}");
                return Err(tokens.fault(what));
            }
            friction.push(bounded(μ));
        }
        tokens.nothing_more()?;

        let lines = std::mem::take(&mut matrix.lines);
        let problem = Self {
            starts: matrix.starts,
            columns: matrix.columns,
            blocks: matrix.blocks,
            friction: ContactScalars::from_slice(&friction),
            bias: ContactVec::from_slice(&bias),
            slip_rounding: 0.0,
        };
        problem.check().map_err(|bad| {
            tokens.line = match &bad {
                BadAssembled::Block { index, .. } => lines[*index],
                BadAssembled::Contact { contact, .. } => matrix.row_lines[*contact],
                _ => tokens.line,
            };
            tokens.fault(bad)
        })?;
        Ok(problem)
    }
}

fn write_list(out: &mut impl Write, items: impl IntoIterator<Item = impl Display>) -> io::Result<()> {
    for (k, item) in items.into_iter().enumerate() {
        write!(out, "{}{item}", if k == 0 { "" } else { " " })?;
    }
    writeln!(out)
}

fn write_vector(out: &mut impl Write, v: DVec3) -> io::Result<()> {
    writeln!(out, "{:?} {:?} {:?}", v.x, v.y, v.z)
}

/// A matrix with the lines on which its blocks and its rows begin.
#[derive(Default)]
struct Matrix {
    starts: Vec<usize>,
    columns: Vec<u32>,
    blocks: Vec<DMat3>,
    lines: Vec<usize>,
    row_lines: Vec<usize>,
}

/// The matrix that is sparse in blocks, behind its size.
fn read_sparse<R: BufRead>(tokens: &mut Tokens<'_, R>, m: usize) -> Result<Matrix, ProblemFileError> {
    let count = tokens.index(format_args!("the number of blocks"))?;
    tokens.exactly(m, format_args!("{m} block rows, one a contact"))?;
    tokens.exactly(m, format_args!("{m} block columns, one a contact"))?;
    for side in ["row", "column"] {
        for k in 0..m {
            let end = 3 * (k + 1);
            tokens.exactly(end, format_args!("{end}, the end of block {side} {k}: blocks are 3 by 3"))?;
        }
    }
    tokens.exactly(m + 1, format_args!("{}, the length of the list of row starts", m + 1))?;
    tokens.exactly(count, format_args!("{count}, the length of the list of columns: one a block"))?;

    let mut matrix = Matrix::default();
    tokens.exactly(0, format_args!("0, the start of block row 0"))?;
    matrix.starts.push(0);
    for row in 0..m {
        matrix.row_lines.push(tokens.line);
        let (from, end) = (matrix.starts[row], tokens.index(format_args!("the end of block row {row}"))?);
        if end < from || end > count || (row + 1 == m && end != count) {
            let least = if row + 1 == m { count } else { from };
            let what = format_args!("expected the end of block row {row}, from {least} to {count}, found {end}");
            return Err(tokens.fault(what));
        }
        matrix.starts.push(end);
    }
    for index in 0..count {
        let column = tokens.index(format_args!("the column of block {index}"))?;
        if column >= m {
            let what = format_args!("block {index} is in column {column}, but there are {m}, numbered from 0");
            return Err(tokens.fault(what));
        }
        matrix.columns.push(column as u32);
    }
    for index in 0..count {
        tokens.exactly(index, format_args!("{index}, the number of the next block"))?;
        matrix.lines.push(tokens.line);
        let mut block = [0.0; 9];
        for (k, entry) in block.iter_mut().enumerate() {
            *entry = tokens.number(format_args!("entry ({}, {}) of block {index}", k % 3, k / 3))?;
        }
        matrix.blocks.push(DMat3::from_cols_array(&block));
    }
    Ok(matrix.sorted())
}

impl Matrix {
    /// The blocks of each row in the order of their columns. Files need not keep it.
    fn sorted(self) -> Self {
        if self.starts.windows(2).all(|row| self.columns[row[0]..row[1]].is_sorted()) {
            return self;
        }
        let mut order: Vec<usize> = (0..self.blocks.len()).collect();
        for row in self.starts.windows(2) {
            order[row[0]..row[1]].sort_by_key(|&k| self.columns[k]);
        }
        Self {
            columns: order.iter().map(|&k| self.columns[k]).collect(),
            blocks: order.iter().map(|&k| self.blocks[k]).collect(),
            lines: order.iter().map(|&k| self.lines[k]).collect(),
            ..self
        }
    }
}

/// The dense matrix, behind its size. Blocks off the diagonal that are zero are left out.
fn read_dense<R: BufRead>(tokens: &mut Tokens<'_, R>, m: usize) -> Result<Matrix, ProblemFileError> {
    tokens.size(m)?;
    // Blocks column by column, as they come.
    let (mut blocks, mut lines) = (Vec::<[f64; 9]>::new(), Vec::new());
    for column in 0..3 * m {
        for row in 0..3 * m {
            let entry = tokens.number(format_args!("entry ({row}, {column}) of the matrix"))?;
            if row % 3 == 0 && column % 3 == 0 {
                blocks.push([0.0; 9]);
                lines.push(tokens.line);
            }
            blocks[column / 3 * m + row / 3][column % 3 * 3 + row % 3] = entry;
        }
    }
    let mut matrix = Matrix { starts: vec![0], ..Matrix::default() };
    for row in 0..m {
        for column in 0..m {
            let (block, line) = (&blocks[column * m + row], lines[column * m + row]);
            if row == column || block.iter().any(|x| *x != 0.0) {
                matrix.columns.push(column as u32);
                matrix.blocks.push(DMat3::from_cols_array(block));
                matrix.lines.push(line);
            }
        }
        matrix.row_lines.push(lines[row]);
        matrix.starts.push(matrix.blocks.len());
    }
    Ok(matrix)
}

/// The words of a file, one at a time, with the lines on which they stand.
struct Tokens<'a, R> {
    input: R,
    origin: &'a str,
    /// The line up to which bytes were taken.
    ahead: usize,
    /// The line of the last word.
    line: usize,
    word: Vec<u8>,
}

impl<R: BufRead> Tokens<'_, R> {
    fn fault(&self, message: impl Display) -> ProblemFileError {
        ProblemFileError::Line { origin: self.origin.into(), line: self.line, message: message.to_string() }
    }

    /// Takes the next word; whether there is one.
    fn advance(&mut self) -> Result<bool, ProblemFileError> {
        self.word.clear();
        loop {
            let bytes = match self.input.fill_buf() {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(source) => return Err(ProblemFileError::Read { origin: self.origin.into(), source }),
                Ok(bytes) => bytes,
            };
            let space = if self.word.is_empty() {
                bytes.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(bytes.len())
            } else {
                0
            };
            self.ahead += bytes[..space].iter().filter(|byte| **byte == b'\n').count();
            let rest = &bytes[space..];
            let end = rest.iter().position(u8::is_ascii_whitespace);
            let room = LONGEST_WORD - self.word.len();
            let taken = end.unwrap_or(rest.len()).min(room);
            self.word.extend_from_slice(&rest[..taken]);
            let at_end = bytes.is_empty();
            self.input.consume(space + taken);
            if taken == room {
                self.line = self.ahead;
                return Err(self.fault(format_args!("expected a number, found {:?}", self.shown())));
            }
            if at_end || (end.is_some() && !self.word.is_empty()) {
                self.line = self.ahead;
                return Ok(!self.word.is_empty());
            }
        }
    }

    /// The next word as what it should be.
    fn parse<T: std::str::FromStr>(&mut self, expected: Arguments<'_>) -> Result<T, ProblemFileError> {
        if !self.advance()? {
            return Err(self.fault(format_args!("the file ends here, expected {expected}")));
        }
        let parsed = std::str::from_utf8(&self.word).ok().and_then(|word| word.parse().ok());
        parsed.ok_or_else(|| self.fault(format_args!("expected {expected}, found {:?}", self.shown())))
    }

    /// The last word for an error, cut short if need be.
    fn shown(&self) -> String {
        let text = String::from_utf8_lossy(&self.word);
        let mut shown: String = text.chars().take(SHOWN).collect();
        if text.chars().nth(SHOWN).is_some() {
            shown.push('…');
        }
        shown
    }

    fn index(&mut self, expected: Arguments<'_>) -> Result<usize, ProblemFileError> {
        self.parse(expected)
    }

    fn number(&mut self, expected: Arguments<'_>) -> Result<f64, ProblemFileError> {
        let number: f64 = self.parse(expected)?;
        if number.is_finite() {
            Ok(number)
        } else {
            Err(self.fault(format_args!("expected a finite number for {expected}, found {:?}", self.shown())))
        }
    }

    /// A whole number that is known already.
    fn exactly(&mut self, value: usize, expected: Arguments<'_>) -> Result<(), ProblemFileError> {
        match self.index(expected)? {
            found if found == value => Ok(()),
            found => Err(self.fault(format_args!("expected {expected}, found {found}"))),
        }
    }

    /// Rows and columns of the matrix of `m` contacts.
    fn size(&mut self, m: usize) -> Result<(), ProblemFileError> {
        for side in ["rows", "columns"] {
            self.exactly(3 * m, format_args!("{} {side} of the matrix, three for each of {m} contacts", 3 * m))?;
        }
        Ok(())
    }

    /// Nothing may follow.
    fn nothing_more(&mut self) -> Result<(), ProblemFileError> {
        if self.advance()? {
            return Err(self.fault(format_args!("expected the end of the file, found {:?}", self.shown())));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two contacts that are coupled, and one that is not; columns of the first row reversed.
    const SMALL: &str = "3\n3\n1\n9\n9\n5\n3\n3\n3 6 9\n3 6 9\n4\n5\n0 2 4 5\n1 0 0 1 2\n\
                         0\n 0.1 0.2 0.3\n 0 0 0\n 0 0 0.5\n\
                         1\n 2 0 0\n 0 3 0\n 0 0 4\n\
                         2\n 0.1 0 0\n 0.2 0 0\n 0.3 0 0.5\n\
                         3\n 1 0 0\n 0 1.25 0\n 0 0 1\n\
                         4\n 1 0.5 0\n 0.5 1 0\n 0 0 1\n\
                         -1 0.1 0\n-2 0 1e-9\n-0.3 0 0.7\n\
                         0.5\n0\n0.7\n";

    fn read(text: &str) -> Result<Assembled, ProblemFileError> {
        Assembled::read(text.as_bytes(), "w.dat")
    }

    fn dense(problem: &Assembled) -> String {
        let m = problem.contacts();
        let mut text = format!("3 {m} 0 {0} {0}\n{0} {0}\n", 3 * m);
        for column in 0..3 * m {
            for row in 0..3 * m {
                let block = problem.find(row / 3, column / 3).map_or(DMat3::ZERO, |place| problem.blocks[place]);
                text += &format!("{:?}\n", block.col(column % 3)[row % 3]);
            }
        }
        problem.bias.iter().for_each(|b| text += &format!("{:?} {:?} {:?}\n", b.x, b.y, b.z));
        (0..m).for_each(|i| text += &format!("{:?}\n", problem.friction[i]));
        text
    }

    #[test]
    fn both_kinds_of_matrix_are_read() {
        let problem = read(SMALL).unwrap();
        assert_eq!(problem.starts, [0, 2, 4, 5]);
        assert_eq!(problem.columns, [0, 1, 0, 1, 2]);
        assert_eq!(problem.blocks[0], DMat3::from_diagonal(DVec3::new(2.0, 3.0, 4.0)));
        // Column by column: the first column of block (0, 1).
        assert_eq!(problem.blocks[1].x_axis, DVec3::new(0.1, 0.2, 0.3));
        assert_eq!(problem.bias.get(1), DVec3::new(-2.0, 0.0, 1e-9));
        assert_eq!([problem.friction[0], problem.friction[1], problem.friction[2]], [0.5, 0.0, 0.7]);
        assert_eq!(read(&dense(&problem)).unwrap(), problem);
        // What sticks sticks.
        assert_eq!(read(&SMALL.replace("0.5\n0\n", "0.5\n1e160\n")).unwrap().friction[1], crate::MOST_FRICTION);
        // White space of any kind will do.
        let one_line = SMALL.split_whitespace().collect::<Vec<_>>().join("\t");
        assert_eq!(read(&one_line).unwrap(), problem);
        assert_eq!(read(&SMALL.replace('\n', "\r\n")).unwrap(), problem);
    }

    #[test]
    fn what_is_written_reads_back_to_the_same_bits() {
        let mut problem = read(SMALL).unwrap();
        problem.bias.set(0, DVec3::new(-1.0 / 3.0, -0.0, 1e-300));
        for problem in [problem, Assembled::default()] {
            let mut text = Vec::new();
            problem.write(&mut text).unwrap();
            let back = Assembled::read(text.as_slice(), "text").unwrap();
            assert_eq!(back, problem);
            let mut again = Vec::new();
            back.write(&mut again).unwrap();
            assert_eq!(again, text);
        }
    }

    #[test]
    fn words_may_straddle_the_buffer() {
        for size in 1..20 {
            let input = io::BufReader::with_capacity(size, SMALL.as_bytes());
            assert_eq!(Assembled::read(input, "w.dat").unwrap(), read(SMALL).unwrap());
        }
    }

    #[track_caller]
    fn with(from: &str, to: &str, expected: &str) {
        assert_eq!(SMALL.matches(from).count(), 1, "{from:?} is in the file once");
        assert_eq!(read(&SMALL.replacen(from, to, 1)).unwrap_err().to_string(), format!("w.dat:{expected}"));
    }

    #[test]
    fn errors_name_the_line_what_was_found_and_what_is_expected() {
        with("3\n3\n1\n9", "2\n3\n1\n9", "1: expected the dimension 3, found 2");
        with("3\n3\n1\n9", "3\n-3\n1\n9", "2: expected the number of contacts, found \"-3\"");
        with("\n1\n9\n", "\n7\n9\n", "3: expected the kind of matrix, 0 (dense) or 1 (sparse in blocks), found 7");
        with("9\n9\n5", "9\n8\n5", "5: expected 9 columns of the matrix, three for each of 3 contacts, found 8");
        with("5\n3\n3\n", "5\n3\n2\n", "8: expected 3 block columns, one a contact, found 2");
        with("3 6 9\n3", "3 7 9\n3", "9: expected 6, the end of block row 1: blocks are 3 by 3, found 7");
        with("\n4\n5\n", "\n4\n6\n", "12: expected 5, the length of the list of columns: one a block, found 6");
        with("0 2 4 5", "0 2 1 5", "13: expected the end of block row 1, from 2 to 5, found 1");
        with("0 2 4 5", "0 2 4 4", "13: expected the end of block row 2, from 5 to 5, found 4");
        with("1 0 0 1 2", "1 0 0 3 2", "14: block 3 is in column 3, but there are 3, numbered from 0");
        with("1 0 0 1 2", "1 1 0 1 2", "19: block (0, 1) of the matrix: columns must ascend, and each must come once");
        with("1 0 0 1 2", "1 0 0 2 2", "13: contact 1: the matrix has no diagonal block for it");
        with("3\n 1 0 0", "4\n 1 0 0", "27: expected 3, the number of the next block, found 4");
        with("0.1 0.2 0.3", "0.1 o.2 0.3", "16: expected entry (1, 0) of block 0, found \"o.2\"");
        with("0.1 0.2 0.3", "0.1 nan 0.3", "16: expected a finite number for entry (1, 0) of block 0, found \"nan\"");
        with("1.25", "1e999", "29: expected a finite number for entry (1, 1) of block 3, found \"1e999\"");
        with("1e-9", "-inf", "36: expected a finite number for entry 5 of the right-hand side, found \"-inf\"");
        with("1e-9", "1e200", "36: the right-hand side of contact 1 is too large to compute with");
        with("0.5\n0\n", "0.5\n-0.25\n", "39: the friction of contact 1 must not be negative, found -0.25");
        with("0.5\n0\n", "0.5\nnan\n", "39: expected a finite number for the friction of contact 1, found \"nan\"");
        with("0\n0.7\n", "0\n0.7\n\n7 8\n", "42: expected the end of the file, found \"7\"");
        let long = "x".repeat(5000);
        with("1e-9", &long, &format!("36: expected a number, found \"{}…\"", "x".repeat(40)));
    }

    #[test]
    fn matrices_that_make_no_sense_are_refused_with_their_block() {
        with(
            " 2 0 0",
            " 0 0 0",
            "19: block (0, 0) of the matrix: its normal entry is 0, expected a number greater than 0",
        );
        with(
            " 0 3 0",
            " 0 -3 0",
            "19: block (0, 0) of the matrix: not positive semidefinite, with [2, -3, 4] on the diagonal",
        );
        with(
            " 1 0.5 0\n 0.5",
            " 1 2 0\n 2",
            "31: block (2, 2) of the matrix: not positive semidefinite, with [1, 1, 1] on the diagonal",
        );
        with(
            " 1 0.5 0",
            " 1 0.501 0",
            "31: block (2, 2) of the matrix: differs from the transpose of block (2, 2) by 1.4e-3, and the diagonal blocks of these contacts are of size 3.0e0: the matrix must be symmetric",
        );
        with(
            "0.1 0.2 0.3",
            "0.1 0.2 0.31",
            "15: block (0, 1) of the matrix: differs from the transpose of block (1, 0) by 1.0e-2, and the diagonal blocks of these contacts are of size 5.4e0: the matrix must be symmetric",
        );
        // Rounding is no asymmetry.
        assert!(read(&SMALL.replacen("0.1 0.2 0.3", "0.1 0.2 0.3000000001", 1)).is_ok());
        // Dense files know the block and the line as well.
        let text = dense(&read(SMALL).unwrap()).replacen("0.3\n", "0.4\n", 1);
        let error = read(&text).unwrap_err().to_string();
        assert!(error.starts_with("w.dat:30: block (0, 1) of the matrix: differs"), "{error}");
    }

    #[test]
    fn a_file_cut_anywhere_is_an_error() {
        let dense = dense(&read(SMALL).unwrap());
        for text in [SMALL, &dense] {
            for cut in 0..text.trim_end().len() - 2 {
                let Err(error) = read(&text[..cut]) else { panic!("cut at {cut}") };
                assert!(error.to_string().starts_with("w.dat:"), "{error}");
            }
            assert!(read(text.trim_end()).is_ok());
        }
        assert_eq!(read("").unwrap_err().to_string(), "w.dat:1: the file ends here, expected the dimension 3");
        let error = read("3\n2\n1\n6\n6\n4\n2").unwrap_err().to_string();
        assert_eq!(error, "w.dat:7: the file ends here, expected 2 block columns, one a contact");
        // Sizes that no memory could hold are no reason to reserve it.
        assert!(read("3 4000000000 0 12000000000 12000000000 12000000000 12000000000 1").is_err());
        assert!(read("3 99999999999999999999").is_err());
        assert!(read("3 5000000000").unwrap_err().to_string().contains("too many"));
    }
}

//! Problems as files: written by one program, solved by another, the same to the last bit.
//!
//! Plain text, a line each thing, so that a problem can be looked at, cut down and mailed:
//!
//! ```text
//! barchan-problem 3
//! bodies 3
//! contacts 2
//! rows 0
//! slip-rounding 0.01
//! body 0.0 0.0 0.0
//! body 2.0 5.0 0.1
//! general-body 2.0 1.0 2.0 2.0 0.0 0.0 0.0 1.0
//! contact 1 0 0.0 0.0 1.0 0.5 0.3 0.0 -0.2
//! general-contact 2 1 0.0 1.0 0.0 0.5 0.0 -0.1 0.0 0.3 -0.2 0.0 0.0 1.0 0.0
//! end
//! ```
//!
//! `slip-rounding` is the speed below which Coulomb's law is rounded off; without it the version is 2. Files with rows that
//! are not bilateral have version 4, and that speed always.
//! A body is its inverse mass, its inverse inertia and its radius; a general one has six numbers of
//! inertia (xx, yy, zz, xy, xz, yz) and the length in which its spin is measured. A contact is its bodies
//! A and B, the normal, the friction and the bias. Those of general bodies come last and have the lever
//! arms of A and of B as well, over the length of that body.
//! A bilateral row, `row`, comes after the contacts: its bodies, its derivatives with respect to
//! the velocity and the spin of the first and of the second, and its bias. A limit, motor or spring, `bounded-row`, has the
//! interval of its impulse (`-inf` and `inf` where it has no end) and its compliance behind that.
//! Numbers are the shortest that read back to the same bits. The last line tells a whole file from
//! one that was cut off within a number.

use crate::problem::law::bounded;
use crate::{BadProblem, ContactScalars, ContactVec, Geometry, Problem, ProblemRef, Row};
use glam::DVec3;
use std::fmt::Display;
use std::io::{self, BufRead, Write};

/// First word of every file.
pub(crate) const HEADER_NAME: &str = "barchan-problem";
/// First line of every file: that name and a version.
const HEADER: &str = "barchan-problem 2";
/// The same of files that have a slip rounding.
const ROUNDED_HEADER: &str = "barchan-problem 3";

/// The same of files that have rows with intervals or compliances.
const BOUNDED_HEADER: &str = "barchan-problem 4";

/// Why a file does not hold a problem.
#[derive(Debug, thiserror::Error)]
pub enum ProblemFileError {
    /// It cannot be read.
    #[error("{origin}: {source}")]
    Read {
        /// The file.
        origin: String,
        /// What the system says.
        source: io::Error,
    },
    /// A line is not as it should be.
    #[error("{origin}:{line}: {message}")]
    Line {
        /// The file.
        origin: String,
        /// The line, from 1.
        line: usize,
        /// What was found and what is expected.
        message: String,
    },
    /// A part of it that has a name but no line is not as it should be.
    #[error("{origin}: {message}")]
    Part {
        /// The file.
        origin: String,
        /// Which part, what was found and what is expected.
        message: String,
    },
    /// It holds something that this build cannot read.
    #[error("{origin}: {what}")]
    Unknown {
        /// The file.
        origin: String,
        /// What it holds, and what can be read.
        what: String,
    },
}

impl ProblemRef<'_> {
    /// Writes the problem.
    ///
    /// # Errors
    /// If `out` cannot be written to.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let is_bounded = |row: &Row| !row.is_bilateral() || row.compliance != 0.0;
        let has_bounded = self.rows.iter().any(is_bounded);
        let is_rounded = has_bounded || self.slip_rounding != 0.0;
        writeln!(
            out,
            "{}",
            if has_bounded {
                BOUNDED_HEADER
            } else if is_rounded {
                ROUNDED_HEADER
            } else {
                HEADER
            }
        )?;
        writeln!(out, "bodies {}", self.bodies())?;
        writeln!(out, "contacts {}", self.contacts())?;
        writeln!(out, "rows {}", self.rows.len())?;
        if is_rounded {
            writeln!(out, "slip-rounding {:?}", self.slip_rounding)?;
        }
        let Geometry { radius, inverse_inertia, tensors, arms } = self.geometry;
        for (j, m) in self.inverse_mass.iter().enumerate() {
            match tensors.of(j) {
                Some(tensor) => {
                    write!(out, "general-body {m:?}")?;
                    write_numbers(out, tensor)?;
                }
                None => write!(out, "body {m:?} {:?}", inverse_inertia[j])?,
            }
            writeln!(out, " {:?}", radius[j])?;
        }
        for (i, [a, b]) in self.pairs.iter().enumerate() {
            let arms = arms.get(i).filter(|_| i >= self.round());
            write!(out, "{} {a} {b}", if arms.is_some() { "general-contact" } else { "contact" })?;
            write_numbers(out, &self.normals.get(i).to_array())?;
            write_numbers(out, &[self.friction[i]])?;
            write_numbers(out, &self.bias.get(i).to_array())?;
            for arm in arms.iter().flatten() {
                write_numbers(out, &arm.to_array())?;
            }
            writeln!(out)?;
        }
        for (row, bias) in self.rows.iter().zip(&self.bias.rows) {
            let keyword = if is_bounded(row) { "bounded-row" } else { "row" };
            write!(out, "{keyword} {} {}", row.bodies[0], row.bodies[1])?;
            for derivative in row.jacobian.iter().flatten() {
                write_numbers(out, &derivative.to_array())?;
            }
            write_numbers(out, &[*bias])?;
            if is_bounded(row) {
                write_numbers(out, &row.limits)?;
                write_numbers(out, &[row.compliance])?;
            }
            writeln!(out)?;
        }
        writeln!(out, "end")
    }
}

impl Problem {
    /// Writes the problem.
    ///
    /// # Errors
    /// If `out` cannot be written to.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        self.view().write(out)
    }

    /// Reads a problem that [`Problem::write`] wrote; `origin` names the source in errors.
    ///
    /// # Errors
    /// If it cannot be read, a line is not as it should be, or [`Problem::check`] objects.
    pub fn read(input: impl BufRead, origin: &str) -> Result<Self, ProblemFileError> {
        let mut lines = Lines { input, origin, line: 0, text: String::new() };
        lines.next("the header")?;
        let is_rounded = [ROUNDED_HEADER, BOUNDED_HEADER].contains(&lines.text.trim_end());
        if lines.text.trim_end() != HEADER && !is_rounded {
            return Err(lines.fault(format!("expected \"{HEADER}\", found {:?}", lines.text.trim_end())));
        }
        let bodies: usize = lines.record("bodies", |fields| fields.index("a count of bodies"))?;
        let contacts: usize = lines.record("contacts", |fields| fields.index("a count of contacts"))?;
        let bilateral: usize = lines.record("rows", |fields| fields.index("a count of rows"))?;

        let mut problem = Self::default();
        if is_rounded {
            problem.slip_rounding = lines.record("slip-rounding", |fields| fields.number("the slip rounding"))?;
        }
        let header = lines.line;
        for j in 0..bodies {
            let geometry = &mut problem.geometry;
            lines.either(["body", "general-body"], |is_general, fields| {
                problem.inverse_mass.push(fields.number("the inverse mass")?);
                if is_general {
                    let mut six = [0.0; 6];
                    for entry in &mut six {
                        *entry = fields.number("the inverse inertia (xx, yy, zz, xy, xz, yz)")?;
                    }
                    geometry.tensors.push(j as u32, six);
                    geometry.inverse_inertia.push(0.0);
                } else {
                    geometry.inverse_inertia.push(fields.number("the inverse inertia")?);
                }
                geometry.radius.push(fields.number("the radius")?);
                Ok(())
            })?;
        }
        let mut friction = Vec::new();
        let (mut normals, mut bias) = (Vec::new(), Vec::new());
        let mut arms = Vec::new();
        for _ in 0..contacts {
            lines.either(["contact", "general-contact"], |is_general, fields| {
                problem.pairs.push([fields.body("A", bodies)?, fields.body("B", bodies)?]);
                normals.push(fields.vector("the normal")?);
                friction.push(bounded(fields.number("the friction")?));
                bias.push(fields.vector("the bias")?);
                if is_general {
                    arms.push([fields.vector("the lever arm of A")?, fields.vector("the lever arm of B")?]);
                } else if !arms.is_empty() {
                    return Err("expected a line \"general-contact\": contacts without arms come first".into());
                }
                Ok(())
            })?;
        }
        let (rows, row_bias) = read_rows(&mut lines, bilateral, bodies)?;
        lines.record("end", |_| Ok(()))?;
        lines.nothing_more()?;

        problem.normals = ContactVec::from_slice(&normals);
        problem.friction = ContactScalars::from_slice(&friction);
        problem.bias = ContactVec::from_slice(&bias);
        problem.bias.rows = row_bias;
        problem.rows = rows;
        problem.set_arms(&arms);
        problem.check().map_err(|bad| {
            lines.line = line_of_fault(&bad, header, bodies, contacts);
            lines.fault(bad)
        })?;
        Ok(problem)
    }
}

/// The line of what is wrong with a problem whose header has so many lines.
fn line_of_fault(bad: &BadProblem, header: usize, bodies: usize, contacts: usize) -> usize {
    match bad {
        BadProblem::Length { .. } => 1,
        BadProblem::SlipRounding => header,
        BadProblem::Body { body, .. } => header + body + 1,
        BadProblem::Contact { contact, .. } => header + bodies + contact + 1,
        BadProblem::Row { row, .. } => header + bodies + contacts + row + 1,
    }
}

fn write_numbers(out: &mut impl Write, numbers: &[f64]) -> io::Result<()> {
    numbers.iter().try_for_each(|x| write!(out, " {x:?}"))
}

/// The lines of a file, counted.
struct Lines<'a, R> {
    input: R,
    origin: &'a str,
    line: usize,
    text: String,
}

/// Reads so many rows, with their biases.
fn read_rows<R: BufRead>(
    lines: &mut Lines<'_, R>,
    count: usize,
    bodies: usize,
) -> Result<(Vec<Row>, Vec<f64>), ProblemFileError> {
    let (mut rows, mut row_bias) = (Vec::new(), Vec::new());
    for _ in 0..count {
        lines.either(["row", "bounded-row"], |is_bounded, fields| {
            let bodies = [fields.body("A", bodies)?, fields.body("B", bodies)?];
            let mut jacobian = [[DVec3::ZERO; 2]; 2];
            for derivative in jacobian.iter_mut().flatten() {
                *derivative = fields.vector("the derivatives of the row")?;
            }
            row_bias.push(fields.number("the bias")?);
            let mut row = Row::bilateral(bodies, jacobian);
            if is_bounded {
                row.limits = [fields.number("the lower limit")?, fields.number("the upper limit")?];
                row.compliance = fields.number("the compliance")?;
            }
            rows.push(row);
            Ok(())
        })?;
    }
    Ok((rows, row_bias))
}

impl<R: BufRead> Lines<'_, R> {
    fn fault(&self, message: impl Display) -> ProblemFileError {
        ProblemFileError::Line { origin: self.origin.into(), line: self.line, message: message.to_string() }
    }

    /// Reads the next line; whether there is one.
    fn advance(&mut self) -> Result<bool, ProblemFileError> {
        self.text.clear();
        self.line += 1;
        let read = self.input.read_line(&mut self.text);
        read.map(|bytes| bytes > 0).map_err(|source| ProblemFileError::Read { origin: self.origin.into(), source })
    }

    /// Reads a line that must be there.
    fn next(&mut self, expected: &str) -> Result<(), ProblemFileError> {
        if self.advance()? { Ok(()) } else { Err(self.fault(format!("the file ends here, expected {expected}"))) }
    }

    /// Reads a line that starts with `keyword`, and all of it.
    fn record<T>(
        &mut self,
        keyword: &str,
        read: impl FnOnce(&mut Fields<'_>) -> Result<T, String>,
    ) -> Result<T, ProblemFileError> {
        self.line_of(&[keyword], |_, fields| read(fields))
    }

    /// The same with one of two keywords; `read` is told whether it is the second.
    fn either<T>(
        &mut self,
        keywords: [&str; 2],
        read: impl FnOnce(bool, &mut Fields<'_>) -> Result<T, String>,
    ) -> Result<T, ProblemFileError> {
        self.line_of(&keywords, |which, fields| read(which == 1, fields))
    }

    fn line_of<T>(
        &mut self,
        keywords: &[&str],
        read: impl FnOnce(usize, &mut Fields<'_>) -> Result<T, String>,
    ) -> Result<T, ProblemFileError> {
        let expected = format!("a line \"{}\"", keywords.join("\" or \""));
        self.next(&expected)?;
        let mut fields = Fields(self.text.split_whitespace());
        let word = fields.0.next().unwrap_or("");
        let result = match keywords.iter().position(|keyword| *keyword == word) {
            Some(which) => read(which, &mut fields).and_then(|value| match fields.0.next() {
                None => Ok(value),
                Some(extra) => Err(format!("expected the end of the line, found {extra:?}")),
            }),
            None => Err(format!("expected {expected}, found {word:?}")),
        };
        result.map_err(|message| self.fault(message))
    }

    /// Nothing may follow.
    fn nothing_more(&mut self) -> Result<(), ProblemFileError> {
        while self.advance()? {
            if !self.text.trim().is_empty() {
                return Err(self.fault(format!("expected the end of the file, found {:?}", self.text.trim_end())));
            }
        }
        Ok(())
    }
}

/// What stands on a line behind its keyword.
struct Fields<'a>(std::str::SplitWhitespace<'a>);

impl<'a> Fields<'a> {
    fn word(&mut self, expected: &str) -> Result<&'a str, String> {
        self.0.next().ok_or_else(|| format!("the line ends here, expected {expected}"))
    }

    fn number(&mut self, expected: &str) -> Result<f64, String> {
        let word = self.word(expected)?;
        word.parse().map_err(|_| format!("expected a number for {expected}, found {word:?}"))
    }

    fn index<T: std::str::FromStr>(&mut self, expected: &str) -> Result<T, String> {
        let word = self.word(expected)?;
        word.parse().map_err(|_| format!("expected {expected}, found {word:?}"))
    }

    fn body(&mut self, side: &str, bodies: usize) -> Result<u32, String> {
        let body: u32 = self.index(&format!("the number of body {side}"))?;
        if (body as usize) < bodies {
            Ok(body)
        } else {
            Err(format!("body {side} is {body}, but there are {bodies} bodies, numbered from 0"))
        }
    }

    fn vector(&mut self, expected: &str) -> Result<DVec3, String> {
        Ok(DVec3::new(self.number(expected)?, self.number(expected)?, self.number(expected)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MOST_FRICTION;
    use crate::solver::{Apgd, Solve, Solver, SolverOptions};
    use crate::{BodyVec, MatrixFree, Workspace};

    /// Three spheres in a heap on a floor, with numbers that are not short in decimal.
    fn heap() -> Problem {
        let third = 1.0 / 3.0;
        let tilt = DVec3::new(-0.5, 0.0, 0.75f64.sqrt());
        Problem {
            inverse_mass: vec![0.0, third, 2.0, 1e-7 / 3.0],
            geometry: Geometry::round(vec![0.0, 0.1, 0.2, 1e300], vec![0.0, 7.7, 0.3, 5e-324]),
            pairs: vec![[1, 0], [2, 0], [2, 3]],
            normals: ContactVec::from_slice(&[DVec3::Z, DVec3::Z, tilt]),
            friction: ContactScalars::from_slice(&[0.5, 0.0, third]),
            bias: ContactVec::from_slice(&[
                DVec3::splat(-third),
                DVec3::new(0.1, -0.0, -1e-9),
                DVec3::new(0.2, 0.3, -2.0),
            ]),
            rows: Vec::new(),
            slip_rounding: 0.0,
        }
    }

    fn text(problem: &Problem) -> String {
        let mut out = Vec::new();
        problem.write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn read(text: &str) -> Result<Problem, ProblemFileError> {
        Problem::read(text.as_bytes(), "heap.txt")
    }

    #[test]
    fn what_is_written_reads_back_to_the_same_bits() {
        for problem in [heap(), heap().to_general(), heap().with_tensors(|j| j == 3).0, Problem::default()] {
            let written = text(&problem);
            let back = read(&written).unwrap();
            assert_eq!(back, problem);
            assert_eq!(text(&back), written);
        }
        assert!(text(&heap()).contains("-0.0"), "the sign of a zero is kept");
    }

    #[test]
    fn a_problem_from_a_file_has_the_same_solution_to_the_bit() {
        let mut problem = heap();
        // Without the extreme numbers, which no solver likes.
        problem.inverse_mass[3] = 3.0;
        problem.geometry = Geometry::round(vec![0.0, 0.1, 0.2, 0.3], vec![0.0, 7.7, 0.3, 1.1]);
        for problem in [problem.clone(), problem.to_general(), problem.with_tensors(|j| j == 2).0] {
            let solve = |problem: &Problem| {
                let mut workspace = Workspace::default();
                let mut operator = MatrixFree::new(problem, &mut workspace);
                let (mut γ, mut response) = (ContactVec::zeros(problem.contacts()), BodyVec::default());
                let options = SolverOptions { tolerance: 1e-8, ..SolverOptions::default() };
                let report = Apgd::default()
                    .solve(Solve::new(&mut operator, &mut γ, &mut response, &options).with_history(true));
                (γ.iter().map(|p| p.to_array().map(f64::to_bits)).collect::<Vec<_>>(), report)
            };
            let solution = solve(&problem);
            assert!(solution.1.iterations > 2);
            assert_eq!(solve(&read(&text(&problem)).unwrap()), solution);
        }
    }

    #[test]
    fn friction_is_read_up_to_its_bound_and_must_be_a_number() {
        let with = |friction: &str| read(&text(&heap()).replacen(" 0.5 ", &format!(" {friction} "), 1));
        for large in ["1000.0", "1001", "1e6", "1e160", "1.7e308"] {
            assert_eq!(with(large).unwrap().friction[0], MOST_FRICTION, "{large}");
        }
        assert_eq!(with("999.5").unwrap().friction[0], 999.5);
        for wrong in ["-1", "inf", "nan", "1e999"] {
            assert!(with(wrong).is_err(), "{wrong}");
        }
        let mut problem = heap();
        problem.friction = ContactScalars::from_slice(&[0.5, 0.0, 1e4]);
        assert!(problem.check().unwrap_err().to_string().contains("friction must be at most 1000"));
    }

    #[test]
    fn a_slip_rounding_is_read_back() {
        let rounded = Problem { slip_rounding: 0.1 / 3.0, ..heap() };
        assert!(text(&rounded).starts_with("barchan-problem 3\n"));
        assert_eq!(read(&text(&rounded)).unwrap(), rounded);
        let bad = text(&rounded).replacen("slip-rounding 0", "slip-rounding -0", 1);
        let error = read(&bad).unwrap_err().to_string();
        assert_eq!(error, "heap.txt:5: the slip rounding must be a speed, zero or more");
    }

    #[test]
    fn errors_name_the_file_the_line_and_what_is_expected() {
        let good = text(&heap());
        let error = |text: &str| read(text).unwrap_err().to_string();
        let with = |from: &str, to: &str| {
            assert!(good.contains(from), "{from} is in the file");
            error(&good.replacen(from, to, 1))
        };
        assert_eq!(error(""), "heap.txt:1: the file ends here, expected the header");
        assert_eq!(error("hello\n"), "heap.txt:1: expected \"barchan-problem 2\", found \"hello\"");
        assert_eq!(
            with("problem 2", "problem 1"),
            "heap.txt:1: expected \"barchan-problem 2\", found \"barchan-problem 1\""
        );
        assert_eq!(with("bodies 4", "bodies -4"), "heap.txt:2: expected a count of bodies, found \"-4\"");
        assert_eq!(
            with("bodies 4", "bodies 5"),
            "heap.txt:9: expected a line \"body\" or \"general-body\", found \"contact\""
        );
        assert_eq!(
            with("bodies 4", "bodies 3"),
            "heap.txt:8: expected a line \"contact\" or \"general-contact\", found \"body\""
        );
        assert_eq!(with("7.7", "heavy"), "heap.txt:6: expected a number for the inverse inertia, found \"heavy\"");
        assert_eq!(with("7.7 0.1", "7.7"), "heap.txt:6: the line ends here, expected the radius");
        assert_eq!(with("7.7 0.1", "7.7 0.1 9"), "heap.txt:6: expected the end of the line, found \"9\"");
        assert_eq!(
            with("contact 2 3", "contact 2 4"),
            "heap.txt:11: body B is 4, but there are 4 bodies, numbered from 0"
        );
        assert_eq!(
            with("contact 2 3", "contact 0 3"),
            "heap.txt:11: contact 2: contacts must be grouped by their first body, in ascending order"
        );
        assert_eq!(with("-1e-9", "NaN"), "heap.txt:10: contact 1: all numbers must be finite");
        assert_eq!(with("body 2.0", "body inf"), "heap.txt:7: body 2: inverse mass must be finite and not negative");
        assert_eq!(
            with("contacts 3", "contacts 4"),
            "heap.txt:12: expected a line \"contact\" or \"general-contact\", found \"end\""
        );
        assert_eq!(with("contacts 3", "contacts 2"), "heap.txt:11: expected a line \"end\", found \"contact\"");
        assert_eq!(with("end\n", ""), "heap.txt:12: the file ends here, expected a line \"end\"");
        assert_eq!(with("end\n", "end\nmore\n"), "heap.txt:13: expected the end of the file, found \"more\"");
        // Cut anywhere, it is an error and never a panic or another problem.
        for cut in 0..good.trim_end().len() {
            assert!(read(&good[..cut]).is_err(), "cut at {cut}");
        }
    }
}

//! Problems as files: written by one program, solved by another, the same to the last bit.
//!
//! Plain text, a line each thing, so that a problem can be looked at, cut down and mailed:
//!
//! ```text
//! barchan-problem 1
//! geometry round
//! bodies 2
//! contacts 1
//! rows 0
//! body 0.0 0.0 0.0
//! body 2.0 5.0 0.1
//! contact 1 0 0.0 0.0 1.0 0.5 0.3 0.0 -0.2
//! end
//! ```
//!
//! A body is its inverse mass, its inverse inertia and, if the geometry is `round`, its radius;
//! with `general` the inertia is six numbers (xx, yy, zz, xy, xz, yz). A contact is its bodies A
//! and B, the normal, the friction, the bias and, if `general`, the lever arms of A and of B.
//! A bilateral row, `row`, comes after the contacts: its bodies, its derivatives with respect to
//! the velocity and the spin of the first and of the second, and its bias.
//! Numbers are the shortest that read back to the same bits. The last line tells a whole file from
//! one that was cut off within a number.

use crate::{BadProblem, ContactScalars, ContactVec, Geometry, Problem, Row};
use glam::DVec3;
use std::fmt::Display;
use std::io::{self, BufRead, Write};

/// First word of every file.
pub(crate) const HEADER_NAME: &str = "barchan-problem";
/// First line of every file: that name and a version.
const HEADER: &str = "barchan-problem 1";
/// Lines before the first body.
const HEADER_LINES: usize = 5;

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

impl Problem {
    /// Writes the problem.
    ///
    /// # Errors
    /// If `out` cannot be written to.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let geometry = if matches!(self.geometry, Geometry::Round { .. }) { "round" } else { "general" };
        writeln!(out, "{HEADER}")?;
        writeln!(out, "geometry {geometry}")?;
        writeln!(out, "bodies {}", self.bodies())?;
        writeln!(out, "contacts {}", self.contacts())?;
        writeln!(out, "rows {}", self.rows.len())?;
        for (j, m) in self.inverse_mass.iter().enumerate() {
            write!(out, "body {m:?}")?;
            match &self.geometry {
                Geometry::Round { radius, inverse_inertia } => {
                    write_numbers(out, &[inverse_inertia[j], radius[j]])?;
                }
                Geometry::General { inverse_inertia, .. } => write_numbers(out, &inverse_inertia[j])?,
            }
            writeln!(out)?;
        }
        for (i, [a, b]) in self.pairs.iter().enumerate() {
            write!(out, "contact {a} {b}")?;
            write_numbers(out, &self.normals.get(i).to_array())?;
            write_numbers(out, &[self.friction[i]])?;
            write_numbers(out, &self.bias.get(i).to_array())?;
            if let Geometry::General { arms_a, arms_b, .. } = &self.geometry {
                write_numbers(out, &arms_a.get(i).to_array())?;
                write_numbers(out, &arms_b.get(i).to_array())?;
            }
            writeln!(out)?;
        }
        for (row, bias) in self.rows.iter().zip(&self.bias.rows) {
            write!(out, "row {} {}", row.bodies[0], row.bodies[1])?;
            for derivative in row.jacobian.iter().flatten() {
                write_numbers(out, &derivative.to_array())?;
            }
            write_numbers(out, &[*bias])?;
            writeln!(out)?;
        }
        writeln!(out, "end")
    }

    /// Reads a problem that [`Problem::write`] wrote; `origin` names the source in errors.
    ///
    /// # Errors
    /// If it cannot be read, a line is not as it should be, or [`Problem::check`] objects.
    pub fn read(input: impl BufRead, origin: &str) -> Result<Self, ProblemFileError> {
        let mut lines = Lines { input, origin, line: 0, text: String::new() };
        lines.next("the header")?;
        if lines.text.trim_end() != HEADER {
            return Err(lines.fault(format!("expected \"{HEADER}\", found {:?}", lines.text.trim_end())));
        }
        let round = lines.record("geometry", |fields| match fields.word("\"round\" or \"general\"")? {
            "round" => Ok(true),
            "general" => Ok(false),
            other => Err(format!("expected \"round\" or \"general\", found {other:?}")),
        })?;
        let bodies: usize = lines.record("bodies", |fields| fields.index("a count of bodies"))?;
        let contacts: usize = lines.record("contacts", |fields| fields.index("a count of contacts"))?;
        let bilateral: usize = lines.record("rows", |fields| fields.index("a count of rows"))?;

        let mut inverse_mass = Vec::new();
        let (mut radius, mut inertia, mut tensor) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..bodies {
            lines.record("body", |fields| {
                inverse_mass.push(fields.number("the inverse mass")?);
                if round {
                    inertia.push(fields.number("the inverse inertia")?);
                    radius.push(fields.number("the radius")?);
                } else {
                    let mut six = [0.0; 6];
                    for entry in &mut six {
                        *entry = fields.number("the inverse inertia (xx, yy, zz, xy, xz, yz)")?;
                    }
                    tensor.push(six);
                }
                Ok(())
            })?;
        }
        let (mut pairs, mut friction) = (Vec::new(), Vec::new());
        let (mut normals, mut bias) = (Vec::new(), Vec::new());
        let (mut arms_a, mut arms_b) = (Vec::new(), Vec::new());
        for _ in 0..contacts {
            lines.record("contact", |fields| {
                pairs.push([fields.body("A", bodies)?, fields.body("B", bodies)?]);
                normals.push(fields.vector("the normal")?);
                friction.push(fields.number("the friction")?);
                bias.push(fields.vector("the bias")?);
                if !round {
                    arms_a.push(fields.vector("the lever arm of A")?);
                    arms_b.push(fields.vector("the lever arm of B")?);
                }
                Ok(())
            })?;
        }
        let (mut rows, mut row_bias) = (Vec::new(), Vec::new());
        for _ in 0..bilateral {
            lines.record("row", |fields| {
                let bodies = [fields.body("A", bodies)?, fields.body("B", bodies)?];
                let mut jacobian = [[DVec3::ZERO; 2]; 2];
                for derivative in jacobian.iter_mut().flatten() {
                    *derivative = fields.vector("the derivatives of the row")?;
                }
                rows.push(Row { bodies, jacobian });
                row_bias.push(fields.number("the bias")?);
                Ok(())
            })?;
        }
        lines.record("end", |_| Ok(()))?;
        lines.nothing_more()?;

        let geometry = if round {
            Geometry::Round { radius, inverse_inertia: inertia }
        } else {
            Geometry::General {
                inverse_inertia: tensor,
                arms_a: ContactVec::from_slice(&arms_a),
                arms_b: ContactVec::from_slice(&arms_b),
            }
        };
        let mut bias = ContactVec::from_slice(&bias);
        bias.rows = row_bias;
        let problem = Self {
            inverse_mass,
            geometry,
            pairs,
            normals: ContactVec::from_slice(&normals),
            friction: ContactScalars::from_slice(&friction),
            rows,
            bias,
        };
        problem.check().map_err(|bad| {
            lines.line = match bad {
                BadProblem::Length { .. } => 1,
                BadProblem::Body { body, .. } => HEADER_LINES + body + 1,
                BadProblem::Contact { contact, .. } => HEADER_LINES + bodies + contact + 1,
                BadProblem::Row { row, .. } => HEADER_LINES + bodies + contacts + row + 1,
            };
            lines.fault(bad)
        })?;
        Ok(problem)
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
        self.next(&format!("a line \"{keyword}\""))?;
        let mut fields = Fields(self.text.split_whitespace());
        let result = match fields.0.next() {
            Some(word) if word == keyword => read(&mut fields).and_then(|value| match fields.0.next() {
                None => Ok(value),
                Some(extra) => Err(format!("expected the end of the line, found {extra:?}")),
            }),
            other => Err(format!("expected a line \"{keyword}\", found {:?}", other.unwrap_or(""))),
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
    use crate::solver::{Apgd, Solve, Solver, SolverOptions};
    use crate::{BodyVec, MatrixFree, Workspace};

    /// Three spheres in a heap on a floor, with numbers that are not short in decimal.
    fn heap() -> Problem {
        let third = 1.0 / 3.0;
        let tilt = DVec3::new(-0.5, 0.0, 0.75f64.sqrt());
        Problem {
            inverse_mass: vec![0.0, third, 2.0, 1e-7 / 3.0],
            geometry: Geometry::Round {
                radius: vec![0.0, 0.1, 0.2, 1e300],
                inverse_inertia: vec![0.0, 7.7, 0.3, 5e-324],
            },
            pairs: vec![[1, 0], [2, 0], [2, 3]],
            normals: ContactVec::from_slice(&[DVec3::Z, DVec3::Z, tilt]),
            friction: ContactScalars::from_slice(&[0.5, 0.0, third]),
            bias: ContactVec::from_slice(&[
                DVec3::splat(-third),
                DVec3::new(0.1, -0.0, -1e-9),
                DVec3::new(0.2, 0.3, -2.0),
            ]),
            rows: Vec::new(),
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
        for problem in [heap(), heap().to_general(), Problem::default()] {
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
        problem.geometry =
            Geometry::Round { radius: vec![0.0, 0.1, 0.2, 0.3], inverse_inertia: vec![0.0, 7.7, 0.3, 1.1] };
        for problem in [problem.clone(), problem.to_general()] {
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
    fn errors_name_the_file_the_line_and_what_is_expected() {
        let good = text(&heap());
        let error = |text: &str| read(text).unwrap_err().to_string();
        let with = |from: &str, to: &str| {
            assert!(good.contains(from), "{from} is in the file");
            error(&good.replacen(from, to, 1))
        };
        assert_eq!(error(""), "heap.txt:1: the file ends here, expected the header");
        assert_eq!(error("hello\n"), "heap.txt:1: expected \"barchan-problem 1\", found \"hello\"");
        assert_eq!(
            with("problem 1", "problem 2"),
            "heap.txt:1: expected \"barchan-problem 1\", found \"barchan-problem 2\""
        );
        assert_eq!(with("round", "square"), "heap.txt:2: expected \"round\" or \"general\", found \"square\"");
        assert_eq!(with("bodies 4", "bodies -4"), "heap.txt:3: expected a count of bodies, found \"-4\"");
        assert_eq!(with("bodies 4", "bodies 5"), "heap.txt:10: expected a line \"body\", found \"contact\"");
        assert_eq!(with("bodies 4", "bodies 3"), "heap.txt:9: expected a line \"contact\", found \"body\"");
        assert_eq!(with("7.7", "heavy"), "heap.txt:7: expected a number for the inverse inertia, found \"heavy\"");
        assert_eq!(with("7.7 0.1", "7.7"), "heap.txt:7: the line ends here, expected the radius");
        assert_eq!(with("7.7 0.1", "7.7 0.1 9"), "heap.txt:7: expected the end of the line, found \"9\"");
        assert_eq!(
            with("contact 2 3", "contact 2 4"),
            "heap.txt:12: body B is 4, but there are 4 bodies, numbered from 0"
        );
        assert_eq!(
            with("contact 2 3", "contact 0 3"),
            "heap.txt:12: contact 2: contacts must be grouped by their first body, in ascending order"
        );
        assert_eq!(with("-1e-9", "NaN"), "heap.txt:11: contact 1: all numbers must be finite");
        assert_eq!(with("body 2.0", "body inf"), "heap.txt:8: body 2: inverse mass must be finite and not negative");
        assert_eq!(with("contacts 3", "contacts 4"), "heap.txt:13: expected a line \"contact\", found \"end\"");
        assert_eq!(with("contacts 3", "contacts 2"), "heap.txt:12: expected a line \"end\", found \"contact\"");
        assert_eq!(with("end\n", ""), "heap.txt:13: the file ends here, expected a line \"end\"");
        assert_eq!(with("end\n", "end\nmore\n"), "heap.txt:14: expected the end of the file, found \"more\"");
        // Cut anywhere, it is an error and never a panic or another problem.
        for cut in 0..good.trim_end().len() {
            assert!(read(&good[..cut]).is_err(), "cut at {cut}");
        }
    }
}

//! From the text of a formula to its program, by recursive descent.
//!
//! ```text
//! comparison = sum [("<" | "<=" | ">" | ">=" | "==" | "!=") sum]
//! sum        = product {("+" | "-") product}
//! product    = signed {("*" | "/") signed}
//! signed     = {"+" | "-"} power
//! power      = value ["^" signed]
//! value      = number | "t" | "pi" | "e" | "(" comparison ")" | function "(" comparison {"," comparison} ")"
//! ```

use super::program::{DEPTH, FUNCTIONS, Op};
use crate::util::words::{nearest, quoted};
use std::f64::consts;
use thiserror::Error;

/// Brackets and powers within each other, at most.
const NESTING: usize = 64;

/// What stands for a value by itself.
const NAMES: &[(&str, Op)] = &[("t", Op::Time), ("pi", Op::Number(consts::PI)), ("e", Op::Number(consts::E))];

/// Why a text is no formula.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("column {column}: {message}")]
pub struct FormulaError {
    /// The column of the text, from 1.
    pub column: usize,
    /// What was found there and what is expected.
    pub message: String,
}

/// The program of a formula.
pub(super) fn program(text: &str) -> Result<Vec<Op>, FormulaError> {
    let end = Token { kind: Kind::End, text: "", start: 0 };
    let mut parser = Parser { text, at: 0, token: end, ops: Vec::new(), depth: 0, nesting: 0 };
    parser.next()?;
    parser.comparison()?;
    match parser.token.kind {
        Kind::End => Ok(parser.ops),
        _ => Err(parser.expected("an operator or the end")),
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Number(f64),
    Name,
    Symbol,
    End,
}

#[derive(Clone, Copy, Debug)]
struct Token<'a> {
    kind: Kind,
    text: &'a str,
    start: usize,
}

struct Parser<'a> {
    text: &'a str,
    /// Where the text goes on behind the token.
    at: usize,
    token: Token<'a>,
    ops: Vec<Op>,
    /// Values on the stack after all operations so far.
    depth: usize,
    nesting: usize,
}

type Parsed = Result<(), FormulaError>;

impl<'a> Parser<'a> {
    /// Takes the next token.
    fn next(&mut self) -> Parsed {
        let rest = &self.text[self.at..];
        let start = self.text.len() - rest.trim_start().len();
        let rest = &self.text[start..];
        let of = |is_part: fn(char) -> bool| rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (kind, length) = match rest.chars().next() {
            None => (Kind::End, 0),
            Some(c) if c.is_ascii_digit() || c == '.' => {
                let length = number_length(rest);
                // Nothing but a lonely dot fails.
                let number = rest[..length].parse().ok().filter(|x: &f64| x.is_finite());
                let problem = || self.error(start, format!("\"{}\" is not a finite number", &rest[..length]));
                (Kind::Number(number.ok_or_else(problem)?), length)
            }
            Some(c) if c.is_alphabetic() || c == '_' => (Kind::Name, of(|c| c.is_alphanumeric() || c == '_')),
            Some(_) if ["<=", ">=", "==", "!="].iter().any(|two| rest.starts_with(two)) => (Kind::Symbol, 2),
            Some(c) => (Kind::Symbol, c.len_utf8()),
        };
        self.token = Token { kind, text: &rest[..length], start };
        self.at = start + length;
        Ok(())
    }

    fn error(&self, at: usize, message: impl Into<String>) -> FormulaError {
        FormulaError { column: self.column(at), message: message.into() }
    }

    fn column(&self, at: usize) -> usize {
        1 + self.text[..at].chars().count()
    }

    /// The token is not what should be there.
    fn expected(&self, what: &str) -> FormulaError {
        let found = match self.token.kind {
            Kind::End => "the end".into(),
            _ => format!("\"{}\"", self.token.text),
        };
        self.error(self.token.start, format!("found {found}, expected {what}"))
    }

    fn is(&self, symbol: &str) -> bool {
        self.token.kind == Kind::Symbol && self.token.text == symbol
    }

    /// Takes one of these operators, if it is there.
    fn operator(&mut self, list: &[(&str, Op)]) -> Result<Option<Op>, FormulaError> {
        match list.iter().find(|(symbol, _)| self.is(symbol)) {
            Some(&(_, op)) => self.next().map(|()| Some(op)),
            None => Ok(None),
        }
    }

    /// Appends an operation to the program.
    fn emit(&mut self, op: Op) -> Parsed {
        self.depth = self.depth + 1 - op.arity();
        self.ops.push(op);
        if self.depth > DEPTH { Err(self.too_deep()) } else { Ok(()) }
    }

    fn too_deep(&self) -> FormulaError {
        self.error(self.token.start, format!("more than {NESTING} brackets or values within each other"))
    }

    /// Goes one level deeper.
    fn nested(&mut self, inner: impl FnOnce(&mut Self) -> Parsed) -> Parsed {
        self.nesting += 1;
        if self.nesting > NESTING {
            return Err(self.too_deep());
        }
        inner(self)?;
        self.nesting -= 1;
        Ok(())
    }

    fn comparison(&mut self) -> Parsed {
        fn truth(holds: bool) -> f64 {
            f64::from(u8::from(holds))
        }
        const OPERATORS: &[(&str, Op)] = &[
            ("<", Op::Two(|a, b| truth(a < b))),
            ("<=", Op::Two(|a, b| truth(a <= b))),
            (">", Op::Two(|a, b| truth(a > b))),
            (">=", Op::Two(|a, b| truth(a >= b))),
            ("==", Op::Two(|a, b| truth(a == b))),
            ("!=", Op::Two(|a, b| truth(a != b))),
        ];
        self.sum()?;
        let Some(op) = self.operator(OPERATORS)? else { return Ok(()) };
        self.sum()?;
        self.emit(op)?;
        if OPERATORS.iter().any(|(symbol, _)| self.is(symbol)) {
            return Err(self.expected("no second comparison; multiply two of them, as in (0 < t)*(t < 1)"));
        }
        Ok(())
    }

    fn sum(&mut self) -> Parsed {
        self.product()?;
        while let Some(op) = self.operator(&[("+", Op::Two(|a, b| a + b)), ("-", Op::Two(|a, b| a - b))])? {
            self.product()?;
            self.emit(op)?;
        }
        Ok(())
    }

    fn product(&mut self) -> Parsed {
        self.signed()?;
        while let Some(op) = self.operator(&[("*", Op::Two(|a, b| a * b)), ("/", Op::Two(|a, b| a / b))])? {
            self.signed()?;
            self.emit(op)?;
        }
        Ok(())
    }

    fn signed(&mut self) -> Parsed {
        let mut is_negative = false;
        while self.is("-") || self.is("+") {
            is_negative ^= self.is("-");
            self.next()?;
        }
        self.power()?;
        if is_negative { self.emit(Op::One(|a| -a)) } else { Ok(()) }
    }

    fn power(&mut self) -> Parsed {
        self.value()?;
        if let Some(op) = self.operator(&[("^", Op::Two(f64::powf))])? {
            self.nested(Self::signed)?;
            self.emit(op)?;
        }
        Ok(())
    }

    fn value(&mut self) -> Parsed {
        match self.token.kind {
            Kind::Number(x) => {
                self.next()?;
                self.emit(Op::Number(x))
            }
            Kind::Name => self.name(),
            Kind::Symbol if self.is("(") => {
                let open = self.token;
                self.next()?;
                self.nested(Self::comparison)?;
                self.close(open)
            }
            _ => Err(self.expected("a number, a name, a sign or \"(\"")),
        }
    }

    /// Takes the bracket that belongs to another.
    fn close(&mut self, open: Token<'_>) -> Parsed {
        if self.is(")") {
            return self.next();
        }
        Err(self.expected(&format!("\")\" for the \"(\" of column {}", self.column(open.start))))
    }

    fn name(&mut self) -> Parsed {
        let name = self.token;
        self.next()?;
        if let Some(&(_, op)) = NAMES.iter().find(|(known, _)| *known == name.text) {
            return self.emit(op);
        }
        match FUNCTIONS.iter().find(|(known, _)| *known == name.text) {
            Some(&(_, op)) => self.call(name, op),
            None => Err(self.unknown(name)),
        }
    }

    fn call(&mut self, name: Token<'_>, op: Op) -> Parsed {
        let open = self.token;
        if !self.is("(") {
            return Err(self.expected(&format!("\"(\" after the function \"{}\"", name.text)));
        }
        let mut given = 0;
        while given == 0 || self.is(",") {
            self.next()?;
            self.nested(Self::comparison)?;
            given += 1;
            // One too many would not be taken off the stack.
            if given > op.arity() {
                break;
            }
        }
        if given <= op.arity() {
            self.close(open)?;
        }
        if given != op.arity() {
            let takes = if op.arity() == 1 { "1 value".into() } else { format!("{} values", op.arity()) };
            let has = if given > op.arity() { "more".into() } else { given.to_string() };
            return Err(self.error(name.start, format!("\"{}\" takes {takes}, found {has}", name.text)));
        }
        self.emit(op)
    }

    fn unknown(&self, name: Token<'_>) -> FormulaError {
        let (what, list) = if self.is("(") { ("function", FUNCTIONS) } else { ("name", NAMES) };
        let known = || list.iter().map(|(known, _)| *known);
        let hint = nearest(name.text, known()).map_or(".".into(), |best| format!("; did you mean \"{best}\"?"));
        self.error(name.start, format!("unknown {what} \"{}\"{hint} Known are {}", name.text, quoted(known())))
    }
}

/// How many bytes at the start of a text are a number.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| from + bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    // An exponent is one only with digits; else it is a name.
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > end + 1 + sign {
            end = exponent;
        }
    }
    end
}

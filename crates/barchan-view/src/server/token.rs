//! The token in the address of the page: a random word that only those have who were told the address.
//!
//! Every user of a machine reaches its loopback addresses, and a program names no `Origin`. So every request,
//! be it for the page, its socket or a file, has the token in its query: `/?token=...`.

use std::fmt::{self, Debug, Display, Formatter};
use std::io;

/// Bytes of chance in a token.
const BYTES: usize = 16;

/// A random word of this server, in hexadecimal digits.
#[derive(Clone, Copy)]
pub struct Token([u8; BYTES]);

impl Token {
    /// A word that nobody can guess.
    ///
    /// # Errors
    /// If the system has no random numbers to give.
    pub(super) fn random() -> io::Result<Self> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes).map_err(|error| io::Error::other(format!("no random numbers: {error}")))?;
        Ok(Self(bytes))
    }

    /// The path of a request with this token.
    pub fn on(&self, path: &str) -> String {
        format!("{path}?token={self}")
    }

    /// Whether this is what a request has behind the `?` of its path. It takes as long for any wrong token of
    /// the same length, so that its digits cannot be found one by one.
    pub(super) fn is(&self, query: Option<&str>) -> bool {
        let expected = self.to_string();
        let Some(found) = query.and_then(|query| query.strip_prefix("token=")) else { return false };
        let differs = found.bytes().zip(expected.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
        found.len() == expected.len() && differs == 0
    }
}

impl Display for Token {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// It does not tell the word: what is printed to find faults may end anywhere.
impl Debug for Token {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_itself_and_nothing_else() {
        let token = Token::random().unwrap();
        let text = token.to_string();
        assert_eq!(token.on("/"), format!("/?token={text}"));
        assert!(text.len() == 2 * BYTES && token.is(Some(&format!("token={text}"))));
        assert_ne!(Token::random().unwrap().to_string(), text);
        for query in ["", "token=", "token", &text, &format!("token={}", &text[1..]), &format!("token={text}0")] {
            assert!(!token.is(Some(query)), "{query}");
        }
        assert!(!token.is(None));
        for k in 0..text.len() {
            let mut other = text.clone().into_bytes();
            other[k] ^= 1;
            assert!(!token.is(Some(&format!("token={}", String::from_utf8(other).unwrap()))), "digit {k}");
        }
        assert!(!format!("{token:?}").contains(&text));
    }
}

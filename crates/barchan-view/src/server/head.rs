//! The head of a request, read with limits on its length and on the time that it may take.

use std::io::Read;
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Header lines of a request; browsers send about twenty.
const MOST_HEADERS: usize = 64;

/// What the server wants to know of a request.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) host: Option<String>,
    pub(super) origin: Option<String>,
    /// The key of a web socket, if one is asked for as it should be.
    pub(super) socket_key: Option<String>,
    /// Bytes that came after the head.
    pub(super) rest: Vec<u8>,
}

/// Why there is no request to answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum HeadError {
    /// It is not HTTP, or has something twice that there may be once.
    Malformed,
    /// It is longer than a head may be.
    TooLong,
    /// It did not come in time.
    TooSlow,
    /// The other side has gone.
    Gone,
}

/// Reads a head of at most `limit` bytes within `patience`, however slowly its bytes come.
pub(super) fn read(stream: &mut TcpStream, limit: usize, patience: Duration) -> Result<Head, HeadError> {
    let end = Instant::now() + patience;
    let mut bytes = Vec::with_capacity(1024);
    let mut piece = [0; 1024];
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(HeadError::TooSlow);
        }
        stream.set_read_timeout(Some(left)).map_err(|_| HeadError::Gone)?;
        match stream.read(&mut piece) {
            Ok(0) => return Err(HeadError::Gone),
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
            Err(error) if is_timeout(&error) => return Err(HeadError::TooSlow),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => return Err(HeadError::Gone),
        }
        match parse(&bytes) {
            Ok(Some(head)) => return Ok(head),
            Ok(None) if bytes.len() >= limit => return Err(HeadError::TooLong),
            Ok(None) => {}
            Err(error) => return Err(error),
        }
    }
}

/// Whether a read or a write has only run out of time.
pub(super) fn is_timeout(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)
}

/// The head that the bytes begin with; `None` if it goes on.
fn parse(bytes: &[u8]) -> Result<Option<Head>, HeadError> {
    let mut lines = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut lines);
    let length = match request.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(HeadError::TooLong),
        Err(_) => return Err(HeadError::Malformed),
    };
    // A header that may be there once must not be there twice: who reads the first and who the second?
    let one = |name: &str| {
        let mut found = request.headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name));
        let first = found.next();
        if found.next().is_some() {
            return Err(HeadError::Malformed);
        }
        first.map(|header| String::from_utf8(header.value.to_vec())).transpose().map_err(|_| HeadError::Malformed)
    };
    let lists = |name: &str, word: &str| {
        let found = request.headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name));
        let text = found.filter_map(|header| std::str::from_utf8(header.value).ok());
        text.flat_map(|value| value.split(',')).any(|part| part.trim().eq_ignore_ascii_case(word))
    };
    let host = one("host")?;
    let origin = one("origin")?;
    let key = one("sec-websocket-key")?;
    let version = one("sec-websocket-version")?;
    let upgrades = lists("connection", "upgrade") && lists("upgrade", "websocket");
    let valid = |key: &String| key.len() == 24 && key.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b));
    Ok(Some(Head {
        method: request.method.unwrap_or_default().into(),
        path: request.path.unwrap_or_default().into(),
        host,
        origin,
        socket_key: key.filter(|key| upgrades && version.as_deref() == Some("13") && valid(key)),
        rest: bytes[length..].to_vec(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOCKET: &str = "GET /socket HTTP/1.1\r\nHost: localhost:1\r\nConnection: keep-alive, Upgrade\r\nUpgrade: \
        websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOrigin: \
        http://localhost:1\r\n\r\n";

    #[test]
    fn a_head_is_read_when_it_is_whole() {
        for end in 0..SOCKET.len() {
            assert_eq!(parse(&SOCKET.as_bytes()[..end]), Ok(None), "{end}");
        }
        let head = parse(format!("{SOCKET}more").as_bytes()).unwrap().unwrap();
        assert_eq!((head.method.as_str(), head.path.as_str(), head.rest.as_slice()), ("GET", "/socket", &b"more"[..]));
        assert_eq!(head.origin.as_deref(), Some("http://localhost:1"));
        assert_eq!(head.socket_key.as_deref(), Some("dGhlIHNhbXBsZSBub25jZQ=="));
    }

    #[test]
    fn half_a_handshake_is_none() {
        for (what, instead) in [
            ("Upgrade: websocket", "Upgrade: h2c"),
            ("Connection: keep-alive, Upgrade", "Connection: keep-alive"),
            ("Version: 13", "Version: 12"),
            ("dGhlIHNhbXBsZSBub25jZQ==", "short"),
            ("dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25j\u{e4}=="),
        ] {
            let head = parse(SOCKET.replace(what, instead).as_bytes()).unwrap().unwrap();
            assert_eq!(head.socket_key, None, "{instead}");
        }
    }

    #[test]
    fn what_is_ambiguous_is_malformed() {
        let twice = SOCKET.replace("Host: localhost:1\r\n", "Host: localhost:1\r\nhost: evil.example\r\n");
        assert_eq!(parse(twice.as_bytes()), Err(HeadError::Malformed));
        assert_eq!(parse(b"\x16\x03\x01\x02\x00\x01"), Err(HeadError::Malformed));
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(MOST_HEADERS + 1));
        assert_eq!(parse(many.as_bytes()), Err(HeadError::TooLong));
    }
}

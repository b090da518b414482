//! Answers in plain HTTP. A connection is for one of them.

use super::part;
use std::io::Write;
use std::net::TcpStream;
use tungstenite::handshake::derive_accept_key;

/// An answer without content.
#[derive(Clone, Copy, Debug)]
pub(super) enum Status {
    Malformed,
    Forbidden,
    NoToken,
    NotFound,
    NotAllowed,
    TooSlow,
    NotASocket,
    TooLong,
    Busy,
}

impl Status {
    fn line(self) -> &'static str {
        match self {
            Self::Malformed => "400 Bad Request",
            Self::Forbidden | Self::NoToken => "403 Forbidden",
            Self::NotFound => "404 Not Found",
            Self::NotAllowed => "405 Method Not Allowed",
            Self::TooSlow => "408 Request Timeout",
            Self::NotASocket => "426 Upgrade Required",
            Self::TooLong => "431 Request Header Fields Too Large",
            Self::Busy => "503 Service Unavailable",
        }
    }

    /// What a person should know, who has typed the address.
    fn advice(self) -> &'static str {
        match self {
            Self::NoToken => "Open the address that barchan has printed, with all of its ?token=...\n",
            _ => "",
        }
    }
}

/// What the page may do: run its own script and style, and talk to this server. No page may frame it,
/// so that no click is stolen.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline' blob:; style-src 'unsafe-inline'; img-src data: \
                      blob:; worker-src blob:; connect-src 'self' data: blob:; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// Sends the page, or only its head.
pub(super) fn page(mut stream: TcpStream, page: &[u8], whole: bool) {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: \
         no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nContent-Security-Policy: \
         {POLICY}\r\nConnection: close\r\n\r\n",
        page.len()
    );
    let sent = stream.write_all(head.as_bytes());
    if sent.is_ok() && (!whole || stream.write_all(page).is_ok()) {
        part(stream);
    }
}

/// Sends a scene as a file to keep.
pub(super) fn download(mut stream: TcpStream, name: &str, text: &str) {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/toml; charset=utf-8\r\nContent-Disposition: attachment; \
         filename=\"{}.toml\"\r\nContent-Length: {}\r\nCache-Control: no-store\r\nX-Content-Type-Options: \
         nosniff\r\nConnection: close\r\n\r\n",
        plain(name),
        text.len()
    );
    if stream.write_all(head.as_bytes()).is_ok() && stream.write_all(text.as_bytes()).is_ok() {
        part(stream);
    }
}

/// A name of which nothing means anything to a header, or to a file system.
fn plain(name: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
    let plain: String = name.chars().take(80).map(keep).collect();
    if plain.is_empty() { "scene".into() } else { plain }
}

/// Sends a refusal.
pub(super) fn refuse(mut stream: TcpStream, status: Status) {
    if stream.write_all(text(status).as_bytes()).is_ok() {
        part(stream);
    }
}

/// A refusal.
pub(super) fn text(status: Status) -> String {
    let line = status.line();
    let advice = status.advice();
    format!(
        "HTTP/1.1 {line}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nCache-Control: \
         no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n{line}\n{advice}",
        line.len() + 1 + advice.len()
    )
}

/// The answer that makes a web socket of a connection.
pub(super) fn switching(key: &str) -> String {
    let accept = derive_accept_key(key.as_bytes());
    format!(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: \
         {accept}\r\n\r\n"
    )
}

//! A server to talk to, and those who talk to it.

use barchan_view::server::{Controls, Hub, Limits, ListenAddress, Server, Token};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::{Error, Message, WebSocket};

/// Nothing here takes longer than this.
const PATIENCE: Duration = Duration::from_secs(10);

/// A server on a free port, with a page of a few words.
pub(crate) fn server(limits: Limits) -> (Server, Arc<Hub>) {
    let hub = Arc::new(Hub::new(&json!({ "name": "test" }), Controls { step: true, ..Controls::default() }));
    (serve(&hub, limits), hub)
}

/// A server for this hub.
pub(crate) fn serve(hub: &Arc<Hub>, limits: Limits) -> Server {
    let place = ListenAddress { port: Some(0), ..ListenAddress::default() };
    Server::start(place, "<p>the page</p>".into(), Arc::clone(hub), limits).unwrap()
}

/// Where a server is, for those who may come in.
#[derive(Clone, Copy)]
pub(crate) struct Door {
    pub(crate) address: SocketAddr,
    token: Token,
}

impl Door {
    pub(crate) fn of(server: &Server) -> Self {
        Self { address: server.address(), token: server.token() }
    }

    /// A path with the token, as requests have it.
    pub(crate) fn path(self, path: &str) -> String {
        self.token.on(path)
    }
}

/// Limits that a test can wait for.
pub(crate) fn hasty() -> Limits {
    Limits { patience: Duration::from_millis(300), ..Limits::default() }
}

pub(crate) fn connect(door: Door) -> TcpStream {
    let stream = TcpStream::connect(door.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Sends bytes and reads all that comes back.
pub(crate) fn exchange(door: Door, request: &[u8]) -> String {
    let mut stream = connect(door);
    // The server may have had enough before all is sent.
    let _ = stream.write_all(request);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

/// The status of the answer to a request for a path with the token.
pub(crate) fn status(door: Door, path: &str, headers: &str) -> String {
    bare_status(door, &door.path(path), headers)
}

/// The status of the answer to a request for a path as it is.
pub(crate) fn bare_status(door: Door, path: &str, headers: &str) -> String {
    let answer = exchange(door, format!("GET {path} HTTP/1.1\r\n{headers}\r\n").as_bytes());
    answer.split(' ').nth(1).unwrap_or_default().to_owned()
}

/// The header that names the server.
pub(crate) fn host(door: Door) -> String {
    format!("Host: {}\r\n", door.address)
}

/// A viewer.
pub(crate) struct Client(pub(crate) WebSocket<TcpStream>);

impl Client {
    pub(crate) fn new(door: Door) -> Self {
        let url = format!("ws://{}{}", door.address, door.path("/socket"));
        Self(tungstenite::client(url, connect(door)).unwrap().0)
    }

    pub(crate) fn say(&mut self, message: &Value) {
        self.0.send(Message::text(message.to_string())).unwrap();
    }

    pub(crate) fn ready(&mut self) {
        self.say(&json!({ "type": "ready" }));
    }

    /// The next message of a kind.
    pub(crate) fn hear(&mut self, kind: &str) -> Value {
        loop {
            if let Message::Text(text) = self.0.read().unwrap() {
                let message: Value = serde_json::from_str(&text).unwrap();
                if message["type"] == kind {
                    return message;
                }
            }
        }
    }

    /// The first status of which something is true.
    pub(crate) fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            let status = self.hear("status");
            if wanted(&status) {
                return status;
            }
            assert!(Instant::now() < end, "it never came; the last was {status}");
        }
    }

    /// The next frame.
    pub(crate) fn frame(&mut self) -> Vec<u8> {
        loop {
            if let Message::Binary(bytes) = self.0.read().unwrap() {
                return bytes.to_vec();
            }
        }
    }

    /// Reads until the server ends it, and gives its reason.
    pub(crate) fn end(&mut self) -> Option<CloseCode> {
        loop {
            match self.0.read() {
                Ok(Message::Close(frame)) => return frame.map(|frame| frame.code),
                Ok(_) => {}
                Err(Error::Io(error)) => {
                    assert!(error.kind() != std::io::ErrorKind::WouldBlock, "the server keeps it open");
                    return None;
                }
                Err(_) => return None,
            }
        }
    }
}

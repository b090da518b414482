//! A viewer without eyes, for measurements: it asks for frames as fast as they come.

use crate::server::Server;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use tungstenite::Message;

/// A viewer that only counts.
#[derive(Debug)]
pub struct Spectator {
    stream: TcpStream,
    counts: Arc<[AtomicU64; 2]>,
    thread: JoinHandle<()>,
}

impl Spectator {
    /// Connects to a server and starts to ask.
    ///
    /// # Errors
    /// If there is no connection to be had.
    pub fn join(server: &Server) -> io::Result<Self> {
        let address = server.address();
        let path = server.token().on("/socket");
        let stream = TcpStream::connect(address)?;
        let theirs = stream.try_clone()?;
        let (mut socket, _) = tungstenite::client(format!("ws://{address}{path}"), theirs)
            .map_err(|e| io::Error::other(e.to_string()))?;
        let counts = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
        let own = Arc::clone(&counts);
        let ready = || Message::text("{\"type\":\"ready\"}");
        let thread = std::thread::Builder::new().name("spectator".into()).spawn(move || {
            let mut sent = socket.send(ready());
            while sent.is_ok() {
                match socket.read() {
                    Ok(Message::Binary(frame)) => {
                        own[0].fetch_add(1, Ordering::Relaxed);
                        own[1].fetch_add(frame.len() as u64, Ordering::Relaxed);
                        sent = socket.send(ready());
                    }
                    Ok(_) => {}
                    Err(_) => return,
                }
            }
        })?;
        Ok(Self { stream, counts, thread })
    }

    /// Goes, and tells how many frames came and how many bytes they had.
    pub fn leave(self) -> [u64; 2] {
        let _ = self.stream.shutdown(Shutdown::Both);
        let _ = self.thread.join();
        [self.counts[0].load(Ordering::Relaxed), self.counts[1].load(Ordering::Relaxed)]
    }
}

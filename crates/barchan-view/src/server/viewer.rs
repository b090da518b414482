//! One viewer: a thread that reads what it says, and a thread that sends it what is new.
//!
//! Only the second writes to the connection. What the first has to answer (pings, the end) it leaves in
//! the viewer's box. So a viewer that does not read holds up its own two threads and nothing else.

use super::Limits;
use super::head::is_timeout;
use super::hub::{Cursor, Hub};
use super::message::Request;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tungstenite::error::{CapacityError, Error, ProtocolError};
use tungstenite::protocol::frame::coding::{CloseCode, Control, Data, OpCode};
use tungstenite::protocol::frame::{CloseFrame, FrameHeader};
use tungstenite::protocol::{Message, Role, WebSocket, WebSocketConfig};

/// Answers that may wait to be sent. A viewer that pings without reading the answers gets no further.
const MOST_ANSWERS: usize = 64 << 10;

/// A viewer as others see it.
#[derive(Debug, Default)]
pub(super) struct Viewer {
    state: Mutex<State>,
    /// The last version of everything that it has had.
    version: AtomicU64,
    bell: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Bytes to send before all else.
    answers: Vec<u8>,
    ready: bool,
    news: bool,
    closing: bool,
}

impl Viewer {
    /// Something is new.
    pub(super) fn ring(&self) {
        self.change(|state| state.news = true);
    }

    /// Whether it has got everything up to this version, and drawn it.
    pub(super) fn has(&self, version: u64) -> bool {
        self.version.load(Ordering::Acquire) >= version
    }

    /// It is to go.
    pub(super) fn close(&self) {
        self.change(|state| state.closing = true);
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.bell.notify_all();
    }

    /// Waits until there is something to do, and takes it; `None` if nothing was for so long.
    fn wait(&self, patience: Duration) -> Option<State> {
        let idle = |state: &mut State| !(state.ready || state.news || state.closing || !state.answers.is_empty());
        let (mut state, waited) =
            self.bell.wait_timeout_while(self.lock(), patience, idle).unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() { None } else { Some(std::mem::take(&mut *state)) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serves a web socket until it ends. `rest` has come after the head of its request.
pub(super) fn serve(stream: TcpStream, rest: Vec<u8>, hub: &Arc<Hub>, limits: &Limits) {
    let viewer = Arc::new(Viewer::default());
    let Ok(writing) = stream.try_clone() else { return };
    let _ = stream.set_read_timeout(Some(limits.idle));
    let _ = writing.set_write_timeout(Some(limits.idle));
    let _ = writing.set_nodelay(true);
    hub.welcome(&viewer);
    viewer.ring();
    let theirs = Arc::clone(&viewer);
    let its_hub = Arc::clone(hub);
    let ping = limits.idle / 3;
    let writer = super::spawn("viewer", move || {
        let _ = send(&writing, &theirs, &its_hub, ping);
        // The other thread may be waiting for what will never come.
        let _ = writing.shutdown(Shutdown::Both);
    });
    if let Ok(writer) = writer {
        receive(stream, rest, &viewer, hub, limits);
        viewer.close();
        let _ = writer.join();
    }
    hub.farewell(&viewer);
}

/// Sends what is new, until the viewer goes.
fn send(mut stream: &TcpStream, viewer: &Viewer, hub: &Hub, ping: Duration) -> io::Result<()> {
    let mut cursor = Cursor::default();
    let mut ready = false;
    let mut pinged = Instant::now();
    loop {
        // By the clock, whatever else is sent: who only listens has nothing to say but the answer to this.
        let left = ping.saturating_sub(pinged.elapsed());
        if left.is_zero() {
            send_frame(&mut stream, OpCode::Control(Control::Ping), &[])?;
            pinged = Instant::now();
            continue;
        }
        let Some(state) = viewer.wait(left) else { continue };
        stream.write_all(&state.answers)?;
        if state.closing {
            // If it is the other side that ends it, that has been answered already.
            let gone = u16::from(CloseCode::Away).to_be_bytes();
            return if state.answers.is_empty() {
                send_frame(&mut stream, OpCode::Control(Control::Close), &gone)
            } else {
                Ok(())
            };
        }
        ready |= state.ready;
        let news = hub.news(&mut cursor, ready);
        for text in &news.texts {
            send_frame(&mut stream, OpCode::Data(Data::Text), text.as_bytes())?;
        }
        for looks in &news.looks {
            send_frame(&mut stream, OpCode::Data(Data::Binary), looks)?;
        }
        if let Some(frame) = news.frame {
            ready = false;
            send_frame(&mut stream, OpCode::Data(Data::Binary), &frame)?;
        }
        if let Some(version) = news.all {
            viewer.version.store(version, Ordering::Release);
        }
    }
}

/// Sends a web-socket frame straight from where its bytes are.
fn send_frame(stream: &mut impl Write, opcode: OpCode, payload: &[u8]) -> io::Result<()> {
    let header = FrameHeader { is_final: true, rsv1: false, rsv2: false, rsv3: false, opcode, mask: None };
    let mut head = Vec::with_capacity(16);
    header.format(payload.len() as u64, &mut head).map_err(|error| io::Error::other(error.to_string()))?;
    // Small messages in one piece.
    if payload.len() < 1024 {
        head.extend_from_slice(payload);
        return stream.write_all(&head);
    }
    stream.write_all(&head)?;
    stream.write_all(payload)
}

/// Reads what a viewer says, until it goes or says something that it must not.
fn receive(stream: TcpStream, rest: Vec<u8>, viewer: &Arc<Viewer>, hub: &Hub, limits: &Limits) {
    let config = WebSocketConfig::default()
        .read_buffer_size(4096)
        .write_buffer_size(0)
        .max_write_buffer_size(MOST_ANSWERS)
        .max_message_size(Some(limits.message))
        .max_frame_size(Some(limits.message));
    let line = Line { stream, viewer: Arc::clone(viewer) };
    let mut socket = WebSocket::from_partially_read(line, rest, Role::Server, Some(config));
    loop {
        let (code, reason) = match socket.read() {
            Ok(Message::Text(text)) => match Request::parse(&text) {
                Ok(Request::Ready {}) => {
                    viewer.change(|state| state.ready = true);
                    continue;
                }
                Ok(request) => {
                    // A wish that cannot be granted is no offence.
                    let _ = hub.wish(request);
                    continue;
                }
                Err(_) => (CloseCode::Policy, "not a message of docs/live.md"),
            },
            Ok(Message::Ping(_) | Message::Pong(_) | Message::Close(_) | Message::Frame(_)) => continue,
            Ok(Message::Binary(_)) => (CloseCode::Unsupported, "messages are text"),
            Err(Error::Capacity(CapacityError::MessageTooLong { .. })) => (CloseCode::Size, "too long"),
            Err(Error::Utf8(_)) => (CloseCode::Invalid, "not UTF-8"),
            Err(Error::Protocol(ProtocolError::ResetWithoutClosingHandshake)) => return,
            Err(Error::Protocol(_)) => (CloseCode::Protocol, "not a web socket"),
            Err(Error::Io(error)) if is_timeout(&error) => (CloseCode::Policy, "silent for too long"),
            Err(_) => return,
        };
        let _ = socket.close(Some(CloseFrame { code, reason: reason.into() }));
        return;
    }
}

/// A connection that is read from the network and written to the viewer's box.
struct Line {
    stream: TcpStream,
    viewer: Arc<Viewer>,
}

impl Read for Line {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.read(buffer)
    }
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.viewer.lock().answers.len() + bytes.len() > MOST_ANSWERS {
            return Err(io::Error::other("answers are not read"));
        }
        self.viewer.change(|state| state.answers.extend_from_slice(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

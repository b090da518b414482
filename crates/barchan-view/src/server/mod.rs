//! A small server for the live page: HTTP for the page itself, a web socket for everything else.
//!
//! It is made for one user on one machine, on plain threads, and trusts nobody: see `guard` and `token` for
//! who may talk to it and [`Limits`] for how much. It answers `/`, `/socket` and, for a scene that
//! may be kept, `/scene.toml`; it reads no file for any request.

mod guard;
mod head;
mod history;
mod hub;
mod message;
mod reply;
mod token;
mod viewer;
mod wishes;

pub use history::{History, StepNumbers};
pub use hub::{Hub, PROTOCOL};
pub use message::Request;
pub use token::Token;
pub use wishes::{Controls, Knob, Seek, Wishes};

use head::HeadError;
use reply::{Status, refuse};
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The port that is tried first.
pub const DEFAULT_PORT: u16 = 8737;

/// Memory for the stack of a connection's thread.
const STACK: usize = 256 << 10;

/// Where the server listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListenAddress {
    /// The address.
    pub address: IpAddr,
    /// The port; [`DEFAULT_PORT`] by default, or any other that is free if that is taken.
    pub port: Option<u16>,
}

impl Default for ListenAddress {
    fn default() -> Self {
        Self { address: IpAddr::V4(Ipv4Addr::LOCALHOST), port: None }
    }
}

/// How much of it there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at once.
    pub connections: usize,
    /// Bytes of the head of a request.
    pub head: usize,
    /// Time in which the head must come.
    pub patience: Duration,
    /// Bytes of a message of a viewer.
    pub message: usize,
    /// Time after which a viewer that does not answer is gone.
    pub idle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 200,
            head: 16 << 10,
            patience: Duration::from_secs(5),
            message: 4096,
            idle: Duration::from_secs(60),
        }
    }
}

/// A server that runs until it is stopped or dropped.
#[derive(Debug)]
pub struct Server {
    shared: Arc<Shared>,
    listener: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    address: SocketAddr,
    token: Token,
    page: Vec<u8>,
    hub: Arc<Hub>,
    limits: Limits,
    connections: AtomicUsize,
    /// Times that somebody has asked for the page.
    pages: AtomicUsize,
    over: AtomicBool,
}

impl Server {
    /// Starts to listen.
    ///
    /// # Errors
    /// If the address or the port cannot be had, or no random token.
    pub fn start(place: ListenAddress, page: String, hub: Arc<Hub>, limits: Limits) -> io::Result<Self> {
        let listener = listen(place)?;
        let shared = Arc::new(Shared {
            address: listener.local_addr()?,
            token: Token::random()?,
            page: page.into_bytes(),
            hub,
            limits,
            connections: AtomicUsize::new(0),
            pages: AtomicUsize::new(0),
            over: AtomicBool::new(false),
        });
        let theirs = Arc::clone(&shared);
        let listener = spawn("server", move || accept(&listener, &theirs))?;
        Ok(Self { shared, listener: Some(listener) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.shared.address
    }

    /// What every request must have in its query.
    pub fn token(&self) -> Token {
        self.shared.token
    }

    /// What to open in a browser on this machine, with the token.
    pub fn url(&self) -> String {
        let address = self.shared.address;
        let host = match address.ip() {
            ip if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
            ip => ip,
        };
        format!("http://{}{}", SocketAddr::new(host, address.port()), self.shared.token.on("/"))
    }

    /// Whether anybody has asked for the page, or come to watch.
    pub fn has_guests(&self) -> bool {
        self.shared.pages.load(Ordering::SeqCst) > 0 || self.shared.hub.attendance().0 > 0
    }

    /// Waits until all viewers have drawn the last frame and got the last word, and until those who have asked
    /// for the page are there, with so much patience for each of them; for the first to come at all, until
    /// `first`. Or until `stop` says so. However many come, it ends when one who came at `first`, or now if that
    /// is over, has had that patience: some ask for the page again and again.
    pub fn linger(&self, first: Instant, patience: Duration, stop: impl Fn() -> bool) {
        let mut before = (0, 0);
        let limit = first.max(Instant::now()) + patience;
        let mut end = limit;
        loop {
            let (arrivals, have_all) = self.shared.hub.attendance();
            let guests = (self.shared.pages.load(Ordering::SeqCst), arrivals);
            if guests != before {
                (before, end) = (guests, limit.min(Instant::now() + patience));
            }
            let came = guests != (0, 0);
            let is_done = came && have_all && guests.0 <= arrivals;
            if is_done || stop() || Instant::now() >= if came { end } else { first } {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Sends everybody away and stops. Connections that do not go are left to themselves.
    pub fn stop(&mut self) {
        let Some(listener) = self.listener.take() else { return };
        self.shared.over.store(true, Ordering::SeqCst);
        self.shared.hub.close();
        // Whoever waits for a connection gets one.
        let mut address = self.shared.address;
        if address.ip().is_unspecified() {
            address.set_ip(IpAddr::V4(Ipv4Addr::LOCALHOST));
        }
        if TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_ok() {
            let _ = listener.join();
        }
        let end = Instant::now() + Duration::from_millis(500);
        while self.shared.connections.load(Ordering::SeqCst) > 0 && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Opens the port that was asked for, or one that is free.
fn listen(place: ListenAddress) -> io::Result<TcpListener> {
    let at = |port| TcpListener::bind(SocketAddr::new(place.address, port));
    match place.port {
        Some(port) => at(port),
        None => at(DEFAULT_PORT).or_else(|_| at(0)),
    }
}

/// A thread with a name and a small stack.
fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name.into()).stack_size(STACK).spawn(body)
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    loop {
        let accepted = listener.accept();
        if shared.over.load(Ordering::SeqCst) {
            return;
        }
        let Ok((stream, _)) = accepted else {
            // Too many open files, most likely: that passes.
            std::thread::sleep(Duration::from_millis(20));
            continue;
        };
        let place = ConnectionSlot::take(shared);
        let full = place.number > shared.limits.connections;
        let serving = Arc::clone(shared);
        if full {
            turn_away(stream);
        } else {
            // Without a thread the connection is dropped, and with it its seat.
            let _ = spawn("connection", move || {
                let _place = place;
                serve(stream, &serving);
            });
        }
    }
}

/// A word of refusal, without much time for it: others are waiting.
fn turn_away(mut stream: TcpStream) {
    let _ = stream.set_read_timeout(Some(Duration::from_millis(20)));
    let _ = stream.set_write_timeout(Some(Duration::from_millis(20)));
    // What is unread would cut the connection off before the answer is there.
    let _ = io::Read::read(&mut stream, &mut [0; 4096]);
    let _ = stream.write_all(reply::text(Status::Busy).as_bytes());
}

/// A connection that counts as long as this lives, whatever becomes of its thread.
struct ConnectionSlot {
    shared: Arc<Shared>,
    number: usize,
}

impl ConnectionSlot {
    fn take(shared: &Arc<Shared>) -> Self {
        let number = shared.connections.fetch_add(1, Ordering::SeqCst) + 1;
        Self { shared: Arc::clone(shared), number }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.shared.connections.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Answers one request, which may become a web socket.
fn serve(mut stream: TcpStream, shared: &Shared) {
    let Limits { head: limit, patience, .. } = shared.limits;
    let _ = stream.set_write_timeout(Some(patience));
    let head = match head::read(&mut stream, limit, patience) {
        Ok(head) => head,
        Err(HeadError::Gone) => return,
        Err(HeadError::Malformed) => return refuse(stream, Status::Malformed),
        Err(HeadError::TooLong) => return refuse(stream, Status::TooLong),
        Err(HeadError::TooSlow) => return refuse(stream, Status::TooSlow),
    };
    let host = head.host.as_deref();
    let origin = head.origin.as_deref();
    let is_loopback = shared.address.ip().is_loopback();
    if !guard::host_is_known(host, is_loopback) || !guard::origin_is_own(origin, host) {
        return refuse(stream, Status::Forbidden);
    }
    let (path, query) = match head.path.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (head.path.as_str(), None),
    };
    if !shared.token.is(query) {
        return refuse(stream, Status::NoToken);
    }
    match (head.method.as_str(), path, head.socket_key) {
        ("GET", "/", _) => {
            shared.pages.fetch_add(1, Ordering::SeqCst);
            reply::page(stream, &shared.page, true);
        }
        ("HEAD", "/", _) => reply::page(stream, &shared.page, false),
        ("GET", "/socket", Some(key)) => {
            if stream.write_all(reply::switching(&key).as_bytes()).is_ok() {
                viewer::serve(stream, head.rest, &shared.hub, &shared.limits);
            }
        }
        ("GET", "/scene.toml", _) => match shared.hub.scene() {
            Some((name, text)) => reply::download(stream, &name, &text),
            None => refuse(stream, Status::NotFound),
        },
        ("GET", "/socket", None) => refuse(stream, Status::NotASocket),
        ("GET" | "HEAD", ..) => refuse(stream, Status::NotFound),
        _ => refuse(stream, Status::NotAllowed),
    }
}

/// Ends a connection so that the other side gets what was sent: a connection that is closed with bytes
/// unread is cut off.
fn part(mut stream: TcpStream) {
    let _ = stream.shutdown(Shutdown::Write);
    let _ = stream.set_read_timeout(Some(Duration::from_millis(200)));
    let mut piece = [0; 4096];
    // As much as a head that is too long may still have on its way; then no more patience.
    for _ in 0..32 {
        match io::Read::read(&mut stream, &mut piece) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
    }
}

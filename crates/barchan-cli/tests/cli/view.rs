//! The live view as a user starts and ends it.

use crate::support::{Desk, Said};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::time::Duration;

/// A view under way.
pub(crate) struct View {
    child: Child,
    out: BufReader<ChildStdout>,
    err: BufReader<ChildStderr>,
    /// What it has said so far, where it listens: `127.0.0.1:PORT`, and what requests must have behind their path:
    /// `?token=...`.
    told: String,
    address: String,
    query: String,
}

impl View {
    /// `barchan view`, which tells its address first of all.
    fn start(desk: &Desk, line: &str) -> Self {
        let mut view = Self::spawn(desk, line);
        let mut url = String::new();
        view.out.read_line(&mut url).unwrap();
        view.find_address(url.trim());
        view
    }

    /// A run or a restart with viewers, on any port that is free.
    pub(crate) fn of_run(desk: &Desk, line: &str) -> Self {
        let mut view = Self::spawn(desk, &format!("{line} --view=0"));
        let told = view.until("watch it at ");
        view.find_address(told.trim().rsplit(' ').next().unwrap());
        view
    }

    fn spawn(desk: &Desk, line: &str) -> Self {
        let mut child =
            desk.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
        let out = child.stdout.take().unwrap();
        let err = child.stderr.take().unwrap();
        let told = String::new();
        let [address, query] = [String::new(), String::new()];
        Self { child, out: BufReader::new(out), err: BufReader::new(err), told, address, query }
    }

    fn find_address(&mut self, url: &str) {
        let parts = url.strip_prefix("http://").and_then(|rest| rest.split_once('/'));
        let (address, query) = parts.unwrap_or_else(|| panic!("not an address: {url:?}"));
        assert!(query.starts_with("?token="), "no token: {url:?}");
        (self.address, self.query) = (address.to_owned(), query.to_owned());
    }

    /// Waits for a line on standard error with this in it.
    fn until(&mut self, word: &str) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.err.read_line(&mut line).unwrap(), 0, "it never said {word:?}: {}", self.told);
            self.told += &line;
            if line.contains(word) {
                return line;
            }
        }
    }

    /// A viewer comes and goes at once. A run that had one ends without waiting for another.
    pub(crate) fn visit(&self) {
        assert!(self.get("/socket", UPGRADE).starts_with("HTTP/1.1 101 "));
    }

    /// The answer to a request with the token.
    fn get(&self, path: &str, more: &str) -> String {
        self.get_bare(&format!("{path}{}", self.query), more)
    }

    /// The answer to a request as it is.
    fn get_bare(&self, path: &str, more: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\n{more}\r\n", self.address).unwrap();
        let mut answer = vec![0; 1 << 16];
        let count = stream.read(&mut answer).unwrap();
        String::from_utf8_lossy(&answer[..count]).into_owned()
    }

    /// Ends it as Ctrl-C does.
    fn end(self) -> Said {
        let done = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap();
        assert!(done.success());
        self.wait()
    }

    /// Waits for its end. What was read of standard output before is not told again.
    pub(crate) fn wait(mut self) -> Said {
        let mut out = String::new();
        self.out.read_to_string(&mut out).unwrap();
        self.err.read_to_string(&mut self.told).unwrap();
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        Said { code, out, err: self.told }
    }
}

const UPGRADE: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: \
                       dGhlIHNhbXBsZSBub25jZQ==\r\n";

#[test]
#[cfg(unix)]
fn a_view_tells_its_address_answers_and_ends() {
    let desk = Desk::new();
    let view = View::start(&desk, "view sedimentation --set bodies=50 --no-open");
    assert!(view.address.starts_with("127.0.0.1:"), "{}", view.address);
    assert!(view.get("/", "").starts_with("HTTP/1.1 200 OK"));
    assert!(view.get("/../scene.toml", "").starts_with("HTTP/1.1 404 "));
    assert!(view.get("/socket", UPGRADE).starts_with("HTTP/1.1 101 "));
    for path in ["/", "/socket", "/scene.toml", "/socket?token=0123456789abcdef0123456789abcdef"] {
        assert!(view.get_bare(path, UPGRADE).starts_with("HTTP/1.1 403 "), "{path}");
    }
    assert!(view.get("/socket", &format!("{UPGRADE}Origin: http://evil.example\r\n")).starts_with("HTTP/1.1 403 "));
    // Another finds a port of its own, but not one that is taken.
    let other = View::start(&desk, "view bounce --no-open --paused");
    assert_ne!(other.address, view.address);
    let port = view.address.rsplit_once(':').unwrap().1;
    let said = desk.barchan(&format!("view bounce --no-open --port {port}"));
    said.refused(1, &[&format!("cannot listen on 127.0.0.1, port {port}")]);
    let said = view.end();
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("steps  ") && said.out.contains("state hash   "), "{said:?}");
    let said = other.end();
    assert!(said.out.starts_with("steps        0, to 0 s\n"), "{said:?}");
    assert!(!desk.path("runs").exists(), "a view leaves nothing behind");
}

#[test]
#[cfg(unix)]
fn a_run_directory_is_shown_and_nothing_else_is_taken_for_one() {
    let desk = Desk::new();
    desk.json("run bounce --time 0.1 --out run");
    let view = View::start(&desk, "view run --no-open");
    assert!(view.get("/", "").starts_with("HTTP/1.1 200 OK"));
    assert_eq!(view.end().code, 0);
    std::fs::create_dir(desk.path("bare")).unwrap();
    desk.barchan("view bare --no-open").refused(2, &["bare"]);
    desk.barchan("view run --no-open --set gravity.2=0").refused(2, &["--set"]);
    desk.barchan("view nothing --no-open").refused(2, &["nothing"]);
    desk.barchan("view bounce --no-open --bind nowhere").refused(2, &["--bind"]);
}

#[test]
#[cfg(unix)]
fn a_run_with_viewers_has_the_same_result() {
    let desk = Desk::new();
    let line = "run sedimentation --set bodies=300 --steps 150 --set output.frame_interval=0";
    let plain = desk.hash(&format!("{line} --out plain"));
    let mut view = View::of_run(&desk, &format!("{line} --out watched --json --quiet"));
    // One that asks and never reads, and one that goes at once.
    let mut silent = TcpStream::connect(&view.address).unwrap();
    write!(silent, "GET /socket{} HTTP/1.1\r\nHost: {}\r\n{UPGRADE}\r\n", view.query, view.address).unwrap();
    // {"type":"ready"} behind a mask of zeros.
    silent.write_all(&[&[0x81, 0x90, 0, 0, 0, 0][..], b"{\"type\":\"ready\"}"].concat()).unwrap();
    view.visit();
    let mut result = String::new();
    view.out.read_line(&mut result).unwrap();
    assert!(result.contains(&plain), "{result}");
    // Who is gone is not waited for.
    drop(silent);
    let said = view.wait();
    assert_eq!(said.code, 0, "{said:?}");
    desk.barchan(&format!("{line} --ranks 2 --view --out ranks")).refused(2, &["--view", "barchan view"]);
}

#[test]
#[cfg(unix)]
fn a_short_run_waits_for_a_browser_to_open() {
    let desk = Desk::new();
    let mut view = View::of_run(&desk, "run bounce --steps 5 --out run");
    // What came out is told before anybody is waited for.
    view.until("for a browser to come; Ctrl-C ends it");
    let mut line = String::new();
    while !line.contains("files   ") {
        line.clear();
        assert_ne!(view.out.read_line(&mut line).unwrap(), 0, "it never said where its files are");
    }
    // The directory is free by then.
    assert_eq!(desk.json("restart run --steps 10")["steps"], 10);
    assert!(view.get("/", "").starts_with("HTTP/1.1 200 OK"));
    let said = view.end();
    assert_eq!(said.code, 0, "{said:?}");
}

#[test]
#[cfg(unix)]
fn a_view_warns_of_lengths_in_other_units() {
    let desk = Desk::new();
    desk.write(
        "mill.toml",
        "[[body]]\nshape.sphere.radius = 0.1\nposition = [0, 0, 9]\n\
         [[body]]\nshape.box.half_extents = [900, 900, 1]\nmotion = \"fixed\"\n",
    );
    let said = View::start(&desk, "view mill.toml --no-open --paused").end();
    assert_eq!(
        said.err.matches("WARNING: mill.toml:5: body[1].shape: the box is 1800.0 m across").count(),
        1,
        "{said:?}"
    );
}

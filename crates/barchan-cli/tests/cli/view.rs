//! The live view as a user starts and ends it.

use crate::support::{Desk, Said};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A view under way.
struct View {
    child: Child,
    out: BufReader<std::process::ChildStdout>,
    /// Where it listens: `127.0.0.1:PORT`.
    address: String,
}

impl View {
    fn start(desk: &Desk, line: &str) -> Self {
        let mut child =
            desk.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut url = String::new();
        out.read_line(&mut url).unwrap();
        let address = url.trim().strip_prefix("http://").and_then(|rest| rest.strip_suffix('/'));
        let address = address.unwrap_or_else(|| panic!("not an address: {url:?}")).to_owned();
        Self { child, out, address }
    }

    /// The answer to a request.
    fn get(&self, path: &str, more: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\n{more}\r\n", self.address).unwrap();
        let mut answer = vec![0; 1 << 16];
        let count = stream.read(&mut answer).unwrap();
        String::from_utf8_lossy(&answer[..count]).into_owned()
    }

    /// Ends it as Ctrl-C does.
    fn end(mut self) -> Said {
        let done = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap();
        assert!(done.success());
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        let mut said = Said::from(self.child.wait_with_output().unwrap());
        said.out = rest;
        said
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
    std::fs::create_dir(desk.path("empty")).unwrap();
    desk.barchan("view empty --no-open").refused(2, &["empty"]);
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
    // A port that was free a moment ago.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let child = desk
        .command(&format!("{line} --out watched --json --quiet --view={port}"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // One that asks and never reads, and one that goes at once.
    let address = format!("127.0.0.1:{port}");
    let mut viewers = Vec::new();
    for _ in 0..200 {
        if let Ok(mut stream) = TcpStream::connect(&address) {
            write!(stream, "GET /socket HTTP/1.1\r\nHost: {address}\r\n{UPGRADE}\r\n").unwrap();
            // {"type":"ready"} behind a mask of zeros.
            let _ = stream.write_all(&[&[0x81, 0x90, 0, 0, 0, 0][..], b"{\"type\":\"ready\"}"].concat());
            viewers.push(stream);
        }
        if viewers.len() == 2 {
            viewers.pop();
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let said = Said::from(child.wait_with_output().unwrap());
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.err.contains(&format!("watch it at http://127.0.0.1:{port}/")), "{said:?}");
    assert!(said.out.contains(&plain), "{said:?}");
    assert!(!viewers.is_empty(), "nobody came in time to watch");
    desk.barchan(&format!("{line} --ranks 2 --view --out ranks")).refused(2, &["--view", "barchan view"]);
}

#[test]
#[cfg(unix)]
fn a_short_run_waits_for_a_browser_to_open() {
    let desk = Desk::new();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut child = desk
        .command(&format!("run bounce --steps 5 --out run --view={port}"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // What came out is told before anybody is waited for.
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut err = BufReader::new(child.stderr.take().unwrap());
    for (stream, word) in
        [(&mut out as &mut dyn BufRead, "files   "), (&mut err, "for a browser to come; Ctrl-C ends it")]
    {
        let mut line = String::new();
        while !line.contains(word) {
            line.clear();
            assert_ne!(stream.read_line(&mut line).unwrap(), 0, "it never said: {word}");
        }
    }
    let view = View { child, out, address: format!("127.0.0.1:{port}") };
    assert!(view.get("/", "").starts_with("HTTP/1.1 200 OK"));
    let said = view.end();
    assert_eq!(said.code, 0, "{said:?}");
}

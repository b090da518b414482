//! Whatever comes in, the server answers what it should, or ends it, and goes on.

use crate::client::{self, Client, Door, bare_status, connect, exchange, hasty, host, server, status};
use barchan_view::server::Limits;
use std::io::{Read, Write};
use std::time::{Duration, Instant};
use tungstenite::Message;
use tungstenite::protocol::frame::coding::CloseCode;

#[test]
fn it_listens_to_this_machine_alone_and_serves_the_page() {
    let (server, _) = server(Limits::default());
    let door = Door::of(&server);
    assert!(server.address().ip().is_loopback());
    assert_eq!(server.url(), format!("http://{}{}", server.address(), door.path("/")));
    let answer = exchange(door, format!("GET {} HTTP/1.1\r\n{}\r\n", door.path("/"), host(door)).as_bytes());
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\n<p>the page</p>"), "{answer}");
    for header in ["frame-ancestors 'none'", "nosniff", "no-store", "default-src 'none'"] {
        assert!(answer.contains(header), "{answer}");
    }
    let head = exchange(door, format!("HEAD {} HTTP/1.1\r\n{}\r\n", door.path("/"), host(door)).as_bytes());
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.ends_with("\r\n\r\n"), "{head}");
}

#[test]
fn there_is_nothing_but_the_page() {
    let (server, _) = server(Limits::default());
    let door = Door::of(&server);
    for path in [
        "/../../etc/passwd",
        "/..%2f..%2fetc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "//etc/passwd",
        "/etc/passwd",
        "/.",
        "/./",
        "/index.html",
        "/favicon.ico",
        "/socket/",
        "/socket/../",
        "http://127.0.0.1/etc/passwd",
        "file:///etc/passwd",
        "\\..\\etc\\passwd",
        "/..\\..\\etc\\passwd",
        "/\u{202e}",
        "*",
    ] {
        let status = status(door, path, &host(door));
        assert!(status == "404" || status == "400", "{path}: {status}");
    }
    assert_eq!(status(door, "/socket", &host(door)), "426");
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "BREW"] {
        let answer = exchange(door, format!("{method} {} HTTP/1.1\r\n{}\r\n", door.path("/"), host(door)).as_bytes());
        assert!(answer.starts_with("HTTP/1.1 405 "), "{method}: {answer}");
    }
}

#[test]
fn nobody_comes_in_without_the_token() {
    let (server, _) = server(Limits::default());
    let door = Door::of(&server);
    let upgrade = format!(
        "{}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: \
         dGhlIHNhbXBsZSBub25jZQ==\r\n",
        host(door)
    );
    // A program of another user names no origin, and that of another server has another token.
    let other = client::server(Limits::default()).0;
    for path in ["/", "/socket", "/scene.toml", "/nothing"] {
        let wrong = Door::of(&other).path(path);
        let twice = format!("{}&token=0", door.path(path));
        let named = format!("{path}?file=/etc/passwd");
        for bare in [path, &format!("{path}?"), &format!("{path}?token="), &wrong, &twice, &named] {
            assert_eq!(bare_status(door, bare, &upgrade), "403", "{bare}");
        }
    }
    assert_eq!(bare_status(door, &door.path("/"), &host(door)), "200");
    let answer = exchange(door, format!("GET / HTTP/1.1\r\n{}\r\n", host(door)).as_bytes());
    assert!(answer.ends_with("Open the address that barchan has printed, with all of its ?token=...\n"), "{answer}");
    for method in ["HEAD", "POST"] {
        let answer = exchange(door, format!("{method} / HTTP/1.1\r\n{}\r\n", host(door)).as_bytes());
        assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
    }
}

#[test]
fn pages_of_others_are_kept_out() {
    let (server, _) = server(Limits::default());
    let door = Door::of(&server);
    let port = door.address.port();
    let socket = |host: &str, origin: &str| {
        let headers = format!(
            "Host: {host}\r\n{origin}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: \
             13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        );
        let mut stream = connect(door);
        stream.write_all(format!("GET {} HTTP/1.1\r\n{headers}\r\n", door.path("/socket")).as_bytes()).unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        String::from_utf8_lossy(&answer[9..]).into_owned()
    };
    let own = door.address.to_string();
    let local = format!("localhost:{port}");
    assert_eq!(socket(&own, ""), "101");
    assert_eq!(socket(&own, &format!("Origin: http://{own}\r\n")), "101");
    assert_eq!(socket(&local, &format!("Origin: http://{local}\r\n")), "101");
    for origin in ["https://evil.example", "null", "http://localhost:1", "http://127.0.0.1", "file://"] {
        assert_eq!(socket(&own, &format!("Origin: {origin}\r\n")), "403", "{origin}");
    }
    // A name of somebody else that points here.
    assert_eq!(socket(&format!("evil.example:{port}"), &format!("Origin: http://evil.example:{port}\r\n")), "403");
    assert_eq!(status(door, "/", &format!("Host: evil.example:{port}\r\n")), "403");
    assert_eq!(status(door, "/", ""), "403");
    assert_eq!(status(door, "/", &format!("{}Host: evil.example\r\n", host(door))), "400");
}

#[test]
fn heads_are_short_and_quick() {
    let (server, _) = server(hasty());
    let door = Door::of(&server);
    assert!(exchange(door, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03").starts_with("HTTP/1.1 400 "));
    assert!(exchange(door, b"hello?\r\n\r\n").starts_with("HTTP/1.1 400 "));
    let long = format!("GET / HTTP/1.1\r\n{}Cookie: {}\r\n\r\n", host(door), "x".repeat(100_000));
    assert!(exchange(door, long.as_bytes()).starts_with("HTTP/1.1 431 "));
    let many = format!("GET / HTTP/1.1\r\n{}{}\r\n", host(door), "A: b\r\n".repeat(1000));
    assert!(exchange(door, many.as_bytes()).starts_with("HTTP/1.1 431 "));
    // A byte now and then does not buy time.
    let start = Instant::now();
    let mut stream = connect(door);
    let mut answer = String::new();
    for byte in b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n".iter().cycle() {
        if stream.write_all(&[*byte]).is_err() || start.elapsed() > Duration::from_millis(600) {
            break;
        }
        std::thread::sleep(Duration::from_millis(30));
    }
    let _ = stream.read_to_string(&mut answer);
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!(start.elapsed() < Duration::from_secs(3));
    // And nothing at all ends as soon.
    assert!(exchange(door, b"").starts_with("HTTP/1.1 408 "));
    assert_eq!(status(door, "/", &host(door)), "200");
}

#[test]
fn messages_are_small_and_sound() {
    let (server, hub) = server(Limits::default());
    let door = Door::of(&server);
    let after = |message: Message| {
        let mut client = Client::new(door);
        client.hear("hello");
        let _ = client.0.send(message);
        client.end()
    };
    for text in ["", "{}", "[1,2,3]", "{\"type\":\"fly\"}", "{\"type\":\"set\",\"key\":1,\"value\":2}", "\u{0}"] {
        assert_eq!(after(Message::text(text)), Some(CloseCode::Policy), "{text}");
    }
    assert_eq!(after(Message::binary(vec![1, 2, 3])), Some(CloseCode::Unsupported));
    assert_eq!(after(Message::text("x".repeat(5000))), Some(CloseCode::Size));
    assert_eq!(after(Message::text("x".repeat(5_000_000))), Some(CloseCode::Size));

    let raw = |bytes: &[u8]| {
        let mut client = Client::new(door);
        client.hear("hello");
        client.0.get_mut().write_all(bytes).unwrap();
        client.end()
    };
    // Without a mask, of a kind that there is not, with bits that mean nothing, a ping that is too long.
    assert_eq!(raw(&[0x81, 0x02, b'h', b'i']), Some(CloseCode::Protocol));
    assert_eq!(raw(&[0x83, 0x80, 0, 0, 0, 0]), Some(CloseCode::Protocol));
    assert_eq!(raw(&[0xf1, 0x80, 0, 0, 0, 0]), Some(CloseCode::Protocol));
    let ping = [&[0x89, 0xfe, 0x01, 0x00, 0, 0, 0, 0][..], &[0; 256]].concat();
    assert_eq!(raw(&ping), Some(CloseCode::Protocol));
    assert_eq!(raw(&[0x81, 0x82, 0, 0, 0, 0, 0xff, 0xfe]), Some(CloseCode::Invalid));
    // A length that nobody could hold.
    assert_eq!(raw(&[0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]), Some(CloseCode::Size));
    // Many pieces of one message, each of them small.
    let mut pieces = vec![0x01, 0xfe, 0x04, 0x00, 0, 0, 0, 0];
    pieces.extend([b'x'; 1024]);
    let piece: Vec<u8> = [&[0x00, 0xfe, 0x04, 0x00, 0, 0, 0, 0][..], &[b'x'; 1024]].concat();
    (0..8).for_each(|_| pieces.extend(&piece));
    assert_eq!(raw(&pieces), Some(CloseCode::Size));

    // A wish that cannot be granted is no offence.
    let mut client = Client::new(door);
    client.say(&serde_json::json!({ "type": "reset" }));
    client.say(&serde_json::json!({ "type": "set", "key": "gravity.2", "value": 1e300 }));
    client.ready();
    client.hear("hello");
    while !hub.wants_frame() {
        std::thread::yield_now();
    }
    hub.publish(vec![7]);
    assert_eq!(client.frame(), [7]);
}

/// A held simulation tells how it stands ten times a second, and a hidden page asks for no frame: with or
/// without words from the server, it is the answers to pings that count.
fn who_does_not_answer_goes(posts: bool) {
    let (server, hub) = server(Limits { idle: Duration::from_millis(600), ..Limits::default() });
    let mut answering = Client::new(Door::of(&server));
    let silent = Client::new(Door::of(&server));
    answering.0.get_mut().set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    let start = Instant::now();
    while hub.viewers() < 2 {
        std::thread::yield_now();
    }
    // Pings are answered by reading.
    let mut attend = || {
        if posts {
            hub.post(&serde_json::json!({ "type": "status", "state": "paused" }));
        }
        let _ = answering.0.read();
        std::thread::sleep(Duration::from_millis(5));
    };
    while hub.viewers() != 1 {
        assert!(start.elapsed() < Duration::from_secs(5));
        attend();
    }
    assert!(start.elapsed() >= Duration::from_millis(400));
    drop(silent);
    while start.elapsed() < Duration::from_millis(2500) {
        attend();
    }
    assert_eq!(hub.viewers(), 1, "who answers stays");
}

#[test]
fn who_does_not_answer_goes_from_a_silent_server() {
    who_does_not_answer_goes(false);
}

#[test]
fn who_does_not_answer_goes_while_much_is_told() {
    who_does_not_answer_goes(true);
}

#[test]
fn pings_that_nobody_reads_the_answers_of_do_no_harm() {
    let (server, hub) = server(Limits::default());
    let mut client = Client::new(Door::of(&server));
    client.0.get_mut().set_write_timeout(Some(Duration::from_millis(200))).unwrap();
    let ping: Vec<u8> = [&[0x89, 0xfd, 0, 0, 0, 0][..], &[0; 125]].concat().repeat(100);
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(500) && client.0.get_mut().write_all(&ping).is_ok() {}
    drop(client);
    while hub.viewers() > 0 {
        assert!(start.elapsed() < Duration::from_secs(5));
        std::thread::sleep(Duration::from_millis(5));
    }
    Client::new(Door::of(&server)).hear("hello");
}

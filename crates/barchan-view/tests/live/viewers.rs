//! Many viewers, slow ones and dead ones.

use crate::client::{Client, Door, connect, host, server, status};
use barchan_view::live::Spectator;
use barchan_view::server::Limits;
use serde_json::json;
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

#[test]
fn a_hundred_at_once() {
    let patience = Duration::from_secs(30);
    let (server, hub) = server(Limits { connections: 110, patience, ..Limits::default() });
    let door = Door::of(&server);
    let mut clients: Vec<Client> = (0..100).map(|_| Client::new(door)).collect();
    for client in &mut clients {
        assert_eq!(client.hear("hello")["protocol"], 1);
        client.ready();
    }
    assert_eq!(hub.viewers(), 100);
    hub.post(&json!({ "type": "status", "step": 1 }));
    hub.publish(vec![42; 1000]);
    for client in &mut clients {
        assert_eq!(client.hear("status")["step"], 1);
        assert_eq!(client.frame(), [42; 1000]);
    }
    assert_eq!(status(door, "/", &host(door)), "200");
    // Beyond what is too much there is a word of refusal, and those who are there stay.
    let mut more: Vec<_> = (0..10).map(|_| connect(door)).collect();
    let mut refused = String::new();
    let start = Instant::now();
    while !refused.starts_with("HTTP/1.1 503 ") {
        assert!(start.elapsed() < Duration::from_secs(8), "{refused}");
        refused.clear();
        // The seat of the request above may only now have become free: then this one takes it.
        let mut stream = connect(door);
        stream.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
        let _ = stream.read_to_string(&mut refused);
        more.push(stream);
    }
    drop(more);
    clients.truncate(50);
    while hub.viewers() != 50 {
        assert!(start.elapsed() < Duration::from_secs(16));
        std::thread::sleep(Duration::from_millis(5));
    }
    hub.post(&json!({ "type": "status", "step": 2 }));
    clients.iter_mut().for_each(|client| assert_eq!(client.hear("status")["step"], 2));
}

#[test]
fn slow_readers_hold_up_nobody() {
    let (server, hub) = server(Limits::default());
    let mut slow: Vec<Client> = (0..3).map(|_| Client::new(Door::of(&server))).collect();
    slow.iter_mut().for_each(Client::ready);
    let mut fast = Client::new(Door::of(&server));
    fast.hear("hello");
    while hub.viewers() < 4 {
        std::thread::yield_now();
    }
    // Nobody but the fast one reads: far more than fits between two ends of a connection.
    let mut seen = 0;
    let mut longest = Duration::ZERO;
    for number in 0..30u8 {
        fast.ready();
        while !hub.wants_frame() {
            std::thread::yield_now();
        }
        let frame = vec![number; 8 << 20];
        let start = Instant::now();
        hub.publish(frame);
        longest = longest.max(start.elapsed());
        seen += usize::from(fast.frame().iter().all(|byte| *byte == number));
    }
    assert_eq!(seen, 30);
    assert!(longest < Duration::from_millis(200), "publishing took {longest:?}");
    // A slow one that goes on is not given all that it has missed.
    let slow = &mut slow[0];
    assert_eq!(slow.frame()[0], 0);
    slow.ready();
    assert_eq!(slow.frame()[0], 29);
}

#[test]
fn the_end_is_told() {
    let (mut server, _) = server(Limits::default());
    let mut clients: Vec<Client> = (0..5).map(|_| Client::new(Door::of(&server))).collect();
    clients.iter_mut().for_each(|client| drop(client.hear("hello")));
    let start = Instant::now();
    let stopped = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            server.stop();
            stopped.store(true, Ordering::SeqCst);
        });
        for client in &mut clients {
            assert_eq!(client.end().map(u16::from), Some(1001));
        }
    });
    assert!(stopped.load(Ordering::SeqCst) && start.elapsed() < Duration::from_secs(3));
    assert!(std::net::TcpStream::connect(server.address()).is_err());
}

#[test]
fn a_spectator_asks_again_and_again() {
    let (server, hub) = server(Limits::default());
    let spectator = Spectator::join(&server).unwrap();
    let start = Instant::now();
    for _ in 0..5 {
        while !hub.wants_frame() {
            assert!(start.elapsed() < Duration::from_secs(5));
            std::thread::yield_now();
        }
        hub.publish(vec![1; 1000]);
    }
    while !hub.wants_frame() {
        assert!(start.elapsed() < Duration::from_secs(5));
        std::thread::yield_now();
    }
    assert_eq!(spectator.leave(), [5, 5000]);
    while hub.viewers() > 0 {
        assert!(start.elapsed() < Duration::from_secs(5));
        std::thread::yield_now();
    }
}

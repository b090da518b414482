//! Simulations that are watched: what viewers do to them, and what they do not.

use crate::client::{self, Client, Door, exchange, host, serve, status};
use barchan::run::{Run, RunOptions};
use barchan::scenario;
use barchan::scene::{Scene, Time};
use barchan_view::live::{self, Next, Outcome, Show, Watch, WatchOptions};
use barchan_view::server::{Controls, Hub, Limits, Server};
use barchan_view::wire;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

fn scene(name: &str, set: &[(&str, &str)]) -> Scene {
    let set: Vec<_> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    scenario::find(name).unwrap().scene(&set).unwrap()
}

/// So many steps.
fn steps(count: u32) -> Time {
    Time { step: 1.0.into(), end: f64::from(count), ..Time::default() }
}

/// A scene that is shown while `viewers` do what they do.
fn shown(scene: &Scene, options: WatchOptions, viewers: impl FnOnce(&Server)) -> Outcome {
    let controls = live::controls(scene);
    let parameters = live::parameters(&controls);
    let hub = Arc::new(Hub::new(&live::about(scene, "scene"), controls));
    let server = serve(&hub, Limits::default());
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let running: ScopedJoinHandle<'_, Outcome> = scope.spawn(|| {
            let mut watch = Watch::new(hub, parameters, options).unwrap();
            Show::new(scene).unwrap().run(&mut watch, || stop.load(Ordering::SeqCst)).unwrap()
        });
        // However the viewers end, the show does too.
        let end = Ending(&stop);
        viewers(&server);
        drop(end);
        running.join().unwrap()
    })
}

struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// The head of a frame.
fn head(frame: &[u8]) -> Value {
    assert_eq!(&frame[..4], wire::MAGIC);
    let length = u32::from_le_bytes(frame[8..12].try_into().unwrap()) as usize;
    serde_json::from_slice(&frame[16..16 + length]).unwrap()
}

#[test]
fn a_viewer_sees_and_steers() {
    let scene = scene("sedimentation", &[("bodies", "60"), ("time.end", "100")]);
    let options = WatchOptions { time: scene.time, paused: true, speed: Some(1.0) };
    let outcome = shown(&scene, options, |server| {
        let mut client = Client::new(Door::of(server));
        let hello = client.hear("hello");
        assert_eq!((&hello["about"]["name"], &hello["controls"]["reset"]), (&json!("sedimentation"), &json!(true)));
        assert_eq!(hello["parameters"][0]["key"], "gravity.2");
        // It stands still, and shows itself all the same.
        let status = client.until(|_| true);
        assert_eq!((&status["state"], &status["step"]), (&json!("paused"), &json!(0)));
        client.ready();
        let first = head(&client.frame());
        assert_eq!((&first["step"], &first["bodies"]), (&json!(0), &json!(60)));
        // Single steps.
        client.say(&json!({ "type": "step" }));
        client.until(|status| status["step"] == 1);
        client.ready();
        assert_eq!(head(&client.frame())["step"], 1);
        // On, and still again.
        client.say(&json!({ "type": "resume" }));
        client.until(|status| status["state"] == "running" && status["step"].as_u64() > Some(20));
        client.ready();
        assert!(head(&client.frame())["step"].as_u64() > Some(1));
        client.say(&json!({ "type": "pause" }));
        let held = client.until(|status| status["state"] == "paused");
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(client.until(|_| true)["step"], held["step"]);
        // Without gravity the next step leaves the kinetic energy as it was.
        client.say(&json!({ "type": "set", "key": "gravity.2", "value": 0.0 }));
        client.until(|status| status["parameters"]["gravity.2"] == 0.0);
        // Back to the start.
        client.say(&json!({ "type": "reset" }));
        let start = client.until(|status| status["step"] == 0);
        assert_eq!((&start["time"], &start["state"]), (&json!(0.0), &json!("paused")));
        client.ready();
        assert_eq!(head(&client.frame())["step"], 0);
        client.say(&json!({ "type": "speed", "value": null }));
        client.say(&json!({ "type": "resume" }));
        client.until(|status| status["step"].as_u64() > Some(200));
    });
    assert_eq!(outcome.changed, BTreeMap::from([("gravity.2".to_owned(), 0.0)]));
    assert!(outcome.steps > 200);
}

#[test]
fn a_parameter_changes_the_physics() {
    let scene = scene("bounce", &[("height", "1000"), ("time.end", "10")]);
    let options = WatchOptions { time: scene.time, paused: true, speed: None };
    shown(&scene, options, |server| {
        let mut client = Client::new(Door::of(server));
        let columns = client.hear("hello")["columns"].clone();
        let at = |name: &str| columns.as_array().unwrap().iter().position(|column| column == name).unwrap();
        let step = at("step");
        let kinetic = at("kinetic");
        let energy_after = |client: &mut Client, steps: usize| {
            (0..steps).for_each(|_| client.say(&json!({ "type": "step" })));
            loop {
                let rows = client.hear("rows");
                let last = rows["rows"].as_array().unwrap().last();
                if let Some(row) = last.filter(|row| row[step].as_f64().unwrap() % 100.0 == 0.0) {
                    return row[kinetic].as_f64().unwrap();
                }
            }
        };
        let falling = energy_after(&mut client, 100);
        client.say(&json!({ "type": "set", "key": "gravity.2", "value": 0.0 }));
        client.until(|status| status["parameters"]["gravity.2"] == 0.0);
        let drifting = energy_after(&mut client, 100);
        assert!(falling > 0.0 && drifting == falling, "{falling} {drifting}");
        client.say(&json!({ "type": "set", "key": "gravity.2", "value": -9.81 }));
        let again = energy_after(&mut client, 100);
        assert!((again / falling - 4.0).abs() < 1e-6, "{falling} {again}");
    });
}

#[test]
fn at_its_end_it_rests_and_can_be_reset() {
    let scene = scene("bounce", &[("time.end", "0.01")]);
    let options = WatchOptions { time: scene.time, paused: false, speed: None };
    let outcome = shown(&scene, options, |server| {
        let mut client = Client::new(Door::of(server));
        let end = client.until(|status| status["state"] == "ended");
        assert_eq!(end["step"], 100);
        client.say(&json!({ "type": "step" }));
        client.say(&json!({ "type": "resume" }));
        client.ready();
        assert_eq!(head(&client.frame())["step"], 100);
        client.say(&json!({ "type": "reset" }));
        // It goes through to its end again, with rows of its own.
        while client.hear("rows")["restart"] != true {}
        client.until(|status| status["state"] == "ended");
    });
    assert_eq!(outcome.steps, 100);
    let plain = Run::start(&scene, &RunOptions::default()).unwrap().to_end(|_| ControlFlow::Continue(())).unwrap();
    assert_eq!(barchan::output::hash_text(outcome.state_hash), plain.state_hash);
}

#[test]
fn what_cannot_go_on_says_why() {
    let mut scene = scene("bounce", &[]);
    scene.body[1].force = Some(barchan::DVec3::X * 1e200);
    let options = WatchOptions { time: steps(1000), ..WatchOptions::default() };
    shown(&scene, options, |server| {
        let mut client = Client::new(Door::of(server));
        let failed = client.until(|status| status["state"] == "failed");
        assert!(failed["message"].as_str().unwrap().starts_with("step "), "{failed}");
        client.say(&json!({ "type": "reset" }));
        client.until(|status| status["state"] == "failed" && status["step"] == failed["step"]);
    });
}

#[test]
fn the_result_is_the_same_with_viewers_of_all_kinds() {
    let scene = scene("sedimentation", &[("bodies", "400")]);
    let options = RunOptions { steps: Some(250), ..RunOptions::default() };
    let plain = Run::start(&scene, &options).unwrap().to_end(|_| ControlFlow::Continue(())).unwrap();

    let hub = Arc::new(Hub::new(&live::about(&scene, "run"), Controls { step: true, ..Controls::default() }));
    let server = serve(&hub, Limits::default());
    let door = Door::of(&server);
    let mut watch =
        Watch::new(Arc::clone(&hub), BTreeMap::new(), WatchOptions { time: steps(250), ..WatchOptions::default() })
            .unwrap();
    let over = AtomicBool::new(false);
    let frames = std::thread::scope(|scope| {
        // Fast ones, and one that holds the run and lets it go.
        let fast: Vec<_> = (0..3)
            .map(|k| {
                let over = &over;
                scope.spawn(move || {
                    let mut client = Client::new(door);
                    client.hear("hello");
                    let mut frames = 0;
                    while !over.load(Ordering::SeqCst) {
                        client.ready();
                        head(&client.frame());
                        frames += 1;
                        if k == 0 {
                            client.say(&json!({ "type": "pause" }));
                            client.say(&json!({ "type": "step" }));
                            client.say(&json!({ "type": "resume" }));
                        }
                    }
                    frames
                })
            })
            .collect();
        // A dead one, and one that asks and never reads.
        drop(Client::new(door));
        let mut slow = Client::new(door);
        slow.ready();
        while hub.viewers() < 4 {
            std::thread::yield_now();
        }
        let mut run = Run::start(&scene, &options).unwrap();
        let summary = run
            .complete(|progress| {
                watch.stepped(progress.simulation, progress.report, progress.missed);
                if progress.is_last {
                    over.store(true, Ordering::SeqCst);
                } else {
                    assert_eq!(watch.next(progress.simulation, || false), Next::Step);
                }
                ControlFlow::Continue(())
            })
            .unwrap();
        assert_eq!(summary.state_hash, plain.state_hash);
        // Whoever still waits for a frame gets one.
        hub.publish(wire_of_nothing());
        let frames: Vec<u32> = fast.into_iter().map(|viewer| viewer.join().unwrap()).collect();
        drop(slow);
        frames
    });
    assert!(frames.iter().all(|count| *count > 1), "{frames:?}");
}

#[test]
fn the_scene_can_be_kept_as_it_is_now() {
    let scene = scene("bounce", &[("time.end", "0.05")]);
    let options = WatchOptions { time: scene.time, paused: true, speed: None };
    let mut kept = String::new();
    let outcome = shown(&scene, options, |server| {
        let door = Door::of(server);
        let mut client = Client::new(door);
        assert_eq!(client.hear("hello")["controls"]["save"], true);
        client.say(&json!({ "type": "set", "key": "gravity.2", "value": -3.25 }));
        client.until(|status| status["parameters"]["gravity.2"] == -3.25);
        // The number is told before the scene has it: one step lies in between at most.
        while !kept.contains("-3.25") {
            let request = format!("GET {} HTTP/1.1\r\n{}\r\n", door.path("/scene.toml"), host(door));
            let answer = exchange(door, request.as_bytes());
            let (head, text) = answer.split_once("\r\n\r\n").unwrap();
            assert!(head.starts_with("HTTP/1.1 200 OK") && head.contains("filename=\"bounce.toml\""), "{head}");
            text.clone_into(&mut kept);
        }
        client.say(&json!({ "type": "reset" }));
        client.say(&json!({ "type": "resume" }));
        client.until(|status| status["state"] == "ended");
    });
    // What was seen from the start with that number is what a run of the scene gives.
    let kept = Scene::from_toml(&kept, "scene.toml").unwrap();
    let run = Run::start(&kept, &RunOptions::default()).unwrap().to_end(|_| ControlFlow::Continue(())).unwrap();
    assert_eq!(run.state_hash, barchan::output::hash_text(outcome.state_hash));
    let plain = Run::start(&scene, &RunOptions::default()).unwrap().to_end(|_| ControlFlow::Continue(())).unwrap();
    assert_ne!(run.state_hash, plain.state_hash);
}

#[test]
fn the_last_frame_and_the_last_word_reach_everybody() {
    let scene = scene("bounce", &[]);
    let hub = Arc::new(Hub::new(&live::about(&scene, "run"), Controls::default()));
    let mut server = serve(&hub, Limits::default());
    let door = Door::of(&server);
    let watch_options = WatchOptions { time: steps(3), ..WatchOptions::default() };
    let mut watch = Watch::new(hub, BTreeMap::new(), watch_options).unwrap();
    let mut early = Client::new(door);
    early.hear("hello");
    // Nobody is ready for a frame before it is over.
    let options = RunOptions { steps: Some(3), ..RunOptions::default() };
    let run = Run::start(&scene, &options).unwrap();
    let summary = run.to_end(|progress| {
        // As of a run that has gone on, and had missed five steps before.
        watch.stepped(progress.simulation, progress.report, 5 + progress.missed);
        if progress.step == 3 {
            watch.take_last(progress.simulation);
        }
        ControlFlow::Continue(())
    });
    assert_eq!(summary.unwrap().steps, 3);
    let run_state = Some((live::RunState::Finished, "It came to its end.".into()));
    watch.over(live::Ending { run_state, report: Some("/runs/bounce/report.html".into()) });
    let see = |client: &mut Client| {
        let over = client.until(|status| !status["over"].is_null());
        assert_eq!(over["over"]["report"], "/runs/bounce/report.html");
        assert_eq!((&over["over"]["state"], &over["step"]), (&json!("finished"), &json!(3)));
        assert_eq!((&over["state"], &over["missed"]), (&json!("ended"), &json!(5)));
        client.ready();
        assert_eq!(head(&client.frame())["step"], 3);
        client.ready();
        assert_eq!(client.end().map(u16::from), Some(1001));
    };
    // Both have got the page, and one of them has only just.
    (0..2).for_each(|_| assert_eq!(status(door, "/", &host(door)), "200"));
    let begin = Instant::now();
    std::thread::scope(|scope| {
        let closing = scope.spawn(|| {
            server.linger(Instant::now(), Duration::from_secs(30), || false);
            server.stop();
        });
        let late = scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(200));
            see(&mut Client::new(door));
        });
        see(&mut early);
        late.join().unwrap();
        closing.join().unwrap();
    });
    assert!(begin.elapsed() < Duration::from_secs(20), "it ends when all have seen it");
}

#[test]
fn nobody_is_waited_for_longer_than_told() {
    let (server, hub) = client::server(Limits::default());
    hub.post(&json!({ "type": "status" }));
    let begin = Instant::now();
    server.linger(begin + Duration::from_millis(100), Duration::from_secs(30), || false);
    assert!((100..10_000).contains(&begin.elapsed().as_millis()), "{:?}", begin.elapsed());
    // Who is there and draws nothing has so much time and no more.
    let mut client = Client::new(Door::of(&server));
    client.hear("hello");
    let begin = Instant::now();
    server.linger(begin, Duration::from_millis(200), || false);
    assert!((200..10_000).contains(&begin.elapsed().as_millis()), "{:?}", begin.elapsed());
    server.linger(begin + Duration::from_secs(60), Duration::from_secs(60), || true);
}

#[test]
fn whoever_asks_again_and_again_is_not_waited_for_longer() {
    let (server, _hub) = client::server(Limits::default());
    let door = Door::of(&server);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // A monitor that looks whether the page is there.
        scope.spawn(|| {
            let end = Instant::now() + Duration::from_secs(5);
            while !over.load(Ordering::SeqCst) && Instant::now() < end {
                assert_eq!(status(door, "/", &host(door)), "200");
            }
        });
        let begin = Instant::now();
        server.linger(begin + Duration::from_millis(100), Duration::from_millis(200), || false);
        let took = begin.elapsed();
        over.store(true, Ordering::SeqCst);
        assert!((100..4000).contains(&took.as_millis()), "{took:?}");
    });
}

fn wire_of_nothing() -> Vec<u8> {
    let mut bytes = Vec::new();
    wire::encode(&barchan::frame::Frame::default(), 1, &mut barchan::frame::Looks::default(), &mut bytes);
    bytes
}

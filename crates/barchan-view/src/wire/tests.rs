use super::*;
use barchan::frame::FrameWall;
use barchan::world::Motion;
use serde_json::Value;

/// What a reader makes of an encoded frame.
struct Decoded {
    head: Value,
    data: Vec<u8>,
}

impl Decoded {
    fn of(frame: &Frame, limit: usize) -> Self {
        // Whatever stands in the buffer already stays.
        let mut bytes = vec![7; 8];
        encode(frame, limit, &mut Looks::default(), &mut bytes);
        let bytes = &bytes[8..];
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!((&bytes[..4], word(4)), (&MAGIC[..], VERSION));
        let end = PREFIX + word(8) as usize;
        assert_eq!(end % 8, 0);
        Self { head: serde_json::from_slice(&bytes[PREFIX..end]).unwrap(), data: bytes[end..].into() }
    }

    fn body(&self, name: &str) -> Vec<f64> {
        self.of_kind(0, name)
    }

    fn of_kind(&self, kind: usize, name: &str) -> Vec<f64> {
        let kind = &self.head["kinds"][kind];
        self.column(&kind["columns"][name], kind["count"].as_u64().unwrap() as usize)
    }

    fn column(&self, column: &Value, count: usize) -> Vec<f64> {
        if let Some(constant) = column.get("constant") {
            return vec![constant.as_f64().unwrap(); count];
        }
        if let Some(first) = column.get("first") {
            return (0..count).map(|k| first.as_f64().unwrap() + k as f64).collect();
        }
        let number = |key: &str| column[key].as_u64().unwrap() as usize;
        let at = number("at");
        let width = number("width");
        let name = column["type"].as_str().unwrap();
        let size = match name {
            "u8" => 1,
            "u16" | "i16" | "f16" => 2,
            "u32" | "f32" => 4,
            _ => 8,
        };
        assert_eq!(at % size, 0);
        let raw = self.data[at..at + size * width * count].chunks(size).map(|bytes| match name {
            "u8" => f64::from(bytes[0]),
            "u16" => f64::from(u16::from_le_bytes(bytes.try_into().unwrap())),
            "i16" => f64::from(i16::from_le_bytes(bytes.try_into().unwrap())) / 32767.0,
            "f16" => half::to_f64(u16::from_le_bytes(bytes.try_into().unwrap())),
            "u32" => f64::from(u32::from_le_bytes(bytes.try_into().unwrap())),
            "f32" => f64::from(f32::from_le_bytes(bytes.try_into().unwrap())),
            _ => f64::from_le_bytes(bytes.try_into().unwrap()),
        });
        let Some(low) = column.get("low") else { return raw.collect() };
        let scale = if name == "u16" { 65535.0 } else { 1.0 };
        let axes = low.as_array().unwrap().len();
        let part = |key: &str, k: usize| column[key][k % axes].as_f64().unwrap();
        raw.enumerate().map(|(k, x)| part("low", k) + part("span", k) * x / scale).collect()
    }
}

/// A line of balls on a floor, each pressed to the next.
fn line(count: usize) -> Frame {
    let mut frame = Frame { step: 12, time: 0.25, ..Frame::default() };
    for k in 0..count {
        let radius = 0.1 + 0.01 * (k % 3) as f64;
        let bodies = &mut frame.bodies;
        bodies.position.push(DVec3::new(0.25 * k as f64, -3.0, radius));
        bodies.orientation.push(DQuat::IDENTITY);
        bodies.velocity.push(DVec3::new(0.3, 0.0, 0.4) * k as f64);
        bodies.angular_velocity.push(DVec3::ZERO);
        bodies.shape.push(Shape::sphere(radius));
        bodies.id.push(1000 + k as u64);
        bodies.material.push(0);
        bodies.group.push(k as u16 / 10);
        bodies.motion.push(Motion::Dynamic);
        bodies.rank.push(k as u32 % 2);
    }
    for k in 1..count {
        let contacts = &mut frame.contacts;
        contacts.ids.push([k - 1, k].map(|k| 1000 + k as u64));
        contacts.ends.push([k - 1, k].map(|k| frame.bodies.position[k]));
        contacts.normal.push(-DVec3::X);
        contacts.force.push(-DVec3::X * k as f64);
        contacts.normal_impulse.push(1.0);
        contacts.rank.push(0);
    }
    let wall = |id, shape| FrameWall { id, shape, position: DVec3::ZERO, orientation: DQuat::IDENTITY, material: 0 };
    frame.walls = vec![wall(1, Shape::half_space()), wall(2, Shape::container(DVec3::ONE))];
    frame
}

#[test]
fn what_was_written_is_read() {
    let frame = line(20);
    let read = Decoded::of(&frame, usize::MAX);
    assert_eq!((&read.head["step"], &read.head["time"]), (&12.into(), &0.25.into()));
    assert_eq!(
        (&read.head["bodies"], &read.head["shown"], &read.head["not_finite"]),
        (&20.into(), &20.into(), &0.into())
    );
    assert_eq!(read.head["kinds"][0]["kind"], "sphere");
    assert_eq!(read.head["bounds"][0][1], -3.12);
    let place = read.body("place");
    for i in 0..20 {
        let x = DVec3::from_slice(&place[4 * i..]);
        assert!((x - frame.bodies.position[i]).length() < FINE * 0.1, "{x}");
        assert!((place[4 * i + 3] - frame.bodies.radius(i)).abs() < FINE * 0.1);
        assert!((read.body("speed")[i] - 0.5 * i as f64).abs() <= 1e-3 * i as f64);
        assert_eq!(read.body("id")[i], 1000.0 + i as f64);
        assert_eq!(read.body("contacts")[i], if i == 0 || i == 19 { 1.0 } else { 2.0 });
        assert_eq!(read.body("rank")[i], (i % 2) as f64);
        assert_eq!(read.body("group")[i], (i / 10) as f64);
    }
    assert_eq!(read.head["kinds"][0]["columns"]["material"]["constant"], 0);
    assert!(read.head["kinds"][0]["columns"].get("orientation").is_none());

    let chains = &read.head["chains"];
    assert_eq!((&chains["count"], &chains["force_max"]), (&19.into(), &19.0.into()));
    let ends = read.column(&chains["ends"], 19);
    let force = read.column(&chains["force"], 19);
    for k in 0..19 {
        assert!((force[k] / 65535.0 * 19.0 - (k + 1) as f64).abs() < 1e-3);
        for (half, end) in frame.contacts.ends[k].iter().enumerate() {
            assert!((DVec3::from_slice(&ends[6 * k + 3 * half..]) - *end).length() < FINE * 0.1);
        }
    }
    let walls = read.head["walls"].as_array().unwrap();
    assert_eq!(walls.len(), 2);
    assert_eq!(walls[0]["orientation"], serde_json::json!([0.0, 0.0, 0.0, 1.0]));
    assert_eq!(walls[1]["shape"]["container"]["half_extents"][0], 1.0);
}

#[test]
fn a_box_that_is_too_large_for_16_bits_takes_32() {
    let mut frame = line(20);
    frame.bodies.position[7].z = 1e4;
    let read = Decoded::of(&frame, usize::MAX);
    assert_eq!(read.head["kinds"][0]["columns"]["place"]["type"], "f32");
    let place = read.body("place");
    for i in 0..20 {
        assert!((DVec3::from_slice(&place[4 * i..]) - frame.bodies.position[i]).length() < 1e-3);
        assert!((place[4 * i + 3] - frame.bodies.radius(i)).abs() < 1e-6);
    }
}

#[test]
fn a_limit_takes_the_same_bodies_from_every_frame_and_the_strongest_contacts() {
    let frame = line(1000);
    let read = Decoded::of(&frame, 100);
    assert_eq!((&read.head["bodies"], &read.head["shown"]), (&1000.into(), &100.into()));
    let ids = read.body("id");
    assert_eq!(ids.len(), 100);
    // Evenly: half of them in each half of the line, about.
    let low = ids.iter().filter(|&&id| id < 1500.0).count();
    assert!((30..=70).contains(&low), "{low}");
    let chains = &read.head["chains"];
    assert_eq!((&chains["contacts"], &chains["count"]), (&999.into(), &100.into()));
    let force = read.column(&chains["force"], 100);
    assert!(force.iter().all(|f| f / 65535.0 * 999.0 > 899.0));
    // In another order, the same bodies.
    let mut turned = frame.clone();
    turned.bodies.id.reverse();
    let mut again = Decoded::of(&turned, 100).body("id");
    again.reverse();
    assert_eq!(again, ids);
    assert_eq!(Decoded::of(&frame, 0).head["shown"], 0);
}

#[test]
fn what_is_not_finite_is_left_out_and_counted() {
    let mut frame = line(10);
    frame.bodies.position[3].x = f64::NAN;
    frame.bodies.velocity[5].y = f64::INFINITY;
    frame.contacts.force[0].z = f64::NAN;
    frame.walls[0].position.x = f64::NAN;
    let read = Decoded::of(&frame, usize::MAX);
    assert_eq!((&read.head["shown"], &read.head["not_finite"]), (&8.into(), &2.into()));
    assert!(!read.body("id").contains(&1003.0) && !read.body("id").contains(&1005.0));
    assert_eq!(read.head["walls"].as_array().unwrap().len(), 1);
    assert!(read.body("place").iter().all(|x| x.is_finite()));
}

#[test]
fn empty_frames_and_single_bodies_are_frames() {
    let read = Decoded::of(&Frame::default(), 10);
    assert!(read.head["bounds"].is_null() && read.head["kinds"].as_array().unwrap().is_empty());
    let read = Decoded::of(&line(1), 10);
    assert_eq!(&read.body("place")[..2], [0.0, -3.0]);
    assert_eq!(read.body("id"), [1000.0]);
}

#[test]
fn kinds_stand_apart_and_those_that_are_not_round_have_an_orientation() {
    let mut frame = line(4);
    frame.bodies.shape[1] = Shape::cuboid(DVec3::ONE);
    frame.bodies.orientation[1] = DQuat::from_rotation_x(1.0);
    let read = Decoded::of(&frame, 10);
    let kinds = read.head["kinds"].as_array().unwrap();
    assert_eq!((&kinds[0]["kind"], &kinds[0]["count"]), (&"sphere".into(), &3.into()));
    assert_eq!((&kinds[1]["kind"], &kinds[1]["count"]), (&"box".into(), &1.into()));
    let turn = read.column(&kinds[1]["columns"]["orientation"], 1);
    let error = turn.iter().zip(frame.bodies.orientation[1].to_array()).map(|(a, b)| (a - b).abs());
    assert!(error.fold(0.0, f64::max) < 1e-4);
}

#[test]
fn ids_of_any_size_are_whole() {
    let mut frame = line(3);
    frame.bodies.id = vec![5, 1 << 40, 7];
    assert_eq!(Decoded::of(&frame, 10).body("id"), [5.0, (1u64 << 40) as f64, 7.0]);
    frame.bodies.id = vec![8, 9, 10];
    let read = Decoded::of(&frame, 10);
    assert_eq!(read.head["kinds"][0]["columns"]["id"], serde_json::json!({ "first": 8 }));
    assert_eq!(read.body("id"), [8.0, 9.0, 10.0]);
    frame.bodies.id = vec![5, 300, 70_000];
    let read = Decoded::of(&frame, 10);
    assert_eq!(read.head["kinds"][0]["columns"]["id"]["type"], "u32");
    assert_eq!(read.body("id"), [5.0, 300.0, 70_000.0]);
}

#[test]
fn shapes_have_their_looks_turns_and_factors() {
    let mut frame = line(9);
    for i in (0..9).filter(|i| i % 3 > 0) {
        let half = DVec3::new(0.05, 0.02, 0.01) * (1.0 + i as f64);
        frame.bodies.shape[i] = if i % 3 == 1 { Shape::cuboid(half) } else { Shape::capsule(half.x, 2.0 * half.x) };
        frame.bodies.orientation[i] = DQuat::from_rotation_x(0.1 * i as f64);
    }
    let read = Decoded::of(&frame, usize::MAX);
    let kinds = read.head["kinds"].as_array().unwrap();
    let names: Vec<&str> = kinds.iter().map(|kind| kind["kind"].as_str().unwrap()).collect();
    assert_eq!(names, ["sphere", "box", "capsule"]);
    assert!(kinds[0].get("look").is_none() && kinds[0]["columns"].get("scale").is_none());
    let mut looks = Looks::default();
    for (k, kind) in kinds.iter().enumerate().skip(1) {
        let scale = read.of_kind(k, "scale");
        let turn = read.of_kind(k, "orientation");
        for (row, i) in (0..9).filter(|i| i % 3 == k).enumerate() {
            let worn = looks.wear(&frame.bodies.shape[i]);
            assert_eq!(kind["look"], worn.look);
            assert!((DVec3::from_slice(&scale[3 * row..]) - worn.scale).length() < 1e-4);
            let turn = DQuat::from_slice(&turn[4 * row..]);
            assert!((turn - frame.bodies.orientation[i]).length() < 1e-4, "{turn} {i}");
        }
    }
    // What a browser gets once.
    let mut bytes = Vec::new();
    encode_looks(looks.list(), &mut bytes);
    let length = u32::from_le_bytes(bytes[8..12].try_into().unwrap()) as usize;
    assert_eq!(&bytes[..4], LOOKS_MAGIC);
    let head: Value = serde_json::from_slice(&bytes[PREFIX..PREFIX + length]).unwrap();
    assert_eq!((&head["looks"][0]["id"], &head["looks"][0]["vertices"]), (&1.into(), &24.into()));
    let read = Decoded { data: bytes[PREFIX + length..].into(), head };
    let cube = read.column(&read.head["looks"][0]["position"], 24);
    assert!(cube.iter().all(|x| x.abs() == 1.0));
    let index = read.column(&read.head["looks"][1]["index"], 3);
    assert!(index.iter().all(|k| *k < read.head["looks"][1]["vertices"].as_f64().unwrap()));
}

//! What is written reads back.

use super::super::parse::element;
use super::*;
use crate::broad::Aabb;
use crate::frame::FrameWall;
use crate::output::scratch::{Scratch, names};
use crate::output::{FrameOptions, FrameWriter};
use crate::scene::{BodySpec, Compression, Scene};
use crate::shape::{Container, Face, Shape};
use crate::step::Simulation;
use glam::{DQuat, DVec3};
use std::sync::Arc;

const OPTIONS: FrameOptions = FrameOptions {
    contacts: true,
    shapes: false,
    compression: Compression::Lz4,
    about: Aabb { low: DVec3::NEG_ONE, high: DVec3::ONE },
};

/// A heap of spheres on a floor in a box, some steps on.
fn heap() -> Frame {
    let mut scene = Scene::default();
    scene.body.push(BodySpec::new(Shape::half_space(), DVec3::ZERO));
    let open = Container { half_extents: DVec3::new(0.2, 0.25, 0.7), open: vec![Face::HighZ] };
    let turned = Some(DQuat::from_rotation_z(0.2));
    scene.body.push(BodySpec { orientation: turned, ..BodySpec::new(Shape::Container(Arc::new(open)), DVec3::Z) });
    for k in 0..12 {
        let x = DVec3::new(0.02 * f64::from(k % 3), 0.03 * f64::from(k % 2), 0.41 + 0.21 * f64::from(k));
        let spin = DVec3::new(1.0, f64::from(k), -2.0);
        let group = 100 + k as u16;
        scene.body.push(BodySpec { angular_velocity: spin, group, ..BodySpec::new(Shape::sphere(0.1), x) });
    }
    let mut simulation = Simulation::from_scene(&scene).unwrap();
    for _ in 0..800 {
        simulation.step().unwrap();
    }
    let mut frame = Frame::default();
    frame.capture(&simulation, 0);
    assert!(frame.contacts.len() > 5 && frame.bodies.group[2] >= 100, "{:?}", frame.contacts.ids);
    frame
}

/// What seven digits leave of a vector.
fn seven(v: DVec3) -> DVec3 {
    DVec3::from_array(v.to_array().map(|x| f64::from(x as f32)))
}

/// A frame as files keep it.
fn rounded(frame: &Frame) -> Frame {
    let mut frame = frame.clone();
    let bodies = &mut frame.bodies;
    let contacts = &mut frame.contacts;
    for vectors in [&mut bodies.velocity, &mut bodies.angular_velocity, &mut contacts.normal, &mut contacts.force] {
        vectors.iter_mut().for_each(|v| *v = seven(*v));
    }
    contacts.ends.iter_mut().flatten().for_each(|x| *x = seven(*x));
    contacts.normal_impulse.iter_mut().for_each(|x| *x = f64::from(*x as f32));
    for q in &mut bodies.orientation {
        *q = DQuat::from_array(q.to_array().map(|x| f64::from(x as f32))).normalize();
    }
    let radius = |shape: &Shape| Shape::sphere(f64::from(shape.bounding_radius().unwrap() as f32));
    bodies.shape.iter_mut().for_each(|shape| *shape = radius(shape));
    frame
}

#[test]
fn a_frame_reads_back() {
    let frame = heap();
    for compression in [Compression::Lz4, Compression::Zlib, Compression::None] {
        let scratch = Scratch::new();
        let mut writer = FrameWriter::create(scratch.path(), FrameOptions { compression, ..OPTIONS }).unwrap();
        writer.write(&Frame::default()).unwrap();
        let second = writer.write(&frame).unwrap();
        assert_eq!(writer.count(), 2);
        assert!(second.ends_with("frames/frame-000001.vtp"));
        assert_eq!(scratch.names(), ["contacts.pvd", "frames", "frames.pvd", "open_in_paraview.py", "walls.pvd"]);
        let index = fs::read_to_string(scratch.path().join("frames.pvd")).unwrap();
        assert!(index.contains("timestep=\"0.0\" group=\"\" part=\"0\" file=\"frames/frame-000000.vtp\""), "{index}");

        let stored = StoredFrames::open(scratch.path()).unwrap();
        assert_eq!((stored.len(), stored.times()), (2, &[0.0, frame.time][..]));
        assert_eq!(stored.read(0).unwrap(), Frame::default());
        assert_eq!(stored.read(1).unwrap(), rounded(&frame));
        let error = stored.read(2).unwrap_err().to_string();
        assert_eq!(error, "there is no frame 2: the run has 2, numbered from 0 to 1");
    }
}

/// Every third body and contact on a rank of its own.
fn share(frame: &Frame, rank: usize) -> Frame {
    let mut part = Frame { time: frame.time, step: frame.step, ..Frame::default() };
    let from = &frame.bodies;
    let to = &mut part.bodies;
    for i in (rank..from.len()).step_by(3) {
        to.position.push(from.position[i]);
        to.orientation.push(from.orientation[i]);
        to.velocity.push(from.velocity[i]);
        to.angular_velocity.push(from.angular_velocity[i]);
        to.shape.push(from.shape[i].clone());
        to.id.push(from.id[i]);
        to.material.push(from.material[i]);
        to.group.push(from.group[i]);
        to.motion.push(from.motion[i]);
        to.rank.push(rank as u32);
    }
    let from = &frame.contacts;
    let to = &mut part.contacts;
    // The second rank has no contacts.
    for i in (rank..from.len()).step_by(3).filter(|_| rank != 1) {
        to.ids.push(from.ids[i]);
        to.ends.push(from.ends[i]);
        to.normal.push(from.normal[i]);
        to.force.push(from.force[i]);
        to.normal_impulse.push(from.normal_impulse[i]);
        to.rank.push(rank as u32);
    }
    if rank == 0 {
        part.walls.clone_from(&frame.walls);
    }
    part
}

#[test]
fn the_pieces_of_ranks_are_put_together() {
    let scratch = Scratch::new();
    let whole = heap();
    let mut writers = [0, 1, 2].map(|rank| FrameWriter::on_rank(scratch.path(), OPTIONS, rank, 3).unwrap());
    for _ in 0..2 {
        for (rank, writer) in writers.iter_mut().enumerate() {
            writer.write_piece(&share(&whole, rank)).unwrap();
        }
    }
    // Until rank 0 says that it is complete there is no frame.
    fs::write(scratch.path().join("steps.csv"), "").unwrap();
    assert!(StoredFrames::open(scratch.path()).unwrap().is_empty());
    writers[0].complete(1).unwrap();
    assert!(!scratch.path().join("frames/frame-000001.pvtp").exists());
    writers[0].complete(2).unwrap();
    let found = names(&scratch.path().join("frames"));
    let ends = ["-0000.vtp", "-0001.vtp", "-0002.vtp", ".pvtp"];
    let files = |stem: &str| (0..2).flat_map(|k| ends.map(|end| format!("{stem}-{k:06}{end}"))).collect::<Vec<_>>();
    assert_eq!(found, [files("contacts"), files("frame"), vec!["walls-000000.vtp".into()]].concat());
    let text = fs::read_to_string(scratch.path().join("frames/frame-000001.pvtp")).unwrap();
    assert!(text.contains("<Piece Source=\"frame-000001-0000.vtp\"/>\n    <Piece Source=\"frame-000001-0001.vtp\"/>"));
    assert_eq!(text.matches("<PDataArray").count(), BODIES.data.len() + 1);

    let mut expected = Frame { walls: whole.walls.clone(), time: whole.time, step: whole.step, ..Frame::default() };
    for rank in 0..3 {
        let part = share(&whole, rank);
        expected.bodies.append(&part.bodies);
        expected.contacts.append(&part.contacts);
    }
    let stored = StoredFrames::open(scratch.path()).unwrap();
    assert_eq!(stored.len(), 2);
    assert_eq!(stored.read(1).unwrap(), rounded(&expected));
}

fn wall(x: f64) -> FrameWall {
    FrameWall {
        id: 0,
        shape: Shape::half_space(),
        position: DVec3::new(0.0, 0.0, x),
        orientation: DQuat::IDENTITY,
        material: 0,
    }
}

#[test]
fn walls_are_written_when_they_move() {
    let scratch = Scratch::new();
    let mut writer = FrameWriter::create(scratch.path(), FrameOptions { contacts: false, ..OPTIONS }).unwrap();
    let heights = [0.0, 0.0, 0.5, 0.5, 0.0];
    let frame = |k: usize| Frame { time: k as f64, step: k as u64, walls: vec![wall(heights[k])], ..Frame::default() };
    for k in 0..3 {
        writer.write(&frame(k)).unwrap();
    }
    // A run that was interrupted goes on where it was told to.
    let mut writer = FrameWriter::resume(scratch.path(), FrameOptions { contacts: false, ..OPTIONS }, 0, 1, 2).unwrap();
    for k in 2..5 {
        writer.write(&frame(k)).unwrap();
    }
    let walls: Vec<_> = names(&scratch.path().join("frames")).into_iter().filter(|n| n.starts_with("walls")).collect();
    assert_eq!(walls, ["walls-000000.vtp", "walls-000002.vtp", "walls-000004.vtp"]);
    let stored = StoredFrames::open(scratch.path()).unwrap();
    assert_eq!(stored.times(), [0.0, 1.0, 2.0, 3.0, 4.0]);
    for (k, height) in heights.into_iter().enumerate() {
        assert_eq!(stored.read(k).unwrap().walls, [wall(height)]);
    }
    assert!(!scratch.path().join("contacts.pvd").exists());
    let too_many = FrameWriter::resume(scratch.path(), OPTIONS, 0, 1, 6).unwrap_err().to_string();
    assert!(too_many.contains("has 5 frames, expected at least 6"), "{too_many}");
}

#[test]
fn what_is_damaged_is_named() {
    let scratch = Scratch::new();
    assert!(StoredFrames::open(scratch.path()).unwrap_err().to_string().contains("is not the directory of a run"));
    let mut writer = FrameWriter::create(scratch.path(), OPTIONS).unwrap();
    let path = writer.write(&heap()).unwrap();
    let sound = fs::read(&path).unwrap();
    let stored = StoredFrames::open(scratch.path()).unwrap();
    let error = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        stored.read(0).map(drop).map_err(|error| error.to_string())
    };
    for cut in (0..sound.len() - 200).step_by(97) {
        let error = error(&sound[..cut]).unwrap_err();
        assert!(error.starts_with(&path.display().to_string()), "{error}");
    }
    // No damage makes it panic, whether or not it can be seen.
    for k in 0..sound.len() {
        let mut bytes = sound.clone();
        bytes[k] ^= 1 << (k % 8);
        let _ = error(&bytes);
    }
    let text = String::from_utf8_lossy(&sound);
    let many = text.replace(
        "NumberOfPoints=\"12\" NumberOfVerts=\"12\"",
        "NumberOfPoints=\"9000000000000000000\" NumberOfVerts=\"9000000000000000000\"",
    );
    assert_ne!(many, text);
    assert!(error(many.as_bytes()).is_err());
    fs::remove_file(&path).unwrap();
    assert!(stored.read(0).unwrap_err().to_string().starts_with("cannot read "));
}

#[test]
fn a_frame_that_is_its_own_piece_is_damaged() {
    let scratch = Scratch::new();
    let mut writer = FrameWriter::on_rank(scratch.path(), OPTIONS, 0, 2).unwrap();
    writer.write_piece(&heap()).unwrap();
    writer.complete(1).unwrap();
    let path = scratch.path().join("frames/frame-000000.pvtp");
    let text = fs::read_to_string(&path).unwrap();
    for name in ["frame-000000.pvtp", "../frames/frame-000000-0000.vtp", "x.vtp"] {
        let changed = text.replace("frame-000000-0001.vtp", name);
        assert_ne!(changed, text);
        fs::write(&path, changed).unwrap();
        let error = StoredFrames::open(scratch.path()).unwrap().read(0).unwrap_err().to_string();
        assert!(error.contains("is not the name of a piece"), "{error}");
    }
}

#[test]
fn an_index_leads_nowhere_but_to_frames() {
    let scratch = Scratch::new();
    let mut writer = FrameWriter::create(scratch.path(), OPTIONS).unwrap();
    writer.write(&heap()).unwrap();
    let outside = scratch.path().join("frame-000000.vtp");
    fs::copy(scratch.path().join("frames/frame-000000.vtp"), &outside).unwrap();
    for index in ["frames.pvd", "contacts.pvd", "walls.pvd"] {
        let path = scratch.path().join(index);
        let text = fs::read_to_string(&path).unwrap();
        let named = attribute(element(&text, "DataSet").unwrap(), "file").unwrap();
        let absolute = outside.to_str().unwrap();
        for name in ["/dev/zero", "frame-000000.vtp", "frames/../frame-000000.vtp", "frames/x", "frames/", absolute] {
            fs::write(&path, text.replace(named, name)).unwrap();
            let error = StoredFrames::open(scratch.path()).unwrap().read(0).unwrap_err().to_string();
            let expected = format!("{}: {name:?} is not the name of a frame's file", path.display());
            assert!(error.starts_with(&expected), "{error}");
        }
        fs::write(&path, text).unwrap();
    }
    assert!(StoredFrames::open(scratch.path()).unwrap().read(0).is_ok());
}

#[cfg(unix)]
#[test]
fn a_device_in_the_place_of_a_frame_is_not_read() {
    let scratch = Scratch::new();
    let mut writer = FrameWriter::create(scratch.path(), OPTIONS).unwrap();
    let path = writer.write(&heap()).unwrap();
    for path in [path, scratch.path().join("contacts.pvd")] {
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        let read = StoredFrames::open(scratch.path()).and_then(|stored| stored.read(0));
        let error = read.unwrap_err().to_string();
        assert_eq!(error, format!("cannot read {}: it is not a regular file", path.display()));
        fs::remove_file(&path).unwrap();
    }
}

/// A frame of spheres and other shapes.
fn shapes() -> Frame {
    use crate::shape::{Cuboid, Part};
    let corners = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z].map(|p| 0.3 * (p - 0.25));
    let clump = |k: f64| Part::new(Shape::sphere(0.5)).at(DVec3::X * k, DQuat::IDENTITY);
    let all = [
        Shape::sphere(0.25),
        Shape::cuboid(DVec3::new(0.5, 1.0, 1.5)),
        Cuboid { half_extents: DVec3::new(0.5, 1.0, 1.5), margin: 0.25 }.into(),
        Shape::ellipsoid(DVec3::new(0.5, 1.0, 1.5)),
        Shape::cylinder(0.5, 1.5),
        Shape::cone(0.5, 1.5),
        Shape::capsule(0.5, 1.0),
        Shape::polyhedron(corners.into()),
        Shape::mesh(crate::shape::Surface::cuboid(DVec3::ONE)).scaled(0.5),
        Shape::composite(vec![clump(0.5), clump(-0.5)]),
    ];
    let mut frame = Frame { time: 0.5, ..Frame::default() };
    frame.bodies = super::super::bodies::tests::sample(2 * all.len());
    for (k, shape) in frame.bodies.shape.iter_mut().enumerate() {
        *shape = all[k % all.len()].scaled(1.0 + k as f64);
    }
    frame
}

/// Whether a shape that was read looks as the one that was written.
fn looks_like(read: &Shape, written: &Shape) -> bool {
    let extent = |shape: &Shape| {
        let (low, high) = shape.surface().unwrap().bounds().unwrap();
        [low, high]
    };
    let size = written.bounding_radius().unwrap();
    let away = extent(read).into_iter().zip(extent(written)).map(|(a, b)| (a - b).length()).fold(0.0, f64::max);
    let is_named = matches!(read, Shape::Mesh(_)) || read.name() == written.name();
    is_named && away < 0.01 * size
}

#[test]
fn shapes_read_back() {
    let frame = shapes();
    let scratch = Scratch::new();
    let mut writer = FrameWriter::create(scratch.path(), OPTIONS).unwrap();
    writer.write(&heap()).unwrap();
    assert!(!scratch.path().join("shapes").exists(), "spheres need none");
    writer.write(&frame).unwrap();
    writer.write(&frame).unwrap();
    assert_eq!(names(&scratch.path().join("shapes")).len(), 9);
    let stored = StoredFrames::open(scratch.path()).unwrap();
    assert!(stored.read(0).unwrap().bodies.shape.iter().all(|shape| matches!(shape, Shape::Sphere(_))));
    for index in 1..3 {
        let read = stored.read(index).unwrap();
        for (a, b) in read.bodies.shape.iter().zip(&frame.bodies.shape) {
            assert!(looks_like(a, b), "{a:?} {b:?}");
        }
        // What shares a surface shares it once more.
        let at = |shape: &Shape| match shape {
            Shape::Mesh(mesh) => Arc::as_ptr(mesh.triangles()),
            _ => panic!("{shape:?}"),
        };
        assert_eq!(at(&read.bodies.shape[7]), at(&read.bodies.shape[17]));
    }
    // A surface that is lost leaves the ball that holds the body, and one that is damaged is named.
    let folder = scratch.path().join("shapes");
    let file = |name: &str| folder.join(names(&folder).into_iter().find(|file| file.contains(name)).unwrap());
    fs::remove_file(file("polyhedron")).unwrap();
    fs::write(file("composite"), "nothing").unwrap();
    let error = StoredFrames::open(scratch.path()).unwrap().read(1).unwrap_err().to_string();
    assert!(error.contains("composite.vtp: it has no appended data"), "{error}");
    fs::remove_file(file("composite")).unwrap();
    let read = StoredFrames::open(scratch.path()).unwrap().read(1).unwrap();
    let radius = frame.bodies.radius(7) as f32;
    assert_eq!(read.bodies.shape[7], Shape::sphere(radius.into()));
}

#[test]
fn ranks_tell_shapes_if_any_of_them_may_have_some() {
    let frame = shapes();
    let scratch = Scratch::new();
    let options = FrameOptions { shapes: true, ..OPTIONS };
    let mut writers = [0, 1, 2].map(|rank| FrameWriter::on_rank(scratch.path(), options, rank, 3).unwrap());
    for (rank, writer) in writers.iter_mut().enumerate() {
        writer.write_piece(&share(&frame, rank)).unwrap();
    }
    writers[0].complete(1).unwrap();
    let text = fs::read_to_string(scratch.path().join("frames/frame-000000.pvtp")).unwrap();
    assert!(text.contains("Name=\"shape\"") && text.contains("Name=\"scale\""), "{text}");
    assert_eq!(names(&scratch.path().join("shapes")).len(), 9);
    let read = StoredFrames::open(scratch.path()).unwrap().read_bodies(0).unwrap().bodies;
    for (id, shape) in read.id.iter().zip(&read.shape) {
        let written = frame.bodies.id.iter().position(|other| other == id).unwrap();
        assert!(looks_like(shape, &frame.bodies.shape[written]));
    }
}

#[test]
fn an_exported_file_names_the_surfaces_of_the_run() {
    let scratch = Scratch::new();
    let mut writer = FrameWriter::create(scratch.path(), OPTIONS).unwrap();
    writer.write(&shapes()).unwrap();
    let stored = StoredFrames::open(scratch.path()).unwrap();
    let mut bytes = std::io::Cursor::new(Vec::new());
    crate::output::write_vtkhdf(&mut bytes, &stored).unwrap();
    let file = barchan_hdf5::File::new(bytes.into_inner()).unwrap();
    let numbers = file.dataset("VTKHDF/PointData/shape").unwrap().integers().unwrap();
    let files = names(&scratch.path().join("shapes"));
    for number in numbers.into_iter().filter(|number| *number != 0) {
        assert!(files.iter().any(|file| file.starts_with(&format!("shape-{number:015}-"))), "{number} {files:?}");
    }
    assert_eq!(file.dataset("VTKHDF/PointData/scale").unwrap().shape(), [20, 3]);
}

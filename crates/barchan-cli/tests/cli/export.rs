//! Frames as tables.

use crate::support::{Desk, files};

#[test]
fn frames_become_tables() {
    let desk = Desk::new();
    desk.json("run packing --set bodies=40 --set output.frame_interval=0.1 --time 0.4 --out run");
    let bodies = desk.barchan("export run");
    assert_eq!(bodies.code, 0, "{bodies:?}");
    let lines: Vec<_> = bodies.out.lines().collect();
    assert!(lines.len() == 41 && lines[0].starts_with("step,time,id,x,y,z,radius,"), "{}", lines[0]);
    assert!(lines[1..].iter().all(|line| line.starts_with("800,0.4")), "{}", lines[1]);

    let said = desk.barchan("export run --all -o all.csv");
    assert!(said.code == 0 && said.err.contains("all.csv: 5 frames") && said.out.is_empty(), "{said:?}");
    assert_eq!(desk.read("all.csv").lines().count(), 1 + 5 * 40);

    // The same contacts, on one rank or several.
    let contacts = desk.barchan("export run --contacts --frame 4");
    assert!(contacts.out.starts_with("step,time,id_a,id_b,") && contacts.out.lines().count() > 20, "{contacts:?}");
    assert_eq!(desk.barchan("export run --contacts --frame 0").out.lines().count(), 1);
    desk.json("run packing --set bodies=40 --set output.frame_interval=0.1 --time 0.4 --out ranks --ranks 3");
    assert_eq!(desk.barchan("export ranks --bodies").out.lines().count(), 41);
    assert!(desk.barchan("export ranks --contacts").out.lines().count() > 20);
}

#[test]
fn all_frames_become_one_vtkhdf_file() {
    let desk = Desk::new();
    desk.json("run packing --set bodies=40 --set output.frame_interval=0.1 --time 0.4 --out run --ranks 2");
    let said = desk.barchan("export run --vtkhdf -o run.vtkhdf");
    assert!(said.code == 0 && said.err.contains("run.vtkhdf: 5 frames"), "{said:?}");
    let file = barchan_hdf5::File::new(std::fs::read(desk.path("run.vtkhdf")).unwrap()).unwrap();
    assert_eq!(file.dataset("VTKHDF/Steps/Values").unwrap().shape(), [5]);
    assert_eq!(file.dataset("VTKHDF/NumberOfPoints").unwrap().integers().unwrap(), [40; 5]);
    assert_eq!(file.dataset("VTKHDF/Points").unwrap().shape(), [200, 3]);
    assert_eq!(file.dataset("VTKHDF/FieldData/step").unwrap().integers().unwrap(), [0, 200, 400, 600, 800]);

    desk.barchan("export run --vtkhdf").refused(2, &["--output"]);
    for other in ["--frame 1", "--bodies", "--contacts"] {
        let option = other.split(' ').next().unwrap();
        desk.barchan(&format!("export run --vtkhdf -o no.vtkhdf {other}")).refused(2, &["--vtkhdf", option]);
    }
    desk.write("run/frames/frame-000002-0001.vtp", "<VTKFile>");
    // The others are there, and it is said that one is not.
    let said = desk.barchan("export run --vtkhdf -o four.vtkhdf");
    said.refused(1, &["WARNING: frame 2 is left out: run/frames/frame-000002-0001.vtp: it has no appended data"]);
    said.refused(1, &["four.vtkhdf: 4 frames", "four.vtkhdf lacks 1 of 5 frames"]);
    let file = barchan_hdf5::File::new(std::fs::read(desk.path("four.vtkhdf")).unwrap()).unwrap();
    assert_eq!(file.dataset("VTKHDF/FieldData/step").unwrap().integers().unwrap(), [0, 200, 600, 800]);
    assert_eq!(file.dataset("VTKHDF/Points").unwrap().shape(), [160, 3]);
    desk.barchan("export run --vtkhdf -o -").refused(2, &["standard output"]);
    assert_eq!(files(&desk.path("")).iter().filter(|name| !name.starts_with("run/")).count(), 2);
}

#[test]
fn what_cannot_be_exported_is_named() {
    let desk = Desk::new();
    desk.json("run bounce --steps 1 --set output.contacts=false --out run");
    desk.barchan("export run --frame 7").refused(2, &["there is no frame 7: the run has 2, numbered from 0 to 1"]);
    desk.barchan("export run --contacts").refused(2, &["output.contacts of its scene is false"]);
    desk.barchan("export .").refused(2, &["is not the directory of a run"]);
    desk.barchan("export nowhere").refused(2, &["nowhere is not the directory of a run"]);
    desk.barchan("export run -o no/such/place.csv").refused(1, &["place.csv"]);
    desk.write("run/frames/frame-000001.vtp", "<VTKFile>");
    desk.barchan("export run -o out.csv").refused(1, &["frame-000001.vtp: it has no appended data"]);
    assert!(!desk.path("out.csv").exists());
    // Of all frames those that can be read are there, to a file and to standard output.
    let warning = "WARNING: frame 1 is left out: run/frames/frame-000001.vtp";
    desk.barchan("export run --all -o out.csv").refused(1, &[warning, "out.csv lacks 1 of 2 frames"]);
    assert_eq!(desk.read("out.csv").lines().count(), 2);
    let said = desk.barchan("export run --all");
    said.refused(1, &[warning, "the table lacks 1 of 2 frames"]);
    assert_eq!(said.out, desk.read("out.csv"));
    assert_eq!(desk.barchan("export run --frame 0 -o -").out, said.out);
    assert!(!desk.path("-").exists());
    // Nothing is made of nothing.
    desk.write("run/frames/frame-000000.vtp", "");
    desk.barchan("export run --all -o none.csv").refused(1, &["none of 2 frames can be read"]);
    desk.barchan("export run --vtkhdf -o none.vtkhdf").refused(1, &["none of 2 frames can be read"]);
    assert!(!desk.path("none.csv").exists() && !desk.path("none.vtkhdf").exists());
}

#[test]
fn files_of_the_run_are_spared() {
    let desk = Desk::new();
    desk.json("run bounce --steps 3 --out run");
    let before = desk.read("run/steps.csv");
    for line in ["export run -o run/steps.csv", "report run -o run/summary.json", "export run -o run/frames/a.csv"] {
        desk.barchan(line).refused(2, &["is a file of the run itself"]);
    }
    desk.barchan("render run -o run/frames/a.png").refused(2, &["is a file of the run itself"]);
    assert_eq!(desk.read("run/steps.csv"), before);
    for line in ["render run -o run/picture.png", "report run", "export run -o run/mine.csv"] {
        assert_eq!(desk.barchan(line).code, 0, "{line}");
    }
}

#[test]
fn walls_that_cannot_be_read_cost_nothing_else() {
    let desk = Desk::new();
    desk.json("run packing --set bodies=40 --time 0.3 --out run");
    desk.write("run/frames/walls-000000.vtp", "");
    let contacts = desk.barchan("export run --contacts --all");
    assert!(contacts.code == 0 && contacts.out.lines().count() > 20, "{contacts:?}");
    let said = desk.barchan("render run --size 64x48 -o a.png");
    assert!(said.code == 0 && said.err.contains("WARNING: drawn without walls: "), "{said:?}");
    let said = desk.barchan("render run --size 64x48 --video -o b.png");
    assert!(said.code == 0 && said.err.matches("WARNING").count() == 1, "{said:?}");
    // A frame that cannot be read leaves no line behind.
    desk.write("run/frames/frame-000000.vtp", "");
    let said = desk.barchan("export run --frame 0");
    assert!(said.code == 1 && said.out.is_empty(), "{said:?}");
}

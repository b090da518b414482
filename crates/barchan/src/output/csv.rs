//! Frames as tables: a row a body or a contact, comma-separated.

use crate::frame::{Frame, FrameBodies, FrameContacts, motion_number};
use glam::DVec3;
use std::io::{self, Write};

/// Columns of the table of bodies.
pub const BODY_COLUMNS: [&str; 22] = [
    "step",
    "time",
    "id",
    "x",
    "y",
    "z",
    "radius",
    "velocity_x",
    "velocity_y",
    "velocity_z",
    "speed",
    "angular_velocity_x",
    "angular_velocity_y",
    "angular_velocity_z",
    "orientation_x",
    "orientation_y",
    "orientation_z",
    "orientation_w",
    "material",
    "group",
    "motion",
    "rank",
];

/// Columns of the table of contacts.
pub const CONTACT_COLUMNS: [&str; 18] = [
    "step",
    "time",
    "id_a",
    "id_b",
    "a_x",
    "a_y",
    "a_z",
    "b_x",
    "b_y",
    "b_z",
    "normal_x",
    "normal_y",
    "normal_z",
    "force_x",
    "force_y",
    "force_z",
    "normal_impulse",
    "rank",
];

/// Writes the bodies of a frame as rows, in the order of [`BODY_COLUMNS`].
pub fn write_body_rows(out: &mut dyn Write, frame: &Frame) -> io::Result<()> {
    let FrameBodies { position, orientation, velocity, angular_velocity, id, material, group, motion, rank, .. } =
        &frame.bodies;
    for i in 0..frame.bodies.len() {
        let DVec3 { x, y, z } = position[i];
        write!(out, "{},{:?},{},{x:?},{y:?},{z:?}", frame.step, frame.time, id[i])?;
        short(out, [frame.bodies.radius(i)])?;
        short(out, velocity[i].to_array())?;
        short(out, [velocity[i].length()])?;
        short(out, angular_velocity[i].to_array())?;
        short(out, orientation[i].to_array())?;
        writeln!(out, ",{},{},{},{}", material[i], group[i], motion_number(motion[i]), rank[i])?;
    }
    Ok(())
}

/// Writes the contacts of a frame as rows, in the order of [`CONTACT_COLUMNS`].
pub fn write_contact_rows(out: &mut dyn Write, frame: &Frame) -> io::Result<()> {
    let FrameContacts { ids, ends, normal, force, normal_impulse, rank } = &frame.contacts;
    for k in 0..frame.contacts.len() {
        write!(out, "{},{:?},{},{}", frame.step, frame.time, ids[k][0], ids[k][1])?;
        for vector in [ends[k][0], ends[k][1], normal[k], force[k]] {
            short(out, vector.to_array())?;
        }
        short(out, [normal_impulse[k]])?;
        writeln!(out, ",{}", rank[k])?;
    }
    Ok(())
}

/// Numbers with the digits that frames keep.
fn short<const N: usize>(out: &mut dyn Write, numbers: [f64; N]) -> io::Result<()> {
    numbers.into_iter().try_for_each(|x| write!(out, ",{:?}", x as f32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{BodySpec, Scene};
    use crate::shape::Shape;
    use crate::step::Simulation;
    use crate::world::Motion;

    #[test]
    fn rows_fit_their_columns() {
        let mut scene = Scene::default();
        scene.material[0].friction = 0.0;
        scene.body.push(BodySpec::new(Shape::half_space(), DVec3::ZERO));
        let ball = BodySpec { group: 4, velocity: DVec3::X, ..BodySpec::new(Shape::sphere(0.1), DVec3::Z * 0.1) };
        scene.body.push(ball.clone());
        scene.body.push(BodySpec { motion: Motion::Fixed, position: DVec3::Y, velocity: DVec3::ZERO, ..ball.clone() });
        scene.body.push(BodySpec { motion: Motion::Kinematic, position: -DVec3::Y, ..ball });
        let mut simulation = Simulation::from_scene(&scene).unwrap();
        simulation.step().unwrap();
        let mut frame = Frame::default();
        let mut bodies = Vec::new();
        let mut contacts = Vec::new();
        frame.capture(&simulation, 2);
        write_body_rows(&mut bodies, &frame).unwrap();
        write_contact_rows(&mut contacts, &frame).unwrap();
        let [bodies, contacts] = [bodies, contacts].map(|bytes| String::from_utf8(bytes).unwrap());
        let cells =
            |text: &str| text.trim_end().split(',').map(|cell| cell.parse::<f64>().unwrap()).collect::<Vec<_>>();
        let mut rows: Vec<Vec<f64>> = bodies.lines().map(cells).collect();
        rows.sort_by(|a, b| a[2].total_cmp(&b[2]));
        let motions: Vec<f64> = rows.iter().map(|row| row[BODY_COLUMNS.len() - 2]).collect();
        assert_eq!(motions, [0.0, 2.0, 1.0]);
        let body = &rows[0];
        let contact = cells(&contacts);
        assert_eq!((body.len(), contact.len()), (BODY_COLUMNS.len(), CONTACT_COLUMNS.len()));
        let of = |names: &[&str], row: &[f64], name: &str| row[names.iter().position(|n| *n == name).unwrap()];
        let body = |name| of(&BODY_COLUMNS, body, name);
        assert_eq!([body("step"), body("id"), body("radius"), body("group")], [1.0, 1.0, 0.1, 4.0]);
        assert_eq!((body("rank"), body("material")), (2.0, 0.0));
        assert!(body("speed") > 0.9 && body("velocity_x") > 0.9);
        assert!((body("z") - 0.1).abs() < 1e-3 && body("orientation_w") > 0.9);
        let contact = |name| of(&CONTACT_COLUMNS, &contact, name);
        assert_eq!([contact("id_a"), contact("id_b"), contact("normal_z")], [1.0, 0.0, 1.0]);
        assert!(contact("force_z") > 90.0 && contact("normal_impulse") > 0.09 && contact("b_z").abs() < 1e-3);
    }
}

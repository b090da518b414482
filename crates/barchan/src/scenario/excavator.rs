//! A bucket on an arm of joints that digs in a bed of spheres.

use super::Scenario;
use super::boxed::length;
use super::offers;
use super::soil::{self, Soil};
use crate::scene::{BodySpec, JointSpec, MotorSpec, Scene, Time};
use crate::shape::{Part, Shape};
use crate::world::JointKind;
use glam::{DQuat, DVec3};

const DESCRIPTION: &str = "Spheres fall into a pit; the boom of an excavator lowers its stick and bucket into the bed, draws \
    them towards its pivot and curls the bucket. Three hinges with motors of limited torque, which stop at limits. Look at \
    the torques of the motors (joints.csv), and at the heap that the bucket pushes up.";

/// The pit, m: half of its edges.
const PIT: DVec3 = DVec3::new(0.9, 0.28, 0.6);
/// Pivots of boom, stick and bucket.
const BOOM: DVec3 = DVec3::new(-0.65, 0.0, 0.55);
const STICK: DVec3 = DVec3::new(-0.05, 0.0, 0.85);
const BUCKET: DVec3 = DVec3::new(0.3, 0.0, 0.5);

/// A beam of a square cross-section from a to b.
fn beam(name: &str, a: DVec3, b: DVec3, half: f64) -> BodySpec {
    let shape = Shape::cuboid(DVec3::new(half, half, 0.5 * (b - a).length()));
    let turn = DQuat::from_rotation_arc(DVec3::Z, (b - a).normalize());
    BodySpec {
        name: name.into(),
        orientation: Some(turn),
        material: "steel".into(),
        ..BodySpec::new(shape, 0.5 * (a + b))
    }
}

/// A scoop that hangs below its pivot and opens towards −x.
fn bucket() -> BodySpec {
    let plate = |half: DVec3, x: DVec3| Part::new(Shape::cuboid(half)).at(x, DQuat::IDENTITY);
    let shape = Shape::composite(vec![
        plate(DVec3::new(0.006, 0.12, 0.075), DVec3::new(0.08, 0.0, -0.075)),
        plate(DVec3::new(0.09, 0.12, 0.006), DVec3::new(-0.005, 0.0, -0.145)),
        plate(DVec3::new(0.08, 0.006, 0.07), DVec3::new(0.0, 0.114, -0.075)),
        plate(DVec3::new(0.08, 0.006, 0.07), DVec3::new(0.0, -0.114, -0.075)),
    ]);
    BodySpec { name: "bucket".into(), material: "steel".into(), ..BodySpec::new(shape, BUCKET) }
}

pub(super) static SCENARIO: Scenario = Scenario {
    name: "excavator",
    summary: "a bucket on a motor-driven arm digs in a bed of spheres",
    parameters: &[
        soil::parameters(5000.0, 0.016)[0],
        soil::parameters(5000.0, 0.016)[1],
        soil::parameters(5000.0, 0.016)[2],
        length("speed", 1.0, "of all motions, as a factor"),
    ],
    build: |parameters| {
        let soil = Soil::new(PIT, parameters);
        let speed = parameters.get("speed");
        // As high above the bed as that needs.
        let lift = (soil.height() - 0.3).max(0.0) * DVec3::Z;
        let raised = |body: BodySpec| BodySpec { position: body.position + lift, ..body };
        let drive = |name: &str, bodies: [&str; 2], anchor: DVec3, turn: f64, most: f64, effort: f64| JointSpec {
            name: name.into(),
            limits: Some([most.min(0.0), most.max(0.0)]),
            motor: Some(MotorSpec { speed: Some((turn * speed).into()), effort: Some(effort), ..MotorSpec::default() }),
            ..JointSpec::new(JointKind::Revolute, bodies, anchor + lift).about(DVec3::Y)
        };
        Scene {
            name: SCENARIO.name.into(),
            description: DESCRIPTION.into(),
            time: Time { end: 0.5 + 2.5 / speed, ..Time::default() },
            body: vec![
                soil.walls(lift.z),
                raised(beam("boom", BOOM, STICK, 0.03)),
                raised(beam("stick", STICK, BUCKET, 0.025)),
                raised(bucket()),
            ],
            joint: vec![
                drive("boom hinge", ["world", "boom"], BOOM, 0.4, 0.42, 4000.0),
                drive("stick hinge", ["boom", "stick"], STICK, 0.6, 1.2, 1500.0),
                drive("bucket hinge", ["stick", "bucket"], BUCKET, 0.5, 0.9, 400.0),
            ],
            fill: vec![soil.fill(0.2)],
            material: soil.materials([7800.0, 0.4]),
            adjustable: vec![offers::gravity(), offers::friction()],
            ..Scene::default()
        }
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::Simulation;

    #[test]
    fn the_bucket_goes_through_the_bed_and_takes_some_of_it_along() {
        let set = [("bodies", "400"), ("radius", "0.035")].map(|(k, v)| (k.into(), v.into()));
        let scene = SCENARIO.scene(&set).unwrap();
        let mut simulation = Simulation::from_scene(&scene).unwrap();
        let (mut lowest, mut torque) = (f64::INFINITY, 0.0f64);
        while simulation.world.time < scene.time.end {
            simulation.step().unwrap();
            let bodies = &simulation.world.bodies;
            lowest = lowest.min(bodies.position[bodies.index_of(3).unwrap()].z);
            torque = torque.max(simulation.world.joints[1].state.effort.abs());
        }
        let joints = &simulation.world.joints;
        assert!(joints.iter().all(|joint| !joint.state.is_broken && joint.state.position > 0.3), "{joints:?}");
        assert!(lowest < 0.35 && torque > 10.0 && torque < 1500.0 + 1e-6, "{lowest} {torque}");
        let bodies = &simulation.world.bodies;
        assert!((0..bodies.len()).all(|i| bodies.position[i].z > -0.01 && bodies.velocity[i].length() < 10.0));
    }
}

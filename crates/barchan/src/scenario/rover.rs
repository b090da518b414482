//! A rover on four driven wheels that crosses a bed of spheres.

use super::Scenario;
use super::boxed::length;
use super::offers;
use super::soil::{self, Soil};
use crate::scene::{BodySpec, JointSpec, MotorSpec, Scene, Time};
use crate::shape::Shape;
use crate::world::JointKind;
use glam::{DQuat, DVec3};

const DESCRIPTION: &str = "A rover drives over loose grains on four wheels, each with a motor of limited torque. Look at how \
    far it comes against how far its wheels turn: the slip of terramechanics, 1 - v/(wr).";

/// The track, m: half of its edges.
const TRACK: DVec3 = DVec3::new(1.2, 0.35, 0.4);
const WHEEL: f64 = 0.1;

pub(super) static SCENARIO: Scenario = Scenario {
    name: "rover",
    summary: "four driven wheels cross a bed of grains",
    parameters: &[
        soil::parameters(5000.0, 0.018)[0],
        soil::parameters(5000.0, 0.018)[1],
        soil::parameters(5000.0, 0.018)[2],
        length("speed", 5.0, "of the wheels, rad/s"),
        length("torque", 6.0, "of each motor at most, N m"),
    ],
    build: |parameters| {
        let soil = Soil::new(TRACK, parameters);
        let height = soil.height();
        let radius = parameters.get("radius");
        // It starts just above the grains, and falls onto them while they settle.
        let hull = DVec3::new(-0.8 * TRACK.x + 0.2, 0.0, height + 1.5 * radius + WHEEL + 0.05);
        let steel = |body: BodySpec, name: &str| BodySpec { name: name.into(), material: "steel".into(), ..body };
        let mut list =
            vec![soil.walls(height), steel(BodySpec::new(Shape::cuboid(DVec3::new(0.22, 0.1, 0.03)), hull), "hull")];
        let mut joints = Vec::new();
        for (k, (x, y)) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)].into_iter().enumerate() {
            let place = hull + DVec3::new(0.16 * x, 0.17 * y, -0.05);
            let name = format!("wheel {k}");
            let wheel = BodySpec::new(Shape::cylinder(WHEEL, 0.04), place);
            let turned = BodySpec { orientation: Some(DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2)), ..wheel };
            list.push(steel(turned, &name));
            joints.push(JointSpec {
                name: format!("axle {k}"),
                motor: Some(MotorSpec {
                    speed: Some(parameters.get("speed").into()),
                    effort: Some(parameters.get("torque")),
                    ..MotorSpec::default()
                }),
                ..JointSpec::new(JointKind::Revolute, ["hull", &name], place).about(DVec3::Y)
            });
        }
        Scene {
            name: SCENARIO.name.into(),
            description: DESCRIPTION.into(),
            time: Time { end: 4.0, ..Time::default() },
            body: list,
            joint: joints,
            fill: vec![soil.fill(0.3)],
            material: soil.materials([3000.0, 0.7]),
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
    fn it_drives_less_far_than_its_wheels_turn() {
        let set = [("bodies", "700"), ("radius", "0.035")].map(|(k, v)| (k.into(), v.into()));
        let mut scene = SCENARIO.scene(&set).unwrap();
        scene.time.end = 3.0;
        let mut simulation = Simulation::from_scene(&scene).unwrap();
        let at = |simulation: &Simulation| {
            let bodies = &simulation.world.bodies;
            bodies.position[bodies.index_of(1).unwrap()]
        };
        let start = at(&simulation);
        while simulation.world.time < scene.time.end {
            simulation.step().unwrap();
        }
        let way = at(&simulation) - start;
        let turned: f64 = simulation.world.joints.iter().map(|joint| joint.state.position).sum::<f64>() / 4.0;
        assert!(way.x > 0.3 && way.x < WHEEL * turned, "{way} for {turned} rad");
        assert!(way.y.abs() < 0.2, "{way}");
    }
}

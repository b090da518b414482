//! Pebbles: convex polyhedra at random, poured into a box.

use super::boxed::{count, fall, friction, length, open_box};
use super::offers;
use super::{Parameter, ParameterRange, Scenario};
use crate::scene::random::{EntryKind, Purpose, Stream};
use crate::scene::{Fill, Kind, Radius, Scene, Time};
use crate::shape::Shape;
use crate::world::Material;
use glam::DVec3;

const DESCRIPTION: &str = "Pebbles fall into a box and come to rest. A pebble is the convex hull of points that lie on an \
    ellipsoid in random directions; there are several such prototypes, of axes about 1 : 0.8 : 0.6, in sizes \
    between 0.6 and 1.4 times the mean. Known answer: poured angular grains take 50 to 62 % of the room that they lie in.";

pub(super) static SCENARIO: Scenario = Scenario {
    name: "pebbles",
    summary: "random convex polyhedra are poured into a box",
    parameters: &[
        count("bodies", 500.0, "how many pebbles"),
        count("kinds", 6.0, "prototypes that they are copies of"),
        Parameter {
            name: "corners",
            default: 24.0,
            range: ParameterRange::CountFrom(6),
            help: "points of a prototype, at least 6",
        },
        Parameter { name: "shapes", default: 1.0, range: ParameterRange::CountOrNone, help: "seed of the prototypes" },
        length("radius", 0.01, "mean of the longest semi-axis, m"),
        friction(0.6),
    ],
    build: |parameters| {
        let radius = parameters.get("radius");
        let bodies = parameters.count("bodies");
        let points = parameters.count("corners");
        let prototype = |kind: u64| {
            let stream = Stream::new(parameters.count("shapes"), EntryKind::Fill, kind as usize);
            let mut axes = stream.draws(0, Purpose::Radius);
            let radii = DVec3::new(1.0, axes.between(0.7, 0.9), axes.between(0.5, 0.7));
            let mut draws = stream.draws(0, Purpose::Position);
            let mut point = || {
                let direction = DVec3::new(draws.normal(), draws.normal(), draws.normal()).normalize_or(DVec3::X);
                // Rounded, so that a file that lists them stays readable.
                (direction * radii * 1e4).round() * 1e-4
            };
            let shape = Shape::polyhedron((0..points).map(|_| point()).collect());
            Kind { scale: Some(Radius::Uniform([0.6 * radius, 1.4 * radius])), ..Kind::of(shape) }
        };
        // So wide that they lie about as high as the box is wide.
        let volume = bodies as f64 * 2.1 * radius.powi(3);
        let half = 0.5 * (volume / 0.55).cbrt().max(8.0 * radius);
        let column = (volume / 0.2 / (4.0 * half * half)).max(4.0 * radius);
        Scene {
            name: SCENARIO.name.into(),
            description: DESCRIPTION.into(),
            time: Time { end: 1.3 * fall(column) + 0.6, ..Time::default() },
            body: vec![open_box(DVec3::new(half, half, 0.5 * column))],
            fill: vec![
                Fill::new(DVec3::new(-half, -half, 0.0), DVec3::new(half, half, column), bodies, radius)
                    .mixed((0..parameters.count("kinds")).map(prototype).collect()),
            ],
            material: vec![Material {
                name: "stone".into(),
                density: 2650.0,
                friction: parameters.get("friction"),
                ..Material::default()
            }],
            adjustable: vec![offers::gravity(), offers::tilt(), offers::friction()],
            ..Scene::default()
        }
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::Simulation;

    #[test]
    fn pebbles_come_to_rest_in_the_box() {
        let mut scene = SCENARIO.scene(&[("bodies".into(), "30".into())]).unwrap();
        // Bodies keep their places in memory.
        scene.broad_phase.reorder_interval = 0;
        let mut simulation = Simulation::from_scene(&scene).unwrap();
        while simulation.world.time < scene.time.end {
            simulation.step().unwrap();
        }
        let bodies = &simulation.world.bodies;
        let half = -scene.fill[0].min.x;
        for i in 1..bodies.len() {
            assert!(bodies.position[i].abs().truncate().max_element() < half && bodies.position[i].z > 0.0);
            assert!(bodies.velocity[i].length() < 0.05, "{}", bodies.velocity[i]);
        }
        // Prototypes differ, and copies share them.
        let shapes: std::collections::HashSet<String> =
            scene.fill[0].mixture.iter().map(|k| format!("{:?}", k.shape)).collect();
        assert_eq!(shapes.len(), 6);
    }
}

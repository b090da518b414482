//! Cylinders and capsules are poured into a drum.

use super::Scenario;
use super::boxed::{count, fall, floor, friction, length};
use super::offers;
use crate::scene::{BodySpec, Fill, Kind, Scene, Time};
use crate::shape::{Shape, Surface};
use crate::world::Material;
use glam::{DVec2, DVec3};
use std::f64::consts::PI;

const DESCRIPTION: &str = "Cylinders and capsules, as many of one as of the other, are poured into an upright drum, which is a \
    tube of triangles on a plane floor. Known answer (Zhang et al. 2006, Wouterse et al. 2009): poured rods a few times as \
    long as thick take 55 to 65 % of the room that they lie in, most of them nearly level.";

pub(super) static SCENARIO: Scenario = Scenario {
    name: "rods",
    summary: "cylinders and capsules are poured into a drum",
    parameters: &[
        count("bodies", 200.0, "how many rods"),
        length("radius", 5e-3, "of a rod, m"),
        length("aspect", 3.0, "length over diameter, more than 1"),
        friction(0.4),
    ],
    build: |parameters| {
        let radius = parameters.get("radius");
        let bodies = parameters.count("bodies");
        let half_length = radius * parameters.get("aspect").max(1.1);
        let volume = bodies as f64 * 2.0 * PI * radius * radius * half_length;
        // As wide as the rods will lie high, and several rods wide.
        let inner = (volume / (0.5 * 2.0 * PI)).cbrt().max(4.0 * half_length);
        let wide = 0.68 * inner;
        let column = (volume / 0.18 / (4.0 * wide * wide)).max(3.0 * half_length);
        let wall = 4.0 * radius;
        let corners =
            [(inner, 0.0), (inner + wall, 0.0), (inner + wall, 1.1 * column), (inner, 1.1 * column), (inner, 0.0)];
        let tube = Surface::revolved(&corners.map(DVec2::from), 48).welded();
        let kinds = vec![
            Kind::of(Shape::cylinder(radius, half_length)),
            Kind::of(Shape::capsule(radius, half_length - radius)),
        ];
        Scene {
            name: SCENARIO.name.into(),
            description: DESCRIPTION.into(),
            time: Time { end: 1.3 * fall(column) + 0.6, ..Time::default() },
            body: vec![floor(), BodySpec::new(Shape::mesh(tube), DVec3::ZERO)],
            fill: vec![
                Fill::new(DVec3::new(-wide, -wide, 0.0), DVec3::new(wide, wide, column), bodies, radius).mixed(kinds),
            ],
            material: vec![Material {
                name: "steel".into(),
                density: 7850.0,
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
    fn rods_lie_in_the_drum() {
        let mut scene = SCENARIO.scene(&[("bodies".into(), "30".into())]).unwrap();
        // Bodies keep their places in memory.
        scene.broad_phase.reorder_interval = 0;
        let mut simulation = Simulation::from_scene(&scene).unwrap();
        while simulation.world.time < scene.time.end {
            simulation.step().unwrap();
        }
        let bodies = &simulation.world.bodies;
        let inner = scene.fill[0].max.x / 0.68;
        let mut level = 0;
        for i in 2..bodies.len() {
            let x = bodies.position[i];
            assert!(x.z > 0.0 && x.x.hypot(x.y) < inner, "{x}");
            level += usize::from((bodies.orientation[i] * DVec3::Z).z.abs() < 0.7);
        }
        assert!(level > 20, "{level} of 30 are nearly level");
    }
}

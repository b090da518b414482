//! A sphere on an inclined plane.

use super::offers;
use super::{Parameter, ParameterRange, Scenario};
use crate::scene::{BodySpec, OutputOptions, Scene, Time};
use crate::shape::Shape;
use crate::world::Material;
use glam::DVec3;

const DESCRIPTION: &str = "A sphere starts from rest on a plane that falls towards +x at the angle θ. Known answer \
    (textbook mechanics): it rolls without slipping iff friction μ is at least (2/7) tan θ, and then accelerates at \
    (5/7) g sin θ; else it slides at g (sin θ - μ cos θ) while its spin grows at (5/2) μ g cos θ / radius.";

pub(super) static SCENARIO: Scenario = Scenario {
    name: "incline",
    summary: "a sphere on an inclined plane: rolls iff friction is at least (2/7) tan(angle)",
    parameters: &[
        Parameter { name: "angle", default: 20.0, range: ParameterRange::Degrees, help: "of the plane, degrees" },
        Parameter {
            name: "friction",
            default: 0.5,
            range: ParameterRange::NotNegative,
            help: "coefficient of friction",
        },
    ],
    build: |parameters| {
        let angle = parameters.get("angle").to_radians();
        let radius = 0.1;
        let normal = DVec3::new(angle.sin(), 0.0, angle.cos());
        let plane = BodySpec { normal: Some(normal), ..BodySpec::new(Shape::half_space(), DVec3::ZERO) };
        let sphere = BodySpec::new(Shape::sphere(radius), radius * normal);
        let material = Material { name: "wood".into(), friction: parameters.get("friction"), ..Material::default() };
        Scene {
            name: SCENARIO.name.into(),
            description: DESCRIPTION.into(),
            time: Time { step: 1e-3.into(), end: 1.0, ..Time::default() },
            output: OutputOptions { frame_interval: Some(0.02), ..OutputOptions::default() },
            body: [plane, sphere].map(|body| BodySpec { material: material.name.clone(), ..body }).to_vec(),
            material: vec![material],
            adjustable: vec![offers::gravity(), offers::tilt(), offers::friction()],
            ..Scene::default()
        }
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::HalfSpace;

    #[test]
    fn the_sphere_touches_and_downhill_is_x() {
        let world = SCENARIO.scene(&[("angle".into(), "35".into())]).unwrap().build().unwrap();
        let normal = HalfSpace::normal(world.bodies.orientation[0]);
        assert!((world.bodies.position[1].dot(normal) - 0.1).abs() < 1e-15);
        assert!(world.gravity.reject_from(normal).x > 0.0);
    }
}

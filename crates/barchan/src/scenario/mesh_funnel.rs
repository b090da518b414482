//! Grains run through a funnel of triangles.

use super::Scenario;
use super::boxed::{count, count_from, fall, friction, length, open_box};
use super::offers;
use crate::scene::{BodySpec, Fill, Radius, Scene, Time};
use crate::shape::{Shape, Surface};
use crate::world::Material;
use glam::{DVec2, DVec3};

const DESCRIPTION: &str = "Grains run through a funnel into a box. The funnel is a closed surface of triangles, a body of \
    revolution with a thickness: a wide rim above, a cone of 30 degrees to the axis, and a neck. Known answer (Beverloo, \
    Leniger and van de Velde 1961): the flow is steady, C rho sqrt(g) (D - k d)^(5/2) of mass a second with the diameters \
    D of the neck and d of the grains, C about 0.6 and k about 1.4; none sticks to the triangles or passes through them.";

pub(super) static SCENARIO: Scenario = Scenario {
    name: "mesh-funnel",
    summary: "grains run through a funnel of triangles into a box",
    parameters: &[
        count("bodies", 800.0, "how many grains"),
        count_from("segments", 6, 48.0, "of the funnel around, at least 6"),
        length("radius", 3e-3, "of the largest grains, m"),
        length("neck", 7.0, "its diameter, in diameters of grains"),
        friction(0.3),
    ],
    build: |parameters| {
        let radius = parameters.get("radius");
        let bodies = parameters.count("bodies");
        let neck = radius * parameters.get("neck");
        let wall = 2.0 * radius;
        // Grains start in a box within the rim, about as high as it is wide.
        let volume = bodies as f64 * 4.2 * (0.9 * radius).powi(3);
        let half = 0.5 * (volume / 0.25).cbrt().max(2.0 * neck);
        let column = (volume / 0.25 / (4.0 * half * half)).max(4.0 * radius);
        let rim = 1.05 * half * 2f64.sqrt() + radius;
        // The neck ends above the heap that forms below.
        let drop = 0.5 * column + 4.0 * neck;
        let slope = (rim - neck) * 3f64.sqrt();
        let inner = [
            (neck, drop),
            (neck, drop + 2.0 * neck),
            (rim, drop + 2.0 * neck + slope),
            (rim, drop + 2.0 * neck + slope + column),
        ];
        let outer = inner.map(|(r, z)| (r + wall, z));
        let profile: Vec<DVec2> =
            outer.into_iter().chain(inner.into_iter().rev()).chain([outer[0]]).map(DVec2::from).collect();
        // Corners that single precision can hold: the funnel is the same from an STL file.
        let funnel = Surface::revolved(&profile, parameters.count("segments").min(100_000) as u32)
            .mapped(|p| p.as_vec3().as_dvec3())
            .welded();
        let start = inner[2].1;
        Scene {
            name: SCENARIO.name.into(),
            description: DESCRIPTION.into(),
            time: Time { end: 1.0 + 4.0 * fall(start + column), ..Time::default() },
            body: vec![
                open_box(DVec3::new(1.4 * half, 1.4 * half, 0.5 * drop)),
                BodySpec::new(Shape::mesh(funnel), DVec3::ZERO),
            ],
            fill: vec![Fill::new(
                DVec3::new(-half, -half, start),
                DVec3::new(half, half, start + column),
                bodies,
                Radius::Uniform([0.8 * radius, radius]),
            )],
            material: vec![Material {
                name: "grains".into(),
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
    fn grains_pass_through_the_neck_and_nowhere_else() {
        let set = [("bodies", "60"), ("segments", "24")].map(|(k, v)| (k.into(), v.into()));
        let mut scene = SCENARIO.scene(&set).unwrap();
        // Bodies keep their places in memory.
        scene.broad_phase.reorder_interval = 0;
        assert!(scene.body[1].shape.has_mass(), "the funnel is closed");
        let low = scene.fill[0].min.z;
        let mut simulation = Simulation::from_scene(&scene).unwrap();
        let neck = 0.021;
        while simulation.world.time < scene.time.end {
            simulation.step().unwrap();
        }
        let bodies = &simulation.world.bodies;
        let end = low - (scene.fill[0].max.x.mul_add(1.05 * 2f64.sqrt(), 3e-3) - neck) * 3f64.sqrt() - 2.0 * neck;
        let below = (2..bodies.len()).filter(|&i| bodies.position[i].z < end).count();
        assert!(below > 50, "{below} of 60 have passed");
        let half = 1.4 * scene.fill[0].max.x;
        let x = &bodies.position[2..];
        assert!(x.iter().all(|x| x.z > 0.0 && x.x.abs() < half && x.y.abs() < half));
    }
}

//! A silo with a slit in its floor: work moves from above the floor to below it.
//!
//! Half-spaces and containers are convex from within, so no opening can be cut into them. The floor
//! is made of fixed spheres instead, two sheets with the slit between them.

use super::scaling::{self, PER_RANK, RANKS, size};
use super::{Parameter, Range, Scenario};
use crate::scene::{BodySpec, Lattice, OutputOptions, Radius, Scene, Time};
use crate::shape::{Container, Face, Shape};
use crate::world::{Material, Motion};
use glam::DVec3;
use std::sync::Arc;

const DESCRIPTION: &str = "Grains run through a slit in the floor of a silo and pile up in the room below it. The floor \
    is made of fixed spheres. Known answer (Beverloo, Leniger and van de Velde 1961, for slits): the flow does not \
    depend on the height of the filling and grows as (width - k d)^(3/2), with d the diameter of the grains and k about \
    1.5; slits narrower than about four diameters clog. Work moves from top to bottom, so fixed domains lose their \
    balance.";

pub(super) static SCENARIO: Scenario = Scenario {
    name: "silo",
    summary: "grains run through a slit in the floor of a silo: the flow grows as (width - k d)^(3/2)",
    parameters: &[
        size("nx", 24.0, "grains across the slit"),
        size("ny", 8.0, "grains along the slit"),
        size("nz", 30.0, "grains upwards"),
        PER_RANK,
        RANKS,
        Parameter { name: "radius", default: 5e-3, range: Range::Positive, help: "of the largest grains, m" },
        Parameter { name: "slit", default: 6.0, range: Range::Positive, help: "least width, in largest diameters" },
        Parameter { name: "friction", default: 0.4, range: Range::NotNegative, help: "coefficient of friction" },
    ],
    build: |parameters| {
        let counts = scaling::counts(parameters, [true; 3]);
        let radius = parameters.get("radius");
        let (spacing, jitter) = (2.1 * radius, 0.049 * radius);
        let size = spacing * DVec3::from(counts.map(f64::from));
        // The sheets: as many spheres of the grains' size as fit on either side of the slit.
        let bead = 2.0 * radius;
        let side = 0.5 * (size.x - parameters.get("slit") * bead);
        let sheet = [(side / bead).floor().max(1.0) as u32, (size.y / bead).floor().max(1.0) as u32, 1];
        let along = size.y / f64::from(sheet[1]);
        let reach = f64::from(sheet[0]) * bead;
        // Room for all grains below the floor, where they lie about as close as above.
        let floor = size.z;
        let top = floor + bead + size.z;
        let grains = Material { name: "grains".into(), friction: parameters.get("friction"), ..Material::default() };
        let walls = Container { half_extents: 0.5 * DVec3::new(size.x, size.y, top), open: vec![Face::HighZ] };
        let beads = |x: f64| Lattice {
            origin: DVec3::new(x + radius, 0.5 * along, floor + radius),
            material: grains.name.clone(),
            motion: Motion::Fixed,
            ..Lattice::cubic(sheet, DVec3::new(bead, along, bead), radius)
        };
        let filling = Lattice {
            origin: DVec3::new(0.5 * spacing, 0.5 * spacing, floor + bead + 0.5 * spacing),
            jitter,
            material: grains.name.clone(),
            // Unequal grains do not lock like a crystal.
            ..Lattice::cubic(counts, spacing, Radius::Uniform([0.8 * radius, radius]))
        };
        let fall = (2.0 * top / 9.81).sqrt();
        Scene {
            name: SCENARIO.name.into(),
            description: DESCRIPTION.into(),
            time: Time { step: 1e-3 * (radius / 0.01).sqrt(), end: 10.0 * fall },
            output: OutputOptions { frame_interval: 0.2 * fall, ..OutputOptions::default() },
            body: vec![BodySpec {
                material: grains.name.clone(),
                ..BodySpec::new(Shape::Container(Arc::new(walls)), 0.5 * DVec3::new(size.x, size.y, top))
            }],
            lattice: vec![beads(0.0), beads(size.x - reach), filling],
            material: vec![grains],
            ..Scene::default()
        }
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_is_tight_but_for_the_slit() {
        let scene = SCENARIO.scene(&[]).unwrap();
        let world = scene.build().unwrap();
        let fixed = |i: &usize| world.bodies.motion[*i] == Motion::Fixed && world.bodies.inverse_mass[*i] == 0.0;
        let x: Vec<DVec3> = (1..world.bodies.len()).filter(fixed).map(|i| world.bodies.position[i]).collect();
        assert!(x.len() > 100, "{}", x.len());
        let wide = 2.1 * 5e-3 * 24.0;
        // The slit is in the middle, at least as wide as asked, by less than a bead on either side.
        let left = x.iter().map(|x| x.x + 5e-3).filter(|&x| x < 0.5 * wide).fold(0.0, f64::max);
        let right = x.iter().map(|x| x.x - 5e-3).filter(|&x| x > 0.5 * wide).fold(wide, f64::min);
        assert!((left + right - wide).abs() < 1e-12);
        assert!((0.06..0.08).contains(&(right - left)), "{left} {right}");
        // No grain starts in the floor, and the smallest cannot slip between beads.
        for i in (1..world.bodies.len()).filter(|i| !fixed(i)) {
            assert!(world.bodies.position[i].z > scene.lattice[0].origin.z + 1e-2 - 1e-12);
        }
        let hole = 0.5 * (2.0 * 1e-2f64.powi(2)).sqrt() * 1.2 - 5e-3;
        assert!(hole < 0.8 * 5e-3, "{hole}");
    }
}

//! Spheres that settle in a box (S1 V-C and V-D).
//!
//! The paper fixes the height of the box and the base area a thousand spheres. All lengths scale
//! with the radius here, and times with its root, so that any radius gives the same motion.
//! Spheres start from rest on a lattice that fills the box evenly, each shifted at random as far
//! as neighbours and walls allow.

use super::offers;
use super::{Parameter, ParameterRange, Parameters, Scenario};
use crate::scene::{BodySpec, Lattice, OutputOptions, Scene, Time};
use crate::shape::{Container, Face, Shape};
use crate::world::Material;
use glam::DVec3;
use std::sync::Arc;

/// S1 V-C.
pub(super) static SEDIMENTATION: Scenario = Scenario {
    name: "sedimentation",
    summary: "spheres settle in a box 50 radii high (De et al., V-C)",
    parameters: &[
        Parameter { name: "bodies", default: 25_000.0, range: ParameterRange::Count, help: "how many spheres" },
        RADIUS,
        FRICTION,
    ],
    build: |parameters| {
        let set_up = SetUp { height: 50.0, area: 0.4, step: 1e-3, end: 0.6 };
        let scene = set_up.scene(parameters);
        Scene { name: SEDIMENTATION.name.into(), description: DESCRIPTION.into(), ..scene }
    },
};

/// S1 V-D.
pub(super) static SHALLOW: Scenario = Scenario {
    name: "sedimentation-shallow",
    summary: "the larger set-up of the same paper: wider, sparser, coarser steps (De et al., V-D)",
    parameters: &[
        Parameter { name: "bodies", default: 100_000.0, range: ParameterRange::Count, help: "how many spheres" },
        RADIUS,
        FRICTION,
    ],
    build: |parameters| {
        let set_up = SetUp { height: 60.0, area: 0.36, step: 2.5e-3, end: 1.0 };
        let scene = set_up.scene(parameters);
        Scene { name: SHALLOW.name.into(), description: SHALLOW_DESCRIPTION.into(), ..scene }
    },
};

const RADIUS: Parameter = Parameter {
    name: "radius",
    default: 0.01,
    range: ParameterRange::Positive,
    help: "of the spheres, m; the box scales with it, times with its root",
};
const FRICTION: Parameter = Parameter {
    name: "friction",
    default: 0.5,
    range: ParameterRange::NotNegative,
    help: "coefficient of friction between all surfaces",
};

const DESCRIPTION: &str = "Spheres fall from rest and settle in an open box. Set-up of section V-C of De, Corona, \
    Jayakumar and Veerapaneni, Scalable Solvers for Cone Complementarity Problems in Frictional Multibody Dynamics: \
    radius 0.01 m, box 0.5 m high with 0.04 m² of base a thousand spheres (20.94 % by volume), steps of 1 ms. The \
    paper reports for 25 000 spheres 409, 433, 470 and 509 iterations of APGD to residuals of 1e-1, 1e-2, 1e-3 and \
    1e-4 (its own residual: solver.criterion = \"s1\").";

const SHALLOW_DESCRIPTION: &str = "Spheres fall from rest and settle in an open box. Set-up of section V-D of De, \
    Corona, Jayakumar and Veerapaneni, Scalable Solvers for Cone Complementarity Problems in Frictional Multibody \
    Dynamics: radius 0.01 m, box 0.6 m high with 0.036 m² of base a thousand spheres (19.39 % by volume), steps of \
    2.5 ms, residual 1e-2 (its own residual: solver.criterion = \"s1\"). The paper reports 713 to 832 iterations of \
    APGD for 2 to 128 million spheres with 5 to 309 million contacts.";

/// The numbers of a set-up; lengths in radii, times for a radius of 0.01 m.
struct SetUp {
    /// Height of the box.
    height: f64,
    /// Base area a sphere, in squared radii.
    area: f64,
    step: f64,
    end: f64,
}

impl SetUp {
    fn scene(&self, parameters: &Parameters) -> Scene {
        let bodies = parameters.count("bodies");
        let radius = parameters.get("radius");
        // A handful of spheres still need room to move between the walls.
        let edge = (self.area * bodies as f64).sqrt().max(4.0);
        let counts = even_counts(bodies, edge, self.height);
        let sites = DVec3::new(f64::from(counts[0]), f64::from(counts[1]), f64::from(counts[2]));
        let size = DVec3::new(edge, edge, self.height);
        let spacing = size / sites;
        // Half the free way between neighbours, a hair less for the rounding.
        let jitter = (0.5 * spacing.min_element() - 1.0) * (1.0 - 1e-6);
        let floor = DVec3::new(-0.5 * edge, -0.5 * edge, 0.0);

        let walls = Container { half_extents: 0.5 * size * radius, open: vec![Face::HighZ] };
        let container = Shape::Container(Arc::new(walls));
        let material = Material { name: "beads".into(), friction: parameters.get("friction"), ..Material::default() };
        let pace = (radius / 0.01).sqrt();
        Scene {
            time: Time { step: (self.step * pace).into(), end: self.end * pace, ..Time::default() },
            output: OutputOptions { frame_interval: Some(0.02 * pace), ..OutputOptions::default() },
            body: vec![BodySpec {
                material: material.name.clone(),
                ..BodySpec::new(container, DVec3::new(0.0, 0.0, 0.5 * self.height * radius))
            }],
            lattice: vec![Lattice {
                origin: (floor + 0.5 * spacing) * radius,
                jitter: jitter * radius,
                count: Some(bodies),
                material: material.name.clone(),
                ..Lattice::cubic(counts, spacing * radius, radius)
            }],
            material: vec![material],
            adjustable: vec![offers::gravity(), offers::tilt(), offers::friction()],
            ..Scene::default()
        }
    }
}

/// Counts of a lattice for `bodies` spheres of radius 1 in a box with a square base: as even as
/// may be, with few sites left over.
fn even_counts(bodies: u64, edge: f64, height: f64) -> [u32; 3] {
    let ideal = (edge * edge * height / bodies as f64).cbrt();
    let mut best = ([1, 1, u32::MAX], f64::NEG_INFINITY);
    for nz in 1..=(height / 2.1).floor() as u64 {
        let layer = bodies.div_ceil(nz);
        let root = (layer as f64).sqrt() as u64;
        for nx in root.saturating_sub(3).max(1)..=root + 3 {
            let ny = layer.div_ceil(nx);
            let least = (edge / nx as f64).min(edge / ny as f64).min(height / nz as f64);
            if least <= 2.0 {
                continue;
            }
            // Neither narrow places nor empty sites.
            let empty = (nx * ny * nz - bodies) as f64 / bodies as f64;
            let score = least.min(ideal) / ideal - empty;
            if score > best.1 {
                best = ([nx as u32, ny as u32, nz as u32], score);
            }
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Overlap of spheres, found through a sort along x: independent of the engine's search.
    fn assert_clear(x: &[DVec3], radius: f64) {
        let mut sorted = x.to_vec();
        sorted.sort_by(|a, b| a.x.total_cmp(&b.x));
        for (i, a) in sorted.iter().enumerate() {
            for b in sorted[i + 1..].iter().take_while(|b| b.x - a.x < 2.0 * radius) {
                assert!(a.distance(*b) >= 2.0 * radius, "{a} {b}");
            }
        }
    }

    #[test]
    fn spheres_are_as_many_as_asked_and_clear_of_all() {
        for scenario in [&SEDIMENTATION, &SHALLOW] {
            for bodies in [1u64, 2, 7, 23, 100, 1000, 25_000] {
                let scene = scenario.scene(&[("bodies".into(), bodies.to_string())]).unwrap();
                let world = scene.build().unwrap();
                assert_eq!(world.bodies.len() as u64, bodies + 1);
                let Shape::Container(walls) = &scene.body[0].shape else { panic!("a container") };
                let low = scene.body[0].position - walls.half_extents;
                let high = scene.body[0].position + walls.half_extents;
                let x = &world.bodies.position[1..];
                for x in x {
                    assert!((x - 0.01).cmpge(low - 1e-12).all() && (x + 0.01).cmple(high + 1e-12).all(), "{x}");
                }
                assert_clear(x, 0.01);
                // Every layer is in use.
                let [nx, ny, nz] = scene.lattice[0].counts.map(u64::from);
                assert!(nx * ny * (nz - 1) < bodies, "{bodies}: {nx} {ny} {nz}");
            }
        }
    }

    #[test]
    fn the_numbers_are_the_papers() {
        let scene = SEDIMENTATION.scene(&[]).unwrap();
        let Shape::Container(walls) = &scene.body[0].shape else { panic!("a container") };
        assert_eq!((2.0 * walls.half_extents).round(), DVec3::new(1.0, 1.0, 1.0));
        assert!((8.0 * walls.half_extents.element_product() - 0.5).abs() < 1e-12);
        assert_eq!((scene.time.step, scene.time.end), (1e-3.into(), 0.6));
        assert!(scene.lattice[0].jitter > 0.003, "{}", scene.lattice[0].jitter);
        // Millions need no memory before they are built.
        let large = SEDIMENTATION.scene(&[("bodies".into(), "10_000_000".into())]).unwrap();
        assert_eq!(large.body_count(), 10_000_001);
    }

    #[test]
    fn the_seed_decides() {
        let hash = |seed: &str| {
            let overrides = [("bodies".into(), "50".into()), ("seed".into(), seed.into())];
            SEDIMENTATION.scene(&overrides).unwrap().build().unwrap().state_hash()
        };
        assert_eq!(hash("1"), hash("1"));
        assert_ne!(hash("1"), hash("2"));
    }
}

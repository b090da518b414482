//! Particles that start on a grid with random velocities, without gravity: what `free-gas` and
//! `granular-gas` have in common.

use super::Parameters;
use super::offers;
use super::scaling;
use crate::scene::{BodySpec, Kind, Lattice, Orientation, OutputOptions, Scene, Time};
use crate::shape::Shape;
use crate::world::Material;
use glam::DVec3;

/// A gas.
pub(super) struct Gas {
    pub(super) radius: f64,
    /// Other particles than spheres; none for spheres.
    pub(super) kinds: Vec<Kind>,
    /// Of the grid, which fills the box or the cell.
    pub(super) spacing: f64,
    pub(super) material: Material,
    /// A cell that repeats itself, instead of a closed box.
    pub(super) is_periodic: bool,
    pub(super) time: Time,
}

impl Gas {
    /// The scene, of as many particles and as fast ones as the parameters say.
    pub(super) fn scene(self, parameters: &Parameters) -> Scene {
        let Self { radius, kinds, spacing, material, is_periodic, time } = self;
        let counts = scaling::counts(parameters, [true; 3]);
        let half = 0.5 * spacing * DVec3::from(counts.map(f64::from));
        let walls = BodySpec { material: material.name.clone(), ..BodySpec::new(Shape::container(half), DVec3::ZERO) };
        let grid = Lattice::cubic(counts, spacing, radius);
        let grid = if kinds.is_empty() {
            grid
        } else {
            Lattice { orientation: Some(Orientation::Random), ..grid.mixed(kinds) }
        };
        let mut scene = Scene {
            gravity: DVec3::ZERO,
            time,
            output: OutputOptions { frame_interval: Some(0.05 * time.end), ..OutputOptions::default() },
            body: if is_periodic { Vec::new() } else { vec![walls] },
            lattice: vec![Lattice {
                origin: 0.5 * spacing - half,
                velocity_jitter: parameters.get("speed"),
                material: material.name.clone(),
                ..grid
            }],
            material: vec![material],
            adjustable: vec![offers::gravity(), offers::friction(), offers::restitution()],
            ..Scene::default()
        };
        (scene.domain.min, scene.domain.max) = (Some(-half), Some(half));
        scene.domain.periodic = [is_periodic; 3];
        scene
    }
}

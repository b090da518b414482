//! Grains in a channel with smooth sides, as in the planar experiments: what `column-collapse` and
//! `silo` have in common.
//!
//! Grains start on a close packing of the largest of them. Their radii differ, so they do not touch
//! at first, do not lock like a crystal, and lie about as loosely as poured ones (55 % by volume).
//! Floors are rough, made of fixed spheres: on a smooth plane single spheres roll on for ever, which
//! grains of sand do not.

use super::offers;
use super::scaling;
use super::{Parameter, ParameterRange, Parameters};
use crate::scene::{BodySpec, Lattice, OutputOptions, Radius, Scene, Time};
use crate::shape::Shape;
use crate::world::{Material, Motion, PairException};
use glam::DVec3;

/// The radius of the smallest grains in terms of the largest.
const SMALLEST: f64 = 0.8;

pub(super) const RADIUS: Parameter =
    Parameter { name: "radius", default: 5e-3, range: ParameterRange::Positive, help: "of the largest grains, m" };

pub(super) const fn friction(default: f64) -> Parameter {
    Parameter { name: "friction", default, range: ParameterRange::NotNegative, help: "of grains, floors and end walls" }
}

/// A block of grains as wide as the channel, which runs along x.
pub(super) struct Grains {
    counts: [u32; 3],
    friction: f64,
    /// Radius of the largest grains, and of the spheres of floors.
    pub(super) radius: f64,
    /// Edges of the block.
    pub(super) size: DVec3,
}

impl Grains {
    pub(super) fn new(parameters: &Parameters) -> Self {
        let counts = scaling::counts(parameters, [true; 3]);
        let radius = parameters.get("radius");
        let friction = parameters.get("friction");
        let centres = Lattice::hexagonal(counts, 2.0 * radius, radius).extent();
        Self { counts, friction, radius, size: centres.high - centres.low + 2.0 * radius }
    }

    /// The block, with its lowest corner at x = y = 0 and this height.
    pub(super) fn block(&self, height: f64) -> Lattice {
        let radii = Radius::Uniform([SMALLEST * self.radius, self.radius]);
        Lattice {
            origin: DVec3::new(0.0, 0.0, height) + self.radius,
            material: "grains".into(),
            ..Lattice::hexagonal(self.counts, 2.0 * self.radius, radii)
        }
    }

    /// How many spheres of a floor fit into a length, one at least.
    pub(super) fn row(&self, length: f64) -> u32 {
        (length / (2.0 * self.radius)).floor().max(1.0) as u32
    }

    /// A floor of fixed spheres across the channel, so many along it from `start`; its upper side is
    /// at this height.
    pub(super) fn floor(&self, start: f64, row: u32, height: f64) -> Lattice {
        let bead = 2.0 * self.radius;
        let across = self.row(self.size.y);
        let apart = self.size.y / f64::from(across);
        Lattice {
            origin: DVec3::new(start + self.radius, 0.5 * apart, height - self.radius),
            material: "grains".into(),
            motion: Motion::Fixed,
            ..Lattice::cubic([row, across, 1], DVec3::new(bead, apart, bead), self.radius)
        }
    }

    /// A plane that rubs as the grains do.
    pub(super) fn wall(normal: DVec3, position: DVec3) -> BodySpec {
        BodySpec { normal: Some(normal), material: "grains".into(), ..BodySpec::new(Shape::half_space(), position) }
    }

    /// The scene of grains between these walls and the sides, for so many times the time of a fall
    /// from this height.
    pub(super) fn scene(&self, walls: Vec<BodySpec>, lattice: Vec<Lattice>, height: f64, falls: f64) -> Scene {
        let side = |normal: DVec3, y: f64| BodySpec {
            material: "sides".into(),
            ..Self::wall(normal, DVec3::new(0.0, y, 0.0))
        };
        let sides = [side(DVec3::Y, 0.0), side(-DVec3::Y, self.size.y)];
        let grains = Material { name: "grains".into(), friction: self.friction, ..Material::default() };
        let fall = (2.0 * height / 9.81).sqrt();
        Scene {
            time: Time { end: falls * fall, ..Time::default() },
            output: OutputOptions { frame_interval: Some(0.1 * fall), ..OutputOptions::default() },
            body: walls.into_iter().chain(sides).collect(),
            lattice,
            pair: vec![PairException {
                materials: ["grains".into(), "sides".into()],
                friction: Some(0.0),
                restitution: None,
            }],
            material: vec![grains.clone(), Material { name: "sides".into(), ..grains }],
            adjustable: vec![offers::gravity(), offers::tilt(), offers::friction()],
            ..Scene::default()
        }
    }
}

//! The scene: a constant description of what a run starts from.
//!
//! A [`Scene`] is a plain value. It can be built in Rust, read from TOML ([`Scene::from_toml`])
//! or taken from the library of scenarios ([`crate::scenario`]); whichever way it came about,
//! [`Scene::to_toml`] writes all of it down, every default spelt out, and reading that text
//! gives the same value to the last bit. [`Scene::build`] makes the [`World`](crate::world::World)
//! of it; that is the only place where random numbers are drawn, and each is a function of the
//! seed, the entry and the body alone (see [`random`]). So [`Scene::build_part`] makes the part of a
//! rank, and nobody needs to hold the whole.
//!
//! Bodies come from three lists: single bodies, lattices, and boxes filled at random. They get
//! their ids in that order.

mod adjustable;
mod body;
mod build;
mod cells;
mod crowd;
mod error;
mod fill;
mod film;
mod grain;
mod home;
mod joint;
mod keys;
mod kind;
mod lattice;
mod locate;
mod many;
mod overrides;
mod prescribed;
mod radius;
pub mod random;
mod repair;
mod same;
mod stock;
mod tiles;
mod time;
mod toml;
mod validate;
mod warnings;
mod write;

pub use adjustable::Adjustable;
pub use body::BodySpec;
pub use error::{Fault, Location, SceneError};
pub use fill::Fill;
pub use joint::{JointSpec, MotorSpec};
pub use kind::{Assortment, Kind, Orientation, Share};
pub use lattice::{Lattice, LatticeKind, Spacing};
pub use radius::{Choice, LogNormal, Normal, PowerLaw, Radius};
pub use time::Time;
pub use validate::InvalidValue;

pub(crate) use grain::Grain;
pub(crate) use keys::top_level_keys;

use crate::broad::BroadPhaseOptions;
use crate::dynamics::ContactOptions;
use crate::partition::DomainOptions;
use crate::shape::{Mesh, MeshText, Shape, Surface};
use crate::world::{ForceField, Material, PairException, PairRule};
use barchan_cone::solver::SolverOptions;
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// How the arrays of frames are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compression {
    /// Fast.
    #[default]
    Lz4,
    /// Small, and slow.
    Zlib,
    /// Not at all.
    None,
}

impl Compression {
    /// Every one with the name that scene files use, and a few words where that is not enough.
    pub const ALL: &'static [(Self, &'static str, &'static str)] =
        &[(Self::Lz4, "lz4", ""), (Self::Zlib, "zlib", "smaller, and slow"), (Self::None, "none", "")];
}

/// What a run writes down.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OutputOptions {
    /// Simulated time between two frames, s; 0 for one frame alone, of the last state. About thirty frames by
    /// default: [`Scene::frame_interval`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame_interval: Option<f64>,
    /// Whether frames show contacts beside bodies.
    pub contacts: bool,
    /// How frames are compressed.
    pub compression: Compression,
    /// Whether the solver's residual is kept for every iteration of every step.
    pub history: bool,
}

impl Default for OutputOptions {
    fn default() -> Self {
        Self { frame_interval: None, contacts: true, compression: Compression::default(), history: false }
    }
}

/// When a run writes down all that it needs to go on later.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CheckpointOptions {
    /// Steps between two checkpoints; 0 for none by steps.
    pub steps: u64,
    /// Most seconds of wall-clock time between two checkpoints; 0 for none by time. The first comes after 3 s,
    /// and waits double until they are this long.
    pub seconds: f64,
    /// How many are kept; 0 for no checkpoints at all, not even at the end or on Ctrl-C.
    pub keep: u32,
}

impl Default for CheckpointOptions {
    fn default() -> Self {
        Self { steps: 0, seconds: 600.0, keep: 2 }
    }
}

/// Two groups whose bodies pass through each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoContact {
    /// The two; twice the same for bodies of one group.
    pub groups: [u16; 2],
}

/// A constant description of what a run starts from.
///
/// ```
/// use barchan::scene::{BodySpec, Scene};
/// use barchan::shape::Shape;
/// use barchan::DVec3;
///
/// let mut scene = Scene { name: "drop".into(), ..Scene::default() };
/// scene.body.push(BodySpec::new(Shape::half_space(), DVec3::ZERO));
/// scene.body.push(BodySpec::new(Shape::sphere(0.1), DVec3::new(0.0, 0.0, 1.0)));
/// assert_eq!(scene.build().unwrap().bodies.len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Scene {
    /// A short name.
    pub name: String,
    /// What the scene shows, where it comes from and what its answer is, if known.
    pub description: String,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Acceleration that acts on every dynamic body, m/s².
    pub gravity: DVec3,
    /// Step and end.
    pub time: Time,
    /// Solver and stopping rule.
    pub solver: SolverOptions,
    /// Rules for gaps, penetration and bounces.
    pub contact: ContactOptions,
    /// The broad phase and the order of bodies in memory.
    pub broad_phase: BroadPhaseOptions,
    /// The cell in which space may repeat itself, and how ranks share it.
    pub domain: DomainOptions,
    /// What a run writes down.
    pub output: OutputOptions,
    /// When it writes down all that it needs to go on later.
    pub checkpoint: CheckpointOptions,
    /// Materials; the first is that of bodies that name none.
    pub material: Vec<Material>,
    /// The rule for pairs of materials without an exception.
    pub pair_rule: PairRule,
    /// Pairs of materials that depart from the rule.
    pub pair: Vec<PairException>,
    /// Groups whose bodies pass through each other.
    pub no_contact: Vec<NoContact>,
    /// Fields that act on every dynamic body.
    pub force: Vec<ForceField>,
    /// Single bodies.
    pub body: Vec<BodySpec>,
    /// Joints of single bodies.
    pub joint: Vec<JointSpec>,
    /// Bodies on lattices.
    pub lattice: Vec<Lattice>,
    /// Boxes filled with bodies at random.
    pub fill: Vec<Fill>,
    /// Numbers that may be changed while the scene is run and watched.
    pub adjustable: Vec<Adjustable>,
}

impl Default for Scene {
    fn default() -> Self {
        Self {
            name: "scene".into(),
            description: String::new(),
            seed: 0,
            gravity: DVec3::new(0.0, 0.0, -9.81),
            time: Time::default(),
            solver: SolverOptions::default(),
            contact: ContactOptions::default(),
            broad_phase: BroadPhaseOptions::default(),
            domain: DomainOptions::default(),
            output: OutputOptions::default(),
            checkpoint: CheckpointOptions::default(),
            material: vec![Material::default()],
            pair_rule: PairRule::default(),
            pair: Vec::new(),
            no_contact: Vec::new(),
            force: Vec::new(),
            body: Vec::new(),
            joint: Vec::new(),
            lattice: Vec::new(),
            fill: Vec::new(),
            adjustable: Vec::new(),
        }
    }
}

impl Scene {
    /// How many bodies [`Scene::build`] makes.
    pub fn body_count(&self) -> u64 {
        let lattices = self.lattice.iter().map(Lattice::body_count);
        let fills = self.fill.iter().map(|fill| fill.count);
        lattices.chain(fills).fold(self.body.len() as u64, u64::saturating_add)
    }

    /// Whether bodies may have other shapes than spheres, walls aside.
    pub(crate) fn has_shapes(&self) -> bool {
        let is_solid = |shape: &Shape| !matches!(shape, Shape::Sphere(_)) && !shape.is_unbounded();
        self.body.iter().any(|body| is_solid(&body.shape))
            || self.lattice.iter().any(|lattice| lattice.radius.is_none())
            || self.fill.iter().any(|fill| fill.radius.is_none())
    }

    /// Gives files of shapes other names.
    fn rename_files(&mut self, name: &dyn Fn(&Shape, &str) -> String) {
        self.shapes_mut().for_each(|shape| shape.rename_files(name));
    }

    /// Takes the triangles of meshes that the scene lists into files, by the names that `file` gives for their numbers from
    /// 1 on, and hands out what is to be written there. The scene can be read again when that is done.
    pub fn meshes_to_files(&mut self, file: impl Fn(usize) -> String) -> Vec<(String, Surface)> {
        let mut written: Vec<(String, Surface)> = Vec::new();
        for shape in self.shapes_mut() {
            let Shape::Mesh(mesh) = &*shape else { continue };
            let text = mesh.text();
            if text.file.is_some() {
                continue;
            }
            let surface = Surface { vertices: text.vertices.clone(), triangles: text.triangles.clone() };
            let (scale, convex_parts) = (text.scale, text.convex_parts);
            let known = written.iter().find(|(_, other)| *other == surface).map(|(name, _)| name.clone());
            let name = known.unwrap_or_else(|| {
                let name = file(written.len() + 1);
                written.push((name.clone(), surface));
                name
            });
            let text = MeshText { file: Some(name), vertices: Vec::new(), triangles: Vec::new(), scale, convex_parts };
            *shape = Mesh::from(text).into();
        }
        written
    }

    /// The shapes of bodies, lattices and fills.
    fn shapes_mut(&mut self) -> impl Iterator<Item = &mut Shape> {
        let single = self.body.iter_mut().map(|body| &mut body.shape);
        let lattices =
            self.lattice.iter_mut().flat_map(|entry| entry.shape.iter_mut().chain(shapes(&mut entry.mixture)));
        let fills = self.fill.iter_mut().flat_map(|entry| entry.shape.iter_mut().chain(shapes(&mut entry.mixture)));
        single.chain(lattices).chain(fills)
    }

    /// The index of the material that `name` means: the first for an empty name.
    pub(crate) fn material_index(&self, name: &str) -> Option<u16> {
        let index = if name.is_empty() { 0 } else { self.material.iter().position(|m| m.name == name)? };
        u16::try_from(index).ok().filter(|&i| usize::from(i) < self.material.len())
    }
}

/// The shapes of a mixture.
fn shapes(mixture: &mut [Kind]) -> impl Iterator<Item = &mut Shape> {
    mixture.iter_mut().filter_map(|kind| kind.shape.as_mut())
}

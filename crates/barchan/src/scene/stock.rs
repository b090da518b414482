//! What bodies of a lattice or a fill are made from: a prototype each kind, in the frame of its principal axes.
//!
//! A prototype is settled once. A body is a copy of it, a factor f larger, so that corners, faces and triangles are shared; its
//! mass is f³ and its moments of inertia are f⁵ times those of the prototype. Spheres of a radius r are copies of the unit
//! sphere, a factor r larger.

use super::kind::{Assortment, Orientation, Share};
use super::random::{Draws, Purpose, Stream};
use super::{Grain, Radius};
use crate::narrow::Standing;
use crate::shape::{MassProperties, Settled, Shape, Sphere};
use crate::world::{Body, Motion};
use glam::{DMat3, DQuat, DVec3};

/// The prototypes of a lattice or a fill.
#[derive(Clone, Debug)]
pub(crate) struct Stock {
    pub(crate) kinds: Vec<Prototype>,
    pub(crate) orientation: Orientation,
}

/// What bodies of one kind are copies of.
#[derive(Clone, Debug)]
pub(crate) struct Prototype {
    /// The shape at scale 1, settled.
    shape: Shape,
    /// From its axes to those that the scene gave it.
    turn: DQuat,
    /// At unit density; spheres and what has no volume know theirs themselves, or need none.
    mass: Option<MassProperties>,
    volume: f64,
    /// The radius of a ball about the centre of mass that holds it,
    reach: f64,
    /// and of one that lies within it.
    inner: f64,
    scale: Radius,
    /// Copies at the scales of a short list.
    made: Vec<(f64, Shape)>,
    /// Weights of this kind and those before it, of 1 in all.
    share: f64,
    pub(crate) material: String,
    group: u16,
}

/// What is drawn of a body before it has a place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drawn {
    pub(crate) kind: usize,
    pub(crate) scale: f64,
    /// Of a ball about the centre of mass that holds it.
    pub(crate) radius: f64,
}

impl Stock {
    /// The prototypes of what a scene says. Kinds with faults are left out: validation tells them.
    pub(crate) fn new(entry: &Assortment<'_>) -> Self {
        let sound = |shape: &Shape| shape.faults().is_empty() && !shape.is_unbounded();
        let kinds = entry.kinds().into_iter().filter_map(|kind| {
            let (shape, scale) = match (kind.shape, kind.radius) {
                (None, Some(radius)) => (Shape::sphere(1.0), radius),
                (Some(shape), _) if sound(&shape) => (shape, kind.scale.unwrap_or(Radius::Fixed(1.0))),
                _ => return None,
            };
            Some((
                Prototype::new(shape, scale, kind.material.unwrap_or_default(), kind.group.unwrap_or(0)),
                kind.weight,
            ))
        });
        let kinds: Vec<_> = kinds.collect();
        let total: f64 = kinds.iter().map(|kind| kind.1).sum();
        let mut before = 0.0;
        let share = |(kind, weight): (Prototype, f64)| {
            before += weight;
            Prototype { share: before / total, ..kind }
        };
        Self { kinds: kinds.into_iter().map(share).collect(), orientation: entry.orientation }
    }

    /// Kind and size of a body.
    pub(crate) fn draw(&self, stream: &Stream, number: u64) -> Drawn {
        let kind = if self.kinds.len() > 1 {
            let u = stream.draws(number, Purpose::Kind).unit();
            self.kinds.iter().position(|kind| u < kind.share).unwrap_or(self.kinds.len() - 1)
        } else {
            0
        };
        let scale = self.kinds[kind].scale.draw(&mut stream.draws(number, Purpose::Radius));
        Drawn { kind, scale, radius: self.kinds[kind].reach * scale }
    }

    /// How a body of a kind is turned: its shape's axes to those of the world.
    pub(crate) fn attitude(&self, kind: usize, draws: &mut Draws) -> DQuat {
        let kind = &self.kinds[kind];
        if kind.is_sphere() {
            return DQuat::IDENTITY;
        }
        match self.orientation {
            Orientation::Random => draws.rotation() * kind.turn,
            Orientation::Aligned => kind.turn,
            Orientation::Turned(q) => q.normalize() * kind.turn,
        }
    }

    /// The smallest bounding radius that can be drawn.
    pub(crate) fn min_radius(&self) -> f64 {
        self.kinds.iter().map(|kind| kind.reach * kind.scale.min()).fold(f64::INFINITY, f64::min)
    }

    /// The largest bounding radius that can be drawn; 0 if there are no kinds.
    pub(crate) fn max_radius(&self) -> f64 {
        self.kinds.iter().map(|kind| kind.reach * kind.scale.max()).fold(0.0, f64::max)
    }

    /// The kinds, and what part each has.
    pub(crate) fn shares(&self) -> Vec<Share> {
        let mut before = 0.0;
        let share = |kind: &Prototype| {
            let fraction = kind.share - before;
            before = kind.share;
            let radii = [kind.scale.min(), kind.scale.max()].map(|scale| kind.reach * scale);
            Share { shape: kind.shape.name(), material: kind.material.clone(), fraction, radii }
        };
        self.kinds.iter().map(share).collect()
    }

    /// Whether all are spheres.
    pub(crate) fn is_of_spheres(&self) -> bool {
        self.kinds.iter().all(Prototype::is_sphere)
    }

    /// Whether all copies of a kind are turned alike.
    pub(crate) fn is_aligned(&self) -> bool {
        self.orientation != Orientation::Random
    }

    /// How far bodies reach from their centres down and up each axis, at most.
    pub(crate) fn reach(&self) -> [DVec3; 2] {
        let own = |(k, kind): (usize, &Prototype)| {
            if kind.is_sphere() || !self.is_aligned() {
                return [DVec3::splat(kind.reach * kind.scale.max()); 2];
            }
            let (shape, r) = self.largest(k);
            let [low, high] = shape.half_box(&r);
            [-low, high]
        };
        self.kinds.iter().enumerate().map(own).fold([DVec3::ZERO; 2], |a, b| [a[0].max(b[0]), a[1].max(b[1])])
    }

    /// The largest body of a kind, as it is turned if all are turned alike.
    pub(crate) fn largest(&self, kind: usize) -> (Shape, DMat3) {
        let q = match self.orientation {
            Orientation::Random | Orientation::Aligned => self.kinds[kind].turn,
            Orientation::Turned(q) => q.normalize() * self.kinds[kind].turn,
        };
        (self.kinds[kind].shape(self.kinds[kind].scale.max()), DMat3::from_quat(q))
    }

    /// The volume of a body.
    pub(crate) fn volume(&self, drawn: &Drawn) -> f64 {
        self.kinds[drawn.kind].volume * drawn.scale.powi(3)
    }

    /// The radius of a ball about its centre of mass that lies within a body.
    pub(crate) fn inner_radius(&self, drawn: &Drawn) -> f64 {
        self.kinds[drawn.kind].inner * drawn.scale
    }

    /// The shape of a body.
    pub(crate) fn shape(&self, drawn: &Drawn) -> Shape {
        self.kinds[drawn.kind].shape(drawn.scale)
    }

    /// A body that has a place, of a material with this index and density.
    pub(crate) fn body(&self, grain: &Grain, (material, density): (u16, f64), motion: Motion) -> Body {
        let kind = &self.kinds[grain.drawn.kind];
        let f = grain.drawn.scale;
        let mass = kind.mass.map(|unit| MassProperties {
            mass: unit.mass * (density * f.powi(3)),
            inertia: unit.inertia * (density * f.powi(5)),
        });
        Body {
            velocity: grain.velocity,
            orientation: grain.orientation,
            material,
            group: kind.group,
            motion,
            mass,
            ..Body::dynamic(kind.shape(f), grain.x)
        }
    }
}

impl Prototype {
    fn new(shape: Shape, scale: Radius, material: String, group: u16) -> Self {
        let none = Settled {
            shape: shape.clone(),
            offset: DVec3::ZERO,
            turn: DQuat::IDENTITY,
            mass: MassProperties { mass: 0.0, inertia: DVec3::ZERO },
        };
        let is_sphere = matches!(shape, Shape::Sphere(_));
        let settled = if is_sphere || !shape.has_mass() { none } else { shape.settle(1.0, None).unwrap_or(none) };
        let Settled { shape, turn, mass, .. } = settled;
        let made = scale.list().iter().map(|&factor| (factor, shape.scaled(factor))).collect();
        Self {
            turn,
            volume: shape.moments().map_or(0.0, |moments| moments.volume),
            mass: (mass.mass > 0.0).then_some(mass),
            reach: shape.bounding_radius().unwrap_or(0.0),
            inner: if is_sphere { 1.0 } else { Standing::inner_radius(&shape) },
            made: if is_sphere { Vec::new() } else { made },
            shape,
            scale,
            share: 1.0,
            material,
            group,
        }
    }

    fn is_sphere(&self) -> bool {
        matches!(self.shape, Shape::Sphere(_))
    }

    /// A copy, so many times larger.
    fn shape(&self, scale: f64) -> Shape {
        if let Shape::Sphere(Sphere { radius }) = self.shape {
            return Shape::sphere(radius * scale);
        }
        let made = self.made.iter().find(|(factor, _)| *factor == scale);
        made.map_or_else(|| self.shape.scaled(scale), |(_, shape)| shape.clone())
    }
}

//! How bodies look: the few surfaces that the bodies of a frame share, and factors on their axes.
//!
//! A hundred thousand boxes are one cube, drawn a hundred thousand times with other factors, places and turns. So it is
//! with ellipsoids, cylinders and cones. What has two lengths or more that no factor on the axes can set apart (capsules,
//! and all that is rounded) shares a surface with what has nearly its proportions: these are taken in steps of a hundredth,
//! and the factors make up for the rest, so that the outer lengths are right. Polyhedra and meshes are known by their
//! points, and composites by their parts: the same at another size is the same look.
//!
//! A look has a number that follows from what it is and from nothing else. Ranks need not talk, and runs that go on need
//! not remember, to give the same shape the same number. Spheres have none of all this: they are drawn as spheres.

use crate::shape::{Capsule, Composite, Cuboid, Cylinder, Form, Mesh, Part, Polyhedron, Shape, Surface};
use glam::{DMat3, DVec3, Vec3};
use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Weak};

/// The number of spheres.
pub const SPHERE: u64 = 0;
/// The numbers of looks that are always the same.
const BOX: u64 = 1;
const ELLIPSOID: u64 = 2;
const CYLINDER: u64 = 3;
const CONE: u64 = 4;
/// Numbers that follow from what a look is begin here, and end where a table of floating-point numbers still has them.
const FIRST_OWN: u64 = 16;
const BITS: u32 = 48;

/// Corners of a circle.
const AROUND: u32 = 24;
/// Corners of a circle where there are many of them.
const COARSE: u32 = 20;
/// Corners of a quarter circle of a rounded edge.
const EDGE: u32 = 3;
/// How often the faces of an icosahedron are cut in four.
const SUBDIVISIONS: u32 = 2;
/// Proportions within a factor of two have so many steps.
const STEPS: f64 = 64.0;
/// What is smaller than this part of a composite is not told apart.
const FINE: f64 = (1 << 24) as f64;
/// Triangles of all looks together, beyond which further shapes are drawn as the balls that hold them.
const MOST_TRIANGLES: usize = 4_000_000;
/// Faces whose normals are nearer than this cosine (35°) meet in a round edge.
const CREASE: f64 = 0.82;
/// A vertex of more triangles than this has sharp edges all around.
const MOST_AROUND: usize = 100;

/// A surface that many bodies share, each with factors of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// The number that follows from what it is; below 2⁴⁸.
    pub id: u64,
    /// The name of the shape.
    pub name: &'static str,
    /// The surface where all factors are one.
    pub surface: Surface,
}

/// What a body wears.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worn {
    /// The number of a look; [`SPHERE`] for those.
    pub look: u64,
    /// Factors on the axes of its surface; the radius of a sphere, three times.
    pub scale: DVec3,
}

/// A surface with normals, for drawing: vertices on sharp edges stand there once a side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shaded {
    /// Corners.
    pub vertices: Vec<Vec3>,
    /// Their unit normals.
    pub normals: Vec<Vec3>,
    /// Three indices of corners each.
    pub triangles: Vec<[u32; 3]>,
}

/// The looks that have been met so far, in the order in which they were met.
#[derive(Debug, Default)]
pub struct Looks {
    list: Vec<Look>,
    places: HashMap<u64, Option<u32>>,
    /// What stands behind shared pointers and is long to look through, by where it stands. The pointers keep nothing alive,
    /// but as long as they are here nothing else can stand there.
    shared: HashMap<usize, (Weak<dyn Any + Send + Sync>, u64)>,
    triangles: usize,
}

impl Looks {
    /// All of them.
    pub fn list(&self) -> &[Look] {
        &self.list
    }

    /// The place of a look in the list.
    pub fn place(&self, id: u64) -> Option<usize> {
        self.places.get(&id).copied().flatten().map(|place| place as usize)
    }

    /// Takes over a look, and gives its number to the shape that was made of it.
    pub(crate) fn adopt(&mut self, look: &Look, unit: &Shape) {
        if let Shape::Mesh(mesh) = unit {
            self.shared(mesh.triangles(), || look.id);
        }
    }

    /// What a shape wears, which is among the looks from then on. A shape for which there is no room wears the ball that
    /// holds it, and what is unbounded a ball of no size.
    pub fn wear(&mut self, shape: &Shape) -> Worn {
        let worn = self.known(shape);
        if worn.look == SPHERE || self.has(worn, shape) {
            return worn;
        }
        Worn { look: SPHERE, scale: DVec3::splat(shape.bounding_radius().unwrap_or(0.0)) }
    }

    /// Puts a look among the others, unless it is there; whether there is room for it.
    fn has(&mut self, worn: Worn, shape: &Shape) -> bool {
        if let Some(place) = self.places.get(&worn.look) {
            return place.is_some();
        }
        let surface = surface(shape, worn);
        let fits = self.triangles + surface.triangles.len() <= MOST_TRIANGLES;
        if fits {
            self.triangles += surface.triangles.len();
            self.list.push(Look { id: worn.look, name: shape.name(), surface });
        }
        self.places.insert(worn.look, fits.then(|| self.list.len() as u32 - 1));
        fits
    }

    /// Number and factors of a shape.
    fn known(&mut self, shape: &Shape) -> Worn {
        let worn = |look, scale| Worn { look, scale };
        match shape {
            Shape::Sphere(sphere) => worn(SPHERE, DVec3::splat(sphere.radius)),
            Shape::HalfSpace(_) | Shape::Container(_) => worn(SPHERE, DVec3::ZERO),
            Shape::Box(c) if c.margin == 0.0 => worn(BOX, c.half_extents),
            Shape::Ellipsoid(e) => worn(ELLIPSOID, e.radii),
            Shape::Cylinder(c) if c.margin == 0.0 => worn(CYLINDER, DVec3::new(c.radius, c.radius, c.half_height)),
            Shape::Cone(c) => worn(CONE, DVec3::new(c.radius, c.radius, c.half_height)),
            Shape::Box(c) => {
                let unit = (c.half_extents / c.margin).map(nearby);
                worn(Number::of(shape).vector(unit).id(), c.half_extents / unit)
            }
            Shape::Cylinder(c) => {
                let radius = nearby(c.radius / c.margin);
                let half = nearby(c.half_height / c.margin);
                let scale = DVec3::new(c.radius / radius, c.radius / radius, c.half_height / half);
                worn(Number::of(shape).number(radius).number(half).id(), scale)
            }
            Shape::Capsule(c) => {
                let half = nearby(c.half_height / c.radius);
                let scale = DVec3::new(c.radius, c.radius, (c.half_height + c.radius) / (half + 1.0));
                worn(Number::of(shape).number(half).id(), scale)
            }
            Shape::Polyhedron(p) => worn(self.shared(p.faceted(), || of_polyhedron(p)), DVec3::splat(p.scale())),
            Shape::Mesh(m) => worn(self.shared(m.triangles(), || of_mesh(m)), DVec3::splat(m.scale())),
            Shape::Composite(c) => worn(self.of_composite(c), DVec3::splat(c.reach())),
        }
    }

    /// The number of what many shapes share, found once.
    fn shared<T: Any + Send + Sync>(&mut self, thing: &Arc<T>, find: impl FnOnce() -> u64) -> u64 {
        let at = Arc::as_ptr(thing) as usize;
        if let Some(known) = self.shared.get(&at) {
            return known.1;
        }
        if self.shared.len().is_power_of_two() {
            self.shared.retain(|_, known| known.0.strong_count() > 0);
        }
        let id = find();
        self.shared.insert(at, (Arc::downgrade(thing) as _, id));
        id
    }

    /// Parts in units of the whole, to what can be told apart.
    fn of_composite(&mut self, composite: &Composite) -> u64 {
        let reach = composite.reach();
        let fine = |x: f64| (x * FINE).round();
        let mut number = Number(0xc0);
        for part in &composite.parts {
            let own = self.known(&part.shape);
            // A turn and its negative are the same.
            let turn = if part.orientation.w < 0.0 { -part.orientation } else { part.orientation };
            number =
                number.word(own.look).vector((own.scale / reach).map(fine)).vector((part.position / reach).map(fine));
            number = turn.to_array().into_iter().fold(number, |number, x| number.number(fine(x)));
        }
        number.id()
    }
}

/// The nearest of the proportions that have a surface.
fn nearby(proportion: f64) -> f64 {
    let step = (STEPS * proportion.log2()).round();
    (step.clamp(-20.0 * STEPS, 20.0 * STEPS) / STEPS).exp2()
}

fn of_polyhedron(polyhedron: &Polyhedron) -> u64 {
    let faceted = polyhedron.faceted();
    let number = faceted.outer.points.iter().fold(Number(0xb0), |number, &p| number.vector(p));
    number.number(faceted.margin).id()
}

fn of_mesh(mesh: &Mesh) -> u64 {
    let surface = &mesh.triangles().surface;
    let number = surface.vertices.iter().fold(Number(0xa0), |number, &p| number.vector(p));
    let corners = surface.triangles.iter().flatten();
    corners.fold(number, |number, &k| number.word(k.into())).id()
}

/// A number that follows from others, by the finaliser of SplitMix64 after each.
#[derive(Clone, Copy)]
struct Number(u64);

impl Number {
    fn of(shape: &Shape) -> Self {
        shape.name().bytes().fold(Self(0), |number, byte| number.word(byte.into()))
    }

    fn word(self, word: u64) -> Self {
        let z = (self.0 ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self(z ^ (z >> 31))
    }

    /// Zeros of both signs are the same.
    fn number(self, x: f64) -> Self {
        self.word((x + 0.0).to_bits())
    }

    fn vector(self, x: DVec3) -> Self {
        self.number(x.x).number(x.y).number(x.z)
    }

    fn id(self) -> u64 {
        FIRST_OWN + (self.0 >> (64 - BITS)) % ((1 << BITS) - FIRST_OWN)
    }
}

/// The surface that a shape wears with these factors.
fn surface(shape: &Shape, worn: Worn) -> Surface {
    match worn.look {
        SPHERE => Surface::sphere(1.0, SUBDIVISIONS),
        BOX => Surface::cuboid(DVec3::ONE),
        ELLIPSOID => Surface::sphere(1.0, SUBDIVISIONS),
        CYLINDER => Surface::cylinder(1.0, 1.0, AROUND),
        // The origin is the centre of mass, a quarter of the height above the base.
        CONE => Surface::cone(1.0, 1.0, AROUND).mapped(|p| p + 0.5 * DVec3::Z),
        _ => match shape {
            Shape::Box(c) => Surface::rounded_cuboid(c.half_extents / worn.scale, 1.0, EDGE),
            Shape::Cylinder(c) => {
                Surface::rounded_cylinder(c.radius / worn.scale.x, c.half_height / worn.scale.z, 1.0, COARSE)
            }
            Shape::Capsule(c) => Surface::capsule(1.0, (c.half_height + c.radius) / worn.scale.z - 1.0, COARSE),
            Shape::Composite(c) => of_parts(&c.parts).mapped(|p| p / worn.scale),
            _ => shape.surface().unwrap_or_default().mapped(|p| p / worn.scale),
        },
    }
}

/// The surfaces of parts together.
fn of_parts(parts: &[Part]) -> Surface {
    let mut looks = Looks::default();
    let own = |part: &Part| {
        let worn = looks.known(&part.shape);
        let turn = DMat3::from_quat(part.orientation);
        surface(&part.shape, worn).mapped(|p| part.position + turn * (worn.scale * p))
    };
    let surfaces: Vec<Surface> = parts.iter().map(own).collect();
    Surface::merged(&surfaces)
}

impl Look {
    /// The shape that wears this with these factors, as well as it can be told: primitives are what they were, and
    /// everything else is a mesh.
    pub(crate) fn shape(&self, of: &Shape, scale: DVec3) -> Shape {
        let high = || self.surface.bounds().unwrap_or_default().1;
        match (self.id, self.name) {
            (BOX, _) => Shape::cuboid(scale),
            (ELLIPSOID, _) => Shape::ellipsoid(scale),
            (CYLINDER, _) => Shape::cylinder(scale.x, scale.z),
            (CONE, _) => Shape::cone(scale.x, scale.z),
            // The margin of what is rounded was one.
            (_, "box") => Cuboid { half_extents: scale * high(), margin: scale.min_element() }.into(),
            (_, "cylinder") => {
                let half = scale * high();
                Cylinder { radius: half.x, half_height: half.z, margin: scale.min_element() }.into()
            }
            (_, "capsule") => Capsule { radius: scale.x, half_height: scale.z * high().z - scale.x }.into(),
            _ => of.scaled(scale.x),
        }
    }

    /// The radius of the ball that is said to hold it where all factors are one, if that is more than what it reaches to:
    /// composites are held by balls about their parts, in units of these.
    pub(crate) fn reach(&self) -> f64 {
        if self.name == "composite" { 1.0 } else { 0.0 }
    }

    /// The surface with normals.
    pub fn shaded(&self) -> Shaded {
        shaded(&self.surface)
    }
}

/// Normals at the corners of triangles: those of the faces around that meet it in a round edge, by their areas.
fn shaded(surface: &Surface) -> Shaded {
    let areas: Vec<DVec3> = (0..surface.triangles.len()).map(|t| surface.doubled_area(t)).collect();
    let units: Vec<DVec3> = areas.iter().map(|area| area.normalize_or_zero()).collect();
    let mut around: Vec<Vec<u32>> = vec![Vec::new(); surface.vertices.len()];
    for (t, corners) in (0..).zip(&surface.triangles) {
        corners.iter().for_each(|&k| around[k as usize].push(t));
    }
    let mut shaded = Shaded::default();
    let mut known: HashMap<(u32, [i16; 3]), u32> = HashMap::new();
    for (t, corners) in surface.triangles.iter().enumerate() {
        if units[t] == DVec3::ZERO {
            continue;
        }
        shaded.triangles.push(corners.map(|k| {
            let neighbours = &around[k as usize];
            let is_round = |&&other: &&u32| units[other as usize].dot(units[t]) > CREASE;
            let sum: DVec3 = neighbours.iter().filter(is_round).map(|&other| areas[other as usize]).sum();
            let normal = if neighbours.len() > MOST_AROUND { units[t] } else { sum.normalize_or(units[t]) };
            let rounded = normal.to_array().map(|x| (x * 16384.0).round() as i16);
            *known.entry((k, rounded)).or_insert_with(|| {
                shaded.vertices.push(surface.vertices[k as usize].as_vec3());
                shaded.normals.push(normal.as_vec3());
                shaded.vertices.len() as u32 - 1
            })
        }));
    }
    shaded
}

#[cfg(test)]
mod tests;

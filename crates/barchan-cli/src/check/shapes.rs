//! What is said of bodies that are not spheres: what they consist of, and what they weigh.

use barchan::output::human::{counted, grouped, short};
use barchan::scene::{Assortment, Kind, Scene};
use barchan::shape::{GivenMass, Shape, Solid, Surface};
use barchan::world::Motion;

/// Shapes that are told about; the rest is counted.
const MOST: usize = 20;

/// Bodies of one shape and material.
#[derive(PartialEq)]
struct Alike {
    shape: Shape,
    /// The smallest and the largest factor on it.
    scale: [f64; 2],
    motion: Motion,
    material: String,
    mass: Option<GivenMass>,
}

/// A line for each shape that is neither a sphere nor a wall.
pub(super) fn lines(scene: &Scene) -> Vec<String> {
    let mut all: Vec<(Alike, u64)> = Vec::new();
    let mut add = |alike: Alike, count: u64| {
        match all.iter_mut().take(MOST).find(|(other, _)| *other == alike) {
            Some((_, more)) => *more += count,
            None => all.push((alike, count)),
        };
    };
    for body in scene.body.iter().filter(|body| is_told(&body.shape)) {
        let (shape, material) = (body.shape.clone(), body.material.clone());
        add(Alike { shape, scale: [1.0; 2], motion: body.motion, material, mass: body.mass }, 1);
    }
    for lattice in &scene.lattice {
        kinds(&lattice.assortment(), lattice.motion, lattice.body_count(), &mut add);
    }
    for fill in &scene.fill {
        kinds(&fill.assortment(), Motion::Dynamic, fill.count, &mut add);
    }
    let mut lines: Vec<String> = all.iter().take(MOST).map(|(alike, count)| line(scene, alike, *count)).collect();
    if all.len() > MOST {
        let rest = all[MOST..].iter().map(|(_, count)| count).sum();
        lines.push(format!("and {}", counted(rest, "more body", "more bodies")));
    }
    lines
}

fn is_told(shape: &Shape) -> bool {
    !matches!(shape, Shape::Sphere(_)) && !shape.is_unbounded()
}

/// Adds the kinds of a lattice or a fill, with the numbers that are to be expected.
fn kinds(entry: &Assortment<'_>, motion: Motion, count: u64, add: &mut impl FnMut(Alike, u64)) {
    let kinds = entry.kinds();
    let total: f64 = kinds.iter().map(|kind| kind.weight).sum();
    for Kind { weight, shape, scale, material, .. } in kinds {
        let Some(shape) = shape.filter(is_told) else { continue };
        let scale = scale.map_or([1.0; 2], |scale| [scale.min(), scale.max()]);
        let material = material.unwrap_or_default();
        add(Alike { shape, scale, motion, material, mass: None }, (weight / total * count as f64).round() as u64);
    }
}

fn line(scene: &Scene, alike: &Alike, count: u64) -> String {
    let Alike { shape, scale: [least, most], .. } = alike;
    let name = shape.name();
    let surface = shape.surface().unwrap_or_default();
    let number = match count {
        1 => name.into(),
        _ => format!("{} {}", grouped(count), plural(name)),
    };
    let factor = if least == most { String::new() } else { format!(" times {} to {}", short(*least), short(*most)) };
    let edges = size(&surface, if least == most { *least } else { 1.0 });
    let triangles = counted(surface.triangles.len() as u64, "triangle", "triangles");
    let each = if count > 1 { " each" } else { "" };
    format!("{number} of {edges}{factor}: {triangles}, {}, {}{each}", parts(shape), mass(scene, alike))
}

/// Several of a shape.
pub(super) fn plural(name: &str) -> String {
    match name {
        "box" => "boxes".into(),
        "mesh" => "meshes".into(),
        "polyhedron" => "polyhedra".into(),
        name => format!("{name}s"),
    }
}

/// The edges of the box about a surface, a factor larger.
fn size(surface: &Surface, factor: f64) -> String {
    let (low, high) = surface.bounds().unwrap_or_default();
    let edges = (high - low) * factor;
    format!("{} x {} x {} m", short(edges.x), short(edges.y), short(edges.z))
}

/// What the narrow phase sees.
fn parts(shape: &Shape) -> String {
    match shape.solid() {
        Some(Solid::Parts(parts)) => counted(parts.len() as u64, "convex part", "convex parts"),
        Some(Solid::Triangles(_)) => if shape.has_mass() { "closed" } else { "open" }.into(),
        Some(Solid::One(_)) | None => "1 convex part".into(),
    }
}

fn mass(scene: &Scene, alike: &Alike) -> String {
    match alike.motion {
        Motion::Dynamic => {}
        Motion::Fixed => return "fixed".into(),
        Motion::Kinematic => return "moved".into(),
    }
    let is_its = |name: &str| alike.material.is_empty() || name == alike.material;
    let density =
        scene.material.iter().find(|material| is_its(&material.name)).map_or(0.0, |material| material.density);
    let Some(settled) = alike.shape.settle(density, alike.mass.as_ref()) else { return "without mass".into() };
    let [least, most] = alike.scale.map(|scale| short(settled.mass.mass * scale.powi(3)));
    if least == most { format!("{least} kg") } else { format!("{least} to {most} kg") }
}

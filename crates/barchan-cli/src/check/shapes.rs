//! What is said of bodies that are not spheres: what they consist of, and what they weigh.

use super::Group;
use barchan::output::human::{counted, grouped, short};
use barchan::scene::{BodySpec, Scene};
use barchan::shape::{Form, Shape, Solid, Surface};
use barchan::world::Motion;

/// Shapes that are told about; the rest is counted.
const MOST: usize = 20;
/// A part so many times larger than the grains is probably in other units.
const SUSPICIOUS: f64 = 1000.0;

/// Equal bodies.
struct Alike<'a> {
    first: &'a BodySpec,
    count: u64,
}

/// A line for each shape that is neither a sphere nor a wall.
pub(super) fn lines(scene: &Scene) -> Vec<String> {
    let mut all: Vec<Alike<'_>> = Vec::new();
    for body in scene.body.iter().filter(|body| !matches!(body.shape, Shape::Sphere(_)) && !body.shape.is_unbounded()) {
        let same = |other: &&mut Alike<'_>| {
            let first = other.first;
            first.motion == body.motion
                && first.material == body.material
                && first.mass == body.mass
                && first.shape == body.shape
        };
        match all.iter_mut().take(MOST).find(same) {
            Some(alike) => alike.count += 1,
            None => all.push(Alike { first: body, count: 1 }),
        }
    }
    let mut lines: Vec<String> = all.iter().take(MOST).map(|alike| line(scene, alike)).collect();
    if all.len() > MOST {
        let rest = all[MOST..].iter().map(|alike| alike.count).sum();
        lines.push(format!("and {}", counted(rest, "more body", "more bodies")));
    }
    lines
}

fn line(scene: &Scene, Alike { first, count }: &Alike<'_>) -> String {
    let name = first.shape.name();
    let surface = first.shape.surface().unwrap_or_default();
    let number = match count {
        1 => name.into(),
        _ => format!("{} {}", grouped(*count), plural(name)),
    };
    let triangles = counted(surface.triangles.len() as u64, "triangle", "triangles");
    let each = if *count > 1 { " each" } else { "" };
    format!("{number} of {}: {triangles}, {}, {}{each}", size(&surface), parts(&first.shape), mass(scene, first))
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

/// The edges of the box about a surface.
fn size(surface: &Surface) -> String {
    let (low, high) = surface.bounds().unwrap_or_default();
    let edges = high - low;
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

fn mass(scene: &Scene, body: &BodySpec) -> String {
    let still = match body.motion {
        Motion::Dynamic => None,
        Motion::Fixed => Some("fixed"),
        Motion::Kinematic => Some("moved"),
    };
    let is_its = |name: &str| body.material.is_empty() || name == body.material;
    let density =
        scene.material.iter().find(|material| is_its(&material.name)).map_or(0.0, |material| material.density);
    match (still, body.shape.settle(density, body.mass.as_ref())) {
        (Some(still), _) => still.into(),
        (None, Some(settled)) => format!("{} kg", short(settled.mass.mass)),
        (None, None) => "without mass".into(),
    }
}

/// The radius that half of the moving bodies do not exceed.
fn grain_radius(groups: &[Group<'_>]) -> Option<f64> {
    let moving = groups.iter().filter(|group| group.motion == Motion::Dynamic);
    let mut radii: Vec<(f64, u64)> = moving.filter_map(|group| Some((group.radii?[1], group.count))).collect();
    radii.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = radii.iter().map(|&(_, count)| count).sum::<u64>().div_ceil(2);
    let mut below = 0;
    let middle = radii.iter().find(|&&(_, count)| {
        below += count;
        below >= half
    });
    middle.map(|&(radius, _)| radius).filter(|&radius| radius > 0.0)
}

/// What is much larger than the grains.
pub(super) fn warnings(scene: &Scene, groups: &[Group<'_>]) -> Vec<String> {
    let Some(grain) = grain_radius(groups) else { return Vec::new() };
    let ratio = |body: &BodySpec| body.shape.form().map_or(0.0, Form::reach) / grain;
    let large = scene.body.iter().enumerate().filter(|(_, body)| ratio(body) >= SUSPICIOUS);
    let words = |(k, body): (usize, &BodySpec)| {
        format!(
            "body {k} ({}) is {} times larger than the grains, whose radius is {} m: are its lengths in metres? A mesh in \
             millimetres needs scale = 0.001",
            body.shape.name(),
            grouped(ratio(body).round() as u64),
            short(grain)
        )
    };
    large.take(MOST).map(words).collect()
}

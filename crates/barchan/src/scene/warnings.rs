//! What is probably not meant, though it can be run: lengths in other units than metres, and surfaces whose faults make
//! them something else than they look like.

use super::{Assortment, Fault, Location, Scene};
use crate::shape::{Mesh, Shape, Solid};
use crate::world::Motion;
use barchan_mesh::MeshFault;
use glam::DMat3;

/// A part so many times larger than the grains is probably in other units.
const SUSPICIOUS: f64 = 1000.0;

/// Bodies of one shape, by the key that gives it.
struct Part {
    key: String,
    shape: Shape,
    /// The largest factor on the shape.
    scale: f64,
    count: u64,
    motion: Motion,
}

impl Scene {
    /// What is probably not meant. The scene must be sound ([`Scene::validate`]).
    pub fn warnings(&self) -> Vec<Fault> {
        let parts = self.parts();
        let found = units(&parts).into_iter().chain(surfaces(&parts));
        let place = || Location::Whole(format!("scene \"{}\"", self.name));
        found.map(|(path, message)| Fault { place: place(), path, message }).collect()
    }

    /// All bounded shapes, by the entries that give them.
    fn parts(&self) -> Vec<Part> {
        let single = self.body.iter().enumerate().map(|(k, body)| Part {
            key: format!("body[{k}].shape"),
            shape: body.shape.clone(),
            scale: 1.0,
            count: 1,
            motion: body.motion,
        });
        let mut parts: Vec<Part> = single.filter(|part| !part.shape.is_unbounded()).collect();
        for (k, lattice) in self.lattice.iter().enumerate() {
            parts.extend(kinds(&format!("lattice[{k}]"), &lattice.assortment(), lattice.body_count(), lattice.motion));
        }
        for (k, fill) in self.fill.iter().enumerate() {
            parts.extend(kinds(&format!("fill[{k}]"), &fill.assortment(), fill.count, Motion::Dynamic));
        }
        parts
    }
}

/// The kinds of a lattice or a fill, with the numbers that are to be expected.
fn kinds(path: &str, entry: &Assortment<'_>, count: u64, motion: Motion) -> Vec<Part> {
    let kinds = entry.kinds();
    let total: f64 = kinds.iter().map(|kind| kind.weight).sum();
    let part = |(k, kind): (usize, super::Kind)| {
        let path = if entry.mixture.is_empty() { path.to_owned() } else { format!("{path}.mixture[{k}]") };
        let (key, shape, scale) = match (kind.shape, kind.radius) {
            (Some(shape), _) => ("shape", shape, kind.scale.map_or(1.0, |scale| scale.max())),
            (None, radius) => ("radius", Shape::sphere(1.0), radius?.max()),
        };
        let count = (kind.weight / total * count as f64).round() as u64;
        Some(Part { key: format!("{path}.{key}"), shape, scale, count, motion })
    };
    kinds.into_iter().enumerate().filter_map(part).collect()
}

impl Part {
    /// The longest edge of the box about the largest of them.
    fn width(&self) -> f64 {
        let [low, high] = self.shape.half_box(&DMat3::IDENTITY);
        (high - low).max_element() * self.scale
    }
}

/// The width that half of the moving bodies do not exceed; `None` if nothing moves.
fn grain_width(parts: &[Part]) -> Option<f64> {
    let moving = parts.iter().filter(|part| part.motion == Motion::Dynamic);
    let mut widths: Vec<(f64, u64)> = moving.map(|part| (part.width(), part.count)).collect();
    widths.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = widths.iter().map(|&(_, count)| count).sum::<u64>().div_ceil(2);
    let mut below = 0;
    let middle = widths.iter().find(|&&(_, count)| {
        below += count;
        below >= half
    });
    middle.map(|&(width, _)| width).filter(|&width| width > 0.0)
}

/// What is much larger than the grains: its key, and why.
fn units(parts: &[Part]) -> Vec<(String, String)> {
    let Some(grain) = grain_width(parts) else { return Vec::new() };
    let large = parts.iter().filter(|part| part.width() >= SUSPICIOUS * grain);
    let words = |part: &Part| {
        let width = part.width();
        let remedy = match part.shape {
            Shape::Mesh(_) | Shape::Polyhedron(_) => "A file in millimetres needs scale = 0.001",
            _ => "Give them in metres",
        };
        let message = format!(
            "the {} is {:?} m across, {:.0} times as much as half of the grains at most ({:?} m): are its lengths in \
             metres? {remedy}",
            part.shape.name(),
            rounded(width),
            width / grain,
            rounded(grain),
        );
        (part.key.clone(), message)
    };
    large.map(words).collect()
}

/// A number to four digits.
fn rounded(x: f64) -> f64 {
    format!("{x:.3e}").parse().unwrap_or(x)
}

/// The faults of surfaces of triangles that bodies have all the same: keys, and what is wrong. Surfaces that several bodies
/// share are told once.
fn surfaces(parts: &[Part]) -> Vec<(String, String)> {
    let mut told: Vec<(&Mesh, &Part, u64)> = Vec::new();
    for part in parts {
        let Shape::Mesh(mesh) = &part.shape else { continue };
        match told.iter_mut().find(|(other, ..)| **other == **mesh) {
            Some((.., more)) => *more += part.count,
            None => told.push((mesh, part, part.count - 1)),
        }
    }
    told.iter().flat_map(|&(mesh, part, more)| surface(mesh, part, more)).collect()
}

fn surface(mesh: &Mesh, part: &Part, more: u64) -> Vec<(String, String)> {
    let file = mesh.text().file.as_deref();
    let key = format!("{}.mesh.{}", part.key, if file.is_some() { "file" } else { "triangles" });
    let file = file.map(|file| format!("{file}: ")).unwrap_or_default();
    let others = match more {
        0 => String::new(),
        1 => " (another body has the same surface)".into(),
        _ => format!(" ({more} more bodies have the same surface)"),
    };
    let is_sheet = matches!(part.shape.solid(), Some(Solid::Triangles(scaled)) if !scaled.triangles.is_closed);
    // Open surfaces are sheets by intent, and several components are no fault.
    let counts = |fault: &&MeshFault| !matches!(fault, MeshFault::Open { .. } | MeshFault::Components { .. });
    let words = |fault: &MeshFault| {
        let until = match (fault.forbids_volume(), is_sheet) {
            (true, true) => ". Until then it is a sheet without an inside: bodies that start or get within stay there",
            (true, false) => "",
            (false, _) if matches!(fault, MeshFault::Unsearched { .. }) => "",
            (false, _) => ". Until then contacts pass over what has no area",
        };
        (key.clone(), format!("{file}{}{until}{others}", mesh.words(fault)))
    };
    mesh.surface_faults().iter().filter(counts).map(words).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{BodySpec, Fill, Kind, Lattice};
    use crate::shape::Surface;
    use glam::DVec3;

    /// The warnings of a scene, a line each.
    fn of(change: impl FnOnce(&mut Scene)) -> String {
        let mut scene = Scene { name: "plant".into(), ..Scene::default() };
        scene.body.push(BodySpec::new(Shape::half_space(), DVec3::ZERO));
        change(&mut scene);
        assert_eq!(scene.validate(), []);
        scene.warnings().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    fn plate(edge: f64) -> Shape {
        let corner = |x: f64, y: f64| DVec3::new(x * edge, y * edge, -1.0);
        let vertices = vec![corner(0.0, 0.0), corner(1.0, 0.0), corner(0.0, 1.0)];
        Shape::mesh(Surface { vertices, triangles: vec![[0, 1, 2]] })
    }

    #[test]
    fn lengths_in_millimetres_are_noticed_wherever_they_are_given() {
        let grains = || Fill::new(DVec3::ZERO, DVec3::ONE, 100, 0.002);
        let plain = of(|scene| {
            scene.fill.push(grains());
            scene.body.push(BodySpec::new(plate(3.9), DVec3::ZERO));
        });
        assert_eq!(plain, "");
        let body = of(|scene| {
            scene.fill.push(grains());
            scene.body.push(BodySpec::new(plate(800.0), DVec3::ZERO));
        });
        let words = "scene \"plant\": body[1].shape: the mesh is 800.0 m across, 200000 times as much as half of the grains at \
                     most (0.004 m): are its lengths in metres? A file in millimetres needs scale = 0.001";
        assert_eq!(body, words);
        // A fixed lattice of parts, and one kind of a mixture among many spheres.
        let lattice = of(|scene| {
            scene.fill.push(grains());
            let lattice = Lattice::cubic([2, 1, 1], 2000.0, 1.0).of(plate(800.0));
            scene.lattice.push(Lattice { motion: Motion::Fixed, ..lattice });
        });
        assert!(lattice.contains("lattice[0].shape: the mesh is 800.0 m across"), "{lattice}");
        let stone = Kind { weight: 0.01, ..Kind::of(Shape::cuboid(DVec3::splat(5.0))) };
        let mixed = of(|scene| {
            let fill = Fill::new(DVec3::ZERO, DVec3::splat(1000.0), 100, 1.0);
            scene.fill.push(fill.mixed(vec![Kind::spheres(0.004), stone]));
        });
        assert!(mixed.contains("fill[0].mixture[1].shape: the box is 10.0 m across, 1250 times"), "{mixed}");
    }

    #[test]
    fn faults_of_fixed_surfaces_are_told_once_with_a_triangle() {
        let cube = Surface::cuboid(DVec3::splat(0.1));
        let turned = Surface { triangles: cube.triangles.iter().map(|&[a, b, c]| [a, c, b]).collect(), ..cube.clone() };
        let mut crossed = cube.clone();
        crossed.vertices.extend(cube.vertices.iter().map(|&p| p + DVec3::splat(0.05)));
        let count = cube.vertices.len() as u32;
        crossed.triangles.extend(cube.triangles.iter().map(|t| t.map(|k| k + count)));
        let mut flat = cube.clone();
        flat.vertices.push(flat.vertices[0].midpoint(flat.vertices[1]));
        flat.triangles.push([0, 1, count]);
        let told = |surface: &Surface| {
            of(|scene| {
                let body = BodySpec::new(Shape::mesh(surface.clone()), DVec3::Z);
                scene.body.extend([body.clone(), BodySpec { position: -DVec3::Z, ..body }]);
            })
        };
        assert_eq!(told(&cube), "");
        assert_eq!(of(|scene| scene.body.push(BodySpec::new(plate(1.0), DVec3::ZERO))), "");
        for (surface, words) in [
            (&turned, "it is inside out"),
            (&crossed, "it goes through itself"),
            (&flat, "1 triangle has no area, triangle 12 at"),
        ] {
            let told = told(surface);
            let start = format!("scene \"plant\": body[1].shape.mesh.triangles: {words}");
            assert!(told.lines().any(|line| line.starts_with(&start)), "{told}");
            assert!(told.lines().all(|line| line.contains("triangle") && line.contains("Until then")), "{told}");
            assert!(told.ends_with("(another body has the same surface)") && !told.contains("body[2]"), "{told}");
        }
    }

    /// A closed surface of which one triangle has no area is a body like any other, but for that.
    #[test]
    fn triangles_without_area_are_told_of_dynamic_bodies_too() {
        let mut cube = Surface::cuboid(DVec3::splat(0.1));
        // One triangle at an edge is cut in two there, its neighbour is not, and a flat one closes the gap.
        let [a, b, c] = cube.triangles[0];
        let middle = cube.vertices.len() as u32;
        cube.vertices.push(cube.vertices[a as usize].midpoint(cube.vertices[b as usize]));
        cube.triangles[0] = [a, middle, c];
        cube.triangles.extend([[middle, b, c], [a, b, middle]]);
        let told = of(|scene| {
            let body = BodySpec::new(Shape::mesh(cube), DVec3::Z);
            scene.body.push(BodySpec { motion: Motion::Dynamic, ..body });
        });
        let start = "scene \"plant\": body[1].shape.mesh.triangles: 1 triangle has no area, triangle 13 at";
        assert!(told.starts_with(start) && !told.contains('\n'), "{told}");
    }
}

//! Settled beds: `sedimentation` run until it rests, of spheres or of boxes, kept in a file, and tiled sideways for more.

use crate::failure::{Failure, note};
use barchan::output::write_whole;
use barchan::scene::{Orientation, Scene};
use barchan::shape::{MassProperties, Shape};
use barchan::step::{Simulation, StepOptions};
use barchan::world::{Body, Motion, World};
use barchan::{DQuat, DVec3, scenario};
use std::io::Write;
use std::path::Path;

/// Simulated seconds until a bed counts as settled.
const SETTLING: f64 = 0.5;

/// The scene of a bed of `bodies` spheres.
pub(super) fn scene(bodies: usize) -> Result<Scene, Failure> {
    Ok(scenario::find("sedimentation")?.scene(&[("bodies".into(), bodies.to_string())])?)
}

/// The same with a shape in the place of every sphere, turned at random. It fits into the sphere.
pub(super) fn scene_of(shape: &Shape, bodies: usize, radius: f64) -> Result<Scene, Failure> {
    let set = [("bodies".into(), bodies.to_string()), ("radius".into(), radius.to_string())];
    let mut scene = scenario::find("sedimentation")?.scene(&set)?;
    for lattice in &mut scene.lattice {
        lattice.radius = None;
        lattice.shape = Some(shape.clone());
        lattice.orientation = Some(Orientation::Random);
    }
    Ok(scene)
}

/// A settled bed of `bodies` spheres, from the cache or made now.
pub(super) fn bed(bodies: usize, cache: &Path) -> Result<World, Failure> {
    settled(&scene(bodies)?, &format!("{bodies} spheres"), &cache.join(format!("settled-{bodies}.bin")))
}

/// A settled bed of `bodies` boxes, from the cache or made now.
pub(super) fn boxes(bodies: usize, cache: &Path) -> Result<World, Failure> {
    // Half extents of 1 : 0.8 : 0.65 in a sphere of 1 cm.
    let half = DVec3::new(0.0069, 0.0055, 0.0045);
    let scene = scene_of(&Shape::cuboid(half), bodies, 0.01)?;
    settled(&scene, &format!("{bodies} boxes"), &cache.join(format!("settled-boxes-{bodies}.bin")))
}

fn settled(scene: &Scene, what: &str, path: &Path) -> Result<World, Failure> {
    let mut simulation = Simulation::from_scene(scene)?;
    if let Some(state) = load(path, scene) {
        restore(&mut simulation.world, &state);
        return Ok(simulation.world);
    }
    note(format_args!("  settling {what} (once; kept in {})", path.display()));
    while simulation.world.time < SETTLING - 0.5 * simulation.h() {
        simulation.step()?;
    }
    save(path, scene, &simulation.world)?;
    Ok(simulation.world)
}

/// The options with which beds are stepped.
pub(super) fn options() -> Result<StepOptions, Failure> {
    Ok(StepOptions::from(&scene(1000)?))
}

/// The length of their steps, s.
pub(super) fn length(options: &StepOptions) -> f64 {
    options.step.fixed().unwrap_or(1e-3)
}

/// A settled bed of 25 000 spheres repeated `nx` by `ny` times in one large box. If they are to be general
/// bodies, their moments of inertia differ a little.
pub(super) fn tiled(nx: usize, ny: usize, cache: &Path, are_general: bool) -> Result<World, Failure> {
    tiles(&bed(25_000, cache)?, nx, ny, are_general)
}

/// The same of boxes.
pub(super) fn tiled_boxes(nx: usize, ny: usize, cache: &Path) -> Result<World, Failure> {
    tiles(&boxes(25_000, cache)?, nx, ny, false)
}

fn tiles(tile: &World, nx: usize, ny: usize, are_general: bool) -> Result<World, Failure> {
    let mut world = World { gravity: tile.gravity, materials: tile.materials.clone(), ..World::default() };
    let bodies = &tile.bodies;
    let find = |motion| (0..bodies.len()).filter(move |&i| bodies.motion()[i] == motion);
    let (half, centre) = find(Motion::Fixed)
        .find_map(|i| match &bodies.shape()[i] {
            Shape::Container(c) => Some((c.half_extents, bodies.position[i])),
            _ => None,
        })
        .ok_or_else(|| Failure::Failed("the sedimentation scene has no container".into()))?;
    let counts = DVec3::new(nx as f64, ny as f64, 1.0);
    world.bodies.reserve(nx * ny * bodies.len());
    world.add(Body::fixed(Shape::container(half * counts), centre));
    for x in 0..nx {
        for y in 0..ny {
            let shift = DVec3::new((2 * x + 1) as f64, (2 * y + 1) as f64, 1.0) * half - half * counts;
            for i in find(Motion::Dynamic) {
                let inertia = bodies.inverse_inertia()[i].recip() * DVec3::new(1.0, 1.001, 1.002);
                let mass = are_general.then(|| MassProperties { mass: 1.0 / bodies.inverse_mass()[i], inertia });
                world.add(Body {
                    orientation: bodies.orientation[i],
                    velocity: bodies.velocity[i],
                    angular_velocity: bodies.angular_velocity[i],
                    material: bodies.material()[i],
                    group: bodies.group[i],
                    mass,
                    ..Body::dynamic(bodies.shape()[i].clone(), bodies.position[i] + shift)
                });
            }
        }
    }
    Ok(world)
}

/// Numbers a body in a file.
const ROW: usize = 13;

/// Position, velocity, angular velocity and orientation of every body, by id.
fn state(world: &World) -> Vec<f64> {
    let b = &world.bodies;
    let mut out = vec![0.0; ROW * b.len()];
    for i in 0..b.len() {
        let row = &mut out[ROW * b.id()[i] as usize..][..ROW];
        for (part, v) in [b.position[i], b.velocity[i], b.angular_velocity[i]].iter().enumerate() {
            row[3 * part..][..3].copy_from_slice(&v.to_array());
        }
        row[9..].copy_from_slice(&b.orientation[i].to_array());
    }
    out
}

fn restore(world: &mut World, state: &[f64]) {
    let b = &mut world.bodies;
    for i in 0..b.len() {
        let row = &state[ROW * b.id()[i] as usize..][..ROW];
        b.position[i] = DVec3::from_slice(&row[0..3]);
        b.velocity[i] = DVec3::from_slice(&row[3..6]);
        b.angular_velocity[i] = DVec3::from_slice(&row[6..9]);
        b.orientation[i] = DQuat::from_slice(&row[9..]);
    }
}

/// The head of a cache file: another version or scene makes another head, and so a new bed.
fn head(scene: &Scene) -> String {
    format!("barchan settled bed {}\n{}\n\0", env!("CARGO_PKG_VERSION"), scene.to_toml())
}

fn save(path: &Path, scene: &Scene, world: &World) -> Result<(), Failure> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)
            .map_err(|e| Failure::Failed(format!("cannot make the directory {}: {e}", parent.display())))?;
    }
    write_whole(path, |file| {
        file.write_all(head(scene).as_bytes())?;
        state(world).iter().try_for_each(|x| file.write_all(&x.to_le_bytes()))
    })?;
    Ok(())
}

fn load(path: &Path, scene: &Scene) -> Option<Vec<f64>> {
    let bytes = std::fs::read(path).ok()?;
    let numbers = bytes.strip_prefix(head(scene).as_bytes())?;
    let expected = ROW * scene.body_count() as usize;
    let numbers: Vec<f64> =
        numbers.chunks_exact(8).map(|c| f64::from_le_bytes(c.try_into().unwrap_or_default())).collect();
    (numbers.len() == expected).then_some(numbers)
}

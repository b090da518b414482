//! What a scene starts with that no run will mend: bodies in each other, outside their box or behind a wall, and steps
//! that are too long for what happens in the first of them.

use barchan::output::WorstOverlap;
use barchan::output::human::{counted, grouped, short};
use barchan::scene::{Scene, SceneError};
use barchan::step::Simulation;

/// So many bodies are built and searched within a few seconds.
const SEARCHED: u64 = 300_000;
/// Overlaps that are named; the rest is counted.
const NAMED: usize = 3;
/// A body at rest may fall so many of its radii in the first step, and one that flies may move so many.
const FALL: f64 = 0.05;
const FLIGHT: f64 = 1.0;

/// Warnings, the gravest first.
pub(super) fn warnings(scene: &Scene) -> Result<Vec<String>, SceneError> {
    if scene.body_count() > SEARCHED {
        return Ok(Vec::new());
    }
    let mut simulation = Simulation::from_scene(scene)?;
    let mut found = overlaps(&mut simulation);
    found.extend(long_step(scene, &simulation));
    Ok(found)
}

/// Names the deepest overlaps, and counts all that are alarming.
fn overlaps(simulation: &mut Simulation) -> Vec<String> {
    simulation.pose();
    let bodies = &simulation.world.bodies;
    let contacts = simulation.contacts();
    let radius = |j: u32| bodies.shape()[j as usize].bounding_radius().unwrap_or(f64::INFINITY);
    let mut deep: Vec<(f64, usize)> = (0..contacts.len())
        .map(|i| {
            let [a, b] = contacts.pairs()[i];
            (-contacts.gaps()[i] / radius(a).min(radius(b)), i)
        })
        .filter(|(radii, _)| *radii > WorstOverlap::ALARMING)
        .collect();
    deep.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let name = |j: u32| {
        let j = j as usize;
        let (id, shape) = (bodies.id()[j], bodies.shape()[j].name());
        let x = bodies.position[j];
        format!("body {id} ({shape} at {}, {}, {})", short(x.x), short(x.y), short(x.z))
    };
    let words = |&(radii, i): &(f64, usize)| {
        let [a, b] = contacts.pairs()[i];
        let is_wall = bodies.is_wall(b as usize);
        let depth = format!("{} % of its radius", grouped((100.0 * radii).round() as u64));
        let where_to = if is_wall { "in, behind or outside of" } else { "in" };
        format!("{} starts {where_to} {}, by {depth}", name(a), name(b))
    };
    let mut found: Vec<String> = deep.iter().take(NAMED).map(words).collect();
    if deep.len() > NAMED {
        let more = counted((deep.len() - NAMED) as u64, "more pair overlaps", "more pairs overlap");
        found.push(format!("{more} by over {} % of a radius", (100.0 * WorstOverlap::ALARMING).round()));
    }
    found
}

/// Whether bodies fall or fly too far in a step.
fn long_step(scene: &Scene, simulation: &Simulation) -> Option<String> {
    let bodies = &simulation.world.bodies;
    let h = scene.time.step.fixed()?;
    let moving = (0..bodies.len()).filter(|&i| bodies.inverse_mass()[i] > 0.0);
    let radii = |i: usize, length: f64| length / bodies.shape()[i].bounding_radius().unwrap_or(f64::INFINITY);
    let ways = moving.map(|i| [radii(i, scene.gravity.length() * h * h), radii(i, bodies.velocity[i].length() * h)]);
    let [fall, flight] = ways.fold([0.0f64; 2], |[a, b], [c, d]| [a.max(c), b.max(d)]);
    let shorter = "a shorter time.step may be needed";
    if fall > FALL {
        let percent = short((100.0 * fall).round());
        return Some(format!("gravity moves the smallest bodies by {percent} % of a radius in a step: {shorter}"));
    }
    (flight > FLIGHT).then(|| format!("the fastest bodies fly {} radii in a step: {shorter}", short(flight.round())))
}

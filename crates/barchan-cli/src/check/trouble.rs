//! What a scene starts with that no run will mend: bodies in each other, outside their box or behind a wall, and steps
//! that are too long for what happens in the first of them.

use barchan::output::WorstOverlap;
use barchan::output::human::{counted, grouped, short};
use barchan::scene::{Scene, SceneError};
use barchan::shape::Shape;
use barchan::step::Simulation;
use std::collections::HashSet;

/// So many bodies are built and searched within a few seconds.
const SEARCHED: u64 = 300_000;
/// Overlaps that are named; the rest is counted.
const NAMED: usize = 3;
/// A body at rest may fall so many of its sizes in the first step, and one that flies may move so many. The size of a ball is
/// its radius.
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
    let shape = |j: u32| &bodies.shape()[j as usize];
    let mut deep: Vec<(f64, usize)> = (0..contacts.len())
        .map(|i| {
            let [a, b] = contacts.pairs()[i];
            (-contacts.gaps()[i] / shape(a).size().min(shape(b).size()), i)
        })
        .filter(|(sizes, _)| *sizes > WorstOverlap::ALARMING)
        .collect();
    deep.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    // Of the contacts of two bodies the deepest counts.
    let mut seen = HashSet::new();
    deep.retain(|&(_, i)| seen.insert(contacts.pairs()[i]));
    let name = |j: u32| {
        let j = j as usize;
        let (id, shape) = (bodies.id()[j], bodies.shape()[j].name());
        let x = bodies.position[j];
        format!("body {id} ({shape} at {}, {}, {})", short(x.x), short(x.y), short(x.z))
    };
    let words = |&(sizes, i): &(f64, usize)| {
        let [a, b] = contacts.pairs()[i];
        let is_wall = bodies.is_wall(b as usize);
        let smaller = if shape(b).size() < shape(a).size() { b } else { a };
        let depth = format!("{} % of {}", grouped((100.0 * sizes).round() as u64), measure(shape(smaller)));
        let where_to = if is_wall { "in, behind or outside of" } else { "in" };
        format!("{} starts {where_to} {}, by {depth}", name(a), name(b))
    };
    let mut found: Vec<String> = deep.iter().take(NAMED).map(words).collect();
    if deep.len() > NAMED {
        let more = counted((deep.len() - NAMED) as u64, "more pair overlaps", "more pairs overlap");
        found.push(format!("{more} by over {} % of a size", (100.0 * WorstOverlap::ALARMING).round()));
    }
    found
}

/// The length by which a body is measured.
fn measure(shape: &Shape) -> String {
    match shape {
        Shape::Sphere(_) => "a radius".into(),
        _ => format!("the size of a {} ({} m)", shape.name(), short(shape.size())),
    }
}

/// Whether bodies fall or fly too far in a step.
fn long_step(scene: &Scene, simulation: &Simulation) -> Option<String> {
    let bodies = &simulation.world.bodies;
    let h = scene.time.step.fixed()?;
    let moving = (0..bodies.len()).filter(|&i| bodies.inverse_mass()[i] > 0.0);
    let sizes = |i: usize, length: f64| length / bodies.shape()[i].size();
    let ways = moving.map(|i| [sizes(i, scene.gravity.length() * h * h), sizes(i, bodies.velocity[i].length() * h)]);
    let [fall, flight] = ways.fold([0.0f64; 2], |[a, b], [c, d]| [a.max(c), b.max(d)]);
    let shorter = "a shorter time.step may be needed";
    if fall > FALL {
        let percent = short((100.0 * fall).round());
        return Some(format!("gravity moves the smallest bodies by {percent} % of their size in a step: {shorter}"));
    }
    (flight > FLIGHT)
        .then(|| format!("the fastest bodies fly {} of their sizes in a step: {shorter}", short(flight.round())))
}

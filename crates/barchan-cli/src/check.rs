//! `barchan check`: says what a scene is, before hours are spent on it.
//!
//! The world is built, because only that tells whether random fills find room, and because
//! counts and extents then come from what a run would really start from. Nothing is simulated.

use crate::args::CheckArgs;
use crate::failure::{Failure, print};
use crate::target::Target;
use barchan::DVec3;
use barchan::output::frame_bytes;
use barchan::output::human::{bytes, grouped, short};
use barchan::run::frame_count;
use barchan::scene::Scene;
use barchan::world::{Bodies, Motion, World};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Peak memory of a run a body, with the three contacts a body of a dense bed.
const BYTES_A_BODY: u64 = 1500;
/// What any run needs, mostly for the picture.
const BYTES_AT_LEAST: u64 = 50_000_000;

/// Validates and explains.
pub(crate) fn run(args: &CheckArgs) -> Result<(), Failure> {
    let target = Target::load(&args.target, args.overrides.set.clone())?;
    let world = target.scene.build().map_err(|error| target.blame(error))?;
    print(&explain(&args.target, &target.scene, &world))
}

fn explain(name: &str, scene: &Scene, world: &World) -> String {
    let mut text = format!("{name} is fine\n");
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<12} {value}");
    };
    line("scene", scene.name.clone());
    line("bodies", bodies(&world.bodies));
    let spheres = Spheres::of(&world.bodies);
    if spheres.count > 0 {
        line("radii", spheres.radii());
        line("box", format!("from {} to {} m", vector(spheres.low), vector(spheres.high)));
    }
    line("gravity", format!("{} m/s²", vector(scene.gravity)));
    if !scene.force.is_empty() {
        line("forces", format!("{} further fields", scene.force.len()));
    }
    for (i, material) in scene.material.iter().enumerate() {
        let count = world.bodies.material.iter().filter(|&&m| usize::from(m) == i).count() as u64;
        let about = format!("{} kg/m³, {} bodies", short(material.density), grouped(count));
        line(if i == 0 { "materials" } else { "" }, format!("{}: {about}", material.name));
    }
    for (i, pair) in pairs(scene, world).into_iter().enumerate() {
        line(if i == 0 { "pairs" } else { "" }, pair);
    }
    line("time", time(scene));
    line("solver", solver(scene));
    line("output", output(scene, spheres.count));
    let memory = BYTES_AT_LEAST + BYTES_A_BODY * world.bodies.len() as u64;
    line("memory", format!("about {}, if the bodies come to lie close", bytes(memory)));
    text
}

/// How many of each shape, and how they move.
fn bodies(bodies: &Bodies) -> String {
    let mut kinds: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for (shape, motion) in bodies.shape.iter().zip(&bodies.motion) {
        let motion = match motion {
            Motion::Dynamic => "",
            Motion::Fixed => "fixed ",
            Motion::Kinematic => "moved ",
        };
        *kinds.entry((shape.name(), motion)).or_default() += 1;
    }
    let part = |(&(shape, motion), &count): (&(&str, &str), &u64)| {
        format!("{} {motion}{shape}{}", grouped(count), if count == 1 { "" } else { "s" })
    };
    let parts: Vec<String> = kinds.iter().map(part).collect();
    if parts.is_empty() { "none".into() } else { parts.join(", ") }
}

/// What the bounded bodies have in common.
struct Spheres {
    count: usize,
    smallest: f64,
    largest: f64,
    low: DVec3,
    high: DVec3,
}

impl Spheres {
    fn of(bodies: &Bodies) -> Self {
        let none =
            Self { count: 0, smallest: f64::INFINITY, largest: 0.0, low: DVec3::INFINITY, high: DVec3::NEG_INFINITY };
        let bounded = bodies.position.iter().zip(&bodies.shape).filter_map(|(&x, s)| Some((x, s.bounding_radius()?)));
        bounded.fold(none, |all, (x, r)| Self {
            count: all.count + 1,
            smallest: all.smallest.min(r),
            largest: all.largest.max(r),
            low: all.low.min(x - r),
            high: all.high.max(x + r),
        })
    }

    fn radii(&self) -> String {
        if self.smallest == self.largest {
            return format!("{} m", short(self.smallest));
        }
        format!("{} to {} m", short(self.smallest), short(self.largest))
    }
}

/// The law of every pair of materials, exceptions marked.
fn pairs(scene: &Scene, world: &World) -> Vec<String> {
    let mut lines = Vec::new();
    for (i, a) in scene.material.iter().enumerate() {
        for (j, b) in scene.material.iter().enumerate().skip(i) {
            let law = world.materials.pair(i as u16, j as u16);
            let names = [a.name.as_str(), b.name.as_str()];
            let told = |pair: &[String; 2]| pair == &names || (pair[0] == names[1] && pair[1] == names[0]);
            let mark = if scene.pair.iter().any(|p| told(&p.materials)) { " (exception)" } else { "" };
            lines.push(format!(
                "{} on {}: friction {}, restitution {}{mark}",
                a.name,
                b.name,
                short(law.friction),
                short(law.restitution)
            ));
        }
    }
    lines
}

fn time(scene: &Scene) -> String {
    let (steps, h) = (scene.time.steps(), scene.time.step);
    let reached = steps as f64 * h;
    let off = if (reached - scene.time.end).abs() > 1e-6 * h {
        format!(", not {} s: the end is no multiple of the step", short(scene.time.end))
    } else {
        String::new()
    };
    format!("{} steps of {} s to {} s{off}", grouped(steps), short(h), short(reached))
}

fn solver(scene: &Scene) -> String {
    let solver = &scene.solver;
    format!(
        "{} to a residual ({}) of {:e}, at most {} iterations, {} start",
        solver.name.name(),
        format!("{:?}", solver.criterion).to_lowercase(),
        solver.tolerance,
        grouped(solver.max_iterations.into()),
        if solver.warm_start { "warm" } else { "cold" }
    )
}

fn output(scene: &Scene, points: usize) -> String {
    let (count, size) = (frame_count(scene), frame_bytes(points));
    if count == 0 {
        return "no frames (output.frame_interval is 0)".into();
    }
    format!("{} frames of {}, {} in all", grouped(count), bytes(size), bytes(size.saturating_mul(count)))
}

fn vector(v: DVec3) -> String {
    format!("({}, {}, {})", short(v.x), short(v.y), short(v.z))
}

//! `barchan check`: says what a scene is, before hours are spent on it.
//!
//! What is told comes from the scene alone, so a scene that only a thousand machines could hold is
//! told about at once. Only whether random fills find room is tried, and whether bodies start in each
//! other, as long as that is quick. Nothing is simulated.

mod shapes;
mod trouble;

use crate::args::CheckArgs;
use crate::failure::{Failure, print};
use crate::target::Target;
use barchan::DVec3;
use barchan::cone::MOST_FRICTION;
use barchan::output::human::{bytes, counted, grouped, short};
use barchan::output::{FrameOptions, frame_bytes};
use barchan::partition::{Cartesian, Outside, OutsideRule, PartitionError, PartitionName};
use barchan::run::frame_count;
use barchan::scene::{Assortment, Compression, Location, Scene, SceneError};
use barchan::world::{Materials, Motion};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Peak memory of a run a sphere, with the three contacts a sphere of a dense bed,
const BYTES_A_SPHERE: u64 = 1500;
/// and another body, which has more contacts, with lever arms.
const BYTES_A_SOLID: u64 = 4000;
/// What any rank needs, mostly for the picture.
const BYTES_AT_LEAST: u64 = 50_000_000;
/// So many bodies are placed within seconds.
const TRIED: u64 = 2_000_000;

/// What is said of a scene without bodies: it can be run, but there is nothing to see.
const NO_BODIES: &str = "none yet: add some as [[body]], [[lattice]] or [[fill]]; `barchan new empty` prints examples";

/// Validates and explains.
pub(crate) fn run(args: &CheckArgs) -> Result<(), Failure> {
    let ranks = args.ranks.unwrap_or(1);
    let target = Target::load(&args.target, args.overrides.on_ranks(ranks as usize))?;
    let scene = &target.scene;
    let sharing = share(scene, ranks).map_err(|error| target.blame(error))?;
    if has_to_be_tried(scene) {
        scene.build().map_err(|error| target.blame(error))?;
    }
    let mut warnings = target.warnings();
    warnings.extend(trouble::warnings(scene).map_err(|error| target.blame(error))?);
    let warnings: String = warnings.iter().map(|warning| format!("WARNING: {warning}\n")).collect();
    print(&(explain(&args.target, scene, ranks, &sharing) + &warnings))
}

/// Whether only placing the bodies tells if there is room for them, and it is quick.
fn has_to_be_tried(scene: &Scene) -> bool {
    !scene.fill.is_empty() && scene.body_count() <= TRIED
}

fn explain(name: &str, scene: &Scene, ranks: u32, sharing: &str) -> String {
    let mut text = format!("{name} is fine\n");
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<12} {value}");
    };
    line("scene", scene.name.clone());
    let groups = groups(scene);
    line("bodies", bodies(&groups));
    let bounded = count_of(&groups, |group| group.radii.is_some());
    if bounded > 0 {
        let extent = scene.extent();
        line("radii", radii(&groups));
        line("box", format!("from {} to {} m", vector(extent.low), vector(extent.high)));
    }
    for (i, shape) in shapes::lines(scene).into_iter().enumerate() {
        line(if i == 0 { "shapes" } else { "" }, shape);
    }
    if !scene.fill.is_empty() && !has_to_be_tried(scene) {
        line("fills", "not tried: whether so many bodies find room, the run will tell".into());
    }
    if let Some(outside) = outside(scene) {
        line("outside", outside);
    }
    line("gravity", format!("{} m/s²", vector(scene.gravity)));
    if !scene.force.is_empty() {
        line("forces", counted(scene.force.len() as u64, "further field", "further fields"));
    }
    for (i, material) in scene.material.iter().enumerate() {
        // Without a name the first is meant.
        let is_this = |name: &str| if name.is_empty() { i == 0 } else { name == material.name };
        let count = groups.iter().filter(|group| is_this(&group.material)).map(|group| group.count).sum();
        let about = format!("{} kg/m³, {}", short(material.density), counted(count, "body", "bodies"));
        line(if i == 0 { "materials" } else { "" }, format!("{}: {about}", material.name));
    }
    for (i, pair) in pairs(scene).into_iter().enumerate() {
        line(if i == 0 { "pairs" } else { "" }, pair);
    }
    for (i, entry) in scene.adjustable.iter().enumerate() {
        let value = scene.adjustable_value(&entry.key).map_or_else(|_| "nothing".into(), short);
        let about = format!("{} from {} to {}, now {value}", entry.key, short(entry.min), short(entry.max));
        line(if i == 0 { "adjustable" } else { "" }, about);
    }
    line("time", time(scene));
    line("solver", solver(scene));
    line("output", output(scene, bounded));
    if ranks > 1 {
        line("ranks", sharing.into());
    }
    line("memory", memory(&groups, ranks));
    text
}

/// Bodies of one entry of the scene.
struct Group<'a> {
    shape: &'static str,
    motion: Motion,
    material: Cow<'a, str>,
    count: u64,
    /// Smallest and largest, of those that have one.
    radii: Option<[f64; 2]>,
}

/// All bodies, by the entries that make them.
fn groups(scene: &Scene) -> Vec<Group<'_>> {
    let single = scene.body.iter().map(|body| Group {
        shape: body.shape.name(),
        motion: body.motion,
        material: Cow::from(&body.material),
        count: 1,
        radii: body.shape.bounding_radius().map(|radius| [radius; 2]),
    });
    let lattices = scene.lattice.iter().flat_map(|l| kinds(&l.assortment(), l.motion, l.body_count()));
    let fills = scene.fill.iter().flat_map(|f| kinds(&f.assortment(), Motion::Dynamic, f.count));
    single.chain(lattices).chain(fills).collect()
}

/// The kinds of bodies of a lattice or a fill, with the numbers that are to be expected.
fn kinds(entry: &Assortment<'_>, motion: Motion, count: u64) -> Vec<Group<'static>> {
    entry
        .shares()
        .into_iter()
        .map(|share| Group {
            shape: share.shape,
            motion,
            material: share.material.into(),
            count: (share.fraction * count as f64).round() as u64,
            radii: Some(share.radii),
        })
        .collect()
}

/// How many bodies are of some groups.
fn count_of(groups: &[Group<'_>], is_one: impl Fn(&Group<'_>) -> bool) -> u64 {
    groups.iter().filter(|group| is_one(group)).map(|group| group.count).sum()
}

/// How many of each shape, and how they move.
fn bodies(groups: &[Group<'_>]) -> String {
    let mut kinds: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for group in groups {
        let motion = match group.motion {
            Motion::Dynamic => "",
            Motion::Fixed => "fixed ",
            Motion::Kinematic => "moved ",
        };
        *kinds.entry((group.shape, motion)).or_default() += group.count;
    }
    let part = |(&(shape, motion), &count): (&(&str, &str), &u64)| {
        let shape = if count == 1 { shape.into() } else { shapes::plural(shape) };
        format!("{} {motion}{shape}", grouped(count))
    };
    let parts: Vec<String> = kinds.iter().map(part).collect();
    if parts.is_empty() { NO_BODIES.into() } else { parts.join(", ") }
}

fn radii(groups: &[Group<'_>]) -> String {
    let all = groups.iter().filter_map(|group| group.radii);
    let [least, most] = all.fold([f64::INFINITY, 0.0], |[a, b], [c, d]| [c.min(a), d.max(b)]);
    if least == most { format!("{} m", short(least)) } else { format!("{} to {} m", short(least), short(most)) }
}

/// What becomes of bodies that leave, unless they are kept.
fn outside(scene: &Scene) -> Option<String> {
    let fate = match scene.domain.outside {
        OutsideRule::Keep => return None,
        OutsideRule::Remove => "are removed",
        OutsideRule::Stop => "end the run",
    };
    let Outside { low, high, .. } = Outside::from(&scene.domain);
    Some(format!("bodies that leave the box from {} to {} m {fate}", vector(low), vector(high)))
}

/// How ranks share the scene.
fn share(scene: &Scene, ranks: u32) -> Result<String, SceneError> {
    let place = || Location::Whole(format!("scene \"{}\"", scene.name));
    let fault = |error: PartitionError| SceneError::new(place(), "domain", error.to_string());
    let domain = &scene.domain;
    scene.check_room(ranks as usize)?;
    if domain.chosen().map_err(fault)? == PartitionName::Morton {
        return Ok(format!("{} ranges of the Morton curve", grouped(ranks.into())));
    }
    let cell = domain.cell(&scene.extent()).map_err(fault)?;
    let blocks = domain.blocks_on(ranks as usize, &cell);
    Cartesian::new(ranks as usize, 0, blocks, cell.low, cell.high, domain.periodic).map_err(fault)?;
    let [x, y, z] = blocks;
    let size = (cell.high - cell.low) / DVec3::from(blocks.map(f64::from));
    Ok(format!("{x} x {y} x {z} blocks of {} m", vector(size)))
}

/// What a rank needs, if bodies are shared equally.
fn memory(groups: &[Group<'_>], ranks: u32) -> String {
    let bodies = count_of(groups, |group| group.radii.is_some());
    let spheres = count_of(groups, |group| group.shape == "sphere");
    let bytes_of_all = spheres * BYTES_A_SPHERE + (bodies - spheres).saturating_mul(BYTES_A_SOLID);
    let mean = bytes_of_all as f64 / bodies.max(1) as f64;
    let own = bodies.div_ceil(ranks.into());
    // Copies of others: half a layer about a cube of bodies.
    let copies = if ranks > 1 { ((own as f64).cbrt() + 1.0).powi(3) - own as f64 } else { 0.0 };
    let each = (mean * (own as f64 + copies)) as u64 + BYTES_AT_LEAST;
    let close = "if the bodies come to lie close";
    if ranks == 1 {
        return format!("about {}, {close}", bytes(each));
    }
    let all = each.saturating_mul(ranks.into());
    let own = counted(own, "body", "bodies");
    format!("about {} a rank with {own}, {} in all, {close}", bytes(each), bytes(all))
}

/// The law of every pair of materials, exceptions marked.
fn pairs(scene: &Scene) -> Vec<String> {
    let materials = Materials::new(scene.material.clone(), scene.pair_rule, &scene.pair);
    let mut lines = Vec::new();
    for (i, a) in scene.material.iter().enumerate() {
        for (j, b) in scene.material.iter().enumerate().skip(i) {
            let law = materials.pair(i as u16, j as u16);
            let names = [a.name.as_str(), b.name.as_str()];
            let told = |pair: &[String; 2]| pair == &names || (pair[0] == names[1] && pair[1] == names[0]);
            let mark = if scene.pair.iter().any(|p| told(&p.materials)) { " (exception)" } else { "" };
            let sticks = if law.friction < MOST_FRICTION { "" } else { " (the most there is: nothing slides)" };
            lines.push(format!(
                "{} on {}: friction {}{sticks}, restitution {}{mark}",
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
    let integrator = scene.time.integrator.name();
    let Some((h, steps)) = scene.time.step.fixed().zip(scene.time.steps()) else {
        let (accuracy, end) = (short(scene.time.accuracy), short(scene.time.end));
        return format!("steps chosen on the way (auto, accuracy {accuracy}) to {end} s, integrator {integrator}");
    };
    let reached = steps as f64 * h;
    let off = reached - scene.time.end;
    let off = if off.abs() > 1e-6 * h {
        let side = if off < 0.0 { "before" } else { "after" };
        format!(", {} s {side} its end, which is no multiple of the step", short(off.abs()))
    } else {
        String::new()
    };
    format!(
        "{} of {} s to {} s{off}, integrator {integrator}",
        counted(steps, "step", "steps"),
        short(h),
        short(reached)
    )
}

fn solver(scene: &Scene) -> String {
    let solver = &scene.solver;
    format!(
        "{}, {} friction, to a residual ({}) of {:e}, at most {}, {} start",
        solver.name.name(),
        solver.law().name(),
        format!("{:?}", solver.criterion).to_lowercase(),
        solver.tolerance,
        counted(solver.max_iterations.into(), "iteration", "iterations"),
        if solver.warm_start { "warm" } else { "cold" }
    )
}

fn output(scene: &Scene, points: u64) -> String {
    let count = frame_count(scene);
    let size = frame_bytes(points as usize, FrameOptions::of(scene).shapes);
    let contacts = if scene.output.contacts { ", and contacts" } else { "" };
    let compression = match scene.output.compression {
        Compression::None => "",
        Compression::Lz4 | Compression::Zlib => " before compression",
    };
    let each = bytes(size);
    let all = bytes(size.saturating_mul(count));
    let frames = counted(count, "frame", "frames");
    format!("{frames} of {each} of bodies{contacts}, {all} of bodies in all{compression}")
}

fn vector(v: DVec3) -> String {
    format!("({}, {}, {})", short(v.x), short(v.y), short(v.z))
}

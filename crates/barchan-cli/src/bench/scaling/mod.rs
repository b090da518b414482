//! `scaling`: what the papers' machines and a million ranks would make of it, by a model that is fed
//! with counts and times of this run. `docs/scaling.md` tells what it says.

mod machines;
mod model;
mod papers;

use super::weak::{Count, State, count, fixed, seconds};
use super::{Context, Figures, figures, settled};
use crate::failure::{Failure, note};
use barchan::cone::solver::SolverName;
use barchan::partition::{DomainOptions, PartitionName};
use machines::{FLUX, GREAT_LAKES, KnownMachine, TODAY};
use model::{Costs, Layout, Machine, Protocol, Reducing, Time, calibrate, efficiency};
use papers::{EXPERIMENTS, Experiment, PaperProblem, PaperRun};
use serde_json::{Value, json};

/// A scene as the model sees it.
#[derive(Clone, Copy)]
struct Measured {
    costs: Costs,
    protocol: Protocol,
    depth: f64,
    contacts_a_body: f64,
    sweeps: f64,
    periodic: [bool; 3],
}

/// What a body and a contact take, by one rank of one thread.
fn costs(state: &State) -> Result<(Costs, f64), Failure> {
    let (Count { bodies, contacts, .. }, [step, sweep]) = seconds(state)?;
    Ok((Costs { body: step / bodies, contact: sweep / contacts.max(1.0) }, contacts / bodies))
}

/// The mean of all ranks.
fn mean(counts: &[Count], of: impl Fn(&Count) -> f64) -> f64 {
    counts.iter().map(of).sum::<f64>() / counts.len() as f64
}

fn protocol(counts: &[Count]) -> Protocol {
    let sweep = |c: &Count| c.sweep.unwrap_or_default();
    let copies = mean(counts, |c| c.copies);
    let neighbours = mean(counts, |c| c.neighbours);
    let links = mean(counts, |c| c.links);
    Protocol {
        exchanges: [mean(counts, |c| c.step.messages) / neighbours, mean(counts, |c| sweep(c).messages) / links],
        bytes: [mean(counts, |c| c.step.bytes) / copies, mean(counts, |c| sweep(c).bytes) / copies],
        reductions: [mean(counts, |c| c.step.reductions), mean(counts, |c| sweep(c).reductions)],
    }
}

/// The granular gas: copies of a cube whose neighbours are on all sides.
fn gas() -> Result<Measured, Failure> {
    let side = 8usize;
    let counts = count(&State::gas(side, 27, true)?, 27)?;
    let bodies = (side as f64).powi(3);
    let copies = mean(&counts, |c| c.copies);
    let depth = 0.5 * ((bodies + copies).cbrt() - side as f64);
    let (costs, contacts_a_body) = costs(&State::gas(25, 1, false)?)?;
    Ok(Measured { costs, protocol: protocol(&counts), depth, contacts_a_body, sweeps: 10.0, periodic: [false; 3] })
}

/// The hexagonal packing: copies of a column whose neighbours are around it.
fn packing() -> Result<Measured, Failure> {
    let side = 8usize;
    let counts = count(&State::packing(side, 16)?, 16)?;
    let bodies = (side as f64).powi(3);
    let copies = mean(&counts, |c| c.copies);
    let depth = 0.5 * (((bodies + copies) / side as f64).sqrt() - side as f64);
    let (costs, contacts_a_body) = costs(&State::packing(10, 1)?)?;
    let periodic = [true, true, false];
    Ok(Measured { costs, protocol: protocol(&counts), depth, contacts_a_body, sweeps: 100.0, periodic })
}

/// The settled bed with APGD on Morton ranges, as S1 has it; and how many more copies than blocks
/// those make.
fn bed(context: &Context) -> Result<(Measured, f64), Failure> {
    let divided = |partition| DomainOptions { partition, ..DomainOptions::default() };
    let mut state = State {
        world: settled::bed(25_000, &context.cache)?,
        domain: divided(PartitionName::Cartesian),
        options: fixed(settled::options()?, SolverName::Apgd),
    };
    let (costs, contacts_a_body) = costs(&state)?;
    let blocks = mean(&count(&state, 8)?, |c| c.copies);
    state.domain = divided(PartitionName::Morton);
    let counts = count(&state, 8)?;
    let protocol = protocol(&counts);
    let sweeps = 0.0;
    let periodic = [false; 3];
    let excess = mean(&counts, |c| c.copies) / blocks;
    Ok((Measured { costs, protocol, depth: 0.0, contacts_a_body, sweeps, periodic }, excess))
}

impl Measured {
    fn layout(&self, run: PaperRun) -> Layout {
        let Self { depth, contacts_a_body, sweeps, periodic, .. } = *self;
        Layout { ranks: run.0, block: run.1, periodic, contacts_a_body, sweeps, depth }
    }

    /// The protocol of S4, which has a fixed number of sweeps: no reductions, and one sum over copies
    /// before the first sweep where we have three around them.
    fn of_s4(&self) -> Protocol {
        let Protocol { exchanges, bytes, .. } = self.protocol;
        Protocol {
            exchanges: [1.0 + exchanges[1], exchanges[1]],
            bytes: [(bytes[0] - 2.0 * bytes[1]).max(0.0), bytes[1]],
            reductions: [0.0; 2],
        }
    }
}

/// How many times slower a rank is there, by the share of its node's memory bandwidth that it has.
fn slowness(context: &Context, place: &KnownMachine) -> f64 {
    let here = context.triad.all / rayon::current_num_threads() as f64;
    place.triad.map_or(1.0, |triad| here / (triad / f64::from(place.machine.ranks_a_node)))
}

/// Seconds of computing a body and step with which the paper's own run becomes as efficient as it was.
fn calibrated(e: &Experiment, scene: &Measured) -> Option<f64> {
    let free = Costs { body: 0.0, contact: 0.0 };
    let step = |run: PaperRun| e.place.machine.step(&scene.layout(run), &free, &scene.of_s4());
    let compute = calibrate(&step(e.base), &step(e.run), e.measured)?;
    Some(compute / scene.layout(e.run).bodies())
}

fn per_cent(x: f64) -> String {
    format!("{:.1} %", 100.0 * x)
}

/// S4's efficiencies, and what the model makes of its protocol and of ours.
fn s4(context: &Context, scene: impl Fn(PaperProblem) -> Measured) -> Value {
    let mut rows = vec![json!([
        "machine",
        "problem",
        "run",
        "S4",
        "model of S4",
        "Barchan there",
        "its ms a step",
        "computing",
        "neighbours",
        "reductions"
    ])];
    for e in EXPERIMENTS {
        let scene = scene(e.problem);
        let share = scene.layout(e.run).bodies() / scene.layout(e.base).bodies();
        let of = |costs: &Costs, protocol: &Protocol| {
            let step = |run: PaperRun| e.place.machine.step(&scene.layout(run), costs, protocol);
            (efficiency(&step(e.base), share, &step(e.run)), step(e.run))
        };
        let source = EXPERIMENTS
            .iter()
            .find(|o| o.calibrates && o.place.name == e.place.name && o.problem == e.problem)
            .and_then(|o| calibrated(o, &scene));
        let theirs = source.map(|body| of(&Costs { body, contact: 0.0 }, &scene.of_s4()).0);
        let theirs = match theirs {
            Some(_) if e.calibrates => format!("calibrates: {:.2} µs a body", 1e6 * source.unwrap_or_default()),
            Some(found) => per_cent(found),
            None => "messages cannot explain it".into(),
        };
        let (ours, time) = of(&scene.costs.slower(slowness(context, e.place)), &scene.protocol);
        let problem = if e.problem == PaperProblem::Gas { "granular-gas" } else { "hexagonal-packing" };
        let mut row = vec![json!(e.place.name), json!(problem), json!(e.text), json!(per_cent(e.measured))];
        row.extend([json!(theirs), json!(per_cent(ours))]);
        row.extend(parts(&time));
        rows.push(row.into());
    }
    rows.into()
}

/// Milliseconds of a step, and of its parts.
fn parts(time: &Time) -> impl Iterator<Item = Value> {
    [time.total(), time.compute, time.neighbours, time.reductions].into_iter().map(|s| json!(format!("{:.3}", 1e3 * s)))
}

/// Blocks of S1's shallow box, in distances between spheres at 19.4 %: half a million.
const S1_BLOCK: [f64; 3] = [152.0, 152.0, 21.6];
/// A radius and the margin, in the same.
const S1_DEPTH: f64 = 0.37;

/// S1's weak scaling on Great Lakes (its Table II) and its largest run, on Flux.
fn s1(bed: &Measured, excess: f64) -> Value {
    let layout = |ranks, contacts_a_body, sweeps| Layout {
        contacts_a_body,
        sweeps,
        depth: excess * S1_DEPTH,
        ..bed.layout((ranks, S1_BLOCK))
    };
    let step = |place: &KnownMachine, layout: Layout| place.machine.step(&layout, &bed.costs, &bed.protocol);
    let mut rows = vec![json!(["machine", "run", "S1", "model", "its s a step", "talk of it"])];
    let base = step(&GREAT_LAKES, layout([2, 2, 1], 2.41, 713.0));
    for (ranks, cores, iterations) in [([4, 4, 1], 16, 748.0), ([8, 8, 1], 64, 836.0), ([16, 16, 1], 256, 832.0)] {
        let same = efficiency(&base, 1.0, &step(&GREAT_LAKES, layout(ranks, 2.41, 713.0)));
        let time = step(&GREAT_LAKES, layout(ranks, 2.41, iterations));
        rows.push(json!([
            GREAT_LAKES.name,
            format!("weak, 500 000 a rank, {cores} cores, {iterations} iterations against 713 on 4"),
            if cores == 256 { "above 50 %" } else { "" },
            format!("{} ({} with the same iterations)", per_cent(efficiency(&base, 1.0, &time)), per_cent(same)),
            format!("{:.1}", time.total()),
            per_cent(time.talk() / time.total()),
        ]));
    }
    // Iterations of that run are not given; 298 are, for half of it at the same tolerance.
    let time = step(&FLUX, layout([32, 16, 1], 1.27, 298.0));
    rows.push(json!([
        FLUX.name,
        "256 million on 512 cores, 298 iterations",
        "1 560 s a step",
        "",
        format!("{:.1}", time.total()),
        per_cent(time.talk() / time.total()),
    ]));
    rows.into()
}

/// Threads of a rank that takes the place of as many ranks.
const THREADS: f64 = 16.0;

/// A million cores: as it is, with fewer reductions, with a network that makes them, and with ranks of
/// several threads.
fn million(gas: &Measured, packing: &Measured) -> Value {
    let heads = ["run", "how", "efficiency", "ms a step", "computing", "neighbours", "reductions"];
    let mut rows = vec![json!(heads)];
    let cases = [
        ("granular-gas 10³ a core, 10 sweeps", gas, [10.0; 3]),
        ("granular-gas 25³ a core, 10 sweeps", gas, [25.0; 3]),
        ("hexagonal-packing 10³ a core, 100 sweeps", packing, [10.0; 3]),
        ("hexagonal-packing 5·5·10 a core, 100 sweeps", packing, [5.0, 5.0, 10.0]),
    ];
    for (text, scene, block) in cases {
        // Divided along three axes, or along two: a node, and all.
        let flat = scene.periodic[0];
        let one: [[u32; 3]; 2] = if flat { [[16, 8, 1], [1000, 1000, 1]] } else { [[8, 4, 4], [100; 3]] };
        let wide: [[u32; 3]; 2] = if flat { [[4, 2, 1], [250, 250, 1]] } else { [[2; 3], [50, 50, 25]] };
        let times = if flat { [4.0, 4.0, 1.0] } else { [2.0, 2.0, 4.0] };
        let larger: [f64; 3] = std::array::from_fn(|axis| times[axis] * block[axis]);
        let as_it_is = scene.protocol;
        let here = TODAY.machine;
        let [a_step, a_sweep] = as_it_is.reductions;
        let fewer = Protocol { reductions: [1.0, 0.1], ..as_it_is };
        let network = Machine { reducing: Reducing::Flat(10.25e-6), ..here };
        let sixteenth = Machine { ranks_a_node: here.ranks_a_node / THREADS as u32, ..here };
        let shared = scene.costs.slower(1.0 / THREADS);
        let ways = [
            (format!("{a_step:.0} reductions a step, {a_sweep:.1} a sweep"), as_it_is, here, one, block, scene.costs),
            ("one a step, one in ten sweeps".into(), fewer, here, one, block, scene.costs),
            ("as in the first row, made by the network".into(), as_it_is, network, one, block, scene.costs),
            (format!("as in the first row, {THREADS} threads a rank"), as_it_is, sixteenth, wide, larger, shared),
            (
                format!("one a step, one in ten sweeps, {THREADS} threads a rank"),
                fewer,
                sixteenth,
                wide,
                larger,
                shared,
            ),
        ];
        for (how, protocol, machine, [node, all], block, costs) in ways {
            let step = |ranks| machine.step(&scene.layout((ranks, block)), &costs, &protocol);
            let base = step(node);
            let time = step(all);
            let mut row = vec![json!(text), json!(how), json!(per_cent(efficiency(&base, 1.0, &time)))];
            row.extend(parts(&time));
            rows.push(row.into());
        }
    }
    rows.into()
}

/// What each solver says: on the packing, on 16 ranks.
fn solvers() -> Result<Value, Failure> {
    let mut rows = vec![json!([
        "solver",
        "exchanges a step",
        "a sweep",
        "bytes a copy and step",
        "a sweep",
        "reductions a step",
        "a sweep"
    ])];
    let mut state = State::packing(8, 16)?;
    for solver in [SolverName::Nbgs, SolverName::AcceleratedGs, SolverName::Apgd] {
        state.options = fixed(state.options, solver);
        let Protocol { exchanges, bytes, reductions } = protocol(&count(&state, 16)?);
        let mut row = vec![json!(solver.name())];
        row.extend([exchanges, bytes, reductions].into_iter().flatten().map(|x| json!(format!("{x:.2}"))));
        rows.push(row.into());
    }
    Ok(rows.into())
}

/// The inputs, as they were measured.
fn inputs(scenes: &[(&str, &Measured)]) -> Value {
    let mut rows = vec![json!([
        "scene, solver",
        "ns a body and step",
        "ns a contact and sweep",
        "contacts a body",
        "reach of copies",
        "exchanges a step, a sweep",
        "bytes a copy, a step, a sweep",
        "reductions a step, a sweep"
    ])];
    for (text, m) in scenes {
        let two = |[a, b]: [f64; 2]| format!("{a:.2}, {b:.2}");
        rows.push(json!([
            text,
            format!("{:.0}", 1e9 * m.costs.body),
            format!("{:.1}", 1e9 * m.costs.contact),
            format!("{:.3}", m.contacts_a_body),
            if m.depth > 0.0 { format!("{:.2}", m.depth) } else { String::new() },
            two(m.protocol.exchanges),
            two(m.protocol.bytes),
            two(m.protocol.reductions),
        ]));
    }
    rows.into()
}

pub(super) fn run(context: &Context) -> Result<Figures, Failure> {
    note("  counting messages and timing a step");
    let gas = gas()?;
    let packing = packing()?;
    let (bed, excess) = bed(context)?;
    let scenes = [("granular-gas, nbgs", &gas), ("hexagonal-packing, nbgs", &packing), ("bed, apgd", &bed)];
    Ok(figures(json!({
        "inputs": inputs(&scenes),
        "inputs: copies of Morton ranges against blocks": excess,
        "inputs: solvers": solvers()?,
        "predicted: S4": s4(context, |problem| if problem == PaperProblem::Gas { gas } else { packing }),
        "predicted: S1": s1(&bed, excess),
        "predicted: a million cores": million(&gas, &packing),
    })))
}

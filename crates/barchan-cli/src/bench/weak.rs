//! Weak scaling: what a rank holds and says while ranks and bodies grow together (S4 7.5).
//!
//! Counts tell it on a machine of any size. Two states are counted: a granular gas that has mixed,
//! in blocks of three dimensions, and the hexagonal packing, which S4 divides along two. A rank in
//! the middle has 26 neighbours, or 8. In a box there are none of those up to 2 ranks along each
//! axis, so means go on growing towards theirs; a periodic cell has no borders, and all is flat from
//! 3 along each axis on.

use super::named;
use super::parts::{failed, on_ranks};
use crate::failure::Failure;
use barchan::cone::solver::SolverName;
use barchan::partition::{DomainOptions, PartitionName};
use barchan::scene::Scene;
use barchan::step::{Simulation, StepOptions};
use barchan::world::World;
use serde_json::{Value, json};
use std::time::Instant;

/// Steps of a gas until it has mixed, half of S4's run: grains start on a grid, out of reach of each
/// other and of the borders between ranks.
const MIXING: usize = 500;
/// Steps that are counted, after one in which copies are made.
const STEPS: usize = 8;
/// Two numbers of sweeps: their difference tells what a sweep takes.
const SWEEPS: [u32; 2] = [10, 20];
/// The same for seconds, which are not as exact as counts.
const TIMED_SWEEPS: [u32; 2] = [10, 110];
/// More ranks than that share cores here, and their time means nothing.
const TIMED: usize = 2;
/// By how much counts may differ and still be called flat, in the mean and of the busiest rank: grains
/// of a gas come and go, and among more ranks one has more of them.
const FLAT: [f64; 2] = [0.1, 0.2];

/// A state to be divided among ranks, and how.
pub(super) struct State {
    pub(super) world: World,
    pub(super) domain: DomainOptions,
    pub(super) options: StepOptions,
}

impl State {
    /// The state of a scene after some steps of one process, to be stepped by `solver`.
    pub(super) fn of(scene: &Scene, steps: usize, solver: SolverName) -> Result<Self, Failure> {
        let mut simulation = Simulation::from_scene(scene)?;
        for _ in 0..steps {
            simulation.step()?;
        }
        let domain = DomainOptions { partition: PartitionName::Cartesian, ..scene.domain };
        Ok(Self { world: simulation.world, domain, options: fixed(StepOptions::from(scene), solver) })
    }

    /// A granular gas that has mixed, a cube of `per_rank` grains along each side for every rank.
    pub(super) fn gas(per_rank: usize, ranks: usize, periodic: bool) -> Result<Self, Failure> {
        let periodic = if periodic { "1" } else { "0" };
        let set = [
            ("per_rank", &*per_rank.to_string()),
            ("ranks", &ranks.to_string()),
            ("periodic", periodic),
            ("clumps", "0"),
        ];
        Self::of(&named("granular-gas", &set)?, MIXING, SolverName::Nbgs)
    }

    /// The hexagonal packing.
    pub(super) fn packing(per_rank: usize, ranks: usize) -> Result<Self, Failure> {
        let set = [("per_rank", &*per_rank.to_string()), ("ranks", &ranks.to_string())];
        let mut state = Self::of(&named("hexagonal-packing", &set)?, 1, SolverName::Nbgs)?;
        let blocks = sides(ranks);
        state.domain.blocks = Some([ranks as u32 / blocks, blocks, 1]);
        Ok(state)
    }
}

/// The largest divisor up to the root.
fn sides(ranks: usize) -> u32 {
    let ranks = ranks as u32;
    (1..=ranks).take_while(|n| n * n <= ranks).filter(|n| ranks.is_multiple_of(*n)).last().unwrap_or(1)
}

/// Options with which a solve takes all the sweeps that it may.
pub(super) fn fixed(mut options: StepOptions, solver: SolverName) -> StepOptions {
    options.solver.name = solver;
    options.solver.tolerance = 1e-14;
    options
}

/// What a rank has sent, or a part of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sent {
    pub(super) messages: f64,
    pub(super) bytes: f64,
    pub(super) reductions: f64,
}

impl Sent {
    /// (self − other) / by.
    fn less(self, other: Self, by: f64) -> Self {
        Self {
            messages: (self.messages - other.messages) / by,
            bytes: (self.bytes - other.bytes) / by,
            reductions: (self.reductions - other.reductions) / by,
        }
    }

    fn times(self, factor: f64) -> Self {
        Self::default().less(self, -1.0 / factor)
    }
}

/// What a rank holds and says.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Count {
    pub(super) bodies: f64,
    pub(super) copies: f64,
    pub(super) contacts: f64,
    /// Ranks that it sends to once a step.
    pub(super) neighbours: f64,
    /// Those of them with which it shares bodies, and sums over copies.
    pub(super) links: f64,
    /// A step without its sweeps.
    pub(super) step: Sent,
    /// A sweep; `None` where solves had nothing to do.
    pub(super) sweep: Option<Sent>,
    /// Seconds a step with the fewer sweeps: the best of all steps.
    seconds: f64,
}

/// One run: what was there at its end, traffic and iterations a step.
fn sample(simulation: &mut Simulation) -> Result<(Count, f64), String> {
    let mut before = Sent::default();
    let mut iterations = 0;
    let mut seconds = f64::INFINITY;
    let sent = |simulation: &mut Simulation| {
        let traffic = simulation.domain().map(|domain| domain.traffic()).unwrap_or_default();
        Sent { messages: traffic.messages as f64, bytes: traffic.bytes as f64, reductions: traffic.reductions as f64 }
    };
    for step in 0..=STEPS {
        let start = Instant::now();
        let report = simulation.step().map_err(|e| e.to_string())?;
        if step == 0 {
            before = sent(simulation);
        } else {
            iterations += report.solver.iterations;
            seconds = seconds.min(start.elapsed().as_secs_f64());
        }
    }
    let all = sent(simulation).less(before, STEPS as f64);
    let bodies = simulation.world.bodies.owned_bounded_len();
    let contacts = simulation.contacts().len();
    let domain = simulation.domain().map(|domain| (domain.ghosts(), domain.neighbours(), domain.links()));
    let (copies, neighbours, links) = domain.unwrap_or_default();
    let count = Count {
        bodies: bodies as f64,
        copies: copies as f64,
        contacts: contacts as f64,
        neighbours: neighbours as f64,
        links: links as f64,
        step: all,
        seconds,
        ..Count::default()
    };
    Ok((count, f64::from(iterations) / STEPS as f64))
}

/// Two runs with different numbers of sweeps: what each rank counted, and iterations a step.
fn two_runs(state: &State, ranks: usize, sweeps: [u32; 2]) -> Result<[Vec<(Count, f64)>; 2], Failure> {
    let run = |sweeps: u32| {
        let mut options = state.options;
        options.solver.max_iterations = sweeps;
        let parts = on_ranks(&state.world, &state.domain, options, ranks, sample)?;
        parts.into_iter().collect::<Result<Vec<_>, _>>().map_err(failed)
    };
    Ok([run(sweeps[0])?, run(sweeps[1])?])
}

/// What each rank of a state holds and says.
pub(super) fn count(state: &State, ranks: usize) -> Result<Vec<Count>, Failure> {
    let [few, many] = two_runs(state, ranks, SWEEPS)?;
    let separate = |(&(mut count, few), &(with_more, many)): (&(Count, f64), &(Count, f64))| {
        count.sweep = (many > few).then(|| with_more.step.less(count.step, many - few));
        count.step = count.step.less(count.sweep.unwrap_or_default().times(few), 1.0);
        count
    };
    Ok(few.iter().zip(&many).map(separate).collect())
}

/// What one rank takes for a step without sweeps, and for a sweep.
pub(super) fn seconds(state: &State) -> Result<(Count, [f64; 2]), Failure> {
    let [few, many] = two_runs(state, 1, TIMED_SWEEPS)?.map(|run| run[0]);
    let more = many.1 - few.1;
    let sweep = if more > 0.0 { ((many.0.seconds - few.0.seconds) / more).max(0.0) } else { 0.0 };
    Ok((few.0, [(few.0.seconds - few.1 * sweep).max(0.0), sweep]))
}

/// Mean and largest over ranks.
fn over(counts: &[Count], of: impl Fn(&Count) -> f64 + Clone) -> [f64; 2] {
    let values = counts.iter().map(of);
    [values.clone().sum::<f64>() / counts.len() as f64, values.fold(0.0, f64::max)]
}

/// Bytes a neighbour that there is.
fn each(bytes: f64, neighbours: f64) -> f64 {
    if neighbours > 0.0 { bytes / neighbours } else { 0.0 }
}

const HEADS: [&str; 12] = [
    "ranks",
    "bodies",
    "copies",
    "contacts",
    "neighbours",
    "sharing",
    "messages a step",
    "a sweep",
    "bytes a neighbour a step",
    "a sweep",
    "reductions a step, a sweep",
    "ms a step",
];

/// A row of the table: mean and largest of each.
fn row(ranks: usize, counts: &[Count]) -> Value {
    let sweep = |count: &Count| count.sweep.unwrap_or_default();
    let show = |[mean, largest]: [f64; 2], digits: usize| format!("{mean:.digits$}, {largest:.digits$}");
    let seconds = (ranks <= TIMED).then(|| format!("{:.2}", 1e3 * over(counts, |c| c.seconds)[1]));
    let reductions = [over(counts, |c| c.step.reductions)[1], over(counts, |c| sweep(c).reductions)[1]];
    json!([
        ranks,
        show(over(counts, |c| c.bodies), 0),
        show(over(counts, |c| c.copies), 0),
        show(over(counts, |c| c.contacts), 0),
        show(over(counts, |c| c.neighbours), 1),
        show(over(counts, |c| c.links), 1),
        show(over(counts, |c| c.step.messages), 1),
        show(over(counts, |c| sweep(c).messages), 1),
        show(over(counts, |c| each(c.step.bytes, c.neighbours)), 0),
        show(over(counts, |c| each(sweep(c).bytes, c.links)), 0),
        show(reductions, 1),
        seconds,
    ])
}

/// One of the numbers of a rank.
type Part = fn(&Count) -> f64;

/// Says how far what the busiest rank holds and sends has grown over a table of runs that all have
/// ranks in the middle.
fn flatness(runs: &[(usize, Vec<Count>)], inside: f64) -> String {
    let whole: Vec<_> = runs
        .iter()
        .filter_map(|(ranks, counts)| {
            let counts: Vec<Count> = counts.iter().copied().filter(|count| count.neighbours == inside).collect();
            (!counts.is_empty()).then_some((*ranks, counts))
        })
        .collect();
    let (Some((few, first)), Some((many, last))) = (whole.first(), whole.last()) else {
        return format!("no run has ranks with {inside} neighbours");
    };
    let parts: [(&str, Part); 4] = [
        ("copies", |c| c.copies),
        ("messages a step", |c| c.step.messages),
        ("bytes a step", |c| c.step.bytes),
        ("bytes a sweep", |c| c.sweep.unwrap_or_default().bytes),
    ];
    let growth = parts.map(|(name, of)| {
        let ratio = |k: usize| match (over(first, of)[k], over(last, of)[k]) {
            (0.0, 0.0) => 1.0,
            (first, last) => last / first,
        };
        (name, ratio(0), ratio(1))
    });
    let is_flat = growth.iter().all(|(_, mean, largest)| (mean - 1.0).abs() <= FLAT[0] && *largest <= 1.0 + FLAT[1]);
    let told: Vec<_> = growth.iter().map(|(name, mean, largest)| format!("{name} {mean:.2}, {largest:.2}")).collect();
    let verdict = if is_flat { "flat" } else { "not flat" };
    format!(
        "{verdict}: ranks with {inside} neighbours of {many} ranks against those of {few}, mean (within {:.0} %) and \
         largest ({:.0} %): {}",
        100.0 * FLAT[0],
        100.0 * FLAT[1],
        told.join("; ")
    )
}

/// A scene that grows with the ranks.
struct Growing {
    text: &'static str,
    state: fn(usize) -> Result<State, Failure>,
    ranks: &'static [usize],
    /// Neighbours of a rank in the middle.
    inside: f64,
    expected: &'static str,
}

/// Bodies of a rank along each axis.
const SIDE: usize = 8;

const SCENES: [Growing; 3] = [
    Growing {
        text: "granular-gas 8³ a rank, box",
        state: |ranks| State::gas(SIDE, ranks, false),
        ranks: &[1, 2, 4, 8, 16, 27, 32, 64],
        inside: 26.0,
        expected: "means grow with the share of ranks in the middle (1 of 27, 8 of 64); those in the middle stay as they are",
    },
    Growing {
        text: "granular-gas 8³ a rank, periodic cell",
        state: |ranks| State::gas(SIDE, ranks, true),
        ranks: &[1, 2, 4, 8, 16, 27, 32, 64],
        inside: 26.0,
        expected: "copies are flat from 8 ranks on, neighbours are 26 with 3 ranks or more along each axis (27, 64)",
    },
    Growing {
        text: "hexagonal-packing 8³ a rank",
        state: |ranks| State::packing(SIDE, ranks),
        ranks: &[1, 2, 4, 8, 16, 36, 64],
        inside: 8.0,
        expected: "divided along two axes: flat from 4 ranks on, neighbours are 8 with 3 ranks or more along both (16, 36, 64)",
    },
];

/// Weak scaling of all scenes: a table each, what is expected, and whether it is so.
pub(super) fn run() -> Result<Value, Failure> {
    let mut tables = serde_json::Map::new();
    for scene in SCENES {
        let mut rows = vec![json!(HEADS)];
        let mut runs = Vec::new();
        for &ranks in scene.ranks {
            let counts = count(&(scene.state)(ranks)?, ranks)?;
            rows.push(row(ranks, &counts));
            runs.push((ranks, counts));
        }
        let verdict = flatness(&runs, scene.inside);
        tables.insert(
            scene.text.into(),
            json!({ "mean, largest of a rank": rows, "expected": scene.expected, "found": verdict }),
        );
    }
    Ok(tables.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(copies: &[f64]) -> Vec<Count> {
        copies.iter().map(|&copies| Count { copies, neighbours: 8.0, ..Count::default() }).collect()
    }

    #[test]
    fn growth_is_told_and_noise_is_not() {
        let runs = |last: &[f64]| vec![(9, counts(&[100.0, 104.0])), (16, counts(last))];
        assert!(flatness(&runs(&[98.0, 108.0]), 8.0).starts_with("flat"));
        assert!(flatness(&runs(&[120.0, 121.0]), 8.0).starts_with("not flat"));
        assert!(flatness(&runs(&[98.0, 98.0, 98.0, 130.0]), 8.0).starts_with("not flat"));
        assert!(flatness(&runs(&[98.0]), 26.0).starts_with("no run"));
    }

    #[test]
    fn a_sweep_is_the_difference_of_two_runs() {
        let state = State::packing(4, 4).unwrap();
        for count in count(&state, 4).unwrap() {
            let sweep = count.sweep.unwrap();
            assert_eq!((count.links, sweep.messages), (3.0, 6.0));
            // Up and down, 48 bytes a copy; what a rank holds of others, others hold of it.
            assert!((sweep.bytes / count.copies - 96.0).abs() < 40.0, "{sweep:?} {count:?}");
            assert!(count.step.bytes > sweep.bytes);
        }
    }
}

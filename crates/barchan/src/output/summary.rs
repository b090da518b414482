//! `summary.json` for programs and a table for people: what the run was, what came out, and
//! whether to trust it.

use super::atomic::write_whole;
use super::human::{bytes, counted, duration, grouped, short};
use super::{ByRank, OutputError};
use crate::dynamics::StepLength;
use crate::narrow::Penetration;
use crate::world::Energy;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

/// A run in numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Version of the engine.
    pub version: String,
    /// Name of the scenario.
    pub scenario: String,
    /// Bodies at the end.
    pub bodies: u64,
    /// Contacts of the last step.
    pub contacts: u64,
    /// Steps taken.
    pub steps: u64,
    /// Simulated time.
    #[serde(deserialize_with = "number_or_nan")]
    pub time: f64,
    /// Threads a rank.
    pub threads: u64,
    /// Ranks.
    pub ranks: u64,
    /// Hash of the final state: sixteen hexadecimal digits, see [`hash_text`].
    pub state_hash: String,
    /// Energy at the end.
    #[serde(deserialize_with = "energy_or_nan")]
    pub energy: Energy,
    /// Deepest penetration of the last step.
    #[serde(deserialize_with = "number_or_nan")]
    pub max_penetration: f64,
    /// Mean penetration of the last step.
    #[serde(deserialize_with = "number_or_nan")]
    pub mean_penetration: f64,
    /// The deepest penetration of the whole run.
    #[serde(default)]
    pub worst_overlap: WorstOverlap,
    /// How the run was stepped.
    #[serde(default)]
    pub stepping: SteppingSummary,
    /// How the solver did.
    pub solver: SolverSummary,
    /// Bodies that left the cell and were removed.
    #[serde(default)]
    pub lost: LostSummary,
    /// Where the time went.
    pub seconds: RunSeconds,
    /// Largest memory in use, in bytes.
    pub peak_rss_bytes: u64,
    /// Whether the run was stopped before its end.
    pub interrupted: bool,
    /// Why the run failed, if it did.
    #[serde(default)]
    pub failure: Option<String>,
    /// How often the run has gone on after it had stopped.
    #[serde(default)]
    pub restarts: u64,
    /// The step after which it has gone on last; 0 if it had to begin anew.
    #[serde(default)]
    pub restarted_at: Option<u64>,
    /// Checkpoints that could not be used then, and why.
    #[serde(default)]
    pub passed_over: Vec<String>,
    /// Checkpoints since then.
    #[serde(default)]
    pub checkpoints: CheckpointSummary,
    /// What each rank had and did; on rank 0, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_rank: Option<ByRank>,
}

/// Bodies that left the cell and were removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LostSummary {
    /// How many.
    pub bodies: u64,
    /// Their mass.
    #[serde(deserialize_with = "number_or_nan")]
    pub mass: f64,
    /// When the first of them left.
    pub first: Option<f64>,
    /// When the last of them left.
    pub last: Option<f64>,
}

impl LostSummary {
    /// Adds what a step has lost that ended at `time`.
    pub fn add(&mut self, bodies: u64, mass: f64, time: f64) {
        if bodies > 0 {
            self.bodies += bodies;
            self.mass += mass;
            self.first = self.first.or(Some(time));
            self.last = Some(time);
        }
    }

    /// In words; `None` if nothing was lost.
    fn in_words(&self) -> Option<String> {
        let [first, last] = [self.first?, self.last?].map(short);
        let when = if first == last { format!("at {last} s") } else { format!("from {first} to {last} s") };
        let bodies = counted(self.bodies, "body", "bodies");
        Some(format!("{bodies} of {} kg left the box and were removed, {when}", short(self.mass)))
    }
}

/// The overlap of a run that was deepest in terms of its bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorstOverlap {
    /// How deep, in the smaller radius of its two bodies.
    #[serde(deserialize_with = "number_or_nan")]
    pub radii: f64,
    /// The deepest penetration of that step, m.
    #[serde(deserialize_with = "number_or_nan")]
    pub depth: f64,
    /// The step that began with it.
    pub step: u64,
}

impl WorstOverlap {
    /// An overlap of more radii than this means that bodies start in each other, or that steps are too long.
    pub const ALARMING: f64 = 0.05;

    /// Takes the overlap with which a step began, if it is worse.
    pub fn add(&mut self, penetration: &Penetration, step: u64) {
        if penetration.relative > self.radii {
            *self = Self { radii: penetration.relative, depth: penetration.max, step };
        }
    }

    /// What a user must know; `None` if it is small.
    pub fn warning(&self) -> Option<String> {
        let advice = if self.step <= 1 { "bodies start in each other" } else { "the step may be too long" };
        (self.radii > Self::ALARMING).then(|| {
            let percent = short((100.0 * self.radii).round());
            format!("bodies overlapped by {percent} % of a radius at step {}: {advice}", grouped(self.step))
        })
    }
}

/// How a run was stepped.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SteppingSummary {
    /// Length of a step, s, or `"auto"`.
    pub step: StepLength,
    /// The lengths that steps had.
    #[serde(default)]
    pub lengths: LengthSummary,
    /// How positions follow from velocities.
    pub integrator: String,
    /// The friction law.
    pub friction: String,
}

/// How long the steps of a run were, and how long they should have been.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LengthSummary {
    /// The shortest, s; 0 before the first.
    pub shortest: f64,
    /// The longest, s.
    pub longest: f64,
    /// How often a fixed length was compared with what happened,
    pub looks: u64,
    /// how often it was far too long,
    pub coarse: u64,
    /// and the shortest length that was advised then, s.
    pub advised: Option<f64>,
}

impl LengthSummary {
    /// A step that is longer than the advised one by this factor is far too long.
    const COARSE: f64 = 4.0;
    /// Looks that may find it so, of all: single impacts do not matter.
    const EXCUSED: f64 = 0.05;

    /// Takes the length of a step, and the one that was advised for it, if that was looked at.
    pub fn add(&mut self, length: f64, advised: Option<f64>) {
        self.shortest = if self.longest > 0.0 { self.shortest.min(length) } else { length };
        self.longest = self.longest.max(length);
        self.looks += u64::from(advised.is_some());
        if let Some(advised) = advised.filter(|advised| length > Self::COARSE * advised) {
            self.coarse += 1;
            self.advised = Some(self.advised.map_or(advised, |least| least.min(advised)));
        }
    }

    /// Whether steps are too long for what happens.
    pub fn is_coarse(&self) -> bool {
        self.coarse as f64 > Self::EXCUSED * self.looks as f64
    }

    /// What a user must know; `None` if steps are short enough.
    pub fn warning(&self) -> Option<String> {
        let advised = self.advised.filter(|_| self.is_coarse())?;
        let percent = (100.0 * self.coarse as f64 / self.looks as f64).round();
        Some(format!(
            "the step of {} s was far too long for what happened in {} % of the run, where steps down to {:.1e} s were \
             needed: see time.step = \"auto\"",
            short(self.longest),
            short(percent),
            advised
        ))
    }

    /// In words, for steps that are so long by choice or by rule.
    fn in_words(&self, step: StepLength) -> String {
        match step {
            StepLength::Fixed(h) => format!("{} s a step", short(h)),
            StepLength::Auto => format!("steps of {} to {} s (auto)", short(self.shortest), short(self.longest)),
        }
    }
}

/// The checkpoints of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CheckpointSummary {
    /// Those that came to the disk.
    pub written: u64,
    /// The step of the last that did, those of before the run has gone on included.
    #[serde(default)]
    pub last: Option<u64>,
    /// Those that did not.
    pub failed: u64,
    /// Why the last of these did not.
    pub failure: Option<String>,
    /// The longest that the simulation waited for one, on several ranks also for the frames before it, in
    /// seconds.
    pub longest_pause: f64,
}

/// How the solver did over all steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SolverSummary {
    /// Its name.
    pub name: String,
    /// The solvers that it took, with the steps that each of them ended: itself, but for `auto`.
    pub taken: BTreeMap<String, u64>,
    /// Residual at which a step counts as converged.
    #[serde(deserialize_with = "number_or_nan")]
    pub tolerance: f64,
    /// Mean iterations a step.
    #[serde(deserialize_with = "number_or_nan")]
    pub iterations_mean: f64,
    /// Most iterations of a step.
    pub iterations_max: u64,
    /// Applications of the contact operator in all.
    pub operator_applications: u64,
    /// Starts that were dropped, because no impulses were a better one.
    #[serde(default)]
    pub cold_starts: u64,
    /// Worst residual of a step.
    #[serde(deserialize_with = "number_or_nan")]
    pub residual_max: f64,
    /// Steps that reached the tolerance.
    pub steps_converged: u64,
}

/// Seconds of wall-clock time, by stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunSeconds {
    /// Messages about bodies between ranks, and images.
    #[serde(default)]
    pub exchange: f64,
    /// Finding pairs.
    pub broad: f64,
    /// Finding contacts.
    pub narrow: f64,
    /// Solving for impulses.
    pub solve: f64,
    /// Moving bodies.
    pub integrate: f64,
    /// Writing.
    pub output: f64,
    /// Waiting for checkpoints, on several ranks also for the frames before them.
    #[serde(default)]
    pub checkpoint: f64,
    /// Building the world, or finding and reading a checkpoint.
    #[serde(default)]
    pub start: f64,
    /// Writing the page of the run, after all the rest: not part of the total, which the page itself tells.
    #[serde(default)]
    pub report: f64,
    /// All the rest.
    #[serde(default)]
    pub other: f64,
    /// From start to end, without the page.
    pub total: f64,
}

impl RunSeconds {
    /// All but the total. On one rank it is the total.
    pub fn sum(&self) -> f64 {
        let Self { output, checkpoint, start, other, .. } = *self;
        self.stepping() + output + checkpoint + start + other
    }

    /// Of the steps alone, without start and output.
    pub fn stepping(&self) -> f64 {
        self.exchange + self.broad + self.narrow + self.solve + self.integrate
    }

    /// In words: the total with the page, and what of it went where.
    fn in_words(&self) -> String {
        let total = self.total + self.report;
        let share = |stage: f64| if total > 0.0 { 100.0 * stage / total } else { 0.0 };
        // What is there always, and what is told if it matters.
        let stages = [
            ("broad", self.broad),
            ("narrow", self.narrow),
            ("solve", self.solve),
            ("integrate", self.integrate),
            ("output", self.output),
        ];
        let others = [
            ("exchange", self.exchange),
            ("checkpoints", self.checkpoint),
            ("start", self.start),
            ("report", self.report),
            ("other", self.other),
        ];
        let stages = stages.iter().chain(others.iter().filter(|(_, s)| share(*s) >= 0.5));
        let stages: Vec<_> = stages.map(|(name, s)| format!("{name} {:.0} %", share(*s))).collect();
        format!("{} ({})", duration(total), stages.join(", "))
    }
}

impl SolverSummary {
    /// In words.
    fn in_words(&self) -> String {
        let others = self.taken.keys().filter(|name| **name != self.name);
        let others: Vec<_> = others.map(String::as_str).collect();
        let choice = if others.is_empty() { String::new() } else { format!(" took {}", others.join(" and ")) };
        let cold = match self.cold_starts {
            0 => String::new(),
            starts => format!(", {}", counted(starts, "start dropped", "starts dropped")),
        };
        format!(
            "{}{choice}: {:.1} iterations a step (most {}){cold}, worst residual {:.1e}, tolerance {:e}",
            self.name, self.iterations_mean, self.iterations_max, self.residual_max, self.tolerance
        )
    }
}

/// JSON has no number for "not finite": it is written as `null` and read back as NaN.
pub(super) fn number_or_nan<'de, D: Deserializer<'de>>(input: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(input)?.unwrap_or(f64::NAN))
}

fn energy_or_nan<'de, D: Deserializer<'de>>(input: D) -> Result<Energy, D::Error> {
    #[derive(Deserialize)]
    struct Parts {
        #[serde(deserialize_with = "number_or_nan")]
        kinetic: f64,
        #[serde(deserialize_with = "number_or_nan")]
        potential: f64,
    }
    let Parts { kinetic, potential } = Parts::deserialize(input)?;
    Ok(Energy { kinetic, potential })
}

impl Summary {
    /// Writes `summary.json`, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), OutputError> {
        write_whole(path, |file| {
            serde_json::to_writer_pretty(&mut *file, self)?;
            file.write_all(b"\n")
        })
    }

    /// A compact table for people, loud about what went wrong.
    pub fn table(&self) -> String {
        let seconds = &self.seconds;
        let mut text = String::new();
        let mut line = |name: &str, value: String| {
            let _ = writeln!(text, "{name:<12} {value}");
        };
        line("scenario", self.scenario.clone());
        line("bodies", format!("{} with {}", grouped(self.bodies), counted(self.contacts, "contact", "contacts")));
        if let Some(lost) = self.lost.in_words() {
            line("lost", lost);
        }
        line("time", format!("{} s in {}", short(self.time), counted(self.steps, "step", "steps")));
        line(
            "energy",
            format!("{} J kinetic, {} J potential", short(self.energy.kinetic), short(self.energy.potential)),
        );
        line(
            "penetration",
            format!(
                "{} m deepest, {} m mean at the end; at most {} of a radius, at step {}",
                short(self.max_penetration),
                short(self.mean_penetration),
                short(self.worst_overlap.radii),
                grouped(self.worst_overlap.step)
            ),
        );
        let SteppingSummary { step, lengths, integrator, friction } = &self.stepping;
        let lengths = lengths.in_words(*step);
        line("stepping", format!("{lengths}, integrator {integrator}, friction {friction}"));
        line("solver", self.solver.in_words());
        line("wall clock", seconds.in_words());
        if self.steps > 0 {
            let step = seconds.stepping() / self.steps as f64;
            line("a step", duration(step));
        }
        let ranks = if self.ranks > 1 { format!("{} ranks of ", self.ranks) } else { String::new() };
        let memory =
            if self.peak_rss_bytes > 0 { format!(", {} at most", bytes(self.peak_rss_bytes)) } else { String::new() };
        line("machine", format!("{ranks}{}{memory}", counted(self.threads, "thread", "threads")));
        if let Some(step) = self.restarted_at {
            let times =
                if self.restarts > 1 { format!(", the last of {} times", self.restarts) } else { String::new() };
            line("restarted", format!("after step {}{times}", grouped(step)));
        }
        line("state hash", self.state_hash.clone());
        text += &self.by_rank.as_ref().map(ByRank::table).unwrap_or_default();
        for warning in self.warnings() {
            let _ = writeln!(text, "WARNING: {warning}");
        }
        text
    }

    /// What a user must not miss.
    fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let missed = self.steps.saturating_sub(self.solver.steps_converged);
        if missed > 0 {
            warnings.push(format!(
                "{missed} of {} missed the tolerance {:e} (worst residual {:.1e})",
                counted(self.steps, "step", "steps"),
                self.solver.tolerance,
                self.solver.residual_max
            ));
        }
        warnings.extend(self.worst_overlap.warning());
        warnings.extend(self.stepping.lengths.warning());
        if !(self.energy.kinetic.is_finite() && self.energy.potential.is_finite()) {
            warnings.push("the energy is not finite: the result is not to be trusted".into());
        }
        if let CheckpointSummary { failed: 1.., failure: Some(failure), .. } = &self.checkpoints {
            let failed = self.checkpoints.failed;
            let lost =
                if failed == 1 { "a checkpoint was lost".into() } else { format!("{failed} checkpoints were lost") };
            warnings.push(format!("{lost}: {failure}"));
        }
        // What failed says so itself, and why.
        if self.interrupted && self.failure.is_none() {
            warnings.push("the run was interrupted before its end".into());
        }
        warnings
    }
}

/// A state hash as it stands in the summary.
pub fn hash_text(hash: u64) -> String {
    format!("{hash:016x}")
}

/// Largest memory that this process has had in use, in bytes; 0 where the system does not say.
pub fn peak_rss_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kibibytes =
        status.lines().find_map(|l| l.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse::<u64>().ok());
    kibibytes.unwrap_or(0) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::scratch::Scratch;

    fn sample() -> Summary {
        let solver = SolverSummary {
            name: "apgd".into(),
            taken: BTreeMap::from([("apgd".into(), 600)]),
            tolerance: 1e-2,
            iterations_mean: 41.25,
            iterations_max: 130,
            operator_applications: 61_234,
            cold_starts: 0,
            residual_max: 9.1e-3,
            steps_converged: 600,
        };
        let seconds = RunSeconds {
            exchange: 0.0,
            broad: 1.0,
            narrow: 1.5,
            solve: 15.5,
            integrate: 1.0,
            output: 0.5,
            checkpoint: 0.2,
            start: 0.1,
            report: 0.0,
            other: 0.2,
            total: 20.0,
        };
        Summary {
            version: "0.1.0".into(),
            scenario: "settle".into(),
            bodies: 125_000,
            contacts: 340_211,
            steps: 600,
            time: 0.6,
            threads: 2,
            ranks: 1,
            state_hash: hash_text(0xabc),
            energy: Energy { kinetic: 1.25e-5, potential: 312.4 },
            max_penetration: 3.2e-4,
            mean_penetration: 1e-6,
            worst_overlap: WorstOverlap { radii: 0.01, depth: 4e-4, step: 7 },
            stepping: SteppingSummary {
                step: 1e-3.into(),
                lengths: LengthSummary { shortest: 1e-3, longest: 1e-3, looks: 38, ..LengthSummary::default() },
                integrator: "middle".into(),
                friction: "coulomb".into(),
            },
            solver,
            lost: LostSummary::default(),
            seconds,
            peak_rss_bytes: 180_000_000,
            interrupted: false,
            failure: None,
            restarts: 0,
            restarted_at: None,
            passed_over: Vec::new(),
            checkpoints: CheckpointSummary::default(),
            by_rank: None,
        }
    }

    #[test]
    fn the_keys_are_the_promised_ones() {
        let json = serde_json::to_value(sample()).unwrap();
        let keys = |value: &serde_json::Value| {
            let mut keys: Vec<_> = value.as_object().unwrap().keys().cloned().collect();
            keys.sort();
            keys.join(" ")
        };
        assert_eq!(
            keys(&json),
            "bodies checkpoints contacts energy failure interrupted lost max_penetration mean_penetration passed_over \
             peak_rss_bytes ranks restarted_at restarts scenario seconds solver state_hash stepping steps threads time version \
             worst_overlap"
        );
        assert_eq!(keys(&json["energy"]), "kinetic potential");
        assert_eq!(
            keys(&json["solver"]),
            "cold_starts iterations_max iterations_mean name operator_applications residual_max steps_converged taken \
             tolerance"
        );
        assert_eq!(
            keys(&json["seconds"]),
            "broad checkpoint exchange integrate narrow other output report solve start total"
        );
        assert_eq!(keys(&json["lost"]), "bodies first last mass");
        assert_eq!(keys(&json["worst_overlap"]), "depth radii step");
        assert_eq!(keys(&json["stepping"]), "friction integrator lengths step");
        assert_eq!(keys(&json["stepping"]["lengths"]), "advised coarse longest looks shortest");
        assert_eq!(keys(&json["checkpoints"]), "failed failure last longest_pause written");
        assert_eq!(json["state_hash"], "0000000000000abc");
    }

    /// Start, output and page once counted as if steps had taken them.
    #[test]
    fn the_page_counts_and_a_step_is_stepping_alone() {
        let mut summary = sample();
        assert!(summary.table().contains("a step       31.7 ms"), "{}", summary.table());
        summary.seconds.report = 20.0;
        let table = summary.table();
        assert!(
            table.contains("wall clock   40.0 s")
                && table.contains("report 50 %")
                && table.contains("a step       31.7 ms"),
            "{table}"
        );
    }

    #[test]
    fn it_reads_back_even_when_not_finite() {
        let scratch = Scratch::new();
        let path = scratch.path().join("summary.json");
        sample().write(&path).unwrap();
        let read = || serde_json::from_str::<Summary>(&std::fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(read(), sample());
        let shared = Summary { by_rank: Some(ByRank::new("morton", vec![Default::default(); 2])), ..sample() };
        shared.write(&path).unwrap();
        assert_eq!(read(), shared);
        let mut broken = sample();
        broken.energy.kinetic = f64::NAN;
        broken.solver.residual_max = f64::INFINITY;
        broken.write(&path).unwrap();
        assert!(read().energy.kinetic.is_nan() && read().solver.residual_max.is_nan());
        assert!(broken.table().contains("WARNING: the energy is not finite"));
        assert_eq!(scratch.names(), ["summary.json"]);
    }

    #[test]
    fn deep_overlaps_are_loud() {
        let mut summary = sample();
        summary.worst_overlap.add(&Penetration { max: 1e-3, mean: 0.0, relative: 0.25 }, 40);
        summary.worst_overlap.add(&Penetration { max: 1e-3, mean: 0.0, relative: 0.2 }, 41);
        let expected = "WARNING: bodies overlapped by 25 % of a radius at step 40: the step may be too long\n";
        assert!(summary.table().ends_with(expected), "{}", summary.table());
        summary.worst_overlap.add(&Penetration { max: 1e-3, mean: 0.0, relative: 0.5 }, 1);
        assert!(summary.table().contains("at step 1: bodies start in each other"), "{}", summary.table());
    }

    #[test]
    fn missed_steps_are_loud_and_only_then() {
        assert!(!sample().table().contains("WARNING"));
        let mut summary = sample();
        summary.solver.cold_starts = 3;
        summary.solver.steps_converged = 588;
        summary.solver.residual_max = 3.1e-2;
        summary.interrupted = true;
        summary.checkpoints.failed = 2;
        summary.checkpoints.failure = Some("cannot write x: no room".into());
        let table = summary.table();
        let expected = "WARNING: 12 of 600 steps missed the tolerance 1e-2 (worst residual 3.1e-2)\n\
                        WARNING: 2 checkpoints were lost: cannot write x: no room\n\
                        WARNING: the run was interrupted before its end\n";
        assert!(table.ends_with(expected), "{table}");
        summary.failure = Some("the state is not finite".into());
        assert!(!summary.table().contains("interrupted"), "it failed, and nobody has stopped it");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn memory_is_known() {
        assert!(peak_rss_bytes() > 1 << 20);
    }
}

//! `barchan compare`: several solvers on the same contact problems, timed and judged alike.
//!
//! `problems` gathers what is to be solved, `race` runs one solver on one problem and says what
//! makes it fair, `profile` has the arithmetic of performance profiles, `table` and `plots` show
//! the result.
//!
//! Files are written anew after every problem, so that Ctrl-C, which ends the process at once,
//! loses no more than the problem at hand.

mod chart;
mod directory;
mod plots;
mod problems;
mod profile;
mod race;
mod table;

use crate::args::CompareArgs;
use crate::failure::{Failure, note, print};
use crate::solve::refuse_law;
use barchan::cone::Friction;
use barchan::cone::solver::{SolverName, SolverOptions};
use barchan::output::write_whole;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use problems::Named;
use rayon::ThreadPoolBuilder;
use serde::Serialize;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use table::Entry;

/// Everything that is known so far.
struct Comparison {
    solvers: Vec<SolverName>,
    law: Friction,
    /// The options of all solvers, but for their names.
    options: SolverOptions,
    max_seconds: f64,
    threads: usize,
    /// A problem after the other, each with all solvers.
    entries: Vec<Entry>,
}

/// The object of `--json`.
#[derive(Debug, Serialize)]
struct Outcome<'a> {
    friction: &'static str,
    tolerance: f64,
    max_iterations: u32,
    max_seconds: f64,
    threads: usize,
    directory: String,
    results: &'a [Entry],
}

/// Compares solvers.
pub(crate) fn run(args: &CompareArgs) -> Result<(), Failure> {
    let solvers = solvers(args)?;
    let threads = args.threads.map_or(0, |n| n as usize);
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| Failure::Failed(format!("cannot start the threads: {error}")))?;
    pool.install(|| compare(args, solvers))
}

/// The solvers asked for, or all that can do the law.
fn solvers(args: &CompareArgs) -> Result<Vec<SolverName>, Failure> {
    let law = args.friction.0;
    let mut solvers: Vec<SolverName> = Vec::new();
    for solver in &args.solvers {
        refuse_law(solver.0, law)?;
        if !solvers.contains(&solver.0) {
            solvers.push(solver.0);
        }
    }
    if args.solvers.is_empty() {
        for &(solver, name, _) in SolverName::ALL {
            if solver.laws().contains(&law) {
                solvers.push(solver);
            } else {
                note(format_args!("{name} is left out: it cannot do friction \"{}\"", law.name()));
            }
        }
    }
    Ok(solvers)
}

fn compare(args: &CompareArgs, solvers: Vec<SolverName>) -> Result<(), Failure> {
    let problems = problems::gather(args)?;
    let directory = directory::claim(args.out.as_deref(), args.force)?;
    let options = SolverOptions {
        friction: Some(args.friction.0),
        tolerance: args.tol,
        max_iterations: args.max_iterations,
        ..SolverOptions::default()
    };
    let mut comparison = Comparison {
        solvers,
        law: args.friction.0,
        options,
        max_seconds: args.max_seconds,
        threads: rayon::current_num_threads(),
        entries: Vec::new(),
    };
    let width = problems.iter().map(|problem| problem.name.chars().count()).max().unwrap_or(0).max(7);
    if !args.json {
        print(&table::head(width))?;
    }
    let bar = bar(problems.len() * comparison.solvers.len());
    for problem in &problems {
        let first = comparison.entries.len();
        comparison.take_on(problem, &bar);
        comparison.write(&directory, first)?;
        if !args.json {
            let lines = table::lines(&comparison.entries[first..], width);
            bar.suspend(|| print(&lines))?;
        }
    }
    bar.finish_and_clear();
    comparison.tell(args, &directory)
}

/// Where the comparison is, if anybody watches.
fn bar(solves: usize) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(solves as u64), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{pos} of {len} done, {wide_msg}");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

impl Comparison {
    /// Runs all solvers on a problem.
    fn take_on(&mut self, problem: &Named, bar: &ProgressBar) {
        let first = self.entries.len();
        for &name in &self.solvers {
            bar.set_message(format!("{}: {}", problem.name, name.name()));
            let options = SolverOptions { name, ..self.options };
            let result = race::race(&problem.problem, &options, self.max_seconds);
            self.entries.push(Entry::new(problem, name, result));
            bar.inc(1);
        }
        let entries = &mut self.entries[first..];
        let times: Vec<_> = entries.iter().map(Entry::time_to_solve).collect();
        for (entry, ratio) in entries.iter_mut().zip(profile::ratios(&times)) {
            entry.ratio = ratio;
        }
    }

    /// The results of a solver, a problem each.
    fn of(&self, solver: SolverName) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.name == solver)
    }

    /// Writes the plot of the problem whose entries begin at `first`, and all that covers all.
    fn write(&self, directory: &Path, first: usize) -> Result<(), Failure> {
        let entries = &self.entries[first..];
        let problem = entries.first().map_or("", |entry| &entry.problem);
        for (name, chart) in [
            (directory::residual_plot(problem), plots::residuals(self, entries)),
            (directory::PROFILE.into(), plots::profiles(self)),
        ] {
            write_whole(&directory.join(name), |file| file.write_all(chart.svg()?.as_bytes()))?;
        }
        write_whole(&directory.join(directory::HISTORY), |file| table::write_history(file, &self.entries))?;
        write_whole(&directory.join(directory::RESULTS), |file| table::write_csv(file, &self.entries))?;
        Ok(())
    }

    /// The end of the report, and where the files are.
    fn tell(&self, args: &CompareArgs, directory: &Path) -> Result<(), Failure> {
        let files = format!(
            "files    {}: open {} and {}",
            directory.display(),
            directory::PROFILE,
            directory::residual_plot("*")
        );
        if args.json {
            let outcome = Outcome {
                friction: self.law.name(),
                tolerance: self.options.tolerance,
                max_iterations: self.options.max_iterations,
                max_seconds: self.max_seconds,
                threads: self.threads,
                directory: directory.display().to_string(),
                results: &self.entries,
            };
            let json = serde_json::to_string(&outcome);
            let json = json.map_err(|error| Failure::Failed(format!("cannot write the report as JSON: {error}")))?;
            note(files);
            return print(&(json + "\n"));
        }
        let problems = self.entries.len() / self.solvers.len();
        let mut text = format!("\n{:<14}  {:>10}  {:>7}\n", "solver", "solved", "fastest");
        for &solver in &self.solvers {
            let solved = self.of(solver).filter(|entry| entry.ratio.is_some()).count();
            let fastest = self.of(solver).filter(|entry| entry.ratio == Some(1.0)).count();
            let _ = writeln!(text, "{:<14}  {:>10}  {fastest:>7}", solver.name(), format!("{solved} of {problems}"));
        }
        print(&format!("{text}\n{files}\n"))
    }
}

//! `barchan solve`: one contact problem from a file, a report, and the solution if asked for.

use crate::args::SolveArgs;
use crate::failure::{Failure, note, print};
use barchan::cone::solver::{SolverName, SolverOptions, Status};
use barchan::cone::{AnyProblem, Friction, Solution};
use barchan::output::human::{counted, duration, grouped, short};
use barchan::output::write_whole;
use rayon::ThreadPoolBuilder;
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

/// The object of `--json`.
#[derive(Debug, Serialize)]
struct Outcome {
    contacts: usize,
    solver: &'static str,
    taken: &'static str,
    friction: &'static str,
    status: Status,
    iterations: u32,
    operator_applications: u32,
    objective: f64,
    seconds: f64,
    residual: Residual,
}

#[derive(Debug, Serialize)]
struct Residual {
    primal: f64,
    dual: f64,
    complementarity: f64,
    natural: f64,
}

/// Solves a problem file.
pub(crate) fn run(args: &SolveArgs) -> Result<(), Failure> {
    let options = options(args)?;
    if let Some(path) = &args.solution {
        refuse_to_replace(path, &args.problem)?;
    }
    let problem = AnyProblem::load(&args.problem).map_err(|error| Failure::Input(error.to_string()))?;
    let threads = args.threads.map_or(0, |n| n as usize);
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| Failure::Failed(format!("cannot start the threads: {error}")))?;
    let start = Instant::now();
    let solution = pool.install(|| problem.solve(&options));
    let outcome = outcome(&options, &solution, start.elapsed().as_secs_f64());

    if let Some(path) = &args.solution {
        write_whole(path, |file| write_solution(file, &solution))?;
    }
    if args.json {
        let json = serde_json::to_string(&outcome);
        let json = json.map_err(|error| Failure::Failed(format!("cannot write the report as JSON: {error}")))?;
        if let Some(path) = &args.solution {
            note(format_args!("solution     {}", path.display()));
        }
        print(&(json + "\n"))?;
    } else {
        print(&table(args, &outcome))?;
    }
    if outcome.status == Status::Converged {
        return Ok(());
    }
    Err(Failure::Unsolved(format!(
        "{} is not solved: {} after {}, residual {:.1e}, expected {:e} or less",
        args.problem.display(),
        status(outcome.status),
        counted(outcome.iterations.into(), "iteration", "iterations"),
        outcome.residual.natural,
        options.tolerance,
    )))
}

/// Solver and law, if they go together.
fn options(args: &SolveArgs) -> Result<SolverOptions, Failure> {
    let name = args.solver.map_or(SolverName::default(), |solver| solver.0);
    let law = args.friction.map(|friction| friction.0);
    if let Some(law) = law {
        refuse_law(name, law)?;
    }
    Ok(SolverOptions {
        name,
        friction: law,
        tolerance: args.tol,
        max_iterations: args.max_iterations,
        ..SolverOptions::default()
    })
}

/// Fails if the solver cannot do the law.
pub(crate) fn refuse_law(name: SolverName, law: Friction) -> Result<(), Failure> {
    if name.laws().contains(&law) {
        return Ok(());
    }
    let own: Vec<_> = name.laws().iter().map(|law| law.name()).collect();
    let able = SolverName::ALL.iter().filter(|solver| solver.0.laws().contains(&law));
    let able: Vec<_> = able.map(|solver| solver.1).collect();
    let advice = if able.is_empty() { "no solver has it yet".into() } else { format!("use {}", able.join(" or ")) };
    Err(Failure::Input(format!(
        "the solver {} cannot do friction \"{}\", only \"{}\"; {advice}",
        name.name(),
        law.name(),
        own.join("\" and \""),
    )))
}

/// The file for the solution must not be the problem itself.
fn refuse_to_replace(solution: &Path, problem: &Path) -> Result<(), Failure> {
    match (solution.canonicalize(), problem.canonicalize()) {
        (Ok(to), Ok(from)) if to == from => {
            Err(Failure::Input(format!("--solution {}: that is the problem itself", solution.display())))
        }
        _ => Ok(()),
    }
}

fn outcome(options: &SolverOptions, solution: &Solution, seconds: f64) -> Outcome {
    let report = &solution.report;
    let residuals = &report.residuals;
    Outcome {
        contacts: solution.impulses.len(),
        solver: options.name.name(),
        taken: report.taken.unwrap_or(options.name).name(),
        friction: options.law().name(),
        status: report.status,
        iterations: report.iterations,
        operator_applications: report.operator_applications,
        objective: report.objective,
        seconds,
        residual: Residual {
            primal: residuals.primal,
            dual: residuals.dual,
            complementarity: residuals.complementarity,
            natural: residuals.natural,
        },
    }
}

/// A line a contact: r_N r_T1 r_T2 u_N u_T1 u_T2.
fn write_solution(out: &mut impl Write, solution: &Solution) -> io::Result<()> {
    for [r, u] in solution.contacts() {
        writeln!(out, "{:?} {:?} {:?} {:?} {:?} {:?}", r.x, r.y, r.z, u.x, u.y, u.z)?;
    }
    Ok(())
}

/// The report for people.
fn table(args: &SolveArgs, outcome: &Outcome) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<12} {value}");
    };
    let residual = &outcome.residual;
    line("problem", args.problem.display().to_string());
    line("contacts", grouped(outcome.contacts as u64));
    let choice = if outcome.taken == outcome.solver { String::new() } else { format!(" took {}", outcome.taken) };
    line("solver", format!("{}{choice}, {} friction", outcome.solver, outcome.friction));
    line("status", status(outcome.status).into());
    let applications = counted(outcome.operator_applications.into(), "operator application", "operator applications");
    line("iterations", format!("{}, {applications}", grouped(outcome.iterations.into())));
    line("residual", format!("{} (tolerance {})", short(residual.natural), short(args.tol)));
    line("primal", short(residual.primal));
    line("dual", short(residual.dual));
    line("complement", short(residual.complementarity));
    line("objective", format!("{:?}", outcome.objective));
    line("time", duration(outcome.seconds));
    if let Some(path) = &args.solution {
        line("solution", path.display().to_string());
    }
    text
}

fn status(status: Status) -> &'static str {
    match status {
        Status::Converged => "converged",
        Status::IterationLimit => "iteration limit",
        Status::Stalled => "stalled",
        Status::GaveUp => "gave up",
        Status::BadProblem => "bad problem",
    }
}

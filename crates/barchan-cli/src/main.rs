//! The `barchan` command: a thin layer over the library.
//!
//! Every command is a function from its arguments to nothing or a [`Failure`], which knows its
//! exit code. Results go to standard output, everything else to standard error.

mod args;
mod bench;
mod browser;
mod check;
mod compare;
mod drive;
mod export;
mod failure;
mod interrupt;
mod pace;
mod progress;
mod ranks;
mod readable_frames;
mod render;
mod report;
mod restart;
mod run;
mod scenarios;
mod solve;
mod spare;
mod target;
mod view;
mod watched;

use args::{Arguments, Command};
use clap::Parser;
use clap::error::ErrorKind;
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    let result = arguments().and_then(|arguments| obey(arguments.command));
    result.map_or_else(Failure::report, |()| ExitCode::SUCCESS)
}

fn obey(command: Command) -> Result<(), Failure> {
    // Only a run is done by all processes that were started together.
    if !matches!(command, Command::Run(_) | Command::Restart(_)) && !ranks::speaks() {
        return Ok(());
    }
    match command {
        Command::List(args) => scenarios::list(&args),
        Command::New(args) => scenarios::new(&args),
        Command::Run(args) => run::run(&args),
        Command::Restart(args) => restart::run(&args),
        Command::Report(args) => report::run(&args),
        Command::View(args) => view::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Solve(args) => solve::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Render(args) => render::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Bench(args) => bench::run(&args),
    }
}

/// What was typed. Processes that were started together have all been told the same, and one answers.
fn arguments() -> Result<Arguments, Failure> {
    Arguments::try_parse().map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            if ranks::speaks() {
                failure::show(&error);
            }
            Failure::Told(0)
        }
        _ => ranks::refuse(Failure::Usage(Box::new(error))),
    })
}

//! What can be typed. The comments below are the help texts.

use barchan::output::{Colouring, View};
use barchan::problem::Friction;
use barchan::solver::SolverName;
use barchan_view::server::Place;
use clap::builder::PossibleValue;
use clap::{Args, Parser, Subcommand, ValueEnum, value_parser};
use std::net::IpAddr;
use std::path::PathBuf;

/// Very many rigid bodies in hard frictional contact.
#[derive(Debug, Parser)]
#[command(name = "barchan", version, arg_required_else_help = true)]
#[command(after_help = "A good first minute:  barchan run sedimentation")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Names the scenarios, a line each.
    List(ListArgs),
    /// Prints a commented scene, ready to edit.
    New(NewArgs),
    /// Runs a scenario or a scene file.
    Run(RunArgs),
    /// Goes on with a run that was ended: by Ctrl-C, by a crash, by a power cut.
    Restart(RestartArgs),
    /// Makes the page that shows a run, from its directory: report.html.
    Report(ReportArgs),
    /// Runs a scene in the browser, to watch and to steer; or shows a run that is written down.
    View(ViewArgs),
    /// Validates and explains a scene; simulates nothing.
    Check(CheckArgs),
    /// Solves one contact problem from a file.
    Solve(SolveArgs),
    /// Runs several solvers on the same contact problems: a table, and plots.
    Compare(CompareArgs),
    /// Draws a frame of a run, or all of them as a video.
    Render(RenderArgs),
    /// Writes frames of a run as tables, or all of them as one VTKHDF file.
    Export(ExportArgs),
    /// Measures the engine on this machine.
    Bench(BenchArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Tells the parameters of these scenarios instead.
    #[arg(value_name = "SCENARIO")]
    pub(crate) names: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// Name of a scenario; `barchan list` shows them.
    #[arg(value_name = "SCENARIO")]
    pub(crate) scenario: String,
    #[command(flatten)]
    pub(crate) overrides: Overrides,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// A scene file, or the name of a scenario.
    #[arg(value_name = "SCENE.TOML")]
    pub(crate) target: String,
    #[command(flatten)]
    pub(crate) overrides: Overrides,
    /// Tells what each of so many ranks would have, of any kind. What is given by rank (per_rank)
    /// grows with them.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=10_000_000))]
    pub(crate) ranks: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Name of a scenario, or a scene file (what exists as a file or ends in .toml).
    #[arg(value_name = "SCENARIO|SCENE.TOML")]
    pub(crate) target: String,
    #[command(flatten)]
    pub(crate) overrides: Overrides,
    /// Takes so many steps, whatever the scene says about its end.
    #[arg(long, value_name = "N", conflicts_with = "time")]
    pub(crate) steps: Option<u64>,
    /// Ends at this simulated time, in seconds.
    #[arg(long, value_name = "T")]
    pub(crate) time: Option<String>,
    /// Threads of each rank; all there are unless told, and 1 with --ranks. The result does not
    /// depend on it.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=4096))]
    pub(crate) threads: Option<u32>,
    /// Spreads the run over so many ranks inside this process, to try or test what it does across
    /// ranks without MPI. For speed use --threads, or mpirun.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=4096))]
    pub(crate) ranks: Option<u32>,
    /// Solver to use: shorthand for --set solver.name=NAME.
    #[arg(long, value_name = "NAME")]
    pub(crate) solver: Option<Solver>,
    /// Directory for the results; runs/NAME or the next free number unless told.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Replaces the run that stands in the directory.
    #[arg(long)]
    pub(crate) force: bool,
    /// Prints one JSON object on standard output, everything else on standard error.
    #[arg(long)]
    pub(crate) json: bool,
    /// Shows no progress.
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Fails (after writing everything) if a step missed the solver's tolerance.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Takes a checkpoint every so many steps, to go on from with `barchan restart`: shorthand for
    /// --set checkpoint.steps=N. 0 for none by steps.
    #[arg(long, value_name = "N")]
    pub(crate) checkpoint_steps: Option<u64>,
    /// Takes one when so many seconds have passed since the last: shorthand for
    /// --set checkpoint.seconds=S. 600 unless told; 0 for none by time.
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) checkpoint_seconds: Option<String>,
    /// Writes no report.html; `barchan report` can do so later.
    #[arg(long)]
    pub(crate) no_report: bool,
    /// Writes the contact problem of this step, from 1, to problem-STEP.txt in the run directory,
    /// before it is solved; may be repeated. `barchan solve` reads it.
    #[arg(long, value_name = "STEP", value_parser = value_parser!(u64).range(1..))]
    pub(crate) dump_problem: Vec<u64>,
    /// Serves a page on this machine that shows the run, and lets viewers hold it, step it and slow it
    /// down; its address goes to standard error. The result does not depend on it. A short run waits up to
    /// ten seconds at its end for a browser to come.
    #[arg(long, value_name = "PORT", num_args = 0..=1, require_equals = true, default_missing_value = "0")]
    pub(crate) view: Option<u16>,
}

#[derive(Debug, Args)]
#[command(after_help = "The address is the first line on standard output. Ctrl-C ends it, with a few lines on what \
                        it came to.")]
pub(crate) struct ViewArgs {
    /// Name of a scenario, or a scene file, to run live; or the directory of a run, finished or under
    /// way, to look at.
    #[arg(value_name = "SCENARIO|SCENE.TOML|RUNDIR")]
    pub(crate) target: String,
    #[command(flatten)]
    pub(crate) overrides: Overrides,
    /// Threads to use; all there are unless told. The result does not depend on it.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=4096))]
    pub(crate) threads: Option<u32>,
    /// Port to listen on; 8737 unless told, or any that is free if that is taken.
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// Address to listen on. Whoever reaches it can watch the run and steer it.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(crate) bind: IpAddr,
    /// Opens no browser.
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Stands still at first.
    #[arg(long)]
    pub(crate) paused: bool,
}

impl ViewArgs {
    /// Where to listen.
    pub(crate) fn place(&self) -> Place {
        Place { address: self.bind, port: self.port }
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "The run goes on from its newest checkpoint that is sound, or from the beginning where there is \
                        none: with the same results, to the last bit, as if it had never stopped. A number of ranks \
                        other than before changes rounding."
)]
pub(crate) struct RestartArgs {
    /// Directory of the run, as `barchan run` has made it.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Steps of the whole run, counted from its beginning; as many as it was to take unless told.
    #[arg(long, value_name = "N")]
    pub(crate) steps: Option<u64>,
    /// Threads of each rank; all there are unless told, and 1 with --ranks. The result does not
    /// depend on it.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=4096))]
    pub(crate) threads: Option<u32>,
    /// Spreads the run over so many ranks inside this process, whatever it was on before.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=4096))]
    pub(crate) ranks: Option<u32>,
    /// Prints one JSON object on standard output, everything else on standard error.
    #[arg(long)]
    pub(crate) json: bool,
    /// Shows no progress.
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Fails (after writing everything) if a step missed the solver's tolerance, before or after.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Writes no report.html; `barchan report` can do so later.
    #[arg(long)]
    pub(crate) no_report: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Directory of a run, which may have failed or be under way.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Where the page goes; report.html in the directory unless told.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Megabytes for frames, about; the first and the last are always there.
    #[arg(long, value_name = "MB", default_value = "20", value_parser = value_parser!(u32).range(0..=10_000))]
    pub(crate) megabytes: u32,
    /// Prints one JSON object on standard output: path, bytes, frames and frames_total.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 converged; 1 a file could not be written; 2 bad input; 3 not solved: the \
                        iterations ran out or the solver stalled. The report is printed and the solution written \
                        in that case too.")]
pub(crate) struct SolveArgs {
    /// A problem file: one that `barchan run --dump-problem` wrote, or the text format with the
    /// matrix.
    #[arg(value_name = "PROBLEM")]
    pub(crate) problem: PathBuf,
    /// Solver to use.
    #[arg(long, value_name = "NAME")]
    pub(crate) solver: Option<Solver>,
    /// Friction law; the solver's own unless told.
    #[arg(long, value_name = "LAW")]
    pub(crate) friction: Option<Law>,
    /// Residual at which the problem counts as solved: the scale-free one, 1 without impulses.
    #[arg(long, value_name = "X", default_value = "1e-6", value_parser = tolerance, allow_negative_numbers = true)]
    pub(crate) tol: f64,
    /// Iterations after which the solver gives up.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub(crate) max_iterations: u32,
    /// Prints one JSON object on standard output, everything else on standard error.
    #[arg(long)]
    pub(crate) json: bool,
    /// Writes the solution, a contact a line: r_N r_T1 r_T2 u_N u_T1 u_T2.
    #[arg(long, value_name = "FILE")]
    pub(crate) solution: Option<PathBuf>,
    /// Threads to use; all there are unless told. The result does not depend on it.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=4096))]
    pub(crate) threads: Option<u32>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 compared, whether or not every solver converged; 1 a file could not be written; \
                        2 bad input."
)]
pub(crate) struct CompareArgs {
    /// Problem files: those that `barchan run --dump-problem` wrote, or the text format with the
    /// matrix.
    #[arg(value_name = "PROBLEM", required_unless_present = "scene")]
    pub(crate) problems: Vec<PathBuf>,
    /// Takes the contact problem of a step of this scene too.
    #[arg(long, value_name = "SCENARIO|SCENE.TOML")]
    pub(crate) scene: Option<String>,
    /// The step, from 1; 300 unless told, or the scene's last if that is sooner.
    #[arg(long, value_name = "N", requires = "scene", value_parser = value_parser!(u64).range(1..))]
    pub(crate) step: Option<u64>,
    /// Sets a parameter of the scenario or a key of the scene; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "scene", value_parser = key_value)]
    pub(crate) set: Vec<(String, String)>,
    /// Solvers to compare, separated by commas; all that can do the friction law unless told.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) solvers: Vec<Solver>,
    /// Friction law, the same for all.
    #[arg(long, value_name = "LAW", default_value = "associated")]
    pub(crate) friction: Law,
    /// Residual at which a problem counts as solved: the scale-free one, 1 without impulses.
    #[arg(long, value_name = "X", default_value = "1e-6", value_parser = tolerance, allow_negative_numbers = true)]
    pub(crate) tol: f64,
    /// Iterations after which a solver gives up.
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = value_parser!(u32).range(1..))]
    pub(crate) max_iterations: u32,
    /// Seconds after which a solve is given up, about.
    #[arg(long, value_name = "S", default_value = "10", value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) max_seconds: f64,
    /// Threads to use; all there are unless told.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=4096))]
    pub(crate) threads: Option<u32>,
    /// Directory for the plots and tables; comparison or the next free number unless told.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Replaces the comparison that stands in the directory.
    #[arg(long)]
    pub(crate) force: bool,
    /// Prints one JSON object on standard output, everything else on standard error.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RenderArgs {
    /// The directory of a run, which may be under way.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// The picture, a PNG; or with --video an animated PNG, or any other kind if ffmpeg is installed
    /// (by the end of the name: .mp4, .webm, .gif).
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Which frame, from 0; the last unless told.
    #[arg(long, value_name = "N", conflicts_with = "video")]
    pub(crate) frame: Option<usize>,
    /// Draws all frames, from the same place and with the same scale of colours.
    #[arg(long)]
    pub(crate) video: bool,
    /// Frames a second of the video.
    #[arg(long, value_name = "N", default_value_t = 25, requires = "video", value_parser = value_parser!(u16).range(1..=240))]
    pub(crate) fps: u16,
    /// Pixels across and down.
    #[arg(long, value_name = "WxH", default_value = "1200x900", value_parser = size)]
    pub(crate) size: [u32; 2],
    /// What colours show.
    #[arg(long, value_name = "WHAT", default_value = "speed")]
    pub(crate) colour: Colours,
    /// Where it is seen from: an angle about z in degrees, from x towards y.
    #[arg(long, value_name = "DEGREES", default_value_t = View::default().azimuth, value_parser = angle::<360>, allow_negative_numbers = true)]
    pub(crate) azimuth: f64,
    /// Angle above the horizon in degrees.
    #[arg(long, value_name = "DEGREES", default_value_t = View::default().elevation, value_parser = angle::<89>, allow_negative_numbers = true)]
    pub(crate) elevation: f64,
    /// How much larger the scene is than when it fills the picture.
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = factor, allow_negative_numbers = true)]
    pub(crate) zoom: f64,
}

#[derive(Debug, Args)]
#[command(after_help = "Tables are comma-separated, with a header; docs/outputs.md tells the columns and their units.")]
pub(crate) struct ExportArgs {
    /// Directory of a run.
    #[arg(value_name = "DIR")]
    pub(crate) run: PathBuf,
    /// Number of the frame, from 0; the last unless told.
    #[arg(long, value_name = "N", conflicts_with = "all")]
    pub(crate) frame: Option<usize>,
    /// All frames, one after another.
    #[arg(long)]
    pub(crate) all: bool,
    /// A row a body; so unless told.
    #[arg(long, conflicts_with = "contacts")]
    pub(crate) bodies: bool,
    /// A row a contact that carries an impulse.
    #[arg(long)]
    pub(crate) contacts: bool,
    /// One VTKHDF file with the bodies of all frames instead of tables, for ParaView.
    #[arg(long, requires = "output", conflicts_with_all = ["frame", "bodies", "contacts"])]
    pub(crate) vtkhdf: bool,
    /// File to write; standard output unless told.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// Benches to run; all unless told.
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Prints one JSON object on standard output, everything else on standard error.
    #[arg(long)]
    pub(crate) json: bool,
    /// Directory for settled beds, which take minutes to prepare.
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Overrides {
    /// Sets a parameter of the scenario or a key of the scene, such as bodies=1000 or
    /// solver.tolerance=1e-4; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) set: Vec<(String, String)>,
}

impl Overrides {
    /// What is set, on so many ranks: what grows with the number of ranks grows with theirs.
    pub(crate) fn on_ranks(&self, ranks: usize) -> Vec<(String, String)> {
        let mut set = self.set.clone();
        let has = |name: &str| set.iter().any(|(key, _)| key == name);
        if has("per_rank") && !has("ranks") {
            set.push(("ranks".into(), ranks.to_string()));
        }
        set
    }
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().into(), value.trim().into())),
        _ => Err("expected a key, an equals sign and a value, such as bodies=1000".into()),
    }
}

fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if x > 0.0 && f64::is_finite(x) => Ok(x),
        _ => Err("expected a number greater than 0, such as 1e-4".into()),
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if x > 0.0 && f64::is_finite(x) => Ok(x),
        _ => Err("expected a number of seconds greater than 0, such as 60".into()),
    }
}

/// Sides of a picture of which memory and file formats can hold.
fn size(text: &str) -> Result<[u32; 2], String> {
    let side = |text: &str| text.parse().ok().filter(|n| (1..=16384).contains(n));
    let sides = text.split_once(['x', 'X']).and_then(|(width, height)| Some([side(width)?, side(height)?]));
    sides.ok_or_else(|| "expected pixels across and down, up to 16384 each, such as 1200x900".into())
}

fn angle<const MOST: u16>(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if f64::abs(x) <= f64::from(MOST) => Ok(x),
        _ => Err(format!("expected a number of degrees between -{MOST} and {MOST}")),
    }
}

fn factor(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if (0.01..=1000.0).contains(&x) => Ok(x),
        _ => Err("expected a number between 0.01 and 1000".into()),
    }
}

/// What colours can show, as values of an option.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Colours(pub(crate) Colouring);

impl ValueEnum for Colours {
    fn value_variants<'a>() -> &'a [Self] {
        const COUNT: usize = Colouring::ALL.len();
        const LIST: [Colours; COUNT] = {
            let mut list = [Colours(Colouring::ALL[0]); COUNT];
            let mut i = 0;
            while i < COUNT {
                list[i] = Colours(Colouring::ALL[i]);
                i += 1;
            }
            list
        };
        &LIST
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()))
    }
}

/// The friction laws of the library as values of an option.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Law(pub(crate) Friction);

impl ValueEnum for Law {
    fn value_variants<'a>() -> &'a [Self] {
        &[Law(Friction::Associated), Law(Friction::Coulomb)]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()).help(match self.0 {
            Friction::Associated => "the cone complementarity problem, which is convex",
            Friction::Coulomb => "exact Coulomb friction",
        }))
    }
}

/// The solvers of the library as values of an option.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Solver(pub(crate) SolverName);

impl ValueEnum for Solver {
    fn value_variants<'a>() -> &'a [Self] {
        const COUNT: usize = SolverName::ALL.len();
        const LIST: [Solver; COUNT] = {
            let mut list = [Solver(SolverName::ALL[0].0); COUNT];
            let mut i = 0;
            while i < COUNT {
                list[i] = Solver(SolverName::ALL[i].0);
                i += 1;
            }
            list
        };
        &LIST
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let entry = SolverName::ALL.iter().find(|entry| entry.0 == self.0)?;
        Some(PossibleValue::new(entry.1).help(entry.2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn sizes_are_two_numbers() {
        assert_eq!(size("640x480"), Ok([640, 480]));
        assert!(["640", "0x480", "640x", "640x480x3", "99999x1", "-1x5"].iter().all(|text| size(text).is_err()));
        assert!(Colours::value_variants().len() == Colouring::ALL.len());
    }

    #[test]
    fn overrides_split_at_the_first_equals_sign() {
        assert_eq!(key_value("a.b = c=d"), Ok(("a.b".into(), "c=d".into())));
        assert!(key_value("bodies").is_err() && key_value("=3").is_err());
    }
}

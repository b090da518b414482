//! How a run shows where it is: a live bar on a terminal, now and then a line elsewhere, or
//! nothing. The run calls after every step, thousands of times a second for a small scene, so
//! that nothing is formatted unless it is shown.

use crate::failure::note;
use crate::pace::Pace;
use barchan::output::WorstOverlap;
use barchan::output::human::{counted, duration, grouped, short};
use barchan::run::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::io::{IsTerminal, stderr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Parts of the bar.
const UNITS: u64 = 10_000;
/// The bar is drawn ten times a second.
const REDRAW: Duration = Duration::from_millis(100);
/// Lines come at most so often, ...
const LINE: Duration = Duration::from_secs(2);
/// ... every twentieth of the run, ...
const LINE_SHARE: f64 = 0.05;
/// ... and at least so often.
const LINE_LATEST: Duration = Duration::from_secs(30);

/// Shows the progress of a run.
pub(crate) struct Display {
    kind: Kind,
    pace: Pace,
    shown: Instant,
    shown_share: f64,
    /// When it began, and how much was done then.
    start: (Instant, f64),
}

enum Kind {
    /// The bar, and the alarm that it shows on a line of its own.
    Bar {
        bar: ProgressBar,
        alarm: Arc<Mutex<String>>,
    },
    Lines,
    Nothing,
}

impl Display {
    /// A bar if standard error is a terminal, lines if not, nothing if quiet. Some steps may be done.
    pub(crate) fn new(quiet: bool, done: u64, share: f64) -> Self {
        let kind = if quiet {
            Kind::Nothing
        } else if stderr().is_terminal() {
            let bar = ProgressBar::with_draw_target(Some(UNITS), ProgressDrawTarget::stderr());
            bar.set_style(style("{wide_bar} {percent:>3} %  {prefix}\n{wide_msg}"));
            Kind::Bar { bar, alarm: Arc::default() }
        } else {
            Kind::Lines
        };
        Self { kind, pace: Pace::new(done), shown: Instant::now(), shown_share: share, start: (Instant::now(), share) }
    }

    /// Shows the state after a step, if it is time.
    pub(crate) fn show(&mut self, progress: &Progress<'_>) {
        let waited = self.shown.elapsed();
        let due = match self.kind {
            Kind::Bar { .. } => waited >= REDRAW,
            Kind::Lines => {
                let far = progress.share - self.shown_share >= LINE_SHARE;
                waited >= LINE && (far || waited >= LINE_LATEST)
            }
            Kind::Nothing => false,
        };
        if !due {
            return;
        }
        self.shown = Instant::now();
        self.shown_share = progress.share;
        let rate = self.pace.sample(self.shown, progress.step);
        let left = self.seconds_left(progress, rate);
        match &mut self.kind {
            Kind::Bar { bar, alarm } => {
                if let (Some(words), Ok(mut shown)) = (alarm_of(progress), alarm.lock()) {
                    if shown.is_empty() {
                        bar.set_style(alarmed(alarm));
                    }
                    *shown = words;
                }
                bar.set_prefix(clock(progress, left));
                bar.set_message(figures(progress, rate));
                bar.set_position((progress.share * UNITS as f64) as u64);
            }
            Kind::Lines => {
                let percent = 100.0 * progress.share;
                let mut line = format!("{percent:3.0} %  {}, {}", clock(progress, left), figures(progress, rate));
                if let Some(words) = alarm_of(progress) {
                    line += &format!(", {words}");
                }
                note(line);
            }
            Kind::Nothing => {}
        }
    }

    /// Seconds to the end: by steps at the present rate, or by what is done where nobody knows how many steps there are.
    fn seconds_left(&self, progress: &Progress<'_>, rate: f64) -> f64 {
        match progress.steps_total {
            Some(total) => total.saturating_sub(progress.step) as f64 / rate,
            None => {
                let (began, share) = self.start;
                let done = (progress.share - share).max(f64::MIN_POSITIVE);
                began.elapsed().as_secs_f64() * (1.0 - progress.share) / done
            }
        }
    }

    /// Prints a line that is no progress, however quiet it is; a bar makes room for it.
    pub(crate) fn interject(&self, line: impl std::fmt::Display) {
        match &self.kind {
            Kind::Bar { bar, .. } => bar.suspend(|| note(line)),
            Kind::Lines | Kind::Nothing => note(line),
        }
    }

    /// Says what is done after the last step. In lines, only where the run was not over at once.
    pub(crate) fn after(&self, what: &'static str) {
        match &self.kind {
            Kind::Bar { bar, .. } => {
                bar.set_message(what);
                bar.set_position(UNITS);
                bar.tick();
            }
            Kind::Lines if self.start.0.elapsed() >= LINE => note(what),
            Kind::Lines | Kind::Nothing => {}
        }
    }

    /// Removes the bar.
    pub(crate) fn clear(&self) {
        if let Kind::Bar { bar, .. } = &self.kind {
            bar.finish_and_clear();
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━╸ ")
}

/// The bar with a loud line below.
fn alarmed(alarm: &Arc<Mutex<String>>) -> ProgressStyle {
    let alarm = Arc::clone(alarm);
    style("{wide_bar:.red} {percent:>3} %  {prefix}\n{wide_msg}\n{alarm:.red.bold}").with_key(
        "alarm",
        move |_: &ProgressState, out: &mut dyn Write| {
            let _ = alarm.lock().map(|words| out.write_str(&words));
        },
    )
}

/// Simulated time and time left.
fn clock(progress: &Progress<'_>, left: f64) -> String {
    let digits = decimals(progress.end);
    format!("{:.digits$} of {} s, {} left", progress.time, short(progress.end), duration(left))
}

/// Digits behind the point that show a thousandth of the whole.
fn decimals(end: f64) -> usize {
    if end > 0.0 { (3.0 - end.log10().ceil()).clamp(0.0, 12.0) as usize } else { 0 }
}

/// Everything else.
fn figures(progress: &Progress<'_>, rate: f64) -> String {
    let report = progress.report;
    let speed = rate * progress.time / progress.step.max(1) as f64;
    let lost = if progress.lost > 0 { format!(" ({} lost)", grouped(progress.lost)) } else { String::new() };
    format!(
        "{}{lost}, {}, {}, residual {:.1e}, {} steps/s, {} × real time",
        counted(report.bodies as u64, "body", "bodies"),
        counted(report.contacts as u64, "contact", "contacts"),
        counted(report.solver.iterations.into(), "iteration", "iterations"),
        report.solver.residual,
        rough(rate),
        rough(speed),
    )
}

/// Two digits: more would only flicker.
fn rough(x: f64) -> String {
    if x >= 100.0 || x <= 0.0 {
        return grouped(x as u64);
    }
    let unit = 10f64.powf(x.log10().floor() - 1.0);
    short((x / unit).round() * unit)
}

/// What must not be missed; `None` if all is well.
fn alarm_of(progress: &Progress<'_>) -> Option<String> {
    let missed = (progress.missed > 0).then(|| alarm(progress.missed));
    let is_deep = progress.worst_overlap > WorstOverlap::ALARMING;
    let overlap = is_deep.then(|| format!("OVERLAPS OF {:.0} % OF A RADIUS", 100.0 * progress.worst_overlap));
    let coarse = progress.is_coarse.then(|| "STEPS TOO LONG FOR WHAT HAPPENS".to_owned());
    let all: Vec<String> = missed.into_iter().chain(overlap).chain(coarse).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// Steps that missed the tolerance.
fn alarm(missed: u64) -> String {
    let steps = if missed == 1 { "STEP" } else { "STEPS" };
    format!("{} {steps} MISSED THE TOLERANCE", grouped(missed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_as_many_digits_as_can_be_read_in_passing() {
        assert_eq!([rough(12_345.6), rough(99.9), rough(25.4), rough(0.0)], ["12 345", "100", "25", "0"]);
        assert_eq!([rough(0.02164), rough(3.12)], ["0.022", "3.1"]);
        assert_eq!([decimals(0.6), decimals(1000.0), decimals(1e-3), decimals(0.0)], [3, 0, 6, 0]);
    }

    #[test]
    fn the_alarm_counts() {
        assert_eq!(alarm(1), "1 STEP MISSED THE TOLERANCE");
        assert_eq!(alarm(2000), "2 000 STEPS MISSED THE TOLERANCE");
    }
}

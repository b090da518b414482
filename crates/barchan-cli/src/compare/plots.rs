//! The two plots: the performance profile of all problems, and the residual of one against time.

use super::Comparison;
use super::chart::{Axis, Chart, Curve, End, Scale};
use super::profile::profile;
use super::race::Verdict;
use super::table::Entry;
use barchan::cone::solver::SolverName;
use barchan::output::human::{counted, duration, short};

/// The profile of every solver.
pub(super) fn profiles(comparison: &Comparison) -> Chart {
    let problems = comparison.entries.len() / comparison.solvers.len();
    let slowest = comparison.entries.iter().filter_map(|entry| entry.ratio).fold(1.0, f64::max);
    let end = (1.15 * slowest).max(4.0);
    let curve = |&solver: &SolverName| {
        let ratios: Vec<_> = comparison.of(solver).map(|entry| entry.ratio).collect();
        let mut points = profile(&ratios);
        points.extend(points.last().map(|last| (end, last.1)));
        let detail = format!("{} of {problems} solved", ratios.iter().flatten().count());
        Curve { label: solver.name().into(), detail, style: style(solver), points, end: End::Open }
    };
    Chart {
        title: format!("Performance profile, {}", counted(problems as u64, "problem", "problems")),
        subtitle: conditions(comparison),
        x: Axis {
            label: "τ: time, in times of the fastest solver on the same problem",
            range: [1.0, end],
            scale: Scale::Log,
            number: short,
        },
        y: Axis {
            label: "fraction of problems solved within τ",
            range: [0.0, 1.03],
            scale: Scale::Linear,
            number: |x| format!("{x:.1}"),
        },
        level: None,
        curves: comparison.solvers.iter().map(curve).collect(),
    }
}

/// The residuals of one problem, given by the entries of all solvers.
pub(super) fn residuals(comparison: &Comparison, entries: &[Entry]) -> Chart {
    let tolerance = comparison.options.tolerance;
    let moments = entries.iter().flat_map(|entry| &entry.history);
    let firsts = entries.iter().filter_map(|entry| entry.history.first().map(|moment| moment.seconds));
    let last = entries.iter().map(|entry| entry.seconds).fold(1e-9, f64::max);
    let first = firsts.fold(last, f64::min).max(1e-9);
    let times = [0.8 * first.min(0.5 * last), 1.25 * last];
    let ends = entries.iter().map(|entry| entry.residual);
    let residuals = moments.map(|moment| moment.residual).chain(ends).filter(|&r| r > 0.0 && r.is_finite());
    let lowest = 0.5 * residuals.fold(tolerance.min(0.1), f64::min);

    let curve = |entry: &Entry| {
        // No impulses have the residual 1. After it the best so far: what a solver would hand out.
        let mut points = vec![(times[0], 1.0)];
        let mut best = 1.0;
        for moment in entry.history.iter().filter(|moment| moment.seconds < entry.seconds) {
            if moment.residual < best {
                best = moment.residual;
                points.push((moment.seconds, best));
            }
        }
        points.push((entry.seconds, best.min(entry.residual)));
        let reached = entry.status == Verdict::Converged;
        Curve {
            label: entry.solver.into(),
            detail: format!("{}, {}", entry.status.words(), duration(entry.seconds)),
            style: style(entry.name),
            points,
            end: if reached { End::Reached } else { End::GivenUp },
        }
    };
    let (name, contacts) = entries.first().map_or(("", 0), |entry| (entry.problem.as_str(), entry.contacts));
    Chart {
        title: format!("{name}, {}", counted(contacts as u64, "contact", "contacts")),
        subtitle: conditions(comparison),
        x: Axis { label: "time", range: times, scale: Scale::Log, number: time },
        y: Axis { label: "best natural residual so far", range: [lowest, 1.5], scale: Scale::Log, number: power },
        level: Some((tolerance, format!("tolerance {}", short(tolerance)))),
        curves: entries.iter().map(curve).collect(),
    }
}

/// A solver looks the same in every comparison.
fn style(solver: SolverName) -> usize {
    SolverName::ALL.iter().position(|entry| entry.0 == solver).unwrap_or(0)
}

fn conditions(comparison: &Comparison) -> String {
    format!(
        "{} friction, natural residual ≤ {}, cold start, {}",
        comparison.law.name(),
        short(comparison.options.tolerance),
        counted(comparison.threads as u64, "thread", "threads"),
    )
}

/// Seconds as a label: "20 µs".
fn time(seconds: f64) -> String {
    match seconds * (1.0 + 1e-9) {
        s if s < 1e-6 => format!("{} ns", short(seconds * 1e9)),
        s if s < 1e-3 => format!("{} µs", short(seconds * 1e6)),
        s if s < 1.0 => format!("{} ms", short(seconds * 1e3)),
        _ => format!("{} s", short(seconds)),
    }
}

/// A power of ten as a label: "10⁻³".
fn power(x: f64) -> String {
    let exponent = x.log10().round();
    if (x / 10f64.powf(exponent) - 1.0).abs() > 1e-6 || exponent == 0.0 {
        return short(x);
    }
    let raised = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => char::from_u32('⁰' as u32 + digit.to_digit(10).unwrap_or(0)).unwrap_or(digit),
    };
    format!("10{}", format!("{exponent}").chars().map(raised).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_ticks() {
        assert_eq!([power(1e-3), power(1e-12), power(1.0), power(0.05)], ["10⁻³", "10⁻¹²", "1", "0.05"]);
        assert_eq!([time(1e-3), time(2e-5), time(0.5), time(10.0)], ["1 ms", "20 µs", "500 ms", "10 s"]);
    }
}

//! Performance profiles (Dolan and Moré 2002).
//!
//! With t_{p,s} the time of solver s on problem p, the ratio r_{p,s} = t_{p,s} / min_s t_{p,s} says
//! how many times slower than the fastest it is there, and is infinite where it failed. The
//! profile ρ_s(τ) is the fraction of all problems with r_{p,s} ≤ τ: at τ = 1 how often the solver
//! is the fastest, far to the right how often it solves a problem at all.

/// Ratios of the times of one problem to the least of them; `None` is a solve that failed.
pub(super) fn ratios(times: &[Option<f64>]) -> Vec<Option<f64>> {
    let fastest = times.iter().flatten().copied().fold(f64::INFINITY, f64::min);
    times.iter().map(|time| time.map(|t| if t <= fastest { 1.0 } else { t / fastest })).collect()
}

/// The steps of a profile: each τ at which it rises, ascending, and its value from there on. The
/// first is τ = 1, risen or not.
pub(super) fn profile(ratios: &[Option<f64>]) -> Vec<(f64, f64)> {
    let mut solved: Vec<f64> = ratios.iter().flatten().copied().collect();
    solved.sort_by(f64::total_cmp);
    let mut steps = vec![(1.0, 0.0)];
    for (k, τ) in solved.into_iter().enumerate() {
        let value = (k + 1) as f64 / ratios.len() as f64;
        match steps.last_mut() {
            Some(last) if last.0 == τ => last.1 = value,
            _ => steps.push((τ, value)),
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_to_the_fastest_that_converged() {
        assert_eq!(ratios(&[Some(2.0), None, Some(0.5), Some(0.5)]), [Some(4.0), None, Some(1.0), Some(1.0)]);
        assert_eq!(ratios(&[None, None]), [None, None]);
        // Times below what the clock can tell.
        assert_eq!(ratios(&[Some(0.0), Some(0.0)]), [Some(1.0), Some(1.0)]);
    }

    #[test]
    fn a_profile_rises_with_every_problem_solved() {
        let ratios = [Some(4.0), Some(1.0), None, Some(1.0)];
        assert_eq!(profile(&ratios), [(1.0, 0.5), (4.0, 0.75)]);
        assert_eq!(profile(&[Some(3.0), Some(2.0)]), [(1.0, 0.0), (2.0, 0.5), (3.0, 1.0)]);
    }

    #[test]
    fn a_solver_that_solves_nothing_stays_at_zero() {
        assert_eq!(profile(&[None, None]), [(1.0, 0.0)]);
    }

    #[test]
    fn unsolved_problems_count() {
        // Fastest wherever it gets there, and there is only half of the time.
        assert_eq!(profile(&[Some(1.0), None]), [(1.0, 0.5)]);
    }
}

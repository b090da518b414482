//! The scaling experiments of S4 (7.5, 7.6), with the efficiencies that its text gives. The times of
//! its figures are not in the text.

use super::machines::{EMMY, JUQUEEN, KnownMachine};

/// Which test problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum PaperProblem {
    /// S4 7.2.1: 10 sweeps, walls around it.
    Gas,
    /// S4 7.2.2: 100 sweeps, periodic in x and y.
    Packing,
}

/// Ranks along each axis, and bodies of a rank.
pub(super) type PaperRun = ([u32; 3], [f64; 3]);

/// A run against another.
pub(super) struct Experiment {
    pub(super) text: &'static str,
    pub(super) place: &'static KnownMachine,
    pub(super) problem: PaperProblem,
    pub(super) base: PaperRun,
    pub(super) run: PaperRun,
    /// The efficiency measured.
    pub(super) measured: f64,
    /// Whether the computing of this machine and problem is taken from this one.
    pub(super) calibrates: bool,
}

const fn cube(side: f64) -> [f64; 3] {
    [side, side, side]
}

/// Every efficiency that S4 states for Emmy and Juqueen, but for that within a node.
pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        text: "weak, 25³ a rank, 3D, 512 nodes",
        place: &EMMY,
        problem: PaperProblem::Gas,
        base: ([5, 2, 2], cube(25.0)),
        run: ([32, 20, 16], cube(25.0)),
        measured: 0.761,
        calibrates: true,
    },
    Experiment {
        text: "weak, 25³ a rank, 2D, 512 nodes",
        place: &EMMY,
        problem: PaperProblem::Gas,
        base: ([5, 4, 1], cube(25.0)),
        run: ([128, 80, 1], cube(25.0)),
        measured: 0.897,
        calibrates: false,
    },
    Experiment {
        text: "weak, 25³ a rank, 1D, 512 nodes",
        place: &EMMY,
        problem: PaperProblem::Gas,
        base: ([20, 1, 1], cube(25.0)),
        run: ([10_240, 1, 1], cube(25.0)),
        measured: 0.983,
        calibrates: false,
    },
    Experiment {
        text: "strong, 64 nodes, 6 400 a rank",
        place: &EMMY,
        problem: PaperProblem::Gas,
        base: ([5, 2, 2], [64.0, 80.0, 80.0]),
        run: ([16, 10, 8], [20.0, 16.0, 20.0]),
        measured: 1.0,
        calibrates: false,
    },
    Experiment {
        text: "strong, 512 nodes, 800 a rank",
        place: &EMMY,
        problem: PaperProblem::Gas,
        base: ([5, 2, 2], [64.0, 80.0, 80.0]),
        run: ([32, 20, 16], [10.0, 8.0, 10.0]),
        measured: 0.377,
        calibrates: false,
    },
    Experiment {
        text: "weak, 10³ a rank, 512 nodes",
        place: &EMMY,
        problem: PaperProblem::Packing,
        base: ([5, 4, 1], cube(10.0)),
        run: ([128, 80, 1], cube(10.0)),
        measured: 0.799,
        calibrates: true,
    },
    Experiment {
        text: "strong, 512 nodes, 800 a rank",
        place: &EMMY,
        problem: PaperProblem::Packing,
        base: ([5, 4, 1], [256.0, 160.0, 10.0]),
        run: ([128, 80, 1], [10.0, 8.0, 10.0]),
        measured: 1.13,
        calibrates: false,
    },
    Experiment {
        text: "weak, 10³ a rank, 28 672 nodes",
        place: &JUQUEEN,
        problem: PaperProblem::Gas,
        base: ([4, 4, 4], cube(10.0)),
        run: ([128, 128, 112], cube(10.0)),
        measured: 0.929,
        calibrates: true,
    },
    Experiment {
        text: "strong from 32 nodes, 1 024 nodes, 500 a rank",
        place: &JUQUEEN,
        problem: PaperProblem::Gas,
        base: ([16, 16, 8], [20.0, 20.0, 40.0]),
        run: ([64, 32, 32], [5.0, 10.0, 10.0]),
        measured: 0.807,
        calibrates: false,
    },
    Experiment {
        text: "strong from 32 nodes, 4 096 nodes, 125 a rank",
        place: &JUQUEEN,
        problem: PaperProblem::Gas,
        base: ([16, 16, 8], [20.0, 20.0, 40.0]),
        run: ([64, 64, 64], cube(5.0)),
        measured: 0.554,
        calibrates: false,
    },
    Experiment {
        text: "weak, 10³ a rank, 28 672 nodes",
        place: &JUQUEEN,
        problem: PaperProblem::Packing,
        base: ([8, 8, 1], cube(10.0)),
        run: ([1024, 1792, 1], cube(10.0)),
        measured: 0.914,
        calibrates: true,
    },
    Experiment {
        text: "strong from 32 nodes, 4 096 nodes, 160 a rank",
        place: &JUQUEEN,
        problem: PaperProblem::Packing,
        base: ([64, 32, 1], [32.0, 64.0, 10.0]),
        run: ([512, 512, 1], [4.0, 4.0, 10.0]),
        measured: 0.75,
        calibrates: false,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    fn bodies(run: PaperRun) -> f64 {
        run.0.iter().map(|&n| f64::from(n)).product::<f64>() * run.1.iter().product::<f64>()
    }

    /// Weak runs keep the bodies of a rank, strong ones those of all, and nodes are whole.
    #[test]
    fn runs_are_what_they_are_called() {
        for e in EXPERIMENTS {
            if e.text.starts_with("weak") {
                assert_eq!(e.base.1, e.run.1, "{}", e.text);
            } else {
                assert_eq!(bodies(e.base), bodies(e.run), "{}", e.text);
            }
            for run in [e.base, e.run] {
                assert_eq!(
                    run.0.iter().product::<u32>() % e.place.machine.ranks_a_node,
                    0,
                    "{} {}",
                    e.place.name,
                    e.text
                );
            }
        }
    }

    /// Every machine and problem has one run that says what computing takes.
    #[test]
    fn one_run_each_calibrates() {
        for e in EXPERIMENTS {
            let same = |o: &&Experiment| o.place.name == e.place.name && o.problem == e.problem && o.calibrates;
            assert_eq!(EXPERIMENTS.iter().filter(same).count(), 1, "{} {:?}", e.place.name, e.problem);
        }
    }
}

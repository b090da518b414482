//! Problems that other programs wrote: read, solved, and judged by code of its own.
//!
//! The tests pass over files that are missing, saying so. The natural residual and the objective
//! are evaluated by plain loops below, which share nothing with readers, operators and solvers.

use super::problems::{expected_objective, files};
use barchan::cone::solver::{Report, Solve, Solver, SolverFor, SolverName, SolverOptions, Status};
use barchan::cone::{AnyProblem, Assembled, BlockSparse, ConeProblem, ContactVec, Friction, Response};
use std::fs;
use std::path::Path;

fn load(path: &Path) -> Assembled {
    match AnyProblem::load(path).unwrap_or_else(|error| panic!("{error}")) {
        AnyProblem::Matrix(problem) => problem,
        AnyProblem::Bodies(_) => panic!("{} has no matrix", path.display()),
    }
}

/// Runs APGD.
fn solve(problem: &Assembled, tolerance: f64) -> (ContactVec, Report) {
    solve_by(problem, SolverName::Apgd, Friction::Associated, tolerance)
}

fn solve_by(problem: &Assembled, name: SolverName, law: Friction, tolerance: f64) -> (ContactVec, Report) {
    let max_iterations = 20_000;
    let options = SolverOptions { name, friction: Some(law), tolerance, max_iterations, ..SolverOptions::default() };
    let (mut r, mut response) = (ContactVec::zeros(problem.contacts()), Response::default());
    let mut solver = SolverFor::<BlockSparse<'_>>::new(name);
    let report = solver.solve(Solve::new(&mut BlockSparse::new(problem), &mut r, &mut response, &options));
    (r, report)
}

// ---------------------------------------------------------------- an independent judge

/// A problem as entries (row, column, value), read by plain splitting.
struct Plain {
    contacts: usize,
    entries: Vec<(usize, usize, f64)>,
    q: Vec<f64>,
    μ: Vec<f64>,
}

impl Plain {
    fn read(text: &str) -> Self {
        let mut words = text.split_whitespace().map(|word| word.parse::<f64>().expect("a number"));
        let mut next = || words.next().expect("more numbers");
        let mut whole = || next() as usize;
        assert_eq!(whole(), 3);
        let contacts = whole();
        assert_eq!([whole(), whole(), whole()], [1, 3 * contacts, 3 * contacts]);
        let blocks = whole();
        // Sizes and ends of blocks, which are all alike.
        for _ in 0..2 + 2 * contacts + 2 {
            whole();
        }
        let starts: Vec<usize> = (0..=contacts).map(|_| whole()).collect();
        let columns: Vec<usize> = (0..blocks).map(|_| whole()).collect();
        let mut entries = Vec::new();
        for row in 0..contacts {
            for &column in &columns[starts[row]..starts[row + 1]] {
                next();
                for k in 0..9 {
                    entries.push((3 * row + k % 3, 3 * column + k / 3, next()));
                }
            }
        }
        let q = (0..3 * contacts).map(|_| next()).collect();
        let μ = (0..contacts).map(|_| next()).collect();
        assert_eq!(words.next(), None);
        Self { contacts, entries, q, μ }
    }

    fn velocities(&self, r: &[f64]) -> Vec<f64> {
        let mut u = self.q.clone();
        for &(row, column, value) in &self.entries {
            u[row] += value * r[column];
        }
        u
    }

    /// ½rᵀWr + qᵀr.
    fn objective(&self, r: &[f64]) -> f64 {
        self.velocities(r).iter().zip(&self.q).zip(r).map(|((u, q), r)| 0.5 * (u + q) * r).sum()
    }

    /// ‖r − Π(r − ηu)‖/‖Π(−ηq)‖ with η the inverse of the mean diagonal; for Coulomb's law u and q
    /// with their terms μ|u_T| and μ|q_T|.
    fn natural_residual(&self, r: &[f64], law: Friction) -> f64 {
        let trace: f64 = self.entries.iter().filter(|e| e.0 == e.1).map(|e| e.2).sum();
        let η = (3 * self.contacts) as f64 / trace;
        let u = self.velocities(r);
        let (mut above, mut below) = (0.0, 0.0);
        for i in 0..self.contacts {
            let at = |v: &[f64]| [v[3 * i], v[3 * i + 1], v[3 * i + 2]];
            let (r, mut u, mut q) = (at(r), at(&u), at(&self.q));
            if law == Friction::Coulomb {
                u[0] += self.μ[i] * u[1].hypot(u[2]);
                q[0] += self.μ[i] * q[1].hypot(q[2]);
            }
            let moved = onto_cone([0, 1, 2].map(|k| r[k] - η * u[k]), self.μ[i]);
            let unit = onto_cone([0, 1, 2].map(|k| -η * q[k]), self.μ[i]);
            above += (0..3).map(|k| (r[k] - moved[k]).powi(2)).sum::<f64>();
            below += unit.iter().map(|x| x * x).sum::<f64>();
        }
        (above / below).sqrt()
    }
}

/// The nearest point of the cone |z_T| ≤ μz_N.
fn onto_cone([n, s, t]: [f64; 3], μ: f64) -> [f64; 3] {
    let slip = s.hypot(t);
    if slip <= μ * n {
        [n, s, t]
    } else if μ * slip <= -n {
        [0.0; 3]
    } else {
        let along = (n + μ * slip) / (1.0 + μ * μ);
        [along, μ * along * s / slip, μ * along * t / slip]
    }
}

// ---------------------------------------------------------------- tests

#[test]
fn files_are_read_as_they_stand_and_survive_a_round_trip() {
    for (name, path) in files() {
        let (problem, plain) = (load(&path), Plain::read(&fs::read_to_string(&path).expect("text")));
        assert_eq!(problem.contacts(), plain.contacts, "{name}");
        assert_eq!(9 * problem.blocks.len(), plain.entries.len(), "{name}");
        for &(row, column, value) in &plain.entries {
            let place = problem.find(row / 3, column / 3).expect("the block");
            assert_eq!(problem.blocks[place].col(column % 3)[row % 3], value, "{name} ({row}, {column})");
        }
        let mut text = Vec::new();
        problem.write(&mut text).expect("memory does not fail");
        assert_eq!(Assembled::read(text.as_slice(), &name).expect("a sound file"), problem);
        // And the operator applies that matrix.
        let r: Vec<f64> = (0..3 * plain.contacts).map(|k| (k as f64 * 0.37).sin()).collect();
        let vectors: Vec<_> = r.chunks(3).map(barchan::DVec3::from_slice).collect();
        let mut u = ContactVec::default();
        BlockSparse::new(&problem).gradient(&ContactVec::from_slice(&vectors), &mut u);
        let largest = plain.velocities(&r).iter().fold(0.0f64, |m, x| m.max(x.abs()));
        for (found, expected) in u.iter().flat_map(|u| u.to_array()).zip(plain.velocities(&r)) {
            assert!((found - expected).abs() <= 1e-13 * largest, "{name}: {found} is not {expected}");
        }
    }
}

#[test]
fn apgd_reaches_the_known_objectives() {
    for (name, path) in files() {
        let (problem, plain) = (load(&path), Plain::read(&fs::read_to_string(&path).expect("text")));
        for tolerance in [1e-5, 1e-8] {
            let (r, report) = solve(&problem, tolerance);
            assert_eq!(report.status, Status::Converged, "{name} {report:?}");
            let r: Vec<f64> = r.iter().flat_map(|r| r.to_array()).collect();
            let (natural, objective) = (plain.natural_residual(&r, Friction::Associated), plain.objective(&r));
            let expected = expected_objective(&path, &name);
            let off = (objective - expected).abs() / expected.abs();
            println!("{name}: {} iterations, residual {natural:.1e}, objective off by {off:.1e}", report.iterations);
            assert!(
                (natural - report.residuals.natural).abs() <= 1e-3 * natural + 1e-12,
                "{name} {natural} {report:?}"
            );
            assert!((objective - report.objective).abs() <= 1e-12 * objective.abs(), "{name} {objective} {report:?}");
            // Values are known to about 1e-9.
            let allowed = if tolerance == 1e-5 { 1e-4 } else { 1e-8 };
            assert!(off <= allowed, "{name}: {objective} is not {expected}");
        }
    }
}

/// The solvers of exact Coulomb friction that reach a tolerance, by name, for every file.
fn coulomb_solvers(tolerance: f64) -> Vec<(String, Vec<&'static str>)> {
    let mut table = Vec::new();
    for (name, path) in files() {
        let (problem, plain) = (load(&path), Plain::read(&fs::read_to_string(&path).expect("text")));
        let mut solved = Vec::new();
        for &(solver, text, _) in SolverName::ALL.iter().filter(|s| s.0.laws().contains(&Friction::Coulomb)) {
            let (r, report) = solve_by(&problem, solver, Friction::Coulomb, tolerance);
            let r: Vec<f64> = r.iter().flat_map(|r| r.to_array()).collect();
            assert!(r.iter().all(|x| x.is_finite()), "{name} {text}");
            let natural = plain.natural_residual(&r, Friction::Coulomb);
            println!("{name} {text}: {:?}, {} iterations, {natural:.1e}", report.status, report.iterations);
            // No solver claims what it has not reached.
            let reached = natural <= tolerance * (1.0 + 1e-6);
            assert!(reached || report.status != Status::Converged, "{name} {text} {natural} {report:?}");
            if reached {
                solved.push(text);
            }
        }
        table.push((name, solved));
    }
    table
}

#[test]
fn exact_coulomb_friction_is_solved() {
    let table = coulomb_solvers(1e-4);
    if table.is_empty() {
        return;
    }
    let by = |solver: &str| table.iter().filter(|(_, solved)| solved.contains(&solver)).count();
    assert!(by("nbgs") >= 7 && by("accelerated-gs") >= 7, "{table:?}");
    assert!(by("auto") == table.len() && by("apgd") == table.len() && by("scip") == table.len(), "{table:?}");
    assert!(table.iter().all(|(_, solved)| !solved.is_empty()), "{table:?}");
    let table = coulomb_solvers(1e-8);
    assert!(table.iter().filter(|(_, solved)| !solved.is_empty()).count() >= 7, "{table:?}");
}

/// One tolerance serves problems in any units, and the order of contacts is of no consequence.
#[test]
fn scaled_and_permuted_problems_are_solved_alike() {
    for (name, path) in files() {
        let problem = load(&path);
        let (_, report) = solve(&problem, 1e-7);
        // Masses by a million, velocities by a thousandth: the objective by both.
        let mut scaled = problem.clone();
        scaled.blocks.iter_mut().for_each(|block| *block *= 1e-6);
        (0..problem.contacts()).for_each(|i| scaled.bias.set(i, problem.bias.get(i) * 1e-3));
        let (_, other) = solve(&scaled, 1e-7);
        assert_eq!(other.status, Status::Converged, "{name} scaled");
        assert!((other.objective - report.objective).abs() <= 1e-6 * report.objective.abs(), "{name} scaled {other:?}");
        let (_, other) = solve(&reversed(&problem), 1e-7);
        assert_eq!(other.status, Status::Converged, "{name} reversed");
        assert!(
            (other.objective - report.objective).abs() <= 1e-6 * report.objective.abs(),
            "{name} reversed {other:?}"
        );
    }
}

/// The same contacts, the last first, by way of a file whose columns do not ascend.
fn reversed(problem: &Assembled) -> Assembled {
    let m = problem.contacts();
    let turned = |i: usize| m - 1 - i;
    let mut text = format!("3 {m} 1 {0} {0} {1} {m} {m}\n", 3 * m, problem.blocks.len());
    let ends: String = (1..=m).map(|i| format!("{} ", 3 * i)).collect();
    text += &format!("{ends}\n{ends}\n{} {}\n0 ", m + 1, problem.blocks.len());
    let (mut end, mut columns, mut blocks, mut index) = (0, String::new(), String::new(), 0);
    for i in (0..m).rev() {
        for (k, block) in problem.row(i) {
            columns += &format!("{} ", turned(k));
            let entries: String = block.to_cols_array().iter().map(|x| format!("{x:?} ")).collect();
            blocks += &format!("{index} {entries}\n");
            index += 1;
        }
        end += problem.row(i).count();
        text += &format!("{end} ");
    }
    text += &format!("\n{columns}\n{blocks}");
    (0..m).rev().map(|i| problem.bias.get(i)).for_each(|b| text += &format!("{:?} {:?} {:?}\n", b.x, b.y, b.z));
    (0..m).rev().for_each(|i| text += &format!("{:?}\n", problem.friction[i]));
    Assembled::read(text.as_bytes(), "reversed").unwrap_or_else(|error| panic!("{error}"))
}

/// Without the files, the judge is still tried: on a contact whose answer is known.
#[test]
fn one_contact_by_hand() {
    let text = "3 1 0 3 3 3 3  2 0 0  0 2 0  0 0 2  -1 3 0  0.5";
    let problem = Assembled::read(text.as_bytes(), "text").expect("a sound problem");
    let (r, report) = solve(&problem, 1e-12);
    assert_eq!(report.status, Status::Converged);
    // −q/2 projected onto the cone: W is a multiple of the identity.
    let expected = onto_cone([0.5, -1.5, 0.0], 0.5);
    for (found, expected) in r.get(0).to_array().iter().zip(expected) {
        assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
    }
    let mut sparse = Vec::new();
    problem.write(&mut sparse).expect("memory does not fail");
    let plain = Plain::read(&String::from_utf8(sparse).expect("text"));
    assert!(plain.natural_residual(&r.get(0).to_array(), Friction::Associated) < 1e-12);
    assert!((plain.natural_residual(&[0.0; 3], Friction::Associated) - 1.0).abs() < 1e-15);
    assert!((plain.objective(&r.get(0).to_array()) - report.objective).abs() < 1e-12);
}

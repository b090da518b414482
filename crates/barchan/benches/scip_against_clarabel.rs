//! The interior point against `clarabel` on the same cone complementarity problems, one thread.
//!
//! `cargo bench -p barchan --bench scip_against_clarabel`. Beds of spheres are settled first. Both
//! forms that suit clarabel are tried: in impulses, min ½γᵀAγ + bᵀγ over the cones, and in
//! velocities, min ½wᵀMw with T⁻¹(Dᵀw + b) in the symmetric cones. The faster counts. Times are the
//! least of three, set-up included; the objectives tell how exact both are.

use barchan::cone::solver::{AnySolver, Solve, Solver, SolverName, SolverOptions};
use barchan::cone::{Assembled, BodyVec, ContactVec, Friction, Geometry, MatrixFree, Problem, Workspace};
use barchan::step::Simulation;
use barchan::{DVec3, scenario};
use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SecondOrderConeT, SupportedConeT};
use std::time::Instant;

/// The contact problem of a settled bed of spheres.
fn settled(bodies: usize) -> Problem {
    let overrides = [("bodies".to_owned(), bodies.to_string())];
    let scene = scenario::find("sedimentation").and_then(|s| s.scene(&overrides)).expect("a scenario");
    let mut bed = Simulation::from_scene(&scene).expect("a sound scene");
    for _ in 0..500 {
        bed.step().expect("a finite state");
    }
    bed.pose().0.to_problem()
}

/// Places and values of a sparse matrix.
#[derive(Default)]
struct Triplets(Vec<usize>, Vec<usize>, Vec<f64>);

impl Triplets {
    fn push(&mut self, row: usize, column: usize, value: f64) {
        self.0.push(row);
        self.1.push(column);
        self.2.push(value);
    }

    fn matrix(self, rows: usize, columns: usize) -> CscMatrix {
        CscMatrix::new_from_triplets(rows, columns, self.0, self.1, self.2)
    }
}

/// A program for clarabel: min ½xᵀPx + qᵀx with b − Ax in the cones.
struct Program {
    p: CscMatrix,
    q: Vec<f64>,
    a: CscMatrix,
    b: Vec<f64>,
    cones: Vec<SupportedConeT<f64>>,
}

impl Program {
    /// Seconds, iterations and objective.
    fn solve(&self) -> (f64, u32, f64) {
        let settings = DefaultSettings { verbose: false, max_threads: 1, ..DefaultSettings::default() };
        let start = Instant::now();
        let mut solver =
            DefaultSolver::new(&self.p, &self.q, &self.a, &self.b, &self.cones, settings).expect("a program");
        solver.solve();
        (start.elapsed().as_secs_f64(), solver.solution.iterations, solver.solution.obj_val)
    }
}

fn cone(μ: f64) -> SupportedConeT<f64> {
    if μ > 0.0 { SecondOrderConeT(3) } else { NonnegativeConeT(1) }
}

/// In impulses, in units of mass and speed that make its tolerances mean something.
fn in_impulses(problem: &Problem, mass: f64, speed: f64) -> Program {
    let assembled = Assembled::from_problem(problem).expect("a sound problem");
    let m = assembled.contacts();
    let (mut p, mut a) = (Triplets::default(), Triplets::default());
    let (mut q, mut cones, mut row) = (vec![0.0; 3 * m], Vec::new(), 0);
    for i in 0..m {
        for (k, block) in assembled.row(i).filter(|(k, _)| *k >= i) {
            for r in 0..3 {
                for c in (0..3).filter(|c| 3 * k + c >= 3 * i + r) {
                    p.push(3 * i + r, 3 * k + c, block.col(c)[r] * mass);
                }
            }
        }
        let (μ, b) = (assembled.friction[i], assembled.bias.get(i) / speed);
        (0..3).for_each(|c| q[3 * i + c] = b[c]);
        cones.push(cone(μ));
        let size = if μ > 0.0 { 3 } else { 1 };
        for c in 0..size {
            a.push(row + c, 3 * i + c, if c == 0 && size == 3 { -μ } else { -1.0 });
        }
        row += size;
    }
    Program { p: p.matrix(3 * m, 3 * m), q, a: a.matrix(row, 3 * m), b: vec![0.0; row], cones }
}

/// In velocities, with spins in units of the radius.
fn in_velocities(problem: &Problem, mass: f64, speed: f64) -> Program {
    let Geometry { radius, inverse_inertia, .. } = &problem.geometry;
    let mut column = vec![None; problem.bodies()];
    let (mut p, mut a, mut columns) = (Triplets::default(), Triplets::default(), 0);
    for j in (0..problem.bodies()).filter(|&j| problem.inverse_mass[j] > 0.0) {
        column[j] = Some(columns);
        for c in 0..6 {
            let inverse = if c < 3 { problem.inverse_mass[j] } else { inverse_inertia[j] * radius[j] * radius[j] };
            p.push(columns + c, columns + c, 1.0 / (inverse * mass));
        }
        columns += 6;
    }
    let (mut b, mut cones) = (Vec::new(), Vec::new());
    for i in 0..problem.contacts() {
        let (n, μ, arms) = (problem.normals.get(i), problem.friction[i], problem.arms(i));
        let t = n.any_orthonormal_vector();
        let directions = if μ > 0.0 { vec![n / μ, t, n.cross(t)] } else { vec![n] };
        cones.push(cone(μ));
        for d in directions {
            for (side, sign) in [(0, 1.0), (1, -1.0)] {
                let j = problem.pairs[i][side] as usize;
                let Some(at) = column[j] else { continue };
                let spin = (arms[side] / radius[j]).cross(d) * sign;
                for c in 0..3 {
                    a.push(b.len(), at + c, -d[c] * sign);
                    a.push(b.len(), at + 3 + c, -spin[c]);
                }
            }
            b.push(d.dot(problem.bias.get(i)) / speed);
        }
    }
    Program { p: p.matrix(columns, columns), q: vec![0.0; columns], a: a.matrix(b.len(), columns), b, cones }
}

/// The fastest of three.
fn best<T>(run: impl Fn() -> (f64, u32, T)) -> (f64, u32, T) {
    let mut all: Vec<_> = (0..3).map(|_| run()).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all.swap_remove(0)
}

fn main() {
    // `cargo test --all-targets` only wants to know that it runs.
    let sizes: &[usize] = if std::env::args().any(|a| a == "--bench") { &[190, 400, 800, 1300, 1820] } else { &[20] };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    println!(
        "contacts   scip s (iterations)   clarabel s impulses (iterations)   velocities (iterations)   ratio   objectives, against scip"
    );
    for &bodies in sizes {
        let problem = settled(bodies);
        let mass = problem.inverse_mass.iter().filter(|x| **x > 0.0).map(|x| 1.0 / x).fold(0.0, f64::max);
        let speed = problem.bias.iter().map(DVec3::length).fold(0.0, f64::max);
        let scip = || {
            let start = Instant::now();
            let mut workspace = Workspace::default();
            let mut operator = MatrixFree::new(&problem, &mut workspace);
            let (mut γ, mut response) = (ContactVec::zeros(problem.contacts()), BodyVec::default());
            let options = SolverOptions {
                friction: Some(Friction::Associated),
                tolerance: 1e-5,
                max_iterations: 100,
                ..SolverOptions::default()
            };
            let report =
                AnySolver::new(SolverName::Scip).solve(Solve::new(&mut operator, &mut γ, &mut response, &options));
            (start.elapsed().as_secs_f64(), report.iterations, report.objective)
        };
        let here = pool.install(|| best(scip));
        let unit = mass * speed * speed;
        let (impulses, velocities) = (in_impulses(&problem, mass, speed), in_velocities(&problem, mass, speed));
        let (one, two) = (best(|| impulses.solve()), best(|| velocities.solve()));
        let apart = |objective: f64| (objective * unit - here.2) / here.2;
        println!(
            "{:8}   {:8.4} ({})   {:8.4} ({})   {:8.4} ({})   {:6.2}   {:.1e} {:.1e}",
            problem.contacts(),
            here.0,
            here.1,
            one.0,
            one.1,
            two.0,
            two.1,
            one.0.min(two.0) / here.0,
            apart(one.2),
            apart(-two.2),
        );
    }
}

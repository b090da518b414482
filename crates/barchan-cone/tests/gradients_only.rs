//! A problem that offers gradients and nothing else, such as one on a device: solved by what needs no
//! more, and refused to solvers that do.

use barchan_cone::solver::{NoSolver, Report, Solvable, Solve, Solver, SolverFor, SolverName, SolverOptions, Status};
use barchan_cone::{
    Assembled, ConeProblem, ContactScalars, ContactVec, Criterion, Descent, DescentStep, Extrapolation, Friction,
    Metric, Residuals,
};
use glam::{DMat3, DVec3, Vec3Swizzles};

/// One vector a contact, (normal, tangent 1, tangent 2).
type Vectors = Vec<DVec3>;

/// A dense problem, by plain loops.
struct Plain {
    blocks: Vec<Vec<DMat3>>,
    friction: Vec<f64>,
    bias: Vectors,
    shift: Option<Vectors>,
    law: Friction,
    /// Inverse of the mean diagonal.
    η: f64,
}

impl Plain {
    fn new(contacts: usize) -> Self {
        let mut seed = 7u64;
        let mut number = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        // W = BBᵀ + I/10 with random B.
        let b: Vec<Vec<DMat3>> = (0..contacts)
            .map(|_| (0..contacts).map(|_| DMat3::from_cols_array(&std::array::from_fn(|_| number()))).collect())
            .collect();
        let block = |i: usize, j: usize| {
            let own = if i == j { DMat3::IDENTITY * 0.1 } else { DMat3::ZERO };
            (0..contacts).fold(own, |sum, k| sum + b[i][k] * b[j][k].transpose())
        };
        let blocks: Vec<Vec<DMat3>> = (0..contacts).map(|i| (0..contacts).map(|j| block(i, j)).collect()).collect();
        let trace: f64 = (0..contacts).map(|i| (0..3).map(|k| blocks[i][i].col(k)[k]).sum::<f64>()).sum();
        Self {
            friction: (0..contacts).map(|i| 0.2 * (i % 4) as f64).collect(),
            bias: (0..contacts).map(|_| DVec3::new(number() - 0.5, number(), number())).collect(),
            blocks,
            shift: None,
            law: Friction::Associated,
            η: (3 * contacts) as f64 / trace,
        }
    }

    /// The same for the solvers of this crate.
    fn assembled(&self) -> Assembled {
        let m = self.bias.len();
        Assembled {
            starts: (0..=m).map(|i| i * m).collect(),
            columns: (0..m).flat_map(|_| 0..m as u32).collect(),
            blocks: self.blocks.concat(),
            friction: ContactScalars::from_slice(&self.friction),
            bias: ContactVec::from_slice(&self.bias),
            slip_rounding: 0.0,
        }
    }

    /// Π onto the cones.
    fn onto_cones(&self, z: &[DVec3]) -> Vectors {
        let onto = |(z, &μ): (&DVec3, &f64)| {
            let tangential = DVec3::new(0.0, z.y, z.z);
            let slip = tangential.length();
            if slip <= μ * z.x {
                *z
            } else if μ * slip <= -z.x {
                DVec3::ZERO
            } else {
                let along = (z.x + μ * slip) / (1.0 + μ * μ);
                DVec3::X * along + tangential * (μ * along / slip)
            }
        };
        z.iter().zip(&self.friction).map(onto).collect()
    }

    /// g with De Saxcé's term, where the law has it.
    fn judged(&self, g: &[DVec3]) -> Vectors {
        let is_coulomb = self.law == Friction::Coulomb;
        let term =
            |(g, μ): (&DVec3, &f64)| *g + if is_coulomb { DVec3::X * (μ * g.yz().length()) } else { DVec3::ZERO };
        g.iter().zip(&self.friction).map(term).collect()
    }

    /// ‖γ − Π(γ − ηg)‖.
    fn natural(&self, γ: &[DVec3], g: &[DVec3]) -> f64 {
        let g = self.judged(g);
        let z: Vectors = γ.iter().zip(&g).map(|(γ, g)| *γ - self.η * *g).collect();
        γ.iter().zip(self.onto_cones(&z)).map(|(a, b)| (*a - b).length_squared()).sum::<f64>().sqrt()
    }

    fn residual(&self, γ: &[DVec3], w: &[DVec3]) -> f64 {
        let zero = vec![DVec3::ZERO; γ.len()];
        let above = self.natural(γ, &self.velocities(w));
        if above == 0.0 { 0.0 } else { above / self.natural(&zero, &self.velocities(&zero)) }
    }

    /// Aγ + b with the shift, from w = Aγ.
    fn velocities(&self, w: &[DVec3]) -> Vectors {
        let shift = |i: usize| self.shift.as_ref().map_or(DVec3::ZERO, |shift| shift[i]);
        w.iter().zip(&self.bias).enumerate().map(|(i, (w, b))| *w + *b + shift(i)).collect()
    }
}

/// y = now + β(now − last).
fn ahead(now: &[DVec3], last: &[DVec3], β: f64) -> Vectors {
    now.iter().zip(last).map(|(a, b)| *a + (*a - *b) * β).collect()
}

fn dot(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum()
}

fn minus(a: &[DVec3], b: &[DVec3]) -> Vectors {
    a.iter().zip(b).map(|(a, b)| *a - *b).collect()
}

impl ConeProblem for Plain {
    type Impulses = Vectors;
    type Velocities = Vectors;

    fn contacts(&self) -> usize {
        self.bias.len()
    }
    fn shape_impulses(&self, γ: &mut Vectors) {
        γ.resize(self.bias.len(), DVec3::ZERO);
    }
    fn clear_impulses(&self, γ: &mut Vectors) {
        *γ = vec![DVec3::ZERO; self.bias.len()];
    }
    fn shape_velocities(&self, w: &mut Vectors) {
        self.shape_impulses(w);
    }
    fn clear_velocities(&self, w: &mut Vectors) {
        self.clear_impulses(w);
    }
    fn set_law(&mut self, law: Friction) {
        self.law = law;
    }
    fn set_shift(&mut self, shift: Option<&Vectors>) {
        self.shift = shift.cloned();
    }
    fn slip(&mut self, w: &Vectors, out: &mut Vectors) {
        let slip = |(g, μ): (&DVec3, &f64)| DVec3::X * (μ * g.yz().length());
        *out = self.velocities(w).iter().zip(&self.friction).map(slip).collect();
    }
    fn combine(&mut self, a: f64, x: &Vectors, c: f64, y: &Vectors, out: &mut Vectors) {
        *out = x.iter().zip(y).map(|(x, y)| a * *x + c * *y).collect();
    }
    // It has one metric, the identity.
    fn set_metric(&mut self, _: Metric) {}
    fn mean_scale(&self) -> f64 {
        1.0 / self.η
    }
    fn project(&mut self, γ: &mut Vectors) {
        *γ = self.onto_cones(γ);
    }
    fn gradient_at(&mut self, _: &Vectors, w: &Vectors, out: &mut Vectors) {
        *out = self.velocities(w);
    }
    fn dot(&mut self, a: &Vectors, b: &Vectors) -> f64 {
        dot(a, b)
    }
    fn dot_bias(&mut self, γ: &Vectors) -> f64 {
        dot(&self.bias, γ)
    }
    fn descend(&mut self, from: &Extrapolation<'_, Self>, step: &DescentStep, x: &mut Vectors) -> Descent {
        assert_eq!(step.criterion, Criterion::Natural);
        let y = ahead(from.γ, from.γ_last, from.β);
        let g = self.velocities(&ahead(from.w, from.w_last, from.β));
        let z: Vectors = y.iter().zip(&g).map(|(y, g)| *y - *g / step.lipschitz).collect();
        *x = self.onto_cones(&z);
        let d = minus(x, &y);
        let uphill = -dot(&d, &minus(x, from.γ));
        Descent { step_in_metric: dot(&d, &d), uphill, residual: self.residual(from.γ, from.w) }
    }
    fn respond(&mut self, x: &Vectors, from: &Extrapolation<'_, Self>, w: &mut Vectors) -> f64 {
        self.respond_to(x, w);
        let d = minus(x, &ahead(from.γ, from.γ_last, from.β));
        dot(&d, &minus(w, &ahead(from.w, from.w_last, from.β)))
    }
    fn respond_to(&mut self, γ: &Vectors, w: &mut Vectors) {
        let row = |row: &Vec<DMat3>| row.iter().zip(γ).fold(DVec3::ZERO, |sum, (block, γ)| sum + *block * *γ);
        *w = self.blocks.iter().map(row).collect();
    }
    fn residuals(&mut self, γ: &Vectors, w: &Vectors) -> (Residuals, f64) {
        let natural = self.residual(γ, w);
        (Residuals { natural, ..Residuals::default() }, dot(γ, &self.velocities(w)))
    }
}

impl Solvable for Plain {
    type Sweeping = NoSolver;
    type InteriorPoint = NoSolver;
}

fn options(name: SolverName, friction: Friction) -> SolverOptions {
    SolverOptions {
        name,
        friction: Some(friction),
        tolerance: 1e-9,
        max_iterations: 50_000,
        ..SolverOptions::default()
    }
}

/// Solves from a cold start: velocities Aγ + b, and the report.
fn solve(problem: &mut Plain, options: &SolverOptions) -> (Vectors, Report) {
    let mut γ = Vec::new();
    let mut response = Vec::new();
    let mut u = Vec::new();
    let mut solver = SolverFor::<Plain>::try_new(options.name).expect("a solver that is offered");
    problem.clear_impulses(&mut γ);
    let report = solver.solve(Solve::new(problem, &mut γ, &mut response, options));
    problem.gradient(&γ, &mut u);
    (u, report)
}

#[test]
fn apgd_and_auto_need_no_more_than_gradients() {
    let mut problem = Plain::new(12);
    let assembled = problem.assembled();
    assert_eq!(assembled.check(), Ok(()));
    for friction in [Friction::Associated, Friction::Coulomb] {
        let there = assembled.solve(&options(SolverName::AcceleratedGs, friction));
        assert_eq!(there.report.status, Status::Converged, "{friction:?}");
        for name in [SolverName::Apgd, SolverName::Auto] {
            let (u, report) = solve(&mut problem, &options(name, friction));
            assert_eq!(report.status, Status::Converged, "{name:?} {friction:?}: {report:?}");
            assert_eq!(report.taken, Some(SolverName::Apgd));
            for (here, there) in u.iter().zip(&there.velocities) {
                assert!((*here - *there).length() < 1e-6, "{name:?} {friction:?}: {here} is not {there}");
            }
        }
    }
}

#[test]
fn what_a_problem_does_not_offer_is_refused() {
    let refusal = |name| SolverFor::<Plain>::try_new(name).err().map(|refusal| refusal.to_string());
    assert_eq!(
        refusal(SolverName::Scip).as_deref(),
        Some("solver \"scip\" needs Newton systems, which this problem does not offer: use one of auto, apgd, jacobi")
    );
    assert_eq!(
        refusal(SolverName::Nbgs).as_deref(),
        Some(
            "solver \"nbgs\" needs sweeps over contacts, which this problem does not offer: use one of auto, apgd, jacobi"
        )
    );
    for name in [SolverName::Auto, SolverName::Apgd, SolverName::Jacobi] {
        assert_eq!(refusal(name), None);
    }
}

//! The symmetric-cone interior point (S1 III-B, S0 III-B): few iterations, each a linear system.
//!
//! In the symmetric form (`jordan`) the problem reads: find x and y = Ãx + b̃, both in K, with
//! x·y = 0. The method of S1 follows the points with x∘y = σe towards σ = 0. Here it does so by
//! Mehrotra's predictor and corrector, from points that need not fulfil y = Ãx + b̃, so there is
//! no artificial variable. With the scaling W of Nesterov and Todd, λ = Wy = W⁻¹x, a Newton step is
//!
//! ÃΔx − Δy = (1 − σ)(y − Ãx − b̃)
//! W⁻¹Δx + WΔy = −p, λ∘p = λ∘λ + (W⁻¹Δxₐ)∘(WΔyₐ) − σνe,
//!
//! where Δxₐ, Δyₐ is the predictor (σ = 0, without the second-order term) and ν the mean x·y.
//! With ρ = y − Ãx − b̃ that is Δx = −Wp − W²Δy, Δy = ÃΔx − (1 − σ)ρ, or in impulses Δγ = q − HAΔγ
//! with H = T⁻¹W²T⁻¹ and q = T⁻¹((1 − σ)W²ρ − Wp): one matrix for predictor and corrector. The
//! problem solves it ([`NewtonProblem`]) and returns AΔγ, from which Δy follows, and then Δx.
//!
//! Where contacts neither press nor part, impulses and velocities are both of the order of √ν, and
//! ν can fall no further than the rounding of velocities allows. So a solve that ends short of its
//! tolerance is handed to APGD, which knows zero from small and has few digits left to find. So is
//! one that has no interior to go through: rows may forbid a contact to part at all.
//!
//! Impulses γ = T⁻¹x lie inside their cones always. Stopping is judged on them with their own
//! response. Bilateral rows have y = 0 and H = 1/δ, a slight compliance of the system alone:
//! what it leaves of a row's velocity, the next step removes.

use super::jordan::{Cone, Scaling};
use super::{Apgd, Friction, Report, Solve, Solver, Status};
use crate::{Fold, NewtonOptions, NewtonProblem, Unknown};
use glam::DVec3;

/// Part of the way to the boundary that a step goes.
const BOLD: f64 = 0.99;
/// How much larger than the problem's scale the start is: rather far off than too near a boundary.
const AMPLE: f64 = 3.0;
/// Compliance of bilateral rows, against the diagonal of A.
const COMPLIANCE: f64 = 1e-9;
/// Iterations without a better residual after which a solve counts as stalled.
const PATIENCE: u32 = 20;
/// Steps shorter than this lead nowhere.
const SHORTEST: f64 = 1e-10;

/// The solver's memory, kept between solves.
pub struct Scip<I, V> {
    x: I,
    y: I,
    /// Aγ + b.
    g: I,
    /// The inverse of P.
    h: [I; 2],
    /// y − Ãx − b̃.
    ρ: I,
    /// Wp of the corrector.
    s: I,
    /// Right-hand side of a system, and its solution Δγ with AΔγ.
    q: I,
    δ: I,
    u: I,
    /// A step.
    δx: I,
    δy: I,
    γ: I,
    w: V,
    apgd: Apgd<I, V>,
}

impl<I: Default, V: Default> Default for Scip<I, V> {
    fn default() -> Self {
        Self {
            x: I::default(),
            y: I::default(),
            g: I::default(),
            h: Default::default(),
            ρ: I::default(),
            s: I::default(),
            q: I::default(),
            δ: I::default(),
            u: I::default(),
            δx: I::default(),
            δy: I::default(),
            γ: I::default(),
            w: V::default(),
            apgd: Apgd::default(),
        }
    }
}

impl<I, V> Scip<I, V> {
    /// What the next solve takes over from the last.
    pub(crate) fn estimate(&mut self) -> &mut Option<f64> {
        self.apgd.estimate()
    }
}

impl<P: NewtonProblem> Solver<P> for Scip<P::Impulses, P::Velocities> {
    fn solve(&mut self, mut solve: Solve<'_, P>) -> Report {
        if let Some(report) = solve.report_if_empty() {
            return report;
        }
        let mut report = Report::default();
        solve.problem.set_law(Friction::Associated);
        let status = self.start(&mut solve, &mut report);
        if solve.keep_history {
            report.remember(report.residual);
        }
        report.status = match status {
            Some(status) => status,
            None => self.iterate(&mut solve, &mut report),
        };
        if report.status == Status::Stalled {
            self.polish(&mut solve, &mut report);
        }
        report.judge(&mut solve);
        report
    }
}

impl<I: Default, V: Default> Scip<I, V> {
    /// Tries the impulses given and none at all. After it: γ holds the better of both, x and y the
    /// point to start from. Returns a status if that was all.
    fn start<P: NewtonProblem<Impulses = I, Velocities = V>>(
        &mut self,
        solve: &mut Solve<'_, P>,
        report: &mut Report,
    ) -> Option<Status> {
        let Solve { problem, γ, response, options, .. } = solve.reborrow();
        problem.set_metric(crate::Metric::Contact);
        // None at all: its gradient is b, without which there is nowhere to start from.
        problem.clear_impulses(&mut self.γ);
        problem.clear_velocities(&mut self.w);
        let cold = problem.residuals(&self.γ, &self.w).0.by(options.criterion);
        problem.shape_impulses(γ);
        problem.project(γ);
        problem.respond_to(γ, response);
        report.operator_applications = 1;
        report.residual = problem.residuals(γ, response).0.by(options.criterion);
        let is_warm = report.residual < cold;
        if !is_warm {
            std::mem::swap(γ, &mut self.γ);
            std::mem::swap(response, &mut self.w);
            report.residual = cold;
        }
        if !cold.is_finite() {
            return Some(Status::BadProblem);
        } else if report.residual <= options.tolerance {
            return Some(Status::Converged);
        } else if options.max_iterations == 0 {
            return Some(Status::IterationLimit);
        }
        problem.clear_velocities(&mut self.w);
        problem.gradient_at(&self.w, &mut self.g);
        // Energies |b̃|²/ã of the contacts give the scale of x·y.
        let fold = problem.map([&self.g], [], |unknown, [b], []| match *unknown {
            Unknown::Contact { .. } => {
                let cone = Cone::of(unknown);
                Fold::of_sums([cone.unscale(b).length_squared() / scale(unknown, &cone), 1.0, 0.0, 0.0])
            }
            Unknown::Row { scale } => Fold::of_sums([0.0, 0.0, b.x * b.x / scale, 1.0]),
        });
        let [energy, cones, of_rows, rows] = fold.sums;
        let size = AMPLE * ((energy + of_rows) / (cones + rows).max(1.0)).sqrt();
        problem.map([], [&mut self.x, &mut self.y], |unknown, [], [x, y]| {
            let cone = Cone::of(unknown);
            let ã = scale(unknown, &cone).sqrt();
            (*x, *y) = (cone.unit() * (size / ã), cone.unit() * (size * ã));
            Fold::default()
        });
        if size > 0.0 && size.is_finite() { None } else { Some(Status::Stalled) }
    }

    fn iterate<P: NewtonProblem<Impulses = I, Velocities = V>>(
        &mut self,
        solve: &mut Solve<'_, P>,
        report: &mut Report,
    ) -> Status {
        let Solve { problem, γ, response, options, keep_history } = solve.reborrow();
        // The best residual, and the best of the iterates: the first of them may be far worse than
        // the impulses to start from.
        let (mut best, mut lowest, mut last_lower) = (report.residual, f64::INFINITY, 0);
        let system = options.scip.newton();
        loop {
            if !self.step(problem, &system, report) {
                return Status::Stalled;
            }
            report.iterations += 1;
            // Judge the new impulses.
            let (x, next) = (&self.x, &mut self.γ);
            problem.map([x], [next], |unknown, [x], [γ]| {
                *γ = Cone::of(unknown).unscale(x);
                Fold::default()
            });
            problem.project(&mut self.γ);
            problem.respond_to(&self.γ, &mut self.w);
            report.operator_applications += 1;
            let residual = problem.residuals(&self.γ, &self.w).0.by(options.criterion);
            if keep_history {
                report.remember(residual);
            }
            if !residual.is_finite() {
                return Status::Stalled;
            }
            problem.gradient_at(&self.w, &mut self.g);
            if residual < lowest {
                (lowest, last_lower) = (residual, report.iterations);
            }
            if residual < best {
                best = residual;
                std::mem::swap(γ, &mut self.γ);
                std::mem::swap(response, &mut self.w);
            }
            if best <= options.tolerance {
                return Status::Converged;
            } else if report.iterations >= options.max_iterations {
                return Status::IterationLimit;
            } else if report.iterations - last_lower >= PATIENCE {
                return Status::Stalled;
            }
        }
    }

    /// Hands the best impulses to APGD for what iterations are left.
    fn polish<P: NewtonProblem<Impulses = I, Velocities = V>>(
        &mut self,
        solve: &mut Solve<'_, P>,
        report: &mut Report,
    ) {
        let options = solve.options.after(report.iterations);
        let rest = self.apgd.solve(solve.with(&options));
        report.remember_all(&rest);
        report.iterations += rest.iterations;
        report.operator_applications += rest.operator_applications;
        report.status = rest.status;
    }

    /// One predictor and corrector from x, y with g = Aγ + b. Says whether it led anywhere.
    fn step<P: NewtonProblem<Impulses = I, Velocities = V>>(
        &mut self,
        problem: &mut P,
        system: &NewtonOptions,
        report: &mut Report,
    ) -> bool {
        let Self { x, y, g, h: [h0, h1], ρ, s, q, δ, u, δx, δy, .. } = self;
        // The system, what y = Ãx + b̃ lacks, and the predictor's right-hand side.
        let fold = problem.map([x, y, g], [h0, h1, ρ, q], |unknown, [x, y, g], [h0, h1, ρ, q]| {
            let cone = Cone::of(unknown);
            if let Unknown::Row { scale } = *unknown {
                let h = 1.0 / (COMPLIANCE * scale);
                (*h0, *h1, *ρ, *q) = (DVec3::X * h, DVec3::ZERO, -g, g * -h);
                return Fold::default();
            }
            let scaling = Scaling::new(&cone, x, y);
            [*h0, *h1] = scaling.inverse_of_p(&cone);
            *ρ = y - cone.unscale(g);
            *q = cone.unscale(scaling.apply_twice(*ρ) - x);
            Fold::of_sums([x.dot(y), 1.0, 0.0, 0.0])
        });
        let [total, cones, ..] = fold.sums;
        let ν = total / cones.max(1.0);
        if !total.is_finite() || !problem.factor([&*h0, &*h1], system) {
            return false;
        }
        report.operator_applications += problem.solve(q, δ, u);

        // The predictor: where it meets a boundary, and what x·y would be there.
        let fold = problem.map([x, y, ρ, δ, u], [δx, δy], |unknown, [x, y, ρ, δ, u], [δx, δy]| {
            let cone = Cone::of(unknown);
            if cone == Cone::Free {
                return Fold::default();
            }
            *δy = cone.unscale(u) - ρ;
            let scaling = Scaling::new(&cone, x, y);
            *δx = scaling.mend(cone.scale(δ), -x - scaling.apply_twice(*δy));
            let sums = [x.dot(*δy) + y.dot(*δx), δx.dot(*δy), 0.0, 0.0];
            Fold { sums, min: cone.largest_step(x, *δx).min(cone.largest_step(y, *δy)) }
        });
        let α = fold.min.min(1.0);
        let ahead = (total + α * (fold.sums[0] + α * fold.sums[1])).max(0.0);
        let σ = if total > 0.0 { (ahead / total).min(1.0).powi(3) } else { 0.0 };

        // The corrector.
        problem.map([x, y, ρ, δx, δy], [q, s], |unknown, [x, y, ρ, δx, δy], [q, s]| {
            let cone = Cone::of(unknown);
            if cone == Cone::Free {
                return Fold::default();
            }
            let scaling = Scaling::new(&cone, x, y);
            let λ = scaling.apply(y);
            let target = cone.times(λ, λ) + cone.times(scaling.undo(δx), scaling.apply(δy)) - cone.unit() * (σ * ν);
            *s = scaling.apply(cone.divide(target, λ));
            *q = cone.unscale(scaling.apply_twice(ρ * (1.0 - σ)) - *s);
            Fold::default()
        });
        report.operator_applications += problem.solve(q, δ, u);
        let fold = problem.map([x, y, ρ, δ, u, s], [δx, δy], |unknown, [x, y, ρ, δ, u, s], [δx, δy]| {
            let cone = Cone::of(unknown);
            if cone == Cone::Free {
                (*δx, *δy) = (δ, DVec3::ZERO);
                return Fold::of_sums([δx.length_squared(), 0.0, 0.0, 0.0]);
            }
            *δy = cone.unscale(u) - ρ * (1.0 - σ);
            let scaling = Scaling::new(&cone, x, y);
            *δx = scaling.mend(cone.scale(δ), -s - scaling.apply_twice(*δy));
            let min = cone.largest_step(x, *δx).min(cone.largest_step(y, *δy));
            Fold { sums: [δx.length_squared() + δy.length_squared(), 0.0, 0.0, 0.0], min }
        });
        let α = (BOLD * fold.min).min(1.0);
        if !fold.sums[0].is_finite() || α.is_nan() || α < SHORTEST {
            return false;
        }
        problem.map([&*δx, &*δy], [x, y], |unknown, [δx, δy], [x, y]| {
            let cone = Cone::of(unknown);
            (*x, *y) = (cone.inside(*x + δx * α), cone.inside(*y + δy * α));
            Fold::default()
        });
        true
    }
}

/// The scale ã of a contact's diagonal block in Ã.
fn scale(unknown: &Unknown, cone: &Cone) -> f64 {
    match (*unknown, *cone) {
        (Unknown::Contact { scale: [normal, tangential], .. }, Cone::Round(_, μ)) => {
            (normal / (μ * μ) + 2.0 * tangential) / 3.0
        }
        (Unknown::Contact { scale: [normal, _], .. }, _) => normal,
        (Unknown::Row { scale }, _) => scale,
    }
}

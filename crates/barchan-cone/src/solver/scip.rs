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
//! Under Coulomb's law b contains De Saxcé's term, which follows the velocities y from step to step. It may change all the
//! time: what y = Ãx + b̃ lacks by that, the next step makes good. Most problems take half as many steps again as under the
//! associated law, where an outer loop takes five to ten times as many. Where it leads nowhere, the caller has that loop.
//!
//! Impulses γ = T⁻¹x lie inside their cones always. Residuals are those of γ with its own
//! response. Rows have y = 0 and H = 1/(δ + c), beside their own compliance a slight one of the system alone:
//! what it leaves of a row's velocity, the next step removes. A row that leaves its interval is held at the end (H = 0) for
//! as long as it is pressed against it.

use super::jordan::{Cone, Scaling};
use super::stopping::{Next, NotFinite, Stopping};
use super::worth::Worth;
use super::{Apgd, Friction, Report, Solve, Solver, Status};
use crate::{Fold, NewtonOptions, NewtonProblem, Unknown};
use glam::DVec3;

/// Part of the way to the boundary that a step goes.
const BOLD: f64 = 0.99;
/// How much larger than the problem's scale the start is: rather far off than too near a boundary.
const AMPLE: f64 = 3.0;
/// Compliance of bilateral rows, against the diagonal of A.
const COMPLIANCE: f64 = 1e-9;
/// Iterations without a better iterate that are borne: after one more a solve counts as stalled.
const PATIENCE: u32 = 19;
/// Under Coulomb's law: a step shorter than this is followed by one with so much centring.
const SHORT: f64 = 0.3;
const CENTRED: f64 = 0.3;
/// Steps shorter than this lead nowhere.
const SHORTEST: f64 = 1e-10;
/// Nor do those that are shorter than this where y lacks so many times what it did before: linear systems have no digits
/// left.
const LOST_STEP: f64 = 1e-2;
const LOST_DIGITS: f64 = 100.0;

/// The solver's memory, kept between solves.
pub struct Scip<I, V> {
    x: I,
    y: I,
    /// Under Coulomb's law: De Saxcé's term of y.
    shift: I,
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
            shift: I::default(),
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
    /// The estimate of APGD: all that the next solve takes over from the last.
    pub(super) fn lipschitz(&mut self) -> &mut Option<f64> {
        self.apgd.lipschitz()
    }
}

impl<P: NewtonProblem> Solver<P> for Scip<P::Impulses, P::Velocities> {
    fn solve(&mut self, mut solve: Solve<'_, P>) -> Report {
        if let Some(report) = solve.report_if_empty() {
            return report;
        }
        let mut report = Report::default();
        let law = solve.options.law();
        if law == Friction::Coulomb {
            solve.problem.set_shift(None);
        }
        solve.problem.set_law(law);
        let status = self.start(&mut solve, &mut report);
        if solve.record_history {
            report.record(report.residual);
        }
        report.status = match status {
            Some(status) => status,
            None => self.iterate(&mut solve, &mut report),
        };
        if law == Friction::Coulomb {
            solve.problem.set_shift(None);
        } else if report.status == Status::Stalled {
            self.polish(&mut solve, &mut report);
        }
        report.finish(&mut solve);
        report
    }
}

impl<I: Default, V: Default> Scip<I, V> {
    /// Tries the impulses given and zero impulses. After it: γ holds the better of both, x and y the
    /// point to start from. Returns a status if that was all.
    fn start<P: NewtonProblem<Impulses = I, Velocities = V>>(
        &mut self,
        solve: &mut Solve<'_, P>,
        report: &mut Report,
    ) -> Option<Status> {
        solve.problem.set_metric(crate::Metric::Contact);
        solve.project_start();
        report.operator_applications = 1;
        let Solve { problem, γ, response, options, .. } = solve.reborrow();
        // Zero impulses: their gradient is b, without which there is nowhere to start from.
        problem.clear_impulses(&mut self.γ);
        problem.clear_velocities(&mut self.w);
        let cold = problem.residuals(&self.γ, &self.w).0.by(options.criterion);
        report.residual = problem.residuals(γ, response).0.by(options.criterion);
        let is_warm = report.residual < cold;
        if !is_warm {
            std::mem::swap(γ, &mut self.γ);
            std::mem::swap(response, &mut self.w);
            report.cold_starts += u32::from(report.residual > cold && cold > 0.0);
            report.residual = cold;
        }
        if !cold.is_finite() {
            return Some(Status::BadProblem);
        } else if report.residual <= options.tolerance {
            return Some(Status::Converged);
        } else if options.max_iterations == 0 {
            return Some(Status::IterationLimit);
        }
        problem.clear_impulses(&mut self.shift);
        problem.clear_velocities(&mut self.w);
        problem.gradient_at(&self.shift, &self.w, &mut self.g);
        let size = AMPLE * mean_energy(problem, &self.g).sqrt();
        problem.map([], [&mut self.x, &mut self.y], |unknown, [], [x, y]| {
            let cone = Cone::of(unknown);
            let ã = scale(unknown, &cone).sqrt();
            *x = cone.unit() * (size / ã);
            *y = cone.unit() * (size * ã);
            Fold::default()
        });
        if size > 0.0 && size.is_finite() { None } else { Some(Status::Stalled) }
    }

    /// Iterates until something ends it. γ then holds the best impulses.
    fn iterate<P: NewtonProblem<Impulses = I, Velocities = V>>(
        &mut self,
        solve: &mut Solve<'_, P>,
        report: &mut Report,
    ) -> Status {
        // The rule knows the iterates only: the first of them may be far worse than what γ holds.
        let mut stopping = Stopping::new(solve, PATIENCE, NotFinite::Failed);
        let mut best = Worth { residual: report.residual, objective: 0.0 };
        let Solve { problem, γ, response, options, .. } = solve.reborrow();
        best.objective = 0.5 * (problem.residuals(γ, response).1 + problem.dot_bias(γ));
        let system = options.scip.newton();
        let is_coulomb = options.law() == Friction::Coulomb;
        let (mut least_σ, mut least_lack) = (0.0, f64::INFINITY);
        loop {
            let Some(Advance { α, lack }) = self.step(problem, &system, least_σ, report) else {
                return Status::Stalled;
            };
            least_lack = lack.min(least_lack);
            if α < LOST_STEP && lack > LOST_DIGITS * least_lack && !is_coulomb {
                return Status::Stalled;
            }
            // A term that has changed may lie across the path: back to its middle.
            least_σ = if is_coulomb && α < SHORT { CENTRED } else { 0.0 };
            report.iterations += 1;
            // The new impulses, with their response and residual.
            problem.map([&self.x], [&mut self.γ], |unknown, [x], [γ]| {
                *γ = Cone::of(unknown).unscale(x);
                Fold::default()
            });
            problem.project(&mut self.γ);
            // Rows have no interior to stay in: they are where their intervals leave them.
            problem.map([&self.γ], [&mut self.x], |unknown, [γ], [x]| {
                if matches!(unknown, Unknown::Row { .. }) {
                    *x = γ;
                }
                Fold::default()
            });
            problem.respond_to(&self.γ, &mut self.w);
            report.operator_applications += 1;
            let (residuals, work) = problem.residuals(&self.γ, &self.w);
            let residual = residuals.by(options.criterion);
            let worth = Worth { residual, objective: 0.5 * (work + problem.dot_bias(&self.γ)) };
            let next = stopping.observe(residual, false, report);
            if next == Next::GoOn {
                if is_coulomb {
                    self.follow_slip(problem);
                }
                problem.gradient_at(&self.γ, &self.w, &mut self.g);
            }
            let is_better = if is_coulomb { residual < best.residual } else { worth.is_better_than(&best) };
            if is_better || next == Next::End(Status::Converged) {
                best = worth;
                std::mem::swap(γ, &mut self.γ);
                std::mem::swap(response, &mut self.w);
            }
            if let Next::End(status) = next {
                return status;
            }
        }
    }

    /// Takes De Saxcé's term from the velocities y.
    fn follow_slip<P: NewtonProblem<Impulses = I, Velocities = V>>(&mut self, problem: &mut P) {
        let ε = problem.slip_rounding();
        problem.map([&self.y], [&mut self.shift], |unknown, [y], [shift]| {
            *shift = match Cone::of(unknown) {
                Cone::Round(n, μ) => n * (μ * (((y - n * y.dot(n)).length_squared() + ε * ε).sqrt() - ε)),
                Cone::Ray(_) | Cone::Free => DVec3::ZERO,
            };
            Fold::default()
        });
        problem.set_shift(Some(&self.shift));
    }

    /// Hands the best impulses to APGD for what iterations are left.
    fn polish<P: NewtonProblem<Impulses = I, Velocities = V>>(
        &mut self,
        solve: &mut Solve<'_, P>,
        report: &mut Report,
    ) {
        let options = solve.options.after(report.iterations);
        let rest = self.apgd.solve(solve.with(&options));
        report.append_history(&rest);
        report.iterations += rest.iterations;
        report.operator_applications += rest.operator_applications;
        report.status = rest.status;
    }

    /// One predictor and corrector from x, y with g = Aγ + b, centred by σ at least. Nothing if it led nowhere.
    fn step<P: NewtonProblem<Impulses = I, Velocities = V>>(
        &mut self,
        problem: &mut P,
        system: &NewtonOptions,
        least_σ: f64,
        report: &mut Report,
    ) -> Option<Advance> {
        let gap = self.set_up(problem, system)?;
        report.operator_applications += problem.solve(&self.q, &mut self.δ, &mut self.u);
        let σ = self.predict(problem, gap).max(least_σ);
        self.aim(problem, σ, gap);
        report.operator_applications += problem.solve(&self.q, &mut self.δ, &mut self.u);
        let α = self.correct(problem, σ)?;
        problem.map([&self.δx, &self.δy], [&mut self.x, &mut self.y], |unknown, [δx, δy], [x, y]| {
            let cone = Cone::of(unknown);
            *x = cone.inside(*x + δx * α);
            *y = cone.inside(*y + δy * α);
            Fold::default()
        });
        Some(Advance { α, lack: gap.lack })
    }

    /// After it: ρ holds what y = Ãx + b̃ lacks, q the predictor's right-hand side, and the system is
    /// factored. Returns x·y, or nothing where that could not be done.
    fn set_up<P: NewtonProblem<Impulses = I>>(&mut self, problem: &mut P, system: &NewtonOptions) -> Option<Gap> {
        let Self { x, y, g, h: [h0, h1], ρ, q, .. } = self;
        let fold = problem.map([x, y, g], [h0, h1, ρ, q], |unknown, [x, y, g], [h0, h1, ρ, q]| {
            let cone = Cone::of(unknown);
            if let Unknown::Row { scale, compliance, limits: [lo, hi] } = *unknown {
                // What is pressed against an end of its interval stays there.
                let is_held = x.x <= lo && g.x > 0.0 || x.x >= hi && g.x < 0.0;
                let h = if is_held { 0.0 } else { 1.0 / (COMPLIANCE * scale + compliance) };
                *h0 = DVec3::X * h;
                *h1 = DVec3::ZERO;
                *ρ = -g;
                *q = g * -h;
                return Fold::default();
            }
            let scaling = Scaling::new(&cone, x, y);
            [*h0, *h1] = scaling.inverse_of_p(&cone);
            *ρ = y - cone.unscale(g);
            *q = cone.unscale(scaling.apply_twice(*ρ) - x);
            Fold::of_sums([x.dot(y), 1.0, ρ.length_squared(), 0.0])
        });
        let [total, cones, lack, _] = fold.sums;
        let is_factored = total.is_finite() && problem.factor([&*h0, &*h1], system);
        is_factored.then(|| Gap { total, mean: total / cones.max(1.0), lack: lack.sqrt() })
    }

    /// The predictor: where it meets a boundary, what x·y would be there, and from that the centring σ.
    fn predict<P: NewtonProblem<Impulses = I>>(&mut self, problem: &mut P, gap: Gap) -> f64 {
        let Self { x, y, ρ, δ, u, δx, δy, .. } = self;
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
        let ahead = (gap.total + α * (fold.sums[0] + α * fold.sums[1])).max(0.0);
        if gap.total > 0.0 { (ahead / gap.total).min(1.0).powi(3) } else { 0.0 }
    }

    /// After it: q holds the corrector's right-hand side, s its Wp.
    fn aim<P: NewtonProblem<Impulses = I>>(&mut self, problem: &mut P, σ: f64, gap: Gap) {
        let ν = gap.mean;
        let Self { x, y, ρ, δx, δy, q, s, .. } = self;
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
    }

    /// The corrector, into δx and δy. Returns how far to go along it, or nothing if that is nowhere.
    fn correct<P: NewtonProblem<Impulses = I>>(&mut self, problem: &mut P, σ: f64) -> Option<f64> {
        let Self { x, y, ρ, s, δ, u, δx, δy, .. } = self;
        let fold = problem.map([x, y, ρ, δ, u, s], [δx, δy], |unknown, [x, y, ρ, δ, u, s], [δx, δy]| {
            let cone = Cone::of(unknown);
            if cone == Cone::Free {
                *δx = δ;
                *δy = DVec3::ZERO;
                return Fold::of_sums([δx.length_squared(), 0.0, 0.0, 0.0]);
            }
            *δy = cone.unscale(u) - ρ * (1.0 - σ);
            let scaling = Scaling::new(&cone, x, y);
            *δx = scaling.mend(cone.scale(δ), -s - scaling.apply_twice(*δy));
            let min = cone.largest_step(x, *δx).min(cone.largest_step(y, *δy));
            Fold { sums: [δx.length_squared() + δy.length_squared(), 0.0, 0.0, 0.0], min }
        });
        let α = (BOLD * fold.min).min(1.0);
        (fold.sums[0].is_finite() && α >= SHORTEST).then_some(α)
    }
}

/// x·y of the present point: the sum over all cones, and the mean ν.
#[derive(Clone, Copy)]
struct Gap {
    total: f64,
    mean: f64,
    /// ‖ρ‖: what y lacks.
    lack: f64,
}

/// A step that was made.
struct Advance {
    /// How far it went.
    α: f64,
    /// ‖ρ‖ before it.
    lack: f64,
}

/// The mean of |b̃|²/ã over all unknowns, which gives the scale of x·y.
fn mean_energy<P: NewtonProblem>(problem: &mut P, b: &P::Impulses) -> f64 {
    let fold = problem.map([b], [], |unknown, [b], []| match *unknown {
        Unknown::Contact { .. } => {
            let cone = Cone::of(unknown);
            Fold::of_sums([cone.unscale(b).length_squared() / scale(unknown, &cone), 1.0, 0.0, 0.0])
        }
        Unknown::Row { scale, .. } => Fold::of_sums([0.0, 0.0, b.x * b.x / scale, 1.0]),
    });
    let [of_contacts, contacts, of_rows, rows] = fold.sums;
    (of_contacts + of_rows) / (contacts + rows).max(1.0)
}

/// The scale ã of a contact's diagonal block in Ã.
fn scale(unknown: &Unknown, cone: &Cone) -> f64 {
    match (*unknown, *cone) {
        (Unknown::Contact { scale: [normal, tangential], .. }, Cone::Round(_, μ)) => {
            (normal / (μ * μ) + 2.0 * tangential) / 3.0
        }
        (Unknown::Contact { scale: [normal, _], .. }, _) => normal,
        (Unknown::Row { scale, .. }, _) => scale,
    }
}

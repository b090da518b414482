//! One step of a simulation: the method's table of contents.

use crate::broad::{self, Aabb, BroadPhase, BroadPhaseOptions, Pairs, hull};
use crate::integrate;
use crate::narrow::{Contacts, Penetration};
use crate::problem::{
    BodyVec, ContactOptions, ContactVec, MatrixFree, Problem, SweepIterate, WarmStart, Workspace, assemble,
};
use crate::scene::{Scene, SceneError};
use crate::solver::{AnySolver, Report, Solver, SolverOptions, Status};
use crate::util::parallel::{CHUNK, fold_chunks};
use crate::world::reorder::{ReorderScratch, morton_order};
use crate::world::{Energy, World};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// How a simulation is stepped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepOptions {
    /// Length of a step.
    pub h: f64,
    /// Gaps, penetration and bounces.
    pub contact: ContactOptions,
    /// The broad phase.
    pub broad_phase: BroadPhaseOptions,
    /// The solver.
    pub solver: SolverOptions,
    /// Whether reports carry the history of residuals.
    pub history: bool,
}

impl Default for StepOptions {
    fn default() -> Self {
        Self {
            h: 1e-3,
            contact: ContactOptions::default(),
            broad_phase: BroadPhaseOptions::default(),
            solver: SolverOptions::default(),
            history: false,
        }
    }
}

/// Wall-clock seconds of each stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StageSeconds {
    /// Re-ordering, hulls and broad phase.
    pub broad: f64,
    /// Narrow phase.
    pub narrow: f64,
    /// Forces, assembly of the problem, and the solver.
    pub solve: f64,
    /// Motion.
    pub integrate: f64,
}

/// What a step tells about itself.
#[derive(Clone, Debug, Default)]
pub struct StepReport {
    /// Contacts of the step.
    pub contacts: usize,
    /// Overlap of bodies before the step.
    pub penetration: Penetration,
    /// The solver's report.
    pub solver: Report,
    /// Time a stage.
    pub seconds: StageSeconds,
}

/// Why a simulation cannot go on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StepError {
    /// The state is no longer a number.
    #[error(
        "step {step}: position or velocity of body {body} is not finite; nothing after it would mean anything \
         (a smaller time step or less extreme forces may help)"
    )]
    NotFinite {
        /// The step, counted from 1.
        step: u64,
        /// The id of the first such body.
        body: u64,
    },
    /// The numbers of a contact have outgrown the floating-point range.
    #[error(
        "step {step}: body {body} is too fast or too far away to compute its contacts \
         (a smaller time step or less extreme forces may help)"
    )]
    Overflow {
        /// The step, counted from 1.
        step: u64,
        /// The id of the first such body.
        body: u64,
    },
    /// The solver was handed nonsense.
    #[error("step {step}: the solver met a value that is not a number")]
    BadProblem {
        /// The step, counted from 1.
        step: u64,
    },
}

/// A world with all that is needed to step it: options, and memory that is kept between steps.
pub struct Simulation {
    /// The state. It may be read and changed between steps.
    pub world: World,
    options: StepOptions,
    steps: u64,
    reorder: ReorderScratch,
    broad: Box<dyn BroadPhase>,
    hulls: Vec<Aabb>,
    unbounded: Vec<u32>,
    pairs: Pairs,
    contacts: Contacts,
    free: Vec<[glam::DVec3; 2]>,
    problem: Problem,
    workspace: Workspace,
    solver: AnySolver<ContactVec, BodyVec, SweepIterate>,
    warm: WarmStart,
    γ: ContactVec,
    response: BodyVec,
    sums: Vec<[f64; 2]>,
}

/// Runs a stage and adds its time.
fn timed<R>(seconds: &mut f64, stage: impl FnOnce() -> R) -> R {
    let start = Instant::now();
    let result = stage();
    *seconds += start.elapsed().as_secs_f64();
    result
}

impl From<&Scene> for StepOptions {
    fn from(scene: &Scene) -> Self {
        Self {
            h: scene.time.step,
            contact: scene.contact,
            broad_phase: scene.broad_phase,
            solver: scene.solver,
            history: scene.output.history,
        }
    }
}

impl Simulation {
    /// A simulation of the world that `scene` describes.
    pub fn from_scene(scene: &Scene) -> Result<Self, SceneError> {
        Ok(Self::new(scene.build()?, StepOptions::from(scene)))
    }

    /// A simulation of `world`.
    pub fn new(world: World, options: StepOptions) -> Self {
        Self {
            world,
            options,
            steps: 0,
            reorder: ReorderScratch::default(),
            broad: broad::by_name(options.broad_phase.name),
            hulls: Vec::new(),
            unbounded: Vec::new(),
            pairs: Pairs::default(),
            contacts: Contacts::default(),
            free: Vec::new(),
            problem: Problem::default(),
            workspace: Workspace::default(),
            solver: AnySolver::new(options.solver.name),
            warm: WarmStart::default(),
            γ: ContactVec::default(),
            response: BodyVec::default(),
            sums: Vec::new(),
        }
    }

    /// Advances the world by one step.
    pub fn step(&mut self) -> Result<StepReport, StepError> {
        let mut report = StepReport::default();
        let mut seconds = StageSeconds::default();
        timed(&mut seconds.broad, || self.keep_order());
        timed(&mut seconds.broad, || self.find_candidates());
        timed(&mut seconds.narrow, || self.find_contacts());
        timed(&mut seconds.solve, || self.pose_problem());
        timed(&mut seconds.solve, || self.check_problem())?;
        report.contacts = self.problem.contacts();
        report.penetration = self.contacts.penetration();
        report.solver = timed(&mut seconds.solve, || self.solve());
        timed(&mut seconds.integrate, || self.advance());
        report.seconds = seconds;
        self.check(&report).map(|()| report)
    }

    /// Bodies that are near in space are near in memory; done now and then.
    fn keep_order(&mut self) {
        let interval = u64::from(self.options.broad_phase.reorder_interval);
        if interval == 0 || !self.steps.is_multiple_of(interval) {
            return;
        }
        if let Some(order) = morton_order(&self.world.bodies, &mut self.reorder) {
            self.world.bodies.permute(&order);
            self.warm.permute(&order, &self.world.bodies);
        }
    }

    /// After it: `pairs` holds every pair of bounded bodies that can meet in this step.
    fn find_candidates(&mut self) {
        let (h, margin) = (self.options.h, self.options.contact.margin);
        integrate::prescribe(&mut self.world, h);
        hull::compute(&self.world.bodies, h, margin, &mut self.hulls, &mut self.unbounded);
        self.broad.find(&self.hulls, &mut self.pairs);
    }

    /// After it: `contacts` holds every contact that can act in this step.
    fn find_contacts(&mut self) {
        let (h, margin) = (self.options.h, self.options.contact.margin);
        // The normals of the last step lie in its problem: their memory is used again.
        std::mem::swap(&mut self.contacts.normals, &mut self.problem.normals);
        self.contacts.detect(&self.world.bodies, &mut self.pairs, &self.unbounded, h, margin);
    }

    /// After it: `problem` is the contact problem of this step.
    fn pose_problem(&mut self) {
        let (world, h) = (&self.world, self.options.h);
        integrate::free_motion(world, h, &mut self.free);
        assemble(world, &self.free, &mut self.contacts, &self.options.contact, h, &mut self.problem);
    }

    /// After it: the solver can compute with the problem. A state may be finite and its squares
    /// not.
    fn check_problem(&self) -> Result<(), StepError> {
        let Some(contact) = self.problem.first_overflow() else { return Ok(()) };
        let bodies = &self.world.bodies;
        let [a, b] = self.problem.pairs[contact].map(|i| i as usize);
        let culprit = if bodies.inverse_mass[a] > 0.0 { a } else { b };
        Err(StepError::Overflow { step: self.steps + 1, body: bodies.id[culprit] })
    }

    /// After it: `γ` holds the impulses and `response` the velocity changes.
    fn solve(&mut self) -> Report {
        if self.options.solver.warm_start {
            self.warm.recall(&self.contacts, &mut self.γ);
        } else {
            self.γ.resize(self.contacts.len());
        }
        let mut operator = MatrixFree::new(&self.problem, &mut self.workspace);
        let options = &self.options.solver;
        self.solver.solve(&mut operator, &mut self.γ, &mut self.response, options, self.options.history)
    }

    /// After it: the world stands at the end of the step, and impulses are remembered.
    fn advance(&mut self) {
        let operator = MatrixFree::view(&self.problem, &mut self.workspace);
        let response = &self.response;
        integrate::advance(&mut self.world.bodies, &self.free, |i| operator.twist(response, i), self.options.h);
        self.warm.remember(&mut self.contacts, &mut self.γ);
        self.steps += 1;
        self.world.time += self.options.h;
    }

    /// Poses the contact problem of the next step without taking it: the problem, and the
    /// impulses to start from.
    pub fn pose(&mut self) -> (&Problem, &ContactVec) {
        self.keep_order();
        self.find_candidates();
        self.find_contacts();
        self.pose_problem();
        self.warm.recall(&self.contacts, &mut self.γ);
        (&self.problem, &self.γ)
    }

    fn check(&self, report: &StepReport) -> Result<(), StepError> {
        if let Some(body) = self.world.first_non_finite() {
            return Err(StepError::NotFinite { step: self.steps, body });
        }
        if report.solver.status == Status::BadProblem {
            return Err(StepError::BadProblem { step: self.steps });
        }
        Ok(())
    }

    /// Steps done.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// How it is stepped.
    pub fn options(&self) -> &StepOptions {
        &self.options
    }

    /// The contact problem of the last step.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The contacts of the last step with their impulses: indices of bodies A and B, and the
    /// impulse on A.
    pub fn impulses(&self) -> impl Iterator<Item = ([u32; 2], glam::DVec3)> + '_ {
        self.warm.iter()
    }

    /// Forgets the impulses of the last step, so that the next one starts cold.
    pub fn forget_impulses(&mut self) {
        self.warm.forget();
    }

    /// Kinetic and potential energy now.
    pub fn energy(&mut self) -> Energy {
        let (bodies, gravity) = (&self.world.bodies, self.world.gravity);
        let body = |range: std::ops::Range<usize>| {
            let mut sum = [0.0; 2];
            for i in range.filter(|&i| bodies.inverse_mass[i] > 0.0) {
                let w = bodies.orientation[i].conjugate() * bodies.angular_velocity[i];
                let mass = 1.0 / bodies.inverse_mass[i];
                // A body whose rotation is locked has no spin, and no inertia to divide by.
                let turning =
                    if w == glam::DVec3::ZERO { 0.0 } else { (w * w / bodies.inverse_inertia[i]).element_sum() };
                sum[0] += 0.5 * (mass * bodies.velocity[i].length_squared() + turning);
                sum[1] -= mass * gravity.dot(bodies.position[i]);
            }
            sum
        };
        let add = |a: [f64; 2], b: [f64; 2]| [a[0] + b[0], a[1] + b[1]];
        let [kinetic, potential] = fold_chunks(bodies.len(), CHUNK, &mut self.sums, [0.0; 2], body, add);
        Energy { kinetic, potential }
    }
}

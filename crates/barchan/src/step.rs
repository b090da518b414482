//! One step of a simulation: the method's table of contents.

mod keep;

pub use keep::Kept;

use crate::broad::{self, Aabb, BroadPhase, BroadPhaseOptions, Pairs, hull};
use crate::comm::{Communicator, Reduction, Solo};
use crate::domain::{Domain, DomainError, Work};
use crate::dynamics::integrate;
use crate::dynamics::{ContactOptions, WarmStart, assemble};
use crate::narrow::{Contacts, Overlap, Penetration, Treats};
use crate::scene::{Place, Scene, SceneError};
use crate::util::cpu::thread_seconds;
use crate::world::reorder::{ReorderScratch, morton_order};
use crate::world::{Energy, World};
use barchan_cone::solver::{Report, Solve, Solver, SolverFor, SolverName, SolverOptions, Status};
use barchan_cone::{Agreement, BodyVec, ContactVec, MatrixFree, Problem, System, Workspace};
use barchan_parallel::{CHUNK, fold_chunks};
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
    /// Messages about bodies between ranks, and images.
    pub exchange: f64,
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
    /// Bodies that are not walls, over all ranks.
    pub bodies: usize,
    /// Contacts of the step, over all ranks.
    pub contacts: usize,
    /// Overlap of bodies before the step.
    pub penetration: Penetration,
    /// The solver's report.
    pub solver: Report,
    /// Time a stage, each of the rank that took longest.
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
    /// The ranks cannot follow a body.
    #[error("step {step}: {error}")]
    Domain {
        /// The step, counted from 1.
        step: u64,
        /// What is wrong.
        error: DomainError,
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
    /// The steps done when the order of bodies was last looked at.
    ordered: Option<u64>,
    reorder: ReorderScratch,
    broad: Box<dyn BroadPhase>,
    hulls: Vec<Aabb>,
    unbounded: Vec<u32>,
    pairs: Pairs,
    contacts: Contacts,
    free: Vec<[glam::DVec3; 2]>,
    problem: Problem,
    workspace: Workspace,
    solver: SolverFor<MatrixFree<'static>>,
    warm: WarmStart,
    γ: ContactVec,
    response: BodyVec,
    sums: Vec<[f64; 2]>,
    /// What other ranks have to do with it; `None` where there are none and space does not repeat.
    domain: Option<Domain>,
    /// The line of a rank without a domain.
    alone: Solo,
}

/// Runs a stage and adds its time.
fn timed<R>(seconds: &mut f64, stage: impl FnOnce() -> R) -> R {
    let start = Instant::now();
    let result = stage();
    *seconds += start.elapsed().as_secs_f64();
    result
}

/// What cannot be done across ranks is refused at once.
fn fit_for_ranks(scene: &Scene) -> Result<(), SceneError> {
    let solver = &scene.solver;
    if matches!(solver.name, SolverName::Scip | SolverName::Auto) && solver.scip.system == System::Direct {
        let place = Place::Whole(format!("scene \"{}\"", scene.name));
        let message = "\"direct\" needs all contacts on one rank: use \"iterative\", or \"auto\", which means the \
                       same on several ranks";
        return Err(SceneError::new(place, "solver.scip.system", message));
    }
    Ok(())
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
    ///
    /// # Errors
    /// If the scene cannot be used, or a fill finds no room.
    pub fn from_scene(scene: &Scene) -> Result<Self, SceneError> {
        Self::on_ranks(scene, Box::new(Solo))
    }

    /// A simulation of this rank's part of the world that `scene` describes.
    ///
    /// # Errors
    /// As for one rank, or if the ranks have different scenes, or space cannot be divided as the scene
    /// says; on all ranks then.
    pub fn on_ranks(scene: &Scene, mut comm: Box<dyn Communicator>) -> Result<Self, SceneError> {
        let options = StepOptions::from(scene);
        if comm.size() > 1 {
            scene.check_same(&mut *comm)?;
            SceneError::agree(&mut *comm, fit_for_ranks(scene))?;
        }
        if comm.size() == 1 && !scene.periods().any() {
            return Ok(Self::new(scene.build()?, options));
        }
        let (domain, world) = Domain::begin(scene, comm)?;
        Ok(Self { domain: Some(domain), ..Self::new(world, options) })
    }

    /// A simulation of `world`.
    pub fn new(world: World, options: StepOptions) -> Self {
        Self {
            world,
            options,
            steps: 0,
            ordered: None,
            reorder: ReorderScratch::default(),
            broad: broad::by_name(options.broad_phase.name),
            hulls: Vec::new(),
            unbounded: Vec::new(),
            pairs: Pairs::default(),
            contacts: Contacts::default(),
            free: Vec::new(),
            problem: Problem::default(),
            workspace: Workspace::default(),
            solver: SolverFor::<MatrixFree<'_>>::new(options.solver.name),
            warm: WarmStart::default(),
            γ: ContactVec::default(),
            response: BodyVec::default(),
            sums: Vec::new(),
            domain: None,
            alone: Solo,
        }
    }

    /// A simulation of this rank's part of a world: the bodies that the rank owns, and all walls.
    pub fn part(mut world: World, options: StepOptions, mut domain: Domain) -> Self {
        domain.settle(&mut world, |_| false);
        Self { domain: Some(domain), ..Self::new(world, options) }
    }

    /// Advances the world by one step.
    pub fn step(&mut self) -> Result<StepReport, StepError> {
        let mut report = StepReport::default();
        let mut seconds = StageSeconds::default();
        timed(&mut seconds.broad, || self.keep_order());
        timed(&mut seconds.exchange, || self.exchange_bodies())?;
        let start = self.effort();
        timed(&mut seconds.broad, || self.find_candidates());
        timed(&mut seconds.narrow, || self.find_contacts());
        let found = self.effort();
        timed(&mut seconds.solve, || self.pose_problem());
        let sound = timed(&mut seconds.solve, || self.check_problem());
        timed(&mut seconds.solve, || self.count(sound, &mut report))?;
        let posed = self.effort();
        report.solver = timed(&mut seconds.solve, || self.solve());
        let solved = self.effort();
        timed(&mut seconds.integrate, || self.advance());
        let work = Work { bodies: (found - start) + (self.effort() - solved), contacts: solved - posed };
        self.note_work(work, report.solver.iterations);
        let sound = timed(&mut seconds.integrate, || self.check(&report));
        report.seconds = seconds;
        self.compare(sound, &mut report).map(|()| report)
    }

    /// Bodies that are near in space are near in memory; done now and then, and once a step.
    fn keep_order(&mut self) {
        if self.ordered.replace(self.steps) == Some(self.steps) {
            return;
        }
        let interval = u64::from(self.options.broad_phase.reorder_interval);
        let bodies = &mut self.world.bodies;
        let due = interval != 0 && self.steps.is_multiple_of(interval);
        // Bodies that have left must not take up room for ever.
        let sparse = self.domain.as_ref().is_some_and(|domain| domain.is_sparse(bodies));
        if !(due || sparse) {
            return;
        }
        if let Some(domain) = &mut self.domain {
            domain.drop_images(bodies);
        }
        if let Some(order) = morton_order(bodies, &mut self.reorder) {
            let before = self.world.bodies.len();
            self.world.bodies.permute(&order);
            let marks = self.domain.as_mut().map(Domain::marks);
            self.warm.permute(&order, before, &self.world.bodies, marks);
            if let Some(domain) = &mut self.domain {
                domain.follow(&order, before);
            }
        }
    }

    /// After it: kinematic bodies have the velocity of this step, and every body that this rank has to
    /// do with is there, where its owner has it.
    fn exchange_bodies(&mut self) -> Result<(), StepError> {
        let (h, margin) = (self.options.h, self.options.contact.margin);
        integrate::prescribe(&mut self.world, h);
        let Some(domain) = &mut self.domain else { return Ok(()) };
        let error = |error| StepError::Domain { step: self.steps + 1, error };
        domain.keep_balance(&mut self.world, &self.warm).map_err(error)?;
        domain.synchronise(&mut self.world, h, margin, &mut self.warm).map_err(error)
    }

    /// After it: `pairs` holds every pair of bounded bodies that can meet in this step.
    fn find_candidates(&mut self) {
        let (h, margin) = (self.options.h, self.options.contact.margin);
        hull::compute(&self.world.bodies, h, margin, &mut self.hulls, &mut self.unbounded);
        self.broad.find(&self.hulls, &mut self.pairs);
    }

    /// After it: `contacts` holds every contact that can act in this step.
    fn find_contacts(&mut self) {
        let (h, margin) = (self.options.h, self.options.contact.margin);
        // The normals of the last step lie in its problem: their memory is used again.
        std::mem::swap(&mut self.contacts.normals, &mut self.problem.normals);
        let bodies = &self.world.bodies;
        {
            let who = self.domain.as_ref().map(|domain| domain.treats(bodies));
            let who = who.as_ref().map(|who| who as &dyn Treats);
            self.contacts.detect(bodies, &mut self.pairs, &self.unbounded, h, margin, who);
        }
        if let Some(domain) = &mut self.domain {
            domain.join_images(bodies, &mut self.contacts);
        }
    }

    /// Processor seconds so far, without those of talking to other ranks; 0 where there are none.
    fn effort(&self) -> f64 {
        self.domain.as_ref().map_or(0.0, |domain| thread_seconds() - domain.talking())
    }

    /// Tells the domain what bodies and contacts have cost.
    fn note_work(&mut self, seconds: Work, iterations: u32) {
        let (bodies, contacts) = (self.world.bodies.len(), self.problem.contacts());
        if let Some(domain) = &mut self.domain {
            domain.add_work(seconds, Work::counted(bodies, contacts, iterations));
        }
    }

    /// Says what this rank is about to do, for those who wait for it.
    fn stage(&mut self, name: &'static str) {
        if let Some(domain) = &mut self.domain {
            domain.comm().stage(name);
        }
    }

    /// Counts bodies, contacts and overlaps over all ranks. The largest overlap is still this rank's.
    fn count(&mut self, sound: Result<(), StepError>, report: &mut StepReport) -> Result<(), StepError> {
        self.stage("count of contacts");
        let overlap = self.contacts.overlap();
        let here = [self.world.bodies.bounded_len(), self.problem.contacts(), overlap.count].map(|n| n as f64);
        let [_, bodies, contacts, count, sum] =
            self.agree(sound, Reduction::Sum, [0.0, here[0], here[1], here[2], overlap.sum])?;
        (report.bodies, report.contacts) = (bodies as usize, contacts as usize);
        report.penetration = Overlap { max: overlap.max, sum, count: count as usize }.penetration();
        Ok(())
    }

    /// Takes from all ranks what was largest.
    fn compare(&mut self, sound: Result<(), StepError>, report: &mut StepReport) -> Result<(), StepError> {
        self.stage("end of the step");
        let StageSeconds { exchange, broad, narrow, solve, integrate } = report.seconds;
        let here = [0.0, report.penetration.max, exchange, broad, narrow, solve, integrate];
        let [_, depth, exchange, broad, narrow, solve, integrate] = self.agree(sound, Reduction::Max, here)?;
        report.penetration.max = depth;
        report.seconds = StageSeconds { exchange, broad, narrow, solve, integrate };
        Ok(())
    }

    /// Numbers of all ranks become one. If any rank has failed, all of them have: the first number
    /// carries that, so that one reduction does for both.
    fn agree<const N: usize>(
        &mut self,
        result: Result<(), StepError>,
        reduction: Reduction,
        mut numbers: [f64; N],
    ) -> Result<[f64; N], StepError> {
        let Some(domain) = &mut self.domain else { return result.map(|()| numbers) };
        numbers[0] = f64::from(u8::from(result.is_err()));
        domain.reduce(reduction, &mut numbers);
        result?;
        let elsewhere = StepError::Domain { step: self.steps + 1, error: DomainError::Elsewhere };
        if numbers[0] > 0.0 { Err(elsewhere) } else { Ok(numbers) }
    }

    /// After it: `problem` is the contact problem of this step.
    fn pose_problem(&mut self) {
        let (world, h) = (&self.world, self.options.h);
        let ways = self.domain.as_ref().map(Domain::ways);
        let home = |body: usize| ways.as_ref().map_or(glam::DVec3::ZERO, |way| -way(body));
        integrate::free_motion(world, h, home, &mut self.free);
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

    /// After it: `γ` holds the impulses to start from.
    fn recall_impulses(&mut self) {
        if self.options.solver.warm_start {
            self.warm.recall(&self.contacts, &mut self.γ);
        } else {
            self.γ.resize(self.contacts.len());
        }
    }

    /// After it: `warm` has the contacts that were found, with the impulses of `γ`.
    fn remember_impulses(&mut self) {
        self.warm.remember(&mut self.contacts, &mut self.γ);
        if let Some(domain) = &mut self.domain {
            domain.remember();
        }
    }

    /// After it: `γ` holds the impulses and `response` the velocity changes.
    fn solve(&mut self) -> Report {
        self.stage("solve");
        self.recall_impulses();
        let mut line = self.domain.as_mut().and_then(Domain::line);
        let line = line.as_mut().map(|line| line as &mut dyn Agreement);
        let mut operator = MatrixFree::part(&self.problem, &mut self.workspace, line);
        let options = &self.options.solver;
        let solve = Solve::new(&mut operator, &mut self.γ, &mut self.response, options);
        self.solver.solve(solve.with_history(self.options.history))
    }

    /// After it: the world stands at the end of the step, and impulses are remembered.
    fn advance(&mut self) {
        let operator = MatrixFree::view(&self.problem, &mut self.workspace);
        let change = operator.twists(&self.response);
        integrate::advance(&mut self.world.bodies, &self.free, change, self.options.h);
        self.remember_impulses();
        self.steps += 1;
        self.world.time += self.options.h;
    }

    /// Poses the contact problem of the next step without taking it: the problem, and the
    /// impulses to start from. The step will be the same as without it.
    pub fn pose(&mut self) -> (&Problem, &ContactVec) {
        self.keep_order();
        // What is wrong with the bodies the step itself will say.
        let _ = self.exchange_bodies();
        self.find_candidates();
        self.find_contacts();
        self.pose_problem();
        // Bodies may have changed places and owners: what is remembered goes with them, to the
        // contacts that the step will find again.
        self.recall_impulses();
        self.remember_impulses();
        (&self.problem, self.warm.impulses())
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

    /// What other ranks have to do with it.
    pub fn domain(&mut self) -> Option<&mut Domain> {
        self.domain.as_mut()
    }

    /// The world, and the line to the other ranks.
    pub fn line(&mut self) -> (&World, &mut dyn Communicator) {
        let comm: &mut dyn Communicator = match &mut self.domain {
            Some(domain) => domain.comm(),
            None => &mut self.alone,
        };
        (&self.world, comm)
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
    /// impulse on A. After [`Self::pose`], those of the next step with the impulses that it starts from.
    pub fn impulses(&self) -> impl Iterator<Item = ([u32; 2], glam::DVec3)> + '_ {
        self.warm.iter()
    }

    /// Forgets the impulses of the last step, so that the next one starts cold.
    pub fn forget_impulses(&mut self) {
        self.warm.forget();
    }

    /// Kinetic and potential energy now, over all ranks.
    pub fn energy(&mut self) -> Energy {
        let world = &self.world;
        let part = |range| {
            let Energy { kinetic, potential } = world.energy_of(range);
            [kinetic, potential]
        };
        let add = |a: [f64; 2], b: [f64; 2]| [a[0] + b[0], a[1] + b[1]];
        let mut energy = fold_chunks(world.bodies.len(), CHUNK, &mut self.sums, [0.0; 2], part, add);
        if let Some(domain) = &mut self.domain {
            domain.reduce(Reduction::Sum, &mut energy);
        }
        let [kinetic, potential] = energy;
        Energy { kinetic, potential }
    }
}

//! One step of a simulation: the method's table of contents.

mod agree;
mod bounce;
mod change;
mod error;
mod length;
mod options;
mod outside;
mod report;
mod snapshot;

pub use change::ChangeError;
pub use error::StepError;
pub use options::StepOptions;
pub use report::{Lost, StageSeconds, StepReport};
pub use snapshot::Snapshot;

use crate::broad::{self, Aabb, BroadPhase, Growth, Pairs, hull};
use crate::comm::{Communicator, Reduction, Solo};
use crate::domain::Domain;
use crate::dynamics::{
    Assembly, AssemblyInput, ContactArms, Impacts, JointInput, JointRows, Recovery, SurfaceMotion, integrate, recover,
};
use crate::narrow::{Apart, ContactAssignment, Contacts, Detection};
use crate::scene::{Location, Scene, SceneError};
use crate::world::reorder::{ReorderScratch, morton_order};
use crate::world::{Bodies, Drag, Energy, ExternalForce, Motion, Ownership, World};
use agree::StepClock;
use barchan_cone::solver::{Solve, Solver, SolverFor, SolverName};
use barchan_cone::{
    BodyVec, ConeProblem, ContactScalars, ContactVec, MatrixFree, ProblemCommunicator, ProblemRef, System, Workspace,
};
use barchan_parallel::{CHUNK, fold_chunks};
use bounce::SharedImpacts;
use glam::DVec3;
use length::Pace;
use report::Stage;
use std::ops::Range;

/// A world with all that is needed to step it: options, and memory that is kept between steps.
pub struct Simulation {
    /// The state. It may be read and changed between steps.
    pub world: World,
    options: StepOptions,
    /// The length of the step under way, or of the last.
    h: f64,
    /// What the length of the next step follows from.
    pace: Pace,
    steps: u64,
    /// The steps done when the order of bodies was last looked at.
    ordered: Option<u64>,
    reorder: ReorderScratch,
    broad: Box<dyn BroadPhase>,
    /// How far bodies may come in this step.
    growth: Growth,
    hulls: Vec<Aabb>,
    walls: Vec<u32>,
    pairs: Pairs,
    contacts: Contacts,
    /// Bodies that cannot touch.
    apart: Apart,
    /// Velocities at the end of the step without contacts.
    free: Vec<[DVec3; 2]>,
    /// How surfaces move along themselves in this step.
    surfaces: SurfaceMotion,
    impacts: Impacts,
    /// Memory of what ranks agree on about impacts.
    shared_impacts: SharedImpacts,
    /// Whether the contacts have the impulses of the step before.
    is_started: bool,
    assembly: Assembly,
    /// Whether contacts and assembly are those of one step.
    is_assembled: bool,
    workspace: Workspace,
    solver: SolverFor<MatrixFree<'static>>,
    response: BodyVec,
    /// Rows of joints.
    joints: JointRows,
    /// By how much gaps are to grow, and the impulses that make them.
    growths: ContactScalars,
    recovery: ContactVec,
    clock: StepClock,
    sums: Vec<[f64; 2]>,
    /// What other ranks have to do with it; `None` where there are none and space does not repeat.
    domain: Option<Domain>,
    /// The communicator of a rank without a domain.
    alone: Solo,
}

/// How overlaps of these contacts are removed.
fn recovery_of<'a>(bodies: &'a Bodies, contacts: &'a Contacts, options: &'a StepOptions, h: f64) -> Recovery<'a> {
    let arms = ContactArms { bodies, contacts };
    Recovery { arms, options: &options.contact, integrator: options.integrator, h }
}

/// What cannot be done across ranks is refused at once.
fn fit_for_ranks(scene: &Scene) -> Result<(), SceneError> {
    let solver = &scene.solver;
    if matches!(solver.name, SolverName::Scip | SolverName::Auto) && solver.scip.system == System::Direct {
        let place = Location::Whole(format!("scene \"{}\"", scene.name));
        let message = "\"direct\" needs all contacts on one rank: use \"iterative\", or \"auto\", which means the \
                       same on several ranks";
        return Err(SceneError::new(place, "solver.scip.system", message));
    }
    Ok(())
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
            h: options.step.fixed().unwrap_or(0.0),
            pace: Pace::default(),
            steps: 0,
            ordered: None,
            reorder: ReorderScratch::default(),
            broad: broad::by_name(options.broad_phase.name),
            growth: Growth { h: 0.0, margin: options.contact.margin, kick: 0.0 },
            hulls: Vec::new(),
            walls: Vec::new(),
            pairs: Pairs::default(),
            contacts: Contacts::default(),
            apart: Apart::default(),
            free: Vec::new(),
            surfaces: SurfaceMotion::default(),
            impacts: Impacts::default(),
            shared_impacts: SharedImpacts::default(),
            is_started: false,
            assembly: Assembly::default(),
            is_assembled: false,
            workspace: Workspace::default(),
            solver: SolverFor::<MatrixFree<'_>>::new(options.solver.name),
            response: BodyVec::default(),
            joints: JointRows::default(),
            growths: ContactScalars::default(),
            recovery: ContactVec::default(),
            clock: StepClock::default(),
            sums: Vec::new(),
            domain: None,
            alone: Solo,
        }
    }

    /// A simulation of this rank's part of a world: the bodies that the rank owns, and all walls.
    pub fn part(mut world: World, options: StepOptions, mut domain: Domain) -> Self {
        domain.initialise(&mut world, |_| false);
        Self { domain: Some(domain), ..Self::new(world, options) }
    }

    /// Advances the world by one step.
    pub fn step(&mut self) -> Result<StepReport, StepError> {
        self.start_clock();
        self.timed(Stage::Broad, Self::reorder_if_due);
        self.timed(Stage::Exchange, Self::propose_length);
        self.timed(Stage::Exchange, Self::exchange_bodies)?;
        self.timed(Stage::Broad, Self::find_candidates);
        self.timed(Stage::Narrow, Self::find_contacts);
        self.timed(Stage::Narrow, Self::settle_length);
        self.timed(Stage::Integrate, Self::free_motion);
        self.timed(Stage::Solve, Self::bounce);
        self.timed(Stage::Solve, Self::assemble);
        self.timed(Stage::Solve, Self::check_problem)?;
        self.timed(Stage::Solve, Self::solve);
        self.timed(Stage::Integrate, Self::plan_recovery);
        self.timed(Stage::Integrate, Self::advance);
        self.timed(Stage::Integrate, Self::note_loads);
        self.timed(Stage::Integrate, Self::part_overlaps);
        self.report()
    }

    /// Bodies that are near in space are near in memory; done now and then, and once a step.
    fn reorder_if_due(&mut self) {
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
            self.reorder(&order);
        }
    }

    /// Re-orders bodies, and all that is known of them by index: the body at `order[i]` moves to index `i`,
    /// and what is not in the order is dropped. Needs a world without images.
    fn reorder(&mut self, order: &[u32]) {
        let before = self.world.bodies.len();
        self.world.bodies.permute(order);
        self.contacts.reindex(order, before, &self.world.bodies);
        self.is_assembled = false;
        if let Some(domain) = &mut self.domain {
            domain.reindex(order, before);
        }
    }

    /// After it: kinematic bodies have the velocity of this step, and every body that this rank has to
    /// do with is there, where its owner has it.
    fn exchange_bodies(&mut self) -> Result<(), StepError> {
        integrate::prescribe(&mut self.world, self.h);
        let growth = self.growth();
        self.growth = growth;
        let Some(domain) = &mut self.domain else { return Ok(()) };
        let error = |error| StepError::Domain { step: self.steps + 1, error };
        domain.rebalance_if_due(&mut self.world, &self.contacts).map_err(error)?;
        domain.synchronise(&mut self.world, growth, &mut self.contacts).map_err(error)
    }

    /// How far bodies may come in this step: the same on all ranks.
    fn growth(&mut self) -> Growth {
        let h = self.h;
        let World { bodies, fields, external, gravity, .. } = &self.world;
        let mut kick = [gravity.length() * h];
        if !(fields.is_empty() && external.is_empty()) {
            let own = (0..bodies.len()).filter(|&i| bodies.ownership[i] == Ownership::Owned);
            let drag = Drag::over(fields, h);
            let of = |i: usize| {
                (integrate::free_velocity(&self.world, i, DVec3::ZERO, &drag, h) - bodies.velocity[i]).length()
            };
            let field = own.filter(|&i| bodies.motion[i] == Motion::Dynamic).map(of).fold(0.0, f64::max);
            let push = |(&id, external): (&u64, &ExternalForce)| {
                bodies.index_of(id).map_or(0.0, |i| h * bodies.inverse_mass[i] * external.force.length())
            };
            kick[0] = field + external.iter().map(push).fold(0.0, f64::max);
            if let Some(domain) = &mut self.domain {
                domain.reduce(Reduction::Max, &mut kick);
            }
        }
        Growth { h, margin: self.options.contact.margin, kick: kick[0] }
    }

    /// After it: `pairs` holds every pair of bounded bodies that can meet in this step.
    fn find_candidates(&mut self) {
        hull::compute(&self.world.bodies, self.growth, &mut self.hulls, &mut self.walls);
        self.broad.find(&self.hulls, &mut self.pairs);
    }

    /// After it: `contacts` holds every contact that can act in this step.
    fn find_contacts(&mut self) {
        self.apart.fill(&self.world);
        let bodies = &self.world.bodies;
        {
            let assignment = self.domain.as_ref().map(|domain| domain.contact_assignment(bodies));
            let detection = Detection {
                bodies,
                walls: &self.walls,
                growth: self.growth,
                ahead: self.options.integrator.ahead(self.h),
                apart: &self.apart,
                assignment: assignment.as_ref().map(|assignment| assignment as &dyn ContactAssignment),
            };
            self.contacts.detect(&detection, &mut self.pairs);
        }
        if let Some(domain) = &mut self.domain {
            domain.resolve_images(bodies, &mut self.contacts);
        }
        self.is_started = false;
    }

    /// After it: `free` holds the velocities at the end of the step if there were no contacts, `surfaces` those of
    /// belts.
    fn free_motion(&mut self) {
        let offsets = self.domain.as_ref().map(Domain::offsets);
        let home = |body: usize| offsets.as_ref().map_or(DVec3::ZERO, |offset| -offset(body));
        let times = [self.h, self.options.integrator.ahead(self.h)];
        integrate::free_motion(&self.world, times, home, &mut self.free);
        // Belts have their mean speed of the step, too.
        self.surfaces.fill(&self.world, 0.5 * self.h);
    }

    /// After it: contacts and assembly are the contact problem of this step.
    fn assemble(&mut self) {
        let h = self.h;
        let force_speed = self.force_speed();
        let integrator = self.options.integrator;
        let periods = self.domain.as_ref().map(Domain::periods).unwrap_or_default();
        let time = self.world.time;
        self.joints.fill(&mut self.world, &JointInput { free: &self.free, integrator, h, time, periods });
        // Bodies of joints are on every rank, and their rows are solved on the first.
        let is_first = self.domain.as_ref().is_none_or(|domain| domain.rank() == 0);
        self.assembly.fill(&AssemblyInput {
            joints: (&self.joints, is_first),
            world: &self.world,
            free: &self.free,
            arms: ContactArms { bodies: &self.world.bodies, contacts: &self.contacts },
            impacts: &self.impacts,
            surfaces: &self.surfaces,
            integrator: self.options.integrator,
            options: &self.options.contact,
            h,
            force_speed,
        });
        self.is_assembled = true;
    }

    /// The mean change of velocity by forces in this step, over all ranks. Needs the free motion.
    fn force_speed(&mut self) -> f64 {
        let World { bodies, gravity, fields, external, .. } = &self.world;
        if fields.is_empty() && external.is_empty() {
            return gravity.length() * self.h;
        }
        let free = &self.free;
        let part = |range: Range<usize>| {
            let counts = |j: &usize| bodies.motion[*j] == Motion::Dynamic && bodies.ownership[*j] == Ownership::Owned;
            let change = |j: usize| (free[j][0] - bodies.velocity[j]).length();
            range.filter(counts).fold([0.0; 2], |[sum, count], j| [sum + change(j), count + 1.0])
        };
        let add = |a: [f64; 2], b: [f64; 2]| [a[0] + b[0], a[1] + b[1]];
        let mut totals = fold_chunks(bodies.len(), CHUNK, &mut self.sums, [0.0; 2], part, add);
        if let Some(domain) = &mut self.domain {
            domain.reduce(Reduction::Sum, &mut totals);
        }
        totals[0] / totals[1].max(1.0)
    }

    /// After it: the contacts have the impulses of the step before, if the solver is to start from them.
    fn start_impulses(&mut self) {
        if std::mem::replace(&mut self.is_started, true) {
            return;
        }
        if self.options.solver.warm_start {
            self.contacts.warm_start();
        } else {
            self.contacts.cold_start();
        }
    }

    /// After it: the rows of joints have the impulses that their loads of the step before would make.
    fn start_joints(&mut self) {
        let rows = self.contacts.joint_impulses();
        rows.clear();
        if self.assembly.has_rows() && self.options.solver.warm_start {
            self.joints.starts(&self.world.joints, self.h, rows);
        }
    }

    /// After it: every rank knows what joints have borne, and which of them have broken.
    fn note_loads(&mut self) {
        if self.world.joints.is_empty() {
            return;
        }
        let impulses = self.contacts.joint_impulses();
        impulses.resize(self.joints.len(), 0.0);
        if let Some(domain) = &mut self.domain {
            domain.reduce(Reduction::Sum, impulses);
        }
        self.joints.finish(&mut self.world.joints, &self.world.bodies, impulses, self.h);
        impulses.clear();
    }

    /// After it: the contacts have their impulses, and `response` the changes of velocity.
    fn solve(&mut self) {
        self.announce("solve");
        self.start_impulses();
        self.pace.fit_impulses(&mut self.contacts, self.h);
        self.start_joints();
        let mut comm = self.domain.as_mut().and_then(Domain::problem_communicator);
        let comm = comm.as_mut().map(|comm| comm as &mut dyn ProblemCommunicator);
        let (pairs, normals, γ) = self.contacts.for_solve();
        let mut operator = MatrixFree::part(self.assembly.with(pairs, normals), &mut self.workspace, comm);
        let options = &self.options.solver;
        let solve = Solve::new(&mut operator, γ, &mut self.response, options);
        self.clock.report.solver = self.solver.solve(solve.with_history(self.options.history));
    }

    /// After it: `recovery` holds the impulses that move overlapping bodies apart.
    fn plan_recovery(&mut self) {
        if self.clock.deep_overlaps > 0 {
            let mut impulses = std::mem::take(&mut self.recovery);
            let operator = MatrixFree::view(self.assembly.problem(&self.contacts), &mut self.workspace);
            let scale = operator.normal_answer();
            recover::impulses(&self.growths, &self.contacts, scale, &mut impulses);
            self.recovery = impulses;
        }
    }

    /// After it: the world stands at the end of the step.
    fn advance(&mut self) {
        let operator = MatrixFree::view(self.assembly.problem(&self.contacts), &mut self.workspace);
        let change = operator.twists(&self.response);
        integrate::advance(&mut self.world.bodies, &self.free, change, self.options.integrator, self.h);
        self.steps += 1;
        self.world.time += self.h;
        self.pace.stepped(self.h);
    }

    /// After it: bodies that overlapped by more than a little lie farther apart, at the same velocities.
    fn part_overlaps(&mut self) {
        if self.clock.deep_overlaps == 0 {
            return;
        }
        let mut comm = self.domain.as_mut().and_then(Domain::problem_communicator);
        let comm = comm.as_mut().map(|comm| comm as &mut dyn ProblemCommunicator);
        let mut operator = MatrixFree::view_part(self.assembly.problem(&self.contacts), &mut self.workspace, comm);
        operator.respond_to(&self.recovery, &mut self.response);
        let h = self.h;
        let limits = [h, self.options.contact.recovery_speed * h];
        recover::displace(&mut self.world.bodies, &self.free, limits, operator.twists(&self.response));
    }

    /// Poses the contact problem of the next step without taking it: the problem, and the
    /// impulses to start from. The step will be the same as without it.
    pub fn pose(&mut self) -> (ProblemRef<'_>, &ContactVec) {
        self.reorder_if_due();
        self.propose_length();
        // What is wrong with the bodies the step itself will say.
        let _ = self.exchange_bodies();
        self.find_candidates();
        self.find_contacts();
        self.settle_length();
        self.free_motion();
        self.assemble();
        // The step finds the same contacts again, and these impulses with them.
        self.start_impulses();
        (self.assembly.problem(&self.contacts), self.contacts.impulses())
    }

    /// Steps done.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// What other ranks have to do with it.
    pub fn domain(&mut self) -> Option<&mut Domain> {
        self.domain.as_mut()
    }

    /// The communicator of this rank.
    pub fn comm(&mut self) -> &mut dyn Communicator {
        self.world_and_comm().1
    }

    /// The world, and the communicator.
    pub fn world_and_comm(&mut self) -> (&World, &mut dyn Communicator) {
        let comm: &mut dyn Communicator = match &mut self.domain {
            Some(domain) => domain.comm(),
            None => &mut self.alone,
        };
        (&self.world, comm)
    }

    /// The length of the last step, s; before the first, what is known of it.
    pub fn h(&self) -> f64 {
        self.h
    }

    /// How it is stepped.
    pub fn options(&self) -> &StepOptions {
        &self.options
    }

    /// The contacts of the last step with their impulses. After [`Self::pose`], those of the next step with
    /// the impulses that it starts from.
    pub fn contacts(&self) -> &Contacts {
        &self.contacts
    }

    /// The contact problem of the last step; `None` before the first, and when bodies have been added,
    /// removed or re-ordered since.
    pub fn problem(&self) -> Option<ProblemRef<'_>> {
        self.is_assembled.then(|| self.assembly.problem(&self.contacts))
    }

    /// How far body B of a contact lies from where it is here, as A sees it: periods, where it is across a
    /// periodic border.
    pub(crate) fn contact_offset(&self, contact: usize) -> DVec3 {
        let shift = self.contacts.shift(contact).zip(self.domain.as_ref());
        shift.map_or(DVec3::ZERO, |(shift, domain)| domain.contact_offset(self.contacts.pairs()[contact], shift))
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

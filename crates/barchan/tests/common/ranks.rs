//! Worlds spread over ranks, and the same worlds in one piece.
//!
//! Ranks are threads mostly that share nothing but messages. What they have done is put together by
//! ids, and judged by code that knows everything: plain loops over all bodies and their images.

// Each test program takes what it needs.
#![allow(dead_code)]

use barchan::broad::Aabb;
use barchan::comm::{Communicator, threads};
use barchan::cone::solver::Status;
use barchan::domain::Domain;
use barchan::partition::{Cartesian, Curve, Morton, Partition, Periods};
use barchan::scenario;
use barchan::scene::Scene;
use barchan::step::{Simulation, StepOptions, StepReport};
use barchan::world::{Body, Material, Materials, Ownership, PairRule, World};
use barchan::{DQuat, DVec3};
use std::collections::BTreeMap;

/// How space is divided in a test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Division {
    Cartesian,
    Morton,
}

pub(crate) const DIVISIONS: [Division; 2] = [Division::Cartesian, Division::Morton];
pub(crate) const RANKS: [usize; 6] = [1, 2, 3, 4, 7, 8];

/// Among whom a world is divided, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    pub(crate) ranks: usize,
    pub(crate) threads: usize,
    pub(crate) division: Division,
    pub(crate) periods: Periods,
}

impl Setting {
    pub(crate) fn new(ranks: usize, division: Division) -> Self {
        Self { ranks, threads: 1, division, periods: Periods::default() }
    }

    pub(crate) fn periodic(ranks: usize, division: Division, periods: Periods) -> Self {
        Self { periods, ..Self::new(ranks, division) }
    }
}

/// Position, orientation, velocity and spin.
pub(crate) type State = (DVec3, DQuat, DVec3, DVec3);

/// A state and what led to it, by ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) bodies: BTreeMap<u64, State>,
    /// Contacts of the last step; each as often as it was treated.
    pub(crate) contacts: Vec<[u64; 2]>,
    pub(crate) iterations: Vec<u32>,
    pub(crate) converged: bool,
    /// Bodies that were not this rank's own a step before, over all steps.
    pub(crate) migrations: usize,
    /// Copies of other ranks' bodies.
    pub(crate) copies: usize,
    pub(crate) momentum: DVec3,
    /// Sum of the hashes of states.
    pub(crate) hash: u64,
}

/// A scenario; the granular gas as one of spheres.
pub(crate) fn scene(name: &str, set: &[(&str, &str)]) -> Scene {
    let spheres: &[_] = if name == "granular-gas" { &[("clumps", "0")] } else { &[] };
    let set = spheres.iter().chain(set).map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
    let set: Vec<_> = set.collect();
    scenario::find(name).unwrap().scene(&set).unwrap()
}

/// A world of spheres of one material without gravity.
pub(crate) fn world_of(bodies: impl IntoIterator<Item = Body>, friction: f64, restitution: f64) -> World {
    let material = Material { friction, restitution, ..Material::default() };
    let mut world = World { materials: Materials::new(vec![material], PairRule::default(), &[]), ..World::default() };
    for body in bodies {
        world.add(body);
    }
    world
}

/// Random numbers from 0 to 1.
pub(crate) fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn extent(world: &World) -> Aabb {
    let bodies = &world.bodies;
    (0..bodies.len()).filter(|&i| bodies.is_owned_and_bounded(i)).fold(Aabb::EMPTY, |all, i| {
        let x = bodies.position[i];
        all.join(&Aabb { low: x, high: x })
    })
}

/// The partition of a world of which every rank has all bodies.
pub(crate) fn partition(
    world: &World,
    division: Division,
    periods: Periods,
    comm: &mut dyn Communicator,
) -> Box<dyn Partition> {
    let Aabb { mut low, mut high } = extent(world);
    let repeats = [0, 1, 2].map(|axis| periods.repeats(axis));
    for axis in (0..3).filter(|&axis| repeats[axis]) {
        (low[axis], high[axis]) = (periods.low[axis], periods.high[axis]);
    }
    let (ranks, rank) = (comm.size(), comm.rank());
    match division {
        Division::Cartesian => {
            let blocks = Cartesian::automatic(ranks, high - low, repeats);
            Box::new(Cartesian::new(ranks, rank as u32, blocks, low, high, repeats).unwrap())
        }
        Division::Morton => {
            let curve = Curve::around(&Aabb { low, high }, &periods);
            let bodies = &world.bodies;
            let reach = bodies.shape().iter().filter_map(|shape| shape.bounding_radius()).fold(0.0, f64::max) * 3.0;
            // Every rank has all bodies here: one of them speaks for all.
            let work: Vec<_> = (0..bodies.len())
                .filter(|&i| rank == 0 && bodies.is_owned_and_bounded(i))
                .map(|i| (bodies.position[i], 1.0))
                .collect();
            Box::new(Morton::balanced(comm, curve, reach, work).unwrap())
        }
    }
}

/// Keeps the bodies that a rank owns, and walls.
pub(crate) fn keep_own(world: &mut World, partition: &dyn Partition) {
    let bodies = &world.bodies;
    let mine = |i: &u32| {
        let i = *i as usize;
        !bodies.is_owned_and_bounded(i) || partition.owner(bodies.position[i]) == Some(partition.rank())
    };
    let order: Vec<u32> = (0..bodies.len() as u32).filter(mine).collect();
    world.bodies.permute(&order);
}

/// Contacts of the last step that this rank has treated, by ids.
pub(crate) fn treated(simulation: &Simulation) -> Vec<[u64; 2]> {
    let bodies = &simulation.world.bodies;
    let ids = |pair: [u32; 2]| {
        let mut ids = pair.map(|i| bodies.id()[i as usize]);
        ids.sort_unstable();
        ids
    };
    simulation.contacts().pairs().iter().map(|&pair| ids(pair)).collect()
}

/// The ids of bodies that this rank owns, walls not counted; ascending.
pub(crate) fn own_ids(simulation: &Simulation) -> Vec<u64> {
    let bodies = &simulation.world.bodies;
    let mut ids: Vec<u64> =
        (0..bodies.len()).filter(|&i| bodies.is_owned_and_bounded(i)).map(|i| bodies.id()[i]).collect();
    ids.sort_unstable();
    ids
}

fn collect(simulation: &mut Simulation, outcome: &mut Outcome) {
    let bodies = &simulation.world.bodies;
    for i in (0..bodies.len()).filter(|&i| bodies.ownership()[i] == Ownership::Owned) {
        let state = (bodies.position[i], bodies.orientation[i], bodies.velocity[i], bodies.angular_velocity[i]);
        assert!(outcome.bodies.insert(bodies.id()[i], state).is_none(), "body {} is there twice", bodies.id()[i]);
        if bodies.inverse_mass()[i] > 0.0 {
            outcome.momentum += bodies.velocity[i] / bodies.inverse_mass()[i];
        }
    }
    outcome.contacts.extend(treated(simulation));
    outcome.hash = simulation.world.state_hash();
    outcome.copies = simulation.domain().map_or(0, |domain| domain.ghosts());
}

fn advance(
    simulation: &mut Simulation,
    steps: usize,
    outcome: &mut Outcome,
    each: &(impl Fn(&mut Simulation, &StepReport) + Sync),
) {
    outcome.converged = true;
    let mut before: Vec<u64> = Vec::new();
    for step in 0..steps {
        let report = simulation.step().unwrap();
        outcome.iterations.push(report.solver.iterations);
        outcome.converged &= report.solver.status == Status::Converged;
        let own = own_ids(simulation);
        if step > 0 {
            outcome.migrations += own.iter().filter(|id| before.binary_search(id).is_err()).count();
        }
        before = own;
        each(simulation, &report);
    }
}

/// A run without ranks and domains.
pub(crate) fn in_one_piece(world: &World, options: StepOptions, steps: usize) -> Outcome {
    join(vec![run(Simulation::new(world.clone(), options), steps)])
}

/// This rank's part of a world of which every rank has all bodies.
pub(crate) fn part(
    world: &World,
    options: StepOptions,
    setting: Setting,
    mut comm: Box<dyn Communicator>,
) -> Simulation {
    let partition = partition(world, setting.division, setting.periods, &mut *comm);
    let mut own = world.clone();
    keep_own(&mut own, &*partition);
    Simulation::part(own, options, Domain::new(comm, partition, setting.periods))
}

/// Runs `work` on every rank with its part of a world.
pub(crate) fn each_part<R: Send>(
    world: &World,
    options: StepOptions,
    setting: Setting,
    work: impl Fn(Simulation) -> R + Sync,
) -> Vec<R> {
    let parts = threads::run(setting.ranks, setting.threads, |comm| work(part(world, options, setting, comm)));
    parts.unwrap()
}

/// What one rank did in so many steps.
pub(crate) fn run(mut simulation: Simulation, steps: usize) -> Outcome {
    let mut outcome = Outcome::default();
    advance(&mut simulation, steps, &mut outcome, &|_, _| ());
    collect(&mut simulation, &mut outcome);
    outcome
}

/// A run on ranks, put together.
pub(crate) fn on_ranks(world: &World, options: StepOptions, steps: usize, setting: Setting) -> Outcome {
    join(each_part(world, options, setting, |simulation| run(simulation, steps)))
}

/// A run of a scene of which every rank builds its own part. `each` sees every rank after every step.
pub(crate) fn scene_on_ranks(
    scene: &Scene,
    ranks: usize,
    threads: usize,
    steps: usize,
    each: impl Fn(&mut Simulation, &StepReport) + Sync,
) -> Outcome {
    let parts = threads::run(ranks, threads, |comm| {
        let mut simulation = Simulation::on_ranks(scene, comm).unwrap();
        let mut outcome = Outcome::default();
        advance(&mut simulation, steps, &mut outcome, &each);
        collect(&mut simulation, &mut outcome);
        outcome
    });
    join(parts.unwrap())
}

pub(crate) fn join(parts: Vec<Outcome>) -> Outcome {
    let mut whole = Outcome { iterations: parts[0].iterations.clone(), converged: true, ..Outcome::default() };
    for part in parts {
        assert_eq!(part.iterations, whole.iterations, "ranks disagree");
        whole.converged &= part.converged;
        whole.migrations += part.migrations;
        whole.copies += part.copies;
        whole.momentum += part.momentum;
        whole.hash = whole.hash.wrapping_add(part.hash);
        whole.contacts.extend(part.contacts);
        for (id, state) in part.bodies {
            assert!(whole.bodies.insert(id, state).is_none(), "body {id} has two owners");
        }
    }
    whole.contacts.sort_unstable();
    whole
}

/// The convex law and the step that poses it where bodies are: velocities are unique then, and ranks can be held to
/// more digits than the tolerance has.
pub(crate) const CONVEX: [(&str, &str); 3] =
    [("solver.friction", "associated"), ("time.integrator", "euler"), ("contact.slip_rounding", "0")];

/// A bed that has been falling for a while, with bodies in contact and in flight.
pub(crate) fn bed(bodies: &str, steps: usize) -> (World, StepOptions) {
    let scene = scene("sedimentation", &[&[("bodies", bodies)], &CONVEX[..]].concat());
    let mut simulation = Simulation::from_scene(&scene).unwrap();
    (0..steps).for_each(|_| drop(simulation.step().unwrap()));
    (simulation.world, StepOptions::from(&scene))
}

/// The largest differences of positions and velocities. Places a whole period apart are one place.
pub(crate) fn largest_difference(a: &Outcome, b: &Outcome, periods: &Periods) -> (f64, f64) {
    assert_eq!(a.bodies.keys().collect::<Vec<_>>(), b.bodies.keys().collect::<Vec<_>>());
    let mut differences = (0.0f64, 0.0f64);
    for (p, q) in a.bodies.values().zip(b.bodies.values()) {
        differences.0 = differences.0.max(nearest(p.0 - q.0, periods).length());
        differences.1 = differences.1.max((p.2 - q.2).length());
    }
    differences
}

/// The shortest of a way and those a whole number of periods away.
pub(crate) fn nearest(mut offset: DVec3, periods: &Periods) -> DVec3 {
    for axis in (0..3).filter(|&axis| periods.repeats(axis)) {
        let length = periods.length()[axis];
        offset[axis] -= length * (offset[axis] / length).round();
    }
    offset
}

pub(crate) fn fastest(outcome: &Outcome) -> f64 {
    outcome.bodies.values().map(|state| state.2.length()).fold(0.0, f64::max)
}

/// A sphere as the slow twin sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ball {
    pub(crate) id: u64,
    pub(crate) x: DVec3,
    pub(crate) v: DVec3,
    pub(crate) radius: f64,
    pub(crate) moves: bool,
}

/// The spheres that a rank owns.
pub(crate) fn own_balls(simulation: &Simulation) -> Vec<Ball> {
    let bodies = &simulation.world.bodies;
    let ball = |i: usize| Ball {
        id: bodies.id()[i],
        x: bodies.position[i],
        v: bodies.velocity[i],
        radius: bodies.shape()[i].bounding_radius().unwrap(),
        moves: bodies.inverse_mass()[i] > 0.0,
    };
    (0..bodies.len()).filter(|&i| bodies.is_owned_and_bounded(i)).map(ball).collect()
}

/// All shifts by at most one period along each axis.
pub(crate) fn shifts(periods: &Periods) -> impl Iterator<Item = [i8; 3]> {
    let along = [0, 1, 2].map(|axis| if periods.repeats(axis) { -1..=1i8 } else { 0..=0 });
    let [x, y, z] = along;
    x.flat_map(move |x| {
        let z = z.clone();
        y.clone().flat_map(move |y| z.clone().map(move |z| [x, y, z]))
    })
}

/// Contacts between all spheres and all images of each other, by ids: a pair is as often among them
/// as it meets. Every one is well inside or outside of the limit, so that rounding does not decide.
pub(crate) fn all_contacts(balls: &[Ball], periods: &Periods, h: f64, margin: f64) -> Vec<[u64; 2]> {
    let mut found = Vec::new();
    for (k, a) in balls.iter().enumerate() {
        for b in balls[..k].iter().filter(|b| a.moves || b.moves) {
            let offset = nearest(a.x - b.x, periods);
            let limit = (1.0 + margin) * (a.radius + b.radius) + h * (a.v - b.v).length();
            for shift in shifts(periods) {
                let distance = (offset + periods.offset(shift)).length();
                assert!((distance - limit).abs() > 1e-12 * limit, "rounding decides on {} and {}", a.id, b.id);
                if distance < limit {
                    found.push([a.id.min(b.id), a.id.max(b.id)]);
                }
            }
        }
    }
    found.sort_unstable();
    found
}

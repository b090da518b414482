//! The protocol of ranks against a reference that knows everything.
//!
//! Random spheres follow a script through random regions: many of them change their owner in every
//! step, some by more than a block's width. Nothing is solved. After each synchronisation all that
//! ranks have and say is put together and compared: who owns, who holds, what the lists say, and who
//! treats which contact.

use crate::ranks::{keep_own, nearest, random, shifts, world_of};
use barchan::DVec3;
use barchan::broad::{Aabb, Growth};
use barchan::comm::threads;
use barchan::domain::{Domain, DomainError};
use barchan::narrow::{ContactAssignment, Contacts};
use barchan::partition::{Cartesian, Curve, Cuts, Holder, Morton, Partition, Periods};
use barchan::shape::Shape;
use barchan::world::{Body, Ownership, World};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The edge of the cell. The frame of the Morton curve is twice as long.
const EDGE: f64 = 8.0;
const MARGIN: f64 = 0.02;
const STEPS: u64 = 12;
/// How far Morton neighbours may reach.
const REACH: f64 = 1.7;
/// Coarse cells of the Morton curve have edges of 1: this many bits of a key lie below them.
const FINE: u32 = 51;

/// How space is divided: blocks along each axis, or cuts of the Morton curve in coarse cells.
#[derive(Clone, Debug)]
enum Regions {
    Blocks([u32; 3]),
    Cuts(Vec<u64>),
}

impl Regions {
    fn ranks(&self) -> usize {
        match self {
            Self::Blocks(n) => n.iter().product::<u32>() as usize,
            Self::Cuts(cuts) => cuts.len() + 1,
        }
    }

    fn partition(&self, rank: u32, periods: &Periods) -> Box<dyn Partition> {
        let (low, high) = (DVec3::ZERO, DVec3::splat(EDGE));
        let repeats = [0, 1, 2].map(|axis| periods.repeats(axis));
        match self {
            Self::Blocks(n) => Box::new(Cartesian::new(self.ranks(), rank, *n, low, high, repeats).unwrap()),
            Self::Cuts(cuts) => {
                let curve = Curve::around(&Aabb { low, high }, periods);
                let cuts: Vec<u64> = cuts.iter().map(|cut| cut << FINE).collect();
                Box::new(Morton::new(&Cuts::new(curve, &cuts), rank, REACH).unwrap())
            }
        }
    }

    /// Into how many cells an axis is cut, and how long they are. Outer ones go on for ever.
    fn cells(&self, axis: usize, periods: &Periods) -> (u32, f64) {
        match self {
            Self::Blocks(n) => (n[axis], EDGE / f64::from(n[axis])),
            Self::Cuts(_) => (if periods.repeats(axis) { 8 } else { 16 }, 1.0),
        }
    }

    /// The rank that has a cell.
    fn rank(&self, cell: [u32; 3]) -> u32 {
        match self {
            Self::Blocks(n) => cell[0] + n[0] * (cell[1] + n[1] * cell[2]),
            Self::Cuts(cuts) => {
                let bit = |i: u32, axis: usize| u64::from(cell[axis] >> i & 1) << (3 * i + axis as u32);
                let key: u64 = (0..4).map(|i| bit(i, 0) | bit(i, 1) | bit(i, 2)).sum();
                cuts.iter().filter(|&&cut| cut <= key).count() as u32
            }
        }
    }

    fn owner(&self, x: DVec3, periods: &Periods) -> u32 {
        self.rank([0, 1, 2].map(|axis| {
            let (n, length) = self.cells(axis, periods);
            ((x[axis] / length).floor().max(0.0) as u32).min(n - 1)
        }))
    }

    /// All holders of a box: for every shift, the ranks whose closed cells it meets.
    fn holders(&self, hull: &Aabb, periods: &Periods) -> BTreeSet<Holder> {
        let mut holders = BTreeSet::new();
        for shift in shifts(periods) {
            let offset = periods.offset(shift);
            let here = Aabb { low: (hull.low + offset).max(periods.low), high: (hull.high + offset).min(periods.high) };
            if !here.low.cmple(here.high).all() {
                continue;
            }
            let [x, y, z] = [0, 1, 2].map(|axis| {
                let (n, length) = self.cells(axis, periods);
                let first = (here.low[axis] / length).ceil() as i64 - 1;
                let last = (here.high[axis] / length).floor() as i64;
                let within = |i: i64| i.clamp(0, i64::from(n) - 1) as u32;
                within(first)..=within(last)
            });
            for (x, y, z) in x.flat_map(|x| {
                y.clone().flat_map({
                    let z = z.clone();
                    move |y| z.clone().map(move |z| (x, y, z))
                })
            }) {
                holders.insert(Holder { rank: self.rank([x, y, z]), shift });
            }
        }
        holders
    }

    /// The length l_dd.
    fn reach(&self, periods: &Periods) -> f64 {
        (0..self.ranks() as u32).map(|rank| self.partition(rank, periods).reach()).fold(f64::INFINITY, f64::min)
    }
}

/// A script.
#[derive(Clone, Debug)]
struct Script {
    /// Positions and radii.
    balls: Vec<(DVec3, f64)>,
    regions: Regions,
    repeats: [bool; 3],
    /// The longest way in a step, as a part of what the rule allows.
    haste: f64,
    seed: u64,
}

impl Script {
    fn periods(&self) -> Periods {
        Periods::new(DVec3::ZERO, DVec3::splat(EDGE), self.repeats)
    }

    /// The way of a body in a step of length 1. It turns back where the cell ends and does not repeat.
    fn velocity(&self, id: u64, step: u64, x: DVec3, limit: f64) -> DVec3 {
        let radius = self.balls[id as usize].1;
        let mut random = random(self.seed ^ (id << 20) ^ (step << 40));
        random();
        let mut number = || 2.0 * random() - 1.0;
        let offset = DVec3::new(number(), number(), number()).normalize_or_zero();
        let most = self.haste * 0.999 * (limit.min(0.25 * EDGE) - (1.0 + MARGIN) * radius);
        let mut offset = offset * most * number().abs().sqrt();
        for axis in (0..3).filter(|&axis| !self.repeats[axis]) {
            if !(0.0..EDGE).contains(&(x[axis] + offset[axis])) {
                offset[axis] = -offset[axis];
            }
        }
        offset
    }
}

fn scripts() -> impl Strategy<Value = Script> {
    let blocks = prop_oneof![
        Just([1, 1, 1]),
        Just([2, 1, 1]),
        Just([1, 1, 4]),
        Just([2, 2, 2]),
        Just([4, 2, 1]),
        Just([1, 4, 4]),
    ];
    let cuts = prop::collection::vec(prop_oneof![4 => 0u64..=512, 1 => 0u64..=4096], 0..9).prop_map(|mut cuts| {
        cuts.sort_unstable();
        cuts
    });
    let regions = prop_oneof![blocks.prop_map(Regions::Blocks), cuts.prop_map(Regions::Cuts)];
    // Some bodies lie on borders, edges and corners.
    let place = || prop_oneof![3 => 0.0..EDGE, 1 => (0u32..8).prop_map(f64::from)];
    let ball = (place(), place(), place(), 0.1..0.45f64).prop_map(|(x, y, z, radius)| (DVec3::new(x, y, z), radius));
    let haste = prop_oneof![Just(0.3), Just(0.95)];
    (prop::collection::vec(ball, 1..40), regions, prop::array::uniform3(any::<bool>()), haste, any::<u64>())
        .prop_map(|(balls, regions, repeats, haste, seed)| Script { balls, regions, repeats, haste, seed })
}

/// What a rank has after a synchronisation.
#[derive(Clone, Debug, Default)]
struct View {
    /// Bodies: id, ownership, position, velocity.
    rows: Vec<(u64, Ownership, DVec3, DVec3)>,
    /// Its lists.
    held: Vec<(u64, u32, Vec<Holder>)>,
    /// Pairs of rows whose contacts it treats, if they touch.
    treated: Vec<[usize; 2]>,
}

/// The views of all ranks after each synchronisation.
fn follow(script: &Script) -> Vec<Result<Vec<View>, DomainError>> {
    let periods = script.periods();
    let limit = script.regions.reach(&periods);
    let bodies = script.balls.iter().map(|&(x, radius)| Body::dynamic(Shape::sphere(radius), x));
    let world = world_of(bodies, 0.3, 0.0);
    let one = |comm: Box<dyn barchan::comm::Communicator>| {
        let partition = script.regions.partition(comm.rank() as u32, &periods);
        let mut world = world.clone();
        keep_own(&mut world, &*partition);
        let mut domain = Domain::new(comm, partition, periods);
        domain.initialise(&mut world, |_| false);
        let mut contacts = Contacts::default();
        let mut views = Vec::new();
        for step in 0..STEPS {
            let bodies = &mut world.bodies;
            for i in 0..bodies.len() {
                if bodies.ownership()[i] == Ownership::Removed {
                    continue;
                }
                bodies.velocity[i] = script.velocity(bodies.id()[i], step, bodies.position[i], limit);
            }
            domain.synchronise(&mut world, Growth { h: 1.0, margin: MARGIN, kick: 0.0 }, &mut contacts)?;
            views.push(view(&world, &domain));
            let bodies = &mut world.bodies;
            (0..bodies.len()).for_each(|i| bodies.position[i] += bodies.velocity[i]);
            if step % 5 == 4 {
                tidy(&mut world, &mut domain);
            }
        }
        Ok(views)
    };
    threads::run(script.regions.ranks(), 1, one).unwrap()
}

/// What re-ordering does: bodies that have left are dropped, the others change places.
fn tidy(world: &mut World, domain: &mut Domain) {
    domain.drop_images(&mut world.bodies);
    let before = world.bodies.len() as u32;
    let order: Vec<u32> =
        (0..before).rev().filter(|&i| world.bodies.ownership()[i as usize] != Ownership::Removed).collect();
    world.bodies.permute(&order);
    domain.reindex(&order, before as usize);
}

fn view(world: &World, domain: &Domain) -> View {
    let bodies = &world.bodies;
    let there: Vec<usize> = (0..bodies.len()).filter(|&i| bodies.ownership()[i] != Ownership::Removed).collect();
    let row = |&i: &usize| (bodies.id()[i], bodies.ownership()[i], bodies.position[i], bodies.velocity[i]);
    let held = domain.shared_bodies().map(|held| (held.id, held.owner, held.holders.to_vec()));
    let assignment = domain.contact_assignment(bodies);
    let mut treated = Vec::new();
    for (k, &a) in there.iter().enumerate() {
        treated.extend((k + 1..there.len()).filter(|&l| assignment.is_assigned(a, there[l])).map(|l| [k, l]));
    }
    View { rows: there.iter().map(row).collect(), held: held.collect(), treated }
}

/// Owner, position and velocity of every body.
type Owners = BTreeMap<u64, (u32, DVec3, DVec3)>;
/// Every holder of every body.
type AllHolders = BTreeMap<u64, BTreeSet<Holder>>;

/// Compares one moment. Returns how many bodies have changed their owner, how many holders there are,
/// and how many more than the hulls ask for.
fn compare(script: &Script, step: usize, views: &[&View], before: &mut Owners) -> Result<[usize; 3], TestCaseError> {
    let moment = Moment { script, step, views };
    let owners = moment.owners()?;
    let moved = moment.compare_owners(&owners, before)?;
    let (holders, rows) = moment.holders(&owners)?;
    let [held, more] = moment.compare_holders(&owners, &holders)?;
    moment.compare_lists(&owners, &holders)?;
    moment.compare_contacts(&owners, &rows)?;
    *before = owners;
    Ok([moved, held, more])
}

/// What the ranks have at one moment, and what they should have.
struct Moment<'a> {
    script: &'a Script,
    step: usize,
    views: &'a [&'a View],
}

impl Moment<'_> {
    /// Each body has one owner.
    fn owners(&self) -> Result<Owners, TestCaseError> {
        let step = self.step;
        let mut owners = BTreeMap::new();
        for (view, rank) in self.views.iter().zip(0u32..) {
            for &(id, _, x, v) in view.rows.iter().filter(|row| row.1 == Ownership::Owned) {
                prop_assert!(owners.insert(id, (rank, x, v)).is_none(), "step {}: body {} has two owners", step, id);
            }
        }
        prop_assert_eq!(owners.len(), self.script.balls.len(), "step {}: bodies are lost", step);
        Ok(owners)
    }

    /// Owners are the right ones, and bodies are where the script has led them. Returns how many have changed their
    /// owner.
    fn compare_owners(&self, owners: &Owners, before: &Owners) -> Result<usize, TestCaseError> {
        let &Self { script, step, .. } = self;
        let periods = script.periods();
        let mut moved = 0;
        for (id, &(rank, x, _)) in owners {
            prop_assert_eq!(rank, script.regions.owner(x, &periods), "step {}: owner of {} at {}", step, id, x);
            let (last, from, v) = before.get(id).copied().unwrap_or((rank, script.balls[*id as usize].0, DVec3::ZERO));
            let astray = nearest(x - from - v, &periods).length();
            prop_assert!(astray < 1e-12, "step {}: body {} is {} astray", step, id, astray);
            moved += usize::from(last != rank);
        }
        Ok(moved)
    }

    /// Rows are holders, none of them twice. Returns them by body, and by rank.
    #[expect(clippy::type_complexity)]
    fn holders(&self, owners: &Owners) -> Result<(AllHolders, Vec<Vec<(u64, [i8; 3])>>), TestCaseError> {
        let &Self { script, step, .. } = self;
        let periods = script.periods();
        let mut holders = AllHolders::new();
        let mut rows = Vec::new();
        for (view, rank) in self.views.iter().zip(0u32..) {
            let mut here = Vec::new();
            for &(id, _, x, v) in &view.rows {
                let (_, home, velocity) = owners[&id];
                let across = |axis: usize| ((x - home)[axis] / EDGE).round() as i8;
                let shift: [i8; 3] = std::array::from_fn(|axis| if periods.repeats(axis) { across(axis) } else { 0 });
                let off = (x - home - periods.offset(shift)).length();
                prop_assert!(off < 1e-12 && v == velocity, "step {}: a copy of {} is {} off", step, id, off);
                let new = holders.entry(id).or_default().insert(Holder { rank, shift });
                prop_assert!(new, "step {}: rank {} has body {} twice at {:?}", step, rank, id, shift);
                here.push((id, shift));
            }
            rows.push(here);
        }
        Ok((holders, rows))
    }

    /// Holders are all that hulls ask for. Returns how many there are, and how many more than needed.
    fn compare_holders(&self, owners: &Owners, holders: &AllHolders) -> Result<[usize; 2], TestCaseError> {
        let &Self { script, step, .. } = self;
        let (periods, regions) = (script.periods(), &script.regions);
        let (mut held, mut more) = (0, 0);
        for (id, &(_, x, v)) in owners {
            let radius = script.balls[*id as usize].1;
            let reach = (1.0 + MARGIN) * radius + v.length();
            let about = |by: f64| Aabb { low: x - (reach + by), high: x + (reach + by) };
            let (least, most) = (regions.holders(&about(-1e-9), &periods), regions.holders(&about(1e-5), &periods));
            let holders = &holders[id];
            let missing: Vec<_> = least.difference(holders).collect();
            prop_assert!(missing.is_empty(), "step {}: body {} at {} moving {} misses {:?}", step, id, x, v, missing);
            let idle: Vec<_> = holders.difference(&most).collect();
            prop_assert!(idle.is_empty(), "step {}: body {} at {} has no business at {:?}", step, id, x, idle);
            (held, more) = (held + holders.len(), more + holders.len() - least.len());
        }
        Ok([held, more])
    }

    /// All lists agree with each other and with what is there.
    fn compare_lists(&self, owners: &Owners, holders: &AllHolders) -> Result<(), TestCaseError> {
        let step = self.step;
        let mut listed = BTreeMap::<u64, BTreeSet<u32>>::new();
        for (view, rank) in self.views.iter().zip(0u32..) {
            for (id, owner, list) in &view.held {
                prop_assert_eq!(*owner, owners[id].0, "step {}: rank {} on {}", step, rank, id);
                let there: Vec<Holder> = holders[id].iter().copied().collect();
                prop_assert_eq!(list, &there, "step {}: the list of {} on rank {}", step, id, rank);
                listed.entry(*id).or_default().insert(rank);
            }
        }
        for (id, holders) in holders {
            let holding: BTreeSet<u32> = holders.iter().map(|holder| holder.rank).collect();
            let wanted = if holders.len() > 1 { holding } else { BTreeSet::new() };
            prop_assert_eq!(listed.get(id).cloned().unwrap_or_default(), wanted, "step {}: who lists {}", step, id);
        }
        Ok(())
    }

    /// Each contact is treated once.
    fn compare_contacts(&self, owners: &Owners, rows: &[Vec<(u64, [i8; 3])>]) -> Result<(), TestCaseError> {
        let &Self { script, step, .. } = self;
        let periods = script.periods();
        let touches = |[a, b]: [u64; 2], apart: [i8; 3]| {
            let ((_, x, v), (_, y, w)) = (owners[&a], owners[&b]);
            let limit = (1.0 + MARGIN) * (script.balls[a as usize].1 + script.balls[b as usize].1) + (v - w).length();
            (y + periods.offset(apart) - x).length() - limit
        };
        let mut treated = BTreeMap::<([u64; 2], [i8; 3]), usize>::new();
        for (view, here) in self.views.iter().zip(rows) {
            for &[k, l] in &view.treated {
                let (a, b) = if here[k].0 < here[l].0 { (here[k], here[l]) } else { (here[l], here[k]) };
                let apart: [i8; 3] = std::array::from_fn(|axis| b.1[axis] - a.1[axis]);
                if touches([a.0, b.0], apart) < -1e-9 {
                    *treated.entry(([a.0, b.0], apart)).or_default() += 1;
                }
            }
        }
        prop_assert!(treated.values().all(|&times| times == 1), "step {}: not once: {:?}", step, treated);
        for (&a, &b) in owners.keys().flat_map(|a| owners.range(a + 1..).map(move |b| (a, b.0))) {
            for apart in (-2..=2i8).flat_map(|x| (-2..=2i8).flat_map(move |y| (-2..=2i8).map(move |z| [x, y, z]))) {
                if (0..3).any(|axis| apart[axis] != 0 && !periods.repeats(axis)) || touches([a, b], apart) > -1e-9 {
                    continue;
                }
                let is_treated = treated.contains_key(&([a, b], apart));
                prop_assert!(is_treated, "step {}: nobody treats {} {} {:?}", step, a, b, apart);
            }
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn ranks_agree_with_what_is_true(script in scripts()) {
        let views = follow(&script);
        let views: Vec<Vec<View>> = views.into_iter().collect::<Result<_, _>>().map_err(|error| {
            TestCaseError::fail(error.to_string())
        })?;
        let mut before = BTreeMap::new();
        for step in 0..STEPS as usize {
            let now: Vec<&View> = views.iter().map(|views| &views[step]).collect();
            compare(&script, step, &now, &mut before)?;
        }
    }
}

/// The scripts are worth something: a large part of the bodies changes its owner each step.
#[test]
fn bodies_change_owners_all_the_time() {
    let mut random = random(5);
    let mut point = || EDGE * DVec3::new(random(), random(), random());
    for (regions, repeats) in [
        (Regions::Blocks([4, 2, 2]), [true; 3]),
        (Regions::Blocks([1, 1, 4]), [false, true, false]),
        (Regions::Cuts((1..8).map(|k| 61 * k).collect()), [true, false, true]),
    ] {
        let balls: Vec<_> = (0..200).map(|k| (point(), 0.1 + 0.001 * f64::from(k))).collect();
        let script = Script { balls, regions, repeats, haste: 0.95, seed: 7 };
        let views: Vec<Vec<View>> = follow(&script).into_iter().collect::<Result<_, _>>().unwrap();
        let (mut before, mut sum) = (BTreeMap::new(), [0; 3]);
        for step in 0..STEPS as usize {
            let now: Vec<&View> = views.iter().map(|views| &views[step]).collect();
            let counts = compare(&script, step, &now, &mut before).unwrap();
            (0..3).for_each(|k| sum[k] += counts[k]);
        }
        let [moved, held, more] = sum;
        println!("{:?} {repeats:?}: {moved} migrations, {held} holders, {more} more than needed", script.regions);
        assert!(moved > 200 * STEPS as usize / 6, "{moved}");
    }
}

//! Every contact is treated once, whoever holds its bodies, and across periodic borders too.
//!
//! Before each step the states of all ranks are put together, and loops over all bodies and their
//! images say which contacts there are. So a difference in one step is not carried on to the next.

use crate::ranks::{
    Ball, DIVISIONS, RANKS, Setting, all_contacts, each_part, largest_difference, on_ranks, own_balls, random, treated,
    world_of,
};
use barchan::DVec3;
use barchan::cone::solver::SolverName;
use barchan::partition::Periods;
use barchan::shape::Shape;
use barchan::step::StepOptions;
use barchan::world::{Body, World};

const H: f64 = 0.02;
const STEPS: usize = 12;
const BODIES: u64 = 280;
const LOW: DVec3 = DVec3::new(-1.0, 0.0, 2.0);
const HIGH: DVec3 = DVec3::new(1.4, 2.0, 4.2);

/// Spheres of several sizes, crowded, that cross the cell in some tens of steps. Those that leave it
/// where it does not repeat stay about.
fn crowd() -> World {
    let mut random = random(11);
    let mut point = |scale: DVec3| DVec3::new(random(), random(), random()) * scale;
    let bodies = (0..BODIES as usize).map(|k| {
        let radius = [0.06, 0.09, 0.13][k % 3];
        let x = LOW + point(HIGH - LOW);
        let spin = 10.0 * (point(DVec3::ONE) - 0.5);
        Body { angular_velocity: spin, ..Body::dynamic(Shape::sphere(radius), x) }
            .with_velocity(8.0 * (point(DVec3::ONE) - 0.5))
    });
    world_of(bodies.collect::<Vec<_>>(), 0.3, 0.0)
}

fn options() -> StepOptions {
    let mut options = StepOptions { step: H.into(), ..StepOptions::default() };
    options.solver.name = SolverName::Apgd;
    options.broad_phase.reorder_interval = 5;
    options
}

/// All that ranks say about one step: bodies before it, contacts in it.
type Moment = (Vec<Ball>, Vec<[u64; 2]>);

fn moments(world: &World, setting: Setting) -> Vec<Moment> {
    let parts = each_part(world, options(), setting, |mut simulation| {
        let step = |_| {
            let balls = own_balls(&simulation);
            simulation.step().unwrap();
            (balls, treated(&simulation))
        };
        (0..STEPS).map(step).collect::<Vec<Moment>>()
    });
    let mut all = vec![Moment::default(); STEPS];
    for part in parts {
        for (all, (balls, contacts)) in all.iter_mut().zip(part) {
            all.0.extend(balls);
            all.1.extend(contacts);
        }
    }
    for (balls, contacts) in &mut all {
        balls.sort_unstable_by_key(|ball| ball.id);
        contacts.sort_unstable();
    }
    all
}

fn contacts_are_treated_once(repeats: [bool; 3]) {
    let (world, periods) = (crowd(), Periods::new(LOW, HIGH, repeats));
    let options = options();
    let mut one = None;
    for division in DIVISIONS {
        for ranks in RANKS {
            let case = format!("{division:?}, {ranks} ranks, {repeats:?}");
            let setting = Setting::periodic(ranks, division, periods);
            let moments = moments(&world, setting);
            for (step, (balls, contacts)) in moments.iter().enumerate() {
                let ids: Vec<u64> = balls.iter().map(|ball| ball.id).collect();
                assert_eq!(ids, (0..BODIES).collect::<Vec<_>>(), "{case}, step {step}");
                let reference = all_contacts(balls, &periods, options.step.fixed().unwrap(), options.contact.margin);
                assert_eq!(contacts, &reference, "{case}, step {step}");
            }
            assert!(moments[0].1.len() > 300, "{}", moments[0].1.len());
            // And one rank is no different, contact by contact and place by place.
            let there = on_ranks(&world, options, STEPS, setting);
            if ranks > 1 {
                assert!(there.migrations > 20, "{case}: {} migrations", there.migrations);
            }
            let (all, known) = one.get_or_insert_with(|| (moments.clone(), there.clone()));
            for (step, (here, there)) in all.iter().zip(&moments).enumerate() {
                assert_eq!(here.1, there.1, "{case}, step {step}");
            }
            let (position, _) = largest_difference(known, &there, &periods);
            assert!(position < 1e-9, "{case}: {position:e}");
        }
    }
}

#[test]
fn without_periods() {
    contacts_are_treated_once([false; 3]);
}

#[test]
fn with_one_period() {
    contacts_are_treated_once([true, false, false]);
    contacts_are_treated_once([false, false, true]);
}

#[test]
fn with_two_periods() {
    contacts_are_treated_once([true, false, true]);
}

#[test]
fn with_three_periods() {
    contacts_are_treated_once([true; 3]);
}

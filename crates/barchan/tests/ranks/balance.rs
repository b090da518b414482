//! The Morton curve cut anew while a simulation runs.

use crate::ranks::scene;
use barchan::DVec3;
use barchan::comm::threads;
use barchan::scene::BodySpec;
use barchan::shape::Shape;
use barchan::step::Simulation;
use barchan::world::Ownership;
use std::collections::BTreeMap;

fn positions(simulation: &Simulation) -> BTreeMap<u64, DVec3> {
    let bodies = &simulation.world.bodies;
    let own = (0..bodies.len()).filter(|&i| bodies.ownership()[i] == Ownership::Owned);
    own.map(|i| (bodies.id()[i], bodies.position[i])).collect()
}

/// Every few steps bodies, and the impulses of their contacts, go anywhere; nothing of it shows.
#[test]
fn a_new_division_changes_nothing() {
    let set = [("bodies", "300"), ("solver.name", "apgd"), ("domain.balance_interval", "7"), ("domain.imbalance", "1")];
    let scene = scene("sedimentation", &set);
    let steps = 120;
    let mut one = Simulation::from_scene(&scene).unwrap();
    let reference: Vec<_> =
        (0..steps).map(|_| one.step().unwrap()).map(|r| (r.contacts, r.solver.iterations)).collect();
    assert!(reference[steps - 1].0 > 150, "{:?}", reference[steps - 1]);
    for ranks in [2, 5] {
        let parts = threads::run(ranks, 1, |comm| {
            let mut simulation = Simulation::on_ranks(&scene, comm).unwrap();
            let reports: Vec<_> = (0..steps).map(|_| simulation.step().unwrap()).collect();
            let reports: Vec<_> = reports.iter().map(|r| (r.contacts, r.solver.iterations)).collect();
            (reports, positions(&simulation), simulation.domain().unwrap().repartitions())
        });
        let mut all = BTreeMap::new();
        for (reports, bodies, divisions) in parts.unwrap() {
            assert_eq!(reports, reference);
            assert!(divisions >= 30, "{divisions}");
            all.extend(bodies);
        }
        let expected = positions(&one);
        assert_eq!(all.len(), expected.len());
        let off = all.iter().map(|(id, x)| x.distance(expected[id])).fold(0.0, f64::max);
        assert!(off < 1e-9, "{ranks}: {off:e}");
    }
}

/// A column that falls apart moves the work, and the curve follows it: without, a rank runs out of
/// bodies.
#[test]
fn the_curve_follows_the_work() {
    let fewest = |imbalance: &str| {
        let set = [("domain.balance_interval", "10"), ("domain.imbalance", imbalance), ("domain.partition", "morton")];
        let scene = scene("column-collapse", &set);
        let parts = threads::run(8, 1, |comm| {
            let mut simulation = Simulation::on_ranks(&scene, comm).unwrap();
            while simulation.world.time < 0.14 {
                simulation.step().unwrap();
            }
            let imbalance = simulation.domain().unwrap().imbalance().unwrap();
            assert!((1.0..=8.0).contains(&imbalance), "{imbalance}");
            simulation.world.bodies.owned_bounded_len()
        });
        let parts = parts.unwrap();
        assert_eq!(parts.iter().sum::<usize>(), scene.build().unwrap().bodies.owned_bounded_len());
        parts.into_iter().min()
    };
    let (following, fixed) = (fewest("1.05"), fewest("1000"));
    assert!(following > fixed.map(|n| 2 * n + 50), "{following:?} {fixed:?}");
}

/// Bodies that become fast reach beyond the neighbours that were looked for: more are found.
#[test]
fn neighbours_are_looked_for_farther_away_when_needed() {
    let scene = scene("sedimentation", &[("bodies", "200"), ("domain.partition", "morton"), ("solver.name", "apgd")]);
    let run = |speed: f64| {
        threads::run(4, 1, |comm| {
            let mut simulation = Simulation::on_ranks(&scene, comm).unwrap();
            simulation.step().unwrap();
            let velocity = &mut simulation.world.bodies.velocity;
            velocity.iter_mut().for_each(|v| v.z -= speed);
            let result = simulation.step().map(|_| ());
            (result, simulation.world.bodies.owned_bounded_len())
        })
        .unwrap()
    };
    // 3 radii of 1 cm are the reach to begin with; 30 m/s make 3 cm in a step.
    let parts = run(30.0);
    assert!(parts.iter().all(|part| part.0.is_ok()), "{:?}", parts[0].0);
    assert_eq!(parts.iter().map(|part| part.1).sum::<usize>(), 200);
}

/// A body far away left one of two ranks with all others, at the start and after every new division.
#[test]
fn a_body_far_away_does_not_spoil_the_shares() {
    for far in [1e6, 1e9, 1e12] {
        let set = [("bodies", "1000"), ("domain.balance_interval", "5"), ("domain.imbalance", "1")];
        let mut scene = scene("sedimentation", &set);
        scene.body.push(BodySpec::new(Shape::sphere(0.01), DVec3::new(0.0, 0.0, far)));
        // Without the walls, which would hold it back.
        scene.body.retain(|body| body.shape.bounding_radius().is_some());
        let parts = threads::run(2, 1, |comm| {
            let mut simulation = Simulation::on_ranks(&scene, comm).unwrap();
            let first = simulation.world.bodies.owned_bounded_len();
            (0..30).for_each(|_| drop(simulation.step().unwrap()));
            (first, simulation.world.bodies.owned_bounded_len(), simulation.domain().unwrap().repartitions())
        });
        let parts = parts.unwrap();
        for part in &parts {
            assert!((450..=551).contains(&part.0) && (450..=551).contains(&part.1), "{far}: {parts:?}");
            assert!(part.2 > 0, "{far}: {parts:?}");
        }
    }
}

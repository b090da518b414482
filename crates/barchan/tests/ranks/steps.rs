//! Worlds spread over ranks against the same worlds in one piece: positions, iterations, contacts.

use crate::ranks::{
    DIVISIONS, RANKS, Setting, bed, fastest, in_one_piece, largest_difference, on_ranks, scene, scene_on_ranks,
};
use barchan::cone::solver::SolverName;
use barchan::partition::Periods;
use std::sync::Mutex;

#[test]
fn apgd_is_the_same_on_any_number_of_ranks() {
    let (world, mut options) = bed("400", 250);
    options.solver.name = SolverName::Apgd;
    let one = in_one_piece(&world, options, 1);
    assert!(one.contacts.len() > 800, "{}", one.contacts.len());
    let fifty = in_one_piece(&world, options, 50);
    for division in DIVISIONS {
        for ranks in RANKS {
            let setting = Setting::new(ranks, division);
            let there = on_ranks(&world, options, 1, setting);
            assert_eq!(there.contacts, one.contacts, "{division:?} {ranks}");
            assert!(there.iterations[0].abs_diff(one.iterations[0]) <= 1);
            let (_, velocity) = largest_difference(&one, &there, &Periods::default());
            assert!(velocity < 1e-9 * fastest(&one), "{division:?} {ranks}: {velocity:e}");
            let there = on_ranks(&world, options, 50, setting);
            let (position, _) = largest_difference(&fifty, &there, &Periods::default());
            println!("{division:?} {ranks}: {position:.1e} after 50 steps, {} migrations", there.migrations);
            assert!(position < 1e-6, "{division:?} {ranks}: {position:e}");
        }
    }
}

/// Re-ordering drops images, moves copies and forgets bodies that have left: warm starts and lists
/// must follow.
#[test]
fn re_ordering_changes_nothing() {
    let (world, mut options) = bed("400", 250);
    options.solver.name = SolverName::Apgd;
    options.broad_phase.reorder_interval = 3;
    let one = in_one_piece(&world, options, 30);
    assert!(one.converged);
    for (division, ranks) in [(DIVISIONS[0], 3), (DIVISIONS[0], 8), (DIVISIONS[1], 4), (DIVISIONS[1], 7)] {
        let there = on_ranks(&world, options, 30, Setting::new(ranks, division));
        let (position, _) = largest_difference(&one, &there, &Periods::default());
        println!("{division:?} {ranks}: {position:.1e} after 30 steps, {} migrations", there.migrations);
        assert!(there.migrations > 0 && there.converged);
        assert!(position < 1e-9, "{division:?} {ranks}: {position:e}");
    }
}

/// A problem that is only looked at has already brought bodies home, made copies and put bodies into
/// another order: the step after it must not notice, to the last bit.
#[test]
fn posing_the_problem_of_a_step_does_not_change_it() {
    let crowd = [
        ("nx", "6"),
        ("ny", "6"),
        ("nz", "6"),
        ("periodic", "1"),
        ("spacing", "0.0101"),
        ("speed", "1"),
        ("friction", "0.3"),
        ("broad_phase.reorder_interval", "4"),
        ("domain.balance_interval", "5"),
        ("domain.imbalance", "1"),
        ("solver.name", "apgd"),
    ];
    let steps = 40;
    for (partition, ranks) in [("cartesian", 1), ("cartesian", 4), ("morton", 3)] {
        let set: Vec<_> = crowd.into_iter().chain([("domain.partition", partition)]).collect();
        let scene = scene("granular-gas", &set);
        let plain = scene_on_ranks(&scene, ranks, 1, steps, |_, _| ());
        assert!(plain.contacts.len() > 100, "{}", plain.contacts.len());
        let posed = scene_on_ranks(&scene, ranks, 1, steps, |simulation, _| {
            if simulation.steps() < steps as u64 {
                let (contacts, start) = (simulation.pose().0.contacts(), simulation.pose().1.len());
                assert_eq!(contacts, start);
            }
        });
        assert_eq!(posed.iterations, plain.iterations, "{partition} {ranks}");
        assert_eq!((posed.hash, posed.contacts), (plain.hash, plain.contacts), "{partition} {ranks}");
    }
}

#[test]
fn chosen_steps_are_the_same_on_any_number_of_ranks() {
    let set = [("nx", "6"), ("ny", "5"), ("nz", "5"), ("solver.tolerance", "1e-6"), ("solver.max_iterations", "5000")];
    for partition in ["cartesian", "morton"] {
        let all: Vec<_> = set.into_iter().chain([("domain.partition", partition)]).collect();
        let scene = scene("slope", &all);
        let lengths = |ranks| {
            let seen = Mutex::new(Vec::new());
            scene_on_ranks(&scene, ranks, 1, 150, |simulation, report| {
                seen.lock().unwrap().push((simulation.steps(), report.length.to_bits()));
            });
            let mut seen = seen.into_inner().unwrap();
            seen.sort_unstable();
            // All ranks have the same.
            seen.dedup();
            seen
        };
        let one = lengths(1);
        assert_eq!(one.len(), 150);
        assert!(one.iter().any(|step| step.1 != one[0].1), "lengths change");
        for ranks in [2, 3] {
            assert_eq!(lengths(ranks), one, "{partition} {ranks}");
        }
    }
}

#[test]
fn a_hexagonal_packing_keeps_its_contacts_on_every_partition() {
    let (nx, ny, nz) = (6, 6, 5);
    let size = [("nx", "6"), ("ny", "6"), ("nz", "5")];
    for partition in ["cartesian", "morton"] {
        for ranks in RANKS {
            let set: Vec<_> = size.into_iter().chain([("domain.partition", partition)]).collect();
            let scene = scene("hexagonal-packing", &set);
            let there = scene_on_ranks(&scene, ranks, 1, 5, |_, _| ());
            assert_eq!(there.contacts.len(), nx * ny * (6 * nz - 1), "{partition} {ranks}");
        }
    }
}

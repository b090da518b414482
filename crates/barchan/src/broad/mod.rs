//! The broad phase: which hulls meet.
//!
//! To add one: write its file, add it to [`BroadPhaseName`] and to [`by_name`]. The result is in
//! canonical order, so a run does not depend on the choice.

pub mod brute_force;
mod condensed;
mod eight;
pub mod grid;
pub mod hull;
mod levels;
pub mod octree;
pub mod options;
pub mod pairs;
pub mod sweep;

pub use brute_force::BruteForce;
pub use grid::Grid;
pub use hull::{Aabb, Growth};
pub use octree::Octree;
pub use options::{BroadPhaseName, BroadPhaseOptions};
pub use pairs::{Emitted, Pairs, pack};
pub use sweep::Sweep;

/// Finds the pairs of hulls that meet.
pub trait BroadPhase: Send {
    /// Writes every pair of boxes that share a point to `pairs`, each once. Empty boxes meet none.
    fn find(&mut self, hulls: &[Aabb], pairs: &mut Pairs);
}

/// The broad phase of this name.
pub fn by_name(name: BroadPhaseName) -> Box<dyn BroadPhase> {
    match name {
        BroadPhaseName::Octree => Box::new(Octree::default()),
        BroadPhaseName::Grid => Box::new(Grid::default()),
        BroadPhaseName::Sweep => Box::new(Sweep::default()),
        BroadPhaseName::BruteForce => Box::new(BruteForce::default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;
    use proptest::prelude::*;

    fn same_as_brute_force(hulls: &[Aabb]) -> Result<(), TestCaseError> {
        let find = |name| {
            let mut pairs = Pairs::default();
            let mut phase = by_name(name);
            // Twice: memory of a first search must not leak into a second.
            phase.find(&hulls[..hulls.len() / 2], &mut pairs);
            phase.find(hulls, &mut pairs);
            pairs
        };
        let expected = find(BroadPhaseName::BruteForce);
        for name in BroadPhaseName::ALL.iter().map(|entry| entry.0) {
            prop_assert_eq!(find(name).iter().collect::<Vec<_>>(), expected.iter().collect::<Vec<_>>(), "{:?}", name);
        }
        Ok(())
    }

    fn cube(centre: DVec3, radius: f64) -> Aabb {
        Aabb { low: centre - radius, high: centre + radius }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        /// Radii differ by a factor of up to 50, walls (empty boxes) lie between.
        #[test]
        fn every_broad_phase_equals_brute_force(
            bodies in prop::collection::vec(([0.0..1.0f64, 0.0..1.0f64, 0.0..1.0f64], 0.0..1.0f64, 0u8..20), 0..300),
            stretch in [0.1..20.0f64, 0.1..20.0f64, 0.1..20.0f64],
        ) {
            let hulls: Vec<Aabb> = bodies.iter().map(|&(x, size, wall)| {
                if wall == 0 { Aabb::EMPTY } else { cube(DVec3::from(x) * DVec3::from(stretch) - 3.0, 0.01 * 50f64.powf(size)) }
            }).collect();
            same_as_brute_force(&hulls)?;
        }

        /// Some have escaped, some of them together, in clusters and one by one; a few hulls reach far.
        #[test]
        fn far_bodies_are_found_too(
            bodies in prop::collection::vec(([0.0..1.0f64, 0.0..1.0f64, 0.0..1.0f64], 0u8..30, 0u8..40), 0..300),
            far in prop::collection::vec(([-1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64], 3.0..13.0f64), 4),
        ) {
            let hulls: Vec<Aabb> = bodies.iter().map(|&(x, place, reach)| {
                let radius = if reach == 0 { 10f64.powf(far[0].1) } else { 0.05 };
                let place = far.get(usize::from(place)).map_or(DVec3::ZERO, |(x, e)| DVec3::from(*x) * 10f64.powf(*e));
                cube(place + DVec3::from(x), radius)
            }).collect();
            same_as_brute_force(&hulls)?;
        }

        /// Many bodies in few places, on borders of cells, and all in one point.
        #[test]
        fn degenerate_clouds(cells in prop::collection::vec([0u8..4, 0u8..4, 0u8..2], 0..120), radius in 0.1..0.6f64) {
            let hulls: Vec<Aabb> = cells.iter().map(|c| cube(DVec3::new(c[0].into(), c[1].into(), c[2].into()), radius)).collect();
            same_as_brute_force(&hulls)?;
        }
    }

    fn random(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed;
        move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        }
    }

    /// The box of a rod from `middle - arm` to `middle + arm` with a radius.
    fn rod(middle: DVec3, arm: DVec3, radius: f64) -> Aabb {
        Aabb { low: middle - arm.abs() - radius, high: middle + arm.abs() + radius }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(150))]
        /// Boxes of any aspect: the extent along each axis is its own, spread by a hundred or a thousand.
        #[test]
        fn boxes_of_any_aspect(
            bodies in prop::collection::vec(([0.0..1.0f64, 0.0..1.0f64, 0.0..1.0f64], [0.0..1.0f64, 0.0..1.0f64, 0.0..1.0f64], 0u8..20), 0..300),
            spread in prop::sample::select(vec![1.0f64, 3.0, 100.0, 1000.0]),
            largest in 0.001..2.0f64,
            stretch in [0.1..20.0f64, 0.1..20.0f64, 0.1..20.0f64],
        ) {
            let hulls: Vec<Aabb> = bodies.iter().map(|&(x, size, wall)| {
                let half = largest * DVec3::from(size.map(|s| spread.powf(-s)));
                let x = DVec3::from(x) * DVec3::from(stretch) + 7.0;
                if wall == 0 { Aabb::EMPTY } else { Aabb { low: x - half, high: x + half } }
            }).collect();
            same_as_brute_force(&hulls)?;
        }

        /// Rods along axes and diagonals, plates that span the scene along one or two axes, flat ones and points.
        #[test]
        fn rods_and_plates(
            bodies in prop::collection::vec(([0.0..1.0f64, 0.0..1.0f64, 0.0..1.0f64], 0usize..12), 0..300),
            long in 0.01..3.0f64,
            thin in prop::sample::select(vec![0.0, 1e-4, 0.01, 0.1]),
        ) {
            let arms = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, -1, 1], [0, 1, 1], [0, 0, 0]];
            let hulls: Vec<Aabb> = bodies.iter().map(|&(x, kind)| {
                let x = DVec3::from(x);
                let axis = DVec3::AXES[kind % 3];
                match kind {
                    0..7 => rod(x, long * DVec3::from(arms[kind].map(f64::from)), thin),
                    7..10 => Aabb { low: (x - thin) * axis - 1.0 * (1.0 - axis), high: (x + thin) * axis + 2.0 * (1.0 - axis) },
                    _ => Aabb { low: x - thin - axis, high: x + thin + axis },
                }
            }).collect();
            same_as_brute_force(&hulls)?;
        }
    }

    /// What a broad phase remembers leaves no trace, whatever happens between two searches: small motion, bodies
    /// re-ordered in memory, bodies that come and go, walls, another scale. Nor does the number of threads.
    #[test]
    fn the_past_and_the_number_of_threads_leave_no_trace() {
        let mut random = random(3);
        let mut hulls: Vec<Aabb> = (0..2000)
            .map(|k| {
                let x = DVec3::new(4.0 * random(), random(), random());
                let half = 0.01 * DVec3::new(0.1 + random(), 0.1 + random(), 0.1 + random());
                let half = if k % 200 == 0 { 30.0 * half } else { half };
                Aabb { low: x - half, high: x + half }
            })
            .collect();
        let pools = [1, 3].map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().expect("a pool"));
        for name in [BroadPhaseName::Octree, BroadPhaseName::Grid, BroadPhaseName::Sweep] {
            let mut old = [by_name(name), by_name(name)];
            for step in 0..24 {
                for hull in hulls.iter_mut().filter(|hull| !hull.is_empty()) {
                    let by = 0.002 * DVec3::new(random() - 0.5, random() - 0.5, random() - 0.5);
                    *hull = Aabb { low: hull.low + by, high: hull.high + by };
                }
                match step % 8 {
                    2 => hulls.reverse(),
                    3 => hulls.truncate(1500),
                    4 => hulls.extend_from_within(..500),
                    5 => hulls[700] = Aabb::EMPTY,
                    6 => hulls.iter_mut().for_each(|hull| *hull = Aabb { low: 3.0 * hull.low, high: 3.0 * hull.high }),
                    7 => hulls.iter_mut().for_each(|hull| *hull = Aabb { low: hull.low / 3.0, high: hull.high / 3.0 }),
                    _ => (),
                }
                let mut expected = Pairs::default();
                BruteForce::default().find(&hulls, &mut expected);
                for (phase, pool) in old.iter_mut().zip(&pools) {
                    let mut pairs = Pairs::default();
                    pool.install(|| phase.find(&hulls, &mut pairs));
                    assert!(pairs == expected, "{name:?}, step {step}");
                }
            }
        }
    }

    /// Sizes spread by a hundred and a thousand, large ones few, and many rods that lie alike, with a plate below.
    #[test]
    fn large_clouds_of_wide_spread() {
        let mut random = random(11);
        for spread in [100f64, 1000.0] {
            let hulls: Vec<Aabb> = (0..5000)
                .map(|_| {
                    cube(DVec3::new(random(), random(), random()), 0.3 / spread * random().powf(-1.0 / 2.5).min(spread))
                })
                .collect();
            same_as_brute_force(&hulls).unwrap();
        }
        for axis in 0..3 {
            let arm = 0.1 * DVec3::AXES[axis];
            let mut hulls: Vec<Aabb> =
                (0..5000).map(|_| rod(DVec3::new(random(), random(), random()), arm, 0.005)).collect();
            hulls[2500] = Aabb { low: DVec3::new(-9.0, -9.0, 0.1), high: DVec3::new(9.0, 9.0, 0.101) };
            same_as_brute_force(&hulls).unwrap();
        }
    }

    #[test]
    fn a_large_cloud_of_mixed_sizes() {
        let mut random = random(7);
        let hulls: Vec<Aabb> = (0..6000)
            .map(|k| {
                cube(
                    DVec3::new(random(), random(), random()),
                    if k % 500 == 0 { 0.25 } else { 0.005 * (1.0 + random()) },
                )
            })
            .collect();
        same_as_brute_force(&hulls).unwrap();
    }
}

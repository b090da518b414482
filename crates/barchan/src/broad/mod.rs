//! The broad phase: which hulls meet.
//!
//! To add one: write its file, add it to [`BroadPhaseName`] and to [`by_name`]. The result is in
//! canonical order, so a run does not depend on the choice.

pub mod brute_force;
mod condensed;
mod eight;
pub mod grid;
pub mod hull;
pub mod octree;
pub mod options;
pub mod pairs;

pub use brute_force::BruteForce;
pub use grid::Grid;
pub use hull::{Aabb, Growth};
pub use octree::Octree;
pub use options::{BroadPhaseName, BroadPhaseOptions};
pub use pairs::{Emitted, Pairs, pack};

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
        for name in [BroadPhaseName::Octree, BroadPhaseName::Grid] {
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

    #[test]
    fn a_large_cloud_of_mixed_sizes() {
        let mut state = 7u64;
        let mut random = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
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

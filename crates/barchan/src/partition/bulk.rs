//! The box that nearly all bodies lie in: what the Morton curve is laid through.
//!
//! The curve has 2²¹ cells an axis. Laid through a box with one body a million metres away, it would have the
//! others in a few of them, and nothing could be shared equally. So the box is trimmed: bodies are counted in
//! slabs along each axis, and while all but a few lie in a small part of them, the box shrinks to that part.
//! Bodies outside belong to the nearest cell. Counts are whole numbers, so that the box does not depend on which
//! rank has which bodies.

use crate::broad::Aabb;
use crate::comm::{Communicator, Reduction};
use glam::DVec3;

/// Slabs along an axis.
const SLABS: usize = 64;
/// The box shrinks if it becomes at least so many times shorter.
const WORTH: f64 = 4.0;
/// The part of all bodies that may be left out at each end of an axis.
const FEW: f64 = 0.02;
/// More looks than numbers have room for: a box shrinks by 64/3 at each, or not much longer.
const LOOKS: usize = 256;

/// The box that nearly all bodies of all ranks lie in. `places` are those of this rank's own, `all` is the box of
/// all bodies. All ranks call it, with the same box, and get the same.
pub fn bulk(comm: &mut dyn Communicator, places: &[DVec3], all: Aabb) -> Aabb {
    let mut bulk = all;
    for _ in 0..LOOKS {
        let mut counts = [0.0; 3 * SLABS];
        let edges = bulk.high - bulk.low;
        if !edges.is_finite() || edges.min_element() < 0.0 {
            return bulk;
        }
        for x in places {
            let at = (*x - bulk.low) / edges * SLABS as f64;
            for axis in 0..3 {
                // What lies outside counts at the ends, and an axis without length has one slab.
                counts[SLABS * axis + (at[axis] as usize).min(SLABS - 1)] += 1.0;
            }
        }
        comm.all_reduce(Reduction::Sum, &mut counts);
        let before = bulk;
        for axis in 0..3 {
            let [from, to] = kept(&counts[SLABS * axis..][..SLABS]);
            // Cells are cubes: short axes do not matter.
            let is_long = edges[axis] * WORTH > edges.max_element();
            if ((to - from) as f64) * WORTH <= SLABS as f64 && is_long {
                let at = |slab: usize| bulk.low[axis] + slab as f64 * (edges[axis] / SLABS as f64);
                let high = if to == SLABS { bulk.high[axis] } else { at(to) };
                (bulk.low[axis], bulk.high[axis]) = (at(from), high);
            }
        }
        if bulk == before {
            break;
        }
    }
    bulk
}

/// The slabs, from the first up to the one behind the last, that hold all bodies but a few at each end, and one more on
/// each side: rounding must not part a box from its bodies.
fn kept(counts: &[f64]) -> [usize; 2] {
    let few = FEW * counts.iter().sum::<f64>();
    let beyond_few = |counts: &mut dyn Iterator<Item = &f64>| {
        let mut sum = 0.0;
        counts
            .take_while(|&&count| {
                sum += count;
                sum <= few
            })
            .count()
    };
    let [low, high] = [beyond_few(&mut counts.iter()), beyond_few(&mut counts.iter().rev())];
    // Without bodies there is nothing to keep, and nothing to leave out.
    let n = counts.len();
    if low + high >= n { [0, n] } else { [low.saturating_sub(1), (n - high + 1).min(n)] }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{crowd, random};
    use super::super::{Curve, Cuts, Periods};
    use super::*;

    fn scattered(n: usize) -> Vec<DVec3> {
        let mut random = random(3);
        (0..n).map(|_| DVec3::new(random(), 2.0 * random(), 0.5 * random()) - 0.3).collect()
    }

    fn boxed(places: &[DVec3]) -> Aabb {
        places.iter().fold(Aabb::EMPTY, |all, &x| all.join(&Aabb { low: x, high: x }))
    }

    /// The box that every rank finds, with bodies dealt out by `holder`.
    fn found(ranks: usize, places: &[DVec3], holder: impl Fn(usize) -> usize + Sync) -> Aabb {
        let all = boxed(places);
        let seen = crowd(ranks, |comm| {
            let rank = comm.rank();
            let own: Vec<DVec3> = (0..places.len()).filter(|&i| holder(i) == rank).map(|i| places[i]).collect();
            bulk(comm, &own, all)
        });
        assert!(seen.iter().all(|other| *other == seen[0]));
        seen[0]
    }

    #[test]
    fn without_far_bodies_it_is_the_box_of_all() {
        let places = scattered(5000);
        assert_eq!(found(2, &places, |i| i % 2), boxed(&places));
        for places in [vec![], vec![DVec3::ONE], vec![DVec3::ONE; 9], vec![DVec3::ZERO, DVec3::X]] {
            assert_eq!(found(1, &places, |_| 0), boxed(&places));
        }
    }

    #[test]
    fn a_few_far_bodies_are_left_out_whoever_has_them() {
        for far in [1e6, -1e9, 1e12, 1e300] {
            let mut places = scattered(5000);
            places[7] = DVec3::new(far, 0.0, far);
            places[4000] = DVec3::new(1e3, -far, -1e-3 * far);
            let seen = found(1, &places, |_| 0);
            let usual = boxed(&scattered(5000));
            assert!(seen.extent() < 5.0 * usual.extent(), "{far}: {seen:?}");
            let inside = places.iter().filter(|x| x.cmpge(seen.low).all() && x.cmple(seen.high).all()).count();
            assert!(inside > 4500, "{far}: {inside}");
            assert_eq!(found(3, &places, |i| i * i % 3), seen);
            assert_eq!(found(2, &places, |i| i / 4900), seen);
        }
    }

    /// One of 19 800 bodies far away left all others in so few cells that one rank of two had 93 percent.
    #[test]
    fn work_is_shared_equally_with_a_body_far_away() {
        let mut places = scattered(19_800);
        for far in [1e6, 1e9, 1e12] {
            places[9_900] = DVec3::new(0.0, far, far);
            let all = boxed(&places);
            let shares = crowd(2, |comm| {
                let rank = comm.rank();
                let own: Vec<DVec3> = places.iter().skip(rank).step_by(2).copied().collect();
                let curve = Curve::around(&bulk(comm, &own, all), &Periods::default());
                let cuts = Cuts::balanced(comm, curve, own.iter().map(|&x| (x, 1.0)));
                places.iter().filter(|x| cuts.owner(**x) == rank as u32).count()
            });
            let largest = *shares.iter().max().unwrap() as f64;
            assert!(2.0 * largest / 19_800.0 < 1.02, "{far}: {shares:?}");
        }
    }
}

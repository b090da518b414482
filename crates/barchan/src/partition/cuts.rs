//! Cuts of the Morton curve into ranges of equal work (S1 IV-A).
//!
//! Nobody holds all bodies. Each cut is searched for by itself, from the root of the curve's tree
//! downwards: all ranks add up how much work lies before each of an octant's eight children, and
//! the search goes on in the child that holds the share looked for. It ends as soon as a border
//! of an octant is near enough to that share. So cuts are no finer than the balance needs, which
//! keeps regions simple, and they do not depend on which rank has which bodies.

use super::curve::{Curve, END};
use crate::comm::{Communicator, Reduction};
use crate::world::reorder::MORTON_BITS;
use glam::DVec3;

/// How far a cut may be from its share, against the mean work of a rank. A range has two.
const TOLERANCE: f64 = 0.01;

/// All cuts of the curve. Eight bytes a rank: made, handed to [`super::Morton`], and dropped.
#[derive(Clone, Debug)]
pub struct Cuts {
    curve: Curve,
    /// Rank r has the keys from `cuts[r]` up to `cuts[r + 1]`.
    cuts: Vec<u64>,
}

/// The search for one cut.
struct Search {
    /// The work that is to lie before it.
    share: f64,
    /// The keys that it is between, with the work before them.
    low: (u64, f64),
    high: (u64, f64),
}

impl Search {
    /// How far the nearer end is from the share.
    fn miss(&self) -> f64 {
        (self.share - self.low.1).min(self.high.1 - self.share)
    }

    /// The nearer end.
    fn cut(&self) -> u64 {
        if self.share - self.low.1 <= self.high.1 - self.share { self.low.0 } else { self.high.0 }
    }
}

impl Cuts {
    /// Given cuts between ranks: one less than there are ranks.
    pub fn new(curve: Curve, between: &[u64]) -> Self {
        let mut cuts = Vec::with_capacity(between.len() + 2);
        cuts.push(0);
        cuts.extend(between.iter().map(|&cut| cut.min(END)));
        cuts.push(END);
        cuts.sort_unstable();
        Self { curve, cuts }
    }

    /// Cuts that give every rank the same work, as nearly as single bodies allow; bodies outside of the
    /// frame count in the nearest cell, all together. `work` has the positions of this rank's bodies and
    /// what each of them costs; numbers below zero count as zero. Every rank calls it with the same curve,
    /// and gets the same cuts.
    pub fn balanced(comm: &mut dyn Communicator, curve: Curve, work: impl IntoIterator<Item = (DVec3, f64)>) -> Self {
        comm.stage("cutting the Morton curve");
        let ranks = comm.size() as u64;
        let mut before = Before::new(curve, work);
        let mut total = [before.total()];
        comm.all_reduce(Reduction::Sum, &mut total);
        let [mut total] = total;
        if !(total > 0.0 && total.is_finite()) {
            // Without work, the same space: all ranks add up the same points.
            before = Before::new(curve, curve.lattice().map(|x| (x, 1.0)));
            total = before.total() * ranks as f64;
        }
        let mean = total / ranks as f64;
        let search = |r: u64| Search { share: total * (r as f64 / ranks as f64), low: (0, 0.0), high: (END, total) };
        let mut searches: Vec<Search> = (1..ranks).map(search).collect();
        let mut sums = Vec::new();
        for level in (0..MORTON_BITS).rev() {
            let open = |s: &&mut Search| s.miss() > TOLERANCE * mean;
            let border = |start: u64, child: u64| start + (child << (3 * level));
            sums.clear();
            let mut last = None;
            for s in searches.iter_mut().filter(open) {
                // Searches come in order, so those in one octant follow each other.
                if last.replace(s.low.0) != Some(s.low.0) {
                    sums.extend((1..8).map(|child| before.key(border(s.low.0, child))));
                }
            }
            if sums.is_empty() {
                break;
            }
            comm.all_reduce(Reduction::Sum, &mut sums);
            let mut octants = sums.chunks_exact(7);
            let mut last = None;
            let mut octant = &[][..];
            for s in searches.iter_mut().filter(open) {
                if last.replace(s.low.0) != Some(s.low.0) {
                    octant = octants.next().unwrap_or_default();
                }
                let low = s.low;
                let high = s.high;
                let child = octant.partition_point(|&sum| sum <= s.share);
                if child > 0 {
                    s.low = (border(low.0, child as u64), octant[child - 1]);
                }
                s.high = if child < 7 { (border(low.0, child as u64 + 1), octant[child]) } else { high };
            }
        }
        Self::new(curve, &searches.iter().map(Search::cut).collect::<Vec<_>>())
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> usize {
        self.cuts.len() - 1
    }

    /// The curve that is cut.
    pub fn curve(&self) -> &Curve {
        &self.curve
    }

    /// The rank whose region holds the point, out of all ranks.
    pub fn owner(&self, x: DVec3) -> u32 {
        let key = self.curve.key(x);
        self.cuts.partition_point(|&cut| cut <= key) as u32 - 1
    }

    /// The keys of each rank, from the first up to the one behind the last.
    pub(super) fn ranges(&self) -> impl Iterator<Item = (u32, u64, u64)> {
        self.cuts.windows(2).zip(0..).map(|(ends, rank)| (rank, ends[0], ends[1]))
    }
}

/// How much of this rank's work lies before a key.
struct Before {
    keys: Vec<u64>,
    /// The work of the first n bodies.
    sums: Vec<f64>,
}

impl Before {
    fn new(curve: Curve, work: impl IntoIterator<Item = (DVec3, f64)>) -> Self {
        let cost = |w: f64| if w > 0.0 { w } else { 0.0 };
        let mut bodies: Vec<(u64, f64)> = work.into_iter().map(|(x, w)| (curve.key(x), cost(w))).collect();
        bodies.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let mut sum = 0.0;
        let mut sums = vec![0.0];
        sums.extend(bodies.iter().map(|b| {
            sum += b.1;
            sum
        }));
        Self { keys: bodies.into_iter().map(|b| b.0).collect(), sums }
    }

    fn key(&self, key: u64) -> f64 {
        self.sums[self.keys.partition_point(|&k| k < key)]
    }

    fn total(&self) -> f64 {
        self.sums[self.keys.len()]
    }
}

/// The largest work of a rank against the mean; 1 if there is none at all.
pub fn imbalance(comm: &mut dyn Communicator, work: f64) -> f64 {
    let mut sum = [work];
    let mut largest = [work];
    comm.all_reduce(Reduction::Sum, &mut sum);
    comm.all_reduce(Reduction::Max, &mut largest);
    if sum[0] > 0.0 { largest[0] * comm.size() as f64 / sum[0] } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::super::Periods;
    use super::super::testing::{crowd, random};
    use super::*;
    use crate::broad::Aabb;

    type Work = Vec<(DVec3, f64)>;

    fn curve() -> Curve {
        Curve::around(&Aabb { low: DVec3::ZERO, high: DVec3::splat(8.0) }, &Periods::default())
    }

    /// The cuts that all ranks find, with bodies spread over them by `holder`.
    fn cut(ranks: usize, work: &Work, holder: impl Fn(usize) -> usize + Sync) -> Vec<u64> {
        let all = crowd(ranks, |comm| {
            let rank = comm.rank();
            let own = (0..work.len()).filter(|&i| holder(i) == rank).map(|i| work[i]);
            Cuts::balanced(comm, curve(), own).cuts
        });
        assert!(all.iter().all(|cuts| *cuts == all[0]), "ranks see other cuts");
        all.into_iter().next().unwrap()
    }

    /// The work of each rank.
    fn shares(cuts: &[u64], work: &Work) -> Vec<f64> {
        let cuts = Cuts::new(curve(), &cuts[1..cuts.len() - 1]);
        let mut shares = vec![0.0; cuts.ranks()];
        for &(x, w) in work {
            shares[cuts.owner(x) as usize] += w;
        }
        shares
    }

    fn uniform(n: usize) -> Work {
        let mut random = random(1);
        (0..n).map(|_| (8.0 * DVec3::new(random(), random(), random()), 1.0)).collect()
    }

    /// Most in one corner, some outside of the frame, with costs between 1 and 8.
    fn clustered(n: usize) -> Work {
        let mut random = random(2);
        (0..n)
            .map(|i| {
                let x = DVec3::new(random(), random(), random());
                let x = if i % 10 == 0 { 18.0 * x - 1.0 } else { 8.0 * x.powf(4.0) };
                (x, (8.0 * random()).ceil())
            })
            .collect()
    }

    #[test]
    fn ranks_get_the_same_work() {
        for work in [uniform(20_000), clustered(40_000)] {
            for ranks in [1, 2, 3, 7, 8, 64] {
                let shares = shares(&cut(ranks, &work, |i| i * i % ranks), &work);
                let total: f64 = work.iter().map(|w| w.1).sum();
                let largest = shares.iter().copied().fold(0.0, f64::max);
                let imbalance = largest * ranks as f64 / total;
                assert_eq!(shares.iter().sum::<f64>(), total);
                assert!(imbalance < 1.05, "{ranks} ranks: {imbalance}");
            }
        }
    }

    #[test]
    fn cuts_do_not_depend_on_who_holds_the_bodies() {
        let work = clustered(5_000);
        for ranks in [2, 7, 8] {
            let cuts = cut(ranks, &work, |_| 0);
            assert_eq!(cuts, cut(ranks, &work, |i| i % ranks));
            assert_eq!(cuts, cut(ranks, &work, |i| i * ranks / work.len()));
        }
    }

    #[test]
    fn cuts_are_no_finer_than_needed() {
        let cuts = cut(8, &uniform(100_000), |i| i % 8);
        for cut in &cuts[1..8] {
            assert!(cut.trailing_zeros() >= 3 * (MORTON_BITS - 6), "{cut:x}");
        }
    }

    #[test]
    fn more_ranks_than_bodies() {
        let work = uniform(5);
        for ranks in [7, 8, 64] {
            let shares = shares(&cut(ranks, &work, |i| i), &work);
            assert!(shares.iter().all(|&share| share <= 1.0));
        }
        // Nobody can part bodies in one place.
        let heap = vec![(DVec3::ONE, 1.0); 10];
        assert_eq!(shares(&cut(7, &heap, |i| i % 7), &heap).iter().filter(|&&share| share > 0.0).count(), 1);
    }

    #[test]
    fn no_work_and_bad_work() {
        for ranks in [1, 2, 3, 7, 8, 64] {
            for work in [vec![], vec![(DVec3::ONE, 0.0)], vec![(DVec3::ONE, f64::NAN); 3], vec![(DVec3::ONE, -1.0)]] {
                let cuts = cut(ranks, &work, |i| i % ranks);
                assert_eq!(cuts.len(), ranks + 1);
                assert!(cuts.is_sorted() && cuts[0] == 0 && cuts[ranks] == END);
                // Then ranks share the space of the scene.
                let space: Work = curve().lattice().map(|x| (x, 1.0)).collect();
                let largest = shares(&cuts, &space).into_iter().fold(0.0, f64::max);
                assert!(largest * ranks as f64 / 4096.0 < 1.05);
            }
        }
    }

    #[test]
    fn imbalance_is_the_largest_against_the_mean() {
        let all = crowd(4, |comm| {
            let work = [1.0, 2.0, 3.0, 2.0][comm.rank()];
            (imbalance(comm, work), imbalance(comm, 0.0))
        });
        assert!(all.iter().all(|seen| *seen == (1.5, 1.0)));
    }
}

//! Supernodes: sets of columns of the factor that have the same rows, and are dense together.
//!
//! First, a column is in one supernode with its parent where its rows are the parent's and the
//! parent itself (E. G. Ng, B. W. Peyton: Block sparse Cholesky algorithms on advanced uniprocessor
//! computers, SIAM J. Sci. Comput. 14, 1993). Then supernodes are merged with their parents,
//! although that stores zeros, where those are few (C. Ashcraft, R. Grimes: The influence of relaxed
//! supernode partitions on the multifrontal method, ACM Trans. Math. Softw. 15, 1989): dense kernels
//! gain more by the width than they lose by the zeros. All children may be merged, not only the last
//! one in postorder: the columns are numbered again afterwards.

use crate::tree::{NONE, Tree};

/// Up to how many scalar columns a merged supernode may have so large a part of zeros.
pub(crate) const RELAX: [(usize, f64); 4] = [(12, 0.9), (24, 0.3), (64, 0.1), (usize::MAX, 0.05)];

/// A partition of the columns into supernodes while they are merged.
pub(crate) struct Partition {
    /// Columns of the supernodes before merging are `first[s]..first[s + 1]`.
    first: Vec<u32>,
    /// With which supernode above it was merged, or none.
    merged: Vec<u32>,
}

/// A supernode while it grows.
#[derive(Clone, Copy)]
struct Extent {
    columns: usize,
    rows: usize,
    zeros: usize,
}

impl Extent {
    /// Blocks of the columns from the diagonal down.
    fn size(self) -> usize {
        self.columns * self.rows - self.columns * (self.columns - 1) / 2
    }

    /// With the columns of a child.
    fn with(self, child: Self) -> Self {
        let mut both = Self { columns: self.columns + child.columns, rows: self.rows + child.columns, zeros: 0 };
        both.zeros = self.zeros + child.zeros + both.size() - self.size() - child.size();
        both
    }
}

impl Partition {
    /// Supernodes of columns that have the same rows.
    pub(crate) fn unmerged(tree: &Tree) -> Self {
        let n = tree.order.len();
        let mut first = Vec::new();
        for k in 0..n {
            let joins = k > 0 && tree.parent[k - 1] == k as u32;
            if !(joins && tree.count[k - 1] == tree.count[k] + 1) {
                first.push(k as u32);
            }
        }
        let merged = vec![NONE; first.len()];
        first.push(n as u32);
        Self { first, merged }
    }

    /// Supernodes for blocks of so many scalars.
    pub(crate) fn new(tree: &Tree, block: usize) -> Self {
        let Self { first, merged } = Self::unmerged(tree);
        let supernodes = merged.len();
        let mut owner = vec![0; tree.order.len()];
        for s in 0..supernodes {
            owner[first[s] as usize..first[s + 1] as usize].fill(s as u32);
        }
        let extents = (0..supernodes).map(|s| Extent {
            columns: (first[s + 1] - first[s]) as usize,
            rows: tree.count[first[s] as usize] as usize,
            zeros: 0,
        });
        let parent = (0..supernodes).map(|s| match tree.parent[first[s + 1] as usize - 1] {
            NONE => NONE,
            up => owner[up as usize],
        });
        let merged = merge(extents.collect(), &parent.collect::<Vec<_>>(), block);
        Self { first, merged }
    }

    /// Numbers the columns of each supernode one after the other. Returns the column of each node,
    /// and the first columns of supernodes.
    pub(crate) fn number(&self, tree: &Tree) -> (Vec<u32>, Vec<u32>) {
        let supernodes = self.merged.len();
        let mut top: Vec<u32> = (0..supernodes as u32).collect();
        for s in (0..supernodes).rev() {
            if self.merged[s] != NONE {
                top[s] = top[self.merged[s] as usize];
            }
        }
        let mut width = vec![0; supernodes];
        for s in 0..supernodes {
            width[top[s] as usize] += self.first[s + 1] - self.first[s];
        }
        // Supernodes come in the order of their tops, columns within them in the old order.
        let (mut next, mut begin) = (vec![0; supernodes], 0);
        let mut first = vec![0];
        for s in (0..supernodes).filter(|&s| width[s] > 0) {
            next[s] = begin;
            begin += width[s];
            first.push(begin);
        }
        let mut place = vec![0; tree.order.len()];
        for s in 0..supernodes {
            for k in self.first[s]..self.first[s + 1] {
                let column = &mut next[top[s] as usize];
                place[tree.order[k as usize] as usize] = *column;
                *column += 1;
            }
        }
        (place, first)
    }
}

/// Merges supernodes with their parents while that makes few zeros. Says with which each was merged.
fn merge(mut extents: Vec<Extent>, parent: &[u32], block: usize) -> Vec<u32> {
    let supernodes = parent.len();
    let mut merged = vec![NONE; supernodes];
    let (mut child, mut sibling) = (vec![NONE; supernodes], vec![NONE; supernodes]);
    let mut children = Vec::new();
    for s in 0..supernodes {
        children.clear();
        let mut c = child[s];
        while c != NONE {
            children.push(c);
            c = sibling[c as usize];
        }
        // Those first that make the fewest zeros.
        children.sort_by_key(|&c| (extents[s].with(extents[c as usize]).zeros - extents[c as usize].zeros, c));
        for &c in &children {
            let both = extents[s].with(extents[c as usize]);
            let part = both.zeros as f64 / both.size() as f64;
            if RELAX.iter().any(|&(columns, most)| block * both.columns <= columns && part <= most) {
                extents[s] = both;
                merged[c as usize] = s as u32;
            }
        }
        if parent[s] != NONE {
            sibling[s] = std::mem::replace(&mut child[parent[s] as usize], s as u32);
        }
    }
    merged
}

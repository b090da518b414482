//! The structure of a factor: supernodes, dense parts, and where they update one another.
//!
//! All of this is about blocks; a supernode of k block columns and m block rows is stored as a
//! dense matrix of Bk columns and Bm rows, one column after the other.
//!
//! The rows of a supernode below its columns are those of the matrix and those of its children (T.
//! A. Davis, Direct Methods for Sparse Linear Systems, chapter 4). They are all among the columns
//! and rows of its parent, and `up` says which they are. Followed from parent to parent, this tells
//! where an update goes.

use crate::blocks::Neighbours;
use crate::supernodes::Partition;
use crate::tree::{NONE, Tree, inverse};
use std::ops::Range;

/// The structure of a factor in supernodes.
#[derive(Default)]
pub(crate) struct Symbolic {
    /// Scalars in a block.
    pub(crate) block: usize,
    /// The block column of each node.
    pub(crate) place: Vec<u32>,
    /// Block columns of supernode s are `first[s]..first[s + 1]`.
    pub(crate) first: Vec<u32>,
    /// The supernode of each block column.
    pub(crate) owner: Vec<u32>,
    /// The supernode of the first row below, or none.
    pub(crate) parent: Vec<u32>,
    /// Block rows below the columns are those in `row_start[s]..row_start[s + 1]`, ascending.
    pub(crate) row_start: Vec<usize>,
    /// Those rows.
    pub(crate) row: Vec<u32>,
    /// Where each is in the parent: its column, or the number of columns and its place in the rows.
    pub(crate) up: Vec<u32>,
    /// Values of a supernode are those from here to the next one's.
    pub(crate) value_start: Vec<usize>,
}

impl Symbolic {
    pub(crate) fn new(graph: &Neighbours, tree: &Tree, block: usize) -> Self {
        Self::of_partition(graph, tree, &Partition::new(tree, block), block)
    }

    fn of_partition(graph: &Neighbours, tree: &Tree, partition: &Partition, block: usize) -> Self {
        let (place, first) = partition.number(tree);
        let mut owner = vec![0; place.len()];
        for s in 0..first.len() - 1 {
            owner[first[s] as usize..first[s + 1] as usize].fill(s as u32);
        }
        let order = inverse(&place);
        let start = vec![0];
        let mut symbolic =
            Self { block, place, first, owner, row_start: start.clone(), value_start: start, ..Default::default() };
        symbolic.find_rows(graph, &order);
        symbolic
    }

    /// Number of supernodes.
    pub(crate) fn len(&self) -> usize {
        self.first.len().saturating_sub(1)
    }

    /// Block columns of a supernode.
    pub(crate) fn columns(&self, s: usize) -> usize {
        (self.first[s + 1] - self.first[s]) as usize
    }

    /// Where the rows below a supernode's columns are.
    pub(crate) fn below(&self, s: usize) -> Range<usize> {
        self.row_start[s]..self.row_start[s + 1]
    }

    /// Scalar columns and rows of a supernode.
    pub(crate) fn shape(&self, s: usize) -> (usize, usize) {
        let columns = self.block * self.columns(s);
        (columns, columns + self.block * self.below(s).len())
    }

    /// Numbers in the factor, with zeros and with what is above the diagonal.
    pub(crate) fn values(&self) -> usize {
        self.value_start.last().map_or(0, |&end| end)
    }

    /// Where a block row is among the columns and rows of a supernode that has it.
    pub(crate) fn row_in(&self, s: usize, row: u32) -> usize {
        if row < self.first[s + 1] {
            (row - self.first[s]) as usize
        } else {
            self.columns(s) + self.row[self.below(s)].partition_point(|&other| other < row)
        }
    }

    /// Where the block of a row and a column begins in the factor, and how many numbers there are
    /// from column to column.
    pub(crate) fn locate(&self, row: u32, column: u32) -> (usize, usize) {
        let s = self.owner[column as usize] as usize;
        let rows = self.shape(s).1;
        let at = (column - self.first[s]) as usize * rows + self.row_in(s, row);
        (self.value_start[s] + self.block * at, rows)
    }

    /// Finds the rows of all supernodes: those of the matrix, and those of their children.
    fn find_rows(&mut self, graph: &Neighbours, order: &[u32]) {
        let supernodes = self.len();
        self.parent = vec![NONE; supernodes];
        let (mut child, mut sibling) = (vec![NONE; supernodes], vec![NONE; supernodes]);
        let (mut mark, mut at) = (vec![NONE; order.len()], vec![0u32; order.len()]);
        for s in 0..supernodes {
            let (first, end, start) = (self.first[s], self.first[s + 1], self.row.len());
            let mut add = |row: u32, to: &mut Vec<u32>| {
                if row >= end && mark[row as usize] != s as u32 {
                    mark[row as usize] = s as u32;
                    to.push(row);
                }
            };
            for column in first..end {
                for &other in graph.of(order[column as usize]) {
                    add(self.place[other as usize], &mut self.row);
                }
            }
            let mut c = child[s];
            while c != NONE {
                for k in self.below(c as usize) {
                    add(self.row[k], &mut self.row);
                }
                c = sibling[c as usize];
            }
            self.row[start..].sort_unstable();
            self.row_start.push(self.row.len());
            self.up.resize(self.row.len(), 0);
            if let Some(&row) = self.row.get(start) {
                let parent = self.owner[row as usize];
                self.parent[s] = parent;
                sibling[s] = std::mem::replace(&mut child[parent as usize], s as u32);
            }
            // What the children have above them is here.
            (first..end).for_each(|row| at[row as usize] = row - first);
            for (k, &row) in self.row[start..].iter().enumerate() {
                at[row as usize] = end - first + k as u32;
            }
            let mut c = child[s];
            while c != NONE {
                for k in self.below(c as usize) {
                    self.up[k] = at[self.row[k] as usize];
                }
                c = sibling[c as usize];
            }
            let (columns, rows) = self.shape(s);
            self.value_start.push(self.values() + columns * rows);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{eliminate, graphs};
    use crate::supernodes::RELAX;

    /// Supernodes hold all that an elimination step by step makes, and what else they hold is as
    /// few as it may be.
    #[test]
    fn supernodes_hold_the_factor() {
        for pattern in graphs() {
            let graph = pattern.neighbours();
            let tree = Tree::new(&graph, &crate::minimum_degree::order(&graph));
            let symbolic = Symbolic::new(&graph, &tree, 6);
            let columns = eliminate(&pattern, &inverse(&symbolic.place));
            assert_eq!(columns.iter().map(|column| column.len() + 1).sum::<usize>(), tree.blocks());
            assert_eq!(*symbolic.first.last().unwrap() as usize, pattern.nodes());
            for s in 0..symbolic.len() {
                let own = symbolic.first[s]..symbolic.first[s + 1];
                let rows = &symbolic.row[symbolic.below(s)];
                for k in own.clone() {
                    assert!(columns[k as usize].iter().all(|row| own.contains(row) || rows.contains(row)));
                }
                // The last of the columns has no zeros but those of its supernode's merged parts.
                let (k, m) = (symbolic.columns(s), symbolic.columns(s) + rows.len());
                let whole = k * m - k * (k - 1) / 2;
                let held: usize = own.map(|k| columns[k as usize].len() + 1).sum();
                let most = RELAX.iter().find(|relax| 6 * k <= relax.0).unwrap().1;
                assert!((whole - held) as f64 <= most * whole as f64);
            }
        }
    }

    /// Without merging, supernodes hold nothing else.
    #[test]
    fn supernodes_before_merging_are_exact() {
        for pattern in graphs() {
            let graph = pattern.neighbours();
            let tree = Tree::new(&graph, &crate::minimum_degree::order(&graph));
            let symbolic = Symbolic::of_partition(&graph, &tree, &Partition::unmerged(&tree), 1);
            let above: usize = (0..symbolic.len()).map(|s| symbolic.columns(s) * (symbolic.columns(s) - 1) / 2).sum();
            assert_eq!(symbolic.values() - above, tree.blocks());
        }
    }

    /// Rows are where the parent has them.
    #[test]
    fn rows_are_found_in_the_parent() {
        for pattern in graphs() {
            let graph = pattern.neighbours();
            let tree = Tree::new(&graph, &crate::minimum_degree::order(&graph));
            let symbolic = Symbolic::new(&graph, &tree, 3);
            for s in (0..symbolic.len()).filter(|&s| symbolic.parent[s] != NONE) {
                let p = symbolic.parent[s] as usize;
                let own = symbolic.first[p]..symbolic.first[p + 1];
                let all: Vec<u32> = own.chain(symbolic.row[symbolic.below(p)].iter().copied()).collect();
                assert!(symbolic.below(s).all(|k| all[symbolic.up[k] as usize] == symbolic.row[k]));
            }
        }
    }
}

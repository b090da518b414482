//! An order of elimination by approximate minimum degree.
//!
//! The node with the fewest neighbours is eliminated first; its neighbours become neighbours of
//! one another, and so on. What is eliminated stays as an *element*: the list of its neighbours,
//! which stands for all edges between them. A node's neighbours are then those left of its own
//! list and those of its elements; the lists never grow in total (the quotient graph of George
//! and Liu). An element within a newer one is *absorbed* by it.
//!
//! The degree of a node next to the pivot p is not counted, but bounded from above by
//! |Aᵢ| + |Lₚ \ i| + Σₑ |Lₑ \ Lₚ|, where the last sum takes one pass through the elements around p
//! (P. R. Amestoy, T. A. Davis, I. S. Duff: An approximate minimum degree ordering algorithm, SIAM
//! J. Matrix Anal. Appl. 17, 1996; T. A. Davis: Direct Methods for Sparse Linear Systems, SIAM
//! 2006, chapter 7). An element with nothing outside Lₚ is absorbed too. Nodes with the same
//! neighbours are found by a hash of their lists, and are one node with a weight from then on;
//! nodes left with p for their only element are eliminated together with p.
//!
//! Ties are broken by the order of insertion, so the order is a function of the graph alone.

use crate::blocks::Neighbours;
use crate::quotient::{NONE, Quotient};

/// The order in which to eliminate: node `order[k]` is the k-th.
pub(crate) fn order(graph: &Neighbours) -> Vec<u32> {
    let mut quotient = Quotient::new(graph);
    while let Some(pivot) = quotient.take_least() {
        quotient.eliminate(pivot);
    }
    let mut order = Vec::with_capacity(graph.nodes());
    for &pivot in quotient.pivots.iter().chain(&quotient.dense) {
        let mut member = pivot;
        while member != NONE {
            order.push(member);
            member = quotient.member[member as usize];
        }
    }
    order
}

/// The elimination of a node.
impl Quotient {
    fn eliminate(&mut self, pivot: u32) {
        let p = pivot as usize;
        self.eliminated += self.weight[p] as usize;
        self.gather(pivot);
        self.measure_elements(p);
        self.renew_neighbours(pivot);
        self.stamp += self.n as u64 + 1;
        self.join_equals(p);
        self.stamp += 1;
        // What is left next to the pivot goes back to its place by degree.
        let bound = self.n - self.eliminated;
        let mut kept = 0;
        for at in self.start[p]..self.start[p] + self.length[p] as usize {
            let i = self.list[at] as usize;
            self.is_near[i] = false;
            if self.weight[i] == 0 {
                continue;
            }
            let others = self.degree[p] - self.weight[i];
            self.degree[i] = (self.degree[i] + others).min(bound as u32 - self.weight[i]);
            self.insert(i as u32);
            self.list[self.start[p] + kept] = i as u32;
            kept += 1;
        }
        (self.length[p], self.weight[p]) = (kept as u32, 0);
        self.pivots.push(pivot);
    }

    /// Marks elements with the weight of what they have outside the pivot's list.
    fn measure_elements(&mut self, p: usize) {
        for at in self.start[p]..self.start[p] + self.length[p] as usize {
            let i = self.list[at] as usize;
            for k in self.start[i]..self.start[i] + self.elements[i] as usize {
                let e = self.list[k] as usize;
                if self.degree[e] == 0 {
                    continue;
                }
                if self.mark[e] < self.stamp {
                    self.mark[e] = self.stamp + u64::from(self.degree[e]);
                }
                self.mark[e] -= u64::from(self.weight[i]);
            }
        }
    }

    /// Renews the lists of the nodes next to the pivot, their degrees without the pivot's list, and
    /// their hashes.
    fn renew_neighbours(&mut self, pivot: u32) {
        let p = pivot as usize;
        for at in self.start[p]..self.start[p] + self.length[p] as usize {
            let i = self.list[at] as usize;
            let (first, elements) = (self.start[i], self.elements[i] as usize);
            let (mut end, mut degree, mut hash) = (first, 0, u64::from(pivot));
            for k in first..first + elements {
                let e = self.list[k];
                let outside = self.mark[e as usize].saturating_sub(self.stamp) as u32;
                if self.degree[e as usize] == 0 {
                    continue;
                }
                if outside == 0 {
                    // Aggressive absorption: all of it is next to the pivot.
                    self.degree[e as usize] = 0;
                    continue;
                }
                degree += outside;
                hash += u64::from(e);
                self.list[end] = e;
                end += 1;
            }
            let kept = end - first;
            for k in first + elements..first + self.length[i] as usize {
                let j = self.list[k];
                let weight = self.weight[j as usize];
                if weight > 0 && !self.is_near[j as usize] && j != pivot {
                    degree += weight;
                    hash += u64::from(j);
                    self.list[end] = j;
                    end += 1;
                }
            }
            if degree == 0 {
                self.eliminated += self.weight[i] as usize;
                self.degree[p] -= self.weight[i];
                self.join(pivot, i as u32);
                continue;
            }
            // The pivot was among the neighbours or one of its elements was listed: there is room.
            self.list[end] = self.list[first + kept];
            self.list[first + kept] = self.list[first];
            self.list[first] = pivot;
            (self.elements[i], self.length[i]) = (kept as u32 + 1, (end + 1 - first) as u32);
            self.degree[i] = self.degree[i].min(degree);
            self.hash[i] = (hash % self.n as u64) as u32;
        }
    }

    /// Joins nodes next to the pivot that have the same elements and neighbours.
    fn join_equals(&mut self, p: usize) {
        let range = self.start[p]..self.start[p] + self.length[p] as usize;
        for at in range.clone() {
            let i = self.list[at];
            if self.weight[i as usize] > 0 {
                let head = &mut self.hash_head[self.hash[i as usize] as usize];
                self.next[i as usize] = std::mem::replace(head, i);
            }
        }
        for at in range {
            let node = self.list[at] as usize;
            if self.weight[node] == 0 {
                continue;
            }
            let mut i = std::mem::replace(&mut self.hash_head[self.hash[node] as usize], NONE);
            while i != NONE && self.next[i as usize] != NONE {
                self.join_equals_of(i);
                i = self.next[i as usize];
            }
        }
    }

    /// Joins to node i those after it in its list of equal hashes that are like it.
    fn join_equals_of(&mut self, i: u32) {
        let list_of = |this: &Self, i: u32| {
            let first = this.start[i as usize] + 1;
            first..first + this.length[i as usize] as usize - 1
        };
        self.stamp += 1;
        for k in list_of(self, i) {
            self.mark[self.list[k] as usize] = self.stamp;
        }
        let (mut before, mut j) = (i, self.next[i as usize]);
        while j != NONE {
            let after = self.next[j as usize];
            let is_like = self.length[i as usize] == self.length[j as usize]
                && self.elements[i as usize] == self.elements[j as usize]
                && list_of(self, j).all(|k| self.mark[self.list[k] as usize] == self.stamp);
            if is_like {
                self.join(i, j);
                self.next[before as usize] = after;
            } else {
                before = j;
            }
            j = after;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{eliminate, graphs, grid};

    fn fill(pattern: &crate::Pattern, order: &[u32]) -> usize {
        eliminate(pattern, order).iter().map(|column| column.len()).sum()
    }

    #[test]
    fn every_node_is_eliminated_once() {
        for pattern in graphs() {
            let mut order = order(&pattern.neighbours());
            assert_eq!(order, super::order(&pattern.neighbours()));
            order.sort_unstable();
            assert!(order.iter().copied().eq(0..pattern.nodes() as u32));
        }
    }

    /// Trees are eliminated from their leaves.
    #[test]
    fn trees_have_no_fill() {
        for pattern in graphs().into_iter().filter(|pattern| pattern.row.len() < pattern.nodes()) {
            let is_tree = |order: &[u32]| fill(&pattern, order) == pattern.row.len();
            let by_index: Vec<u32> = (0..pattern.nodes() as u32).collect();
            assert!(is_tree(&order(&pattern.neighbours())) || !is_tree(&by_index));
        }
        let path = grid(1000, 1, 1);
        assert_eq!(fill(&path, &order(&path.neighbours())), 999);
    }

    /// Of a grid of 20 × 20 × 5 nodes less than a third of what is made in the order of nodes.
    #[test]
    fn fill_is_small() {
        let pattern = grid(20, 20, 5);
        let by_index: Vec<u32> = (0..2000).collect();
        assert!(3 * fill(&pattern, &order(&pattern.neighbours())) < fill(&pattern, &by_index));
    }
}

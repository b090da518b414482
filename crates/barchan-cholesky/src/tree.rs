//! The elimination tree of a matrix, and how many blocks each column of its factor has.
//!
//! The parent of a column is the first row below the diagonal of its factor; a column updates
//! only its ancestors. Columns are numbered in postorder here: the descendants of a column come
//! right before it. The counts are those of J. R. Gilbert, E. G. Ng and B. W. Peyton (An efficient
//! algorithm to compute row and column counts for sparse Cholesky factorization, SIAM J. Matrix
//! Anal. Appl. 15, 1994), in a time almost linear in the entries of the matrix, whatever the fill:
//! row i of the factor is a subtree with root i, whose leaves are entries of the matrix; adding 1
//! at each leaf, and −1 where the paths from two of them to the root meet, a sum over the
//! descendants of a column counts the rows whose subtrees it is in. See also T. A. Davis, Direct
//! Methods for Sparse Linear Systems, chapter 4.

use crate::blocks::Neighbours;

/// No column.
pub(crate) const NONE: u32 = u32::MAX;

/// An order of elimination with its tree, in postorder.
pub(crate) struct Tree {
    /// Node `order[k]` is the k-th.
    pub(crate) order: Vec<u32>,
    /// Parents of columns.
    pub(crate) parent: Vec<u32>,
    /// Blocks in each column of the factor, with that on the diagonal.
    pub(crate) count: Vec<u32>,
}

impl Tree {
    /// The tree of an order, which is changed to a postorder of the same fill.
    pub(crate) fn new(graph: &Neighbours, order: &[u32]) -> Self {
        let parent = parents(graph, order, &inverse(order));
        let post = postorder(&parent);
        let new = inverse(&post);
        let order: Vec<u32> = post.iter().map(|&k| order[k as usize]).collect();
        let renumbered = |k: u32| if k == NONE { NONE } else { new[k as usize] };
        let parent: Vec<u32> = post.iter().map(|&k| renumbered(parent[k as usize])).collect();
        let count = counts(graph, &order, &inverse(&order), &parent);
        Self { order, parent, count }
    }

    /// Blocks in the factor.
    pub(crate) fn blocks(&self) -> usize {
        self.count.iter().map(|&count| count as usize).sum()
    }
}

/// Where each node is in an order.
pub(crate) fn inverse(order: &[u32]) -> Vec<u32> {
    let mut place = vec![0; order.len()];
    for (k, &node) in order.iter().enumerate() {
        place[node as usize] = k as u32;
    }
    place
}

/// Parents of columns (J. W. H. Liu 1990).
fn parents(graph: &Neighbours, order: &[u32], place: &[u32]) -> Vec<u32> {
    let n = order.len();
    let (mut parent, mut ancestor) = (vec![NONE; n], vec![NONE; n]);
    for row in 0..n as u32 {
        for &other in graph.of(order[row as usize]) {
            // Up from each entry left of the diagonal: whatever has no parent yet is below this row.
            let mut column = place[other as usize];
            while column < row {
                let up = std::mem::replace(&mut ancestor[column as usize], row);
                if up == NONE {
                    parent[column as usize] = row;
                }
                column = up;
            }
        }
    }
    parent
}

/// Columns with descendants first: the k-th is `result[k]`.
pub(crate) fn postorder(parent: &[u32]) -> Vec<u32> {
    let n = parent.len();
    let (mut child, mut sibling, mut roots) = (vec![NONE; n], vec![NONE; n], Vec::new());
    for k in (0..n).rev() {
        match parent[k] {
            NONE => roots.push(k as u32),
            up => sibling[k] = std::mem::replace(&mut child[up as usize], k as u32),
        }
    }
    let (mut order, mut stack) = (Vec::with_capacity(n), roots);
    while let Some(&node) = stack.last() {
        // Down to the first child that is left, or out.
        match child[node as usize] {
            NONE => {
                order.push(node);
                stack.pop();
            }
            down => {
                child[node as usize] = sibling[down as usize];
                stack.push(down);
            }
        }
    }
    order
}

/// Blocks of each column, for columns in postorder.
fn counts(graph: &Neighbours, order: &[u32], place: &[u32], parent: &[u32]) -> Vec<u32> {
    let n = order.len();
    // The first descendant of each column.
    let mut first: Vec<u32> = (0..n as u32).collect();
    for k in 0..n {
        if parent[k] != NONE {
            let up = parent[k] as usize;
            first[up] = first[up].min(first[k]);
        }
    }
    let mut count: Vec<i64> = (0..n).map(|k| i64::from(first[k] == k as u32)).collect();
    // Of each row, the last leaf and one more than the first descendant of it.
    let (mut leaf, mut after) = (vec![NONE; n], vec![0u32; n]);
    let mut ancestor: Vec<u32> = (0..n as u32).collect();
    for k in 0..n as u32 {
        if parent[k as usize] != NONE {
            count[parent[k as usize] as usize] -= 1;
        }
        for &other in graph.of(order[k as usize]) {
            let row = place[other as usize] as usize;
            if row as u32 <= k || first[k as usize] < after[row] {
                continue;
            }
            after[row] = first[k as usize] + 1;
            count[k as usize] += 1;
            let last = std::mem::replace(&mut leaf[row], k);
            if last != NONE {
                count[find(&mut ancestor, last) as usize] -= 1;
            }
        }
        if parent[k as usize] != NONE {
            ancestor[k as usize] = parent[k as usize];
        }
    }
    for k in 0..n {
        if parent[k] != NONE {
            count[parent[k] as usize] += count[k];
        }
    }
    count.into_iter().map(|count| count as u32).collect()
}

/// The root of a column's set, to which its path is shortened.
fn find(ancestor: &mut [u32], mut column: u32) -> u32 {
    while ancestor[column as usize] != column {
        let up = ancestor[ancestor[column as usize] as usize];
        ancestor[column as usize] = up;
        column = up;
    }
    column
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{eliminate, graphs};

    /// Parents and counts are those of an elimination step by step.
    #[test]
    fn counts_are_those_of_an_elimination() {
        for pattern in graphs() {
            let by_index: Vec<u32> = (0..pattern.nodes() as u32).collect();
            let graph = pattern.neighbours();
            for order in [by_index, crate::minimum_degree::order(&graph)] {
                let tree = Tree::new(&graph, &order);
                let columns = eliminate(&pattern, &tree.order);
                for (k, column) in columns.iter().enumerate() {
                    assert_eq!(tree.count[k] as usize, column.len() + 1);
                    assert_eq!(tree.parent[k], column.first().copied().unwrap_or(NONE));
                }
                let before = eliminate(&pattern, &order).iter().map(|column| column.len() + 1).sum::<usize>();
                assert_eq!(tree.blocks(), before);
            }
        }
    }

    /// The descendants of a column come right before it.
    #[test]
    fn columns_are_in_postorder() {
        for pattern in graphs() {
            let graph = pattern.neighbours();
            let tree = Tree::new(&graph, &crate::minimum_degree::order(&graph));
            let mut size = vec![1; tree.order.len()];
            for k in 0..size.len() {
                let mut child = k;
                for _ in 0..tree.parent.iter().filter(|&&up| up == k as u32).count() {
                    assert_eq!(tree.parent[child - 1], k as u32);
                    child -= size[child - 1];
                }
                size[k] += k - child;
            }
        }
    }
}

//! A fill-reducing order of elimination: nested dissection of the matrix's graph.
//!
//! A part is cut in two by a separator, which is eliminated after both. Where to cut is told by
//! distances in the graph: with u and v at opposite corners, d(u) − d(v) is a coordinate from one
//! to the other, and its level in the middle is nearly plane; two more corners give the cuts
//! parallel to a side. The separator is the smallest set of nodes that covers the edges between
//! both sides: a minimum vertex cover of a bipartite graph, which is found from a maximum matching
//! (König). Small parts are left to approximate minimum degree.
//!
//! On the settled bed of 25 000 spheres the first separator has 325 bodies, the factor 85 million
//! numbers, and minimum degree alone makes 109 million and takes twice as long to factor. On beds
//! below some thousand spheres minimum degree has up to a fifth less. So both are tried.

use crate::blocks::Neighbours;
use crate::minimum_degree;

/// Parts up to this many nodes are ordered by minimum degree.
pub(crate) const LEAF: usize = 250;
/// A side may be this fraction of a part, or smaller by as much as it takes.
const LARGEST_SIDE: f64 = 0.62;
/// No node.
const NONE: u32 = u32::MAX;

/// The order in which to eliminate: node `order[k]` is the k-th.
pub(crate) fn order(graph: &Neighbours) -> Vec<u32> {
    let mut dissection = Dissection::new(graph);
    dissection.part((0..graph.nodes() as u32).collect());
    dissection.order
}

struct Dissection<'a> {
    graph: &'a Neighbours,
    /// The part to which a node belongs now.
    part: Vec<u32>,
    parts: u32,
    /// Distances from two ends, and the coordinate made of them.
    distance: Vec<u32>,
    coordinate: Vec<i32>,
    /// Partners in the matching of boundaries, and marks of the search for one.
    partner: Vec<u32>,
    visit: Vec<u32>,
    visits: u32,
    /// Place of a node within a leaf.
    place: Vec<u32>,
    order: Vec<u32>,
}

impl<'a> Dissection<'a> {
    fn new(graph: &'a Neighbours) -> Self {
        let n = graph.nodes();
        Self {
            graph,
            part: vec![0; n],
            parts: 0,
            distance: vec![NONE; n],
            coordinate: vec![0; n],
            partner: vec![NONE; n],
            visit: vec![0; n],
            visits: 0,
            place: vec![0; n],
            order: Vec::with_capacity(n),
        }
    }

    /// Orders a part: its connected pieces one after the other.
    fn part(&mut self, nodes: Vec<u32>) {
        self.claim(&nodes);
        for &node in &nodes {
            self.distance[node as usize] = NONE;
        }
        let mut small = Vec::new();
        for &node in &nodes {
            if self.distance[node as usize] == NONE {
                let piece = self.walk(node);
                if piece.len() <= LEAF {
                    small.extend(piece);
                    if small.len() > LEAF {
                        self.leaf(&std::mem::take(&mut small));
                    }
                } else {
                    self.piece(piece);
                    // What is inside has been claimed by others.
                }
            }
        }
        self.leaf(&small);
    }

    fn claim(&mut self, nodes: &[u32]) {
        self.parts += 1;
        for &node in nodes {
            self.part[node as usize] = self.parts;
        }
    }

    /// All nodes of the start's part that can be reached, nearest first, with their distances.
    fn walk(&mut self, start: u32) -> Vec<u32> {
        let part = self.part[start as usize];
        self.distance[start as usize] = 0;
        let (mut queue, mut at) = (vec![start], 0);
        while at < queue.len() {
            let node = queue[at];
            at += 1;
            for &other in self.graph.of(node) {
                if self.part[other as usize] == part && self.distance[other as usize] == NONE {
                    self.distance[other as usize] = self.distance[node as usize] + 1;
                    queue.push(other);
                }
            }
        }
        queue
    }

    /// Walks through a connected piece again, from another start. Returns the far end.
    fn walk_again(&mut self, piece: &[u32], start: u32) -> u32 {
        for &node in piece {
            self.distance[node as usize] = NONE;
        }
        *self.walk(start).last().unwrap_or(&start)
    }

    /// Orders a connected piece: both sides, then the separator.
    fn piece(&mut self, mut piece: Vec<u32>) {
        self.claim(&piece);
        let corners = self.corners(&piece);
        // Across each pair of corners, and across the two middles between them.
        let coordinates: [[i32; 4]; 4] = [[1, -1, 0, 0], [0, 0, 1, -1], [1, -1, 1, -1], [1, -1, -1, 1]];
        let mut best = (f64::INFINITY, coordinates[0]);
        for signs in coordinates {
            self.set_coordinate(&piece, &corners, signs);
            let cost = self.best_cut(&piece).0;
            if cost < best.0 {
                best = (cost, signs);
            }
        }
        self.set_coordinate(&piece, &corners, best.1);
        piece.sort_unstable_by_key(|&node| (self.coordinate[node as usize], node));
        let cut = self.best_cut(&piece).1;
        let (low, high) = piece.split_at(cut);
        let separator = self.cover(low, high);
        if separator.len() + LEAF >= piece.len() {
            // As good as complete: nothing is gained by cutting.
            self.leaf(&piece);
            return;
        }
        self.claim(&separator);
        let kept = self.parts;
        let side = |nodes: &[u32], part: &[u32]| -> Vec<u32> {
            nodes.iter().copied().filter(|&node| part[node as usize] != kept).collect()
        };
        let (low, high) = (side(low, &self.part), side(high, &self.part));
        self.part(low);
        self.part(high);
        self.order.extend(separator);
    }

    /// Distances of all nodes of a piece from four corners: two opposite ones, and two more across.
    fn corners(&mut self, piece: &[u32]) -> [Vec<u32>; 4] {
        let field = |this: &Self| piece.iter().map(|&node| this.distance[node as usize]).collect::<Vec<u32>>();
        let u = *piece.last().expect("a piece is not empty");
        let u = self.walk_again(piece, u);
        let v = self.walk_again(piece, u);
        let from_u = field(self);
        self.walk_again(piece, v);
        let from_v = field(self);
        // The first of those that are farthest from both.
        let (mut w, mut farthest) = (u, 0);
        for (k, &node) in piece.iter().enumerate() {
            let near = from_u[k].min(from_v[k]);
            if near > farthest {
                (w, farthest) = (node, near);
            }
        }
        let x = self.walk_again(piece, w);
        let from_w = field(self);
        self.walk_again(piece, x);
        [from_u, from_v, from_w, field(self)]
    }

    fn set_coordinate(&mut self, piece: &[u32], corners: &[Vec<u32>; 4], signs: [i32; 4]) {
        for (k, &node) in piece.iter().enumerate() {
            self.coordinate[node as usize] = (0..4).map(|c| signs[c] * corners[c][k] as i32).sum();
        }
    }

    /// Where to cut a piece by its coordinate: between two levels, where the fewest nodes have a
    /// neighbour beyond. Returns a cost, and how many nodes lie below.
    fn best_cut(&self, piece: &[u32]) -> (f64, usize) {
        let n = piece.len();
        let largest = (LARGEST_SIDE * n as f64) as usize;
        let at = |node: u32| self.coordinate[node as usize];
        let levels = || piece.iter().map(|&node| at(node));
        let (first, last) = (levels().min().unwrap_or(0), levels().max().unwrap_or(0));
        // A node on level l with its highest neighbour on level m is on the boundary of every cut
        // from l up to m.
        let mut change = vec![[0i64; 2]; (last - first) as usize + 1];
        for &node in piece {
            let part = self.part[node as usize];
            let inside = self.graph.of(node).iter().filter(|&&o| self.part[o as usize] == part);
            let highest = inside.map(|&o| at(o)).max().unwrap_or(first).max(at(node));
            change[(at(node) - first) as usize][0] += 1;
            change[(at(node) - first) as usize][1] += 1;
            change[(highest - first) as usize][1] -= 1;
        }
        let (mut below, mut boundary, mut best) = (0, 0, (f64::INFINITY, n / 2));
        for [nodes, crossing] in change {
            below += nodes as usize;
            boundary += crossing;
            if below.max(n - below) <= largest {
                let cost = boundary as f64 * (1.0 + (below as f64 / n as f64 - 0.5).abs());
                if cost < best.0 {
                    best = (cost, below);
                }
            }
        }
        best
    }

    /// The smallest set of nodes that touches every edge between two sides.
    fn cover(&mut self, low: &[u32], high: &[u32]) -> Vec<u32> {
        self.claim(high);
        let beyond = self.parts;
        let boundary: Vec<u32> = low
            .iter()
            .copied()
            .filter(|&node| self.graph.of(node).iter().any(|&o| self.part[o as usize] == beyond))
            .collect();
        for &node in low.iter().chain(high) {
            self.partner[node as usize] = NONE;
        }
        for &node in &boundary {
            self.visits += 1;
            self.match_node(node, beyond);
        }
        // König: what alternating paths reach from unmatched nodes, on the far side; and the rest
        // of the near side.
        self.visits += 1;
        let mut stack: Vec<u32> =
            boundary.iter().copied().filter(|&node| self.partner[node as usize] == NONE).collect();
        let mut separator = Vec::new();
        stack.iter().for_each(|&node| self.visit[node as usize] = self.visits);
        while let Some(node) = stack.pop() {
            for &other in self.graph.of(node) {
                if self.part[other as usize] == beyond && self.visit[other as usize] != self.visits {
                    self.visit[other as usize] = self.visits;
                    separator.push(other);
                    let back = self.partner[other as usize];
                    if back != NONE && self.visit[back as usize] != self.visits {
                        self.visit[back as usize] = self.visits;
                        stack.push(back);
                    }
                }
            }
        }
        separator.extend(boundary.iter().copied().filter(|&node| self.visit[node as usize] != self.visits));
        separator.sort_unstable();
        separator
    }

    /// Finds a partner beyond the cut for `start`, by an augmenting path.
    fn match_node(&mut self, start: u32, beyond: u32) {
        // Nodes of the near side on the path, and how many of their neighbours were tried.
        let mut path: Vec<(u32, usize)> = vec![(start, 0)];
        while let Some(&mut (node, ref mut tried)) = path.last_mut() {
            let Some(&other) = self.graph.of(node).get(*tried) else {
                path.pop();
                continue;
            };
            *tried += 1;
            if self.part[other as usize] != beyond || self.visit[other as usize] == self.visits {
                continue;
            }
            self.visit[other as usize] = self.visits;
            let taken = self.partner[other as usize];
            if taken != NONE {
                path.push((taken, 0));
                continue;
            }
            // Everyone on the path takes the neighbour that was tried last.
            for &(node, tried) in &path {
                let other = self.graph.of(node)[tried - 1];
                self.partner[node as usize] = other;
                self.partner[other as usize] = node;
            }
            return;
        }
    }

    /// Orders nodes by approximate minimum degree.
    fn leaf(&mut self, nodes: &[u32]) {
        if nodes.is_empty() {
            return;
        }
        self.claim(nodes);
        for (k, &node) in nodes.iter().enumerate() {
            self.place[node as usize] = k as u32;
        }
        let mut inside = Neighbours { start: vec![0], neighbour: Vec::new() };
        for &node in nodes {
            let others = self.graph.of(node).iter().filter(|&&other| self.part[other as usize] == self.parts);
            inside.neighbour.extend(others.map(|&other| self.place[other as usize]));
            inside.start.push(inside.neighbour.len());
        }
        self.order.extend(minimum_degree::order(&inside).into_iter().map(|k| nodes[k as usize]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::Pattern;
    use crate::fixtures::grid;

    #[test]
    fn every_node_is_eliminated_once() {
        let island = Pattern { start: vec![0; 5001], row: Vec::new() };
        for pattern in
            [grid(30, 20, 3), grid(2000, 1, 1), grid(1, 1, 1), island, Pattern { start: vec![0], row: vec![] }]
        {
            let mut order = order(&pattern.neighbours());
            order.sort_unstable();
            assert!(order.iter().enumerate().all(|(k, &node)| k == node as usize));
            assert_eq!(order.len(), pattern.nodes());
        }
    }

    /// The last nodes of a long strip cut it in two.
    #[test]
    fn separators_are_small() {
        let pattern = grid(60, 8, 1);
        let order = order(&pattern.neighbours());
        let last: Vec<u32> = order[order.len() - 8..].iter().map(|node| node % 60).collect();
        let (low, high) = (last.iter().min().unwrap(), last.iter().max().unwrap());
        assert!((15..45).contains(low) && high - low <= 8, "{last:?}");
    }
}

//! The quotient graph of an elimination (A. George, J. W. H. Liu: The evolution of the minimum degree
//! ordering algorithm, SIAM Review 31, 1989): nodes that are left, and elements.
//!
//! An element is a node that has been eliminated, with the list of its neighbours, which stands for
//! all edges between them. A node's neighbours are those left of its own list and those of its
//! elements. All lists are in one vector; a new one is put at its end, and those in use are moved
//! together when it is full.

use crate::blocks::Neighbours;

/// No node.
pub(crate) const NONE: u32 = u32::MAX;
/// Nodes with more than this many times √n neighbours come last.
const DENSE: f64 = 10.0;

/// A graph of nodes, of which some have been eliminated.
pub(crate) struct Quotient {
    pub(crate) n: usize,
    /// Weight of all nodes eliminated so far.
    pub(crate) eliminated: usize,
    /// Lists of nodes: of a node its elements and then its neighbours, of an element its nodes.
    pub(crate) list: Vec<u32>,
    pub(crate) start: Vec<usize>,
    pub(crate) length: Vec<u32>,
    /// How many of a node's list are elements.
    pub(crate) elements: Vec<u32>,
    /// How many nodes a node stands for; 0 once it is part of another or an element.
    pub(crate) weight: Vec<u32>,
    /// Whether a node is next to the pivot.
    pub(crate) is_near: Vec<bool>,
    /// A bound of a node's degree, or the weight of an element's list; an element is alive while
    /// this is not 0.
    pub(crate) degree: Vec<u32>,
    /// Nodes of equal degree, or of equal hash, as linked lists.
    pub(crate) least: usize,
    pub(crate) head: Vec<u32>,
    pub(crate) next: Vec<u32>,
    pub(crate) previous: Vec<u32>,
    pub(crate) hash_head: Vec<u32>,
    pub(crate) hash: Vec<u32>,
    /// Marks of elements and nodes: those from `stamp` up are of now.
    pub(crate) mark: Vec<u64>,
    pub(crate) stamp: u64,
    /// What a node stands for besides itself: the next one and the last one.
    pub(crate) member: Vec<u32>,
    pub(crate) last_member: Vec<u32>,
    pub(crate) pivots: Vec<u32>,
    pub(crate) dense: Vec<u32>,
}

impl Quotient {
    pub(crate) fn new(graph: &Neighbours) -> Self {
        let n = graph.nodes();
        let length: Vec<u32> = (0..n).map(|i| (graph.start[i + 1] - graph.start[i]) as u32).collect();
        let mut list = Vec::with_capacity(graph.neighbour.len() * 6 / 5 + n);
        list.extend_from_slice(&graph.neighbour);
        let mut quotient = Self {
            n,
            eliminated: 0,
            list,
            start: graph.start[..n].to_vec(),
            degree: length.clone(),
            length,
            elements: vec![0; n],
            weight: vec![1; n],
            is_near: vec![false; n],
            least: 0,
            head: vec![NONE; n + 1],
            next: vec![NONE; n],
            previous: vec![NONE; n],
            hash_head: vec![NONE; n],
            hash: vec![0; n],
            mark: vec![0; n],
            stamp: 1,
            member: vec![NONE; n],
            last_member: (0..n as u32).collect(),
            pivots: Vec::new(),
            dense: Vec::new(),
        };
        let dense = (DENSE * (n as f64).sqrt()).max(16.0) as u32;
        for i in 0..n {
            if quotient.degree[i] <= dense {
                quotient.insert(i as u32);
            } else {
                quotient.weight[i] = 0;
                quotient.eliminated += 1;
                quotient.dense.push(i as u32);
            }
        }
        quotient
    }

    /// Puts a node among those of its degree.
    pub(crate) fn insert(&mut self, node: u32) {
        let degree = self.degree[node as usize] as usize;
        let first = std::mem::replace(&mut self.head[degree], node);
        (self.next[node as usize], self.previous[node as usize]) = (first, NONE);
        if first != NONE {
            self.previous[first as usize] = node;
        }
        self.least = self.least.min(degree);
    }

    /// Takes a node out of those of its degree.
    pub(crate) fn remove(&mut self, node: u32) {
        let (before, after) = (self.previous[node as usize], self.next[node as usize]);
        match before {
            NONE => self.head[self.degree[node as usize] as usize] = after,
            _ => self.next[before as usize] = after,
        }
        if after != NONE {
            self.previous[after as usize] = before;
        }
    }

    /// Takes a node of least degree.
    pub(crate) fn take_least(&mut self) -> Option<u32> {
        self.least += self.head[self.least..].iter().position(|&node| node != NONE)?;
        let node = self.head[self.least];
        self.remove(node);
        Some(node)
    }

    /// Makes `other` part of `node`.
    pub(crate) fn join(&mut self, node: u32, other: u32) {
        self.weight[node as usize] += self.weight[other as usize];
        (self.weight[other as usize], self.degree[other as usize]) = (0, 0);
        let end = self.last_member[other as usize];
        let last = std::mem::replace(&mut self.last_member[node as usize], end);
        self.member[last as usize] = other;
    }

    /// Makes the pivot an element: lists what is next to it, and absorbs its elements.
    pub(crate) fn gather(&mut self, pivot: u32) {
        let p = pivot as usize;
        let most = self.length[p] as usize - self.elements[p] as usize
            + self.own_elements(p).map(|e| self.length[e] as usize).sum::<usize>();
        if self.list.len() + most > self.list.capacity() {
            self.compact();
        }
        let (first, mut weight) = (self.list.len(), 0);
        for k in 0..self.length[p] as usize {
            let source = self.list[self.start[p] + k] as usize;
            let is_element = k < self.elements[p] as usize;
            let (from, length) =
                if is_element { (self.start[source], self.length[source] as usize) } else { (self.start[p] + k, 1) };
            for at in from..from + length {
                let i = self.list[at];
                if self.weight[i as usize] > 0 && !self.is_near[i as usize] && i != pivot {
                    self.is_near[i as usize] = true;
                    weight += self.weight[i as usize];
                    self.remove(i);
                    self.list.push(i);
                }
            }
            if is_element {
                self.degree[source] = 0;
            }
        }
        (self.start[p], self.length[p], self.elements[p]) = (first, (self.list.len() - first) as u32, 0);
        self.degree[p] = weight;
    }

    /// Elements next to a node.
    fn own_elements(&self, i: usize) -> impl Iterator<Item = usize> {
        self.list[self.start[i]..][..self.elements[i] as usize].iter().map(|&e| e as usize)
    }

    /// Moves all lists that are in use together.
    fn compact(&mut self) {
        let used = |i: usize| if self.weight[i] > 0 || self.degree[i] > 0 { self.length[i] as usize } else { 0 };
        let total: usize = (0..self.n).map(used).sum();
        let mut list = Vec::with_capacity((total * 3 / 2).max(self.list.capacity()));
        for i in 0..self.n {
            let range = self.start[i]..self.start[i] + used(i);
            self.start[i] = list.len();
            list.extend_from_slice(&self.list[range]);
        }
        self.list = list;
    }
}

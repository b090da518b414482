//! The preconditioner of large systems of bodies: overlapping domains (additive Schwarz).
//!
//! Bodies are cut into domains, each with some layers of its neighbours. A domain is solved by a
//! factorisation of its own, all of them at once, and the solutions are added. Bodies are sorted
//! along the Morton curve in real runs, so a range of indices is a compact domain. Time and memory
//! grow with the number of bodies and no faster.
//!
//! Why not less: as the interior point closes in, contacts that stick make stiff networks, of which
//! a preconditioner by bodies knows nothing. On a settled bed of 1 700 spheres, cut into seven
//! domains, the last linear system before a natural residual of 1e-2 takes 950 iterations with one
//! layer, 350 with two and 160 with three, while with the 6×6 blocks of bodies alone 2 000 are not
//! enough. Why not more: a second level, of rigid motions of whole domains, changed none of these
//! figures. And conjugate gradients on the side of the contacts, where sticking contacts are scaled
//! by their own blocks, were slower still.

use super::blocks::{Pattern, Values};
use barchan_cholesky::Cholesky;
use barchan_parallel::for_chunks_mut;

/// Bodies a domain, its neighbours not counted.
const DOMAIN: usize = 1024;
/// Layers of neighbours around it.
pub(crate) const LAYERS: usize = 2;
/// Numbers a body.
const B: usize = 6;

/// A domain with its neighbours.
#[derive(Default)]
struct Domain {
    /// Its nodes, ascending.
    nodes: Vec<u32>,
    pattern: Pattern,
    /// Where each block below the diagonal comes from.
    source: Vec<usize>,
    values: Values<B>,
    cholesky: Cholesky,
    x: Vec<f64>,
    is_valid: bool,
}

/// All domains.
#[derive(Default)]
pub(crate) struct Schwarz {
    domains: Vec<Domain>,
    /// For each node, its places: domain and index in it.
    place_start: Vec<usize>,
    places: Vec<[u32; 2]>,
}

impl Schwarz {
    /// Cuts the first `own` nodes of a pattern into domains, and adds layers of any of them. Says
    /// whether it could.
    pub(crate) fn analyse(&mut self, pattern: &Pattern, own: usize, layers: usize) -> bool {
        let n = pattern.nodes();
        let neighbours = pattern.neighbours();
        self.domains.clear();
        self.domains.resize_with(own.div_ceil(DOMAIN), Domain::default);
        self.each_domain(|d, domain| {
            domain.nodes = (DOMAIN * d..(DOMAIN * (d + 1)).min(own)).map(|node| node as u32).collect();
            for _ in 0..layers {
                let beyond = domain.nodes.iter().flat_map(|&node| neighbours.of(node));
                let more: Vec<u32> = beyond.copied().collect();
                domain.nodes.extend(more);
                domain.nodes.sort_unstable();
                domain.nodes.dedup();
            }
            domain.analyse(pattern);
        });
        self.list_places(n);
        self.domains.iter().all(|d| d.is_valid)
    }

    fn list_places(&mut self, n: usize) {
        let each = || {
            let all = self.domains.iter().enumerate();
            all.flat_map(|(d, domain)| (0..).zip(&domain.nodes).map(move |(k, &node)| (node as usize, [d as u32, k])))
        };
        let mut start = vec![0; n + 2];
        each().for_each(|(node, _)| start[node + 2] += 1);
        for j in 0..n {
            start[j + 2] += start[j + 1];
        }
        let mut places = vec![[0; 2]; start[n + 1]];
        for (node, place) in each() {
            let at = &mut start[node + 1];
            places[*at] = place;
            *at += 1;
        }
        start.truncate(n + 1);
        (self.place_start, self.places) = (start, places);
    }

    /// Takes the values of the matrix. Says whether it could.
    pub(crate) fn factor(&mut self, values: &Values<B>) -> bool {
        self.each_domain(|_, domain| domain.factor(values));
        self.domains.iter().all(|d| d.is_valid)
    }

    /// z ← the preconditioner times r.
    pub(crate) fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        self.each_domain(|_, domain| domain.solve(r));
        let (nodes, _) = z.as_chunks_mut::<B>();
        for_chunks_mut(nodes, DOMAIN, |range, nodes| {
            for (z, j) in nodes.iter_mut().zip(range) {
                z.fill(0.0);
                for &[d, place] in &self.places[self.place_start[j]..self.place_start[j + 1]] {
                    let own = &self.domains[d as usize].x[B * place as usize..][..B];
                    z.iter_mut().zip(own).for_each(|(z, x)| *z += x);
                }
            }
        });
    }

    /// Does something to every domain.
    fn each_domain(&mut self, body: impl Fn(usize, &mut Domain) + Sync + Send) {
        for_chunks_mut(&mut self.domains[..], 1, |range, own| {
            own.iter_mut().zip(range).for_each(|(domain, d)| body(d, domain));
        });
    }
}

impl Domain {
    fn analyse(&mut self, pattern: &Pattern) {
        let mut found = Vec::new();
        for (j, &node) in self.nodes.iter().enumerate() {
            for k in pattern.column(node as usize) {
                if let Ok(i) = self.nodes.binary_search(&pattern.row[k]) {
                    found.push(([j as u32, i as u32], k));
                }
            }
        }
        self.source = found.iter().map(|f| f.1).collect();
        self.pattern = Pattern::from_sorted(self.nodes.len(), found.iter().map(|f| f.0));
        self.is_valid = self.cholesky.analyse::<B>(&self.pattern);
    }

    fn factor(&mut self, values: &Values<B>) {
        self.values.diagonal.clear();
        self.values.diagonal.extend(self.nodes.iter().map(|&node| values.diagonal[node as usize]));
        self.values.below.clear();
        self.values.below.extend(self.source.iter().map(|&k| values.below[k]));
        self.is_valid = self.cholesky.factor(&self.pattern, &self.values);
    }

    fn solve(&mut self, r: &[f64]) {
        self.x.clear();
        for &node in &self.nodes {
            self.x.extend_from_slice(&r[B * node as usize..][..B]);
        }
        self.cholesky.solve(&mut self.x);
    }
}

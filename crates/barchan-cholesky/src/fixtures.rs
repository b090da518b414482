//! Graphs and matrices for tests.

use crate::blocks::{Block, Pattern, Values};

/// Numbers in −½..½ from a linear congruential generator.
pub(crate) struct Noise(pub(crate) u64);

impl Noise {
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    }
}

/// A pattern of edges in any order, some of them twice or from a node to itself.
pub(crate) fn pattern(n: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> Pattern {
    let sorted = edges.into_iter().map(|(a, b)| [a.min(b) as u32, a.max(b) as u32]);
    let mut places: Vec<[u32; 2]> = sorted.filter(|[a, b]| a != b).collect();
    places.sort_unstable();
    places.dedup();
    Pattern::from_sorted(n, places.into_iter())
}

/// A grid of nodes with neighbours along each axis.
pub(crate) fn grid(nx: usize, ny: usize, nz: usize) -> Pattern {
    let n = nx * ny * nz;
    let axes = [(1, nx), (nx, ny), (nx * ny, nz)];
    let edges =
        (0..n).flat_map(|i| axes.map(|(step, size)| (i, if i / step % size + 1 < size { i + step } else { i })));
    pattern(n, edges)
}

/// Nodes with so many edges between any of them.
pub(crate) fn random(n: usize, edges: usize, seed: u64) -> Pattern {
    let mut noise = Noise(seed);
    let mut node = || ((noise.next() + 0.5) * n as f64) as usize % n;
    pattern(n, (0..edges).map(|_| (node(), node())).collect::<Vec<_>>())
}

/// Graphs of many shapes.
pub(crate) fn graphs() -> Vec<Pattern> {
    let complete = |n: usize| pattern(n, (0..n).flat_map(move |i| (0..i).map(move |j| (i, j))));
    let star = |n: usize, centre: usize| pattern(n, (0..n).map(move |i| (centre, i)));
    let comb = |n: usize| pattern(2 * n, (0..n).flat_map(move |i| [(i, i + n), (i, (i + 1) % n)]));
    let mut graphs = vec![
        Pattern { start: vec![0], row: Vec::new() },
        Pattern::default(),
        pattern(7, []),
        grid(9, 1, 1),
        grid(300, 1, 1),
        grid(7, 5, 1),
        grid(18, 17, 1),
        grid(6, 5, 4),
        grid(4, 30, 3),
        comb(40),
        star(90, 0),
        star(90, 89),
        star(400, 17),
        random(120, 20, 3),
    ];
    graphs.extend([1, 2, 3, 5, 8, 13, 40, 70].map(complete));
    graphs.extend((1..14).map(|k| random(3 * k * k, 5 * k * k, k as u64)));
    graphs
}

/// A symmetric matrix whose least eigenvalue is about 1 or above.
pub(crate) fn values<const B: usize>(pattern: &Pattern, seed: u64) -> Values<B> {
    let mut noise = Noise(seed);
    let mut random = || -> Block<B> { std::array::from_fn(|_| std::array::from_fn(|_| noise.next())) };
    let mut values = Values::<B>::default();
    values.shape(pattern);
    values.below.iter_mut().for_each(|block| *block = random());
    let neighbours = pattern.neighbours();
    for (i, block) in values.diagonal.iter_mut().enumerate() {
        let half = random();
        let weight = 1.0 + 0.5 * (B * (neighbours.of(i as u32).len() + 2)) as f64;
        *block = std::array::from_fn(|c| std::array::from_fn(|r| half[c][r] + half[r][c]));
        (0..B).for_each(|c| block[c][c] += weight);
    }
    values
}

/// A matrix in full, row by row.
pub(crate) fn dense<const B: usize>(pattern: &Pattern, values: &Values<B>) -> Vec<Vec<f64>> {
    let n = B * pattern.nodes();
    let mut full = vec![vec![0.0; n]; n];
    for j in 0..pattern.nodes() {
        let below = pattern.column(j).map(|k| (pattern.row[k] as usize, &values.below[k]));
        for (i, block) in below.chain([(j, &values.diagonal[j])]) {
            for (c, column) in block.iter().enumerate() {
                for (r, &value) in column.iter().enumerate() {
                    full[B * i + r][B * j + c] = value;
                    full[B * j + c][B * i + r] = value;
                }
            }
        }
    }
    full
}

/// The columns of the factor below the diagonal, if nodes are eliminated in an order: by places.
pub(crate) fn eliminate(pattern: &Pattern, order: &[u32]) -> Vec<std::collections::BTreeSet<u32>> {
    let n = order.len();
    let mut place = vec![0; n];
    order.iter().enumerate().for_each(|(k, &node)| place[node as usize] = k as u32);
    let mut columns = vec![std::collections::BTreeSet::new(); n];
    for j in 0..n {
        for k in pattern.column(j) {
            let (a, b) = (place[j], place[pattern.row[k] as usize]);
            columns[a.min(b) as usize].insert(a.max(b));
        }
    }
    for k in 0..n {
        let rows = columns[k].clone();
        if let Some(&first) = rows.first() {
            columns[first as usize].extend(rows.into_iter().filter(|&row| row > first));
        }
    }
    columns
}

//! Symmetric matrices made of small dense blocks.

/// A dense block, column by column.
pub type Block<const B: usize> = [[f64; B]; B];

/// Where a symmetric block matrix has blocks: those below the diagonal, column by column, rows
/// ascending. The diagonal is full.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pattern {
    /// Blocks of column j are `start[j]..start[j + 1]`.
    pub start: Vec<usize>,
    /// Their rows.
    pub row: Vec<u32>,
}

impl Pattern {
    /// Number of block columns.
    pub fn nodes(&self) -> usize {
        self.start.len().saturating_sub(1)
    }

    /// The blocks of a column.
    pub fn column(&self, j: usize) -> std::ops::Range<usize> {
        self.start[j]..self.start[j + 1]
    }

    /// From the places (column, row) of blocks, in order of columns and then of rows.
    pub fn from_sorted(n: usize, places: impl Iterator<Item = [u32; 2]>) -> Self {
        let mut pattern = Self { start: vec![0; n + 1], row: Vec::new() };
        for [column, row] in places {
            debug_assert!(column < row);
            pattern.row.push(row);
            pattern.start[column as usize + 1] = pattern.row.len();
        }
        for j in 0..n {
            pattern.start[j + 1] = pattern.start[j + 1].max(pattern.start[j]);
        }
        pattern
    }
}

/// Neighbours of each node of a pattern.
#[derive(Clone, Debug, Default)]
pub struct Neighbours {
    pub(crate) start: Vec<usize>,
    pub(crate) neighbour: Vec<u32>,
}

impl Neighbours {
    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.start.len().saturating_sub(1)
    }

    /// Those of a node.
    pub fn of(&self, node: u32) -> &[u32] {
        &self.neighbour[self.start[node as usize]..self.start[node as usize + 1]]
    }
}

impl Pattern {
    /// Its graph.
    pub fn neighbours(&self) -> Neighbours {
        let n = self.nodes();
        let edges = || (0..n).flat_map(|j| self.column(j).map(move |k| [j as u32, self.row[k]]));
        let mut start = vec![0; n + 2];
        edges().flatten().for_each(|i| start[i as usize + 2] += 1);
        for i in 0..n {
            start[i + 2] += start[i + 1];
        }
        let mut neighbour = vec![0; 2 * self.row.len()];
        for [a, b] in edges() {
            for (from, to) in [(a, b), (b, a)] {
                let place = &mut start[from as usize + 1];
                neighbour[*place] = to;
                *place += 1;
            }
        }
        start.truncate(n + 1);
        Neighbours { start, neighbour }
    }
}

/// The values of a symmetric block matrix.
#[derive(Clone, Debug)]
pub struct Values<const B: usize> {
    /// Diagonal blocks.
    pub diagonal: Vec<Block<B>>,
    /// Blocks below the diagonal, in the order of the pattern.
    pub below: Vec<Block<B>>,
}

impl<const B: usize> Default for Values<B> {
    fn default() -> Self {
        Self { diagonal: Vec::new(), below: Vec::new() }
    }
}

impl<const B: usize> Values<B> {
    /// Gives it the shape of a pattern; what it holds is anything.
    pub fn shape(&mut self, pattern: &Pattern) {
        self.diagonal.resize(pattern.nodes(), [[0.0; B]; B]);
        self.below.resize(pattern.row.len(), [[0.0; B]; B]);
    }
}

impl<const B: usize> Values<B> {
    /// y ← Kx.
    pub fn times(&self, pattern: &Pattern, x: &[f64], y: &mut [f64]) {
        let add = |y: &mut [f64], block: &Block<B>, x: &[f64]| {
            for c in 0..B {
                for r in 0..B {
                    y[r] += block[c][r] * x[c];
                }
            }
        };
        y.fill(0.0);
        for j in 0..pattern.nodes() {
            let here = B * j..B * (j + 1);
            add(&mut y[here.clone()], &self.diagonal[j], &x[here.clone()]);
            for k in pattern.column(j) {
                let there = B * pattern.row[k] as usize..B * (pattern.row[k] as usize + 1);
                add(&mut y[there.clone()], &self.below[k], &x[here.clone()]);
                for c in 0..B {
                    y[here.start + c] += (0..B).map(|r| self.below[k][c][r] * x[there.start + r]).sum::<f64>();
                }
            }
        }
    }
}

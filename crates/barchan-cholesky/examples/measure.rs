//! Times the factorisation of beds of spheres and of grids on one thread.
//!
//! ```text
//! cargo run --release -p barchan-cholesky --example measure [repetitions]
//! ```
//!
//! A bed is a jittered lattice of bodies in a box whose nearest pairs are in contact, 2.75 a body:
//! its graph is about that of a settled heap. Each time is the least of some repetitions.

use barchan_cholesky::{Block, Cholesky, Pattern, Values};
use std::time::Instant;

/// Numbers in −½..½ from a linear congruential generator.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    }
}

/// The contacts of a bed of so many bodies along each axis.
fn bed(size: [usize; 3], contacts_per_body: f64) -> Pattern {
    let mut noise = Noise(1);
    let n = size[0] * size[1] * size[2];
    let cell = |i: usize| [i % size[0], i / size[0] % size[1], i / size[0] / size[1]];
    let place: Vec<[f64; 3]> = (0..n).map(|i| cell(i).map(|c| c as f64 + 0.7 * noise.next())).collect();
    let mut pairs: Vec<(f64, [u32; 2])> = Vec::new();
    for i in 0..n {
        for shift in 1..27 {
            let to: [isize; 3] = [0, 1, 2].map(|d| cell(i)[d] as isize + [shift % 3, shift / 3 % 3, shift / 9][d] - 1);
            if (0..3).all(|d| to[d] >= 0 && to[d] < size[d] as isize) {
                let j = to[0] as usize + size[0] * (to[1] as usize + size[1] * to[2] as usize);
                if i < j {
                    let distance = (0..3).map(|d| (place[i][d] - place[j][d]).powi(2)).sum::<f64>();
                    pairs.push((distance, [i as u32, j as u32]));
                }
            }
        }
    }
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    pairs.truncate((contacts_per_body * n as f64) as usize);
    let mut places: Vec<[u32; 2]> = pairs.into_iter().map(|pair| pair.1).collect();
    places.sort_unstable();
    Pattern::from_sorted(n, places.into_iter())
}

/// A grid with neighbours along each axis.
fn grid(size: [usize; 3]) -> Pattern {
    let at = |x: usize, y: usize, z: usize| (x + size[0] * (y + size[1] * z)) as u32;
    let mut places = Vec::new();
    for z in 0..size[2] {
        for y in 0..size[1] {
            for x in 0..size[0] {
                let beside = [(x + 1 < size[0], [1, 0, 0]), (y + 1 < size[1], [0, 1, 0]), (z + 1 < size[2], [0, 0, 1])];
                let beside = beside.iter().filter(|b| b.0).map(|(_, [a, b, c])| at(x + a, y + b, z + c));
                places.extend(beside.map(|other| [at(x, y, z), other]));
            }
        }
    }
    places.sort_unstable();
    Pattern::from_sorted(size[0] * size[1] * size[2], places.into_iter())
}

/// A symmetric matrix whose diagonal outweighs the rest.
fn values<const B: usize>(pattern: &Pattern) -> Values<B> {
    let mut noise = Noise(2);
    let mut values = Values::<B>::default();
    values.shape(pattern);
    let mut random = || -> Block<B> { std::array::from_fn(|_| std::array::from_fn(|_| noise.next())) };
    values.below.iter_mut().for_each(|block| *block = random());
    let mut degree = vec![0usize; pattern.nodes()];
    for j in 0..pattern.nodes() {
        for k in pattern.column(j) {
            degree[j] += 1;
            degree[pattern.row[k] as usize] += 1;
        }
    }
    for (block, degree) in values.diagonal.iter_mut().zip(degree) {
        let half = random();
        *block = std::array::from_fn(|c| std::array::from_fn(|r| half[c][r] + half[r][c]));
        (0..B).for_each(|c| block[c][c] += 1.0 + 0.5 * (B * (degree + 2)) as f64);
    }
    values
}

fn measure<const B: usize>(name: &str, pattern: &Pattern, repetitions: usize) {
    let values = values::<B>(pattern);
    let mut cholesky = Cholesky::default();
    let (mut analyse, mut factor, mut solve) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
    let b: Vec<f64> = (0..B * pattern.nodes()).map(|i| (i as f64).sin()).collect();
    let mut x = b.clone();
    for _ in 0..repetitions {
        let start = Instant::now();
        assert!(cholesky.analyse::<B>(pattern));
        analyse = analyse.min(start.elapsed().as_secs_f64());
        let start = Instant::now();
        assert!(cholesky.factor(pattern, &values));
        factor = factor.min(start.elapsed().as_secs_f64());
        x.copy_from_slice(&b);
        let start = Instant::now();
        cholesky.solve(&mut x);
        solve = solve.min(start.elapsed().as_secs_f64());
    }
    let mut y = vec![0.0; b.len()];
    values.times(pattern, &x, &mut y);
    let error = y.iter().zip(&b).map(|(y, b)| (y - b).abs()).fold(0.0, f64::max);
    println!(
        "{name:24} n {:6} edges {:6} fill {:10} analyse {:9.3} ms factor {:9.3} ms solve {:8.3} ms residual {error:.1e}",
        pattern.nodes(),
        pattern.row.len(),
        cholesky.fill(),
        1e3 * analyse,
        1e3 * factor,
        1e3 * solve,
    );
}

fn main() {
    let repetitions = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(3);
    let many = 10 * repetitions;
    measure::<6>("bed of 300", &bed([10, 10, 3], 2.75), many);
    measure::<6>("bed of 2 000", &bed([16, 16, 8], 2.75), many);
    measure::<3>("grid 10 x 10 x 10, 3 x 3", &grid([10, 10, 10]), many);
    measure::<3>("grid 30 x 30 x 30, 3 x 3", &grid([30, 30, 30]), repetitions);
    measure::<6>("plane of 100 x 100", &grid([100, 100, 1]), repetitions);
    measure::<6>("bed of 25 000", &bed([40, 40, 16], 2.75), repetitions);
}

//! The STREAM triad a = b + s·c: what the machine's memory delivers, to measure everything by.

use rayon::prelude::*;
use std::time::Instant;

/// Elements an array: three arrays of 320 MB leave no cache a chance.
const LENGTH: usize = 40_000_000;
const REPEATS: usize = 6;

/// Bytes a second, counting two reads and a write an element.
pub(super) struct Triad {
    pub(super) one: f64,
    pub(super) all: f64,
}

/// Measures the triad, best of several.
pub(super) fn measure() -> Triad {
    let b = vec![1.0f64; LENGTH];
    let c = vec![2.0f64; LENGTH];
    let mut a = vec![0.0f64; LENGTH];
    let bytes = 3.0 * 8.0 * LENGTH as f64;
    let mut best = [0.0f64; 2];
    for repeat in 0..2 * REPEATS {
        let threads = repeat % 2;
        let start = Instant::now();
        if threads == 0 {
            triad(&mut a, &b, &c);
        } else {
            let chunk = LENGTH.div_ceil(rayon::current_num_threads());
            a.par_chunks_mut(chunk)
                .zip(b.par_chunks(chunk))
                .zip(c.par_chunks(chunk))
                .for_each(|((a, b), c)| triad(a, b, c));
        }
        best[threads] = best[threads].max(bytes / start.elapsed().as_secs_f64());
    }
    assert!(a.iter().step_by(1_000_003).all(|&x| x == 7.0));
    Triad { one: best[0], all: best[1] }
}

fn triad(a: &mut [f64], b: &[f64], c: &[f64]) {
    for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
        *a = b + 3.0 * c;
    }
}

//! Sizes of scenarios that grow with the number of ranks.
//!
//! For strong scaling the bodies along each axis are given. For weak scaling a rank has a block of
//! so many along each axis, and blocks are put together as evenly as the number of ranks allows
//! (S2 6, S4 7.5).

use super::{Parameter, ParameterRange, Parameters};

/// Bodies along x, y and z, if not by rank.
pub(super) const fn size(name: &'static str, default: f64, help: &'static str) -> Parameter {
    Parameter { name, default, range: ParameterRange::Count, help }
}

pub(super) const PER_RANK: Parameter = Parameter {
    name: "per_rank",
    default: 0.0,
    range: ParameterRange::CountOrNone,
    help: "bodies of a rank along each axis, instead of nx, ny and nz; 0 for none",
};

pub(super) const RANKS: Parameter =
    Parameter { name: "ranks", default: 1.0, range: ParameterRange::Count, help: "by which per_rank is multiplied" };

/// Bodies along each axis; along axes that are not `split`, a rank has all of them.
pub(super) fn counts(parameters: &Parameters, split: [bool; 3]) -> [u32; 3] {
    // More than that no scene can have, and its own check says so.
    let narrow = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    match parameters.count("per_rank") {
        0 => ["nx", "ny", "nz"].map(|name| narrow(parameters.count(name))),
        each => blocks(parameters.count("ranks"), split).map(|blocks| narrow(each.saturating_mul(blocks))),
    }
}

/// So many blocks along each axis, as even as may be, the most along x.
fn blocks(ranks: u64, split: [bool; 3]) -> [u64; 3] {
    let mut blocks = [1; 3];
    let axes: Vec<usize> = (0..3).filter(|&axis| split[axis]).collect();
    let mut left = ranks;
    for (i, &axis) in axes.iter().enumerate().rev() {
        // The largest divisor up to the root that would be even.
        let even = (left as f64).powf(1.0 / (i + 1) as f64).round() as u64;
        blocks[axis] = (1..=even.max(1)).rev().find(|n| left.is_multiple_of(*n)).unwrap_or(1);
        if i == 0 {
            blocks[axis] = left;
        }
        left /= blocks[axis];
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_as_even_as_may_be() {
        assert_eq!(blocks(1, [true; 3]), [1, 1, 1]);
        assert_eq!(blocks(8, [true; 3]), [2, 2, 2]);
        assert_eq!(blocks(12, [true; 3]), [3, 2, 2]);
        assert_eq!(blocks(7, [true; 3]), [7, 1, 1]);
        assert_eq!(blocks(64, [true; 3]), [4, 4, 4]);
        assert_eq!(blocks(6, [true, true, false]), [3, 2, 1]);
        assert_eq!(blocks(16, [true, true, false]), [4, 4, 1]);
        assert_eq!(blocks(5, [true, false, false]), [5, 1, 1]);
    }
}

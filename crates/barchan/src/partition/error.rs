//! What can be wrong with a division of space.

/// Why space cannot be divided so.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PartitionError {
    /// There must be a block for every rank.
    #[error(
        "{} x {} x {} blocks are {product}, and there are {ranks} ranks: blocks must multiply to the number of ranks",
        blocks[0], blocks[1], blocks[2]
    )]
    Blocks {
        /// Blocks along each axis.
        blocks: [u32; 3],
        /// Their product.
        product: u128,
        /// How many ranks there are.
        ranks: usize,
    },
    /// Only Cartesian partitions have blocks.
    #[error("blocks are given, and the partition is \"morton\": leave out one of them")]
    BlocksOfMorton,
    /// The cell has no inside.
    #[error("along {axis} the domain goes from {low} to {high}: both must be finite, and min less than max")]
    Cell {
        /// The axis.
        axis: char,
        /// Where the cell begins.
        low: f64,
        /// Where it ends.
        high: f64,
    },
    /// A cell that repeats has to be given.
    #[error("space repeats itself along {axis}: the domain needs min and max")]
    NoCell {
        /// The axis.
        axis: char,
    },
    /// Numbers cannot tell the borders of blocks apart.
    #[error("along {axis} the domain from {low} to {high} is too narrow for {blocks} blocks")]
    Narrow {
        /// The axis.
        axis: char,
        /// Where the cell begins.
        low: f64,
        /// Where it ends.
        high: f64,
        /// Blocks along the axis.
        blocks: u32,
    },
    /// Neighbours are those within a length.
    #[error("bodies reach {reach} from their centres: a length above 0 is needed")]
    Reach {
        /// The length.
        reach: f64,
    },
}

/// The names of axes in messages.
pub(super) const AXES: [char; 3] = ['x', 'y', 'z'];

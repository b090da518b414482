//! How a file begins (section II): the sizes of addresses and lengths, and the root group.

use crate::allowance::Allowance;
use crate::bytes::Source;
use crate::error::Fault;

/// The first bytes of every HDF5 file.
pub const SIGNATURE: &[u8; 8] = b"\x89HDF\r\n\x1a\n";

/// What a superblock says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Superblock {
    pub(crate) base: u64,
    pub(crate) offset_size: u8,
    pub(crate) length_size: u8,
    /// Address of the header of the root group.
    pub(crate) root: u64,
}

impl Superblock {
    pub(crate) fn read(bytes: &[u8], allowance: &Allowance) -> Result<Self, Fault> {
        let mut source = Source { bytes, base: 0, offset_size: 8, length_size: 8, allowance };
        let start = source.at(0, "a superblock")?;
        let mut cursor = start;
        cursor.signature(SIGNATURE, "an HDF5 file")?;
        let version = cursor.version(&[0, 1, 2, 3], "the version of the superblock")?;
        if version < 2 {
            cursor.skip(4, "versions of other parts")?;
        }
        let sizes = cursor;
        source.offset_size = cursor.u8("the size of addresses")?;
        source.length_size = cursor.u8("the size of lengths")?;
        for (size, what) in [(source.offset_size, "addresses"), (source.length_size, "lengths")] {
            if ![2, 4, 8].contains(&size) {
                return Err(sizes.fault(format!("{what} are of {size} bytes, expected 2, 4 or 8")));
            }
        }
        cursor.source = source;
        // Ranks of trees, which the trees themselves tell, and flags.
        cursor.skip([9, 13, 1, 1][usize::from(version)], "flags")?;
        let base = cursor.address("the base address")?;
        cursor.address_or_none("the address of free space or of the superblock's extension")?;
        let before = cursor;
        let end = cursor.address("the end of the file")?;
        if end > bytes.len() as u64 {
            let what = format!("the file is cut off: it should have {end} bytes, and has {}", bytes.len());
            return Err(before.fault(what));
        }
        if version < 2 {
            cursor.address_or_none("the address of driver information")?;
            cursor.number(source.offset_size.into(), "the name of the root group")?;
        }
        let root = cursor.address("the address of the root group")?;
        if version >= 2 {
            cursor.checksum(&start, "the superblock")?;
        }
        Ok(Self { base, offset_size: source.offset_size, length_size: source.length_size, root })
    }
}

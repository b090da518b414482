//! The seal of a file: what it is, of which version, how long, and a checksum.
//!
//! | bytes | what |
//! |---|---|
//! | 0 to 8 | [`MAGIC`], which no other program writes, and which does not survive a copy as text |
//! | 8 to 12 | the version |
//! | 12 to 16 | the kind of file |
//! | 16 to 24 | bytes behind the seal |
//! | 24 to 32 | their xxh3 |
//! | 32 to 40 | xxh3 of the 32 before |
//!
//! All numbers are little-endian. The seal itself is the same in every version.

use crate::util::pack::{Pack, Unpacker};
use std::io;
use xxhash_rust::xxh3::xxh3_64;

/// The version of what is behind the seal: another one, other bytes.
pub const VERSION: u32 = 8;

const MAGIC: [u8; 8] = *b"\x89BARCH\r\n";

/// Bytes of a seal.
pub const LENGTH: usize = 40;

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    /// It cannot be read.
    #[error("it cannot be read: {0}")]
    Unread(#[from] io::Error),
    /// There is nothing in it.
    #[error("it is empty")]
    Empty,
    /// Something else is in it.
    #[error("it is no file of a checkpoint")]
    Foreign,
    /// It is of another version.
    #[error("it is of version {found}, and this program reads version {VERSION}: go on with the Barchan that wrote it")]
    Version {
        /// Its version.
        found: u32,
    },
    /// It is another file of a checkpoint.
    #[error("it is of kind {found}, where kind {expected} is expected (1 is a part, 2 a head)")]
    Kind {
        /// Its kind.
        found: u32,
        /// What it is to be.
        expected: u32,
    },
    /// Its end is missing, or there is something behind it.
    #[error("it has {found} bytes, where {expected} are expected")]
    Length {
        /// Bytes that are there.
        found: u64,
        /// Bytes that it says it has.
        expected: u64,
    },
    /// Bytes have changed.
    #[error("its checksum is wrong: bytes have changed since it was written")]
    Checksum,
    /// Its checksum is right, but not its contents.
    #[error("{0}")]
    Contents(String),
}

/// Which file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Kind {
    Part = 1,
    Head = 2,
}

/// Room for the seal, behind which the contents are to be appended.
pub(super) fn begin() -> Vec<u8> {
    vec![0; LENGTH]
}

/// Seals what was begun. Returns the checksum of the contents.
pub(super) fn seal(kind: Kind, bytes: &mut [u8]) -> u64 {
    let checksum = xxh3_64(&bytes[LENGTH..]);
    let mut seal = MAGIC.to_vec();
    [VERSION, kind as u32].pack(&mut seal);
    [(bytes.len() - LENGTH) as u64, checksum].pack(&mut seal);
    xxh3_64(&seal).pack(&mut seal);
    bytes[..LENGTH].copy_from_slice(&seal);
    checksum
}

/// The contents of a sealed file, and their checksum.
pub(super) fn open(kind: Kind, bytes: &[u8]) -> Result<(&[u8], u64), Damage> {
    if bytes.is_empty() {
        return Err(Damage::Empty);
    }
    let head = &bytes[..bytes.len().min(MAGIC.len())];
    if head != &MAGIC[..head.len()] {
        return Err(Damage::Foreign);
    }
    let Some((seal, contents)) = bytes.split_at_checked(LENGTH) else {
        return Err(Damage::Length { found: bytes.len() as u64, expected: LENGTH as u64 });
    };
    let mut from = Unpacker::new(&seal[MAGIC.len()..]);
    let numbers = (from.take::<[u32; 2]>(), from.take::<[u64; 3]>());
    let (Some([version, found]), Some([length, checksum, own])) = numbers else { return Err(Damage::Checksum) };
    if xxh3_64(&seal[..LENGTH - 8]) != own {
        return Err(Damage::Checksum);
    }
    if version != VERSION {
        return Err(Damage::Version { found: version });
    }
    if found != kind as u32 {
        return Err(Damage::Kind { found, expected: kind as u32 });
    }
    if contents.len() as u64 != length {
        let expected = length.saturating_add(LENGTH as u64);
        return Err(Damage::Length { found: bytes.len() as u64, expected });
    }
    if xxh3_64(contents) != checksum {
        return Err(Damage::Checksum);
    }
    Ok((contents, checksum))
}

/// Contents that make no sense.
pub(super) fn senseless(what: &str) -> Damage {
    Damage::Contents(format!("its {what} makes no sense"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed(contents: &[u8]) -> Vec<u8> {
        let mut bytes = begin();
        bytes.extend_from_slice(contents);
        seal(Kind::Part, &mut bytes);
        bytes
    }

    fn fault(bytes: &[u8]) -> String {
        open(Kind::Part, bytes).unwrap_err().to_string()
    }

    #[test]
    fn contents_come_back() {
        for contents in [&b""[..], b"x", &[7; 1000]] {
            assert_eq!(open(Kind::Part, &sealed(contents)).unwrap().0, contents);
        }
    }

    #[test]
    fn every_kind_of_damage_is_named() {
        let good = sealed(b"a state of some length");
        assert_eq!(fault(b""), "it is empty");
        assert_eq!(fault(b"step,time\n1,0.1\n"), "it is no file of a checkpoint");
        for length in 1..good.len() {
            let said = fault(&good[..length]);
            assert!(said.starts_with(&format!("it has {length} bytes, where ")), "{said}");
        }
        assert!(fault(&[&good[..], b"more"].concat()).contains("bytes, where 62 are expected"));
        assert!(open(Kind::Head, &good).unwrap_err().to_string().contains("kind 1, where kind 2"));
        for bit in 0..8 * good.len() {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            let expected = if bit < 64 { "it is no file of a checkpoint" } else { "its checksum is wrong" };
            assert!(fault(&bad).starts_with(expected), "bit {bit}: {}", fault(&bad));
        }
    }

    #[test]
    fn another_version_is_refused() {
        for version in [0, VERSION + 1] {
            let mut other = sealed(b"state");
            other[8..12].copy_from_slice(&version.to_le_bytes());
            let own = xxh3_64(&other[..LENGTH - 8]);
            other[LENGTH - 8..LENGTH].copy_from_slice(&own.to_le_bytes());
            assert!(fault(&other).contains(&format!("of version {version}, and this program reads version {VERSION}")));
        }
    }
}

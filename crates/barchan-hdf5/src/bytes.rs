//! The bytes of a file, and a place in them that moves as they are read.
//!
//! Everything goes through here: nothing else turns an address or a length of the file into an
//! index.

use crate::allowance::Allowance;
use crate::error::Fault;

/// The whole file, with what its superblock says about addresses.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) bytes: &'a [u8],
    /// Addresses count from here.
    pub(crate) base: u64,
    /// Bytes of an address.
    pub(crate) offset_size: u8,
    /// Bytes of a length.
    pub(crate) length_size: u8,
    /// What filters may still yield.
    pub(crate) allowance: &'a Allowance,
}

impl<'a> Source<'a> {
    /// From an address to the end of the file.
    pub(crate) fn at(&self, address: u64, what: &str) -> Result<Cursor<'a>, Fault> {
        let start = self.base.checked_add(address);
        let start = start.and_then(|start| usize::try_from(start).ok()).filter(|start| *start <= self.bytes.len());
        match start {
            Some(at) => Ok(Cursor { source: *self, at, end: self.bytes.len() }),
            None => Err(Fault::at(
                self.base.saturating_add(address),
                format!("expected {what} here, but the file has {} bytes", self.bytes.len()),
            )),
        }
    }

    /// A part of the file.
    pub(crate) fn part(&self, address: u64, size: u64, what: &str) -> Result<Cursor<'a>, Fault> {
        let from = self.at(address, what)?;
        let end = usize::try_from(size).ok().and_then(|size| from.at.checked_add(size));
        match end.filter(|end| *end <= from.end) {
            Some(end) => Ok(Cursor { end, ..from }),
            None => Err(from.fault(format!("expected {size} bytes of {what}, but the file has {} bytes", from.end))),
        }
    }
}

/// How many entries of trees a file can have: none takes fewer bytes than this, and in a valid
/// file none is in two trees or twice in one. That ends whatever a few nodes that point at each
/// other would begin.
const SMALLEST_ENTRY: usize = 8;

/// Entries of trees that may still be read.
pub(crate) struct Budget(usize);

impl Budget {
    pub(crate) fn new(source: Source<'_>) -> Self {
        Self(source.bytes.len() / SMALLEST_ENTRY)
    }

    /// Pays for the entries of a node, and for the node.
    pub(crate) fn spend(&mut self, entries: u16, node: &Cursor<'_>) -> Result<(), Fault> {
        let left = self.0.checked_sub(1 + usize::from(entries));
        self.0 = left.ok_or_else(|| node.fault("the tree has more entries than the file can hold"))?;
        Ok(())
    }
}

/// A place in a part of the file.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    pub(crate) source: Source<'a>,
    at: usize,
    end: usize,
}

impl<'a> Cursor<'a> {
    /// The place in the file.
    pub(crate) fn offset(&self) -> u64 {
        self.at as u64
    }

    pub(crate) fn fault(&self, what: impl Into<String>) -> Fault {
        Fault::at(self.offset(), what)
    }

    /// Bytes that are left.
    pub(crate) fn left(&self) -> usize {
        self.end - self.at
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.source.bytes[self.at..self.end]
    }

    pub(crate) fn take(&mut self, count: usize, what: &str) -> Result<&'a [u8], Fault> {
        if count > self.left() {
            return Err(self.fault(format!("expected {count} bytes of {what}, only {} are left here", self.left())));
        }
        let taken = &self.rest()[..count];
        self.at += count;
        Ok(taken)
    }

    pub(crate) fn skip(&mut self, count: usize, what: &str) -> Result<(), Fault> {
        self.take(count, what).map(|_| ())
    }

    /// The next `count` bytes as a part of their own.
    pub(crate) fn split(&mut self, count: usize, what: &str) -> Result<Self, Fault> {
        let at = self.at;
        self.take(count, what)?;
        Ok(Self { source: self.source, at, end: self.at })
    }

    /// A number of up to eight bytes, the lowest first.
    pub(crate) fn number(&mut self, size: usize, what: &str) -> Result<u64, Fault> {
        let bytes = self.take(size, what)?;
        Ok(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    pub(crate) fn u8(&mut self, what: &str) -> Result<u8, Fault> {
        self.number(1, what).map(|number| number as u8)
    }

    pub(crate) fn u16(&mut self, what: &str) -> Result<u16, Fault> {
        self.number(2, what).map(|number| number as u16)
    }

    pub(crate) fn u32(&mut self, what: &str) -> Result<u32, Fault> {
        self.number(4, what).map(|number| number as u32)
    }

    /// An address, unless it is the undefined one: all bits set.
    pub(crate) fn address_or_none(&mut self, what: &str) -> Result<Option<u64>, Fault> {
        let size = self.source.offset_size;
        let address = self.number(size.into(), what)?;
        Ok(Some(address).filter(|address| *address != u64::MAX >> (64 - 8 * u32::from(size))))
    }

    pub(crate) fn address(&mut self, what: &str) -> Result<u64, Fault> {
        let before = *self;
        self.address_or_none(what)?.ok_or_else(|| before.fault(format!("expected {what}, found the undefined address")))
    }

    pub(crate) fn length(&mut self, what: &str) -> Result<u64, Fault> {
        self.number(self.source.length_size.into(), what)
    }

    /// A byte that has one value only, or one of a few.
    pub(crate) fn version(&mut self, known: &[u8], what: &str) -> Result<u8, Fault> {
        let before = *self;
        let found = self.u8(what)?;
        if known.contains(&found) {
            return Ok(found);
        }
        let known: Vec<String> = known.iter().map(u8::to_string).collect();
        Err(before.fault(format!("{what} is {found}, and what can be read is {}", known.join(", "))))
    }

    pub(crate) fn signature(&mut self, signature: &[u8], what: &str) -> Result<(), Fault> {
        if !self.rest().starts_with(signature) {
            let found = &self.rest()[..signature.len().min(self.left())];
            let signature = signature.escape_ascii();
            let found = found.escape_ascii();
            return Err(self.fault(format!("expected \"{signature}\", how {what} begins, found \"{found}\"")));
        }
        self.skip(signature.len(), what)
    }

    /// Checks that the next four bytes are the checksum of everything since `start`.
    pub(crate) fn checksum(&mut self, start: &Self, what: &str) -> Result<(), Fault> {
        let computed = crate::checksum::lookup3(&self.source.bytes[start.at..self.at]);
        let before = *self;
        let stored = self.u32("a checksum")?;
        // Tests of damage in here want to get past this. Those outside see it.
        if stored == computed || cfg!(test) {
            return Ok(());
        }
        Err(before.fault(format!("{what} is damaged: its checksum is {stored:08x}, expected {computed:08x}")))
    }
}

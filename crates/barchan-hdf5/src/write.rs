//! Writes files: groups, attributes, and arrays of numbers that stand in one piece.
//!
//! What is to be in a file is said first, as a [`FilePlan`] with the shape of every array. All
//! descriptions then stand at the beginning of the file, and behind them every array has its place.
//! So the numbers may come in any order and in parts, and no array is ever in memory as a whole.
//!
//! ```
//! use barchan_hdf5::{Number, FilePlan};
//! let mut plan = FilePlan::new();
//! plan.text_attribute("results", "unit", "m")?;
//! let heights = plan.dataset("results/heights", Number::F64, &[2])?;
//! let mut file = plan.begin(std::io::Cursor::new(Vec::new()))?;
//! file.append(heights, &1.5_f64.to_le_bytes())?;
//! file.append(heights, &2.5_f64.to_le_bytes())?;
//! let bytes = file.finish()?.into_inner();
//! assert_eq!(barchan_hdf5::File::new(bytes)?.dataset("results/heights")?.numbers()?, [1.5, 2.5]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::checksum::lookup3;
use crate::header::{DATASPACE, DATATYPE, LAYOUT, LINK, LINK_INFO};
use crate::superblock::SIGNATURE;
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};

/// Kinds of messages that are only written.
const FILL_VALUE: u16 = 0x05;
const ATTRIBUTE: u16 = 0x0c;

/// The address of what is nowhere.
const NOWHERE: u64 = u64::MAX;

/// Bytes of the superblock, with its checksum.
const SUPERBLOCK: u64 = 48;

/// Arrays begin at multiples of this.
const ALIGNMENT: u64 = 8;

/// A type of numbers, always with the low byte first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// Floats of 4 bytes.
    F32,
    /// Floats of 8 bytes.
    F64,
    /// Signed whole numbers of 4 bytes.
    I32,
    /// Signed whole numbers of 8 bytes.
    I64,
}

impl Number {
    /// Bytes.
    pub fn size(self) -> usize {
        match self {
            Self::F32 | Self::I32 => 4,
            Self::F64 | Self::I64 => 8,
        }
    }

    /// Its description (section IV.A.2.d).
    fn datatype(self) -> Vec<u8> {
        const SIGNED: u8 = 0x08;
        const IMPLIED_BIT: u8 = 0x20;
        let bits = 8 * self.size() as u16;
        // Class and version, three bytes of flags, size; then where the bits are.
        let (class, flags, format) = match self {
            Self::I32 | Self::I64 => (0x10, [SIGNED, 0, 0], None),
            Self::F32 => (0x11, [IMPLIED_BIT, 31, 0], Some(([23, 8, 0, 23], 127_u32))),
            Self::F64 => (0x11, [IMPLIED_BIT, 63, 0], Some(([52, 11, 0, 52], 1023))),
        };
        let mut out = vec![class];
        out.extend(flags);
        out.extend((self.size() as u32).to_le_bytes());
        out.extend([0, 0]);
        out.extend(bits.to_le_bytes());
        if let Some((places, bias)) = format {
            out.extend::<[u8; 4]>(places);
            out.extend(bias.to_le_bytes());
        }
        out
    }
}

/// An array of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(usize);

/// What a file is to hold. Groups on the way to an object are made as they are named.
#[derive(Clone, Debug)]
pub struct FilePlan {
    /// The first is the root group.
    objects: Vec<Object>,
    /// The objects that are arrays.
    arrays: Vec<Array>,
}

#[derive(Clone, Debug)]
struct Object {
    /// Names with the numbers of objects; none for arrays.
    links: Vec<(String, usize)>,
    /// Its array, if it is one.
    array: Option<usize>,
    /// Attribute messages.
    attributes: Vec<Vec<u8>>,
}

#[derive(Clone, Debug)]
struct Array {
    number: Number,
    shape: Vec<u64>,
    bytes: u64,
}

impl Default for FilePlan {
    fn default() -> Self {
        Self::new()
    }
}

impl FilePlan {
    /// A file with nothing in it.
    pub fn new() -> Self {
        Self { objects: vec![Object { links: Vec::new(), array: None, attributes: Vec::new() }], arrays: Vec::new() }
    }

    /// An array at a path such as `group/dataset`.
    ///
    /// # Errors
    /// If there is something at the path already, an array on the way to it, or if it is too large.
    pub fn dataset(&mut self, path: &str, number: Number, shape: &[u64]) -> io::Result<Slot> {
        let before = self.objects.len();
        let object = self.object(path)?;
        if object < before {
            return Err(refused(path, "there is an object of this name already"));
        }
        let bytes = shape.iter().try_fold(number.size() as u64, |product, size| product.checked_mul(*size));
        let bytes = bytes.ok_or_else(|| refused(path, "the array is too large"))?;
        self.objects[object].array = Some(self.arrays.len());
        self.arrays.push(Array { number, shape: shape.to_vec(), bytes });
        Ok(Slot(self.arrays.len() - 1))
    }

    /// Gives an object a text.
    ///
    /// # Errors
    /// As [`integer_attribute`](Self::integer_attribute).
    pub fn text_attribute(&mut self, path: &str, name: &str, text: &str) -> io::Result<()> {
        // A string of fixed length, filled up by zeros, in ASCII.
        let mut datatype = vec![0x13, 1, 0, 0];
        datatype.extend((text.len() as u32).to_le_bytes());
        self.attribute(path, name, &datatype, &dataspace(&[]), text.as_bytes())
    }

    /// Gives an object whole numbers: one if the shape is empty, otherwise a row of them.
    ///
    /// # Errors
    /// If the path leads through an array, or if the attribute is longer than 64 KiB.
    pub fn integer_attribute(&mut self, path: &str, name: &str, shape: &[u64], values: &[i64]) -> io::Result<()> {
        let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.attribute(path, name, &Number::I64.datatype(), &dataspace(shape), &data)
    }

    /// An attribute message (section IV.A.2.m).
    fn attribute(&mut self, path: &str, name: &str, datatype: &[u8], space: &[u8], data: &[u8]) -> io::Result<()> {
        let mut message = vec![3, 0];
        for length in [name.len() + 1, datatype.len(), space.len()] {
            message.extend((length as u16).to_le_bytes());
        }
        message.push(0);
        for part in [name.as_bytes(), &[0], datatype, space, data] {
            message.extend_from_slice(part);
        }
        if message.len() > usize::from(u16::MAX) {
            return Err(refused(path, "an attribute is too long"));
        }
        let object = self.object(path)?;
        self.objects[object].attributes.push(message);
        Ok(())
    }

    /// The object at a path, which is a new one unless it is there.
    fn object(&mut self, path: &str) -> io::Result<usize> {
        let mut here = 0;
        for name in path.split('/').filter(|name| !name.is_empty()) {
            if self.objects[here].array.is_some() {
                return Err(refused(path, "an array cannot have parts"));
            }
            if name.len() > 255 {
                return Err(refused(path, "a name is longer than 255 bytes"));
            }
            let known = self.objects[here].links.iter().find(|link| link.0 == name).map(|link| link.1);
            here = known.unwrap_or_else(|| {
                let new = self.objects.len();
                self.objects.push(Object { links: Vec::new(), array: None, attributes: Vec::new() });
                self.objects[here].links.push((name.into(), new));
                new
            });
        }
        Ok(here)
    }

    /// Writes all descriptions. The file begins where the writer stands, which must be its start.
    ///
    /// # Errors
    /// If the writer fails, or a group has too many members for its header.
    pub fn begin<W: Write + Seek>(self, mut out: W) -> io::Result<Writer<W>> {
        // The length of a header does not depend on the addresses in it.
        let nowhere = Addresses::nowhere(&self);
        let mut end = SUPERBLOCK;
        let mut addresses = nowhere.clone();
        for (k, address) in addresses.objects.iter_mut().enumerate() {
            *address = end;
            end += self.header(k, &nowhere)?.len() as u64;
        }
        for (array, address) in self.arrays.iter().zip(&mut addresses.arrays) {
            // What is empty is nowhere.
            if array.bytes > 0 {
                *address = end.next_multiple_of(ALIGNMENT);
                let behind = address.checked_add(array.bytes).filter(|&behind| behind < i64::MAX as u64);
                end = behind.ok_or_else(|| refused("", "the file is too large"))?;
            }
        }
        let mut head = superblock(addresses.objects[0], end);
        for k in 0..self.objects.len() {
            head.extend(self.header(k, &addresses)?);
        }
        out.write_all(&head)?;
        let places = self.arrays.iter().zip(addresses.arrays).map(|(array, start)| (start, array.bytes)).collect();
        Ok(Writer { out, position: head.len() as u64, places })
    }

    /// The header of an object (section IV.A.1.b): its messages.
    fn header(&self, k: usize, addresses: &Addresses) -> io::Result<Vec<u8>> {
        let object = &self.objects[k];
        let mut messages = Vec::new();
        let mut message = |kind: u16, body: &[u8]| {
            messages.push(kind as u8);
            messages.extend((body.len() as u16).to_le_bytes());
            messages.push(0);
            messages.extend_from_slice(body);
        };
        if let Some(index) = object.array {
            let array = &self.arrays[index];
            let address = addresses.arrays[index];
            message(DATASPACE, &dataspace(&array.shape));
            message(DATATYPE, &array.number.datatype());
            // Room is taken when it is needed, and filled only if there is something to fill it with.
            message(FILL_VALUE, &[3, 0x0a]);
            let mut layout = vec![3, 1];
            layout.extend(address.to_le_bytes());
            layout.extend(array.bytes.to_le_bytes());
            message(LAYOUT, &layout);
        } else {
            let mut info = vec![0, 0];
            info.extend([NOWHERE; 2].into_iter().flat_map(u64::to_le_bytes));
            message(LINK_INFO, &info);
            for (name, child) in &object.links {
                let mut link = vec![1, 0, name.len() as u8];
                link.extend_from_slice(name.as_bytes());
                link.extend(addresses.objects[*child].to_le_bytes());
                message(LINK, &link);
            }
        }
        object.attributes.iter().for_each(|body| message(ATTRIBUTE, body));
        // Sizes of four bytes, no times.
        let mut out = b"OHDR\x02\x02".to_vec();
        let size = u32::try_from(messages.len()).map_err(|_| refused("", "a group has too many members"))?;
        out.extend(size.to_le_bytes());
        out.extend(messages);
        out.extend(lookup3(&out).to_le_bytes());
        Ok(out)
    }
}

/// Where everything is.
#[derive(Clone)]
struct Addresses {
    objects: Vec<u64>,
    arrays: Vec<u64>,
}

impl Addresses {
    fn nowhere(plan: &FilePlan) -> Self {
        Self { objects: vec![NOWHERE; plan.objects.len()], arrays: vec![NOWHERE; plan.arrays.len()] }
    }
}

/// How a file begins (section II.B), in version 2.
fn superblock(root: u64, end: u64) -> Vec<u8> {
    let mut out = SIGNATURE.to_vec();
    // The version, bytes of addresses and of lengths, flags.
    out.extend([2, 8, 8, 0]);
    for address in [0, NOWHERE, end, root] {
        out.extend(address.to_le_bytes());
    }
    out.extend(lookup3(&out).to_le_bytes());
    out
}

/// A shape (section IV.A.2.b). Without dimensions it is one number.
fn dataspace(shape: &[u64]) -> Vec<u8> {
    let mut out = vec![2, shape.len() as u8, 0, u8::from(!shape.is_empty())];
    out.extend(shape.iter().flat_map(|size| size.to_le_bytes()));
    out
}

fn refused(path: &str, what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, if path.is_empty() { what.into() } else { format!("{path}: {what}") })
}

/// A file whose arrays are being filled.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    position: u64,
    /// Of each array, where it goes on and how many bytes are missing.
    places: Vec<(u64, u64)>,
}

impl<W: Write + Seek> Writer<W> {
    /// Appends bytes to an array: the next of its numbers, the low byte of each first.
    ///
    /// # Errors
    /// If the writer fails, or if the array has less room.
    pub fn append(&mut self, slot: Slot, bytes: &[u8]) -> io::Result<()> {
        let (place, missing) = &mut self.places[slot.0];
        let length = bytes.len() as u64;
        let Some(left) = missing.checked_sub(length) else {
            return Err(refused("", &format!("{length} bytes for an array that has room for {missing}")));
        };
        if bytes.is_empty() {
            return Ok(());
        }
        if self.position != *place {
            self.out.seek(SeekFrom::Start(*place))?;
        }
        self.out.write_all(bytes)?;
        (*place, *missing) = (*place + length, left);
        self.position = *place;
        Ok(())
    }

    /// Gives the writer back, if the file is complete.
    ///
    /// # Errors
    /// If the writer fails, or if an array is not full.
    pub fn finish(mut self) -> io::Result<W> {
        let missing: u64 = self.places.iter().map(|place| place.1).sum();
        if missing > 0 {
            return Err(refused("", &format!("the file is not complete: {missing} bytes of its arrays are missing")));
        }
        self.out.flush()?;
        Ok(self.out)
    }
}

#[cfg(test)]
mod tests;

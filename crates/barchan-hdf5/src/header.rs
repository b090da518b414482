//! Object headers (section IV.A): an object is a list of messages that describe it.

use crate::bytes::{Cursor, Source};
use crate::error::Fault;

/// Kinds of messages that are read.
pub(crate) const DATASPACE: u16 = 0x01;
pub(crate) const LINK_INFO: u16 = 0x02;
pub(crate) const DATATYPE: u16 = 0x03;
pub(crate) const LINK: u16 = 0x06;
pub(crate) const EXTERNAL: u16 = 0x07;
pub(crate) const LAYOUT: u16 = 0x08;
pub(crate) const FILTERS: u16 = 0x0b;
pub(crate) const CONTINUATION: u16 = 0x10;
pub(crate) const SYMBOL_TABLE: u16 = 0x11;

/// A message whose content stands elsewhere.
const SHARED: u8 = 0x02;

/// A message of an object.
pub(crate) struct Message<'a> {
    pub(crate) kind: u16,
    flags: u8,
    body: Cursor<'a>,
}

/// All messages of an object.
pub(crate) struct Header<'a> {
    messages: Vec<Message<'a>>,
    start: Cursor<'a>,
}

impl<'a> Header<'a> {
    /// Reads the header at an address, in either of its versions.
    pub(crate) fn read(source: Source<'a>, address: u64) -> Result<Self, Fault> {
        let start = source.at(address, "an object header")?;
        let mut messages = Vec::new();
        if start.rest().starts_with(b"OHDR") {
            read_2(start, &mut messages)?
        } else {
            read_1(start, &mut messages)?
        }
        Ok(Self { messages, start })
    }

    /// The messages of a kind.
    pub(crate) fn all(&self, kind: u16) -> impl Iterator<Item = &Message<'a>> {
        self.messages.iter().filter(move |message| message.kind == kind)
    }

    /// The content of the first message of a kind.
    pub(crate) fn find(&self, kind: u16) -> Result<Option<Cursor<'a>>, Fault> {
        self.all(kind).next().map(Message::body).transpose()
    }

    /// A fault of the object as a whole.
    pub(crate) fn fault(&self, what: impl Into<String>) -> Fault {
        self.start.fault(what)
    }
}

impl<'a> Message<'a> {
    /// The content.
    pub(crate) fn body(&self) -> Result<Cursor<'a>, Fault> {
        if self.flags & SHARED != 0 {
            let what = "a message that is shared with other objects (a named type, mostly), which cannot be read";
            return Err(self.body.fault(what));
        }
        Ok(self.body)
    }
}

/// Continuations that are still to be read. Blocks cannot overlap in a valid file, so all of them
/// together are no longer than the file: that bounds what a circle of them can do.
struct Continuations {
    blocks: Vec<(u64, u64)>,
    budget: u64,
}

impl Continuations {
    fn new(source: &Source<'_>) -> Self {
        Self { blocks: Vec::new(), budget: source.bytes.len() as u64 }
    }

    fn push(&mut self, message: &Message<'_>) -> Result<(), Fault> {
        let mut cursor = message.body()?;
        let address = cursor.address("the address of a continuation")?;
        let size = cursor.length("the length of a continuation")?;
        // A block of no bytes has no messages, and must not be free.
        match self.budget.checked_sub(size.max(1)) {
            Some(left) => self.budget = left,
            None => return Err(message.body.fault("the header goes on for longer than the file")),
        }
        self.blocks.push((address, size));
        Ok(())
    }
}

fn read_1<'a>(mut cursor: Cursor<'a>, messages: &mut Vec<Message<'a>>) -> Result<(), Fault> {
    let start = cursor;
    let found = cursor.u8("an object header")?;
    if found != 1 {
        return Err(
            start.fault(format!("expected an object header, found a byte {found} where its version 1 should be"))
        );
    }
    cursor.skip(1, "an object header")?;
    let count = cursor.u16("the number of messages")?;
    cursor.skip(4, "the reference count")?;
    let size = cursor.u32("the size of the header")?;
    cursor.skip(4, "padding")?;
    let mut block = cursor.split(size as usize, "messages")?;
    let mut more = Continuations::new(&start.source);
    let mut read = 0;
    loop {
        while read < count && block.left() >= 8 {
            let kind = block.u16("the type of a message")?;
            let size = block.u16("the size of a message")?;
            let flags = block.u8("the flags of a message")?;
            block.skip(3, "a message")?;
            let message = Message { kind, flags, body: block.split(size.into(), "a message")? };
            read += 1;
            if kind == CONTINUATION {
                more.push(&message)?;
            }
            messages.push(message);
        }
        let Some((address, size)) = more.blocks.pop() else { break };
        block = start.source.part(address, size, "a continuation of an object header")?;
    }
    if read < count {
        return Err(start.fault(format!("the header should have {count} messages, and has {read}")));
    }
    Ok(())
}

fn read_2<'a>(mut cursor: Cursor<'a>, messages: &mut Vec<Message<'a>>) -> Result<(), Fault> {
    const TIMES: u8 = 0x20;
    const PHASES: u8 = 0x10;
    const ORDERED: u8 = 0x04;
    let mut start = cursor;
    cursor.signature(b"OHDR", "an object header")?;
    cursor.version(&[2], "the version of an object header")?;
    let flags = cursor.u8("flags")?;
    let skipped = if flags & TIMES != 0 { 16 } else { 0 } + if flags & PHASES != 0 { 4 } else { 0 };
    cursor.skip(skipped, "an object header")?;
    let size = cursor.number(1 << (flags & 3), "the size of the header")?;
    let size = usize::try_from(size).map_err(|_| cursor.fault("the header is too long"))?;
    let mut block = cursor.split(size, "messages")?;
    let mut more = Continuations::new(&start.source);
    let head = if flags & ORDERED != 0 { 6 } else { 4 };
    loop {
        cursor.checksum(&start, "the object header")?;
        // Fewer bytes than a message has are a gap.
        while block.left() >= head {
            let kind = u16::from(block.u8("the type of a message")?);
            let size = block.u16("the size of a message")?;
            let flags = block.u8("the flags of a message")?;
            block.skip(head - 4, "the place of a message")?;
            let message = Message { kind, flags, body: block.split(size.into(), "a message")? };
            if kind == CONTINUATION {
                more.push(&message)?;
            }
            messages.push(message);
        }
        let Some((address, size)) = more.blocks.pop() else { return Ok(()) };
        cursor = start.source.part(address, size, "a continuation of an object header")?;
        start = cursor;
        cursor.signature(b"OCHK", "a continuation of an object header")?;
        let Some(size) = cursor.left().checked_sub(4) else {
            return Err(start.fault("a continuation is too short for its checksum"));
        };
        block = cursor.split(size, "messages")?;
    }
}

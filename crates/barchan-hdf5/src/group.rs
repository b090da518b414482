//! Names in groups. Older files keep them as a table of symbols, in a tree over a heap of names
//! (sections III.A, III.B, III.D); newer ones as messages of the group's header (IV.A.2.g),
//! or if there are many, in a heap (`dense`).

use crate::bytes::{Budget, Cursor, Source};
use crate::dense;
use crate::error::Fault;
use crate::header::{Header, LINK, LINK_INFO, SYMBOL_TABLE};

/// What a name of a group stands for.
pub(crate) enum Found {
    /// An object, by the address of its header.
    Object(u64),
    /// A path, in this file or another: what it is called.
    Elsewhere(&'static str),
    /// The group does not have the name.
    Nothing,
}

/// Looks a name up in a group.
pub(crate) fn find(source: Source<'_>, group: &Header<'_>, name: &str) -> Result<Found, Fault> {
    if let Some(message) = group.find(SYMBOL_TABLE)? {
        return Symbols::read(source, message)?.find(name.as_bytes());
    }
    let info = group.find(LINK_INFO)?;
    if info.is_none() && group.all(LINK).next().is_none() {
        return Err(group.fault(format!("expected a group that may have {name:?}, found an object that is none")));
    }
    for message in group.all(LINK) {
        let found = read_link(message.body()?, name.as_bytes())?;
        if !matches!(found, Found::Nothing) {
            return Ok(found);
        }
    }
    match info.map_or(Ok(None), read_info)? {
        Some((heap, tree)) => dense::find(source, heap, tree, name.as_bytes()),
        None => Ok(Found::Nothing),
    }
}

/// Groups of many links keep them elsewhere: the addresses of a heap and of a tree.
fn read_info(mut info: Cursor<'_>) -> Result<Option<(u64, u64)>, Fault> {
    info.version(&[0], "the version of a link info message")?;
    let flags = info.u8("flags")?;
    info.skip(if flags & 1 != 0 { 8 } else { 0 }, "the largest creation order")?;
    let heap = info.address_or_none("the address of a fractal heap")?;
    let tree = info.address_or_none("the address of a tree of links")?;
    Ok(heap.zip(tree))
}

/// A link message: what it stands for, if it has the name.
pub(crate) fn read_link(mut cursor: Cursor<'_>, name: &[u8]) -> Result<Found, Fault> {
    cursor.version(&[1], "the version of a link message")?;
    let flags = cursor.u8("flags")?;
    let kind = if flags & 0x08 != 0 { cursor.u8("the type of a link")? } else { 0 };
    let skipped = if flags & 0x04 != 0 { 8 } else { 0 } + if flags & 0x10 != 0 { 1 } else { 0 };
    cursor.skip(skipped, "a link message")?;
    let length = cursor.number(1 << (flags & 3), "the length of a name")?;
    let length = usize::try_from(length).map_err(|_| cursor.fault("a name is too long"))?;
    if cursor.take(length, "the name of a link")? != name {
        return Ok(Found::Nothing);
    }
    match kind {
        0 => cursor.address("the address of an object").map(Found::Object),
        1 => Ok(Found::Elsewhere("a soft link")),
        _ => Ok(Found::Elsewhere("a link to another file")),
    }
}

/// A table of symbols.
struct Symbols<'a> {
    source: Source<'a>,
    /// Address of the tree.
    tree: u64,
    /// The names, each ended by a byte 0.
    names: Cursor<'a>,
}

impl<'a> Symbols<'a> {
    fn read(source: Source<'a>, mut message: Cursor<'a>) -> Result<Self, Fault> {
        let tree = message.address("the address of the tree of a group")?;
        let heap = message.address("the address of the heap of a group")?;
        let mut heap = source.at(heap, "a local heap")?;
        heap.signature(b"HEAP", "a local heap")?;
        heap.version(&[0], "the version of a local heap")?;
        heap.skip(3, "a local heap")?;
        let size = heap.length("the size of a local heap")?;
        heap.length("the first free part of a local heap")?;
        let names = source.part(heap.address("the address of names")?, size, "names in a local heap")?;
        Ok(Self { source, tree, names })
    }

    fn find(&self, name: &[u8]) -> Result<Found, Fault> {
        let mut budget = Budget::new(self.source);
        let mut nodes = vec![(self.tree, None)];
        while let Some((address, level)) = nodes.pop() {
            if level == Some(0) {
                let found = self.find_in_node(address, name, &mut budget)?;
                if !matches!(found, Found::Nothing) {
                    return Ok(found);
                }
                continue;
            }
            let mut cursor = self.source.at(address, "a tree of a group")?;
            cursor.signature(b"TREE", "a tree")?;
            cursor.version(&[0], "the type of the tree of a group")?;
            let before = cursor;
            let own = u32::from(cursor.u8("the level of a node")?);
            if level.is_some_and(|level| level != own + 1) {
                return Err(before.fault(format!("a node of a tree is of level {own}, which does not fit its parent")));
            }
            let count = cursor.u16("the number of children")?;
            budget.spend(count, &before)?;
            cursor.address_or_none("a sibling")?;
            cursor.address_or_none("a sibling")?;
            for _ in 0..count {
                cursor.length("a key of a tree")?;
                nodes.push((cursor.address("the address of a child")?, Some(own)));
            }
        }
        Ok(Found::Nothing)
    }

    /// Looks for a name in a leaf.
    fn find_in_node(&self, address: u64, name: &[u8], budget: &mut Budget) -> Result<Found, Fault> {
        let mut cursor = self.source.at(address, "a node of symbols")?;
        cursor.signature(b"SNOD", "a node of symbols")?;
        cursor.version(&[1], "the version of a node of symbols")?;
        cursor.skip(1, "a node of symbols")?;
        let count = cursor.u16("the number of symbols")?;
        budget.spend(count, &cursor)?;
        for _ in 0..count {
            let entry = cursor;
            let place = cursor.number(self.source.offset_size.into(), "the place of a name")?;
            let object = cursor.address_or_none("the address of an object")?;
            let kind = cursor.u32("the type of a symbol")?;
            cursor.skip(20, "a symbol")?;
            let text = usize::try_from(place).ok().and_then(|place| self.names.rest().get(place..));
            let Some(text) = text else {
                let what = format!("the name of a symbol is at {place} of a heap of {} bytes", self.names.left());
                return Err(entry.fault(what));
            };
            if text.strip_prefix(name).is_some_and(|rest| rest.first() == Some(&0)) {
                return match (kind, object) {
                    (2, _) => Ok(Found::Elsewhere("a soft link")),
                    (_, Some(object)) => Ok(Found::Object(object)),
                    (_, None) => Err(entry.fault("a symbol has no object")),
                };
            }
        }
        Ok(Found::Nothing)
    }
}

//! Contacts of a frame: a line each, from the centre of the first body to that of the second, or to
//! where it touches a wall.

use super::format::{Kind, VtkColumn, VtkNumber, put_f32, put_i32, put_ids};
use super::parse::Piece;
use crate::frame::{Frame, FrameContacts};
use crate::scene::Compression;
use std::io::{self, Seek, Write};

/// Contacts are only looked at: seven digits are enough for all of it.
pub(super) const CONTACTS: Kind<FrameContacts> = Kind {
    cells: "Lines",
    corners: 2,
    len: FrameContacts::len,
    points: VtkColumn {
        name: "end",
        number: VtkNumber::F32,
        components: 3,
        put: |out, c, range| put_f32(out, c.ends[range].iter().flatten().flat_map(|x| x.to_array())),
    },
    extra: &[],
    data: &[
        VtkColumn {
            name: "force",
            number: VtkNumber::F32,
            components: 3,
            put: |out, c, range| put_f32(out, c.force[range].iter().flat_map(|f| f.to_array())),
        },
        VtkColumn {
            name: "normal_impulse",
            number: VtkNumber::F32,
            components: 1,
            put: |out, c, range| put_f32(out, c.normal_impulse[range].iter().copied()),
        },
        VtkColumn {
            name: "normal",
            number: VtkNumber::F32,
            components: 3,
            put: |out, c, range| put_f32(out, c.normal[range].iter().flat_map(|n| n.to_array())),
        },
        VtkColumn {
            name: "id_a",
            number: VtkNumber::I64,
            components: 1,
            put: |out, c, range| put_ids(out, c.ids[range].iter().map(|ids| ids[0])),
        },
        VtkColumn {
            name: "id_b",
            number: VtkNumber::I64,
            components: 1,
            put: |out, c, range| put_ids(out, c.ids[range].iter().map(|ids| ids[1])),
        },
        VtkColumn {
            name: "rank",
            number: VtkNumber::I32,
            components: 1,
            put: |out, c, range| put_i32(out, c.rank[range].iter().map(|&k| k as i32)),
        },
    ],
};

/// Writes the contacts of a frame as a `.vtp` file to any writer.
pub fn write_contacts(out: &mut (impl Write + Seek), frame: &Frame, compression: Compression) -> io::Result<()> {
    CONTACTS.write(out, &frame.contacts, frame.into(), compression)
}

/// Appends the contacts of a piece.
pub(super) fn read(piece: &Piece<'_>, contacts: &mut FrameContacts) -> Result<(), String> {
    contacts.ends.extend(piece.vectors("end")?.chunks_exact(2).map(|ends| [ends[0], ends[1]]));
    contacts.force.extend(piece.vectors("force")?);
    contacts.normal.extend(piece.vectors("normal")?);
    contacts.normal_impulse.extend(piece.numbers("normal_impulse")?);
    let [first, second] = [piece.integers("id_a")?, piece.integers("id_b")?];
    contacts.ids.extend(first.into_iter().zip(second).map(|(a, b)| [a as u64, b as u64]));
    contacts.rank.extend(piece.integers("rank")?.into_iter().map(|rank| rank as u32));
    Ok(())
}

//! Frames for ParaView: VTK XML PolyData with `.pvd` indexes, written and read.
//!
//! A frame is up to three files: bodies as vertices, contacts as lines, walls as polygons. What a file
//! holds is declared once, as a [`format::Kind`]: the writer and the reader follow it. What bodies that
//! are not spheres look like stands in files of its own, once for all frames ([`shapes`]).
//!
//! Several ranks write a frame together: each a `.vtp` of its own bodies and contacts, and rank 0 the
//! `.pvtp` that names these pieces, once all of them are there. Walls are on every rank, and rank 0
//! writes them.
//!
//! All frames of a run may also become one VTKHDF file ([`hdf`]).

mod blocks;
mod bodies;
mod contacts;
mod format;
mod hdf;
mod parse;
mod reader;
mod shapes;
mod walls;
mod writer;

pub use bodies::{frame_bytes, write_bodies};
pub use contacts::write_contacts;
pub use hdf::{ExportError, write_vtkhdf};
pub use reader::{FrameError, StoredFrames, examine_frame};
pub use writer::{FrameOptions, FrameWriter};

pub(super) use shapes::{SHAPES, is_shape_file};
pub(crate) use writer::indexed_times;
pub(super) use writer::{INDEXES, SCRIPT, is_frame_file};

//! Very many rigid bodies in hard frictional contact.

pub mod broad;
pub mod output;
pub mod problem;
pub mod shape;
pub mod solver;
pub mod util;
pub mod world;

pub use glam::{DQuat, DVec3};

//! Very many rigid bodies in hard frictional contact.

pub mod broad;
pub mod integrate;
pub mod narrow;
pub mod problem;
pub mod scenario;
pub mod scene;
pub mod shape;
pub mod solver;
pub mod step;
pub mod util;
pub mod world;

pub use glam::{DQuat, DVec3};

//! The real command in temporary directories, as a user would call it.

mod commands;
mod compare;
mod export;
mod longer;
mod meshes;
mod ranks;
mod refusals;
mod render;
mod report;
mod restart;
mod results;
#[cfg(target_os = "linux")]
mod small_disk;
mod solve;
mod stopped;
mod support;
mod trouble;
mod view;

//! The real command in temporary directories, as a user would call it.

mod commands;
mod compare;
mod export;
mod longer;
mod ranks;
mod refusals;
mod render;
mod report;
mod restart;
mod results;
mod solve;
mod stopped;
mod support;
mod trouble;
mod view;

//! The real command in temporary directories, as a user would call it.

mod commands;
mod compare;
mod ranks;
mod refusals;
mod results;
mod solve;
mod support;
mod trouble;
mod view;

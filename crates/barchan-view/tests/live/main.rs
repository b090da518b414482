//! The live view over real connections: what the server answers and refuses, and what viewers see and do.

mod client;
mod refusals;
mod steering;
mod stored;
mod viewers;

//! Looks at runs of Barchan: a page that shows a run, and a live view.

pub mod live;
pub mod page;
pub mod report;
pub mod server;
pub mod wire;

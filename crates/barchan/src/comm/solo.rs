//! One rank alone.

use super::{Communicator, Reduction, Traffic};

/// The only rank of its world.
#[derive(Clone, Copy, Debug, Default)]
pub struct Solo;

impl Communicator for Solo {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn stage(&mut self, _: &'static str) {}

    fn exchange(&mut self, neighbours: &[u32], _: &[Vec<u8>], _: &mut [Vec<u8>]) {
        assert!(neighbours.is_empty(), "a rank alone has no neighbours");
    }

    fn all_reduce(&mut self, _: Reduction, _: &mut [f64]) {}

    fn gather(&mut self, bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
        Some(vec![bytes.to_vec()])
    }

    fn broadcast(&mut self, _: &mut Vec<u8>) {}

    fn barrier(&mut self) {}

    fn abort(&self, message: &str) -> ! {
        eprintln!("{message}");
        std::process::exit(1)
    }

    fn traffic(&self) -> Traffic {
        Traffic::default()
    }
}

//! Bodies that leave the box of the scene: the end of a step looks for them.
//!
//! Dynamic bodies count, by their centres. Fixed and kinematic ones are where the scene has put them. While nobody
//! leaves, ranks need no message of their own to know.

use super::{Lost, Simulation, StepError};
use crate::partition::{Outside, OutsideRule};
use crate::util::pack::{Pack, Unpacker};
use crate::world::{Bodies, Motion};
use barchan_parallel::{CHUNK, fold_chunks};
use std::ops::Range;

/// Whether body `i` is this rank's own and has left.
fn has_left(bodies: &Bodies, outside: &Outside, i: usize) -> bool {
    bodies.motion[i] == Motion::Dynamic && bodies.is_owned_and_bounded(i) && !outside.holds(bodies.position[i])
}

impl Simulation {
    /// Those of this rank's own bodies that have left.
    fn left(&self) -> impl Iterator<Item = usize> + '_ {
        let (bodies, outside) = (&self.world.bodies, &self.options.outside);
        (0..bodies.len()).filter(|&i| has_left(bodies, outside, i))
    }

    /// How many of them there are.
    fn count_left(&mut self) -> usize {
        let (bodies, outside) = (&self.world.bodies, &self.options.outside);
        let part = |range: Range<usize>| [range.filter(|&i| has_left(bodies, outside, i)).count() as f64, 0.0];
        let add = |a: [f64; 2], b: [f64; 2]| [a[0] + b[0], 0.0];
        fold_chunks(bodies.len(), CHUNK, &mut self.sums, [0.0; 2], part, add)[0] as usize
    }

    /// Looks for bodies that have left, and says how many of this rank's own are to be removed. Needs a state
    /// that is finite.
    pub(super) fn look_outside(&mut self) -> Result<usize, StepError> {
        let rule = self.options.outside.rule;
        let count = if rule == OutsideRule::Keep { 0 } else { self.count_left() };
        if rule != OutsideRule::Stop || count == 0 {
            return Ok(count);
        }
        let bodies = &self.world.bodies;
        let first = self.left().min_by_key(|&i| bodies.id[i]);
        first.map_or(Ok(0), |i| {
            Err(StepError::Outside { step: self.steps, body: bodies.id[i], position: bodies.position[i] })
        })
    }

    /// Removes all bodies that have left, and says what was lost. All ranks call this, if one of them has such
    /// a body.
    pub(super) fn remove_left(&mut self) -> Lost {
        self.announce("bodies that have left");
        let bodies = &self.world.bodies;
        let mut own = Vec::new();
        for i in self.left() {
            bodies.id[i].pack(&mut own);
            (1.0 / bodies.inverse_mass[i]).pack(&mut own);
        }
        let comm = self.comm();
        let mut all = comm.gather(&own).unwrap_or_default().concat();
        comm.broadcast(&mut all);
        let mut from = Unpacker::new(&all);
        let entry = |_| Some((from.take::<u64>()?, from.take::<f64>()?));
        let mut left: Vec<(u64, f64)> = (0..all.len() / 16).map_while(entry).collect();
        // One sum, however many ranks there are.
        left.sort_unstable_by_key(|entry| entry.0);
        let ids: Vec<u64> = left.iter().map(|entry| entry.0).collect();
        self.drop_bodies(&ids);
        Lost { bodies: ids.len() as u64, mass: left.iter().map(|entry| entry.1).sum() }
    }
}

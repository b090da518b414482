//! One picture of the spheres of many ranks.
//!
//! Nobody holds all of them. Each rank draws its own and finds those that it can see; a sphere that
//! its own rank cannot see, nobody can. Only these go to rank 0, which draws them together. They are
//! as many as a surface has, and never more than a picture has samples.

use super::spheres::{Ball, Hits, front_to_back};
use crate::comm::Communicator;
use crate::util::pack::{Pack, Unpacker};
use glam::Vec3;

/// Brings the spheres of all ranks that can be seen to rank 0, from front to back; `None` elsewhere.
pub(super) fn gather(comm: &mut dyn Communicator, balls: &[Ball], hits: &Hits) -> Option<Vec<Ball>> {
    let mut message = Vec::new();
    for ball in seen(balls, hits) {
        let [x, y, z] = ball.centre.to_array();
        [x, y, z, ball.radius, ball.value].map(f32::to_bits).pack(&mut message);
    }
    let messages = comm.gather(&message)?;
    let mut all = Vec::new();
    for (rank, message) in messages.iter().enumerate() {
        if read(message, &mut all).is_none() {
            comm.abort(&format!("the picture of rank {rank} makes no sense"));
        }
    }
    Some(front_to_back(&all))
}

fn read(message: &[u8], balls: &mut Vec<Ball>) -> Option<()> {
    let mut from = Unpacker::new(message);
    while !from.is_empty() {
        let [x, y, z, radius, value] = from.take::<[u32; 5]>()?.map(f32::from_bits);
        balls.push(Ball { centre: Vec3::new(x, y, z), radius, value });
    }
    Some(())
}

/// The spheres that some sample meets.
fn seen<'a>(balls: &'a [Ball], hits: &Hits) -> impl Iterator<Item = &'a Ball> {
    let mut is_seen = vec![false; balls.len()];
    for (depth, &ball) in hits.depth.iter().zip(&hits.ball) {
        if depth.is_finite() {
            is_seen[ball as usize] = true;
        }
    }
    balls.iter().zip(is_seen).filter(|(_, seen)| *seen).map(|(ball, _)| ball)
}

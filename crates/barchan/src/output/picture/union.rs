//! One picture of the bodies of many ranks.
//!
//! Nobody holds all of them. Each rank draws its own and finds those that it can see; a body that its own rank cannot
//! see, nobody can. Only these go to rank 0, with the forms of those that are not spheres, which draws them together.
//! They are as many as a surface has, and never more than a picture has samples.

use super::solids::{Form, Solid, Solids};
use super::spheres::{Ball, Hits, SOLID, front_to_back};
use crate::comm::Communicator;
use crate::frame::Shaded;
use crate::util::pack::{Pack, Unpacker};
use glam::{Mat3, Vec3};
use std::collections::HashMap;

/// Brings the bodies of all ranks that can be seen to rank 0, from front to back; `None` elsewhere.
pub(super) fn gather(
    comm: &mut dyn Communicator,
    balls: &[Ball],
    solids: &Solids,
    hits: &Hits,
) -> Option<(Vec<Ball>, Solids)> {
    let message = write(balls, solids, hits);
    let messages = comm.gather(&message)?;
    let mut all = All::default();
    for (rank, message) in messages.iter().enumerate() {
        if all.read(message).is_none() {
            comm.abort(&format!("the picture of rank {rank} makes no sense"));
        }
    }
    Some((front_to_back(&all.balls), Solids::of_forms(all.forms, &all.solids)))
}

fn write(balls: &[Ball], solids: &Solids, hits: &Hits) -> Vec<u8> {
    let seen_balls = seen(balls, hits, 0);
    let seen_solids = seen(&solids.list, hits, SOLID);
    let mut out = Vec::new();
    (seen_balls.len() as u32).pack(&mut out);
    seen_balls.iter().for_each(|ball| pack_ball(ball, &mut out));
    let mut used: Vec<u32> = seen_solids.iter().map(|solid| solid.form).collect();
    used.sort_unstable();
    used.dedup();
    (used.len() as u32).pack(&mut out);
    used.iter().for_each(|&form| pack_form(&solids.forms[form as usize], &mut out));
    (seen_solids.len() as u32).pack(&mut out);
    for solid in seen_solids {
        (used.binary_search(&solid.form).unwrap_or(0) as u32).pack(&mut out);
        pack_ball(&solid.ball, &mut out);
        solid.turn.to_cols_array().map(f32::to_bits).pack(&mut out);
        solid.scale.to_array().map(f32::to_bits).pack(&mut out);
    }
    out
}

/// What has been read from all ranks.
#[derive(Default)]
struct All {
    balls: Vec<Ball>,
    forms: Vec<Form>,
    solids: Vec<Solid>,
    places: HashMap<u64, u32>,
}

impl All {
    fn read(&mut self, message: &[u8]) -> Option<()> {
        let mut from = Unpacker::new(message);
        for _ in 0..from.take::<u32>()? {
            self.balls.push(unpack_ball(&mut from)?);
        }
        let mut places = Vec::new();
        for _ in 0..from.take::<u32>()? {
            let form = unpack_form(&mut from)?;
            let next = self.forms.len() as u32;
            let place = *self.places.entry(form.id).or_insert(next);
            if place == next {
                self.forms.push(form);
            }
            places.push(place);
        }
        for _ in 0..from.take::<u32>()? {
            let form = *places.get(from.take::<u32>()? as usize)?;
            let ball = unpack_ball(&mut from)?;
            let turn = Mat3::from_cols_array(&from.take::<[u32; 9]>()?.map(f32::from_bits));
            let scale = Vec3::from_array(from.take::<[u32; 3]>()?.map(f32::from_bits));
            self.solids.push(Solid { form, ball, turn, scale });
        }
        from.is_empty().then_some(())
    }
}

/// Those of a list that some sample meets; samples name them with a mark.
fn seen<'a, T>(list: &'a [T], hits: &Hits, mark: u32) -> Vec<&'a T> {
    let mut is_seen = vec![false; list.len()];
    for (depth, &k) in hits.depth.iter().zip(&hits.ball) {
        if depth.is_finite() && k & SOLID == mark {
            is_seen[(k ^ mark) as usize] = true;
        }
    }
    list.iter().zip(is_seen).filter(|(_, seen)| *seen).map(|(body, _)| body).collect()
}

fn pack_ball(ball: &Ball, out: &mut Vec<u8>) {
    let [x, y, z] = ball.centre.to_array();
    [x, y, z, ball.radius, ball.value].map(f32::to_bits).pack(out);
}

fn unpack_ball(from: &mut Unpacker<'_>) -> Option<Ball> {
    let [x, y, z, radius, value] = from.take::<[u32; 5]>()?.map(f32::from_bits);
    Some(Ball { centre: Vec3::new(x, y, z), radius, value })
}

fn pack_form(Form { id, is_closed, shaded }: &Form, out: &mut Vec<u8>) {
    id.pack(out);
    is_closed.pack(out);
    (shaded.vertices.len() as u32).pack(out);
    for x in shaded.vertices.iter().chain(&shaded.normals) {
        x.to_array().map(f32::to_bits).pack(out);
    }
    (shaded.triangles.len() as u32).pack(out);
    shaded.triangles.iter().for_each(|corners| corners.pack(out));
}

fn unpack_form(from: &mut Unpacker<'_>) -> Option<Form> {
    let id = from.take()?;
    let is_closed = from.take()?;
    let count = from.take::<u32>()?;
    let mut vectors = || {
        let vector = |_| Some(Vec3::from_array(from.take::<[u32; 3]>()?.map(f32::from_bits)));
        (0..count).map(vector).collect::<Option<Vec<_>>>()
    };
    let vertices = vectors()?;
    let normals = vectors()?;
    let count_triangles = from.take::<u32>()?;
    let triangle = |_| from.take::<[u32; 3]>().filter(|corners| corners.iter().all(|k| *k < count));
    let triangles = (0..count_triangles).map(triangle).collect::<Option<Vec<_>>>()?;
    Some(Form { id, is_closed, shaded: Shaded { vertices, normals, triangles } })
}

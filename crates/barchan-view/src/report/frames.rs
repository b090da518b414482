//! Frames for the player: as many as fit into a page.

use super::base64;
use crate::page::PackedFrame;
use crate::wire;
use barchan::DVec3;
use barchan::frame::{Frame, Looks};
use miniz_oxide::deflate::compress_to_vec_zlib;
use std::collections::BTreeMap;

/// Most bodies of a frame on a page.
const BODIES: usize = 1_000_000;
/// Most contacts of a frame on a page: the strongest show where the forces go.
const CONTACTS: usize = 100_000;
/// How hard the deflater tries: more gains little and costs much.
const EFFORT: u8 = 6;

/// The frames of a page.
#[derive(Debug, Default)]
pub(super) struct Packed {
    /// In order of time.
    pub(super) frames: Vec<PackedFrame>,
    /// How many there were to choose from.
    pub(super) total: usize,
    /// A box about all bodies of all frames here.
    pub(super) bounds: Option<[DVec3; 2]>,
    /// What bodies look like, packed as frames are; nothing if all are spheres.
    pub(super) looks: String,
}

/// Packs frames until `budget` bytes are used, about: evenly chosen, the first and the last always. `read`
/// gives none where a frame cannot be read.
pub(super) fn pack(total: usize, budget: usize, mut read: impl FnMut(usize) -> Option<Frame>) -> Packed {
    let mut packed = Packed { total, ..Packed::default() };
    if total == 0 {
        return packed;
    }
    let mut known = BTreeMap::new();
    let mut looks = Looks::default();
    let mut take = |index: usize, known: &mut BTreeMap<usize, PackedFrame>| {
        if known.contains_key(&index) {
            return;
        }
        if let Some(frame) = read(index) {
            packed.bounds = union(packed.bounds, frame.bounds());
            known.insert(index, pack_frame(frame, &mut looks));
        }
    };
    // The sizes of three tell how many there is room for.
    [0, total / 2, total - 1].into_iter().for_each(|index| take(index, &mut known));
    let largest = known.values().map(|frame| frame.text.len()).max().unwrap_or(1);
    let chosen = chosen(total, budget / largest);
    chosen.iter().for_each(|&index| take(index, &mut known));
    packed.frames = chosen.iter().filter_map(|index| known.remove(index)).collect();
    if !looks.list().is_empty() {
        let mut bytes = Vec::new();
        wire::encode_looks(looks.list(), &mut bytes);
        packed.looks = base64::encode(&compress_to_vec_zlib(&bytes, EFFORT));
    }
    packed
}

/// `room` of `total` indices, evenly, with the first and the last.
fn chosen(total: usize, room: usize) -> Vec<usize> {
    let count = room.clamp(2, total.max(2));
    let mut indices: Vec<usize> = (0..count).map(|k| k * (total - 1) / (count - 1)).collect();
    indices.dedup();
    indices
}

fn pack_frame(mut frame: Frame, looks: &mut Looks) -> PackedFrame {
    sort_by_id(&mut frame);
    let mut bytes = Vec::new();
    wire::encode_with(&frame, [BODIES, CONTACTS], looks, &mut bytes);
    PackedFrame { step: frame.step, time: frame.time, text: base64::encode(&compress_to_vec_zlib(&bytes, EFFORT)) }
}

/// Ids that count up take no room.
fn sort_by_id(frame: &mut Frame) {
    let ids = &frame.bodies.id;
    let mut order: Vec<u32> = (0..ids.len() as u32).collect();
    order.sort_unstable_by_key(|&i| ids[i as usize]);
    fn apply<T: Clone>(column: &mut Vec<T>, order: &[u32]) {
        *column = order.iter().map(|&i| column[i as usize].clone()).collect();
    }
    let bodies = &mut frame.bodies;
    apply(&mut bodies.position, &order);
    apply(&mut bodies.orientation, &order);
    apply(&mut bodies.velocity, &order);
    apply(&mut bodies.angular_velocity, &order);
    apply(&mut bodies.shape, &order);
    apply(&mut bodies.id, &order);
    apply(&mut bodies.material, &order);
    apply(&mut bodies.group, &order);
    apply(&mut bodies.motion, &order);
    apply(&mut bodies.rank, &order);
}

fn union(a: Option<[DVec3; 2]>, b: Option<[DVec3; 2]>) -> Option<[DVec3; 2]> {
    match (a, b) {
        (Some(a), Some(b)) => Some([a[0].min(b[0]), a[1].max(b[1])]),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan::DQuat;
    use barchan::shape::Shape;
    use barchan::world::Motion;

    fn frame(step: u64, bodies: usize) -> Frame {
        let mut frame = Frame { step, time: step as f64 * 0.1, ..Frame::default() };
        for k in (0..bodies).rev() {
            // Places that no deflater can guess.
            let random = |seed: u64| ((k as u64 + 7 * step + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64;
            frame.bodies.position.push(DVec3::new(random(1), random(2), random(3)) / 1e6);
            frame.bodies.orientation.push(DQuat::IDENTITY);
            frame.bodies.velocity.push(DVec3::ZERO);
            frame.bodies.angular_velocity.push(DVec3::ZERO);
            frame.bodies.shape.push(Shape::sphere(0.1));
            frame.bodies.id.push(k as u64);
            frame.bodies.material.push(0);
            frame.bodies.group.push(0);
            frame.bodies.motion.push(Motion::Dynamic);
            frame.bodies.rank.push(0);
        }
        frame
    }

    fn pack_all(total: usize, budget: usize) -> Packed {
        pack(total, budget, |index| Some(frame(index as u64, 500)))
    }

    #[test]
    fn all_frames_if_they_fit_and_an_even_choice_if_not() {
        let all = pack_all(20, 1 << 30);
        let steps = |packed: &Packed| packed.frames.iter().map(|frame| frame.step).collect::<Vec<_>>();
        assert_eq!(steps(&all), (0..20).collect::<Vec<_>>());
        let size: usize = all.frames.iter().map(|frame| frame.text.len()).sum();
        let half = pack_all(20, size / 2);
        let shown = steps(&half);
        assert!((8..=11).contains(&shown.len()), "{shown:?}");
        assert_eq!((shown[0], shown[shown.len() - 1], half.total), (0, 19, 20));
        assert!(shown.windows(2).all(|pair| (1..=3).contains(&(pair[1] - pair[0]))), "{shown:?}");
        assert_eq!(steps(&pack_all(20, 0)), [0, 19]);
        assert_eq!(steps(&pack_all(1, 0)), [0]);
        assert!(pack_all(0, 10).frames.is_empty());
    }

    #[test]
    fn bodies_are_in_the_order_of_their_ids() {
        let mut frame = frame(3, 9);
        let high = frame.bodies.position[0];
        sort_by_id(&mut frame);
        assert_eq!(frame.bodies.id, (0..9).collect::<Vec<_>>());
        assert_eq!(frame.bodies.position[8], high);
    }
}

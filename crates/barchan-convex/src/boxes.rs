//! Two boxes, by separating axes.
//!
//! The difference of two boxes is a polyhedron whose faces have the normals of the faces of either box, or are across one
//! edge of each: fifteen axes. Boxes that overlap part the soonest along the one of them along which they overlap the
//! least (Gottschalk, Lin and Manocha 1996). Boxes that are apart are at least as far apart as they are along any axis, and
//! not farther if two of their points are: where no two are, corners or edges that are not across face each other, which
//! is left to the general algorithm.

use crate::{Closest, Placed};
use glam::{DMat3, DVec3};

/// An axis is taken over those before it if boxes overlap by this much less along it, in their size: faces of A come
/// before those of B, and edges last, so that boxes which lie flush on each other do not change their axis.
const TIE: f64 = 1e-7;
/// Edges whose angle has a smaller square of the sine are parallel.
const PARALLEL: f64 = 1e-14;
/// How far points may be aside of the faces or edges that hold them, in sizes.
const ASIDE: f64 = 1e-9;
/// Times a point of a parallel edge or face is moved to where the face may have it.
const SLIDES: usize = 8;

/// What the axes say of two boxes.
pub(crate) enum Axes {
    /// They are farther apart than the reach.
    Far,
    /// Where they are nearest to each other.
    Nearest(Closest),
    /// They are apart, and along another direction than any of the axes.
    Other,
}

/// The axis along which the cores are apart the most.
enum Axis {
    FaceOfA(usize),
    FaceOfB(usize),
    Edges(usize, usize),
}

/// Where two boxes, with half their edges, are nearest to each other.
pub(crate) fn boxes(a: &Placed<'_>, b: &Placed<'_>, [p, q]: [DVec3; 2], reach: f64) -> Axes {
    let back = a.rotation.transpose();
    let pair = Pair { half: [p, q], turn: back * b.rotation, offset: back * (b.position - a.position) };
    let rounding = a.rounding + b.rounding;
    let size = p.max_element().max(q.max_element());
    let Some((distance, axis)) = pair.best_axis(reach + rounding, TIE * size) else { return Axes::Far };
    let Some((outward, on_a)) = pair.points(&axis, distance, ASIDE * size) else { return Axes::Other };
    let normal = a.rotation * -outward;
    let gap = distance - rounding;
    let on_a = a.position + a.rotation * on_a - normal * a.rounding;
    Axes::Nearest(Closest { gap, normal, on_a, on_b: on_a - normal * gap })
}

/// Two boxes in the frame of the first.
struct Pair {
    half: [DVec3; 2],
    /// The axes of B, and where it is.
    turn: DMat3,
    offset: DVec3,
}

impl Pair {
    /// The axis along which they are apart the most, or overlap the least; `None` if they are farther apart than `reach`.
    fn best_axis(&self, reach: f64, tie: f64) -> Option<(f64, Axis)> {
        let [p, q] = self.half;
        let absolute = DMat3::from_cols(self.turn.x_axis.abs(), self.turn.y_axis.abs(), self.turn.z_axis.abs());
        let faces_of_a = self.offset.abs() - p - absolute * q;
        let along_b = self.turn.transpose() * self.offset;
        let faces_of_b = along_b.abs() - q - absolute.transpose() * p;
        let [i, j] = [faces_of_a.max_position(), faces_of_b.max_position()];
        let mut best = (faces_of_a[i], Axis::FaceOfA(i));
        if faces_of_b[j] > best.0 + tie {
            best = (faces_of_b[j], Axis::FaceOfB(j));
        }
        if best.0 > reach {
            return None;
        }
        // Across an edge of each: e_i × b_j, whose length is the sine of the angle between the two.
        let mut most = best.0 + tie;
        for j in 0..3 {
            let b = self.turn.col(j);
            let b_abs = absolute.col(j);
            let [j1, j2] = [(j + 1) % 3, (j + 2) % 3];
            let [c1, c2] = [absolute.col(j1), absolute.col(j2)];
            for i in 0..3 {
                let [i1, i2] = [(i + 1) % 3, (i + 2) % 3];
                let sine_squared = b[i1] * b[i1] + b[i2] * b[i2];
                let apart = (self.offset[i2] * b[i1] - self.offset[i1] * b[i2]).abs();
                let extent = p[i1] * b_abs[i2] + p[i2] * b_abs[i1] + q[j1] * c2[i] + q[j2] * c1[i];
                let sine = sine_squared.sqrt();
                if apart - extent > most * sine && sine_squared > PARALLEL {
                    most = (apart - extent) / sine;
                    best = (most, Axis::Edges(i, j));
                }
            }
        }
        (best.0 <= reach).then_some(best)
    }

    /// The unit normal from A towards B, and the point of A. None if they are apart, and no two points are as near as the
    /// axis says.
    fn points(&self, axis: &Axis, distance: f64, aside: f64) -> Option<(DVec3, DVec3)> {
        let [p, q] = self.half;
        let is_apart = distance > 0.0;
        match *axis {
            Axis::FaceOfA(i) => {
                let (outward, lowest, shift) = over_face([p, q], &self.turn, self.offset, i, aside);
                let on_a = lowest.clamp(-p, p).with_element(i, p[i].copysign(self.offset[i]));
                (!is_apart || shift <= aside).then_some((outward, on_a))
            }
            Axis::FaceOfB(j) => {
                // The same as seen from B.
                let back = self.turn.transpose();
                let (outward, highest, shift) = over_face([q, p], &back, back * -self.offset, j, aside);
                let on_a = self.offset + self.turn * highest;
                (!is_apart || shift <= aside).then_some((self.turn * -outward, on_a))
            }
            Axis::Edges(i, j) => {
                let b = self.turn.col(j);
                let across = DVec3::AXES[i].cross(b).normalize();
                let outward = across * 1f64.copysign(across.dot(self.offset));
                // The middles of the two edges, and where along them they pass each other.
                let from = p.copysign(outward).with_element(i, 0.0);
                let to = self.offset + self.turn * q.copysign(-(self.turn.transpose() * outward)).with_element(j, 0.0);
                let between = to - from;
                let cosine = b[i];
                let sine_squared = 1.0 - cosine * cosine;
                let s = (between[i] - between.dot(b) * cosine) / sine_squared;
                let t = (between[i] * cosine - between.dot(b)) / sine_squared;
                if is_apart && (s.abs() > p[i] + aside || t.abs() > q[j] + aside) {
                    return None;
                }
                Some((outward, from.with_element(i, s.clamp(-p[i], p[i]))))
            }
        }
    }
}

/// The face of a box that looks along an axis of its own, towards another box: its normal, the point of the other box that
/// is nearest to its plane, and how far aside of the face that is. Of an edge or a face that is parallel to the plane, it
/// is a point over the face if there is one.
fn over_face([p, q]: [DVec3; 2], turn: &DMat3, offset: DVec3, i: usize, aside: f64) -> (DVec3, DVec3, f64) {
    let outward = DVec3::AXES[i] * 1f64.copysign(offset[i]);
    let towards = turn.transpose() * outward;
    let corner = q.copysign(-towards);
    let is_parallel = towards.abs() * q;
    let mut local = corner;
    for _ in 0..SLIDES {
        let lowest = offset + *turn * local;
        let on_face = lowest.clamp(-p, p).with_element(i, lowest[i]);
        let shift = (lowest - on_face).abs().max_element();
        if shift <= aside {
            break;
        }
        // As near to that as the edge or the face of the other goes.
        let wanted = (turn.transpose() * (on_face - offset)).clamp(-q, q);
        let slid = DVec3::from_array([0, 1, 2].map(|k| if is_parallel[k] <= aside { wanted[k] } else { corner[k] }));
        if slid == local {
            break;
        }
        local = slid;
    }
    let lowest = offset + *turn * local;
    let shift = (lowest - lowest.clamp(-p, p)).with_element(i, 0.0).abs().max_element();
    (outward, lowest, shift)
}

/// A vector with one element replaced.
trait WithElement {
    fn with_element(self, k: usize, value: f64) -> Self;
}

impl WithElement for DVec3 {
    #[inline]
    fn with_element(mut self, k: usize, value: f64) -> Self {
        self[k] = value;
        self
    }
}

//! Moments of the solid that several shapes make together, where overlaps count once.
//!
//! Space is cut into cells, the longest edge in two each time. The signed distance d of a cell's middle from the nearest
//! surface (negative within) tells whether a cell lies wholly within or without; of the smallest cells that the surface
//! crosses, a part counts that is linear in d. Errors are of second order in the size of the smallest cells.

use super::{Part, Solid};
use barchan_convex::{Core, Placed, gap};
use barchan_mesh::Moments;
use glam::{DMat3, DVec3};

/// Half the edge of the smallest cells, in sizes of the smallest part, and in reaches of the whole.
const FINE: f64 = 0.012;
const COARSE: f64 = 0.002;

/// The moments; `None` if a part has none.
pub(super) fn moments(parts: &[Part]) -> Option<Moments> {
    if let [part] = parts {
        return Some(part.shape.moments()?.moved(part.orientation, part.position));
    }
    let placed = parts.iter().map(|part| match part.shape.solid()? {
        Solid::One(convex) => Some(convex.placed(part.position, &part.rotation)),
        Solid::Parts(_) | Solid::Triangles(_) => None,
    });
    let placed = placed.collect::<Option<Vec<_>>>()?;
    // Parts that keep apart need no cells.
    let overlap =
        |(k, a): (usize, &Placed<'_>)| placed[..k].iter().any(|b| gap(a, b, 0.0).is_some_and(|gap| gap < 0.0));
    if !placed.iter().enumerate().any(overlap) {
        let own = |part: &Part| Some(part.shape.moments()?.moved(part.orientation, part.position));
        return parts.iter().map(own).sum();
    }
    let [low, high] = super::composite::union_of_boxes(parts, 1.0, &DMat3::IDENTITY);
    let size = parts.iter().map(|part| part.shape.size()).fold(f64::INFINITY, f64::min);
    let half = 0.5 * (high - low);
    let smallest = (FINE * size).max(COARSE * half.max_element());
    let sums = Sums { volume: 0.0, first: DVec3::ZERO, second: DMat3::ZERO };
    let mut union = Union { placed, near: Vec::new(), sums, middle: 0.5 * (low + high), smallest };
    union.near.extend(0..parts.len());
    union.visit(union.middle, half, 0);
    // Numbers beyond what can be squared leave nothing.
    Some(union.sums.moments(union.middle)).filter(|moments| moments.volume > 0.0 && moments.volume.is_finite())
}

struct Union<'a> {
    placed: Vec<Placed<'a>>,
    /// Parts that a cell may meet, behind those of the cells around it.
    near: Vec<usize>,
    sums: Sums,
    middle: DVec3,
    /// Half the longest edge of the smallest cells.
    smallest: f64,
}

/// ∫dV, ∫x dV and ∫x xᵀ dV, from the middle of all.
struct Sums {
    volume: f64,
    first: DVec3,
    second: DMat3,
}

impl Union<'_> {
    /// Adds a box about `centre` that meets no parts but those of `near` from `first` on.
    fn visit(&mut self, centre: DVec3, half: DVec3, first: usize) {
        let reach = half.length();
        let own = self.near.len();
        let mut distance = f64::INFINITY;
        for k in first..own {
            let from = self.distance(self.near[k], centre);
            if from < reach {
                self.near.push(self.near[k]);
                distance = distance.min(from);
            }
        }
        if self.near.len() > own {
            self.add_or_cut(centre, half, distance, own);
        }
        self.near.truncate(own);
    }

    /// Adds a box whose middle is so far from the nearest surface, or cuts it in two.
    fn add_or_cut(&mut self, centre: DVec3, half: DVec3, distance: f64, first: usize) {
        let reach = half.length();
        let longest = half.max_position();
        if distance <= -reach || half[longest] <= self.smallest {
            // A plane at that distance cuts off about so much of a cube.
            let width = 2.0 * half[longest];
            let part = if distance <= -reach { 1.0 } else { (0.5 - distance / width).clamp(0.0, 1.0) };
            return self.sums.add(centre - self.middle, half, part);
        }
        let mut cut = half;
        cut[longest] *= 0.5;
        let shift = DVec3::AXES[longest] * cut[longest];
        self.visit(centre - shift, cut, first);
        self.visit(centre + shift, cut, first);
    }

    /// From the surface of a part; negative within it.
    fn distance(&self, part: usize, point: DVec3) -> f64 {
        let point = Placed { core: Core::Point, rounding: 0.0, position: point, rotation: DMat3::IDENTITY };
        gap(&point, &self.placed[part], f64::INFINITY).unwrap_or(f64::INFINITY)
    }
}

impl Sums {
    fn add(&mut self, x: DVec3, half: DVec3, part: f64) {
        let volume = 8.0 * half.x * half.y * half.z * part;
        self.volume += volume;
        self.first += x * volume;
        let own = DMat3::from_diagonal(half * half / 3.0);
        self.second += (DMat3::from_cols(x * x.x, x * x.y, x * x.z) + own) * volume;
    }

    fn moments(&self, middle: DVec3) -> Moments {
        let mean = self.first / self.volume;
        let about_mean = DMat3::from_cols(mean * mean.x, mean * mean.y, mean * mean.z) * self.volume;
        Moments { volume: self.volume, centre: middle + mean, second: self.second - about_mean }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{Form, Shape};
    use glam::DQuat;
    use std::f64::consts::PI;

    #[test]
    fn two_balls_that_overlap_are_a_lens_short() {
        let ball = || Part::new(Shape::sphere(1.0));
        let pair = [ball().at(DVec3::X * 0.5, DQuat::IDENTITY), ball().at(DVec3::X * -0.5, DQuat::IDENTITY)];
        let found = moments(&pair).expect("balls have moments");
        // Caps of height 1/2 on either side: πh²(3 − h)/3 each.
        let exact = 8.0 / 3.0 * PI - 2.0 * PI * 0.25 * 2.5 / 3.0;
        assert!((found.volume / exact - 1.0).abs() < 2e-4, "{} and {exact}", found.volume);
        assert!(found.centre.length() < 1e-9);
        // One and the same twice is one.
        let once = moments(&[ball(), ball()]).expect("moments");
        let exact = super::super::Sphere { radius: 1.0 }.moments().expect("moments");
        assert!((once.volume / exact.volume - 1.0).abs() < 2e-4);
        assert!((once.second.x_axis.x / exact.second.x_axis.x - 1.0).abs() < 1e-3);
    }
}

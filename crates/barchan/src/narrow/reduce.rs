//! Of many contact points of one pair, those that carry load.
//!
//! A face that lies on a finely cut surface meets it in hundreds of points, one triangle after the other. Points whose
//! normals are nearly the same belong together; of these the deepest is kept, and up to three others that are well
//! spread. The room is fixed: where more points come than it holds, those that are there are thinned first.

use super::ContactPoint;
use arrayvec::ArrayVec;
use glam::DVec3;

/// Points at a time.
const ROOM: usize = 64;
/// Points of one direction that are kept.
const SPREAD: usize = 4;
/// Normals with a larger cosine are nearly the same.
const SAME: f64 = 0.985;
/// Points that are nearer to each other than this, in sizes of the smaller body, are one.
const APART: f64 = 1e-3;

/// What tells contacts of one name apart, for the second, third and so on.
const NAMESAKE: u32 = 0x85eb_ca6b;

/// Points of one pair, gathered from triangle to triangle.
pub(super) struct Gathered {
    points: ArrayVec<ContactPoint, ROOM>,
    /// Points that are nearer to each other are one.
    apart: f64,
}

impl Gathered {
    /// None yet; `size` is that of the smaller body.
    pub(super) fn new(size: f64) -> Self {
        Self { points: ArrayVec::new(), apart: APART * size }
    }

    /// Whether the two overlap at one of its points.
    pub(super) fn has_overlap(&self) -> bool {
        self.points.iter().any(|point| point.gap <= 0.0)
    }

    /// Takes in a point.
    pub(super) fn push(&mut self, point: ContactPoint) {
        if self.points.is_full() {
            self.thin();
        }
        // More directions than there is room for: the shallowest point gives way.
        if self.points.is_full() {
            let shallowest = (0..ROOM).max_by(|&i, &j| self.points[i].gap.total_cmp(&self.points[j].gap));
            if let Some(k) = shallowest.filter(|&k| self.points[k].gap > point.gap) {
                self.points[k] = point;
            }
            return;
        }
        self.points.push(point);
    }

    /// Hands out what carries load, each under a name of its own.
    pub(super) fn finish(mut self, found: &mut dyn FnMut(ContactPoint)) {
        self.thin();
        for point in &self.points {
            let mut named = *point;
            named.key.on_b ^= NAMESAKE.wrapping_mul(self.namesakes_before(point));
            found(named);
        }
    }

    /// How many points of the same name come before a point, in the order of their normals: that of two walls of a
    /// groove stays what it is while a ball moves between them.
    fn namesakes_before(&self, point: &ContactPoint) -> u32 {
        let order = |p: &ContactPoint| (p.normal.to_array(), p.point.to_array());
        let others = self.points.iter().filter(|other| other.key == point.key);
        others.filter(|other| order(other) < order(point)).count() as u32
    }

    /// Keeps the deepest and the well-spread points of each direction.
    fn thin(&mut self) {
        if self.points.len() < 2 {
            return;
        }
        let mut kept = ArrayVec::new();
        let mut left = &mut self.points[..];
        while !left.is_empty() {
            // The deepest of all that are left leads its direction.
            let lead = (0..left.len()).fold(0, |best, k| if left[k].gap < left[best].gap { k } else { best });
            left.swap(0, lead);
            let normal = left[0].normal;
            let mut same = 0;
            for k in 0..left.len() {
                if left[k].normal.dot(normal) > SAME {
                    left.swap(same, k);
                    same += 1;
                }
            }
            let (group, others) = left.split_at_mut(same);
            spread(group, self.apart, &mut kept);
            left = others;
        }
        self.points = kept;
    }
}

/// Appends the first of these points, and up to three others that are farthest from it and from the lines between those
/// that are kept already.
fn spread(points: &[ContactPoint], apart: f64, kept: &mut ArrayVec<ContactPoint, ROOM>) {
    let first = points[0];
    let base = kept.len();
    kept.push(first);
    let from = |p: &ContactPoint| (p.point - first.point).reject_from_normalized(first.normal);
    let farthest = |value: &dyn Fn(DVec3) -> f64| {
        points.iter().fold((apart, None), |best: (f64, Option<&ContactPoint>), p| {
            let v = value(from(p));
            if v > best.0 { (v, Some(p)) } else { best }
        })
    };
    let Some(second) = farthest(&|p| p.length()).1 else { return };
    kept.push(*second);
    let line = from(second).normalize();
    let side = first.normal.cross(line);
    for third in [farthest(&|p| p.dot(side)).1, farthest(&|p| -p.dot(side)).1].into_iter().flatten() {
        kept.push(*third);
    }
    debug_assert!(kept.len() - base <= SPREAD);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::narrow::FeatureKey;

    #[test]
    fn a_thousand_points_become_four_corners_and_each_direction_keeps_its_own() {
        let mut gathered = Gathered::new(1.0);
        let point = |x: f64, y: f64, normal: DVec3| ContactPoint {
            point: DVec3::new(x, y, 0.0),
            normal,
            gap: -1e-3,
            key: FeatureKey::ONLY,
        };
        for i in 0..32 {
            for j in 0..32 {
                gathered.push(point(f64::from(i), f64::from(j), DVec3::Z));
            }
        }
        gathered.push(ContactPoint { gap: 0.1, ..point(3.0, 3.0, DVec3::X) });
        let mut seen = Vec::new();
        gathered.finish(&mut |p| seen.push(p));
        let flat: Vec<_> = seen.iter().filter(|p| p.normal == DVec3::Z).collect();
        assert_eq!((flat.len(), seen.len()), (4, 5), "{seen:?}");
        let far = flat.iter().map(|p| p.point.x + p.point.y).fold(0.0, f64::max);
        assert!(far >= 62.0 - 1e-12, "{seen:?}");
    }
    #[test]
    fn contacts_of_one_name_get_names_of_their_own_in_any_order() {
        let wall = |normal: DVec3, gap: f64| ContactPoint { point: DVec3::ZERO, normal, gap, key: FeatureKey::ONLY };
        let [left, right] = [DVec3::new(0.6, 0.0, 0.8), DVec3::new(-0.6, 0.0, 0.8)];
        let named = |points: [ContactPoint; 2]| {
            let mut gathered = Gathered::new(1.0);
            points.into_iter().for_each(|point| gathered.push(point));
            let mut seen = Vec::new();
            gathered.finish(&mut |p| seen.push(p));
            seen.sort_by(|p, q| p.normal.x.total_cmp(&q.normal.x));
            [seen[0].key, seen[1].key]
        };
        let one_way = named([wall(left, -1e-3), wall(right, -2e-3)]);
        assert_ne!(one_way[0], one_way[1]);
        assert_eq!(named([wall(right, -1e-3), wall(left, -2e-3)]), one_way);
    }
}

//! Of many contact points of one pair, those that carry load.
//!
//! A face that lies on a finely cut surface meets it in hundreds of points, one triangle after the other. Points whose
//! normals are nearly the same belong together; of these the deepest is kept, and up to three others that are well
//! spread. The room is fixed: where more points come than it holds, those that are there are thinned first.

use super::ContactPoint;
use glam::DVec3;

/// Points at a time.
const ROOM: usize = 64;
/// Points of one direction that are kept.
const SPREAD: usize = 4;
/// Normals with a larger cosine are nearly the same.
const SAME: f64 = 0.985;
/// Points that are nearer to each other than this, in sizes of the smaller body, are one.
const APART: f64 = 1e-3;

/// Points of one pair, gathered from triangle to triangle.
pub(super) struct Gathered {
    points: [ContactPoint; ROOM],
    len: usize,
    /// Points that are nearer to each other are one.
    apart: f64,
}

impl Gathered {
    /// None yet; `size` is that of the smaller body.
    pub(super) fn new(size: f64) -> Self {
        Self { points: [ContactPoint::NONE; ROOM], len: 0, apart: APART * size }
    }

    /// Whether the two overlap at one of its points.
    pub(super) fn has_overlap(&self) -> bool {
        self.points[..self.len].iter().any(|point| point.gap <= 0.0)
    }

    /// Takes in a point.
    pub(super) fn push(&mut self, point: ContactPoint) {
        if self.len == ROOM {
            self.thin();
        }
        // More directions than there is room for: the shallowest point gives way.
        if self.len == ROOM {
            let shallowest = (0..ROOM).max_by(|&i, &j| self.points[i].gap.total_cmp(&self.points[j].gap));
            if let Some(k) = shallowest.filter(|&k| self.points[k].gap > point.gap) {
                self.points[k] = point;
            }
            return;
        }
        self.points[self.len] = point;
        self.len += 1;
    }

    /// Hands out what carries load.
    pub(super) fn finish(mut self, found: &mut dyn FnMut(ContactPoint)) {
        self.thin();
        self.points[..self.len].iter().for_each(|&point| found(point));
    }

    /// Keeps the deepest and the well-spread points of each direction.
    fn thin(&mut self) {
        let mut kept = [ContactPoint::NONE; ROOM];
        let mut count = 0;
        let mut left = self.len;
        while left > 0 {
            // The deepest of all that are left leads its direction.
            let points = &mut self.points[..left];
            let lead = (0..left).fold(0, |best, k| if points[k].gap < points[best].gap { k } else { best });
            let normal = points[lead].normal;
            let mut same = 0;
            points.swap(0, lead);
            for k in 0..left {
                if points[k].normal.dot(normal) > SAME {
                    points.swap(same, k);
                    same += 1;
                }
            }
            count = spread(&points[..same], self.apart, &mut kept, count);
            points.rotate_left(same);
            left -= same;
        }
        self.points[..count].copy_from_slice(&kept[..count]);
        self.len = count;
    }
}

/// Appends the first of these points, and up to three others that are farthest from it and from the lines between those
/// that are kept already. Returns how many there are then.
fn spread(points: &[ContactPoint], apart: f64, kept: &mut [ContactPoint; ROOM], mut count: usize) -> usize {
    let first = points[0];
    let base = count;
    kept[count] = first;
    count += 1;
    let from = |p: &ContactPoint| (p.point - first.point).reject_from_normalized(first.normal);
    let farthest = |value: &dyn Fn(DVec3) -> f64| {
        points.iter().fold((apart, None), |best: (f64, Option<&ContactPoint>), p| {
            let v = value(from(p));
            if v > best.0 { (v, Some(p)) } else { best }
        })
    };
    let Some(second) = farthest(&|p| p.length()).1 else { return count };
    kept[count] = *second;
    count += 1;
    let line = from(second).normalize();
    let side = first.normal.cross(line);
    for third in [farthest(&|p| p.dot(side)).1, farthest(&|p| -p.dot(side)).1].into_iter().flatten() {
        kept[count] = *third;
        count += 1;
    }
    debug_assert!(count - base <= SPREAD);
    count
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
}

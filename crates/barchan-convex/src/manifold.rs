//! Where two shapes touch: up to four points that are well spread, the deepest always.

use arrayvec::ArrayVec;
use glam::{DVec2, DVec3};

/// Corners count as within a face up to this far outside of it, and points as one, in sizes of the faces. It keeps the
/// points of shapes that lie flush from changing their names with every rounding error.
pub(crate) const FLUSH: f64 = 1e-4;
/// The deepest point is one of the corners if none is deeper by this much, in sizes of the smaller shape.
pub(crate) const DEEPER: f64 = 1e-6;
/// Edges cross in one point if the sine of their angle is larger. The normal at an end is taken across the edges as if they
/// were parallel, which is off by about the square of it.
pub(crate) const CROSSING: f64 = 0.25;
/// Numbers of features that are not corners: the whole of a face, and the deepest point.
pub(crate) const FACE: u32 = 1 << 30;
pub(crate) const DEEPEST: u32 = FACE + 1;

/// A point where two shapes A and B touch, or may soon.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Touch {
    /// In the middle between the surfaces.
    pub point: DVec3,
    /// Unit normal, from B towards A.
    pub normal: DVec3,
    /// The distance of the surfaces along the normal; negative where they overlap.
    pub gap: f64,
    /// Which features of A and of B touch: the same after a small motion, and swapped if A and B are.
    pub key: [u32; 2],
}

impl Touch {
    /// That of the two shapes in the other order.
    #[inline]
    pub(crate) fn swapped(self) -> Self {
        Self { normal: -self.normal, key: [self.key[1], self.key[0]], ..self }
    }
}

/// Up to four points.
#[derive(Clone, Debug, Default)]
pub struct Manifold {
    touches: ArrayVec<Touch, 4>,
}

impl Manifold {
    /// The points, the deepest first.
    #[inline]
    pub fn touches(&self) -> &[Touch] {
        &self.touches
    }

    /// Forgets all points.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.touches.clear();
    }

    #[inline]
    pub(crate) fn push(&mut self, touch: Touch) {
        self.touches.push(touch);
    }

    /// Gives the first point the gap of the deepest one, for which it stands.
    #[inline]
    pub(crate) fn deepen(&mut self, gap: f64) {
        self.touches[0].gap = self.touches[0].gap.min(gap);
    }

    /// Makes it that of the two shapes in the other order.
    pub(crate) fn swap(&mut self) {
        for touch in &mut self.touches {
            *touch = touch.swapped();
        }
    }
}

/// A place where two shapes may touch, seen along the normal.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spot {
    /// Where it is across the normal.
    pub(crate) flat: DVec2,
    /// How high its middle is along the normal, and how far the surfaces are apart there.
    pub(crate) height: f64,
    pub(crate) gap: f64,
    pub(crate) key: [u32; 2],
}

/// Chooses the deepest spot and up to three others that are well spread, farther than `apart` from each other, as indices.
/// The deepest may be none of them: it is the first then, as `None`.
pub(crate) fn spread(spots: &[Spot], deepest: &Spot, apart: f64, size: f64) -> impl Iterator<Item = Option<usize>> {
    let mut lowest: Option<usize> = None;
    for (k, spot) in spots.iter().enumerate() {
        if lowest.is_none_or(|best| spot.gap < spots[best].gap) {
            lowest = Some(k);
        }
    }
    // A contact that was found is never dropped.
    let first = lowest.filter(|&k| spots[k].gap <= deepest.gap + DEEPER * size);
    let from = first.map_or(deepest.flat, |k| spots[k].flat);
    let mut chosen = [Some(first), None, None, None];
    // The farthest from it.
    let mut best = apart * apart;
    let mut second = None;
    for (k, spot) in spots.iter().enumerate() {
        let away = spot.flat.distance_squared(from);
        if away > best {
            best = away;
            second = Some(k);
        }
    }
    if let Some(second) = second {
        chosen[1] = Some(Some(second));
        // The farthest from the line of both on either side.
        let side = (spots[second].flat - from).perp() / best.sqrt();
        let mut most = [apart; 2];
        for (k, spot) in spots.iter().enumerate() {
            let away = (spot.flat - from).dot(side);
            if away > most[0] {
                most[0] = away;
                chosen[2] = Some(Some(k));
            } else if -away > most[1] {
                most[1] = -away;
                chosen[3] = Some(Some(k));
            }
        }
    }
    chosen.into_iter().flatten()
}

//! All contacts of a step, found in parallel and written in the order of the candidate pairs.

use super::{Touch, visit};
use crate::broad::Pairs;
use crate::util::lanes::ContactVec;
use crate::util::parallel::{CHUNK, Disjoint, exclusive_scan, for_chunks};
use crate::util::reserve_with_slack;
use crate::world::Bodies;

/// The contacts of a step, grouped by body A.
#[derive(Clone, Debug, Default)]
pub struct Contacts {
    /// Contacts of body A are `start[a]..start[a + 1]`.
    pub start: Vec<u32>,
    /// Bodies A and B.
    pub pairs: Vec<[u32; 2]>,
    /// Which of several contacts of the same two bodies this is.
    pub features: Vec<u8>,
    /// Unit normals, from B towards A.
    pub normals: ContactVec,
    /// Distances between the surfaces; negative where they overlap.
    pub gaps: Vec<f64>,
    /// Candidate partners of each body that touch it.
    kept: Vec<u32>,
}

/// How far bodies overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Penetration {
    /// The deepest overlap.
    pub max: f64,
    /// The mean over contacts that overlap.
    pub mean: f64,
}

/// The gap up to which a pair counts as a contact: what it can close in this step at its
/// present relative velocity, and the margin. Never more than what the hulls have grown, and
/// the same in every frame of reference.
#[inline]
fn reach(bodies: &Bodies, a: usize, b: usize, h: f64, margin: f64) -> f64 {
    let mut velocity = bodies.velocity[a] - bodies.velocity[b];
    let mut size = bodies.shape[a].bounding_radius().unwrap_or(0.0);
    match bodies.shape[b].bounding_radius() {
        Some(radius) => size += radius,
        None => velocity -= bodies.angular_velocity[b].cross(bodies.position[a] - bodies.position[b]),
    }
    h * velocity.length() + margin * size
}

impl Contacts {
    /// Number of contacts.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// How far bodies overlap.
    pub fn penetration(&self) -> Penetration {
        let (mut max, mut sum, mut count) = (0.0f64, 0.0, 0usize);
        for &gap in self.gaps.iter().filter(|&&gap| gap < 0.0) {
            max = max.max(-gap);
            sum -= gap;
            count += 1;
        }
        Penetration { max, mean: if count > 0 { sum / count as f64 } else { 0.0 } }
    }

    /// Finds all contacts among candidate pairs, and of bounded bodies with unbounded ones, in a
    /// step of length `h`. Counts first, dropping from `pairs` what does not touch, and then
    /// writes, so that every contact has its place before any thread starts.
    pub fn detect(&mut self, bodies: &Bodies, pairs: &mut Pairs, unbounded: &[u32], h: f64, margin: f64) {
        let n = bodies.len();
        let moves = |a: usize, b: usize| bodies.inverse_mass[a] > 0.0 || bodies.inverse_mass[b] > 0.0;
        let touches = |a: usize, b: usize, found: &mut dyn FnMut(Touch)| {
            if moves(a, b) {
                visit(bodies, a, b, reach(bodies, a, b, h, margin), found);
            }
        };
        let walls = |a: usize| if bodies.shape[a].bounding_radius().is_some() { unbounded } else { &[] };

        // Candidates that touch move to the front of each body's list.
        self.kept.clear();
        self.kept.resize(n, 0);
        self.start.clear();
        reserve_with_slack(&mut self.start, n + 1);
        self.start.resize(n + 1, 0);
        let counts = Disjoint::new(&mut self.start);
        pairs.filter(&mut self.kept, |a, partners| {
            let (mut kept, mut count) = (0, 0);
            for k in 0..partners.len() {
                let before = count;
                touches(a, partners[k] as usize, &mut |_| count += 1);
                if count > before {
                    partners[kept] = partners[k];
                    kept += 1;
                }
            }
            for &b in walls(a) {
                touches(a, b as usize, &mut |_| count += 1);
            }
            // SAFETY: slot a belongs to body a alone.
            unsafe { counts.write(a, count) };
            kept as u32
        });
        let total = exclusive_scan(&mut self.start);

        self.pairs.clear();
        self.features.clear();
        self.gaps.clear();
        reserve_with_slack(&mut self.pairs, total);
        reserve_with_slack(&mut self.features, total);
        reserve_with_slack(&mut self.gaps, total);
        self.pairs.resize(total, [0, 0]);
        self.features.resize(total, 0);
        self.gaps.resize(total, 0.0);
        self.normals.resize(total);
        let (start, kept, pairs) = (&self.start, &self.kept, &*pairs);
        let (out_pairs, out_features) = (Disjoint::new(&mut self.pairs), Disjoint::new(&mut self.features));
        let (out_gaps, out_normals) = (Disjoint::new(&mut self.gaps), Disjoint::new(self.normals.flat_mut()));
        for_chunks(n, CHUNK, |range| {
            for a in range {
                let mut i = start[a] as usize;
                for &b in pairs.of(a)[..kept[a] as usize].iter().chain(walls(a)) {
                    touches(a, b as usize, &mut |touch| {
                        // SAFETY: places start[a]..start[a + 1] belong to body a alone.
                        unsafe {
                            out_pairs.write(i, [a as u32, b]);
                            out_features.write(i, touch.feature);
                            out_gaps.write(i, touch.gap);
                            for component in 0..3 {
                                out_normals.write(ContactVec::flat_index(i, component), touch.normal[component]);
                            }
                        }
                        i += 1;
                    });
                }
            }
        });
    }
}

//! All contacts of a step, found in parallel and written in the order of the candidate pairs.

use super::{Touch, at_most_one, sphere_sphere, visit};
use crate::broad::Pairs;
use crate::shape::Shape;
use crate::util::lanes::ContactVec;
use crate::util::parallel::{CHUNK, Disjoint, exclusive_scan, for_chunks};
use crate::util::reshape;
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

/// The gap up to which a pair counts as a contact at rest: the margin.
#[inline(always)]
fn margin_of(bodies: &Bodies, a: usize, b: usize, margin: f64) -> f64 {
    let size = |j: usize| bodies.shape[j].bounding_radius().unwrap_or(0.0);
    margin * (size(a) + size(b))
}

/// What a pair can close in this step at its present relative velocity. With the margin, never
/// more than what the hulls have grown, and the same in every frame of reference.
#[inline(always)]
fn closing(bodies: &Bodies, a: usize, b: usize, h: f64) -> f64 {
    let mut velocity = bodies.velocity[a] - bodies.velocity[b];
    if bodies.shape[b].bounding_radius().is_none() {
        velocity -= bodies.angular_velocity[b].cross(bodies.position[a] - bodies.position[b]);
    }
    h * velocity.length()
}

/// Calls `found` for every contact between two bodies, unless neither can move.
///
/// Bodies that can have one contact only, and have it within the margin, need no look at their
/// velocities.
#[inline(always)]
fn touches(bodies: &Bodies, a: usize, b: usize, h: f64, margin: f64, mut found: impl FnMut(Touch)) {
    if bodies.inverse_mass[a] == 0.0 && bodies.inverse_mass[b] == 0.0 {
        return;
    }
    let margin = margin_of(bodies, a, b, margin);
    if at_most_one(bodies, a, b) {
        let mut done = false;
        visit(bodies, a, b, margin, |touch| {
            done = true;
            found(touch);
        });
        if done {
            return;
        }
    }
    visit(bodies, a, b, margin + closing(bodies, a, b, h), found);
}

/// How many contacts two bodies have.
///
/// Most pairs are spheres, and whether they touch is a coin toss: for them without a branch on it.
#[inline(always)]
fn count_touches(bodies: &Bodies, a: usize, b: usize, h: f64, margin: f64) -> u32 {
    if let (Shape::Sphere(s), Shape::Sphere(t)) = (&bodies.shape[a], &bodies.shape[b]) {
        let moves = (bodies.inverse_mass[a] != 0.0) | (bodies.inverse_mass[b] != 0.0);
        let reach = margin_of(bodies, a, b, margin) + closing(bodies, a, b, h);
        let near = sphere_sphere::within(bodies.position[a], s.radius, bodies.position[b], t.radius, reach);
        return u32::from(moves & near);
    }
    let mut count = 0;
    touches(bodies, a, b, h, margin, |_| count += 1);
    count
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
        let walls = |a: usize| if bodies.shape[a].bounding_radius().is_some() { unbounded } else { &[] };

        // Candidates that touch move to the front of each body's list.
        reshape(&mut self.kept, n);
        reshape(&mut self.start, n + 1);
        self.start[n] = 0;
        let counts = Disjoint::new(&mut self.start);
        pairs.filter(&mut self.kept, |a, partners| {
            let (mut kept, mut count) = (0, 0);
            for k in 0..partners.len() {
                let b = partners[k];
                let found = count_touches(bodies, a, b as usize, h, margin);
                partners[kept] = b;
                kept += usize::from(found > 0);
                count += found;
            }
            for &b in walls(a) {
                count += count_touches(bodies, a, b as usize, h, margin);
            }
            // SAFETY: slot a belongs to body a alone.
            unsafe { counts.write(a, count) };
            kept as u32
        });
        let total = exclusive_scan(&mut self.start);

        reshape(&mut self.pairs, total);
        reshape(&mut self.features, total);
        reshape(&mut self.gaps, total);
        self.normals.reshape(total);
        let (start, kept, pairs) = (&self.start, &self.kept, &*pairs);
        let (out_pairs, out_features) = (Disjoint::new(&mut self.pairs), Disjoint::new(&mut self.features));
        let (out_gaps, out_normals) = (Disjoint::new(&mut self.gaps), Disjoint::new(self.normals.flat_mut()));
        for_chunks(n, CHUNK, |range| {
            for a in range {
                let mut i = start[a] as usize;
                let near = &pairs.of(a)[..kept[a] as usize];
                // Most bodies touch no wall: their count tells.
                let walls = if start[a + 1] - start[a] > kept[a] { walls(a) } else { &[] };
                for &b in near.iter().chain(walls) {
                    touches(bodies, a, b as usize, h, margin, |touch| {
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

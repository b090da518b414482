//! All contacts of a step, found in parallel and written in the order of the candidate pairs.

use super::{Touch, at_most_one, sphere_sphere, visit};
use crate::broad::Pairs;
use crate::shape::Shape;
use crate::world::Bodies;
use barchan_cone::ContactVec;
use barchan_parallel::reshape;
use barchan_parallel::{CHUNK, Disjoint, exclusive_scan, for_chunks};

/// The assignment of contacts to ranks: which contacts of a world that is spread over ranks are this rank's.
pub trait ContactAssignment: Sync {
    /// Whether the contacts of two bounded bodies are.
    fn is_assigned(&self, a: usize, b: usize) -> bool;
}

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

/// Overlaps, added up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OverlapSums {
    /// The deepest.
    pub max: f64,
    /// Their sum.
    pub sum: f64,
    /// How many there are.
    pub count: usize,
}

impl OverlapSums {
    /// The deepest and the mean.
    pub fn penetration(&self) -> Penetration {
        Penetration { max: self.max, mean: if self.count > 0 { self.sum / self.count as f64 } else { 0.0 } }
    }
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
    if bodies.is_wall(b) {
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
        self.overlap().penetration()
    }

    /// What the overlaps of all contacts add up to.
    pub fn overlap(&self) -> OverlapSums {
        let mut overlap = OverlapSums::default();
        for &gap in self.gaps.iter().filter(|&&gap| gap < 0.0) {
            overlap.max = overlap.max.max(-gap);
            overlap.sum -= gap;
            overlap.count += 1;
        }
        overlap
    }

    /// Finds all contacts among candidate pairs, and of bounded bodies with unbounded ones, in a
    /// step of length `h`. Counts first, dropping from `pairs` what does not touch, and then
    /// writes, so that every contact has its place before any thread starts.
    ///
    /// With `assignment`, contacts of bounded bodies are kept only where it says so. Contacts with unbounded
    /// ones belong to the rank that owns the body.
    pub fn detect(
        &mut self,
        bodies: &Bodies,
        pairs: &mut Pairs,
        unbounded: &[u32],
        h: f64,
        margin: f64,
        assignment: Option<&dyn ContactAssignment>,
    ) {
        let n = bodies.len();
        let walls = |a: usize| if bodies.is_owned_and_bounded(a) { unbounded } else { &[] };

        // Candidates that touch move to the front of each body's list.
        reshape(&mut self.kept, n);
        reshape(&mut self.start, n + 1);
        self.start[n] = 0;
        let counts = Disjoint::new(&mut self.start);
        pairs.filter(&mut self.kept, |a, partners| {
            let (mut kept, mut count) = (0, 0);
            for k in 0..partners.len() {
                let b = partners[k];
                let mut found = count_touches(bodies, a, b as usize, h, margin);
                if let Some(assignment) = assignment
                    && found > 0
                    && !assignment.is_assigned(a, b as usize)
                {
                    found = 0;
                }
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

    /// Gives other indices to bodies: those from `bodies` on are others by another name. `contact_shifts` are
    /// kept with the contacts that they number.
    pub(crate) fn map_bodies(
        &mut self,
        name: impl Fn(u32) -> u32,
        bodies: usize,
        contact_shifts: &mut [(u32, [i8; 3])],
    ) {
        let in_order = self.start[bodies] as usize == self.len();
        for pair in &mut self.pairs {
            *pair = pair.map(&name);
        }
        self.start.truncate(bodies + 1);
        if in_order {
            return;
        }
        // Bodies A with another name: rare.
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        order.sort_by_key(|&i| self.pairs[i as usize][0]);
        let mut place = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            place[old as usize] = new as u32;
        }
        contact_shifts.iter_mut().for_each(|entry| entry.0 = place[entry.0 as usize]);
        contact_shifts.sort_unstable();
        let from = |i: &u32| *i as usize;
        let normals: Vec<_> = order.iter().map(from).map(|i| self.normals.get(i)).collect();
        self.normals = ContactVec::from_slice(&normals);
        self.pairs = order.iter().map(from).map(|i| self.pairs[i]).collect();
        self.features = order.iter().map(from).map(|i| self.features[i]).collect();
        self.gaps = order.iter().map(from).map(|i| self.gaps[i]).collect();
        self.start.fill(0);
        self.pairs.iter().for_each(|pair| self.start[pair[0] as usize] += 1);
        exclusive_scan(&mut self.start);
    }
}

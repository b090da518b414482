//! All contacts of a step, found in parallel and written in the order of the candidate pairs.
//!
//! Contacts are counted first, so that every one has its place before any thread starts, and then written.
//! What has at most one contact in closed form is cheap enough to be found twice, and most pairs are such;
//! a manifold of several points is found once and kept until its place is known.
//!
//! Impulses that act at the middle of a step need the arms and normals of then: the point at which a curved body touches
//! moves over it, and with the arms of the start a body that rocks on its belly gains energy. Shapes are therefore looked at
//! where they will be half a step later at their present velocities, and gaps told as of the start, from which the present
//! velocities lead to those that were found.

use super::{Apart, ContactPoint, Contacts, FeatureKey, Poses, at_most_one, sphere_sphere, visit, visit_others};
use crate::broad::{Growth, Pairs, hull};
use crate::shape::Shape;
use crate::world::{Bodies, Ownership};
use barchan_cone::ContactVec;
use barchan_parallel::{CHUNK, Disjoint, exclusive_scan, for_chunks, reshape};
use glam::{DQuat, DVec3};

/// Pairs that move against each other by more than this part of the smaller one's size before impulses act are looked at
/// where they are, lest they pass through each other.
const FAR: f64 = 0.25;

/// Decides which contacts of a world that is spread over ranks are this rank's.
pub trait ContactAssignment: Sync {
    /// Whether the contacts of two bounded bodies are.
    fn is_assigned(&self, a: usize, b: usize) -> bool;
}

/// What detection reads.
#[derive(Clone, Copy)]
pub struct Detection<'a> {
    /// The bodies.
    pub bodies: &'a Bodies,
    /// Indices of the unbounded ones.
    pub walls: &'a [u32],
    /// How far bodies may come in the step.
    pub growth: Growth,
    /// How far ahead in time normals and arms are taken, with the present velocities: spheres that slide over each
    /// other turn their normal in a step, and bodies that roll are touched elsewhere.
    pub ahead: f64,
    /// Bodies that cannot touch each other.
    pub apart: &'a Apart,
    /// Which contacts of bounded bodies are this rank's; all if there are no others. Contacts with walls
    /// belong to the rank that owns the body.
    pub assignment: Option<&'a dyn ContactAssignment>,
}

/// Memory of detection, kept between steps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    /// How many candidate partners of each body touch it, and [`TOUCHES_WALL`] if a wall does.
    kept: Vec<u32>,
    /// Bodies whose contacts are general; empty if there are none.
    is_general: Vec<bool>,
    /// Manifolds that were found, a list a chunk of bodies.
    manifolds: Vec<Vec<Found>>,
}

/// A contact as it is stored.
#[derive(Clone, Copy, Debug)]
struct Found {
    pair: [u32; 2],
    key: FeatureKey,
    normal: DVec3,
    /// At the start of the step.
    gap: f64,
    /// From the centres of both bodies to where they touch.
    arms: [DVec3; 2],
}

const TOUCHES_WALL: u32 = 1 << 31;

impl Detection<'_> {
    /// The gap up to which a pair counts as a contact at rest: the margin. Of spheres it is a part of the sum of their
    /// radii. A small body need not feel a large one from afar.
    #[inline(always)]
    fn margin_of(&self, a: usize, b: usize) -> f64 {
        let own = hull::measure(self.bodies, a);
        let other = hull::measure(self.bodies, b);
        let is_sphere = |j: usize| matches!(self.bodies.shape[j], Shape::Sphere(_));
        let is_sum = is_sphere(a) && is_sphere(b) || own == 0.0 || other == 0.0;
        self.growth.margin * if is_sum { own + other } else { 2.0 * own.min(other) }
    }

    /// What a pair can close in this step at its present velocities. With the margin, never more than what
    /// the hulls have grown, and the same in every frame of reference.
    #[inline(always)]
    fn closing(&self, a: usize, b: usize) -> f64 {
        let bodies = self.bodies;
        let mut velocity = bodies.velocity[a] - bodies.velocity[b];
        if bodies.is_wall(b) {
            velocity -= bodies.angular_velocity[b].cross(bodies.position[a] - bodies.position[b]);
        }
        self.growth.h * (velocity.length() + self.turning(a, b) + self.growth.kick)
    }

    /// What turning adds to it: nothing for what is round.
    #[inline(always)]
    fn turning(&self, a: usize, b: usize) -> f64 {
        let bodies = self.bodies;
        let outwards =
            |j: usize, reach: f64| if reach > 0.0 { bodies.angular_velocity[j].length() * reach } else { 0.0 };
        let reach_a = bodies.shape[a].spin_reach();
        // The wall's own turn at A's centre is in the velocity; beyond the centre it acts like A's.
        let reach_b = if bodies.is_wall(b) { reach_a } else { bodies.shape[b].spin_reach() };
        outwards(a, reach_a) + outwards(b, reach_b)
    }

    /// Whether one of two bodies can move, and they can touch.
    #[inline(always)]
    fn moves(&self, a: usize, b: usize) -> bool {
        ((self.bodies.inverse_mass[a] != 0.0) | (self.bodies.inverse_mass[b] != 0.0))
            && !self.apart.holds(self.bodies, a, b)
    }

    /// Calls `found` for every contact between two bodies, unless neither can move.
    ///
    /// Bodies that can have one contact only, and have it within the margin, need no look at their
    /// velocities.
    #[inline(always)]
    fn touches(&self, a: usize, b: usize, mut found: impl FnMut(Found)) {
        if !self.moves(a, b) {
            return;
        }
        let bodies = self.bodies;
        let margin = self.margin_of(a, b);
        let at_start = |touch: ContactPoint| {
            let ContactPoint { point, normal, gap, key } = touch;
            let arms = [point - bodies.position[a], point - bodies.position[b]];
            Found { pair: [a as u32, b as u32], key, normal, gap, arms }
        };
        if at_most_one(bodies, a, b) {
            let are_spheres = !bodies.is_wall(b);
            let mut found = |touch| found(at_start(if are_spheres { self.turned(a, b, touch) } else { touch }));
            let mut done = false;
            visit(bodies, a, b, margin, |touch| {
                done = true;
                found(touch);
            });
            if !done {
                visit(bodies, a, b, margin + self.closing(a, b), found);
            }
            return;
        }
        let reach = margin + self.closing(a, b);
        if matches!(bodies.shape[a], Shape::Sphere(_)) && bodies.is_wall(b) {
            // A plane touches a ball always below its centre.
            visit(bodies, a, b, reach, |touch| found(at_start(touch)));
        } else {
            self.touches_later(a, b, reach, &mut found);
        }
    }

    /// The same of bodies that are not round, where they will be when impulses act.
    #[inline(never)]
    fn touches_later(&self, a: usize, b: usize, reach: f64, found: &mut dyn FnMut(Found)) {
        let bodies = self.bodies;
        let pair = [a as u32, b as u32];
        let (poses, ahead) = self.poses(a, b);
        let twist = |j: usize| [bodies.velocity[j], bodies.angular_velocity[j]];
        visit_others(&bodies.shape[a], &bodies.shape[b], &poses, reach, &mut |touch| {
            let ContactPoint { point, normal, gap, key } = touch;
            let arms = poses.map(|(x, _)| point - x);
            let [u, v] = [(a, arms[0]), (b, arms[1])].map(|(j, arm)| twist(j)[0] + twist(j)[1].cross(arm));
            let gap = if ahead > 0.0 { gap - ahead * (u - v).dot(normal) } else { gap };
            found(Found { pair, key, normal, gap, arms });
        });
    }

    /// Where two bodies are looked at, and how far ahead in time that is.
    #[inline]
    fn poses(&self, a: usize, b: usize) -> (Poses, f64) {
        let bodies = self.bodies;
        let smaller = hull::measure(bodies, a).min(bodies.contact_size(b));
        let way = self.ahead / self.growth.h * self.closing(a, b);
        if self.ahead == 0.0 || way > FAR * smaller {
            return (bodies.poses(a, b), 0.0);
        }
        let later = |j: usize| {
            let (q, turn) = (bodies.orientation[j], self.ahead * bodies.angular_velocity[j]);
            // The exponential map to third order: the angle is small.
            let turned = (q + DQuat::from_vec4((0.5 * turn).extend(0.0)) * q).normalize();
            (bodies.position[j] + self.ahead * bodies.velocity[j], if turn == DVec3::ZERO { q } else { turned })
        };
        ([later(a), later(b)], self.ahead)
    }

    /// The contact of two spheres with the normal that it will have a little later: what they move along their
    /// tangent plane turns it. (What they move along the normal does not, and is left out, lest fast bodies pass
    /// through each other.)
    #[inline(always)]
    fn turned(&self, a: usize, b: usize, touch: ContactPoint) -> ContactPoint {
        let bodies = self.bodies;
        let slide = (bodies.velocity[a] - bodies.velocity[b]).reject_from_normalized(touch.normal) * self.ahead;
        let distance = (bodies.position[a] - bodies.position[b]).length();
        let line = touch.normal * distance + slide;
        if slide == DVec3::ZERO || slide.length_squared() > 0.25 * distance * distance {
            return touch;
        }
        ContactPoint { normal: line.normalize(), ..touch }
    }

    /// How many contacts two bodies have. Manifolds go to `manifolds`.
    ///
    /// Most pairs are spheres, and whether they touch is a coin toss: for them without a branch on it.
    #[inline(always)]
    fn count(&self, a: usize, b: usize, manifolds: &mut Vec<Found>) -> u32 {
        let bodies = self.bodies;
        if let (Shape::Sphere(s), Shape::Sphere(t)) = (&bodies.shape[a], &bodies.shape[b]) {
            let closing = self.growth.h * ((bodies.velocity[a] - bodies.velocity[b]).length() + self.growth.kick);
            let reach = self.margin_of(a, b) + closing;
            let near = sphere_sphere::within(bodies.position[a], s.radius, bodies.position[b], t.radius, reach);
            return u32::from(self.moves(a, b) & near);
        }
        let mut count = 0;
        if at_most_one(bodies, a, b) {
            self.touches(a, b, |_| count += 1);
        } else {
            self.touches(a, b, |found| {
                count += 1;
                manifolds.push(found);
            });
        }
        count
    }

    /// The walls that a body may touch on this rank.
    fn walls_of(&self, a: usize) -> &[u32] {
        if self.bodies.is_owned_and_bounded(a) { self.walls } else { &[] }
    }
}

/// Whether a body can move and needs a tensor: it is no sphere, or its inertia differs between axes.
pub(crate) fn has_tensor(bodies: &Bodies, j: usize) -> bool {
    let is_round = matches!(bodies.shape[j], Shape::Sphere(_)) && bodies.is_isotropic(j);
    bodies.inverse_mass[j] != 0.0 && !is_round && bodies.ownership[j] != Ownership::Removed
}

/// Whether the contacts of a body are general: those of round bodies need no lever arms, and walls have theirs from
/// the other body. What is neither has its arms stored, also where it cannot move.
fn is_general(bodies: &Bodies, j: usize) -> bool {
    let is_solid = !matches!(bodies.shape[j], Shape::Sphere(_)) && !bodies.is_wall(j);
    has_tensor(bodies, j) || is_solid && bodies.ownership[j] != Ownership::Removed
}

/// Where contacts are written: places are disjoint between bodies.
struct Places<'a> {
    pairs: Disjoint<'a, [u32; 2]>,
    keys: Disjoint<'a, FeatureKey>,
    gaps: Disjoint<'a, f64>,
    normals: Disjoint<'a, f64>,
    arms: [Disjoint<'a, f64>; 2],
    round: usize,
}

impl Places<'_> {
    /// Writes contact `i`.
    ///
    /// # Safety
    /// Place `i` exists and is written by one thread only.
    #[inline(always)]
    unsafe fn write(&self, i: usize, found: &Found) {
        // SAFETY: the caller's promise.
        unsafe {
            self.pairs.write(i, found.pair);
            self.keys.write(i, found.key);
            self.gaps.write(i, found.gap);
            for component in 0..3 {
                self.normals.write(ContactVec::flat_index(i, component), found.normal[component]);
            }
        }
        if let Some(k) = i.checked_sub(self.round) {
            for (column, arm) in self.arms.iter().zip(found.arms) {
                for component in 0..3 {
                    // SAFETY: as above.
                    unsafe { column.write(ContactVec::flat_index(k, component), arm[component]) };
                }
            }
        }
    }
}

impl Contacts {
    /// Finds all contacts among candidate pairs, and of bounded bodies with walls. Candidates that do not
    /// touch are dropped from `pairs`. The contacts here before become the previous ones.
    pub fn detect(&mut self, detection: &Detection<'_>, pairs: &mut Pairs) {
        self.begin_step();
        self.find_general(detection.bodies);
        self.count(detection, pairs);
        self.write(detection, pairs);
    }

    /// Notes the bodies whose contacts are general.
    fn find_general(&mut self, bodies: &Bodies) {
        let flags = &mut self.scratch.is_general;
        flags.clear();
        if (0..bodies.len()).any(|j| is_general(bodies, j)) {
            flags.extend((0..bodies.len()).map(|j| is_general(bodies, j)));
        }
    }

    /// Counts the contacts of every body, of both sections, and drops candidates that do not touch.
    fn count(&mut self, detection: &Detection<'_>, pairs: &mut Pairs) {
        let n = detection.bodies.len();
        let Scratch { kept, is_general, manifolds } = &mut self.scratch;
        reshape(kept, n);
        manifolds.resize_with(n.div_ceil(CHUNK).max(manifolds.len()), Vec::new);
        let has_general = !is_general.is_empty();
        let [round, general] = &mut self.start;
        reshape(round, n + 1);
        reshape(general, if has_general { n + 1 } else { 0 });
        round[n] = 0;
        if has_general {
            general[n] = 0;
        }
        let counts = [Disjoint::new(round), Disjoint::new(general)];
        let section = |a: usize, b: u32| usize::from(has_general && (is_general[a] || is_general[b as usize]));
        pairs.filter(kept, manifolds, Vec::clear, |manifolds, a, partners| {
            let (mut kept, mut count) = (0, [0; 2]);
            for k in 0..partners.len() {
                let b = partners[k];
                let known = manifolds.len();
                let mut found = detection.count(a, b as usize, manifolds);
                if let Some(assignment) = detection.assignment
                    && found > 0
                    && !assignment.is_assigned(a, b as usize)
                {
                    found = 0;
                    manifolds.truncate(known);
                }
                // Candidates that touch move to the front of the list.
                partners[kept] = b;
                kept += usize::from(found > 0);
                count[section(a, b)] += found;
            }
            let bounded = count;
            for &b in detection.walls_of(a) {
                count[section(a, b)] += detection.count(a, b as usize, manifolds);
            }
            // SAFETY: slot a belongs to body a alone.
            unsafe { counts[0].write(a, count[0]) };
            if has_general {
                // SAFETY: as above.
                unsafe { counts[1].write(a, count[1]) };
            }
            kept as u32 | if count == bounded { 0 } else { TOUCHES_WALL }
        });
    }

    /// Gives every contact its place and writes it there.
    fn write(&mut self, detection: &Detection<'_>, pairs: &Pairs) {
        let n = detection.bodies.len();
        let round = exclusive_scan(&mut self.start[0]);
        let general = exclusive_scan(&mut self.start[1]);
        self.start[1].iter_mut().for_each(|start| *start += round as u32);
        let total = round + general;
        reshape(&mut self.pairs, total);
        reshape(&mut self.keys, total);
        reshape(&mut self.gaps, total);
        self.normals.reshape(total);
        self.arms.iter_mut().for_each(|arms| arms.reshape(general));
        // No impulses yet: contacts are whole even if the step ends here.
        self.impulses.resize(total);
        let places = Places {
            pairs: Disjoint::new(&mut self.pairs),
            keys: Disjoint::new(&mut self.keys),
            gaps: Disjoint::new(&mut self.gaps),
            normals: Disjoint::new(self.normals.flat_mut()),
            arms: self.arms.each_mut().map(|arms| Disjoint::new(arms.flat_mut())),
            round,
        };
        let ([first_round, first_general], Scratch { kept, is_general, manifolds }) = (&self.start, &self.scratch);
        let has_general = !is_general.is_empty();
        for_chunks(n, CHUNK, |range| {
            let mut manifolds = manifolds[range.start / CHUNK].iter().peekable();
            for a in range {
                let mut next = [first_round[a] as usize, if has_general { first_general[a] as usize } else { 0 }];
                let near = &pairs.of(a)[..(kept[a] & !TOUCHES_WALL) as usize];
                let walls = if kept[a] & TOUCHES_WALL == 0 { &[] } else { detection.walls_of(a) };
                for &b in near.iter().chain(walls) {
                    let pair = [a as u32, b];
                    let section = usize::from(has_general && (is_general[a] || is_general[b as usize]));
                    let mut put = |found: &Found| {
                        // SAFETY: places from start[a] to start[a + 1] belong to body a alone.
                        unsafe { places.write(next[section], found) };
                        next[section] += 1;
                    };
                    if at_most_one(detection.bodies, a, b as usize) {
                        detection.touches(a, b as usize, |found| put(&found));
                    } else {
                        while let Some(found) = manifolds.next_if(|found| found.pair == pair) {
                            put(found);
                        }
                    }
                }
            }
        });
    }
}

//! Bodies that have a place, and the question whether there is room for another one.
//!
//! Balls about the bodies tell in most cases: where those that hold the bodies are apart, there is room, and where those
//! that lie within them overlap, there is none. What is between is decided by the true surfaces, the nearest body first.

use super::cells::Cells;
use crate::narrow::Standing;
use crate::shape::Shape;
use barchan_convex::Closest;
use glam::{DMat3, DQuat, DVec3};

/// A ball alone.
const BALL: u32 = u32::MAX;

/// What a fill keeps clear of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Obstacles {
    /// Centres and radii.
    pub(crate) balls: Vec<(DVec3, f64)>,
    /// What is no ball, with the radius of a ball that holds it.
    pub(crate) solids: Vec<(Standing, f64)>,
}

/// Bodies in and about a box.
pub(crate) struct Crowd {
    cells: Cells,
    gap: f64,
    /// Of each body, its number among the solids.
    solid: Vec<u32>,
    solids: Vec<(Standing, f64)>,
    /// Bodies that may be in the way, by distance: room that is reused.
    near: Vec<(f64, u32)>,
}

/// A body that looks for a place.
pub(crate) struct Newcomer {
    pub(crate) standing: Standing,
    pub(crate) orientation: DQuat,
    /// The radius of a ball that holds it,
    radius: f64,
    /// and of one within it.
    inner: f64,
}

impl Newcomer {
    pub(crate) fn new(shape: Shape, radius: f64, inner: f64) -> Self {
        let standing = Standing { shape, x: DVec3::ZERO, r: DMat3::IDENTITY };
        Self { standing, orientation: DQuat::IDENTITY, radius, inner }
    }

    fn is_ball(&self) -> bool {
        matches!(self.standing.shape, Shape::Sphere(_))
    }

    pub(crate) fn turn_to(&mut self, orientation: DQuat) {
        self.orientation = orientation;
        self.standing.r = DMat3::from_quat(orientation);
    }

    /// How far it reaches down and up each axis.
    pub(crate) fn reach(&self) -> [DVec3; 2] {
        if self.is_ball() {
            return [DVec3::splat(self.radius); 2];
        }
        let [low, high] = self.standing.shape.half_box(&self.standing.r);
        [-low, high]
    }

    /// Moves it out of another body where it is the deepest in it, if they are nearer than `gap`.
    ///
    /// A contact at the arm a from the centre, with the normal n and the depth d, is parted by the shift λn and the turn
    /// λ (a × n) / k² with λ = d / (1 + |a × n|² / k²) and the radius of gyration k.
    fn push_out_of(&mut self, other: &Standing, gap: f64, is_turned: bool) {
        let gyration = if is_turned { 0.4 * self.radius * self.radius } else { f64::INFINITY };
        let mut deepest: Option<Closest> = None;
        self.standing.overlaps(other, gap, &mut |found| {
            if found.gap.is_finite() && deepest.is_none_or(|before| found.gap < before.gap) {
                deepest = Some(found);
            }
        });
        let Some(Closest { gap: found, normal, on_a, .. }) = deepest else { return };
        let lever = (on_a - self.standing.x).cross(normal);
        let push = BEYOND * (gap - found).max(0.0) / (1.0 + lever.length_squared() / gyration);
        self.standing.x += normal * push;
        if is_turned {
            self.turn_to((DQuat::from_scaled_axis(lever * (push / gyration)) * self.orientation).normalize());
        }
    }
}

/// How often a newcomer is pushed before it gives up.
const PUSHES: usize = 16;

/// From how many places the one is taken from which it is pushed.
pub(crate) const PLACES: u32 = 32;

/// A hair more than what is needed to part two bodies.
const BEYOND: f64 = 1.02;

impl Crowd {
    /// Nobody, in cells for balls like these.
    pub(crate) fn new(cells: Cells, gap: f64) -> Self {
        Self { cells, gap, solid: Vec::new(), solids: Vec::new(), near: Vec::new() }
    }

    /// Adds what may come near to anything in the box.
    pub(crate) fn insert_ball(&mut self, x: DVec3, radius: f64) {
        if self.cells.concerns(x, radius + self.gap) {
            self.cells.insert(x, radius);
            self.solid.push(BALL);
        }
    }

    /// The same of what is no ball.
    pub(crate) fn insert_solid(&mut self, standing: Standing, radius: f64, inner: f64) {
        if self.cells.concerns(standing.x, radius + self.gap) {
            self.cells.insert(standing.x, radius);
            self.solid.push(self.solids.len() as u32);
            self.solids.push((standing, inner));
        }
    }

    /// A newcomer stays.
    pub(crate) fn insert(&mut self, newcomer: &Newcomer) {
        if newcomer.is_ball() {
            self.insert_ball(newcomer.standing.x, newcomer.radius);
        } else {
            self.insert_solid(newcomer.standing.clone(), newcomer.radius, newcomer.inner);
        }
    }

    /// The least crowded of several places for a newcomer: where the nearest body, taken as a ball of a mean radius, is
    /// the farthest.
    pub(crate) fn emptiest(&self, newcomer: &Newcomer, place: &mut dyn FnMut() -> DVec3) -> DVec3 {
        let room = |x: DVec3| {
            let mut room = f64::INFINITY;
            self.cells.any(x, newcomer.radius, self.gap, |ball| {
                let (y, outer) = self.cells.ball(ball);
                let solid = self.solid[ball];
                let within = if solid == BALL { outer } else { self.solids[solid as usize].1 };
                room = room.min(x.distance(y) - 0.5 * (outer + within));
                false
            });
            room
        };
        let mut best = (f64::NEG_INFINITY, DVec3::ZERO);
        for _ in 0..PLACES {
            let x = place();
            let room = room(x);
            if room > best.0 {
                best = (room, x);
            }
        }
        best.1
    }

    /// Pushes a newcomer out of those that it overlaps, one after another and again, as if they were fixed and it had the
    /// mass of a ball. After each round it is `confined`. Returns whether it has room in the end.
    pub(crate) fn push(
        &mut self,
        newcomer: &mut Newcomer,
        is_turned: bool,
        confined: impl Fn(DVec3, [DVec3; 2]) -> DVec3,
    ) -> bool {
        let is_turned = is_turned && !newcomer.is_ball();
        for _ in 0..PUSHES {
            let near = &mut self.near;
            let x = newcomer.standing.x;
            near.clear();
            self.cells.any(x, newcomer.radius, self.gap, |ball| {
                near.push((x.distance(self.cells.ball(ball).0), ball as u32));
                false
            });
            near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            for &(_, ball) in &*near {
                match self.solid[ball as usize] {
                    BALL => newcomer.push_out_of(&standing_ball(&self.cells, ball), self.gap, is_turned),
                    solid => newcomer.push_out_of(&self.solids[solid as usize].0, self.gap, is_turned),
                }
            }
            newcomer.standing.x = confined(newcomer.standing.x, newcomer.reach());
            if self.has_room_for(newcomer) {
                return true;
            }
        }
        false
    }

    /// Whether a newcomer keeps its gap to everybody.
    pub(crate) fn has_room_for(&mut self, newcomer: &Newcomer) -> bool {
        let Newcomer { standing, radius, inner, .. } = newcomer;
        let is_ball = newcomer.is_ball();
        let x = standing.x;
        self.near.clear();
        let overlaps = self.cells.any(x, *radius, self.gap, |ball| {
            let (y, outer) = self.cells.ball(ball);
            let solid = self.solid[ball];
            if is_ball && solid == BALL {
                return true;
            }
            let distance = x.distance(y);
            let within = if solid == BALL { outer } else { self.solids[solid as usize].1 };
            if distance < inner + within + self.gap {
                return true;
            }
            self.near.push((distance - outer, ball as u32));
            false
        });
        if overlaps {
            return false;
        }
        self.near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        self.near.iter().all(|&(_, ball)| match self.solid[ball as usize] {
            BALL => standing.is_clear_of(&standing_ball(&self.cells, ball), self.gap),
            solid => standing.is_clear_of(&self.solids[solid as usize].0, self.gap),
        })
    }
}

/// A body that is a ball.
fn standing_ball(cells: &Cells, ball: u32) -> Standing {
    let (x, radius) = cells.ball(ball as usize);
    Standing { shape: Shape::sphere(radius), x, r: DMat3::IDENTITY }
}

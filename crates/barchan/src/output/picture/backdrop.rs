//! What stands behind the spheres: inner walls of containers, or the ground with a grid.
//!
//! Bodies lie within containers and above the ground, so a wall seen from inside and a plane
//! seen from above never hide a body: a sample looks here only where it met no sphere.

use super::camera::{Camera, Extent};
use crate::shape::{Face, Shape};
use crate::world::Bodies;
use glam::{Mat3, Vec3};

/// Linear light of walls and of the lines of the grid.
const WALL: f32 = 0.82;
const GROUND: f32 = 0.78;
const GRID: f32 = 0.45;

/// What a ray meets behind the spheres.
pub(super) struct Surface {
    pub(super) depth: f32,
    pub(super) normal: Vec3,
    /// Grey of the surface.
    pub(super) albedo: f32,
    /// How much of it is seen: fades into the background far out.
    pub(super) opacity: f32,
}

/// A container in the camera's frame.
struct Walls {
    /// Camera to body.
    turn: Mat3,
    /// The eye in the body's frame.
    eye: Vec3,
    half: Vec3,
    stands: [bool; 6],
}

/// A plane in the camera's frame.
struct Ground {
    turn: Mat3,
    eye: Vec3,
}

/// Walls and ground.
pub(super) struct Backdrop {
    walls: Vec<Walls>,
    grounds: Vec<Ground>,
    /// The scene's middle in the camera's frame, and its radius.
    middle: Vec3,
    radius: f32,
    /// Distance between lines of the grid.
    spacing: f32,
    focal: f32,
}

impl Backdrop {
    pub(super) fn new(bodies: &Bodies, camera: &Camera, extent: &Extent) -> Self {
        let mut walls = Vec::new();
        let mut grounds = Vec::new();
        for i in 0..bodies.len() {
            let axes = [glam::DVec3::X, glam::DVec3::Y, glam::DVec3::Z].map(|e| bodies.orientation[i] * e);
            let [x, y, z] = axes.map(|e| camera.direction(e));
            let turn = Mat3::from_cols(x, y, z).transpose();
            let eye = turn * -camera.point(bodies.position[i]);
            match &bodies.shape[i] {
                Shape::Container(c) if c.half_extents.is_finite() => {
                    let stands = Face::ALL.map(|face| !c.open.contains(&face));
                    walls.push(Walls { turn, eye, half: c.half_extents.as_vec3(), stands });
                }
                // A ground that is seen from below is not drawn.
                Shape::HalfSpace(_) if eye.z > 0.0 => grounds.push(Ground { turn, eye }),
                Shape::Sphere(_) | Shape::HalfSpace(_) | Shape::Container(_) => {}
            }
        }
        if !walls.is_empty() {
            grounds.clear();
        }
        Self {
            walls,
            grounds,
            middle: camera.point(extent.centre()),
            radius: extent.radius() as f32,
            spacing: round_number(extent.radius() as f32 / 5.0),
            focal: camera.focal,
        }
    }

    /// The nearest surface that `ray` (with z = 1) meets.
    pub(super) fn meet(&self, ray: Vec3) -> Option<Surface> {
        let walls = self.walls.iter().filter_map(|w| w.meet(ray));
        let grounds = self.grounds.iter().filter_map(|g| self.meet_ground(g, ray));
        walls.chain(grounds).min_by(|a, b| a.depth.total_cmp(&b.depth))
    }

    fn meet_ground(&self, ground: &Ground, ray: Vec3) -> Option<Surface> {
        let down = ground.turn * ray;
        if down.z >= 0.0 {
            return None;
        }
        let depth = -ground.eye.z / down.z;
        let normal = ground.turn.row(2);
        // Seen at a flat angle, a sample covers much ground.
        let sample = depth / self.focal;
        let slant = (-down.z / ray.length()).max(0.02);
        let place = ground.eye + depth * down;
        let line = |x: f32, width: f32| {
            let off = (x / self.spacing - (x / self.spacing).round()).abs() * self.spacing;
            (1.5 - off / width).clamp(0.0, 1.0)
        };
        let width = sample / slant.sqrt();
        // Lines that would run together fade before they do.
        let calm = (1.0 - 6.0 * width / self.spacing).clamp(0.0, 1.0);
        let grid = calm * line(place.x, width).max(line(place.y, width));
        let out = (depth * ray - self.middle).length() / self.radius;
        let opacity = (1.0 - (out - 1.0) / 2.0).clamp(0.0, 1.0);
        Some(Surface { depth, normal, albedo: GROUND + grid * (GRID - GROUND), opacity: opacity * opacity })
    }
}

impl Walls {
    /// The inner wall through which the ray leaves the box, if it stands.
    fn meet(&self, ray: Vec3) -> Option<Surface> {
        let d = self.turn * ray;
        let mut enter = 0.0f32;
        let mut leave = f32::INFINITY;
        let mut face = 0;
        for axis in 0..3 {
            let (near, far) = {
                let a = (-self.half[axis] - self.eye[axis]) / d[axis];
                let b = (self.half[axis] - self.eye[axis]) / d[axis];
                (a.min(b), a.max(b))
            };
            enter = enter.max(near);
            if far < leave {
                (leave, face) = (far, 2 * axis + usize::from(d[axis] > 0.0));
            }
        }
        if enter >= leave || !self.stands[face] {
            return None;
        }
        let inward = if face % 2 == 1 { -1.0 } else { 1.0 };
        Some(Surface { depth: leave, normal: inward * self.turn.row(face / 2), albedo: WALL, opacity: 1.0 })
    }
}

/// The nearest of 1, 2, 5, 10, ... below `x`.
fn round_number(x: f32) -> f32 {
    let power = 10f32.powf(x.log10().floor());
    power * [5.0, 2.0].into_iter().find(|m| m * power <= x).unwrap_or(1.0)
}

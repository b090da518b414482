//! What stands behind the spheres: inner walls of containers, and half-spaces with a grid.
//!
//! Bodies lie within containers and above half-spaces, so a wall seen from inside and a plane
//! seen from above never hide a body: a sample looks here only where it met no sphere.
//!
//! A half-space alone is a ground that fades into the background. Beside a container it would hide what it has
//! nothing to do with: there it is cut out about the box of all that is shown, and one that passes through that
//! box ends at its faces.

use super::camera::{Camera, Extent};
use crate::shape::{Face, Shape};
use crate::world::Bodies;
use glam::{Mat3, Vec2, Vec3};

/// How much larger than the box of all that is shown the cut of a half-space is.
const MARGIN: f32 = 1.1;
/// How much nearer than a wall a half-space must be to be seen before it: a floor on the ground is a floor.
const NEARER: f32 = 1e-4;

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
    cut: Option<Cut>,
}

/// What is drawn of a plane.
struct Cut {
    /// Middle and half the size of a rectangle, in the body's frame.
    middle: Vec2,
    half: Vec2,
    /// A box, if the plane passes through it.
    frame: Option<BoxFrame>,
}

/// A box in the camera's frame.
#[derive(Clone, Copy)]
struct BoxFrame {
    /// Camera to world.
    turn: Mat3,
    centre: Vec3,
    half: Vec3,
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
                Shape::HalfSpace(_) if eye.z > 0.0 => grounds.push(Ground { turn, eye, cut: None }),
                _ => {}
            }
        }
        if !walls.is_empty() {
            let about = BoxFrame::new(camera, extent);
            grounds.iter_mut().for_each(|ground| ground.cut = Some(Cut::new(ground, &about)));
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
        let nearest = |a: &Surface, b: &Surface| a.depth.total_cmp(&b.depth);
        let wall = self.walls.iter().filter_map(|w| w.meet(ray)).min_by(nearest);
        let ground = self.grounds.iter().filter_map(|g| self.meet_ground(g, ray)).min_by(nearest);
        match (wall, ground) {
            (Some(wall), Some(ground)) if ground.depth < (1.0 - NEARER) * wall.depth => Some(ground),
            (wall, ground) => wall.or(ground),
        }
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
        if ground.cut.as_ref().is_some_and(|cut| !cut.holds(place, depth * ray)) {
            return None;
        }
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

impl BoxFrame {
    fn new(camera: &Camera, extent: &Extent) -> Self {
        let [x, y, z] = [glam::DVec3::X, glam::DVec3::Y, glam::DVec3::Z].map(|e| camera.direction(e));
        let turn = Mat3::from_cols(x, y, z).transpose();
        let half = (0.5 * (extent.high - extent.low)).as_vec3();
        // A flat box has some height.
        Self { turn, centre: camera.point(extent.centre()), half: half.max(Vec3::splat(1e-3 * half.max_element())) }
    }

    /// Its corners in the camera's frame.
    fn corners(&self) -> [Vec3; 8] {
        let side = |k: usize, axis: usize| if k >> axis & 1 == 1 { 1.0 } else { -1.0 };
        let corner = |k| self.half * Vec3::new(side(k, 0), side(k, 1), side(k, 2));
        std::array::from_fn(|k| self.centre + self.turn.transpose() * corner(k))
    }

    /// Whether a point lies within it, or all but so.
    fn holds(&self, point: Vec3) -> bool {
        (self.turn * (point - self.centre)).abs().cmple(1.001 * self.half).all()
    }
}

impl Cut {
    fn new(ground: &Ground, about: &BoxFrame) -> Self {
        let corners = about.corners().map(|corner| ground.eye + ground.turn * corner);
        let low = corners.into_iter().fold(Vec3::INFINITY, Vec3::min);
        let high = corners.into_iter().fold(Vec3::NEG_INFINITY, Vec3::max);
        // A plane on which the box stands does not pass through it.
        let touch = 1e-3 * about.half.length();
        let passes = low.z < -touch && high.z > touch;
        Self {
            middle: 0.5 * (low + high).truncate(),
            half: 0.5 * MARGIN * (high - low).truncate(),
            frame: passes.then_some(*about),
        }
    }

    /// Whether a place on the plane is drawn: in the body's frame, and in the camera's.
    fn holds(&self, place: Vec3, point: Vec3) -> bool {
        (place.truncate() - self.middle).abs().cmple(self.half).all()
            && self.frame.is_none_or(|frame| frame.holds(point))
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

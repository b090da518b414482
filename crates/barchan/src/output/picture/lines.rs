//! The edges of containers: thin lines that show where the walls stand and hide no body.

use super::SUPER;
use super::camera::{Camera, corners};
use super::spheres::Hits;
use crate::shape::{Face, Shape};
use crate::world::Bodies;
use glam::Vec3;

/// Linear light of a line.
const INK: Vec3 = Vec3::new(0.06, 0.07, 0.10);
/// How much an edge behind the bodies, and one before them, covers.
const BEHIND: f32 = 0.55;
const BEFORE: f32 = 0.42;
/// Half the width of a line in pixels.
const HALF_WIDTH: f32 = 0.6;

/// Draws the edges of all containers that belong to a standing wall.
pub(super) fn draw_containers(bodies: &Bodies, camera: &Camera, hits: &Hits, pixels: &mut [Vec3]) {
    for i in 0..bodies.len() {
        let Shape::Container(container) = &bodies.shape[i] else { continue };
        let corners = corners(bodies, i).map(|x| camera.point(x));
        if corners.iter().any(|c| !(c.is_finite() && c.z > 0.0)) {
            continue;
        }
        // A wall is before the bodies if its outside faces the eye.
        let face = |axis: usize, high: bool| {
            let (side, opposite) = if high { (1 << axis, 0) } else { (0, 1 << axis) };
            let outward = corners[side] - corners[opposite];
            let stands = !container.open.contains(&Face::ALL[2 * axis + usize::from(high)]);
            (stands, outward.dot(corners[side]) < 0.0)
        };
        for axis in 0..3 {
            let others = [(axis + 1) % 3, (axis + 2) % 3];
            for k in 0..4 {
                let high = [k & 1 == 1, k & 2 == 2];
                let from = usize::from(high[0]) << others[0] | usize::from(high[1]) << others[1];
                let faces = [face(others[0], high[0]), face(others[1], high[1])];
                if faces.iter().any(|f| f.0) {
                    let cover = if faces.iter().all(|f| f.1) { BEFORE } else { BEHIND };
                    draw(corners[from], corners[from | 1 << axis], cover, camera, hits, pixels);
                }
            }
        }
    }
}

/// Draws one line, a pixel at a time along its longer direction, where no sphere hides it.
fn draw(a: Vec3, b: Vec3, cover: f32, camera: &Camera, hits: &Hits, pixels: &mut [Vec3]) {
    let width = camera.width / SUPER;
    let height = camera.height / SUPER;
    let place = |p: Vec3| {
        let (x, y) = camera.place(p.x / p.z, p.y / p.z);
        (x / SUPER as f32, y / SUPER as f32)
    };
    let (ax, ay) = place(a);
    let (bx, by) = place(b);
    let steep = (by - ay).abs() > (bx - ax).abs();
    // u runs along the line, v across.
    let (u0, v0, u1, v1) = if steep { (ay, ax, by, bx) } else { (ax, ay, bx, by) };
    let (u0, v0, z0, u1, v1, z1) = if u0 <= u1 { (u0, v0, a.z, u1, v1, b.z) } else { (u1, v1, b.z, u0, v0, a.z) };
    // A corner may be too far away for single precision.
    let is_drawn = [u0, v0, u1, v1].into_iter().all(f32::is_finite) && u1 - u0 >= 1e-3;
    if !is_drawn {
        return;
    }
    let (length, breadth) = if steep { (height, width) } else { (width, height) };
    let slope = (v1 - v0) / (u1 - u0);
    let flatten = 1.0 / (1.0 + slope * slope).sqrt();
    let last = (u1 as usize).min(length - 1);
    for u in u0.max(0.0) as usize..=last {
        let middle = (u as f32 + 0.5).clamp(u0, u1);
        let t = (middle - u0) / (u1 - u0);
        let v = v0 + t * (v1 - v0);
        // 1/z is linear on the screen.
        let depth = 1.0 / ((1.0 - t) / z0 + t / z1);
        let first = (v - 2.0).max(0.0) as usize;
        for w in first..((v + 3.0).max(0.0) as usize).min(breadth) {
            let off = (w as f32 + 0.5 - v).abs() * flatten;
            let ink = (HALF_WIDTH + 0.5 - off).clamp(0.0, 1.0) * cover;
            if ink > 0.0 {
                let (x, y) = if steep { (w, u) } else { (u, w) };
                let pixel = &mut pixels[y * width + x];
                *pixel = pixel.lerp(INK, ink * seen(x, y, depth, camera, hits));
            }
        }
    }
}

/// The part of a pixel's samples that see a point at `depth`.
fn seen(x: usize, y: usize, depth: f32, camera: &Camera, hits: &Hits) -> f32 {
    let sees = |k: usize| {
        let at = (SUPER * y + k / SUPER) * camera.width + SUPER * x + k % SUPER;
        hits.depth[at] > depth
    };
    (0..SUPER * SUPER).filter(|&k| sees(k)).count() as f32 / (SUPER * SUPER) as f32
}

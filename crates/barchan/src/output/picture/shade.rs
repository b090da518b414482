//! Light: a lamp over the left shoulder, the sky, and darkness in the gaps between spheres.
//!
//! The gaps matter most: a heap of evenly lit balls reads as noise. Each sample looks at a few
//! neighbours on the screen and counts those that stand above its tangent plane, near by; the
//! four samples of a pixel look in different directions, so that a pixel sees them all.

use super::SUPER;
use super::backdrop::Backdrop;
use super::camera::Camera;
use super::colour;
use super::solids::Solids;
use super::spheres::{Ball, Hits, SOLID, Typical};
use glam::{DVec3, Vec3};
use rayon::prelude::*;

/// Neighbours at which a sample looks.
const TAPS: usize = 6;
/// Brightness of the background, on the display's scale, at the top and the bottom.
const BACKGROUND: (f32, f32) = (0.985, 0.905);
/// Size of the table of colours.
const TABLE: usize = 256;

/// Lights, and what shading needs at every sample.
struct Studio<'a> {
    camera: &'a Camera,
    hits: &'a Hits,
    lamp: Vec3,
    up: Vec3,
    /// Reach of the search for neighbours: in samples, and in the world.
    reach: (f32, f32),
    /// Directions of the taps, for each sample of a pixel.
    taps: [[(f32, f32); TAPS]; SUPER * SUPER],
}

/// Lights all samples and averages them to pixels in linear light.
pub(super) fn shade(
    (balls, solids): (&[Ball], &Solids),
    hits: &Hits,
    typical: &Typical,
    backdrop: &Backdrop,
    camera: &Camera,
) -> Vec<Vec3> {
    let studio = Studio::new(hits, typical, camera);
    let table: Vec<Vec3> = (0..TABLE).map(|k| colour::map(k as f32 / (TABLE - 1) as f32)).collect();
    let width = camera.width / SUPER;
    let height = camera.height / SUPER;
    let mut pixels = vec![Vec3::ZERO; width * height];
    pixels.par_chunks_mut(width).enumerate().for_each(|(row, pixels)| {
        let t = row as f32 / height as f32;
        let background = Vec3::splat(colour::decode(BACKGROUND.0 + t * (BACKGROUND.1 - BACKGROUND.0)));
        for (column, pixel) in pixels.iter_mut().enumerate() {
            for k in 0..SUPER * SUPER {
                let x = SUPER * column + k % SUPER;
                let y = SUPER * row + k / SUPER;
                let at = y * camera.width + x;
                let ray = camera.ray(x, y);
                let depth = hits.depth[at];
                *pixel += if depth.is_finite() {
                    let point = depth * ray;
                    let (value, normal) = match hits.ball[at] {
                        k if k & SOLID == 0 => {
                            let ball = &balls[k as usize];
                            (ball.value, (point - ball.centre) / ball.radius)
                        }
                        k => {
                            let k = (k ^ SOLID) as usize;
                            (solids.list[k].ball.value, solids.normal(k, hits.facet[at] as usize, point))
                        }
                    };
                    let tone = (value.clamp(0.0, 1.0) * (TABLE - 1) as f32) as usize;
                    studio.body(normal, table[tone], point, x, y)
                } else if let Some(surface) = backdrop.meet(ray) {
                    let lit = studio.wall(surface.albedo, surface.normal, surface.depth * ray, x, y);
                    background.lerp(lit, surface.opacity)
                } else {
                    background
                };
            }
            *pixel /= (SUPER * SUPER) as f32;
        }
    });
    pixels
}

impl<'a> Studio<'a> {
    fn new(hits: &'a Hits, typical: &Typical, camera: &'a Camera) -> Self {
        let taps = std::array::from_fn(|pattern| {
            std::array::from_fn(|k| {
                // A spiral of 24 directions, dealt to the four patterns.
                let n = (k * SUPER * SUPER + pattern) as f32;
                let (sin, cos) = (2.399_963 * n).sin_cos();
                let r = ((n + 0.5) / (TAPS * SUPER * SUPER) as f32).sqrt();
                (r * cos, r * sin)
            })
        });
        let lamp = camera.direction(DVec3::Z) * 0.9 + Vec3::new(-0.55, 0.0, -0.75);
        Self {
            camera,
            hits,
            lamp: lamp.normalize(),
            up: camera.direction(DVec3::Z),
            // Neighbours are sought about one and a half typical radii away.
            reach: ((1.6 * typical.on_screen).clamp(3.0, 60.0), 1.6 * typical.radius),
            taps,
        }
    }

    /// How open the surroundings of a point are: 1 in the free, towards 0 in a gap.
    fn openness(&self, point: Vec3, normal: Vec3, x: usize, y: usize) -> f32 {
        let width = self.camera.width as i32;
        let height = self.camera.height as i32;
        let mut hidden = 0.0;
        for (u, v) in self.taps[(x % SUPER) + SUPER * (y % SUPER)] {
            let i = x as i32 + (u * self.reach.0) as i32;
            let j = y as i32 + (v * self.reach.0) as i32;
            if i < 0 || j < 0 || i >= width || j >= height {
                continue;
            }
            let i = i as usize;
            let j = j as usize;
            let depth = self.hits.depth[j * self.camera.width + i];
            if depth.is_finite() {
                let way = depth * self.camera.ray(i, j) - point;
                let distance = way.length() / self.reach.1;
                let above = normal.dot(way) / (way.length() + 1e-6 * point.z);
                hidden += (above - 0.08).max(0.0) / (1.0 + distance * distance);
            }
        }
        let hidden = (hidden * 2.6 / TAPS as f32).min(1.0);
        1.0 - 0.85 * hidden
    }

    fn body(&self, normal: Vec3, paint: Vec3, point: Vec3, x: usize, y: usize) -> Vec3 {
        let view = -point.normalize();
        let open = self.openness(point, normal, x, y);
        // A lamp that wraps a little around the body, and light from the sky.
        let lamp = ((normal.dot(self.lamp) + 0.25) / 1.25).max(0.0);
        let sky = 0.5 + 0.5 * normal.dot(self.up);
        // A soft rim sets a body off from its like.
        let rim = 1.0 - 0.35 * (1.0 - normal.dot(view).max(0.0)).powi(3);
        let shine = normal.dot((self.lamp + view).normalize()).max(0.0).powi(40);
        let light = (0.85 * lamp * (0.4 + 0.6 * open) + (0.18 + 0.27 * sky) * open) * rim;
        paint * light * 1.12 + Vec3::splat(0.10 * shine * open)
    }

    fn wall(&self, albedo: f32, normal: Vec3, point: Vec3, x: usize, y: usize) -> Vec3 {
        let open = self.openness(point, normal, x, y);
        let lamp = normal.dot(self.lamp).max(0.0);
        Vec3::splat(albedo * (0.76 + 0.26 * lamp) * (0.25 + 0.75 * open))
    }
}

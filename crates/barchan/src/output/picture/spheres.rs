//! For every sample of the picture: the nearest sphere, by casting the sample's ray.
//!
//! Spheres are sorted from front to back and dealt into bands of rows; each band is drawn by
//! one thread in that order. Most hidden spheres then cost one comparison a sample, and the
//! outcome does not depend on which thread took which band.

use super::camera::{Camera, visible};
use super::colour::Colouring;
use super::solids::{Solid, Solids, turn_of};
use crate::comm::{Communicator, Reduction};
use crate::frame::{Looks, SPHERE, Worn};
use crate::world::Bodies;
use barchan_parallel::{SortScratch, sort};
use glam::Vec3;
use rayon::prelude::*;

/// Rows of samples a band; even, so that pixels do not straddle bands.
pub(super) const BAND: usize = 32;
/// No sphere is drawn smaller than this radius, in samples: else it would slip through.
const SMALLEST: f32 = 0.7;
/// What is not a sphere is drawn as one below this radius, in samples: nobody could tell.
const SMALLEST_SOLID: f32 = 1.5;
/// Marks what a sample sees as a solid.
pub(super) const SOLID: u32 = 1 << 31;

/// Columns and rows of samples, both half-open.
pub(super) type Window = [usize; 4];

/// A sphere in the camera's frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ball {
    pub(super) centre: Vec3,
    pub(super) radius: f32,
    /// Place on the colour map.
    pub(super) value: f32,
}

impl Ball {
    /// Depth z at which `ray` (with z = 1) enters.
    #[inline]
    fn enter(&self, ray: Vec3) -> Option<f32> {
        let a = ray.length_squared();
        let t = ray.dot(self.centre) / a;
        // Distance from the ray to the centre: no difference of large squares.
        let miss = self.centre - t * ray;
        let rest = self.radius * self.radius - miss.length_squared();
        (rest > 0.0).then(|| t - (rest / a).sqrt())
    }

    /// Slopes between which the sphere appears along one axis, given its place `x` there:
    /// the tangents of the angles θ ± α.
    fn slopes(&self, x: f32) -> (f32, f32) {
        let z = self.centre.z;
        let t = x / z;
        let s = self.radius / (x * x + z * z - self.radius * self.radius).sqrt();
        ((t - s) / (1.0 + t * s), (t + s) / (1.0 - t * s))
    }

    /// Samples that may see the sphere: columns and rows, both half-open; `None` if outside.
    pub(super) fn window(&self, camera: &Camera) -> Option<Window> {
        let (left, right) = self.slopes(self.centre.x);
        let (bottom, top) = self.slopes(self.centre.y);
        let (x0, y0) = camera.place(left, top);
        let (x1, y1) = camera.place(right, bottom);
        let clip = |x: f32, n: usize| x.clamp(0.0, n as f32) as usize;
        let window = [
            clip(x0.floor(), camera.width),
            clip(x1.ceil(), camera.width),
            clip(y0.floor(), camera.height),
            clip(y1.ceil(), camera.height),
        ];
        (window[0] < window[1] && window[2] < window[3]).then_some(window)
    }
}

/// Those of this rank's bodies before the camera that are asked for, from front to back: spheres, and what is not round.
pub(super) fn project(
    bodies: &Bodies,
    camera: &Camera,
    (colouring, scale): (Colouring, [f64; 2]),
    is_asked_for: &dyn Fn(usize) -> bool,
) -> (Vec<Ball>, Solids) {
    let mut visible = visible(bodies);
    visible.retain(|&i| is_asked_for(i));
    let values = colouring.values(bodies, &visible, scale);
    let mut looks = Looks::default();
    let worn: Vec<Worn> = visible.iter().map(|&i| looks.wear(&bodies.shape[i])).collect();
    let ball = |((&i, &value), worn): ((&usize, &f32), &Worn)| {
        let centre = camera.point(bodies.position[i]);
        let reach = bodies.shape[i].bounding_radius().unwrap_or(0.0) as f32;
        let is_ball = worn.look == SPHERE || reach * camera.focal < SMALLEST_SOLID * centre.z;
        let radius = if is_ball { reach.max(SMALLEST * centre.z / camera.focal) } else { reach };
        (Ball { centre, radius, value }, is_ball)
    };
    let all: Vec<(Ball, bool)> = visible.par_iter().zip(&values).zip(&worn).map(ball).collect();
    let balls: Vec<Ball> = all.iter().filter(|(_, is_ball)| *is_ball).map(|(ball, _)| *ball).collect();
    let solids = all.iter().zip(&visible).zip(&worn).filter(|(((_, is_ball), _), _)| !is_ball);
    let solids: Vec<Solid> = solids
        .filter_map(|(((ball, _), &i), &worn)| {
            Some(Solid::new(looks.place(worn.look)?, *ball, worn, &turn_of(bodies.orientation[i]), camera))
        })
        .collect();
    (front_to_back(&balls), Solids::new(&looks, &solids))
}

/// Depth of the point of a ball that is nearest to the plane of the eye.
pub(super) fn front(ball: &Ball) -> f32 {
    ball.centre.z - ball.radius
}

/// Sorts spheres. What reaches behind the eye is left out.
pub(super) fn front_to_back(balls: &[Ball]) -> Vec<Ball> {
    // Bits of a positive float sort like the float.
    let mut order: Vec<(u32, u32)> = (0u32..)
        .zip(balls)
        .filter(|(_, b)| front(b) > 0.0 && b.centre.is_finite())
        .map(|(k, b)| (front(b).to_bits(), k))
        .collect();
    sort(&mut order, &mut SortScratch::default(), |o| u64::from(o.0));
    order.iter().map(|&(_, k)| balls[k as usize]).collect()
}

/// Mean radius of the bodies of all ranks: in the world, and in samples.
pub(super) struct Typical {
    pub(super) radius: f32,
    pub(super) on_screen: f32,
}

impl Typical {
    pub(super) fn of(balls: &[Ball], solids: &Solids, camera: &Camera, comm: &mut dyn Communicator) -> Self {
        let solids = || solids.list.iter().map(|solid| &solid.ball).filter(|b| front(b) > 0.0);
        let all = || balls.iter().chain(solids());
        let radius = all().map(|b| b.radius).sum::<f32>();
        let on_screen = all().map(|b| camera.focal * b.radius / b.centre.z).sum::<f32>();
        let mut sums = [f64::from(radius), f64::from(on_screen), all().count() as f64];
        comm.all_reduce(Reduction::Sum, &mut sums);
        let [radius, on_screen, count] = sums.map(|sum| sum as f32);
        Self { radius: radius / count.max(1.0), on_screen: on_screen / count.max(1.0) }
    }
}

/// What every sample sees, row by row.
pub(super) struct Hits {
    /// Depth; infinite where there is nothing.
    pub(super) depth: Vec<f32>,
    /// Which sphere, or which solid with [`SOLID`]; meaningless where there is none.
    pub(super) ball: Vec<u32>,
    /// Which triangle of a solid; empty where there are no solids.
    pub(super) facet: Vec<u32>,
}

/// Finds the nearest sphere of every sample.
pub(super) fn rasterise(balls: &[Ball], camera: &Camera) -> Hits {
    let width = camera.width;
    let height = camera.height;
    let mut hits =
        Hits { depth: vec![f32::INFINITY; width * height], ball: vec![0; width * height], facet: Vec::new() };
    let windows: Vec<_> = balls.par_iter().map(|b| b.window(camera)).collect();
    let mut bands: Vec<Vec<u32>> = vec![Vec::new(); height.div_ceil(BAND)];
    for (k, window) in windows.iter().enumerate() {
        if let Some([_, _, y0, y1]) = window {
            for band in &mut bands[y0 / BAND..y1.div_ceil(BAND)] {
                band.push(k as u32);
            }
        }
    }
    let depth = hits.depth.par_chunks_mut(BAND * width);
    let ball = hits.ball.par_chunks_mut(BAND * width);
    depth.zip(ball).zip(&bands).enumerate().for_each(|(band, ((depth, ball), members))| {
        let first = band * BAND;
        let end = first + depth.len() / width;
        for &k in members {
            let b = balls[k as usize];
            let Some([x0, x1, y0, y1]) = windows[k as usize] else { continue };
            let front = front(&b);
            for y in y0.max(first)..y1.min(end) {
                let row = (y - first) * width;
                for x in x0..x1 {
                    if front >= depth[row + x] {
                        continue;
                    }
                    if let Some(z) = b.enter(camera.ray(x, y))
                        && z < depth[row + x]
                    {
                        depth[row + x] = z;
                        ball[row + x] = k;
                    }
                }
            }
        }
    });
    hits
}

#[cfg(test)]
mod tests {
    use super::super::camera::{Extent, View};
    use super::*;
    use glam::DVec3;

    #[test]
    fn agrees_with_casting_every_ray_at_every_sphere() {
        let camera = Camera::fit(&Extent { low: -DVec3::ONE, high: DVec3::ONE }, &View::default(), 80, 60);
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as f64 / f64::from(1u32 << 31)
        };
        let mut bodies = Bodies::default();
        for _ in 0..60 {
            let place = 2.0 * DVec3::new(random(), random(), random()) - 1.0;
            bodies.push(crate::world::Body::dynamic(crate::shape::Shape::sphere(0.02 + 0.3 * random()), place), 1.0);
        }
        let (balls, _) = project(&bodies, &camera, (Colouring::Id, [0.0, 1.0]), &|_| true);
        assert_eq!(balls.len(), 60);
        let hits = rasterise(&balls, &camera);
        for y in 0..60 {
            for x in 0..80 {
                let slow = balls.iter().filter_map(|b| b.enter(camera.ray(x, y))).fold(f32::INFINITY, f32::min);
                assert_eq!(hits.depth[y * 80 + x], slow, "sample {x}, {y}");
            }
        }
    }
}

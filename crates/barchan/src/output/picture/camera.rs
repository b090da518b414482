//! Where the picture is taken from: a corner above the scene, z up, with mild perspective.

use super::select::nth;
use crate::comm::{Communicator, Reduction};
use crate::shape::Shape;
use crate::world::{Bodies, Motion};
use glam::{DMat3, DVec3, Vec3};

/// Distance of the eye in units of the scene's radius: far enough to keep verticals calm.
const DISTANCE: f64 = 5.5;
/// Part of the picture that the scene fills.
const FILL: f64 = 0.92;

/// Where a picture is taken from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Direction from the scene to the eye, as an angle about z, in degrees from x towards y.
    pub azimuth: f64,
    /// Its angle above the horizon, in degrees; between -89 and 89.
    pub elevation: f64,
    /// How much larger the scene is than when it just fills the picture.
    pub zoom: f64,
}

impl Default for View {
    /// To the right of the front, a good 25 degrees up.
    fn default() -> Self {
        Self { azimuth: -62.0, elevation: 27.0, zoom: 1.0 }
    }
}

/// Vessels that make the picture larger by more than this are not shown whole.
const MUCH: f64 = 5.0;
/// What is flatter than this, the least of its three extents to the middle one, is ground rather than a vessel.
const FLAT: f64 = 0.3;

/// Whether a body is a surface that may hold others, and hide them: a drum, a funnel, a bucket.
pub(super) fn is_vessel(bodies: &Bodies, i: usize) -> bool {
    let is_mesh = matches!(bodies.shape[i], Shape::Mesh(_)) && bodies.is_owned_and_bounded(i);
    is_mesh && bodies.motion[i] != Motion::Dynamic && {
        let [low, high] = box_of(bodies, i);
        let size = high - low;
        let middle = size.element_sum() - size.min_element() - size.max_element();
        size.is_finite() && size.min_element() > FLAT * middle
    }
}

/// The box that the picture must show.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) low: DVec3,
    pub(super) high: DVec3,
}

impl Extent {
    /// Around the bodies of all ranks but strays, all containers, and vessels that are not much larger than what moves.
    pub(super) fn of(bodies: &Bodies, comm: &mut dyn Communicator) -> Self {
        let Self { mut low, mut high } = bodies_extent(bodies, comm);
        let mut vessels = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        for i in 0..bodies.len() {
            if let Shape::Container(_) = bodies.shape[i] {
                for x in corners(bodies, i).into_iter().filter(|x| x.is_finite()) {
                    (low, high) = (low.min(x), high.max(x));
                }
            } else if is_vessel(bodies, i) {
                let own = box_of(bodies, i);
                vessels = [vessels[0].min(own[0]), vessels[1].max(own[1])];
            }
        }
        comm.all_reduce(Reduction::Min, vessels[0].as_mut());
        comm.all_reduce(Reduction::Max, vessels[1].as_mut());
        let all = [low.min(vessels[0]), high.max(vessels[1])];
        if vessels[0].is_finite() && all[0].distance(all[1]) < MUCH * low.distance(high) {
            (low, high) = all.into();
        }
        if low.cmple(high).all() && low.distance(high) > 0.0 {
            Self { low, high }
        } else {
            Self { low: -DVec3::ONE, high: DVec3::ONE }
        }
    }

    /// The box around this one and another.
    pub(super) fn union(&self, other: &Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    pub(super) fn centre(&self) -> DVec3 {
        0.5 * (self.low + self.high)
    }

    pub(super) fn radius(&self) -> f64 {
        0.5 * self.low.distance(self.high)
    }
}

/// The bounds of the bodies, where a few that flew off do not count: nothing beyond three
/// times the span between the first and the last percent.
fn bodies_extent(bodies: &Bodies, comm: &mut dyn Communicator) -> Extent {
    let visible = visible(bodies);
    let mut low = DVec3::INFINITY;
    let mut high = DVec3::NEG_INFINITY;
    for &i in &visible {
        let [own_low, own_high] = box_of(bodies, i);
        low = low.min(own_low);
        high = high.max(own_high);
    }
    let mut count = [visible.len() as f64];
    comm.all_reduce(Reduction::Sum, &mut count);
    comm.all_reduce(Reduction::Min, low.as_mut());
    comm.all_reduce(Reduction::Max, high.as_mut());
    let mut extent = Extent { low, high };
    let count = count[0] as u64;
    let few = count.div_ceil(100);
    if count <= 2 * few + 1 {
        return extent;
    }
    let last = count - 1;
    for axis in 0..3 {
        let values = || visible.iter().map(|&i| bodies.position[i][axis]);
        let first = nth(comm, values(), few);
        let end = nth(comm, values(), last - few);
        // A flat layer keeps some height.
        let span = (end - first).max(0.05 * (extent.high - extent.low).min_element());
        extent.low[axis] = extent.low[axis].max(first - span);
        extent.high[axis] = extent.high[axis].min(end + span);
    }
    extent
}

/// The lowest and the highest corner of a box about body `i`.
fn box_of(bodies: &Bodies, i: usize) -> [DVec3; 2] {
    let position = bodies.position[i];
    match &bodies.shape[i] {
        Shape::Sphere(sphere) => [position - sphere.radius, position + sphere.radius],
        shape => shape.half_box(&DMat3::from_quat(bodies.orientation[i])).map(|x| position + x),
    }
}

/// The bodies of this rank that can be drawn.
pub(super) fn visible(bodies: &Bodies) -> Vec<usize> {
    let valid = |r: f64| r.is_finite() && r > 0.0;
    let is_visible = |&i: &usize| {
        bodies.is_owned_and_bounded(i)
            && bodies.position[i].is_finite()
            && bodies.orientation[i].is_finite()
            && bodies.shape[i].bounding_radius().is_some_and(valid)
    };
    (0..bodies.len()).filter(is_visible).collect()
}

/// The corners of container `i` in the world; bit `a` of the index picks the high side of axis `a`.
pub(super) fn corners(bodies: &Bodies, i: usize) -> [DVec3; 8] {
    let half = match &bodies.shape[i] {
        Shape::Container(c) => c.half_extents,
        _ => DVec3::ZERO,
    };
    std::array::from_fn(|k| {
        let side = |axis: usize| if k >> axis & 1 == 1 { 1.0 } else { -1.0 };
        bodies.position[i] + bodies.orientation[i] * (half * DVec3::new(side(0), side(1), side(2)))
    })
}

/// A pin-hole camera. In its frame x points right, y up and z into the picture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Camera {
    eye: DVec3,
    /// World to camera.
    turn: DMat3,
    /// Samples that a unit at distance one spans.
    pub(super) focal: f32,
    /// Sample that looks straight ahead.
    centre: (f32, f32),
    /// Samples across and down.
    pub(super) width: usize,
    pub(super) height: usize,
}

impl Camera {
    /// Looks at `extent` so that it fills a picture of `width`×`height` samples.
    pub(super) fn fit(extent: &Extent, view: &View, width: usize, height: usize) -> Self {
        // Straight down there would be no telling which way is up.
        let azimuth = view.azimuth.to_radians();
        let elevation = view.elevation.clamp(-89.0, 89.0).to_radians();
        let back = DVec3::new(azimuth.cos() * elevation.cos(), azimuth.sin() * elevation.cos(), elevation.sin());
        let forward = -back;
        let right = forward.cross(DVec3::Z).normalize();
        let up = right.cross(forward);
        let eye = extent.centre() + back * (DISTANCE * extent.radius());
        let turn = DMat3::from_cols(right, up, forward).transpose();

        // The corners of the box on the plane at distance one give zoom and shift.
        let mut low = glam::DVec2::INFINITY;
        let mut high = glam::DVec2::NEG_INFINITY;
        for k in 0..8 {
            let pick = |axis: usize| if k >> axis & 1 == 1 { extent.high[axis] } else { extent.low[axis] };
            let p = turn * (DVec3::new(pick(0), pick(1), pick(2)) - eye);
            low = low.min(p.truncate() / p.z);
            high = high.max(p.truncate() / p.z);
        }
        let size = glam::DVec2::new(width as f64, height as f64);
        let focal = view.zoom * (FILL * size / (high - low)).min_element();
        let middle = 0.5 * (low + high);
        let centre = ((0.5 * size.x - focal * middle.x) as f32, (0.5 * size.y + focal * middle.y) as f32);
        Self { eye, turn, focal: focal as f32, centre, width, height }
    }

    /// Where the eye is.
    #[cfg(test)]
    pub(super) fn eye(&self) -> DVec3 {
        self.eye
    }

    /// A direction of the camera's frame in the world.
    #[cfg(test)]
    pub(super) fn world_direction(&self, d: Vec3) -> DVec3 {
        self.turn.transpose() * d.as_dvec3()
    }

    /// A point of the world in the camera's frame.
    pub(super) fn point(&self, x: DVec3) -> Vec3 {
        (self.turn * (x - self.eye)).as_vec3()
    }

    /// A direction of the world in the camera's frame.
    pub(super) fn direction(&self, d: DVec3) -> Vec3 {
        (self.turn * d).as_vec3()
    }

    /// The way through the middle of sample (x, y), with z = 1.
    #[inline]
    pub(super) fn ray(&self, x: usize, y: usize) -> Vec3 {
        let x = x as f32 + 0.5 - self.centre.0;
        let y = self.centre.1 - y as f32 - 0.5;
        Vec3::new(x / self.focal, y / self.focal, 1.0)
    }

    /// Where a point at slope (x/z, y/z) falls, in samples.
    #[inline]
    pub(super) fn place(&self, slope_x: f32, slope_y: f32) -> (f32, f32) {
        (self.centre.0 + self.focal * slope_x, self.centre.1 - self.focal * slope_y)
    }
}

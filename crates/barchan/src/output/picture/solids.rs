//! Bodies that are not spheres: triangles of the looks that they share, each stretched, turned and placed.
//!
//! Nothing is kept a triangle: a band of rows places the corners of each solid that reaches into it once more, and fills
//! its triangles against the depth that spheres have left. A sample remembers which triangle of which solid it has met;
//! its normal is found when light falls on it.

use super::camera::Camera;
use super::spheres::{BAND, Ball, Hits, SOLID, Window, front};
use crate::frame::{Look, Looks, Shaded, Worn};
use barchan_parallel::{SortScratch, sort};
use glam::{DMat3, DVec3, Mat3, Vec3};
use rayon::prelude::*;

/// What is nearer to the eye than this part of its own depth range is cut away.
const NEAR: f32 = 1e-6;

/// A surface that solids share.
#[derive(Clone, Debug)]
pub(super) struct Form {
    /// Its number among the looks.
    pub(super) id: u64,
    /// Whether its inside cannot be seen.
    pub(super) is_closed: bool,
    /// Corners and normals.
    pub(super) shaded: Shaded,
}

/// A solid in the camera's frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Solid {
    /// Its form, by the place in the list.
    pub(super) form: u32,
    /// Its origin, the radius of a ball about it, and its place on the colour map.
    pub(super) ball: Ball,
    /// From the axes of its form to those of the camera.
    pub(super) turn: Mat3,
    /// Factors on the axes of its form.
    pub(super) scale: Vec3,
}

impl Solid {
    /// Of what a body wears where it stands.
    pub(super) fn new(form: usize, ball: Ball, worn: Worn, turn: &DMat3, camera: &Camera) -> Self {
        let axis = |k: usize| camera.direction(turn.col(k));
        let turn = Mat3::from_cols(axis(0), axis(1), axis(2));
        Self { form: form as u32, ball, turn, scale: worn.scale.as_vec3() }
    }

    #[inline]
    fn place(&self, x: Vec3) -> Vec3 {
        self.ball.centre + self.turn * (self.scale * x)
    }

    /// Rows and columns of samples that may see it. About the eye these are all.
    fn window(&self, camera: &Camera) -> Option<Window> {
        if front(&self.ball) > 0.0 {
            return self.ball.window(camera);
        }
        (self.ball.centre.z + self.ball.radius > 0.0).then_some([0, camera.width, 0, camera.height])
    }
}

/// Solids, from front to back, and their forms.
#[derive(Clone, Debug, Default)]
pub(super) struct Solids {
    /// The forms.
    pub(super) forms: Vec<Form>,
    /// The solids.
    pub(super) list: Vec<Solid>,
}

impl Form {
    /// Of a look.
    pub(super) fn of(look: &Look) -> Self {
        let is_closed = look.surface.is_closed() && look.surface.is_oriented();
        Self { id: look.id, is_closed, shaded: look.shaded() }
    }
}

impl Solids {
    /// Sorted from front to back.
    pub(super) fn new(looks: &Looks, list: &[Solid]) -> Self {
        Self::of_forms(looks.list().iter().map(Form::of).collect(), list)
    }

    /// Sorted from front to back.
    pub(super) fn of_forms(forms: Vec<Form>, list: &[Solid]) -> Self {
        // Bits of a positive float sort like the float.
        let mut order: Vec<(u32, u32)> = (0u32..)
            .zip(list)
            .filter(|(_, solid)| solid.ball.centre.is_finite() && solid.turn.is_finite())
            .map(|(k, solid)| (front(&solid.ball).max(0.0).to_bits(), k))
            .collect();
        sort(&mut order, &mut SortScratch::default(), |o| u64::from(o.0));
        Self { forms, list: order.iter().map(|&(_, k)| list[k as usize]).collect() }
    }

    /// The unit normal where a ray meets a triangle, turned to the eye.
    pub(super) fn normal(&self, solid: usize, triangle: usize, point: Vec3) -> Vec3 {
        let solid = &self.list[solid];
        let shaded = &self.forms[solid.form as usize].shaded;
        let corners = shaded.triangles[triangle].map(|k| k as usize);
        let [a, b, c] = corners.map(|k| solid.place(shaded.vertices[k]));
        let area = (b - a).cross(c - a);
        // Weights of the corners: parts of the area, seen along its normal.
        let part = |from: Vec3, to: Vec3| (from - point).cross(to - point).dot(area).max(0.0);
        let weights = [part(b, c), part(c, a), part(a, b)];
        let own = (0..3).map(|k| weights[k] * shaded.normals[corners[k]]).sum::<Vec3>();
        let normal = (solid.turn * (own / solid.scale)).normalize_or(area.normalize_or_zero());
        if normal.dot(point) > 0.0 { -normal } else { normal }
    }
}

/// A triangle on the screen.
struct Flat {
    corners: [[f64; 2]; 3],
    /// Its plane: points p with normal·p = offset.
    normal: Vec3,
    offset: f32,
    depths: [f32; 2],
}

impl Flat {
    /// Of corners in the camera's frame; `None` if it cannot be seen. That frame is left-handed: what is in order as seen
    /// from outside has its normal inwards.
    fn new([a, b, c]: [Vec3; 3], one_sided: bool, camera: &Camera) -> Option<Self> {
        let near = a.z.min(b.z).min(c.z);
        let far = a.z.max(b.z).max(c.z);
        let normal = (b - a).cross(c - a);
        let offset = normal.dot(a);
        let is_seen = near > NEAR * far.abs() && (offset > 0.0 || (!one_sided && offset < 0.0));
        let place = |p: Vec3| {
            let (x, y) = camera.place(p.x / p.z, p.y / p.z);
            [f64::from(x), f64::from(y)]
        };
        is_seen.then(|| Self { corners: [a, b, c].map(place), normal, offset, depths: [near, far] })
    }

    /// Samples within the rows that may lie in it: columns and rows, both half-open.
    fn window(&self, [x0, x1, y0, y1]: Window) -> Window {
        let least = |k: usize| self.corners.iter().map(|p| p[k]).fold(f64::INFINITY, f64::min);
        let most = |k: usize| self.corners.iter().map(|p| p[k]).fold(f64::NEG_INFINITY, f64::max);
        let clip = |x: f64, low: usize, high: usize| x.clamp(low as f64, high as f64) as usize;
        [
            clip((least(0) - 0.5).ceil(), x0, x1),
            clip((most(0) + 0.5).floor(), x0, x1),
            clip((least(1) - 0.5).ceil(), y0, y1),
            clip((most(1) + 0.5).floor(), y0, y1),
        ]
    }

    /// Whether the middle of a sample lies within, edges included: neighbours leave no gap.
    #[inline]
    fn holds(&self, x: usize, y: usize) -> bool {
        let p = [x as f64 + 0.5, y as f64 + 0.5];
        let side = |k: usize| {
            let [a, b] = [self.corners[k], self.corners[(k + 1) % 3]];
            (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])
        };
        let sides = [side(0), side(1), side(2)];
        sides.iter().all(|s| *s >= 0.0) || sides.iter().all(|s| *s <= 0.0)
    }

    /// Depth on a ray. Seen from its edge, a plane tells little: the corners say the rest.
    #[inline]
    fn depth(&self, ray: Vec3) -> f32 {
        let depth = self.offset / self.normal.dot(ray);
        if depth.is_nan() { self.depths[0] } else { depth.clamp(self.depths[0], self.depths[1]) }
    }
}

/// Finds the samples that see a solid before what they have seen so far.
pub(super) fn rasterise(solids: &Solids, hits: &mut Hits, camera: &Camera) {
    if solids.list.is_empty() {
        return;
    }
    let width = camera.width;
    hits.facet.resize(hits.depth.len(), 0);
    let windows: Vec<_> = solids.list.par_iter().map(|solid| solid.window(camera)).collect();
    let mut bands: Vec<Vec<u32>> = vec![Vec::new(); camera.height.div_ceil(BAND)];
    for (k, window) in windows.iter().enumerate() {
        if let Some([_, _, y0, y1]) = window {
            bands[y0 / BAND..y1.div_ceil(BAND)].iter_mut().for_each(|band| band.push(k as u32));
        }
    }
    let depth = hits.depth.par_chunks_mut(BAND * width);
    let ball = hits.ball.par_chunks_mut(BAND * width);
    let facet = hits.facet.par_chunks_mut(BAND * width);
    depth.zip(ball).zip(facet).zip(&bands).enumerate().for_each(|(band, (((depth, ball), facet), members))| {
        let first = band * BAND;
        let end = first + depth.len() / width;
        let mut corners = Vec::new();
        for &k in members {
            let Some([x0, x1, y0, y1]) = windows[k as usize] else { continue };
            let within = [x0, x1, y0.max(first), y1.min(end)];
            if is_hidden(&solids.list[k as usize].ball, within, first, width, depth) {
                continue;
            }
            let solid = &solids.list[k as usize];
            let form = &solids.forms[solid.form as usize];
            corners.clear();
            corners.extend(form.shaded.vertices.iter().map(|&x| solid.place(x)));
            for (t, triangle) in (0..).zip(&form.shaded.triangles) {
                let Some(flat) = Flat::new(triangle.map(|k| corners[k as usize]), form.is_closed, camera) else {
                    continue;
                };
                let [x0, x1, y0, y1] = flat.window(within);
                for y in y0..y1 {
                    for x in x0..x1 {
                        let at = (y - first) * width + x;
                        if flat.depths[0] >= depth[at] || !flat.holds(x, y) {
                            continue;
                        }
                        let z = flat.depth(camera.ray(x, y));
                        if z < depth[at] {
                            depth[at] = z;
                            ball[at] = SOLID | k;
                            facet[at] = t;
                        }
                    }
                }
            }
        }
    });
}

/// Whether all samples that may see a ball see something before it.
fn is_hidden(ball: &Ball, [x0, x1, y0, y1]: Window, first: usize, width: usize, depth: &[f32]) -> bool {
    let front = front(ball);
    (y0..y1).all(|y| {
        let row = (y - first) * width;
        depth[row + x0..row + x1].iter().all(|depth| *depth <= front)
    })
}

/// How a body is turned, as the world has it.
pub(super) fn turn_of(orientation: glam::DQuat) -> DMat3 {
    DMat3::from_cols(orientation * DVec3::X, orientation * DVec3::Y, orientation * DVec3::Z)
}

#[cfg(test)]
mod tests {
    use super::super::camera::{Extent, View};
    use super::super::colour::Colouring;
    use super::super::spheres;
    use super::*;
    use crate::shape::Shape;
    use crate::world::{Bodies, Body};
    use glam::DQuat;

    /// Where a ray enters a box, by its slabs.
    fn enter(bodies: &Bodies, i: usize, from: DVec3, along: DVec3) -> Option<f64> {
        let Shape::Box(c) = &bodies.shape[i] else { return None };
        let back = bodies.orientation[i].conjugate();
        let from = back * (from - bodies.position[i]);
        let along = back * along;
        let mut range = [f64::NEG_INFINITY, f64::INFINITY];
        for k in 0..3 {
            let a = (-c.half_extents[k] - from[k]) / along[k];
            let b = (c.half_extents[k] - from[k]) / along[k];
            range = [range[0].max(a.min(b)), range[1].min(a.max(b))];
        }
        (range[0] < range[1]).then_some(range[0])
    }

    #[test]
    fn agrees_with_casting_every_ray_at_every_box() {
        let camera = Camera::fit(&Extent { low: -DVec3::ONE, high: DVec3::ONE }, &View::default(), 80, 60);
        let mut bodies = Bodies::default();
        for k in 0..40 {
            let place = DVec3::new((1.7 * k as f64).sin(), (2.9 * k as f64).cos(), (0.7 * k as f64).sin());
            let half = DVec3::new(0.1, 0.2, 0.05) * (1.0 + 0.02 * k as f64);
            let turn = DQuat::from_euler(glam::EulerRot::XYZ, 0.3 * k as f64, 1.1 * k as f64, 0.2);
            bodies.push(Body::dynamic(Shape::cuboid(half), place).with_orientation(turn), 1.0);
        }
        let (balls, solids) = spheres::project(&bodies, &camera, (Colouring::Id, [0.0, 1.0]), &|_| true);
        assert_eq!((balls.len(), solids.list.len(), solids.forms.len()), (0, 40, 1));
        let mut hits = spheres::rasterise(&balls, &camera);
        rasterise(&solids, &mut hits, &camera);
        let mut seen = 0;
        let mut wrong = 0;
        for y in 0..60 {
            for x in 0..80 {
                let ray = camera.ray(x, y);
                let along = camera.world_direction(ray);
                let slow = (0..40).filter_map(|i| enter(&bodies, i, camera.eye(), along)).fold(f64::INFINITY, f64::min);
                let found = hits.depth[y * 80 + x];
                seen += usize::from(found.is_finite());
                // On an outline either may be right.
                wrong += usize::from(f64::from(found) != slow && (f64::from(found) - slow).abs() > 1e-4);
                if found.is_finite() {
                    let hit = hits.ball[y * 80 + x];
                    let normal = solids.normal((hit ^ SOLID) as usize, hits.facet[y * 80 + x] as usize, found * ray);
                    assert!((normal.length() - 1.0).abs() < 1e-5 && normal.dot(ray) <= 0.0);
                }
            }
        }
        assert!(seen > 1000 && wrong <= 2, "{seen} {wrong}");
    }
}

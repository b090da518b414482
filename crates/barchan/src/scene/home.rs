//! The periodic cell of a scene: bodies start inside it.

use super::Scene;
use super::stock::Stock;
use crate::broad::Aabb;
use crate::partition::Periods;
use glam::{DMat3, DVec3};

impl Scene {
    /// The cell, with no borders along axes that do not repeat.
    pub fn periods(&self) -> Periods {
        let domain = &self.domain;
        match (domain.min, domain.max) {
            (Some(low), Some(high)) => Periods::new(low, high, domain.periodic),
            _ => Periods::default(),
        }
    }

    /// The box of all places where bounded bodies can start, their surfaces included; the whole
    /// cell along axes that repeat. Nothing is built for it. The box of nothing if there are none.
    pub fn extent(&self) -> Aabb {
        let single = self.body.iter().filter(|body| !body.shape.is_unbounded());
        let single = single.fold(Aabb::EMPTY, |all, body| {
            let [low, high] = body.shape.half_box(&DMat3::from_quat(body.attitude()));
            all.join(&Aabb { low: body.start() + low, high: body.start() + high })
        });
        self.with_cell(single.join(&self.places_of_many()))
    }

    /// The same without single bodies, unless these are the most: where bodies are made first, to be shared
    /// equally afterwards, a few of them far away do not count.
    pub fn extent_of_many(&self) -> Aabb {
        let many = self.places_of_many();
        let count = self.body_count() - self.body.len() as u64;
        if count < self.body.len() as u64 || many.is_empty() { self.extent() } else { self.with_cell(many) }
    }

    /// The box of lattices and fills.
    fn places_of_many(&self) -> Aabb {
        let lattices = self.lattice.iter().filter(|lattice| lattice.body_count() > 0).map(|lattice| {
            let centres = lattice.extent();
            about(centres.low, centres.high, Stock::new(&lattice.assortment()).max_radius())
        });
        let fills = self.fill.iter().filter(|fill| fill.count > 0).map(|fill| Aabb { low: fill.min, high: fill.max });
        lattices.chain(fills).fold(Aabb::EMPTY, |all, part| all.join(&part))
    }

    /// A box with the whole cell along axes that repeat.
    fn with_cell(&self, mut all: Aabb) -> Aabb {
        let periods = if all.is_empty() { Periods::default() } else { self.periods() };
        for axis in (0..3).filter(|&axis| periods.repeats(axis)) {
            (all.low[axis], all.high[axis]) = (periods.low[axis], periods.high[axis]);
        }
        all
    }
}

/// A box with so much more on all sides.
fn about(low: DVec3, high: DVec3, radius: f64) -> Aabb {
    Aabb { low: low - radius, high: high + radius }
}

/// The place of a point within the cell; points that lie there keep their bits.
pub(crate) fn home(periods: &Periods, mut x: DVec3) -> DVec3 {
    for axis in (0..3).filter(|&axis| periods.repeats(axis)) {
        let low = periods.low[axis];
        let high = periods.high[axis];
        if !(low..high).contains(&x[axis]) {
            let back = x[axis] - (high - low) * ((x[axis] - low) / (high - low)).floor();
            // What rounds past an end is at the lower one, which is the same place.
            x[axis] = if (low..high).contains(&back) { back } else { low };
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{BodySpec, Fill, Lattice};
    use crate::shape::Shape;

    #[test]
    fn points_come_home_from_any_distance() {
        let periods = Periods::new(DVec3::new(-1.0, 0.0, 0.0), DVec3::new(2.0, 0.0, 1.0), [true, false, true]);
        assert_eq!(home(&periods, DVec3::new(2.0, 7.0, -10.25)), DVec3::new(-1.0, 7.0, 0.75));
        assert_eq!(home(&periods, DVec3::new(-4.5, -7.0, 1e-300)), DVec3::new(1.5, -7.0, 1e-300));
        assert_eq!(home(&periods, DVec3::new(-1.0 - 1e-17, 0.0, -1e-300)).z, 0.0);
    }

    #[test]
    fn the_extent_holds_all_that_is_built() {
        let mut scene = Scene::default();
        assert!(scene.extent().is_empty());
        scene.body.push(BodySpec::new(Shape::half_space(), DVec3::splat(-100.0)));
        assert!(scene.extent().is_empty());
        scene.body.push(BodySpec::new(Shape::sphere(0.5), DVec3::new(0.0, 0.0, 5.0)));
        scene.lattice.push(Lattice { jitter: 0.01, ..Lattice::hexagonal([4, 3, 2], 0.3, 0.1) });
        scene.fill.push(Fill::new(DVec3::splat(-2.0), DVec3::splat(-1.0), 5, 0.1));
        let extent = scene.extent();
        let world = scene.build().unwrap();
        for (x, shape) in world.bodies.position.iter().zip(&world.bodies.shape).skip(1) {
            let r = shape.bounding_radius().unwrap();
            assert!((*x - r).cmpge(extent.low).all() && (*x + r).cmple(extent.high).all(), "{x}");
        }
        assert_eq!((extent.low, extent.high.z), (DVec3::splat(-2.0), 5.5));
        scene.domain.min = Some(DVec3::splat(-9.0));
        scene.domain.max = Some(DVec3::splat(9.0));
        scene.domain.periodic = [false, true, false];
        assert_eq!((scene.extent().low.y, scene.extent().high.y, scene.extent().low.x), (-9.0, 9.0, -2.0));
    }
}

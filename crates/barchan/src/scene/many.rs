//! Checks of lattices and fills.

use super::kind::{Assortment, Kind, Orientation};
use super::lattice::{LatticeKind, Spacing};
use super::stock::Stock;
use super::validate::{AXES, Check, immovable};
use super::{Fill, Lattice, Radius};
use crate::shape::Shape;
use crate::world::Motion;

/// The densest that spheres can be placed at random.
const RANDOM_CLOSE_PACKING: f64 = 0.64;

/// Lengths that are to be equal differ by rounding.
const ROUNDING: f64 = 1e-9;

impl Check<'_> {
    fn radius(&mut self, path: &str, noun: &str, radius: &Radius) {
        for (key, message) in radius.faults(noun) {
            let path = if key.is_empty() { path.to_owned() } else { format!("{path}.{key}") };
            self.report_if(true, &path, || message);
        }
    }

    /// What bodies of an entry are.
    fn assortment(&mut self, path: &str, entry: &Assortment<'_>, motion: Motion) {
        let at = |key: &str| format!("{path}.{key}");
        let given = [entry.radius.is_some(), entry.shape.is_some(), !entry.mixture.is_empty()];
        let names: Vec<&str> =
            ["radius", "shape", "mixture"].into_iter().zip(given).filter_map(|(name, is)| is.then_some(name)).collect();
        self.report_if(names.is_empty(), &at("radius"), || {
            "is missing: an entry has the radius of spheres, a shape, or a mixture of kinds".into()
        });
        self.report_if(names.len() > 1, &at(names.last().unwrap_or(&"radius")), || {
            format!("an entry has one of radius, shape and mixture, but here are {}", names.join(" and "))
        });
        if !entry.mixture.is_empty() {
            self.report_if(entry.scale.is_some(), &at("scale"), || {
                "give each kind of the mixture its own scale".into()
            });
            for (k, kind) in entry.mixture.iter().enumerate() {
                self.kind(&format!("{path}.mixture[{k}]"), kind, motion);
            }
            let total: f64 = entry.mixture.iter().map(|kind| kind.weight).sum();
            self.report_if(total <= 0.0, &at("mixture"), || "at least one weight must be greater than 0".into());
        } else {
            let own = Kind {
                weight: 1.0,
                radius: entry.radius.cloned(),
                shape: entry.shape.cloned(),
                scale: entry.scale.cloned(),
                material: None,
                group: None,
            };
            self.what(path, &own, motion);
        }
        if let Orientation::Turned(q) = entry.orientation {
            let length = q.length();
            self.report_if(!(length.is_nan() || (length > 1e-150 && length < 1e150)), &at("orientation"), || {
                "must not be zero".into()
            });
        }
        self.material(&at("material"), entry.material);
    }

    /// A kind of a mixture.
    fn kind(&mut self, path: &str, kind: &Kind, motion: Motion) {
        let at = |key: &str| format!("{path}.{key}");
        self.not_negative(&at("weight"), kind.weight);
        self.report_if(kind.radius.is_some() == kind.shape.is_some(), &at("shape"), || {
            let found = if kind.shape.is_some() { "both are given" } else { "neither is given" };
            format!("a kind has the radius of spheres, or a shape: {found}")
        });
        self.what(path, kind, motion);
        kind.material.iter().for_each(|name| self.material(&at("material"), name));
    }

    /// Radius, shape and scale.
    fn what(&mut self, path: &str, kind: &Kind, motion: Motion) {
        let at = |key: &str| format!("{path}.{key}");
        kind.radius.iter().for_each(|radius| self.radius(&at("radius"), "radius", radius));
        kind.scale.iter().for_each(|scale| self.radius(&at("scale"), "scale", scale));
        self.report_if(kind.scale.is_some() && kind.shape.is_none(), &at("scale"), || {
            "is a factor on a shape; spheres have a radius instead".into()
        });
        let Some(shape) = &kind.shape else { return };
        if !self.shape(&at("shape"), shape) {
            return;
        }
        let name = shape.name();
        self.report_if(shape.is_unbounded(), &at("shape"), || {
            format!("a {name} has no end and no mass: give it as a single body ([[body]])")
        });
        self.report_if(motion == Motion::Dynamic && !shape.is_unbounded() && !shape.has_mass(), &at("shape"), || {
            match shape {
                Shape::Mesh(mesh) => immovable(mesh),
                _ => format!("a {name} has no volume, and cannot be dynamic"),
            }
        });
    }

    pub(super) fn lattice(&mut self, path: &str, lattice: &Lattice) {
        let at = |key: &str| format!("{path}.{key}");
        let entry = lattice.assortment();
        self.assortment(path, &entry, lattice.motion);
        for (axis, &n) in lattice.counts.iter().enumerate() {
            self.report_if(n == 0, &format!("{path}.counts[{axis}]"), || "must be at least 1, but is 0".into());
        }
        self.not_negative(&at("jitter"), lattice.jitter);
        self.not_negative(&at("velocity_jitter"), lattice.velocity_jitter);
        self.positive(&at("spacing"), lattice.spacing.axes().min_element());
        let per_axis = matches!(lattice.spacing, Spacing::PerAxis(_)) && lattice.kind == LatticeKind::Hexagonal;
        self.report_if(per_axis, &at("spacing"), || "a hexagonal lattice has one spacing: give a single number".into());
        let sites = lattice.site_count();
        self.report_if(lattice.count.is_some_and(|count| count > sites), &at("count"), || {
            format!("must be at most {sites}, the number of sites, but is {}", lattice.count.unwrap_or(0))
        });
        let moves = lattice.velocity != glam::DVec3::ZERO || lattice.velocity_jitter != 0.0;
        self.report_if(lattice.motion == Motion::Fixed && moves, &at("velocity"), || {
            format!("fixed {} do not move; use motion = \"kinematic\"", entry.nouns())
        });
        if !self.is_clean(path) {
            return;
        }
        let stock = Stock::new(&entry);
        self.fits_the_period(&at(entry.key()), stock.max_radius());
        if stock.is_aligned() && !stock.is_of_spheres() {
            self.aligned_lattice(&at("spacing"), lattice, &stock);
        } else {
            self.round_lattice(&at("spacing"), lattice, &stock);
        }
    }

    /// Balls that hold the bodies must not overlap.
    fn round_lattice(&mut self, path: &str, lattice: &Lattice, stock: &Stock) {
        let entry = lattice.assortment();
        let noun = entry.nouns();
        let what = if entry.radius.is_some() { "diameter" } else { "diameter, which they may take in any direction," };
        let closest = lattice.closest();
        let diameter = 2.0 * stock.max_radius();
        // Touching is fine, and so is the rounding of a spacing that means to touch.
        self.report_if(closest < diameter * (1.0 - ROUNDING), path, || {
            format!(
                "{noun} would overlap: spacing and jitter bring centres as near as {closest:?}, but the largest {what} is \
                 {diameter:?}"
            )
        });
        if let Some(periods) = self.periods() {
            let closest = lattice.closest_image(&periods);
            self.report_if(closest < diameter * (1.0 - ROUNDING), path, || {
                format!(
                    "{noun} would overlap across a periodic border: spacing, counts and jitter bring centres as near as \
                     {closest:?}, but the largest {what} is {diameter:?}. Enlarge the cell (domain.min, domain.max) or \
                     lower counts"
                )
            });
        }
    }

    /// Bodies that are all turned alike must not overlap by their true surfaces.
    fn aligned_lattice(&mut self, path: &str, lattice: &Lattice, stock: &Stock) {
        if let Some(offset) = lattice.overlap(stock) {
            self.report_if(true, path, || {
                format!("bodies would overlap: spacing and jitter leave no room between two that are {offset} apart")
            });
        }
        if let Some(offset) = self.periods().and_then(|periods| lattice.overlap_of_images(stock, &periods)) {
            self.report_if(true, path, || {
                format!(
                    "bodies would overlap across a periodic border: spacing, counts and jitter leave no room between two \
                     that are {offset} apart. Enlarge the cell (domain.min, domain.max) or lower counts"
                )
            });
        }
    }

    pub(super) fn fill(&mut self, path: &str, fill: &Fill, index: usize) {
        let at = |key: &str| format!("{path}.{key}");
        let entry = fill.assortment();
        self.assortment(path, &entry, Motion::Dynamic);
        self.report_if(fill.count == 0, &at("count"), || "must be at least 1, but is 0".into());
        self.report_if(fill.attempts == 0, &at("attempts"), || "must be at least 1, but is 0".into());
        self.not_negative(&at("gap"), fill.gap);
        self.not_negative(&at("velocity_jitter"), fill.velocity_jitter);
        let size = fill.max - fill.min;
        self.report_if(size.min_element() <= 0.0, &at("max"), || {
            format!("must exceed min along every axis, but the edges of the box are {:?}", size.to_array())
        });
        if !self.is_clean(path) {
            return;
        }
        let stock = Stock::new(&entry);
        let [down, up] = stock.reach();
        let noun = entry.noun();
        let what = if stock.is_aligned() && !stock.is_of_spheres() {
            format!("a {noun} of width")
        } else if entry.radius.is_some() {
            format!("a {noun} of diameter")
        } else {
            format!("a {noun} that may take, in any direction,")
        };
        // The axis along which it is the tightest.
        let tightest = |size: glam::DVec3| {
            let room = size - (down + up);
            let axis = if room.x <= room.min_element() {
                0
            } else if room.y <= room.z {
                1
            } else {
                2
            };
            [size[axis], (down + up)[axis]]
        };
        let [edge, width] = tightest(size);
        self.report_if(edge < width, &at("max"), || {
            format!("the box is {edge:?} wide and cannot hold {what} {width:?}")
        });
        self.fits_the_period(&at(entry.key()), stock.max_radius());
        if let Some(periods) = self.periods() {
            let clear = fill.clear_of_images(&periods);
            let [left, width] = tightest(clear.max - clear.min);
            self.report_if(edge >= width && left < width, &at("gap"), || {
                format!(
                    "a gap of {:?} to its own images leaves {left:?} of the cell, which cannot hold {what} {width:?}",
                    fill.gap
                )
            });
            let outside = |axis: usize| fill.min[axis] < periods.low[axis] || fill.max[axis] > periods.high[axis];
            for axis in (0..3).filter(|&axis| outside(axis)) {
                self.report_if(true, &at("max"), || {
                    format!(
                        "the box must lie in the cell along {}, where space repeats itself: from {:?} to {:?}, but \
                         reaches from {:?} to {:?}",
                        AXES[axis], periods.low[axis], periods.high[axis], fill.min[axis], fill.max[axis]
                    )
                });
            }
        }
        let fraction = fill.volume_fraction(&stock, self.scene.seed, index);
        let alike = if entry.radius.is_some() { "spheres" } else { "spheres and cubes" };
        let sizes = if entry.radius.is_some() { "radius" } else { "scale" };
        self.report_if(fraction > RANDOM_CLOSE_PACKING, &at("count"), || {
            format!(
                "{} {} would fill {:.1} % of the box. Random close packing fills 64 %, and random placement of \
                 equal {alike} stops at about 38 %. Enlarge the box, or lower count or {sizes}",
                fill.count,
                entry.nouns(),
                100.0 * fraction
            )
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{BodySpec, Scene};
    use crate::shape::Shape;
    use glam::{DQuat, DVec3};

    fn faults(change: impl FnOnce(&mut Scene)) -> String {
        let mut scene = Scene::default();
        let half = DVec3::new(0.05, 0.1, 0.2);
        scene.lattice.push(Lattice::cubic([4, 3, 2], 2.0 * half, 0.1).of(Shape::cuboid(half)));
        let fill = Fill::new(DVec3::splat(2.0), DVec3::splat(3.0), 10, 0.1);
        scene.fill.push(fill.mixed(vec![Kind::of(Shape::cuboid(half)), Kind::spheres(0.1)]));
        assert_eq!(scene.validate(), []);
        change(&mut scene);
        scene.validate().iter().map(|p| format!("{}: {}\n", p.path, p.message)).collect()
    }

    fn starts(found: String, start: &str) {
        assert!(found.starts_with(start) && found.lines().count() == 1, "{found}");
    }

    #[test]
    fn an_entry_says_once_what_its_bodies_are() {
        starts(faults(|s| s.lattice[0].shape = None), "lattice[0].radius: is missing: an entry has");
        starts(faults(|s| s.lattice[0].radius = Some(0.01.into())), "lattice[0].shape: an entry has one of");
        starts(faults(|s| s.fill[0].radius = Some(0.01.into())), "fill[0].mixture: an entry has one of");
        starts(faults(|s| s.fill[0].scale = Some(2.0.into())), "fill[0].scale: give each kind");
        starts(faults(|s| s.fill[0].mixture[0].shape = None), "fill[0].mixture[0].shape: a kind has");
        starts(faults(|s| s.fill[0].mixture[1].scale = Some(1.0.into())), "fill[0].mixture[1].scale: is a factor");
        starts(faults(|s| s.fill[0].mixture[0].scale = Some((-1.0).into())), "fill[0].mixture[0].scale: a scale must");
        starts(faults(|s| s.fill[0].mixture[0].weight = -0.5), "fill[0].mixture[0].weight: must not be negative");
        starts(
            faults(|s| s.fill[0].mixture.iter_mut().for_each(|kind| kind.weight = 0.0)),
            "fill[0].mixture: at least one weight",
        );
        starts(faults(|s| s.fill[0].mixture[1].material = Some("lead".into())), "fill[0].mixture[1].material: unknown");
        starts(
            faults(|s| s.fill[0].mixture[0].shape = Some(Shape::cone(0.1, -0.1))),
            "fill[0].mixture[0].shape.cone.half_height: must be greater than 0",
        );
        starts(faults(|s| s.lattice[0].shape = Some(Shape::half_space())), "lattice[0].shape: a half-space has no end");
        starts(
            faults(|s| s.lattice[0].orientation = Some(Orientation::Turned(DQuat::from_array([0.0; 4])))),
            "lattice[0].orientation: must not be zero",
        );
    }

    #[test]
    fn neighbours_on_a_lattice_keep_clear_as_they_are_turned() {
        let turned = |q| move |s: &mut Scene| s.lattice[0].orientation = Some(q);
        starts(
            faults(turned(Orientation::Random)),
            "lattice[0].spacing: bodies would overlap: spacing and jitter bring",
        );
        let quarter = DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2);
        starts(
            faults(turned(Orientation::Turned(quarter))),
            "lattice[0].spacing: bodies would overlap: spacing and jitter leave",
        );
        assert_eq!(faults(turned(Orientation::Turned(DQuat::from_rotation_z(std::f64::consts::PI)))), "");
        starts(faults(|s| s.lattice[0].jitter = 1e-4), "lattice[0].spacing: bodies would overlap");
        starts(faults(|s| s.lattice[0].scale = Some(Radius::Uniform([0.5, 1.01]))), "lattice[0].spacing: bodies");
        assert_eq!(
            faults(|s| {
                s.lattice[0].scale = Some(Radius::Uniform([0.5, 0.9]));
                s.lattice[0].jitter = 0.004;
            }),
            ""
        );
    }

    #[test]
    fn lattices_and_fills_fit_the_cell_by_their_true_sizes() {
        let repeat = |s: &mut Scene, high: DVec3| {
            s.fill.clear();
            s.domain.min = Some(DVec3::new(-0.05, -0.1, -0.2));
            s.domain.max = Some(high);
            s.domain.periodic = [true, false, false];
            s.lattice[0].counts = [10, 3, 2];
        };
        assert_eq!(faults(|s| repeat(s, DVec3::new(0.95, 9.0, 9.0))), "");
        starts(faults(|s| repeat(s, DVec3::new(0.94, 9.0, 9.0))), "lattice[0].spacing: bodies would overlap across");
        let narrow = |s: &mut Scene| s.fill[0].max.x = 2.15;
        starts(faults(narrow), "fill[0].max: the box is 0.1499");
        let aligned = |s: &mut Scene| {
            s.fill[0] = Fill { max: DVec3::new(2.11, 3.0, 3.0), ..s.fill[0].clone() };
            s.fill[0].count = 3;
            s.fill[0].mixture.truncate(1);
            s.fill[0].orientation = Some(Orientation::Aligned);
        };
        assert_eq!(faults(aligned), "");
        let body = BodySpec::new(Shape::half_space(), DVec3::ZERO);
        assert_eq!(faults(|s| s.body.push(body)), "");
    }
}

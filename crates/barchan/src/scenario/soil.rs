//! Loose soil in an open box, for machines of steel that work in it.

use super::boxed::{count, friction, length, open_box};
use super::{Parameter, Parameters};
use crate::scene::{BodySpec, Fill, Radius};
use crate::world::Material;
use glam::DVec3;

/// Grains of a mean radius, as many as there are, in a box with these halves of its edges.
pub(super) struct Soil {
    half: DVec3,
    bodies: u64,
    radius: f64,
    friction: f64,
}

/// What may be chosen of it: how many grains, of which mean radius, and their friction.
pub(super) const fn parameters(bodies: f64, radius: f64) -> [Parameter; 3] {
    [count("bodies", bodies, "how many grains"), length("radius", radius, "mean of their radii, m"), friction(0.6)]
}

impl Soil {
    pub(super) fn new(half: DVec3, parameters: &Parameters) -> Self {
        let [radius, friction] = ["radius", "friction"].map(|key| parameters.get(key));
        Self { half, bodies: parameters.count("bodies"), radius, friction }
    }

    /// How high a loose fill of it stands before it has settled.
    pub(super) fn height(&self) -> f64 {
        let volume = self.bodies as f64 * 4.19 * self.radius.powi(3);
        (volume / 0.3 / (4.0 * self.half.x * self.half.y)).max(3.0 * self.radius)
    }

    /// The box, higher by some.
    pub(super) fn walls(&self, more: f64) -> BodySpec {
        open_box(self.half + DVec3::Z * 0.5 * more)
    }

    /// The grains, whose radii spread by such a part.
    pub(super) fn fill(&self, spread: f64) -> Fill {
        let floor = DVec3::new(self.half.x, self.half.y, 0.0);
        let fill = Fill::new(-floor, floor + DVec3::Z * self.height(), self.bodies, self.radius);
        let radii = [1.0 - spread, 1.0 + spread].map(|factor| factor * self.radius);
        Fill { radius: Some(Radius::Uniform(radii)), ..fill }
    }

    /// Its material, and one called steel.
    pub(super) fn materials(&self, [density, friction]: [f64; 2]) -> Vec<Material> {
        vec![
            Material { name: "gravel".into(), density: 2600.0, friction: self.friction, ..Material::default() },
            Material { name: "steel".into(), density, friction, ..Material::default() },
        ]
    }
}

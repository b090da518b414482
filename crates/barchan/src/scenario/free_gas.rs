//! A gas of spheres in a closed box (S2 section 6).

use super::gas::Gas;
use super::scaling::{PER_RANK, RANKS, size};
use super::{Parameter, ParameterRange, Scenario};
use crate::scene::{Scene, Time};
use crate::world::Material;
use std::f64::consts::PI;

const DESCRIPTION: &str = "Spheres move at random in a closed box without external forces; they fill 1 % of it and \
    start on a grid. Set-up of section 6 of Iglberger and Rüde, Massively parallel rigid body dynamics simulations: \
    262 144 spheres on a grid of 128 × 128 × 16 for strong scaling (nx, ny, nz), blocks of 25³ or 50³ spheres a rank \
    for weak scaling (per_rank), 1 000 steps. The paper gives no sizes and speeds: here the radius is 1 cm \
    and the speed up to 0.1 m/s along each axis. Spheres are spread evenly, and cross borders as often as they ever \
    will, from about step 500 on; collisions are rare. Known answer (conservation of momentum): collisions between \
    spheres leave the momentum as it is, only walls change it; without friction the energy stays as well.";

pub(super) static SCENARIO: Scenario = Scenario {
    name: "free-gas",
    summary: "spheres move at random in a closed box, 1 % by volume (Iglberger and Rüde, 6)",
    parameters: &[
        size("nx", 25.0, "spheres along x"),
        size("ny", 25.0, "spheres along y"),
        size("nz", 25.0, "spheres along z"),
        PER_RANK,
        RANKS,
        Parameter { name: "fraction", default: 0.01, range: ParameterRange::Positive, help: "of the box, by volume" },
        Parameter {
            name: "speed",
            default: 0.1,
            range: ParameterRange::NotNegative,
            help: "largest along each axis, m/s",
        },
        Parameter {
            name: "restitution",
            default: 1.0,
            range: ParameterRange::Fraction,
            help: "coefficient of restitution",
        },
        Parameter {
            name: "friction",
            default: 0.0,
            range: ParameterRange::NotNegative,
            help: "coefficient of friction",
        },
    ],
    build: |parameters| {
        let radius = 0.01;
        let material = Material {
            name: "beads".into(),
            friction: parameters.get("friction"),
            restitution: parameters.get("restitution"),
            ..Material::default()
        };
        let gas = Gas {
            radius,
            kinds: Vec::new(),
            spacing: radius * (4.0 / 3.0 * PI / parameters.get("fraction")).cbrt(),
            material,
            is_periodic: false,
            time: Time { step: 1e-3.into(), end: 1.0, ..Time::default() },
        };
        Scene { name: SCENARIO.name.into(), description: DESCRIPTION.into(), ..gas.scene(parameters) }
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    #[test]
    fn the_box_holds_as_much_as_it_says_and_grows_with_the_ranks() {
        let pairs = [("per_rank", "3"), ("ranks", "12"), ("fraction", "0.02")];
        let scene = SCENARIO.scene(&pairs.map(|(k, v)| (k.into(), v.into()))).unwrap();
        assert_eq!((scene.lattice[0].counts, scene.body_count()), ([9, 6, 6], 1 + 27 * 12));
        let size = scene.domain.max.unwrap() - scene.domain.min.unwrap();
        let filled = 27.0 * 12.0 * 4.0 / 3.0 * PI * 1e-6 / size.element_product();
        assert!((filled - 0.02).abs() < 1e-12, "{filled}");
        let world = scene.build().unwrap();
        let inside = |x: &DVec3| (x.abs() + 0.01).cmplt(0.5 * size).all();
        assert!(world.bodies.position.iter().all(inside));
        let crowded = SCENARIO.scene(&[("fraction".into(), "0.6".into())]).unwrap_err().to_string();
        assert!(crowded.contains("spheres would overlap"), "{crowded}");
    }
}

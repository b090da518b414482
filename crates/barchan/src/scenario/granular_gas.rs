//! A cooling granular gas (S4 7.2.1), of spheres.

use super::gas::Gas;
use super::scaling::{PER_RANK, RANKS, size};
use super::{Parameter, ParameterRange, Scenario};
use crate::scene::{Scene, Time};
use crate::world::Material;

const DESCRIPTION: &str = "A granular gas cools down: spheres 1 cm in diameter start on a grid of 1.1 cm with random \
    velocities up to 0.2 m/s along each axis (0.35 m/s in all), in a box or, with periodic = 1, in a cell that repeats \
    itself. Set-up of section 7.2.1 of Preclik and Rüde, Ultrascale simulations of non-smooth granular dynamics: walls, \
    friction 0.1, 1 000 steps of 100 µs, 25³ or 10³ particles a process. Their particles are composites, which fill \
    23 % of the box (3.8 % on a grid of 2 cm); whole spheres fill 39 % (6.5 %). They take 10 sweeps a step with a \
    relaxation of 0.75 (solver nbgs, solver.max_iterations 10, solver.nbgs.relaxation 0.75). On the grid nothing \
    touches: the first collisions come after 20 steps, and from step 200 on there are 1.4 contacts a body, which is \
    where to measure. Known answer: kinetic energy only falls, and in the periodic cell momentum stays as it is.";

pub(super) static SCENARIO: Scenario = Scenario {
    name: "granular-gas",
    summary: "a granular gas cools down, in a box or a periodic cell (Preclik and Rüde, 7.2.1)",
    parameters: &[
        size("nx", 25.0, "spheres along x"),
        size("ny", 25.0, "spheres along y"),
        size("nz", 25.0, "spheres along z"),
        PER_RANK,
        RANKS,
        Parameter { name: "spacing", default: 0.011, range: ParameterRange::Positive, help: "of the grid, m" },
        Parameter {
            name: "speed",
            default: 0.2,
            range: ParameterRange::NotNegative,
            help: "largest along each axis, m/s",
        },
        Parameter {
            name: "friction",
            default: 0.1,
            range: ParameterRange::NotNegative,
            help: "coefficient of friction",
        },
        Parameter {
            name: "periodic",
            default: 0.0,
            range: ParameterRange::Flag,
            help: "1 for a periodic cell without walls",
        },
    ],
    build: |parameters| {
        let gas = Gas {
            radius: 0.005,
            spacing: parameters.get("spacing"),
            material: Material { name: "grains".into(), friction: parameters.get("friction"), ..Material::default() },
            is_periodic: parameters.flag("periodic"),
            time: Time { step: 1e-4.into(), end: 0.1, ..Time::default() },
        };
        Scene { name: SCENARIO.name.into(), description: DESCRIPTION.into(), ..gas.scene(parameters) }
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    fn scene(pairs: &[(&str, &str)]) -> Scene {
        SCENARIO.scene(&pairs.iter().map(|&(k, v)| (k.into(), v.into())).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn walls_or_periods_enclose_the_gas() {
        let boxed = scene(&[("nx", "5"), ("ny", "6"), ("nz", "7")]);
        assert_eq!((boxed.body_count(), boxed.domain.periodic), (211, [false; 3]));
        let world = boxed.build().unwrap();
        let fastest = world.bodies.velocity.iter().map(|v| v.length()).fold(0.0, f64::max);
        assert!((0.25..0.2 * 3.0f64.sqrt()).contains(&fastest), "{fastest}");
        let endless = scene(&[("per_rank", "5"), ("ranks", "4"), ("periodic", "1")]);
        assert_eq!((endless.body_count(), endless.domain.periodic), (500, [true; 3]));
        // The grid goes on across the borders.
        assert!((endless.lattice[0].closest_image(&endless.periods()) - 0.011).abs() < 1e-12);
        assert_eq!(endless.build().unwrap().bodies.len(), 500);
    }
}

//! A cooling granular gas (S4 7.2.1), of particles that are glued of spheres.

use super::gas::Gas;
use super::scaling::{PER_RANK, RANKS, size};
use super::{Parameter, ParameterRange, Scenario};
use crate::scene::random::{EntryKind, Purpose, Stream};
use crate::scene::{Kind, Scene, Time};
use crate::shape::{Part, Shape};
use crate::world::Material;
use glam::{DQuat, DVec3};

const DESCRIPTION: &str = "A granular gas cools down: particles start on a grid of 1.1 cm with random velocities up to \
    0.2 m/s along each axis (0.35 m/s in all), in a box or, with periodic = 1, in a cell that repeats itself. Set-up of \
    section 7.2.1 of Preclik and Rüde, Ultrascale simulations of non-smooth granular dynamics: walls, friction 0.1, 1 000 \
    steps of 100 µs, 25³ or 10³ particles a process. A particle consists of two to four spheres of different sizes, set \
    from inside against a bounding sphere of 1 cm in diameter. The paper gives their radii as 0.6 to 0.8 cm, larger than \
    that sphere: they are taken for diameters, and fill 26 % of the box, the paper's 23 % (4.4 % on a grid of 2 cm, 3.8 %). \
    With clumps = 0 particles are whole spheres, which fill 39 % (6.5 %). They take 10 sweeps a step with a relaxation of \
    0.75 (solver nbgs, solver.max_iterations 10, solver.nbgs.relaxation 0.75). On the grid nothing touches; from step 200 \
    on there are about 1.4 contacts a whole sphere, which is where to measure. Known answer: kinetic energy only falls, \
    and in the periodic cell momentum stays as it is.";

/// The radius of the bounding sphere, m.
const RADIUS: f64 = 0.005;

/// Prototypes for each number of spheres.
const PROTOTYPES: usize = 4;

/// Particles of two to four spheres: as many of each, in a few prototypes.
fn clumps() -> Vec<Kind> {
    let directions = |spheres: usize| -> Vec<DVec3> {
        let (s, c) = (0.75f64.sqrt(), 0.5);
        let corner = |x, y, z| DVec3::new(x, y, z).normalize();
        match spheres {
            2 => vec![DVec3::X, -DVec3::X],
            3 => vec![DVec3::X, DVec3::new(-c, s, 0.0), DVec3::new(-c, -s, 0.0)],
            _ => vec![corner(1.0, 1.0, 1.0), corner(1.0, -1.0, -1.0), corner(-1.0, 1.0, -1.0), corner(-1.0, -1.0, 1.0)],
        }
    };
    let clump = |(spheres, k): (usize, usize)| {
        let mut draws = Stream::new(1, EntryKind::Lattice, spheres).draws(k as u64, Purpose::Radius);
        let parts = directions(spheres).into_iter().map(|direction| {
            // Whole micrometres, so that a file that lists them stays readable.
            let radius = (draws.between(0.003, 0.004) * 1e6).round() * 1e-6;
            let place = (direction * (RADIUS - radius) * 1e7).round() * 1e-7;
            Part::new(Shape::sphere(radius)).at(place, DQuat::IDENTITY)
        });
        Kind::of(Shape::composite(parts.collect()))
    };
    (2..=4).flat_map(|spheres| (0..PROTOTYPES).map(move |k| (spheres, k))).map(clump).collect()
}

pub(super) static SCENARIO: Scenario = Scenario {
    name: "granular-gas",
    summary: "a granular gas cools down, in a box or a periodic cell (Preclik and Rüde, 7.2.1)",
    parameters: &[
        size("nx", 25.0, "particles along x"),
        size("ny", 25.0, "particles along y"),
        size("nz", 25.0, "particles along z"),
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
        Parameter {
            name: "clumps",
            default: 1.0,
            range: ParameterRange::Flag,
            help: "1 for particles of two to four spheres, 0 for whole spheres",
        },
    ],
    build: |parameters| {
        let gas = Gas {
            radius: RADIUS,
            kinds: if parameters.flag("clumps") { clumps() } else { Vec::new() },
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

    #[test]
    fn particles_fill_as_much_as_in_the_paper() {
        let kinds = clumps();
        let volumes: Vec<f64> =
            kinds.iter().map(|kind| kind.shape.as_ref().and_then(Shape::moments).unwrap().volume).collect();
        let mean = volumes.iter().sum::<f64>() / volumes.len() as f64;
        let fraction = mean / 0.011f64.powi(3);
        assert!((0.25..0.28).contains(&fraction), "{fraction}");
        for kind in &kinds {
            let Some(Shape::Composite(clump)) = &kind.shape else { panic!("a clump") };
            for part in &clump.parts {
                let radius = part.shape.bounding_radius().unwrap();
                assert!((0.003..=0.004).contains(&radius));
                assert!((part.position.length() + radius - RADIUS).abs() < 2e-7);
            }
        }
        let whole = scene(&[("clumps", "0")]);
        assert!(whole.lattice[0].radius.is_some() && scene(&[]).lattice[0].mixture.len() == 12);
    }
}

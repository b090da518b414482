//! A hexagonal close packing that slides down a ramp (S4 7.2.2).

use super::scaling::{self, PER_RANK, RANKS, size};
use super::{Parameter, ParameterRange, Scenario};
use crate::scene::{BodySpec, Lattice, OutputOptions, Scene, Time};
use crate::shape::Shape;
use crate::world::Material;
use barchan_cone::solver::SolverName;
use glam::DVec3;

const DESCRIPTION: &str = "A hexagonal close packing of spheres of radius 1 mm between a floor and a lid, periodic in x \
    and y, slides at 0.1 m/s down a ramp of 30 degrees; friction of 0.85 makes it stick soon. Set-up of section 7.2.2 \
    of Preclik and Rüde, Ultrascale simulations of non-smooth granular dynamics: steps of 10 µs, 100 sweeps of nbgs \
    with a relaxation of 0.75, 10³ spheres a process, divided along x and y only. The sweeps are a fixed amount of \
    work, not a solution: between floor and lid forces are not determined, and most steps miss the tolerance. Known \
    answer: nx ny (6 nz - 1) contacts at all times for an even ny.";

pub(super) static SCENARIO: Scenario = Scenario {
    name: "hexagonal-packing",
    summary: "a close packing on a ramp, periodic in x and y: nx ny (6 nz - 1) contacts (Preclik and Rüde, 7.2.2)",
    parameters: &[
        size("nx", 10.0, "spheres along x, 3 or more"),
        size("ny", 10.0, "rows along y, 4 or more; an odd number is raised by one"),
        size("nz", 10.0, "layers"),
        PER_RANK,
        RANKS,
        Parameter { name: "angle", default: 30.0, range: ParameterRange::Degrees, help: "of the ramp, degrees" },
        Parameter {
            name: "speed",
            default: 0.1,
            range: ParameterRange::NotNegative,
            help: "downhill at the start, m/s",
        },
        Parameter {
            name: "friction",
            default: 0.85,
            range: ParameterRange::NotNegative,
            help: "coefficient of friction",
        },
    ],
    build: |parameters| {
        let [nx, ny, nz] = scaling::counts(parameters, [true, true, false]);
        // Rows alternate: an odd number would not match its own image.
        let ny = ny.checked_next_multiple_of(2).unwrap_or(ny);
        let radius = 1e-3;
        let spacing = 2e-3;
        let row = 0.75f64.sqrt() * spacing;
        let layer = (2.0f64 / 3.0).sqrt() * spacing;
        let [x, y] = [f64::from(nx) * spacing, f64::from(ny) * row];
        let top = f64::from(nz.saturating_sub(1)) * layer + 2.0 * radius;
        let angle = parameters.get("angle").to_radians();
        let material = Material {
            name: "quartz".into(),
            density: 2650.0,
            friction: parameters.get("friction"),
            ..Material::default()
        };
        let plane = |normal: DVec3, height: f64| BodySpec {
            normal: Some(normal),
            material: material.name.clone(),
            ..BodySpec::new(Shape::half_space(), DVec3::new(0.0, 0.0, height))
        };
        let mut scene = Scene {
            name: SCENARIO.name.into(),
            description: DESCRIPTION.into(),
            gravity: 9.81 * DVec3::new(angle.sin(), 0.0, -angle.cos()),
            time: Time { step: 1e-5.into(), end: 1e-2, ..Time::default() },
            output: OutputOptions { frame_interval: Some(1e-3), ..OutputOptions::default() },
            body: vec![plane(DVec3::Z, 0.0), plane(-DVec3::Z, top)],
            lattice: vec![Lattice {
                // Odd rows and layers are shifted: as far from either border.
                origin: DVec3::new(0.25 * spacing, row / 3.0, radius),
                velocity: DVec3::new(parameters.get("speed"), 0.0, 0.0),
                material: material.name.clone(),
                ..Lattice::hexagonal([nx, ny, nz], spacing, radius)
            }],
            material: vec![material],
            ..Scene::default()
        };
        (scene.domain.min, scene.domain.max) = (Some(DVec3::ZERO), Some(DVec3::new(x, y, top)));
        scene.domain.periodic = [true, true, false];
        scene.solver.name = SolverName::Nbgs;
        scene.solver.max_iterations = 100;
        scene.solver.nbgs.relaxation = 0.75;
        scene
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    fn scene(pairs: &[(&str, &str)]) -> Scene {
        SCENARIO.scene(&pairs.iter().map(|&(k, v)| (k.into(), v.into())).collect::<Vec<_>>()).unwrap()
    }

    /// Contacts by looking at every pair of spheres and all images.
    fn contacts(scene: &Scene) -> u64 {
        let world = scene.build().unwrap();
        let x: Vec<DVec3> = world.bodies.position[2..].to_vec();
        let length = scene.periods().length();
        let touching = 2e-3 * (1.0 + 1e-9);
        let mut count = 0;
        for (i, a) in x.iter().enumerate() {
            for b in &x[..i] {
                for shift in 0..9 {
                    let offset =
                        DVec3::new(f64::from(shift % 3 - 1) * length.x, f64::from(shift / 3 - 1) * length.y, 0.0);
                    let distance = a.distance(*b + offset);
                    assert!(distance > 2e-3 * (1.0 - 1e-9), "{a} and {b} overlap");
                    count += u64::from(distance < touching);
                }
            }
            let top = scene.domain.max.unwrap().z;
            count += u64::from(a.z < 1e-3 * (1.0 + 1e-9)) + u64::from(a.z > top - 1e-3 * (1.0 + 1e-9));
        }
        count
    }

    #[test]
    fn contacts_are_as_many_as_the_paper_says() {
        for [nx, ny, nz] in [[3u64, 4, 1], [5, 4, 3], [4, 6, 4]] {
            let numbers = [nx, ny, nz].map(|n| n.to_string());
            let scene = scene(&[("nx", &numbers[0]), ("ny", &numbers[1]), ("nz", &numbers[2])]);
            assert_eq!(contacts(&scene), nx * ny * (6 * nz - 1));
        }
    }

    #[test]
    fn ranks_are_added_along_x_and_y() {
        let scene = scene(&[("per_rank", "5"), ("ranks", "6")]);
        assert_eq!(scene.lattice[0].counts, [15, 10, 5]);
        assert!(scene.gravity.x > 0.0 && (scene.gravity.length() - 9.81).abs() < 1e-12);
        let few = SCENARIO.scene(&[("nx".into(), "2".into())]).unwrap_err().to_string();
        assert!(few.contains("less than half the period"), "{few}");
    }
}

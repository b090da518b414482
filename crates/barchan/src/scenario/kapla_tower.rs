//! A tower of planks.

use super::boxed::{count, floor, friction};
use super::offers;
use super::{Parameter, ParameterRange, Scenario};
use crate::scene::{BodySpec, Scene, Time};
use crate::shape::Shape;
use crate::world::Material;
use glam::{DQuat, DVec3};
use std::f64::consts::FRAC_PI_2;

const DESCRIPTION: &str = "A tower of wooden planks of 120 x 24 x 8 mm, layer on layer, each a quarter turned against the one \
    below. Layout 0 has two planks a layer, flat at the rims; layout 1 has two on their narrow sides; layout 2 has five \
    side by side, a solid tower. Known answer: it stands. Planks have one length for all, so a layer rests on the layer \
    below at four places, and every contact carries its share of all above it.";

/// Half of the edges of a plank, m.
const PLANK: DVec3 = DVec3::new(0.06, 0.012, 0.004);

pub(super) static SCENARIO: Scenario = Scenario {
    name: "kapla-tower",
    summary: "a tower of planks of 120 x 24 x 8 mm: it stands",
    parameters: &[
        count("layers", 20.0, "one upon the other"),
        Parameter {
            name: "layout",
            default: 0.0,
            range: ParameterRange::CountOrNone,
            help: "0: pairs, flat; 1: pairs on their narrow sides; 2 and more: five side by side",
        },
        friction(0.4),
    ],
    build: |parameters| {
        let layout = parameters.count("layout");
        let layers = parameters.count("layers");
        // As it lies along x: half edges, and where the planks of a layer lie across.
        let half = if layout == 1 { DVec3::new(PLANK.x, PLANK.z, PLANK.y) } else { PLANK };
        let rim = PLANK.x - half.y;
        let places: Vec<f64> =
            if layout >= 2 { (-2..=2).map(|k| 2.0 * half.y * f64::from(k)).collect() } else { vec![-rim, rim] };
        let planks = (0..layers).flat_map(|layer| {
            let turn = DQuat::from_rotation_z(FRAC_PI_2 * (layer % 2) as f64);
            let height = half.z * (2.0 * layer as f64 + 1.0);
            places.iter().map(move |&y| BodySpec {
                orientation: Some(turn),
                ..BodySpec::new(Shape::cuboid(half), turn * DVec3::new(0.0, y, 0.0) + DVec3::Z * height)
            })
        });
        Scene {
            name: SCENARIO.name.into(),
            description: DESCRIPTION.into(),
            time: Time { end: 10.0, ..Time::default() },
            body: std::iter::once(floor()).chain(planks).collect(),
            material: vec![Material {
                name: "pine".into(),
                density: 500.0,
                friction: parameters.get("friction"),
                ..Material::default()
            }],
            adjustable: vec![offers::gravity(), offers::tilt(), offers::friction()],
            ..Scene::default()
        }
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::Simulation;

    /// How far any plank moves, in thicknesses, until a time.
    fn creeps(set: &[(&str, &str)], end: f64) -> f64 {
        let set: Vec<(String, String)> = set.iter().map(|&(key, value)| (key.into(), value.into())).collect();
        let mut scene = SCENARIO.scene(&set).unwrap();
        // Bodies keep their places in memory.
        scene.broad_phase.reorder_interval = 0;
        let mut simulation = Simulation::from_scene(&scene).unwrap();
        let before = simulation.world.bodies.position.clone();
        while simulation.world.time < end {
            simulation.step().unwrap();
        }
        let moved = before.iter().zip(&simulation.world.bodies.position).map(|(x, y)| x.distance(*y));
        moved.fold(0.0, f64::max) / (2.0 * PLANK.z)
    }

    #[test]
    fn the_tower_stands_for_ten_seconds() {
        let creep = creeps(&[], 10.0);
        assert!(creep < 0.01, "{creep} of a plank");
    }

    #[test]
    fn towers_stand_in_every_layout() {
        for (layout, count) in [("0", 2), ("1", 2), ("2", 5)] {
            let set = [("layers", "6"), ("layout", layout)];
            let named = set.map(|(key, value)| (key.into(), value.into()));
            assert_eq!(SCENARIO.scene(&named).unwrap().body_count(), 1 + 6 * count);
            let creep = creeps(&set, 0.5);
            assert!(creep < 0.01, "{layout}: {creep} of a plank");
        }
    }
}

//! A scene without bodies, to start from.

use super::Scenario;
use crate::scene::Scene;

const DESCRIPTION: &str = "A scene to start from: it has no bodies yet, and every key has its default.";

pub(super) static SCENARIO: Scenario = Scenario {
    name: "empty",
    summary: "no bodies: `barchan new empty` prints a scene to start from, with examples",
    parameters: &[],
    build: |_| Scene { name: SCENARIO.name.into(), description: DESCRIPTION.into(), ..Scene::default() },
};

/// Bodies and the like behind comments, to be put behind the scene. Lines of a scene have a `#` and no space.
pub(super) const EXAMPLES: &str = r##"
# To start from: the blocks below are examples. Their lines have a # and no space before them. Take
# these off, and the block is part of the scene. All of them together are a scene that runs.
# `barchan check FILE` says what the scene is, `barchan run FILE` runs it, and `barchan view FILE`
# shows it in a browser while it runs. docs/scene-language.md explains every key.

# Another material. Bodies that name none are of the first, which stands above.
#[[material]]
#name = "steel"
#density = 7800.0
#friction = 0.3
#restitution = 0.5

# A floor: all that lies below a plane through the position, here the origin. It is fixed.
#[[body]]
#shape = { half-space = {} }

# The walls of a box that stands on it, 0.4 m wide and high, without a lid. position is its middle.
#[[body]]
#shape = { container = { half_extents = [0.2, 0.2, 0.2], open = ["+z"] } }
#position = [0.0, 0.0, 0.2]

# A ball that falls into the box. Balls move, unless motion is "fixed" or "kinematic".
#[[body]]
#shape = { sphere = { radius = 0.03 } }
#position = [0.0, 0.0, 0.8]
#velocity = [0.0, 0.0, -1.0]
#material = "steel"

# 5 x 5 x 3 balls in rows. origin is the centre of the first.
#[[lattice]]
#counts = [5, 5, 3]
#spacing = 0.06
#radius = 0.02
#origin = [-0.12, -0.12, 0.45]

# 300 balls of many sizes at random places of a box, without overlap.
#[[fill]]
#min = [-0.2, -0.2, 0.0]
#max = [0.2, 0.2, 0.4]
#count = 300
#radius = { uniform = [0.008, 0.014] }

# Air, which slows everything down.
#[[force]]
#drag = { rate = 0.2 }

# A slider on the page of `barchan view`.
#[[adjustable]]
#key = "material.steel.friction"
#min = 0.0
#max = 1.0
#label = "friction of steel"
"##;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario;
    use crate::step::Simulation;

    #[test]
    fn what_is_printed_has_no_bodies_and_its_examples_run() {
        let text = scenario::find("empty").unwrap().to_toml(&[("time.step".into(), "5e-4".into())]).unwrap();
        let empty = Scene::from_toml(&text, "empty.toml").unwrap();
        assert_eq!((empty.body_count(), empty.time.step), (0, 5e-4.into()));
        let code = |line: &str| match line.strip_prefix('#') {
            Some(code) if code.starts_with(|c: char| c == '[' || c.is_ascii_lowercase()) => code.to_owned(),
            _ => line.to_owned(),
        };
        let full = text.lines().map(code).collect::<Vec<_>>().join("\n");
        let scene = Scene::from_toml(&full, "full.toml").unwrap_or_else(|error| panic!("{error}\n{full}"));
        assert_eq!([scene.body.len(), scene.lattice.len(), scene.fill.len(), scene.force.len()], [3, 1, 1, 1]);
        assert_eq!((scene.material.len(), scene.adjustable.len(), scene.body_count()), (2, 1, 3 + 75 + 300));
        let mut simulation = Simulation::from_scene(&scene).unwrap();
        let report = simulation.step().unwrap();
        assert!(report.penetration.max < 1e-9, "{:?}", report.penetration);
    }
}

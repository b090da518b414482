//! Numbers of a scene that may be changed while it runs: which they are, and what a change does.
//!
//! A change is made in the scene, as an edit of the file would make it; then [`Scene::adjust`] brings
//! the laws of the running world in line with the scene. What bodies have come to in the meantime,
//! their places and their velocities, stays as it is.

use super::Scene;
use super::overrides::segments;
use super::validate::Check;
use super::write::tree;
use crate::world::{ForceField, Materials, Motion, World};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::f64::consts::TAU;

/// A number that viewers of a running scene may change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adjustable {
    /// The path of the number, such as `gravity.2` or `material.0.friction`.
    pub key: String,
    /// The least that it may become.
    pub min: f64,
    /// The most that it may become.
    pub max: f64,
    /// What viewers call it; the key by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

impl Adjustable {
    /// A number between two bounds, with a name for people.
    pub fn new(key: &str, min: f64, max: f64, label: &str) -> Self {
        Self { key: key.into(), min, max, label: Some(label.into()) }
    }
}

/// What can be changed, in a user's words.
const CHANGEABLE: &str = "gravity, friction and restitution of materials and pairs, velocities and oscillations of \
                          kinematic bodies, and force fields";

impl Scene {
    /// The value of a number that can be changed while the scene runs.
    ///
    /// # Errors
    /// If the scene has no such number, or it is fixed once the scene runs; in a user's words.
    pub fn adjustable_value(&self, key: &str) -> Result<f64, String> {
        let path = self.path_of(key);
        // The one list of what can be changed is that of the mutable places.
        if let Some(&mut value) = place(&mut self.frame(), &path) {
            return Ok(value);
        }
        let tree = tree(self);
        let found = path.iter().try_fold(&tree, |node, segment| match node {
            Value::Array(list) => segment.parse().ok().and_then(|i: usize| list.get(i)),
            node => node.get(segment),
        });
        Err(match found {
            None => format!("the scene has no \"{key}\""),
            Some(Value::Number(_)) => format!("\"{key}\" cannot be changed while the scene runs; {CHANGEABLE} can"),
            Some(_) => format!("\"{key}\" is not a number; add an index or a name, such as gravity.2"),
        })
    }

    /// Changes one of the scene's adjustable numbers.
    ///
    /// # Errors
    /// If the key is not that of an adjustable, or the value is out of its range.
    pub fn set_adjustable(&mut self, key: &str, value: f64) -> Result<(), String> {
        let Some(Adjustable { min, max, .. }) = self.adjustable.iter().find(|a| a.key == key) else {
            return Err(format!("\"{key}\" is not adjustable"));
        };
        if !(*min..=*max).contains(&value) {
            return Err(format!("\"{key}\" must lie between {min:?} and {max:?}, but is {value:?}"));
        }
        let path = self.path_of(key);
        match place(self, &path) {
            Some(number) => *number = value,
            None => return Err(format!("\"{key}\" cannot be changed while the scene runs")),
        }
        Ok(())
    }

    /// Brings the laws of a running world in line with this scene, which differs from the one that the
    /// world was made of in adjustable numbers only. The world is that of any rank, between two steps.
    pub fn adjust(&self, world: &mut World) {
        world.gravity = self.gravity;
        world.materials = Materials::new(self.material.clone(), self.pair_rule, &self.pair);
        world.fields.clone_from(&self.force);
        for (id, spec) in (0..).zip(&self.body).filter(|(_, spec)| spec.motion == Motion::Kinematic) {
            match world.prescribed.get_mut(&id) {
                Some(motion) => {
                    let mut shake = spec.oscillation;
                    // Another frequency goes on from the phase that has been reached: the body must not
                    // leave its place for it.
                    if let (Some(before), Some(shake)) = (motion.oscillation, &mut shake) {
                        shake.phase = before.phase + TAU * (before.frequency - shake.frequency) * world.time;
                    }
                    motion.oscillation = shake;
                    (motion.velocity, motion.angular_velocity) = (spec.velocity, spec.angular_velocity);
                }
                None => {
                    if let Some(i) = world.bodies.index_of(id) {
                        world.bodies.velocity[i] = spec.velocity;
                        world.bodies.angular_velocity[i] = spec.angular_velocity;
                    }
                }
            }
        }
    }

    /// Offers a number for adjustment, between bounds that hold what it is now; not if it cannot be
    /// changed.
    pub(crate) fn offer(&mut self, Adjustable { key, min, max, label }: Adjustable) {
        if let Ok(value) = self.adjustable_value(&key) {
            self.adjustable.push(Adjustable { min: min.min(value), max: max.max(value), key, label });
        }
    }

    /// The keys and indices of a path, in which a material may be named.
    fn path_of(&self, key: &str) -> Vec<String> {
        let mut path = segments(key);
        if let [list, name, ..] = &mut path[..]
            && list == "material"
            && name.parse::<usize>().is_err()
            && let Some(index) = self.material.iter().position(|material| material.name == *name)
        {
            *name = index.to_string();
        }
        path
    }

    /// The scene without the lists that can be long, and in which nothing can be changed.
    fn frame(&self) -> Self {
        Self {
            name: self.name.clone(),
            gravity: self.gravity,
            domain: self.domain,
            material: self.material.clone(),
            pair_rule: self.pair_rule,
            pair: self.pair.clone(),
            force: self.force.clone(),
            body: self.body.clone(),
            ..Self::default()
        }
    }
}

/// Where an adjustable number stands.
fn place<'a>(scene: &'a mut Scene, path: &[String]) -> Option<&'a mut f64> {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    match path[..] {
        ["gravity", axis] => component(&mut scene.gravity, axis),
        ["material", i, key] => {
            let material = entry(&mut scene.material, i)?;
            match key {
                "friction" => Some(&mut material.friction),
                "restitution" => Some(&mut material.restitution),
                _ => None,
            }
        }
        ["pair", i, key] => {
            let pair = entry(&mut scene.pair, i)?;
            match key {
                "friction" => pair.friction.as_mut(),
                "restitution" => pair.restitution.as_mut(),
                _ => None,
            }
        }
        ["force", i, kind, ref rest @ ..] => field(entry(&mut scene.force, i)?, kind, rest),
        ["body", i, ref rest @ ..] => {
            let body = entry(&mut scene.body, i).filter(|body| body.motion == Motion::Kinematic)?;
            match *rest {
                ["velocity", axis] => component(&mut body.velocity, axis),
                ["angular_velocity", axis] => component(&mut body.angular_velocity, axis),
                ["oscillation", "amplitude", axis] => component(&mut body.oscillation.as_mut()?.amplitude, axis),
                ["oscillation", "frequency"] => Some(&mut body.oscillation.as_mut()?.frequency),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Where a number of a force field stands.
fn field<'a>(field: &'a mut ForceField, kind: &str, rest: &[&str]) -> Option<&'a mut f64> {
    match (field, kind, rest) {
        (ForceField::Central { centre, .. }, "central", ["centre", axis]) => component(centre, axis),
        (ForceField::Central { strength, .. }, "central", ["strength"]) => Some(strength),
        (ForceField::Central { softening, .. }, "central", ["softening"]) => Some(softening),
        (ForceField::Drag { rate, .. }, "drag", ["rate"]) => Some(rate),
        (ForceField::Drag { wind, .. }, "drag", ["wind", axis]) => component(wind, axis),
        (ForceField::Well { centre, .. }, "well", ["centre", axis]) => component(centre, axis),
        (ForceField::Well { stiffness, .. }, "well", ["stiffness"]) => Some(stiffness),
        _ => None,
    }
}

fn entry<'a, T>(list: &'a mut [T], index: &str) -> Option<&'a mut T> {
    list.get_mut(index.parse::<usize>().ok()?)
}

fn component<'a>(vector: &'a mut DVec3, axis: &str) -> Option<&'a mut f64> {
    match axis {
        "0" => Some(&mut vector.x),
        "1" => Some(&mut vector.y),
        "2" => Some(&mut vector.z),
        _ => None,
    }
}

impl Check<'_> {
    /// Adjustables must be numbers that can be changed, and any value between their bounds must do.
    pub(super) fn adjustables(&mut self) {
        for (i, Adjustable { key, min, max, .. }) in self.scene.adjustable.iter().enumerate() {
            let at = |key: &str| format!("adjustable[{i}].{key}");
            let value = match self.scene.adjustable_value(key) {
                Ok(value) => value,
                Err(message) => {
                    self.report_if(true, &at("key"), || message);
                    continue;
                }
            };
            let path = self.scene.path_of(key);
            let twice = self.scene.adjustable[..i].iter().any(|other| self.scene.path_of(&other.key) == path);
            self.report_if(twice, &at("key"), || format!("\"{key}\" is listed twice"));
            self.report_if(min >= max, &at("max"), || format!("must exceed min, which is {min:?}, but is {max:?}"));
            self.report_if(min < max && (value < *min || value > *max), &at("key"), || {
                format!("\"{key}\" is {value:?}, which does not lie between min {min:?} and max {max:?}")
            });
            for (name, end) in [("min", *min), ("max", *max)] {
                self.end_of_range(&at(name), key, end);
            }
        }
    }

    /// At either end of its range the number must be a valid one.
    fn end_of_range(&mut self, path: &str, key: &str, end: f64) {
        if !self.problems.is_empty() || !end.is_finite() {
            return;
        }
        let mut scene = self.scene.frame();
        if let Some(number) = place(&mut scene, &self.scene.path_of(key)) {
            *number = end;
        }
        if let Some(problem) = scene.validate().first() {
            self.report_if(true, path, || format!("{} {}", problem.path, problem.message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::BodySpec;
    use crate::shape::Shape;
    use crate::step::Simulation;
    use crate::world::{Oscillation, PairException};

    fn scene() -> Scene {
        let mut scene = Scene::default();
        let shake = Oscillation { amplitude: DVec3::Z * 0.1, frequency: 2.0, phase: 0.3 };
        let floor = BodySpec { motion: Motion::Kinematic, ..BodySpec::new(Shape::half_space(), DVec3::ZERO) };
        scene.body = vec![
            BodySpec { oscillation: Some(shake), ..floor.clone() },
            BodySpec { velocity: DVec3::X, ..floor },
            BodySpec::new(Shape::sphere(0.1), DVec3::Z),
        ];
        scene.force = vec![
            ForceField::Drag { rate: 0.5, wind: DVec3::Y },
            ForceField::Well { centre: DVec3::ZERO, stiffness: 3.0 },
            ForceField::Central { centre: DVec3::ZERO, strength: 4.0, softening: 0.0 },
        ];
        scene.pair.push(PairException {
            materials: ["default".into(), "default".into()],
            friction: Some(0.25),
            restitution: None,
        });
        scene
    }

    #[test]
    fn numbers_of_all_kinds_are_found() {
        let scene = scene();
        for (key, value) in [
            ("gravity.2", -9.81),
            ("gravity[2]", -9.81),
            ("material.0.friction", 0.5),
            ("material.0.restitution", 0.0),
            ("pair.0.friction", 0.25),
            ("body.0.oscillation.frequency", 2.0),
            ("body.0.oscillation.amplitude.2", 0.1),
            ("body.1.velocity.0", 1.0),
            ("body.1.angular_velocity.1", 0.0),
            ("force.0.drag.rate", 0.5),
            ("force.0.drag.wind.1", 1.0),
            ("force.1.well.stiffness", 3.0),
            ("force.2.central.strength", 4.0),
        ] {
            assert_eq!(scene.adjustable_value(key), Ok(value), "{key}");
        }
        let refused = |key: &str| scene.adjustable_value(key).unwrap_err();
        assert_eq!(refused("gravty.2"), "the scene has no \"gravty.2\"");
        assert_eq!(refused("material.7.friction"), "the scene has no \"material.7.friction\"");
        assert!(refused("gravity").starts_with("\"gravity\" is not a number"));
        assert!(refused("time.step").starts_with("\"time.step\" is not a number"));
        for key in ["time.end", "material.0.density", "body.2.velocity.0", "body.0.oscillation.phase", "seed"] {
            assert!(refused(key).starts_with(&format!("\"{key}\" cannot be changed while the scene runs")), "{key}");
        }
    }

    #[test]
    fn faults_name_the_line() {
        let fault = |entry: &str| {
            let text = format!("gravity = [0, 0, -1]\n[[adjustable]]\n{entry}\n");
            Scene::from_toml(&text, "text").unwrap_err().to_string()
        };
        assert_eq!(fault("key = \"a\"\nmin = 0\nmax = 1"), "text:3: adjustable[0].key: the scene has no \"a\"");
        assert!(
            fault("key = \"time.end\"\nmin = 0\nmax = 1").contains("text:3: adjustable[0].key: \"time.end\" cannot")
        );
        assert!(fault("key = \"gravity\"\nmin = 0\nmax = 1").contains("is not a number"));
        assert_eq!(
            fault("key = \"gravity.2\"\nmin = 0\nmax = 0"),
            "text:5: adjustable[0].max: must exceed min, which is 0.0, but is 0.0"
        );
        assert_eq!(
            fault("key = \"gravity.2\"\nmin = 0\nmax = 2"),
            "text:3: adjustable[0].key: \"gravity.2\" is -1.0, which does not lie between min 0.0 and max 2.0"
        );
        assert_eq!(
            fault("key = \"material.0.friction\"\nmin = -1\nmax = 2"),
            "text:4: adjustable[0].min: material[0].friction must not be negative, but is -1.0"
        );
        assert!(fault("key = \"gravity.2\"\nmin = -inf\nmax = 2").contains("must be a finite number"));
        assert!(fault("key = \"gravity.2\"\nmin = -2").contains("the key \"max\" is missing"));
        let twice = "key = \"gravity.2\"\nmin = -2\nmax = 2\n[[adjustable]]\nkey = \"gravity[2]\"\nmin = -2\nmax = 2";
        assert!(fault(twice).contains("text:7: adjustable[1].key: \"gravity[2]\" is listed twice"), "{}", fault(twice));
    }

    #[test]
    fn only_adjustables_are_set_and_only_within_their_range() {
        let mut scene = scene();
        scene.adjustable.push(Adjustable::new("gravity.2", -20.0, 0.0, "gravity"));
        assert!(scene.set_adjustable("gravity.1", 1.0).unwrap_err().contains("is not adjustable"));
        for value in [-20.1, 0.1, f64::NAN, f64::INFINITY] {
            assert!(scene.set_adjustable("gravity.2", value).unwrap_err().contains("must lie between"), "{value}");
        }
        assert_eq!(scene.set_adjustable("gravity.2", 0.0), Ok(()));
        assert_eq!(scene.gravity.z, 0.0);
    }

    #[test]
    fn what_is_offered_holds_what_there_is() {
        let mut scene = Scene { gravity: DVec3::new(0.0, 0.0, -50.0), ..scene() };
        scene.offer(Adjustable::new("gravity.2", -20.0, 0.0, "gravity"));
        scene.offer(Adjustable::new("body.2.velocity.0", -20.0, 0.0, "of a dynamic body"));
        assert_eq!(scene.adjustable, [Adjustable::new("gravity.2", -50.0, 0.0, "gravity")]);
        assert_eq!(scene.validate(), []);
    }

    #[test]
    fn a_running_world_follows() {
        let mut scene = scene();
        scene.time.step = 1e-3.into();
        scene.force.clear();
        scene.body[2].position.z = 50.0;
        let mut simulation = Simulation::from_scene(&scene).unwrap();
        let mut step = |scene: &Scene, count: usize| {
            scene.adjust(&mut simulation.world);
            (0..count).for_each(|_| drop(simulation.step().unwrap()));
            let at = |id: u64| simulation.world.bodies.index_of(id).unwrap();
            let bodies = &simulation.world.bodies;
            (bodies.velocity[at(2)].z, bodies.position[at(0)].z, bodies.position[at(1)].x)
        };
        let (falling, _, moved) = step(&scene, 100);
        assert!((falling + 9.81 * 0.1).abs() < 1e-9 && (moved - 0.1).abs() < 1e-9, "{falling} {moved}");
        scene.gravity = DVec3::ZERO;
        scene.body[1].velocity.x = -1.0;
        scene.body[0].oscillation.as_mut().unwrap().frequency = 7.0;
        let (drifting, _, back) = step(&scene, 50);
        assert!((drifting - falling).abs() < 1e-12, "velocities stay: {drifting}");
        assert!((back - 0.05).abs() < 1e-9, "{back}");
        // However often the frequency changes, the floor swings about its place.
        for k in 0..200 {
            scene.body[0].oscillation.as_mut().unwrap().frequency = f64::from(k % 13);
            let (_, height, _) = step(&scene, 7);
            let middle = -0.1 * 0.3f64.sin();
            assert!((height - middle).abs() < 0.1 + 1e-9, "{height}");
        }
    }

    #[test]
    fn friction_takes_effect() {
        let mut scene = Scene { gravity: DVec3::new(5.0, 0.0, -9.81), ..Scene::default() };
        scene.body = vec![
            BodySpec::new(Shape::half_space(), DVec3::ZERO),
            BodySpec {
                rotation: crate::world::Rotation::Locked,
                ..BodySpec::new(Shape::sphere(0.1), DVec3::new(0.0, 0.0, 0.1))
            },
        ];
        scene.material[0].friction = 1.0;
        let mut simulation = Simulation::from_scene(&scene).unwrap();
        let mut speed_after = |scene: &Scene| {
            scene.adjust(&mut simulation.world);
            (0..50).for_each(|_| drop(simulation.step().unwrap()));
            let bodies = &simulation.world.bodies;
            bodies.velocity[bodies.index_of(1).unwrap()].x
        };
        let held = speed_after(&scene);
        scene.material[0].friction = 0.1;
        let slides = speed_after(&scene);
        assert!(held.abs() < 1e-2 && slides > 0.1, "{held} {slides}");
    }
}

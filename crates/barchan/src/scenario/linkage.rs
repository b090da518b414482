//! Machines in the air, with known answers: a pendulum, a slider-crank, a four-bar linkage and a chain.

use super::boxed::{count, length};
use super::offers;
use super::{Parameter, ParameterRange, Scenario};
use crate::scene::{BodySpec, JointSpec, MotorSpec, Scene, Time};
use crate::shape::Shape;
use crate::world::{JointKind, Material};
use glam::{DQuat, DVec3};

const PENDULUM: &str = "A ball on a massless rod swings. Known answer: the period is 4 K(sin(a/2)) sqrt(l/g) for an amplitude \
    a, with K the complete elliptic integral; energy is constant, since nothing brakes it.";
const SLIDER_CRANK: &str = "A motor turns a crank at a steady speed, and a rod moves a slider to and fro. Known answer: the \
    slider is at r cos(wt) + sqrt(l^2 - r^2 sin(wt)^2).";
const FOUR_BAR: &str = "A crank turns, and a rocker swings: a closed loop of three bars and the ground, in a plane. Known \
    answer: Freudenstein's equation for the angles. Eight of the twenty constraints of its hinges repeat others.";
const CHAIN: &str = "A chain of links hangs between two hooks. Known answer: a catenary, and at each hook half of the weight \
    along the vertical.";

/// A bar with rounded ends from a to b, in the plane y = 0.
fn bar(name: &str, a: DVec3, b: DVec3, radius: f64) -> BodySpec {
    let half = 0.5 * (b - a).length();
    let shape = Shape::capsule(radius, (half - radius).max(0.1 * radius));
    let turn = DQuat::from_rotation_arc(DVec3::Z, (b - a).normalize());
    BodySpec { name: name.into(), orientation: Some(turn), ..BodySpec::new(shape, 0.5 * (a + b)) }
}

/// A hinge about y.
fn hinge(name: &str, bodies: [&str; 2], anchor: DVec3) -> JointSpec {
    JointSpec { name: name.into(), ..JointSpec::new(JointKind::Revolute, bodies, anchor).about(-DVec3::Y) }
}

/// A hinge about y with a motor.
fn driven(joint: JointSpec, speed: f64) -> JointSpec {
    JointSpec { motor: Some(MotorSpec { speed: Some(speed.into()), ..MotorSpec::default() }), ..joint }
}

fn machine(name: &str, description: &str, end: f64, body: Vec<BodySpec>, joint: Vec<JointSpec>) -> Scene {
    Scene {
        name: name.into(),
        description: description.into(),
        time: Time { end, step: 1e-3.into(), ..Time::default() },
        body,
        joint,
        material: vec![Material { name: "steel".into(), density: 7800.0, ..Material::default() }],
        adjustable: vec![offers::gravity()],
        ..Scene::default()
    }
}

const SPEED: Parameter = length("speed", 6.0, "of the crank, rad/s");

pub(super) static PENDULUM_SCENARIO: Scenario = Scenario {
    name: "pendulum",
    summary: "a ball swings on a rod: its period is known",
    parameters: &[
        length("length", 1.0, "of the rod, m"),
        Parameter {
            name: "amplitude",
            default: 60.0,
            range: ParameterRange::Degrees,
            help: "from where it is let go, degrees from the vertical",
        },
    ],
    build: |parameters| {
        let angle = parameters.get("amplitude").to_radians();
        let place = parameters.get("length") * DVec3::new(angle.sin(), 0.0, -angle.cos());
        let bob = BodySpec { name: "bob".into(), ..BodySpec::new(Shape::sphere(0.05), place) };
        let rod = JointSpec {
            name: "rod".into(),
            end: Some(place),
            ..JointSpec::new(JointKind::Distance, ["world", "bob"], DVec3::ZERO)
        };
        machine(PENDULUM_SCENARIO.name, PENDULUM, 10.0, vec![bob], vec![rod])
    },
};

pub(super) static SLIDER_CRANK_SCENARIO: Scenario = Scenario {
    name: "slider-crank",
    summary: "a crank moves a slider to and fro",
    parameters: &[
        length("crank", 0.1, "its length, m"),
        length("rod", 0.3, "its length, m; more than the crank"),
        SPEED,
    ],
    build: |parameters| {
        let (r, l) = (parameters.get("crank"), parameters.get("rod"));
        let [pin, end] = [DVec3::X * r, DVec3::X * (r + l)];
        let radius = 0.08 * r;
        let block = Shape::cuboid(DVec3::new(0.25, 0.15, 0.15) * r);
        let slider = BodySpec { name: "slider".into(), ..BodySpec::new(block, end) };
        let bodies = vec![bar("crank", DVec3::ZERO, pin, radius), bar("rod", pin, end, radius), slider];
        let rail = JointSpec::new(JointKind::Prismatic, ["world", "slider"], end).about(DVec3::X);
        let joints = vec![
            driven(hinge("motor", ["world", "crank"], DVec3::ZERO), parameters.get("speed")),
            hinge("crank pin", ["crank", "rod"], pin),
            hinge("slider pin", ["rod", "slider"], end),
            JointSpec { name: "rail".into(), ..rail },
        ];
        machine(SLIDER_CRANK_SCENARIO.name, SLIDER_CRANK, 3.0, bodies, joints)
    },
};

pub(super) static FOUR_BAR_SCENARIO: Scenario = Scenario {
    name: "four-bar",
    summary: "a crank, a coupler and a rocker: a closed loop",
    parameters: &[
        length("ground", 0.4, "between the two fixed hinges, m"),
        length("crank", 0.1, "its length, m: the shortest"),
        length("coupler", 0.35, "its length, m"),
        length("rocker", 0.3, "its length, m"),
        SPEED,
    ],
    build: |parameters| {
        let [ground, crank, coupler, rocker] = ["ground", "crank", "coupler", "rocker"].map(|key| parameters.get(key));
        let [pin, far] = [DVec3::Z * crank, DVec3::X * ground];
        // Where circles about both ends meet, above them. What cannot meet is drawn as near as can be.
        let d = (far - pin).length();
        let along = (coupler * coupler - rocker * rocker + d * d) / (2.0 * d);
        let e = (far - pin) / d;
        let up = (coupler * coupler - along * along).max(0.0).sqrt();
        let top = pin + e * along + DVec3::new(-e.z, 0.0, e.x) * up;
        let radius = 0.06 * crank;
        let bodies = vec![
            bar("crank", DVec3::ZERO, pin, radius),
            bar("coupler", pin, top, radius),
            bar("rocker", far, top, radius),
        ];
        let joints = vec![
            driven(hinge("motor", ["world", "crank"], DVec3::ZERO), parameters.get("speed")),
            hinge("crank pin", ["crank", "coupler"], pin),
            hinge("rocker pin", ["coupler", "rocker"], top),
            hinge("ground", ["world", "rocker"], far),
        ];
        machine(FOUR_BAR_SCENARIO.name, FOUR_BAR, 3.0, bodies, joints)
    },
};

pub(super) static CHAIN_SCENARIO: Scenario = Scenario {
    name: "chain",
    summary: "a chain hangs between two hooks: a catenary",
    parameters: &[
        count("links", 40.0, "how many"),
        length("span", 1.0, "between the hooks, m"),
        length("slack", 1.3, "length of the chain over the span, at least 1"),
        Parameter {
            name: "friction",
            default: 0.0,
            range: ParameterRange::NotNegative,
            help: "coefficient of friction",
        },
    ],
    build: |parameters| {
        let links = parameters.count("links");
        let span = parameters.get("span");
        // It starts as a V, and swings into its place; the air brakes it.
        let half = 0.5 * span;
        let depth = half * (parameters.get("slack").max(1.0).powi(2) - 1.0).sqrt();
        let place = |k: u64| {
            let s = k as f64 / links as f64;
            DVec3::new(span * s - half, 0.0, -depth * (1.0 - (2.0 * s - 1.0).abs()))
        };
        let radius = 0.12 * span / links as f64;
        let name = |k: u64| format!("link {k}");
        let bodies = (0..links).map(|k| bar(&name(k), place(k), place(k + 1), radius)).collect();
        let pin = |k: u64| {
            let (first, second) = match k {
                0 => ("world".into(), name(0)),
                k if k == links => ("world".into(), name(links - 1)),
                k => (name(k - 1), name(k)),
            };
            let joint = JointSpec::new(JointKind::Spherical, [&first, &second], place(k));
            JointSpec { name: format!("pin {k}"), ..joint }
        };
        let mut scene = machine(CHAIN_SCENARIO.name, CHAIN, 6.0, bodies, (0..=links).map(pin).collect());
        scene.material[0].friction = parameters.get("friction");
        scene.force = vec![crate::world::ForceField::Drag { rate: 2.0, wind: DVec3::ZERO }];
        scene
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::Simulation;

    /// Seen from the side, each link points along y' = sinh(x/a), and the hooks bear half of the weight each.
    #[test]
    fn a_chain_hangs_in_a_catenary() {
        let set = [("links", "41")].map(|(k, v)| (k.into(), v.into()));
        let scene = CHAIN_SCENARIO.scene(&set).unwrap();
        let mut simulation = Simulation::from_scene(&scene).unwrap();
        while simulation.world.time < scene.time.end {
            simulation.step().unwrap();
        }
        let bodies = &simulation.world.bodies;
        let weight: f64 = bodies.inverse_mass().iter().map(|m| 9.81 / m).sum();
        let [first, last] = [0, 41].map(|k| simulation.world.joints[k].state.force);
        assert!((first.z - 0.5 * weight).abs() < 0.01 * weight, "{first} of {weight}");
        assert!((last.z - 0.5 * weight).abs() < 0.01 * weight && (first.x + last.x).abs() < 0.01 * weight, "{last}");
        // The horizontal pull is the same everywhere, and a = H/w gives the sag.
        let (length, span) = (1.3, 1.0f64);
        // length = 2a sinh(span/2a), by bisection.
        let (mut low, mut high) = (0.05f64, 10.0);
        for _ in 0..200 {
            let a = 0.5 * (low + high);
            if 2.0 * a * (span / (2.0 * a)).sinh() > length { low = a } else { high = a }
        }
        let sag = low * ((span / (2.0 * low)).cosh() - 1.0);
        let deepest = bodies.position.iter().map(|x| -x.z).fold(0.0, f64::max);
        assert!((deepest - sag).abs() < 0.01 * span, "{deepest} is not {sag}");
        assert!((first.x.abs() / (weight / length) - low).abs() < 0.02 * low, "{first} against {low}");
    }
}

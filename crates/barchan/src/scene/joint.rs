//! Joints of a scene.

use super::body::Placement;
use super::validate::Check;
use super::{BodySpec, Scene};
use crate::util::formula::Formula;
use crate::util::words::{nearest, quoted};
use crate::world::joint::{Drive, Joint, JointFrame, JointKind, JointState, Motor, Spring, Strength};
use crate::world::{Motion, World};
use glam::{DMat3, DQuat, DVec3};
use serde::{Deserialize, Serialize};

/// The name of the world among bodies.
const WORLD: &str = "world";

/// A motor as scenes have it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MotorSpec {
    /// The speed that it wants, rad/s or m/s: a number, or a formula of the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<Formula>,
    /// The place that it wants instead, rad or m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Formula>,
    /// The most that it exerts, N·m or N; without it, whatever it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<f64>,
    /// Of one that goes to a position: the way that is left over this time, s, is its speed. By default 0.1 if its effort is
    /// limited, and else it is there at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<f64>,
}

/// The response of a motor of limited effort.
const RESPONSE: f64 = 0.1;

/// A joint between two bodies, or the world and a body. Places and directions are those of the world at the start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JointSpec {
    /// By which tables call it; empty for `joint` and its number.
    #[serde(default)]
    pub name: String,
    /// What it leaves free.
    pub kind: JointKind,
    /// The names of the two bodies. The first may be `world`; the second is the one whose motion counts.
    pub bodies: [String; 2],
    /// Where it sits, m; of a distance joint, on the first body.
    #[serde(default)]
    pub anchor: DVec3,
    /// The other end of a distance joint, on the second body, m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<DVec3>,
    /// Its axis, along which or about which it moves; of universal joints and gears that of the first body.
    #[serde(default = "upright")]
    pub axis: DVec3,
    /// The axis on the second body of a universal joint or a gear.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_axis: Option<DVec3>,
    /// Of a gear: how often the second body turns for a turn of the first; negative the other way round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// The least and the most of its coordinate, rad or m from the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<[f64; 2]>,
    /// What drives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub motor: Option<MotorSpec>,
    /// What pulls it to a place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spring: Option<Spring>,
    /// Dry friction, N·m or N.
    #[serde(default)]
    pub friction: f64,
    /// The load at which it breaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strength: Option<Strength>,
    /// Whether its two bodies can touch.
    #[serde(default)]
    pub collide: bool,
}

fn upright() -> DVec3 {
    DVec3::Z
}

impl JointSpec {
    /// A joint of two bodies, called by their names, at a place, about or along z.
    pub fn new(kind: JointKind, bodies: [&str; 2], anchor: DVec3) -> Self {
        Self {
            name: String::new(),
            kind,
            bodies: bodies.map(Into::into),
            anchor,
            end: None,
            axis: DVec3::Z,
            second_axis: None,
            ratio: None,
            limits: None,
            motor: None,
            spring: None,
            friction: 0.0,
            strength: None,
            collide: false,
        }
    }

    /// The same about or along another axis.
    #[must_use]
    pub fn about(self, axis: DVec3) -> Self {
        Self { axis, ..self }
    }

    /// The axes on the first and on the second body, in the world, as frames of the joint.
    fn axes(&self) -> [DQuat; 2] {
        let frame = frame_about(self.axis);
        let other = self.second_axis.unwrap_or(self.axis).normalize();
        let second = match self.kind {
            JointKind::Gear => frame_about(other),
            // Its axis is the first of its frame.
            JointKind::Universal => DQuat::from_mat3(&DMat3::from_cols(
                other,
                {
                    let z = self.axis.normalize();
                    (z - other * z.dot(other)).normalize().cross(other)
                },
                (self.axis - other * self.axis.dot(other)).normalize(),
            )),
            _ => frame,
        };
        [frame, second]
    }
}

/// A frame whose third axis has a direction.
fn frame_about(axis: DVec3) -> DQuat {
    let z = axis.normalize();
    let x = z.any_orthonormal_vector();
    DQuat::from_mat3(&DMat3::from_cols(x, z.cross(x), z)).normalize()
}

impl Scene {
    /// The number of a single body by its name.
    pub(crate) fn body_named(&self, name: &str) -> Option<usize> {
        self.body.iter().position(|body| !name.is_empty() && body.name == name)
    }

    /// The ids of single bodies that a joint holds: every rank has them.
    pub(crate) fn joined_bodies(&self) -> Vec<u64> {
        let names = self.joint.iter().flat_map(|joint| &joint.bodies);
        let mut ids: Vec<u64> = names.filter_map(|name| self.body_named(name)).map(|id| id as u64).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Adds all joints to a world. The scene is valid.
    pub(super) fn add_joints(&self, world: &mut World) {
        for (k, spec) in self.joint.iter().enumerate() {
            let place = |name: &str| self.body_named(name).map(|i| (i as u64, self.settled(&self.body[i])));
            let [first, second] = [place(&spec.bodies[0]), place(&spec.bodies[1])];
            let Some((id, on_second)) = second else { continue };
            let [turn, other] = spec.axes();
            let anchors = [spec.anchor, spec.end.unwrap_or(spec.anchor)];
            let frames = [
                frame_on(first.as_ref().map(|entry| &entry.1), anchors[0], turn),
                frame_on(Some(&on_second), anchors[1], other),
            ];
            let measure = match spec.kind {
                JointKind::Gear => spec.ratio.unwrap_or(1.0),
                _ => anchors[0].distance(anchors[1]),
            };
            world.joints.push(Joint {
                name: if spec.name.is_empty() { format!("joint {k}") } else { spec.name.clone() },
                kind: spec.kind,
                bodies: (first.map(|entry| entry.0), id),
                frames,
                measure,
                limits: spec.limits,
                motor: spec.motor.as_ref().map(|motor| Motor {
                    drive: match (&motor.position, &motor.speed) {
                        (Some(position), _) => Drive::Position(position.clone()),
                        (None, speed) => Drive::Speed(speed.clone().unwrap_or_else(|| 0.0.into())),
                    },
                    effort: motor.effort.unwrap_or(f64::INFINITY),
                    response: motor.response.unwrap_or(if motor.effort.is_some() { RESPONSE } else { 0.0 }),
                }),
                spring: spec.spring,
                friction: spec.friction,
                strength: spec.strength,
                collide: spec.collide,
                state: JointState::default(),
            });
        }
    }
}

/// A frame of the world as a body carries it.
fn frame_on(body: Option<&Placement>, anchor: DVec3, turn: DQuat) -> JointFrame {
    match body {
        None => JointFrame { place: anchor, turn, home: turn },
        Some(body) => {
            let back = body.orientation.conjugate();
            JointFrame { place: back * (anchor - body.position), turn: (back * turn).normalize(), home: turn }
        }
    }
}

/// An axis with a direction.
fn is_direction(axis: DVec3) -> bool {
    let length = axis.length();
    length.is_nan() || (length > 1e-150 && length < 1e150)
}

impl Check<'_> {
    /// Everything that is wrong with joints.
    pub(super) fn joints(&mut self) {
        let mut names = std::collections::HashSet::new();
        for (i, body) in self.scene.body.iter().enumerate().filter(|(_, body)| !body.name.is_empty()) {
            let path = format!("body[{i}].name");
            self.report_if(body.name == WORLD, &path, || {
                "no body may be called \"world\": joints mean what does not move by it".into()
            });
            self.report_if(!names.insert(body.name.as_str()), &path, || {
                format!("there is another body named \"{}\"", body.name)
            });
        }
        let mut names = std::collections::HashSet::new();
        for (i, joint) in self.scene.joint.iter().enumerate() {
            let path = format!("joint[{i}]");
            self.report_if(
                !joint.name.is_empty() && !names.insert(joint.name.as_str()),
                &format!("{path}.name"),
                || format!("there is another joint named \"{}\"", joint.name),
            );
            self.joined(&path, joint);
            self.geometry(&path, joint);
            self.along(&path, joint);
        }
    }

    /// The bodies of a joint.
    fn joined(&mut self, path: &str, joint: &JointSpec) {
        let names = || self.scene.body.iter().map(|body| body.name.as_str()).filter(|name| !name.is_empty());
        let mut unknown = Vec::new();
        for (side, name) in joint.bodies.iter().enumerate() {
            let is_world = side == 0 && name == WORLD;
            if is_world || self.scene.body_named(name).is_some() {
                continue;
            }
            let message = if name == WORLD {
                "the second body is the one whose motion counts: name the world first".to_owned()
            } else if names().next().is_none() {
                format!("unknown body \"{name}\": no body of this scene has a name (body.name)")
            } else {
                let hint = nearest(name, names()).map_or(".".into(), |best| format!("; did you mean \"{best}\"?"));
                format!("unknown body \"{name}\"{hint} Known are {}, and \"{WORLD}\" for the first", quoted(names()))
            };
            unknown.push((side, message));
        }
        let is_known = unknown.is_empty();
        for (side, message) in unknown {
            self.report_if(true, &format!("{path}.bodies[{side}]"), || message);
        }
        if !is_known {
            return;
        }
        let [first, second] = joint.bodies.each_ref();
        self.report_if(first == second, &format!("{path}.bodies[1]"), || {
            format!("a joint needs two different bodies, and both are \"{first}\"")
        });
        let is_dynamic = |name: &String| {
            let body: Option<&BodySpec> = self.scene.body_named(name).map(|i| &self.scene.body[i]);
            body.is_some_and(|body| body.motion == Motion::Dynamic)
        };
        self.report_if(!is_dynamic(first) && !is_dynamic(second), &format!("{path}.bodies"), || {
            "no force moves either of the two: one of them must be dynamic".into()
        });
    }

    /// Axes, ends and ratios.
    fn geometry(&mut self, path: &str, joint: &JointSpec) {
        let at = |key: &str| format!("{path}.{key}");
        let kind = joint.kind.name();
        self.report_if(!is_direction(joint.axis), &at("axis"), || "must not be zero".into());
        let is_distance = joint.kind == JointKind::Distance;
        self.report_if(is_distance != joint.end.is_some(), &at("end"), || {
            if is_distance {
                "a distance joint needs its other end, on the second body".into()
            } else {
                format!("only a distance joint has an end; a {kind} joint sits at its anchor")
            }
        });
        let is_short = joint.end.is_some_and(|end| end == joint.anchor);
        self.report_if(is_short, &at("end"), || "must not be the anchor: a distance joint needs a length".into());
        let has_two = matches!(joint.kind, JointKind::Universal | JointKind::Gear);
        self.report_if(joint.second_axis.is_some() && !has_two, &at("second_axis"), || {
            format!("a {kind} joint has one axis; only universal joints and gears have a second")
        });
        self.report_if(joint.second_axis.is_some_and(|axis| !is_direction(axis)), &at("second_axis"), || {
            "must not be zero".into()
        });
        if joint.kind == JointKind::Universal {
            let crossed = joint.second_axis.map(|axis| axis.normalize().dot(joint.axis.normalize()).abs());
            self.report_if(crossed.is_none_or(|cosine| cosine > 1e-6), &at("second_axis"), || {
                "a universal joint needs a second axis, perpendicular to the first".into()
            });
        }
        self.report_if(joint.ratio.is_some() != (joint.kind == JointKind::Gear), &at("ratio"), || {
            if joint.ratio.is_some() {
                format!("only a gear has a ratio, and this is a {kind} joint")
            } else {
                "a gear needs its ratio: how often the second body turns for a turn of the first".into()
            }
        });
        self.report_if(joint.ratio == Some(0.0), &at("ratio"), || "must not be zero".into());
        self.report_if(joint.kind == JointKind::Gear && joint.bodies[0] == WORLD, &at("bodies[0]"), || {
            "a gear needs two bodies; the world does not turn".into()
        });
    }

    /// What acts along the coordinate.
    fn along(&mut self, path: &str, joint: &JointSpec) {
        let at = |key: &str| format!("{path}.{key}");
        let kind = joint.kind.name();
        let has_coordinate = joint.kind.coordinate().is_some();
        for (key, is_there) in [
            ("limits", joint.limits.is_some()),
            ("motor", joint.motor.is_some()),
            ("spring", joint.spring.is_some()),
            ("friction", joint.friction != 0.0),
        ] {
            self.report_if(is_there && !has_coordinate, &at(key), || {
                format!(
                    "a {kind} joint has no single coordinate on which that could act; revolute, prismatic, cylindrical \
                     and distance joints have"
                )
            });
        }
        if let Some([low, high]) = joint.limits {
            self.report_if(low > high, &at("limits"), || {
                format!("the least comes first, but {low:?} is more than {high:?}")
            });
            self.report_if(low <= high && !(low <= 0.0 && high >= 0.0), &at("limits"), || {
                format!("must contain 0, where the joint is at the start, but go from {low:?} to {high:?}")
            });
        }
        if let Some(motor) = &joint.motor {
            for (key, aim) in [("motor.speed", &motor.speed), ("motor.position", &motor.position)] {
                let start = aim.as_ref().map_or(0.0, |aim| aim.at(0.0));
                self.report_if(!start.is_finite(), &at(key), || format!("has no finite value at the start: {start:?}"));
            }
            self.report_if(motor.speed.is_some() == motor.position.is_some(), &at("motor"), || {
                "a motor needs a speed or a position, one of the two".into()
            });
            motor.effort.iter().for_each(|&effort| self.not_negative(&at("motor.effort"), effort));
            motor.response.iter().for_each(|&response| self.not_negative(&at("motor.response"), response));
            self.report_if(motor.response.is_some() && motor.position.is_none(), &at("motor.response"), || {
                "only a motor that goes to a position has a response".into()
            });
        }
        if let Some(spring) = joint.spring {
            self.not_negative(&at("spring.stiffness"), spring.stiffness);
            self.not_negative(&at("spring.damping"), spring.damping);
        }
        self.not_negative(&at("friction"), joint.friction);
        if let Some(strength) = joint.strength {
            strength.force.iter().for_each(|&force| self.positive(&at("strength.force"), force));
            strength.torque.iter().for_each(|&torque| self.positive(&at("strength.torque"), torque));
            self.report_if(strength.force.is_none() && strength.torque.is_none(), &at("strength"), || {
                "a joint breaks at a force or a torque: give one of them, or both".into()
            });
        }
    }
}

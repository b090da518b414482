//! A single body of a scene.

use crate::shape::{GivenMass, HalfSpace, MassProperties, Settled, Shape};
use crate::util::formula::VectorFormula;
use crate::world::{Motion, Oscillation, Prescribed, Rotation, Turn, Waypoints};
use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};

/// A single body of any shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "BodyText")]
pub struct BodySpec {
    /// By which joints and tables call it; may be empty.
    pub name: String,
    /// Shape in the body frame.
    pub shape: Shape,
    /// Where the origin of the shape is at time zero, m, before any displacement by `path` and `waypoints`. That is the
    /// centre of mass, but of polyhedra, meshes and composites.
    pub position: DVec3,
    /// Quaternion [x, y, z, w] from the body frame to the world frame; need not be of unit length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub orientation: Option<DQuat>,
    /// Outward normal of a half-space, instead of an orientation; need not be of unit length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub normal: Option<DVec3>,
    /// Velocity of the centre of mass, m/s.
    pub velocity: DVec3,
    /// Angular velocity in the world frame, rad/s.
    pub angular_velocity: DVec3,
    /// Name of its material; empty for the first.
    pub material: String,
    /// A number to tell bodies apart by in what a run writes, and by which some pass through others.
    pub group: u16,
    /// How its motion comes about. A file that does not say gets a dynamic body, or a fixed one
    /// if the shape has no finite mass.
    pub motion: Motion,
    /// Whether a dynamic body may turn.
    pub rotation: Rotation,
    /// Mass, centre and inertia of a dynamic body, in place of those of its shape and density.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mass: Option<GivenMass>,
    /// A shake on top of the velocity of a kinematic body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oscillation: Option<Oscillation>,
    /// Displacement of a kinematic body, m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<VectorFormula>,
    /// Displacements of a kinematic body at some times, and the legs between them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waypoints: Option<Waypoints>,
    /// Turn of a kinematic body by a formula, in place of an angular velocity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<Turn>,
    /// Velocity at which the material of a fixed or a kinematic body's surface moves along it, in the body frame, m/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surface_velocity: Option<VectorFormula>,
    /// Force at the centre of mass, N.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub force: Option<DVec3>,
    /// Torque, N·m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub torque: Option<DVec3>,
}

impl BodySpec {
    /// A body at rest, of the first material: dynamic, or fixed if its shape has no finite mass.
    pub fn new(shape: Shape, position: DVec3) -> Self {
        let motion = default_motion(&shape);
        Self {
            name: String::new(),
            shape,
            position,
            orientation: None,
            normal: None,
            velocity: DVec3::ZERO,
            angular_velocity: DVec3::ZERO,
            material: String::new(),
            group: 0,
            motion,
            rotation: Rotation::Free,
            mass: None,
            oscillation: None,
            path: None,
            waypoints: None,
            turn: None,
            surface_velocity: None,
            force: None,
            torque: None,
        }
    }

    /// The body as the world keeps it, if its material has this density.
    pub(crate) fn settled(&self, density: f64) -> Placement {
        let (origin, orientation) = (self.start(), self.attitude());
        let settled =
            (self.motion == Motion::Dynamic).then(|| self.shape.settle(density, self.mass.as_ref())).flatten();
        match settled {
            Some(Settled { shape, offset, turn, mass }) => Placement {
                shape,
                position: origin + orientation * offset,
                orientation: orientation * turn,
                mass: Some(mass),
            },
            None => Placement { shape: self.shape.clone(), position: origin, orientation, mass: None },
        }
    }

    /// From the body frame to the world frame at time zero, of unit length.
    pub fn attitude(&self) -> DQuat {
        let given = match (self.orientation, self.normal) {
            (Some(q), _) => q.normalize(),
            (None, Some(n)) => HalfSpace::orientation_for(n),
            (None, None) => DQuat::IDENTITY,
        };
        match &self.turn {
            Some(turn) => (turn.at(0.0) * given).normalize(),
            None => given,
        }
    }

    /// Where the origin of the shape is at time zero.
    pub fn start(&self) -> DVec3 {
        match self.prescribed() {
            Some(motion) => self.position + motion.displacement(0.0),
            None => self.position,
        }
    }

    /// How it moves, if it is kinematic and does more than keep its velocities.
    pub(crate) fn prescribed(&self) -> Option<Prescribed> {
        let Self { velocity, angular_velocity, oscillation, .. } = *self;
        let [path, waypoints, turn] = [self.path.is_some(), self.waypoints.is_some(), self.turn.is_some()];
        let moves = self.motion == Motion::Kinematic && (oscillation.is_some() || path || waypoints || turn);
        moves.then(|| Prescribed {
            velocity,
            angular_velocity,
            oscillation,
            path: self.path.clone(),
            waypoints: self.waypoints.clone(),
            turn: self.turn.clone(),
        })
    }
}

/// A shape where it stands, with its mass if forces move it.
pub(crate) struct Placement {
    pub(crate) shape: Shape,
    pub(crate) position: DVec3,
    pub(crate) orientation: DQuat,
    pub(crate) mass: Option<MassProperties>,
}

/// A shape without a finite mass cannot be moved by forces, and most meshes are walls.
fn default_motion(shape: &Shape) -> Motion {
    match shape {
        Shape::HalfSpace(_) | Shape::Container(_) | Shape::Mesh(_) => Motion::Fixed,
        _ => Motion::Dynamic,
    }
}

/// A body as files have it: the default of `motion` depends on the shape.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BodyText {
    #[serde(default)]
    name: String,
    shape: Shape,
    #[serde(default)]
    position: DVec3,
    orientation: Option<DQuat>,
    normal: Option<DVec3>,
    #[serde(default)]
    velocity: DVec3,
    #[serde(default)]
    angular_velocity: DVec3,
    #[serde(default)]
    material: String,
    #[serde(default)]
    group: u16,
    motion: Option<Motion>,
    #[serde(default)]
    rotation: Rotation,
    mass: Option<GivenMass>,
    oscillation: Option<Oscillation>,
    path: Option<VectorFormula>,
    waypoints: Option<Waypoints>,
    turn: Option<Turn>,
    surface_velocity: Option<VectorFormula>,
    force: Option<DVec3>,
    torque: Option<DVec3>,
}

impl From<BodyText> for BodySpec {
    fn from(text: BodyText) -> Self {
        Self {
            motion: text.motion.unwrap_or_else(|| default_motion(&text.shape)),
            name: text.name,
            shape: text.shape,
            position: text.position,
            orientation: text.orientation,
            normal: text.normal,
            velocity: text.velocity,
            angular_velocity: text.angular_velocity,
            material: text.material,
            group: text.group,
            rotation: text.rotation,
            mass: text.mass,
            oscillation: text.oscillation,
            path: text.path,
            waypoints: text.waypoints,
            turn: text.turn,
            surface_velocity: text.surface_velocity,
            force: text.force,
            torque: text.torque,
        }
    }
}

//! What forces move stands in the frame of its principal axes, about its centre of mass.
//!
//! A scene says where the origin of a shape is, and how the shape is turned. For most shapes origin and axes are those
//! of its mass already. Composites, polyhedra and meshes are re-made in the frame of theirs when they become dynamic.

use super::{MassProperties, Shape};
use glam::{DMat3, DQuat, DVec3};
use serde::{Deserialize, Serialize};

/// Mass, centre and inertia that a user gives in place of those of the shape.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GivenMass {
    /// Mass, kg; that of the shape at its density if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mass: Option<f64>,
    /// Centre of mass in the frame of the shape, m; that of the shape if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub centre: Option<DVec3>,
    /// Inertia about the centre of mass along the axes of the shape, kg m²: xx, yy, zz, and xy, xz, yz if they are not
    /// zero. That of the shape, in proportion to the mass, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inertia: Option<[f64; 6]>,
}

impl GivenMass {
    /// Whether it leaves nothing to the shape.
    pub(crate) fn is_whole(&self) -> bool {
        self.mass.is_some() && self.centre.is_some() && self.inertia.is_some()
    }

    /// The tensor of inertia, if it is given.
    fn tensor(&self) -> Option<DMat3> {
        let [xx, yy, zz, xy, xz, yz] = self.inertia?;
        Some(DMat3::from_cols(DVec3::new(xx, xy, xz), DVec3::new(xy, yy, yz), DVec3::new(xz, yz, zz)))
    }

    /// Its principal moments, ascending.
    pub(crate) fn principal(&self) -> DVec3 {
        let mut moments = barchan_mesh::principal(self.tensor().unwrap_or(DMat3::ZERO)).0.to_array();
        moments.sort_by(f64::total_cmp);
        moments.into()
    }
}

/// A shape in the frame of its principal axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Settled {
    /// The shape.
    pub shape: Shape,
    /// Its centre of mass in the frame that it had before.
    pub offset: DVec3,
    /// From its new axes to those that it had before.
    pub turn: DQuat,
    /// Its mass.
    pub mass: MassProperties,
}

impl Shape {
    /// The shape in the frame of its principal axes, with its mass at a density, or as given; `None` without a volume.
    pub fn settle(&self, density: f64, given: Option<&GivenMass>) -> Option<Settled> {
        if let (Shape::Sphere(sphere), None) = (self, given) {
            let mass = sphere.mass_properties(density);
            return Some(Settled { shape: self.clone(), offset: DVec3::ZERO, turn: DQuat::IDENTITY, mass });
        }
        let none = GivenMass { mass: None, centre: None, inertia: None };
        let given = given.unwrap_or(&none);
        let own = self.moments();
        let mass = given.mass.or(own.map(|own| own.volume * density))?;
        let centre = given.centre.or(own.map(|own| own.centre))?;
        let inertia = given.tensor().or(own.map(|own| own.inertia() * (mass / own.volume)))?;
        let size = self.bounding_radius()?;
        let (moments, turn) = barchan_mesh::principal(inertia);
        // What is settled already stays, to the last bit.
        let is_settled = centre.length() <= SETTLED * size && turn.angle_between(DQuat::IDENTITY) <= SETTLED;
        let mass = MassProperties { mass, inertia: moments };
        if is_settled {
            let inertia = DVec3::new(inertia.x_axis.x, inertia.y_axis.y, inertia.z_axis.z);
            let mass = MassProperties { inertia, ..mass };
            return Some(Settled { shape: self.clone(), offset: DVec3::ZERO, turn: DQuat::IDENTITY, mass });
        }
        Some(Settled { shape: self.in_frame(centre, turn.conjugate()), offset: centre, turn, mass })
    }
}

/// What rounding leaves of an offset in sizes, and of a turn.
const SETTLED: f64 = 1e-9;

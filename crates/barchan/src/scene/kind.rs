//! What the bodies of a lattice or a fill are: spheres, copies of a shape, or a mixture of several kinds.
//!
//! A copy is made a factor larger, the scale, which is drawn from the same distributions as radii. It is turned at random,
//! or all copies are turned alike. Every body stands where its centre of mass is, whatever the origin of its shape.

use super::Radius;
use super::stock::Stock;
use crate::shape::Shape;
use glam::DQuat;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// How the bodies of a lattice or a fill are turned. Spheres never are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Orientation {
    /// Each at random, every direction as likely: `orientation = "random"`.
    Random,
    /// As their shapes say: `orientation = "aligned"`.
    Aligned,
    /// All alike, by a quaternion: `orientation = [x, y, z, w]`.
    Turned(DQuat),
}

/// One kind of a mixture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kind {
    /// How likely a body is of this kind, in relation to the weights of the others.
    #[serde(default = "one")]
    pub weight: f64,
    /// Radii of spheres, m; or
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius: Option<Radius>,
    /// a shape,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<Shape>,
    /// and a factor on it; 1 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<Radius>,
    /// Name of the material; that of the lattice or the fill if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub material: Option<String>,
    /// The group; that of the lattice or the fill if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<u16>,
}

fn one() -> f64 {
    1.0
}

impl Kind {
    /// Copies of a shape, of weight 1.
    pub fn of(shape: Shape) -> Self {
        Self { weight: 1.0, radius: None, shape: Some(shape), scale: None, material: None, group: None }
    }

    /// Spheres, of weight 1.
    pub fn spheres(radius: impl Into<Radius>) -> Self {
        Self { weight: 1.0, radius: Some(radius.into()), shape: None, scale: None, material: None, group: None }
    }
}

/// What the bodies of a lattice or a fill are, whichever way it is said.
#[derive(Clone, Copy, Debug)]
pub struct Assortment<'a> {
    /// Radii of spheres.
    pub radius: Option<&'a Radius>,
    /// The shape of all.
    pub shape: Option<&'a Shape>,
    /// A factor on it.
    pub scale: Option<&'a Radius>,
    /// Kinds that are mixed.
    pub mixture: &'a [Kind],
    /// How they are turned.
    pub orientation: Orientation,
    /// Name of the material.
    pub material: &'a str,
    /// Group.
    pub group: u16,
}

/// A kind of bodies, and how many are to be expected of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    /// The name of its shape.
    pub shape: &'static str,
    /// Name of its material.
    pub material: String,
    /// The part that it has of all bodies.
    pub fraction: f64,
    /// The smallest and the largest radius of a ball that holds such a body.
    pub radii: [f64; 2],
}

impl Assortment<'_> {
    /// The kinds that there are, each with all that it says or takes over.
    pub fn kinds(&self) -> Vec<Kind> {
        let own = Kind {
            weight: 1.0,
            radius: self.radius.cloned(),
            shape: self.shape.cloned(),
            scale: self.scale.cloned(),
            material: Some(self.material.into()),
            group: Some(self.group),
        };
        if self.mixture.is_empty() {
            return vec![own];
        }
        let complete = |kind: &Kind| Kind {
            material: kind.material.clone().or_else(|| own.material.clone()),
            group: kind.group.or(own.group),
            ..kind.clone()
        };
        self.mixture.iter().map(complete).collect()
    }

    /// What the kinds amount to.
    pub fn shares(&self) -> Vec<Share> {
        Stock::new(self).shares()
    }

    /// What to call the bodies.
    pub(crate) fn noun(&self) -> &'static str {
        if self.radius.is_some() { "sphere" } else { "body" }
    }

    /// The same for several.
    pub(crate) fn nouns(&self) -> &'static str {
        if self.radius.is_some() { "spheres" } else { "bodies" }
    }

    /// The key that says how large they are.
    pub(crate) fn key(&self) -> &'static str {
        match (self.radius, self.shape) {
            (Some(_), _) => "radius",
            (None, Some(_)) => "shape",
            (None, None) => "mixture",
        }
    }
}

impl Serialize for Orientation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Random => serializer.serialize_str("random"),
            Self::Aligned => serializer.serialize_str("aligned"),
            Self::Turned(q) => q.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Orientation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameOrQuaternion;

        impl<'de> Visitor<'de> for NameOrQuaternion {
            type Value = Orientation;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"random\", \"aligned\" or a quaternion of 4 numbers")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Orientation, E> {
                match name {
                    "random" => Ok(Orientation::Random),
                    "aligned" => Ok(Orientation::Aligned),
                    _ => Err(E::unknown_variant(name, &["random", "aligned"])),
                }
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Orientation, A::Error> {
                let mut q = [0.0; 4];
                for (k, component) in q.iter_mut().enumerate() {
                    *component = seq.next_element()?.ok_or_else(|| A::Error::invalid_length(k, &self))?;
                }
                Ok(Orientation::Turned(DQuat::from_array(q)))
            }
        }

        deserializer.deserialize_any(NameOrQuaternion)
    }
}

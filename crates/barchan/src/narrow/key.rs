//! Which of several contacts of the same two bodies a contact is.

use crate::util::pack::{Pack, Unpacker};

/// The features of both bodies that touch: a face, an edge or a vertex of a shape, numbered by the shape.
///
/// It survives a small motion, so that a contact finds its impulse of the step before. When the two
/// bodies come in the other order, the key is [reversed](FeatureKey::reversed), and means the same contact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FeatureKey {
    /// The feature of body A; 0 for what has only one.
    pub on_a: u32,
    /// The feature of body B.
    pub on_b: u32,
}

impl FeatureKey {
    /// Where both bodies have a single feature, as two spheres.
    pub const ONLY: Self = Self { on_a: 0, on_b: 0 };

    /// The key of the only feature of A and one of B's.
    pub fn on_b(feature: u32) -> Self {
        Self { on_a: 0, on_b: feature }
    }

    /// The same contact with the bodies in the other order.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { on_a: self.on_b, on_b: self.on_a }
    }
}

impl Pack for FeatureKey {
    fn pack(&self, out: &mut Vec<u8>) {
        [self.on_a, self.on_b].pack(out);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        let [on_a, on_b] = from.take()?;
        Some(Self { on_a, on_b })
    }
}

//! What a checkpoint has of contacts: all that the next step and a frame of the present one need.

use super::{Contacts, FeatureKey};
use crate::util::bulk::PackColumn;
use crate::util::pack::{Pack, Unpacker};
use barchan_cone::ContactVec;
use glam::DVec3;

impl Contacts {
    /// Appends what is known between two steps.
    pub(crate) fn write_snapshot(&self, out: &mut Vec<u8>) {
        (self.start[0].len().saturating_sub(1) as u64).pack(out);
        self.pairs.pack_column(out);
        // Most contacts are of spheres and have no features: a byte each will do.
        let small: Option<Vec<u8>> = self.keys.iter().map(small_key).collect();
        small.is_some().pack(out);
        match small {
            Some(keys) => keys.pack_column(out),
            None => self.keys.iter().map(|key| [key.on_a, key.on_b]).collect::<Vec<_>>().pack_column(out),
        }
        self.normals.pack_column(out);
        self.arms.iter().for_each(|arms| arms.pack_column(out));
        self.impulses.pack_column(out);
        self.shifts.pack_column(out);
        (self.received.len() as u64).pack(out);
        for (pair, key, impulse) in &self.received {
            pair.pack(out);
            [key.on_a, key.on_b].pack(out);
            impulse.pack(out);
        }
    }

    /// Takes back what [`Contacts::write_snapshot`] wrote, of so many bodies; `None` if it makes no sense.
    pub(crate) fn read_snapshot(from: &mut Unpacker<'_>, bodies: usize) -> Option<Self> {
        let listed = usize::try_from(from.take::<u64>()?).ok().filter(|&listed| listed <= bodies)?;
        let pairs = Vec::<[u32; 2]>::unpack_column(from)?;
        let keys: Vec<FeatureKey> = if from.take()? {
            Vec::<u8>::unpack_column(from)?.into_iter().map(|feature| FeatureKey::on_b(feature.into())).collect()
        } else {
            let keys = Vec::<[u32; 2]>::unpack_column(from)?.into_iter();
            keys.map(|[on_a, on_b]| FeatureKey { on_a, on_b }).collect()
        };
        let normals = ContactVec::unpack_column(from)?;
        let arms = [ContactVec::unpack_column(from)?, ContactVec::unpack_column(from)?];
        let impulses = ContactVec::unpack_column(from)?;
        let shifts: Vec<(u32, [i8; 3])> = Vec::unpack_column(from)?;
        let mut received = Vec::new();
        for _ in 0..from.take::<u64>()? {
            let pair: [u32; 2] = from.take()?;
            let [on_a, on_b] = from.take()?;
            received.push((pair, FeatureKey { on_a, on_b }, from.take::<DVec3>()?));
        }
        let m = pairs.len();
        let round = m.checked_sub(arms[0].len())?;
        let is_grouped = |section: &[[u32; 2]]| section.is_sorted_by_key(|pair| pair[0]);
        let is_valid = arms[1].len() == arms[0].len()
            && [keys.len(), normals.len(), impulses.len()] == [m; 3]
            && pairs.iter().chain(received.iter().map(|entry| &entry.0)).flatten().all(|&j| (j as usize) < bodies)
            && pairs.iter().all(|pair| (pair[0] as usize) < listed)
            && is_grouped(&pairs[..round])
            && is_grouped(&pairs[round..])
            && shifts.is_sorted_by_key(|shift| shift.0)
            && shifts.iter().all(|shift| (shift.0 as usize) < m && shift.1.iter().all(|x| (-4..=4).contains(x)));
        if !is_valid {
            return None;
        }
        let mut contacts = Self { pairs, keys, normals, arms, impulses, shifts, received, ..Self::default() };
        contacts.list_by_body(listed);
        Some(contacts)
    }
}

/// A key as a byte, if it is that small.
fn small_key(key: &FeatureKey) -> Option<u8> {
    u8::try_from(key.on_b).ok().filter(|_| key.on_a == 0)
}

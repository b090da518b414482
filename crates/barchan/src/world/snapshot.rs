//! What a checkpoint has of a world: everything but the materials, which are those of the scene.

use super::{Bodies, ExternalForce, ForceField, Oscillation, Prescribed, Turn, Waypoints, World};
use crate::util::bulk::PackColumn;
use crate::util::pack::{Pack, Unpacker};

impl World {
    /// Appends the state.
    pub(crate) fn write_snapshot(&self, out: &mut Vec<u8>) {
        let Self {
            bodies,
            materials: _,
            gravity,
            fields,
            external,
            prescribed,
            surface_velocities,
            no_contact,
            joints,
            time,
        } = self;
        time.pack(out);
        gravity.pack(out);
        (fields.len() as u64).pack(out);
        fields.iter().for_each(|field| field.pack(out));
        (external.len() as u64).pack(out);
        for (id, ExternalForce { force, torque }) in external {
            id.pack(out);
            [*force, *torque].pack(out);
        }
        (prescribed.len() as u64).pack(out);
        for (id, motion) in prescribed {
            id.pack(out);
            motion.pack(out);
        }
        (surface_velocities.len() as u64).pack(out);
        for (id, velocity) in surface_velocities {
            id.pack(out);
            velocity.pack(out);
        }
        (no_contact.len() as u64).pack(out);
        no_contact.iter().for_each(|groups| groups.pack(out));
        (joints.len() as u64).pack(out);
        joints.iter().for_each(|joint| joint.pack(out));
        bodies.write_snapshot(out);
    }

    /// Takes back what [`World::write_snapshot`] wrote. Its materials are none.
    pub(crate) fn read_snapshot(from: &mut Unpacker<'_>) -> Option<Self> {
        let mut world = Self { time: from.take()?, gravity: from.take()?, ..Self::default() };
        for _ in 0..from.take::<u64>()? {
            world.fields.push(from.take()?);
        }
        for _ in 0..from.take::<u64>()? {
            let id = from.take()?;
            let [force, torque] = from.take()?;
            world.external.insert(id, ExternalForce { force, torque });
        }
        for _ in 0..from.take::<u64>()? {
            let id = from.take()?;
            world.prescribed.insert(id, from.take()?);
        }
        for _ in 0..from.take::<u64>()? {
            let id = from.take()?;
            world.surface_velocities.insert(id, from.take()?);
        }
        for _ in 0..from.take::<u64>()? {
            world.no_contact.push(from.take()?);
        }
        for _ in 0..from.take::<u64>()? {
            world.joints.push(from.take()?);
        }
        world.bodies = Bodies::read_snapshot(from)?;
        let is_valid = world.time.is_finite() && world.gravity.is_finite() && world.first_non_finite().is_none();
        is_valid.then_some(world)
    }
}

impl Pack for ForceField {
    fn pack(&self, out: &mut Vec<u8>) {
        let (code, vector, number) = match *self {
            Self::Central { centre, strength, .. } => (0u8, centre, strength),
            Self::Drag { rate, wind } => (1, wind, rate),
            Self::Well { centre, stiffness } => (2, centre, stiffness),
        };
        code.pack(out);
        vector.pack(out);
        number.pack(out);
        if let Self::Central { softening, .. } = self {
            softening.pack(out);
        }
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        let code = from.take::<u8>()?;
        let vector = from.take()?;
        let number = from.take()?;
        match code {
            0 => Some(Self::Central { centre: vector, strength: number, softening: from.take()? }),
            1 => Some(Self::Drag { rate: number, wind: vector }),
            2 => Some(Self::Well { centre: vector, stiffness: number }),
            _ => None,
        }
    }
}

impl Pack for Prescribed {
    fn pack(&self, out: &mut Vec<u8>) {
        let Self { velocity, angular_velocity, oscillation, path, waypoints, turn } = self;
        [*velocity, *angular_velocity].pack(out);
        oscillation.pack(out);
        path.pack(out);
        waypoints.pack(out);
        turn.pack(out);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        let [velocity, angular_velocity] = from.take()?;
        let oscillation = from.take()?;
        let path = from.take()?;
        let waypoints = from.take()?;
        Some(Self { velocity, angular_velocity, oscillation, path, waypoints, turn: from.take()? })
    }
}

impl Pack for Waypoints {
    fn pack(&self, out: &mut Vec<u8>) {
        self.times.pack_column(out);
        self.positions.pack_column(out);
        [self.repeat, self.smooth].pack(out);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        let times = Vec::unpack_column(from)?;
        let positions = Vec::unpack_column(from)?;
        let [repeat, smooth] = from.take()?;
        Some(Self { times, positions, repeat, smooth })
    }
}

impl Pack for Turn {
    fn pack(&self, out: &mut Vec<u8>) {
        self.axis.pack(out);
        self.angle.pack(out);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        Some(Self { axis: from.take()?, angle: from.take()? })
    }
}

impl Pack for Oscillation {
    fn pack(&self, out: &mut Vec<u8>) {
        self.amplitude.pack(out);
        [self.frequency, self.phase].pack(out);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        let amplitude = from.take()?;
        let [frequency, phase] = from.take()?;
        Some(Self { amplitude, frequency, phase })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shape;
    use crate::util::formula::VectorFormula;
    use crate::world::{Body, Motion, Ownership};
    use glam::DVec3;

    #[test]
    fn everything_comes_back() {
        let mut world = World { time: 0.1 + 0.2, gravity: DVec3::new(0.0, -0.0, -9.81), ..World::default() };
        world.fields.push(ForceField::Central { centre: DVec3::X, strength: 0.3, softening: 0.01 });
        world.fields.push(ForceField::Drag { rate: 0.1, wind: DVec3::Y });
        world.fields.push(ForceField::Well { centre: DVec3::Z, stiffness: -2.0 });
        world.add(Body { motion: Motion::Kinematic, ..Body::fixed(Shape::container(DVec3::ONE), DVec3::X) });
        let id = world.add(Body::dynamic(Shape::sphere(0.1), DVec3::splat(1.0 / 3.0)).with_velocity(DVec3::X));
        world.add(Body::fixed(Shape::half_space(), DVec3::ZERO));
        world.bodies.ownership[1] = Ownership::Ghost;
        world.bodies.reserve_ids_below(77);
        world.bodies.share_ids(2, 5);
        world.external.insert(id, ExternalForce { force: DVec3::X, torque: DVec3::Y });
        let shake = Oscillation { amplitude: DVec3::X, frequency: 2.0, phase: 0.3 };
        let waypoints = Waypoints { times: vec![0.0, 1.5], positions: vec![DVec3::X; 2], repeat: true, smooth: false };
        let motion = Prescribed {
            velocity: DVec3::Y,
            angular_velocity: DVec3::Z,
            oscillation: Some(shake),
            path: Some(VectorFormula(["t^2", "0", "if(t < 1, t, 1)"].map(|text| text.parse().unwrap()))),
            waypoints: Some(waypoints),
            turn: Some(Turn { axis: DVec3::Z, angle: "sin(t)".parse().unwrap() }),
        };
        world.prescribed.insert(9, Prescribed { oscillation: None, turn: None, ..motion.clone() });
        world.prescribed.insert(0, motion);
        world.surface_velocities.insert(2, DVec3::X.into());
        let mut bytes = Vec::new();
        world.write_snapshot(&mut bytes);
        let mut from = Unpacker::new(&bytes);
        let mut back = World::read_snapshot(&mut from).unwrap();
        assert!(from.is_empty());
        assert_eq!(format!("{back:?}"), format!("{world:?}"));
        assert_eq!(back.add(Body::fixed(Shape::half_space(), DVec3::ZERO)), 77);
        for length in 0..bytes.len() {
            assert!(World::read_snapshot(&mut Unpacker::new(&bytes[..length])).is_none());
        }
    }
}

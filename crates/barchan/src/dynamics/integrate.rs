//! Velocities and positions: forces before the solve, motion after it.

use crate::dynamics::{FreeMotion, Integrator};
use crate::world::{Bodies, Drag, Motion, World};
use barchan_parallel::{CHUNK, for_chunks_mut};
use glam::{DQuat, DVec3};

/// Sets the velocities of kinematic bodies for the step from the world's time to time + h.
pub fn prescribe(world: &mut World, h: f64) {
    for (&id, motion) in &world.prescribed {
        if let Some(i) = world.bodies.index_of(id) {
            world.bodies.velocity[i] = motion.mean_velocity(world.time, h);
            world.bodies.angular_velocity[i] = motion.mean_angular_velocity(world.time, h);
        }
    }
}

/// Writes v̂ = v + hM⁻¹f to `free`: the velocities that bodies would have without contacts. Forces
/// are those of the place that is `home` away from where a body is here, if it is a copy. Drag is
/// exact, together with the others ([`Drag`]).
///
/// The gyroscopic torque is not among the forces: [`advance`] keeps angular momentum instead,
/// which is the same to first order in h and exact in what matters.
pub fn free_motion(
    world: &World,
    [h, ahead]: [f64; 2],
    home: impl Fn(usize) -> DVec3 + Sync,
    free: &mut Vec<[DVec3; 2]>,
) {
    let bodies = &world.bodies;
    let n = bodies.len();
    let drag = Drag::over(&world.fields, h);
    free.clear();
    free.resize(n, [DVec3::ZERO; 2]);
    for_chunks_mut(&mut free[..], CHUNK, |range, free| {
        for (free, i) in free.iter_mut().zip(range) {
            let (mut v, mut w) = (bodies.velocity[i], bodies.angular_velocity[i]);
            if bodies.motion[i] == Motion::Dynamic {
                v = free_velocity(world, i, home(i) + ahead * v, &drag, h);
                w = drag.spin(w);
            }
            *free = [v, w];
        }
    });
    for (&id, external) in &world.external {
        if let Some(i) = bodies.index_of(id) {
            free[i][0] += drag.time() * bodies.inverse_mass[i] * external.force;
            let q = bodies.orientation[i];
            free[i][1] += drag.time() * (q * (bodies.inverse_inertia[i] * (q.conjugate() * external.torque)));
        }
    }
}

/// The velocity of a body at the end of a step by gravity, fields and drag alone.
#[inline]
pub fn free_velocity(world: &World, i: usize, home: DVec3, drag: &Drag, h: f64) -> DVec3 {
    let place = world.bodies.position[i] + home;
    let fields = world.fields.iter().map(|field| field.acceleration(place, h));
    drag.velocity(world.bodies.velocity[i], fields.fold(world.gravity, |sum, a| sum + a))
}

/// Moves every body by one step: v = v̂ + `change`, then x += hv or with the mean of old and new velocity, and the
/// turn alike.
pub fn advance(
    bodies: &mut Bodies,
    free: &FreeMotion,
    change: impl Fn(usize) -> [DVec3; 2] + Sync,
    integrator: Integrator,
    h: f64,
) {
    let Bodies { position, orientation, velocity, angular_velocity, motion, inverse_inertia: inertia, .. } = bodies;
    let state = (&mut position[..], &mut orientation[..], &mut velocity[..], &mut angular_velocity[..]);
    for_chunks_mut(state, CHUNK, |range, (x, q, v, w)| {
        for (k, i) in range.enumerate() {
            match motion[i] {
                Motion::Fixed => {}
                Motion::Kinematic => {
                    x[k] += h * v[k];
                    q[k] = turned(q[k], h * w[k]);
                }
                Motion::Dynamic => {
                    let [dv, dw] = change(i);
                    let before = v[k];
                    v[k] = free[i][0] + dv;
                    match integrator {
                        Integrator::Euler => {
                            x[k] += h * v[k];
                            (q[k], w[k]) = turn(q[k], free[i][1] + dw, inertia[i], h);
                        }
                        Integrator::Middle => {
                            x[k] += h * (0.5 * (before + v[k]));
                            let kick = free[i][1] + dw - w[k];
                            let (middle, spin) = turn(q[k], w[k], inertia[i], 0.5 * h);
                            (q[k], w[k]) = turn(middle, spin + kick, inertia[i], 0.5 * h);
                        }
                    }
                }
            }
        }
    });
}

/// The orientation after a turn by the vector `angle`, by the exponential map, of unit length.
#[inline]
fn turned(q: DQuat, angle: DVec3) -> DQuat {
    if angle == DVec3::ZERO { q } else { (DQuat::from_scaled_axis(angle) * q).normalize() }
}

/// Orientation and angular velocity after a free turn of length `h`.
///
/// Angular momentum L = Iω stays, and ω follows from it as the body turns: that is the
/// gyroscopic term. The turn is taken with ω at the middle of the step.
#[inline]
pub(super) fn turn(q: DQuat, w: DVec3, inverse_inertia: DVec3, h: f64) -> (DQuat, DVec3) {
    if inverse_inertia.x == inverse_inertia.y && inverse_inertia.y == inverse_inertia.z {
        return (turned(q, h * w), w);
    }
    let momentum = q * ((q.conjugate() * w) / inverse_inertia);
    let spin = |q: DQuat| q * (inverse_inertia * (q.conjugate() * momentum));
    let middle = turned(q, 0.5 * h * w);
    let end = turned(q, h * spin(middle));
    (end, spin(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The intermediate axis flips again and again; momentum is exact and energy stays bounded.
    #[test]
    fn a_free_spinning_box_keeps_momentum_and_energy() {
        let inertia = DVec3::new(1.0, 2.0, 3.0);
        let (mut q, mut w) = (DQuat::IDENTITY, DVec3::new(1e-3, 5.0, 1e-3));
        let momentum = |q: DQuat, w: DVec3| q * (inertia * (q.conjugate() * w));
        let energy = |q: DQuat, w: DVec3| 0.5 * w.dot(momentum(q, w));
        let (l0, e0) = (momentum(q, w), energy(q, w));
        let mut flipped = false;
        for _ in 0..20_000 {
            (q, w) = turn(q, w, inertia.recip(), 1e-3);
            flipped |= (q.conjugate() * w).y < -4.0;
            assert!((energy(q, w) / e0 - 1.0).abs() < 1e-4);
            assert!((q.length() - 1.0).abs() < 1e-14);
        }
        assert!(flipped, "rotation about the intermediate axis is unstable");
        assert!((momentum(q, w) - l0).length() < 1e-10 * l0.length());
    }
}

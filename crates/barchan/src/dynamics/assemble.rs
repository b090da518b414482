//! From contacts to the contact problem: cones, lever arms and the right-hand side
//! b = Dᵀv̂ − (target, 0, 0).
//!
//! The target is the normal velocity that a contact must at least have after the step:
//!
//! - an open gap may close and no more: −φ/h (S1 eq. 2b);
//! - an overlap is undone by the fraction `recovery` a step, with a cap, or the correction
//!   would inject energy (S4 section 3);
//! - a bounce, if bodies approach faster than a threshold and the gap closes in this step (or is
//!   closed): −e·u_n⁻, by Newton's law with the velocity before the step, in place of the gap; an
//!   overlap that asks for more gets it.

use super::ContactOptions;
use crate::narrow::Contacts;
use crate::shape::Shape;
use crate::world::{Bodies, World};
use barchan_cone::lanes::LANES;
use barchan_cone::{Geometry, Problem};
use barchan_parallel::reserve_with_slack;
use barchan_parallel::{CHUNK, Disjoint, for_chunks};
use glam::{DMat3, DVec3};

/// Velocities at the end of the step if there were no contacts: v̂ and ω̂ of each body.
pub type FreeMotion = [[DVec3; 2]];

/// Velocity of the point at `arm` from the centre.
#[inline]
fn point_velocity([v, w]: [DVec3; 2], arm: DVec3) -> DVec3 {
    v + w.cross(arm)
}

/// Lever arms of a contact of two bodies: each from its centre to its own surface.
#[inline]
fn arms(bodies: &Bodies, [a, b]: [u32; 2], n: DVec3) -> [DVec3; 2] {
    let (a, b) = (a as usize, b as usize);
    let radius = |shape: &Shape| match shape {
        Shape::Sphere(s) => Some(s.radius),
        Shape::HalfSpace(_) | Shape::Container(_) => None,
    };
    let arm_a = n * -radius(&bodies.shape[a]).unwrap_or(0.0);
    let arm_b = match radius(&bodies.shape[b]) {
        Some(r) => n * r,
        None => bodies.position[a] + arm_a - bodies.position[b],
    };
    [arm_a, arm_b]
}

/// Fills `problem` from the contacts of a step of length `h`; `contacts` keeps pairs and gaps,
/// its normals move into the problem.
///
/// Needs velocities before the step in `world` and without contacts in `free`.
pub fn assemble(
    world: &World,
    free: &FreeMotion,
    contacts: &mut Contacts,
    options: &ContactOptions,
    h: f64,
    problem: &mut Problem,
) {
    let (bodies, materials) = (&world.bodies, &world.materials);
    let m = contacts.len();
    std::mem::swap(&mut problem.normals, &mut contacts.normals);
    problem.pairs.clear();
    reserve_with_slack(&mut problem.pairs, m);
    problem.pairs.extend_from_slice(&contacts.pairs);
    problem.inverse_mass.clear();
    problem.inverse_mass.extend_from_slice(&bodies.inverse_mass);
    problem.friction.resize(m);
    problem.bias.resize(m);

    let threshold = options.restitution_threshold * world.gravity.length() * h;
    let normals = &problem.normals;
    let (pairs, gaps) = (&contacts.pairs, &contacts.gaps);
    let friction = Disjoint::new(problem.friction.blocks_mut());
    let bias = Disjoint::new(problem.bias.blocks_mut());
    for_chunks(m.div_ceil(LANES), CHUNK / LANES, |blocks| {
        // SAFETY: chunks are disjoint.
        let (friction, bias) = unsafe { (friction.range(blocks.clone()), bias.range(blocks.clone())) };
        for i in blocks.start * LANES..(blocks.end * LANES).min(m) {
            let (block, lane) = (i / LANES - blocks.start, i % LANES);
            let [a, b] = [pairs[i][0] as usize, pairs[i][1] as usize];
            let n = normals.get(i);
            let [arm_a, arm_b] = arms(bodies, pairs[i], n);
            let law = materials.pair(bodies.material[a], bodies.material[b]);

            let û = point_velocity(free[a], arm_a) - point_velocity(free[b], arm_b);
            let gap = gaps[i];
            let mut target = if gap > 0.0 {
                -gap / h
            } else {
                let size = |j: usize| bodies.shape[j].bounding_radius().unwrap_or(f64::INFINITY);
                (options.recovery * -gap).min(options.recovery_cap * size(a).min(size(b))) / h
            };
            if law.restitution > 0.0 && gap + h * û.dot(n) <= 0.0 {
                let now = |j: usize| [bodies.velocity[j], bodies.angular_velocity[j]];
                let approach = -(point_velocity(now(a), arm_a) - point_velocity(now(b), arm_b)).dot(n);
                if approach > threshold {
                    target = target.max(law.restitution * approach);
                }
            }
            friction[block].0[lane] = law.friction;
            bias[block].set_lane(lane, û - n * target);
        }
    });
    set_geometry(bodies, problem);
}

/// Lever arms and inertia: the short form if every body that can move is a sphere with the
/// same inertia about every axis.
fn set_geometry(bodies: &Bodies, problem: &mut Problem) {
    let n = bodies.len();
    let round = (0..n).all(|j| {
        bodies.inverse_mass[j] == 0.0 || matches!(bodies.shape[j], Shape::Sphere(_)) && bodies.is_isotropic(j)
    });
    if round {
        let Geometry { radius, inverse_inertia, tensors, arms } = &mut problem.geometry;
        radius.clear();
        radius.extend(bodies.shape.iter().map(|s| s.bounding_radius().unwrap_or(0.0)));
        inverse_inertia.clear();
        inverse_inertia.extend(bodies.inverse_inertia.iter().map(|i| i.x));
        tensors.clear();
        arms.shape(problem.pairs.len(), problem.pairs.len());
    } else {
        let arms: Vec<_> =
            (0..problem.contacts()).map(|i| arms(bodies, problem.pairs[i], problem.normals.get(i))).collect();
        let side = |k: usize| arms.iter().map(|a| a[k]).collect::<Vec<_>>();
        let inertia = (0..n).map(|j| world_inverse_inertia(bodies, j)).collect();
        problem.geometry = Geometry::general(inertia, [&side(0), &side(1)]);
    }
}

/// R·I⁰⁻¹·Rᵀ as xx, yy, zz, xy, xz, yz.
fn world_inverse_inertia(bodies: &Bodies, j: usize) -> [f64; 6] {
    let r = DMat3::from_quat(bodies.orientation[j]);
    let i = r * DMat3::from_diagonal(bodies.inverse_inertia[j]) * r.transpose();
    [i.x_axis.x, i.y_axis.y, i.z_axis.z, i.y_axis.x, i.z_axis.x, i.z_axis.y]
}

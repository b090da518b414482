//! The same scene in rapier3d.

use super::well::{Engine, Pose, Step, measure};
use crate::bench::pool;
use crate::failure::{Failure, note};
use barchan::DVec3;
use barchan::scene::Scene;
use barchan::shape::Shape;
use barchan::world::Motion;
use rapier3d::prelude::*;
use serde_json::{Map, Value};

/// Iterations of rapier: its default, and more.
const ITERATIONS: [usize; 2] = [4, 32];

struct Peer {
    world: PhysicsWorld,
    /// By ids.
    bodies: Vec<RigidBodyHandle>,
}

fn vector(v: DVec3) -> Vector {
    v.as_vec3()
}

impl Peer {
    fn new(scene: &Scene, h: f64, iterations: usize) -> Result<Self, Failure> {
        let start = scene.build()?;
        let from = &start.bodies;
        let mut world = PhysicsWorld { gravity: vector(start.gravity), ..PhysicsWorld::default() };
        world.integration_parameters.dt = h as Real;
        world.integration_parameters.num_solver_iterations = iterations;
        // Bodies are to it what bodies of a metre are at its defaults.
        let sizes =
            (0..from.len()).filter(|&i| from.motion()[i] == Motion::Dynamic).map(|i| 2.0 * from.shape()[i].size());
        world.integration_parameters.length_unit = sizes.fold(0.0, f64::max) as Real;
        let mut bodies = vec![RigidBodyHandle::invalid(); from.len()];
        for i in 0..from.len() {
            let shape = match &from.shape()[i] {
                Shape::Sphere(sphere) => SharedShape::ball(sphere.radius as Real),
                Shape::Box(cuboid) => {
                    let half = vector(cuboid.half_extents);
                    SharedShape::cuboid(half.x, half.y, half.z)
                }
                Shape::HalfSpace(_) => SharedShape::halfspace(Vector::Z),
                other => return Err(Failure::Failed(format!("the well has a {}", other.name()))),
            };
            let material = start.materials.get(from.material()[i]);
            let collider = ColliderBuilder::new(shape)
                .friction(material.friction as Real)
                .restitution(material.restitution as Real)
                .density(material.density as Real);
            let kind = match from.motion()[i] {
                Motion::Dynamic => RigidBodyBuilder::dynamic(),
                _ => RigidBodyBuilder::fixed(),
            };
            let pose = rapier3d::math::Pose::from_parts(vector(from.position[i]), from.orientation[i].as_quat());
            let body = kind.pose(pose).linvel(vector(from.velocity[i])).can_sleep(false);
            bodies[from.id()[i] as usize] = world.insert(body, collider).0;
        }
        Ok(Self { world, bodies })
    }
}

impl Engine for Peer {
    fn step(&mut self) -> Result<Step, Failure> {
        self.world.step();
        Ok(Step::default())
    }

    fn poses(&self) -> Vec<Pose> {
        let pose = |&handle: &RigidBodyHandle| -> Pose {
            let body = &self.world.bodies[handle];
            (body.translation().as_dvec3(), body.rotation().as_dquat())
        };
        self.bodies.iter().map(pose).collect()
    }
}

pub(super) fn run(scene: &Scene) -> Result<Value, Failure> {
    let two = pool(2)?;
    let mut out = Map::new();
    for iterations in ITERATIONS {
        note(format_args!("    rapier3d, {iterations} iterations"));
        let value = two.install(|| {
            let mut peer = Peer::new(scene, scene.time.step.fixed().unwrap_or(1e-3), iterations)?;
            measure(scene, &mut peer)
        })?;
        out.insert(format!("{iterations} iterations"), value);
    }
    Ok(Value::Object(out))
}

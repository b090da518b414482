//! Surfaces whose material moves along them, as that of a belt does, while the body stays where it is.
//!
//! A surface velocity s is given in the frame of its body. At a contact with the normal n only s − (s·n)n counts: it is
//! added to the velocity of the body's point there, in impacts and in the contact problem. Nothing else knows of it.

use crate::world::World;
use glam::{DQuat, DVec3};

/// The surface velocities of a step in the world frame, by index of bodies. Memory is kept between steps; empty in
/// worlds without any.
#[derive(Clone, Debug, Default)]
pub struct SurfaceMotion(Vec<DVec3>);

impl SurfaceMotion {
    /// Takes them from the world, so much `ahead` of the start of the step: velocities and turns of that moment.
    pub fn fill(&mut self, world: &World, ahead: f64) {
        self.0.clear();
        if world.surface_velocities.is_empty() {
            return;
        }
        let bodies = &world.bodies;
        self.0.resize(bodies.len(), DVec3::ZERO);
        for (&id, velocity) in &world.surface_velocities {
            if let Some(i) = bodies.index_of(id) {
                let turn = DQuat::from_scaled_axis(ahead * bodies.angular_velocity[i]) * bodies.orientation[i];
                self.0[i] = turn * velocity.at(world.time + ahead);
            }
        }
    }

    /// What the surfaces of a contact add to the velocity of A as B sees it.
    #[inline]
    pub fn slip(&self, [a, b]: [u32; 2], normal: DVec3) -> DVec3 {
        if self.0.is_empty() {
            return DVec3::ZERO;
        }
        (self.0[a as usize] - self.0[b as usize]).reject_from_normalized(normal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shape;
    use crate::world::Body;
    use std::f64::consts::FRAC_PI_2;

    #[test]
    fn only_the_part_along_the_surface_counts_and_it_turns_with_the_body() {
        let mut world = World { time: 2.0, ..World::default() };
        let turned = Body::fixed(Shape::half_space(), DVec3::ZERO).with_orientation(DQuat::from_rotation_z(FRAC_PI_2));
        world.add(Body::dynamic(Shape::sphere(0.1), DVec3::ZERO));
        let belt = world.add(turned);
        let mut motion = SurfaceMotion::default();
        motion.fill(&world, 0.5);
        assert_eq!(motion.slip([0, 1], DVec3::Z), DVec3::ZERO);
        let velocity = ["t", "0", "7"].map(|text| text.parse().unwrap());
        world.surface_velocities.insert(belt, crate::util::formula::VectorFormula(velocity));
        motion.fill(&world, 0.5);
        assert!((motion.slip([0, 1], DVec3::Z) - DVec3::new(0.0, -2.5, 0.0)).length() < 1e-15);
        assert!((motion.slip([1, 0], DVec3::Z) - DVec3::new(0.0, 2.5, 0.0)).length() < 1e-15);
    }
}

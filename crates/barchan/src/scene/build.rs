//! From the scene to the world: the only place where random numbers are drawn.

use super::error::{Fault, Place, SceneError};
use super::fill::Placed;
use super::{Fill, Scene};
use crate::shape::Shape;
use crate::world::{Body, ExternalForce, Materials, Motion, Prescribed, World};
use glam::DVec3;

impl Scene {
    /// The world that a run starts from. Ids follow the order of single bodies, lattices, fills.
    ///
    /// # Errors
    /// If the scene is not valid ([`Scene::validate`]), or a fill finds no room.
    pub fn build(&self) -> Result<World, SceneError> {
        let place = || Place::Whole(format!("scene \"{}\"", self.name));
        let fault = |p: super::Problem| Fault { place: place(), path: p.path, message: p.message };
        let faults: Vec<Fault> = self.validate().into_iter().map(fault).collect();
        if !faults.is_empty() {
            return Err(SceneError { faults });
        }

        let mut world = World {
            materials: Materials::new(self.material.clone(), self.pair_rule, &self.pair),
            gravity: self.gravity,
            fields: self.force.clone(),
            ..World::default()
        };
        world.bodies.reserve(self.body_count() as usize);
        self.add_single_bodies(&mut world);
        for (i, lattice) in self.lattice.iter().enumerate() {
            let material = self.material_of(&lattice.material);
            for sphere in lattice.spheres(self.seed, i) {
                world.add(ball(sphere, material));
            }
        }
        for (i, fill) in self.fill.iter().enumerate() {
            let material = self.material_of(&fill.material);
            let spheres = fill
                .spheres(self.seed, i, balls(&world))
                .map_err(|placed| SceneError::new(place(), format!("fill[{i}]"), self.no_room(fill, i, placed)))?;
            for sphere in spheres {
                world.add(ball(sphere, material));
            }
        }
        Ok(world)
    }

    fn add_single_bodies(&self, world: &mut World) {
        for spec in &self.body {
            let id = world.add(Body {
                shape: spec.shape.clone(),
                position: spec.position,
                orientation: spec.attitude(),
                velocity: spec.velocity,
                angular_velocity: spec.angular_velocity,
                material: self.material_of(&spec.material),
                motion: spec.motion,
                rotation: spec.rotation,
            });
            if spec.force.is_some() || spec.torque.is_some() {
                let [force, torque] = [spec.force, spec.torque].map(Option::unwrap_or_default);
                world.external.insert(id, ExternalForce { force, torque });
            }
            if spec.motion == Motion::Kinematic && spec.oscillation.is_some() {
                let (velocity, angular_velocity) = (spec.velocity, spec.angular_velocity);
                world.prescribed.insert(id, Prescribed { velocity, angular_velocity, oscillation: spec.oscillation });
            }
        }
    }

    /// The index of a material that validation has found.
    fn material_of(&self, name: &str) -> u16 {
        self.material_index(name).expect("a valid scene names known materials only")
    }

    fn no_room(&self, fill: &Fill, index: usize, Placed(placed): Placed) -> String {
        format!(
            "only {placed} of {} spheres found room in {} attempts each. They would fill {:.1} % of the box, and \
             placing at random stops at about 38 % for equal spheres. Enlarge the box (min, max), lower count, \
             radius or gap, or raise attempts",
            fill.count,
            fill.attempts,
            100.0 * fill.volume_fraction(self.seed, index),
        )
    }
}

fn ball((position, radius, velocity): (DVec3, f64, DVec3), material: u16) -> Body {
    Body { velocity, material, ..Body::dynamic(Shape::sphere(radius), position) }
}

/// Centre and radius of every sphere so far.
fn balls(world: &World) -> impl Iterator<Item = (DVec3, f64)> + Clone + '_ {
    world.bodies.position.iter().zip(&world.bodies.shape).filter_map(|(x, shape)| match shape {
        Shape::Sphere(s) => Some((*x, s.radius)),
        Shape::HalfSpace(_) | Shape::Container(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{BodySpec, Lattice};
    use crate::world::{Material, Oscillation};

    #[test]
    fn bodies_come_in_order_with_all_that_belongs_to_them() {
        let mut scene = Scene::default();
        scene.material.push(Material { name: "lead".into(), density: 11_340.0, ..Material::default() });
        let shake = Oscillation { amplitude: DVec3::X, frequency: 1.0, phase: 0.0 };
        scene.body = vec![
            BodySpec { torque: Some(DVec3::Z), ..BodySpec::new(Shape::sphere(0.1), DVec3::Z) },
            BodySpec {
                motion: Motion::Kinematic,
                oscillation: Some(shake),
                ..BodySpec::new(Shape::container(DVec3::ONE), DVec3::ZERO)
            },
        ];
        scene.lattice.push(Lattice { material: "lead".into(), ..Lattice::cubic([2, 1, 1], 1.0, 0.2) });
        scene.fill.push(Fill::new(DVec3::splat(-5.0), DVec3::splat(5.0), 3, 0.3));
        let world = scene.build().unwrap();
        assert_eq!(world.bodies.len() as u64, scene.body_count());
        assert_eq!(world.bodies.material, [0, 0, 1, 1, 0, 0, 0]);
        assert_eq!(world.external[&0].torque, DVec3::Z);
        assert_eq!(world.prescribed[&1].oscillation, Some(shake));
        let lead = 1.0 / world.bodies.inverse_mass[2];
        assert!((lead - 11_340.0 * 4.0 / 3.0 * std::f64::consts::PI * 0.008).abs() < 1e-9);
    }

    #[test]
    fn a_fill_keeps_clear_of_all_spheres_before_it() {
        let mut scene = Scene::default();
        scene.body.push(BodySpec::new(Shape::sphere(0.3), DVec3::splat(0.5)));
        scene.lattice.push(Lattice::cubic([5, 5, 1], 0.2, 0.05));
        scene.fill.push(Fill::new(DVec3::ZERO, DVec3::ONE, 100, 0.03));
        scene.fill.push(Fill::new(DVec3::ZERO, DVec3::ONE, 100, 0.03));
        let balls: Vec<(DVec3, f64)> = balls(&scene.build().unwrap()).collect();
        for (i, a) in balls.iter().enumerate().skip(26) {
            assert!(balls[..i].iter().all(|b| a.0.distance(b.0) >= a.1 + b.1), "sphere {i}");
        }
    }

    #[test]
    fn no_room_is_an_error_that_says_what_to_change() {
        let mut scene = Scene::default();
        scene.fill.push(Fill { attempts: 50, ..Fill::new(DVec3::ZERO, DVec3::ONE, 1000, 0.05) });
        let error = scene.build().unwrap_err().to_string();
        assert!(error.starts_with("scene \"scene\": fill[0]: only "), "{error}");
        assert!(error.contains("of 1000 spheres") && error.contains("52.4 %"), "{error}");
        assert!(error.contains("Enlarge the box"), "{error}");
    }
}

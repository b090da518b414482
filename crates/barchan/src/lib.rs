//! Very many rigid bodies in hard frictional contact: sand, gravel, ballast, ore, pills.
//!
//! A [`scene::Scene`] describes what there is; it builds a [`world::World`], and a
//! [`step::Simulation`] steps it: broad phase, narrow phase, contact problem, solver,
//! integration. The same scenes can be read from files, and the `barchan` command runs them.
//!
//! ```
//! use barchan::{DVec3, scene::{BodySpec, Scene}, shape::Shape, step::Simulation};
//!
//! let mut scene = Scene { name: "drop".into(), ..Scene::default() };
//! scene.body.push(BodySpec::new(Shape::half_space(), DVec3::ZERO));
//! scene.body.push(BodySpec::new(Shape::sphere(0.1), DVec3::new(0.0, 0.0, 0.5)));
//! let mut simulation = Simulation::from_scene(&scene)?;
//! for _ in 0..1000 {
//!     simulation.step()?;
//! }
//! let bodies = &simulation.world.bodies;
//! let ball = bodies.index_of(1).expect("ids count from 0 in the order of the scene");
//! assert!((bodies.position[ball].z - 0.1).abs() < 1e-3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Papers are cited by number. S0 and S1: De, Corona, Jayakumar, Veerapaneni, *Scalable solvers
//! for cone complementarity problems in frictional multibody dynamics*, the earlier and the
//! later text. S2: Iglberger, Rüde, *Massively parallel rigid body dynamics simulations*. S3:
//! Tasora, Negrut, Anitescu, *GPU-based parallel computing for the simulation of complex multibody
//! systems with unilateral and bilateral constraints*. S4: Preclik, Rüde, *Ultrascale
//! simulations of non-smooth granular dynamics*.

pub mod broad;
pub mod checkpoint;
pub mod comm;
pub mod domain;
pub mod dynamics;
pub mod frame;
pub mod narrow;
pub mod output;
pub mod partition;
pub mod run;
pub mod scenario;
pub mod scene;
pub mod shape;
pub mod step;
pub mod util;
pub mod world;

pub use barchan_cone as cone;
pub use glam::{DMat3, DQuat, DVec3};

/// The README's example is a test too.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

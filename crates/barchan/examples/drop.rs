//! Builds a scene in code, steps it and looks at it: a handful of balls dropped on a floor.
//!
//! ```sh
//! cargo run --release -p barchan --example drop
//! ```
//!
//! Each ball has a bounce of its own; the heights are printed as they come to rest.

use barchan::DVec3;
use barchan::scene::{BodySpec, Scene};
use barchan::shape::Shape;
use barchan::step::Simulation;
use barchan::world::{Combine, Material};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut scene = Scene { name: "drop".into(), ..Scene::default() };

    // Materials: the floor leaves the bounce to the ball, since the larger of two counts.
    let bounces = [0.0, 0.3, 0.6, 0.9];
    for restitution in bounces {
        scene.material.push(Material { name: format!("bounce {restitution}"), restitution, ..Material::default() });
    }
    scene.pair_rule.restitution = Combine::Max;

    // Bodies: a floor, and a row of balls above it. Ids count from 0 in this order.
    scene.body.push(BodySpec::new(Shape::half_space(), DVec3::ZERO));
    for (k, restitution) in bounces.into_iter().enumerate() {
        let ball = BodySpec::new(Shape::sphere(0.1), DVec3::new(0.5 * k as f64, 0.0, 1.1));
        scene.body.push(BodySpec { material: format!("bounce {restitution}"), ..ball });
    }

    let mut simulation = Simulation::from_scene(&scene)?;
    println!("clearance in metres for e = {bounces:?}");
    for step in 0..=3000 {
        if step % 150 == 0 {
            // Bodies may move about in memory; their ids stay.
            let bodies = &simulation.world.bodies;
            let height = |id| bodies.index_of(id).map_or(f64::NAN, |i| bodies.position[i].z - 0.1);
            let heights: Vec<String> = (1..=bounces.len() as u64).map(|id| format!("{:6.3}", height(id))).collect();
            println!("t = {:4.2} s  {}", simulation.world.time, heights.join("  "));
        }
        simulation.step()?;
    }
    Ok(())
}

//! Forces between steps: a heavy ball is dragged through a settled bed of small ones.
//!
//! ```sh
//! cargo run --release -p barchan --example stir
//! ```
//!
//! The world may be read and changed between any two steps. Here a ball is added to a settled bed that
//! runs, a force is set on it that drives it towards a speed, and the force it takes is printed. Grains rain
//! down meanwhile, and the ball is taken out in the end.

use barchan::DVec3;
use barchan::scenario;
use barchan::shape::Shape;
use barchan::step::Simulation;
use barchan::world::{Body, ExternalForce};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A bed of the scenario library, left to settle.
    let scene = scenario::find("sedimentation")?.scene(&[("bodies".into(), "400".into())])?;
    let mut simulation = Simulation::from_scene(&scene)?;
    while simulation.world.time < 0.4 {
        simulation.step()?;
    }
    println!("settled: {} bodies, kinetic energy {:.1e} J", simulation.world.bodies.len(), simulation.energy().kinetic);

    // A ball twice as large goes on top, at the left wall, and sinks in a little.
    let surface = simulation.world.bodies.position.iter().map(|x| x.z).fold(0.0, f64::max);
    let place = DVec3::new(-0.04, 0.0, surface + 0.03);
    let ball = Body::dynamic(Shape::sphere(0.02), place).with_velocity(DVec3::new(0.0, 0.0, -1.5));
    let stirrer = simulation.add(ball)?;

    // Drag it to the right: the force follows the speed that is still missing.
    let wanted = 0.3;
    for step in 0..250 {
        let bodies = &simulation.world.bodies;
        let i = bodies.index_of(stirrer).ok_or("the stirrer is there")?;
        let (x, v, mass) = (bodies.position[i], bodies.velocity[i], 1.0 / bodies.inverse_mass()[i]);
        let force = DVec3::X * (mass * (wanted - v.x) / 0.005);
        simulation.world.external.insert(stirrer, ExternalForce { force, torque: DVec3::ZERO });
        let report = simulation.step()?;
        if step % 25 == 0 {
            println!(
                "t = {:.2} s  at x = {:6.3} m, z = {:5.3} m  pulls with {:6.2} N  ({} contacts)",
                simulation.world.time, x.x, x.z, force.x, report.contacts
            );
        }
        // Grains rain down behind it.
        if step % 50 == 25 {
            let above = |k: f64| DVec3::new(-0.04 + 0.02 * k, 0.02 * k - 0.02, surface + 0.1);
            let rain = [0.0, 1.0, 2.0].map(|k| Body::dynamic(Shape::sphere(0.008), above(k)));
            simulation.add_all(rain.to_vec())?;
        }
    }
    // The ball is taken out, and what is left comes to rest.
    simulation.remove(&[stirrer])?;
    for _ in 0..300 {
        simulation.step()?;
    }
    println!("in the end: {} bodies, {:.1e} J", simulation.world.bodies.len(), simulation.energy().kinetic);
    Ok(())
}

//! Runs a scenario with a number changed, and writes its energies and a picture.
//!
//! ```sh
//! cargo run --release -p barchan --example watch_energy -- some/directory
//! ```
//!
//! A thousand spheres fall into a box; `energy.csv` tells where their energy went, `bed.png`
//! where they came to lie. Without a directory they go to the system's temporary one.

use barchan::output::{PictureOptions, write_png};
use barchan::scenario;
use barchan::step::Simulation;
use std::fmt::Write;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args_os().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);

    // What `--set` does on the command line: parameters of the scenario, or keys of the scene.
    let overrides = [("bodies", "1000"), ("friction", "0.2"), ("solver.tolerance", "1e-2")];
    let overrides = overrides.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let scene = scenario::find("sedimentation")?.scene(&overrides)?;
    let mut simulation = Simulation::from_scene(&scene)?;

    let start = simulation.energy();
    let mut table = String::from("time,kinetic,potential,dissipated,contacts\n");
    while simulation.world.time < 0.4 {
        let report = simulation.step()?;
        if simulation.steps().is_multiple_of(10) {
            let now = simulation.energy();
            let dissipated = start.kinetic + start.potential - now.kinetic - now.potential;
            let time = simulation.world.time;
            writeln!(table, "{time:.3},{},{},{dissipated},{}", now.kinetic, now.potential, report.contacts)?;
        }
    }
    let now = simulation.energy();
    let lost = 1.0 - (now.kinetic + now.potential) / (start.kinetic + start.potential);
    println!("after {:.2} s, {:.1} % of the energy has gone into heat", simulation.world.time, 100.0 * lost);

    std::fs::create_dir_all(&directory)?;
    let (csv, png) = (directory.join("energy.csv"), directory.join("bed.png"));
    std::fs::write(&csv, table)?;
    write_png(&png, &simulation.world.bodies, &PictureOptions::default())?;
    println!("wrote {} and {}", csv.display(), png.display());
    Ok(())
}

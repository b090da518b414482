//! A contact problem made by hand, solved, written to a file and read back.
//!
//! ```sh
//! cargo run --release -p barchan --example own_problem
//! ```
//!
//! The problem is a plain value: no world and no shapes are needed. Two balls lie on a floor side
//! by side; the left one is pushed at the right one, and gravity pulls on both.

use barchan::DVec3;
use barchan::cone::solver::{AnySolver, Solve, Solver, SolverName, SolverOptions};
use barchan::cone::{BodyVec, ContactScalars, ContactVec, Geometry, MatrixFree, Problem, Workspace};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Bodies 0 and 1 are balls of 1 kg and 2 kg, body 2 is the floor, which nothing moves.
    let (masses, radius) = ([1.0, 2.0], 0.1);
    let inertia = |mass: f64| 0.4 * mass * radius * radius;
    // The balls' velocities if there were no contacts: the bias b is what contacts see of them.
    let free = [DVec3::new(1.0, 0.0, -0.1), DVec3::new(0.0, 0.0, -0.1)];
    let problem = Problem {
        inverse_mass: vec![1.0 / masses[0], 1.0 / masses[1], 0.0],
        geometry: Geometry::round(
            vec![radius, radius, 0.0],
            vec![1.0 / inertia(masses[0]), 1.0 / inertia(masses[1]), 0.0],
        ),
        // Each contact: bodies A and B, the normal from B towards A, the friction.
        pairs: vec![[0, 1], [0, 2], [1, 2]],
        normals: ContactVec::from_slice(&[-DVec3::X, DVec3::Z, DVec3::Z]),
        friction: ContactScalars::from_slice(&[0.3, 0.5, 0.5]),
        rows: Vec::new(),
        bias: ContactVec::from_slice(&[free[0] - free[1], free[0], free[1]]),
        slip_rounding: 0.0,
    };
    problem.check()?;

    // A file, for another program or another day.
    let mut text = Vec::new();
    problem.write(&mut text)?;
    print!("{}", String::from_utf8_lossy(&text));
    assert_eq!(Problem::read(text.as_slice(), "memory")?, problem);

    // Solve it: operator, start, solver.
    let mut workspace = Workspace::default();
    let mut operator = MatrixFree::new(&problem, &mut workspace);
    let (mut γ, mut response) = (ContactVec::zeros(problem.contacts()), BodyVec::default());
    let options = SolverOptions { tolerance: 1e-8, ..SolverOptions::default() };
    let report = AnySolver::new(SolverName::Apgd)
        .solve(Solve::new(&mut operator, &mut γ, &mut response, &options).with_history(true));

    println!("\n{:?} after {} iterations, residual {:.1e}", report.status, report.iterations, report.residual);
    for (pair, impulse) in problem.pairs.iter().zip(γ.iter()) {
        println!("impulse on body {} from body {}: {impulse:.4} N s", pair[0], pair[1]);
    }
    for (body, free) in free.into_iter().enumerate() {
        let [change, spin] = operator.twist(&response, body);
        println!("body {body} now moves at {:.4} m/s and spins at {spin:.3} rad/s", free + change);
    }
    Ok(())
}

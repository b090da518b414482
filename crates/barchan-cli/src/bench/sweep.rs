//! One sweep of the Gauss–Seidel solvers, with the looks at the residual that a solve takes.

use super::operator::seconds_per_contact_iteration;
use super::{Context, Figures, figures, pool, settled};
use crate::failure::Failure;
use barchan::cone::solver::{SolverName, SolverOptions};
use barchan::step::Simulation;
use serde_json::json;

const REPEATS: usize = 3;

pub(super) fn run(context: &Context) -> Result<Figures, Failure> {
    let mut simulation = Simulation::new(settled::tiled(8, 5, &context.cache, false)?, settled::options()?);
    let (problem, _) = simulation.pose();
    let mut out = figures(json!({ "contacts": problem.contacts() }));
    for name in [SolverName::Nbgs, SolverName::AcceleratedGs] {
        let options = SolverOptions { name, ..SolverOptions::default() };
        let one = pool(1)?.install(|| seconds_per_contact_iteration(problem, options, REPEATS)).1;
        let all = seconds_per_contact_iteration(problem, options, REPEATS).1;
        let figures = json!({
            "nanoseconds_per_contact": one * 1e9,
            "million_contacts_per_second": 1e-6 / one,
            "bandwidth_bytes_per_contact": context.bandwidth_bytes(one),
            "bandwidth_bytes_per_contact_all_threads": context.bandwidth_bytes(all),
        });
        out.insert(name.name().into(), figures);
    }
    Ok(out)
}

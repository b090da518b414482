use barchan::problem::*;
use barchan::solver::*;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let threads: usize = args[1].parse().unwrap();
    let law = if args[2] == "c" { Friction::Coulomb } else { Friction::Associated };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let AnyProblem::Bodies(problem) = AnyProblem::load(&args[5]).unwrap() else { panic!() };
    for tol in args[3].split(',') {
        for name in args[4].split(',') {
            let name = SolverName::ALL.iter().find(|s| s.1 == name).unwrap().0;
            let o = SolverOptions {
                name,
                friction: Some(law),
                tolerance: tol.parse().unwrap(),
                max_iterations: 20000,
                ..Default::default()
            };
            let mut ws = Workspace::default();
            let mut best = f64::MAX;
            let mut said = String::new();
            for _ in 0..3 {
                let t = std::time::Instant::now();
                let rep = pool.install(|| {
                    let mut op = MatrixFree::new(&problem, &mut ws);
                    let (mut γ, mut r) = (ContactVec::default(), BodyVec::default());
                    op.clear_impulses(&mut γ);
                    AnySolver::new(name).solve(&mut op, &mut γ, &mut r, &o, false)
                });
                let s = t.elapsed().as_secs_f64();
                best = best.min(s);
                said = format!(
                    "{:?} it {} apps {} res {:.2e}",
                    rep.status, rep.iterations, rep.operator_applications, rep.residual
                );
                if s > 2.0 {
                    break;
                }
            }
            println!("{tol} {} {best:.3} s {said}", name.name());
        }
    }
}

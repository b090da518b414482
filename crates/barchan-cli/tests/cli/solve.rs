//! `solve`: reports, solutions, exit codes, and files that are no problems. And where problems come
//! from: `run --dump-problem`.

use crate::support::{Desk, files};
use serde_json::Value;

/// Two coupled contacts, one of which slides.
const TWO: &str = "3\n2\n1\n6\n6\n4\n2\n2\n3 6\n3 6\n3\n4\n0 2 4\n0 1 0 1\n\
                   0\n2 0 0\n0 3 0\n0 0 3\n\
                   1\n0.5 0 0\n0 0.5 0\n0 0 0\n\
                   2\n0.5 0 0\n0 0.5 0\n0 0 0\n\
                   3\n1 0 0\n0 2 0\n0 0 2\n\
                   -1 0.1 0\n-2 3 1\n0.5\n0.2\n";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("two.dat", TWO);
    desk
}

fn keys(value: &Value) -> String {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys.join(" ")
}

/// The numbers of a solution file, a row a contact.
fn rows(text: &str) -> Vec<[f64; 6]> {
    let row = |line: &str| {
        let numbers: Vec<f64> = line.split(' ').map(|word| word.parse().unwrap()).collect();
        numbers.try_into().expect("six numbers")
    };
    text.lines().map(row).collect()
}

#[test]
fn a_report_for_people_and_one_for_programs() {
    let desk = desk();
    let said = desk.barchan("solve two.dat");
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{said:?}");
    for words in [
        "problem      two.dat\n",
        "contacts     2\n",
        "auto took accelerated-gs, coulomb friction",
        "converged",
        "tolerance 1e-6",
    ] {
        assert!(said.out.contains(words), "no {words:?} in {}", said.out);
    }
    let said = desk.barchan("solve two.dat --solver apgd --friction associated --tol 1e-9 --threads 2 --json");
    assert_eq!((said.code, said.err.as_str(), said.out.lines().count()), (0, "", 1), "{said:?}");
    let json: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(
        keys(&json),
        "contacts friction iterations objective operator_applications residual seconds solver status taken"
    );
    assert_eq!(keys(&json["residual"]), "complementarity dual natural primal");
    let document = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/problem-files.md");
    let document = std::fs::read_to_string(document).unwrap();
    for key in keys(&json).split(' ').chain(keys(&json["residual"]).split(' ')) {
        assert!(document.contains(&format!("`{key}`")), "problem-files.md does not name {key}");
    }
    assert_eq!(json["contacts"], 2);
    assert_eq!([&json["solver"], &json["friction"], &json["status"]], ["apgd", "associated", "converged"]);
    assert!(json["residual"]["natural"].as_f64().unwrap() <= 1e-9 && json["objective"].as_f64().unwrap() < 0.0);
    assert!(json["operator_applications"].as_u64() >= json["iterations"].as_u64());
}

#[test]
fn the_solution_solves_the_problem() {
    let desk = desk();
    let said = desk.barchan("solve two.dat --friction associated --tol 1e-10 --solution deep.txt --json");
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.err.contains("deep.txt"), "{said:?}");
    let json: Value = serde_json::from_str(&said.out).unwrap();
    let found = rows(&desk.read("deep.txt"));
    let [a, b] = [found[0], found[1]];
    let μ = [0.5, 0.2];
    // u = Wr + q, written out.
    let expected = [
        [2.0 * a[0] + 0.5 * b[0] - 1.0, 3.0 * a[1] + 0.5 * b[1] + 0.1, 3.0 * a[2]],
        [0.5 * a[0] + b[0] - 2.0, 0.5 * a[1] + 2.0 * b[1] + 3.0, 2.0 * b[2] + 1.0],
    ];
    let mut objective = 0.0;
    for (i, (row, expected)) in [a, b].iter().zip(expected).enumerate() {
        let r = &row[..3];
        let u = &row[3..];
        (0..3).for_each(|k| assert!((u[k] - expected[k]).abs() < 1e-12, "{row:?} {expected:?}"));
        assert!(r[1].hypot(r[2]) <= μ[i] * r[0] + 1e-9 && μ[i] * u[1].hypot(u[2]) <= u[0] + 1e-8, "{row:?}");
        assert!((0..3).map(|k| r[k] * u[k]).sum::<f64>().abs() < 1e-8, "{row:?}");
        let q = [[-1.0, 0.1, 0.0], [-2.0, 3.0, 1.0]][i];
        objective += (0..3).map(|k| 0.5 * r[k] * (u[k] + q[k])).sum::<f64>();
    }
    assert!((objective - json["objective"].as_f64().unwrap()).abs() < 1e-12);
    assert_eq!(files(&desk.path("")), ["deep.txt", "two.dat"]);
    // The second one replaces the first, and nothing replaces the problem.
    assert_eq!(desk.barchan("solve two.dat --solution deep.txt").code, 0);
    desk.barchan("solve two.dat --solution ./two.dat").refused(2, &["that is the problem itself"]);
    assert_eq!(desk.read("two.dat"), TWO);
    desk.barchan("solve two.dat --solution absent/deep.txt").refused(1, &["cannot create absent/deep.txt"]);
}

#[test]
fn what_is_not_solved_is_told_by_an_exit_code_of_its_own() {
    let desk = desk();
    let said = desk.barchan("solve two.dat --solver apgd --tol 1e-12 --max-iterations 2 --solution short.txt --json");
    said.refused(3, &["two.dat is not solved: iteration limit after 2 iterations", "expected 1e-12 or less"]);
    let json: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!([&json["status"], &json["iterations"]], [&Value::from("iteration limit"), &Value::from(2)]);
    assert_eq!(rows(&desk.read("short.txt")).len(), 2);
    let said = desk.barchan("solve two.dat --solver apgd --tol 1e-12 --max-iterations 2");
    assert!(said.code == 3 && said.out.contains("iteration limit"), "{said:?}");
    assert!(desk.barchan("solve --help").out.contains("3 not solved"));
}

#[test]
fn bad_arguments() {
    let desk = desk();
    desk.barchan("solve").refused(2, &["PROBLEM"]);
    desk.barchan("solve two.dat --tol -1").refused(2, &["--tol", "greater than 0"]);
    desk.barchan("solve two.dat --tol=0").refused(2, &["greater than 0"]);
    desk.barchan("solve two.dat --tol=nan").refused(2, &["greater than 0"]);
    desk.barchan("solve two.dat --solver magic").refused(2, &["apgd"]);
    desk.barchan("solve two.dat --friction sticky").refused(2, &["associated", "coulomb"]);
    desk.barchan("solve two.dat --threads 0").refused(2, &["--threads"]);
}

/// What a solver cannot do is said before the file is looked at.
#[test]
fn a_law_that_the_solver_lacks_is_refused() {
    use barchan::cone::Friction;
    use barchan::cone::solver::SolverName;
    let desk = desk();
    for &(solver, name, _) in SolverName::ALL {
        for &(law, law_name, _) in Friction::ALL {
            let line = format!("--solver {name} --friction {law_name}");
            if !solver.laws().contains(&law) {
                let said = desk.barchan(&format!("solve absent.dat {line}"));
                said.refused(2, &[&format!("the solver {name} cannot do friction \"{law_name}\"")]);
            } else {
                let said = desk.barchan(&format!("solve two.dat {line} --tol 1e-5 --json"));
                assert_eq!(said.code, 0, "{line}: {said:?}");
                let json: Value = serde_json::from_str(&said.out).unwrap();
                assert_eq!(json["friction"], law_name, "{line}");
            }
        }
    }
}

#[test]
fn files_that_are_no_problems() {
    let desk = desk();
    let refuses = |text: &str, words: &[&str]| {
        desk.write("bad.dat", text);
        desk.barchan("solve bad.dat --solution never.txt").refused(2, words);
    };
    refuses("", &["bad.dat: the file is empty"]);
    refuses("[solver]\n", &["bad.dat: not a contact problem", "\"[solver]\"", "barchan-problem"]);
    refuses("barchan-problem 2\nbodies few\n", &["bad.dat:2: expected a count of bodies, found \"few\""]);
    refuses("2\n1\n", &["bad.dat:1: expected the dimension 3, found 2"]);
    refuses(&TWO[..TWO.len() - 9], &["bad.dat:", "the file ends here, expected"]);
    refuses(&TWO.replace("-2 3 1", "-2 nan 1"), &["bad.dat:", "expected a finite number", "\"nan\""]);
    refuses(&TWO.replace("3\n2\n1\n6", "3\n3\n1\n6"), &["bad.dat:4: expected 9 rows of the matrix", "found 6"]);
    refuses(&TWO.replacen("0.5 0 0", "0.6 0 0", 1), &["bad.dat:19: block (0, 1)", "(1, 0)", "symmetric"]);
    refuses(&(TWO.to_owned() + "\nmore\n"), &["expected the end of the file, found \"more\""]);
    std::fs::write(desk.path("bad.h5"), b"\x89HDF\r\n\x1a\n\0\0\0\0").unwrap();
    desk.barchan("solve bad.h5").refused(2, &["bad.h5: byte 9: expected", "only 3 are left"]);
    desk.barchan("solve absent.dat").refused(2, &["absent.dat: No such file"]);
    desk.barchan("solve .").refused(2, &["Is a directory"]);
    assert_eq!(files(&desk.path("")), ["bad.dat", "bad.h5", "two.dat"]);
}

#[test]
fn problems_of_fclib() {
    let desk = Desk::new();
    let file = |name: &str, bytes: &[u8]| std::fs::write(desk.path(name), bytes).unwrap();
    file("local.dat", include_bytes!("../../../barchan-cone/tests/data/local.dat"));
    file("local.hdf5", include_bytes!("../../../barchan-cone/tests/data/local-csc.hdf5"));
    file("global.hdf5", include_bytes!("../../../barchan-cone/tests/data/global.hdf5"));
    file("planar.hdf5", include_bytes!("../../../barchan-cone/tests/data/planar.hdf5"));
    file("joints.hdf5", include_bytes!("../../../barchan-cone/tests/data/global-equalities.hdf5"));
    for law in ["associated", "coulomb"] {
        let solve = |name: &str| {
            let options = format!("--friction {law} --tol 1e-10 --solver accelerated-gs");
            let said = desk.barchan(&format!("solve {name} {options} --solution {name}.txt"));
            assert_eq!((said.code, said.err.as_str()), (0, ""), "{said:?}");
            desk.read(&format!("{name}.txt"))
        };
        // The same problem, the same bits.
        assert_eq!(solve("local.hdf5"), solve("local.dat"));
        let global = rows(&solve("global.hdf5"));
        assert!(global.len() == 3 && global.iter().any(|row| row[0] > 0.0), "{global:?}");
        // Nothing ever happens along the tangent that the plane does not have.
        let planar = rows(&solve("planar.hdf5"));
        assert!(planar.len() == 2 && planar[0][0] > 0.0, "{planar:?}");
        assert!(planar.iter().all(|row| row[2] == 0.0 && row[5] == 0.0), "{planar:?}");
    }
    desk.barchan("solve joints.hdf5").refused(2, &["joints.hdf5: fclib_global/G: ", "equality constraints"]);
}

#[test]
fn a_step_is_dumped_and_solved_alone() {
    let desk = Desk::new();
    let bed = "run sedimentation --set bodies=200 --steps 220";
    let hash = desk.hash(bed);
    assert_eq!(hash, desk.hash(&format!("{bed} --out bed --dump-problem 220 --dump-problem 200")));
    let text = desk.read("bed/problem-220.txt");
    assert!(text.starts_with("barchan-problem 3\n") && desk.path("bed/problem-200.txt").exists());
    let contacts = text.lines().filter(|line| line.starts_with("contact ")).count();
    let said = desk.barchan("solve bed/problem-220.txt --friction associated --tol 1e-7 --json --solution r.txt");
    assert_eq!(said.code, 0, "{said:?}");
    let json: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(json["contacts"], contacts);
    let found = rows(&desk.read("r.txt"));
    assert!(found.len() == contacts && contacts > 200);
    for [n, s, t, ..] in found {
        assert!(s.hypot(t) <= 0.5 * n + 1e-12, "{n} {s} {t}");
    }
    // A run of its own owns its problems: the next one in the directory removes them.
    assert_eq!(desk.barchan("run bounce --steps 1 --out bed --force").code, 0);
    assert!(!files(&desk.path("bed")).iter().any(|name| name.starts_with("problem")));
}

#[test]
fn a_step_beyond_the_end_is_refused_before_the_run() {
    let desk = Desk::new();
    desk.barchan("run bounce --steps 5 --dump-problem 3 --dump-problem 6")
        .refused(2, &["--dump-problem: there is no step 6: the run has 5, counted from 1"]);
    desk.barchan("run bounce --steps 5 --dump-problem 0").refused(2, &["--dump-problem"]);
    assert!(files(&desk.path("")).is_empty());
    // A run that fails on the way says which problems it did not reach.
    let said = desk.barchan("run bounce --set gravity=[0,0,-1e300] --steps 50 --out run --dump-problem 50");
    said.refused(1, &["the problem of step 50 is not written"]);
}

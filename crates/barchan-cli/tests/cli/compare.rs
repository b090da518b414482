//! `compare`: the table, the plots, the files, and what is refused.

use crate::support::{Desk, files};
use barchan::cone::Friction;
use barchan::cone::solver::SolverName;
use serde_json::Value;
use std::collections::BTreeSet;

/// Two problems of one run.
fn desk() -> Desk {
    let desk = Desk::new();
    let said = desk.barchan(
        "run sedimentation --set bodies=200 --steps 220 --out bed --dump-problem 200 --dump-problem 220 --quiet",
    );
    assert_eq!(said.code, 0, "{said:?}");
    desk
}

const BOTH: &str = "bed/problem-200.txt bed/problem-220.txt";

/// Names of the solvers that can do a law, in their order.
fn able(law: Friction) -> Vec<&'static str> {
    SolverName::ALL.iter().filter(|solver| solver.0.laws().contains(&law)).map(|solver| solver.1).collect()
}

/// Fails unless every element that is opened is closed, in the right order.
fn assert_well_formed(svg: &str) {
    let mut open = Vec::new();
    for tag in svg.split('<').skip(1) {
        let (tag, text) = tag.split_once('>').expect("an end of every tag");
        assert!(!text.contains('>'), "{text}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(tag.split_whitespace().next().unwrap());
        }
    }
    assert!(open.is_empty() && svg.starts_with("<svg ") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
}

/// Colours of lines that are as broad as curves. The curve of every solver has its own.
fn colours_of_curves(svg: &str) -> BTreeSet<&str> {
    let lines = svg.lines().filter(|line| line.starts_with("<polyline ") && line.contains("stroke-width=\"9\""));
    lines.map(|line| line.split("stroke=\"").nth(1).unwrap().split('"').next().unwrap()).collect()
}

/// Rows of a table of comma-separated values, with the header first.
fn rows(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split(',').collect()).collect()
}

#[test]
fn a_table_plots_and_raw_figures() {
    let desk = desk();
    // As exact as the slowest of them, jacobi, gets within its iterations.
    let said = desk.barchan(&format!("compare {BOTH} --tol 1e-3"));
    assert_eq!(said.code, 0, "{said:?}");
    let solvers = able(Friction::Associated);
    for (_, name, _) in SolverName::ALL {
        let left_out = said.err.contains(&format!("{name} is left out: it cannot do friction \"associated\""));
        assert_eq!(left_out, !solvers.contains(name), "{name}: {said:?}");
    }
    assert_eq!(
        files(&desk.path("comparison")),
        ["comparison.csv", "history.csv", "profile.svg", "residual-problem-200.svg", "residual-problem-220.svg"]
    );
    for problem in ["problem-200", "problem-220"] {
        for solver in &solvers {
            let is_line = |line: &&str| line.starts_with(problem) && line.contains(&format!(" {solver} "));
            let line = said.out.lines().find(is_line).expect("a line a solver and problem");
            assert!(line.contains("converged") && !line.ends_with('-'), "{line}");
        }
        let of_problem: Vec<_> = said.out.lines().filter(|line| line.starts_with(problem)).collect();
        assert!(of_problem.iter().any(|line| line.ends_with(" 1.00")), "somebody is the fastest: {}", said.out);
    }
    for plot in ["profile", "residual-problem-200", "residual-problem-220"] {
        let svg = desk.read(&format!("comparison/{plot}.svg"));
        assert_well_formed(&svg);
        assert_eq!(colours_of_curves(&svg).len(), solvers.len());
        assert!(solvers.iter().all(|solver| svg.lines().any(|line| line == *solver)), "a legend: {svg}");
        assert_eq!(svg.contains("tolerance 0.001"), plot != "profile");
    }

    let text = desk.read("comparison/comparison.csv");
    let results = rows(&text);
    assert_eq!(
        results[0].join(" "),
        "problem source contacts solver status iterations operator_applications seconds timings residual ratio"
    );
    assert_eq!(results.len(), 1 + 2 * solvers.len());
    for row in &results[1..] {
        let number = |k: usize| row[k].parse::<f64>().unwrap();
        assert!(row[1].starts_with("bed/") && row[4] == "converged", "{row:?}");
        assert!(number(2) > 100.0 && number(7) > 0.0 && number(9) <= 1.001e-3 && number(10) >= 1.0, "{row:?}");
    }
    let text = desk.read("comparison/history.csv");
    let history = rows(&text);
    assert_eq!(history[0].join(" "), "problem solver iteration operator_applications seconds residual");
    for row in &results[1..] {
        let of_row = history.iter().filter(|moment| moment[0] == row[0] && moment[1] == row[3]);
        let seconds: Vec<f64> = of_row.map(|moment| moment[4].parse().unwrap()).collect();
        assert!(!seconds.is_empty() && seconds.is_sorted(), "{row:?}");
        assert!(seconds.last().unwrap() <= &row[7].parse().unwrap(), "{row:?}");
    }

    let document = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/compare.md");
    let document = std::fs::read_to_string(document).unwrap();
    for column in results[0].iter().chain(&history[0]) {
        assert!(document.contains(&format!("`{column}`")), "compare.md does not name {column}");
    }
}

#[test]
fn coulombs_law_has_all_solvers_and_json_is_one_object() {
    let desk = desk();
    let said =
        desk.barchan("compare bed/problem-200.txt --friction coulomb --tol 1e-4 --json --threads 1 --out deep/er");
    assert_eq!((said.code, said.out.lines().count()), (0, 1), "{said:?}");
    assert!(said.err.contains("deep/er") && !said.err.contains("left out"), "{said:?}");
    let json: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!([&json["friction"], &json["directory"]], ["coulomb", "deep/er"]);
    assert_eq!([&json["tolerance"], &json["threads"]], [&Value::from(1e-4), &Value::from(1)]);
    let results = json["results"].as_array().unwrap();
    let named: Vec<_> = results.iter().map(|result| result["solver"].as_str().unwrap()).collect();
    assert_eq!(named, able(Friction::Coulomb));
    assert!(results.iter().any(|result| result["ratio"] == 1.0));
}

#[test]
fn a_step_of_a_scene_beside_files_and_chosen_solvers() {
    let desk = desk();
    let line = "compare bed/problem-220.txt --scene sedimentation --set bodies=200 --step 220 --tol 1e-4";
    let said = desk.barchan(&format!("{line} --solvers scip,apgd,scip --json"));
    assert_eq!(said.code, 0, "{said:?}");
    let json: Value = serde_json::from_str(&said.out).unwrap();
    let told: Vec<_> = json["results"].as_array().unwrap().iter().collect();
    let of = |k: usize| [&told[k]["problem"], &told[k]["solver"]].map(|value| value.as_str().unwrap());
    assert_eq!([of(0), of(1)], [["problem-220", "scip"], ["problem-220", "apgd"]]);
    assert_eq!([of(2), of(3)], [["sedimentation-220", "scip"], ["sedimentation-220", "apgd"]]);
    // The same problem as the run dumped.
    for key in ["contacts", "iterations", "residual"] {
        assert_eq!([&told[0][key], &told[1][key]], [&told[2][key], &told[3][key]], "{key}");
    }
}

#[test]
fn who_does_not_converge_is_shown_and_no_failure() {
    let desk = desk();
    let said = desk.barchan(&format!("compare {BOTH} --solvers apgd,scip --tol 1e-9 --max-iterations 3 --out short"));
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("iteration limit") && said.out.contains("0 of 2"), "{said:?}");
    let text = desk.read("short/comparison.csv");
    assert!(rows(&text)[1..].iter().all(|row| row[4] == "iteration limit" && row[10].is_empty()), "{text}");
    for plot in ["profile", "residual-problem-200"] {
        assert_well_formed(&desk.read(&format!("short/{plot}.svg")));
    }
    // A microsecond is over with the first try.
    let said = desk.barchan(&format!("compare {BOTH} --solvers jacobi --tol 1e-12 --max-seconds 1e-6 --out brief"));
    assert!(said.code == 0 && said.out.contains("time limit"), "{said:?}");
}

#[test]
fn nothing_is_replaced_by_accident() {
    let desk = desk();
    let line = "compare bed/problem-200.txt --solvers apgd --tol 1e-2";
    assert_eq!(desk.barchan(line).code, 0);
    assert_eq!(desk.barchan(line).code, 0);
    assert!(desk.path("comparison-2/profile.svg").exists());
    desk.barchan(&format!("{line} --out comparison")).refused(2, &["already holds a comparison", "--force"]);
    desk.write("comparison/notes.md", "mine");
    desk.write("comparison/residual-other.svg", "old");
    assert_eq!(desk.barchan(&format!("{line} --out comparison --force")).code, 0);
    let left = files(&desk.path("comparison"));
    assert_eq!(left, ["comparison.csv", "history.csv", "notes.md", "profile.svg", "residual-problem-200.svg"]);
    desk.barchan(&format!("{line} --out bed --force")).refused(2, &["bed already holds files"]);
    desk.barchan(&format!("{line} --out bed/steps.csv")).refused(2, &["is not a directory"]);
}

#[test]
fn bad_input_is_refused_before_anything_is_written() {
    let desk = desk();
    desk.write("bad.dat", "3\n1\nnonsense\n");
    desk.write("nothing.txt", "barchan-problem 2\nbodies 0\ncontacts 0\nrows 0\nend\n");
    let refuses = |line: &str, words: &[&str]| desk.barchan(&format!("compare {line}")).refused(2, words);
    refuses("", &["PROBLEM"]);
    refuses("--solvers apgd", &["PROBLEM"]);
    refuses(&format!("{BOTH} bad.dat"), &["bad.dat:3: "]);
    refuses(&format!("{BOTH} absent.dat"), &["absent.dat: No such file"]);
    refuses("nothing.txt", &["nothing.txt: no contacts"]);
    refuses(&format!("{BOTH} --solvers apgd,nbsg"), &["'nbsg'", "similar", "'nbgs'"]);
    refuses(&format!("{BOTH} --solvers="), &["--solvers"]);
    refuses(&format!("{BOTH} --solvers nbgs"), &["the solver nbgs cannot do friction \"associated\""]);
    refuses(&format!("{BOTH} --tol 0"), &["--tol", "greater than 0"]);
    refuses(&format!("{BOTH} --max-seconds -1"), &["--max-seconds", "greater than 0"]);
    refuses(&format!("{BOTH} --step 3"), &["--scene"]);
    refuses("--scene sedimentaton", &["did you mean \"sedimentation\"?"]);
    refuses("--scene bounce --step 1", &["step 1 of bounce: no contacts"]);
    assert!(!desk.path("comparison").exists());
}

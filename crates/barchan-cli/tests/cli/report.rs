//! `barchan report`, and the page that a run leaves. What a browser makes of it is tested in tests/browser.

use crate::support::Desk;
use serde_json::Value;
use std::fs;

/// What the page's scripts read.
fn config(desk: &Desk, page: &str) -> Value {
    let page = desk.read(page);
    let json = page.split_once("id=\"config\">").unwrap().1.split_once("</script>").unwrap().0;
    serde_json::from_str(json).unwrap()
}

fn frames(desk: &Desk, page: &str) -> usize {
    desk.read(page).matches("<script type=\"text/plain\" class=\"frame\"").count()
}

#[test]
fn a_run_leaves_a_report_and_it_can_be_made_again() {
    let desk = Desk::new();
    let said = desk.barchan("run sedimentation --set bodies=60 --time 0.05 --out run");
    assert!(said.code == 0 && said.out.contains("run: open report.html"), "{said:?}");
    let first = desk.read("run/report.html");
    let told = config(&desk, "run/report.html");
    assert_eq!((told["mode"].as_str(), told["status"]["kind"].as_str()), (Some("report"), Some("finished")));
    assert_eq!((&told["steps"]["total"], &told["steps"]["missed"]), (&50.into(), &0.into()));
    assert_eq!((frames(&desk, "run/report.html"), &told["frames"]["total"]), (4, &4.into()));
    let summary: Value = serde_json::from_str(&desk.read("run/summary.json")).unwrap();
    assert_eq!(told["summary"]["state_hash"], summary["state_hash"]);

    fs::remove_file(desk.path("run/report.html")).unwrap();
    let said = desk.barchan("report run --json");
    let json: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((said.code, &json["frames"], &json["bytes"]), (0, &4.into(), &first.len().into()));
    assert_eq!(desk.read("run/report.html"), first);
    let said = desk.barchan("report run -o elsewhere.html --megabytes 0");
    assert!(
        said.code == 0 && said.out.starts_with("elsewhere.html: ") && said.out.contains("2 of 4 frames"),
        "{said:?}"
    );
    assert_eq!(frames(&desk, "elsewhere.html"), 2);
}

#[test]
fn without_a_report_if_told_so() {
    let desk = Desk::new();
    assert_eq!(desk.barchan("run bounce --steps 5 --out run --no-report").code, 0);
    assert!(!desk.path("run/report.html").exists());
}

#[test]
fn runs_that_did_not_end_well_have_a_report_too() {
    let desk = Desk::new();
    desk.write(
        "burst.toml",
        "gravity = [0, 0, 0]\n[time]\nstep = 1e-3\nend = 100.0\n[output]\nframe_interval = 1e-3\n[[force]]\n\
         well = { centre = [0, 0, 0], stiffness = -1e6 }\n[[body]]\nshape.sphere.radius = 0.1\nposition = [0, 0, 1]\n",
    );
    assert_eq!(desk.barchan("run burst.toml --out run").code, 1);
    let told = config(&desk, "run/report.html");
    assert_eq!(told["status"]["kind"], "failed");
    assert!(told["status"]["text"].as_str().unwrap().contains("not finite"), "{}", told["status"]);
    // Killed: no summary, and half a row at the end of the table.
    fs::remove_file(desk.path("run/summary.json")).unwrap();
    desk.write("run/steps.csv", &format!("{}17,0.0", desk.read("run/steps.csv")));
    assert_eq!(desk.barchan("report run").code, 0);
    let told = config(&desk, "run/report.html");
    assert_eq!(told["status"]["kind"], "incomplete");
    assert_eq!(told["summary"]["steps"].as_f64(), told["steps"]["total"].as_f64());
    // Scene and frames are lost as well.
    desk.write("run/scene.toml", "nonsense = [");
    desk.write("run/frames/frame-000000.vtp", "not a frame");
    assert_eq!(desk.barchan("report run").code, 0);
    let told = config(&desk, "run/report.html");
    let notes = told["notes"].to_string();
    assert!(told["name"] == "run" && notes.contains("scene.toml") && notes.contains("frame-000000.vtp"), "{notes}");
}

#[test]
fn missed_steps_are_counted_and_markup_stays_text() {
    let desk = Desk::new();
    let nasty = "description=\"</script><script>globalThis.evil=1</script>\"";
    let missing = "--set solver.tolerance=1e-14 --set solver.max_iterations=1";
    let said = desk.barchan(&format!("run packing --set bodies=60 --set {nasty} {missing} --steps 100 --out run"));
    assert_eq!(said.code, 0, "{said:?}");
    let told = config(&desk, "run/report.html");
    assert!(told["description"].as_str().unwrap().contains("evil"));
    assert!(!desk.read("run/report.html").contains("<script>globalThis.evil"));
    assert!(told["steps"]["missed"].as_u64().unwrap() > 0 && !told["steps"]["missed_ranges"][0].is_null());
}

#[test]
fn what_is_no_run_is_refused_and_a_full_disk_is_told() {
    let desk = Desk::new();
    desk.barchan("report nothing").refused(2, &["nothing holds no run", "steps.csv"]);
    fs::create_dir(desk.path("empty")).unwrap();
    desk.barchan("report empty").refused(2, &["empty holds no run"]);
    desk.barchan("run bounce --steps 5 --out run --no-report");
    desk.barchan("report run -o missing/page.html").refused(1, &["missing/page.html"]);
    // A page that cannot be written does not make the run a failure.
    fs::create_dir(desk.path("run/report.html")).unwrap();
    desk.barchan("report run").refused(1, &["report.html"]);
}

#[test]
fn ranks_leave_one_report() {
    let desk = Desk::new();
    assert_eq!(desk.barchan("run sedimentation --set bodies=200 --time 0.04 --ranks 2 --out run").code, 0);
    let told = config(&desk, "run/report.html");
    assert_eq!((&told["summary"]["ranks"], frames(&desk, "run/report.html")), (&2.into(), 3));
}

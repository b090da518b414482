//! Ten steps of ten million spheres, through the command line, in a process of their own.

use super::{Context, Figures, figures};
use crate::failure::Failure;
use serde_json::{Value, json};
use std::process::Command;

pub(super) fn run(context: &Context) -> Result<Figures, Failure> {
    let own = std::env::current_exe().map_err(|e| Failure::Failed(format!("cannot find this program: {e}")))?;
    let directory = context.cache.join("huge");
    let output = Command::new(own)
        .args(["run", "sedimentation-shallow", "--set", "bodies=10000000", "--set", "output.frame_interval=0"])
        .args(["--steps", "10", "--json", "--quiet", "--force", "--out"])
        .arg(&directory)
        .output()
        .map_err(|e| Failure::Failed(format!("cannot start a second process: {e}")))?;
    if !output.status.success() {
        return Err(Failure::Failed(format!("the run failed: {}", String::from_utf8_lossy(&output.stderr))));
    }
    let summary: Value =
        serde_json::from_slice(&output.stdout).map_err(|e| Failure::Failed(format!("the run wrote no JSON: {e}")))?;
    let number = |key: &str| summary[key].as_f64().unwrap_or(f64::NAN);
    Ok(figures(json!({
        "bodies": summary["bodies"],
        "contacts": summary["contacts"],
        "steps": summary["steps"],
        "seconds": summary["seconds"]["total"],
        "peak_rss_bytes": summary["peak_rss_bytes"],
        "bytes_per_body": number("peak_rss_bytes") / number("bodies"),
        "finished": summary["steps"] == 10,
    })))
}

//! `barchan bench`: what a step costs on this machine, beside what its memory could deliver.
//!
//! Machines differ and are shared, so cost is reported as *bandwidth-bytes*: the bytes that the
//! STREAM triad moves in the time that an item takes, on one thread of the same machine in the
//! same run. Benches are programs, not tests: nothing here fails because a machine is slow.

mod accuracy;
mod bed;
mod boulders;
mod checkpoint;
mod detect;
mod distributed;
mod frames;
mod general;
mod huge;
mod iterations;
mod live;
mod memory;
mod operator;
mod parts;
mod physics;
mod scale;
mod scaling;
mod scip;
mod settled;
mod shapes;
mod sweep;
mod triad;
mod weak;

use crate::args::BenchArgs;
use crate::failure::{Failure, note, print};
use barchan::scenario;
use barchan::scene::Scene;
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// What every bench gets.
pub(crate) struct Context {
    /// Where settled beds are kept between runs.
    cache: PathBuf,
    /// Triad bytes a second on one thread and on all.
    triad: triad::Triad,
}

impl Context {
    /// Bytes that the triad on one thread moves in `seconds`.
    fn bandwidth_bytes(&self, seconds: f64) -> f64 {
        self.triad.one * seconds
    }
}

type Figures = Map<String, Value>;

/// A bench: its name, what it measures, and how.
struct Bench {
    name: &'static str,
    summary: &'static str,
    run: fn(&Context) -> Result<Figures, Failure>,
}

/// Every bench, in the order in which they run.
const BENCHES: &[Bench] = &[
    Bench { name: "operator", summary: "one APGD iteration on a settled bed of 1 000 000 spheres", run: operator::run },
    Bench { name: "sweep", summary: "one Gauss-Seidel sweep on the same million", run: sweep::run },
    Bench { name: "bed", summary: "a step of a settling bed of 25 000 spheres on two threads", run: bed::run },
    Bench { name: "detect", summary: "broad and narrow phase on the million", run: detect::run },
    Bench {
        name: "boulders",
        summary: "broad phases on a million grains, without and with a hundred boulders",
        run: boulders::run,
    },
    Bench {
        name: "shapes",
        summary: "contacts of bodies that are no spheres, beside parry and rapier (--features rapier)",
        run: shapes::run,
    },
    Bench { name: "general", summary: "general contacts against round ones", run: general::run },
    Bench { name: "physics", summary: "what bodies do at the defaults, beside known answers", run: physics::run },
    Bench { name: "accuracy", summary: "errors and costs of steps, laws and tolerances in flows", run: accuracy::run },
    Bench { name: "memory", summary: "peak memory a body on the million", run: memory::run },
    Bench { name: "checkpoint", summary: "a checkpoint of the million, against its raw bytes", run: checkpoint::run },
    Bench { name: "frames", summary: "taking and writing a frame of the million", run: frames::run },
    Bench { name: "iterations", summary: "iterations to S1's residuals on 25 000 spheres", run: iterations::run },
    Bench { name: "scip", summary: "the interior point to the same on 25 000 and 100 000 spheres", run: scip::run },
    Bench { name: "distributed", summary: "what ranks cost, on ranks of this process", run: distributed::run },
    Bench {
        name: "scaling",
        summary: "what the papers' machines and a million ranks would make of it",
        run: scaling::run,
    },
    Bench { name: "live", summary: "a step of 100 000 spheres without a viewer and with one", run: live::run },
    Bench { name: "scale", summary: "cost a body from 10 000 to 1 000 000 bodies", run: scale::run },
    Bench { name: "huge", summary: "ten steps of 10 000 000 spheres", run: huge::run },
];

/// Runs the benches that `args` names, all if it names none.
pub(crate) fn run(args: &BenchArgs) -> Result<(), Failure> {
    let cache = args.cache.clone().unwrap_or_else(|| PathBuf::from("runs/bench"));
    if let [name] = &args.names[..]
        && let Some(done) = memory::child(name, &cache)
    {
        return done;
    }
    let chosen: Vec<&Bench> = if args.names.is_empty() {
        BENCHES.iter().collect()
    } else {
        args.names.iter().map(|name| find(name)).collect::<Result<_, _>>()?
    };
    note("measuring the triad");
    let context = Context { cache, triad: triad::measure() };
    let mut all = Map::new();
    all.insert("triad_gb_s".into(), json!({ "one": context.triad.one / 1e9, "all": context.triad.all / 1e9 }));
    all.insert("threads".into(), json!(rayon::current_num_threads()));
    if !args.json {
        let triad = &context.triad;
        print(&format!("triad: {:.1} GB/s on one thread, {:.1} on all\n", triad.one / 1e9, triad.all / 1e9))?;
    }
    for bench in chosen {
        note(format_args!("{}: {}", bench.name, bench.summary));
        let figures = (bench.run)(&context)?;
        if !args.json {
            let mut text = format!("\n{}: {}\n", bench.name, bench.summary);
            figures.iter().for_each(|(key, value)| write_figure(&mut text, key, value, 2));
            print(&text)?;
        }
        all.insert(bench.name.into(), Value::Object(figures));
    }
    if args.json {
        print(&format!("{}\n", Value::Object(all)))?;
    }
    Ok(())
}

fn find(name: &str) -> Result<&'static Bench, Failure> {
    BENCHES.iter().find(|b| b.name == name).ok_or_else(|| {
        let known: Vec<_> = BENCHES.iter().map(|b| b.name).collect();
        Failure::Input(format!("no bench is called {name:?}; there are {}", known.join(", ")))
    })
}

/// Writes a figure for people: numbers to four digits, objects indented.
fn write_figure(text: &mut String, key: &str, value: &Value, indent: usize) {
    let show = |value: &Value| match value.as_f64() {
        Some(x) if x != 0.0 && (x.abs() < 1e-3 || x.abs() >= 1e7) => format!("{x:.3e}"),
        Some(x) if x.fract() != 0.0 => format!("{x:.4}"),
        _ => value.to_string(),
    };
    if let Some(table) = table(value, &show) {
        text.push_str(&format!("{:indent$}{key}:\n\n{table}\n", ""));
        return;
    }
    let shown = match value {
        Value::Object(_) => String::new(),
        Value::Array(list) => list.iter().map(show).collect::<Vec<_>>().join(", "),
        Value::String(words) => words.clone(),
        other => show(other),
    };
    text.push_str(&format!("{:indent$}{key}: {shown}\n", ""));
    if let Value::Object(map) = value {
        map.iter().for_each(|(key, value)| write_figure(text, key, value, indent + 2));
    }
}

/// Rows of a table, the first of them its heads, as a document would have them.
fn table(value: &Value, show: &dyn Fn(&Value) -> String) -> Option<String> {
    let rows: Vec<&Vec<Value>> = value.as_array()?.iter().map(Value::as_array).collect::<Option<_>>()?;
    let cell = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => show(other),
    };
    let line = |row: &Vec<Value>| format!("| {} |\n", row.iter().map(cell).collect::<Vec<_>>().join(" | "));
    let (heads, body) = rows.split_first()?;
    Some(format!(
        "{}|{}\n{}",
        line(heads),
        "---|".repeat(heads.len()),
        body.iter().map(|row| line(row)).collect::<String>()
    ))
}

/// Turns a JSON object into figures.
fn figures(value: Value) -> Figures {
    match value {
        Value::Object(map) => map,
        other => Map::from_iter([("value".to_string(), other)]),
    }
}

/// A scenario's scene.
fn named(name: &str, set: &[(&str, &str)]) -> Result<Scene, Failure> {
    let set: Vec<_> = set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Ok(scenario::find(name)?.scene(&set)?)
}

/// A thread pool of `threads` threads.
fn pool(threads: usize) -> Result<rayon::ThreadPool, Failure> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|e| Failure::Failed(format!("cannot start {threads} threads: {e}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_a_table() {
        let mut text = String::new();
        write_figure(&mut text, "t", &json!([["a", "b"], [1, "x"], [2.5, null]]), 2);
        assert_eq!(text, "  t:\n\n| a | b |\n|---|---|\n| 1 | x |\n| 2.5000 |  |\n\n");
        text.clear();
        write_figure(&mut text, "t", &json!({ "list": [1, 2], "words": "as they are" }), 0);
        assert_eq!(text, "t: \n  list: 1, 2\n  words: as they are\n");
    }
}

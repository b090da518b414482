//! Files that people and disks have damaged: random changes of sound files.
//!
//! Two seconds a kind of file; `BARCHAN_FUZZ_SECONDS=600` takes ten minutes. The seeds are the files
//! in `fuzz/corpus`, the scenes of all scenarios, the problem files of other tests, and what short runs
//! leave. The same oracles serve `cargo fuzz` (see `fuzz/README.md`), which watches where the bytes lead;
//! `BARCHAN_FUZZ_SEEDS=DIR` leaves the seeds there, and `BARCHAN_FUZZ_INPUT=FILE` tries that file alone.

mod mutate;
mod oracles;

use barchan::checkpoint::{self, Contents};
use barchan::comm::threads;
use barchan::output::{RunDirectory, examine_frame};
use barchan::run::{Run, RunOptions};
use barchan::scenario::SCENARIOS;
use mutate::Mutator;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

/// Longer than any input may take, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// The files of a folder of the project.
fn files(folder: &str) -> Vec<Vec<u8>> {
    files_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder))
}

fn files_in(folder: &Path) -> Vec<Vec<u8>> {
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!paths.is_empty(), "{} is empty", folder.display());
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// Puts changed seeds before an oracle until the time is over. What brings it down is kept.
fn torment(kind: &str, seeds: &[Vec<u8>], words: &[&str], oracle: fn(&[u8])) {
    let seconds = std::env::var("BARCHAN_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(2);
    if let Some(folder) = std::env::var_os("BARCHAN_FUZZ_SEEDS") {
        let folder = Path::new(&folder).join(kind);
        std::fs::create_dir_all(&folder).unwrap();
        (0..).zip(seeds).for_each(|(k, seed)| std::fs::write(folder.join(format!("seed-{k}")), seed).unwrap());
    }
    if let Some(file) = std::env::var_os("BARCHAN_FUZZ_INPUT") {
        return oracle(&std::fs::read(file).unwrap());
    }
    let mut mutator = Mutator::new(seeds, words);
    seeds.iter().for_each(|seed| oracle(seed));
    let mut count = 0u64;
    let end = Instant::now() + Duration::from_secs(seconds);
    while Instant::now() < end {
        let input = mutator.next();
        let start = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(|| oracle(&input)));
        if result.is_err() || start.elapsed() > PATIENCE {
            let kept = std::env::temp_dir().join(format!("barchan-fuzz-{kind}-{}", std::process::id()));
            std::fs::write(&kept, &input).unwrap();
            panic!("input {count} of {kind} took {:?}; it is kept in {}", start.elapsed(), kept.display());
        }
        count += 1;
    }
    println!("{kind}: {count} inputs");
    assert!(count > 20, "only {count} inputs in {seconds} s");
}

#[test]
fn scenes() {
    let mut seeds = files("fuzz/corpus/scene");
    seeds.extend(SCENARIOS.iter().map(|scenario| scenario.scene(&[]).unwrap().to_toml().into_bytes()));
    let words = [
        "nan",
        "inf",
        "-inf",
        "-1",
        "0",
        "1e308",
        "1e-308",
        "-0.0",
        "18446744073709551615",
        "9223372036854775807",
        "[]",
        "{}",
        "\"\"",
        "true",
        "[[body]]\n",
        "[[fill]]\n",
        "[[lattice]]\n",
        "[[material]]\n",
        "[solver]\n",
        "[domain]\n",
        "count = ",
        "counts = [1, 1, 1]\n",
        "min = ",
        "max = ",
        "radius = ",
        "periodic = [true, true, true]\n",
        "shape = { sphere = { radius = 0.1 } }\n",
        "motion = \"kinematic\"\n",
        "\u{0}",
        "\r\n",
        "ß",
    ];
    torment("scene", &seeds, &words, oracles::scene);
}

#[test]
fn problems() {
    let words = [
        "nan",
        "inf",
        "-1",
        "0",
        "1e308",
        "4294967295",
        "18446744073709551615",
        "3 ",
        "\n",
        " ",
        "barchan-problem 2\n",
    ];
    let mut seeds = files("fuzz/corpus/problem");
    seeds.extend(files("crates/barchan-cone/tests/data"));
    torment("problem", &seeds, &words, oracles::problem);
}

/// The files that short runs leave in a folder, on one rank and on two.
fn files_of_runs(folder: &str) -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for (k, (scene, ranks)) in oracles::kept_scenes().iter().flat_map(|scene| [(scene, 1), (scene, 2)]).enumerate() {
        let path = std::env::temp_dir().join(format!("barchan-fuzz-{folder}-{}-{k}", std::process::id()));
        threads::run(ranks, 1, |comm| {
            let options = RunOptions { steps: Some(oracles::KEPT_STEPS), ..RunOptions::default() };
            let mut run = Run::start_on(scene, &options, comm).unwrap();
            run.record_by(|| RunDirectory::create(&path, true)).unwrap();
            run.to_end(|_| ControlFlow::Continue(())).unwrap();
        })
        .unwrap();
        files.extend(files_in(&path.join(folder)));
        std::fs::remove_dir_all(&path).unwrap();
    }
    files
}

#[test]
fn checkpoints_of_runs() {
    let seeds = files_of_runs("checkpoints");
    // A head and a part a rank of each.
    assert_eq!(seeds.len(), 2 * (2 + 3));
    let parts = seeds.iter().filter(|seed| matches!(checkpoint::examine(seed), Ok(Contents::Part(_))));
    assert_eq!(parts.count(), 2 * (1 + 2));
    torment("checkpoint", &seeds, &["\u{0}", "nan"], oracles::checkpoint);
}

#[test]
fn frames_of_runs() {
    let mut seeds = files_of_runs("frames");
    seeds.extend(files("fuzz/corpus/vtp"));
    assert!(seeds.iter().filter(|seed| examine_frame(seed).is_ok()).count() >= 8);
    let words = [
        "NumberOfPoints=\"0\"",
        "NumberOfLines=\"1\"",
        "18446744073709551615",
        "Float64",
        "Int32",
        "vtkZLibDataCompressor",
        "offset=\"0\"",
        "-1",
        "nan",
    ];
    torment("vtp", &seeds, &words, oracles::frame);
}

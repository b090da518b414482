//! Recorded states: the same scene gives the same bits as the build before.
//!
//! A change that only moves or renames code leaves these hashes alone. One that alters the bits of a
//! run changes them here, with a sentence in the changelog that says why. They hold where sines and
//! powers come from the same mathematics library, so other systems pass them over.

#![cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]

use super::common::{run, simulation};

/// The hash of a scenario after some steps.
fn hash(scenario: &str, overrides: &[(&str, &str)], steps: usize) -> String {
    let overrides: Vec<_> = overrides.iter().map(|(key, value)| (*key, (*value).to_owned())).collect();
    let mut simulation = simulation(scenario, &overrides);
    run(&mut simulation, steps);
    format!("{:016x}", simulation.world.state_hash())
}

#[test]
fn sedimentation_by_the_default_solver() {
    assert_eq!(hash("sedimentation", &[("bodies", "5000")], 300), "b30367611518bc50");
}

#[test]
fn sedimentation_by_apgd() {
    assert_eq!(hash("sedimentation", &[("bodies", "5000"), ("solver.name", "apgd")], 300), "cbe412aa92a5c6e9");
}

#[test]
fn shaken_box() {
    assert_eq!(hash("shaken-box", &[], 400), "5d40ba3bb86260c5");
}

#[test]
fn granular_gas() {
    assert_eq!(hash("granular-gas", &[("clumps", "0")], 250), "b6cc594bf1b17cda");
}

#[test]
fn hexagonal_packing() {
    assert_eq!(hash("hexagonal-packing", &[], 100), "faa7d03010ef41f7");
}

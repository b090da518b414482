//! Problems in FCLIB's HDF5 files, against the same problems as text and by hand.
//! `tests/python/hdf5_fixtures.py` makes the files.

use barchan_cone::{AnyProblem, Assembled};
use glam::{DMat3, DVec3};
use proptest::prelude::*;

const LOCAL: &[u8] = include_bytes!("data/local-csc.hdf5");
const LOCAL_ROWS: &[u8] = include_bytes!("data/local-csr.hdf5");
const LOCAL_TRIPLETS: &[u8] = include_bytes!("data/local-triplets.hdf5");
const LOCAL_TEXT: &[u8] = include_bytes!("data/local.dat");
const GLOBAL: &[u8] = include_bytes!("data/global.hdf5");
const GLOBAL_TEXT: &[u8] = include_bytes!("data/global.dat");
const EQUALITIES: &[u8] = include_bytes!("data/global-equalities.hdf5");
const PLANAR: &[u8] = include_bytes!("data/planar.hdf5");

fn read(bytes: &[u8]) -> Assembled {
    match AnyProblem::read(bytes, "p.hdf5") {
        Ok(AnyProblem::Matrix(problem)) => problem,
        Ok(other) => panic!("expected a matrix, found {other:?}"),
        Err(error) => panic!("{error}"),
    }
}

fn error(bytes: &[u8]) -> String {
    AnyProblem::read(bytes, "p.hdf5").unwrap_err().to_string()
}

/// Compressed columns in an old file with a solution and guesses, compressed rows in a new one,
/// triplets in no order, and text.
#[test]
fn every_form_gives_the_same_problem() {
    let text = read(LOCAL_TEXT);
    assert_eq!((text.contacts(), text.columns.as_slice()), (3, [0, 1, 0, 1, 2, 1, 2].as_slice()));
    for file in [LOCAL, LOCAL_ROWS, LOCAL_TRIPLETS] {
        assert_eq!(read(file), text);
    }
}

#[test]
fn a_global_problem_is_that_of_a_dense_calculation() {
    let (found, expected) = (read(GLOBAL), read(GLOBAL_TEXT));
    assert_eq!((&found.starts, &found.columns), (&expected.starts, &expected.columns));
    assert_eq!(found.friction, expected.friction);
    for (block, dense) in found.blocks.iter().zip(&expected.blocks) {
        assert!((*block - *dense).to_cols_array().iter().all(|x| x.abs() < 1e-13), "{block} {dense}");
    }
    for (q, dense) in found.bias.iter().zip(expected.bias.iter()) {
        assert!((q - dense).length() < 1e-13, "{q} {dense}");
    }
    // Symmetric to the last bit.
    for i in 0..found.contacts() {
        for (k, block) in found.row(i) {
            assert_eq!(*block, found.blocks[found.find(k, i).unwrap()].transpose());
        }
    }
}

#[test]
fn contacts_in_the_plane_get_a_second_tangent_of_their_own() {
    let problem = read(PLANAR);
    let rows = |a: [f64; 3], b: [f64; 3], c: [f64; 3]| DMat3::from_cols(a.into(), b.into(), c.into()).transpose();
    let coupling = rows([0.5, 0.0, 0.0], [0.0, 0.125, 0.0], [0.0; 3]);
    let first = rows([2.0, 0.25, 0.0], [0.25, 1.0, 0.0], [0.0, 0.0, 1.0]);
    let second = DMat3::from_diagonal(DVec3::new(1.0, 3.0, 3.0));
    assert_eq!(problem.blocks, [first, coupling, coupling, second]);
    let bias: Vec<DVec3> = problem.bias.iter().collect();
    assert_eq!(bias, [DVec3::new(-1.0, 0.5, 0.0), DVec3::new(-0.25, -2.0, 0.0)]);
}

#[test]
fn equality_constraints_are_refused() {
    let expected = "the problem has equality constraints, which cannot be read; expected contacts only";
    assert_eq!(error(EQUALITIES), format!("p.hdf5: fclib_global/G: {expected}"));
}

#[test]
fn files_without_a_problem() {
    let mut renamed = LOCAL.to_vec();
    replace(&mut renamed, b"fclib_local", b"other_group");
    let expected = "an HDF5 file without a problem of FCLIB: expected the group \"fclib_local\" or \"fclib_global\"";
    assert_eq!(error(&renamed), format!("p.hdf5: {expected}"));
    assert!(error(&LOCAL[..LOCAL.len() - 9]).contains("the file is cut off"));
}

fn place(bytes: &[u8], what: &[u8]) -> usize {
    let places: Vec<usize> = (0..bytes.len() - what.len()).filter(|at| bytes[*at..].starts_with(what)).collect();
    assert_eq!(places.len(), 1, "{what:?} is in the file once");
    places[0]
}

fn replace(bytes: &mut [u8], from: &[u8], to: &[u8]) {
    let at = place(bytes, from);
    bytes[at..at + to.len()].copy_from_slice(to);
}

fn integers(numbers: &[i32]) -> Vec<u8> {
    numbers.iter().flat_map(|k| k.to_le_bytes()).collect()
}

fn floats(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// Datasets are in the order of their writing: spacedim, nzmax, m, n, nz, p, i, x, q, mu. Changes
/// an integer so many places behind m, and reads.
#[track_caller]
fn with_integer(behind: isize, from: i32, to: i32, expected: &str) {
    let mut bytes = LOCAL.to_vec();
    let m = place(LOCAL, &integers(&[9, 9, -1]));
    let at = m.checked_add_signed(4 * behind).unwrap();
    assert_eq!(bytes[at..at + 4], from.to_le_bytes());
    bytes[at..at + 4].copy_from_slice(&to.to_le_bytes());
    assert_eq!(error(&bytes), format!("p.hdf5: fclib_local/{expected}"));
}

#[track_caller]
fn with_floats(from: &[f64], to: &[f64], expected: &str) {
    let mut bytes = LOCAL.to_vec();
    replace(&mut bytes, &floats(from), &floats(to));
    let found = error(&bytes);
    assert!(found.starts_with(&format!("p.hdf5: fclib_local/{expected}")), "{found}");
}

#[test]
fn errors_name_the_dataset_what_was_found_and_what_is_expected() {
    with_integer(-2, 3, 4, "spacedim: expected 3, or 2 for a problem in the plane, found 4");
    with_integer(-2, 3, 2, "vectors/q: 9 numbers, expected 2 a contact");
    with_integer(0, 9, 12, "W/m: 12 rows, expected 9, as vectors/q has");
    with_integer(1, 9, -9, "W/n: -9 columns, expected 9, as vectors/q has");
    let forms = "expected -1 (compressed columns), -2 (compressed rows) or the number of triplets";
    with_integer(2, -1, -3, &format!("W/nz: {forms}, found -3"));
    with_integer(2, -1, 7, "W/p: 10 numbers, expected 7: as many as there are triplets");
    with_integer(3, 0, 1, "W/p: entry 0 is 1, expected 0");
    let m = place(LOCAL, &integers(&[9, 9, -1]));
    let number = |behind: usize| i32::from_le_bytes(LOCAL[m + 4 * behind..][..4].try_into().unwrap());
    let (first, count) = (number(4), number(12));
    with_integer(4, first, 1000, &format!("W/p: entry 1 is 1000, expected a number from 0 to {count}"));
    with_integer(4, first, -1, &format!("W/p: entry 1 is -1, expected a number from 0 to {count}"));
    with_integer(5, number(5), 1, &format!("W/p: entry 2 is 1, expected a number from {first} to {count}"));
    with_integer(13, 0, 9, "W/i: entry 0 is 9, expected a number from 0 to below 9");
    with_integer(14, 1, -1, "W/i: entry 1 is -1, expected a number from 0 to below 9");

    let (q, mu) = ([-1.0, 0.25, 0.0, -2.0], [0.5, 0.0, 0.75]);
    with_floats(&q, &[-1.0, f64::NAN], "vectors/q: entry 1 is NaN, expected a finite number");
    with_floats(&q, &[-1.0, 0.25, 0.0, 1e200], "vectors/q: the right-hand side of contact 1 is too large");
    with_floats(&mu, &[0.5, f64::INFINITY], "vectors/mu: entry 1 is inf, expected a finite number");
    with_floats(&mu, &[0.5, -0.25], "vectors/mu: entry 1 is -0.25, expected a number that is not negative");
    let x = m + 4 * 13 + 4 * count as usize;
    let entry = |k: usize| f64::from_le_bytes(LOCAL[x + 8 * k..][..8].try_into().unwrap());
    let w = [entry(0), entry(1), entry(2)];
    with_floats(&w, &[w[0], f64::NEG_INFINITY], "W/x: entry 1 is -inf, expected a finite number");
    with_floats(&w, &[w[0], w[1] + 0.5], "W: block (0, 0) of the matrix: differs from the transpose of block (0, 0)");
    with_floats(&w, &[-1.0], "W: block (0, 0) of the matrix: its normal entry is -1, expected a number greater than 0");
}

#[test]
fn datasets_that_are_missing_or_of_another_type() {
    let with = |from: &[u8], to: &[u8]| {
        let mut bytes = LOCAL.to_vec();
        replace(&mut bytes, from, to);
        error(&bytes)
    };
    assert_eq!(with(b"spacedim\0", b"spacetim"), "p.hdf5: fclib_local/spacedim: there is no such dataset in the file");
    assert_eq!(with(b"vectors\0", b"vectorz"), "p.hdf5: fclib_local/vectors/q: there is no such dataset in the file");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever the bytes are, the problem is sound or there is an error with the file's name.
    #[test]
    fn bytes_may_be_anything(
        file in 0..4_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
    ) {
        let mut bytes = [LOCAL, LOCAL_TRIPLETS, GLOBAL, PLANAR][file].to_vec();
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        match AnyProblem::read(bytes.as_slice(), "p.hdf5") {
            Ok(AnyProblem::Matrix(problem)) => prop_assert!(problem.check().is_ok()),
            Ok(AnyProblem::Bodies(_)) => prop_assert!(false),
            Err(error) => prop_assert!(error.to_string().starts_with("p.hdf5"), "{}", error),
        }
    }
}

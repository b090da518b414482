//! Arrays of files that the C library wrote, in the oldest version of the format that it writes
//! (`old.h5`), in that of its version 1.10 (`new.h5`) and in its latest (`latest.h5`).
//! `tests/python/hdf5_fixtures.py` makes them.

use barchan_hdf5::File;

const OLD: &[u8] = include_bytes!("data/old.h5");
const NEW: &[u8] = include_bytes!("data/new.h5");
const LATEST: &[u8] = include_bytes!("data/latest.h5");

fn files() -> [(&'static str, File); 3] {
    [("old", OLD), ("new", NEW), ("latest", LATEST)].map(|(name, bytes)| (name, File::new(bytes.to_vec()).unwrap()))
}

#[track_caller]
fn refuses(file: &File, path: &str, words: &str) {
    let error = match file.dataset(path) {
        Ok(dataset) => dataset.numbers().unwrap_err(),
        Err(error) => error,
    };
    assert!(error.to_string().contains(words), "{error}");
    assert!(error.to_string().starts_with(error.object()), "{error}");
}

#[test]
fn the_files_are_of_several_versions() {
    assert_eq!([OLD[8], NEW[8], LATEST[8]], [1, 3, 3]);
}

#[test]
fn every_type_of_number() {
    for (name, file) in files() {
        for code in ["i1", "<i2", "<i4", ">i4", ">i8", "u1", ">u2", "<u8"] {
            let first = if code.contains('u') { 7 } else { -7 };
            let dataset = file.dataset(&format!("types/{code}")).unwrap();
            assert_eq!(dataset.integers().unwrap(), [first, 0, 100], "{name} {code}");
            assert_eq!(dataset.numbers().unwrap(), [first as f64, 0.0, 100.0], "{name} {code}");
        }
        for code in ["<f4", ">f4", "<f8", ">f8"] {
            let dataset = file.dataset(&format!("floats/{code}")).unwrap();
            assert_eq!(dataset.numbers().unwrap(), [-1.5, 0.0, 1048576.0], "{name} {code}");
            let error = dataset.integers().unwrap_err().to_string();
            assert_eq!(error, format!("floats/{code}: expected whole numbers, found floating-point numbers"));
        }
    }
}

#[test]
fn every_layout() {
    for (name, file) in files() {
        let read = |path: &str| file.dataset(path).unwrap().numbers().unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(read("layouts/scalar"), [2.5]);
        assert!(file.dataset("layouts/scalar").unwrap().shape().is_empty());
        assert!(read("layouts/empty").is_empty() && read("layouts/null").is_empty());
        assert_eq!(read("/layouts/compact"), [0.0, 0.5, 1.0, 1.5, 2.0]);
        for chunks in ["plain", "filtered", "one", "one-filtered", "implicit", "may-grow"] {
            let path = format!("chunked/{chunks}");
            assert_eq!(file.dataset(&path).unwrap().shape(), [7, 10]);
            let expected: Vec<f64> = (0..70).map(f64::from).collect();
            assert_eq!(read(&path), expected, "{name} {path}");
        }
        let expected: Vec<f64> = (0..60).map(f64::from).collect();
        assert_eq!(read("chunked/cube"), expected, "{name}");
    }
}

#[test]
fn what_cannot_be_read_is_refused_by_name() {
    for (_, file) in files() {
        refuses(&file, "refused/f2", "floating-point numbers of 2 bytes");
        refuses(&file, "refused/text", "expected numbers, found strings");
        refuses(&file, "refused/bool", "expected numbers, found enumerations");
        refuses(&file, "refused/soft", "this is a soft link");
        refuses(&file, "refused/external", "a link to another file");
        refuses(&file, "refused/unwritten", "the data were never written");
        refuses(&file, "refused/scaled", "the filter 6 (scaleoffset) cannot be undone");
        refuses(&file, "refused/unwritten-chunk", "the chunk [1] of [2] was never written");
        refuses(&file, "refused", "expected a dataset, found an object that is none");
        refuses(&file, "absent", "there is no such dataset");
        refuses(&file, "types/absent", "there is no such dataset");
        refuses(&file, "types/i1/more", "expected a group that may have \"more\"");
        assert!(file.contains("types").unwrap() && file.contains("").unwrap());
        assert!(!file.contains("absent").unwrap() && !file.contains("absent/more").unwrap());
    }
}

/// Newer files have other structures for what is large or may grow.
#[test]
fn structures_of_newer_files() {
    let [(_, old), (_, new), (_, latest)] = files();
    for path in ["endless/one-way", "endless/all-ways"] {
        let expected: Vec<i64> = (0..70).collect();
        assert_eq!(old.dataset(path).unwrap().integers().unwrap(), expected);
    }
    for file in [&old, &new, &latest] {
        for k in 0..12 {
            assert_eq!(file.dataset(&format!("many/n{k}")).unwrap().integers().unwrap(), [k]);
        }
        refuses(file, "many/n12", "there is no such dataset");
    }
    for file in [new, latest] {
        refuses(&file, "endless/one-way", "chunks in an extensible array");
        refuses(&file, "endless/all-ways", "chunks in a B-tree of version 2");
    }
}

#[test]
fn a_file_that_is_no_such_file() {
    let error = |bytes: &[u8]| File::new(bytes.to_vec()).unwrap_err().to_string();
    assert!(error(b"").starts_with("byte 0: expected \"\\x89HDF"), "{}", error(b""));
    assert!(error(b"3\n2\n1\n").contains("how an HDF5 file begins, found \"3\\n2\\n1\\n\""));
    let cut = error(&OLD[..OLD.len() - 1]);
    let whole = OLD.len();
    assert!(cut.contains(&format!("cut off: it should have {whole} bytes, and has {}", whole - 1)), "{cut}");
    let mut damaged = NEW.to_vec();
    damaged[20] ^= 1;
    assert!(error(&damaged).contains("checksum"), "{}", error(&damaged));
    damaged[8] = 9;
    assert_eq!(error(&damaged), "byte 8: the version of the superblock is 9, and what can be read is 0, 1, 2, 3");
}

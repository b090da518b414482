//! Damaged files: whatever their bytes are, reading ends, in an error or in numbers.

use crate::File;
use proptest::prelude::*;

const FILES: [&[u8]; 3] = [
    include_bytes!("../tests/data/old.h5"),
    include_bytes!("../tests/data/new.h5"),
    include_bytes!("../tests/data/latest.h5"),
];

/// Paths of all structures that files have.
const PATHS: &[&str] = &[
    "types/i1",
    "types/>i8",
    "floats/>f4",
    "floats/<f8",
    "refused/text",
    "refused/soft",
    "refused/scaled",
    "refused/unwritten-chunk",
    "layouts/scalar",
    "layouts/empty",
    "layouts/null",
    "layouts/compact",
    "chunked/plain",
    "chunked/filtered",
    "chunked/one",
    "chunked/one-filtered",
    "chunked/implicit",
    "chunked/may-grow",
    "chunked/cube",
    "endless/one-way",
    "endless/all-ways",
    "many/n3",
    "many/n11",
    "absent/name",
];

/// Reads all that there is; the number of arrays that could be read.
fn read_all(bytes: Vec<u8>) -> usize {
    let size = bytes.len();
    let Ok(file) = File::new(bytes) else { return 0 };
    let read = |path: &&&str| {
        let numbers = file.dataset(path).and_then(|dataset| dataset.numbers());
        if let Ok(numbers) = &numbers {
            assert!(numbers.len() <= 1032 * size, "{path}: {} numbers from {size} bytes", numbers.len());
        }
        let _ = file.dataset(path).and_then(|dataset| dataset.integers());
        numbers.is_ok()
    };
    PATHS.iter().filter(read).count()
}

#[test]
fn whole_files_are_read() {
    for file in FILES {
        assert!(read_all(file.to_vec()) >= 15);
    }
}

#[test]
fn files_cut_off_anywhere_are_refused() {
    for file in FILES {
        for cut in (0..file.len()).step_by(97).chain(0..200) {
            assert!(File::new(file[..cut].to_vec()).is_err(), "cut at {cut}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn bytes_may_be_anything(
        file in 0..FILES.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![any::<u8>(), Just(0), Just(255)]), 1..20),
    ) {
        let mut bytes = FILES[file].to_vec();
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        read_all(bytes);
    }

    /// Addresses and lengths that are wrong but inside the file lead furthest astray.
    #[test]
    fn addresses_may_be_any(
        file in 0..FILES.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..6),
    ) {
        let mut bytes = FILES[file].to_vec();
        let size = bytes.len();
        // Fields that hold an address of the file now.
        let fields: Vec<usize> = (0..size - 8)
            .filter(|at| {
                let value = u64::from_le_bytes(bytes[*at..at + 8].try_into().unwrap());
                value > 48 && value < size as u64
            })
            .collect();
        for (place, value) in changes {
            let at = fields[place.index(fields.len())];
            let value = value.index(size) as u64;
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        read_all(bytes);
    }

    /// The end of the file is made to fit, so that the cut is met further in.
    #[test]
    fn ends_may_be_anywhere(file in 0..FILES.len(), cut in any::<prop::sample::Index>()) {
        let cut = cut.index(FILES[file].len() - 200) + 200;
        let mut bytes = FILES[file][..cut].to_vec();
        let end = if bytes[8] == 1 { 44 } else { 28 };
        bytes[end..end + 8].copy_from_slice(&(cut as u64).to_le_bytes());
        read_all(bytes);
    }
}

/// A tree whose nodes all point at one another would have no end.
#[test]
fn trees_that_bite_their_tails_are_left() {
    let good = FILES[0];
    let trees: Vec<usize> = (0..good.len() - 4).filter(|at| &good[*at..at + 4] == b"TREE").collect();
    assert!(trees.len() > 20);
    for target in trees.iter().step_by(7) {
        let mut bytes = good.to_vec();
        for at in &trees {
            // Levels that fit are the worst: all nodes are of a high level and have the same child.
            bytes[at + 5] = 200;
            bytes[at + 6] = 2;
            for field in [32, 48, 64, 80, 96] {
                bytes[at + field..at + field + 8].copy_from_slice(&(*target as u64).to_le_bytes());
            }
        }
        read_all(bytes);
    }
}

//! What is written is read back by the crate's own reader. Whether the C library reads it too,
//! `tests/python/vtk_check.py` sees.

use super::*;
use crate::File;
use std::io::Cursor;

fn bytes_of<const N: usize, T: Copy>(values: &[T], bytes: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|value| bytes(*value)).collect()
}

#[test]
fn arrays_of_every_type_come_back() {
    let mut plan = FilePlan::new();
    let floats = plan.dataset("a/f4", Number::F32, &[3]).unwrap();
    let doubles = plan.dataset("a/b/f8", Number::F64, &[2, 2]).unwrap();
    let small = plan.dataset("/a/b/i4", Number::I32, &[3]).unwrap();
    let large = plan.dataset("i8", Number::I64, &[1]).unwrap();
    let empty = plan.dataset("a/empty", Number::I64, &[0, 3]).unwrap();
    let single = plan.dataset("single", Number::F64, &[]).unwrap();
    plan.text_attribute("a", "Type", "PolyData").unwrap();
    plan.integer_attribute("a", "Version", &[2], &[2, 2]).unwrap();
    plan.integer_attribute("i8", "one", &[], &[7]).unwrap();
    let mut file = plan.begin(Cursor::new(Vec::new())).unwrap();
    // In parts, and out of order.
    file.append(single, &2.5_f64.to_le_bytes()).unwrap();
    file.append(doubles, &bytes_of(&[1.0, f64::MIN_POSITIVE, -3.5], f64::to_le_bytes)).unwrap();
    file.append(floats, &bytes_of(&[-1.5, 0.25], f32::to_le_bytes)).unwrap();
    file.append(empty, &[]).unwrap();
    file.append(large, &i64::MIN.to_le_bytes()).unwrap();
    file.append(doubles, &f64::MAX.to_le_bytes()).unwrap();
    file.append(small, &bytes_of(&[-1, 2, i32::MAX], i32::to_le_bytes)).unwrap();
    file.append(floats, &f32::MAX.to_le_bytes()).unwrap();
    let bytes = file.finish().unwrap().into_inner();

    let file = File::new(bytes).unwrap();
    let numbers = |path: &str| file.dataset(path).unwrap().numbers().unwrap();
    let integers = |path: &str| file.dataset(path).unwrap().integers().unwrap();
    assert_eq!(numbers("a/f4"), [-1.5, 0.25, f64::from(f32::MAX)]);
    assert_eq!(numbers("a/b/f8"), [1.0, f64::MIN_POSITIVE, -3.5, f64::MAX]);
    assert_eq!(file.dataset("a/b/f8").unwrap().shape(), [2, 2]);
    assert_eq!(integers("a/b/i4"), [-1, 2, i64::from(i32::MAX)]);
    assert_eq!(integers("i8"), [i64::MIN]);
    assert_eq!((integers("a/empty"), file.dataset("a/empty").unwrap().shape()), (vec![], &[0, 3][..]));
    assert_eq!((numbers("single"), file.dataset("single").unwrap().shape()), (vec![2.5], &[][..]));
    assert!(!file.contains("a/none").unwrap() && file.contains("a/b").unwrap());
}

/// The whole file, byte by byte: what the reader passes over must be right as well.
#[test]
fn a_small_file_is_laid_out_as_the_specification_says() {
    let mut plan = FilePlan::new();
    plan.text_attribute("", "t", "xy").unwrap();
    let slot = plan.dataset("n", Number::I32, &[1]).unwrap();
    let mut file = plan.begin(Cursor::new(Vec::new())).unwrap();
    file.append(slot, &[1, 2, 3, 4]).unwrap();
    let bytes = file.finish().unwrap().into_inner();
    let root = 48;
    assert_eq!(bytes[..12], *b"\x89HDF\r\n\x1a\n\x02\x08\x08\x00");
    assert_eq!(bytes[36..44], [root as u8, 0, 0, 0, 0, 0, 0, 0]);
    // Link info of 18 bytes, a link of 12, an attribute of 9 + 2 + 8 + 4 + 2.
    let size = 4 + 18 + 4 + 12 + 4 + 25;
    assert_eq!(bytes[root..root + 10], [b'O', b'H', b'D', b'R', 2, 2, size, 0, 0, 0]);
    let attribute = &bytes[root + 10 + size as usize - 25..][..25];
    let expected = b"\x03\x00\x02\x00\x08\x00\x04\x00\x00t\x00\x13\x01\x00\x00\x02\x00\x00\x00\x02\x00\x00\x00xy";
    assert_eq!(attribute, expected);
    // The array is the end of the file, at a multiple of 8.
    assert!(bytes.ends_with(&[1, 2, 3, 4]) && (bytes.len() - 4).is_multiple_of(8));
    assert_eq!(bytes[28..36], (bytes.len() as u64).to_le_bytes());
    assert!(bytes.windows(18).any(|part| {
        part[..2] == [3, 1]
            && part[2..10] == (bytes.len() as u64 - 4).to_le_bytes()
            && part[10..] == 4_u64.to_le_bytes()
    }));
}

#[test]
fn groups_may_have_many_members_and_files_none() {
    let mut plan = FilePlan::new();
    let slots: Vec<_> =
        (0..500).map(|k| plan.dataset(&format!("many/member-{k}"), Number::I64, &[1]).unwrap()).collect();
    let mut file = plan.begin(Cursor::new(Vec::new())).unwrap();
    for (k, slot) in slots.iter().enumerate().rev() {
        file.append(*slot, &(k as i64).to_le_bytes()).unwrap();
    }
    let file = File::new(file.finish().unwrap().into_inner()).unwrap();
    assert_eq!(file.dataset("many/member-499").unwrap().integers().unwrap(), [499]);
    let nothing = FilePlan::new().begin(Cursor::new(Vec::new())).unwrap().finish().unwrap().into_inner();
    assert!(!File::new(nothing).unwrap().contains("many").unwrap());
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut plan = FilePlan::new();
    let slot = plan.dataset("a/b", Number::I32, &[2]).unwrap();
    for (path, words) in [("a/b", "already"), ("a", "already"), ("a/b/c", "cannot have parts")] {
        let error = plan.dataset(path, Number::I32, &[2]).unwrap_err().to_string();
        assert!(error.starts_with(path) && error.contains(words), "{error}");
    }
    assert!(plan.dataset("large", Number::I32, &[u64::MAX, 2]).is_err());
    assert!(plan.text_attribute("a", "long", &"x".repeat(70_000)).is_err());
    assert!(plan.dataset(&"x".repeat(256), Number::I32, &[]).is_err());

    let mut plan = FilePlan::new();
    plan.dataset("a", Number::I64, &[1 << 59]).unwrap();
    plan.dataset("b", Number::I64, &[1 << 59]).unwrap();
    assert!(plan.begin(Cursor::new(Vec::new())).unwrap_err().to_string().contains("too large"));

    let mut plan = FilePlan::new();
    assert_eq!(plan.dataset("a/b", Number::I32, &[2]).unwrap(), slot);
    let mut file = plan.begin(Cursor::new(Vec::new())).unwrap();
    file.append(slot, &[0; 6]).unwrap();
    assert!(file.append(slot, &[0; 3]).unwrap_err().to_string().contains("3 bytes for an array that has room for 2"));
    assert!(file.finish().unwrap_err().to_string().contains("2 bytes of its arrays are missing"));
}

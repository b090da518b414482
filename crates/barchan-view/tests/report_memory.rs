//! The report of a run of any length takes little memory: it is made while the run's own is still there.
//!
//! A program of its own, since it counts all memory of the process.

use barchan_view::report::{self, ReportOptions};
use std::alloc::{GlobalAlloc, Layout, System};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::sync::atomic::{AtomicUsize, Ordering};

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, counting bytes.
struct Counting;

fn take(bytes: usize) {
    let held = HELD.fetch_add(bytes, Ordering::Relaxed) + bytes;
    MOST.fetch_max(held, Ordering::Relaxed);
}

// SAFETY: everything is handed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes that the report of so many steps takes on the way, and those of the table.
fn memory(rows: usize) -> [usize; 2] {
    let directory = std::env::temp_dir().join(format!("barchan-report-memory-{}-{rows}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    let table = directory.join("steps.csv");
    let mut file = BufWriter::new(File::create(&table).unwrap());
    writeln!(file, "step,time,kinetic,converged,residual,seconds_solve").unwrap();
    for row in 0..rows {
        let x = row as f64;
        writeln!(file, "{row},{x},{},{},{},0.001", x.sin(), u8::from(row % 3 != 0), x.cos().abs()).unwrap();
    }
    drop(file);
    let before = HELD.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let report = report::write(&directory, &ReportOptions::default()).unwrap();
    let taken = MOST.load(Ordering::Relaxed) - before;
    let page = fs::read_to_string(report.path).unwrap();
    assert!(page.contains(&format!("\"total\":{rows}")), "all rows count");
    let bytes = fs::metadata(table).unwrap().len() as usize;
    fs::remove_dir_all(directory).unwrap();
    [taken, bytes]
}

#[test]
fn a_long_table_is_not_taken_into_memory() {
    let [short, _] = memory(20_000);
    let [long, bytes] = memory(400_000);
    assert!(long < short + (2 << 20), "{short} bytes for 20 000 rows, {long} for 400 000");
    assert!(long < bytes / 2, "{long} bytes for a table of {bytes}");
}

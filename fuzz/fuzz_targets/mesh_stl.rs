#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(surface) = barchan_mesh::parse(bytes, barchan_mesh::Format::Stl) {
        assert!(surface.vertices.iter().all(|p| p.is_finite()));
        assert!(surface.triangles.len() <= bytes.len() && surface.vertices.len() <= bytes.len());
        // Whatever is accepted can be looked at in every way.
        surface.faults();
        let _ = barchan_mesh::convex_hull(&surface.vertices);
    }
});

//! Shapes and where they stand, at random.

use barchan_convex::{Core, Hull};
use glam::{DMat3, DQuat, DVec3};
use parry3d_f64::shape::ConvexPolyhedron;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

pub(crate) fn unit() -> impl Strategy<Value = DVec3> {
    [-1.0..1.0f64, -1.0..1.0, -1.0..1.0]
        .prop_map(DVec3::from_array)
        .prop_filter("a direction", |v| v.length() > 0.1)
        .prop_map(|v| v.normalize())
}

pub(crate) fn turn() -> impl Strategy<Value = DMat3> {
    prop_oneof![
        (unit(), 0.0..6.3f64).prop_map(|(axis, angle)| DMat3::from_quat(DQuat::from_axis_angle(axis, angle))),
        // Faces that are parallel are the rule in stacks.
        Just(DMat3::IDENTITY),
        (0..4).prop_map(|k| DMat3::from_rotation_x(f64::from(k) * std::f64::consts::FRAC_PI_2)),
    ]
}

const POINTS: [DVec3; 7] = [
    DVec3::new(1.0, 0.1, 0.0),
    DVec3::new(-0.6, 0.8, 0.1),
    DVec3::new(-0.5, -0.7, 0.2),
    DVec3::new(0.1, 0.2, 0.9),
    DVec3::new(0.0, -0.1, -0.8),
    DVec3::new(0.5, 0.6, -0.5),
    DVec3::new(0.4, -0.6, 0.4),
];

/// The hull of a few points.
pub(crate) fn hull() -> Hull {
    let hull = ConvexPolyhedron::from_convex_hull(&POINTS).expect("points with a volume");
    let faces = hull.faces().iter().map(|face| {
        let first = face.first_vertex_or_edge as usize;
        hull.vertices_adj_to_face()[first..first + face.num_vertices_or_edges as usize].to_vec()
    });
    Hull::new(hull.points().to_vec(), faces.collect::<Vec<_>>())
}

/// Every core, about one in size, and all that they are scaled to.
pub(crate) fn core(which: usize, size: f64, hull: &Hull) -> Core<'_> {
    match which {
        0 => Core::Point,
        1 => Core::Segment { half: 0.8 * size },
        2 => Core::Cuboid { half: DVec3::new(0.4, 0.6, 0.9) * size },
        3 => Core::Cylinder { radius: 0.5 * size, half: 0.7 * size },
        4 => Core::Cone { radius: 0.6 * size, half: 0.7 * size },
        5 => Core::Ellipsoid { radii: DVec3::new(0.4, 0.6, 0.9) * size },
        6 => Core::Hull { hull, scale: size },
        _ => Core::Triangle([POINTS[0], POINTS[1], POINTS[2]].map(|p| p * size)),
    }
}
pub(crate) const CORES: usize = 8;

/// The same cases whenever the tests run; `PROPTEST_RNG_SEED` has others.
pub(crate) fn config() -> ProptestConfig {
    let own = ProptestConfig::default();
    let rng_seed = if own.rng_seed == RngSeed::Random { RngSeed::Fixed(1) } else { own.rng_seed };
    ProptestConfig { cases: 1500.max(own.cases), rng_seed, failure_persistence: None, ..own }
}

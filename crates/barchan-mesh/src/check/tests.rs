use super::crossings::{CROSSING, Search};
use super::*;
use crate::random::Random;
use crate::{Tree, triangle};

fn one(surface: &Surface) -> MeshFault {
    let faults = surface.faults();
    assert_eq!(faults.len(), 1, "{faults:?}");
    faults.into_iter().next().unwrap()
}

#[test]
fn simple_shapes_have_no_faults() {
    let half = DVec3::new(0.5, 0.8, 1.3);
    for scale in [1e-4, 1.0, 1e3] {
        for (k, surface) in [
            Surface::cuboid(half),
            Surface::sphere(1.0, 3),
            Surface::ellipsoid(half, 3),
            Surface::capsule(0.5, 1.0, 16),
            Surface::capsule(0.5, 0.0, 16),
            Surface::cylinder(0.5, 1.0, 16),
            Surface::cone(0.5, 1.0, 16),
            Surface::rounded_cylinder(0.5, 1.0, 0.2, 16),
            Surface::rounded_cylinder(0.5, 1.0, 0.0, 16),
            Surface::rounded_cuboid(half, 0.2, 4),
            Surface::rounded_cuboid(half, 0.5, 4),
            Surface::rounded_faces(
                &[DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z],
                &[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
                0.3,
                5,
            ),
        ]
        .iter()
        .enumerate()
        {
            let surface = surface.mapped(|p| scale * (p + 100.0));
            assert_eq!(surface.faults(), [], "shape {k} at {scale}");
            assert!(surface.is_closed() && surface.is_oriented());
        }
    }
}

#[test]
fn rounded_faces_are_as_far_out_as_the_radius() {
    let points = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
    let faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    let core = Surface::from_faces(&points, faces);
    let tree = Tree::build(&core);
    for &p in &Surface::rounded_faces(&points, &faces, 0.3, 5).vertices {
        let (on, _) = tree.nearest(&core, p).unwrap();
        assert!((on.distance(p) - 0.3).abs() < 1e-12);
    }
}

#[test]
fn holes_are_found() {
    let mut surface = Surface::cuboid(DVec3::ONE);
    surface.triangles.pop();
    let fault = one(&surface);
    assert!(matches!(fault, MeshFault::Open { count: 3, .. }), "{fault}");
    assert!(fault.to_string().contains("close the hole") && fault.forbids_volume() && !fault.forbids_surface());
    assert!(!surface.is_closed() && surface.is_oriented());
}

#[test]
fn fins_are_found() {
    let mut surface = Surface::cuboid(DVec3::ONE);
    surface.vertices.push(DVec3::splat(3.0));
    let [a, b, _] = surface.triangles[0];
    surface.triangles.push([a, b, 8]);
    let faults = surface.faults();
    assert!(faults.iter().any(|f| matches!(f, MeshFault::Crowded { count: 1, meeting: 3, .. })), "{faults:?}");
    assert!(!surface.is_closed());
}

#[test]
fn windings_are_found() {
    let mut surface = Surface::cuboid(DVec3::ONE);
    surface.triangles[4].swap(0, 1);
    assert!(matches!(one(&surface), MeshFault::Winding { count: 3, .. }));
    assert!(surface.is_closed() && !surface.is_oriented());
    let fault = one(&Surface::sphere(2.0, 2).flipped());
    assert!(fault.scaled(0.01).to_string().starts_with("it is inside out (its volume is -3"), "{}", fault.scaled(0.01));
    let MeshFault::InsideOut { volume, triangle } = fault else { panic!("{fault}") };
    assert!(volume < 0.0 && Surface::sphere(2.0, 2).flipped().doubled_area(triangle).z < 0.0);
}

#[test]
fn nothing_and_less_are_found() {
    assert_eq!(Surface::default().faults(), [MeshFault::Nothing]);
    let mut surface = Surface::cuboid(DVec3::ONE);
    surface.triangles[7][1] = 8;
    assert_eq!(surface.faults(), [MeshFault::OutOfRange { triangle: 7, vertex: 8, count: 8 }]);
    let mut surface = Surface::cuboid(DVec3::ONE);
    surface.vertices[6].y = f64::NAN;
    assert!(matches!(one(&surface), MeshFault::NotFinite { .. }));
    // Two triangles on each other.
    let flat = Surface { vertices: vec![DVec3::ZERO, DVec3::X, DVec3::Y], triangles: vec![[0, 1, 2], [0, 2, 1]] };
    assert_eq!(one(&flat), MeshFault::Hollow { triangle: 0 });
}

#[test]
fn triangles_without_area_are_found() {
    let mut surface = Surface::cuboid(DVec3::ONE);
    // A corner in the middle of an edge, with a triangle of no height that closes the gap.
    let [a, b, c] = surface.triangles[0];
    let middle = 0.5 * (surface.vertices[a as usize] + surface.vertices[b as usize]);
    surface.vertices.push(middle);
    surface.triangles[0] = [a, 8, c];
    surface.triangles.push([8, b, c]);
    surface.triangles.push([a, b, 8]);
    let fault = one(&surface);
    assert!(matches!(fault, MeshFault::Degenerate { count: 1, triangle: 13, .. }), "{fault}");
    assert!(!fault.forbids_volume());
}

#[test]
fn parts_are_counted() {
    let cube = Surface::cuboid(DVec3::ONE);
    let apart = Surface::merged([&cube, &cube.mapped(|p| p + 3.0 * DVec3::X), &cube.mapped(|p| p - 3.0 * DVec3::X)]);
    let fault = one(&apart);
    assert!(matches!(fault, MeshFault::Components { count: 3, triangle: 12 }), "{fault}");
    assert!(!fault.forbids_volume());
    assert_eq!(apart.parts()[11..14], [0, 1, 1]);
}

#[test]
fn crossings_are_found_and_touches_are_not() {
    let cube = Surface::cuboid(DVec3::ONE);
    let crosses = |shift: DVec3, scale: f64| {
        let both = Surface::merged([&cube, &cube.mapped(|p| p + shift)]).mapped(|p| scale * p);
        both.faults().iter().any(|f| matches!(f, MeshFault::Crossing { .. }))
    };
    for scale in [1e-4, 1.0, 1e3] {
        assert!(crosses(DVec3::new(0.3, 0.4, 0.5), scale));
        assert!(crosses(DVec3::ONE, scale), "through the middles of faces");
        assert!(crosses(DVec3::new(1.999, 0.1, 0.3), scale));
        assert!(!crosses(DVec3::new(2.0, 0.1, 0.3), scale), "face on face");
        assert!(!crosses(DVec3::splat(2.0), scale), "corner on corner");
        assert!(!crosses(DVec3::new(2.1, 0.0, 0.0), scale));
    }
}

#[test]
fn crossings_of_many_triangles_are_those_of_brute_force() {
    let ball = Surface::sphere(1.0, 2);
    let both = Surface::merged([&ball, &ball.mapped(|p| p + DVec3::new(0.5, 0.61, 0.37))]);
    let count = (0..both.triangles.len())
        .flat_map(|a| (0..a).map(move |b| (a, b)))
        .filter(|&(a, b)| !both.share_a_corner(a, b))
        .filter(|&(a, b)| triangle::cross(both.corners(a), both.corners(b), CROSSING * both.size()))
        .count();
    let found = both.faults().into_iter().find_map(|f| match f {
        MeshFault::Crossing { count, is_all: true, .. } => Some(count),
        _ => None,
    });
    assert!(count > 40 && found == Some(count), "{found:?} of {count}");
}

/// Triangles of three points each.
fn soup(count: usize, mut corners: impl FnMut() -> [DVec3; 3]) -> Surface {
    let vertices: Vec<DVec3> = (0..count).flat_map(|_| corners()).collect();
    let triangles = (0..count as u32).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
    Surface { vertices, triangles }
}

/// Surfaces of which every triangle's box meets every other's once took a time that is quadratic.
#[test]
fn visits_are_bounded_where_all_triangles_lie_among_each_other() {
    let count = 20_000;
    let most = |visits: usize| visits < 12_000_000 + 1000 * count;
    let mut random = Random::new(3);
    // Through the origin, so that each crosses all others.
    let slivers = soup(count, || {
        let a = random.point();
        [a, -a, 1e-3 * a + 1e-4 * DVec3::Y]
    });
    for surface in [slivers, soup(count, || [random.point(), random.point(), random.point()])] {
        let search = Search::of(&surface);
        assert!(search.visits < 4_000_000 && search.searched < 100, "{} {}", search.visits, search.searched);
        let fault = surface.crossings().unwrap();
        assert!(matches!(fault, MeshFault::Crossing { count: 10_000, is_all: false, .. }), "{fault}");
        assert!(fault.to_string().contains("at least 10000 pairs of triangles cross"), "{fault}");
    }
    // All at one edge: nothing crosses, which cannot be known so soon.
    let ring = (0..count).map(|k| DVec3::new((k as f64).cos(), (k as f64).sin(), 0.0));
    let fan = Surface {
        vertices: [DVec3::Z, -DVec3::Z].into_iter().chain(ring).collect(),
        triangles: (0..count as u32).map(|k| [0, 1, 2 + k]).collect(),
    };
    let search = Search::of(&fan);
    assert!(most(search.visits) && search.count == 0, "{}", search.visits);
    let fault = fan.crossings().unwrap();
    assert!(matches!(fault, MeshFault::Unsearched { all: 20_000, .. }) && !fault.forbids_volume(), "{fault}");
}

#[test]
fn planes_and_convex_bodies_take_next_to_no_visits() {
    let corners = 5000;
    let star = |k: usize| {
        let angle = std::f64::consts::TAU * k as f64 / corners as f64;
        (1.0 + 0.3 * (k % 2) as f64) * DVec3::new(angle.cos(), angle.sin(), 0.0)
    };
    let face: Vec<u32> = (0..corners as u32).collect();
    let polygon = Surface::from_faces(&(0..corners).map(star).collect::<Vec<_>>(), [face]);
    let same = soup(corners, || [DVec3::ZERO, DVec3::X, DVec3::Y]).welded();
    for surface in [polygon, same, Surface::cylinder(0.5, 1.0, 500), Surface::sphere(1.0, 4)] {
        let search = Search::of(&surface);
        let all = surface.triangles.len();
        assert!(search.searched == all && search.visits < 300 * all, "{} for {all}", search.visits);
        assert!(surface.crossings().is_none());
    }
}

use super::*;
use crate::random::Random;
use crate::{Moments, Tree};

/// Faces are flat, convex and in order; the polyhedron is closed; no point is outside.
fn is_sound(hull: &Polyhedron, points: &[DVec3]) {
    let size = hull.surface().size();
    for ((normal, along), face) in hull.planes().into_iter().zip(&hull.faces) {
        assert!((normal.length() - 1.0).abs() < 1e-12 && face.len() > 2);
        assert!(face.iter().all(|&k| (hull.points[k as usize].dot(normal) - along).abs() < 2e-9 * size));
        assert!(points.iter().all(|p| p.dot(normal) < along + 2e-8 * size));
    }
    let surface = hull.surface();
    assert!(surface.is_closed() && surface.is_oriented() && Moments::of_surface(&surface).volume > 0.0);
    // Euler: corners − edges + faces = 2.
    let doubled: usize = hull.faces.iter().map(Vec::len).sum();
    assert_eq!(hull.points.len() + hull.faces.len(), 2 + doubled / 2);
}

#[test]
fn a_box_of_many_points_has_six_faces() {
    for scale in [1e-4, 1.0, 1e3] {
        let turn = Random::new(9).turn();
        let grid = |k: i32| DVec3::new(f64::from(k % 5), f64::from(k / 5 % 5), f64::from(k / 25)) - 2.0;
        let points: Vec<DVec3> = (0..125).map(|k| scale * (turn * grid(k) + 7.0)).collect();
        let hull = convex_hull(&points).unwrap();
        assert_eq!((hull.points.len(), hull.faces.len()), (8, 6));
        assert!(hull.faces.iter().all(|face| face.len() == 4));
        is_sound(&hull, &points);
        assert!((Moments::polyhedron(&hull).volume / scale.powi(3) - 64.0).abs() < 1e-9);
    }
}

#[test]
fn random_points_are_inside_of_their_hull() {
    let mut random = Random::new(4);
    for k in 0..200 {
        let scale = [1e-4, 1.0, 1e3][k % 3];
        let stretch = DVec3::new(1.0, 0.3 + random.unit(), 0.01 + random.unit());
        let points: Vec<DVec3> = (0..4 + k).map(|_| scale * stretch * random.point()).collect();
        let hull = convex_hull(&points).unwrap();
        is_sound(&hull, &points);
        assert!(hull.points.iter().all(|p| points.contains(p)));
        assert_eq!(hull, convex_hull(&points).unwrap());
    }
}

#[test]
fn regular_bodies_have_their_faces() {
    for (surface, faces) in [
        (Surface::cylinder(1.0, 2.0, 24), 26),
        (Surface::cone(1.0, 0.5, 12), 13),
        (Surface::sphere(1.0, 2), 320),
        (Surface::capsule(0.5, 1.0, 16), 8 * 16 + 16),
    ] {
        let hull = convex_hull(&surface.vertices).unwrap();
        is_sound(&hull, &surface.vertices);
        assert_eq!(hull.faces.len(), faces);
    }
}

#[test]
fn points_without_a_hull_are_refused() {
    let says = |points: &[DVec3], expected: &str| {
        let error = convex_hull(points).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    for scale in [1e-4, 1.0, 1e3] {
        let at = |p: [f64; 3]| scale * DVec3::from_array(p);
        says(&[], "found 0");
        says(&[at([0.0; 3]), at([1.0, 0.0, 0.0]), at([0.0, 1.0, 0.0])], "found 3");
        says(&[at([1.0; 3]); 10], "found 1");
        let line: Vec<DVec3> = (0..10).map(|k| at([1.0, 2.0, 3.0]) * f64::from(k)).collect();
        says(&line, "on one line");
        let plane: Vec<DVec3> =
            (0..25).map(|k| at([f64::from(k % 5), f64::from(k / 5), 1.0 + f64::from(k % 5)])).collect();
        says(&plane, "in one plane");
    }
    let nowhere = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::new(0.0, f64::NAN, 1.0)];
    says(&nowhere, "point 3");
}

#[test]
fn shrunk_bodies_have_their_faces_moved_inwards() {
    let cube = convex_hull(&Surface::cuboid(DVec3::new(1.0, 2.0, 3.0)).vertices).unwrap();
    let less = cube.shrunk(0.25).unwrap();
    assert_eq!(less.faces.len(), 6);
    assert!((Moments::polyhedron(&less).volume - 1.5 * 3.5 * 5.5).abs() < 1e-9);
    assert_eq!(cube.shrunk(1.0), None);
    assert_eq!(cube.shrunk(5.0), None);
    assert_eq!(cube.shrunk(0.0), Some(cube.clone()));
    // A margin that removes faces: the small ones at a corner that is cut off a little.
    let mut points = cube.points.clone();
    let corner = points.iter().position(|&p| p == DVec3::new(1.0, 2.0, 3.0)).unwrap();
    points.remove(corner);
    points.extend([DVec3::new(0.9, 2.0, 3.0), DVec3::new(1.0, 1.9, 3.0), DVec3::new(1.0, 2.0, 2.9)]);
    let chipped = convex_hull(&points).unwrap();
    assert_eq!((chipped.faces.len(), chipped.shrunk(0.01).unwrap().faces.len()), (7, 7));
    assert_eq!(chipped.shrunk(0.5).unwrap().faces.len(), 6);
}

#[test]
fn shrunk_and_grown_again_faces_are_where_they_were() {
    let mut random = Random::new(8);
    for k in 0..40 {
        let scale = [1e-4, 1.0, 1e3][k % 3];
        let points: Vec<DVec3> = (0..30).map(|_| scale * (random.direction() + 3.0)).collect();
        let hull = convex_hull(&points).unwrap();
        let margin = 0.1 * scale;
        let less = hull.shrunk(margin).unwrap();
        is_sound(&less, &less.points);
        let planes = hull.planes();
        for &p in &less.points {
            let depth = planes.iter().map(|(n, d)| d - n.dot(p)).fold(f64::INFINITY, f64::min);
            assert!((depth - margin).abs() < 1e-8 * scale, "{depth} is not {margin}");
        }
        // What is rounded fits in the polyhedron, and touches the faces that are left.
        let rounded = Surface::rounded_faces(&less.points, &less.faces, margin, 3);
        assert!(rounded.is_closed());
        let surface = hull.surface();
        let tree = Tree::build(&surface);
        assert!(planes.iter().all(|(n, d)| rounded.vertices.iter().all(|p| n.dot(*p) < d + 1e-8 * scale)));
        let touching = rounded.vertices.iter().filter(|&&p| {
            let (on, _) = tree.nearest(&surface, p).unwrap();
            on.distance(p) < 1e-8 * scale
        });
        assert!(touching.count() >= 3 * less.faces.len() / 2);
    }
}

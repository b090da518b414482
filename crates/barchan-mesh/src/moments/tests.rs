use super::*;
use crate::convex_hull;
use crate::random::Random;

fn close(a: &Moments, b: &Moments, tolerance: f64) {
    let size = (b.second.to_cols_array().iter().fold(0.0, |m: f64, x| m.max(x.abs())) / b.volume.abs()).sqrt();
    assert!((a.volume - b.volume).abs() <= tolerance * b.volume.abs(), "{a:?}\n{b:?}");
    assert!((a.centre - b.centre).length() <= tolerance * size, "{a:?}\n{b:?}");
    let worst = (a.second - b.second).to_cols_array().iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    assert!(worst <= tolerance * b.volume.abs() * size * size, "{a:?}\n{b:?}");
}

#[test]
fn closed_forms_are_those_of_fine_surfaces() {
    let half = DVec3::new(0.5, 0.8, 1.3);
    close(&Moments::of_surface(&Surface::cuboid(half)), &Moments::cuboid(half), 1e-14);
    close(&Moments::of_surface(&Surface::sphere(0.7, 5)), &Moments::sphere(0.7), 2e-3);
    close(&Moments::of_surface(&Surface::ellipsoid(half, 5)), &Moments::ellipsoid(half), 2e-3);
    close(&Moments::of_surface(&Surface::cylinder(0.4, 1.1, 400)), &Moments::cylinder(0.4, 1.1), 2e-4);
    close(&Moments::of_surface(&Surface::cone(0.4, 1.1, 400)), &Moments::cone(0.4, 1.1), 2e-4);
    close(&Moments::of_surface(&Surface::capsule(0.4, 1.1, 400)), &Moments::capsule(0.4, 1.1), 2e-4);
    let rounded = Surface::rounded_cylinder(0.7, 0.5, 0.2, 400);
    close(&Moments::of_surface(&rounded), &Moments::rounded_cylinder(0.7, 0.5, 0.2), 2e-4);
    close(&Moments::of_surface(&Surface::rounded_cuboid(half, 0.2, 40)), &Moments::rounded_cuboid(half, 0.2), 2e-3);
}

#[test]
fn rounded_shapes_end_in_known_ones() {
    let half = DVec3::new(0.5, 0.8, 1.3);
    close(&Moments::rounded_cuboid(half, 0.0), &Moments::cuboid(half), 1e-15);
    close(&Moments::rounded_cuboid(DVec3::splat(0.6), 0.6), &Moments::sphere(0.6), 1e-15);
    close(&Moments::rounded_cylinder(0.3, 0.9, 0.0), &Moments::cylinder(0.3, 0.9), 1e-15);
    close(&Moments::rounded_cylinder(0.6, 0.6, 0.6), &Moments::sphere(0.6), 1e-14);
    close(&Moments::capsule(0.6, 0.0), &Moments::sphere(0.6), 1e-14);
    close(&Moments::rounded_cuboid(DVec3::new(0.3, 0.3, 1.0), 0.3), &Moments::capsule(0.3, 0.7), 1e-14);
}

#[test]
fn closed_forms_agree_with_points_thrown_at_random() {
    let mut random = Random::new(7);
    let half = DVec3::new(0.5, 0.8, 1.3);
    let edge = 0.3;
    let core = half - edge;
    let in_box = move |p: DVec3| (p.abs() - core).max(DVec3::ZERO).length() <= edge;
    let in_cylinder = |p: DVec3| {
        let out = DVec3::new((p.truncate().length() - 0.5).max(0.0), (p.z.abs() - 1.0).max(0.0), 0.0);
        out.length() <= edge
    };
    let in_cone = |p: DVec3| p.z.abs() <= 1.3 && p.truncate().length() <= 0.8 * (1.3 - p.z) / 2.6;
    let cases: [(Moments, &dyn Fn(DVec3) -> bool); 3] = [
        (Moments::rounded_cuboid(half, edge), &in_box),
        (Moments::rounded_cylinder(0.8, 1.3, edge), &in_cylinder),
        (Moments::cone(0.8, 1.3), &in_cone),
    ];
    for (expected, inside) in cases {
        let points = 400_000;
        let mut within = Moments::ZERO;
        let mut first = DVec3::ZERO;
        for _ in 0..points {
            let p = random.point() * DVec3::new(0.8, 0.8, 1.3);
            if inside(p) {
                within.volume += 1.0;
                first += p;
                within.second += outer(p, p);
            }
        }
        let each = 8.0 * 0.8 * 0.8 * 1.3 / f64::from(points);
        let centre = first / within.volume;
        let second = (within.second - within.volume * outer(centre, centre)) * each;
        close(&Moments { volume: within.volume * each, centre, second }, &expected, 0.01);
    }
}

#[test]
fn nothing_is_lost_far_from_the_origin() {
    let half = DVec3::new(0.5, 0.8, 1.3);
    let turn = Random::new(5).turn();
    let shift = DVec3::new(1e6, -2e6, 5e5);
    let far = Surface::cuboid(half).mapped(|p| turn * p + shift);
    close(&Moments::of_surface(&far), &Moments::cuboid(half).moved(turn, shift), 1e-8);
}

#[test]
fn parts_add_to_the_whole() {
    let whole = Moments::cuboid(DVec3::new(2.0, 1.0, 1.0));
    let part = Moments::cuboid(DVec3::ONE);
    let left = part.moved(DQuat::IDENTITY, -DVec3::X);
    let right = part.moved(DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2), DVec3::X);
    close(&[left, right].into_iter().sum(), &whole, 1e-14);
    // What is cut out again leaves the rest.
    close(&whole.plus(&right.times(-1.0)), &left, 1e-14);
    close(&part.scaled(3.0), &Moments::cuboid(DVec3::splat(3.0)), 1e-14);
    // A box of mass m has the inertia m (b² + c²) / 3 with half edges b and c.
    let inertia = whole.inertia() * 2.0;
    assert!((inertia.x_axis.x - 2.0 * 16.0 * 2.0 / 3.0).abs() < 1e-12);
    assert!((inertia.y_axis.y - 2.0 * 16.0 * 5.0 / 3.0).abs() < 1e-12);
}

#[test]
fn a_surface_inside_out_has_negative_volume() {
    let moments = Moments::of_surface(&Surface::sphere(1.0, 1).flipped());
    assert!(moments.volume < -3.0 && moments.second.x_axis.x < 0.0);
    assert_eq!(Moments::of_surface(&Surface::default()), Moments::ZERO);
}

#[test]
fn a_grown_box_is_a_rounded_one() {
    for scale in [1e-4, 1.0, 1e3] {
        let half = scale * DVec3::new(0.5, 0.8, 1.3);
        let radius = 0.3 * scale;
        let turn = Random::new(5).turn();
        let shift = scale * DVec3::new(3.0, -2.0, 1.0);
        let corners: Vec<DVec3> = Surface::cuboid(half - radius).vertices.iter().map(|&p| turn * p + shift).collect();
        let grown = Moments::grown(&convex_hull(&corners).unwrap(), radius);
        close(&grown, &Moments::rounded_cuboid(half, radius).moved(turn, shift), 1e-12);
    }
}

#[test]
fn grown_polyhedra_are_those_of_fine_surfaces() {
    let mut random = Random::new(8);
    for k in [4, 5, 8, 20] {
        let points: Vec<DVec3> = (0..k).map(|_| random.point() + DVec3::X).collect();
        let core = convex_hull(&points).unwrap();
        for radius in [0.01, 0.3, 2.0] {
            let fine = Surface::rounded_faces(&core.points, &core.faces, radius, 60);
            close(&Moments::grown(&core, radius), &Moments::of_surface(&fine), 1e-3);
        }
        // Of a large radius, little but the ball is left.
        let ball = Moments::grown(&core, 1e5);
        assert!((ball.volume / Moments::sphere(1e5).volume - 1.0).abs() < 1e-4);
    }
}

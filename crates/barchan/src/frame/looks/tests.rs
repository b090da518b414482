use super::*;
use glam::DQuat;
use std::f64::consts::PI;

fn corners(size: f64) -> Vec<DVec3> {
    [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z].map(|p| size * (p - 0.25)).into()
}

/// One of each form, of a size.
fn all(size: f64) -> Vec<Shape> {
    let clump = |k: f64| Part::new(Shape::sphere(0.5 * size)).at(DVec3::X * k * size, DQuat::from_rotation_z(k));
    let bent = |k: f64| Part::new(Shape::capsule(0.2 * size, size)).at(DVec3::Y * k * size, DQuat::from_rotation_x(k));
    vec![
        Shape::cuboid(DVec3::new(1.0, 2.0, 3.0) * size),
        Cuboid { half_extents: DVec3::new(1.0, 2.0, 3.0) * size, margin: 0.31 * size }.into(),
        Shape::capsule(0.7 * size, 1.3 * size),
        Shape::cylinder(0.7 * size, 1.3 * size),
        Cylinder { radius: 0.7 * size, half_height: 1.3 * size, margin: 0.11 * size }.into(),
        Shape::cone(0.7 * size, 1.3 * size),
        Shape::ellipsoid(DVec3::new(1.0, 2.0, 3.0) * size),
        Shape::polyhedron(corners(1.0)).scaled(size),
        Shape::mesh(Surface::cuboid(DVec3::ONE)).scaled(size),
        Shape::composite(vec![clump(-0.5), clump(0.5)]),
        Shape::composite(vec![bent(-0.5), bent(0.5)]),
    ]
}

#[test]
fn worn_looks_have_the_extent_of_the_shape() {
    let mut looks = Looks::default();
    for shape in all(1.7) {
        let worn = looks.wear(&shape);
        let look = &looks.list()[looks.place(worn.look).unwrap()];
        let (low, high) = look.surface.mapped(|p| worn.scale * p).bounds().unwrap();
        let [expected_low, expected_high] = shape.half_box(&DMat3::IDENTITY);
        // Round forms have flat faces; those of parts may be turned so that no corner lies on an axis.
        let near = 0.02 * shape.bounding_radius().unwrap();
        let is_near = (low - expected_low).length() < near && (high - expected_high).length() < near;
        assert!(is_near, "{}: {low} to {high}, {expected_low} to {expected_high}", shape.name());
        assert_eq!(look.name, shape.name());
    }
    assert_eq!(looks.list().len(), all(1.0).len());
}

#[test]
fn volumes_are_those_of_the_shapes() {
    let mut looks = Looks::default();
    for shape in &all(0.3)[..9] {
        let worn = looks.wear(shape);
        let look = &looks.list()[looks.place(worn.look).unwrap()];
        let volume = barchan_mesh::Moments::of_surface(&look.surface.mapped(|p| worn.scale * p)).volume;
        let expected = shape.moments().unwrap().volume;
        assert!(volume < 1.01 * expected && volume > 0.93 * expected, "{}: {volume}, {expected}", shape.name());
    }
}

#[test]
fn the_same_at_another_size_is_the_same_look() {
    let mut looks = Looks::default();
    let first: Vec<Worn> = all(1.0).iter().map(|shape| looks.wear(shape)).collect();
    // Another table, as another rank has it, and other shared pointers.
    let mut others = Looks::default();
    let second: Vec<Worn> = all(0.013).iter().rev().map(|shape| others.wear(shape)).collect();
    for (a, b) in first.iter().zip(second.iter().rev()) {
        assert_eq!(a.look, b.look);
        assert!((b.scale / a.scale - 0.013).length() < 1e-9, "{a:?} {b:?}");
        assert!(a.look < 1 << 48);
    }
    let mut ids: Vec<u64> = first.iter().map(|worn| worn.look).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), first.len());
}

/// Bodies that come from other ranks, or change their shapes, would fill the memory.
#[test]
fn a_look_does_not_keep_the_shape() {
    let mut looks = Looks::default();
    for k in 0..1000 {
        let Shape::Mesh(mesh) = Shape::mesh(Surface::sphere(1.0, k % 3)) else { panic!("a mesh") };
        let kept = Arc::downgrade(mesh.triangles());
        looks.wear(&Shape::Mesh(mesh));
        assert_eq!(kept.strong_count(), 0);
    }
    assert_eq!(looks.list().len(), 3);
    assert!(looks.shared.len() < 10, "{}", looks.shared.len());
}

#[test]
fn random_proportions_have_few_surfaces() {
    let mut looks = Looks::default();
    for k in 0..2000 {
        let half = 1.0 + f64::from(k) / 1000.0;
        looks.wear(&Shape::capsule(1.0, half));
    }
    // From 1 to 3: 64 steps a factor of two.
    assert_eq!(looks.list().len(), 102);
}

#[test]
fn shapes_come_back_from_their_looks() {
    let mut looks = Looks::default();
    for shape in all(0.4) {
        let worn = looks.wear(&shape);
        let look = &looks.list()[looks.place(worn.look).unwrap()];
        let unit: Shape = Mesh::to_be_seen(look.surface.clone(), look.reach()).into();
        let back = look.shape(&unit, worn.scale);
        let [a, b] = [&shape, &back].map(|shape| shape.half_box(&DMat3::from_rotation_z(0.3)));
        let away = (a[0] - b[0]).length() + (a[1] - b[1]).length();
        let is_mesh = back.name() == "mesh";
        assert!(is_mesh || back.name() == shape.name());
        // The box about a turned mesh is that of its box.
        assert!(is_mesh || away < 1e-3, "{shape:?} {back:?}");
        let reach = [&shape, &back].map(|shape| shape.bounding_radius().unwrap());
        assert!((0.99..1.01).contains(&(reach[1] / reach[0])), "{shape:?} {reach:?}");
    }
}

#[test]
fn edges_are_sharp_or_round() {
    let shaded_of = |shape: &Shape| {
        let mut looks = Looks::default();
        looks.wear(shape);
        looks.list()[0].shaded()
    };
    let cube = shaded_of(&Shape::cuboid(DVec3::ONE));
    assert_eq!((cube.vertices.len(), cube.triangles.len()), (24, 12));
    assert!(cube.normals.iter().all(|n| n.abs().max_element() == 1.0));
    let ball = shaded_of(&Shape::ellipsoid(DVec3::ONE));
    assert_eq!(ball.vertices.len(), 162);
    assert!(ball.vertices.iter().zip(&ball.normals).all(|(x, n)| x.dot(*n) > 0.999));
    let cylinder = shaded_of(&Shape::cylinder(1.0, 1.0));
    let flat = cylinder.normals.iter().filter(|n| n.z.abs() > 0.999).count();
    let round = cylinder.normals.iter().filter(|n| n.z.abs() < 1e-3).count();
    assert_eq!((flat, round, flat + round), (50, 48, cylinder.normals.len()));
}

#[test]
fn what_finds_no_room_wears_a_ball() {
    let mut looks = Looks { triangles: MOST_TRIANGLES, ..Looks::default() };
    let worn = looks.wear(&Shape::cuboid(DVec3::ONE));
    assert_eq!((worn.look, looks.list().len()), (SPHERE, 0));
    assert!((worn.scale.x - 3.0f64.sqrt()).abs() < 1e-12);
    assert_eq!(looks.wear(&Shape::sphere(PI)), Worn { look: SPHERE, scale: DVec3::splat(PI) });
}

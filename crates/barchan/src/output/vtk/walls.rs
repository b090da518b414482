//! Walls of a frame: a quad for a half-space, a quad for each closed face of a container.
//!
//! A half-space has no edges. Its quad is cut out about a box that holds the bodies, so that it is as
//! large as what there is to see. Beside the corners a quad says what it was cut from, so that the
//! walls can be made again from the file.

use super::format::{Kind, VtkColumn, VtkNumber, put_f64, put_i32, put_ids};
use super::parse::Piece;
use crate::broad::Aabb;
use crate::frame::FrameWall;
use crate::shape::{Container, Face, Shape};
use glam::{DQuat, DVec3};
use std::sync::Arc;

/// How much larger than the box the quad of a half-space is.
const MARGIN: f64 = 1.1;

/// A face of a wall.
#[derive(Clone, Debug)]
pub(super) struct Quad {
    corners: [DVec3; 4],
    /// Of a container.
    face: Option<Face>,
    wall: FrameWall,
}

pub(super) const WALLS: Kind<Vec<Quad>> = Kind {
    cells: "Polys",
    corners: 4,
    len: Vec::len,
    points: VtkColumn {
        name: "corner",
        number: VtkNumber::F64,
        components: 3,
        put: |out, quads, range| {
            put_f64(out, quads[range].iter().flat_map(|quad| quad.corners).flat_map(|x| x.to_array()));
        },
    },
    extra: &[],
    data: &[
        VtkColumn {
            name: "id",
            number: VtkNumber::I64,
            components: 1,
            put: |out, quads, range| put_ids(out, quads[range].iter().map(|quad| quad.wall.id)),
        },
        VtkColumn {
            name: "material",
            number: VtkNumber::I32,
            components: 1,
            put: |out, quads, range| put_i32(out, quads[range].iter().map(|quad| quad.wall.material.into())),
        },
        VtkColumn {
            name: "face",
            number: VtkNumber::I32,
            components: 1,
            put: |out, quads, range| put_i32(out, quads[range].iter().map(|quad| quad.face.map_or(-1, |f| f as i32))),
        },
        VtkColumn {
            name: "wall_position",
            number: VtkNumber::F64,
            components: 3,
            put: |out, quads, range| put_f64(out, quads[range].iter().flat_map(|quad| quad.wall.position.to_array())),
        },
        VtkColumn {
            name: "wall_orientation",
            number: VtkNumber::F64,
            components: 4,
            put: |out, quads, range| {
                put_f64(out, quads[range].iter().flat_map(|quad| quad.wall.orientation.to_array()));
            },
        },
        VtkColumn {
            name: "half_extents",
            number: VtkNumber::F64,
            components: 3,
            put: |out, quads, range| {
                put_f64(out, quads[range].iter().flat_map(|quad| half_extents(&quad.wall.shape).to_array()));
            },
        },
    ],
};

/// Of a container; zero for what has none.
fn half_extents(shape: &Shape) -> DVec3 {
    match shape {
        Shape::Container(container) => container.half_extents,
        _ => DVec3::ZERO,
    }
}

/// The faces of walls, those of half-spaces cut out about a box.
pub(super) fn quads(walls: &[FrameWall], about: &Aabb) -> Vec<Quad> {
    let mut quads = Vec::new();
    for wall in walls {
        match &wall.shape {
            Shape::HalfSpace(_) => {
                quads.push(Quad { corners: cut_out(wall, about), face: None, wall: wall.clone() });
            }
            Shape::Container(container) => quads.extend(container.walls().map(|face| {
                let corners = face_corners(container, face).map(|x| wall.position + wall.orientation * x);
                Quad { corners, face: Some(face), wall: wall.clone() }
            })),
            _ => {}
        }
    }
    quads
}

/// A rectangle on the plane of a half-space, as wide as the box seen from above the plane.
fn cut_out(wall: &FrameWall, about: &Aabb) -> [DVec3; 4] {
    let finite = about.low.is_finite() && about.high.is_finite();
    let [low, high] = if finite { [about.low, about.high] } else { [wall.position - 1.0, wall.position + 1.0] };
    let back = wall.orientation.conjugate();
    let corner = |k: usize| {
        let x = DVec3::from_array(std::array::from_fn(|axis| if k >> axis & 1 == 0 { low[axis] } else { high[axis] }));
        back * (x - wall.position)
    };
    let corners: [DVec3; 8] = std::array::from_fn(corner);
    let least = corners.into_iter().fold(DVec3::INFINITY, DVec3::min);
    let most = corners.into_iter().fold(DVec3::NEG_INFINITY, DVec3::max);
    let centre = 0.5 * (least + most);
    let half = 0.5 * MARGIN * (most - least);
    [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]].map(|[x, y]| {
        let on_plane = DVec3::new(centre.x + x * half.x, centre.y + y * half.y, 0.0);
        wall.position + wall.orientation * on_plane
    })
}

/// The corners of a face about the body's origin, anticlockwise as seen from inside.
fn face_corners(container: &Container, face: Face) -> [DVec3; 4] {
    let (axis, side) = face.axis_and_side();
    let u = (axis + 1) % 3;
    let v = (axis + 2) % 3;
    let ring = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
    ring.map(|[a, b]| {
        let mut x = DVec3::ZERO;
        x[axis] = side;
        x[u] = -side * a;
        x[v] = b;
        x * container.half_extents
    })
}

/// The walls from which the quads of a file were cut, in their order.
pub(super) fn read(piece: &Piece<'_>) -> Result<Vec<FrameWall>, String> {
    let ids = piece.integers("id")?;
    let materials = piece.small("material")?;
    let faces = piece.integers("face")?;
    let positions = piece.vectors("wall_position")?;
    let half_extents = piece.vectors("half_extents")?;
    let turns = piece.numbers("wall_orientation")?;
    let mut walls: Vec<FrameWall> = Vec::new();
    for (k, turn) in turns.chunks_exact(4).enumerate() {
        let id = ids[k] as u64;
        let face = usize::try_from(faces[k]).ok();
        if walls.last().is_none_or(|wall| wall.id != id) {
            let shape = match face {
                None => Shape::half_space(),
                // Open, until its faces come.
                Some(_) => {
                    Shape::Container(Arc::new(Container { half_extents: half_extents[k], open: Face::ALL.to_vec() }))
                }
            };
            let position = positions[k];
            let orientation = DQuat::from_slice(turn);
            walls.push(FrameWall { id, shape, position, orientation, material: materials[k] });
        }
        if let (Some(face), Some(FrameWall { shape: Shape::Container(container), .. })) = (face, walls.last_mut()) {
            let face = *Face::ALL.get(face).ok_or_else(|| format!("a wall has a face {face}"))?;
            Arc::make_mut(container).open.retain(|&open| open != face);
        }
    }
    Ok(walls)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::HalfSpace;

    fn wall(shape: Shape, position: DVec3, orientation: DQuat) -> FrameWall {
        FrameWall { id: 3, shape, position, orientation, material: 1 }
    }

    #[test]
    fn the_quad_of_a_half_space_lies_in_its_plane_below_the_bodies() {
        let normal = DVec3::new(1.0, 2.0, 3.0).normalize();
        let plane = wall(Shape::half_space(), DVec3::new(5.0, 0.0, -2.0), HalfSpace::orientation_for(normal));
        let about = Aabb { low: DVec3::new(10.0, 10.0, 10.0), high: DVec3::new(12.0, 13.0, 14.0) };
        let [quad] = &quads(std::slice::from_ref(&plane), &about)[..] else { panic!("one quad") };
        let middle = quad.corners.iter().sum::<DVec3>() / 4.0;
        for x in quad.corners {
            assert!((x - plane.position).dot(normal).abs() < 1e-12);
            assert!(x.distance(middle) > 2.0 && x.distance(middle) < 5.0, "{x}");
        }
        // Right below the middle of the box.
        let above = DVec3::new(11.0, 11.5, 12.0) - middle;
        assert!(above.cross(normal).length() < 1e-9 * above.length());
        let normal_of = (quad.corners[1] - quad.corners[0]).cross(quad.corners[2] - quad.corners[0]).normalize();
        assert!(normal_of.dot(normal) > 1.0 - 1e-12);
        // Without bodies there is something to see, too.
        assert!(quads(&[plane], &Aabb::EMPTY)[0].corners.iter().all(|x| x.is_finite()));
    }

    #[test]
    fn containers_show_the_faces_that_they_have() {
        let container = Container { half_extents: DVec3::new(1.0, 2.0, 3.0), open: vec![Face::HighZ] };
        let turn = DQuat::from_rotation_z(0.7);
        let wall = wall(Shape::Container(Arc::new(container)), DVec3::X, turn);
        let quads = quads(&[wall], &Aabb::EMPTY);
        assert_eq!(quads.len(), 5);
        for quad in quads {
            let (axis, side) = quad.face.unwrap().axis_and_side();
            let inside = quad.corners.map(|x| turn.conjugate() * (x - DVec3::X));
            assert!(inside.iter().all(|x| (x.abs() - DVec3::new(1.0, 2.0, 3.0)).length() < 1e-12));
            assert!(inside.iter().all(|x| (x[axis] * side) > 0.0));
            // Seen from inside.
            let normal = (inside[1] - inside[0]).cross(inside[2] - inside[0]);
            assert!(normal[axis] * side < 0.0);
        }
    }
}

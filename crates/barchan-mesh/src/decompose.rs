//! A closed surface as a union of convex parts, roughly: V-HACD as parry has it (Mamou 2016).
//!
//! The volume is filled with voxels, which are cut by planes until each part is convex enough; a part becomes the convex hull
//! of what it has of the surface. Parts overlap a little, and together are a little more than the body. The surface is scaled
//! to unit size first, since tolerances are absolute there. The cuts are a tree of some depth, which may have more leaves than
//! are asked for: parts are united again, those first whose hull adds the least volume, until they are as few as that.

use std::panic::{AssertUnwindSafe, catch_unwind};

use glam::DVec3;
use parry3d_f64::transformation::vhacd::{VHACD, VHACDParameters};

use crate::{HullError, MeshFault, Moments, Polyhedron, Surface, convex_hull};

/// Most parts that may be asked for: every pair of them is looked at.
const MOST_PARTS: u32 = 1024;
/// Voxels along the longest edge of the bounding box.
const RESOLUTION: u32 = 64;

/// Why a surface is not taken apart.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DecomposeError {
    /// It has no inside.
    #[error("only a closed surface can be taken apart: {0}")]
    Fault(MeshFault),
    /// An option is out of range.
    #[error("{0}")]
    Option(String),
    /// No part has a hull.
    #[error("no convex part was found: {0}")]
    Part(HullError),
    /// The search failed.
    #[error("the search for convex parts failed: give convex parts by hand, or use fewer")]
    Failed,
}

/// Takes a closed surface apart into at most so many convex parts. `concavity`, from 0 to 1, is how much of the volume may lie
/// between a part and its hull before it is cut again: 0.01 is close, 0.1 is rough.
pub fn decompose(surface: &Surface, max_parts: u32, concavity: f64) -> Result<Vec<Polyhedron>, DecomposeError> {
    if max_parts == 0 {
        return Err(DecomposeError::Option("a body has one part at least, found a limit of 0".into()));
    }
    if max_parts > MOST_PARTS {
        let message = format!("a body has at most {MOST_PARTS} parts, found a limit of {max_parts}");
        return Err(DecomposeError::Option(message));
    }
    if !(0.0..=1.0).contains(&concavity) {
        return Err(DecomposeError::Option(format!("concavity is from 0 to 1, found {concavity}")));
    }
    let crossing = |fault: &MeshFault| matches!(fault, MeshFault::Crossing { .. });
    if let Some(fault) = surface.faults().into_iter().find(|fault| fault.forbids_volume() && !crossing(fault)) {
        return Err(DecomposeError::Fault(fault));
    }
    // A body that is convex enough is its own hull.
    let volume = Moments::of_surface(surface).volume;
    if let Ok(hull) = convex_hull(&surface.vertices) {
        let filled = Moments::polyhedron(&hull).volume;
        if max_parts == 1 || filled - volume <= concavity.max(1e-9) * filled {
            return Ok(vec![hull]);
        }
    }
    let (low, high) = surface.bounds().unwrap_or_default();
    let size = (high - low).max_element();
    let unit = surface.mapped(|p| (p - low) / size);
    let options = VHACDParameters {
        concavity,
        max_convex_hulls: max_parts,
        resolution: RESOLUTION,
        ..VHACDParameters::default()
    };
    // It has assertions about its own results.
    let parts = catch_unwind(AssertUnwindSafe(|| {
        VHACD::decompose(&options, &unit.vertices, &unit.triangles, true)
            .compute_exact_convex_hulls(&unit.vertices, &unit.triangles)
    }))
    .map_err(|_| DecomposeError::Failed)?;
    let mut hulls = Vec::with_capacity(parts.len());
    let mut refused = None;
    for (points, _) in parts {
        let points: Vec<DVec3> = points.iter().map(|&p| low + size * p).collect();
        match convex_hull(&points) {
            Ok(hull) => hulls.push(hull),
            // A sliver without volume is no part.
            Err(error) => refused = Some(error),
        }
    }
    match refused {
        Some(error) if hulls.is_empty() => Err(DecomposeError::Part(error)),
        _ if hulls.is_empty() => Err(DecomposeError::Failed),
        _ => Ok(united(hulls, concavity * volume, max_parts as usize)),
    }
}

/// Unites parts as long as the hull of two of them is not larger than both together by more than a volume, which undoes cuts
/// through what is convex, or as long as there are more than so many. The pair that adds least is first.
fn united(mut parts: Vec<Polyhedron>, allowed: f64, most: usize) -> Vec<Polyhedron> {
    let hull = |a: &Polyhedron, b: &Polyhedron| convex_hull(&[&a.points[..], &b.points[..]].concat()).ok();
    let mut volumes: Vec<f64> = parts.iter().map(|part| Moments::polyhedron(part).volume).collect();
    // What the hull of a pair adds.
    let added = |parts: &[Polyhedron], volumes: &[f64], a: usize, b: usize| {
        Some(Moments::polyhedron(&hull(&parts[a], &parts[b])?).volume - volumes[a] - volumes[b])
    };
    let mut pairs = Vec::new();
    for b in 1..parts.len() {
        pairs.extend((0..b).filter_map(|a| Some((added(&parts, &volumes, a, b)?, a, b))));
    }
    let mut alive = vec![true; parts.len()];
    let mut count = parts.len();
    while let Some(&(least, a, b)) = pairs.iter().min_by(|i, j| i.0.total_cmp(&j.0)) {
        if least > allowed && count <= most {
            break;
        }
        let new = parts.len();
        alive[a] = false;
        alive[b] = false;
        alive.push(true);
        count -= 1;
        parts.extend(hull(&parts[a], &parts[b]));
        volumes.push(volumes[a] + volumes[b] + least);
        pairs.retain(|&(_, i, j)| alive[i] && alive[j]);
        let others = (0..new).filter(|&k| alive[k]);
        pairs.extend(others.filter_map(|k| Some((added(&parts, &volumes, k, new)?, k, new))));
    }
    parts.into_iter().zip(alive).filter(|&(_, alive)| alive).map(|(part, _)| part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tree;
    use crate::random::Random;
    use glam::DVec2;

    /// An L of two boxes, as a prism of six sides.
    fn corner() -> Surface {
        let outline = [[0.0, 0.0], [3.0, 0.0], [3.0, 1.0], [1.0, 1.0], [1.0, 3.0], [0.0, 3.0]];
        let mut surface = Surface::default();
        for z in [0.0, 1.0] {
            surface.vertices.extend(outline.map(|[x, y]| DVec3::new(x, y, z)));
        }
        // The ends as fans around the inner corner, which sees all others.
        for k in [4u32, 5, 0, 1] {
            let next = (k + 1) % 6;
            surface.triangles.extend([[3, next, k], [9, 6 + k, 6 + next]]);
        }
        for k in 0..6u32 {
            let next = (k + 1) % 6;
            surface.triangles.extend([[k, next, 6 + next], [k, 6 + next, 6 + k]]);
        }
        surface
    }

    #[test]
    fn a_corner_is_two_boxes_or_three() {
        for scale in [1e-4, 1.0, 1e3] {
            let surface = corner().mapped(|p| scale * p);
            assert_eq!(surface.faults(), []);
            let parts = decompose(&surface, 8, 0.01).unwrap();
            assert!((2..=3).contains(&parts.len()), "{} parts", parts.len());
            let volume: f64 = parts.iter().map(|part| Moments::polyhedron(part).volume).sum::<f64>() / scale.powi(3);
            assert!((volume - 5.0).abs() < 0.25, "{volume}");
            // Points of the body are in a part, others are not, but for those near the surface.
            let tree = Tree::build(&surface);
            let mut random = Random::new(2);
            for _ in 0..2000 {
                let p = scale * (1.6 * random.point() + DVec3::new(1.5, 1.5, 0.5));
                let (on, _) = tree.nearest(&surface, p).unwrap();
                let inside = parts.iter().any(|part| part.planes().iter().all(|(n, d)| n.dot(p) <= *d));
                if on.distance(p) > 0.1 * scale {
                    assert_eq!(inside, tree.inside(&surface, p), "{}", p / scale);
                }
            }
            assert_eq!(parts, decompose(&surface, 8, 0.01).unwrap());
        }
    }

    #[test]
    fn a_convex_body_is_one_part() {
        let parts = decompose(&Surface::cuboid(DVec3::new(1.0, 0.4, 0.3)), 16, 0.05).unwrap();
        assert_eq!(parts.len(), 1);
        assert!((Moments::polyhedron(&parts[0]).volume - 0.96).abs() < 1e-3);
    }

    /// A ring about the z axis.
    fn ring() -> Surface {
        let place = |k: u32| std::f64::consts::TAU * f64::from(k % 16) / 16.0;
        let profile: Vec<DVec2> =
            (0..=16).map(|k| DVec2::new(1.0 + 0.3 * place(k).sin(), -0.3 * place(k).cos())).collect();
        Surface::revolved(&profile, 32).welded()
    }

    #[test]
    fn there_are_not_more_parts_than_asked_for() {
        let ring = ring();
        assert_eq!(ring.faults(), []);
        let volume = Moments::of_surface(&ring).volume;
        for limit in [2, 3, 5, 8, 11] {
            let parts = decompose(&ring, limit, 0.01).unwrap();
            assert!((limit as usize / 5 + 1..=limit as usize).contains(&parts.len()), "{} of {limit}", parts.len());
            let filled: f64 = parts.iter().map(|part| Moments::polyhedron(part).volume).sum();
            assert!(filled > 0.99 * volume && (limit < 8 || filled < 1.4 * volume), "{limit}: {filled} of {volume}");
        }
    }

    #[test]
    fn what_cannot_be_taken_apart_is_refused() {
        let mut open = corner();
        open.triangles.pop();
        let error = decompose(&open, 8, 0.01).unwrap_err().to_string();
        assert!(error.contains("closed surface") && error.contains("holes"), "{error}");
        assert!(decompose(&corner(), 0, 0.01).unwrap_err().to_string().contains("limit of 0"));
        let error = decompose(&corner(), u32::MAX, 0.01).unwrap_err().to_string();
        assert!(error.contains("at most 1024 parts") && error.contains("4294967295"), "{error}");
        assert!(decompose(&corner(), 4, f64::NAN).unwrap_err().to_string().contains("NaN"));
    }
}

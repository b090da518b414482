//! A silo with a slit in its floor: work moves from above the floor to below it.
//!
//! Half-spaces are whole planes, so no opening can be cut into them. The floor is made of fixed
//! spheres instead, two sheets with the slit between them.

use super::grains::{Grains, RADIUS, friction};
use super::scaling::{PER_RANK, RANKS, size};
use super::{Parameter, ParameterRange, Scenario};
use crate::scene::Scene;
use glam::DVec3;

const DESCRIPTION: &str = "Grains run through a slit in the floor of a silo with smooth sides and pile up in the room \
    below it; shoulders at rest remain on the floor. The floor is made of fixed spheres. Known answer (Beverloo, \
    Leniger and van de Velde 1961, in the form for slits): the flow is steady while the filling is higher than about \
    twice the width w of the slit, and a metre of slit lets pass C ρ sqrt(g) (w - k d)^(3/2) of mass a second, with ρ \
    the density of the bulk, d the diameter of the grains, k about 1.4 and C about 1: that is the 0.55 to 0.65 of round \
    holes times 4 sqrt(2) / π, since a slit has twice the hydraulic diameter of a hole as wide. Work moves from top to \
    bottom, so fixed domains lose their balance.";

pub(super) static SCENARIO: Scenario = Scenario {
    name: "silo",
    summary: "grains run through a slit in the floor of a silo: the flow grows as (width - k d)^(3/2) (Beverloo 1961)",
    parameters: &[
        size("nx", 24.0, "grains across the slit"),
        size("ny", 8.0, "rows along the slit"),
        size("nz", 30.0, "layers upwards"),
        PER_RANK,
        RANKS,
        RADIUS,
        Parameter {
            name: "slit",
            default: 6.0,
            range: ParameterRange::Positive,
            help: "least width, in largest diameters",
        },
        friction(0.4),
    ],
    build: |parameters| {
        let grains = Grains::new(parameters);
        let size = grains.size;
        let bead = 2.0 * grains.radius;
        // As many spheres as fit on either side of the slit.
        let row = grains.row(0.5 * (size.x - parameters.get("slit") * bead));
        // Room for all grains below the floor, where they lie about as close as above, in a heap.
        let floor = size.z + 0.25 * size.x + bead;
        let walls = vec![
            Grains::wall(DVec3::Z, DVec3::ZERO),
            Grains::wall(DVec3::X, DVec3::ZERO),
            Grains::wall(-DVec3::X, DVec3::new(size.x, 0.0, 0.0)),
        ];
        let right = size.x - f64::from(row) * bead;
        let lattices = vec![grains.floor(0.0, row, floor), grains.floor(right, row, floor), grains.block(floor)];
        Scene {
            name: SCENARIO.name.into(),
            description: DESCRIPTION.into(),
            ..grains.scene(walls, lattices, floor + size.z, 5.0)
        }
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::Simulation;
    use crate::world::Motion;
    use std::f64::consts::{PI, SQRT_2};

    #[test]
    fn the_floor_is_tight_but_for_the_slit() {
        let scene = SCENARIO.scene(&[]).unwrap();
        let world = scene.build().unwrap();
        let fixed = |i: &usize| world.bodies.motion[*i] == Motion::Fixed && !world.bodies.is_wall(*i);
        let x: Vec<DVec3> = (0..world.bodies.len()).filter(fixed).map(|i| world.bodies.position[i]).collect();
        assert!(x.len() > 100, "{}", x.len());
        let wide = 49.0 * 5e-3;
        // The slit is in the middle, at least as wide as asked, by less than a bead on either side.
        let left = x.iter().map(|x| x.x + 5e-3).filter(|&x| x < 0.5 * wide).fold(0.0, f64::max);
        let right = x.iter().map(|x| x.x - 5e-3).filter(|&x| x > 0.5 * wide).fold(wide, f64::min);
        assert!((left + right - wide).abs() < 1e-12);
        assert!((0.06..0.08).contains(&(right - left)), "{left} {right}");
        // No grain starts in the floor, and the smallest cannot slip between beads.
        let top = scene.lattice[0].origin.z + 1e-2 - 1e-12;
        let grains = (0..world.bodies.len()).filter(|&i| world.bodies.inverse_mass[i] > 0.0);
        assert!(grains.map(|i| world.bodies.position[i].z).all(|z| z >= top));
        let hole = 0.5 * (2.0 * 1e-2f64.powi(2)).sqrt() * 1.2 - 5e-3;
        assert!(hole < 0.8 * 5e-3, "{hole}");
    }

    /// The flow through a slit, in terms of ρ sqrt(g) (w - k d)^(3/2): while 10 to 30 % of the filling
    /// leave, and then while 30 to 50 % do.
    fn flow(nx: u32, slit: u32) -> [f64; 2] {
        let set = [("nx", nx), ("ny", 3), ("nz", 20), ("slit", slit)].map(|(key, n)| (key.to_owned(), n.to_string()));
        let scene = SCENARIO.scene(&set).unwrap();
        let mut simulation = Simulation::from_scene(&scene).unwrap();
        let [left, right, block] = [0, 1, 2].map(|i| scene.lattice[i].extent());
        let width = right.low.x - left.high.x - 0.01;
        let across = block.high.x + 5e-3;
        let depth = block.high.y + 5e-3;
        // Volume of the grains between two heights over the floor.
        let between = |simulation: &Simulation, low: f64, high: f64| -> f64 {
            let bodies = &simulation.world.bodies;
            let inside = |i: &usize| (low..high).contains(&(bodies.position[*i].z - left.low.z));
            let grains = (0..bodies.len()).filter(|&i| bodies.inverse_mass[i] > 0.0).filter(inside);
            grains.map(|i| 4.0 / 3.0 * PI * bodies.shape[i].bounding_radius().unwrap().powi(3)).sum()
        };
        let all = between(&simulation, 0.0, f64::INFINITY);
        let mut marks = Vec::new();
        let mut bulk = 0.0;
        while marks.len() < 3 {
            simulation.step().unwrap();
            assert!(simulation.world.time < 2.0 * scene.time.end, "the slit has clogged");
            let passed = between(&simulation, f64::NEG_INFINITY, 0.0);
            if passed >= (0.1 + 0.2 * marks.len() as f64) * all {
                if marks.is_empty() {
                    bulk = between(&simulation, 0.02, 0.06) / (0.04 * across * depth);
                }
                marks.push((simulation.world.time, passed));
            }
        }
        assert!((0.45..0.6).contains(&bulk), "{bulk}");
        let unit = bulk * 9.81f64.sqrt() * (width - 1.4 * 0.009).powf(1.5) * depth;
        [0, 1].map(|i| (marks[i + 1].1 - marks[i].1) / (marks[i + 1].0 - marks[i].0) / unit)
    }

    /// C is 0.55 to 0.65 for round holes. A tenth more either way is for a channel so narrow that its
    /// sides loosen the packing, and for the few hundred grains that are counted.
    #[test]
    fn the_flow_is_beverloos() {
        let slit = |c: f64| c * 4.0 * SQRT_2 / PI;
        let flows = [flow(14, 4), flow(18, 6)];
        println!("C = {flows:.2?}, known {:.2} to {:.2}", slit(0.55), slit(0.65));
        for [early, late] in flows {
            assert!((0.9 * slit(0.55)..1.1 * slit(0.65)).contains(&(0.5 * (early + late))), "{early} {late}");
            assert!((late / early - 1.0).abs() < 0.15, "the flow is steady: {early} {late}");
        }
        // A power of 1 of the width, not 3/2, would show as 0.79.
        let [narrow, wide] = flows.map(|[early, late]| early + late);
        assert!((wide / narrow - 1.0).abs() < 0.15, "{narrow} {wide}");
    }
}

//! From the scene to the world: the only place where random numbers are drawn.
//!
//! A rank of a distributed run makes the bodies whose centres it owns, and all walls. Nothing is
//! sent for it: what a body is depends on the scene alone. A fill keeps clear of all that came before
//! it, so it is made with a margin, and what came before it is made for that margin too.

use super::body::Placement;
use super::crowd::Obstacles;
use super::error::{Fault, Location, SceneError};
use super::fill::{Crowded, Plan};
use super::home::home;
use super::stock::Stock;
use super::{BodySpec, Fill, Grain, Lattice, Scene};
use crate::broad::Aabb;
use crate::narrow::Standing;
use crate::partition::{Partition, Periods};
use crate::shape::Shape;
use crate::world::{Body, ExternalForce, Materials, Motion, World};
use glam::{DMat3, DVec3};

impl Obstacles {
    /// Adds a body that has a place.
    fn add(&mut self, stock: &Stock, grain: &Grain) {
        let radius = grain.drawn.radius;
        match stock.shape(&grain.drawn) {
            Shape::Sphere(_) => self.balls.push((grain.x, radius)),
            shape => {
                let r = DMat3::from_quat(grain.orientation);
                self.solids.push((Standing { shape, x: grain.x, r }, radius));
            }
        }
    }
}

impl Scene {
    /// The world that a run starts from. Ids follow the order of single bodies, lattices, fills.
    ///
    /// # Errors
    /// If the scene is not valid ([`Scene::validate`]), or a fill finds no room.
    pub fn build(&self) -> Result<World, SceneError> {
        let everywhere = Aabb { low: DVec3::NEG_INFINITY, high: DVec3::INFINITY };
        self.check_room(1)?;
        self.build_share(Share { bounds: everywhere, owns: &|_| true, is_large: &|_| false })
    }

    /// Whether so many ranks can hold the bodies, whatever memory they have.
    ///
    /// # Errors
    /// If there are too many bodies for each of them.
    pub fn check_room(&self, ranks: usize) -> Result<(), SceneError> {
        let count = self.body_count();
        let limit = u64::from(u32::MAX);
        if count / (ranks.max(1) as u64) < limit {
            return Ok(());
        }
        let path = if self.lattice.is_empty() { "fill" } else { "lattice" };
        let message = format!(
            "the scene has {count} bodies, and a rank can hold no more than {}: use more ranks than {ranks}",
            limit - 1
        );
        Err(SceneError::new(self.place(), path, message))
    }

    /// The part of [`Scene::build`]'s world that a rank starts from: the bodies whose centres it
    /// owns, with the ids that they have there, all unbounded ones, and of single bodies those that
    /// are too large for one rank and its neighbours ([`Partition::is_large`]).
    ///
    /// # Errors
    /// If the scene is not valid, or a fill finds no room here. Another rank may find none elsewhere.
    pub fn build_part(&self, partition: &dyn Partition) -> Result<World, SceneError> {
        let rank = Some(partition.rank());
        self.check_room(partition.ranks())?;
        self.build_share(Share {
            bounds: partition.bounds(),
            owns: &|x| partition.owner(x) == rank,
            is_large: &|radius| partition.is_large(radius),
        })
    }

    fn place(&self) -> Location {
        Location::Whole(format!("scene \"{}\"", self.name))
    }

    /// The world without its bodies.
    ///
    /// # Errors
    /// If the scene is not valid.
    pub(crate) fn build_empty(&self) -> Result<World, SceneError> {
        let fault = |p: super::InvalidValue| Fault { place: self.place(), path: p.path, message: p.message };
        let faults: Vec<Fault> = self.validate().into_iter().map(fault).collect();
        if !faults.is_empty() {
            return Err(SceneError { faults });
        }
        Ok(World {
            materials: Materials::new(self.material.clone(), self.pair_rule, &self.pair),
            gravity: self.gravity,
            fields: self.force.clone(),
            no_contact: self.no_contact.iter().map(|entry| entry.groups).collect(),
            ..World::default()
        })
    }

    fn build_share(&self, share: Share<'_>) -> Result<World, SceneError> {
        let mut world = self.build_empty()?;
        let periods = self.periods();
        let (plans, needed) = self.plan_fills(&share, &periods);
        if needed.low.max_element() == f64::NEG_INFINITY && needed.high.min_element() == f64::INFINITY {
            world.bodies.reserve(self.body_count() as usize);
        }
        // What a fill must keep clear of.
        let mut there = Obstacles::default();
        self.add_single_bodies(&mut world, &share, &mut there);
        self.add_joints(&mut world);
        let mut id = self.body.len() as u64;
        for (i, lattice) in self.lattice.iter().enumerate() {
            let stock = Stock::new(&lattice.assortment());
            let materials = self.materials_of(&stock);
            let stream = Lattice::stream(self.seed, i);
            for number in lattice.numbers_in(&needed, &periods) {
                let grain = lattice.grain(&stock, &stream, number);
                let grain = Grain { x: home(&periods, grain.x), ..grain };
                if (share.owns)(grain.x) {
                    let body = stock.body(&grain, materials[grain.drawn.kind], lattice.motion);
                    world.add_with_id(id + number, body);
                }
                if !plans.is_empty() {
                    there.add(&stock, &grain);
                }
            }
            id += lattice.body_count();
        }
        for (i, plan) in plans.iter().enumerate() {
            if let Some(plan) = plan {
                let materials = self.materials_of(plan.stock());
                let grains = plan
                    .grains(&there, &periods)
                    .map_err(|crowded| SceneError::new(self.place(), format!("fill[{i}]"), self.no_room(i, crowded)))?;
                for grain in grains.iter().filter(|grain| (share.owns)(grain.x)) {
                    let body = plan.stock().body(grain, materials[grain.drawn.kind], Motion::Dynamic);
                    world.add_with_id(id + grain.number, body);
                }
                if i + 1 < plans.len() {
                    grains.iter().for_each(|grain| there.add(plan.stock(), grain));
                }
            }
            id += self.fill[i].count;
        }
        world.bodies.reserve_ids_below(id);
        Ok(world)
    }

    /// How this rank's parts of all fills are made, and the region in which all that comes before
    /// them must be known.
    fn plan_fills(&self, share: &Share<'_>, periods: &Periods) -> (Vec<Option<Plan>>, Aabb) {
        // Single bodies are known everywhere.
        let largest = self.largest_of_many();
        let mut needed = share.bounds;
        let mut plans = Vec::with_capacity(self.fill.len());
        // From the last back: a fill must know of those before it.
        for (i, fill) in self.fill.iter().enumerate().rev() {
            let plan = fill.plan(self.seed, i, &needed, periods);
            if let Some(plan) = &plan {
                let centres = plan.extent();
                let reach = plan.stock().max_radius() + fill.gap + largest;
                let mut near = Aabb { low: centres.low - reach, high: centres.high + reach };
                for axis in 0..3 {
                    // Across a periodic border it may be anywhere; that is more than enough.
                    if near.low[axis] < periods.low[axis] || near.high[axis] > periods.high[axis] {
                        (near.low[axis], near.high[axis]) = (f64::NEG_INFINITY, f64::INFINITY);
                    }
                }
                needed = needed.join(&near);
            }
            plans.push(plan);
        }
        plans.reverse();
        (plans, needed)
    }

    pub(crate) fn largest_radius(&self) -> f64 {
        self.single_radii().flatten().fold(self.largest_of_many(), f64::max)
    }

    /// The radii of single bodies as the world keeps them; `None` for what is unbounded.
    pub(crate) fn single_radii(&self) -> impl Iterator<Item = Option<f64>> + '_ {
        self.body.iter().map(|spec| self.settled(spec).shape.bounding_radius())
    }

    /// A single body as the world keeps it.
    pub(super) fn settled(&self, spec: &BodySpec) -> Placement {
        spec.settled(self.material[usize::from(self.material_of(&spec.material))].density)
    }

    /// The largest radius of bodies that there are many of; 0 if there are none.
    pub(crate) fn largest_of_many(&self) -> f64 {
        let lattices = self.lattice.iter().map(Lattice::assortment);
        let fills = self.fill.iter().map(Fill::assortment);
        lattices.chain(fills).map(|entry| Stock::new(&entry).max_radius()).fold(0.0, f64::max)
    }

    fn add_single_bodies(&self, world: &mut World, share: &Share<'_>, there: &mut Obstacles) {
        let periods = self.periods();
        let joined = self.joined_bodies();
        for (id, spec) in self.body.iter().enumerate() {
            let id = id as u64;
            let radius = spec.shape.bounding_radius();
            if let Some(radius) = radius {
                let standing =
                    || Standing { shape: spec.shape.clone(), x: spec.start(), r: DMat3::from_quat(spec.attitude()) };
                match spec.shape {
                    Shape::Sphere(_) => there.balls.push((spec.start(), radius)),
                    _ => there.solids.push((standing(), radius)),
                }
            }
            // What forces move is where its centre of mass is, which may be far from where its shape begins.
            let settled = self.settled(spec);
            let is_large = settled.shape.bounding_radius().is_none_or(|radius| (share.is_large)(radius));
            let is_everywhere = is_large || joined.binary_search(&id).is_ok();
            if is_everywhere || (share.owns)(home(&periods, settled.position)) {
                let body = Body {
                    shape: settled.shape,
                    position: settled.position,
                    orientation: settled.orientation,
                    velocity: spec.velocity,
                    angular_velocity: spec.angular_velocity,
                    material: self.material_of(&spec.material),
                    group: spec.group,
                    motion: spec.motion,
                    rotation: spec.rotation,
                    mass: settled.mass,
                };
                world.add_with_id(id, body);
            }
            // By id, and on every rank: a body takes them along wherever it goes.
            if spec.force.is_some() || spec.torque.is_some() {
                let [force, torque] = [spec.force, spec.torque].map(Option::unwrap_or_default);
                world.external.insert(id, ExternalForce { force, torque });
            }
            world.prescribed.extend(spec.prescribed().map(|motion| (id, motion)));
            world.surface_velocities.extend(spec.surface_velocity.clone().map(|velocity| (id, velocity)));
        }
    }

    /// Index and density of the material of every kind.
    fn materials_of(&self, stock: &Stock) -> Vec<(u16, f64)> {
        let of = |name: &str| {
            let index = self.material_of(name);
            (index, self.material[usize::from(index)].density)
        };
        stock.kinds.iter().map(|kind| of(&kind.material)).collect()
    }

    /// The index of a material that validation has found.
    fn material_of(&self, name: &str) -> u16 {
        self.material_index(name).expect("a valid scene names known materials only")
    }

    fn no_room(&self, index: usize, Crowded { placed, of }: Crowded) -> String {
        let fill = &self.fill[index];
        let entry = fill.assortment();
        // The likely reason if nobody has found room.
        let is_solid = |body: &BodySpec| matches!(&body.shape, Shape::Mesh(mesh) if mesh.has_inside());
        let hint = if placed == 0 && self.body.iter().any(is_solid) {
            ". A closed mesh is a solid: a vessel needs walls with a thickness, or an opening"
        } else {
            ""
        };
        format!(
            "only {placed} of {of} {} found room in {} attempts each. They would fill {:.1} % of the box, and \
             placing at random stops at about 38 % for equal {}. Enlarge the box (min, max), lower count, \
             {} or gap, or raise attempts{hint}",
            entry.nouns(),
            fill.attempts,
            100.0 * fill.volume_fraction(&Stock::new(&entry), self.seed, index),
            if entry.radius.is_some() { "spheres" } else { "spheres and cubes" },
            if entry.radius.is_some() { "radius" } else { "scale" },
        )
    }
}

/// What a rank is to make.
struct Share<'a> {
    /// A box that holds all it owns.
    bounds: Aabb,
    /// Whether a centre is its own.
    owns: &'a dyn Fn(DVec3) -> bool,
    /// Whether every rank has single bodies of this radius.
    is_large: &'a dyn Fn(f64) -> bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Kind, Orientation, Radius};
    use crate::shape::{Part, Surface};
    use crate::world::{Material, Oscillation};
    use glam::DQuat;
    use std::collections::HashSet;
    use std::sync::Arc;

    #[test]
    fn bodies_come_in_order_with_all_that_belongs_to_them() {
        let mut scene = Scene::default();
        scene.material.push(Material { name: "lead".into(), density: 11_340.0, ..Material::default() });
        let shake = Oscillation { amplitude: DVec3::X, frequency: 1.0, phase: 0.0 };
        scene.body = vec![
            BodySpec { torque: Some(DVec3::Z), ..BodySpec::new(Shape::sphere(0.1), DVec3::Z) },
            BodySpec {
                motion: Motion::Kinematic,
                oscillation: Some(shake),
                ..BodySpec::new(Shape::container(DVec3::ONE), DVec3::ZERO)
            },
        ];
        scene.lattice.push(Lattice { material: "lead".into(), group: 7, ..Lattice::cubic([2, 1, 1], 1.0, 0.2) });
        scene.fill.push(Fill::new(DVec3::splat(-5.0), DVec3::splat(5.0), 3, 0.3));
        let world = scene.build().unwrap();
        assert_eq!(world.bodies.len() as u64, scene.body_count());
        assert_eq!(world.bodies.material, [0, 0, 1, 1, 0, 0, 0]);
        assert_eq!(world.bodies.group, [0, 0, 7, 7, 0, 0, 0]);
        assert_eq!(world.external[&0].torque, DVec3::Z);
        assert_eq!(world.prescribed[&1].oscillation, Some(shake));
        let lead = 1.0 / world.bodies.inverse_mass[2];
        assert!((lead - 11_340.0 * 4.0 / 3.0 * std::f64::consts::PI * 0.008).abs() < 1e-9);
    }

    /// Centre and radius of every sphere.
    fn balls(world: &World) -> Vec<(DVec3, f64)> {
        let spheres = world.bodies.position.iter().zip(&world.bodies.shape);
        spheres.filter_map(|(x, shape)| Some((*x, shape.bounding_radius()?))).collect()
    }

    #[test]
    fn a_fill_keeps_clear_of_all_spheres_before_it() {
        let mut scene = Scene::default();
        scene.body.push(BodySpec::new(Shape::sphere(0.3), DVec3::splat(0.5)));
        scene.lattice.push(Lattice::cubic([5, 5, 1], 0.2, 0.05));
        scene.fill.push(Fill::new(DVec3::ZERO, DVec3::ONE, 100, 0.03));
        scene.fill.push(Fill::new(DVec3::ZERO, DVec3::ONE, 100, 0.03));
        let balls = balls(&scene.build().unwrap());
        for (i, a) in balls.iter().enumerate().skip(26) {
            assert!(balls[..i].iter().all(|b| a.0.distance(b.0) >= a.1 + b.1), "sphere {i}");
        }
    }

    #[test]
    fn no_room_is_an_error_that_says_what_to_change() {
        let mut scene = Scene::default();
        scene.fill.push(Fill { attempts: 50, ..Fill::new(DVec3::ZERO, DVec3::ONE, 1000, 0.05) });
        let error = scene.build().unwrap_err().to_string();
        assert!(error.starts_with("scene \"scene\": fill[0]: only "), "{error}");
        assert!(error.contains("of 1000 spheres") && error.contains("52.4 %"), "{error}");
        assert!(error.contains("Enlarge the box"), "{error}");
        // What is within a closed mesh is within a solid.
        let mut scene = Scene::default();
        scene.body.push(BodySpec::new(Shape::mesh(Surface::cuboid(DVec3::ONE)), DVec3::ZERO));
        scene.fill.push(Fill { attempts: 50, ..Fill::new(-0.5 * DVec3::ONE, 0.5 * DVec3::ONE, 10, 0.05) });
        let error = scene.build().unwrap_err().to_string();
        assert!(error.contains("only 0 of 10") && error.contains("A closed mesh is a solid"), "{error}");
    }

    /// Slabs along one axis, cut at given places.
    struct Slabs {
        axis: usize,
        cuts: Vec<f64>,
        rank: u32,
        others: Vec<u32>,
    }

    impl Slabs {
        fn all(axis: usize, cuts: &[f64]) -> Vec<Self> {
            let ranks = cuts.len() as u32 + 1;
            let others = |rank| (0..ranks).filter(|&r| r != rank).collect();
            (0..ranks).map(|rank| Self { axis, cuts: cuts.to_vec(), rank, others: others(rank) }).collect()
        }

        fn of(&self, x: f64) -> u32 {
            self.cuts.iter().filter(|&&cut| x >= cut).count() as u32
        }
    }

    impl Partition for Slabs {
        fn ranks(&self) -> usize {
            self.cuts.len() + 1
        }

        fn rank(&self) -> u32 {
            self.rank
        }

        fn neighbours(&self) -> &[u32] {
            &self.others
        }

        fn reach(&self) -> f64 {
            f64::INFINITY
        }

        fn owner(&self, x: DVec3) -> Option<u32> {
            Some(self.of(x[self.axis]))
        }

        fn ranks_of(&self, hull: &Aabb, found: &mut dyn FnMut(u32)) {
            (self.of(hull.low[self.axis])..=self.of(hull.high[self.axis])).for_each(found);
        }

        fn knows(&self, _: &Aabb) -> bool {
            true
        }

        fn holds(&self, _: &Aabb) -> bool {
            false
        }

        fn bounds(&self) -> Aabb {
            let mut bounds = Aabb { low: DVec3::NEG_INFINITY, high: DVec3::INFINITY };
            let rank = self.rank as usize;
            bounds.low[self.axis] = if rank > 0 { self.cuts[rank - 1] } else { f64::NEG_INFINITY };
            bounds.high[self.axis] = self.cuts.get(rank).copied().unwrap_or(f64::INFINITY);
            bounds
        }
    }

    /// All that is known of a body, as bits.
    fn bits(world: &World, i: usize) -> (u64, Vec<u64>, Shape, [u16; 2], Motion) {
        let b = &world.bodies;
        let vectors = [b.position[i], b.velocity[i], b.angular_velocity[i], b.inverse_inertia[i]];
        let numbers =
            vectors.iter().flat_map(|v| v.to_array()).chain(b.orientation[i].to_array()).chain([b.inverse_mass[i]]);
        (b.id[i], numbers.map(f64::to_bits).collect(), b.shape[i].clone(), [b.material[i], b.group[i]], b.motion[i])
    }

    /// Asserts that the parts of the ranks are the whole.
    fn assert_parts(scene: &Scene, axis: usize, cuts: &[f64]) {
        let whole = scene.build().unwrap();
        let unbounded = whole.bodies.len() - whole.bodies.owned_bounded_len();
        let mut seen = std::collections::BTreeMap::new();
        for slab in Slabs::all(axis, cuts) {
            let part = scene.build_part(&slab).unwrap();
            assert!(part.bodies.id.is_sorted());
            assert_eq!(part.bodies.len() - part.bodies.owned_bounded_len(), unbounded, "every rank has every wall");
            assert_eq!((&part.external, &part.prescribed), (&whole.external, &whole.prescribed));
            assert_eq!(part.surface_velocities, whole.surface_velocities);
            for i in 0..part.bodies.len() {
                let body = bits(&part, i);
                let owned = body.2.is_unbounded() || slab.owner(part.bodies.position[i]) == Some(slab.rank);
                assert!(owned, "rank {} has body {}", slab.rank, body.0);
                let wall = body.2.is_unbounded();
                assert!(seen.insert(body.0, body).is_none() || wall, "a body is made twice");
            }
            let mut part = part;
            assert_eq!(part.add(Body::dynamic(Shape::sphere(1.0), DVec3::ZERO)), scene.body_count());
        }
        assert!(seen.into_values().eq((0..whole.bodies.len()).map(|i| bits(&whole, i))));
    }

    /// A scene with something of everything.
    fn mixture(periodic: [bool; 3]) -> Scene {
        let mut scene = Scene { seed: 5, ..Scene::default() };
        scene.domain.min = Some(DVec3::splat(-1.0));
        scene.domain.max = Some(DVec3::new(9.0, 3.0, 3.0));
        scene.domain.periodic = periodic;
        scene.body = vec![
            BodySpec::new(Shape::sphere(0.4), DVec3::new(2.0, 0.5, 0.5)),
            BodySpec {
                normal: Some(DVec3::Z),
                surface_velocity: Some(DVec3::X.into()),
                ..BodySpec::new(Shape::half_space(), DVec3::splat(-1.0))
            },
            BodySpec { force: Some(DVec3::X), ..BodySpec::new(Shape::sphere(0.3), DVec3::new(-1.0, 1.5, 1.5)) },
        ];
        let lattice = Lattice::hexagonal([9, 4, 2], 0.3, Radius::Uniform([0.08, 0.1]));
        scene.lattice = vec![
            Lattice { jitter: 0.02, velocity_jitter: 1.0, origin: DVec3::new(7.0, 0.0, 0.0), ..lattice.clone() },
            Lattice { count: Some(50), origin: DVec3::new(3.0, 1.2, 2.0), motion: Motion::Fixed, ..lattice },
        ];
        let fill =
            Fill::new(DVec3::new(-1.0, -1.0, -0.5), DVec3::new(9.0, 3.0, 3.0), 6000, Radius::Uniform([0.05, 0.1]));
        scene.fill = vec![
            Fill { velocity_jitter: 0.1, ..fill.clone() },
            Fill { gap: 0.01, count: 2000, ..fill.clone() },
            Fill { min: DVec3::new(4.0, 0.0, 0.0), max: DVec3::new(5.0, 1.0, 1.0), count: 20, ..fill },
        ];
        scene
    }

    /// A scene with shapes of every kind in lattices and fills, and shapes that they must keep clear of.
    fn mixture_of_shapes(periodic: [bool; 3]) -> Scene {
        let mut scene = Scene { seed: 9, ..Scene::default() };
        scene.domain.min = Some(DVec3::splat(-1.0));
        scene.domain.max = Some(DVec3::new(9.0, 3.0, 3.0));
        scene.domain.periodic = periodic;
        scene.material.push(Material { name: "lead".into(), density: 11_340.0, ..Material::default() });
        let corner =
            |k: u32| DVec3::new((0.7 * f64::from(k)).sin(), (1.1 * f64::from(k)).cos(), (1.7 * f64::from(k)).sin());
        let pebble = Shape::polyhedron((0..14).map(corner).collect());
        let ball = |x: f64| Part::new(Shape::sphere(0.5)).at(DVec3::new(x, 0.1 * x * x, 0.0), DQuat::IDENTITY);
        let clump = Shape::composite(vec![ball(-0.4), ball(0.0), ball(0.5)]);
        scene.body = vec![
            BodySpec {
                motion: Motion::Fixed,
                ..BodySpec::new(Shape::cuboid(DVec3::new(0.9, 0.2, 0.2)), DVec3::new(4.0, 0.5, 0.5))
            },
            BodySpec::new(Shape::mesh(Surface::sphere(0.7, 2)), DVec3::new(7.0, 1.0, 1.0)),
        ];
        let kinds = vec![
            Kind { scale: Some(Radius::Uniform([0.05, 0.08])), ..Kind::of(pebble) },
            Kind { weight: 0.5, scale: Some(0.08.into()), material: Some("lead".into()), ..Kind::of(clump) },
            Kind { weight: 0.5, group: Some(4), ..Kind::spheres(0.05) },
            Kind::of(Shape::cuboid(DVec3::new(0.08, 0.05, 0.03))),
        ];
        let lattice =
            Lattice { jitter: 0.01, origin: DVec3::new(-0.5, 2.0, 2.0), ..Lattice::cubic([30, 3, 3], 0.3, 1.0) };
        scene.lattice = vec![Lattice { orientation: Some(Orientation::Random), ..lattice.mixed(kinds.clone()) }];
        let fill = Fill::new(DVec3::new(-1.0, -1.0, -0.5), DVec3::new(9.0, 3.0, 3.0), 4000, 1.0);
        scene.fill = vec![
            Fill { velocity_jitter: 0.1, ..fill.clone().mixed(kinds) },
            Fill { gap: 0.01, count: 1000, ..fill.clone().of(Shape::capsule(0.04, 0.08)) },
            Fill { count: 500, ..Fill::new(fill.min, fill.max, 1, 0.05) },
        ];
        scene
    }

    #[test]
    fn parts_are_the_whole_for_every_shape() {
        for periodic in [[false; 3], [true, true, false]] {
            let scene = mixture_of_shapes(periodic);
            assert_parts(&scene, 0, &[-0.5, 2.5, 4.0, 8.5]);
            assert_parts(&scene, 1, &[0.0, 0.7]);
            assert_parts(&scene, 2, &[1.0]);
        }
    }

    /// The rank that owns its centre of mass makes a body, wherever its shape begins.
    #[test]
    fn parts_are_the_whole_where_shapes_begin_far_away() {
        let mut scene = Scene::default();
        for (x, offset) in [(1.0, DVec3::new(6.0, -2.0, 1.5)), (8.5, DVec3::new(0.8, 0.0, 2.0))] {
            let corners = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z].map(|p| offset + 0.2 * p).to_vec();
            let surface =
                Surface { vertices: corners.clone(), triangles: vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]] };
            for shape in [Shape::polyhedron(corners), Shape::mesh(surface)] {
                let position = DVec3::new(x, 1.5, 0.0);
                scene.body.push(BodySpec { motion: Motion::Dynamic, ..BodySpec::new(shape, position) });
            }
        }
        // As large as they are, and not as far away.
        assert!(scene.largest_radius() < 0.2, "{}", scene.largest_radius());
        assert!(scene.single_radii().all(|radius| radius < Some(0.2)));
        assert_parts(&scene, 0, &[0.0, 4.0, 9.0]);
        // Across a border of the cell too.
        (scene.domain.min, scene.domain.max) = (Some(DVec3::ZERO), Some(DVec3::splat(40.0)));
        scene.domain.periodic = [true; 3];
        scene.body[2..].iter_mut().for_each(|body| body.position.x = 39.5);
        let parts: Vec<_> =
            Slabs::all(0, &[1.0, 20.0]).iter().map(|slab| scene.build_part(slab).unwrap().bodies.id).collect();
        assert_eq!(parts, [vec![2, 3], vec![0, 1], vec![]]);
    }

    #[test]
    fn what_a_fill_keeps_clear_of_is_told_by_true_surfaces() {
        let scene = mixture_of_shapes([true, true, false]);
        let world = scene.build().unwrap();
        let b = &world.bodies;
        let standing = |i: usize| {
            let r = DMat3::from_quat(b.orientation[i]);
            (Standing { shape: b.shape[i].clone(), x: b.position[i], r }, b.shape[i].bounding_radius().unwrap())
        };
        let all: Vec<_> = (0..b.len()).map(standing).collect();
        let mut near = [0; 2];
        for (i, (a, r)) in all.iter().enumerate() {
            for (j, (c, s)) in all[..i].iter().enumerate() {
                for shift in [[0.0, 0.0], [10.0, 0.0], [-10.0, 0.0], [0.0, 4.0], [0.0, -4.0], [10.0, 4.0], [-10.0, 4.0]]
                {
                    let shift = DVec3::new(shift[0], shift[1], 0.0);
                    let other = || Standing { x: c.x + shift, ..c.clone() };
                    if a.x.distance(c.x + shift) < r + s {
                        assert!(a.is_clear_of(&other(), 0.0), "{i} and {j}");
                        near[usize::from(j < 2)] += 1;
                    }
                }
            }
        }
        // Some are nearer than balls about them would let them be, to the plank and the mesh too.
        assert!(near[0] > 1000 && near[1] > 100, "{near:?}");
        let lead = (0..b.len()).filter(|&i| b.material[i] == 1).count();
        assert!((500..1000).contains(&lead), "{lead}");
    }

    #[test]
    fn copies_weigh_what_they_would_weigh_alone() {
        let scene = mixture_of_shapes([false; 3]);
        let world = scene.build().unwrap();
        let b = &world.bodies;
        for i in (2..b.len()).step_by(37) {
            let density = world.materials.get(b.material[i]).density;
            let alone = b.shape[i].mass_properties(density).unwrap();
            let relative = |x: f64, y: f64| (x / y - 1.0).abs();
            assert!(relative(alone.mass * b.inverse_mass[i], 1.0) < 1e-9);
            let mut inertia = (alone.inertia * b.inverse_inertia[i]).to_array();
            inertia.sort_by(f64::total_cmp);
            assert!(inertia.iter().all(|&x| relative(x, 1.0) < 1e-6), "{inertia:?} {:?}", b.shape[i]);
        }
        // Copies share what they can: all boxes but the plank are one, pebbles of an entry have their corners in common.
        let mut boxes = Vec::new();
        let mut corners = Vec::new();
        for shape in &b.shape {
            match shape {
                Shape::Box(shape) => boxes.push(Arc::as_ptr(shape) as usize),
                Shape::Polyhedron(shape) => corners.push(Arc::as_ptr(shape.faceted()) as usize),
                _ => {}
            }
        }
        let distinct = |all: &[usize]| all.iter().collect::<HashSet<_>>().len();
        assert!(boxes.len() > 900 && distinct(&boxes) == 2, "{} of {}", distinct(&boxes), boxes.len());
        assert!(corners.len() > 900 && distinct(&corners) == 2, "{} of {}", distinct(&corners), corners.len());
    }

    #[test]
    fn parts_are_the_whole_on_any_number_of_ranks() {
        let scene = mixture([false; 3]);
        assert_parts(&scene, 0, &[]);
        assert_parts(&scene, 0, &[4.3]);
        assert_parts(&scene, 1, &[0.0, 0.7]);
        assert_parts(&scene, 2, &[-5.0, 1.0]);
        assert_parts(&scene, 0, &[0.0, 1.0, 2.5, 2.5, 4.0, 6.0, 50.0]);
    }

    #[test]
    fn parts_are_the_whole_in_a_periodic_cell() {
        let scene = mixture([true, true, false]);
        let balls = balls(&scene.build().unwrap());
        let images = |(x, r): (DVec3, f64)| {
            let shifts =
                (-1..=1).flat_map(|i| (-1..=1).map(move |j| DVec3::new(f64::from(i) * 10.0, f64::from(j) * 4.0, 0.0)));
            shifts.map(move |shift| (x + shift, r))
        };
        assert!(balls.iter().all(|(x, _)| (-1.0..9.0).contains(&x.x) && (-1.0..3.0).contains(&x.y)));
        // Clear of the images of what came before.
        let before = scene.body_count() as usize - 1 - 8020;
        for (i, a) in balls.iter().enumerate().skip(before) {
            for (x, r) in balls[..before].iter().flat_map(|&ball| images(ball)) {
                assert!(a.0.distance(x) >= a.1 + r, "sphere {i}");
            }
        }
        // The second fill keeps its gap, and to its own images too.
        let second = &balls[before + 6000..before + 8000];
        let shifted = second.iter().flat_map(|&ball| images(ball));
        let beyond: Vec<(DVec3, f64)> = shifted
            .filter(|(x, _)| !((-1.0..9.0).contains(&x.x) && (-1.0..3.0).contains(&x.y)))
            .filter(|(x, _)| (-1.3..9.3).contains(&x.x) && (-1.3..3.3).contains(&x.y))
            .collect();
        assert!(beyond.len() > 200, "{}", beyond.len());
        for a in second {
            let nearest = beyond.iter().map(|b| a.0.distance(b.0) - a.1 - b.1).fold(f64::INFINITY, f64::min);
            assert!(nearest >= 0.01 * (1.0 - 1e-9), "{nearest}");
        }
        assert_parts(&scene, 0, &[-0.5, 8.5]);
        assert_parts(&scene, 1, &[1.0]);
    }

    #[test]
    fn more_bodies_than_a_rank_can_number_need_more_ranks() {
        let mut scene = Scene::default();
        scene.lattice.push(Lattice::cubic([4000, 4000, 1000], 1.0, 0.4));
        assert_eq!((scene.validate(), scene.check_room(4)), (vec![], Ok(())));
        let error = scene.build().unwrap_err().to_string();
        assert!(error.contains("lattice: the scene has 16000000000 bodies") && error.contains("than 1"), "{error}");
        let slabs = Slabs::all(2, &[500.5, 501.5]);
        assert!(scene.build_part(&slabs[1]).unwrap_err().to_string().contains("use more ranks than 3"));
    }

    #[test]
    fn a_rank_makes_its_part_only() {
        // One rank in a hundred of a scene that nobody could hold.
        let mut scene = Scene::default();
        scene.lattice.push(Lattice::cubic([1000, 1000, 1000], 1.0, 0.4));
        let slabs = Slabs::all(2, &[500.5, 501.5]);
        let start = std::time::Instant::now();
        assert_eq!(scene.build_part(&slabs[1]).unwrap().bodies.len(), 1_000_000);
        // The fill of a box as long as a street.
        let mut scene = Scene::default();
        scene.fill.push(Fill::new(DVec3::ZERO, DVec3::new(1e5, 10.0, 10.0), 10_000_000, 0.4));
        let slabs = Slabs::all(0, &[50_000.0, 50_010.0]);
        let part = scene.build_part(&slabs[1]).unwrap();
        assert!((900..1100).contains(&part.bodies.len()), "{}", part.bodies.len());
        // Whole, either would take minutes.
        assert!(start.elapsed().as_secs() < 60);
    }
}

//! The cases. All of them at the default settings, but for what their lines say.

use super::{Case, Trouble};
use barchan::DVec3;
use barchan::cone::solver::Status;
use barchan::scenario;
use barchan::scene::{BodySpec, Lattice, Scene};
use barchan::shape::{Container, Face, Shape};
use barchan::step::Simulation;
use barchan::world::{Material, Materials, Motion, Ownership, PairRule};
use std::f64::consts::PI;
use std::sync::Arc;

pub(super) const CASES: &[Case] = &[
    Case {
        name: "a struck ball does not hop",
        measures: "height in radii, the most of steps of 1e-3, 1e-4 and 1e-5 s",
        bar: 1e-4,
        is_quick: true,
        run: struck_ball,
    },
    Case {
        name: "a spinning ball that is dropped does not jump",
        measures: "height in radii after it has landed, at 20 m/s of surface speed",
        bar: 1e-3,
        is_quick: true,
        run: spinning_ball,
    },
    Case {
        name: "a grain between a driven and a fixed surface is solved",
        measures: "steps of 300 that missed the tolerance, the most of frictions from 0.2 to 1 and speeds from 0.05 to 5 m/s",
        bar: 0.0,
        is_quick: true,
        run: driven_grain,
    },
    Case {
        name: "two grains between a driven and a fixed surface are solved",
        measures: "steps of 300 that missed the tolerance, the most of frictions and speeds as above",
        bar: 0.0,
        is_quick: true,
        run: driven_pair,
    },
    Case {
        name: "Newton's cradle passes on, whatever the gaps",
        measures: "error of the speeds of all five balls, of the first's",
        bar: 1e-6,
        is_quick: true,
        run: cradle,
    },
    Case {
        name: "three spheres in line keep their energy",
        measures: "loss of energy, gaps of 0.3 mm",
        bar: 1e-6,
        is_quick: true,
        run: three_in_line,
    },
    Case {
        name: "a ball that bounces keeps its energy",
        measures: "largest change of energy in 5 s, e = 1",
        bar: 1e-3,
        is_quick: true,
        run: bouncing_ball,
    },
    Case {
        name: "an elastic gas keeps its energy",
        measures: "loss of energy in 0.3 s, 30 % by volume, 1 m/s, step 1e-3 s",
        bar: 0.02,
        is_quick: true,
        run: elastic_gas,
    },
    Case {
        name: "a dissipative gas cools as Haff says",
        measures: "error of the energy after 0.2 s, e = 0.9, 30 % by volume",
        bar: 0.05,
        is_quick: true,
        run: cooling_gas,
    },
    Case {
        name: "energy never grows, whatever bounces",
        measures: "largest growth in a step, of the energy at the start, e from 0 to 1 and friction mixed",
        bar: 1e-9,
        is_quick: true,
        run: mixed_gas,
    },
    Case {
        name: "a ball that rattles in a slot stays finite",
        measures: "energy at the end, of that at the start, e = 1 and a slot of 1 % of the radius",
        bar: 1.0 + 1e-9,
        is_quick: true,
        run: rattling_ball,
    },
    Case {
        name: "overlapping spheres part without speed",
        measures: "largest speed, m/s, of 1 mm spheres for steps of 1e-3 to 1e-6 s",
        bar: 0.0,
        is_quick: true,
        run: overlapping_pair,
    },
    Case {
        name: "a bed with overlaps relaxes gently",
        measures: "largest speed in radii a second after radii of a settled bed grow by 5 %",
        bar: 10.0,
        is_quick: false,
        run: swollen_bed,
    },
    Case {
        name: "a bed that is built with overlaps parts gently",
        measures: "largest speed in radii a second, overlaps of 10 %, grains of 1 mm to 10 cm, e = 0 and 0.5",
        bar: 10.0,
        is_quick: true,
        run: built_bed,
    },
    Case {
        name: "600 grains under a ball 2e8 times as heavy hold it",
        measures: "how far it sinks in 0.3 s, in radii of a grain, where it nearly fills their box",
        bar: 5.0,
        is_quick: false,
        run: heavy_ball,
    },
    Case {
        name: "a slope at 18 degrees comes to rest",
        measures: "mean creep from 3 to 6 s, diameters a second",
        bar: 1e-4,
        is_quick: false,
        run: resting_slope,
    },
    Case {
        name: "steps of falling, collapsing, flowing and shaken beds are solved",
        measures: "steps of 4 x 600 that missed the tolerance",
        bar: 0.0,
        is_quick: false,
        run: missed_steps,
    },
];

fn index(simulation: &Simulation, id: u64) -> usize {
    simulation.world.bodies.index_of(id).unwrap_or(0)
}

fn position(simulation: &Simulation, id: u64) -> DVec3 {
    simulation.world.bodies.position[index(simulation, id)]
}

fn velocity(simulation: &Simulation, id: u64) -> DVec3 {
    simulation.world.bodies.velocity[index(simulation, id)]
}

/// Steps up to a time and calls `look` after each.
fn until(simulation: &mut Simulation, end: f64, mut look: impl FnMut(&mut Simulation)) -> Result<(), Trouble> {
    while simulation.world.time < end - 1e-12 {
        simulation.step()?;
        look(simulation);
    }
    Ok(())
}

/// A rolling ball strikes one at rest.
fn struck_ball() -> Result<f64, Trouble> {
    let radius = 0.05;
    let mut highest = 0.0f64;
    for (step, end) in [(1e-3, 0.6), (1e-4, 0.4), (1e-5, 0.24)] {
        let mut scene = Scene::default();
        scene.time.step = step.into();
        let distance = 0.12;
        let rolling = BodySpec {
            velocity: DVec3::X,
            angular_velocity: DVec3::Y / radius,
            ..BodySpec::new(Shape::sphere(radius), DVec3::new(-distance, 0.0, radius))
        };
        scene.body = vec![
            BodySpec::new(Shape::half_space(), DVec3::ZERO),
            BodySpec::new(Shape::sphere(radius), DVec3::Z * radius),
            rolling,
        ];
        let mut simulation = Simulation::from_scene(&scene)?;
        until(&mut simulation, end, |s| highest = highest.max(position(s, 1).z / radius - 1.0))?;
    }
    Ok(highest)
}

fn spinning_ball() -> Result<f64, Trouble> {
    let radius = 0.05;
    let ball = BodySpec {
        angular_velocity: DVec3::Y * (20.0 / radius),
        ..BodySpec::new(Shape::sphere(radius), DVec3::Z * (radius + 0.01))
    };
    let body = vec![BodySpec::new(Shape::half_space(), DVec3::ZERO), ball];
    let mut simulation = Simulation::from_scene(&Scene { body, ..Scene::default() })?;
    let mut highest = 0.0f64;
    until(&mut simulation, 0.06, |_| {})?;
    until(&mut simulation, 0.6, |s| highest = highest.max(position(s, 1).z / radius - 1.0))?;
    Ok(highest)
}

/// A plate moves over grains in a row, the first of which lies in a corner: the associated law has no solution there,
/// nor has Coulomb's where it is rounded off, until a gap opens.
fn driven_row(grains: u32, radius: f64) -> Result<f64, Trouble> {
    let plane = |normal: DVec3, at: DVec3| BodySpec { normal: Some(normal), ..BodySpec::new(Shape::half_space(), at) };
    let mut worst = 0;
    for (friction, speed) in [(0.2, 0.5), (0.5, 0.05), (0.5, 0.5), (0.5, 5.0), (0.8, 5.0), (1.0, 0.5)] {
        let lid = plane(-DVec3::Z, DVec3::Z * (2.0 * radius));
        let lid = BodySpec { motion: Motion::Kinematic, velocity: DVec3::X * speed, ..lid };
        let mut body = vec![plane(DVec3::Z, DVec3::ZERO), lid, plane(-DVec3::X, DVec3::X * radius)];
        let places = (0..grains).map(|k| DVec3::new(-2.0 * radius * f64::from(k), 0.0, radius));
        body.extend(places.map(|at| BodySpec::new(Shape::sphere(radius), at)));
        let material = vec![Material { friction, ..Material::default() }];
        let mut simulation = Simulation::from_scene(&Scene { body, material, ..Scene::default() })?;
        let mut missed = 0;
        for _ in 0..300 {
            missed += usize::from(simulation.step()?.solver.status != Status::Converged);
        }
        worst = worst.max(missed);
    }
    Ok(worst as f64)
}

fn driven_grain() -> Result<f64, Trouble> {
    driven_row(1, 0.01)
}

fn driven_pair() -> Result<f64, Trouble> {
    driven_row(2, 0.003)
}

fn cradle() -> Result<f64, Trouble> {
    let mut error = 0.0f64;
    for gap in ["0", "1e-5", "1e-4", "3e-4", "1e-3"] {
        let scene = scenario::find("cradle")?.scene(&[("gap".into(), gap.into())])?;
        let mut simulation = Simulation::from_scene(&scene)?;
        until(&mut simulation, scene.time.end, |_| {})?;
        for id in 0..5 {
            let expected = if id == 4 { DVec3::X } else { DVec3::ZERO };
            error = error.max(velocity(&simulation, id).distance(expected));
        }
    }
    Ok(error)
}

fn three_in_line() -> Result<f64, Trouble> {
    let set = [("balls", "3"), ("gap", "3e-4")].map(|(key, value)| (key.to_owned(), value.to_owned()));
    let scene = scenario::find("cradle")?.scene(&set)?;
    let mut simulation = Simulation::from_scene(&scene)?;
    let before = simulation.energy().kinetic;
    until(&mut simulation, scene.time.end, |_| {})?;
    Ok((1.0 - simulation.energy().kinetic / before).abs())
}

fn bouncing_ball() -> Result<f64, Trouble> {
    let radius = 0.05;
    let body = vec![
        BodySpec::new(Shape::half_space(), DVec3::ZERO),
        BodySpec::new(Shape::sphere(radius), DVec3::Z * (1.0 + radius)),
    ];
    let material = vec![Material { restitution: 1.0, ..Material::default() }];
    let mut simulation = Simulation::from_scene(&Scene { body, material, ..Scene::default() })?;
    let total = |s: &mut Simulation| {
        let energy = s.energy();
        energy.kinetic + energy.potential
    };
    let first = total(&mut simulation);
    let mut worst = 0.0f64;
    until(&mut simulation, 5.0, |s| worst = worst.max((total(s) / first - 1.0).abs()))?;
    Ok(worst)
}

/// Spheres in a periodic cell with random velocities, mean 0 and mean square 1, 30 % by volume.
fn gas(edge: u32, radius: f64, material: Material) -> Result<Simulation, Trouble> {
    let spacing = radius * (4.0 / 3.0 * PI / 0.3f64).cbrt();
    let mut scene = Scene { gravity: DVec3::ZERO, material: vec![material], ..Scene::default() };
    scene.lattice.push(Lattice::cubic([edge; 3], DVec3::splat(spacing), radius));
    scene.time.step = 1e-3.into();
    scene.domain.periodic = [true; 3];
    scene.domain.min = Some(DVec3::splat(-0.5 * spacing));
    scene.domain.max = Some(DVec3::splat((f64::from(edge) - 0.5) * spacing));
    let mut simulation = Simulation::from_scene(&scene)?;
    let bodies = &mut simulation.world.bodies;
    let mut state = 7u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    for v in &mut bodies.velocity {
        *v = DVec3::new(random(), random(), random());
    }
    let mean = bodies.velocity.iter().sum::<DVec3>() / bodies.len() as f64;
    let square = bodies.velocity.iter().map(|v| v.distance_squared(mean)).sum::<f64>() / bodies.len() as f64;
    for v in &mut bodies.velocity {
        *v = (*v - mean) / square.sqrt();
    }
    Ok(simulation)
}

fn elastic_gas() -> Result<f64, Trouble> {
    let mut simulation = gas(6, 0.01, Material { friction: 0.0, restitution: 1.0, ..Material::default() })?;
    let before = simulation.energy().kinetic;
    until(&mut simulation, 0.3, |_| {})?;
    Ok((1.0 - simulation.energy().kinetic / before).abs())
}

/// First elastic, until velocities are those of a gas; then it cools.
fn cooling_gas() -> Result<f64, Trouble> {
    let (edge, radius, e) = (12, 0.01, 0.9);
    let elastic = Material { friction: 0.0, restitution: 1.0, ..Material::default() };
    let mut simulation = gas(edge, radius, elastic.clone())?;
    until(&mut simulation, 0.05, |_| {})?;
    let lossy = Material { restitution: e, ..elastic };
    simulation.world.materials = Materials::new(vec![lossy], PairRule::default(), &[]);
    let before = simulation.energy().kinetic;
    until(&mut simulation, 0.25, |_| {})?;
    let left = simulation.energy().kinetic / before;
    // T = T0/(1 + t/tau)^2 with 1/tau = (1 - e^2)*omega/6, omega = 4*n*d^2*chi*sqrt(pi*T0/m) (Haff), mean square speed 1,
    // and chi by Carnahan and Starling.
    let fraction: f64 = 0.3;
    let number = fraction / (4.0 / 3.0 * PI * radius.powi(3));
    let chi = (1.0 - 0.5 * fraction) / (1.0 - fraction).powi(3);
    let ω = 4.0 * number * (2.0 * radius).powi(2) * chi * (PI / 3.0).sqrt();
    let expected = (1.0 + 0.2 * (1.0 - e * e) * ω / 6.0).powi(-2);
    Ok((left / expected - 1.0).abs())
}

/// Materials of all kinds in one gas.
fn mixed_gas() -> Result<f64, Trouble> {
    let mut worst = 0.0f64;
    for (restitution, friction) in [(1.0, 0.5), (0.7, 0.2), (0.3, 1.0), (1.0, 0.0)] {
        let mut simulation = gas(5, 0.01, Material { friction, restitution, ..Material::default() })?;
        for w in &mut simulation.world.bodies.angular_velocity {
            *w = DVec3::new(30.0, -50.0, 80.0);
        }
        let first = simulation.energy().kinetic;
        let mut last = first;
        until(&mut simulation, 0.1, |s| {
            let now = s.energy().kinetic;
            worst = worst.max((now - last) / first);
            last = now;
        })?;
    }
    Ok(worst)
}

fn rattling_ball() -> Result<f64, Trouble> {
    let radius = 0.01;
    let half = DVec3::new(1.01 * radius, 1.0, 1.0);
    let slot = Shape::Container(Arc::new(Container { half_extents: half, open: vec![] }));
    let ball = BodySpec { velocity: DVec3::new(3.0, 0.1, 0.0), ..BodySpec::new(Shape::sphere(radius), DVec3::ZERO) };
    let material = vec![Material { restitution: 1.0, ..Material::default() }];
    let body = vec![BodySpec::new(slot, DVec3::ZERO), ball];
    let mut simulation = Simulation::from_scene(&Scene { gravity: DVec3::ZERO, body, material, ..Scene::default() })?;
    let before = simulation.energy().kinetic;
    until(&mut simulation, 0.2, |_| {})?;
    Ok(simulation.energy().kinetic / before)
}

fn overlapping_pair() -> Result<f64, Trouble> {
    let radius = 1e-3;
    let mut fastest = 0.0f64;
    for step in [1e-3, 1e-4, 1e-5, 1e-6] {
        let mut scene = Scene { gravity: DVec3::ZERO, ..Scene::default() };
        scene.time.step = step.into();
        scene.body = [0.0, 1.95 * radius].map(|x| BodySpec::new(Shape::sphere(radius), DVec3::X * x)).to_vec();
        let mut simulation = Simulation::from_scene(&scene)?;
        for _ in 0..1000 {
            simulation.step()?;
            fastest = simulation.world.bodies.velocity.iter().map(|v| v.length()).fold(fastest, f64::max);
        }
    }
    Ok(fastest)
}

/// A settled bed whose grains grow by a twentieth at once.
fn swollen_bed() -> Result<f64, Trouble> {
    let scene = scenario::find("sedimentation")?.scene(&[("bodies".into(), "500".into())])?;
    let mut simulation = Simulation::from_scene(&scene)?;
    until(&mut simulation, 1.0, |_| {})?;
    let grains: Vec<u64> = {
        let bodies = &simulation.world.bodies;
        (0..bodies.len()).filter(|&i| !bodies.is_wall(i)).map(|i| bodies.id()[i]).collect()
    };
    let mut radius = 0.0;
    for id in grains {
        let shape = &simulation.world.bodies.shape()[index(&simulation, id)];
        radius = shape.bounding_radius().unwrap_or(0.01) * 1.05;
        simulation.set_shape(id, Shape::sphere(radius))?;
    }
    let mut fastest = 0.0f64;
    until(&mut simulation, 1.5, |s| {
        fastest = s.world.bodies.velocity.iter().map(|v| v.length() / radius).fold(fastest, f64::max);
    })?;
    Ok(fastest)
}

/// A close packing in a box that is too small for it: neighbours overlap by a tenth of a radius, give or take a
/// fiftieth.
fn built_bed() -> Result<f64, Trouble> {
    let mut fastest = 0.0f64;
    for (radius, restitution) in [(1e-3, 0.0), (1e-3, 0.5), (1e-2, 0.0), (1e-2, 0.5), (0.1, 0.0), (0.1, 0.5)] {
        let material = vec![Material { restitution, ..Material::default() }];
        // No scene may begin with a lattice that overlaps: the grains grow before the first step.
        let lattice = Lattice::hexagonal([5; 3], 1.9 * radius, 0.9 * radius);
        let mut scene = Scene { material, lattice: vec![lattice], ..Scene::default() };
        let places = scene.build()?.bodies.position;
        let low = places.iter().copied().fold(DVec3::INFINITY, DVec3::min) - radius;
        let high = places.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max) + radius;
        let above = DVec3::Z * (10.0 * radius);
        let shape = Container { half_extents: 0.5 * (high - low) + above, open: vec![Face::HighZ] };
        scene.body = vec![BodySpec::new(Shape::Container(Arc::new(shape)), 0.5 * (low + high) + above)];
        let mut simulation = Simulation::from_scene(&scene)?;
        let bodies = &simulation.world.bodies;
        let grains: Vec<u64> = (0..bodies.len()).filter(|&i| !bodies.is_wall(i)).map(|i| bodies.id()[i]).collect();
        let mut state = 7u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        for id in grains {
            simulation.set_shape(id, Shape::sphere(radius))?;
            let i = index(&simulation, id);
            simulation.world.bodies.position[i] += 0.02 * radius * DVec3::new(random(), random(), random());
        }
        until(&mut simulation, 0.2, |s| {
            fastest = s.world.bodies.velocity.iter().map(|v| v.length() / radius).fold(fastest, f64::max);
        })?;
    }
    Ok(fastest)
}

/// A settled bed, and on it a ball that grains cannot get out of the way of.
fn heavy_ball() -> Result<f64, Trouble> {
    let (radius, large, ratio): (f64, f64, f64) = (0.01, 0.077, 2e8);
    let mut scene = scenario::find("sedimentation")?.scene(&[("bodies".into(), "600".into())])?;
    let mut settling = Simulation::from_scene(&scene)?;
    until(&mut settling, 0.8, |_| {})?;
    let bodies = &settling.world.bodies;
    let grains: Vec<DVec3> = (0..bodies.len()).filter(|&i| !bodies.is_wall(i)).map(|i| bodies.position[i]).collect();
    let low = grains.iter().fold(DVec3::INFINITY, |a, &p| a.min(p));
    let high = grains.iter().fold(DVec3::NEG_INFINITY, |a, &p| a.max(p));
    let middle = 0.5 * (low + high);
    // As low as it can be.
    let height = |p: &DVec3| p.z + ((radius + large).powi(2) - p.truncate().distance_squared(middle.truncate())).sqrt();
    let top = grains.iter().map(height).filter(|z| z.is_finite()).fold(0.0, f64::max);
    let light = scene.material.first().cloned().unwrap_or_default();
    let density = light.density * ratio * (radius / large).powi(3);
    scene.material.push(Material { name: "heavy".into(), density, ..light });
    scene.lattice.clear();
    scene.body.extend(grains.into_iter().map(|at| BodySpec::new(Shape::sphere(radius), at)));
    let ball = BodySpec::new(Shape::sphere(large), DVec3::new(middle.x, middle.y, top));
    scene.body.push(BodySpec { material: "heavy".into(), ..ball });
    let mut simulation = Simulation::from_scene(&scene)?;
    until(&mut simulation, 0.3, |_| {})?;
    let bodies = &simulation.world.bodies;
    let is_ball = |i: &usize| bodies.shape()[*i].bounding_radius().is_some_and(|r| r > 2.0 * radius);
    let end = (0..bodies.len()).find(is_ball).map_or(f64::NEG_INFINITY, |i| bodies.position[i].z);
    Ok((top - end) / radius)
}

fn resting_slope() -> Result<f64, Trouble> {
    let scene = scenario::find("slope")?.scene(&[("angle".into(), "18".into())])?;
    let mut simulation = Simulation::from_scene(&scene)?;
    until(&mut simulation, 3.0, |_| {})?;
    let grains: Vec<(u64, DVec3)> = {
        let bodies = &simulation.world.bodies;
        let own = |i: &usize| bodies.inverse_mass()[*i] > 0.0 && bodies.ownership()[*i] == Ownership::Owned;
        (0..bodies.len()).filter(own).map(|i| (bodies.id()[i], bodies.position[i])).collect()
    };
    until(&mut simulation, 6.0, |_| {})?;
    let size = scene.domain.max.unwrap_or_default();
    let way = |&(id, start): &(u64, DVec3)| {
        let d = position(&simulation, id) - start;
        let wrapped = DVec3::new(d.x - (d.x / size.x).round() * size.x, d.y - (d.y / size.y).round() * size.y, d.z);
        wrapped.length()
    };
    Ok(grains.iter().map(way).sum::<f64>() / grains.len() as f64 / 3.0 / 0.01)
}

fn missed_steps() -> Result<f64, Trouble> {
    let mut missed = 0;
    for name in ["sedimentation", "column-collapse", "silo", "shaken-box"] {
        let set: &[(String, String)] = if name == "sedimentation" { &[("bodies".into(), "5000".into())] } else { &[] };
        let mut simulation = Simulation::from_scene(&scenario::find(name)?.scene(set)?)?;
        for _ in 0..600 {
            missed += usize::from(simulation.step()?.solver.status != Status::Converged);
        }
    }
    Ok(missed as f64)
}

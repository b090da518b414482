//! Range checks: every number that a step relies on, with the key to blame.
//!
//! Comparisons are written so that NaN fails none of them: what is not finite is found by one
//! walk over all numbers of the scene, and reported once.

use super::write::tree;
use super::{BodySpec, Scene, Time};
use crate::dynamics::StepLength;
use crate::partition::{OutsideRule, PartitionName, Periods};
use crate::shape::{HalfSpace, Mesh, Shape};
use crate::util::words::{nearest, quoted};
use crate::world::{ForceField, Motion, Rotation};
use glam::DVec3;
use serde_json::Value;
use std::collections::HashSet;

/// A value that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidValue {
    /// The key, such as `body[2].shape.sphere.radius`.
    pub path: String,
    /// What was found and what is expected.
    pub message: String,
}

/// How a name begins that refers to nothing.
const UNKNOWN: &str = "unknown ";

impl InvalidValue {
    /// Whether it is a name that refers to something elsewhere in the scene, and that is not there.
    pub(super) fn is_reference(&self) -> bool {
        self.message.starts_with(UNKNOWN)
    }
}

/// The names of the axes.
pub(super) const AXES: [&str; 3] = ["x", "y", "z"];

/// Bodies of a scene, on all ranks together. The arithmetic of fills has room for no more.
const MOST_BODIES: u64 = 1 << 36;

impl Scene {
    /// Everything that is wrong with the scene; empty if it can be built and stepped (unless a
    /// fill finds no room, which only placing it can tell).
    pub fn validate(&self) -> Vec<InvalidValue> {
        let mut check = Check { problems: Vec::new(), scene: self };
        check.finite(&tree(self), &mut String::new());
        check.settings();
        check.domain();
        check.materials();
        for (i, field) in self.force.iter().enumerate() {
            check.field(&format!("force[{i}]"), field);
        }
        for (i, body) in self.body.iter().enumerate() {
            check.body(&format!("body[{i}]"), body);
        }
        for (i, lattice) in self.lattice.iter().enumerate() {
            check.lattice(&format!("lattice[{i}]"), lattice);
        }
        for (i, fill) in self.fill.iter().enumerate() {
            check.fill(&format!("fill[{i}]"), fill, i);
        }
        let count = self.body_count();
        let path = if self.lattice.is_empty() { "fill" } else { "lattice" };
        check.report_if(count > MOST_BODIES, path, || {
            format!("the scene has {count} bodies, more than the {MOST_BODIES} that can be numbered")
        });
        check.joints();
        check.adjustables();
        check.problems
    }
}

pub(super) struct Check<'a> {
    pub(super) problems: Vec<InvalidValue>,
    pub(super) scene: &'a Scene,
}

impl Check<'_> {
    /// Notes a problem if `wrong`.
    pub(super) fn report_if(&mut self, wrong: bool, path: &str, message: impl FnOnce() -> String) {
        if wrong {
            self.problems.push(InvalidValue { path: path.into(), message: message() });
        }
    }

    /// Whether nothing is wrong so far at or below a path, so that one may compute with it.
    pub(super) fn is_clean(&self, path: &str) -> bool {
        !self.problems.iter().any(|problem| problem.path.starts_with(path))
    }

    pub(super) fn positive(&mut self, path: &str, x: f64) {
        self.report_if(x <= 0.0, path, || format!("must be greater than 0, but is {x:?}"));
    }

    pub(super) fn not_negative(&mut self, path: &str, x: f64) {
        self.report_if(x < 0.0, path, || format!("must not be negative, but is {x:?}"));
    }

    fn fraction(&mut self, path: &str, x: f64) {
        self.report_if(!(0.0..=1.0).contains(&x) && !x.is_nan(), path, || {
            format!("must lie between 0 and 1, but is {x:?}")
        });
    }

    /// Null stands for a number that is not finite: absent values are not in the tree.
    fn finite(&mut self, value: &Value, path: &mut String) {
        let length = path.len();
        match value {
            Value::Null => self.report_if(true, path, || "must be a finite number".into()),
            Value::Array(list) => {
                for (i, item) in list.iter().enumerate() {
                    path.push_str(&format!("[{i}]"));
                    self.finite(item, path);
                    path.truncate(length);
                }
            }
            Value::Object(table) => {
                for (key, item) in table {
                    if length > 0 {
                        path.push('.');
                    }
                    path.push_str(key);
                    self.finite(item, path);
                    path.truncate(length);
                }
            }
            Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn settings(&mut self) {
        let Scene { time, solver, contact, output, checkpoint, .. } = self.scene;
        if let StepLength::Fixed(h) = time.step {
            self.positive("time.step", h);
        }
        self.positive("time.accuracy", time.accuracy);
        self.report_if(time.accuracy > 1.0, "time.accuracy", || {
            format!("must be at most 1, a radius a step, but is {:?}", time.accuracy)
        });
        self.not_negative("time.end", time.end);
        if let StepLength::Fixed(h) = time.step {
            let is_far = h > 0.0 && time.steps().is_some_and(|steps| steps > Time::MOST_STEPS);
            self.report_if(is_far, "time.end", || {
                format!("is {:e} steps away; a run has at most {:e}", time.end / h, Time::MOST_STEPS as f64)
            });
        }
        self.positive("solver.tolerance", solver.tolerance);
        self.report_if(solver.max_iterations == 0, "solver.max_iterations", || "must be at least 1, but is 0".into());
        self.report_if(!solver.name.laws().contains(&solver.law()), "solver.friction", || {
            format!("the solver {:?} cannot solve {:?} friction", solver.name.name(), solver.law().name())
        });
        self.positive("solver.scip.system_tolerance", solver.scip.system_tolerance);
        self.report_if(solver.scip.system_iterations == 0, "solver.scip.system_iterations", || {
            "must be at least 1, but is 0".into()
        });
        for (path, x) in [
            ("solver.nbgs.relaxation", solver.nbgs.relaxation),
            ("solver.gauss-seidel.relaxation", solver.gauss_seidel.relaxation),
            ("solver.gauss-seidel.blend", solver.gauss_seidel.blend),
            ("solver.jacobi.relaxation", solver.jacobi.relaxation),
            ("solver.jacobi.blend", solver.jacobi.blend),
        ] {
            self.report_if(!(x.is_nan() || x > 0.0 && x < 2.0), path, || {
                format!("must be greater than 0 and less than 2, but is {x:?}")
            });
        }
        self.not_negative("contact.margin", contact.margin);
        self.fraction("contact.recovery", contact.recovery);
        self.not_negative("contact.recovery_speed", contact.recovery_speed);
        self.not_negative("contact.restitution_threshold", contact.restitution_threshold);
        self.not_negative("contact.slip_rounding", contact.slip_rounding);
        self.not_negative("output.frame_interval", output.frame_interval.unwrap_or(0.0));
        self.not_negative("checkpoint.seconds", checkpoint.seconds);
    }

    fn domain(&mut self) {
        let domain = &self.scene.domain;
        let repeats = domain.periodic.contains(&true);
        for (path, corner) in [("domain.min", domain.min), ("domain.max", domain.max)] {
            self.report_if(repeats && corner.is_none(), path, || {
                "is needed, because space repeats itself along an axis (domain.periodic)".into()
            });
        }
        if let (Some(low), Some(high)) = (domain.min, domain.max) {
            for axis in 0..3 {
                self.report_if(low[axis] >= high[axis], &format!("domain.max[{axis}]"), || {
                    format!("must exceed domain.min, which is {:?} there, but is {:?}", low[axis], high[axis])
                });
            }
        }
        if domain.outside != OutsideRule::Keep {
            self.outside();
        }
        for (axis, &n) in domain.blocks.iter().flatten().enumerate() {
            self.report_if(n == 0, &format!("domain.blocks[{axis}]"), || "must be at least 1, but is 0".into());
        }
        self.report_if(domain.blocks.is_some() && domain.partition == PartitionName::Morton, "domain.blocks", || {
            "a morton partition has no blocks; use partition = \"cartesian\"".into()
        });
        self.report_if(domain.imbalance < 1.0, "domain.imbalance", || {
            format!("must be at least 1, which is perfect balance, but is {:?}", domain.imbalance)
        });
    }

    /// A rule for bodies that leave needs a box that they can leave.
    fn outside(&mut self) {
        let domain = &self.scene.domain;
        for (path, corner) in [("domain.min", domain.min), ("domain.max", domain.max)] {
            self.report_if(corner.is_none(), path, || {
                "is needed, because domain.outside says what becomes of bodies that leave the box between domain.min \
                 and domain.max"
                    .into()
            });
        }
        self.report_if(domain.periodic == [true; 3], "domain.outside", || {
            "nothing can leave the cell, because space repeats itself along all axes (domain.periodic); use \"keep\""
                .into()
        });
    }

    /// The periodic cell, if there is one to compute with.
    pub(super) fn periods(&self) -> Option<Periods> {
        Some(self.scene.periods()).filter(|periods| periods.any() && self.is_clean("domain"))
    }

    /// A sphere must not meet itself, nor another one on two sides at once.
    pub(super) fn fits_the_period(&mut self, path: &str, radius: f64) {
        let Some(periods) = self.periods() else { return };
        let length = periods.length();
        // The shortest period decides; axes that do not repeat are infinite.
        let axis = (0..3).fold(0, |best, axis| if length[axis] < length[best] { axis } else { best });
        self.report_if(2.0 * radius >= 0.5 * length[axis], path, || {
            format!(
                "bodies of diameter {:?} are too large for a period of {:?} along {}: a diameter must be less than \
                 half the period",
                2.0 * radius,
                length[axis],
                AXES[axis]
            )
        });
    }

    /// A wall must look the same from every copy of the cell, at all times.
    fn wall_suits_the_cell(&mut self, path: &str, body: &BodySpec) {
        let Some(periods) = self.periods() else { return };
        let turn = body.attitude();
        let spin = body.turn.as_ref().map_or(body.angular_velocity, |turn| turn.axis);
        let normals: Vec<(DVec3, String)> = match &body.shape {
            Shape::HalfSpace(_) => vec![(HalfSpace::normal(turn), "the plane".into())],
            Shape::Container(container) => (container.walls())
                .map(|face| {
                    let (axis, side) = face.axis_and_side();
                    let sign = if side < 0.0 { '-' } else { '+' };
                    (turn * (DVec3::AXES[axis] * side), format!("its wall {sign}{}", AXES[axis]))
                })
                .collect(),
            _ => Vec::new(),
        };
        for axis in (0..3).filter(|&axis| periods.repeats(axis)) {
            let along = DVec3::AXES[axis];
            // A normal that turns keeps clear of the axis only if it turns about it.
            let stays = |n: DVec3| n.cross(spin).length() <= 1e-9 * spin.length() || along.cross(spin) == DVec3::ZERO;
            let crossing = normals.iter().find(|(n, _)| n[axis].abs() > 1e-9 || !stays(*n));
            if let Some((_, wall)) = crossing {
                let name = AXES[axis];
                self.report_if(true, path, || {
                    format!(
                        "{wall} crosses the axis {name}, along which space repeats itself: it would cut the cell off \
                         from its copies. Make it parallel to {name}, leave it out{}, or set domain.periodic to false \
                         there",
                        if matches!(body.shape, Shape::Container(_)) { " (list it in open)" } else { "" }
                    )
                });
            }
        }
    }

    fn materials(&mut self) {
        let list = &self.scene.material;
        self.report_if(list.is_empty(), "material", || "at least one material is needed".into());
        self.report_if(list.len() > usize::from(u16::MAX), "material", || {
            format!("there are {} materials, more than {}", list.len(), u16::MAX)
        });
        let mut names = HashSet::new();
        for (i, material) in list.iter().enumerate() {
            let path = format!("material[{i}]");
            self.report_if(material.name.is_empty(), &format!("{path}.name"), || "a material needs a name".into());
            self.report_if(!names.insert(material.name.as_str()), &format!("{path}.name"), || {
                format!("there is another material named \"{}\"", material.name)
            });
            self.positive(&format!("{path}.density"), material.density);
            self.not_negative(&format!("{path}.friction"), material.friction);
            self.fraction(&format!("{path}.restitution"), material.restitution);
        }
        for (i, pair) in self.scene.pair.iter().enumerate() {
            for (side, name) in pair.materials.iter().enumerate() {
                let path = format!("pair[{i}].materials[{side}]");
                self.report_if(name.is_empty(), &path, || "the name of a material is needed".into());
                self.material(&path, name);
            }
            pair.friction.iter().for_each(|&x| self.not_negative(&format!("pair[{i}].friction"), x));
            pair.restitution.iter().for_each(|&x| self.fraction(&format!("pair[{i}].restitution"), x));
        }
    }

    /// The name must be that of a material; an empty one means the first.
    pub(super) fn material(&mut self, path: &str, name: &str) {
        let names = || self.scene.material.iter().map(|m| m.name.as_str());
        if name.is_empty() || names().any(|known| known == name) {
            return;
        }
        let hint = nearest(name, names()).map_or(".".into(), |best| format!("; did you mean \"{best}\"?"));
        let message = format!("{UNKNOWN}material \"{name}\"{hint} Known are {}", quoted(names()));
        self.report_if(true, path, || message);
    }

    fn field(&mut self, path: &str, field: &ForceField) {
        // Either sign of a pull or a well makes sense.
        let kind = match field {
            ForceField::Central { softening, .. } => {
                self.not_negative(&format!("{path}.central.softening"), *softening);
                "central"
            }
            ForceField::Well { .. } => "well",
            ForceField::Drag { rate, .. } => return self.not_negative(&format!("{path}.drag.rate"), *rate),
        };
        self.report_if(self.periods().is_some(), &format!("{path}.{kind}"), || {
            "a field about one centre does not repeat itself as space does (domain.periodic): its pull would jump when \
             a body crosses the border of the cell. Use gravity or drag there"
                .into()
        });
    }

    /// Whether a shape is sound; what is not is reported.
    pub(super) fn shape(&mut self, path: &str, shape: &Shape) -> bool {
        // What is not finite has been found before.
        if !self.is_clean(path) {
            return false;
        }
        let faults = shape.faults();
        for (key, message) in &faults {
            self.report_if(true, &format!("{path}.{}.{key}", shape.name()), || message.clone());
        }
        faults.is_empty()
    }

    /// Mass, centre and inertia that are given must be those of something.
    fn given_mass(&mut self, path: &str, body: &BodySpec) {
        let Some(given) = &body.mass else { return };
        self.report_if(body.motion != Motion::Dynamic, path, || "only a dynamic body has a mass".into());
        given.mass.iter().for_each(|&mass| self.positive(&format!("{path}.mass"), mass));
        if let Some([xx, yy, zz, ..]) = given.inertia {
            let [least, middle, most] = given.principal().to_array();
            let is_real = least > 0.0 && most <= (least + middle) * (1.0 + 1e-9);
            self.report_if(!is_real && (xx + yy + zz).is_finite(), &format!("{path}.inertia"), || {
                format!(
                    "no body has such an inertia: its principal moments are {least:?}, {middle:?} and {most:?}, and each \
                     must be positive and no larger than the sum of the other two"
                )
            });
        }
    }

    fn body(&mut self, path: &str, body: &BodySpec) {
        let at = |key: &str| format!("{path}.{key}");
        let name = body.shape.name();
        let is_sound = self.shape(&at("shape"), &body.shape);
        let massive = !is_sound || body.shape.has_mass() || body.mass.is_some_and(|mass| mass.is_whole());
        self.report_if(body.motion == Motion::Dynamic && !massive, &at("motion"), || match &body.shape {
            Shape::Mesh(mesh) => {
                format!(
                    "{}; or give its mass, centre and inertia ({}), or use motion = \"fixed\"",
                    immovable(mesh),
                    at("mass")
                )
            }
            _ => format!("a {name} has no finite mass and cannot be dynamic; use \"fixed\" or \"kinematic\""),
        });
        self.given_mass(&at("mass"), body);
        self.report_if(body.orientation.is_some() && body.normal.is_some(), &at("normal"), || {
            "give an orientation or a normal, not both".into()
        });
        let plane = matches!(body.shape, Shape::HalfSpace(_));
        self.report_if(body.normal.is_some() && !plane, &at("normal"), || {
            format!("only a half-space has a normal; turn a {name} by its orientation")
        });
        // Directions must have a length that can be divided by.
        let usable = |length: f64| length.is_nan() || (length > 1e-150 && length < 1e150);
        self.report_if(body.normal.is_some_and(|n| !usable(n.length())), &at("normal"), || "must not be zero".into());
        self.report_if(body.orientation.is_some_and(|q| !usable(q.length())), &at("orientation"), || {
            "must not be zero".into()
        });
        let moves = body.velocity != DVec3::ZERO || body.angular_velocity != DVec3::ZERO;
        self.report_if(body.motion == Motion::Fixed && moves, &at("velocity"), || {
            "a fixed body does not move; use motion = \"kinematic\"".into()
        });
        if body.rotation == Rotation::Locked {
            self.report_if(body.motion != Motion::Dynamic, &at("rotation"), || {
                "only the rotation of a dynamic body can be locked".into()
            });
            self.report_if(body.angular_velocity != DVec3::ZERO, &at("angular_velocity"), || {
                "a body whose rotation is locked does not turn".into()
            });
            self.report_if(body.torque.is_some(), &at("torque"), || {
                "a torque does nothing to a body whose rotation is locked".into()
            });
        }
        self.prescribed(path, body);
        for (key, load) in [("force", body.force), ("torque", body.torque)] {
            self.report_if(load.is_some() && body.motion != Motion::Dynamic, &at(key), || {
                format!("a {key} acts on dynamic bodies only")
            });
        }
        self.material(&at("material"), &body.material);
        if !self.is_clean(path) {
            return;
        }
        let Some(radius) = body.shape.bounding_radius() else {
            return self.wall_suits_the_cell(&at("shape"), body);
        };
        let size = if matches!(body.shape, Shape::Sphere(_)) { "shape.sphere.radius" } else { "shape" };
        self.fits_the_period(&at(size), radius);
        if let Some(periods) = self.periods() {
            for axis in (0..3).filter(|&axis| periods.repeats(axis)) {
                let x = body.start()[axis];
                let low = periods.low[axis];
                let high = periods.high[axis];
                self.report_if(!(low..high).contains(&x), &at("position"), || {
                    format!(
                        "must lie in the cell along {}, where space repeats itself: from {low:?} to below {high:?}, but \
                         is {x:?}",
                        AXES[axis]
                    )
                });
            }
        }
    }
}

/// Why forces cannot move a mesh without a volume.
pub(super) fn immovable(mesh: &Mesh) -> String {
    let file = mesh.text().file.as_ref().map(|file| format!(" of {file}")).unwrap_or_default();
    let fault = mesh.open_because().unwrap_or_else(|| "it has no volume".into());
    format!("the mesh{file} cannot be dynamic: {fault}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Fill, Lattice, Radius};
    use crate::shape::{Container, Face};
    use crate::world::{Material, Oscillation, PairException};
    use glam::DQuat;

    /// The problems after a change to a valid scene, a line each.
    fn after(change: impl FnOnce(&mut Scene)) -> String {
        let mut scene = Scene::default();
        scene.body.push(BodySpec::new(Shape::half_space(), DVec3::ZERO));
        scene.body.push(BodySpec::new(Shape::sphere(0.1), DVec3::Z));
        scene.lattice.push(Lattice::cubic([2, 2, 2], 0.2, 0.1));
        scene.fill.push(Fill::new(DVec3::ZERO, DVec3::ONE, 10, 0.01));
        assert_eq!(scene.validate(), []);
        change(&mut scene);
        let problems: Vec<String> = scene.validate().iter().map(|p| format!("{}: {}", p.path, p.message)).collect();
        problems.join("\n")
    }

    #[test]
    fn each_range_is_kept() {
        let starts = |found: String, expected: &str| {
            assert!(found.starts_with(expected) && !found.contains('\n'), "{found:?} is not {expected:?}");
        };
        starts(after(|s| s.gravity.y = f64::INFINITY), "gravity[1]: must be a finite number");
        starts(after(|s| s.time.end = -1.0), "time.end: ");
        starts(after(|s| s.time.accuracy = 0.0), "time.accuracy: must be greater than 0");
        starts(after(|s| s.time.accuracy = 1.5), "time.accuracy: must be at most 1, a radius a step, but is 1.5");
        assert_eq!(after(|s| s.time.end = 1e300), "");
        starts(after(|s| s.time.step = 0.0.into()), "time.step: must be greater than 0");
        let far = |s: &mut Scene| (s.time.step, s.time.end) = (1e-3.into(), 1e300);
        starts(after(far), "time.end: is 1e303 steps away; a run has at most 9.0");
        starts(after(|s| s.solver.tolerance = 0.0), "solver.tolerance: ");
        starts(after(|s| s.solver.max_iterations = 0), "solver.max_iterations: ");
        starts(after(|s| s.contact.margin = -0.1), "contact.margin: ");
        starts(after(|s| s.contact.recovery = 1.1), "contact.recovery: must lie between 0 and 1");
        starts(after(|s| s.contact.recovery_speed = -1.0), "contact.recovery_speed: ");
        starts(after(|s| s.material[0].restitution = 2.0), "material[0].restitution: ");
        starts(after(|s| s.material[0].density = 0.0), "material[0].density: ");
        starts(after(|s| s.material.push(Material::default())), "material[1].name: there is another");
        let pair = PairException { materials: ["default".into(), "x".into()], friction: None, restitution: None };
        starts(after(|s| s.pair.push(pair)), "pair[0].materials[1]: unknown material");
        starts(after(|s| s.body[0].motion = Motion::Dynamic), "body[0].motion: a half-space has no finite mass");
        starts(after(|s| s.body[0].normal = Some(DVec3::ZERO)), "body[0].normal: must not be zero");
        starts(after(|s| s.body[1].normal = Some(DVec3::X)), "body[1].normal: only a half-space");
        starts(after(|s| s.body[0].velocity = DVec3::X), "body[0].velocity: a fixed body");
        starts(after(|s| s.body[0].force = Some(DVec3::X)), "body[0].force: ");
        starts(after(|s| s.body[0].rotation = Rotation::Locked), "body[0].rotation: only the rotation of a dynamic");
        let locked = BodySpec { rotation: Rotation::Locked, ..BodySpec::new(Shape::sphere(0.1), DVec3::Z) };
        let turning = BodySpec { angular_velocity: DVec3::X, ..locked.clone() };
        starts(after(|s| s.body[1] = turning), "body[1].angular_velocity: a body whose rotation is locked");
        let twisted = BodySpec { torque: Some(DVec3::X), ..locked };
        starts(after(|s| s.body[1] = twisted), "body[1].torque: a torque does nothing");
        let both = |s: &mut Scene| (s.body[0].normal, s.body[0].orientation) = (Some(DVec3::X), Some(DQuat::IDENTITY));
        starts(after(both), "body[0].normal: give an orientation or a normal");
        let shake = Oscillation { amplitude: DVec3::X, frequency: 1.0, phase: 0.0 };
        starts(after(|s| s.body[1].oscillation = Some(shake)), "body[1].oscillation: only a kinematic");
        starts(after(|s| s.lattice[0].spacing = 0.19.into()), "lattice[0].spacing: spheres would overlap");
        starts(after(|s| s.lattice[0].jitter = 0.01), "lattice[0].spacing: spheres would overlap");
        starts(after(|s| s.lattice[0].counts[1] = 0), "lattice[0].counts[1]: ");
        starts(after(|s| s.lattice[0].count = Some(9)), "lattice[0].count: must be at most 8, the number of sites");
        starts(after(|s| s.lattice[0].radius = Some(Radius::Uniform([0.2, 0.1]))), "lattice[0].radius.uniform: ");
        starts(after(|s| s.fill[0].max.z = 0.0), "fill[0].max: must exceed min");
        starts(after(|s| s.fill[0].max.z = 0.01), "fill[0].max: the box is 0.01 wide");
        starts(after(|s| s.fill[0].count = 1_000_000), "fill[0].count: 1000000 spheres would fill 418.9 %");
        starts(after(|s| s.fill[0].radius = Some(Radius::Fixed(f64::NAN))), "fill[0].radius: must be a finite number");
        let fixed = |s: &mut Scene| (s.lattice[0].motion, s.lattice[0].velocity) = (Motion::Fixed, DVec3::X);
        starts(after(fixed), "lattice[0].velocity: fixed spheres do not move");
        let remove = |s: &mut Scene| s.domain.outside = OutsideRule::Remove;
        let faults = after(remove);
        assert!(
            ["domain.min: is needed", "\ndomain.max: is needed"].iter().all(|fault| faults.contains(fault)),
            "{faults}"
        );
        let everywhere = |s: &mut Scene| {
            (s.domain.min, s.domain.max) = (Some(DVec3::splat(-1.0)), Some(DVec3::ONE));
            (s.domain.periodic, s.domain.outside) = ([true; 3], OutsideRule::Stop);
        };
        let faults = after(everywhere);
        assert!(faults.contains("domain.outside: nothing can leave the cell"), "{faults}");
        starts(after(|s| s.domain.imbalance = 0.9), "domain.imbalance: must be at least 1");
        starts(after(|s| s.domain.blocks = Some([1, 0, 1])), "domain.blocks[1]: must be at least 1");
        let blocks = |s: &mut Scene| {
            s.domain.blocks = Some([1; 3]);
            s.domain.partition = PartitionName::Morton;
        };
        starts(after(blocks), "domain.blocks: a morton partition has no blocks");
        starts(after(|s| s.lattice[0] = Lattice::cubic([5000, 5000, 5000], 1.0, 0.1)), "lattice: the scene has");
    }

    /// The problems after a change to the same scene, repeated along x and y.
    fn after_repeating(change: impl FnOnce(&mut Scene)) -> String {
        after(|scene| {
            scene.domain.min = Some(DVec3::splat(-1.0));
            scene.domain.max = Some(DVec3::splat(1.0));
            scene.domain.periodic = [true, true, false];
            assert_eq!(scene.validate(), []);
            change(scene);
        })
    }

    #[test]
    fn periodic_cells_hold_what_is_in_them() {
        let starts = |found: String, expected: &str| {
            assert!(found.starts_with(expected) && !found.contains('\n'), "{found:?} is not {expected:?}");
        };
        let turned =
            |normal: DVec3| BodySpec { normal: Some(normal), ..BodySpec::new(Shape::half_space(), DVec3::ZERO) };
        starts(after_repeating(|s| s.domain.min = None), "domain.min: is needed");
        starts(after_repeating(|s| s.domain.max = Some(DVec3::new(1.0, -1.0, 1.0))), "domain.max[1]: must exceed");
        starts(after_repeating(|s| s.body[1].position.y = 1.0), "body[1].position: must lie in the cell along y");
        assert_eq!(after_repeating(|s| s.body[1].position.y = -1.0), "");
        assert_eq!(after_repeating(|s| s.body[1].position.z = 50.0), "");
        starts(after_repeating(|s| s.body[1].shape = Shape::sphere(0.5)), "body[1].shape.sphere.radius: bodies of");
        starts(
            after_repeating(|s| s.body.push(turned(DVec3::new(1e-3, 0.0, 1.0)))),
            "body[2].shape: the plane crosses",
        );
        assert_eq!(after_repeating(|s| s.body.push(turned(-DVec3::Z))), "");
        let spinning = BodySpec { motion: Motion::Kinematic, angular_velocity: DVec3::X, ..turned(DVec3::Z) };
        starts(after_repeating(|s| s.body.push(spinning.clone())), "body[2].shape: the plane crosses the axis y");
        let level = BodySpec { angular_velocity: DVec3::Z, ..spinning };
        assert_eq!(after_repeating(|s| s.body.push(level)), "");
        let walls = |open: &[Face]| {
            let container = Container { half_extents: DVec3::ONE, open: open.to_vec() };
            BodySpec::new(Shape::Container(container.into()), DVec3::ZERO)
        };
        let sides = [Face::LowX, Face::HighX, Face::LowY, Face::HighY];
        starts(after_repeating(|s| s.body.push(walls(&sides[1..]))), "body[2].shape: its wall -x crosses the axis x");
        assert_eq!(after_repeating(|s| s.body.push(walls(&sides))), "");
        starts(
            after_repeating(|s| s.lattice[0].counts = [2, 11, 1]),
            "lattice[0].spacing: spheres would overlap across",
        );
        assert_eq!(after_repeating(|s| s.lattice[0].counts = [2, 10, 1]), "");
        let well = ForceField::Well { centre: DVec3::ZERO, stiffness: 1.0 };
        starts(after_repeating(|s| s.force.push(well)), "force[0].well: a field about one centre does not repeat");
        assert_eq!(after(|s| s.force.push(well)), "");
        let drag = ForceField::Drag { rate: 1.0, wind: DVec3::X };
        let central = ForceField::Central { centre: DVec3::ZERO, strength: 1.0, softening: 0.0 };
        starts(after_repeating(|s| s.force = vec![drag, central]), "force[1].central: a field about one centre");
        starts(after_repeating(|s| s.fill[0].max.x = 1.5), "fill[0].max: the box must lie in the cell along x");
        assert_eq!(after_repeating(|s| s.fill[0].max.z = 1.5), "");
        starts(after_repeating(|s| s.fill[0].gap = 1.99), "fill[0].gap: a gap of 1.99 to its own images leaves");
        assert_eq!(after_repeating(|s| s.fill[0].gap = 1.5), "");
    }
}

//! Every key of a scene file with a line on what it means, declared once: the writer takes its
//! order and its comments from here. What a key can be is read from the list of its enum.

use super::{Compression, LatticeKind, Radius};
use crate::broad::BroadPhaseName;
use crate::dynamics::Integrator;
use crate::partition::{OutsideRule, PartitionName, WorkMeasure};
use crate::shape::Shape;
use crate::world::{Combine, JointKind, Motion, Rotation};
use barchan_cone::solver::SolverName;
use barchan_cone::{Borders, Criterion, Friction, Metric, Order, System};

/// A section of a scene file: a table, or a list of tables.
pub(crate) struct Section {
    /// Its path, such as `solver.apgd`; empty for the top of the file.
    pub(crate) path: &'static str,
    /// What it is about.
    pub(crate) about: &'static str,
    /// Its keys in the order in which they are written.
    pub(crate) keys: &'static [Key],
}

/// A key of a section.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// An example for a key that may be left out; empty if it is always written.
    pub(crate) example: &'static str,
    /// What it means.
    about: &'static str,
    /// What it can be, in words, for a key with a closed list of values.
    values: Option<fn() -> String>,
}

impl Key {
    /// What it means, and what it can be.
    pub(crate) fn comment(&self) -> String {
        match (self.about, self.values) {
            (about, None) => about.to_owned(),
            ("", Some(values)) => values(),
            (about, Some(values)) => format!("{about}: {}", values()),
        }
    }
}

/// A key that is always written.
const fn key(name: &'static str, about: &'static str) -> Key {
    Key { name, example: "", about, values: None }
}

/// A key that may be left out.
const fn optional(name: &'static str, example: &'static str, about: &'static str) -> Key {
    Key { name, example, about, values: None }
}

/// A key that is always written, with one of a closed list of values.
const fn choice(name: &'static str, about: &'static str, values: fn() -> String) -> Key {
    Key { name, example: "", about, values: Some(values) }
}

/// A key that may be left out, with one of a closed list of values.
const fn optional_choice(
    name: &'static str,
    example: &'static str,
    about: &'static str,
    values: fn() -> String,
) -> Key {
    Key { name, example, about, values: Some(values) }
}

/// The names of a list: "a, b or c".
fn names<T>(all: &[(T, &str, &str)]) -> String {
    either(all.iter().map(|(_, name, _)| (*name).to_owned()))
}

/// The names of a list, each with its few words: "a (the first), b or c".
fn explained<T>(all: &[(T, &str, &str)]) -> String {
    let words = |name: &str, note: &str| if note.is_empty() { name.into() } else { format!("{name} ({note})") };
    either(all.iter().map(|(_, name, note)| words(name, note)))
}

fn either(words: impl Iterator<Item = String>) -> String {
    let mut words: Vec<_> = words.collect();
    let last = words.pop().unwrap_or_default();
    if words.is_empty() { last } else { format!("{} or {last}", words.join(", ")) }
}

fn shapes() -> String {
    either(Shape::FORMS.iter().map(|(name, form)| format!("{name} = {form}")))
}

fn radii() -> String {
    format!("a number, or {{ {} = ... }}", Radius::NAMES.join(" | "))
}

const VELOCITY_JITTER: &str = "largest random addition to each component of the velocity, m/s";
const MATERIAL: &str = "name of the material; empty for the first";
const MIXTURE: &str =
    "[{ radius = 0.01 }, { weight = 0.5, shape = { capsule = { radius = 0.01, half_height = 0.01 } } }]";
const GROUP: &str = "a label for frames, tables and no_contact, 0 to 65535";

/// Every section in the order in which it is written.
pub(crate) const SECTIONS: &[Section] = &[
    Section {
        path: "",
        about: "the scene as a whole",
        keys: &[
            key("name", "a short name"),
            key("description", "what it shows, where it comes from, what its answer is"),
            key("seed", "decides all random numbers"),
            key("gravity", "m/s^2"),
        ],
    },
    Section {
        path: "time",
        about: "step and end of a run",
        keys: &[
            key("step", "s; or \"auto\": chosen in every step from what happens"),
            key("accuracy", "what neighbours may move against each other in a step, in radii, where it is chosen"),
            key("end", "simulated time at which a run ends, s"),
            choice("integrator", "how positions follow from velocities", || explained(Integrator::ALL)),
        ],
    },
    Section {
        path: "solver",
        about: "solver and stopping rule",
        keys: &[
            choice("name", "the solver", || names(SolverName::ALL)),
            choice("friction", "the law (default: the solver's own)", || names(Friction::ALL)),
            key("tolerance", "residual at which a step has converged"),
            choice("criterion", "that residual", || explained(Criterion::ALL)),
            key("max_iterations", "iterations after which a step ends without having converged; it is reported"),
            key("warm_start", "start from the impulses of the last step"),
            key("polish", "sweep a little beyond the tolerance, so that what rests comes to rest"),
        ],
    },
    Section {
        path: "solver.apgd",
        about: "accelerated projected gradient descent",
        keys: &[
            choice("metric", "scale of steps", || explained(Metric::ALL)),
            key("restart", "drop momentum that points uphill"),
            key("shrink", "let the Lipschitz estimate shrink again; only with restart"),
        ],
    },
    Section {
        path: "solver.scip",
        about: "symmetric-cone interior point",
        keys: &[
            choice("system", "how linear systems are solved", || explained(System::ALL)),
            key("system_tolerance", "relative residual at which an iterative solution is good enough"),
            key("system_iterations", "an iterative solution takes at most so many"),
        ],
    },
    Section {
        path: "solver.accelerated-gs",
        about: "Gauss-Seidel sweeps with momentum",
        keys: &[
            choice("order", "of contacts in a sweep", || explained(Order::ALL)),
            key("restart", "drop momentum that points uphill"),
            choice("borders", "bodies that several ranks hold", || explained(Borders::ALL)),
        ],
    },
    Section {
        path: "solver.nbgs",
        about: "non-linear block Gauss-Seidel",
        keys: &[
            choice("order", "of contacts in a sweep", || explained(Order::ALL)),
            key("relaxation", "fraction of each one-contact solution that is taken"),
            choice("borders", "bodies that several ranks hold", || explained(Borders::ALL)),
        ],
    },
    Section {
        path: "solver.gauss-seidel",
        about: "fixed-point iteration, contact after contact",
        keys: &[
            choice("order", "of contacts in a sweep", || explained(Order::ALL)),
            key("relaxation", "length of a step"),
            key("blend", "fraction of the new value; the rest is the old one"),
        ],
    },
    Section {
        path: "solver.jacobi",
        about: "fixed-point iteration, all contacts at once",
        keys: &[
            key("relaxation", "length of a step; too long a step diverges"),
            key("blend", "fraction of the new value; the rest is the old one"),
        ],
    },
    Section {
        path: "contact",
        about: "gaps, penetration and bounces, as ratios",
        keys: &[
            key(
                "margin",
                "bodies with a gap of up to this part of the sum of their radii are neighbours, even at rest",
            ),
            key("recovery", "fraction of a penetration that is removed a step, without a change of velocity"),
            key("recovery_speed", "how fast a body moves by that at most, in radii a second"),
            key("restitution_threshold", "no bounce below this speed, in acceleration by forces * step"),
            key(
                "slip_rounding",
                "Coulomb's law is rounded off below this slip, in acceleration by forces * step; 0: exact",
            ),
        ],
    },
    Section {
        path: "broad_phase",
        about: "search for neighbours; the result does not depend on its name",
        keys: &[
            choice("name", "", || names(BroadPhaseName::ALL)),
            key("reorder_interval", "steps between sorts of bodies in memory; 0 for never"),
        ],
    },
    Section {
        path: "domain",
        about: "the cell, in which space may repeat itself, and how ranks share it",
        keys: &[
            optional("min", "[0.0, 0.0, 0.0]", "lowest corner of the cell, m; needed where space repeats"),
            optional("max", "[1.0, 1.0, 1.0]", "highest corner of the cell, m"),
            key("periodic", "along which axes space repeats itself"),
            choice("outside", "what becomes of bodies that leave the cell", || explained(OutsideRule::ALL)),
            choice("partition", "of the cell among ranks", || names(PartitionName::ALL)),
            optional("blocks", "[2, 2, 1]", "blocks of a cartesian partition along x, y and z"),
            key("imbalance", "largest work of a rank over the mean at which the curve is cut anew"),
            key("balance_interval", "at most so many steps between two checks of the balance; 0 for never"),
            choice("work", "what counts as work", || explained(WorkMeasure::ALL)),
        ],
    },
    Section {
        path: "output",
        about: "what a run writes down",
        keys: &[
            optional(
                "frame_interval",
                "0.02",
                "simulated time between frames, s; 0 for the last state alone (default: about thirty frames)",
            ),
            key("contacts", "write the contacts of each frame too"),
            choice("compression", "of frames", || explained(Compression::ALL)),
            key("history", "write the residual of every iteration to history.csv"),
        ],
    },
    Section {
        path: "checkpoint",
        about: "when a run saves all that it needs to go on later; there is always one at its end",
        keys: &[
            key("steps", "steps between two checkpoints; 0 for none by steps"),
            key(
                "seconds",
                "most wall-clock time between two checkpoints, s (the first comes after 3 s); 0 for none by time",
            ),
            key("keep", "how many are kept; 0 for no checkpoints at all"),
        ],
    },
    Section {
        path: "material",
        about: "materials; the first is the default of all bodies",
        keys: &[
            key("name", "by which bodies refer to it"),
            key("density", "kg/m^3"),
            key("friction", "coefficient of friction"),
            key("restitution", "coefficient of restitution, 0 to 1"),
        ],
    },
    Section {
        path: "pair_rule",
        about: "how the coefficients of two materials become that of a pair",
        keys: &[choice("friction", "", || names(Combine::ALL)), choice("restitution", "", || names(Combine::ALL))],
    },
    Section {
        path: "pair",
        about: "pairs of materials that depart from the rule",
        keys: &[
            key("materials", "the names of the two"),
            optional("friction", "0.5", "instead of the rule"),
            optional("restitution", "0.0", "instead of the rule"),
        ],
    },
    Section {
        path: "no_contact",
        about: "groups whose bodies pass through each other",
        keys: &[key("groups", "the two; twice the same for bodies of one group")],
    },
    Section {
        path: "force",
        about: "fields on every dynamic body, one an entry",
        keys: &[
            key(
                "central",
                "pull of a point mass: acceleration strength / distance^2, m^3/s^2; less within softening, m",
            ),
            key(
                "drag",
                "slows bodies down towards the wind: acceleration -rate * (velocity - wind); spins: -rate * spin",
            ),
            key("well", "acceleration -stiffness * (position - centre)"),
        ],
    },
    Section {
        path: "body",
        about: "single bodies",
        keys: &[
            key("name", "by which joints and tables call it; may be empty"),
            choice("shape", "", shapes),
            key(
                "position",
                "of the shape's origin at time zero, m: the centre of mass, but of polyhedra, meshes, composites",
            ),
            optional("orientation", "[0.0, 0.0, 0.0, 1.0]", "quaternion [x, y, z, w]"),
            optional("normal", "[0.0, 0.0, 1.0]", "of a half-space, instead of an orientation"),
            key("velocity", "m/s"),
            key("angular_velocity", "rad/s, in the world frame"),
            key("material", MATERIAL),
            key("group", GROUP),
            choice("motion", "", || explained(Motion::ALL)),
            choice("rotation", "of a dynamic body", || explained(Rotation::ALL)),
            optional(
                "mass",
                "{ mass = 1.0, centre = [0.0, 0.0, 0.0], inertia = [0.1, 0.1, 0.1, 0.0, 0.0, 0.0] }",
                "of a dynamic body, instead of what follows from its density: kg, m and kg m^2 (xx, yy, zz, xy, xz, yz) \
                 in the frame of the shape; any of them may be left out",
            ),
            optional(
                "oscillation",
                "{ amplitude = [0.0, 0.0, 0.01], frequency = 10.0, phase = 0.0 }",
                "shake of a kinematic body; m, 1/s, rad",
            ),
            optional(
                "path",
                "[\"0.01*sin(2*pi*10*t)\", 0.0, \"0.1*smooth(t/2)\"]",
                "displacement of a kinematic body, m; numbers, or formulas of the time t",
            ),
            optional(
                "waypoints",
                "{ times = [0.0, 1.0], positions = [[0.0, 0.0, 0.0], [0.0, 0.0, 0.1]], repeat = false, smooth = true }",
                "displacements of a kinematic body and when it has them; s, m",
            ),
            optional(
                "turn",
                "{ axis = [0.0, 0.0, 1.0], angle = \"0.5*sin(2*pi*t)\" }",
                "of a kinematic body about its centre, instead of an angular velocity; rad, a formula of the time t",
            ),
            optional(
                "surface_velocity",
                "[1.0, 0.0, 0.0]",
                "of a belt: what touches a fixed or a kinematic body feels it, m/s, in the body frame; numbers or formulas",
            ),
            optional("force", "[0.0, 0.0, 0.0]", "at the centre of mass, N"),
            optional("torque", "[0.0, 0.0, 0.0]", "N m"),
        ],
    },
    Section {
        path: "joint",
        about: "joints between two single bodies, or the world and a body; places and axes as they are at the start",
        keys: &[
            key("name", "by which tables call it; may be empty"),
            choice("kind", "which motion of the second body it leaves", || explained(JointKind::ALL)),
            key("bodies", "the names of the two; the first may be \"world\""),
            key("anchor", "where it sits, m; of a distance joint, its end on the first body"),
            optional("end", "[0.0, 0.0, 1.0]", "of a distance joint, its end on the second body, m"),
            key("axis", "about which or along which the second body moves"),
            optional("second_axis", "[1.0, 0.0, 0.0]", "on the second body, of universal joints and gears"),
            optional("ratio", "2.0", "of a gear: turns of the second body for a turn of the first"),
            optional("limits", "[-1.0, 1.0]", "of the angle, rad, the way or the length, m, from the start"),
            optional(
                "motor",
                "{ speed = 1.0, effort = 10.0 }",
                "drives it at a speed (rad/s, m/s) or to a position (rad, m), with an effort (N m, N) of at most so much",
            ),
            optional("spring", "{ stiffness = 100.0, damping = 1.0, rest = 0.0 }", "N m/rad or N/m, and times s"),
            key("friction", "that holds or brakes it, N m or N"),
            optional("strength", "{ force = 1000.0, torque = 100.0 }", "the load at which it breaks, N and N m"),
            key("collide", "whether its bodies can touch each other"),
        ],
    },
    Section {
        path: "lattice",
        about: "bodies on lattices",
        keys: &[
            choice("kind", "", || explained(LatticeKind::ALL)),
            key("origin", "centre of mass of the first body, m"),
            key("counts", "sites along x, y and z"),
            key("spacing", "distance of neighbouring centres, m; a number, or one an axis (cubic)"),
            optional_choice("radius", "0.01", "of spheres, m", radii),
            optional(
                "shape",
                "{ box = { half_extents = [0.01, 0.01, 0.02] } }",
                "any that is bounded, instead of a radius",
            ),
            optional_choice("scale", "1.0", "a factor on the shape", radii),
            optional("mixture", MIXTURE, "kinds of bodies, by weights: instead of a radius or a shape"),
            optional(
                "orientation",
                "\"aligned\"",
                "random, aligned or a quaternion [x, y, z, w]; spheres are not turned",
            ),
            key("jitter", "largest random shift along each axis, m"),
            optional("count", "1000", "use only the first sites, as many as this; x fastest, then y"),
            key("velocity", "m/s"),
            key("velocity_jitter", VELOCITY_JITTER),
            key("material", MATERIAL),
            key("group", GROUP),
            choice("motion", "", || explained(Motion::ALL)),
        ],
    },
    Section {
        path: "fill",
        about: "boxes with bodies at random places, none overlapping",
        keys: &[
            key("min", "lowest corner of the box, m"),
            key("max", "highest corner of the box, m"),
            key("count", "how many bodies"),
            optional_choice("radius", "0.01", "of spheres, m", radii),
            optional(
                "shape",
                "{ box = { half_extents = [0.01, 0.01, 0.02] } }",
                "any that is bounded, instead of a radius",
            ),
            optional_choice("scale", "1.0", "a factor on the shape", radii),
            optional("mixture", MIXTURE, "kinds of bodies, by weights: instead of a radius or a shape"),
            optional(
                "orientation",
                "\"random\"",
                "random, aligned or a quaternion [x, y, z, w]; spheres are not turned",
            ),
            key("gap", "smallest gap between two bodies, m"),
            key("velocity", "m/s"),
            key("velocity_jitter", VELOCITY_JITTER),
            key("material", MATERIAL),
            key("group", GROUP),
            key("attempts", "random places that are tried for a body before the fill fails"),
        ],
    },
    Section {
        path: "adjustable",
        about: "numbers that may be changed while the scene is run and watched (barchan view)",
        keys: &[
            key("key", "its path, such as gravity.2 or material.0.friction"),
            key("min", "the least that it may become"),
            key("max", "the most that it may become"),
            optional("label", "\"gravity\"", "what viewers call it"),
        ],
    },
];

/// The keys at the top of a file, sections included.
pub(crate) fn top_level_keys() -> impl Iterator<Item = &'static str> {
    let keys = SECTIONS[0].keys.iter().map(|key| key.name);
    keys.chain(SECTIONS[1..].iter().map(|section| section.path).filter(|path| !path.contains('.')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::ForceField;
    use serde::de::DeserializeOwned;

    /// The variants of an enum by the names that scene files use, in order: as serde tells whoever
    /// names another.
    fn variants<T: DeserializeOwned>() -> Vec<String> {
        let error = serde_json::from_str::<T>("\"no such name\"").err().expect("no such name").to_string();
        let (_, names) = error.split_once("expected ").expect("the names that are expected");
        names.split('`').skip(1).step_by(2).map(ToOwned::to_owned).collect()
    }

    #[test]
    fn lists_have_all_variants_by_the_names_of_files() {
        fn check<T: DeserializeOwned + Copy + std::fmt::Debug + PartialEq>(all: &[(T, &str, &str)]) {
            let names: Vec<_> = all.iter().map(|entry| entry.1).collect();
            assert_eq!(names, variants::<T>());
            for (value, name, _) in all {
                assert_eq!(serde_json::from_value::<T>((*name).into()).expect("a name"), *value);
            }
        }
        check(SolverName::ALL);
        check(Friction::ALL);
        check(Criterion::ALL);
        check(Metric::ALL);
        check(System::ALL);
        check(Order::ALL);
        check(Borders::ALL);
        check(BroadPhaseName::ALL);
        check(PartitionName::ALL);
        check(WorkMeasure::ALL);
        check(OutsideRule::ALL);
        check(Compression::ALL);
        check(Combine::ALL);
        check(Motion::ALL);
        check(Rotation::ALL);
        check(JointKind::ALL);
        check(LatticeKind::ALL);
    }

    #[test]
    fn shapes_and_forces_are_all_there() {
        let shapes: Vec<_> = Shape::FORMS.iter().map(|form| form.0).collect();
        assert_eq!(shapes, variants::<Shape>());
        let section = SECTIONS.iter().find(|section| section.path == "force").expect("a section");
        let forces: Vec<_> = section.keys.iter().map(|key| key.name).collect();
        assert_eq!(forces, variants::<ForceField>());
    }

    #[test]
    fn lists_read_as_sentences() {
        assert_eq!(names(Friction::ALL), "associated or coulomb");
        assert_eq!(explained(Order::ALL), "coloured, split (in mass, between subdomains) or serial");
        let name = &SECTIONS.iter().find(|section| section.path == "solver").expect("a section").keys[0];
        assert!(name.comment().starts_with("the solver: auto, apgd, "), "{}", name.comment());
    }
}

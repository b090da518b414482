//! Every key of a scene file with a line on what it means, declared once: the writer takes its
//! order and its comments from here.

/// A section of a scene file: a table, or a list of tables.
pub(crate) struct Section {
    /// Its path, such as `solver.apgd`; empty for the top of the file.
    pub(crate) path: &'static str,
    /// What it is about.
    pub(crate) about: &'static str,
    /// Its keys in the order in which they are written.
    pub(crate) keys: &'static [Key],
}

/// A key: its name, an example for keys that may be left out (empty if it is always written),
/// and what it means.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) example: &'static str,
    pub(crate) about: &'static str,
}

/// A key that is always written.
const fn key(name: &'static str, about: &'static str) -> Key {
    Key { name, example: "", about }
}

/// A key that may be left out.
const fn optional(name: &'static str, example: &'static str, about: &'static str) -> Key {
    Key { name, example, about }
}

const VELOCITY_JITTER: &str = "largest random addition to each component of the velocity, m/s";
const MATERIAL: &str = "name of the material; empty for the first";
const GROUP: &str = "a number to tell bodies apart by in what a run writes";
const RADIUS: &str = "m; a number, or { uniform | normal | log-normal | power-law | choice = ... }";

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
        keys: &[key("step", "s"), key("end", "simulated time at which a run ends, s")],
    },
    Section {
        path: "solver",
        about: "solver and stopping rule",
        keys: &[
            key("name", "the solver: apgd, scip, accelerated-gs, nbgs, gauss-seidel or jacobi"),
            key("friction", "the law: associated or coulomb; the solver's own unless told"),
            key("tolerance", "residual at which a step has converged"),
            key("criterion", "that residual: natural (scale-free), s1 or s0 (as in the papers)"),
            key("max_iterations", "a step gives up after so many and says so"),
            key("warm_start", "start from the impulses of the last step"),
        ],
    },
    Section {
        path: "solver.apgd",
        about: "accelerated projected gradient descent",
        keys: &[
            key("metric", "in which steps are measured: contact, scalar or identity (as printed)"),
            key("restart", "drop momentum that points uphill"),
            key("shrink", "let the Lipschitz estimate shrink again; only with restart"),
        ],
    },
    Section {
        path: "solver.scip",
        about: "symmetric-cone interior point",
        keys: &[
            key("system", "how linear systems are solved: direct, iterative, or auto (by their size)"),
            key("system_tolerance", "relative residual at which an iterative solution is good enough"),
            key("system_iterations", "an iterative solution takes at most so many"),
        ],
    },
    Section {
        path: "solver.accelerated-gs",
        about: "Gauss-Seidel sweeps with momentum",
        keys: &[
            key("order", "of contacts: coloured, split (in mass, between subdomains) or serial"),
            key("restart", "drop momentum that points uphill"),
            key("borders", "bodies that several ranks hold: split (in mass) or whole"),
        ],
    },
    Section {
        path: "solver.nbgs",
        about: "non-linear block Gauss-Seidel",
        keys: &[
            key("order", "of contacts: coloured, split (in mass, between subdomains) or serial"),
            key("relaxation", "part of each one-contact solution that is taken"),
            key("borders", "bodies that several ranks hold: split (in mass) or whole"),
        ],
    },
    Section {
        path: "solver.gauss-seidel",
        about: "fixed-point iteration, contact after contact",
        keys: &[
            key("order", "of contacts: coloured, split (in mass, between subdomains) or serial"),
            key("relaxation", "length of a step"),
            key("blend", "part of the new value, the rest being of the old one"),
        ],
    },
    Section {
        path: "solver.jacobi",
        about: "fixed-point iteration, all contacts at once",
        keys: &[
            key("relaxation", "length of a step; too long a one diverges"),
            key("blend", "part of the new value, the rest being of the old one"),
        ],
    },
    Section {
        path: "contact",
        about: "gaps, penetration and bounces, as ratios",
        keys: &[
            key("margin", "gap up to which resting bodies are neighbours, in radii"),
            key("recovery", "fraction of a penetration that is removed a step"),
            key("recovery_cap", "cap of that removal, in radii a step"),
            key("restitution_threshold", "no bounce below this speed, in |gravity| * step"),
        ],
    },
    Section {
        path: "broad_phase",
        about: "search for neighbours; the result does not depend on its name",
        keys: &[
            key("name", "octree, grid or brute-force"),
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
            key("partition", "of the cell among ranks: auto, cartesian or morton"),
            optional("blocks", "[2, 2, 1]", "blocks of a cartesian partition along x, y and z"),
            key("imbalance", "largest work over mean work at which ranges are cut anew"),
            key(
                "balance_interval",
                "most steps between two looks at the balance, more often while it changes; 0 for never",
            ),
            key("work", "what counts as work: count (bodies, contacts times iterations) or time"),
        ],
    },
    Section {
        path: "output",
        about: "what a run writes down",
        keys: &[
            key("frame_interval", "simulated time between frames, s; 0 for the last state alone"),
            key("contacts", "write the contacts of each frame too"),
            key("compression", "of frames: lz4, zlib or none"),
            key("history", "write the residual of every iteration to history.csv"),
        ],
    },
    Section {
        path: "checkpoint",
        about: "when a run writes down all that it needs to go on later; always at its end",
        keys: &[
            key("steps", "steps between two checkpoints; 0 for none by steps"),
            key("seconds", "wall-clock time between two checkpoints, s; 0 for none by time"),
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
        keys: &[key("friction", "min, max, mean or geometric"), key("restitution", "min, max, mean or geometric")],
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
        path: "force",
        about: "fields on every dynamic body: central, drag or well",
        keys: &[
            key("central", "pull of a point mass: acceleration strength / distance^2, m^3/s^2"),
            key("drag", "acceleration -rate * (velocity - wind), and -rate * spin"),
            key("well", "acceleration -stiffness * (position - centre)"),
        ],
    },
    Section {
        path: "body",
        about: "single bodies",
        keys: &[
            key("shape", "sphere = { radius }, half-space = {}, container = { half_extents, open }"),
            key("position", "centre of mass at time zero, m"),
            optional("orientation", "[0.0, 0.0, 0.0, 1.0]", "quaternion [x, y, z, w]"),
            optional("normal", "[0.0, 0.0, 1.0]", "of a half-space, instead of an orientation"),
            key("velocity", "m/s"),
            key("angular_velocity", "rad/s, in the world frame"),
            key("material", MATERIAL),
            key("group", GROUP),
            key("motion", "dynamic, fixed or kinematic (as prescribed by the velocities)"),
            key("rotation", "of a dynamic body: free or locked (it never turns)"),
            optional(
                "oscillation",
                "{ amplitude = [0.0, 0.0, 0.01], frequency = 10.0, phase = 0.0 }",
                "shake of a kinematic body; m, 1/s, rad",
            ),
            optional("force", "[0.0, 0.0, 0.0]", "at the centre of mass, N"),
            optional("torque", "[0.0, 0.0, 0.0]", "N m"),
        ],
    },
    Section {
        path: "lattice",
        about: "spheres on lattices",
        keys: &[
            key("kind", "cubic, or hexagonal (close packing)"),
            key("origin", "centre of the first sphere, m"),
            key("counts", "sites along x, y and z"),
            key("spacing", "distance of neighbouring centres, m; a number, or one an axis (cubic)"),
            key("radius", RADIUS),
            key("jitter", "largest random shift along each axis, m"),
            optional("count", "1000", "use the first so many sites only, x fastest, then y"),
            key("velocity", "m/s"),
            key("velocity_jitter", VELOCITY_JITTER),
            key("material", MATERIAL),
            key("group", GROUP),
            key("motion", "dynamic, fixed or kinematic (as prescribed by the velocity)"),
        ],
    },
    Section {
        path: "fill",
        about: "boxes filled with spheres at random, none overlapping",
        keys: &[
            key("min", "lowest corner of the box, m"),
            key("max", "highest corner of the box, m"),
            key("count", "how many spheres"),
            key("radius", RADIUS),
            key("gap", "smallest gap between two spheres, m"),
            key("velocity", "m/s"),
            key("velocity_jitter", VELOCITY_JITTER),
            key("material", MATERIAL),
            key("group", GROUP),
            key("attempts", "places tried for one sphere before giving up"),
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

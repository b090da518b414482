//! The machines of the papers, and one of today. Sources are in `docs/scaling.md`.

use super::model::{Link, Machine, Reducing};

/// A machine, and the memory that its cores share.
pub(super) struct KnownMachine {
    pub(super) name: &'static str,
    pub(super) machine: Machine,
    /// Bytes a second of the triad on a whole node; `None` if its ranks shall be as fast as here.
    pub(super) triad: Option<f64>,
}

const MICRO: f64 = 1e-6;
const GB: f64 = 1e9;

/// Dual Ivy Bridge, 20 cores a node; QDR InfiniBand, a non-blocking tree (S4 7.3).
pub(super) const EMMY: KnownMachine = KnownMachine {
    name: "Emmy",
    machine: Machine {
        ranks_a_node: 20,
        inside: Link { latency: 0.6 * MICRO, overhead: 0.3 * MICRO, bandwidth: 12.0 * GB },
        between: Link { latency: 1.5 * MICRO, overhead: 0.5 * MICRO, bandwidth: 3.2 * GB },
        reducing: Reducing::Tree(2.0 * MICRO),
    },
    triad: Some(80.0 * GB),
};

/// BlueGene/Q, 64 hardware threads a node, a rank each; a torus of ten links, of which a message
/// takes three or so, and reductions in the network (S4 7.3). Messages within a node do not go by
/// memory: S4's second series.
pub(super) const JUQUEEN: KnownMachine = KnownMachine {
    name: "Juqueen",
    machine: Machine {
        ranks_a_node: 64,
        inside: Link { latency: 2.5 * MICRO, overhead: 1.5 * MICRO, bandwidth: 18.0 * GB },
        between: Link { latency: 3.0 * MICRO, overhead: 1.5 * MICRO, bandwidth: 6.0 * GB },
        reducing: Reducing::Flat(10.25 * MICRO),
    },
    triad: Some(28.0 * GB),
};

/// Dual Haswell, of which S1 took 8 cores a node.
pub(super) const FLUX: KnownMachine =
    KnownMachine { name: "Flux", machine: Machine { ranks_a_node: 8, ..EMMY.machine }, triad: None };

/// Dual Skylake, of which S1 took 4 cores a node; HDR100 InfiniBand.
pub(super) const GREAT_LAKES: KnownMachine = KnownMachine {
    name: "Great Lakes",
    machine: Machine {
        ranks_a_node: 4,
        inside: Link { latency: 0.4 * MICRO, overhead: 0.2 * MICRO, bandwidth: 20.0 * GB },
        between: Link { latency: 1.2 * MICRO, overhead: 0.3 * MICRO, bandwidth: 11.0 * GB },
        reducing: Reducing::Tree(1.5 * MICRO),
    },
    triad: None,
};

/// A machine of today with a million cores: 128 a node, one adapter of 200 Gbit/s.
pub(super) const TODAY: KnownMachine = KnownMachine {
    name: "a million cores",
    machine: Machine {
        ranks_a_node: 128,
        inside: Link { latency: 0.4 * MICRO, overhead: 0.2 * MICRO, bandwidth: 50.0 * GB },
        between: Link { latency: 2.0 * MICRO, overhead: 0.3 * MICRO, bandwidth: 22.0 * GB },
        reducing: Reducing::Tree(2.0 * MICRO),
    },
    triad: None,
};

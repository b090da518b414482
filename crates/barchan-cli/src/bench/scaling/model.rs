//! How long a step takes on many ranks of another machine: a model of a few lines.
//!
//! t = bodies·c_b + sweeps·contacts·c_c + Σ exchanges + Σ reductions, for the busiest rank of a node
//! in the middle. An exchange with n neighbours takes
//!
//! latency + n·overhead + (bytes that leave the node)/(its bandwidth) + (bytes that stay)/(memory),
//!
//! because all ranks of a node send at once, through one adapter. A reduction takes a latency for
//! each level of a tree over the ranks, or what the machine's own network takes. Nothing overlaps
//! with anything. `docs/scaling.md` has the inputs and what is left out.

/// What a step computes on a rank, in seconds a unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    /// Of a body and step, sweeps left out.
    pub(super) body: f64,
    /// Of a contact and sweep.
    pub(super) contact: f64,
}

impl Costs {
    /// The same on a machine that is slower by a factor.
    pub(super) fn slower(self, factor: f64) -> Self {
        Self { body: factor * self.body, contact: factor * self.contact }
    }
}

/// What ranks say to each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Protocol {
    /// Exchanges with all neighbours a step, sweeps left out, and a sweep.
    pub(super) exchanges: [f64; 2],
    /// Bytes that a rank sends a copy that it holds: a step, and a sweep.
    pub(super) bytes: [f64; 2],
    /// Reductions over all ranks: a step, and a sweep.
    pub(super) reductions: [f64; 2],
}

/// Messages over one kind of link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    /// Seconds from rank to rank.
    pub(super) latency: f64,
    /// Seconds that a rank spends on each message, sending and receiving it.
    pub(super) overhead: f64,
    /// Bytes a second of all ranks of a node together.
    pub(super) bandwidth: f64,
}

/// What a reduction over all ranks takes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reducing {
    /// So many seconds for each level of a binary tree.
    Tree(f64),
    /// So many seconds, by a network made for it.
    Flat(f64),
}

impl Reducing {
    fn seconds(self, ranks: f64) -> f64 {
        match self {
            _ if ranks <= 1.0 => 0.0,
            Self::Tree(level) => ranks.log2().ceil() * level,
            Self::Flat(seconds) => seconds,
        }
    }
}

/// A machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Machine {
    pub(super) ranks_a_node: u32,
    /// Between ranks of a node.
    pub(super) inside: Link,
    /// Between nodes.
    pub(super) between: Link,
    pub(super) reducing: Reducing,
}

/// Ranks in blocks, and what a rank has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// Along each axis. Nodes take ranks in order, the last axis first (S4 7.5.1).
    pub(super) ranks: [u32; 3],
    pub(super) periodic: [bool; 3],
    /// Bodies of a rank along each axis.
    pub(super) block: [f64; 3],
    pub(super) contacts_a_body: f64,
    pub(super) sweeps: f64,
    /// How far copies reach beyond a border, in distances between bodies.
    pub(super) depth: f64,
}

/// What a node in the middle says in an exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Talk {
    /// Neighbours of the busiest rank.
    pub(super) neighbours: f64,
    /// Copies of the ranks of the node whose owners are on other nodes, and on the same.
    pub(super) leaving: f64,
    pub(super) staying: f64,
}

/// Seconds of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Time {
    pub(super) compute: f64,
    pub(super) neighbours: f64,
    pub(super) reductions: f64,
}

impl Time {
    pub(super) fn total(&self) -> f64 {
        self.compute + self.talk()
    }

    /// All that is not computing.
    pub(super) fn talk(&self) -> f64 {
        self.neighbours + self.reductions
    }
}

impl Layout {
    pub(super) fn all_ranks(&self) -> f64 {
        self.ranks.iter().map(|&n| f64::from(n)).product()
    }

    pub(super) fn bodies(&self) -> f64 {
        self.block.iter().product()
    }

    /// The place of a rank along each axis.
    fn place(&self, rank: u64) -> [i64; 3] {
        let [_, y, z] = self.ranks.map(u64::from);
        [rank / (y * z), rank / z % y, rank % z].map(|n| n as i64)
    }

    /// The rank some places away, if there is one.
    fn next(&self, place: [i64; 3], way: [i64; 3]) -> Option<u64> {
        let mut rank = 0;
        for axis in 0..3 {
            let n = i64::from(self.ranks[axis]);
            let x = place[axis] + way[axis];
            if !self.periodic[axis] && !(0..n).contains(&x) {
                return None;
            }
            rank = rank * n as u64 + x.rem_euclid(n) as u64;
        }
        Some(rank)
    }

    /// What a node in the middle has to say.
    pub(super) fn talk(&self, ranks_a_node: u32) -> Talk {
        let all = self.all_ranks() as u64;
        let each = u64::from(ranks_a_node);
        let middle = self.next(self.ranks.map(|n| i64::from(n / 2)), [0; 3]).unwrap_or(0);
        let first = middle / each * each;
        let node = first..(first + each).min(all);
        let mut talk = Talk::default();
        for rank in node.clone() {
            let place = self.place(rank);
            let mut others = Vec::with_capacity(26);
            for way in (0..27).map(|k: i64| [k / 9 - 1, k / 3 % 3 - 1, k % 3 - 1]).filter(|way| *way != [0; 3]) {
                let Some(other) = self.next(place, way).filter(|other| *other != rank) else { continue };
                let copies: f64 =
                    (0..3).map(|axis| if way[axis] == 0 { self.block[axis] } else { self.depth }).product();
                *if node.contains(&other) { &mut talk.staying } else { &mut talk.leaving } += copies;
                others.push(other);
            }
            others.sort_unstable();
            others.dedup();
            talk.neighbours = talk.neighbours.max(others.len() as f64);
        }
        talk
    }
}

impl Machine {
    /// Seconds of an exchange in which a rank sends so many bytes for each copy.
    fn exchange(&self, talk: &Talk, bytes: f64) -> f64 {
        if talk.neighbours == 0.0 {
            return 0.0;
        }
        let link = if talk.leaving > 0.0 { &self.between } else { &self.inside };
        link.latency
            + talk.neighbours * link.overhead
            + talk.leaving * bytes / self.between.bandwidth
            + talk.staying * bytes / self.inside.bandwidth
    }

    /// Seconds of a step.
    pub(super) fn step(&self, layout: &Layout, costs: &Costs, protocol: &Protocol) -> Time {
        let talk = layout.talk(self.ranks_a_node);
        let bodies = layout.bodies();
        let exchanges = |k: usize| {
            let count = protocol.exchanges[k];
            if count > 0.0 { count * self.exchange(&talk, protocol.bytes[k] / count) } else { 0.0 }
        };
        let reductions = protocol.reductions[0] + layout.sweeps * protocol.reductions[1];
        Time {
            compute: bodies * (costs.body + layout.sweeps * layout.contacts_a_body * costs.contact),
            neighbours: exchanges(0) + layout.sweeps * exchanges(1),
            reductions: reductions * self.reducing.seconds(layout.all_ranks()),
        }
    }
}

/// The part of a weakly scaled step that is not lost (S4 7.1), or of a strongly scaled one whose
/// ranks have `share` of the bodies that they have in the base.
pub(super) fn efficiency(base: &Time, share: f64, step: &Time) -> f64 {
    share * base.total() / step.total()
}

/// Seconds of computing with which talk makes a weakly scaled run as efficient as it was measured:
/// e = (c + t₁)/(c + t_P). `None` if no computing does.
pub(super) fn calibrate(base: &Time, step: &Time, efficiency: f64) -> Option<f64> {
    let compute = (efficiency * step.talk() - base.talk()) / (1.0 - efficiency);
    (efficiency < 1.0 && compute > 0.0).then_some(compute)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COSTS: Costs = Costs { body: 1e-6, contact: 1e-7 };
    const PROTOCOL: Protocol = Protocol { exchanges: [1.0, 2.0], bytes: [200.0, 96.0], reductions: [5.0, 1.0] };
    const MACHINE: Machine = Machine {
        ranks_a_node: 16,
        inside: Link { latency: 5e-7, overhead: 2e-7, bandwidth: 1e10 },
        between: Link { latency: 2e-6, overhead: 5e-7, bandwidth: 4e9 },
        reducing: Reducing::Tree(2e-6),
    };
    /// Messages that cost nothing.
    const IDEAL: Machine = {
        let free = Link { latency: 0.0, overhead: 0.0, bandwidth: f64::INFINITY };
        Machine { inside: free, between: free, reducing: Reducing::Tree(0.0), ..MACHINE }
    };

    fn layout(ranks: [u32; 3], side: f64) -> Layout {
        let periodic = [false; 3];
        let block = [side; 3];
        Layout { ranks, periodic, block, contacts_a_body: 2.0, sweeps: 10.0, depth: 0.5 }
    }

    #[test]
    fn without_costs_of_messages_nothing_is_lost() {
        let base = IDEAL.step(&layout([4, 2, 2], 10.0), &COSTS, &PROTOCOL);
        let many = IDEAL.step(&layout([100; 3], 10.0), &COSTS, &PROTOCOL);
        assert_eq!(efficiency(&base, 1.0, &many), 1.0);
        let eighth = IDEAL.step(&layout([8, 4, 4], 5.0), &COSTS, &PROTOCOL);
        assert!((efficiency(&base, 0.125, &eighth) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn one_rank_only_computes() {
        let time = MACHINE.step(&layout([1; 3], 10.0), &COSTS, &PROTOCOL);
        assert_eq!(time, Time { compute: 1000.0 * (1e-6 + 10.0 * 2.0 * 1e-7), ..Time::default() });
    }

    #[test]
    fn neighbours_are_counted_by_hand() {
        let neighbours = |ranks, periodic| Layout { periodic, ..layout(ranks, 10.0) }.talk(1).neighbours;
        assert_eq!(neighbours([5; 3], [false; 3]), 26.0);
        assert_eq!(neighbours([2; 3], [false; 3]), 7.0);
        // The same rank on both sides is one neighbour.
        assert_eq!(neighbours([2; 3], [true; 3]), 7.0);
        assert_eq!(neighbours([9, 1, 1], [false; 3]), 2.0);
        assert_eq!(neighbours([9, 9, 1], [true, true, false]), 8.0);
    }

    #[test]
    fn copies_fill_the_shell_of_a_block() {
        let talk = layout([9; 3], 10.0).talk(1);
        assert!((talk.leaving - (11.0f64.powi(3) - 1000.0)).abs() < 1e-9, "{talk:?}");
        // A column of ranks on a node: what goes up and down stays there, except at its ends.
        let talk = layout([9, 9, 16], 10.0).talk(16);
        assert!((talk.staying - 30.0 * 50.0).abs() < 1e-9, "{talk:?}");
        assert_eq!(talk.neighbours, 26.0);
        // A node that is the whole machine has nobody to talk to outside.
        assert_eq!(layout([4, 2, 2], 10.0).talk(16).leaving, 0.0);
    }

    #[test]
    fn weak_scaling_is_flat_but_for_reductions() {
        let step = |n| MACHINE.step(&layout([n; 3], 10.0), &COSTS, &PROTOCOL);
        let few = step(64);
        let many = step(128);
        assert_eq!((few.compute, few.neighbours), (many.compute, many.neighbours));
        // 18 levels, 21 levels.
        assert!((many.reductions / few.reductions - 21.0 / 18.0).abs() < 1e-12);
        let flat = Machine { reducing: Reducing::Flat(1e-5), ..MACHINE };
        assert!((flat.step(&layout([128; 3], 10.0), &COSTS, &PROTOCOL).reductions - 15e-5).abs() < 1e-15);
    }

    #[test]
    fn a_slow_network_leaves_little_of_small_blocks() {
        let base = MACHINE.step(&layout([4, 2, 2], 40.0), &COSTS, &PROTOCOL);
        let of = |ranks: u32, side: f64| {
            let share = (side / 40.0).powi(3);
            efficiency(&base, share, &MACHINE.step(&layout([4 * ranks, 2 * ranks, 2 * ranks], side), &COSTS, &PROTOCOL))
        };
        let steps = [of(2, 20.0), of(4, 10.0), of(8, 5.0)];
        assert!(steps.is_sorted_by(|a, b| a > b) && steps[0] < 1.0 && steps[2] < 0.5, "{steps:?}");
    }

    #[test]
    fn calibration_gives_back_what_was_measured() {
        let time = |ranks, compute| Time { compute, ..MACHINE.step(&layout(ranks, 10.0), &COSTS, &PROTOCOL) };
        let base = time([4, 2, 2], 0.0);
        let many = time([64; 3], 0.0);
        let compute = calibrate(&base, &many, 0.8).unwrap();
        assert!((efficiency(&time([4, 2, 2], compute), 1.0, &time([64; 3], compute)) - 0.8).abs() < 1e-12);
        // Talk alone cannot lose as much as that.
        assert_eq!(calibrate(&base, &many, 0.01), None);
        assert_eq!(calibrate(&base, &many, 1.0), None);
    }
}

//! Domains that reach beyond a part: the matrix of the bodies that a part answers for, with some
//! layers of their neighbours, whoever answers for those.
//!
//! As the interior point closes in, contacts that stick make stiff networks, and a preconditioner
//! that ends at the border of a part cuts them (`schwarz`). So each part learns the matrix beyond
//! its border, layer by layer. The part that answers for a body collects its row from all that treat
//! contacts of it. Then rows travel: in round m a body's row goes to each part that answers for a
//! body m contacts away. Both ends of such a way see the other by then, so nobody has to ask, and
//! nobody knows more than its surroundings.
//!
//! A body is named by the part that answers for it and its place in that part's system. The block
//! between two bodies is kept by the part that answers for the one with the smaller name. Bodies that
//! all parts hold are neighbours of everybody; layers do not grow through them.

use super::blocks::{Block, Pattern, Values};
use super::body_side::BodySide;
use super::copies::Copies;
use super::schwarz::LAYERS;
use crate::ProblemCommunicator;
use std::collections::{BTreeMap, BTreeSet};

/// Numbers a body.
const B: usize = 6;
/// Layers grow on while the smallest domain has fewer bodies than this, and there are more to have.
/// On a bed of 2 500 spheres and eight ranks, twice as many save two thirds of the iterations, but
/// each of them takes so much longer that, on two cores, nothing was gained.
const SMALL: usize = 512;
/// Layers at most: each is a round of messages to find.
const MOST_LAYERS: usize = 8;

/// The part that answers for a body, and the body's place there.
type Name = [u32; 2];
/// Which bodies are coupled, as far as this part knows.
type Graph = BTreeMap<Name, BTreeSet<Name>>;

/// A block of this part's matrix that goes somewhere: which, and whether as its transpose.
#[derive(Clone, Copy, Debug)]
struct Origin {
    block: usize,
    is_turned: bool,
}

/// What goes to and fro between this part and another.
#[derive(Debug, Default)]
struct Loan {
    /// Own nodes of the domain that are in the other's domain too.
    lent: Vec<u32>,
    /// Nodes of the domain that the other answers for.
    borrowed: Vec<u32>,
    /// Blocks that come with their rows.
    blocks: usize,
}

/// The domain of a part.
#[derive(Debug, Default)]
pub(crate) struct Overlap {
    /// Places of the bodies that this part answers for: the first nodes of the domain.
    own: Vec<usize>,
    /// How many layers of others surround them.
    pub(crate) layers: usize,
    pub(crate) pattern: Pattern,
    pub(crate) values: Values<B>,
    /// Parts that treat contacts of own bodies or answer for bodies of own contacts.
    partners: Vec<u32>,
    /// Blocks that this part has computed and keeps, and where in the store.
    kept: Vec<(Origin, usize)>,
    /// Those that it has computed for each partner, and where what partners compute belongs.
    sent: Vec<Vec<Origin>>,
    received: Vec<Vec<usize>>,
    /// For each own node its blocks in the store.
    rows: Vec<std::ops::Range<usize>>,
    /// Parts with overlapping domains.
    parts: Vec<u32>,
    loans: Vec<Loan>,
    /// All blocks that the domain is made from: those this part keeps, then what others lend.
    store: Vec<Block<B>>,
    kept_blocks: usize,
    /// Where in the store the diagonal of each borrowed node and each block of the pattern is.
    diagonal_source: Vec<usize>,
    below_source: Vec<Origin>,
    r: Vec<f64>,
    z: Vec<f64>,
    messages: Messages,
}

/// Messages of one exchange.
#[derive(Debug, Default)]
struct Messages {
    outgoing: Vec<Vec<f64>>,
    incoming: Vec<Vec<f64>>,
}

impl Messages {
    /// So many empty messages, to be filled.
    fn begin(&mut self, count: usize) -> &mut [Vec<f64>] {
        for messages in [&mut self.outgoing, &mut self.incoming] {
            messages.resize_with(count, Vec::new);
        }
        self.outgoing.iter_mut().for_each(Vec::clear);
        &mut self.outgoing
    }

    /// Sends them, and returns what came.
    fn exchange(&mut self, parts: &[u32], comm: &mut dyn ProblemCommunicator) -> &[Vec<f64>] {
        comm.exchange(parts, &self.outgoing, &mut self.incoming);
        &self.incoming
    }
}

impl Overlap {
    /// How many bodies of the domain this part answers for.
    pub(crate) fn own(&self) -> usize {
        self.own.len()
    }

    /// Finds the domain of a system.
    pub(crate) fn find(&mut self, side: &BodySide, copies: &mut Copies, comm: &mut dyn ProblemCommunicator) {
        let me = comm.part();
        let names = names(me, side, copies, comm);
        self.own = (0..names.len()).filter(|&place| names[place][0] == me).collect();
        let (edges, mut graph) = self.collect_rows(me, &names, side, copies, comm);
        let borrowed = self.grow(me, &edges, &mut graph, comm);
        self.shape(me, &edges, &graph, &borrowed);
    }

    /// Brings the couplings of own bodies together. Returns those that this part keeps, ascending,
    /// and all of them.
    fn collect_rows(
        &mut self,
        me: u32,
        names: &[Name],
        side: &BodySide,
        copies: &Copies,
        comm: &mut dyn ProblemCommunicator,
    ) -> (Vec<[Name; 2]>, Graph) {
        self.partners = comm.partners().to_vec();
        let of_partner = |part: u32| self.partners.binary_search(&part).ok();
        let is_global = copies.global(comm, names.len());
        let outgoing = self.messages.begin(self.partners.len());
        self.sent = vec![Vec::new(); self.partners.len()];
        let mut own = Vec::new();
        for j in (0..names.len()).filter(|&j| !is_global[j]) {
            for block in side.pattern.column(j) {
                let i = side.pattern.row[block] as usize;
                if is_global[i] {
                    continue;
                }
                let is_turned = names[i] < names[j];
                let edge = if is_turned { [names[i], names[j]] } else { [names[j], names[i]] };
                let origin = Origin { block, is_turned };
                own.push((edge, origin));
                if let Some(k) = of_partner(edge[0][0]) {
                    self.sent[k].push(origin);
                }
                let mut parts = edge.map(|name| name[0]).to_vec();
                parts.dedup();
                for k in parts.into_iter().filter_map(of_partner) {
                    outgoing[k].extend(edge.as_flattened().iter().map(|&x| f64::from(x)));
                }
            }
        }
        let incoming = self.messages.exchange(&self.partners, comm);
        let read = |message: &Vec<f64>| -> Vec<[Name; 2]> {
            let name = |x: &[f64]| [x[0] as u32, x[1] as u32];
            message.chunks_exact(4).map(|x| [name(&x[..2]), name(&x[2..])]).collect()
        };
        let theirs: Vec<Vec<[Name; 2]>> = incoming.iter().map(read).collect();

        let mut graph = Graph::new();
        for &[a, b] in own.iter().map(|x| &x.0).chain(theirs.iter().flatten()) {
            if a[0] == me || b[0] == me {
                couple(&mut graph, a, b);
            }
        }
        let all = own.iter().map(|x| x.0).chain(theirs.iter().flatten().copied());
        let mut edges: Vec<[Name; 2]> = all.filter(|edge| edge[0][0] == me).collect();
        edges.sort_unstable();
        edges.dedup();
        let place = |edge: &[Name; 2]| edges.binary_search(edge).ok();
        self.kept = own.iter().filter_map(|(edge, origin)| Some((*origin, place(edge)?))).collect();
        self.received = theirs.iter().map(|edges| edges.iter().filter_map(place).collect()).collect();
        (edges, graph)
    }

    /// Lets rows travel, a layer a round. After it: loans are listed by names. Returns the bodies of
    /// others in the domain.
    fn grow(
        &mut self,
        me: u32,
        edges: &[[Name; 2]],
        graph: &mut Graph,
        comm: &mut dyn ProblemCommunicator,
    ) -> BTreeMap<u32, BTreeSet<Name>> {
        let nodes: BTreeMap<u32, u32> = (0..).zip(&self.own).map(|(node, &place)| (place as u32, node)).collect();
        let mut lent: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        let mut borrowed: BTreeMap<u32, BTreeSet<Name>> = BTreeMap::new();
        self.layers = 0;
        loop {
            self.layers += 1;
            let near = parts_near(graph, self.layers);
            let mine = || near.iter().filter(|(name, _)| name[0] == me);
            let parts: BTreeSet<u32> = mine().flat_map(|x| x.1).copied().filter(|&part| part != me).collect();
            self.parts = parts.into_iter().collect();
            let outgoing = self.messages.begin(self.parts.len());
            for (name, around) in mine() {
                for &part in around.iter().filter(|part| **part != me) {
                    if !lent.entry(part).or_default().insert(nodes[&name[1]]) {
                        continue;
                    }
                    if let Ok(k) = self.parts.binary_search(&part) {
                        let row = &graph[name];
                        outgoing[k].extend([f64::from(name[1]), row.len() as f64]);
                        outgoing[k].extend(row.iter().flatten().map(|&x| f64::from(x)));
                    }
                }
            }
            let incoming = self.messages.exchange(&self.parts, comm);
            let mut news = 0;
            for (&part, message) in self.parts.iter().zip(incoming) {
                let mut rest = &message[..];
                while let [place, count, row @ ..] = rest {
                    let (name, length) = ([part, *place as u32], (2 * *count as usize).min(row.len()));
                    borrowed.entry(part).or_default().insert(name);
                    for other in row[..length].chunks_exact(2) {
                        couple(graph, name, [other[0] as u32, other[1] as u32]);
                    }
                    (rest, news) = (&row[length..], news + 1);
                }
            }
            let size = self.own.len() + borrowed.values().map(BTreeSet::len).sum::<usize>();
            // Who answers for no body has no domain to grow.
            let mut smallest = [if self.own.is_empty() { f64::MIN } else { -(size as f64) }];
            let mut news = [f64::from(news)];
            comm.reduce(&mut news, &mut smallest);
            let is_large = self.layers >= LAYERS && -smallest[0] >= SMALL as f64;
            if is_large || news[0] == 0.0 || self.layers == MOST_LAYERS {
                break;
            }
        }
        self.parts = lent.keys().copied().collect();
        self.loans =
            lent.into_values().map(|lent| Loan { lent: lent.into_iter().collect(), ..Loan::default() }).collect();
        // An own row holds the blocks of which it is the first.
        self.rows.clear();
        self.rows.extend(self.own.iter().map(|&place| {
            let name = [me, place as u32];
            edges.partition_point(|edge| edge[0] < name)..edges.partition_point(|edge| edge[0] <= name)
        }));
        borrowed
    }

    /// Lists nodes, pattern, and where values will come from.
    fn shape(&mut self, me: u32, edges: &[[Name; 2]], graph: &Graph, borrowed: &BTreeMap<u32, BTreeSet<Name>>) {
        let own = self.own.iter().map(|&place| [me, place as u32]);
        let names: Vec<Name> = own.chain(borrowed.values().flatten().copied()).collect();
        let node: BTreeMap<Name, u32> = names.iter().copied().zip(0..).collect();
        self.kept_blocks = edges.len();
        self.diagonal_source.clear();
        let mut found: Vec<([u32; 2], Origin)> = Vec::new();
        let mut add = |a: Name, b: Name, block: usize| {
            if let (Some(&a), Some(&b)) = (node.get(&a), node.get(&b)) {
                found.push(([a.min(b), a.max(b)], Origin { block, is_turned: b < a }));
            }
        };
        edges.iter().enumerate().for_each(|(k, &[a, b])| add(a, b, k));
        let mut next = edges.len();
        for (part, loan) in self.parts.iter().zip(&mut self.loans) {
            let start = next;
            for name in borrowed.get(part).into_iter().flatten() {
                loan.borrowed.push(node[name]);
                self.diagonal_source.push(next);
                next += 1;
                for &other in graph[name].iter().filter(|other| *other > name) {
                    add(*name, other, next);
                    next += 1;
                }
            }
            loan.blocks = next - start;
        }
        found.sort_unstable_by_key(|x| x.0);
        self.pattern = Pattern::from_sorted(names.len(), found.iter().map(|x| x.0));
        self.below_source = found.into_iter().map(|x| x.1).collect();
    }

    /// Takes the values of the system. Says whether everything came that should.
    pub(crate) fn fill(
        &mut self,
        side: &mut BodySide,
        copies: &mut Copies,
        comm: &mut dyn ProblemCommunicator,
    ) -> bool {
        self.store.clear();
        self.store.resize(self.kept_blocks, [[0.0; B]; B]);
        for (out, origins) in self.messages.begin(self.partners.len()).iter_mut().zip(&self.sent) {
            origins.iter().for_each(|origin| out.extend(origin.of(&side.values.below).as_flattened()));
        }
        let incoming = self.messages.exchange(&self.partners, comm);
        for (origin, place) in &self.kept {
            add(&mut self.store[*place], &origin.of(&side.values.below));
        }
        let mut is_whole = true;
        for (message, places) in incoming.iter().zip(&self.received) {
            is_whole &= message.len() == B * B * places.len();
            blocks(message).zip(places).for_each(|(block, &place)| add(&mut self.store[place], &block));
        }

        // Bodies of own contacts know only what those do to them; the sum is known to all holders.
        let own_part = copies.sum_diagonal(comm, &mut side.values.diagonal);
        self.values.diagonal.clear();
        self.values.diagonal.extend(self.own.iter().map(|&place| side.values.diagonal[place]));
        copies.restore_diagonal(&own_part, &mut side.values.diagonal);
        for (out, loan) in self.messages.begin(self.parts.len()).iter_mut().zip(&self.loans) {
            for &node in &loan.lent {
                out.extend(self.values.diagonal[node as usize].as_flattened());
                out.extend(self.store[self.rows[node as usize].clone()].as_flattened().as_flattened());
            }
        }
        let incoming = self.messages.exchange(&self.parts, comm);
        for (message, loan) in incoming.iter().zip(&self.loans) {
            is_whole &= message.len() == B * B * loan.blocks;
            self.store.extend(blocks(message));
        }
        if is_whole {
            self.values.diagonal.extend(self.diagonal_source.iter().map(|&place| self.store[place]));
            self.values.below.clear();
            self.values.below.extend(self.below_source.iter().map(|origin| origin.of(&self.store)));
        }
        is_whole
    }

    /// z ← the sum over all domains of what `solve` makes of r there.
    pub(crate) fn apply(
        &mut self,
        copies: &mut Copies,
        comm: &mut dyn ProblemCommunicator,
        r: &[f64],
        z: &mut [f64],
        solve: impl FnOnce(&[f64], &mut [f64]),
    ) {
        let mut inside = std::mem::take(&mut self.r);
        inside.clear();
        self.own.iter().for_each(|&place| inside.extend_from_slice(&r[B * place..][..B]));
        for (out, loan) in self.messages.begin(self.parts.len()).iter_mut().zip(&self.loans) {
            loan.lent.iter().for_each(|&node| out.extend_from_slice(&inside[B * node as usize..][..B]));
        }
        let incoming = self.messages.exchange(&self.parts, comm);
        incoming.iter().for_each(|message| inside.extend_from_slice(message));

        let mut solution = std::mem::take(&mut self.z);
        solution.resize(inside.len(), 0.0);
        solve(&inside, &mut solution);
        for (out, loan) in self.messages.begin(self.parts.len()).iter_mut().zip(&self.loans) {
            loan.borrowed.iter().for_each(|&node| out.extend_from_slice(&solution[B * node as usize..][..B]));
        }
        let incoming = self.messages.exchange(&self.parts, comm);
        for (message, loan) in incoming.iter().zip(&self.loans) {
            for (value, &node) in message.chunks_exact(B).zip(&loan.lent) {
                let sum = &mut solution[B * node as usize..][..B];
                sum.iter_mut().zip(value).for_each(|(sum, x)| *sum += x);
            }
        }
        z.fill(0.0);
        for (&place, own) in self.own.iter().zip(solution.chunks_exact(B)) {
            z[B * place..][..B].copy_from_slice(own);
        }
        copies.spread(comm, z);
        (self.r, self.z) = (inside, solution);
    }
}

impl Origin {
    /// The block, turned as it should be.
    fn of(&self, all: &[Block<B>]) -> Block<B> {
        let block = &all[self.block];
        if self.is_turned { std::array::from_fn(|c| std::array::from_fn(|r| block[r][c])) } else { *block }
    }
}

/// The names of all places of a system.
fn names(me: u32, side: &BodySide, copies: &mut Copies, comm: &mut dyn ProblemCommunicator) -> Vec<Name> {
    let places = side.size() / B;
    let mut told = vec![0.0; B * places];
    for (place, told) in told.chunks_exact_mut(B).enumerate() {
        (told[0], told[1]) = (f64::from(me), place as f64);
    }
    copies.spread(comm, &mut told);
    told.chunks_exact(B).map(|told| [told[0] as u32, told[1] as u32]).collect()
}

fn couple(graph: &mut Graph, a: Name, b: Name) {
    graph.entry(a).or_default().insert(b);
    graph.entry(b).or_default().insert(a);
}

/// For each body the parts that answer for one that is at most so many contacts away; ascending.
fn parts_near(graph: &Graph, layers: usize) -> BTreeMap<Name, Vec<u32>> {
    let mut near: BTreeMap<Name, Vec<u32>> = graph.keys().map(|&name| (name, vec![name[0]])).collect();
    for _ in 0..layers {
        near = graph
            .iter()
            .map(|(&name, others)| {
                let mut parts = near[&name].clone();
                others.iter().for_each(|other| parts.extend(&near[other]));
                parts.sort_unstable();
                parts.dedup();
                (name, parts)
            })
            .collect();
    }
    near
}

fn add(sum: &mut Block<B>, block: &Block<B>) {
    sum.as_flattened_mut().iter_mut().zip(block.as_flattened()).for_each(|(a, b)| *a += b);
}

/// The blocks of a message.
fn blocks(message: &[f64]) -> impl Iterator<Item = Block<B>> {
    message.chunks_exact(B * B).map(|x| std::array::from_fn(|c| std::array::from_fn(|r| x[B * c + r])))
}

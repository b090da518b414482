//! Vectors of the side of the bodies where the problem is spread over ranks.
//!
//! Every part has the whole of its own bodies and a copy of those it shares. A vector is the same on
//! all copies of a body; what parts contribute to one is summed over them.

use super::blocks::Block;
use super::body_side::BodySide;
use crate::ProblemCommunicator;

/// Numbers a body.
const B: usize = 6;

/// The shared bodies of a system.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    /// For each shared body its place in the system, if it is there.
    places: Vec<Option<usize>>,
    /// For each place whether this part answers for it.
    is_counted: Vec<bool>,
    values: Vec<[f64; B]>,
}

impl Copies {
    /// Lists the shared bodies of a system.
    pub(crate) fn list(&mut self, side: &BodySide, comm: Option<&dyn ProblemCommunicator>) {
        self.places.clear();
        self.is_counted.clear();
        self.is_counted.resize(side.size() / B, true);
        let Some(comm) = comm else { return };
        self.places.extend(comm.shared().iter().map(|&body| side.place(body)));
        for (place, &mine) in self.places.iter().zip(comm.is_owned()) {
            if let Some(place) = place {
                self.is_counted[*place] = mine;
            }
        }
    }

    /// Replaces what `read` finds at shared bodies by its sum over copies, through `write`.
    fn exchange(
        &mut self,
        comm: &mut dyn ProblemCommunicator,
        z: &mut [f64],
        read: impl Fn(usize, &[f64]) -> f64,
        write: impl Fn(usize, f64) -> f64,
    ) {
        self.values.clear();
        self.values.extend(self.places.iter().map(|place| match place {
            Some(place) => std::array::from_fn(|k| read(B * place + k, z)),
            None => [0.0; B],
        }));
        comm.sum_copies(&mut self.values);
        for (place, value) in self.places.iter().zip(&self.values) {
            if let Some(place) = place {
                (0..B).for_each(|k| z[B * place + k] = write(B * place + k, value[k]));
            }
        }
    }

    /// z ← the sum over copies.
    pub(crate) fn sum(&mut self, comm: &mut dyn ProblemCommunicator, z: &mut [f64]) {
        self.exchange(comm, z, |k, z| z[k], |_, sum| sum);
    }

    /// Replaces what is at copies by what the part that answers for the body has.
    pub(crate) fn spread(&mut self, comm: &mut dyn ProblemCommunicator, z: &mut [f64]) {
        for (z, _) in z.chunks_exact_mut(B).zip(&self.is_counted).filter(|x| !x.1) {
            z.fill(0.0);
        }
        self.sum(comm, z);
    }

    /// For each place of a system whether all parts hold the body.
    pub(crate) fn global(&self, comm: &dyn ProblemCommunicator, places: usize) -> Vec<bool> {
        let mut is_global = vec![false; places];
        for place in comm.global().iter().filter_map(|&k| self.places[k as usize]) {
            is_global[place] = true;
        }
        is_global
    }

    /// y ← x + Σ(y − x): the sum of all but the identity, which every part has.
    pub(crate) fn sum_beyond_identity(&mut self, comm: &mut dyn ProblemCommunicator, x: &[f64], y: &mut [f64]) {
        self.exchange(comm, y, |k, y| y[k] - x[k], |k, sum| x[k] + sum);
    }

    /// Sums the diagonal blocks of shared bodies over copies, for a preconditioner that knows how
    /// firmly other ranks hold them. Returns this part's own, to be put back.
    pub(crate) fn sum_diagonal(
        &mut self,
        comm: &mut dyn ProblemCommunicator,
        diagonal: &mut [Block<B>],
    ) -> Vec<Block<B>> {
        let own: Vec<Block<B>> = self.places.iter().flatten().map(|&place| diagonal[place]).collect();
        (0..B).for_each(|column| {
            let one = |k: usize| f64::from(u8::from(k == column));
            self.values.clear();
            self.values.extend(self.places.iter().map(|place| match place {
                Some(place) => std::array::from_fn(|k| diagonal[*place][column][k] - one(k)),
                None => [0.0; B],
            }));
            comm.sum_copies(&mut self.values);
            for (place, value) in self.places.iter().zip(&self.values) {
                if let Some(place) = place {
                    diagonal[*place][column] = std::array::from_fn(|k| value[k] + one(k));
                }
            }
        });
        own
    }

    /// Puts back what [`Copies::sum_diagonal`] returned.
    pub(crate) fn restore_diagonal(&self, own: &[Block<B>], diagonal: &mut [Block<B>]) {
        for (&place, own) in self.places.iter().flatten().zip(own) {
            diagonal[place] = *own;
        }
    }

    /// The scalar product over all parts, each body once.
    pub(crate) fn dot(&self, comm: &mut dyn ProblemCommunicator, a: &[f64], b: &[f64]) -> f64 {
        let bodies = a.chunks_exact(B).zip(b.chunks_exact(B)).zip(&self.is_counted).filter(|x| *x.1);
        let mut total = [bodies.flat_map(|((a, b), _)| a.iter().zip(b)).map(|(a, b)| a * b).sum()];
        comm.reduce(&mut total, &mut []);
        total[0]
    }
}

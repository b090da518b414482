//! What the parts of a problem that is spread over ranks have to agree on.
//!
//! Every part has the contacts that its rank treats, and its own copy of each body that they act on.
//! Sums over contacts are sums over parts. The response of a body is the sum of what its contacts on
//! all parts do to it (S4 6.3). That is all that most solvers need of other ranks, and they do not see
//! even that: it stays behind the operations of [`crate::ConeProblem`]. Linear systems are better
//! solved where parts know the matrix beyond their border too, so parts can send each other numbers.

use crate::operator::contactwise::Sums;
use crate::operator::kernels::Twist;
use barchan_parallel::reshape;

/// One part's communicator. Every part makes the same calls in the same order.
pub trait ProblemCommunicator {
    /// The bodies of this part that others have copies of, ascending.
    fn shared(&self) -> &[u32];

    /// Of those, which this part answers for in sums over bodies: each is some part's.
    fn is_owned(&self) -> &[bool];

    /// Of those, which every part has: places in the list.
    fn global(&self) -> &[u32];

    /// The number of this part.
    fn part(&self) -> u32;

    /// The parts that own bodies of which this one has copies, and those that have copies of its
    /// own; ascending.
    fn partners(&self) -> &[u32];

    /// Sends numbers to some parts, ascending, and receives theirs. Who sends to another part is
    /// sent to by it, be it nothing.
    fn exchange(&mut self, parts: &[u32], outgoing: &[Vec<f64>], incoming: &mut [Vec<f64>]);

    /// Replaces each value by its sum over all copies of the body: `values[k]` belongs to
    /// `shared()[k]`. The same bits on every part.
    fn sum_copies(&mut self, values: &mut [[f64; 6]]);

    /// Replaces numbers by their sums, and others by the largest, over all parts. The same bits on
    /// every part.
    fn reduce(&mut self, sums: &mut [f64], maxima: &mut [f64]);
}

/// The communicator of a part, or none where the problem is whole: then nothing is to be done.
pub(crate) type Comm<'a> = Option<&'a mut (dyn ProblemCommunicator + 'a)>;

/// Sums over all parts.
pub(crate) fn sum(comm: &mut Comm<'_>, values: &mut [f64]) {
    if let Some(comm) = comm {
        comm.reduce(values, &mut []);
    }
}

/// Sums over contacts become sums over the contacts of all parts. The largest violations are looked
/// up only where somebody asks.
pub(crate) fn reduce(comm: &mut Comm<'_>, sums: &mut Sums, with_maxima: bool) {
    let Some(comm) = comm else { return };
    let mut added = [sums.step, sums.uphill, sums.natural, sums.complementarity, sums.work];
    let mut largest = [sums.primal, sums.dual, sums.complementarity_max];
    comm.reduce(&mut added, if with_maxima { &mut largest } else { &mut [] });
    [sums.step, sums.uphill, sums.natural, sums.complementarity, sums.work] = added;
    [sums.primal, sums.dual, sums.complementarity_max] = largest;
}

/// Replaces the values of shared bodies by their sums over all copies. `scratch` is memory.
pub(crate) fn sum_copies(comm: &mut Comm<'_>, w: &mut [Twist], scratch: &mut Vec<Twist>) {
    let Some(comm) = comm else { return };
    reshape(scratch, comm.shared().len());
    for (value, &j) in scratch.iter_mut().zip(comm.shared()) {
        *value = w[j as usize];
    }
    comm.sum_copies(scratch);
    for (value, &j) in scratch.iter().zip(comm.shared()) {
        w[j as usize] = *value;
    }
}

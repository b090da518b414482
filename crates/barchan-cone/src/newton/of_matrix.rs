//! The second interface for problems that are given by their matrix.

use super::blocks::{Pattern, Values};
use super::contact_side::ContactSide;
use super::{Fold, NewtonOptions, NewtonProblem, Unknown, mapping};
use crate::ContactVec;
use crate::operator::block_sparse::BlockSparse;
use crate::{Assembled, ConeProblem};
use glam::DVec3;

/// Memory of Newton systems.
#[derive(Default)]
pub(crate) struct MatrixMemory {
    side: ContactSide,
    is_prepared: bool,
    folds: Vec<Fold>,
}

/// The lower half of the matrix.
fn lower(problem: &Assembled) -> (Pattern, Values<3>) {
    let m = problem.contacts();
    let mut values = Values::default();
    // Row i right of the diagonal is column i below it, transposed.
    let right = |i: usize| problem.row(i).filter(move |(k, _)| *k > i);
    let pattern = Pattern::from_sorted(m, (0..m).flat_map(|i| right(i).map(move |(k, _)| [i as u32, k as u32])));
    values.diagonal.extend((0..m).map(|i| {
        let block = problem.diagonal(i);
        ((block + block.transpose()) * 0.5).to_cols_array_2d()
    }));
    values.below.extend((0..m).flat_map(|i| right(i).map(|(_, block)| block.transpose().to_cols_array_2d())));
    (pattern, values)
}

impl NewtonProblem for BlockSparse<'_> {
    fn map<const N: usize, const M: usize>(
        &mut self,
        read: [&ContactVec; N],
        mut write: [&mut ContactVec; M],
        body: impl Fn(&Unknown, [DVec3; N], &mut [DVec3; M]) -> Fold + Sync,
    ) -> Fold {
        write.iter_mut().for_each(|out| self.shape_impulses(out));
        let mut slots = std::mem::take(&mut self.newton.folds);
        let unknown = |i: usize| {
            let (normal, tangential) = self.diagonal[i];
            Unknown::Contact { normal: DVec3::X, friction: self.problem.friction[i], scale: [normal, tangential] }
        };
        let fold = mapping::over_contacts(unknown, self.contacts(), &mut slots, read, write, body);
        self.newton.folds = slots;
        fold
    }

    fn factor(&mut self, h: [&ContactVec; 2], options: &NewtonOptions) -> bool {
        if !self.newton.is_prepared {
            let (pattern, values) = lower(self.problem);
            self.newton.side.prepare(pattern, values);
            self.newton.is_prepared = true;
        }
        self.newton.side.factor(h, options)
    }

    fn solve(&mut self, q: &ContactVec, δ: &mut ContactVec, u: &mut ContactVec) -> u32 {
        self.newton.side.solve(q, δ, u)
    }
}

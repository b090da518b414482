//! Four iterates: the last, the present, the best, and one to write the next into. Which slot plays
//! which part changes; the iterates themselves stay where they are, with their memory.

/// Iterates of a solver with momentum that keeps the best one.
pub(super) struct Pool<T> {
    slots: [T; 4],
    last: usize,
    present: usize,
    best: usize,
    /// The slot out of which the next iterate was taken.
    next: usize,
}

impl<T: Default> Default for Pool<T> {
    fn default() -> Self {
        Self { slots: Default::default(), last: 0, present: 0, best: 0, next: 0 }
    }
}

impl<T: Default> Pool<T> {
    /// Begins anew with one iterate, which is the last, the present and the best.
    pub(super) fn restart(&mut self) -> &mut T {
        self.return_to_best();
        &mut self.slots[self.best]
    }

    pub(super) fn last(&self) -> &T {
        &self.slots[self.last]
    }

    pub(super) fn present(&self) -> &T {
        &self.slots[self.present]
    }

    pub(super) fn present_mut(&mut self) -> &mut T {
        &mut self.slots[self.present]
    }

    #[cfg(test)]
    fn best(&self) -> &T {
        &self.slots[self.best]
    }

    /// Every slot, to give it the shape of a problem.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.slots.iter_mut()
    }

    /// Takes the iterate out that is none of the three. It comes back by [`Self::put_back`] or
    /// [`Self::advance`].
    pub(super) fn take_next(&mut self) -> T {
        let in_use = [self.last, self.present, self.best];
        self.next = (0..4).find(|slot| !in_use.contains(slot)).unwrap_or(0);
        std::mem::take(&mut self.slots[self.next])
    }

    /// Puts an iterate back that did not become the present one.
    pub(super) fn put_back(&mut self, next: T) {
        self.slots[self.next] = next;
    }

    /// The next iterate becomes the present one, and the present one the last.
    pub(super) fn advance(&mut self, next: T) {
        self.put_back(next);
        self.last = self.present;
        self.present = self.next;
    }

    /// The present iterate has no other before it.
    pub(super) fn forget_last(&mut self) {
        self.last = self.present;
    }

    /// The present iterate becomes the best.
    pub(super) fn keep_present(&mut self) {
        self.best = self.present;
    }

    /// The best iterate becomes the present one, with no other before it.
    pub(super) fn return_to_best(&mut self) {
        self.present = self.best;
        self.forget_last();
    }

    /// Takes the best iterate out. The next [`Self::restart`] fills its slot.
    pub(super) fn take_best(&mut self) -> T {
        std::mem::take(&mut self.slots[self.best])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last, the present and the best are never overwritten, and a new solve starts from one.
    #[test]
    fn the_next_iterate_takes_the_place_of_none_in_use() {
        let mut pool = Pool::<u32>::default();
        *pool.restart() = 100;
        for iterate in 101..120 {
            let (before, best) = (*pool.present(), *pool.best());
            pool.take_next();
            if iterate == 105 {
                // What is kept while the next is being made stays as well.
                pool.keep_present();
            }
            pool.advance(iterate);
            assert_eq!((*pool.last(), *pool.present()), (before, iterate));
            assert_eq!(*pool.best(), if iterate == 105 { before } else { best });
        }
        pool.return_to_best();
        assert_eq!((*pool.last(), *pool.present(), pool.take_best()), (104, 104, 104));
        *pool.restart() = 7;
        assert_eq!((*pool.last(), *pool.present(), *pool.best()), (7, 7, 7));
    }
}

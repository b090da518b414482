//! Three iterates: the last, the present and the best. The next is written over the last, in place. Which slot
//! plays which part changes; the iterates themselves stay where they are, with their memory.

/// Iterates of a solver with momentum that writes the next iterate over the last and keeps the best one.
pub(super) struct Trio<T> {
    slots: [T; 3],
    last: usize,
    present: usize,
    best: usize,
}

impl<T: Default> Default for Trio<T> {
    fn default() -> Self {
        Self { slots: Default::default(), last: 0, present: 0, best: 0 }
    }
}

impl<T: Default + Clone> Trio<T> {
    /// Begins anew with one iterate, which is the last, the present and the best.
    pub(super) fn restart(&mut self) -> &mut T {
        self.return_to_best();
        &mut self.slots[self.best]
    }

    pub(super) fn present(&self) -> &T {
        &self.slots[self.present]
    }

    pub(super) fn present_mut(&mut self) -> &mut T {
        &mut self.slots[self.present]
    }

    pub(super) fn best(&self) -> &T {
        &self.slots[self.best]
    }

    /// The present iterate, and the last one to write the next over: a copy of it, if it is the present or the
    /// best one as well. [`Self::advance`] comes after it.
    pub(super) fn free_last(&mut self) -> (&T, &mut T) {
        if self.last == self.present || self.last == self.best {
            let free = (0..3).find(|slot| *slot != self.present && *slot != self.best).unwrap_or(0);
            let [from, to] = self.slots.get_disjoint_mut([self.last, free]).unwrap_or_else(|_| unreachable!());
            to.clone_from(from);
            self.last = free;
        }
        let [present, last] = self.slots.get_disjoint_mut([self.present, self.last]).unwrap_or_else(|_| unreachable!());
        (present, last)
    }

    /// The next iterate, which was written over the last, becomes the present one, and the present one the last.
    pub(super) fn advance(&mut self) {
        std::mem::swap(&mut self.last, &mut self.present);
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
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The present and the best are never overwritten, and the last is what it was.
    #[test]
    fn the_next_iterate_takes_the_place_of_the_last() {
        let mut trio = Trio::<u32>::default();
        *trio.restart() = 100;
        let (mut before, mut best) = (100, 100);
        for next in 101..130 {
            let here = *trio.present();
            let (present, last) = trio.free_last();
            assert_eq!((*present, *last), (here, before));
            *last = next;
            trio.advance();
            assert_eq!((*trio.present(), *trio.best()), (next, best));
            before = here;
            if next % 5 == 0 {
                trio.keep_present();
                best = next;
            }
            if next == 117 {
                trio.return_to_best();
                before = 115;
                assert_eq!(*trio.present(), 115);
            }
        }
    }
}

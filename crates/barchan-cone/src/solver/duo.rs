//! Two iterates: the last and the present. The next is written over the last, in place. Which slot plays which
//! part changes; the iterates themselves stay where they are, with their memory.
//!
//! The best iterate is not here: a solver writes it to where its result goes.

/// Iterates of a solver with momentum that writes the next iterate over the last.
#[derive(Default)]
pub(super) struct Duo<T> {
    slots: [T; 2],
    present: usize,
    /// Whether the present iterate has no other before it: the last is then a copy of it, made when it is needed.
    is_first: bool,
}

impl<T: Clone> Duo<T> {
    /// Begins anew: the present iterate, to be written, has no other before it.
    pub(super) fn restart(&mut self) -> &mut T {
        self.is_first = true;
        &mut self.slots[self.present]
    }

    pub(super) fn present(&self) -> &T {
        &self.slots[self.present]
    }

    /// The present iterate, and the last one to write the next over. [`Self::advance`] comes after it.
    pub(super) fn free_last(&mut self) -> (&T, &mut T) {
        let [first, second] = &mut self.slots;
        let (present, last) = if self.present == 0 { (first, second) } else { (second, first) };
        if self.is_first {
            last.clone_from(present);
            self.is_first = false;
        }
        (present, last)
    }

    /// The next iterate, which was written over the last, becomes the present one, and the present one the last.
    pub(super) fn advance(&mut self) {
        self.present = 1 - self.present;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The present is never overwritten, and the last is what it was.
    #[test]
    fn the_next_iterate_takes_the_place_of_the_last() {
        let mut duo = Duo::<u32>::default();
        *duo.restart() = 100;
        let mut before = 100;
        for next in 101..130 {
            let here = *duo.present();
            let (present, last) = duo.free_last();
            assert_eq!((*present, *last), (here, before));
            *last = next;
            duo.advance();
            assert_eq!(*duo.present(), next);
            before = here;
            if next == 117 {
                *duo.restart() = 115;
                before = 115;
                assert_eq!(*duo.present(), 115);
            }
        }
    }
}

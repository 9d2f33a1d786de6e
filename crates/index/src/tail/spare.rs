//! Buffers for occurrences that the tails of all tables on a thread use in turn.
//!
//! A large INSERT has some 100,000 occurrences, 2 MB, twice while they are sorted. Memory that is new for each costs more than the
//! sort: the kernel clears its pages and takes them back. A buffer that each tail kept would be 4 MB for each table that was once
//! loaded. So a thread, which publishes one tail after the other, keeps two.

use std::cell::RefCell;

use super::chunk::Occurrence;

/// Buffers that a thread keeps: one that is filled, and one into which it is sorted.
const KEPT: usize = 2;

/// Occurrences up to which a buffer is kept: 3 MiB of them. A larger one is freed.
const OCCURRENCES_KEPT_MAX: usize = 1 << 18;

thread_local! {
    static SPARE: RefCell<Vec<Vec<Occurrence>>> = const { RefCell::new(Vec::new()) };
}

/// An empty buffer, which may have room.
pub(super) fn take() -> Vec<Occurrence> {
    SPARE
        .with_borrow_mut(|spare| spare.pop())
        .unwrap_or_default()
}

/// Takes a buffer back. Its items are forgotten.
pub(super) fn keep(mut buffer: Vec<Occurrence>) {
    if !(1..=OCCURRENCES_KEPT_MAX).contains(&buffer.capacity()) {
        return;
    }
    buffer.clear();
    SPARE.with_borrow_mut(|spare| {
        if spare.len() < KEPT {
            spare.push(buffer);
        } else if let Some(least) = spare.iter_mut().min_by_key(|kept| kept.capacity())
            && least.capacity() < buffer.capacity()
        {
            *least = buffer;
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_buffers_are_kept_the_largest_of_those_that_are_not_huge() {
        for capacity in [0, 10, 30, OCCURRENCES_KEPT_MAX + 1, 20, 40] {
            keep(Vec::with_capacity(capacity));
        }
        let mut kept = [take().capacity(), take().capacity(), take().capacity()];
        kept.sort_unstable();
        assert_eq!(kept, [0, 30, 40]);
    }

    #[test]
    fn a_kept_buffer_comes_back_empty() {
        keep(vec![
            Occurrence {
                word: 1,
                ordinal: 2,
                position: 3
            };
            4
        ]);
        assert!(take().is_empty());
    }
}

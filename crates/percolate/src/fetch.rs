//! Prefetching memory that is read soon.

/// A way of prefetching: an instruction, or nothing where the processor has none.
pub(crate) trait Fetch: Copy {
    /// Prefetches an item of a list. A place beyond the list's end does no harm.
    fn fetch<T>(self, list: &[T], place: usize);
}

//! Asking for memory that is read soon.

/// Whether and how it is asked for, by what the processor can do.
pub(crate) trait Fetch: Copy {
    /// Asks for the item of a list, if there is one at that place.
    fn fetch<T>(self, list: &[T], place: usize);
}

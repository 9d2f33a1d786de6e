//! What bounds a computation: the memory and the patience of its caller.

/// A computation asks these while it goes on. An error ends it; its text is the message.
pub trait Bounds {
    /// The computation is about to hold this many bytes in all.
    ///
    /// # Errors
    /// There is no more memory.
    fn cover(&self, bytes: usize) -> Result<(), String>;

    /// Asked before each piece of work: a visitor, a path, a pass over a chain. The sort of the events is one piece.
    ///
    /// # Errors
    /// The computation is to end.
    fn check(&self) -> Result<(), String>;
}

/// No bound: of a program that reports for itself.
#[derive(Clone, Copy, Debug)]
pub struct Unbounded;

impl Bounds for Unbounded {
    fn cover(&self, _: usize) -> Result<(), String> {
        Ok(())
    }

    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

/// Items for which a list, and a table, takes memory at first, at most.
const ITEMS_MIN: usize = 8;

/// Bytes beside the places of a table.
const TABLE_BYTES: usize = 32;

/// Bytes of a list that is about to get `more` items: where it grows, the old and the new one are there together.
pub(super) fn list_bytes<T>(list: &Vec<T>, more: usize) -> usize {
    let length = list.len() + more;
    let items = match length <= list.capacity() {
        true => list.capacity(),
        false => list.capacity() + length.max(2 * list.capacity()).max(ITEMS_MIN),
    };
    items * size_of::<T>()
}

/// As [`list_bytes`], of a hash table of `length` items with room for `capacity`, in an allocation of `bytes`.
pub(super) fn table_bytes<T>(
    bytes: usize,
    (length, capacity): (usize, usize),
    more: usize,
) -> usize {
    // The new table has up to twice the room that it needs, at most seven eighths full, and a byte for each place.
    let items = (length + more).max(2 * capacity).max(ITEMS_MIN);
    let grown = items * (size_of::<T>() + 1) * 16 / 7 + TABLE_BYTES;
    match length + more <= capacity {
        true => bytes,
        false => bytes + grown,
    }
}

#[cfg(test)]
mod tests;

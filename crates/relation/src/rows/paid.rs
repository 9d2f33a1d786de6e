//! Memory taken for rows, in pieces.

/// Least bytes of memory taken at once.
const PAID_AT_ONCE: u64 = 16 << 10;

/// What is left of the memory taken.
#[derive(Default)]
pub(super) struct Paid {
    /// Bytes left of the last piece.
    left: u64,
}

impl Paid {
    /// Uses `bytes`, and takes a piece where less is left. Errors: those of `take`.
    pub(super) fn more<E>(
        &mut self,
        bytes: u64,
        take: &mut dyn FnMut(u64) -> Result<(), E>,
    ) -> Result<(), E> {
        if bytes > self.left {
            let piece = (bytes - self.left).max(PAID_AT_ONCE);
            take(piece)?;
            self.left += piece;
        }
        self.left -= bytes;
        Ok(())
    }
}

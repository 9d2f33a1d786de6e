//! A frozen tail becomes a segment.

use crate::error::Result;

/// The work of one checkpoint of a table: owns (shares) all it needs, so it may run on any thread.
pub struct SealJob {
    pub(crate) position: u64,
}

/// What a [`SealJob`] made, for [`crate::Table::install`]. Its files are durable.
pub struct Sealed {
    pub(crate) position: u64,
}

impl SealJob {
    /// The journal position that the result covers.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Writes the files and makes them durable. After an error (`Io`; `is_full` for a full disk) nothing is lost and what
    /// was written is removed again: give the table a [`crate::Table::thaw`].
    pub fn run(self) -> Result<Sealed> {
        Ok(Sealed {
            position: self.position,
        })
    }
}

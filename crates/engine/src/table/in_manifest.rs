//! A view's number as two manifests have it: the manifest that was begun last, and the durable one.
//!
//! A manifest is written beside the engine's thread, and the view goes on meanwhile. So the number of the view itself does not
//! tell which files a durable manifest names. [`crate::table::search::SearchTable`] has an example.

/// A number of a view that never falls, as manifests have it: its checkpoint, or the count of its changes of files.
/// `durable` ≤ `begun` ≤ the view's own number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct InManifest {
    /// In the manifest that was begun last. It stays if that manifest fails: another one is then due.
    pub(crate) begun: u64,
    /// In the durable manifest.
    pub(crate) durable: u64,
}

impl InManifest {
    /// The number of a view that was opened from a manifest.
    pub(crate) fn of(number: u64) -> InManifest {
        InManifest {
            begun: number,
            durable: number,
        }
    }

    /// A manifest with this number is begun.
    pub(crate) fn begin(&mut self, number: u64) {
        self.begun = number;
    }

    /// The manifest that was begun last is durable.
    pub(crate) fn end(&mut self) {
        self.durable = self.begun;
    }
}

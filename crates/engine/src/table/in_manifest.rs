//! How far a view is in manifests: in the one begun last, and in the durable one.

/// A number of a view that rises, as manifests have it: how far its files reach, how often they changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct InManifest {
    /// In the manifest that was begun last; a manifest that fails leaves it.
    pub(crate) begun: u64,
    /// In the durable manifest.
    pub(crate) durable: u64,
}

impl InManifest {
    /// Of a view as it was opened.
    pub(crate) fn of(number: u64) -> InManifest {
        InManifest {
            begun: number,
            durable: number,
        }
    }

    /// A manifest is begun.
    pub(crate) fn begin(&mut self, number: u64) {
        self.begun = number;
    }

    /// The manifest that was begun last is durable.
    pub(crate) fn end(&mut self) {
        self.durable = self.begun;
    }
}

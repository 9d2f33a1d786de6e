//! The trait of collectors.

use language::meter::Meter;
use relation::rows::{Place, Sorted};
use relation::value::Value;

use crate::control::Control;
use crate::error::Result;
use crate::part::Part;
use crate::snapshot::PartIndex;

/// Weight of every row of a SELECT without MATCH, as in Sphinx.
pub(in super::super) const WEIGHT_WITHOUT_MATCH: i64 = 1;

/// Matching rows of one page.
pub(in super::super) struct FoundPage<'p> {
    pub(in super::super) at: PartIndex,
    pub(in super::super) part: &'p Part,
    /// The page's first row.
    pub(in super::super) first: u32,
    /// Rows of the page, rising.
    pub(in super::super) lows: &'p [u16],
    /// Their weights; empty: each is [`WEIGHT_WITHOUT_MATCH`].
    pub(in super::super) weights: &'p [i64],
}

/// Takes the rows that match.
pub(in super::super) trait Collector: Send {
    /// Adds `rows` to the total of matching rows, whether or not they are offered.
    fn count(&mut self, rows: u64);

    /// Takes a row, or drops it. Errors: `SearchMemory`, `NoMemory`.
    fn offer(&mut self, row: FoundRow, control: &Control) -> Result<()>;

    /// Takes the matching rows of a page at once, of a job that is `in_blocks`. Errors: `Interrupted`, `SearchMemory`, `NoMemory`;
    /// `Io` and `Corrupt` of a row.
    fn take_page(&mut self, _: &FoundPage<'_>, _: &Control) -> Result<()> {
        Ok(())
    }

    /// The last of the rows kept, once the collector is full; else `None`.
    fn last(&self) -> Option<&FoundRow>;

    /// Adds the rows and the total of another collector. Comparisons are counted on the meter.
    fn merge(&mut self, other: Self, meter: &dyn Meter)
    where
        Self: Sized;
}

/// A matching row, with the keys that it is ordered by.
pub(in super::super) struct FoundRow {
    pub(in super::super) part: PartIndex,
    pub(in super::super) doc: u32,
    pub(in super::super) id: u64,
    pub(in super::super) weight: i64,
    /// Values of the sort keys that are expressions, in the order of the keys.
    pub(in super::super) keys: Vec<Value>,
}

impl FoundRow {
    pub(in super::super) fn of_place(place: &Place) -> FoundRow {
        FoundRow {
            part: PartIndex(place.part),
            doc: place.row,
            id: place.id,
            weight: place.weight,
            keys: Vec::new(),
        }
    }
}

impl Sorted for FoundRow {
    fn weight(&self) -> i64 {
        self.weight
    }

    fn id(&self) -> u64 {
        self.id
    }

    /// Parts are in the order of their tables.
    fn table(&self) -> u32 {
        self.part.0
    }

    fn keys(&self) -> &[Value] {
        &self.keys
    }

    fn bytes(&self) -> u64 {
        let keys: usize = self.keys.iter().map(Value::memory).sum();
        (size_of::<FoundRow>() + keys) as u64
    }
}

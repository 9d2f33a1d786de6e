//! Reading a list.

use super::Posting;

const ENTRY_BYTES: usize = 17;

/// One word's rows, read from bytes. Nothing here panics, whatever the bytes are: damaged ones give other rows or none.
#[derive(Clone)]
pub(crate) struct List<'a> {
    rows: u32,
    entries: &'a [u8],
    positions: &'a [u8],
}

/// Steps through a list from its first row to its last.
pub(crate) struct Walk<'l, 'a> {
    list: &'l List<'a>,
    at: usize,
    /// First position of the row that was given last, and of the one behind it.
    places: (usize, usize),
}

impl<'a> List<'a> {
    /// A list as [`super::ListWriter`] wrote it, of a segment of so many rows. `positions` may be empty where no positions
    /// are asked for. `None` where the bytes are no list. Cost: its header.
    pub(crate) fn open(
        rows: u32,
        many_fields: bool,
        postings: &'a [u8],
        positions: &'a [u8],
    ) -> Option<List<'a>> {
        let _ = many_fields;
        let (count, entries) = postings.split_first_chunk()?;
        let count = u32::from_le_bytes(*count) as usize;
        (entries.len() == count.checked_mul(ENTRY_BYTES)?).then_some(List {
            rows,
            entries,
            positions,
        })
    }

    /// Rows of the word.
    pub(crate) fn documents(&self) -> u32 {
        (self.entries.len() / ENTRY_BYTES) as u32
    }

    /// From the first row on.
    pub(crate) fn walk(&self) -> Walk<'_, 'a> {
        Walk {
            list: self,
            at: 0,
            places: (0, 0),
        }
    }
}

impl Iterator for Walk<'_, '_> {
    type Item = Posting;

    fn next(&mut self) -> Option<Posting> {
        let entry = self.list.entries.get(self.at * ENTRY_BYTES..)?;
        let doc = u32::from_le_bytes(*entry.first_chunk()?);
        let code = *entry.get(4)?;
        let hits = u32::from_le_bytes(*entry.get(5..)?.first_chunk()?);
        let fields = u64::from_le_bytes(*entry.get(9..)?.first_chunk()?);
        self.at += 1;
        self.places = (self.places.1, self.places.1.saturating_add(hits as usize));
        (doc < self.list.rows).then_some(Posting {
            doc,
            code,
            hits,
            fields,
        })
    }
}

impl Walk<'_, '_> {
    /// Where the word stands in the row that [`Iterator::next`] gave last: `field << 24 | position`, rising.
    pub(crate) fn positions(&self, out: &mut Vec<u32>) {
        out.clear();
        let bytes = self
            .list
            .positions
            .get(self.places.0 * 4..self.places.1 * 4)
            .unwrap_or_default();
        out.extend(bytes.chunks_exact(4).map(|bytes| {
            bytes
                .iter()
                .rev()
                .fold(0, |sum, byte| sum << 8 | u32::from(*byte))
        }));
    }
}

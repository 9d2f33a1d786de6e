//! Writing a list.

use super::{ListEntry, code};

/// Takes the rows of one word by rising doc.
pub(crate) struct ListWriter<'a> {
    many_fields: bool,
    postings: &'a mut Vec<u8>,
    positions: &'a mut Vec<u8>,
    starts: (usize, usize),
    documents: u32,
    hits: u64,
    body: Vec<u8>,
}

impl<'a> ListWriter<'a> {
    /// For a word of a segment of so many rows; `many_fields`: whether the table has more than one text column. The list is
    /// appended to both vectors.
    pub(crate) fn new(
        rows: u32,
        many_fields: bool,
        postings: &'a mut Vec<u8>,
        positions: &'a mut Vec<u8>,
    ) -> ListWriter<'a> {
        let _ = rows;
        let starts = (postings.len(), positions.len());
        ListWriter {
            many_fields,
            postings,
            positions,
            starts,
            documents: 0,
            hits: 0,
            body: Vec::new(),
        }
    }

    /// Adds a row: its doc (above the one before, below `rows`), the class of its length, and where the word stands in it,
    /// rising, at least one place, each `field << 24 | position`.
    pub(crate) fn push(&mut self, doc: u32, length_class: u8, positions: &[u32]) {
        let hits = positions.len() as u32;
        let mut fields = 0u64;
        for position in positions {
            fields |= 1 << (position >> 24).min(63);
            self.positions.extend(position.to_le_bytes());
        }
        self.body.extend(doc.to_le_bytes());
        self.body.push(code(hits, length_class));
        self.body.extend(hits.to_le_bytes());
        let fields = if self.many_fields { fields } else { 1 };
        self.body.extend(fields.to_le_bytes());
        self.documents += 1;
        self.hits += u64::from(hits);
    }

    /// Writes what is left, and tells what the dictionary must keep. At least one row was pushed.
    pub(crate) fn finish(self) -> ListEntry {
        self.postings.extend(self.documents.to_le_bytes());
        self.postings.extend(&self.body);
        ListEntry {
            documents: self.documents,
            hits: self.hits,
            postings_bytes: (self.postings.len() - self.starts.0) as u64,
            positions_bytes: (self.positions.len() - self.starts.1) as u64,
        }
    }
}

//! The compact answer of a percolation, for programs: which standing queries hit which documents of a batch.
//!
//! Limits: document indexes and their count fit 32 bits; query ids and weights 64. The bytes are described in
//! `docs/formats/pq-answer.md`:
//!
//! ```text
//! "SPQ" version | flags | documents | total | matched | rows | row … | CRC-32C of all before, 4 bytes, little-endian
//! row: id difference | count × 2 + form | documents: differences (form 0) or a bitmap (form 1) | weights, if flagged
//! ```
//!
//! Numbers are unsigned LEB128. [`Encoder`] writes it without an allocation for a row, [`decode`] reads it into four flat
//! lists.

mod decode;

#[cfg(test)]
mod tests;

pub use decode::{Decoded, PqError, decode};
use query::codec::put_number;

/// First bytes of every answer; the fourth is the version.
pub const MAGIC: [u8; 4] = *b"SPQ\x01";

/// What the door calls it: `Accept` and `Content-Type`.
pub const CONTENT_TYPE: &str = "application/vnd.seine.hits";

/// Flag of a [`Head`] with weights.
const WEIGHTS: u64 = 1;

/// Bytes of the checksum at the end.
const CHECKSUM_BYTES: usize = 4;

/// What stands before the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Documents that were asked about; every index in a row is below it.
    pub documents: u32,
    /// Queries that were hit, before a limit.
    pub total: u64,
    /// Documents that at least one query hit.
    pub matched: u64,
    /// Rows that follow.
    pub rows: u64,
    /// Each row has a weight a document.
    pub weights: bool,
}

/// Writes an answer: the head, the rows by rising query id, the checksum.
#[derive(Debug)]
pub struct Encoder {
    out: Vec<u8>,
    documents: u32,
    last_id: u64,
    /// Bytes of a bitmap of all documents.
    bitmap_bytes: usize,
    weights: bool,
}

impl Encoder {
    /// Begins an answer. So many rows as `head` says must follow.
    #[must_use]
    pub fn new(head: &Head) -> Encoder {
        // Most rows are a short difference, a count and one or two documents.
        let mut out =
            Vec::with_capacity(64 + usize::try_from(head.rows).unwrap_or(0).min(1 << 20) * 5);
        out.extend_from_slice(&MAGIC);
        let flags = if head.weights { WEIGHTS } else { 0 };
        for number in [
            flags,
            u64::from(head.documents),
            head.total,
            head.matched,
            head.rows,
        ] {
            put_number(&mut out, number);
        }
        Encoder {
            out,
            documents: head.documents,
            last_id: 0,
            bitmap_bytes: (head.documents as usize).div_ceil(8),
            weights: head.weights,
        }
    }

    /// A query and the documents that hit it, ascending, below the head's count. `weights` is as long as `documents`
    /// where the head announced weights, and is not looked at elsewhere.
    #[inline]
    pub fn row(&mut self, id: u64, documents: &[u32], weights: impl Iterator<Item = u64>) {
        put_number(&mut self.out, id.wrapping_sub(self.last_id));
        self.last_id = id;
        // A document in a list takes at least a byte.
        let is_bitmap = self.bitmap_bytes < documents.len();
        put_number(
            &mut self.out,
            (documents.len() as u64) << 1 | u64::from(is_bitmap),
        );
        if is_bitmap {
            self.bitmap(documents);
        } else {
            let mut next = 0;
            for &document in documents {
                put_number(&mut self.out, u64::from(document.wrapping_sub(next)));
                next = document.wrapping_add(1);
            }
        }
        if self.weights {
            for weight in weights.take(documents.len()) {
                put_number(&mut self.out, weight);
            }
        }
    }

    /// What was written so far, to bound it.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.out
    }

    /// The whole answer.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        let sum = crc32c::crc32c(&self.out);
        self.out.extend_from_slice(&sum.to_le_bytes());
        self.out
    }

    fn bitmap(&mut self, documents: &[u32]) {
        let start = self.out.len();
        self.out.resize(start + self.bitmap_bytes, 0);
        for &document in documents
            .iter()
            .filter(|&&document| document < self.documents)
        {
            self.out[start + document as usize / 8] |= 1 << (document % 8);
        }
    }
}

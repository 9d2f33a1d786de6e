//! The compact answer of a percolation, for programs: which standing queries hit which documents of a batch.
//!
//! Limits: document indexes and their count have 32 bits, query ids, weights and totals 64. `docs/formats/pq-answer.md`
//! describes the bytes:
//!
//! ```text
//! "SPQ" version | flags | documents | total | matched | rows | row … | CRC-32C of all before, 4 bytes, little-endian
//! row: id difference | count × 2 + form | documents: differences (form 0) or a bitmap (form 1) | weights, if flagged
//! ```
//!
//! Numbers are unsigned LEB128. Example: a batch of 20 documents; query 7 hits the documents 0 and 2, query 300 all of them.
//!
//! ```text
//! 53 50 51 01   00   14   02   14   02   magic; flags 0; 20 documents; 2 queries hit; 20 documents hit; 2 rows
//! 07      04   00 01                     id 7; count 2, form 0; document 0, then 2 − 0 − 1
//! a5 02   29   ff ff 0f                  id 7 + 293; count 20, form 1; twenty bits of three bytes
//! xx xx xx xx                            checksum
//! ```
//!
//! Invariants, which [`decode()`] checks:
//! - Query ids rise: a difference is never 0 behind the first row.
//! - The documents of a row rise and are below `documents`. A difference of 0 is the next document.
//! - A bitmap has ⌈documents ÷ 8⌉ bytes and `count` set bits. [`Encoder`] writes one only if a list would be longer.
//! - With flag bit 0 a row has a weight for each of its documents.
//!
//! [`Encoder`] allocates nothing for a row. [`decode()`] reads an answer into four flat lists.

mod decode;

#[cfg(test)]
mod tests;

pub use decode::{Decoded, PqError, decode};
use relation::codec::put_number;

/// First bytes of every answer; the fourth is the version.
pub const MAGIC: [u8; 4] = *b"SPQ\x01";

/// Media type of the answer, for `Accept` and `Content-Type`.
pub const CONTENT_TYPE: &str = "application/vnd.seine.hits";

/// Flag bit 0: rows have weights.
const WEIGHTS: u64 = 1;

/// Bytes of the checksum at the end.
const CHECKSUM_BYTES: usize = 4;

/// The numbers before the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Count of documents in the batch. Every document index is below it.
    pub documents: u32,
    /// Count of queries with a hit, before a limit.
    pub total: u64,
    /// Count of documents with a hit.
    pub matched: u64,
    /// Count of rows that follow.
    pub rows: u64,
    /// Whether each row has a weight for each of its documents.
    pub weights: bool,
}

/// Writes an answer: the head, the rows by rising query id, the checksum.
#[derive(Debug)]
pub struct Encoder {
    out: Vec<u8>,
    documents: u32,
    last_id: u64,
    /// Bytes of a bitmap over all documents.
    bitmap_bytes: usize,
    weights: bool,
}

impl Encoder {
    /// Begins an answer. Exactly `head.rows` calls of [`row`](Self::row) must follow.
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

    /// Adds a query and the documents that it hits. Ids must rise from call to call. `documents` must rise and be below the
    /// head's count. `weights` must be as long as `documents` if the head has weights; else it is not read.
    #[inline]
    pub fn row(&mut self, id: u64, documents: &[u32], weights: impl Iterator<Item = u64>) {
        put_number(&mut self.out, id.wrapping_sub(self.last_id));
        self.last_id = id;
        // A list has at least a byte for each document.
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

    /// Bytes written so far, for callers that bound them.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.out
    }

    /// Adds the checksum and gives the whole answer.
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

//! Reads an answer. The bytes are a stranger's: every count is checked against the bytes left before it is used.

use std::fmt;

use relation::codec::number_at;

use super::{CHECKSUM_BYTES, Head, MAGIC, WEIGHTS};

/// Why bytes are not a compact answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PqError {
    /// The first bytes are not [`MAGIC`]: no answer, or one of another version.
    NotAnAnswer,
    /// The checksum is wrong: the answer was cut or changed on the way.
    Checksum,
    /// The checksum is right, but the bytes break the format at this byte offset.
    Malformed(usize),
}

impl fmt::Display for PqError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PqError::NotAnAnswer => f.write_str("no answer of version 1"),
            PqError::Checksum => f.write_str("the checksum does not fit"),
            PqError::Malformed(at) => write!(f, "malformed at byte {at}"),
        }
    }
}

impl std::error::Error for PqError {}

/// A decoded answer. Its rows lie in four flat lists, so that decoding does not allocate for each row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decoded {
    /// The numbers before the rows.
    pub head: Head,
    ids: Vec<u64>,
    /// End of each row's documents in `documents`.
    ends: Vec<usize>,
    documents: Vec<u32>,
    /// Parallel to `documents`; empty without weights.
    weights: Vec<u64>,
}

impl Decoded {
    /// The rows by rising query id: the id, the rising indexes of its documents, and their weights. The weights are empty if
    /// the head has none.
    pub fn rows(&self) -> impl Iterator<Item = (u64, &[u32], &[u64])> {
        let mut start = 0;
        self.ids.iter().zip(&self.ends).map(move |(&id, &end)| {
            let range = start..end;
            start = end;
            let documents = self.documents.get(range.clone()).unwrap_or_default();
            (id, documents, self.weights.get(range).unwrap_or_default())
        })
    }

    /// Count of pairs of a query and a document.
    #[must_use]
    pub fn pairs(&self) -> usize {
        self.documents.len()
    }
}

/// Reads a whole answer. Cost: linear in the bytes and the pairs. Memory: at most 32 times the bytes, for bitmaps.
///
/// # Errors
/// [`PqError`]; never a panic, whatever the bytes.
pub fn decode(bytes: &[u8]) -> Result<Decoded, PqError> {
    if !bytes.starts_with(&MAGIC) {
        return Err(PqError::NotAnAnswer);
    }
    let (body, sum) = bytes
        .split_last_chunk::<CHECKSUM_BYTES>()
        .ok_or(PqError::Checksum)?;
    if body.len() < MAGIC.len() || crc32c::crc32c(body) != u32::from_le_bytes(*sum) {
        return Err(PqError::Checksum);
    }
    let mut reader = Reader {
        bytes: body,
        at: MAGIC.len(),
    };
    let decoded = reader.answer().ok_or(PqError::Malformed(reader.at))?;
    if reader.at != body.len() {
        return Err(PqError::Malformed(reader.at));
    }
    Ok(decoded)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn answer(&mut self) -> Option<Decoded> {
        let flags = self.number()?;
        if flags & !WEIGHTS != 0 {
            return None;
        }
        let head = Head {
            documents: u32::try_from(self.number()?).ok()?,
            total: self.number()?,
            matched: self.number()?,
            rows: self.number()?,
            weights: flags & WEIGHTS != 0,
        };
        // A row takes at least two bytes.
        let rows = self.count(head.rows, 2)?;
        let mut decoded = Decoded {
            head,
            ids: Vec::with_capacity(rows),
            ends: Vec::with_capacity(rows),
            documents: Vec::with_capacity(rows),
            weights: Vec::new(),
        };
        let mut id: u64 = 0;
        for row in 0..rows {
            let difference = self.number()?;
            if row > 0 && difference == 0 {
                return None;
            }
            id = id.checked_add(difference)?;
            decoded.ids.push(id);
            self.row(&mut decoded)?;
            decoded.ends.push(decoded.documents.len());
        }
        Some(decoded)
    }

    /// Reads the documents of a row, and their weights.
    fn row(&mut self, decoded: &mut Decoded) -> Option<()> {
        let head = self.number()?;
        let count = u32::try_from(head >> 1)
            .ok()
            .filter(|count| *count <= decoded.head.documents)?;
        if head & 1 == 0 {
            self.list(count, decoded)?;
        } else {
            self.bitmap(count, decoded)?;
        }
        if decoded.head.weights {
            for _ in 0..count {
                let weight = self.number()?;
                decoded.weights.push(weight);
            }
        }
        Some(())
    }

    fn list(&mut self, count: u32, decoded: &mut Decoded) -> Option<()> {
        let mut next: u64 = 0;
        for _ in 0..count {
            let document = next.checked_add(self.number()?)?;
            if document >= u64::from(decoded.head.documents) {
                return None;
            }
            decoded.documents.push(document as u32);
            next = document + 1;
        }
        Some(())
    }

    fn bitmap(&mut self, count: u32, decoded: &mut Decoded) -> Option<()> {
        let length = (decoded.head.documents as usize).div_ceil(8);
        let end = self.at.checked_add(length)?;
        let bytes = self.bytes.get(self.at..end)?;
        let before = decoded.documents.len();
        for (place, &byte) in bytes.iter().enumerate() {
            let mut byte = byte;
            while byte != 0 {
                let document = u32::try_from(place * 8).ok()? + byte.trailing_zeros();
                if document >= decoded.head.documents {
                    return None;
                }
                decoded.documents.push(document);
                byte &= byte - 1;
            }
        }
        self.at = end;
        (decoded.documents.len() - before == count as usize).then_some(())
    }

    /// `announced` as a count of items with at least `bytes_each` bytes each; `None`: the bytes left cannot hold them.
    fn count(&self, announced: u64, bytes_each: usize) -> Option<usize> {
        let most = (self.bytes.len() - self.at.min(self.bytes.len())) / bytes_each;
        usize::try_from(announced)
            .ok()
            .filter(|count| *count <= most)
    }

    #[inline]
    fn number(&mut self) -> Option<u64> {
        number_at(self.bytes, &mut self.at)
    }
}

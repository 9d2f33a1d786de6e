//! The frames of Scribe's buffer files and of those of earlier builds, and how they are found again behind damage. Nothing writes
//! them any more; [`checked`](super::checked) has the form of today.
//!
//! ```text
//! 04 00 00 00 "web\n"  02 00 00 00 "hi"         a record: a category and the message "hi"
//! 04 00 00 00 "web\n"  00 00 00 00              an empty message
//! 02 00 00 00 "hi"                              in a file of Scribe without write_category: the message alone
//! ```
//!
//! A frame is its length, 4 bytes in little-endian order, then the bytes. There is no checksum, so damage shows only where a
//! length runs past the end of the file, or a category does not end in a newline. The rule:
//!
//! 1. A record is taken if it is whole and the file ends behind it, or another whole record follows.
//! 2. Else the reader looks for the next *likely* place, byte by byte from the record's second byte on. At a likely place begins
//!    a chain of whole records that reaches the end of the file or is [`CHAIN`] records long, with a message that is not empty
//!    (4 of a long chain). Of the 4 places from the first likely one on, it takes the one whose record ends first: a length
//!    that is read from one byte too early is 256 times too large, and may lead to a true record by chance.
//! 3. A whole record that ends before that place is taken after all, for the damage lies behind it. Otherwise the bytes up to
//!    that place are lost; without one, all up to the end of the file.
//!
//! So a record behind damage is lost only if the file is damaged again within [`CHAIN`] records, or if all records behind it are
//! empty. A length that is damaged and still leads to a whole record cannot be seen. Zeroes in a damaged record may come back
//! as up to 7 empty messages: the rule would rather repeat the bytes of nothing than lose an empty message.

use std::ops::Range;

use engine::Messages;

/// Records that a likely place must lead to, unless the file ends before.
const CHAIN: usize = 8;

/// The content of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Content {
    /// In the order of the file.
    pub(super) messages: Messages,
    /// Place behind each message.
    pub(super) ends: Vec<usize>,
    /// Places and numbers of bytes that belong to no record.
    pub(super) lost: Vec<(usize, u64)>,
    /// Place behind all that was read.
    pub(super) end: usize,
}

/// Reads a file from a place on: one message, then more up to `bytes_max` bytes of them. `category`: that of each message;
/// `None`: the records have it.
pub(super) fn read(data: &[u8], from: usize, bytes_max: usize, category: Option<&[u8]>) -> Content {
    let has_category = category.is_none();
    let mut content = Content::default();
    let (mut at, mut bytes) = (from, 0);
    while at < data.len() && (content.ends.is_empty() || bytes < bytes_max) {
        let record = Record::at(data, at, has_category);
        let follows =
            |next: usize| next == data.len() || Record::at(data, next, has_category).is_some();
        let likely = match &record {
            Some(record) if follows(record.body.end) => None,
            _ => likely_place(data, at + 1, has_category),
        };
        match record {
            Some(record) if likely.is_none_or(|likely| likely >= record.body.end) => {
                let category = category.unwrap_or(&data[record.category.clone()]);
                content.messages.push(category, &data[record.body.clone()]);
                bytes += record.body.len();
                at = record.body.end;
                content.ends.push(at);
            }
            _ => {
                let next = likely.unwrap_or(data.len());
                content.lost.push((at, (next - at) as u64));
                at = next;
            }
        }
    }
    content.end = at;
    content
}

/// Ranges of a record's parts; the category is empty where records have none.
struct Record {
    category: Range<usize>,
    body: Range<usize>,
}

impl Record {
    fn at(data: &[u8], at: usize, has_category: bool) -> Option<Record> {
        if !has_category {
            let body = frame(data, at)?;
            return Some(Record {
                category: at..at,
                body,
            });
        }
        let named = frame(data, at)?;
        let body = frame(data, named.end)?;
        let category = named.start..named.end.checked_sub(1)?;
        let is_named = !category.is_empty() && data.get(category.end) == Some(&b'\n');
        is_named.then_some(Record { category, body })
    }
}

/// The bytes of a whole frame.
fn frame(data: &[u8], at: usize) -> Option<Range<usize>> {
    let length = data.get(at..at.checked_add(4)?)?;
    let length = u32::from_le_bytes(length.try_into().ok()?);
    let start = at + 4;
    let end = start.checked_add(usize::try_from(length).ok()?)?;
    (end <= data.len()).then_some(start..end)
}

/// The next likely place from `from` on.
fn likely_place(data: &[u8], from: usize, has_category: bool) -> Option<usize> {
    let end_of = |at: usize| chain(data, at, has_category);
    let first = (from..data.len()).find(|at| end_of(*at).is_some())?;
    (first..data.len().min(first + 4)).min_by_key(|at| end_of(*at).unwrap_or(usize::MAX))
}

/// The end of the first record of a chain that makes a place likely.
fn chain(data: &[u8], at: usize, has_category: bool) -> Option<usize> {
    let (mut next, mut first_end, mut not_empty) = (at, None, 0);
    for _ in 0..CHAIN {
        let record = Record::at(data, next, has_category)?;
        next = record.body.end;
        first_end = first_end.or(Some(next));
        not_empty += usize::from(!record.body.is_empty());
        if next == data.len() {
            return first_end.filter(|_| not_empty > 0);
        }
    }
    first_end.filter(|_| not_empty >= CHAIN / 2)
}

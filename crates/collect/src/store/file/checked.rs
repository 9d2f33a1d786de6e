//! The records of a buffer's files, each under two checksums, and how they are found again behind damage.
//!
//! ```text
//! place  bytes
//!     0  03 00 00 00 | 02 00 00 00 | sum of "webhi"  | sum of 0 and the 12 bytes before  | "web" "hi"
//!    21  03 00 00 00 | 00 00 00 00 | sum of "web"    | sum of 21 and the 12 bytes before | "web"
//! ```
//!
//! A record is a head of [`HEAD_BYTES`], the category, and the message. The head has the length of the category, the length of
//! the message, the CRC-32C of both, and the CRC-32C of the record's place in the file (8 bytes) and the 12 bytes before. All
//! numbers are little-endian; all but the place have 4 bytes. The rule for damage:
//!
//! 1. A head counts if its checksum is right and its record ends within the file.
//! 2. Where a head counts and the text behind it is damaged, that record alone is lost: its length is known.
//! 3. Where no head counts, the reader looks byte by byte for the next one that does. The bytes up to it are lost.
//!
//! So a damaged byte costs one message. Reading costs a look at each byte and one checksum of it, whatever is damaged. The place
//! in the checksum keeps a message that holds a copy of such a file from being taken for records of this one.

use crate::message::Message;

use super::frames::Content;

/// Bytes of a record before its category.
pub(super) const HEAD_BYTES: usize = 16;
/// Bytes of a head under its own checksum.
const SUMMED_BYTES: usize = 12;

/// Appends the record of a message to a buffer that will lie in the file from `start` on. `false`: a part is longer than a head
/// can say.
pub(super) fn append(message: &Message<'_>, start: u64, buffer: &mut Vec<u8>) -> bool {
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).ok();
    let (Some(category), Some(body)) = (length(message.category), length(message.body)) else {
        return false;
    };
    let place = start + buffer.len() as u64;
    let text = crc32c::crc32c_append(crc32c::crc32c(message.category), message.body);
    let summed = [category, body, text].map(u32::to_le_bytes).concat();
    buffer.extend_from_slice(&summed);
    buffer.extend_from_slice(&sum_of_head(place, &summed).to_le_bytes());
    buffer.extend_from_slice(message.category);
    buffer.extend_from_slice(message.body);
    true
}

/// Reads a file from a place on: one message, then more up to `bytes_max` bytes of them.
pub(super) fn read(data: &[u8], from: usize, bytes_max: usize) -> Content {
    let mut content = Content::default();
    let (mut at, mut bytes) = (from, 0);
    while at < data.len() && (content.ends.is_empty() || bytes < bytes_max) {
        let Some(record) = Record::at(data, at) else {
            let next = (at + 1..data.len()).find(|at| Record::at(data, *at).is_some());
            let next = next.unwrap_or(data.len());
            content.lost.push((at, (next - at) as u64));
            at = next;
            continue;
        };
        let end = at + record.bytes();
        match record.is_sound() {
            true => {
                content.messages.push(record.category, record.body);
                content.ends.push(end);
                bytes += record.body.len();
            }
            false => content.lost.push((at, record.bytes() as u64)),
        }
        at = end;
    }
    content.end = at;
    content
}

/// A record whose head counts.
struct Record<'d> {
    category: &'d [u8],
    body: &'d [u8],
    /// Checksum of both, as the head has it.
    sum: u32,
}

impl<'d> Record<'d> {
    fn at(data: &'d [u8], at: usize) -> Option<Record<'d>> {
        let (head, rest) = data.get(at..)?.split_first_chunk::<HEAD_BYTES>()?;
        let (summed, sum) = head.split_at(SUMMED_BYTES);
        let number = |at: usize| {
            let bytes = head.get(at..).and_then(<[u8]>::first_chunk::<4>);
            u32::from_le_bytes(bytes.copied().unwrap_or_default())
        };
        if sum != sum_of_head(at as u64, summed).to_le_bytes() {
            return None;
        }
        let (category, rest) = rest.split_at_checked(usize::try_from(number(0)).ok()?)?;
        let body = rest.get(..usize::try_from(number(4)).ok()?)?;
        Some(Record {
            category,
            body,
            sum: number(8),
        })
    }

    fn bytes(&self) -> usize {
        HEAD_BYTES + self.category.len() + self.body.len()
    }

    fn is_sound(&self) -> bool {
        crc32c::crc32c_append(crc32c::crc32c(self.category), self.body) == self.sum
    }
}

fn sum_of_head(place: u64, summed: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&place.to_le_bytes()), summed)
}

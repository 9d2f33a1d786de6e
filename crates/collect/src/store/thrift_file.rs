//! The format of a `thriftfile`: Thrift's TFileTransport.
//!
//! ```text
//! chunk_size = 16, messages "abc", "defghi", "ijk"
//!
//! 03 00 00 00 'a' 'b' 'c'    00 00 00 00 00 00 00 00 00    16 bytes: an event, then padding
//! 06 00 00 00 'd' … 'i'      00 00 00 00 00 00
//! 03 00 00 00 'i' 'j' 'k'
//! ```
//!
//! - An event is its length, 4 bytes in little-endian order, then the message. The category is not stored.
//! - No event crosses a multiple of `chunk_size` of the file: zeroes fill the chunk before it.
//! - A reader takes the length 0 for padding. So the format has no empty message, and none that is longer than a chunk with its
//!   length: both are counted as `lost`.

/// Thrift's own size of a chunk. Bytes.
pub(super) const CHUNK_BYTES: u64 = 16 << 20;

/// Thrift's own number of messages between two writes.
pub(super) const EVENTS_BUFFERED: u64 = 10_000;

/// Thrift's own time between two syncs. Milliseconds.
pub(super) const FLUSH_MS: u64 = 3_000;

/// Appends an event to a buffer that will lie in the file from `start` on. `false`: the format cannot hold it.
pub(super) fn append(body: &[u8], chunk_bytes: u64, start: u64, buffer: &mut Vec<u8>) -> bool {
    let event_bytes = body.len() as u64 + 4;
    let Ok(length) = u32::try_from(body.len()) else {
        return false;
    };
    if length == 0 || event_bytes > chunk_bytes {
        return false;
    }
    pad(event_bytes, chunk_bytes, start, buffer);
    buffer.extend_from_slice(&length.to_le_bytes());
    buffer.extend_from_slice(body);
    true
}

/// Fills the chunk with zeroes if `next_bytes` more would cross its end. A chunk that has not begun stays empty.
pub(super) fn pad(next_bytes: u64, chunk_bytes: u64, start: u64, buffer: &mut Vec<u8>) {
    let used = (start + buffer.len() as u64) % chunk_bytes;
    if used > 0 && next_bytes > chunk_bytes - used {
        let padded = buffer.len() as u64 + chunk_bytes - used;
        buffer.resize(usize::try_from(padded).unwrap_or(buffer.len()), 0);
    }
}

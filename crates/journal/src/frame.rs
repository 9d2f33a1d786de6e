//! The frame: the bytes that one call of `append` writes. Layout, all numbers little-endian:
//!
//! ```text
//!  0  magic "SnJf"          32  last position known synced     64  table: for each record
//!  4  u16 format version    40  u32 frame bytes                       u32 length, u32 CRC-32C
//!  6  u16 zero              44  u32 record count                payload: the records, one after the other
//!  8  u64 segment epoch     48  u32 chain                       zeroes up to a multiple of 4 KiB
//! 16  u64 segment salt      52  u32 CRC-32C of the table
//! 24  u64 first position    56  u32 zero, 60  u32 CRC-32C of bytes 0..60
//! ```
//!
//! The record `record` alone in a frame, at position 10 of the segment with epoch 3 and salt 0x5a17, when 9 was synced:
//!
//! ```text
//!  0  536e4a66 0100 0000                  magic, version 1
//!  8  0300000000000000 175a000000000000   epoch 3, salt 0x5a17
//! 24  0a00000000000000 0900000000000000   first position 10, last known synced 9
//! 40  4e000000 01000000                   78 bytes = 64 + 8 + 6, one record
//! 48  4d000000 bc1f023c                   chain 0x4d, CRC-32C of the table
//! 56  00000000 1ddde1f7                   zero, CRC-32C of bytes 0..60
//! 64  06000000 d4ac9679                   table: 6 bytes, their CRC-32C
//! 72  7265636f7264                        the record
//! 78  00 …                                zeroes up to 4,096
//! ```
//!
//! Invariants:
//! - One checksum covers each byte but the padding: the header's covers the table's, the table's cover the records. So a
//!   record is summed once, and a reader can verify one record without the others.
//! - The header's checksum does not need the body. So a header that can be read proves its `synced`, even where the body is
//!   torn.
//! - The chain is the header checksum of the frame before. So a whole frame does not count behind another frame than the one
//!   that it was written after.
//! - Epoch and salt are those of the file's name. So neither stale frames of a reused file nor bytes inside a record count.
//!
//! To change the layout: raise `FORMAT_VERSION`, keep reading the older ones, add a fixture directory of the old version
//! to `tests/fixtures/`, and describe both in `docs/formats/journal.md`. Magic, version, epoch, salt and the header's
//! checksum keep their places for ever: by them an old program tells a newer frame from a damaged one.

use crc32c::crc32c;

use crate::Position;
use crate::limits::{FRAME_BYTES_MAX, PAGE_BYTES};

/// The newest format that this program reads, and the one it writes.
pub(crate) const FORMAT_VERSION: u16 = 1;

pub(crate) const HEADER_BYTES: usize = 64;
const ENTRY_BYTES: usize = 8;
const HEADER_CRC_AT: usize = HEADER_BYTES - 4;
const MAGIC: [u8; 4] = *b"SnJf";

const _: () = assert!(
    HEADER_BYTES <= 512,
    "a header lies in one sector, so it is not torn"
);

/// Identity of a segment: part of its file's name and of each of its frames. The epoch counts segments from 1. The salt is
/// drawn at random for each use of a file, so that no record can imitate a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SegmentId {
    pub(crate) epoch: u64,
    pub(crate) salt: u64,
}

/// The header of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) segment: SegmentId,
    /// Position of the first record.
    pub(crate) first: Position,
    /// The last position that was known to be synced when the frame was written. Always below `first`.
    pub(crate) synced: Position,
    /// Length of header, table and payload, without the padding. Bytes.
    pub(crate) frame_bytes: u32,
    /// Number of records, at least 1.
    pub(crate) record_count: u32,
    /// Header checksum of the frame before; 0 in the first frame of a journal.
    pub(crate) chain: u32,
    table_crc: u32,
    /// This header's own checksum.
    pub(crate) crc: u32,
}

/// Why a header could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// No frame begins here, or its header is damaged.
    NotAFrame,
    /// An undamaged header of a format that is newer than this program.
    Newer { segment: SegmentId, version: u16 },
}

impl Header {
    /// Reads the header at the start of `bytes`. Its lengths agree with each other; the caller compares them with the file.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Header, Unreadable> {
        let bytes: &[u8; HEADER_BYTES] = bytes.first_chunk().ok_or(Unreadable::NotAFrame)?;
        let crc = u32_at(bytes, HEADER_CRC_AT);
        if bytes[..4] != MAGIC || crc32c(&bytes[..HEADER_CRC_AT]) != crc {
            return Err(Unreadable::NotAFrame);
        }
        let segment = SegmentId {
            epoch: u64_at(bytes, 8),
            salt: u64_at(bytes, 16),
        };
        match u16::from_le_bytes([bytes[4], bytes[5]]) {
            FORMAT_VERSION => {}
            0 => return Err(Unreadable::NotAFrame),
            version => return Err(Unreadable::Newer { segment, version }),
        }
        let header = Header {
            segment,
            first: Position(u64_at(bytes, 24)),
            synced: Position(u64_at(bytes, 32)),
            frame_bytes: u32_at(bytes, 40),
            record_count: u32_at(bytes, 44),
            chain: u32_at(bytes, 48),
            table_crc: u32_at(bytes, 52),
            crc,
        };
        if header.is_consistent() {
            Ok(header)
        } else {
            Err(Unreadable::NotAFrame)
        }
    }

    fn is_consistent(&self) -> bool {
        let frame_bytes = self.frame_bytes as usize;
        self.record_count > 0
            && self.synced < self.first
            && self
                .first
                .0
                .checked_add(u64::from(self.record_count))
                .is_some()
            && frame_bytes <= FRAME_BYTES_MAX
            && frame_bytes >= HEADER_BYTES + self.table_bytes()
    }

    /// Position of the last record.
    pub(crate) fn last(&self) -> Position {
        Position(self.first.0 + u64::from(self.record_count) - 1)
    }

    /// Length of the frame in its file, padding included. Bytes.
    pub(crate) fn padded_bytes(&self) -> u64 {
        u64::from(self.frame_bytes).next_multiple_of(PAGE_BYTES as u64)
    }

    fn table_bytes(&self) -> usize {
        (self.record_count as usize).saturating_mul(ENTRY_BYTES)
    }
}

/// The fields of a header that do not follow from the records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub(crate) segment: SegmentId,
    pub(crate) first: Position,
    pub(crate) synced: Position,
    pub(crate) chain: u32,
}

/// Length of a frame of these records in its file, padding included. `Err`: its length without padding, where that is above
/// [`FRAME_BYTES_MAX`].
pub(crate) fn padded_bytes(records: &[&[u8]]) -> Result<u64, usize> {
    let payload = records
        .iter()
        .fold(0, |sum: usize, record| sum.saturating_add(record.len()));
    let table = records.len().saturating_mul(ENTRY_BYTES);
    let bytes = payload.saturating_add(table).saturating_add(HEADER_BYTES);
    if bytes > FRAME_BYTES_MAX {
        Err(bytes)
    } else {
        Ok(bytes.next_multiple_of(PAGE_BYTES) as u64)
    }
}

/// Writes the padded frame into `out`, which is emptied first. Returns the header's checksum, the chain of the next frame. The
/// caller has checked the records with `padded_bytes`; there is at least one.
pub(crate) fn encode(origin: &Origin, records: &[&[u8]], out: &mut Vec<u8>) -> u32 {
    let crc = head(origin, records, out);
    for record in records {
        out.extend_from_slice(record);
    }
    out.resize(out.len().next_multiple_of(PAGE_BYTES), 0);
    crc
}

/// As [`encode`], but only what stands before the records: the header and the table.
pub(crate) fn head(origin: &Origin, records: &[&[u8]], out: &mut Vec<u8>) -> u32 {
    assert!(!records.is_empty(), "a frame holds at least one record");
    assert!(
        origin.synced < origin.first,
        "what is being written is not synced"
    );
    out.clear();
    out.resize(HEADER_BYTES, 0);
    for record in records {
        out.extend_from_slice(&(record.len() as u32).to_le_bytes());
        out.extend_from_slice(&crc32c(record).to_le_bytes());
    }
    let table_crc = crc32c(&out[HEADER_BYTES..]);
    let payload: usize = records.iter().map(|record| record.len()).sum();
    let frame_bytes = out.len() + payload;
    assert!(
        frame_bytes <= FRAME_BYTES_MAX,
        "padded_bytes refuses larger frames"
    );

    put(out, 0, &MAGIC);
    put(out, 4, &FORMAT_VERSION.to_le_bytes());
    put(out, 8, &origin.segment.epoch.to_le_bytes());
    put(out, 16, &origin.segment.salt.to_le_bytes());
    put(out, 24, &origin.first.0.to_le_bytes());
    put(out, 32, &origin.synced.0.to_le_bytes());
    put(out, 40, &(frame_bytes as u32).to_le_bytes());
    put(out, 44, &(records.len() as u32).to_le_bytes());
    put(out, 48, &origin.chain.to_le_bytes());
    put(out, 52, &table_crc.to_le_bytes());
    let crc = crc32c(&out[..HEADER_CRC_AT]);
    put(out, HEADER_CRC_AT, &crc.to_le_bytes());
    crc
}

/// The records of a frame whose header and table are sound. The iterator verifies each record as it yields it.
#[derive(Clone, Debug)]
pub(crate) struct Records<'a> {
    table: &'a [u8],
    payload: &'a [u8],
}

/// The records in `frame`, which begins with the header. Verifies the table. `Err` names the damage.
pub(crate) fn records<'a>(header: &Header, frame: &'a [u8]) -> Result<Records<'a>, &'static str> {
    let body = frame
        .get(HEADER_BYTES..header.frame_bytes as usize)
        .ok_or("the file ends inside the frame")?;
    let (table, payload) = body
        .split_at_checked(header.table_bytes())
        .ok_or("the frame ends inside its table of records")?;
    if crc32c(table) != header.table_crc {
        return Err("the checksum of the table of records does not match");
    }
    let lengths = table
        .chunks_exact(ENTRY_BYTES)
        .map(|entry| u64::from(u32_at(entry, 0)));
    if lengths.sum::<u64>() != payload.len() as u64 {
        return Err("the records' lengths do not add up to the frame's");
    }
    Ok(Records { table, payload })
}

impl<'a> Records<'a> {
    /// Every record's bytes, damaged records included, each with whether its checksum matches.
    pub(crate) fn with_bytes(self) -> impl Iterator<Item = (&'a [u8], bool)> {
        let Records { table, mut payload } = self;
        table.chunks_exact(ENTRY_BYTES).map_while(move |entry| {
            let (record, rest) = payload.split_at_checked(u32_at(entry, 0) as usize)?;
            payload = rest;
            Some((record, crc32c(record) == u32_at(entry, 4)))
        })
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<&'a [u8], &'static str>;

    fn next(&mut self) -> Option<Self::Item> {
        let (entry, table) = self.table.split_at_checked(ENTRY_BYTES)?;
        let (record, payload) = self.payload.split_at_checked(u32_at(entry, 0) as usize)?;
        (self.table, self.payload) = (table, payload);
        let is_sound = crc32c(record) == u32_at(entry, 4);
        Some(if is_sound {
            Ok(record)
        } else {
            Err("the checksum of a record does not match")
        })
    }
}

fn put(out: &mut [u8], at: usize, bytes: &[u8]) {
    out[at..at + bytes.len()].copy_from_slice(bytes);
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut number = [0; 4];
    number.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(number)
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(number)
}

#[cfg(test)]
mod tests;

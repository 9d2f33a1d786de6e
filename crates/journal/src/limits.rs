//! The bounds of the journal, with their units and relations.

/// Frames begin and end at multiples of this, so a write never touches a page of an earlier frame. Bytes.
pub(crate) const PAGE_BYTES: usize = disk::PAGE_BYTES;

/// The largest record. Bytes.
pub const RECORD_BYTES_MAX: usize = 256 << 20;

/// The largest frame, its header, table and padding included. Bytes.
pub const FRAME_BYTES_MAX: usize = 1 << 30;

/// The most trimmed segments that are kept as spares, to be renamed instead of filled anew. Files.
pub(crate) const SPARES_MAX: usize = 2;

/// The most that is written at once, but of records that are larger, and the most that the buffer of frames keeps. Bytes.
/// Tests have frames of several pieces, too.
pub(crate) const BUFFER_BYTES: usize = if cfg!(test) { 8 << 10 } else { 4 << 20 };

const _: () = assert!(
    FRAME_BYTES_MAX > RECORD_BYTES_MAX + PAGE_BYTES,
    "a record of the largest size fits a frame"
);
const _: () = assert!(
    FRAME_BYTES_MAX <= u32::MAX as usize,
    "a frame's length is written in 32 bits"
);

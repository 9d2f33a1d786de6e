//! Every bound of the journal, with its unit and what it is related to.

/// Frames begin and end at multiples of this. Bytes. A write never touches a page that holds an earlier frame.
pub(crate) const PAGE_BYTES: usize = disk::PAGE_BYTES;

/// The largest record. Bytes.
pub const RECORD_BYTES_MAX: usize = 256 << 20;

/// The largest frame, its header, table and padding included. Bytes.
pub const FRAME_BYTES_MAX: usize = 1 << 30;

/// Emptied segments that are kept for later use instead of being removed. Files.
pub(crate) const SPARES_MAX: usize = 2;

/// The buffer of frames is given back to the system when one frame has grown it beyond this. Bytes.
pub(crate) const BUFFER_BYTES_KEPT: usize = 4 << 20;

const _: () = assert!(
    FRAME_BYTES_MAX > RECORD_BYTES_MAX + PAGE_BYTES,
    "a record of the largest size fits a frame"
);
const _: () = assert!(
    FRAME_BYTES_MAX <= u32::MAX as usize,
    "a frame's length is written in 32 bits"
);

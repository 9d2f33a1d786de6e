//! Text into words: folding, word boundaries, positions.

/// The words of one document, in one buffer: made once, read by the matcher and by the index.
///
/// Words of a field follow each other in rising position; fields follow each other in rising number.
#[derive(Clone, Debug, Default)]
pub struct Words {
    folded: Vec<u8>,
    marks: Vec<Mark>,
}

/// Where one word stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    start: u32,
    bytes: u16,
    field: u8,
    position: u32,
}

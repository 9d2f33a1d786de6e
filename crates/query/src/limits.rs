//! Every bound of this crate, with its unit. What is over a query's or an expression's bound is refused, never cut.

/// Longest word, in bytes of folded text; the rest of a longer run of letters is not searchable.
/// Cut at a character, in documents and queries alike, so that a long word still finds itself.
pub const WORD_BYTES_MAX: usize = 128;

/// Longest text of all the fields of one document, in bytes; [`crate::analysis::Words`] addresses its buffer with 32 bits
/// and takes no words from what lies beyond.
pub const DOCUMENT_BYTES_MAX: usize = 1 << 30;

/// Longest query text, in bytes.
pub const QUERY_BYTES_MAX: usize = 256 << 10;

/// Deepest nesting of brackets and negations in a query.
pub const QUERY_DEPTH_MAX: u32 = 64;

/// Most words in a query, those inside phrases included.
pub const QUERY_WORDS_MAX: usize = 16_384;

/// Most nodes in a query's tree.
pub const QUERY_NODES_MAX: usize = 32_768;

/// Deepest expression tree; chains of OR and of AND are built balanced and count their logarithm.
pub const EXPRESSION_DEPTH_MAX: u32 = 128;

/// Most nodes in an expression: a million two-column keys, `(a = 1 AND b = 2) OR …`, need eight million.
pub const EXPRESSION_NODES_MAX: usize = 10_000_000;

/// Most constants in one IN list.
pub const IN_VALUES_MAX: usize = 10_000_000;

const _: () = assert!(
    WORD_BYTES_MAX <= u16::MAX as usize,
    "a word's length is kept in 16 bits"
);
const _: () = assert!(
    DOCUMENT_BYTES_MAX <= u32::MAX as usize / 3,
    "folding at most trebles a text, and offsets into it are 32 bits"
);
const _: () = assert!(
    QUERY_WORDS_MAX <= QUERY_NODES_MAX,
    "each word may be a node of its own"
);

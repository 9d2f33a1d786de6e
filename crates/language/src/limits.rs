//! The bounds of this crate, each with its unit. A text or a query beyond a bound is refused, never cut.
//!
//! Example: `(storm | gulf) -"cold front"` has 28 bytes, 4 words, brackets 1 deep, and a tree of 6 nodes that is 3
//! deep:
//!
//! ```text
//! And
//! ├── Or
//! │   ├── storm
//! │   └── gulf
//! └── Not
//!     └── "cold front"
//! ```

/// Longest word, in bytes of folded text. Words are cut at a character, in documents and queries alike, so a long
/// word still finds itself.
pub const WORD_BYTES_MAX: usize = 128;

/// Longest text of all fields of a document together, in bytes of UTF-8. Words beyond it are left out; the engine
/// refuses longer documents before they come here.
pub const DOCUMENT_BYTES_MAX: usize = 128 << 20;

/// Most bytes of folded text for each byte of text. One Arabic ligature of 3 bytes decomposes into 33; a table that
/// stems stores a marked run of three bytes three times, besides the text itself.
const FOLDED_GROWTH_MAX: usize = 28;

/// Longest query text, in bytes.
pub const QUERY_BYTES_MAX: usize = 256 << 10;

/// Deepest nesting of brackets and negations in a query's text.
pub const QUERY_DEPTH_MAX: u32 = 64;

/// Most words of a query, words inside phrases included.
pub const QUERY_WORDS_MAX: usize = 16_384;

/// Most nodes of a query's tree.
pub const QUERY_NODES_MAX: usize = 32_768;

/// Deepest nesting of nodes in a query's tree. It exceeds the brackets' limit because each bracket may hold a chain
/// of NEAR.
pub const QUERY_TREE_DEPTH_MAX: u32 = 256;

/// Most phrases that one phrase with alternatives may stand for: `"( a | b ) ( c | d )"` stands for four.
pub const PHRASE_VARIANTS_MAX: usize = 1_024;

/// Most words of one quorum, `"a b c"/2`. Alternatives in brackets count as one word.
pub const QUORUM_WORDS_MAX: usize = 255;

/// Most places of one document at which words and phrases of a query count for its weight. A place takes 36 bytes, and as much again
/// while places are sorted or joined.
pub const ROW_OCCURRENCES_MAX: usize = 1 << 22;

/// Longest word with wildcards, in characters, wildcards included: the states of its matcher are the bits of a
/// `u128`.
pub const PATTERN_CHARS_MAX: usize = 127;

/// Longest regular expression, in bytes.
pub const REGEX_BYTES_MAX: usize = 4_096;

/// Most regular expressions of a query. Each may take milliseconds to compile.
pub const QUERY_REGEXES_MAX: usize = 64;

/// Most memory of a compiled regular expression, in bytes. The states that it builds lazily may take the same again.
pub const REGEX_PROGRAM_BYTES_MAX: usize = 256 << 10;

const _: () = assert!(
    WORD_BYTES_MAX <= u16::MAX as usize,
    "a word's length is kept in 16 bits"
);
const _: () = assert!(
    DOCUMENT_BYTES_MAX * FOLDED_GROWTH_MAX <= u32::MAX as usize,
    "offsets into the folded text are kept in 32 bits"
);
const _: () = assert!(
    QUERY_WORDS_MAX <= QUERY_NODES_MAX,
    "each word may be a node of its own"
);

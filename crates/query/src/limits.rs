//! Every bound of this crate, with its unit. What is over a query's or an expression's bound is refused, never cut.

/// Longest word, in bytes of folded text; the rest of a longer run of letters is not searchable.
/// Cut at a character, in documents and queries alike, so that a long word still finds itself.
pub const WORD_BYTES_MAX: usize = 128;

/// Longest text of all the fields of one document together, in bytes of UTF-8. Words beyond it are not taken; the engine
/// refuses longer documents before they come here.
pub const DOCUMENT_BYTES_MAX: usize = 128 << 20;

/// Columns of one row, without `id`.
pub const COLUMNS_MAX: usize = u16::MAX as usize;

/// How much longer folding and marking can make a text: one Arabic ligature of 3 bytes decomposes into 33, and a marked run
/// of three is stored three times in a table that stems, behind the text itself.
const FOLDED_GROWTH_MAX: usize = 28;

/// Longest query text, in bytes.
pub const QUERY_BYTES_MAX: usize = 256 << 10;

/// Deepest nesting of brackets and negations in a query.
pub const QUERY_DEPTH_MAX: u32 = 64;

/// Most words in a query, those inside phrases included.
pub const QUERY_WORDS_MAX: usize = 16_384;

/// Most nodes in a query's tree.
pub const QUERY_NODES_MAX: usize = 32_768;

/// Deepest nesting of operators in a query's tree: brackets may each hold a chain of NEAR.
pub const QUERY_TREE_DEPTH_MAX: u32 = 256;

/// Most phrases that the alternatives of one phrase, `"( a | b ) ( c | d )"`, may stand for.
pub const PHRASE_VARIANTS_MAX: usize = 1_024;

/// Most words of one quorum, `"a b c"/2`; alternatives in brackets are one.
pub const QUORUM_WORDS_MAX: usize = 255;

/// Longest word with wildcards, in characters, wildcards included: its states are the bits of a `u128`.
pub const PATTERN_CHARS_MAX: usize = 127;

/// Longest regular expression, in bytes.
pub const REGEX_BYTES_MAX: usize = 4_096;

/// Most regular expressions of one query: each may take milliseconds to compile.
pub const QUERY_REGEXES_MAX: usize = 64;

/// Most memory that a compiled regular expression may take, in bytes; its lazily built states may take as much again.
pub const REGEX_PROGRAM_BYTES_MAX: usize = 256 << 10;

/// Deepest expression tree; chains of OR and of AND are built balanced and count their logarithm.
pub const EXPRESSION_DEPTH_MAX: u32 = 100;

/// Most nodes in an expression: a million two-column keys, `(a = 1 AND b = 2) OR …`, need eight million.
pub const EXPRESSION_NODES_MAX: usize = 10_000_000;

/// Most constants in the IN lists of one expression, with the equalities that OR joins.
pub const IN_VALUES_MAX: usize = 10_000_000;

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

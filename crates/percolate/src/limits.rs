//! Sizes that this crate chooses. None is a promise to a user.

/// Documents that are matched together: a slice. Each has one bit of a 64-bit mask.
pub(crate) const SLICE_DOCUMENTS: usize = 64;

/// Words that are looked up together, at least: whole documents up to this number. Each word's part of the dictionary is
/// prefetched before the first is read, and all of them stay in the nearest cache.
pub(crate) const GROUP_WORDS: usize = if cfg!(test) { 24 } else { 256 };

/// Most documents of one call: an index is a `u32`.
pub(crate) const DOCUMENTS_MAX: usize = u32::MAX as usize;

/// Most pairs of a query and a document that one call gives: 67,108,864. They take 256 MiB in the answer (4 bytes
/// each) and 1 GiB while they are sorted (8 bytes each, in two lists).
pub const PAIRS_MAX: usize = 1 << 26;

/// Steps between two calls of `Documents::goes_on`.
pub(crate) const LOOK_EVERY: u64 = 1 << 15;

/// Units of an expression's work that are about a step.
pub(crate) const UNITS_PER_STEP: u64 = 4;

/// Units ([`language::meter`]) between two calls of `Documents::goes_on`, about.
pub const LOOK_UNITS: u64 = LOOK_EVERY * UNITS_PER_STEP;

/// Most steps that one query takes on one document. Also bounds the memory of its lists of places: 16 bytes a step at
/// most.
pub const QUERY_STEPS_MAX: u64 = 1 << 24;

/// Steps that a statement may take whatever the length of its documents: about 15 ms.
const STATEMENT_STEPS: u64 = 1 << 21;

/// Steps that a statement may take in addition for each word of its documents: about half a microsecond. 50,000 mixed
/// queries take that much if a document hits every fourteenth of them.
pub const STEPS_PER_WORD: u64 = 64;

/// Most steps of a statement whose documents have `words` words in total. Saturates at `u64::MAX`.
#[must_use]
pub fn statement_steps(words: u64) -> u64 {
    STATEMENT_STEPS.saturating_add(words.saturating_mul(STEPS_PER_WORD))
}

/// Steps for comparing one new word with one pattern.
pub(crate) const PATTERN_STEPS: u64 = 4;

/// Steps for evaluating one filter's expression on one document.
pub(crate) const FILTER_STEPS: u64 = 8;

/// Largest group that is decided document by document. A larger group is decided once for the whole slice.
pub(crate) const GROUP_SMALL: u32 = 16;

/// Most entries of a level that is scanned: its entries are not filed under anchors, and each is decided for a whole
/// slice. A scanned entry costs about a nanosecond a slice, less than comparing the slice's documents with rows.
pub(crate) const SCANNED_MAX: usize = if cfg!(test) { 24 } else { 2_048 };

/// Most terms that an entry and its tail hold, the anchor included. The check holds further terms.
pub(crate) const INLINE_TERMS: usize = 6;

/// Most words of a phrase that is one term. Each of the phrase's beginnings of two or more words is a term as well.
pub(crate) const PHRASE_TERM_WORDS_MAX: usize = 8;

/// Most conjunctions that one `And` over `Or`s is expanded into. Beyond that the `Or`s stay in a check. An `Or` at
/// the root is not limited, because its parts are not copied.
pub(crate) const EXPANSION_MAX: usize = 8;

/// Most terms that one entry is filed under. An entry that would need more is tried on every document.
pub(crate) const COVER_TERMS_MAX: usize = 4_096;

/// A level holds at least this many times the queries of the next. A smaller ratio rewrites a query less often on its
/// way to the largest level. A larger ratio gives a matcher fewer levels: at 8, a million queries lie in at most
/// seven.
pub(crate) const LEVEL_RATIO: usize = 8;

/// When the smaller levels are merged into the largest. A query outside the largest level costs a matcher a fraction
/// of a nanosecond a document. Merging costs 2^14 such fractions for each query of the largest level. The merge is
/// due once matchers have paid that much.
pub(crate) const MERGED_FOR: u64 = 1 << 14;

/// Compiled queries that may wait for a snapshot. Once there are this many, and at least one [`FRESH_PART`]th of the
/// set, they become a level without one: a waiting query takes more memory than a filed one.
pub(crate) const FRESH_MAX: usize = if cfg!(test) { 16 } else { 1 << 16 };

/// A set of `n` queries lets `n / FRESH_PART` queries wait, so loading a large set makes a few dozen levels.
pub(crate) const FRESH_PART: usize = 16;

/// Most queries, removed ones included, that the writer merges on its own thread: about a millisecond's work. A
/// larger merge is a job. Small in tests, so that tests reach jobs.
pub(crate) const MERGED_HERE_MAX: usize = if cfg!(test) { 8 } else { 4_096 };

/// With more levels than this the writer merges large ones as well, because the merging thread is behind.
pub(crate) const LEVELS_CROWDED: usize = 24;

/// Most levels of one snapshot. Growth by [`LEVEL_RATIO`] keeps any number of queries below it.
pub(crate) const LEVELS_MAX: usize = 1 << 8;

/// Documents that the stream has learned from when all queries are filed anew for the first time. They are filed anew
/// again each time the count has grown [`LEARNED_GROWTH`]-fold.
pub(crate) const LEARNED_FIRST: u64 = 1_024;

/// Factor between two refilings; see [`LEARNED_FIRST`].
pub(crate) const LEARNED_GROWTH: u64 = 8;

/// Removed queries at which the vocabulary is built anew without their words. The count must also exceed one
/// [`FORGOTTEN_PART`]th of the queries that are left.
pub(crate) const FORGOTTEN_MIN: usize = 4_096;

/// Part of the live queries that must have been removed before words are forgotten: a half. Rebuilding rewrites at
/// most this many queries for each removed one.
pub(crate) const FORGOTTEN_PART: usize = 2;

/// A level is rewritten once more than one in `HOLLOW_PART` of its queries was removed. The memory of removed queries
/// counts as free before that, so a set takes at most one part in `HOLLOW_PART - 1` more than it reports.
pub(crate) const HOLLOW_PART: usize = 8;

const _: () = assert!(SLICE_DOCUMENTS == u64::BITS as usize);
const _: () = assert!(INLINE_TERMS >= 3, "a word, another, and a check");

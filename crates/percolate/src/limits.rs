//! Sizes this crate chooses; none is a promise to a user.

/// Documents examined together: one bit each of a word of masks.
pub(crate) const SLICE_DOCUMENTS: usize = 64;

/// Most documents of one call: their indexes are `u32`.
pub(crate) const DOCUMENTS_MAX: usize = u32::MAX as usize;

/// Most pairs of a query and a document that one call gives: 256 MiB of numbers, four times as many while they are
/// put in order.
pub const PAIRS_MAX: usize = 1 << 26;

/// Steps between two questions to the caller whether it still wants the answer.
pub(crate) const LOOK_EVERY: u64 = 1 << 15;

/// Most steps that one query takes on one document. Also bounds the memory of lists of places: 16 bytes a step at most.
pub const QUERY_STEPS_MAX: u64 = 1 << 24;

/// Steps that a statement may take whatever its documents: about 15 ms.
const STATEMENT_STEPS: u64 = 1 << 21;

/// Steps that it may take beside for each word of its documents: about half a microsecond. As many are taken by 50,000 mixed
/// queries of which each document hits every fourteenth.
pub const STEPS_PER_WORD: u64 = 64;

/// Most steps of a statement whose documents have so many words together.
#[must_use]
pub fn statement_steps(words: u64) -> u64 {
    STATEMENT_STEPS.saturating_add(words.saturating_mul(STEPS_PER_WORD))
}

/// Steps of comparing one new word with one pattern.
pub(crate) const PATTERN_STEPS: u64 = 4;

/// Steps of one evaluation of a filter.
pub(crate) const FILTER_STEPS: u64 = 8;

/// So many entries filed alike are decided document by document; more, for a whole slice at once.
pub(crate) const GROUP_SMALL: u32 = 16;

/// A level of at most so many entries is not filed under anchors: all of them are decided, for a whole slice at once. That
/// takes about a nanosecond each, less than to compare a slice's documents with rows.
pub(crate) const SCANNED_MAX: usize = if cfg!(test) { 24 } else { 2_048 };

/// Words kept inside an entry. CompoundTerms ones go into its check.
pub(crate) const INLINE_TERMS: usize = 6;

/// Words of a phrase that is one term, at most: each of its beginnings is a term, too.
pub(crate) const PHRASE_TERM_WORDS_MAX: usize = 8;

/// Conjunctions that one `And` over `Or`s may be expanded into; beyond that the `Or`s stay in a check.
/// An `Or` at the root is not limited: its parts need no copies of each other.
pub(crate) const EXPANSION_MAX: usize = 8;

/// Terms that one entry is filed under at most; one that would need more is tried on every document.
pub(crate) const COVER_TERMS_MAX: usize = 4_096;

/// A level is at least so many times as large as the next. A smaller step rewrites a query less often on its way
/// to the largest level; a larger one gives a matcher fewer levels to look into: at 8, a million queries lie in at
/// most seven.
pub(crate) const LEVEL_RATIO: usize = 8;

/// Entries beside the largest level cost a matcher a part of a nanosecond for each document; merging them into it costs as
/// much as so many such parts for each of its queries. Once matchers have paid as much, it is merged.
pub(crate) const MERGED_FOR: u64 = 1 << 14;

/// Compiled queries that wait for a snapshot, at least, before they become a level without one: they take more room
/// than in a level. Of a large set a part, so that loading it makes a few dozen levels.
pub(crate) const FRESH_MAX: usize = if cfg!(test) { 16 } else { 1 << 16 };

/// See [`FRESH_MAX`].
pub(crate) const FRESH_PART: usize = 16;

/// Queries of levels that the writer's thread merges itself, about a millisecond's work; more are a job.
/// Few in tests, which cannot wait for many.
pub(crate) const MERGED_HERE_MAX: usize = if cfg!(test) { 8 } else { 4_096 };

/// With more levels than this the writer merges large ones, too, since nobody else does.
pub(crate) const LEVELS_CROWDED: usize = 24;

/// Levels of one snapshot at the very most: even queries without number make fewer.
pub(crate) const LEVELS_MAX: usize = 1 << 8;

/// Documents learned from before queries are filed anew for the first time, and every time their number has
/// grown by [`LEARNED_GROWTH`].
pub(crate) const LEARNED_FIRST: u64 = 1_024;

/// See [`LEARNED_FIRST`].
pub(crate) const LEARNED_GROWTH: u64 = 8;

/// The words of queries taken out are forgotten once so many queries were, and one for each [`FORGOTTEN_PART`] that are left.
pub(crate) const FORGOTTEN_MIN: usize = 4_096;

/// See [`FORGOTTEN_MIN`]. Filing all anew costs a replaced query at most so many rewritings.
pub(crate) const FORGOTTEN_PART: usize = 2;

/// A level is rewritten once more than one query in so many was removed from it. Their memory counts as free before that, so
/// that a set takes at most one part in `HOLLOW_PART - 1` more than it says.
pub(crate) const HOLLOW_PART: usize = 8;

const _: () = assert!(SLICE_DOCUMENTS == u64::BITS as usize);
const _: () = assert!(INLINE_TERMS >= 3, "a word, another, and a check");

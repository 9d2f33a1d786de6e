//! What the places of a query's words in a row say of each field: longest run, counts, first place.
//!
//! A [`Hit`] is Sphinx's name for a place at which a word of the query counts, or a unit of several
//! words such as a phrase. (Elsewhere "hit" is a match of a query.) Hits form a *run* while
//! position less place in the query stays the same, the *shift*. Example: query `big black cat`,
//! row "black cat sat on a big cat":
//!
//! ```text
//! position   1 black   2 cat   6 big   7 cat
//! place      1         2       0       2
//! shift      0         0       6       5          longest run: black cat, 2 words
//! ```

use super::{Occurrences, QueryWords, WordPlace};

/// Facts about one field in which at least one word counts.
pub(super) struct Standing {
    pub(super) field: u8,
    /// Words of the longest run: hits one behind another, with no other hit between them, that lie
    /// as far apart as in the query. At least 1.
    pub(super) lcs: i64,
    /// Number of hits. A place of two words counts twice, a phrase once.
    pub(super) hits: i64,
    /// Distinct words and units among the hits.
    pub(super) words: i64,
    /// Lowest position of a hit.
    pub(super) first: u32,
    /// Whether the query's last word stands at its own place and goes on a run, or is the only
    /// word. If the field also ends there, the field is the query.
    pub(super) is_whole: bool,
}

/// A place at which a word of the query counts, or a unit of several words.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Hit {
    /// `field << 24 | position` of the first word.
    pub(crate) at: u32,
    /// Number of the word; for a unit, a number behind all words that no other unit of the row has
    /// at this place of the query.
    pub(crate) word: u32,
    /// Place in the query, of the first word.
    pub(crate) place: u32,
    /// The next hit of the run has a shift higher by `span - 1`; 1 for a word.
    pub(crate) span: u32,
    /// Number of words that the hit adds to a run.
    pub(crate) weight: u32,
}

/// A run of hits that ends at the current or at the previous position of a hit.
struct Run {
    /// Shift that the next hit of the run must have.
    shift: i64,
    /// Place in the query of the last hit.
    place: u32,
    length: u32,
}

/// Memory for runs, kept from row to row: those that end at the previous position of a hit, and
/// those that end at this one.
#[derive(Default)]
pub(super) struct Runs {
    hits: Vec<Hit>,
    words: Vec<u32>,
    before: Vec<Run>,
    here: Vec<Run>,
}

/// Visits the fields in which a word counts, by rising number.
pub(super) fn each(
    row: &mut Occurrences,
    query_words: &QueryWords,
    mut visit: impl FnMut(Standing),
) {
    let mut runs = row.take_runs();
    runs.expand(row, query_words);
    let hits = std::mem::take(&mut runs.hits);
    for in_field in hits.chunk_by(|one, other| one.at >> 24 == other.at >> 24) {
        let Some(first) = in_field.first() else {
            continue;
        };
        let (lcs, is_whole) = runs.longest(in_field, query_words);
        let (hits, words) = distinct(in_field, query_words.words.len(), &mut runs.words);
        visit(Standing {
            field: (first.at >> 24) as u8,
            lcs,
            hits,
            words,
            first: first.at & 0xFF_FFFF,
            is_whole,
        });
    }
    runs.hits = hits;
    row.give_runs(runs);
}

/// Numbers of hits and of distinct words and units. A word counts once at each place. Numbers from
/// `words_max` on are units: two that begin at one place and end at different ones count each.
fn distinct(in_field: &[Hit], words_max: usize, words: &mut Vec<u32>) -> (i64, i64) {
    let is_one = |one: &Hit, other: &Hit| {
        (one.at, one.word) == (other.at, other.word) && (one.word as usize) < words_max
    };
    let places = in_field.chunk_by(is_one);
    let hits = places.count() as i64;
    words.clear();
    words.extend(in_field.iter().map(|hit| hit.word));
    words.sort_unstable();
    words.dedup();
    (hits, words.len() as i64)
}

/// As [`each`] for a query with one place for each word. `in_query`: the place of each word. `end`:
/// the place behind the last word. Sorts `row`. Returns `false` where two words stand at one place:
/// the caller must then discard what was visited and use [`each`].
#[inline(always)]
pub(super) fn each_once(
    row: &mut [WordPlace],
    in_query: &[u32],
    end: u32,
    mut visit: impl FnMut(Standing),
) -> bool {
    row.sort_unstable();
    for in_field in row.chunk_by(|one, other| one.field() == other.field()) {
        let (mut lcs, mut length, mut is_whole) = (0, 0, false);
        let (mut words, mut before, mut shift_before) = (0u64, 0, i64::MIN);
        for place in in_field {
            let (word, position) = (place.word() as usize, place.position());
            if position == before {
                return false;
            }
            let shift = i64::from(position) - i64::from(in_query[word]);
            length = if shift == shift_before { length + 1 } else { 1 };
            lcs = lcs.max(length);
            is_whole |= shift == 1 && in_query[word] + 1 == end && (length > 1 || end == 1);
            words |= 1 << (word & 63);
            (before, shift_before) = (position, shift);
        }
        let Some(first) = in_field.first() else {
            continue;
        };
        visit(Standing {
            field: first.field(),
            lcs: i64::from(lcs),
            hits: in_field.len() as i64,
            words: i64::from(words.count_ones()),
            first: first.position(),
            is_whole,
        });
    }
    true
}

impl Runs {
    /// Collects the hits of a row in order. A word gives one for each of its places in the query.
    fn expand(&mut self, row: &mut Occurrences, query_words: &QueryWords) {
        self.hits.clear();
        self.hits.extend_from_slice(row.units());
        for (at, word) in row.places() {
            let number = *word as usize;
            let hit = |(place, span, weight)| Hit {
                at: *at,
                word: *word,
                place,
                span,
                weight,
            };
            match query_words.words.get(number) {
                Some(word) => {
                    let alone = word.alone.iter().map(|place| hit((*place, 1, 1)));
                    self.hits.extend(alone);
                }
                None => {
                    let phrase = query_words.phrases.get(number - query_words.words.len());
                    self.hits.extend(phrase.copied().map(hit));
                }
            }
        }
        if !self.hits.is_sorted() {
            self.hits.sort_unstable();
        }
        self.hits.dedup();
    }

    /// The longest run, and the value of [`Standing::is_whole`]. A word with several places in the
    /// query may be in several runs.
    fn longest(&mut self, in_field: &[Hit], query_words: &QueryWords) -> (i64, bool) {
        let end = query_words.end();
        let (mut lcs, mut is_whole) = (0, false);
        self.before.clear();
        for at_position in in_field.chunk_by(|one, other| one.at == other.at) {
            self.here.clear();
            for hit in at_position {
                let shift = i64::from(hit.at & 0xFF_FFFF) - i64::from(hit.place);
                // Upper bounds of phrases assume that a run has each once.
                let is_free = query_words.is_free;
                let goes_on = |run: &&Run| run.shift == shift && (is_free || run.place < hit.place);
                let before = self.before.iter().filter(goes_on);
                let before = before.map(|run| run.length).max().unwrap_or(0);
                let length = before + hit.weight;
                lcs = lcs.max(i64::from(length));
                let is_last = hit.span == 1 && hit.place + 1 == end;
                is_whole |= is_last && shift == 1 && (before > 0 || end == 1);
                self.here.push(Run {
                    shift: shift + i64::from(hit.span) - 1,
                    place: hit.place,
                    length,
                });
            }
            std::mem::swap(&mut self.before, &mut self.here);
        }
        (lcs, is_whole)
    }
}

//! What the places of a query's words in a row say of each field.

use super::{Occurrences, QueryWords, WordPlace};

/// One field in which at least one word counts.
pub(super) struct Standing {
    pub(super) field: u8,
    /// Words of the longest run: hits one after another, with no other hit of the query between them, that lie as far
    /// from each other as they do in the query. At least 1.
    pub(super) lcs: i64,
    /// Hits: places of words, a place of two words counted twice, and of phrases as one.
    pub(super) hits: i64,
    /// Distinct ones.
    pub(super) words: i64,
    /// The first position of any.
    pub(super) first: u32,
    /// Whether the last word of the query stands at its own place and goes on a run, or is the only one: the field is the query if it
    /// ends with it.
    pub(super) is_whole: bool,
}

/// Where a word of the query counts, or several as one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Hit {
    /// `field << 24 | position`, of the first word.
    pub(crate) at: u32,
    /// The word's number; of several, one that no word and no other hit of the row has at that place in the query.
    pub(crate) word: u32,
    /// In the query.
    pub(crate) place: u32,
    /// By how much what goes on the run is shifted, and one: 1 of a word.
    pub(crate) span: u32,
    /// Words that it counts as in a run.
    pub(crate) weight: u32,
}

/// A run that ends at some position.
struct Run {
    /// The position less the place in the query of what goes on with it.
    shift: i64,
    /// WordPlace in the query of the last hit.
    place: u32,
    length: u32,
}

/// The runs that end at the last position, and at this one. Kept between rows.
#[derive(Default)]
pub(super) struct Runs {
    hits: Vec<Hit>,
    words: Vec<u32>,
    before: Vec<Run>,
    here: Vec<Run>,
}

/// Visits the fields by their number.
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

/// How many hits, a word's at each of its places once, and how many words. `words_max`: numbers from there on are of several words that
/// count as one; those that begin at one place and end at others count each.
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

/// The same for a query that asks for each of its words at one place: `in_query`, by word; `end` is the last one and one. `row` is
/// put in order. `false` where two words stand at one place: then what was visited does not hold, and [`each`] must be query_words.
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
    /// The hits of a row, in order: of a word one for each of its places in the query.
    fn expand(&mut self, row: &mut Occurrences, query_words: &QueryWords) {
        self.hits.clear();
        self.hits.extend_from_slice(row.joined());
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

    /// The longest run, and whether [`Standing::is_whole`]. A word that the query has at several places belongs to a run of each.
    fn longest(&mut self, in_field: &[Hit], query_words: &QueryWords) -> (i64, bool) {
        let end = query_words.end();
        let (mut lcs, mut is_whole) = (0, false);
        self.before.clear();
        for at_position in in_field.chunk_by(|one, other| one.at == other.at) {
            self.here.clear();
            for hit in at_position {
                let shift = i64::from(hit.at & 0xFF_FFFF) - i64::from(hit.place);
                // Bounds rely on runs in which each phrase is once.
                let is_free = query_words.phrases.is_empty();
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

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

/// Memory for runs, kept from row to row.
#[derive(Default)]
pub(super) struct Runs {
    /// The hits at the current position.
    hits: Vec<Hit>,
    /// Words and units of the field, possibly several times.
    words: Vec<u32>,
    /// Those that end at the previous position of a hit, by rising shift.
    before: Vec<Run>,
    /// Those that end at this one.
    here: Vec<Run>,
}

/// Hits between two questions whether to stop.
const HITS_A_CHECK: usize = 1 << 16;

/// Visits the fields in which a word counts, by rising number. Hits are made for one position at a time: a word that the query has a
/// thousand times gives a thousand at each.
pub(super) fn each(
    row: &mut Occurrences,
    query_words: &QueryWords,
    mut visit: impl FnMut(Standing),
) {
    let mut runs = row.take_runs();
    row.sort();
    let (mut places, mut units) = (row.places(), row.units());
    let (mut standing, mut made): (Option<Standing>, usize) = (None, 0);
    while let Some(at) = next_place(places, units) {
        let here = cut(&mut places, |(place, _)| *place == at);
        runs.expand(here, cut(&mut units, |unit| unit.at == at), query_words);
        made += runs.hits.len();
        if made > HITS_A_CHECK {
            made = 0;
            if row.is_ended() {
                break;
            }
        }
        if runs.hits.is_empty() {
            continue;
        }
        let field = (at >> 24) as u8;
        if standing
            .as_ref()
            .is_none_or(|standing| standing.field != field)
        {
            runs.end(standing.take(), &mut visit);
            standing = Some(Standing {
                field,
                lcs: 0,
                hits: 0,
                words: 0,
                first: at & 0xFF_FFFF,
                is_whole: false,
            });
        }
        if let Some(standing) = &mut standing {
            runs.add(standing, query_words);
        }
    }
    runs.end(standing, &mut visit);
    row.give_runs(runs);
}

/// The next place of the row at which something counts.
fn next_place(places: &[(u32, u32)], units: &[Hit]) -> Option<u32> {
    let (place, unit) = (places.first(), units.first());
    let both = place.map(|(at, _)| *at).into_iter();
    both.chain(unit.map(|unit| unit.at)).min()
}

/// Cuts the first entries that fit off.
fn cut<'e, T>(entries: &mut &'e [T], fits: impl Fn(&T) -> bool) -> &'e [T] {
    let count = entries.iter().take_while(|entry| fits(entry)).count();
    let (here, rest) = entries.split_at(count);
    *entries = rest;
    here
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
    /// Makes the hits of one position. A word gives one for each of its places in the query.
    fn expand(&mut self, places: &[(u32, u32)], units: &[Hit], query_words: &QueryWords) {
        self.hits.clear();
        self.hits.extend_from_slice(units);
        for (at, word) in places {
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

    /// Adds the hits of the next position to what is known of their field.
    fn add(&mut self, standing: &mut Standing, query_words: &QueryWords) {
        // A word counts once at each place. Numbers behind the words are units: two that begin at one place and end at different ones
        // count each.
        let is_word = |hit: &Hit| (hit.word as usize) < query_words.words.len();
        for same in self.hits.chunk_by(|one, other| one.word == other.word) {
            standing.hits += match same {
                [first, ..] if is_word(first) => 1,
                units => units.len() as i64,
            };
            self.words.extend(same.first().map(|hit| hit.word));
        }
        self.go_on(standing, query_words);
    }

    /// Goes on with runs at the next position. A word with several places in the query may be in several runs.
    fn go_on(&mut self, standing: &mut Standing, query_words: &QueryWords) {
        let end = query_words.end();
        // Upper bounds of phrases assume that a run has each once.
        let is_free = query_words.is_free;
        self.here.clear();
        for hit in &self.hits {
            let shift = i64::from(hit.at & 0xFF_FFFF) - i64::from(hit.place);
            let first = self.before.partition_point(|run| run.shift < shift);
            let before = self.before[first..].iter();
            let before = before.take_while(|run| run.shift == shift);
            let before = before.filter(|run| is_free || run.place < hit.place);
            let before = before.map(|run| run.length).max().unwrap_or(0);
            let length = before + hit.weight;
            standing.lcs = standing.lcs.max(i64::from(length));
            let is_last = hit.span == 1 && hit.place + 1 == end;
            standing.is_whole |= is_last && shift == 1 && (before > 0 || end == 1);
            self.here.push(Run {
                shift: shift + i64::from(hit.span) - 1,
                place: hit.place,
                length,
            });
        }
        self.here.sort_unstable_by_key(|run| run.shift);
        std::mem::swap(&mut self.before, &mut self.here);
    }

    /// Ends a field.
    fn end(&mut self, standing: Option<Standing>, visit: &mut impl FnMut(Standing)) {
        self.words.sort_unstable();
        self.words.dedup();
        let words = self.words.len() as i64;
        self.words.clear();
        self.before.clear();
        if let Some(standing) = standing {
            visit(Standing { words, ..standing });
        }
    }
}

//! Phrases: words at fixed distances in one field.
//!
//! Example: `"black cat"` in a row where black stands at 3 and 8, cat at 4 and 20. Black has
//! distance 0 from the start, cat distance 1. Starts by black: 3, 8. Cat leaves those whose start +
//! 1 is one of its places: 3. The phrase begins at 3.
//!
//! # Where the time goes
//! By the words' lists a phrase of common words, such as `"of the"`, is slow. Both words stand in most rows, so the intersection
//! keeps most rows, and the exact total needs each of them to be checked. A threshold skips no row: it saves only weighing. Where
//! the page has pairs (`pairs.rs`), they leave few rows that have to be read. For these, word after word ([`Phrase::keep`]):
//! 1. A word is not read in a row where its partner, a neighbour in the phrase that is read before it, stands once: the row holds
//!    the pair of both, so the word stands beside that one place.
//! 2. `PlaceWalk::row` finds the posting's first place. A place list has no offset for each posting, so it adds up the
//!    occurrences of the postings since the one read before, at most the 127 before it in its block.
//! 3. The places are unpacked and compared with the starts that the words before left.
//!
//! The rows are few and far between, so most of that is waiting for memory: lines are fetched in advance. With the default ranker,
//! `score/places.rs::record` makes a new [`Phrase`] and reads the places again for each row whose words may reach the threshold
//! of the best rows: [`Phrase::stands`]. There most rows hold each word once, and the start follows from one place of each word
//! ([`PhraseWord::follow`]). Its state in a row is a place or one of three marks:
//!
//! ```text
//! state before    the word's place         state after
//! ANYWHERE        4, distance 1            3          (4 - 1)
//! 3               4, distance 1            3
//! 3               9, distance 1            NOWHERE    (8 is not 3)
//! any place       the word stands twice    SEVERAL    (all places are read)
//! ```
//!
//! Invariants:
//! - [`Phrase::stands`] is asked for rows by rising number: its hints only go forward on a page.
//! - Rows given to [`Phrase::keep`] hold every pair of the phrase that their page keeps; else step 1 would be wrong.
//! - `starts` is valid only after [`Phrase::stands`] has returned `true`.

use super::super::plan::Fields;
use super::joined::Joined;
use super::lists::View;
use super::pairs;
use crate::postings::Run;

/// A phrase on one page. Rows must be asked for by rising number.
pub(super) struct Phrase<'w> {
    words: Vec<PhraseWord>,
    fields: Fields,
    /// Starts of the phrase in the last row that it stands in, each `field << 24 | position`,
    /// rising.
    starts: Vec<u32>,
    places: Vec<u32>,
    asked: &'w [(usize, u32)],
}

/// One word of a phrase. A phrase that repeats a word has one for each time.
struct PhraseWord {
    word: usize,
    /// Positions from the phrase's start.
    distance: u32,
    /// Hint for the word's page.
    hint: usize,
    /// Memory for the word's places.
    run: Run,
    /// The word's posting in the current row, by its number in the page.
    posting: usize,
}

impl<'w> Phrase<'w> {
    /// `words`: number and distance of each word. `fields`: those in which the phrase may stand.
    pub(super) fn new(words: &'w [(usize, u32)], fields: Fields, view: &View<'_>) -> Phrase<'w> {
        let place = |(word, distance): &(usize, u32)| PhraseWord {
            word: *word,
            distance: *distance,
            hint: 0,
            run: Run::default(),
            posting: 0,
        };
        let mut sorted: Vec<PhraseWord> = words.iter().map(place).collect();
        sorted.sort_by_key(|place| view.word(place.word).len());
        Phrase {
            words: sorted,
            fields,
            starts: Vec::new(),
            places: Vec::new(),
            asked: words,
        }
    }

    /// Whether the phrase stands in a row.
    #[inline(always)]
    pub(super) fn stands(&mut self, low: u16, view: &View<'_>) -> bool {
        for place in &mut self.words {
            match view.word(place.word).find(low, &mut place.hint) {
                Some(posting) => place.posting = posting,
                None => return false,
            }
        }
        self.stands_found(view)
    }

    /// Keeps the rows in which the phrase stands. Each row holds all its words, and all its pairs that the page keeps.
    #[inline(always)]
    pub(super) fn keep(&self, rows: &mut Joined, view: &View<'_>) {
        let mut starts = std::mem::take(&mut rows.starts);
        let mut left = std::mem::take(&mut rows.left);
        starts.clear();
        left.clear();
        left.extend(0..rows.lows().len() as u32);
        for (number, word) in self.words.iter().enumerate() {
            let Some(list) = view.lists().get(word.word) else {
                return rows.clear();
            };
            let (first, distance) = (view.word(word.word).first, word.distance);
            let postings = rows.postings_of(word.word);
            let partner = self.partner(number, view).map(|partner| {
                let codes = view.word(partner).codes;
                (codes, rows.postings_of(partner))
            });
            // The partner stands there once, so the word stands beside it: its places need not be read.
            let is_sure = |row: u32| {
                partner.is_some_and(|(codes, postings)| {
                    let code = codes.get(usize::from(postings[row as usize]));
                    code.is_some_and(|code| code >> 5 == 1)
                })
            };
            left.retain(|row| !is_sure(*row));
            let postings = left
                .iter()
                .map(|row| (*row as usize, first + u32::from(postings[*row as usize])));
            postings.clone().for_each(|(_, at)| list.fetch_codes(at));
            postings.clone().for_each(|(_, at)| list.fetch_place(at));
            let mut places = list.places();
            let start = |place: u32| (place & POSITION >= distance).then(|| place - distance);
            if number == 0 {
                let is_meant = |start: &u32| self.fields.set >> (start >> 24 & 63) & 1 == 1;
                for (row, at) in postings {
                    places.row(at).each(|place| {
                        let start = start(place).filter(is_meant);
                        starts.extend(start.map(|start| (row as u32, start)));
                    });
                }
            } else {
                let (mut from, mut kept) = (0, 0);
                let mut pass = |starts: &mut Vec<(u32, u32)>, wanted: (u32, u32)| {
                    while from < starts.len() && starts[from] < wanted {
                        starts[kept] = starts[from];
                        kept += usize::from(is_sure(starts[from].0));
                        from += 1;
                    }
                    if from < starts.len() && starts[from] == wanted {
                        starts[kept] = wanted;
                        kept += 1;
                        from += 1;
                    }
                    kept
                };
                for (row, at) in postings {
                    places.row(at).each(|place| {
                        if let Some(start) = start(place) {
                            pass(&mut starts, (row as u32, start));
                        }
                    });
                }
                let kept = pass(&mut starts, (u32::MAX, u32::MAX));
                starts.truncate(kept);
            }
            left.clear();
            left.extend(starts.chunk_by(|a, b| a.0 == b.0).map(|of_row| of_row[0].0));
        }
        rows.keep(&left);
        (rows.starts, rows.left) = (starts, left);
    }

    /// A neighbour of a word in the phrase that is read before it, if the page keeps the pair of both.
    fn partner(&self, number: usize, view: &View<'_>) -> Option<usize> {
        let place = |word: &PhraseWord| (word.word, word.distance);
        let word = place(&self.words[number]);
        let mut before = self.words[..number].iter().map(place);
        let partner = before.find(|other| {
            let is_pair = |pair: &[(usize, u32)]| {
                let [left, right] = [pair[0], pair[1]];
                [left, right] == [word, *other] || [left, right] == [*other, word]
            };
            let mut neighbours = self.asked.windows(2).filter(|pair| is_pair(pair));
            neighbours.any(|pair| pairs::are_kept(pair[0], pair[1], view))
        });
        partner.map(|(word, _)| word)
    }

    /// Whether the phrase stands in the row whose postings are set. Fills `starts`.
    #[inline(always)]
    fn stands_found(&mut self, view: &View<'_>) -> bool {
        self.starts.clear();
        if let Some(stands) = self.stands_once(view) {
            return stands;
        }
        for (at, place) in self.words.iter_mut().enumerate() {
            let distance = place.distance;
            if at == 0 {
                view.positions_from(place.word, place.posting, &mut place.run, &mut self.starts);
                let fields = self.fields.set;
                self.starts.retain_mut(|start| {
                    let begins =
                        *start & POSITION >= distance && fields >> (*start >> 24 & 63) & 1 == 1;
                    *start = start.wrapping_sub(distance);
                    begins
                });
            } else {
                view.positions_from(place.word, place.posting, &mut place.run, &mut self.places);
                keep_followed(&mut self.starts, &self.places, distance);
            }
            if self.starts.is_empty() {
                return false;
            }
        }
        !self.words.is_empty()
    }

    /// As [`Phrase::stands_found`] for a row in which each word stands once; `None` for any other
    /// row.
    #[inline(always)]
    fn stands_once(&mut self, view: &View<'_>) -> Option<bool> {
        let mut begin = ANYWHERE;
        for place in &mut self.words {
            begin = place.follow(begin, self.fields, view);
        }
        match begin {
            SEVERAL => None,
            NOWHERE | ANYWHERE => Some(false),
            begin => {
                self.starts.push(begin);
                Some(true)
            }
        }
    }

    /// Starts of the phrase in the last row, after [`Phrase::stands`] was `true`: `field << 24 |
    /// position`, rising.
    pub(super) fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// Set of the fields in which the phrase stands, in that row.
    pub(super) fn matched(&self) -> u64 {
        self.starts
            .iter()
            .fold(0, |fields, start| fields | 1 << (start >> 24 & 63))
    }

    /// The phrase's words with their distances, in the order of the query.
    pub(super) fn asked(&self) -> &'w [(usize, u32)] {
        self.asked
    }
}

/// No word has been looked at. Like the two marks below, it is no valid place.
const ANYWHERE: u32 = u32::MAX;
/// The places read so far exclude the phrase.
const NOWHERE: u32 = u32::MAX - 1;
/// A word stands several times: all places must be read.
const SEVERAL: u32 = u32::MAX - 2;

impl PhraseWord {
    /// Takes the state of the row whose posting is set on by this word.
    #[inline(always)]
    fn follow(&mut self, begin: u32, fields: Fields, view: &View<'_>) -> u32 {
        let code = view.word(self.word).codes.get(self.posting);
        if matches!(begin, NOWHERE | SEVERAL) {
            return begin;
        }
        if code.is_none_or(|code| code >> 5 != 1) {
            return SEVERAL;
        }
        let Some(place) = view.place(self.word, self.posting, &mut self.run) else {
            return NOWHERE;
        };
        let fits = place & POSITION >= self.distance && fields.set >> (place >> 24 & 63) & 1 == 1;
        let begins = place.wrapping_sub(self.distance);
        match fits && (begin == ANYWHERE || begin == begins) {
            true => begins,
            false => NOWHERE,
        }
    }
}

const POSITION: u32 = (1 << 24) - 1;

/// Keeps the starts that have a place at `distance` behind them in the same field. Both lists rise.
fn keep_followed(starts: &mut Vec<u32>, places: &[u32], distance: u32) {
    let mut rest = places;
    starts.retain(|start| {
        let wanted = start.wrapping_add(distance);
        while let [place, behind @ ..] = rest
            && *place < wanted
        {
            rest = behind;
        }
        rest.first() == Some(&wanted) && wanted >> 24 == start >> 24
    });
}

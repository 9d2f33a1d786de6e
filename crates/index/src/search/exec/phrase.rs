//! Phrases: words at fixed distances in one field.
//!
//! Example: `"black cat"` in a row where black stands at 3 and 8, cat at 4 and 20. Black has
//! distance 0 from the start, cat distance 1. Starts by black: 3, 8. Cat leaves those whose start +
//! 1 is one of its places: 3. The phrase begins at 3.
//!
//! Most rows hold each word once, so the start follows from one place of each word
//! ([`PhraseWord::follow`]). Its state in a row is a place or one of three marks:
//!
//! ```text
//! state before    the word's place         state after
//! ANYWHERE        4, distance 1            3          (4 - 1)
//! 3               4, distance 1            3
//! 3               9, distance 1            NOWHERE    (8 is not 3)
//! any place       the word stands twice    SEVERAL    (all places are read later)
//! ```
//!
//! # Where the time goes
//! A phrase of common words, such as `"of the"`, is slow. Both words stand in most rows, so the intersection keeps most rows, and
//! the exact total needs each of them to be checked. A threshold skips no row: it saves only weighing. For each kept row, word
//! after word ([`PhraseWord::follow`]):
//! 1. The code tells how often the word stands in the row. More than once: the row becomes SEVERAL, and no place is read yet. A
//!    row that is SEVERAL or NOWHERE already takes no further step.
//! 2. `List::hits_before` finds the posting's first place. A place list has no offset for each posting, so the function adds up
//!    the occurrences of the postings since the one read before, at most the 127 before it in its block. Counts of eight and more
//!    stand in a list of their own: if the posting list has any, two binary searches in that list follow.
//! 3. The place is unpacked and compared.
//!
//! Then [`Phrase::stands_found`] reads all places of all words of each SEVERAL row and merges them. With the default ranker,
//! `score/places.rs::record` makes a new [`Phrase`] and reads the places again for each row whose words may reach the
//! threshold of the best rows.
//!
//! A phrase with a rare word in it has few kept rows. In a query of a phrase and another word, a rare other word saves the phrase
//! only on pages where that word does not occur at all.
//! Nothing is kept from one query to the next.
//!
//! Invariants:
//! - [`Phrase::stands`] is asked for rows by rising number: its hints only go forward on a page.
//! - [`Phrase::keep`] goes over the rows twice. In the second pass `hits_before` may be asked for an earlier posting than before;
//!   it then adds up from the begin of that posting's block.
//! - `starts` is valid only after [`Phrase::stands`] has returned `true`.

use super::super::plan::Fields;
use super::joined::Joined;
use super::lists::View;
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

    /// Keeps the rows in which the phrase stands. Each row holds all its words.
    #[inline(always)]
    pub(super) fn keep(&mut self, rows: &mut Joined, view: &View<'_>) {
        // Index in the joined words, looked up once and not once a row.
        let at = |place: &PhraseWord| rows.words().iter().position(|word| *word == place.word);
        let at: Option<Vec<usize>> = self.words.iter().map(at).collect();
        let Some(at) = at else { return rows.clear() };
        let mut begins = std::mem::take(&mut rows.begins);
        begins.clear();
        begins.resize(rows.lows().len(), ANYWHERE);
        for (place, at) in self.words.iter_mut().zip(&at) {
            place.follow(rows.postings(*at), self.fields, view, &mut begins);
        }
        rows.retain(|rows, row| match begins[row] {
            NOWHERE => false,
            SEVERAL => {
                for (place, at) in self.words.iter_mut().zip(&at) {
                    place.posting = usize::from(rows.postings(*at)[row]);
                }
                self.stands_found(view)
            }
            _ => true,
        });
        rows.begins = begins;
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
            let posting = [place.posting as u16];
            place.follow(
                &posting,
                self.fields,
                view,
                std::slice::from_mut(&mut begin),
            );
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
    /// Takes each row's state in `begins` on by this word. `postings`: the word's posting in each
    /// row.
    #[inline(always)]
    fn follow(&mut self, postings: &[u16], fields: Fields, view: &View<'_>, begins: &mut [u32]) {
        let codes = view.word(self.word).codes;
        for (posting, begin) in postings.iter().zip(begins) {
            let posting = usize::from(*posting);
            if matches!(*begin, NOWHERE | SEVERAL) {
                continue;
            }
            if codes.get(posting).is_none_or(|code| code >> 5 != 1) {
                *begin = SEVERAL;
                continue;
            }
            let Some(place) = view.place(self.word, posting, &mut self.run) else {
                *begin = NOWHERE;
                continue;
            };
            let fits =
                place & POSITION >= self.distance && fields.set >> (place >> 24 & 63) & 1 == 1;
            let begins = place.wrapping_sub(self.distance);
            *begin = match fits && (*begin == ANYWHERE || *begin == begins) {
                true => begins,
                false => NOWHERE,
            };
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

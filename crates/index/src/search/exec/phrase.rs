//! Words at fixed distances in one field.

use super::super::plan::Fields;
use super::joined::Joined;
use super::lists::View;
use crate::postings::Run;

/// A phrase on one page, asked row by row, rising.
pub(super) struct Phrase<'w> {
    words: Vec<PhraseWord>,
    fields: Fields,
    /// Where the phrase begins in the row that was asked for last, once that is known.
    starts: Vec<u32>,
    places: Vec<u32>,
    asked: &'w [(usize, u32)],
}

/// One place of a phrase.
struct PhraseWord {
    word: usize,
    /// From the first place.
    distance: u32,
    /// Where the search on the page has come to.
    hint: usize,
    /// Likewise that in the positions.
    run: Run,
    /// The posting in the row that is asked for.
    posting: usize,
}

impl<'w> Phrase<'w> {
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

    /// Whether it stands in a row.
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

    /// Keeps the rows, each of which has all words, that it stands in.
    #[inline(always)]
    pub(super) fn keep(&mut self, rows: &mut Joined, view: &View<'_>) {
        // A place in the joined words is looked for once, not once a row.
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

    /// Whether it stands in the row whose postings are known.
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

    /// The same for a row in which each word stands once, as most do; `None` for another.
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

    /// Where it begins in the row that was asked for last: `field << 24 | position`, rising.
    pub(super) fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// Bits of the fields that it stands in, in that row.
    pub(super) fn matched(&self) -> u64 {
        self.starts
            .iter()
            .fold(0, |fields, start| fields | 1 << (start >> 24 & 63))
    }

    /// Its words and their distances, in its order.
    pub(super) fn asked(&self) -> &'w [(usize, u32)] {
        self.asked
    }
}

/// Where a phrase begins in a row in which its words stand once each: a place, or one of these, which no place is.
const ANYWHERE: u32 = u32::MAX;
const NOWHERE: u32 = u32::MAX - 1;
/// A word stands several times: all places are to be looked at.
const SEVERAL: u32 = u32::MAX - 2;

impl PhraseWord {
    /// Where the phrase can begin in rows with these postings, of where it can by the words before.
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

/// Keeps the starts that have a place so far behind, in the same field. Both rise.
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

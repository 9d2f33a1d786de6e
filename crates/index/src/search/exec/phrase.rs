//! Words at fixed distances in one field.

use super::super::plan::Fields;
use super::lists::View;

/// A phrase on one page, asked row by row, rising.
pub(super) struct Phrase<'w> {
    /// Word and distance from the first, those of few rows first.
    words: Vec<(usize, u32)>,
    fields: Fields,
    /// By place in `words`.
    hints: Vec<usize>,
    /// Where the phrase may begin in the row.
    starts: Vec<u32>,
    places: Vec<u32>,
    asked: &'w [(usize, u32)],
}

impl<'w> Phrase<'w> {
    pub(super) fn new(words: &'w [(usize, u32)], fields: Fields, view: &View<'_>) -> Phrase<'w> {
        let mut sorted = words.to_vec();
        sorted.sort_by_key(|(word, _)| view.word(*word).len());
        Phrase {
            hints: vec![0; sorted.len()],
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
        self.starts.clear();
        if let Some(stands) = self.stands_once(low, view) {
            return stands;
        }
        for at in 0..self.words.len() {
            let (word, distance) = self.words[at];
            let Some(posting) = view.word(word).find(low, &mut self.hints[at]) else {
                return false;
            };
            if at == 0 {
                view.positions(word, posting, &mut self.starts);
                let fields = self.fields.set;
                self.starts.retain_mut(|place| {
                    let begins = *place & POSITION >= distance && fields >> (*place >> 24) & 1 == 1;
                    *place = place.wrapping_sub(distance);
                    begins
                });
            } else {
                view.positions(word, posting, &mut self.places);
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
    fn stands_once(&mut self, low: u16, view: &View<'_>) -> Option<bool> {
        let mut start = None;
        for at in 0..self.words.len() {
            let (word, distance) = self.words[at];
            let page = view.word(word);
            let Some(posting) = page.find(low, &mut self.hints[at]) else {
                return Some(false);
            };
            if page.codes.get(posting)? >> 5 != 1 {
                return None;
            }
            let place = view.place(word, posting)?;
            let begins = place.wrapping_sub(distance);
            let fields = self.fields.set;
            if place & POSITION < distance
                || fields >> (place >> 24 & 63) & 1 == 0
                || start.is_some_and(|start| start != begins)
            {
                return Some(false);
            }
            start = Some(begins);
        }
        self.starts.extend(start);
        Some(start.is_some())
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

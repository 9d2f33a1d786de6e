//! Weighs rows in which two words stand near each other, by the longest run in each field.
//!
//! Two words near each other are joined to a unit, as `language::verify` has it: from each occurrence the next one of the other word is
//! looked for, which then opens the next unit in its stead. A unit has two words, and the place in the query of the first one of
//! them that stands there. It goes on with the run of the unit before it if its shift is higher by 1. Example, `big NEAR/3 cat`:
//!
//! ```text
//! big    4       20          cat    6, 8       22
//! units     big 4 - cat 6    cat 6 - cat 8    big 20 - cat 22
//! place     0                1                0
//! shift     4                5                20          the longest run has 4 words: those of the first two
//! ```
//!
//! The slow form is `language::verify` with `placed.rs`; a test holds the two equal.

use super::super::plan::PlacedTwo;
use super::super::rank::RunWeights;
use super::lists::View;
use crate::error::Result;
use crate::postings::{PlaceWalk, RowPlaces};
use crate::wide::wide;

/// Units of a row whose places are compared.
const PLACES_UNITS: u64 = 200;

/// The rows of a page that match `left NEAR/distance right`.
pub(super) struct NearRows<'v, 'l> {
    words: [usize; 2],
    distance: u32,
    weights: RunWeights<'v>,
    view: &'v View<'l>,
    walks: [PlaceWalk<'v>; 2],
    /// Hints for the pages of the words.
    hints: [usize; 2],
}

impl<'v, 'l> NearRows<'v, 'l> {
    /// `None` where a word has no list.
    pub(super) fn new(
        two: &PlacedTwo,
        distance: u32,
        weights: RunWeights<'v>,
        view: &'v View<'l>,
    ) -> Option<NearRows<'v, 'l>> {
        let [first, second] = two.words.map(|word| view.lists().get(word));
        Some(NearRows {
            words: two.words,
            distance,
            weights,
            view,
            walks: [first?.places(), second?.places()],
            hints: [0; 2],
        })
    }

    /// Adds the weights of those of the rows `lows`, which rise from call to call, that reach `threshold`. Asks once whether to
    /// stop. Errors: `Interrupted`.
    pub(super) fn weigh(
        &mut self,
        lows: &[u16],
        threshold: i64,
        weighed: &mut Vec<(u16, i64)>,
    ) -> Result<()> {
        self.view.control.spend(PLACES_UNITS * lows.len() as u64)?;
        weigh_some(self, lows, threshold, weighed);
        Ok(())
    }

    #[inline(always)]
    fn weigh_some(&mut self, lows: &[u16], threshold: i64, weighed: &mut Vec<(u16, i64)>) {
        for low in lows {
            let (mut sum, mut occurrences, mut postings) = (0, 0, [0; 2]);
            for (at, word) in self.words.iter().enumerate() {
                let page = self.view.word(*word);
                let posting = page.probe(*low, &mut self.hints[at]).0;
                let code = page.codes.get(posting).copied().unwrap_or(0);
                let hits = self.view.hits(*word, posting);
                sum += self.weights.value(*word, code, hits);
                occurrences += i64::from(hits);
                postings[at] = page.first + posting as u32;
            }
            // All occurrences but the first and the last are in two units.
            let most = 2 * (occurrences - 1);
            if self.weights.most(most, sum) < threshold {
                continue;
            }
            let [first, second] = &mut self.walks;
            let places = [first.row(postings[0]), second.row(postings[1])];
            let mut points: i64 = 0;
            each_run(&places, self.distance, |field, run| {
                points = points.saturating_add(self.weights.points(field, run));
            });
            let weight = self.weights.weight(points, sum);
            if weight >= threshold {
                weighed.push((*low, weight));
            }
        }
    }
}

/// Visits the fields in which the words are near each other, with the words of the longest run there.
#[inline(always)]
fn each_run(places: &[RowPlaces<'_>; 2], distance: u32, mut visit: impl FnMut(usize, i64)) {
    let (mut at, lengths) = ([0; 2], places.map(RowPlaces::len));
    let next_of = |word: usize, at: usize| match at < lengths[word] {
        true => places[word].at(at),
        false => u32::MAX,
    };
    let mut next = [next_of(0, 0), next_of(1, 0)];
    // The occurrence that opens the next unit, the word that stands there, and the word whose role it has.
    let (mut opened, mut stands, mut opener) = (u32::MAX, 0, 0);
    // Shift of the last unit (place in the row less place in the query), the words of its run, and of the field's longest.
    let (mut shift, mut run, mut longest) = (i64::MIN, 0, 0);
    loop {
        let word = usize::from(next[1] < next[0]);
        let here = next[word];
        let is_end = here == u32::MAX;
        if is_end || here >> 24 != opened >> 24 {
            if longest > 0 {
                visit((opened >> 24) as usize, longest);
            }
            if is_end {
                return;
            }
            (opened, stands, opener) = (here, word, word);
            (shift, run, longest) = (i64::MIN, 0, 0);
        } else if here == opened {
            // Only damaged bytes have two words at one place.
            opener = opener.min(word);
        } else if word == opener || here - opened > distance {
            (opened, stands, opener) = (here, word, word);
        } else {
            let begin = i64::from(opened) - stands.min(word) as i64;
            run = if shift.wrapping_add(1) == begin {
                run + 2
            } else {
                2
            };
            (shift, longest) = (begin, longest.max(run));
            (opened, stands) = (here, word);
        }
        at[word] += 1;
        next[word] = next_of(word, at[word]);
    }
}

wide! {
    fn weigh_some(rows: &mut NearRows<'_, '_>, lows: &[u16], threshold: i64, weighed: &mut Vec<(u16, i64)>) = NearRows::weigh_some
}

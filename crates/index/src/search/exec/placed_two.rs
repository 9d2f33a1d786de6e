//! Rows in which two words stand near each other, one before the other, or in one sentence: `a NEAR/5 b`, `a << b`, `a SENTENCE b`.
//!
//! Most operators on positions have two plain words. The places of both are read side by side until they decide. Example:
//!
//! ```text
//! big   4, 20, 41     cat   9, 22
//! NEAR/3   4 and 9 are 5 apart; 20 and 9 are 11 apart; 20 and 22 are 2 apart: the row matches
//! <<       4 is before 9: it matches
//! SENTENCE, ends at 15 and 30   4 and 9 are in the first one: it matches
//! ```

use super::super::values::ROW_UNITS;
use crate::text_ends::TextEnds;

use super::super::plan::{PlacedTwo, TwoOperator};
use super::lists::View;
use crate::error::Result;
use crate::postings::{PlaceWalk, RowPlaces};
use crate::wide::wide;

/// Rows whose places are fetched from memory together.
const ROWS_AHEAD: usize = 256;
/// Rows ahead of their turn whose ends of texts are fetched from memory.
const ENDS_AHEAD: usize = 16;

impl PlacedTwo {
    /// Adds those of the rows `lows`, which hold both words, that match. Errors: `Interrupted`, `Io`, `Corrupt`.
    pub(super) fn keep(&self, lows: &[u16], view: &View<'_>, kept: &mut Vec<u16>) -> Result<()> {
        let [Some(first), Some(second)] = self.words.map(|word| view.lists().get(word)) else {
            return Ok(());
        };
        let mut walks = [first.places(), second.places()];
        let (mut hints, mut ends) = ([0; 2], TextEnds::default());
        for lows in lows.chunks(ROWS_AHEAD) {
            view.control.spend(ROW_UNITS * lows.len() as u64)?;
            keep_some(self, lows, &mut walks, &mut hints, &mut ends, view, kept)?;
        }
        Ok(())
    }

    /// Whether a row is decided by where its sentences or paragraphs end. In a table that does not know, each text is one.
    fn asks_ends(&self, view: &View<'_>) -> bool {
        let knows = view.texts.shape.analyzer.settings().units();
        knows && matches!(self.operator, TwoOperator::Together(_))
    }

    #[inline(always)]
    fn keep_some(
        &self,
        lows: &[u16],
        walks: &mut [PlaceWalk<'_>; 2],
        hints: &mut [usize; 2],
        ends: &mut TextEnds,
        view: &View<'_>,
        kept: &mut Vec<u16>,
    ) -> Result<()> {
        let asks_ends = self.asks_ends(view);
        let mut postings = [[0; ROWS_AHEAD]; 2];
        for ((word, hint), postings) in self.words.iter().zip(hints).zip(&mut postings) {
            let page = view.word(*word);
            for (posting, low) in postings.iter_mut().zip(lows) {
                *posting = page.first + page.probe(*low, hint).0 as u32;
            }
            if let Some(list) = view.lists().get(*word) {
                let postings = &postings[..lows.len()];
                postings
                    .iter()
                    .for_each(|posting| list.fetch_codes(*posting));
                postings
                    .iter()
                    .for_each(|posting| list.fetch_place(*posting));
            }
        }
        let [first, second] = walks;
        for (row, low) in lows.iter().enumerate() {
            if asks_ends {
                if let Some(ahead) = lows.get(row + ENDS_AHEAD) {
                    view.texts.part.fetch_text_ends(view.doc(*ahead));
                }
                view.texts.ends(view.doc(*low), ends)?;
            }
            let (one, other) = (first.row(postings[0][row]), second.row(postings[1][row]));
            if self.operator.accepts(&one, &other, ends) {
                kept.push(*low);
            }
        }
        Ok(())
    }
}

impl TwoOperator {
    /// Whether a row matches whose words have these places. Of any two places in one unit, or near each other, those between are
    /// so, too: it is enough to compare neighbours.
    #[inline(always)]
    fn accepts(self, first: &RowPlaces<'_>, second: &RowPlaces<'_>, ends: &TextEnds) -> bool {
        let (mut at, mut other) = (0, 0);
        if self == TwoOperator::Before && second.len() > 0 && first.len() > 0 {
            // In a field, what comes behind any place comes behind the first one, and if any does, the last one does.
            let (one, last) = (first.at(0), second.at(second.len() - 1));
            if one >> 24 == last >> 24 {
                return one < last;
            }
        }
        while at < first.len() && other < second.len() {
            let (one, two) = (first.at(at), second.at(other));
            let are_in_field = one >> 24 == two >> 24;
            match self {
                TwoOperator::Near(distance) => {
                    if are_in_field && one.abs_diff(two) <= distance {
                        return true;
                    }
                    match one < two {
                        true => at += 1,
                        false => other += 1,
                    }
                }
                TwoOperator::Together(unit) => {
                    let (low, high) = (one.min(two), one.max(two));
                    let end = || ends.unit_bounds(unit, (low >> 24) as u8, low & POSITION).1;
                    if are_in_field && end() >= high & POSITION {
                        return true;
                    }
                    match one < two {
                        true => at += 1,
                        false => other += 1,
                    }
                }
                TwoOperator::Before => {
                    if are_in_field && one < two {
                        return true;
                    }
                    // The first place in a field is the one that most places come behind.
                    match one >> 24 < two >> 24 {
                        true => at += 1,
                        false => other += 1,
                    }
                }
            }
        }
        false
    }
}

const POSITION: u32 = (1 << 24) - 1;

wide! {
    fn keep_some(two: &PlacedTwo, lows: &[u16], walks: &mut [PlaceWalk<'_>; 2], hints: &mut [usize; 2], ends: &mut TextEnds, view: &View<'_>, kept: &mut Vec<u16>) -> Result<()> = PlacedTwo::keep_some
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use language::tree::Unit;

    use super::*;

    /// Places in two fields, rising.
    fn places() -> impl Strategy<Value = Vec<u32>> {
        let place = (0..2_u32, 1..40_u32).prop_map(|(field, position)| field << 24 | position);
        proptest::collection::btree_set(place, 0..8).prop_map(|places| places.into_iter().collect())
    }

    proptest! {
        #[test]
        fn a_row_matches_if_two_places_do(first in places(), second in places(), distance in 1..6_u32) {
            let accepts = |operator: TwoOperator| {
                operator.accepts(&RowPlaces::Plain(&first), &RowPlaces::Plain(&second), &TextEnds::default())
            };
            let any = |fits: &dyn Fn(u32, u32) -> bool| {
                let mut pairs = first.iter().flat_map(|one| second.iter().map(move |two| (*one, *two)));
                pairs.any(|(one, two)| one >> 24 == two >> 24 && fits(one, two))
            };
            prop_assert_eq!(accepts(TwoOperator::Near(distance)), any(&|one, two| one.abs_diff(two) <= distance));
            prop_assert_eq!(accepts(TwoOperator::Before), any(&|one, two| one < two));
            // Without ends, a field is one sentence.
            prop_assert_eq!(accepts(TwoOperator::Together(Unit::Sentence)), any(&|_, _| true));
        }
    }
}

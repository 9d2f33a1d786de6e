//! Rows in which a word stands at a place of its field: `^word`, `word$`, `@field[N] word`.
//!
//! The places of a row rise by field, then by position. So the first one of a field tells whether the word begins the field or
//! stands among its first `N` words, and the last one whether it ends the field. Example, a row whose word stands at
//!
//! ```text
//! field 0: 3, 7     field 1: 1, 5, 9        field 0 ends at 7, field 1 at 12
//! ^word      3 is not 1; 1 is: field 1
//! @0[4]      3 is at most 4: field 0
//! word$      9 is not 12; 7 is the end: field 0
//! ```

use super::super::plan::PlacedWord;
use super::lists::View;
use crate::error::Result;
use crate::postings::{PlaceWalk, RowPlaces};
use crate::segment::Lasts;
use crate::wide::wide;

/// Rows ahead of their turn whose ends of texts are fetched from memory.
const ENDS_AHEAD: usize = 16;

/// Rows between two questions whether to stop.
const ROWS_A_CHECK: usize = 4_096;

impl PlacedWord {
    /// Adds those of the rows `lows`, which hold the word, in which it stands at its place. Errors: `Interrupted`, `Io`, `Corrupt`.
    pub(super) fn keep(&self, lows: &[u16], view: &View<'_>, kept: &mut Vec<u16>) -> Result<()> {
        let Some(list) = view.lists().get(self.word) else {
            return Ok(());
        };
        let lasts = match self.place.last {
            true => view.texts.lasts(view.page, lows.len())?,
            false => None,
        };
        let mut walk = list.places();
        for lows in lows.chunks(ROWS_A_CHECK) {
            view.control.check()?;
            keep_some(self, lows, lasts, &mut walk, view, kept)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn keep_some(
        &self,
        lows: &[u16],
        lasts: Option<Lasts<'_>>,
        walk: &mut PlaceWalk<'_>,
        view: &View<'_>,
        kept: &mut Vec<u16>,
    ) -> Result<()> {
        let (page, mut hint) = (view.word(self.word), 0);
        // A field that the table lacks would let no row end before its last place.
        let columns = view.texts.shape.text_columns() as u32;
        let fields = self.fields & u64::MAX.checked_shr(u64::BITS - columns).unwrap_or(0);
        for (row, low) in lows.iter().enumerate() {
            if self.place.last
                && lasts.is_none()
                && let Some(ahead) = lows.get(row + ENDS_AHEAD)
            {
                view.texts.part.fetch_text_ends(view.doc(*ahead));
            }
            let Some(posting) = page.find(*low, &mut hint) else {
                continue;
            };
            let places = walk.row(page.first + posting as u32);
            let last = |field| match lasts.and_then(|lasts| lasts.last(*low, field)) {
                Some(last) => Ok(last),
                None => view.texts.last(view.doc(*low), field),
            };
            if self.stands(places, fields, last)? {
                kept.push(*low);
            }
        }
        Ok(())
    }

    /// Whether the word stands at its place in a row, in one of `fields`. `last`: the last position of a field.
    #[inline(always)]
    fn stands(
        &self,
        places: RowPlaces<'_>,
        fields: u64,
        mut last: impl FnMut(u8) -> Result<Option<u32>>,
    ) -> Result<bool> {
        let most = match (self.place.first, self.place.within) {
            (true, _) => 1,
            (false, 0) => u32::MAX,
            (false, within) => within,
        };
        let (count, mut asked) = (places.len(), fields);
        for at in 0..count {
            if asked == 0 {
                break;
            }
            let place = places.at(if self.place.last { count - 1 - at } else { at });
            let (field, position) = ((place >> 24) as u8, place & POSITION);
            // Later places of the field are further from where the word must stand.
            let is_first = asked >> (field & 63) & 1 == 1;
            asked &= !(1 << (field & 63));
            if is_first && position <= most && (!self.place.last || last(field)? == Some(position))
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

const POSITION: u32 = (1 << 24) - 1;

wide! {
    fn keep_some(word: &PlacedWord, lows: &[u16], lasts: Option<Lasts<'_>>, walk: &mut PlaceWalk<'_>, view: &View<'_>, kept: &mut Vec<u16>) -> Result<()> = PlacedWord::keep_some
}

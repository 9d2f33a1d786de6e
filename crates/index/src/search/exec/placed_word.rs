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
use crate::postings::{BLOCK, List, PlaceWalk, RowPlaces};
use crate::segment::Lasts;
use crate::wide::wide;

/// Rows ahead of their turn whose ends of texts are fetched from memory.
const ENDS_AHEAD: usize = 16;

/// Rows between two questions whether to stop.
const ROWS_A_CHECK: usize = 4_096;

/// Units of a row whose first or last place decides.
const PLACED_ROW_UNITS: u64 = 20;

/// First places are read block by block where at least a quarter of the page's postings are asked for.
const BLOCKS_FROM: usize = 4;

/// The first places of the postings of the last block asked for.
struct Firsts {
    block: usize,
    /// Whether the block could be read. A list in memory has none.
    are_known: bool,
    places: [u32; BLOCK],
}

impl Firsts {
    /// No block is read yet.
    fn new() -> Firsts {
        Firsts {
            block: usize::MAX,
            are_known: false,
            places: [0; BLOCK],
        }
    }

    /// The first place of a posting; `None` where its block cannot be read.
    #[inline(always)]
    fn of(&mut self, at: u32, list: &List<'_>) -> Option<u32> {
        let block = at as usize / BLOCK;
        if block != self.block {
            self.block = block;
            self.are_known = list.first_places(block, &mut self.places).is_some();
        }
        self.are_known.then(|| self.places[at as usize % BLOCK])
    }
}

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
        let (mut walk, mut firsts) = (list.places(), Firsts::new());
        let by_block = !self.place.last && lows.len() * BLOCKS_FROM >= view.word(self.word).len();
        for lows in lows.chunks(ROWS_A_CHECK) {
            view.control.spend(PLACED_ROW_UNITS * lows.len() as u64)?;
            match by_block {
                true => keep_early(self, lows, list, &mut firsts, &mut walk, view, kept)?,
                false => keep_some(self, lows, lasts, &mut walk, view, kept)?,
            }
        }
        Ok(())
    }

    /// As [`PlacedWord::keep_some`], of a word that need not end its field: a row's first place decides, but where the word stands
    /// in several of the fields.
    #[inline(always)]
    fn keep_early(
        &self,
        lows: &[u16],
        list: &List<'_>,
        firsts: &mut Firsts,
        walk: &mut PlaceWalk<'_>,
        view: &View<'_>,
        kept: &mut Vec<u16>,
    ) -> Result<()> {
        let (page, mut hint) = (view.word(self.word), 0);
        let (fields, most) = (self.fields_of(view), self.most());
        for low in lows {
            let Some(posting) = page.find(*low, &mut hint) else {
                continue;
            };
            let at = page.first + posting as u32;
            let is_there = match firsts.of(at, list) {
                Some(place) => {
                    let (field, position) = (1 << (place >> 24 & 63), place & POSITION);
                    fields & field != 0 && position <= most
                        || list.fields(at) & fields & !field != 0
                            && self.stands(walk.row(at), fields, |_| Ok(None))?
                }
                None => self.stands(walk.row(at), fields, |_| Ok(None))?,
            };
            if is_there {
                kept.push(*low);
            }
        }
        Ok(())
    }

    /// The fields asked for that the table has: another one would let no row end before its last place.
    fn fields_of(&self, view: &View<'_>) -> u64 {
        let columns = view.texts.shape.text_columns() as u32;
        self.fields & u64::MAX.checked_shr(u64::BITS - columns).unwrap_or(0)
    }

    /// The last position at which the word may stand.
    fn most(&self) -> u32 {
        match (self.place.first, self.place.within) {
            (true, _) => 1,
            (false, 0) => u32::MAX,
            (false, within) => within,
        }
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
        let fields = self.fields_of(view);
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
        let most = self.most();
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
wide! {
    fn keep_early(word: &PlacedWord, lows: &[u16], list: &List<'_>, firsts: &mut Firsts, walk: &mut PlaceWalk<'_>, view: &View<'_>, kept: &mut Vec<u16>) -> Result<()> = PlacedWord::keep_early
}

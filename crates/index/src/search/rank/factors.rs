//! What the places of a query's words in a row say of each field.

use super::{Asked, Occurrences, Place};

/// One field in which at least one word counts.
pub(super) struct Standing {
    pub(super) field: u8,
    /// Words of the longest run: places of words one after another, with no other word of the query between them, that lie as far
    /// from each other as they do in the query. At least 1.
    pub(super) lcs: i64,
    /// Places of words, a place of two words counted twice.
    pub(super) hits: i64,
    /// Distinct words.
    pub(super) words: i64,
    /// The first position of any.
    pub(super) first: u32,
    /// Whether a run of all places of the query begins at position 1: the field is the query if it ends with it.
    pub(super) is_whole: bool,
}

/// A run that ends at some position: its shift, which is that position less the place in the query, and its length.
type Run = (i64, u32);

/// The runs that end at the last position, and at this one. Kept between rows.
#[derive(Default)]
pub(super) struct Runs {
    before: Vec<Run>,
    here: Vec<Run>,
}

/// Visits the fields by their number.
pub(super) fn each(row: &mut Occurrences, asked: &Asked, mut visit: impl FnMut(Standing)) {
    let mut runs = row.take_runs();
    row.sort_places();
    for in_field in row
        .places()
        .chunk_by(|one, other| one.0 >> 24 == other.0 >> 24)
    {
        let Some((first, _)) = in_field.first() else {
            continue;
        };
        let field = (first >> 24) as u8;
        let (lcs, is_whole) = runs.longest(in_field, asked);
        visit(Standing {
            field,
            lcs,
            hits: in_field.len() as i64,
            words: row.words_in(field),
            first: first & 0xFF_FFFF,
            is_whole,
        });
    }
    row.give_runs(runs);
}

/// The same for a query that asks for each of its words at one place: `in_query`, by word, of so many places as it has. `row` is
/// put in order. `false` where two words stand at one place: then what was visited does not hold, and [`each`] must be asked.
#[inline(always)]
pub(super) fn each_once(
    row: &mut [Place],
    in_query: &[u32],
    places: u32,
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
            is_whole |= shift == 1 && length == places;
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
    /// The longest run, and whether one of all places of the query begins at position 1. A word that the query has at several
    /// places belongs to a run of each.
    fn longest(&mut self, in_field: &[(u32, u32)], asked: &Asked) -> (i64, bool) {
        let (mut lcs, mut is_whole) = (1, false);
        self.before.clear();
        for at_position in in_field.chunk_by(|one, other| one.0 == other.0) {
            self.here.clear();
            for (place, word) in at_position {
                let position = i64::from(place & 0xFF_FFFF);
                for in_query in &asked.words[*word as usize].places {
                    let shift = position - i64::from(*in_query);
                    if length_of(&self.here, shift) > 0 {
                        continue;
                    }
                    let length = length_of(&self.before, shift) + 1;
                    lcs = lcs.max(i64::from(length));
                    is_whole |= shift == 1 && length == asked.places();
                    self.here.push((shift, length));
                }
            }
            std::mem::swap(&mut self.before, &mut self.here);
        }
        (lcs, is_whole)
    }
}

/// The length of the run of a shift, 0 if there is none.
fn length_of(runs: &[Run], shift: i64) -> u32 {
    let run = runs.iter().find(|(known, _)| *known == shift);
    run.map_or(0, |(_, length)| *length)
}

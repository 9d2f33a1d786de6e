//! What the places of a query's words in a row say of each field.

use super::{Asked, Occurrences};

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

/// Visits the fields by their number.
pub(super) fn each(row: &mut Occurrences, asked: &Asked, mut visit: impl FnMut(Standing)) {
    let mut numbers = Vec::new();
    let places = row.places();
    for in_field in places.chunk_by(|one, other| one.0 >> 24 == other.0 >> 24) {
        let Some((first, _)) = in_field.first() else {
            continue;
        };
        numbers.clear();
        numbers.extend(in_field.iter().map(|(_, word)| *word));
        numbers.sort_unstable();
        numbers.dedup();
        let (lcs, is_whole) = runs(in_field, asked);
        visit(Standing {
            field: (first >> 24) as u8,
            lcs,
            hits: in_field.len() as i64,
            words: numbers.len() as i64,
            first: first & 0xFF_FFFF,
            is_whole,
        });
    }
}

/// The shift of a run, and its length.
type Run = (i64, u32);

/// The longest run, and whether one of all places of the query begins at position 1.
///
/// A run is told by its shift, position less place in the query; a word that the query has at several places belongs to as many.
fn runs(in_field: &[(u32, u32)], asked: &Asked) -> (i64, bool) {
    let (mut lcs, mut is_whole) = (1, false);
    // Those that end at the last position, and at this one.
    let (mut before, mut here) = (Vec::<Run>::new(), Vec::<Run>::new());
    for at_position in in_field.chunk_by(|one, other| one.0 == other.0) {
        here.clear();
        for (place, word) in at_position {
            let position = i64::from(place & 0xFF_FFFF);
            for in_query in &asked.words[*word as usize].places {
                let shift = position - i64::from(*in_query);
                if here.iter().any(|(known, _)| *known == shift) {
                    continue;
                }
                let going_on = before.iter().find(|(known, _)| *known == shift);
                let length = going_on.map_or(0, |(_, length)| *length) + 1;
                lcs = lcs.max(i64::from(length));
                is_whole |= shift == 1 && length == asked.places();
                here.push((shift, length));
            }
        }
        std::mem::swap(&mut before, &mut here);
    }
    (lcs, is_whole)
}

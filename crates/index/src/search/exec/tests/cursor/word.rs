//! Cursors of words and phrases.

use super::END;
use super::postings::Postings;
use super::{Cursor, Reader};
use crate::search::plan::Fields;
use crate::search::rank::{Needs, Occurrences};

/// Rows with a word in one of its fields.
pub(super) struct WordCursor {
    word: usize,
    postings: Postings,
    fields: Fields,
    needs: Needs,
    positions: Vec<u32>,
}

impl WordCursor {
    pub(super) fn new(word: usize, postings: Postings, fields: Fields, needs: Needs) -> Self {
        let mut cursor = WordCursor {
            word,
            postings,
            fields,
            needs,
            positions: Vec::new(),
        };
        let first = cursor.postings.doc();
        cursor.settle(first);
        cursor
    }

    /// Moves from a row with the word to the first with it in one of the fields.
    fn settle(&mut self, mut doc: u32) -> u32 {
        while doc != END && !self.fields.every && self.matched() == 0 {
            doc = self.postings.seek(doc + 1);
        }
        doc
    }

    /// The fields in which it stands and may stand.
    fn matched(&mut self) -> u64 {
        self.postings.positions(&mut self.positions);
        fields_of(&self.positions) & self.fields.set
    }
}

impl Cursor for WordCursor {
    fn doc(&self) -> u32 {
        self.postings.doc()
    }

    fn seek(&mut self, target: u32) -> u32 {
        if self.postings.doc() >= target {
            return self.postings.doc();
        }
        let doc = self.postings.seek(target);
        self.settle(doc)
    }

    fn cost(&self) -> u64 {
        self.postings.cost()
    }

    fn record(&mut self, row: &mut Occurrences) {
        let tells = self.needs >= Needs::Fields;
        let fields = if tells { self.matched() } else { 1 };
        row.add(self.word, self.postings.hits(), fields);
        if self.needs == Needs::Positions {
            let counts = |place: &u32| self.fields.set >> (place >> 24) & 1 == 1;
            row.add_places(self.word, self.positions.iter().copied().filter(counts));
        }
    }
}

/// Rows with words at fixed distances in one field.
pub(super) struct PhraseCursor {
    /// In the order of the phrase.
    words: Vec<PhraseWord>,
    /// Positions in `words`, rarest first.
    order: Vec<usize>,
    fields: Fields,
    /// Fields in which the phrase stands in the row.
    matched: u64,
    /// Its starts, if places are recorded.
    starts: Vec<u32>,
    needs: Needs,
    takes_first_field: bool,
    /// Number of the phrase, behind those of all words.
    number: usize,
    doc: u32,
}

pub(super) struct PhraseWord {
    word: usize,
    distance: u32,
    postings: Postings,
    positions: Vec<u32>,
}

impl PhraseWord {
    pub(super) fn new(word: usize, distance: u32, postings: Postings) -> Self {
        PhraseWord {
            word,
            distance,
            postings,
            positions: Vec::new(),
        }
    }
}

impl PhraseCursor {
    pub(super) fn new(
        words: Vec<PhraseWord>,
        number: usize,
        fields: Fields,
        reader: &Reader<'_, '_>,
    ) -> Self {
        let mut order: Vec<usize> = (0..words.len()).collect();
        order.sort_by_key(|at| words[*at].postings.cost());
        let mut cursor = PhraseCursor {
            words,
            order,
            fields,
            matched: 0,
            starts: Vec::new(),
            needs: reader.needs,
            takes_first_field: reader.takes_first_field,
            number,
            doc: 0,
        };
        cursor.settle(0);
        cursor
    }

    /// Moves to the first row at or after `target` in which the phrase stands.
    fn settle(&mut self, mut target: u32) -> u32 {
        'rows: loop {
            for at in &self.order {
                let doc = self.words[*at].postings.seek(target);
                if doc == END {
                    self.doc = END;
                    return END;
                }
                if doc != target {
                    target = doc;
                    continue 'rows;
                }
            }
            if self.stands() {
                self.doc = target;
                return target;
            }
            target += 1;
        }
    }

    /// Whether the phrase stands in the current row of all words.
    fn stands(&mut self) -> bool {
        for word in &mut self.words {
            word.postings.positions(&mut word.positions);
        }
        let Some((first, rest)) = self.words.split_first() else {
            return false;
        };
        self.matched = 0;
        self.starts.clear();
        for start in &first.positions {
            let field = start >> 24;
            let at = |word: &PhraseWord| {
                let place = start + word.distance;
                place >> 24 == field && word.positions.binary_search(&place).is_ok()
            };
            if self.fields.set >> field & 1 == 1 && rest.iter().all(at) {
                self.matched |= 1 << field;
                if self.needs == Needs::Positions {
                    self.starts.push(*start);
                }
            }
        }
        self.matched != 0
    }
}

impl Cursor for PhraseCursor {
    fn doc(&self) -> u32 {
        self.doc
    }

    fn seek(&mut self, target: u32) -> u32 {
        if self.doc >= target {
            return self.doc;
        }
        self.settle(target)
    }

    fn cost(&self) -> u64 {
        self.order
            .first()
            .map_or(0, |at| self.words[*at].postings.cost())
    }

    fn record(&mut self, row: &mut Occurrences) {
        let fields = match self.takes_first_field {
            true => self.matched & self.matched.wrapping_neg(),
            false => self.matched,
        };
        for word in &self.words {
            row.add(word.word, word.postings.hits(), fields);
        }
        let span = self.words.last().map_or(0, |word| word.distance + 1);
        row.add_phrase(self.number, &self.starts, span);
    }
}

/// Set of the fields of some places.
fn fields_of(positions: &[u32]) -> u64 {
    positions
        .iter()
        .fold(0, |fields, position| fields | 1 << (position >> 24))
}

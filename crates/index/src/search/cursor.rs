//! Stepping through the rows of one part that a tree matches.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::END;
use super::plan::{Fields, Step};
use super::rank::Hit;
use crate::error::Result;
use crate::part::{Part, PartWord, Postings};

/// Rows by rising doc. A new cursor stands on its first row.
pub(super) trait Cursor {
    /// The row it stands on, or [`END`].
    fn doc(&self) -> u32;
    /// Moves to the first row at or after `target`; stays where it is if that is such a row.
    fn seek(&mut self, target: u32) -> u32;
    /// Rows that it may stand on, at most.
    fn cost(&self) -> u64;
    /// Tells which words matched the row it stands on, and in which fields.
    fn record(&mut self, hit: &mut Hit);
}

type Boxed<'a> = Box<dyn Cursor + 'a>;

/// What cursors are made from.
pub(super) struct Reader<'a, 'w> {
    pub(super) part: &'a Part,
    /// By word of the plan.
    pub(super) words: &'w [Option<PartWord>],
    /// Whether [`Cursor::record`] must tell fields apart; if not, it names the first one.
    pub(super) field_mask: bool,
}

/// The rows of a tree. Errors: `Io`, `Corrupt` of the postings.
pub(super) fn build<'a>(step: &Step, reader: &Reader<'a, '_>) -> Result<Boxed<'a>> {
    Ok(match step {
        Step::All => every(reader.part.rows()),
        Step::Word { word, fields } => match reader.postings(*word, !fields.every)? {
            Some(postings) => {
                Box::new(WordCursor::new(*word, postings, *fields, reader.field_mask))
            }
            None => nothing(),
        },
        Step::Phrase { words, fields } => {
            let mut parts = Vec::with_capacity(words.len());
            for (word, distance) in words {
                match reader.postings(*word, true)? {
                    Some(postings) => parts.push(PhraseWord::new(*word, *distance, postings)),
                    None => return Ok(nothing()),
                }
            }
            Box::new(PhraseCursor::new(parts, *fields))
        }
        Step::And { required, excluded } => {
            Box::new(AndCursor::new(reader.all(required)?, reader.all(excluded)?))
        }
        Step::Or(children) => Box::new(OrCursor::new(reader.all(children)?)),
    })
}

/// The rows given: rising, each once.
pub(super) fn listed<'a>(docs: Vec<u32>) -> Boxed<'a> {
    Box::new(ListCursor { docs, at: 0 })
}

/// Rows `0 .. rows`.
pub(super) fn every<'a>(rows: u32) -> Boxed<'a> {
    Box::new(EveryCursor {
        doc: if rows == 0 { END } else { 0 },
        rows,
    })
}

/// The rows of both.
pub(super) fn both<'a>(one: Boxed<'a>, other: Boxed<'a>) -> Boxed<'a> {
    Box::new(AndCursor::new(vec![one, other], Vec::new()))
}

fn nothing<'a>() -> Boxed<'a> {
    every(0)
}

impl<'a> Reader<'a, '_> {
    fn postings(&self, word: usize, positions: bool) -> Result<Option<Postings<'a>>> {
        match &self.words[word] {
            Some(word) => self
                .part
                .postings(word, positions || self.field_mask)
                .map(Some),
            None => Ok(None),
        }
    }

    fn all(&self, steps: &[Step]) -> Result<Vec<Boxed<'a>>> {
        steps.iter().map(|step| build(step, self)).collect()
    }
}

/// Bits of the fields that some places lie in.
fn fields_of(positions: &[u32]) -> u64 {
    positions
        .iter()
        .fold(0, |fields, position| fields | 1 << (position >> 24))
}

struct EveryCursor {
    doc: u32,
    rows: u32,
}

impl Cursor for EveryCursor {
    fn doc(&self) -> u32 {
        self.doc
    }

    fn seek(&mut self, target: u32) -> u32 {
        self.doc = self.doc.max(target);
        if self.doc >= self.rows {
            self.doc = END;
        }
        self.doc
    }

    fn cost(&self) -> u64 {
        u64::from(self.rows)
    }

    fn record(&mut self, _: &mut Hit) {}
}

struct ListCursor {
    docs: Vec<u32>,
    at: usize,
}

impl Cursor for ListCursor {
    fn doc(&self) -> u32 {
        self.docs.get(self.at).copied().unwrap_or(END)
    }

    fn seek(&mut self, target: u32) -> u32 {
        self.at += crate::tail::gallop(&self.docs[self.at..], |doc| *doc < target);
        self.doc()
    }

    fn cost(&self) -> u64 {
        self.docs.len() as u64
    }

    fn record(&mut self, _: &mut Hit) {}
}

/// Rows with a word in one of its fields.
struct WordCursor<'a> {
    word: usize,
    postings: Postings<'a>,
    fields: Fields,
    field_mask: bool,
    positions: Vec<u32>,
}

impl<'a> WordCursor<'a> {
    fn new(word: usize, postings: Postings<'a>, fields: Fields, field_mask: bool) -> Self {
        let mut cursor = WordCursor {
            word,
            postings,
            fields,
            field_mask,
            positions: Vec::new(),
        };
        let first = cursor.postings.doc();
        cursor.settle(first);
        cursor
    }

    /// From a row with the word to the first with it in one of the fields.
    fn settle(&mut self, mut doc: u32) -> u32 {
        while doc != END && !self.fields.every && self.matched() == 0 {
            doc = self.postings.seek(doc + 1);
        }
        doc
    }

    /// The fields that it stands in and may stand in.
    fn matched(&mut self) -> u64 {
        self.postings.positions(&mut self.positions);
        fields_of(&self.positions) & self.fields.set
    }
}

impl Cursor for WordCursor<'_> {
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

    fn record(&mut self, hit: &mut Hit) {
        let fields = if self.field_mask { self.matched() } else { 1 };
        hit.add(self.word, self.postings.hits(), fields);
    }
}

/// Rows with words at fixed distances in one field.
struct PhraseCursor<'a> {
    /// In the order of the phrase.
    words: Vec<PhraseWord<'a>>,
    /// Positions in `words`, rarest first.
    order: Vec<usize>,
    fields: Fields,
    /// Fields in which the phrase stands in the row.
    matched: u64,
    doc: u32,
}

struct PhraseWord<'a> {
    word: usize,
    distance: u32,
    postings: Postings<'a>,
    positions: Vec<u32>,
}

impl<'a> PhraseWord<'a> {
    fn new(word: usize, distance: u32, postings: Postings<'a>) -> Self {
        PhraseWord {
            word,
            distance,
            postings,
            positions: Vec::new(),
        }
    }
}

impl<'a> PhraseCursor<'a> {
    fn new(words: Vec<PhraseWord<'a>>, fields: Fields) -> Self {
        let mut order: Vec<usize> = (0..words.len()).collect();
        order.sort_by_key(|at| words[*at].postings.cost());
        let mut cursor = PhraseCursor {
            words,
            order,
            fields,
            matched: 0,
            doc: 0,
        };
        cursor.settle(0);
        cursor
    }

    /// To the first row at or after `target` in which the phrase stands.
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

    /// Whether the phrase stands in the row on which all words stand.
    fn stands(&mut self) -> bool {
        for word in &mut self.words {
            word.postings.positions(&mut word.positions);
        }
        let Some((first, rest)) = self.words.split_first() else {
            return false;
        };
        self.matched = 0;
        for start in &first.positions {
            let field = start >> 24;
            let at = |word: &PhraseWord<'_>| {
                let place = start + word.distance;
                place >> 24 == field && word.positions.binary_search(&place).is_ok()
            };
            if self.fields.set >> field & 1 == 1 && rest.iter().all(at) {
                self.matched |= 1 << field;
            }
        }
        self.matched != 0
    }
}

impl Cursor for PhraseCursor<'_> {
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

    fn record(&mut self, hit: &mut Hit) {
        for word in &self.words {
            hit.add(word.word, word.postings.hits(), self.matched);
        }
    }
}

/// Rows of all of some cursors and of none of others.
struct AndCursor<'a> {
    /// At least one, cheapest first.
    required: Vec<Boxed<'a>>,
    excluded: Vec<Boxed<'a>>,
    doc: u32,
}

impl<'a> AndCursor<'a> {
    fn new(mut required: Vec<Boxed<'a>>, excluded: Vec<Boxed<'a>>) -> Self {
        required.sort_by_key(|cursor| cursor.cost());
        let mut cursor = AndCursor {
            required,
            excluded,
            doc: 0,
        };
        cursor.settle(0);
        cursor
    }

    fn settle(&mut self, mut target: u32) -> u32 {
        'rows: loop {
            for cursor in &mut self.required {
                let doc = cursor.seek(target);
                if doc == END {
                    self.doc = END;
                    return END;
                }
                if doc != target {
                    target = doc;
                    continue 'rows;
                }
            }
            if self
                .excluded
                .iter_mut()
                .all(|cursor| cursor.seek(target) != target)
            {
                self.doc = target;
                return target;
            }
            target += 1;
        }
    }
}

impl Cursor for AndCursor<'_> {
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
        self.required.first().map_or(0, |cursor| cursor.cost())
    }

    fn record(&mut self, hit: &mut Hit) {
        for cursor in &mut self.required {
            cursor.record(hit);
        }
    }
}

/// Rows of any of some cursors.
struct OrCursor<'a> {
    children: Vec<Boxed<'a>>,
    /// `(doc, child)` of every child that stands behind the row.
    ahead: BinaryHeap<Reverse<(u32, usize)>>,
    /// The children that stand on the row.
    here: Vec<usize>,
    doc: u32,
}

impl<'a> OrCursor<'a> {
    fn new(children: Vec<Boxed<'a>>) -> Self {
        let ahead = children
            .iter()
            .zip(0..)
            .map(|(child, at)| Reverse((child.doc(), at)))
            .collect();
        let mut cursor = OrCursor {
            children,
            ahead,
            here: Vec::new(),
            doc: 0,
        };
        cursor.settle(0);
        cursor
    }

    fn settle(&mut self, target: u32) -> u32 {
        for at in std::mem::take(&mut self.here) {
            self.ahead
                .push(Reverse((self.children[at].seek(target), at)));
        }
        while let Some(Reverse((doc, at))) = self.ahead.peek().copied()
            && doc < target
        {
            self.ahead.pop();
            self.ahead
                .push(Reverse((self.children[at].seek(target), at)));
        }
        self.doc = self.ahead.peek().map_or(END, |Reverse((doc, _))| *doc);
        while let Some(Reverse((doc, at))) = self.ahead.peek().copied()
            && doc == self.doc
            && doc != END
        {
            self.ahead.pop();
            self.here.push(at);
        }
        self.doc
    }
}

impl Cursor for OrCursor<'_> {
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
        self.children.iter().map(|child| child.cost()).sum()
    }

    fn record(&mut self, hit: &mut Hit) {
        for at in &self.here {
            self.children[*at].record(hit);
        }
    }
}

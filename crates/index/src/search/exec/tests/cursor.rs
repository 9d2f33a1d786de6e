//! Cursors: step through the rows of one part that a tree matches. The slow executor uses them.

mod postings;
mod tree;
mod word;

use postings::Postings;
use tree::{AndCursor, AnyCursor, MaybeCursor};
use word::{PhraseCursor, PhraseWord, WordCursor};

use crate::error::Result;
use crate::part::{Part, PartWord};
use crate::search::plan::Step;
use crate::search::rank::{Needs, Occurrences};

/// The doc of a cursor that has no more rows.
const END: u32 = u32::MAX;

/// Rows by rising doc. A new cursor stands on its first row.
pub(super) trait Cursor {
    /// The current row, or [`END`].
    fn doc(&self) -> u32;
    /// Moves to the first row at or after `target`; stays where it is if that is such a row.
    fn seek(&mut self, target: u32) -> u32;
    /// Upper bound of the rows that it may stand on.
    fn cost(&self) -> u64;
    /// Records the words that count in the current row.
    fn record(&mut self, row: &mut Occurrences);
}

type Boxed<'a> = Box<dyn Cursor + 'a>;

/// The part and the lists that cursors are made from.
pub(super) struct Reader<'a, 'w> {
    pub(super) part: &'a Part,
    /// By word of the plan.
    pub(super) words: &'w [Option<PartWord>],
    /// Facts that [`Cursor::record`] must record; below `Fields` it records the first field.
    pub(super) needs: Needs,
    /// [`super::rank::Weigher::takes_first_field`].
    pub(super) takes_first_field: bool,
}

/// The rows of a tree. Errors: `Io`, `Corrupt` of the postings.
pub(super) fn build<'a>(step: &Step, reader: &Reader<'a, '_>) -> Result<Boxed<'a>> {
    Ok(match step {
        Step::All => every(reader.part.rows()),
        Step::Word { word, fields } => match reader.postings(*word)? {
            Some(postings) => Box::new(WordCursor::new(*word, postings, *fields, reader.needs)),
            None => nothing(),
        },
        Step::Phrase {
            words,
            fields,
            number,
        } => {
            let mut parts = Vec::with_capacity(words.len());
            for (word, distance) in words {
                match reader.postings(*word)? {
                    Some(postings) => parts.push(PhraseWord::new(*word, *distance, postings)),
                    None => return Ok(nothing()),
                }
            }
            let number = reader.words.len() + number;
            Box::new(PhraseCursor::new(parts, number, *fields, reader))
        }
        Step::And { required, excluded } => {
            Box::new(AndCursor::new(reader.all(required)?, reader.all(excluded)?))
        }
        Step::AtLeast { parts, least } => Box::new(AnyCursor::new(reader.all(parts)?, *least)),
        Step::Maybe(left, right) => Box::new(MaybeCursor::new(
            build(left, reader)?,
            build(right, reader)?,
        )),
        Step::Placed { .. } => unreachable!("the text of each row decides such a tree"),
    })
}

/// The rows of a list: rising, each once.
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

/// The rows that both have.
pub(super) fn both<'a>(one: Boxed<'a>, other: Boxed<'a>) -> Boxed<'a> {
    Box::new(AndCursor::new(vec![one, other], Vec::new()))
}

fn nothing<'a>() -> Boxed<'a> {
    every(0)
}

impl<'a> Reader<'a, '_> {
    fn postings(&self, word: usize) -> Result<Option<Postings>> {
        let word = self.words[word].as_ref();
        let list = word.map(|word| self.part.list(word, true)).transpose()?;
        Ok(list.map(|list| Postings::new(&list)))
    }

    fn all(&self, steps: &[Step]) -> Result<Vec<Boxed<'a>>> {
        steps.iter().map(|step| build(step, self)).collect()
    }
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

    fn record(&mut self, _: &mut Occurrences) {}
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

    fn record(&mut self, _: &mut Occurrences) {}
}

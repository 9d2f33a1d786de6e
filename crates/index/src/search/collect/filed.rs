//! A collector for groups: gives the matching rows of a page to all groupings, in blocks of columns.
//!
//! A block has the values of one expression in some rows of a page. A column that the segment keeps as integers is copied from
//! there, and values set since are put over it; arithmetic is done on whole blocks. Any other expression is evaluated row by row.

use std::sync::Arc;

use language::meter::{HeldWide, Meter};
use relation::expression::{ColumnValues, Prepared};
use relation::json::JsonStep;
use relation::rows::{Block, BlockGroups, Groups, PartRows, Texts};
use relation::value::Value;

use super::super::blocks::{self, BLOCK_ROWS};
use super::super::values::{ROW_UNITS, RowValues};
use super::collector::{Collector, FoundPage, FoundRow, WEIGHT_WITHOUT_MATCH};
use super::top::PAID_AT_ONCE;
use crate::control::Control;
use crate::error::Result;
use crate::part::WrittenText;

/// Most bytes of texts of a block of several rows.
const BLOCK_BYTES: usize = 1 << 20;

impl FoundPage<'_> {
    fn doc(&self, low: u16) -> u32 {
        self.first + u32::from(low)
    }

    fn weight(&self, at: usize) -> i64 {
        self.weights
            .get(at)
            .copied()
            .unwrap_or(WEIGHT_WITHOUT_MATCH)
    }
}

/// The groups of one thread's rows, for each grouping.
pub(in super::super) struct Filed {
    pub(in super::super) groupings: Vec<BlockGroups>,
    /// The expressions of all groupings.
    inputs: Vec<Prepared>,
    /// For each grouping the places of its inputs.
    places: Vec<Vec<usize>>,
    /// Slot of the weight.
    weight: usize,
    /// The groups of other threads.
    pub(in super::super) others: Vec<Vec<BlockGroups>>,
    unpaid: u64,
}

/// Rows whose values are fetched from memory together, ahead of their turn.
const FETCHED_AT_ONCE: usize = 16;

/// Units of a row that goes into its groups.
const GROUPED_UNITS: u64 = 40;

/// The texts of a column in some rows.
enum TextsRead {
    Block(Block),
    /// They take more bytes than a block may.
    TooLong,
    /// Some rows have other values, or values were set since.
    Others,
}

/// A row and its weight.
struct Weighed<'r> {
    row: RowValues<'r>,
    slot: usize,
    weight: i64,
}

impl ColumnValues for Weighed<'_> {
    fn value(&self, slot: usize) -> Value {
        match slot == self.slot {
            true => Value::Int(self.weight.into()),
            false => self.row.value(slot),
        }
    }

    fn value_at(&self, slot: usize, path: &[JsonStep]) -> Value {
        match slot == self.slot {
            true => Value::Null,
            false => self.row.value_at(slot, path),
        }
    }

    fn meter(&self) -> &dyn Meter {
        self.row.meter()
    }
}

impl Filed {
    /// No row yet. `weight`: the slot of the weight, behind the last column.
    pub(in super::super) fn new(groupings: &[Arc<Groups>], weight: usize) -> Filed {
        let groupings: Vec<BlockGroups> = groupings.iter().map(BlockGroups::new).collect();
        let mut inputs: Vec<Prepared> = Vec::new();
        let mut place = |of: &Prepared| of.place_among(&mut inputs);
        let places = groupings.iter();
        let places = places.map(|of| of.inputs().iter().map(&mut place).collect());
        Filed {
            places: places.collect(),
            groupings,
            inputs,
            weight,
            others: Vec::new(),
            unpaid: 0,
        }
    }

    /// Adds rows of a page; `false`: their texts are too long for a block. Errors: `Interrupted`, `Io`, `Corrupt`, no memory.
    fn add(&mut self, page: &FoundPage<'_>, control: &Control) -> Result<bool> {
        let mut left = match page.lows.len() {
            1 => usize::MAX,
            _ => BLOCK_BYTES,
        };
        // Blocks of wide texts are not counted: as long as they are there, the statement does not give way.
        let wide = HeldWide::new(&*control.interrupt);
        let mut blocks = Vec::with_capacity(self.inputs.len());
        for input in &self.inputs {
            match self.block(input, page, &mut left, control)? {
                Some(block) => {
                    wide.note(block.text_bytes());
                    blocks.push(block);
                }
                None => return Ok(false),
            }
        }
        let rows = PartRows {
            lows: page.lows,
            weights: page.weights,
            base: page.first,
            part: page.at.0,
            is_sorted: page.part.is_sorted(),
            id_of: &|doc| page.part.id(doc),
        };
        for (of, inputs) in self.groupings.iter_mut().zip(&self.places) {
            let inputs: Vec<&Block> = inputs.iter().map(|at| &blocks[*at]).collect();
            let mut pay = |bytes| control.memory.take(bytes);
            self.unpaid += of.add(&rows, &inputs, &*control.interrupt, &mut pay)?;
        }
        // Once the meter has stopped, the groups are of no use.
        control.check()?;
        Ok(true)
    }

    /// The values of an expression. `None`: they take more than `left` bytes.
    fn block(
        &self,
        input: &Prepared,
        page: &FoundPage<'_>,
        left: &mut usize,
        control: &Control,
    ) -> Result<Option<Block>> {
        let (lows, meter) = (page.lows, &*control.interrupt);
        let mut column = |slot| match slot {
            slot if slot == self.weight => {
                Some((0..lows.len()).map(|at| page.weight(at)).collect())
            }
            slot => blocks::of_slot(page.part, slot, page.first, lows),
        };
        if let Some(numbers) = input.evaluate_whole(lows.len(), &mut column, meter) {
            return Ok(Some(Block::Whole(numbers)));
        }
        if let Some(column) = self.column(input) {
            if let Some(numbers) = blocks::floats(page.part, column, page.first, lows) {
                return Ok(Some(Block::Real(numbers)));
            }
            match self.texts(column, input, page, left, control)? {
                TextsRead::Block(texts) => return Ok(Some(texts)),
                TextsRead::TooLong => return Ok(None),
                TextsRead::Others => {}
            }
        }
        let mut values = Vec::with_capacity(lows.len());
        for (at, low) in lows.iter().enumerate() {
            if at % FETCHED_AT_ONCE == 0 {
                self.fetch(input, page, at);
            }
            control.spend(ROW_UNITS)?;
            let row = Weighed {
                row: RowValues::new(page.part, page.doc(*low), &control.interrupt),
                slot: self.weight,
                weight: page.weight(at),
            };
            let value = input.evaluate(&row);
            row.row.check()?;
            match left.checked_sub(value.memory() - size_of::<Value>()) {
                Some(less) => *left = less,
                None => return Ok(None),
            }
            values.push(value);
        }
        Ok(Some(Block::from(values)))
    }
}

impl Filed {
    /// The column that an expression is; `None`: it is none, or the id, or the weight.
    fn column(&self, input: &Prepared) -> Option<usize> {
        let slot = input.slot().filter(|slot| *slot < self.weight)?;
        slot.checked_sub(1)
    }

    /// The texts of a column, by their places in the segment's list if it has one. Errors: as [`Filed::add`].
    fn texts(
        &self,
        column: usize,
        input: &Prepared,
        page: &FoundPage<'_>,
        left: &mut usize,
        control: &Control,
    ) -> Result<TextsRead> {
        if page.part.changed(column).is_some() {
            return Ok(TextsRead::Others);
        }
        if let Some((places, texts)) = blocks::listed(page.part, column, page.first, page.lows) {
            return Ok(TextsRead::Block(Block::Listed(places, texts)));
        }
        let (mut texts, mut room) = (Texts::default(), *left);
        for (at, low) in page.lows.iter().enumerate() {
            if at % FETCHED_AT_ONCE == 0 {
                self.fetch(input, page, at);
            }
            let doc = page.doc(*low);
            let read = page
                .part
                .written_text(doc, column, room, &control.interrupt);
            match read? {
                WrittenText::Text(text) => {
                    texts.push(&text);
                    room -= text.len();
                }
                WrittenText::TooLong => return Ok(TextsRead::TooLong),
                WrittenText::Other => return Ok(TextsRead::Others),
            }
        }
        *left = room;
        Ok(TextsRead::Block(Block::Texts(texts)))
    }

    /// Tells the processor to fetch the rows that are read next, which may lie far apart: the places of those behind the next ones,
    /// and the bytes of the next ones, whose places are there by then.
    fn fetch(&self, input: &Prepared, page: &FoundPage<'_>, at: usize) {
        let columns = || {
            let slots = input.slots().iter().filter(|slot| **slot < self.weight);
            slots.filter_map(|slot| slot.checked_sub(1))
        };
        let rows = |from: usize, count: usize| {
            let lows = page.lows.iter().skip(from).take(count);
            lows.map(|low| page.doc(*low))
        };
        let places = match at {
            0 => rows(0, 3 * FETCHED_AT_ONCE),
            _ => rows(at + 2 * FETCHED_AT_ONCE, FETCHED_AT_ONCE),
        };
        places.for_each(|doc| page.part.fetch_place(doc, columns()));
        let bytes = match at {
            0 => rows(0, 2 * FETCHED_AT_ONCE),
            _ => rows(at + FETCHED_AT_ONCE, FETCHED_AT_ONCE),
        };
        bytes.for_each(|doc| page.part.fetch_bytes(doc, columns()));
    }
}

impl Collector for Filed {
    fn count(&mut self, _: u64) {}

    fn offer(&mut self, _: FoundRow, _: &Control) -> Result<()> {
        Ok(())
    }

    fn take_page(&mut self, page: &FoundPage<'_>, control: &Control) -> Result<()> {
        let (mut from, mut most) = (0, BLOCK_ROWS);
        while from < page.lows.len() {
            let rows = from..page.lows.len().min(from + most);
            let block = FoundPage {
                lows: &page.lows[rows.clone()],
                weights: page.weights.get(rows.clone()).unwrap_or_default(),
                ..*page
            };
            if !self.add(&block, control)? {
                most = (rows.len() / 8).max(1);
                continue;
            }
            from = rows.end;
            control.spend(GROUPED_UNITS * rows.len() as u64)?;
            if self.unpaid >= PAID_AT_ONCE {
                control.memory.take(std::mem::take(&mut self.unpaid))?;
            }
        }
        Ok(())
    }

    fn last(&self) -> Option<&FoundRow> {
        None
    }

    fn merge(&mut self, other: Filed, _: &dyn Meter) {
        self.others.push(other.groupings);
        self.others.extend(other.others);
    }
}

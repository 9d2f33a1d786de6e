//! Weighs many rows at a time by codes, and by the fields in which words stand.
//!
//! There are two ways. Few words are searched for in the rows, word after word. Where words are many, most rows hold one or two of
//! them, and a search for each word in each row would be in vain. Then the page is transposed: each posting adds its value to its
//! row. Example, with four of a hundred words:
//!
//! ```text
//! postings     a: rows 3, 9    b: row 9    c: row 17    d: row 3
//! sums         row 3: a + d    row 9: a + b    row 17: c             6 steps, and not 3 rows times 100 words
//! ```

use smallvec::smallvec;

use super::super::super::rank::{ByField, FieldPoints, Weigher};
use super::super::lists::{ByWord, Lists, View};
use super::super::marks::Marks;
use super::super::row_index::RowIndex;
use super::{Column, Scorer, bit};
use crate::postings::PAGE_ROWS;

/// Words on a page up to which each is looked for row by row.
const FEW_WORDS: usize = 8;

/// Most words of the rows that are gathered together.
const GATHERED: usize = 1 << 20;

/// Rows that may still reach the threshold. The vectors have one entry a row.
#[derive(Default)]
pub(in super::super) struct ManyRows {
    lows: Vec<u16>,
    /// Sum of the words looked for so far.
    sums: Vec<i64>,
    /// What is known of the words found so far.
    words: Vec<Found>,
    page: TransposedPage,
}

/// By row of the page, what its postings add up to. Rows that nobody asked for have anything.
#[derive(Default)]
struct TransposedPage {
    /// Sums, which fit 30 bits.
    sums: Vec<i32>,
    /// The words; used only where they are gathered by field.
    words: Vec<Found>,
}

/// The words that were found in a row: a set of them; or the words by field, where the scorer has points of fields.
#[derive(Clone, Copy, Default)]
struct Found(u64);

impl Scorer<'_> {
    /// Adds the rows that reach the threshold, with their weights; with upper bounds of their weights where places decide. Only if
    /// [`Scorer::tells_weights`] or [`Scorer::tells_bounds`].
    ///
    /// A word is searched for in all rows before the next word. Rows that cannot reach `least` any
    /// more are dropped on the way, without a branch.
    #[inline(always)]
    pub(in super::super) fn weigh_many(
        &mut self,
        rows: &[u16],
        many_rows: &mut ManyRows,
        out: &mut Vec<(u16, i64)>,
    ) {
        if self.is_transposed {
            for low in rows {
                let row = usize::from(*low);
                let words = match self.field_points {
                    None => Found(self.all),
                    Some(_) => many_rows.page.words[row],
                };
                self.weigh_found(*low, many_rows.page.sums[row].into(), words, out);
            }
            return;
        }
        many_rows.start(rows);
        for at in 0..self.columns.len() {
            let rest = self.columns.get(at + 1).map_or(0, |column| column.worth);
            let least = self.least.saturating_sub(rest);
            let column = &mut self.columns[at];
            match self.field_points {
                None => many_rows.look_for(column, least, self.lists, self.weigher, NoFields),
                Some(points) => many_rows.look_for(column, least, self.lists, self.weigher, points),
            }
        }
        for (row, low) in many_rows.lows.iter().enumerate() {
            self.weigh_found(*low, many_rows.sums[row], many_rows.words[row], out);
        }
    }

    /// Adds a row if its weight, or the bound of it, reaches the threshold.
    #[inline(always)]
    fn weigh_found(&self, low: u16, sum: i64, words: Found, out: &mut Vec<(u16, i64)>) {
        if sum < self.least {
            return;
        }
        let weight = match (self.field_points, &self.pairs) {
            (Some(points), Some(pairs)) => {
                let run = pairs.longest(low);
                self.weigher
                    .bound_by_field(points, ByField(words.0), run, sum)
            }
            _ => self.weigher.bound(words.0, sum),
        };
        if weight >= self.threshold {
            out.push((low, weight));
        }
    }

    /// Whether it costs less to transpose the page than to search for each word in some rows. `count`: their number.
    pub(in super::super) fn is_wide(&self, count: impl FnOnce() -> usize) -> bool {
        if !self.is_of_many() || !self.tells_weights() && !self.tells_bounds() {
            return false;
        }
        let (postings, rows) = (self.postings(), count());
        rows * self.columns.len() > postings + 2 * rows
    }

    /// Whether the page has postings of many words.
    pub(in super::super) fn is_of_many(&self) -> bool {
        self.columns.len() > FEW_WORDS
    }

    /// Postings of the page.
    pub(in super::super) fn postings(&self) -> usize {
        self.columns.iter().map(|column| column.page.len()).sum()
    }

    /// Upper bound of the value of a word.
    pub(in super::super) fn highest(&self) -> i64 {
        let first = self.columns.first();
        first.map_or(0, |column| self.lists.bound(column.word))
    }

    /// Whether each word is light, by its place among the words of the page, and the postings of those that are not: `marks.rs`.
    pub(in super::super) fn light(&self) -> (ByWord<bool>, usize) {
        let mut light: ByWord<bool> = smallvec![false; self.columns.len()];
        let (mut sum, mut postings) = (0_i64, self.postings());
        let common = self.columns.iter().enumerate().rev();
        for (at, column) in common.filter(|(_, column)| column.page.bits().is_some()) {
            sum += self.lists.bound(column.word);
            if sum.saturating_mul(2) >= self.least {
                break;
            }
            light[at] = true;
            postings -= column.page.len();
        }
        (light, postings)
    }

    /// Marks the rows of the page.
    pub(in super::super) fn mark(&self, light: &[bool], marks: &mut Marks) {
        marks.clear(self.highest());
        for (column, is_light) in self.columns.iter().zip(light) {
            match is_light {
                true => marks.add_light(&column.page, self.lists.bound(column.word)),
                false => marks.add(&column.page, column.table, column.rated),
            }
        }
    }

    /// Whether the page is transposed.
    pub(in super::super) fn is_transposed(&self) -> bool {
        self.is_transposed
    }

    /// Rows whose words are gathered together: such that they take some megabytes even if each row holds every word.
    pub(in super::super) fn rows_at_once(&self) -> usize {
        (GATHERED / self.columns.len().max(1)).clamp(16, 2_048)
    }

    /// Sets `words` to those of the rows `lows` (rising). `index`: an index without rows.
    pub(in super::super) fn words_of(
        &self,
        lows: &[u16],
        index: &mut RowIndex,
        words: &mut WordsOfRows,
    ) {
        index.set(lows);
        words.starts.clear();
        words.starts.resize(lows.len() + 2, 0);
        for column in &self.columns {
            index.each(&column.page, lows, |row, _| words.starts[row + 2] += 1);
        }
        let mut sum = 0;
        for start in &mut words.starts {
            sum += *start;
            *start = sum;
        }
        words.postings.resize(sum as usize, (0, 0));
        for column in &self.columns {
            index.each(&column.page, lows, |row, posting| {
                let at = &mut words.starts[row + 1];
                words.postings[*at as usize] = (column.word, posting as u32);
                *at += 1;
            });
        }
        index.clear(lows);
    }

    /// As [`Scorer::weigh`] of a row whose words are known: number and posting of each.
    pub(in super::super) fn weigh_row_of(
        &mut self,
        words: &[(u32, u32)],
        low: u16,
        view: &View<'_>,
        last: &mut dyn FnMut(u8) -> u32,
    ) -> Option<i64> {
        let (mut sum, mut present) = (0, 0);
        self.forget_row();
        for (word, posting) in words {
            sum += self.take(*word, *posting as usize, view);
            present |= bit(*word);
        }
        self.weigh_fully(low, view, sum, present, last)
    }

    /// Transposes the page for [`Scorer::weigh_many`] of any of the rows `lows`.
    #[inline(always)]
    pub(in super::super) fn transpose(&mut self, lows: &[u16], many_rows: &mut ManyRows) {
        let page = &mut many_rows.page;
        page.sums.resize(PAGE_ROWS as usize, 0);
        lows.iter().for_each(|low| page.sums[usize::from(*low)] = 0);
        if self.field_points.is_some() {
            page.words.resize(PAGE_ROWS as usize, Found::default());
            let rows = lows.iter().map(|low| usize::from(*low));
            rows.for_each(|row| page.words[row] = Found::default());
        }
        for column in &self.columns {
            match self.field_points {
                None => column.add_up(page, self.lists, self.weigher, NoFields),
                Some(points) => column.add_up(page, self.lists, self.weigher, points),
            }
        }
        self.is_transposed = true;
    }
}

/// The words of some rows, row by row.
#[derive(Default)]
pub(in super::super) struct WordsOfRows {
    /// By row: where its entries of `postings` begin; then the end.
    starts: Vec<u32>,
    /// Number of the word, and of its posting in the page.
    postings: Vec<(u32, u32)>,
}

impl WordsOfRows {
    /// The words of the `row`-th row.
    pub(in super::super) fn of(&self, row: usize) -> &[(u32, u32)] {
        let (start, end) = (self.starts[row] as usize, self.starts[row + 1] as usize);
        &self.postings[start..end]
    }
}

/// How the words of a row are gathered.
trait Gather: Copy {
    /// Whether words are gathered in a transposed page.
    const IN_PAGE: bool;

    /// Adds a word of these fields, or nothing where `mask` is zero and not all ones.
    fn add(self, words: Found, column: &Column<'_>, fields: impl Fn() -> u8, mask: u64) -> Found;
}

/// Only the words are asked for.
#[derive(Clone, Copy)]
struct NoFields;

impl Gather for NoFields {
    const IN_PAGE: bool = false;

    #[inline(always)]
    fn add(self, words: Found, column: &Column<'_>, _: impl Fn() -> u8, mask: u64) -> Found {
        Found(words.0 | (column.bit & mask))
    }
}

impl Gather for &FieldPoints {
    const IN_PAGE: bool = true;

    #[inline(always)]
    fn add(self, words: Found, column: &Column<'_>, fields: impl Fn() -> u8, mask: u64) -> Found {
        let fields = fields() & column.fields as u8 & mask as u8;
        Found(FieldPoints::add(self, ByField(words.0), column.word, fields).0)
    }
}

impl Column<'_> {
    /// Set of the first eight fields that the word stands in, by the number of its posting in the page.
    #[inline(always)]
    fn fields(&self, posting: usize, lists: &Lists<'_>) -> u8 {
        match self.sets {
            Some(sets) => sets.get(posting).copied().unwrap_or(0),
            None => {
                let list = lists.get(self.word as usize);
                list.map_or(0, |list| {
                    list.fields(self.page.first + posting as u32) as u8
                })
            }
        }
    }

    /// Value of a posting, by its number in the page and its code.
    #[inline(always)]
    fn value(&self, posting: usize, code: u8, lists: &Lists<'_>, weigher: &Weigher) -> i64 {
        if code >> 5 != 0 {
            return i64::from(self.table[usize::from(code)]);
        }
        let word = self.word as usize;
        let hits = lists.get(word);
        let hits = hits.map_or(0, |list| list.hits(self.page.first + posting as u32));
        weigher.value(word, code, hits)
    }

    /// Adds the value of each posting to its row.
    #[inline(always)]
    fn add_up<G: Gather>(
        &self,
        page: &mut TransposedPage,
        lists: &Lists<'_>,
        weigher: &Weigher,
        gather: G,
    ) {
        self.page.each_posting(|low, posting, code| {
            let row = usize::from(low);
            let value = self.rated.of(self.value(posting, code, lists, weigher));
            page.sums[row] = page.sums[row].wrapping_add(value as i32);
            if G::IN_PAGE {
                let words = page.words[row];
                page.words[row] = gather.add(words, self, || self.fields(posting, lists), u64::MAX);
            }
        });
    }
}

impl ManyRows {
    /// Takes rows, without any word.
    #[inline(always)]
    fn start(&mut self, rows: &[u16]) {
        self.lows.clear();
        self.lows.extend_from_slice(rows);
        self.sums.clear();
        self.sums.resize(rows.len(), 0);
        self.words.clear();
        self.words.resize(rows.len(), Found::default());
    }

    /// Adds a word's values, and keeps the rows whose sum is at least `least`.
    #[inline(always)]
    fn look_for(
        &mut self,
        column: &mut Column<'_>,
        least: i64,
        lists: &Lists<'_>,
        weigher: &Weigher,
        gather: impl Gather,
    ) {
        let (page, mut hint) = (column.page, column.hint);
        let mut kept = 0;
        for row in 0..self.lows.len() {
            let low = self.lows[row];
            let (posting, is_there) = page.probe(low, &mut hint);
            let code = page.codes.get(posting).copied().unwrap_or(0);
            let mut value = i64::from(column.table[usize::from(code)]);
            if code >> 5 == 0 && is_there {
                value = column.value(posting, code, lists, weigher);
            }
            // All ones if the row has the word, else zero: a branch would be mispredicted.
            let mask = u64::from(is_there).wrapping_neg();
            let sum = self.sums[row] + (column.rated.of(value) & mask.cast_signed());
            let words = self.words[row];
            self.lows[kept] = low;
            self.sums[kept] = sum;
            self.words[kept] = gather.add(words, column, || column.fields(posting, lists), mask);
            kept += usize::from(sum >= least);
        }
        column.hint = hint;
        self.lows.truncate(kept);
        self.sums.truncate(kept);
        self.words.truncate(kept);
    }
}

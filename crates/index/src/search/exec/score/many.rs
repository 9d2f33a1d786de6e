//! Weighs many rows at a time by codes, and by the fields in which words stand.

use super::super::super::rank::{ByField, Weigher};
use super::super::lists::Lists;
use super::{Column, Scorer};

/// Rows that may still reach the threshold. The vectors have one entry a row.
#[derive(Default)]
pub(in super::super) struct ManyRows {
    lows: Vec<u16>,
    /// Sum of the words looked for so far.
    sums: Vec<i64>,
    /// Set of the words found so far.
    present: Vec<u64>,
    /// The fields of these words; used only where fields are asked for.
    by_field: Vec<ByField>,
}

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
        match self.field_points {
            None => self.look_for_all::<false>(rows, many_rows),
            Some(_) => self.look_for_all::<true>(rows, many_rows),
        }
        for (row, low) in many_rows.lows.iter().enumerate() {
            let sum = many_rows.sums[row];
            if sum < self.least {
                continue;
            }
            let weight = match (self.field_points, &self.pairs) {
                (Some(points), Some(pairs)) => {
                    let (by_field, run) = (many_rows.by_field[row], pairs.longest(*low));
                    self.weigher.bound_by_field(points, by_field, run, sum)
                }
                _ => self.weigher.bound(many_rows.present[row], sum),
            };
            if weight >= self.threshold {
                out.push((*low, weight));
            }
        }
    }

    #[inline(always)]
    fn look_for_all<const FIELDS: bool>(&mut self, rows: &[u16], many_rows: &mut ManyRows) {
        many_rows.start::<FIELDS>(rows);
        for at in 0..self.columns.len() {
            let rest = self.columns.get(at + 1).map_or(0, |column| column.worth);
            let least = self.least.saturating_sub(rest);
            let column = &mut self.columns[at];
            many_rows.look_for::<FIELDS>(column, least, self.lists, self.weigher);
        }
    }
}

impl Column<'_> {
    /// Set of the first eight fields that the word stands and counts in, by the number of its posting in the page.
    #[inline(always)]
    fn fields(&self, posting: usize, lists: &Lists<'_>) -> u8 {
        let set = match self.sets {
            Some(sets) => sets.get(posting).copied().unwrap_or(0),
            None => {
                let list = lists.get(self.word as usize);
                list.map_or(0, |list| {
                    list.fields(self.page.first + posting as u32) as u8
                })
            }
        };
        set & self.fields as u8
    }
}

impl ManyRows {
    /// Takes rows, without any word.
    #[inline(always)]
    fn start<const FIELDS: bool>(&mut self, rows: &[u16]) {
        self.lows.clear();
        self.lows.extend_from_slice(rows);
        self.sums.clear();
        self.sums.resize(rows.len(), 0);
        self.present.clear();
        self.present.resize(rows.len(), 0);
        self.by_field.clear();
        if FIELDS {
            self.by_field.resize(rows.len(), ByField::default());
        }
    }

    /// Adds a word's values, and keeps the rows whose sum is at least `least`.
    #[inline(always)]
    fn look_for<const FIELDS: bool>(
        &mut self,
        column: &mut Column<'_>,
        least: i64,
        lists: &Lists<'_>,
        weigher: &Weigher,
    ) {
        let (page, table) = (column.page, column.table);
        let mut kept = 0;
        for row in 0..self.lows.len() {
            let low = self.lows[row];
            let (posting, is_there) = page.probe(low, &mut column.hint);
            let code = page.codes.get(posting).copied().unwrap_or(0);
            let mut value = i64::from(table[usize::from(code)]);
            if code >> 5 == 0 && is_there {
                let word = column.word as usize;
                let hits = lists.get(word);
                let hits = hits.map_or(0, |list| list.hits(page.first + posting as u32));
                value = weigher.value(word, code, hits);
            }
            // All ones if the row has the word, else zero: a branch would be mispredicted.
            let mask = u64::from(is_there).wrapping_neg();
            let sum = self.sums[row] + (value & mask.cast_signed());
            self.lows[kept] = low;
            self.sums[kept] = sum;
            self.present[kept] = self.present[row] | (column.bit & mask);
            if FIELDS {
                let fields = ByField::of(column.word, column.fields(posting, lists));
                self.by_field[kept] = self.by_field[row].and(fields.masked(mask));
            }
            kept += usize::from(sum >= least);
        }
        self.lows.truncate(kept);
        self.sums.truncate(kept);
        self.present.truncate(kept);
        if FIELDS {
            self.by_field.truncate(kept);
        }
    }
}

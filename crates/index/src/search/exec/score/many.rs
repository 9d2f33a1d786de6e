//! Weighs many rows at a time by codes alone.

use super::super::super::rank::Weigher;
use super::super::lists::Lists;
use super::{Column, Scorer};

/// Rows that may still reach the threshold. The three vectors have one entry a row.
#[derive(Default)]
pub(in super::super) struct ManyRows {
    lows: Vec<u16>,
    /// Sum of the words looked for so far.
    sums: Vec<i64>,
    /// Set of the words found so far.
    present: Vec<u64>,
}

impl Scorer<'_> {
    /// Adds the rows that reach the threshold, with their weights. Only if [`Scorer::is_simple`].
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
        many_rows.lows.clear();
        many_rows.lows.extend_from_slice(rows);
        many_rows.sums.clear();
        many_rows.sums.resize(rows.len(), 0);
        many_rows.present.clear();
        many_rows.present.resize(rows.len(), 0);
        for at in 0..self.columns.len() {
            let rest = self.columns.get(at + 1).map_or(0, |column| column.worth);
            let least = self.least.saturating_sub(rest);
            let column = &mut self.columns[at];
            many_rows.look_for(column, least, self.lists, self.weigher);
        }
        let rows = many_rows
            .lows
            .iter()
            .zip(&many_rows.sums)
            .zip(&many_rows.present);
        for ((low, sum), present) in rows {
            if *sum >= self.least {
                let weight = self.weigher.bound(*present, *sum);
                if weight >= self.threshold {
                    out.push((*low, weight));
                }
            }
        }
    }
}

impl ManyRows {
    /// Adds a word's values, and keeps the rows whose sum is at least `least`.
    #[inline(always)]
    fn look_for(
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
            kept += usize::from(sum >= least);
        }
        self.lows.truncate(kept);
        self.sums.truncate(kept);
        self.present.truncate(kept);
    }
}

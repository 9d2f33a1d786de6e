//! Upper bounds of the sums of a page's rows, from one pass over the postings of many words.
//!
//! A row's *mark* is a byte. Each posting adds its value to the mark of its row: rounded up, in steps of a power of two, and at
//! least one step. So a row with a posting has a mark above 0, and no row's mark stands for less than its sum. Example, with steps
//! of 4:
//!
//! ```text
//! postings     a: row 3, 17    b: row 3, 4    b: row 9, 4    c: row 9, 6
//! marks        row 3: 5 + 2 = 7               row 9: 2 + 2 = 4
//! sums         row 3: 21                      row 9: 10
//! least sum 18: from mark 18 / 4 + 1 = 5 on, which leaves row 3
//! ```
//!
//! Common words lie in bitmaps, and have low values. Those that together stay below half of the least sum are *light*: their bitmaps
//! are united, and each of their rows gets the sum of their highest values. So most postings of a page are never read one by one.
//!
//! Invariant: a mark, light words added, is 255 or more, or more than the row's sum divided by the step.

use language::verify::Rated;

use super::rows::Rows;
use crate::integers::{Distances, IntegerRange, Integers};
use crate::postings::{Bitmap, PAGE_ROWS, PAGE_WORDS, Page};
use crate::wide::wide;

/// Binary logarithm of the steps that the highest value of a word takes: some words that together reach the threshold keep a row
/// from saturating, and rounding costs little.
const STEPS_BITS: u32 = 6;

/// The marks of one page.
#[derive(Default)]
pub(super) struct Marks {
    /// By row, without light words. Empty before the first page.
    marks: Vec<[u8; 1]>,
    /// Bitmap of the rows that hold a light word; empty where no word is light.
    light: Vec<u64>,
    /// What the light words add to a mark.
    light_steps: u32,
    /// Binary logarithm of a step; at most 30.
    shift: u32,
}

impl Marks {
    /// Forgets all rows. `highest`: upper bound of a value.
    pub(super) fn clear(&mut self, highest: i64) {
        self.marks.clear();
        self.marks.resize(PAGE_ROWS as usize, [0]);
        self.light.clear();
        self.light_steps = 0;
        let bits = i64::BITS - highest.max(0).leading_zeros();
        self.shift = bits.saturating_sub(STEPS_BITS).min(i32::BITS - 2);
    }

    /// Adds the postings of a word on the page. `table`: value of each code of the word, or an upper bound of it.
    pub(super) fn add(&mut self, page: &Page<'_>, table: &[i32; 256], rated: Rated) {
        let shift = match rated {
            // A value shifted by this is 0.
            Rated::Never => i32::BITS - 1,
            Rated::Maybe | Rated::Always => self.shift,
        };
        add_steps(&mut self.marks, page, table, shift);
    }

    /// Adds the bitmap of a light word. `highest`: upper bound of its value. Does nothing for a page that is an array.
    pub(super) fn add_light(&mut self, page: &Page<'_>, highest: i64) {
        let Some(bits) = page.bits() else {
            return;
        };
        self.light.resize(PAGE_WORDS, 0);
        for (into, word) in self.light.iter_mut().zip(bits) {
            *into |= u64::from_le_bytes(*word);
        }
        self.light_steps += (highest.max(0) >> self.shift) as u32 + 1;
    }

    /// The lowest mark of a row that reaches the sum `least`.
    pub(super) fn lowest(&self, least: i64) -> u8 {
        let steps = least.max(0) >> self.shift;
        steps.saturating_add(1).min(i64::from(u8::MAX)) as u8
    }

    /// Keeps the rows whose marks lie between `low` and `high`; none where `high` is the lower one. A `high` of 255 stands for all
    /// marks from there on.
    pub(super) fn keep(&self, low: u8, high: u8, rows: &mut Bitmap) {
        if self.light.is_empty() {
            return self.keep_by(low.into(), high.into(), rows);
        }
        let mut light = Box::new(*rows);
        for ((row, light), held) in rows.iter_mut().zip(light.iter_mut()).zip(&self.light) {
            *row &= !held;
            *light &= held;
        }
        self.keep_by(low.into(), high.into(), rows);
        let without = |mark: u8| i64::from(mark) - i64::from(self.light_steps);
        let high = match high {
            u8::MAX => high.into(),
            high => without(high),
        };
        self.keep_by(without(low), high, &mut light);
        for (row, light) in rows.iter_mut().zip(light.iter()) {
            *row |= light;
        }
    }

    /// As [`Marks::keep`], without the steps of light words.
    fn keep_by(&self, low: i64, high: i64, rows: &mut Bitmap) {
        match IntegerRange::new(low, high, false) {
            Some(range) => Integers::new(0, Distances::One(&self.marks)).compare(range, rows),
            None => rows.fill(0),
        }
    }

    /// The mark of a row, the light words added.
    fn mark(&self, low: u16) -> u8 {
        let [mark] = self.marks[usize::from(low)];
        let light = self.light.get(usize::from(low >> 6));
        let held = light.is_some_and(|word| word >> (low & 63) & 1 == 1);
        let steps = if held { self.light_steps } else { 0 };
        (u32::from(mark) + steps).min(u8::MAX.into()) as u8
    }

    /// The highest mark from `lowest` on that at least `wanted` of `rows` reach; `lowest` where fewer do.
    pub(super) fn reached_by(&self, wanted: usize, rows: &Rows, lowest: u8) -> u8 {
        let mut counts = [0_usize; 256];
        rows.each(|low| counts[usize::from(self.mark(low))] += 1);
        let mut reached = 0;
        let enough = (lowest..=u8::MAX).rev().find(|mark| {
            reached += counts[usize::from(*mark)];
            reached >= wanted
        });
        enough.unwrap_or(lowest)
    }
}

#[inline(always)]
fn add_to(marks: &mut [[u8; 1]], page: &Page<'_>, table: &[i32; 256], shift: u32) {
    let Ok(marks) = <&mut [[u8; 1]; PAGE_ROWS as usize]>::try_from(marks) else {
        return;
    };
    page.each_posting(|low, _, code| {
        let steps = (table[usize::from(code)].max(0) >> shift) + 1;
        let [mark] = &mut marks[usize::from(low)];
        // Written so that no processor guesses whether it saturates.
        *mark = (u32::from(*mark) + steps as u32).min(u8::MAX.into()) as u8;
    });
}

wide! {
    fn add_steps(marks: &mut [[u8; 1]], page: &Page<'_>, table: &[i32; 256], shift: u32) = add_to
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use language::verify::Rated;
    use proptest::prelude::*;

    use super::super::rows::has;
    use super::Marks;
    use crate::postings::{Bitmap, PAGE_WORDS, Page};

    /// Rows near each other and near the ends of a page.
    fn row() -> impl Strategy<Value = u16> {
        prop_oneof![4 => 0_u16..70, 1 => 65_500_u16.., 1 => any::<u16>()]
    }

    /// Rows and codes of a word; whether its page is a bitmap, and whether it is light.
    fn word() -> impl Strategy<Value = (BTreeMap<u16, u8>, bool, bool)> {
        let rows = prop::collection::btree_map(row(), 0_u8..4, 0..40);
        (rows, any::<bool>(), any::<bool>())
    }

    fn kept(marks: &Marks, low: u8, high: u8) -> Box<Bitmap> {
        let mut rows = Box::new([u64::MAX; PAGE_WORDS]);
        marks.keep(low, high, &mut rows);
        rows
    }

    /// Adds a word to marks, as a list or as a bitmap.
    fn add(marks: &mut Marks, word: &(BTreeMap<u16, u8>, bool, bool), table: &[i32; 256]) {
        let (rows, is_bitmap, is_light) = word;
        let codes: Vec<u8> = rows.values().copied().collect();
        if !is_bitmap {
            let lows: Vec<[u8; 2]> = rows.keys().map(|low| low.to_le_bytes()).collect();
            return marks.add(&Page::of_array(&lows, &codes), table, Rated::Always);
        }
        let mut bits = ([[0; 8]; PAGE_WORDS], [[0; 2]; PAGE_WORDS]);
        for low in rows.keys() {
            bits.0[usize::from(low >> 6)][usize::from(low & 63) / 8] |= 1 << (low & 7);
        }
        let page = Page::of_bits(&bits, &codes);
        match is_light {
            true => marks.add_light(&page, table[..4].iter().copied().max().unwrap_or(0).into()),
            false => marks.add(&page, table, Rated::Always),
        }
    }

    proptest! {
        /// From the mark of a sum on stand all rows that reach the sum, and none that stays more below than rounding tells. Each row
        /// with a posting has a mark, and a cut at any mark parts the rows.
        #[test]
        fn rows_that_reach_a_sum_have_its_mark(
            words in prop::collection::vec(word(), 1..9),
            values in prop::collection::vec(-50_i32..20_000, 4),
            least in 0_i64..60_000,
            cut in 1_u8..,
        ) {
            let table: [i32; 256] = std::array::from_fn(|code| values.get(code).copied().unwrap_or(0));
            let mut marks = Marks::default();
            marks.clear(values.iter().copied().max().unwrap_or(0).into());
            let mut sums: BTreeMap<u16, (i64, i64)> = BTreeMap::new();
            for word in &words {
                add(&mut marks, word, &table);
                for (low, code) in &word.0 {
                    let (sum, count) = sums.entry(*low).or_default();
                    *sum += i64::from(table[usize::from(*code)]);
                    *count += 1;
                }
            }
            let (all, reached) = (kept(&marks, 1, u8::MAX), kept(&marks, marks.lowest(least), u8::MAX));
            let (above, below) = (kept(&marks, cut, u8::MAX), kept(&marks, 1, cut - 1));
            let step = 1 << marks.shift;
            let is_light = words.iter().any(|(_, is_bitmap, is_light)| *is_bitmap && *is_light);
            for low in 0..=u16::MAX {
                let row = sums.get(&low);
                prop_assert_eq!(has(&all, low), row.is_some(), "row {}", low);
                prop_assert!(!(has(&above, low) && has(&below, low)));
                prop_assert_eq!(has(&above, low) || has(&below, low), row.is_some(), "row {}", low);
                if let Some((sum, count)) = row {
                    prop_assert!(has(&reached, low) || *sum < least, "row {} of {}", low, sum);
                    let rounded = sum + (count + 1) * (step + 50);
                    let is_saturated = marks.lowest(least) == u8::MAX;
                    prop_assert!(
                        !has(&reached, low) || is_light || is_saturated || rounded >= least,
                        "row {} of {}", low, sum
                    );
                }
            }
        }
    }
}

//! Weighs the rows of one part, page by page, and drops rows that cannot reach the threshold.
//!
//! A row's *sum* adds up the values of its words. A ranker makes the weight of the sum and, for
//! most rankers, of the fields and places too. Example: words sorted by falling bound, threshold 4
//! in units of the sum, weights told by codes:
//!
//! ```text
//! place in `wanted`          0 siamese    1 cat    2 the    (end)
//! bound                          5          3        1
//! worth: this and all later      9          4        1        0
//!
//! a row without siamese, cat worth 2:
//!   before cat    0 + 4 >= 4    goes on
//!   before the    2 + 1 <  4    dropped; `the` is not searched for
//! ```
//!
//! Invariants:
//! - `worth[at]` is at least the sum that any row gains from `wanted[at..]`. So a row is dropped
//!   only if it cannot reach `least`.
//! - `least` belongs to `threshold`; [`Scorer::raise`] sets both.
//! - Hints start at 0 on each page and on each [`Scorer::rewind`]; rows come by rising number
//!   between.
//! - `found` holds the postings of the last row given to [`Scorer::weigh`], and of no other.

mod many;
mod neighbours;
mod places;

use std::sync::Arc;

use language::verify::Rated;
use smallvec::smallvec;

use super::super::plan::Plan;
use super::super::rank::{FieldPoints, Needs, Occurrences, Weigher, WordPlace};
use super::either::Essential;
use super::lists::{ByWord, Lists, View};
use super::word_counts::COUNTED_WORDS;
use crate::control::Control;
use crate::error::Result;
use crate::postings::{Page, Run};
pub(super) use many::{ManyRows, WordsOfRows};
use neighbours::PairsHere;

/// Weighs rows of one part, page by page, by rising row.
pub(super) struct Scorer<'s> {
    plan: &'s Plan,
    weigher: &'s Weigher,
    needs: Needs,
    /// Where [`Scorer::weigh_many`] tells weights, or bounds of them, by the fields of words.
    field_points: Option<&'s FieldPoints>,
    /// The runs that the pairs of the page allow; where there are points of fields.
    pairs: Option<PairsHere<'s>>,
    lists: &'s Lists<'s>,
    /// By place in [`Lists::wanted`]: upper bound of the sum of the words from there on. One more
    /// entry than words; the last is 0.
    worth: ByWord<i64>,
    /// Least weight of a row that can enter; `i64::MIN`: every row can.
    threshold: i64,
    /// Set of all wanted words.
    all: u64,
    /// Least sum of a row with all words at that threshold. Fewer words need at least as much.
    least: i64,
    /// The words that the page has postings of, by falling bound, for [`Scorer::weigh_many`].
    columns: ByWord<Column<'s>>,
    /// Whether the page is transposed: `many.rs`.
    is_transposed: bool,
    /// By place in [`Lists::wanted`]: hint for the word's page.
    hints: ByWord<usize>,
    /// By word: number in the page of its posting in the row; `None` where the row lacks the word.
    found: ByWord<Option<usize>>,
    /// The words of the row.
    here: Vec<u32>,
    /// What counts in the row; filled for rankers that need more than codes.
    row: Occurrences,
    places: Vec<u32>,
    /// By word: memory for its positions.
    runs: ByWord<Run>,
    /// Places of the row's words, for [`Weigher::weigh_places`].
    word_places: Vec<WordPlace>,
    /// By number of query words in a row: upper bound of the row's weight. Index 0 is unused. Empty
    /// where [`Scorer::counts`] cannot be true.
    most: Vec<i64>,
    /// Upper bound of the rows that come next: an entry of `most`, or `i64::MAX`.
    most_here: i64,
}

/// One word on one page.
struct Column<'s> {
    page: Page<'s>,
    table: &'s [i32; 256],
    /// By posting of the page: the set of the fields that the word stands in; `None` where a set is no byte of a file.
    sets: Option<&'s [u8]>,
    /// Set of the fields in which the word counts.
    fields: u64,
    /// Whether the word's value counts in a row that matches.
    rated: Rated,
    word: u32,
    /// The word in a set of words.
    bit: u64,
    /// Hint for the page.
    hint: usize,
    /// Upper bound of the sum of this word and the ones behind it on the page.
    worth: i64,
}

impl<'s> Scorer<'s> {
    /// Threshold `i64::MIN`, on no page yet.
    pub(super) fn new(plan: &'s Plan, lists: &'s Lists<'s>, control: &Control) -> Scorer<'s> {
        let mut worth = smallvec![0; lists.wanted().len() + 1];
        for (at, word) in lists.wanted().iter().enumerate().rev() {
            worth[at] = worth[at + 1] + lists.bound(*word);
        }
        let most = match plan.is_or_of_words() && plan.weigher().needs() > Needs::Codes {
            true => most(plan, lists, &worth),
            false => Vec::new(),
        };
        let weigher = plan.weigher();
        let is_known = plan.counts_alone() || plan.placed().is_some();
        let field_points = weigher.field_points().filter(|_| is_known);
        Scorer {
            plan,
            weigher,
            needs: weigher.needs(),
            field_points,
            pairs: field_points.map(|points| PairsHere::new(&points.neighbours)),
            lists,
            worth,
            threshold: i64::MIN,
            all: bits(lists.wanted()),
            least: i64::MIN,
            columns: ByWord::new(),
            is_transposed: false,
            hints: smallvec![0; lists.wanted().len()],
            found: smallvec![None; plan.words()],
            here: Vec::new(),
            row: Occurrences::new(plan.words(), Arc::clone(&control.interrupt)),
            places: Vec::new(),
            runs: smallvec![Run::default(); plan.words()],
            word_places: Vec::new(),
            most,
            most_here: i64::MAX,
        }
    }

    /// Turns to another page; its rows come next.
    pub(super) fn turn_page(&mut self, view: &View<'s>) {
        self.hints.fill(0);
        self.most_here = i64::MAX;
        self.columns.clear();
        self.is_transposed = false;
        if let Some(pairs) = &mut self.pairs {
            pairs.clear();
        }
        for word in self.lists.wanted() {
            let page = *view.word(*word as usize);
            if !page.is_empty() {
                self.columns.push(Column {
                    page,
                    sets: view.field_sets(*word as usize),
                    fields: self.weigher.fields_of(*word),
                    rated: self.plan.rated(*word),
                    table: self.weigher.table(*word as usize),
                    word: *word,
                    bit: bit(*word),
                    hint: 0,
                    worth: self.lists.bound(*word),
                });
            }
        }
        let mut worth = 0;
        for column in self.columns.iter_mut().rev() {
            worth += column.worth;
            column.worth = worth;
        }
    }

    /// Memory for what counts in a row.
    pub(super) fn occurrences(&mut self) -> &mut Occurrences {
        &mut self.row
    }

    /// Whether the last weight is of use. Errors: as [`Occurrences::check`].
    #[inline]
    pub(super) fn check(&self) -> Result<()> {
        self.row.check()
    }

    /// Least weight of a row that can enter.
    pub(super) fn threshold(&self) -> i64 {
        self.threshold
    }

    /// Sets the threshold. Rows of less weight are dropped from now on.
    pub(super) fn raise(&mut self, threshold: i64) {
        if threshold != self.threshold {
            self.threshold = threshold;
            self.least = self.least_sum(self.all);
        }
    }

    /// Least sum of a row that can enter.
    pub(super) fn least(&self) -> i64 {
        self.least
    }

    /// Least sum with which a row of exactly these words reaches the threshold.
    pub(super) fn least_sum(&self, words: u64) -> i64 {
        match self.threshold {
            i64::MIN => i64::MIN,
            threshold => self.weigher.least_sum(words, threshold),
        }
    }

    /// Number of essential words, from the front of [`Lists::wanted`]. A row must hold one of them,
    /// because the others together stay below the threshold. `either.rs` has an example.
    pub(super) fn essential(&self) -> usize {
        let wanted = self.lists.wanted();
        let is_enough = |at: &usize| self.worth[*at] >= self.least_sum(bits(&wanted[*at..]));
        (0..wanted.len())
            .rev()
            .find(is_enough)
            .map_or(0, |at| at + 1)
    }

    /// Whether an OR is weighed by falling number of words: codes do not tell its weights, and rows
    /// of more words can weigh more. Not where sums of codes count too (`proximity_bm25`): there
    /// codes leave out more rows than numbers of words do.
    pub(super) fn counts(&self) -> bool {
        let is_apart = self.most.len() > 2 && self.most.get(1) < self.most.last();
        is_apart && self.worth[0] == 0
    }

    /// Least number of words of a row that can enter; above the number of words where none can.
    /// Only if [`Scorer::counts`].
    pub(super) fn least_count(&self) -> usize {
        let is_enough = |most: &i64| *most >= self.threshold;
        let least = self.most.iter().skip(1).position(is_enough);
        least.map_or(self.most.len(), |below| below + 1)
    }

    /// The words that the page has postings of, by falling bound.
    pub(super) fn words_here(&self) -> Vec<u32> {
        self.columns.iter().map(|column| column.word).collect()
    }

    /// Starts again at the page's first row, for the rows that hold exactly `count` words.
    pub(super) fn rewind(&mut self, count: usize) {
        self.restart();
        self.most_here = self.most[count];
    }

    /// Whether the rows announced by [`Scorer::rewind`] can reach the threshold.
    pub(super) fn may_enter(&self) -> bool {
        self.most_here >= self.threshold
    }

    /// Whether codes, or codes and the fields of words, tell weights: then [`Scorer::weigh_many`] weighs.
    pub(super) fn tells_weights(&self) -> bool {
        match self.needs {
            Needs::Codes => self.plan.is_told(),
            Needs::Fields => self.plan.is_told() && self.field_points.is_some(),
            // Other rows need no look at their words at all.
            Needs::Constant => self.plan.placed().is_some(),
            Needs::Positions => false,
        }
    }

    /// Whether [`Scorer::weigh_many`] tells upper bounds of weights that fields or places decide.
    pub(super) fn tells_bounds(&self) -> bool {
        match self.plan.placed() {
            Some(_) => self.field_points.is_some(),
            None => self.needs >= Needs::Fields && self.plan.counts_present(),
        }
    }

    /// Reads which rows hold neighbours of the query side by side, for [`Scorer::weigh_many`] of many rows.
    pub(super) fn read_pairs(&mut self, view: &View<'_>) {
        if let Some(pairs) = &mut self.pairs {
            pairs.read(view);
        }
    }

    /// Starts again at the page's first row.
    pub(super) fn restart(&mut self) {
        self.is_transposed = false;
        self.hints.fill(0);
        self.columns.iter_mut().for_each(|column| column.hint = 0);
    }

    /// Upper bound of the weight of a row with this sum.
    pub(super) fn most(&self, sum: i64) -> i64 {
        self.weigher.bound(self.all, sum)
    }

    /// The least sum with which a row reaches the threshold; `None` where each row does. `bound`: upper bound of the weight of a
    /// row, by its sum; it rises with the sum.
    pub(super) fn least_by(&self, bound: impl Fn(i64) -> i64) -> Option<i64> {
        let is_enough = |sum| bound(sum) >= self.threshold;
        (!is_enough(0)).then(|| least_of(self.worth[0], is_enough))
    }

    /// Whether a row that holds two of the words, and no more, stays below the threshold.
    pub(super) fn asks_three(&self) -> bool {
        self.worth.len() > 3 && self.worth[0] - self.worth[2] < self.least
    }

    /// The limits of the word at place `at` of [`Lists::wanted`] in rows without any word before
    /// it.
    pub(super) fn essential_at(&self, at: usize) -> Essential<'s> {
        let word = self.lists.wanted()[at];
        let least = self.least_sum(bits(&self.lists.wanted()[at..]));
        Essential {
            word,
            table: self.weigher.table(word as usize),
            least: least.saturating_sub(self.worth[at + 1]),
            least_alone: self.least_sum(bit(word)),
        }
    }

    /// Weight of a matching row; `None` where it is below the threshold. Rows of a page must come
    /// by rising number. `last`: the last position of a field in the row.
    #[inline(always)]
    pub(super) fn weigh(
        &mut self,
        low: u16,
        view: &View<'_>,
        last: &mut dyn FnMut(u8) -> u32,
    ) -> Option<i64> {
        if self.needs == Needs::Constant {
            return Some(self.weigher.bound(u64::MAX, 0));
        }
        let (sum, present) = self.find(low, view)?;
        if self.needs == Needs::Codes && self.plan.counts_present() {
            let weight = self.weigher.bound(present, sum);
            return (weight >= self.threshold).then_some(weight);
        }
        self.weigh_fully(low, view, sum, present, last)
    }

    /// The row's sum and the set of its words; `found` gets its postings. `None` where the sum is
    /// too low.
    #[inline(always)]
    fn find(&mut self, low: u16, view: &View<'_>) -> Option<(i64, u64)> {
        let (mut sum, mut present) = (0, 0);
        self.forget_row();
        for (at, word) in self.lists.wanted().iter().enumerate() {
            if sum + self.worth[at] < self.least {
                return None;
            }
            if let Some(posting) = view.word(*word as usize).find(low, &mut self.hints[at]) {
                sum += self.take(*word, posting, view);
                present |= bit(*word);
            }
        }
        (sum >= self.least).then_some((sum, present))
    }

    /// Forgets the words of the last row.
    #[inline(always)]
    fn forget_row(&mut self) {
        for word in self.here.drain(..) {
            self.found[word as usize] = None;
        }
    }

    /// Takes a word of the row, and returns what it adds to the sum.
    #[inline(always)]
    fn take(&mut self, word: u32, posting: usize, view: &View<'_>) -> i64 {
        let number = word as usize;
        let Some(code) = view.word(number).codes.get(posting) else {
            return 0;
        };
        self.found[number] = Some(posting);
        self.here.push(word);
        let value = match code >> 5 {
            0 => {
                let hits = view.hits(number, posting);
                self.weigher.value(number, *code, hits)
            }
            _ => i64::from(self.weigher.table(number)[usize::from(*code)]),
        };
        self.plan.rated(word).of(value)
    }
}

/// Upper bound of an OR row's weight, indexed by the number of query words that the row holds: the
/// highest bound of all sets of that many words. Empty where there are too many words.
fn most(plan: &Plan, lists: &Lists<'_>, worth: &[i64]) -> Vec<i64> {
    let wanted = lists.wanted();
    if plan.words() > COUNTED_WORDS {
        return Vec::new();
    }
    let mut most = vec![i64::MIN; wanted.len() + 1];
    for set in 1..1usize << wanted.len() {
        let chosen = wanted.iter().enumerate();
        let chosen = chosen.filter(|(at, _)| set >> at & 1 == 1);
        let (words, count) = chosen.fold((0, 0), |(words, count), (_, word)| {
            (words | bit(*word), count + 1)
        });
        // The first `count` words have the highest bounds.
        let bound = plan.weigher().bound(words, worth[0] - worth[count]);
        most[count] = most[count].max(bound);
    }
    most
}

/// A word as a set: bit 63 stands for all words from number 63 on.
pub(super) fn bit(word: u32) -> u64 {
    1 << word.min(63)
}

/// A set of words.
fn bits(words: &[u32]) -> u64 {
    words.iter().fold(0, |bits, word| bits | bit(*word))
}

/// The least number from 0 to `most` that is enough; one more than `most` if none is. All numbers behind one that is enough are.
fn least_of(most: i64, is_enough: impl Fn(i64) -> bool) -> i64 {
    let (mut low, mut high) = (0, most + 1);
    while low < high {
        let middle = low + (high - low) / 2;
        match is_enough(middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    low
}

//! What rows weigh, and whether they can enter the answer at all.

mod many;
mod places;

use smallvec::smallvec;

use super::super::plan::Plan;
use super::super::rank::{Needs, Occurrences, Weigher, WordPlace};
use super::either::Essential;
use super::lists::{ByWord, Lists, View};
use super::rows::Rows;
use super::word_counts::COUNTED_WORDS;
use crate::postings::{PAGE_BITS, Page, Run};
pub(super) use many::ManyRows;

/// Words of a page that are always looked for row by row.
const FEW_WORDS: usize = 8;
/// Rows whose sums are kept: those of a page.
const SUMS: usize = 1 << PAGE_BITS;

/// Weighs rows of one part, page by page, rising.
pub(super) struct Scorer<'s> {
    plan: &'s Plan,
    weigher: &'s Weigher,
    needs: Needs,
    lists: &'s Lists<'s>,
    /// By place in [`Lists::wanted`]: what the words from there on are worth together, at most. One more than words.
    worth: ByWord<i64>,
    /// Weight that a row must have to be wanted.
    threshold: i64,
    /// Bits of all words.
    all: u64,
    /// The sum that a row of all words must have for that.
    least: i64,
    /// The words that come on the page, highest bound first, for [`Scorer::weigh_many`].
    columns: ByWord<Column<'s>>,
    /// By place in [`Lists::wanted`]: where the search on the page has come to.
    hints: ByWord<usize>,
    /// By word: its posting in the row, if it has it.
    found: ByWord<Option<usize>>,
    row: Occurrences,
    places: Vec<u32>,
    /// By word: where the last look at its positions ended.
    runs: ByWord<Run>,
    /// Where the words of the row stand; see [`Weigher::weigh_places`].
    word_places: Vec<WordPlace>,
    /// By number of words: what a row of so many weighs at most. Empty where that is not asked for.
    most: Vec<i64>,
    /// What a row weighs at most of those that come next.
    most_here: i64,
}

/// A word on one page.
struct Column<'s> {
    page: Page<'s>,
    table: &'s [i32; 256],
    word: u32,
    /// As [`Weigher::bound`] takes it.
    bit: u64,
    /// Where the search has come to.
    hint: usize,
    /// What it and those behind it are worth together, at most.
    worth: i64,
}

impl<'s> Scorer<'s> {
    pub(super) fn new(plan: &'s Plan, lists: &'s Lists<'s>) -> Scorer<'s> {
        let mut worth = smallvec![0; lists.wanted().len() + 1];
        for (at, word) in lists.wanted().iter().enumerate().rev() {
            worth[at] = worth[at + 1] + lists.bound(*word);
        }
        let most = match plan.is_or_of_words() && plan.weigher().needs() > Needs::Codes {
            true => most(plan, lists, &worth),
            false => Vec::new(),
        };
        Scorer {
            plan,
            weigher: plan.weigher(),
            needs: plan.weigher().needs(),
            lists,
            worth,
            threshold: i64::MIN,
            all: bits(lists.wanted()),
            least: i64::MIN,
            columns: ByWord::new(),
            hints: smallvec![0; lists.wanted().len()],
            found: smallvec![None; plan.words()],
            row: Occurrences::new(plan.words()),
            places: Vec::new(),
            runs: smallvec![Run::default(); plan.words()],
            word_places: Vec::new(),
            most,
            most_here: i64::MAX,
        }
    }

    /// Rows on another page come next.
    pub(super) fn turn_page(&mut self, view: &View<'s>) {
        self.hints.fill(0);
        self.most_here = i64::MAX;
        self.columns.clear();
        for word in self.lists.wanted() {
            let page = *view.word(*word as usize);
            if !page.is_empty() {
                self.columns.push(Column {
                    page,
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

    /// Room to tell what counts in a row.
    pub(super) fn occurrences(&mut self) -> &mut Occurrences {
        &mut self.row
    }

    pub(super) fn threshold(&self) -> i64 {
        self.threshold
    }

    /// Rows of less weight are not wanted from now on.
    pub(super) fn raise(&mut self, threshold: i64) {
        if threshold != self.threshold {
            self.threshold = threshold;
            self.least = self.least_sum(self.all);
        }
    }

    /// The sum that a row which has these words and no others must have.
    pub(super) fn least_sum(&self, words: u64) -> i64 {
        match self.threshold {
            i64::MIN => i64::MIN,
            threshold => self.weigher.least_sum(words, threshold),
        }
    }

    /// How many of [`Lists::wanted`], from its front, a row must have one of.
    pub(super) fn essential(&self) -> usize {
        let wanted = self.lists.wanted();
        let is_enough = |at: &usize| self.worth[*at] >= self.least_sum(bits(&wanted[*at..]));
        (0..wanted.len())
            .rev()
            .find(is_enough)
            .map_or(0, |at| at + 1)
    }

    /// Whether rows of more words can weigh more, in an OR whose weights are not told by codes: then they are weighed first. Where
    /// sums of codes count too (`proximity_bm25`), these leave more rows out than numbers of words do.
    pub(super) fn counts(&self) -> bool {
        let is_apart = self.most.len() > 2 && self.most.get(1) < self.most.last();
        is_apart && self.worth[0] == 0
    }

    /// How many words a row must hold: more than there are where none can enter. Only of a scorer that counts.
    pub(super) fn least_count(&self) -> usize {
        let is_enough = |most: &i64| *most >= self.threshold;
        let least = self.most.iter().skip(1).position(is_enough);
        least.map_or(self.most.len(), |below| below + 1)
    }

    /// The words that come on the page.
    pub(super) fn words_here(&self) -> Vec<u32> {
        self.columns.iter().map(|column| column.word).collect()
    }

    /// Rows of this page come by rising number once more: those that hold so many words.
    pub(super) fn rewind(&mut self, count: usize) {
        self.hints.fill(0);
        self.most_here = self.most[count];
    }

    /// Whether a row can weigh enough: of those that hold as many words as was said.
    pub(super) fn may_enter(&self) -> bool {
        self.most_here >= self.threshold
    }

    /// Whether weights are told by codes alone: then [`Scorer::weigh_many`] does.
    pub(super) fn is_simple(&self) -> bool {
        self.needs == Needs::Codes && self.plan.counts_present()
    }

    /// Whether it costs less to add up every posting of the page than to look for each word in so many rows.
    pub(super) fn adds_up(&self, rows: usize) -> bool {
        let words = self.columns.len();
        let postings = || {
            self.columns
                .iter()
                .map(|column| column.page.len())
                .sum::<usize>()
        };
        self.plan.counts_present() && words > FEW_WORDS && rows * words > 4 * postings() + SUMS
    }

    /// Adds up what the words are worth in each row of the page, and drops the rows that are below the threshold with that.
    pub(super) fn drop_low(&self, rows: &mut Rows) {
        let mut sums = vec![(0i64, 0u64); SUMS];
        for column in &self.columns {
            let mut codes = (column.page.first..).zip(column.page.codes);
            column.page.each(|low| {
                if let Some((posting, code)) = codes.next() {
                    let sum = &mut sums[usize::from(low)];
                    sum.0 += self.value(column, posting, *code);
                    sum.1 |= column.bit;
                }
            });
        }
        rows.retain(|low| {
            let (sum, present) = sums[usize::from(low)];
            self.weigher.bound(present, sum) >= self.threshold
        });
    }

    /// What a posting, by its number in the list, is worth.
    #[inline(always)]
    fn value(&self, column: &Column<'_>, posting: u32, code: u8) -> i64 {
        let word = column.word as usize;
        match code >> 5 {
            0 => {
                let hits = self.lists.get(word).map_or(0, |list| list.hits(posting));
                self.weigher.value(word, code, hits)
            }
            _ => i64::from(column.table[usize::from(code)]),
        }
    }

    /// What the word at a place of [`Lists::wanted`] must be worth in a row that has none of the words before it.
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

    /// The weight of a row that matches; `None` where it is below the threshold. Rows of a page must be asked for by rising
    /// number. `last` tells the last position of a field in the row.
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

    /// The row's postings, the sum of what they are worth, and bits of their words. `None` where that is too little.
    #[inline(always)]
    fn find(&mut self, low: u16, view: &View<'_>) -> Option<(i64, u64)> {
        let (mut sum, mut present) = (0, 0);
        for (at, word) in self.lists.wanted().iter().enumerate() {
            if sum + self.worth[at] < self.least {
                return None;
            }
            let page = view.word(*word as usize);
            let posting = page.find(low, &mut self.hints[at]);
            self.found[*word as usize] = posting;
            let Some(posting) = posting else { continue };
            let Some(code) = page.codes.get(posting) else {
                continue;
            };
            let value = match code >> 5 {
                0 => {
                    let hits = view.hits(*word as usize, posting);
                    self.weigher.value(*word as usize, *code, hits)
                }
                _ => i64::from(self.weigher.table(*word as usize)[usize::from(*code)]),
            };
            // A word that does not count takes nothing off.
            let is_sure = value > 0 || self.plan.counts_present();
            sum += if is_sure { value } else { 0 };
            present |= bit(*word);
        }
        (sum >= self.least).then_some((sum, present))
    }
}

/// What a row of so many words of an OR weighs at most, by that number: of each set of words the bound. Empty where they are too
/// many to go through their sets.
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
        // The first ones are worth the most.
        let bound = plan.weigher().bound(words, worth[0] - worth[count]);
        most[count] = most[count].max(bound);
    }
    most
}

/// A word as [`Weigher::bound`] takes it.
pub(super) fn bit(word: u32) -> u64 {
    1 << word.min(63)
}

fn bits(words: &[u32]) -> u64 {
    words.iter().fold(0, |bits, word| bits | bit(*word))
}

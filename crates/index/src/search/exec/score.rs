//! What rows weigh, and whether they can enter the answer at all.

use super::super::plan::{Plan, Step};
use super::super::rank::{Needs, Occurrences, Weigher};
use super::any::Essential;
use super::lists::{Lists, View};
use super::phrase::Phrase;
use super::rows::RowsRef;
use crate::postings::Page;

/// Weighs rows of one part, page by page, rising.
pub(super) struct Scorer<'s> {
    plan: &'s Plan,
    weigher: &'s Weigher,
    needs: Needs,
    lists: &'s Lists<'s>,
    /// By place in [`Lists::wanted`]: what the words from there on are worth together, at most. One more than words.
    worth: Vec<i64>,
    /// Weight that a row must have to be wanted.
    threshold: i64,
    /// The sum that a row of all words must have for that.
    least: i64,
    /// The words that come on the page, highest bound first, for [`Scorer::pick`].
    columns: Vec<Column<'s>>,
    /// By place in [`Lists::wanted`]: where the search on the page has come to.
    hints: Vec<usize>,
    /// By word: its posting in the row, if it has it.
    found: Vec<Option<usize>>,
    row: Occurrences,
    places: Vec<u32>,
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
        let mut worth = vec![0; lists.wanted().len() + 1];
        for (at, word) in lists.wanted().iter().enumerate().rev() {
            worth[at] = worth[at + 1] + lists.bound(*word);
        }
        Scorer {
            plan,
            weigher: plan.weigher(),
            needs: plan.weigher().needs(),
            lists,
            worth,
            threshold: i64::MIN,
            least: i64::MIN,
            columns: Vec::new(),
            hints: vec![0; lists.wanted().len()],
            found: vec![None; plan.words()],
            row: Occurrences::new(plan.words()),
            places: Vec::new(),
        }
    }

    /// Rows on another page come next.
    pub(super) fn turn_page(&mut self, view: &View<'s>) {
        self.hints.fill(0);
        self.columns.clear();
        if !self.is_simple() {
            return;
        }
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

    pub(super) fn threshold(&self) -> i64 {
        self.threshold
    }

    /// Rows of less weight are not wanted from now on.
    pub(super) fn raise(&mut self, threshold: i64) {
        if threshold != self.threshold {
            self.threshold = threshold;
            self.least = self.least_sum(bits(self.lists.wanted()));
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

    /// Whether weights are told by codes alone: then [`Scorer::pick`] does.
    pub(super) fn is_simple(&self) -> bool {
        self.needs == Needs::Codes && self.plan.counts_present()
    }

    /// Adds the rows that are not below the threshold, with their weights. Only of a simple scorer.
    #[inline(always)]
    pub(super) fn pick(&mut self, rows: RowsRef<'_>, out: &mut Vec<(u16, i64)>) {
        match rows {
            RowsRef::Few(lows) => {
                for low in lows {
                    self.pick_row(*low, out);
                }
            }
            RowsRef::Many(first, words) => {
                for (at, word) in words.iter().enumerate() {
                    let mut left = *word;
                    while left != 0 {
                        let low = ((first + at) as u32 * 64 + left.trailing_zeros()) as u16;
                        left &= left - 1;
                        self.pick_row(low, out);
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn pick_row(&mut self, low: u16, out: &mut Vec<(u16, i64)>) {
        let (mut sum, mut present) = (0, 0);
        for column in &mut self.columns {
            if sum + column.worth < self.least {
                return;
            }
            let Some(posting) = column.page.find(low, &mut column.hint) else {
                continue;
            };
            let Some(code) = column.page.codes.get(posting) else {
                continue;
            };
            present |= column.bit;
            sum += match code >> 5 {
                0 => {
                    let word = column.word as usize;
                    let list = self.lists.get(word);
                    let at = column.page.first + posting as u32;
                    let hits = list.map_or(0, |list| list.hits(at));
                    self.weigher.value(word, *code, hits)
                }
                _ => i64::from(column.table[usize::from(*code)]),
            };
        }
        if sum >= self.least {
            let weight = self.weigher.bound(present, sum);
            if weight >= self.threshold {
                out.push((low, weight));
            }
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

    fn weigh_fully(
        &mut self,
        low: u16,
        view: &View<'_>,
        sum: i64,
        present: u64,
        last: &mut dyn FnMut(u8) -> u32,
    ) -> Option<i64> {
        let counts_present = self.plan.counts_present();
        if counts_present && self.weigher.bound(present, sum) < self.threshold {
            return None;
        }
        self.row.clear();
        match counts_present && !self.plan.has_places() {
            true => {
                self.tell_present(view);
                if self.weigher.bound_row(&self.row, sum) < self.threshold {
                    return None;
                }
                self.tell_places(view);
            }
            false => self.tell(self.plan.root(), low, view),
        }
        let sum = match counts_present {
            true => sum,
            false => self.sum_told(view),
        };
        let weight = self.weigher.weigh(&mut self.row, sum, last);
        (weight >= self.threshold).then_some(weight)
    }

    /// What the words that count are worth.
    fn sum_told(&self, view: &View<'_>) -> i64 {
        let value = |(word, hits): (usize, u32)| {
            let posting = self.found[word]?;
            let code = view.word(word).codes.get(posting)?;
            Some(self.weigher.value(word, *code, hits))
        };
        self.row.hits().filter_map(value).sum()
    }

    /// Every word of the row counts, wherever it stands.
    fn tell_present(&mut self, view: &View<'_>) {
        for word in self.lists.wanted() {
            let word = *word as usize;
            if let Some(posting) = self.found[word] {
                let fields = view.fields(word, posting);
                self.row.add(word, view.hits(word, posting), fields);
            }
        }
    }

    /// The same with places, if they are asked for.
    fn tell_places(&mut self, view: &View<'_>) {
        if self.needs < Needs::Positions {
            return;
        }
        for word in self.lists.wanted() {
            if let Some(posting) = self.found[*word as usize] {
                view.positions(*word as usize, posting, &mut self.places);
                let places = self.places.iter().copied();
                self.row.add_places(*word as usize, places);
            }
        }
    }

    /// A word counts wherever it stands in these fields.
    fn tell_word(&mut self, word: usize, fields: u64, view: &View<'_>) {
        let Some(posting) = self.found[word] else {
            return;
        };
        let here = match self.needs >= Needs::Fields {
            true => view.fields(word, posting) & fields,
            false => 1,
        };
        self.row.add(word, view.hits(word, posting), here);
        if self.needs == Needs::Positions {
            view.positions(word, posting, &mut self.places);
            let counts = |place: &u32| fields >> (*place >> 24 & 63) & 1 == 1;
            self.row
                .add_places(word, self.places.iter().copied().filter(counts));
        }
    }

    /// Tells what counts of a step that the row matches.
    fn tell(&mut self, step: &Step, low: u16, view: &View<'_>) {
        match step {
            Step::All => {}
            Step::Word { word, fields } => self.tell_word(*word, fields.set, view),
            Step::Phrase { words, fields } => {
                let mut phrase = Phrase::new(words, *fields, view);
                if phrase.stands(low, view) {
                    self.tell_phrase(&phrase, view);
                }
            }
            Step::And { required, .. } => {
                for step in required {
                    self.tell(step, low, view);
                }
            }
            Step::AtLeast { parts, .. } => {
                for step in parts {
                    if self.holds(step, low, view) {
                        self.tell(step, low, view);
                    }
                }
            }
            Step::Maybe(wanted, welcome) => {
                self.tell(wanted, low, view);
                if self.holds(welcome, low, view) {
                    self.tell(welcome, low, view);
                }
            }
        }
    }

    fn tell_phrase(&mut self, phrase: &Phrase<'_>, view: &View<'_>) {
        for (word, distance) in phrase.asked() {
            if let Some(posting) = self.found[*word] {
                let hits = view.hits(*word, posting);
                self.row.add(*word, hits, phrase.matched());
                if self.needs == Needs::Positions {
                    let places = phrase
                        .starts()
                        .iter()
                        .map(|start| start.wrapping_add(*distance));
                    self.row.add_places(*word, places);
                }
            }
        }
    }

    /// Whether the row matches a step.
    fn holds(&self, step: &Step, low: u16, view: &View<'_>) -> bool {
        match step {
            Step::All => true,
            Step::Word { word, fields } => {
                let posting = view.word(*word).find(low, &mut 0);
                posting.is_some_and(|posting| {
                    fields.every || view.fields(*word, posting) & fields.set != 0
                })
            }
            Step::Phrase { words, fields } => Phrase::new(words, *fields, view).stands(low, view),
            Step::And { required, excluded } => {
                required.iter().all(|step| self.holds(step, low, view))
                    && !excluded.iter().any(|step| self.holds(step, low, view))
            }
            Step::AtLeast { parts, least } => {
                let held = parts.iter().filter(|step| self.holds(step, low, view));
                held.take(*least).count() == *least
            }
            Step::Maybe(wanted, _) => self.holds(wanted, low, view),
        }
    }
}

/// A word as [`Weigher::bound`] takes it.
pub(super) fn bit(word: u32) -> u64 {
    1 << word.min(63)
}

fn bits(words: &[u32]) -> u64 {
    words.iter().fold(0, |bits, word| bits | bit(*word))
}

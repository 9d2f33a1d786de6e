//! Weighs rows for rankers that need more than codes: tells them which words count, and where.

use super::super::super::plan::Step;
use super::super::super::rank::{Needs, WordPlace};
use super::super::lists::View;
use super::super::phrase::Phrase;
use super::Scorer;

impl Scorer<'_> {
    /// The weight of a row whose words (`present`) have the sum `sum`; `None` where it is below the
    /// threshold. Tests bounds before it reads fields, and again before it reads places.
    pub(super) fn weigh_fully(
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
        let is_plain = self.plan.counts_alone();
        if is_plain
            && self.weigher.weighs_places()
            && let Some(weight) = self.weigh_places(view, sum, last)
        {
            return (weight >= self.threshold).then_some(weight);
        }
        self.row.clear();
        match is_plain {
            true => {
                self.record_present(view);
                if self.weigher.bound_row(&self.row, sum) < self.threshold {
                    return None;
                }
                self.record_places(view);
            }
            false => self.record(self.plan.root(), low, view),
        }
        let sum = match counts_present {
            true => sum,
            false => self.sum_recorded(view),
        };
        let weight = self.weigher.weigh(&mut self.row, sum, last);
        (weight >= self.threshold).then_some(weight)
    }

    /// The weight of a row in which every word counts wherever it stands; `None` where
    /// [`Weigher::weigh_places`] cannot tell it.
    ///
    /// [`Weigher::weigh_places`]: super::super::super::rank::Weigher::weigh_places
    fn weigh_places(
        &mut self,
        view: &View<'_>,
        sum: i64,
        last: &mut dyn FnMut(u8) -> u32,
    ) -> Option<i64> {
        self.word_places.clear();
        for word in &self.here {
            let number = *word as usize;
            let Some(posting) = self.found[number] else {
                continue;
            };
            let (code, fields) = (
                view.word(number).codes.get(posting),
                self.weigher.fields_of(*word),
            );
            let counts = |place: &u32| fields >> (*place >> 24 & 63) & 1 == 1;
            if code.is_some_and(|code| code >> 5 == 1) {
                let place = view.place(number, posting, &mut self.runs[number])?;
                if counts(&place) {
                    self.word_places.push(WordPlace::new(place, *word));
                }
                continue;
            }
            view.positions_from(number, posting, &mut self.runs[number], &mut self.places);
            let places = self.places.iter().filter(|place| counts(place));
            self.word_places
                .extend(places.map(|place| WordPlace::new(*place, *word)));
        }
        self.weigher.weigh_places(&mut self.word_places, sum, last)
    }

    /// Sum of the values of the words that count.
    fn sum_recorded(&self, view: &View<'_>) -> i64 {
        let value = |(word, hits): (usize, u32)| {
            let posting = self.found[word]?;
            let code = view.word(word).codes.get(posting)?;
            Some(self.weigher.value(word, *code, hits))
        };
        self.row.hits().filter_map(value).sum()
    }

    /// Records every word of the row, with its occurrences and fields.
    fn record_present(&mut self, view: &View<'_>) {
        for word in &self.here {
            let word = *word as usize;
            if let Some(posting) = self.found[word] {
                let fields = view.fields(word, posting) & self.weigher.fields_of(word as u32);
                self.row.add(word, view.hits(word, posting), fields);
            }
        }
    }

    /// Records the places of every word of the row, if the ranker needs positions.
    fn record_places(&mut self, view: &View<'_>) {
        if self.needs < Needs::Positions {
            return;
        }
        for word in &self.here {
            if let Some(posting) = self.found[*word as usize] {
                view.positions(*word as usize, posting, &mut self.places);
                let fields = self.weigher.fields_of(*word);
                let counts = |place: &u32| fields >> (*place >> 24 & 63) & 1 == 1;
                let places = self.places.iter().copied().filter(counts);
                self.row.add_places(*word as usize, places);
            }
        }
    }

    /// Records a word that counts in `fields`, and its places there if the ranker needs positions.
    fn record_word(&mut self, word: usize, fields: u64, view: &View<'_>) {
        let Some(posting) = self.found[word] else {
            return;
        };
        let here = match self.needs >= Needs::Fields {
            true => view.fields(word, posting) & fields,
            false => 1,
        };
        self.row.add(word, view.hits(word, posting), here);
        if self.needs == Needs::Positions {
            // The query may have the word many times.
            let fields = self.row.unplaced(word, here);
            if fields == 0 {
                return;
            }
            view.positions(word, posting, &mut self.places);
            let counts = |place: &u32| fields >> (*place >> 24 & 63) & 1 == 1;
            self.row
                .add_places(word, self.places.iter().copied().filter(counts));
        }
    }

    /// Records the words and phrases that count in a step that the row matches.
    fn record(&mut self, step: &Step, low: u16, view: &View<'_>) {
        if self.row.is_ended() {
            return;
        }
        match step {
            Step::All => {}
            Step::Word { word, fields } => self.record_word(*word, fields.set, view),
            Step::Phrase {
                words,
                fields,
                number,
            } => {
                let mut phrase = Phrase::new(words, *fields, view);
                if phrase.stands(low, view) {
                    self.record_phrase(&phrase, *number, view);
                }
            }
            Step::And { required, .. } => {
                for step in required {
                    self.record(step, low, view);
                }
            }
            Step::AtLeast { parts, .. } => {
                for step in parts {
                    if self.holds(step, low, view) {
                        self.record(step, low, view);
                    }
                }
            }
            Step::Maybe(wanted, welcome) => {
                self.record(wanted, low, view);
                if self.holds(welcome, low, view) {
                    self.record(welcome, low, view);
                }
            }
            // A plan with such a tree weighs its rows in `placed.rs`.
            Step::Placed { .. } => {}
        }
    }

    /// Records a phrase that stands in the row, with its words.
    fn record_phrase(&mut self, phrase: &Phrase<'_>, number: usize, view: &View<'_>) {
        let fields = match self.weigher.takes_first_field() {
            true => phrase.matched() & phrase.matched().wrapping_neg(),
            false => phrase.matched(),
        };
        for (word, _) in phrase.asked() {
            if let Some(posting) = self.found[*word] {
                self.row.add(*word, view.hits(*word, posting), fields);
            }
        }
        if self.needs == Needs::Positions {
            let span = phrase
                .asked()
                .last()
                .map_or(0, |(_, distance)| distance + 1);
            let number = self.plan.words() + number;
            self.row.add_phrase(number, phrase.starts(), span);
        }
    }

    /// Whether the row matches a step. Searches each page from its start.
    fn holds(&self, step: &Step, low: u16, view: &View<'_>) -> bool {
        match step {
            Step::All => true,
            Step::Word { word, fields } => {
                let posting = view.word(*word).find(low, &mut 0);
                posting.is_some_and(|posting| {
                    fields.every || view.fields(*word, posting) & fields.set != 0
                })
            }
            Step::Phrase { words, fields, .. } => {
                Phrase::new(words, *fields, view).stands(low, view)
            }
            Step::And { required, excluded } => {
                required.iter().all(|step| self.holds(step, low, view))
                    && !excluded.iter().any(|step| self.holds(step, low, view))
            }
            Step::AtLeast { parts, least } => {
                let held = parts.iter().filter(|step| self.holds(step, low, view));
                held.take(*least).count() == *least
            }
            Step::Maybe(wanted, _) => self.holds(wanted, low, view),
            // A plan with such a tree weighs its rows in `placed.rs`.
            Step::Placed { .. } => true,
        }
    }
}

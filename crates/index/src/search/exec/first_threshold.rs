//! A threshold before the first row is looked at.

use std::cmp::Reverse;

use super::super::plan::Plan;
use super::super::rank::{Needs, Weigher};
use super::job::{Job, Shared};
use super::score::bit;
use crate::error::Result;
use crate::postings::{HITS_OPEN, hits_of};

impl Job<'_> {
    /// Raises the threshold to what as many rows as are wanted weigh for one word alone: lists know how often each code comes
    /// in them. Only where every row with the word matches and nothing else takes weight off. Errors: `Io`, `Corrupt`.
    pub(super) fn raise_first(&self, shared: &Shared<'_>) -> Result<()> {
        let plan = match &self.plan {
            Some(plan) if self.is_sure_of_words(plan) => plan,
            _ => return Ok(()),
        };
        let parts = &self.snapshot.parts;
        let deleted: u64 = parts.iter().map(|part| part.deleted.len()).sum();
        let wanted = self.keep.unwrap_or(u64::MAX).saturating_add(deleted);
        for word in 0..plan.words() {
            let mut counts = [0u64; 256];
            for (at, _) in self.snapshot.numbered() {
                if let Some(list) = self.lists(at)?.get(word) {
                    list.each_code(|code, count| counts[usize::from(code)] += u64::from(count));
                }
            }
            if let Some(value) = value_of(word, wanted, &counts, plan.weigher()) {
                shared.raise(plan.weigher().bound(bit(word as u32), value));
            }
        }
        Ok(())
    }

    fn is_sure_of_words(&self, plan: &Plan) -> bool {
        let is_free = |word: usize| plan.weigher().table(word).iter().all(|value| *value >= 0);
        self.is_cut()
            && plan.is_or_of_words()
            && self.needs() == Needs::Codes
            && self.filter.is_none()
            && self.only.is_none()
            && (0..plan.words()).all(is_free)
    }
}

/// What so many rows are worth for a word at least, each code of which comes so often; `None` where there are not as many.
fn value_of(word: usize, wanted: u64, counts: &[u64; 256], weigher: &Weigher) -> Option<i64> {
    let counted = counts
        .iter()
        .zip(0..=u8::MAX)
        .filter(|(count, _)| **count > 0);
    let mut values: Vec<(i64, u64)> = counted
        .map(|(count, code)| {
            let hits = hits_of(code).unwrap_or(HITS_OPEN);
            (weigher.value(word, code, hits), *count)
        })
        .collect();
    values.sort_unstable_by_key(|(value, _)| Reverse(*value));
    let mut rows = 0;
    let mut values = values.iter();
    let enough = values.find(|(_, count)| {
        rows += count;
        rows >= wanted
    });
    enough.map(|(value, _)| *value)
}

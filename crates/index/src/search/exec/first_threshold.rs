//! A threshold before the first row is read.
//!
//! A list knows how many postings have each code. Example: LIMIT 2, no deleted rows. `cat` has 1
//! posting of a code worth 5, 4 of a code worth 3, and 90 of a code worth 1. Two rows weigh at
//! least 3 for `cat` alone, so the threshold starts at 3. Each word gives a threshold; the highest
//! stays.

use std::cmp::Reverse;

use super::super::plan::Plan;
use super::super::rank::{Needs, Weigher};
use super::job::{Job, Shared};
use super::score::bit;
use crate::error::Result;
use crate::postings::{HITS_OPEN, hits_of};

impl Job<'_> {
    /// Raises the shared threshold to the weight that [`Job::keep`] rows reach by one word alone.
    /// Deleted rows are in the counts too, so that many more are asked for. Does nothing unless
    /// every row with the word matches and no word has a negative value. Errors: `Io`, `Corrupt`.
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

    /// Whether a row with a word of the plan surely matches, and weighs at least the word's value.
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

/// The least value of a word among its best `wanted` postings; `None` where it has fewer. `counts`:
/// postings by code. A code of eight or more occurrences counts as [`HITS_OPEN`].
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

//! A threshold before the first row is looked at.

use std::cmp::Reverse;

use super::super::plan::Plan;
use super::super::rank::Needs;
use super::score::bit;
use super::{Job, Shared};
use crate::error::Result;
use crate::postings::{HITS_OPEN, hits_of};

impl Job<'_> {
    /// Raises the threshold to what as many rows as are wanted weigh for one word alone: lists know how often each code comes
    /// in them. Only where every row with the word matches and nothing else takes weight off. Errors: `Io`, `Corrupt`.
    pub(in super::super) fn seed(&self, shared: &Shared<'_>) -> Result<()> {
        let plan = match &self.plan {
            Some(plan) if self.is_seeded(plan) => plan,
            _ => return Ok(()),
        };
        let parts = &self.snapshot.parts;
        let deleted: u64 = parts.iter().map(|part| part.deleted.len()).sum();
        let wanted = self.keep.unwrap_or(u64::MAX).saturating_add(deleted);
        for word in 0..plan.words() {
            let mut values: Vec<(i64, u64)> = Vec::new();
            for at in 0..parts.len() {
                let Some(list) = self.lists(at)?.get(word) else {
                    continue;
                };
                list.each_code(|code, count| {
                    let hits = hits_of(code).unwrap_or(HITS_OPEN);
                    let value = plan.weigher().value(word, code, hits);
                    values.push((value, count.into()));
                });
            }
            values.sort_unstable_by_key(|(value, _)| Reverse(*value));
            let mut rows = 0;
            let enough = values.iter().find(|(_, count)| {
                rows += count;
                rows >= wanted
            });
            if let Some((value, _)) = enough {
                shared.raise(plan.weigher().bound(bit(word as u32), *value));
            }
        }
        Ok(())
    }

    fn is_seeded(&self, plan: &Plan) -> bool {
        let is_free = |word: usize| plan.weigher().table(word).iter().all(|value| *value >= 0);
        self.is_cut()
            && plan.is_any()
            && self.needs() == Needs::Codes
            && self.filter.is_none()
            && self.only.is_none()
            && (0..plan.words()).all(is_free)
    }
}

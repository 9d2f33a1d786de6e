//! Counting hits of standing queries: what deciding found, and on replay what records hold.

use super::{Counting, State};
use crate::catalog::TableId;
use crate::record::Documents;

impl State {
    /// Adds to the counts of queries what deciding has found.
    pub(super) fn count(&mut self, counting: &[Counting]) {
        for counting in counting {
            if let Some(pq) = self.percolates.get_mut(&counting.from) {
                let hits = counting.queries.iter();
                let hits = hits.map(|(query, documents)| (query, *documents));
                pq.count_hits(hits, counting.hit_at);
            }
        }
    }

    /// Adds to the counts of queries what a record holds of its hits, unless their file has it.
    pub(super) fn count_again(&mut self, record: &Documents, position: u64) {
        for hits in &record.hits {
            let mut counts = vec![0u64; hits.queries.len()];
            for &query in &hits.lists.entries {
                if let Some(count) = counts.get_mut(query as usize) {
                    *count += 1;
                }
            }
            let ids = hits.queries.iter().map(|query| query.id).zip(counts);
            self.count_queries(hits.from, hits.hit_at, position, ids);
        }
        for counts in &record.counts {
            let ids = counts.queries.iter();
            let ids = ids.map(|(id, documents)| (*id, u64::from(*documents)));
            self.count_queries(counts.from, counts.hit_at, position, ids);
        }
    }

    fn count_queries(
        &mut self,
        from: TableId,
        hit_at: i64,
        position: u64,
        hits: impl Iterator<Item = (u64, u64)>,
    ) {
        let Some(pq) = self.percolates.get_mut(&from) else {
            return;
        };
        if position <= pq.counted {
            return;
        }
        for (id, documents) in hits {
            if let Some(query) = pq.set.get(id) {
                query.count.add(documents, hit_at);
            }
        }
        pq.counts_changed = true;
    }
}

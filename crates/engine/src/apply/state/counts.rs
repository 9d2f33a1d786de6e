//! Counts the hits of standing queries. The writer adds the counts that deciding has made; recovery and a follower count the hits
//! in the records. Records hold no hits of a pq table without `into=`: a restart forgets those since its last file of counts.

use super::{Counting, State};
use crate::catalog::TableId;
use crate::record::Documents;

impl State {
    /// Adds counts of deciding. A pq table that is gone is left out.
    pub(super) fn count(&mut self, counting: &[Counting]) {
        for counting in counting {
            if let Some(pq) = self.percolates.get_mut(&counting.from) {
                let hits = counting.queries.iter();
                let hits = hits.map(|(query, documents)| (query, *documents));
                pq.count_hits(hits, counting.hit_at);
            }
        }
    }

    /// Counts the hits in the record at `position`. A pq table whose file of counts has them (`position` ≤ `counted`) is left
    /// out.
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

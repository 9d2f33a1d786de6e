//! The hits of a CALL PQ: all that the matcher found, or the part that is left by a filter or a page.
//!
//! `found` is never changed. A part is a list of places in it, with the documents that are left of each row.

use std::ops::Range;
use std::sync::Arc;

use percolate::{Hits, StandingQuery};

/// The rows of a CALL PQ: standing queries that were hit, by rising id. Each has the indexes of the documents that hit it, from 0,
/// rising, at least one.
#[derive(Debug, Default)]
pub struct PqHits {
    found: Hits,
    /// The rows that are shown; `None`: all of `found`.
    kept: Option<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    rows: Vec<KeptRow>,
    /// The document indexes of all rows, one row after the other.
    documents: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct KeptRow {
    /// Place of the row in `found`, from 0; rising from row to row.
    place: usize,
    /// Its documents are `start..end` of `Kept::documents`.
    start: usize,
    end: usize,
}

impl PqHits {
    /// Shows every row that was found.
    pub(crate) fn all(found: Hits) -> PqHits {
        PqHits { found, kept: None }
    }

    /// Every row: the query, and the indexes of its documents.
    pub fn rows(&self) -> impl Iterator<Item = (&Arc<StandingQuery>, &[u32])> {
        self.named().map(|(_, query, documents)| (query, documents))
    }

    /// Every row with the id of its query instead of the query.
    pub fn ids(&self) -> impl Iterator<Item = (u64, &[u32])> {
        self.named().map(|(id, _, documents)| (id, documents))
    }

    /// Every row with the id before the query. Ids are stored apart: reading them does not touch the queries' memory.
    pub fn named(&self) -> impl Iterator<Item = (u64, &Arc<StandingQuery>, &[u32])> {
        let all = self.kept.is_none().then(|| self.found.named());
        let kept = self
            .kept
            .iter()
            .flat_map(|kept| chosen(self.found.named(), kept));
        all.into_iter().flatten().chain(kept)
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.kept {
            None => self.found.len(),
            Some(kept) => kept.rows.len(),
        }
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Estimated memory of all hits that were found, also of those that are not shown, and of the list of those that are. Bytes: 32
    /// a row and 8 a pair, since the lists grow by doubling; of the list 48 and 8.
    #[must_use]
    pub fn bytes(&self) -> usize {
        const ROW_BYTES: usize = 32;
        const DOCUMENT_BYTES: usize = 8;
        let found = self.found.len() * ROW_BYTES + self.found.pairs() * DOCUMENT_BYTES;
        let kept = self.kept.as_ref().map_or(0, |kept| {
            kept.rows.len() * 2 * size_of::<KeptRow>() + kept.documents.len() * DOCUMENT_BYTES
        });
        found + kept
    }

    /// Number of pairs of query and document in all rows.
    #[must_use]
    pub fn pairs(&self) -> usize {
        match &self.kept {
            None => self.found.pairs(),
            Some(kept) => kept.documents.len(),
        }
    }

    /// Keeps the pairs of query and document for which `is_wanted` is true; a row without a pair goes. Cost: the pairs.
    pub(crate) fn keep(&mut self, mut is_wanted: impl FnMut(&StandingQuery, u32) -> bool) {
        let mut after = Kept::default();
        for ((query, documents), place) in self.rows().zip(self.places()) {
            let start = after.documents.len();
            let wanted = documents
                .iter()
                .filter(|document| is_wanted(query, **document));
            after.documents.extend(wanted);
            let end = after.documents.len();
            if end > start {
                after.rows.push(KeptRow { place, start, end });
            }
        }
        self.kept = Some(after);
    }

    /// Keeps the rows above the id `after`, at most `limit` rows. Returns the range of their pairs among the pairs of before:
    /// a caller with a list of one value a pair keeps the same range of it.
    pub(crate) fn cut(&mut self, after: Option<u64>, limit: Option<u64>) -> Range<usize> {
        let limit = limit.map_or(usize::MAX, |limit| {
            usize::try_from(limit).unwrap_or(usize::MAX)
        });
        if after.is_none() && limit >= self.len() {
            return 0..self.pairs();
        }
        let is_before = |id: u64| after.is_some_and(|after| id <= after);
        let skipped = self.ids().take_while(|(id, _)| is_before(*id)).count();
        let pairs_skipped = self.ids().take(skipped).map(|(_, hit)| hit.len()).sum();
        let mut kept = Kept::default();
        let rows = self.ids().zip(self.places()).skip(skipped).take(limit);
        for ((_, documents), place) in rows {
            let start = kept.documents.len();
            kept.documents.extend_from_slice(documents);
            let end = kept.documents.len();
            kept.rows.push(KeptRow { place, start, end });
        }
        let pairs = pairs_skipped..pairs_skipped + kept.documents.len();
        self.kept = Some(kept);
        pairs
    }

    /// The place in `found` of each row, rising.
    fn places(&self) -> impl Iterator<Item = usize> {
        let all = if self.kept.is_none() {
            self.found.len()
        } else {
            0
        };
        let kept = self.kept.iter().flat_map(|kept| &kept.rows);
        (0..all).chain(kept.map(|row| row.place))
    }
}

/// The rows of `found` that `kept` names, each with its documents in `kept`.
fn chosen<'a, Q: 'a>(
    found: impl Iterator<Item = (u64, Q, &'a [u32])>,
    kept: &'a Kept,
) -> impl Iterator<Item = (u64, Q, &'a [u32])> {
    let mut wanted = kept.rows.iter().peekable();
    found
        .enumerate()
        .filter_map(move |(place, (id, query, _))| {
            let row = wanted.next_if(|row| row.place == place)?;
            let documents = kept.documents.get(row.start..row.end);
            Some((id, query, documents.unwrap_or_default()))
        })
}

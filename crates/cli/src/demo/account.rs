//! The demo's own account of which post must hit which query, kept apart from the server.
//!
//! A thread matches every acknowledged post against the queries in this process. A sample of the posts goes through
//! the slow reference evaluator as well, which shares nothing with the matcher but the analysis.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use percolate::{Documents, Hits, QuerySet, Scratch, StandingQuery};
use query::analysis::Words;
use query::reference;
use query::tree::Node;

use super::posts::Batch;
use super::queries::{Saved, words_of};
use super::{Failure, Result};

/// One post in so many goes through the reference evaluator.
const SAMPLE_EVERY: u64 = 997;

/// A hit: the query's id and the post's id.
pub(super) type Hit = (u64, u64);

/// What must be found.
#[derive(Clone, Default)]
pub(super) struct Expected {
    /// Every hit of the posts acknowledged so far, ascending.
    pub(super) hits: Vec<Hit>,
    /// Posts that the reference evaluator has judged too.
    pub(super) sampled: u64,
    /// Those where it disagreed.
    pub(super) disputed: u64,
}

/// The handle of the thread that keeps the account.
pub(super) struct Account {
    send: Sender<Entry>,
}

enum Entry {
    Acknowledged(Batch),
    Report(Sender<Expected>),
}

impl Account {
    pub(super) fn open(saved: &[Saved]) -> Account {
        let (send, entries) = channel();
        let saved = saved.to_vec();
        thread::spawn(move || keep(&saved, &entries));
        Account { send }
    }

    /// Enters posts that the server has acknowledged.
    pub(super) fn enter(&self, batch: Batch) {
        // A dead thread shows in the next report.
        let _ = self.send.send(Entry::Acknowledged(batch));
    }

    /// Waits until all that was entered is matched.
    pub(super) fn expected(&self) -> Result<Expected> {
        let (send, report) = channel();
        let _ = self.send.send(Entry::Report(send));
        report
            .recv()
            .map_err(|_| Failure("the demo's own matcher has died".to_owned()))
    }
}

fn keep(saved: &[Saved], entries: &Receiver<Entry>) {
    let mut set = QuerySet::new();
    for query in saved {
        let standing = StandingQuery {
            id: query.id,
            text: query.text.as_str().into(),
            tags: query.tags.as_str().into(),
            filters: Box::default(),
            source: Box::default(),
            count: Default::default(),
        };
        set.insert(Arc::new(standing), &query.root, None);
    }
    let snapshot = set.snapshot();
    let roots: Vec<(u64, Node)> = saved
        .iter()
        .map(|query| (query.id, query.root.clone()))
        .collect();
    let (mut scratch, mut hits) = (Scratch::new(), Hits::new());
    let mut expected = Expected::default();
    for entry in entries {
        match entry {
            Entry::Acknowledged(batch) => {
                let words: Vec<Words> = batch.iter().map(words_of).collect();
                // Too many at once leave no hits, and the comparison says so.
                snapshot
                    .matches(&Documents::of(&words), &mut scratch, &mut hits)
                    .unwrap_or_default();
                let start = expected.hits.len();
                for (query, documents) in hits.rows() {
                    let ids = documents
                        .iter()
                        .filter_map(|index| batch.get(*index as usize));
                    expected.hits.extend(ids.map(|post| (query.id, post.id)));
                }
                let found = expected.hits[start..].to_vec();
                audit(&batch, &words, &roots, &found, &mut expected);
            }
            Entry::Report(send) => {
                expected.hits.sort_unstable();
                let _ = send.send(expected.clone());
            }
        }
    }
}

/// Puts the batch's sampled posts to the reference evaluator.
fn audit(
    batch: &Batch,
    words: &[Words],
    roots: &[(u64, Node)],
    found: &[Hit],
    expected: &mut Expected,
) {
    for (post, words) in batch
        .iter()
        .zip(words)
        .filter(|(post, _)| post.id % SAMPLE_EVERY == 1)
    {
        let judged = reference::percolate(roots, words);
        let ours = found
            .iter()
            .filter(|(_, doc)| *doc == post.id)
            .map(|(query, _)| *query);
        expected.sampled += 1;
        expected.disputed += u64::from(!ours.eq(judged));
    }
}

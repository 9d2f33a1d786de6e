//! The demo's own account of the expected hits, apart from the server.
//!
//! A thread of this process matches every acknowledged post against the queries. It also matches a sample of the posts with the
//! slow reference evaluator, which shares only the analysis with the matcher.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use language::analysis::Words;
use language::reference;
use language::tree::Node;
use percolate::{Documents, Hits, QuerySet, Scratch, StandingQuery};

use super::posts::Batch;
use super::queries::{Saved, words_of};
use super::{Failure, Result};

/// Distance of the posts that the reference evaluator matches: 1, 998, 1,995 and so on.
const SAMPLE_EVERY: u64 = 997;

/// A hit: the query's id and the post's id.
pub(super) type Hit = (u64, u64);

/// The expected hits.
#[derive(Clone, Default)]
pub(super) struct Expected {
    /// All hits of the posts acknowledged so far, ascending.
    pub(super) hits: Vec<Hit>,
    /// Count of posts that the reference evaluator has matched.
    pub(super) sampled: u64,
    /// Count of those on which it disagreed with the matcher.
    pub(super) disputed: u64,
}

/// Handle of the thread that keeps the account.
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

    /// Sends the account posts that the server has acknowledged.
    pub(super) fn enter(&self, batch: Batch) {
        // Fails if the thread is dead, which the next report shows.
        let _ = self.send.send(Entry::Acknowledged(batch));
    }

    /// Waits until all posts are matched.
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
                // A batch that the matcher refuses leaves no hits, and the comparison shows that.
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

/// Matches the sampled posts of a batch with the reference evaluator.
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

//! The benchmarks' calls into the matcher, in this process.

use std::{ops::Range, sync::Arc};

use language::analysis::{Analyzer, Words};
use language::tree::Node;
use percolate::{Documents, Hits, QuerySet, Scratch, Snapshot, StandingQuery};
use relation::expression::{self, Prepared as Condition};
use relation::lexer::Lexer;

use super::caller::{Caller, Counts};
use crate::{
    error::{Error, Result},
    workload::{ATTRIBUTES, Drawn, Post},
};

/// The text column of the workloads.
pub(crate) const FIELD: &str = "body";

/// Parses a query of a workload.
pub(super) fn parse(text: &str) -> Result<Node> {
    let parsed = language::parse(text, &[FIELD], &Analyzer::default());
    let refused = |error| Error::Query(format!("{text}: {error}"));
    parsed.map(|query| query.root).map_err(refused)
}

/// Parses a filter over the attributes of posts; `None`: the text is empty.
pub(super) fn condition(filters: &str) -> Result<Option<Condition>> {
    if filters.is_empty() {
        return Ok(None);
    }
    let refused = |why: String| Error::Query(format!("{filters}: {why}"));
    let parsed = expression::parse(&mut Lexer::new(filters.as_bytes()))
        .map_err(|e| refused(e.to_string()))?;
    let slot = |name: &str| {
        let at = ATTRIBUTES.iter().position(|(known, _)| *known == name)?;
        Some((at, ATTRIBUTES[at].1))
    };
    let prepared = Condition::typed(&parsed, &slot);
    prepared
        .map(Some)
        .map_err(|unprepared| refused(unprepared.to_string()))
}

/// The words of a post.
pub(super) fn words_of(post: &Post) -> Words {
    let mut words = Words::new();
    words.push_field(&Analyzer::default(), 0, &post.body);
    words
}

/// Adds a query to a set.
pub(super) fn insert(set: &mut QuerySet, id: u64, query: &Drawn) -> Result<()> {
    let root = parse(&query.text)?;
    let standing = StandingQuery {
        id,
        text: query.text.as_str().into(),
        tags: Box::default(),
        filters: query.filters.as_str().into(),
        source: Box::default(),
        count: Default::default(),
    };
    let filter = condition(&query.filters)?.map(Arc::new);
    set.insert(Arc::new(standing), &root, filter);
    Ok(())
}

/// Buffers and counts of a thread.
#[derive(Default)]
pub(super) struct Matcher {
    words: Vec<Words>,
    scratch: Scratch,
    hits: Hits,
    counts: Counts,
}

impl Matcher {
    /// Analyses and matches these posts, and adds to the counts. If the matcher refuses the batch there are no hits, so the count
    /// of the pass is wrong.
    pub(super) fn take(&mut self, snapshot: &Snapshot, posts: &[Post]) -> &Hits {
        let analyzer = Analyzer::default();
        if self.words.len() < posts.len() {
            self.words.resize_with(posts.len(), Words::new);
        }
        for (words, post) in self.words.iter_mut().zip(posts) {
            words.clear();
            words.push_field(&analyzer, 0, &post.body);
        }
        let documents = Documents {
            attributes: &|document, column| posts[document].attribute(column),
            ..Documents::of(&self.words[..posts.len()])
        };
        snapshot
            .matches(&documents, &mut self.scratch, &mut self.hits)
            .unwrap_or_default();
        let work = self.hits.work();
        self.counts.candidates += work.candidates;
        self.counts.visits += work.visits;
        self.counts.pairs += work.matches;
        self.counts.rows += self.hits.len() as u64;
        &self.hits
    }

    pub(super) fn counts(&self) -> Counts {
        self.counts
    }
}

/// Brings a thread's snapshot up to date. It takes a reference only to a new one: counting references writes to memory
/// that all threads share, and with one document a call that would take longer than reading the snapshot.
pub(super) type Update<'a> = &'a (dyn Fn(&mut Arc<Snapshot>) + Sync);

/// The update of a thread whose set does not change.
pub(super) const UNCHANGED: Update<'static> = &|_| {};

/// A thread that matches against the current snapshot.
pub(super) struct Thread<'a> {
    matcher: Matcher,
    posts: &'a [Post],
    snapshot: Arc<Snapshot>,
    update: Update<'a>,
}

impl<'a> Thread<'a> {
    pub(super) fn new(
        posts: &'a [Post],
        snapshot: &Arc<Snapshot>,
        update: Update<'a>,
    ) -> Thread<'a> {
        Thread {
            matcher: Matcher::default(),
            posts,
            snapshot: Arc::clone(snapshot),
            update,
        }
    }
}

impl Caller for Thread<'_> {
    fn call(&mut self, documents: Range<usize>) -> Result<()> {
        (self.update)(&mut self.snapshot);
        self.matcher.take(&self.snapshot, &self.posts[documents]);
        Ok(())
    }

    fn counts(&self) -> Counts {
        self.matcher.counts()
    }
}

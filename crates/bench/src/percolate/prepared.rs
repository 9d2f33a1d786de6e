//! The queries and posts of a definition, and what must come out: found before anything is timed.

use std::sync::Arc;

use percolate::{Documents, Hits, QuerySet, Scratch, Snapshot, StandingQuery};
use query::{
    analysis::{Analyzer, Words},
    reference,
    tree::Node,
};

use crate::{
    definition::Definition,
    error::{Error, Result},
    workload::Post,
};

/// The text column of the workloads.
pub(crate) const FIELD: &str = "body";

/// Evaluations that the reference is given: it takes about a microsecond for each.
const REFERENCE_EVALUATIONS: usize = 2_000_000;

/// Documents of one call while the set learns what is common in them.
const LEARN_BATCH: usize = 512;

/// A workload whose answer is known.
pub(crate) struct Prepared {
    pub(crate) texts: Vec<String>,
    /// Query texts; the query's id is its index and one.
    pub(crate) queries: Vec<String>,
    pub(crate) snapshot: Arc<Snapshot>,
    /// By document: how many queries it hits.
    pub(crate) hits: Vec<u32>,
    /// Their sum.
    pub(crate) matches: u64,
    /// Documents compared with the reference.
    sample: usize,
    /// Candidates of all documents together.
    candidates: u64,
}

impl Prepared {
    /// Draws the queries, percolates every post once, compares a sample with the reference and the number of pairs
    /// with the definition's.
    pub(crate) fn new(definition: &Definition, posts: &[Post]) -> Result<Prepared> {
        let texts: Vec<&str> = posts.iter().map(|post| post.body.as_str()).collect();
        let recipe = crate::workload::Recipe::from(definition.recipe);
        let queries = recipe
            .queries(&texts, definition.queries, definition.seed)
            .ok_or(Error::TooFewPosts)?;
        let mut prepared = Prepared {
            texts: texts.into_iter().map(str::to_owned).collect(),
            queries,
            snapshot: Arc::default(),
            hits: Vec::new(),
            matches: 0,
            sample: 0,
            candidates: 0,
        };
        let nodes = prepared.parse()?;
        prepared.percolate_all(&nodes);
        prepared.compare_sample(&nodes)?;
        if let Some(matches) = definition.matches_of(posts) {
            Error::unless_equal("pairs of document and query", matches, prepared.matches)?;
        }
        Ok(prepared)
    }

    fn parse(&self) -> Result<Vec<(u64, Node)>> {
        let analyzer = Analyzer::default();
        let parse = |(text, id): (&String, u64)| {
            let parsed = query::parse(text, &[FIELD], &analyzer);
            parsed
                .map(|query| (id, query.root))
                .map_err(|_| Error::Query(text.clone()))
        };
        self.queries.iter().zip(1..).map(parse).collect()
    }

    /// Twice: while it learns what is common, and as it will be measured.
    fn percolate_all(&mut self, nodes: &[(u64, Node)]) {
        let mut set = QuerySet::new();
        for ((id, root), text) in nodes.iter().zip(&self.queries) {
            let standing = StandingQuery {
                id: *id,
                text: text.as_str().into(),
                tags: Box::default(),
                filters: Box::default(),
                source: Box::default(),
                count: Default::default(),
            };
            set.insert(Arc::new(standing), root, None);
        }
        let (mut scratch, mut hits) = (Scratch::new(), Hits::new());
        for texts in self.texts.chunks(LEARN_BATCH) {
            ask(&set.snapshot(), &words_of(texts), &mut scratch, &mut hits);
        }
        set.settle();
        self.snapshot = set.snapshot();
        self.hits = vec![0; self.texts.len()];
        for (texts, counts) in self
            .texts
            .chunks(LEARN_BATCH)
            .zip(self.hits.chunks_mut(LEARN_BATCH))
        {
            ask(&self.snapshot, &words_of(texts), &mut scratch, &mut hits);
            self.candidates += hits.work().candidates;
            for (_, documents) in hits.ids() {
                for document in documents {
                    counts[*document as usize] += 1;
                }
            }
        }
        self.matches = self.hits.iter().map(|count| u64::from(*count)).sum();
    }

    /// Compares the queries that some documents hit, one by one.
    fn compare_sample(&mut self, nodes: &[(u64, Node)]) -> Result<()> {
        let wanted = (REFERENCE_EVALUATIONS / nodes.len().max(1)).max(2);
        let step = self.texts.len().div_ceil(wanted).max(1);
        let (mut scratch, mut hits) = (Scratch::new(), Hits::new());
        for text in self.texts.iter().step_by(step) {
            let words = words_of(std::slice::from_ref(text));
            ask(&self.snapshot, &words, &mut scratch, &mut hits);
            let found: Vec<u64> = hits.ids().map(|(id, _)| id).collect();
            let expected = words
                .first()
                .map(|words| reference::percolate(nodes, words));
            let expected = expected.unwrap_or_default();
            let what = "queries hit by a sampled document";
            Error::unless_equal(what, expected.len() as u64, found.len() as u64)?;
            let same = expected.iter().zip(&found).filter(|(a, b)| a == b).count();
            Error::unless_equal(
                "of the right queries hit",
                expected.len() as u64,
                same as u64,
            )?;
            self.sample += 1;
        }
        Ok(())
    }

    /// What a reader of the figures must know.
    pub(crate) fn notes(&self, definition: &Definition, posts: &[Post]) -> Vec<String> {
        let documents = self.texts.len().max(1) as f64;
        let bytes: usize = self.texts.iter().map(String::len).sum();
        let counted = match definition.matches_of(posts) {
            Some(_) => "the definition's",
            None => "not in the definition: other posts",
        };
        vec![
            format!(
                "{} posts of {:.0} bytes, {} queries ({:?}, seed {})",
                self.texts.len(),
                bytes as f64 / documents,
                self.queries.len(),
                definition.recipe,
                definition.seed,
            ),
            format!(
                "{:.2} matches and {:.0} candidates a document; {} pairs in all ({counted})",
                self.matches as f64 / documents,
                self.candidates as f64 / documents,
                self.matches,
            ),
            format!(
                "{} documents compared with the reference, query by query",
                self.sample
            ),
        ]
    }
}

/// The words of each text.
fn words_of(texts: &[String]) -> Vec<Words> {
    let analyzer = Analyzer::default();
    let words = |text: &String| {
        let mut words = Words::new();
        words.push_field(&analyzer, 0, text);
        words
    };
    texts.iter().map(words).collect()
}

/// Too many pairs at once leave no hits, which the comparisons with the definition and the reference then tell.
fn ask(snapshot: &Snapshot, words: &[Words], scratch: &mut Scratch, hits: &mut Hits) {
    let documents = Documents::of(words);
    snapshot
        .matches(&documents, scratch, hits)
        .unwrap_or_default();
}

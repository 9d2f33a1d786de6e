//! The matcher finds the queries that the reference finds. Each line of the input before the first empty line is a query; each
//! line behind it is a document, `body<TAB>title`. Without an empty line, every line is both.
#![no_main]

use std::sync::Arc;

use language::analysis::{Analyzer, Words};
use language::reference;
use libfuzzer_sys::fuzz_target;
use percolate::{Documents, Hits, QuerySet, Scratch, StandingQuery};

const DOCUMENTS_MAX: usize = 300;
const QUERIES_MAX: usize = 200;

fuzz_target!(|text: &str| {
    let (queries, documents) = text.split_once("\n\n").unwrap_or((text, text));
    let analyzer = Analyzer::default();
    let mut set = QuerySet::new();
    let mut roots = Vec::new();
    for (id, text) in (1..).zip(queries.lines().take(QUERIES_MAX)) {
        let Ok(parsed) = language::parse(text, &["body", "title"], &analyzer) else {
            continue;
        };
        set.insert(
            Arc::new(StandingQuery {
                id,
                ..StandingQuery::default()
            }),
            &parsed.root,
            None,
        );
        roots.push((id, parsed.root));
    }
    let words: Vec<Words> = documents
        .lines()
        .take(DOCUMENTS_MAX)
        .map(|line| {
            let (body, title) = line.split_once('\t').unwrap_or((line, ""));
            let mut words = Words::new();
            words.push_field(&analyzer, 0, body);
            words.push_field(&analyzer, 1, title);
            words
        })
        .collect();
    let (mut scratch, mut hits) = (Scratch::new(), Hits::new());
    let snapshot = set.snapshot();
    let Ok(()) = snapshot.matches(&Documents::of(&words), &mut scratch, &mut hits) else {
        return;
    };
    let mut found = vec![Vec::new(); words.len()];
    for (id, documents) in hits.ids() {
        documents
            .iter()
            .for_each(|document| found[*document as usize].push(id));
    }
    for (words, found) in words.iter().zip(&found) {
        assert_eq!(&reference::percolate(&roots, words), found);
    }
});

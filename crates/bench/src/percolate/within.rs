//! Matching in this process.

use std::{
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
    time::Instant,
};

use percolate::{Documents, Hits, Scratch, Work};
use query::analysis::{Analyzer, Words};

use super::Prepared;
use crate::{
    error::{Error, Result},
    latency::Latencies,
    runs::{Effort, Run},
};

/// One thread's buffers and counts.
#[derive(Default)]
struct Matcher {
    words: Vec<Words>,
    scratch: Scratch,
    hits: Hits,
    latencies: Latencies,
    work: Work,
    rows: u64,
}

/// Passes over all documents until the time is up. Every pass must give every pair.
pub(super) fn run(
    prepared: &Prepared,
    batch: u32,
    threads: u32,
    effort: Effort,
    tick: &mut dyn FnMut(),
) -> Result<Run> {
    let mut matchers: Vec<Matcher> = (0..threads).map(|_| Matcher::default()).collect();
    let begun = Instant::now();
    let mut passes = 0;
    while passes == 0 || begun.elapsed() < effort.run_time() {
        pass(prepared, batch as usize, &mut matchers);
        passes += 1;
        let matches = matchers.iter().map(|matcher| matcher.work.matches).sum();
        Error::unless_equal("pairs after a pass", prepared.matches * passes, matches)?;
        tick();
    }
    let elapsed = begun.elapsed();
    let mut latencies = Latencies::default();
    matchers
        .iter()
        .for_each(|matcher| latencies.merge(&matcher.latencies));
    let elements = passes * prepared.texts.len() as u64;
    let a_document = |count: fn(&Matcher) -> u64| {
        matchers.iter().map(count).sum::<u64>() as f64 / elements as f64
    };
    let facts = vec![
        (
            "candidates/doc",
            a_document(|matcher| matcher.work.candidates),
        ),
        ("visits/doc", a_document(|matcher| matcher.work.visits)),
        ("matches/doc", a_document(|matcher| matcher.work.matches)),
        ("rows/doc", a_document(|matcher| matcher.rows)),
    ];
    Ok(Run {
        elements,
        elapsed,
        latencies,
        facts,
    })
}

/// Every document once; the threads take batches as they come.
fn pass(prepared: &Prepared, batch: usize, matchers: &mut [Matcher]) {
    let next = AtomicUsize::new(0);
    let work = |matcher: &mut Matcher| {
        loop {
            let start = next.fetch_add(batch, Relaxed);
            let end = prepared.texts.len().min(start.saturating_add(batch));
            let Some(texts) = prepared
                .texts
                .get(start..end)
                .filter(|texts| !texts.is_empty())
            else {
                return;
            };
            matcher.take(prepared, texts);
        }
    };
    match matchers {
        [single] => work(single),
        several => thread::scope(|scope| {
            for matcher in several {
                scope.spawn(|| work(matcher));
            }
        }),
    }
}

impl Matcher {
    fn take(&mut self, prepared: &Prepared, texts: &[String]) {
        let begun = Instant::now();
        let analyzer = Analyzer::default();
        if self.words.len() < texts.len() {
            self.words.resize_with(texts.len(), Words::new);
        }
        for (words, text) in self.words.iter_mut().zip(texts) {
            words.clear();
            words.push_field(&analyzer, 0, text);
        }
        let words = &self.words[..texts.len()];
        prepared
            .snapshot
            .matches(&Documents::of(words), &mut self.scratch, &mut self.hits)
            .unwrap_or_default(); // too many pairs leave none, and the count of the pass is wrong
        self.latencies.add(begun.elapsed());
        let work = self.hits.work();
        self.work.candidates += work.candidates;
        self.work.visits += work.visits;
        self.work.matches += work.matches;
        self.rows += self.hits.len() as u64;
    }
}

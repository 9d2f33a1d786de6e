//! What a change of one standing query costs its writer, beside a thread that merges.
//!
//!     cargo run --release -p seine-percolate --example change_cost -- [queries] [changes]
//!
//! Queries are two words that must be there and two that must not, of a vocabulary as natural text has it. Each change
//! replaces one query by another and takes a snapshot: what the engine does for a statement, without its parser, journal
//! and sync.

use std::error::Error;
use std::io::Write;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use language::tree::{FieldSet, Node, Word};
use percolate::{MergeJob, Merged, QuerySet, StandingQuery};

/// A small generator: the same queries in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        u64::try_from((u128::from(self.0) * u128::from(end)) >> 64).unwrap_or(0)
    }

    /// Rare words are many, common ones are few.
    fn word(&mut self) -> Node {
        let bits = 7 + self.below(12);
        let number = self.below(1 << bits);
        Node::Word(Word::whole(format!("word{number}"), FieldSet::ALL))
    }

    fn root(&mut self) -> Node {
        let without = |word| Node::Not(Box::new(word));
        Node::And(vec![
            self.word(),
            self.word(),
            without(self.word()),
            without(self.word()),
        ])
    }
}

fn insert(set: &mut QuerySet, id: u64, root: &Node) {
    let query = StandingQuery {
        id,
        text: "word12345 word678 -word90 -word123".into(),
        ..StandingQuery::default()
    };
    set.insert(Arc::new(query), root, None);
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |usual| {
        arguments
            .next()
            .map_or(Ok(usual), |text| text.parse::<u64>())
    };
    let (queries, changes) = (number(1_000_000)?, number(200_000)?);
    let mut out = std::io::stdout().lock();
    let (mut random, mut set) = (Random(1), QuerySet::new());
    let started = Instant::now();
    for id in 0..queries {
        insert(&mut set, id, &random.root());
    }
    set.settle();
    writeln!(out, "loaded {queries} in {:.2?}", started.elapsed())?;
    let resident = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    for line in resident.lines().filter(|line| line.starts_with("RssAnon")) {
        writeln!(out, "{line}")?;
    }

    let (jobs, queue) = mpsc::channel::<MergeJob>();
    let (done, finished) = mpsc::channel::<Merged>();
    let worker = std::thread::spawn(move || {
        for job in queue {
            if done.send(job.run()).is_err() {
                break;
            }
        }
    });
    let (mut times, mut levels, mut merges) = (Vec::new(), 0, 0);
    for _ in 0..changes {
        let (id, root) = (random.below(queries), random.root());
        let started = Instant::now();
        for merged in finished.try_iter() {
            set.install(merged);
            merges += 1;
        }
        insert(&mut set, id, &root);
        let snapshot = set.snapshot();
        if let Some(job) = set.merge_job() {
            jobs.send(job)?;
        }
        times.push(started.elapsed());
        levels = levels.max(snapshot.levels_len());
    }
    drop(jobs);
    let _ = worker.join();
    times.sort_unstable();
    let at = |part: f64| times[(times.len() as f64 * part) as usize];
    let mean = times.iter().sum::<Duration>() / u32::try_from(times.len())?;
    writeln!(
        out,
        "{changes} changes: mean {mean:.1?}, p50 {:.1?}, p99 {:.1?}, p99.9 {:.1?}, longest {:.1?}; \
         {merges} merges beside them, at most {levels} levels",
        at(0.5),
        at(0.99),
        at(0.999),
        times[times.len() - 1],
    )?;
    Ok(())
}

//! Compares matching while queries change with matching while they do not.

use std::{
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use percolate::{Merged, QuerySet, Snapshot};

use super::{
    Door, Options, Prepared, Target, doors,
    doors::Table,
    drive::drive,
    grid::Connect,
    matcher,
    queries::{Queries, Query},
};
use crate::{
    Batch, Server,
    error::{Error, Result},
    outcome::Cell,
    random::XorShift,
    runs::{self, Run},
    workload::Drawn,
};

/// Time between two checks whether changes are due.
const TICK: Duration = Duration::from_millis(1);

/// Most queries in a change.
const CHANGED_AT_ONCE: u64 = 1_000;

/// Replaces these queries by themselves, as one change. The right answer therefore stays the same.
type Change<'c> = dyn FnMut(&[Query<'_>]) -> Result<()> + Send + 'c;

/// Measures two cells for each count of clients and batch size. One has a set of queries without changes. The other has the
/// same set, but some of its queries are replaced every second. Their runs alternate. A note has the ratio.
pub(super) fn measure(
    options: &Options,
    rate: u32,
    mut prepared: Prepared,
    notes: &mut Vec<String>,
) -> Result<Vec<Cell>> {
    match &options.place {
        Target::Within => {
            let present = RwLock::new(Arc::clone(&prepared.snapshot));
            let mut writer = Writer {
                set: std::mem::take(&mut prepared.set),
                job: None,
            };
            let mut change = |queries: &[Query<'_>]| writer.change(&present, queries);
            let update = |own: &mut Arc<Snapshot>| {
                let present = present.read().unwrap_or_else(PoisonError::into_inner);
                if !Arc::ptr_eq(own, &present) {
                    *own = Arc::clone(&present);
                }
            };
            let thread = |update| {
                let thread = matcher::Thread::new(&prepared.posts, &prepared.snapshot, update);
                Ok(Box::new(thread) as _)
            };
            let sets = Sets {
                quiet: &|| thread(matcher::UNCHANGED),
                changing: &|| thread(&update),
            };
            cells(options, rate, &prepared, sets, &mut change, notes)
        }
        Target::Server(Door::Mysql, server) => {
            let quiet = doors::create(Door::Mysql, server, &prepared)?;
            let changing = doors::Alerts::create_changing(server, &prepared)?;
            let mut change = changer(server)?;
            let sets = Sets {
                quiet: &|| quiet.connect(&prepared),
                changing: &|| changing.connect(&prepared),
            };
            let cells = cells(options, rate, &prepared, sets, &mut *change, notes)?;
            quiet.remove()?;
            changing.remove()?;
            Ok(cells)
        }
        Target::Server(..) => Err(Error::BadOption("queries are changed over MySQL only")),
    }
}

/// Connections to the set without changes and to the set with changes.
#[derive(Clone, Copy)]
struct Sets<'c> {
    quiet: &'c Connect<'c>,
    changing: &'c Connect<'c>,
}

/// The writer of a set in this process, with a thread for its long work.
struct Writer {
    set: QuerySet,
    job: Option<JoinHandle<Merged>>,
}

impl Writer {
    /// Replaces queries, publishes the snapshot, and begins or ends the background work that is due.
    fn change(&mut self, present: &RwLock<Arc<Snapshot>>, queries: &[Query<'_>]) -> Result<()> {
        for query in queries {
            let drawn = Drawn {
                text: query.text.to_owned(),
                filters: query.filters.to_owned(),
            };
            matcher::insert(&mut self.set, query.id, &drawn)?;
        }
        if let Some(job) = self.job.take_if(|job| job.is_finished()) {
            match job.join() {
                Ok(merged) => self.set.install(merged),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        let snapshot = self.set.snapshot();
        *present.write().unwrap_or_else(PoisonError::into_inner) = snapshot;
        if self.job.is_none() {
            let job = self.set.merge_job();
            self.job = job.map(|job| thread::spawn(move || job.run()));
        }
        Ok(())
    }
}

/// A function that replaces queries over a connection of its own. It waits for each change to be acknowledged.
fn changer(server: &Server) -> Result<Box<Change<'static>>> {
    let mut client = server.connect()?;
    Ok(Box::new(move |queries| {
        let rows = queries.iter().copied();
        for statement in doors::inserts("REPLACE", doors::CHANGING, rows, queries.len()) {
            client.query(&statement)?;
        }
        Ok(())
    }))
}

fn cells(
    options: &Options,
    rate: u32,
    prepared: &Prepared,
    sets: Sets<'_>,
    change: &mut Change<'_>,
    notes: &mut Vec<String>,
) -> Result<Vec<Cell>> {
    let mut cells = Vec::new();
    for &batch in &options.batches {
        for &concurrency in &options.concurrencies {
            let (quiet, changing, ratios) =
                pairs(options, rate, prepared, sets, change, (batch, concurrency))?;
            if let Some(middle) = ratios.get(ratios.len() / 2) {
                notes.push(format!(
                    "batch {batch}, concurrency {concurrency}, {rate} queries a second replaced: {middle:.3} x the quiet \
                     speed; run by run {}",
                    runs::listed(&ratios),
                ));
            }
            cells.push(Cell::new(concurrency, batch, &quiet));
            cells.push(Cell::new(concurrency, batch, &changing));
        }
    }
    Ok(cells)
}

/// Runs without and with changes, slowest first, and the ratios of neighbouring runs, rising.
fn pairs(
    options: &Options,
    rate: u32,
    prepared: &Prepared,
    sets: Sets<'_>,
    change: &mut Change<'_>,
    (batch, concurrency): (Batch, u32),
) -> Result<(Vec<Run>, Vec<Run>, Vec<f64>)> {
    let doing = format!("percolate while queries change, batch {batch}, concurrency {concurrency}");
    let (mut quiet, mut ratios) = (Vec::new(), Vec::new());
    let one = |connect: &Connect<'_>, tick: &mut dyn FnMut()| {
        let callers = (0..concurrency).map(|_| connect()).collect::<Result<_>>()?;
        let own_count = options.own_count;
        drive(callers, prepared, batch, options.effort, own_count, tick)
    };
    let changing = runs::repeat(options.effort, &doing, |tick| {
        let mut before = one(sets.quiet, tick)?;
        before.facts.extend([("changes/s", 0.0), ("x quiet", 1.0)]);
        let (mut run, changes) =
            while_changing(rate, &prepared.queries, change, || one(sets.changing, tick))?;
        let ratio = run.rate() / before.rate();
        run.facts
            .extend([("changes/s", changes), ("x quiet", ratio)]);
        ratios.push(ratio);
        quiet.push(before);
        Ok(run)
    })?;
    quiet.sort_by(|a, b| a.rate().total_cmp(&b.rate()));
    ratios.sort_by(f64::total_cmp);
    Ok((quiet, changing, ratios))
}

/// Runs while another thread changes queries. Gives the run, and the measured changes per second.
fn while_changing(
    rate: u32,
    queries: &Queries,
    change: &mut Change<'_>,
    run: impl FnOnce() -> Result<Run>,
) -> Result<(Run, f64)> {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let changer = scope.spawn(|| change_until(&done, rate, queries, change));
        let run = run();
        done.store(true, Relaxed);
        let changes = match changer.join() {
            Ok(changes) => changes?,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        Ok((run?, changes))
    })
}

/// Changes queries at the rate until told to end. Changes that a slow change has delayed come with the next.
fn change_until(
    done: &AtomicBool,
    rate: u32,
    queries: &Queries,
    change: &mut Change<'_>,
) -> Result<f64> {
    let mut random = XorShift::new(1);
    let (begun, mut changed) = (Instant::now(), 0);
    while !done.load(Relaxed) {
        let due = (begun.elapsed().as_secs_f64() * f64::from(rate)) as u64;
        let count = (due - changed).min(CHANGED_AT_ONCE);
        if count == 0 {
            thread::park_timeout(TICK);
            continue;
        }
        let drawn = (0..count).filter_map(|_| queries.get(random.below(queries.len())));
        let mut drawn: Vec<Query<'_>> = drawn.collect();
        drawn.sort_by_key(|query| query.id);
        drawn.dedup();
        change(&drawn)?;
        changed += count;
    }
    Ok(changed as f64 / begun.elapsed().as_secs_f64())
}

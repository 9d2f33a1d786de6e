//! Measures the cells of a grid in turns, then the automatic setting beside the best cell.

use super::{
    Options, check,
    corpus::Corpus,
    engine::{Entry, Standing, TestQueries},
    report::{self, Row},
};
use crate::{error::Result, process::Process, progress::Progress, runs};

/// Measures all cells of a test: for each count of clients the same count of runs of every entry, in turns.
pub(super) fn measure(
    options: &Options,
    corpus: &Corpus,
    asked: &TestQueries<'_>,
    entries: &[Entry<'_>],
    notes: &mut Vec<String>,
) -> Result<Vec<Row>> {
    let mut turns = Turns {
        options,
        asked,
        entries,
        standings: &check::begin(corpus, asked, entries, notes)?,
        process: options
            .server
            .as_ref()
            .and_then(|server| Process::listening(&server.addr)),
        memory: None,
    };
    let paired = options.effort.runs.max(runs::PAIRED_RUNS_MIN);
    let every: Vec<usize> = (0..entries.len()).collect();
    let mut all = Vec::new();
    for &clients in &options.clients {
        turns.memory = None;
        let rows = turns.run(&every, clients, options.effort.runs)?;
        let best = match automatic_and_best(&rows) {
            Some(places) => Some(turns.run(&places, clients, paired)?),
            None => None,
        };
        notes.extend(best.as_deref().and_then(beside_best));
        notes.extend(compared(&rows));
        notes.extend(turns.memory.map(|bytes| {
            let mib = bytes as f64 / f64::from(1 << 20);
            format!(
                "{}, {clients} clients: {mib:.0} MiB of anonymous memory in the server, at most",
                asked.test.name
            )
        }));
        all.extend(rows);
    }
    Ok(all)
}

struct Turns<'a> {
    options: &'a Options,
    asked: &'a TestQueries<'a>,
    entries: &'a [Entry<'a>],
    standings: &'a [Standing],
    process: Option<Process>,
    /// Highest anonymous memory of the server after a run, in bytes.
    memory: Option<u64>,
}

impl Turns<'_> {
    /// Runs each of these entries once, then all again, `times` times.
    fn run(&mut self, places: &[usize], clients: u32, times: u32) -> Result<Vec<Row>> {
        let effort = self.options.effort;
        let test = self.asked.test;
        let mut progress = Progress::new(effort.progress);
        let mut rows: Vec<Row> = places
            .iter()
            .map(|place| self.entries[*place].row(test, clients))
            .collect();
        let cells = f64::from(times) * places.len() as f64;
        let mut done = 0.0;
        for _ in 0..times {
            for (place, row) in places.iter().zip(&mut rows) {
                let (entry, standing) = (&self.entries[*place], &self.standings[*place]);
                let doing = format!("{}, {clients} clients, {}", test.name, entry.name);
                let mut tick = || progress.show(&doing, done / cells);
                tick();
                row.runs
                    .push(entry.measure(self.asked, standing, clients, effort, &mut tick)?);
                let process = self.process.as_ref();
                self.memory = self.memory.max(process.and_then(Process::anonymous_bytes));
                done += 1.0;
            }
        }
        Ok(rows)
    }
}

/// Indexes of the automatic setting and of the best other cell of Seine.
fn automatic_and_best(rows: &[Row]) -> Option<[usize; 2]> {
    let automatic = rows.iter().position(Row::is_automatic)?;
    let others =
        (0..rows.len()).filter(|place| rows[*place].engine == report::OURS && *place != automatic);
    let rate = |place: &usize| rows[*place].median().rate();
    let best = others.max_by(|a, b| rate(a).total_cmp(&rate(b)))?;
    Some([automatic, best])
}

/// A note with the ratio of the automatic setting to the best cell. Both are measured again, because the best of many cells is
/// also the luckiest.
fn beside_best(rows: &[Row]) -> Option<String> {
    let [automatic, best] = rows else { return None };
    Some(format!(
        "{}, {} clients: automatic {:.3} x the best cell, parts {} threads {}, both again in turns: {}",
        best.test,
        best.clients,
        automatic.ratio(best),
        best.shards,
        best.threads,
        runs::listed(&automatic.ratios(best)),
    ))
}

/// Notes with the ratios of Seine's automatic or best setting to those of other layouts, and to every peer.
fn compared(rows: &[Row]) -> Vec<String> {
    let ours = rows.iter().filter(|row| row.engine == report::OURS);
    let best = ours.max_by(|a, b| a.median().rate().total_cmp(&b.median().rate()));
    let Some(told) = rows.iter().find(|row| row.is_automatic()).or(best) else {
        return Vec::new();
    };
    let of = format!("{}, {} clients", told.test, told.clients);
    let alike =
        |row: &&Row| row.shards == told.shards && row.threads == told.threads && *row != told;
    let layouts = rows
        .iter()
        .filter(alike)
        .map(|other| format!("{of}: {:.3} x {}", told.ratio(other), other.engine));
    let peers = rows.iter().filter(|row| row.shards.is_empty());
    let peers = peers.map(|peer| format!("{of}: {:.2} x {}", told.ratio(peer), peer.engine));
    layouts.chain(peers).collect()
}

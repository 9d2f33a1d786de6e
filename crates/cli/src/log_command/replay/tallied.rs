//! What the connections of a replay measured together.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use study::log::line::parse;
use study::log::replay::Told;
use study::log::source::InputReport;
use study::log::{LogTime, Summary, SummaryOptions};
use study::results::{Answer, HEAD, Reply, write_line};

use super::reader::Job;
use crate::files::shown;

/// A request that is sent this late is counted.
const LATE: Duration = Duration::from_millis(100);

/// The measurements of one run.
pub(super) struct Tallied {
    /// The answers as the entries of a log.
    pub(super) summary: Summary,
    pub(super) told: Told,
    pub(super) inputs: Vec<InputReport>,
    /// Why the run ended before its last request.
    pub(super) ended: Option<String>,
    results: Option<(String, BufWriter<File>)>,
}

impl Tallied {
    /// Nothing measured yet; makes the file of results.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn new(results: Option<&Path>) -> Result<Tallied, String> {
        let results = match results {
            Some(path) => {
                let name = shown(path);
                let failed = |error| format!("cannot write {name}: {error}");
                let mut file = BufWriter::new(File::create(path).map_err(failed)?);
                writeln!(file, "{HEAD}").map_err(failed)?;
                Some((name, file))
            }
            None => None,
        };
        Ok(Tallied {
            summary: Summary::new(&SummaryOptions::default()),
            told: Told::default(),
            inputs: Vec::new(),
            ended: None,
            results,
        })
    }

    /// Requests a second.
    pub(super) fn rate(&self) -> f64 {
        self.told.sent as f64 * 1e6 / self.told.elapsed_us.max(1) as f64
    }

    /// Whether replies are wanted, and so the rows found.
    pub(super) fn keeps_results(&self) -> bool {
        self.results.is_some()
    }

    /// Ends the file of results.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn finish(&mut self) -> Result<(), String> {
        match &mut self.results {
            Some((name, file)) => file
                .flush()
                .map_err(|error| format!("cannot write {name}: {error}")),
            None => Ok(()),
        }
    }

    fn add(&mut self, job: &Job, query: &str, measured: Measured) {
        self.told.sent += 1;
        self.told.lost += u64::from(measured.is_lost);
        self.told.late += u64::from(measured.late > LATE);
        let late_us = micros(measured.late);
        self.told.late_us_max = self.told.late_us_max.max(late_us);
        if let Some((form, mut entry)) = parse(&job.record) {
            let log_us = entry.real_us;
            entry.time = now();
            entry.real_us = Some(micros(measured.took));
            (entry.wall_us, entry.queued_us, entry.multiplier) = (None, None, None);
            (entry.read_bytes, entry.faults, entry.table_bytes) = (None, None, None);
            match &measured.reply {
                Reply::Rows(rows) => {
                    entry.found = Some(rows.total_found);
                    if let Some(us) = log_us {
                        self.told.log_times.add(us);
                    }
                }
                Reply::Failed { message, .. } => {
                    entry.error = Some(message.as_bytes().to_vec().into());
                }
            }
            self.summary.add_entry(&job.server, job.place, form, &entry);
        }
        if let Some((name, file)) = &mut self.results {
            let line = write_line(&Answer {
                number: job.number,
                query: query.to_owned(),
                reply: measured.reply,
            });
            if let Err(error) = file.write_all(line.as_bytes()) {
                self.ended
                    .get_or_insert(format!("cannot write {name}: {error}"));
            }
        }
    }
}

/// An answer, and how long it took.
pub(super) struct Measured {
    pub(super) reply: Reply,
    /// The connection broke before the answer.
    pub(super) is_lost: bool,
    /// From the request to the last row.
    pub(super) took: Duration,
    /// How long after its time the request was sent.
    pub(super) late: Duration,
}

/// The measurements, for all connections.
pub(super) struct Shared<'t>(Mutex<&'t mut Tallied>);

impl<'t> Shared<'t> {
    pub(super) fn new(tallied: &'t mut Tallied) -> Shared<'t> {
        Shared(Mutex::new(tallied))
    }

    fn lock(&self) -> MutexGuard<'_, &'t mut Tallied> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the counts.
    pub(super) fn tell(&self, change: impl FnOnce(&mut Told)) {
        change(&mut self.lock().told);
    }

    /// Counts an answer.
    pub(super) fn add(&self, job: &Job, query: &str, measured: Measured) {
        self.lock().add(job, query, measured);
    }

    /// Ends the run: no further request is sent.
    pub(super) fn end(&self, why: String) {
        self.lock().ended.get_or_insert(why);
    }

    /// Whether a connection has ended the run.
    pub(super) fn is_ended(&self) -> bool {
        self.lock().ended.is_some()
    }

    /// Number of requests that were sent.
    pub(super) fn sent(&self) -> u64 {
        self.lock().told.sent
    }
}

/// Whole microseconds of a time.
pub(super) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// The time of this machine, in UTC.
fn now() -> LogTime {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    LogTime {
        local_ms: since.map_or(0, |since| since.as_millis() as i64),
        offset_minutes: Some(0),
    }
}

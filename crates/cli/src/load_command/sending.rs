//! Sends batches: several go out before the first answer is read. Answers come in order.
//!
//! The server stores a batch as one unit together with the place that the load has reached. So a load that was cut off continues
//! behind its last stored row. A single connection keeps the order of the file: of two rows with the same id the later stays.
//!
//! Example: batches 1 to 4 are sent; the server refuses a row of batch 2. It refuses 3 and 4 as well, since they follow it. The
//! client then sends 2 in halves until the bad row is found, and sends 3 and 4 again, each alone.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use client::{Client, ClientError, QueryResult};
use wire::mysql::load::{self, LoadPart};

use super::Result;
use super::batch::Batch;
use super::rejected::Rejected;
use super::report::Report;

/// Count of batches without an answer at which the next answer is read. Below it, one batch is being stored, one waits in the
/// server's buffer, and one is on the network.
const WINDOW: usize = 4;

/// Intended time of the server for a batch: other clients' writes wait that long.
const BATCH_TIME: Duration = Duration::from_millis(4);

/// Rows of the first batches, before their speed is known.
const ROWS_FIRST: usize = 256;
const ROWS_MAX: usize = 4096;

/// Longest time of repeating a batch that an overloaded server has refused, and the pause between.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(20);

/// MySQL's numbers of errors that are about a row, not about the server or the table.
const ROW_ERRORS: [u16; 12] = [
    1048, 1054, 1062, 1064, 1136, 1149, 1210, 1235, 1264, 1292, 1366, 1406,
];
/// MySQL's number of an overloaded server: try again later.
const OVERLOADED: u16 = 1040;

/// The sending side of a load.
pub(super) struct Sending {
    client: Client,
    table: String,
    load: u64,
    sent: VecDeque<Batch>,
    /// Empty batches, kept for their memory.
    spare: Vec<Batch>,
    rows_max: usize,
    answered: Option<Instant>,
}

/// Answer to a batch.
enum Answer {
    Stored,
    /// A row is bad; the message says why.
    Refused(String),
}

impl Sending {
    pub(super) fn new(client: Client, table: &str) -> Sending {
        Sending {
            client,
            table: table.to_owned(),
            load: 0,
            sent: VecDeque::new(),
            spare: Vec::new(),
            rows_max: ROWS_FIRST,
            answered: None,
        }
    }

    pub(super) fn client(&mut self) -> &mut Client {
        &mut self.client
    }

    /// Begins or continues a file. Gives the byte at which to start reading.
    pub(super) fn begin(&mut self, load: u64, restart: bool) -> Result<u64> {
        self.load = load;
        self.answered = None;
        if restart {
            self.end()?;
        }
        let (table, load) = (self.table.clone(), self.load);
        self.client.post(|out| load::ask(out, (&table, load)))?;
        Ok(self.client.taken()?.last_id)
    }

    /// Ends the load, once the file is stored. The same load would start from the beginning.
    pub(super) fn end(&mut self) -> Result<()> {
        let (table, load) = (self.table.clone(), self.load);
        self.client.post(|out| load::end(out, (&table, load)))?;
        self.client.taken()?;
        Ok(())
    }

    /// Ends every unfinished load of the table; gives their count.
    pub(super) fn forget(&mut self) -> Result<u64> {
        let table = self.table.clone();
        self.client.post(|out| load::forget(out, &table))?;
        Ok(self.client.taken()?.affected)
    }

    /// Intended count of rows in a batch.
    pub(super) fn rows_max(&self) -> usize {
        self.rows_max
    }

    /// An empty batch.
    pub(super) fn batch(&mut self) -> Batch {
        self.spare.pop().unwrap_or_default()
    }

    /// Sends a batch. Then reads answers until fewer than [`WINDOW`] batches are without one.
    pub(super) fn send(
        &mut self,
        batch: Batch,
        report: &mut Report,
        rejected: &mut Rejected,
    ) -> Result<()> {
        if batch.rows.is_empty() {
            self.spare.push(batch);
            return Ok(());
        }
        self.post(&batch, 0..batch.rows.len(), !self.sent.is_empty())?;
        self.sent.push_back(batch);
        while self.sent.len() >= WINDOW {
            self.settle_one(report, rejected)?;
        }
        Ok(())
    }

    /// Reads all outstanding answers.
    pub(super) fn settle(&mut self, report: &mut Report, rejected: &mut Rejected) -> Result<()> {
        while !self.sent.is_empty() {
            self.settle_one(report, rejected)?;
        }
        Ok(())
    }

    /// Whether every batch has its answer.
    pub(super) fn is_settled(&self) -> bool {
        self.sent.is_empty()
    }

    fn post(&mut self, batch: &Batch, rows: std::ops::Range<usize>, follows: bool) -> Result<()> {
        let (Some(first), Some(last)) = (batch.rows.get(rows.start), batch.rows.get(rows.end - 1))
        else {
            return Ok(());
        };
        let part = LoadPart {
            from: first.from,
            to: last.to,
            replace: batch.columns.iter().any(|column| column == "id"),
            follows,
        };
        let cells = batch.cells_of(rows.start, rows.end);
        let (table, load) = (self.table.as_str(), self.load);
        let count = rows.len() as u32;
        self.client
            .post(|out| load::put(out, (table, load), part, &batch.columns, (count, cells)))?;
        Ok(())
    }

    fn settle_one(&mut self, report: &mut Report, rejected: &mut Rejected) -> Result<()> {
        let Some(batch) = self.sent.pop_front() else {
            return Ok(());
        };
        match self.client.taken() {
            Ok(_) => {
                self.adapt(batch.rows.len());
                report.stored(batch.rows.len() as u64);
                self.put_back(batch);
            }
            Err(ClientError::Server(_)) => {
                // The server has refused the batches behind it as well: send all again, one after the other.
                let again: Vec<Batch> = std::iter::once(batch).chain(self.sent.drain(..)).collect();
                for _ in 1..again.len() {
                    match self.client.taken() {
                        Ok(_) | Err(ClientError::Server(_)) => {}
                        Err(error) => return Err(error.into()),
                    }
                }
                for batch in again {
                    self.send_parts(&batch, 0..batch.rows.len(), report, rejected)?;
                    self.put_back(batch);
                }
                self.answered = None;
            }
            Err(error) => return Err(error.into()),
        }
        report.draw();
        Ok(())
    }

    /// Sends rows and waits for the answer. Sends refused rows in halves until the bad rows are found.
    fn send_parts(
        &mut self,
        batch: &Batch,
        rows: std::ops::Range<usize>,
        report: &mut Report,
        rejected: &mut Rejected,
    ) -> Result<()> {
        let count = rows.len();
        match self.send_patiently(batch, rows.clone())? {
            Answer::Stored => report.stored(count as u64),
            Answer::Refused(why) if count == 1 => {
                let line = batch.rows.get(rows.start).map_or(0, |row| row.line);
                let why = why.trim_end_matches(" at row 1").to_owned();
                report.refused(line, why);
                rejected.keep(batch.written(rows.start))?;
                report.end_if_hopeless()?;
            }
            Answer::Refused(_) => {
                let middle = rows.start + count / 2;
                self.send_parts(batch, rows.start..middle, report, rejected)?;
                self.send_parts(batch, middle..rows.end, report, rejected)?;
            }
        }
        Ok(())
    }

    /// Sends rows and waits for the answer. Repeats that while the server is overloaded, for at most [`PATIENCE`].
    fn send_patiently(&mut self, batch: &Batch, rows: std::ops::Range<usize>) -> Result<Answer> {
        let began = Instant::now();
        loop {
            self.post(batch, rows.clone(), false)?;
            match self.client.taken() {
                Ok(QueryResult { .. }) => return Ok(Answer::Stored),
                Err(ClientError::Server(error)) if ROW_ERRORS.contains(&error.code) => {
                    return Ok(Answer::Refused(error.to_string()));
                }
                Err(ClientError::Server(error))
                    if error.code == OVERLOADED && began.elapsed() < PATIENCE =>
                {
                    std::thread::sleep(PAUSE);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn put_back(&mut self, mut batch: Batch) {
        batch.clear();
        self.spare.push(batch);
    }

    /// Adapts the size of batches to [`BATCH_TIME`]. While several batches are outstanding, the time between two answers is the
    /// time of a batch.
    fn adapt(&mut self, rows: usize) {
        let now = Instant::now();
        let before = self.answered.replace(now);
        let Some(taken) = before.map(|before| now - before) else {
            return;
        };
        if taken > BATCH_TIME && rows >= self.rows_max {
            self.rows_max = (self.rows_max * 3 / 4).max(ROWS_FIRST);
        } else if taken < BATCH_TIME / 2 && rows >= self.rows_max {
            self.rows_max = (self.rows_max * 2).min(ROWS_MAX);
        }
    }
}

//! The load: writers of documents, a writer of bulk, a worker at the queue. Each notes its acknowledged changes and the
//! change that got no answer.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

use client::Client;

use super::ledger::{self, Hit};
use crate::random::XorShift;

/// One statement on `posts`.
#[derive(Clone, Debug)]
pub enum Change {
    Insert(Vec<(u64, u64)>),
    Replace { id: u64, version: u64 },
    Delete { id: u64 },
}

impl Change {
    fn statement(&self) -> String {
        let row =
            |id: u64, version: u64| format!("({id}, '{}', {version})", ledger::body(id, version));
        match self {
            Change::Insert(rows) => {
                let rows: Vec<String> = rows
                    .iter()
                    .map(|(id, version)| row(*id, *version))
                    .collect();
                format!(
                    "INSERT INTO posts (id, body, version) VALUES {}",
                    rows.join(", ")
                )
            }
            Change::Replace { id, version } => {
                format!(
                    "REPLACE INTO posts (id, body, version) VALUES {}",
                    row(*id, *version)
                )
            }
            Change::Delete { id } => format!("DELETE FROM posts WHERE id = {id}"),
        }
    }
}

/// Writes documents whose ids no other writer uses.
pub struct Writer {
    random: XorShift,
    step: u64,
    next_id: u64,
    next_version: u64,
    /// Ids that are surely there.
    alive: BTreeSet<u64>,
    /// Acknowledged since the last [`Writer::take`].
    acknowledged: Vec<Change>,
    /// Sent, not answered.
    pending: Option<Change>,
}

impl Writer {
    pub fn new(number: u64, writers: u64) -> Self {
        Writer {
            random: ledger::random(number + 1),
            step: writers,
            next_id: number + 1,
            next_version: 1,
            alive: BTreeSet::new(),
            acknowledged: Vec::new(),
            pending: None,
        }
    }

    fn choose(&mut self) -> Change {
        let version = self.next_version;
        self.next_version += 1;
        let old = self.random.below(self.next_id.max(1) as usize) as u64;
        let old = self.alive.range(old..).next().copied();
        match (self.random.below(10), old) {
            (0, Some(id)) => Change::Delete { id },
            (1, Some(id)) => Change::Replace { id, version },
            _ => {
                let count = 1 + self.random.below(20) as u64;
                let rows = (0..count)
                    .map(|row| (self.next_id + row * self.step, version))
                    .collect();
                self.next_id += count * self.step;
                Change::Insert(rows)
            }
        }
    }

    /// Marks a change as done.
    pub fn settle(&mut self, change: &Change) {
        match change {
            Change::Insert(rows) => self.alive.extend(rows.iter().map(|(id, _)| *id)),
            Change::Replace { .. } => {}
            Change::Delete { id } => {
                self.alive.remove(id);
            }
        }
    }

    /// The acknowledged changes since the last call, and the change that got no answer.
    pub fn take(&mut self) -> (Vec<Change>, Option<Change>) {
        (std::mem::take(&mut self.acknowledged), self.pending.take())
    }

    pub fn write_until(&mut self, addr: &str, over: &AtomicBool) {
        let Ok(mut client) = Client::connect(addr, "root", "") else {
            return;
        };
        while !over.load(Ordering::Relaxed) {
            let change = self.choose();
            self.pending = Some(change.clone());
            if client.query(&change.statement()).is_err() {
                return;
            }
            self.settle(&change);
            self.pending = None;
            self.acknowledged.push(change);
        }
    }
}

/// Rows of one statement of the bulk writer: enough of them that tables are sealed while the process is killed.
const FILLER_ROWS: u64 = 500;

/// Writes many rows into a table of its own.
#[derive(Default)]
pub struct Filler {
    acknowledged: u64,
}

impl Filler {
    pub fn write_until(&mut self, addr: &str, over: &AtomicBool) {
        let Ok(mut client) = Client::connect(addr, "root", "") else {
            return;
        };
        let mut statement = String::from("INSERT INTO filler (body) VALUES ('first of many')");
        for row in 1..FILLER_ROWS {
            write!(statement, ", ('row {row} of filler')").unwrap();
        }
        while !over.load(Ordering::Relaxed) && client.query(&statement).is_ok() {
            self.acknowledged += FILLER_ROWS;
        }
    }

    /// The statement that was under way is there whole or not at all.
    pub fn settle(&mut self, client: &mut Client) {
        let found = ledger::count(client, "SELECT COUNT(*) FROM filler");
        assert!(
            found == self.acknowledged || found == self.acknowledged + FILLER_ROWS,
            "{found} rows found, {} acknowledged",
            self.acknowledged
        );
        let last = ledger::count(client, "SELECT COUNT(*) FROM filler WHERE MATCH('first')");
        assert_eq!(last * FILLER_ROWS, found, "rows by COUNT(*) and by a word");
        self.acknowledged = found;
    }
}

/// Takes hits from the queue.
#[derive(Default)]
pub struct Worker {
    /// Rows whose end was acknowledged.
    ended: Vec<Hit>,
    /// The row whose end got no answer.
    unknown: Option<Hit>,
}

impl Worker {
    pub fn taken(&self) -> usize {
        self.ended.len()
    }

    pub fn ended(&self) -> &[Hit] {
        &self.ended
    }

    /// Counts the row whose end got no answer as ended, unless it is still queued.
    pub fn settle(&mut self, is_queued: impl FnOnce(Hit) -> bool) {
        if let Some(hit) = self.unknown.take()
            && !is_queued(hit)
        {
            self.ended.push(hit);
        }
    }

    pub fn take_until(&mut self, addr: &str, over: &AtomicBool) {
        let Ok(mut client) = Client::connect(addr, "root", "") else {
            return;
        };
        let mut round = 0_u64;
        while !over.load(Ordering::Relaxed) && self.take_one(&mut client, round).is_some() {
            round += 1;
        }
    }

    /// One round; `None` when the server is gone.
    fn take_one(&mut self, client: &mut Client, round: u64) -> Option<()> {
        let waited = client.query("SELECT queue_wait('hits', 1)").ok()?;
        if ledger::number(&waited.rows[0][0]) != 1 {
            return Some(());
        }
        let row = client
            .query("SELECT query_id, doc_id, version FROM hits")
            .ok()?;
        assert_eq!(row.rows.len(), 1, "an owner sees the owned row alone");
        let hit = ledger::hit(&row.rows[0]);
        if round.is_multiple_of(7) {
            client.query("SELECT queue_abort()").ok()?;
            return Some(());
        }
        self.unknown = Some(hit);
        client.query("SELECT queue_end()").ok()?;
        self.unknown = None;
        self.ended.push(hit);
        Some(())
    }
}

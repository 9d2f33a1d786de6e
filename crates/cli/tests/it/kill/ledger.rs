//! The rows and hits that must be there, by the slow reference, and the statements that check them in the server.

use std::collections::{BTreeMap, BTreeSet};

use client::Client;
use language::analysis::{Analyzer, Words};

use super::writers::{Change, Worker, Writer};
use crate::random::XorShift;

/// The standing queries: id and text.
pub const STANDING: [(u64, &str); 8] = [
    (1, "amber"),
    (2, "amber birch"),
    (3, "cedar | delta"),
    (4, "ember -fjord"),
    (5, "\"grove heron\""),
    (6, "iris (birch | delta) -amber"),
    (7, "juniper"),
    (8, "nothing here"),
];

const WORDS: [&str; 10] = [
    "amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "iris", "juniper",
];

/// A hit: (query id, document id, version of the document).
pub type Hit = (u64, u64, u64);

/// A generator for a small number. The factor spreads it over all 64 bits, so that the first numbers drawn differ, too.
pub fn random(number: u64) -> XorShift {
    XorShift::new(number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// The text of a document in one version: seven words drawn by both numbers.
pub fn body(id: u64, version: u64) -> String {
    let mut random = random(id << 20 | version);
    let words: Vec<&str> = (0..7).map(|_| WORDS[random.below(WORDS.len())]).collect();
    words.join(" ")
}

/// A cell that holds a number.
pub fn number(cell: &Option<Vec<u8>>) -> u64 {
    let text = std::str::from_utf8(cell.as_deref().unwrap()).unwrap();
    text.parse().unwrap()
}

/// A row of (query id, document id, version).
pub fn hit(row: &[Option<Vec<u8>>]) -> Hit {
    (number(&row[0]), number(&row[1]), number(&row[2]))
}

/// The one number that a statement answers.
pub fn count(client: &mut Client, statement: &str) -> u64 {
    number(&client.query(statement).unwrap().rows[0][0])
}

/// The hits of one document, by the reference.
fn expected_hits(id: u64, version: u64) -> Vec<Hit> {
    let analyzer = Analyzer::default();
    let mut words = Words::new();
    words.push_field(&analyzer, 0, &body(id, version));
    let mut hits = Vec::new();
    for (query, text) in STANDING {
        let parsed = language::parse(text, &["body"], &analyzer).unwrap();
        if language::reference::matches(&parsed.root, &words) {
            hits.push((query, id, version));
        }
    }
    hits
}

/// Everything that was acknowledged, or found after a start.
#[derive(Default)]
pub struct Ledger {
    /// By id: the version that is there.
    alive: BTreeMap<u64, u64>,
    /// Ids that were deleted.
    gone: BTreeSet<u64>,
    /// Every hit that any stored version ever made.
    hits: BTreeSet<Hit>,
}

impl Ledger {
    pub fn documents(&self) -> usize {
        self.alive.len()
    }

    fn store(&mut self, id: u64, version: u64) {
        self.alive.insert(id, version);
        self.hits.extend(expected_hits(id, version));
    }

    fn apply(&mut self, change: &Change) {
        match change {
            Change::Insert(rows) => rows
                .iter()
                .for_each(|(id, version)| self.store(*id, *version)),
            Change::Replace { id, version } => self.store(*id, *version),
            Change::Delete { id } => {
                self.alive.remove(id);
                self.gone.insert(*id);
            }
        }
    }

    /// Takes over the changes of the writers and the worker, decides by the server's rows whether unanswered changes were
    /// done, and checks all of it.
    pub fn settle(&mut self, client: &mut Client, writers: &mut [Writer], worker: &mut Worker) {
        for writer in writers {
            let (acknowledged, pending) = writer.take();
            for change in &acknowledged {
                self.apply(change);
            }
            for change in &acknowledged {
                self.check_change(client, change, pending.as_ref());
            }
            if let Some(change) = pending
                && was_done(client, &change)
            {
                writer.settle(&change);
                self.apply(&change);
            }
        }
        let queued = queued(client);
        worker.settle(|hit| queued.contains(&hit));
    }

    /// Checks that the rows of an acknowledged change are there in their last version.
    fn check_change(&self, client: &mut Client, change: &Change, pending: Option<&Change>) {
        let ids: Vec<u64> = match change {
            Change::Insert(rows) => rows.iter().map(|(id, _)| *id).collect(),
            Change::Replace { id, .. } | Change::Delete { id } => vec![*id],
        };
        let open = match pending {
            Some(Change::Replace { id, .. } | Change::Delete { id }) => Some(*id),
            _ => None,
        };
        for id in ids.into_iter().filter(|id| Some(*id) != open) {
            assert_eq!(
                version(client, id),
                self.alive.get(&id).copied(),
                "document {id}"
            );
        }
    }

    /// Each hit is in the queue or ended by the worker, once; nothing else is.
    pub fn check_hits(&self, client: &mut Client, worker: &Worker) {
        let mut seen: BTreeMap<Hit, u32> = BTreeMap::new();
        for hit in queued(client).iter().chain(worker.ended()) {
            *seen.entry(*hit).or_default() += 1;
        }
        let rows = count(client, "SELECT COUNT(*) FROM hits");
        assert_eq!(
            rows as usize,
            queued(client).len(),
            "rows of the queue are distinct"
        );
        let doubled: Vec<&Hit> = seen
            .iter()
            .filter(|(_, times)| **times > 1)
            .map(|(hit, _)| hit)
            .collect();
        assert!(doubled.is_empty(), "doubled: {doubled:?}");
        let found: BTreeSet<Hit> = seen.into_keys().collect();
        let missing: Vec<&Hit> = self.hits.difference(&found).collect();
        assert!(missing.is_empty(), "missing: {missing:?}");
        let unasked: Vec<&Hit> = found.difference(&self.hits).collect();
        assert!(unasked.is_empty(), "unasked: {unasked:?}");
    }

    /// Every document ever written, one by one and counted.
    pub fn check_documents(&self, client: &mut Client) {
        assert_eq!(
            count(client, "SELECT COUNT(*) FROM posts") as usize,
            self.alive.len()
        );
        for (id, wanted) in &self.alive {
            assert_eq!(version(client, *id), Some(*wanted), "document {id}");
        }
        for id in self.gone.iter().filter(|id| !self.alive.contains_key(id)) {
            assert_eq!(version(client, *id), None, "deleted document {id}");
        }
    }
}

/// The version of a document, if it is there; its text is checked, too.
fn version(client: &mut Client, id: u64) -> Option<u64> {
    let found = client
        .query(&format!("SELECT version, body FROM posts WHERE id = {id}"))
        .unwrap();
    let row = found.rows.first()?;
    let version = number(&row[0]);
    assert_eq!(
        row[1].as_deref(),
        Some(body(id, version).as_bytes()),
        "text of document {id}"
    );
    Some(version)
}

/// Whether a change that was not answered is there; a statement of many rows must not be there in part.
fn was_done(client: &mut Client, change: &Change) -> bool {
    match change {
        Change::Insert(rows) => {
            let there: Vec<bool> = rows
                .iter()
                .map(|(id, _)| version(client, *id).is_some())
                .collect();
            assert!(
                there.iter().all(|found| *found == there[0]),
                "a statement is stored whole: {rows:?}"
            );
            there[0]
        }
        Change::Replace { id, version: new } => version(client, *id) == Some(*new),
        Change::Delete { id } => version(client, *id).is_none(),
    }
}

fn queued(client: &mut Client) -> BTreeSet<Hit> {
    let rows = client
        .query("SELECT query_id, doc_id, version FROM hits")
        .unwrap()
        .rows;
    rows.iter().map(|row| hit(row)).collect()
}

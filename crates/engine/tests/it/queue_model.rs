//! The oracle of the queue tests: it models several queues and a table of documents by lists and sets, without files.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use engine::{Command, Hold, Issuer, QueueNext, Receipt, WaitSource};
use proptest::prelude::*;

use crate::statement::command;

/// Statements that make the tables.
pub const TABLES: [&str; 4] = [
    "create queue a (n int)",
    "create queue b (n int)",
    "create queue c (n int)",
    "create search posts (body text)",
];
pub const QUEUES: [&str; 3] = ["a", "b", "c"];

/// How long a patient wait lasts.
const PATIENCE_US: u64 = 1_000_000;

/// How long a lease lasts. Waits and leases never end in the same moment.
const LEASE_US: u64 = 650_000;

/// Time passes in steps of this.
pub const SLICE_US: u64 = 50_000;

/// One thing that happens.
#[derive(Clone, Debug)]
pub enum Step {
    /// Puts `rows` rows, each with a value that no other row has.
    Put {
        queue: usize,
        rows: usize,
    },
    Wait {
        session: u64,
        queues: Vec<usize>,
        is_patient: bool,
    },
    Next {
        session: u64,
        queues: Vec<usize>,
        rows: u32,
    },
    /// Leases rows.
    Lease {
        queues: Vec<usize>,
        rows: u32,
    },
    /// Ends a row by the receipt of a delivery, which may be late.
    Done {
        which: usize,
    },
    /// Returns a row by such a receipt.
    Return {
        which: usize,
    },
    End {
        session: u64,
    },
    Abort {
        session: u64,
    },
    Close {
        session: u64,
    },
    /// Deletes the rows that the session sees, with values below `below`.
    Delete {
        session: u64,
        queue: usize,
        below: u64,
    },
    Purge {
        queue: usize,
    },
    Post {
        rows: usize,
    },
    Checkpoint,
    Tick {
        slices: u64,
    },
}

/// Any step.
pub fn step() -> impl Strategy<Value = Step> {
    let queue = || 0..QUEUES.len();
    let queues = || proptest::collection::vec(queue(), 1..3);
    let session = || 1..5u64;
    prop_oneof![
        6 => (queue(), 1..4usize).prop_map(|(queue, rows)| Step::Put { queue, rows }),
        6 => (session(), queues(), any::<bool>())
            .prop_map(|(session, queues, is_patient)| Step::Wait { session, queues, is_patient }),
        3 => (session(), queues(), 1..4u32)
            .prop_map(|(session, queues, rows)| Step::Next { session, queues, rows }),
        2 => session().prop_map(|session| Step::End { session }),
        2 => session().prop_map(|session| Step::Abort { session }),
        2 => session().prop_map(|session| Step::Close { session }),
        2 => (session(), queue(), 0..40u64)
            .prop_map(|(session, queue, below)| Step::Delete { session, queue, below }),
        1 => queue().prop_map(|queue| Step::Purge { queue }),
        2 => (1..4usize).prop_map(|rows| Step::Post { rows }),
        2 => Just(Step::Checkpoint),
        2 => (1..10u64).prop_map(|tenths| Step::Tick { slices: 2 * tenths }),
        3 => (queues(), 1..4u32).prop_map(|(queues, rows)| Step::Lease { queues, rows }),
        3 => (0..30usize).prop_map(|which| Step::Done { which }),
        1 => (0..30usize).prop_map(|which| Step::Return { which }),
    ]
}

#[derive(Clone, Debug, Default)]
struct Queue {
    /// Number and value, in order.
    rows: VecDeque<(u64, u64)>,
    last: u64,
}

#[derive(Clone, Debug)]
struct Waiter {
    session: u64,
    queues: Vec<usize>,
    until_us: u64,
}

/// The rows of the queues, the sessions that own rows, and the sessions that wait.
#[derive(Clone, Debug, Default)]
pub struct QueueModel {
    queues: [Queue; 3],
    /// Sessions in owner mode, with what they own.
    owners: BTreeMap<u64, BTreeSet<(usize, u64)>>,
    waiters: VecDeque<Waiter>,
    /// Leased rows (queue, row), with the place of the receipt in `receipts` and the end of the lease in microseconds.
    leases: BTreeMap<(usize, u64), (usize, u64)>,
    /// Every delivery there ever was: queue, row, and which delivery of the row by whom, as the engine said.
    pub receipts: Vec<(usize, u64, u32, Issuer)>,
    posts: BTreeMap<u64, String>,
    values: u64,
    now_us: u64,
    /// Answers to waits since the last look, with their sessions.
    pub woken: Vec<(u64, String)>,
}

/// A session and its command to the engine; `None` if only time passes.
pub type Asked = Option<(u64, Command)>;

impl QueueModel {
    /// Whether the session may do the step: a waiting session may only close.
    pub fn may(&self, step: &Step) -> bool {
        let session = match step {
            Step::Done { .. } | Step::Return { .. } => return !self.receipts.is_empty(),
            Step::Wait { session, .. }
            | Step::Next { session, .. }
            | Step::End { session }
            | Step::Abort { session }
            | Step::Delete { session, .. } => *session,
            _ => return true,
        };
        self.waiters.iter().all(|waiter| waiter.session != session)
    }

    /// Time passes; waits that are over end.
    pub fn pass(&mut self, us: u64) {
        self.now_us += us;
        let (now, mut over) = (self.now_us, Vec::new());
        self.waiters.retain(|waiter| {
            let stays = waiter.until_us > now;
            over.extend((!stays).then_some(waiter.session));
            stays
        });
        for session in over {
            self.owners.insert(session, BTreeSet::new());
            self.woken.push((session, "waited 0".to_owned()));
        }
        self.leases.retain(|_, (_, until_us)| *until_us > now);
        self.wake();
    }

    /// The command of a step, and its answer; `None` if the session has to wait for the answer.
    pub fn take(&mut self, step: &Step) -> (Asked, Option<String>) {
        let (session, command, answer) = match step {
            Step::Tick { .. } => return (None, None),
            Step::Lease { queues, rows } => {
                let asked = Command::QueueNext(QueueNext {
                    sources: sources(queues),
                    group: None,
                    rows: *rows,
                    timeout_us: 0,
                    hold: Hold::Lease {
                        visible_again_us: Some(LEASE_US),
                    },
                    done: Vec::new(),
                });
                (200, asked, Some(self.lease(queues, *rows as usize)))
            }
            Step::Done { which } => {
                let (place, receipts) = self.receipt(*which);
                let held = self.give_up(place);
                for (queue, row) in &held {
                    self.remove(*queue, &[*row]);
                }
                let answer = format!("done {}", held.len());
                (200, Command::QueueDone { receipts }, Some(answer))
            }
            Step::Return { which } => {
                let (place, receipts) = self.receipt(*which);
                let answer = format!("done {}", self.give_up(place).len());
                let asked = Command::QueueReturn {
                    receipts,
                    delay_us: 0,
                };
                (200, asked, Some(answer))
            }
            Step::Put { queue, rows } => {
                let values: Vec<u64> = (0..*rows as u64).map(|more| self.values + more).collect();
                self.values += *rows as u64;
                let shown: Vec<String> = values.iter().map(|value| format!("({value})")).collect();
                let into = &mut self.queues[*queue];
                for value in values {
                    into.last += 1;
                    into.rows.push_back((into.last, value));
                }
                let insert = format!("insert {} (n) values {}", QUEUES[*queue], shown.join(", "));
                (100, command(&insert), Some(format!("done {rows}")))
            }
            Step::Wait {
                session,
                queues,
                is_patient,
            } => {
                let asked = Command::QueueWait {
                    sources: sources(queues),
                    timeout_us: if *is_patient { PATIENCE_US } else { 0 },
                };
                (*session, asked, self.wait(*session, queues, *is_patient))
            }
            Step::Next {
                session,
                queues,
                rows,
            } => {
                let asked = Command::QueueNext(QueueNext {
                    sources: sources(queues),
                    group: None,
                    rows: *rows,
                    timeout_us: 0,
                    hold: Hold::Session,
                    done: Vec::new(),
                });
                (
                    *session,
                    asked,
                    Some(self.next(*session, queues, *rows as usize)),
                )
            }
            Step::End { session } => {
                self.end(*session);
                self.owners.remove(session);
                (*session, Command::QueueEnd, Some("done".to_owned()))
            }
            Step::Abort { session } => {
                let answer = match self.owners.remove(session) {
                    Some(_) => "done",
                    None => "not owner",
                };
                (*session, Command::QueueAbort, Some(answer.to_owned()))
            }
            Step::Close { session } => {
                self.owners.remove(session);
                self.waiters.retain(|waiter| waiter.session != *session);
                (*session, Command::SessionClosed, Some("done".to_owned()))
            }
            Step::Delete {
                session,
                queue,
                below,
            } => {
                let gone: Vec<u64> = self
                    .visible(*session, *queue)
                    .into_iter()
                    .filter(|(_, value)| value < below)
                    .map(|(row, _)| row)
                    .collect();
                self.remove(*queue, &gone);
                let delete = format!("delete {} where n < {below}", QUEUES[*queue]);
                (
                    *session,
                    command(&delete),
                    Some(format!("done {}", gone.len())),
                )
            }
            Step::Purge { queue } => {
                let gone: Vec<u64> = self.free(*queue).iter().map(|(row, _)| *row).collect();
                self.remove(*queue, &gone);
                let asked = Command::QueuePurge {
                    table: QUEUES[*queue].to_owned(),
                };
                (100, asked, Some(format!("done {}", gone.len())))
            }
            Step::Post { rows } => {
                let first = self.posts.len() as u64 + 1;
                let ids = first..first + *rows as u64;
                let shown: Vec<String> = ids
                    .clone()
                    .map(|id| format!("({id}, 'text {id}')"))
                    .collect();
                self.posts.extend(ids.map(|id| (id, format!("text {id}"))));
                let insert = format!("insert posts (id, body) values {}", shown.join(", "));
                (100, command(&insert), Some(format!("done {rows}")))
            }
            Step::Checkpoint => (100, Command::Checkpoint, Some("checkpoint".to_owned())),
        };
        self.wake();
        (Some((session, command)), answer)
    }

    fn wait(&mut self, session: u64, queues: &[usize], is_patient: bool) -> Option<String> {
        self.end(session);
        let found = self.first_free(queues);
        if found.is_none() && is_patient {
            self.owners.insert(session, BTreeSet::new());
            self.waiters.push_back(Waiter {
                session,
                queues: queues.to_vec(),
                until_us: self.now_us + PATIENCE_US,
            });
            return None;
        }
        let place = found.map_or(0, |(place, ..)| place);
        let held = found.map(|(_, queue, row)| (queue, row));
        self.owners.insert(session, held.into_iter().collect());
        Some(format!("waited {place}"))
    }

    fn next(&mut self, session: u64, queues: &[usize], rows: usize) -> String {
        self.end(session);
        let Some((place, queue, _)) = self.first_free(queues) else {
            self.owners.insert(session, BTreeSet::new());
            return "taken 0: []".to_owned();
        };
        let taken: Vec<u64> = self
            .free(queue)
            .iter()
            .map(|(row, _)| *row)
            .take(rows)
            .collect();
        let held = taken.iter().map(|row| (queue, *row)).collect();
        self.owners.insert(session, held);
        format!("taken {place}: {taken:?}")
    }

    fn lease(&mut self, queues: &[usize], rows: usize) -> String {
        let Some((place, queue, _)) = self.first_free(queues) else {
            return "taken 0: []".to_owned();
        };
        let free = self.free(queue).into_iter();
        let taken: Vec<u64> = free.map(|(row, _)| row).take(rows).collect();
        for row in &taken {
            let until_us = self.now_us + LEASE_US;
            self.leases
                .insert((queue, *row), (self.receipts.len(), until_us));
            self.receipts.push((queue, *row, 0, Issuer::default()));
        }
        format!("taken {place}: {taken:?}")
    }

    /// One of all receipts, by its place.
    fn receipt(&self, which: usize) -> (usize, Vec<Receipt>) {
        let place = which % self.receipts.len();
        let (queue, row, delivery, issuer) = self.receipts[place];
        let receipt = Receipt {
            table: QUEUES[queue].to_owned(),
            issuer,
            group: None,
            row: engine::RowNumber(row),
            delivery,
        };
        (place, vec![receipt])
    }

    /// The row that is still held by that receipt, if any; not any more.
    fn give_up(&mut self, place: usize) -> Vec<(usize, u64)> {
        let held = self.leases.iter().find(|(_, lease)| lease.0 == place);
        let held: Vec<_> = held.map(|(row, _)| *row).into_iter().collect();
        for row in &held {
            self.leases.remove(row);
        }
        held
    }

    /// The next row could not be read: the rows of the session are ended, and it owns none.
    pub fn could_not_read(&mut self, session: u64) {
        self.end(session);
        self.owners.remove(&session);
    }

    /// Ends the rows that the session owns.
    fn end(&mut self, session: u64) {
        for (queue, row) in self.owners.remove(&session).into_iter().flatten() {
            self.remove(queue, &[row]);
        }
    }

    fn remove(&mut self, queue: usize, gone: &[u64]) {
        self.queues[queue]
            .rows
            .retain(|(row, _)| !gone.contains(row));
    }

    /// The waiters take the free rows, in the order of their arrival.
    fn wake(&mut self) {
        let waiters = std::mem::take(&mut self.waiters);
        for waiter in waiters {
            match self.first_free(&waiter.queues) {
                Some((place, queue, row)) => {
                    self.owners
                        .insert(waiter.session, BTreeSet::from([(queue, row)]));
                    self.woken.push((waiter.session, format!("waited {place}")));
                }
                None => self.waiters.push_back(waiter),
            }
        }
    }

    /// Place of the source, queue and row.
    fn first_free(&self, queues: &[usize]) -> Option<(usize, usize, u64)> {
        let mut places = queues.iter().enumerate();
        places.find_map(|(place, queue)| {
            let (row, _) = *self.free(*queue).first()?;
            Some((place + 1, *queue, row))
        })
    }

    fn free(&self, queue: usize) -> Vec<(u64, u64)> {
        let owned: BTreeSet<_> = self.owners.values().flatten().copied().collect();
        let rows = self.queues[queue].rows.iter().copied();
        rows.filter(|(row, _)| {
            !owned.contains(&(queue, *row)) && !self.leases.contains_key(&(queue, *row))
        })
        .collect()
    }

    fn visible(&self, session: u64, queue: usize) -> Vec<(u64, u64)> {
        match self.owners.get(&session) {
            None => self.free(queue),
            Some(owned) => {
                let rows = self.queues[queue].rows.iter().copied();
                rows.filter(|(row, _)| owned.contains(&(queue, *row)))
                    .collect()
            }
        }
    }

    /// Everything that a restart finds: table, number or id, value.
    pub fn durable(&self) -> Vec<(String, u64, String)> {
        let mut all = Vec::new();
        for (queue, name) in self.queues.iter().zip(QUEUES) {
            let rows = queue.rows.iter();
            all.extend(rows.map(|(row, value)| (name.to_owned(), *row, value.to_string())));
        }
        let posts = self.posts.iter();
        all.extend(posts.map(|(id, body)| ("posts".to_owned(), *id, body.clone())));
        all
    }
}

fn sources(queues: &[usize]) -> Vec<WaitSource> {
    queues
        .iter()
        .map(|queue| WaitSource::all(QUEUES[*queue]))
        .collect()
}

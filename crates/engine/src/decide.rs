//! Deciding: a command becomes a record and a reply, or an error. No row, query or document changes here.
//!
//! The engine's thread decides the commands of a batch one after the other, and applies each record before it decides the next
//! command. So a decision sees everything that came before it, and readers see nothing of it yet.
//!
//! # Example
//! `INSERT INTO news(title) VALUES ('a cat')`, and the table `alerts` holds query 7, `cat`, with `into='jobs'`:
//!
//! | step | function | may refuse with |
//! |---|---|---|
//! | the table | `insert::insert` | `NoSuchTable` |
//! | the values, and an id for the document | `insert::documents` → `identified` | `Invalid`, `Limit` |
//! | the words of its text | `insert::reach` | `Overloaded` |
//! | the queries that match: 7; a row for `jobs` | `insert::hits::percolate` → `hear` | `TooCostly`, `Stopped` |
//! | room in `jobs`, if it is bounded | `Engine::bounded` | `QueueFull` |
//!
//! The decision holds one `Record::Documents` with the document and the row of `jobs`, the words in `prepared`, and the reply
//! "1 row".
//!
//! # Invariants
//! - Applying the record needs no answer that is not in it: replay and a follower come to the same state.
//! - After a decision only room for the record may be missing. If a check moved behind it, a refused command would leave a
//!   changed state behind.

pub(crate) mod backfill;
pub(crate) mod conditional;
pub(crate) mod delete;
pub(crate) mod hear;
pub(crate) mod insert;
pub(crate) mod planned;
pub(crate) mod read;
pub(crate) mod rows;
pub(crate) mod update;
pub(crate) mod upsert;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use index::{Control, Interrupt};
use language::analysis::Words;
use percolate::{Documents, Hits, Scratch};

use crate::command::{Now, Reply};
use crate::error::{Error, Result};
use crate::failure;
use crate::limits::{
    COMMIT_UNITS_MAX, DECIDED_UNITS_MAX, SMALL_COMMAND_BYTES_MAX, SMALL_SHARE_OF_MEMORY,
    TURN_UNITS_MAX, WORDS_BYTES_KEPT_MAX, WORDS_KEPT_MAX,
};
use crate::made::MadeRows;
use crate::record::Record;
use crate::state::Prepared;

/// The outcome of a command that was not refused.
pub(crate) struct Decision {
    /// Made durable, then applied; `None` if nothing changes.
    pub(crate) record: Option<Record>,
    /// Values that applying would otherwise compute again.
    pub(crate) prepared: Prepared,
    /// The answer, sent once the record is durable.
    pub(crate) reply: Reply,
    /// The record frees room, as a DELETE does: it may use the journal's reserve.
    pub(crate) gives_room: bool,
}

impl Decision {
    /// Nothing changes.
    pub(crate) fn nothing(reply: Reply) -> Decision {
        Decision {
            record: None,
            prepared: Prepared::default(),
            reply,
            gives_room: false,
        }
    }

    /// A record with nothing prepared.
    pub(crate) fn of(record: Record, reply: Reply) -> Decision {
        Decision {
            record: Some(record),
            ..Decision::nothing(reply)
        }
    }

    /// The same, of a record that gives room back.
    pub(crate) fn giving_room(record: Record, reply: Reply) -> Decision {
        Decision {
            gives_room: true,
            ..Decision::of(record, reply)
        }
    }
}

/// A write to a distributed table, which has no rows of its own.
pub(crate) fn has_no_rows(table: &str, locals: &[String]) -> Error {
    let locals = locals.join("', '");
    Error::invalid(format!(
        "'{table}' is a distributed table, which is only searched: write to '{locals}'"
    ))
}

/// Buffers that are kept from command to command, and counters of the work.
#[derive(Default)]
pub(crate) struct Workspace {
    pub(crate) matcher: Scratch,
    pub(crate) hits: Hits,
    /// Buffers for the words of documents.
    pub(crate) words: Vec<Words>,
    /// Pairs of document and query that matched, of admitted commands or not.
    pub(crate) hit_count: u64,
    /// Pairs of document and query whose anchor occurred, so that the query was tried.
    pub(crate) candidate_count: u64,
    /// Steps that matching took.
    pub(crate) step_count: u64,
    /// Statements that were refused because matching took more steps than the limit.
    pub(crate) costly_count: u64,
    /// Set once the engine is to end; matching asks it again and again, and stops.
    pub(crate) stop: Arc<AtomicBool>,
    /// Stops the current statement while it reads rows.
    pub(crate) interrupt: Option<Arc<Interrupt>>,
    /// The rows of the current statement, if its session has made them.
    pub(crate) made: Option<MadeRows>,
    /// Which conditions are handed out.
    plans: Plans,
    /// Whether the rows of a plan of an UPDATE are taken one by one.
    takes_rows_alone: bool,
    /// Units that the statements of this batch may still spend on their conditions.
    units_left: u64,
    /// What the current statement has used of its limit.
    allowed: Allowed,
}

/// Which conditions of DELETE and UPDATE are worked out on a reader's thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Plans {
    /// Those that are long to evaluate. Without background threads there is no reader: the engine's thread works them out.
    #[default]
    Long,
    /// All of them; for a second look at changed rows the engine's thread has this budget of units. For tests.
    All {
        /// Units for the condition of one statement.
        units: u64,
    },
}

/// Work of matching for one statement, summed over its members, tables and documents made of hits.
#[derive(Default)]
struct Allowed {
    words: u64,
    steps: u64,
}

impl Workspace {
    /// Setting `stop` ends the matching that runs.
    pub(crate) fn new(stop: Arc<AtomicBool>, plans: Plans) -> Workspace {
        Workspace {
            stop,
            plans,
            ..Workspace::default()
        }
    }

    /// A new statement: it has not matched anything yet. `interrupt` stops it while it reads rows.
    pub(crate) fn begin(&mut self, interrupt: Option<Arc<Interrupt>>) {
        self.allowed = Allowed::default();
        self.made = None;
        self.interrupt = interrupt;
        self.takes_rows_alone = false;
    }

    /// Whether the rows of plans are taken one by one: pages of a plan that was made over a fork with rows of its own are of no use
    /// to the table.
    pub(crate) fn take_rows_alone(&mut self, takes: bool) {
        self.takes_rows_alone = takes;
    }

    pub(crate) fn takes_rows_alone(&self) -> bool {
        self.takes_rows_alone
    }

    /// Gives a COMMIT, which decides many conditions, as much as it may use in all.
    pub(crate) fn begin_commit(&mut self) {
        self.units_left = self.units_left.max(COMMIT_UNITS_MAX);
    }

    /// A new batch.
    pub(crate) fn begin_turn(&mut self) {
        self.units_left = TURN_UNITS_MAX;
    }

    /// Whether even a short condition is handed out.
    pub(crate) fn plans_all(&self) -> bool {
        self.plans != Plans::Long
    }

    /// Fails once the statement was stopped: by KILL, by its time limit, or since its client is gone.
    ///
    /// # Errors
    /// `OutOfTime`, `Interrupted`.
    pub(crate) fn check(&self) -> Result<()> {
        match &self.interrupt {
            Some(interrupt) => interrupt.check().map_err(failure::of_index),
            None => Ok(()),
        }
    }

    /// Evaluates the statement's condition on the engine's thread, for which all other writes wait. `None`: it takes more units
    /// than [`DECIDED_UNITS_MAX`], or than are left of [`TURN_UNITS_MAX`], and belongs on a reader's thread.
    ///
    /// # Errors
    /// Those of `evaluate`.
    pub(crate) fn within_budget<T>(
        &mut self,
        evaluate: impl FnOnce(&Control) -> Result<T>,
    ) -> Result<Option<T>> {
        let most = match self.plans {
            Plans::Long => DECIDED_UNITS_MAX,
            Plans::All { units } => units,
        };
        let units = self.units_left.min(most);
        if units == 0 {
            return Ok(None);
        }
        let control = Control {
            interrupt: Arc::new(Interrupt::with_units(units)),
            ..Control::default()
        };
        let outcome = evaluate(&control);
        let left = control.interrupt.units_left().unwrap_or_default();
        self.units_left = self.units_left.saturating_sub(units - left);
        match outcome {
            Err(Error::BudgetSpent) => Ok(None),
            other => other.map(Some),
        }
    }

    /// Keeps buffers for the words of later documents: some, and none that grew large.
    pub(crate) fn keep_words(&mut self, mut words: Vec<Words>) {
        words.truncate(WORDS_KEPT_MAX);
        words.retain(|words| words.memory() <= WORDS_BYTES_KEPT_MAX);
        if self.words.len() < words.len() {
            self.words = words;
        }
    }

    /// The bounds of the statement's reads of rows.
    pub(crate) fn control(&self) -> Control {
        Control {
            interrupt: self.interrupt.clone().unwrap_or_default(),
            ..Control::default()
        }
    }

    /// The statement goes on with these documents. Each adds to the steps that it may take.
    pub(crate) fn allow(&mut self, words: &[Words]) {
        self.allowed.words += words.iter().map(|words| words.len() as u64).sum::<u64>();
    }

    /// Matches documents into `hits`, within what the statement may still take.
    ///
    /// # Errors
    /// `TooCostly`; `Limit` of hits; `Stopped`, where the engine is to end.
    pub(crate) fn match_within(
        &mut self,
        (table, queries): (&str, &percolate::Snapshot),
        documents: &Documents<'_>,
    ) -> Result<()> {
        let Workspace { stop, allowed, .. } = self;
        let max = percolate::statement_steps(allowed.words);
        let within = Documents {
            goes_on: &|| !stop.load(Ordering::Relaxed),
            steps_max: max.saturating_sub(allowed.steps),
            ..*documents
        };
        let matched = queries.matches(&within, &mut self.matcher, &mut self.hits);
        let work = self.hits.work();
        allowed.steps += work.steps;
        self.step_count += work.steps;
        self.hit_count += work.matches;
        self.candidate_count += work.candidates;
        matched.map_err(|why| match failure::of_matcher(table, why) {
            Error::Interrupted => Error::Stopped,
            Error::TooCostly {
                table,
                dearest,
                max: reached,
            } => {
                self.costly_count += 1;
                let is_whole = reached == within.steps_max;
                Error::TooCostly {
                    table,
                    dearest,
                    max: if is_whole { max } else { reached },
                }
            }
            other => other,
        })
    }
}

/// Fails once a statement is stopped that evaluates row by row; to be called before each row.
///
/// # Errors
/// `OutOfTime`, `Interrupted`.
fn check_between(control: &Control) -> Result<()> {
    control.check().map_err(failure::of_index)
}

/// What deciding may know beside the state.
#[derive(Clone, Copy)]
pub(crate) struct Circumstances {
    pub(crate) now: Now,
    /// Memory that tails, queues and standing queries may take in all, in bytes.
    pub(crate) memory_bytes: u64,
    /// What standing queries take of it.
    pub(crate) query_bytes: u64,
    /// Memory that they may still take, in bytes.
    pub(crate) memory_left: u64,
}

impl Circumstances {
    /// Rows that would not fit into an empty server are told so: trying again later would be in vain. The last of the memory is for
    /// small statements: while a load fills it, single rows are still taken.
    fn check_memory(self, bytes: u64) -> Result<()> {
        let is_large = bytes > SMALL_COMMAND_BYTES_MAX as u64;
        let kept = self.memory_bytes / SMALL_SHARE_OF_MEMORY;
        if bytes > self.memory_bytes {
            Err(Error::Limit {
                what: "bytes of a statement's rows",
                max: self.memory_bytes,
            })
        } else if bytes > self.memory_left || (is_large && self.memory_left < kept) {
            Err(Error::Overloaded)
        } else {
            Ok(())
        }
    }
}

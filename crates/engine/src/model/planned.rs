//! Statements with a condition that a reader has worked out, on their way to the engine's thread.
//!
//! The engine answers a statement whose condition is long to evaluate with a [`Planning`]. Its caller runs that on a thread of its
//! choice and sends the [`Planned`] back as [`crate::Write::Planned`]. The module `decide::planned` has an example.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use index::{Control, Memory, PlannedChange};
use queue::RowNumber;
use relation::expression::Expression;
use relation::request::{Delete, Update};
use relation::value::Value;

use crate::catalog::TableId;
use crate::command::{Definition, Write};
use crate::error::Result;
use crate::recent::Since;
use crate::record::UpdatedRows;

/// A statement that changes the rows of a condition.
#[derive(Clone, Debug)]
pub(crate) enum Conditional {
    /// DELETE of documents, standing queries or rows of a queue.
    Delete(Arc<Delete>),
    /// UPDATE of documents.
    Update(Arc<Update>),
}

impl Conditional {
    /// The statement of a write; `None`: it has no condition.
    pub(crate) fn from_write(write: &Write) -> Option<Conditional> {
        match write {
            Write::Delete(delete) => Some(Conditional::Delete(Arc::new(Delete::clone(delete)))),
            Write::Update(update) => Some(Conditional::Update(Arc::new(Update::clone(update)))),
            Write::Insert(_) | Write::Upsert { .. } | Write::Planned(_) | Write::Backfill(_) => {
                None
            }
        }
    }

    /// The table, as the statement names it.
    pub(crate) fn table(&self) -> &str {
        match self {
            Conditional::Delete(delete) => &delete.table,
            Conditional::Update(update) => &update.table,
        }
    }

    /// Whether a row may take a second to evaluate: [`Expression::may_take_long`] of any expression of the statement.
    pub(crate) fn may_be_costly(&self) -> bool {
        match self {
            Conditional::Delete(delete) => delete.filter.iter().any(Expression::may_take_long),
            Conditional::Update(update) => {
                let set = update.set.iter().map(|set| &set.value);
                set.chain(&update.filter).any(Expression::may_take_long)
            }
        }
    }
}

/// A statement whose rows were worked out over a state of its table. Cheap to clone.
#[derive(Clone)]
pub struct Planned(pub(crate) Arc<Plan>);

pub(crate) struct Plan {
    pub(crate) asked: Conditional,
    pub(crate) table: TableId,
    /// That of the table when the rows were chosen.
    pub(crate) definition: Arc<Definition>,
    pub(crate) found: Found,
    /// How often the statement was planned, this time included.
    pub(crate) plans: u32,
    /// What the rows take of the memory of requests, for as long as the plan lives.
    pub(crate) _memory: Arc<Memory>,
}

/// The rows that a plan has chosen.
pub(crate) enum Found {
    /// DELETE of documents or standing queries.
    Ids(FoundIds),
    /// UPDATE.
    Values(FoundValues),
    /// DELETE from a queue.
    Rows(FoundRows),
}

/// Documents or standing queries to delete.
pub(crate) struct FoundIds {
    /// The rows below were chosen in this state.
    pub(crate) since: Since,
    /// Rising. With LIMIT, more than it allows.
    pub(crate) ids: Vec<u64>,
    /// Whether these are all rows of the condition; else more may follow behind the last.
    pub(crate) is_whole: bool,
    /// For each of `ids` how often the standing query was hit, and when last, where the condition reads that; else empty.
    pub(crate) counts: Vec<(u64, i64)>,
}

/// Documents to update, with their new values.
#[derive(Clone)]
pub(crate) struct FoundValues {
    /// The rows below are right in this state.
    pub(crate) since: Since,
    /// The rows as pages of the table, of an earlier state.
    pub(crate) change: Arc<PlannedChange>,
    /// The rows of the condition in `change`, rising; also those that have their values already.
    pub(crate) chosen: Arc<[u64]>,
    /// The rows of `change` that get other values, in its order.
    pub(crate) rows: Arc<UpdatedRows>,
    /// Rows that were looked at again: what `change` has of them no longer counts.
    pub(crate) replaced: BTreeSet<u64>,
    /// Those of `replaced` that get other values.
    pub(crate) more: UpdatedRows,
}

/// Rows of a queue to delete.
pub(crate) struct FoundRows {
    /// The rows below this one were looked at, also those that were held.
    pub(crate) next: RowNumber,
    /// In the order in which LIMIT takes them, with their keys of ORDER BY.
    pub(crate) rows: Vec<(RowNumber, Vec<Value>)>,
    /// Whether these are all rows of the condition; else more may follow behind the last.
    pub(crate) is_whole: bool,
    /// The session was in owner mode, and only its own rows were looked at.
    pub(crate) is_owner: bool,
}

impl Planned {
    /// The table, as the statement names it.
    #[must_use]
    pub fn table(&self) -> &str {
        self.0.asked.table()
    }

    /// The write that was planned, as it was given.
    pub(crate) fn write(&self) -> Write {
        match &self.0.asked {
            Conditional::Delete(delete) => Write::Delete(Box::new(Delete::clone(delete))),
            Conditional::Update(update) => Write::Update(Box::new(Update::clone(update))),
        }
    }
}

/// Two are equal if they are one.
impl PartialEq for Planned {
    fn eq(&self, other: &Planned) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Planned {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = match &self.0.found {
            Found::Ids(found) => found.ids.len(),
            Found::Values(found) => found.rows.ids.len() + found.more.ids.len(),
            Found::Rows(found) => found.rows.len(),
        };
        formatter
            .debug_struct("Planned")
            .field("asked", &self.0.asked)
            .field("rows", &rows)
            .field("plans", &self.0.plans)
            .finish_non_exhaustive()
    }
}

/// A statement whose rows are not worked out yet. It reads the state of the moment in which the engine handed it out.
pub struct Planning(Box<Work>);

type Work = dyn FnOnce(&Control) -> Result<Planned> + Send;

impl Planning {
    pub(crate) fn new(work: impl FnOnce(&Control) -> Result<Planned> + Send + 'static) -> Planning {
        Planning(Box::new(work))
    }

    /// Chooses the rows, which may take long, within `control`'s memory and until its switch stops it.
    ///
    /// # Errors
    /// Those of the statement; `OutOfTime`, `Interrupted`; `SearchMemory`.
    pub fn run(self, control: &Control) -> Result<Planned> {
        (self.0)(control)
    }
}

impl fmt::Debug for Planning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Planning(..)")
    }
}

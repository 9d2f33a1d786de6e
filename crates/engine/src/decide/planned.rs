//! Conditions that are long to evaluate: a reader chooses the rows, and the engine's thread looks again at those that were
//! changed meanwhile.
//!
//! # Example
//! `DELETE FROM t WHERE levenshtein(title, 'x') > 5` over a million rows. The statement's number of plans is in brackets.
//!
//! ```text
//! engine   hands out a Planning [1]: the state of change 100
//! reader   evaluates 1,000,000 rows: 2 s                        others insert 20,000 rows: changes 101 to 20,100
//! engine   20,000 rows are too many to look at: hands out a Planning [2], of those rows alone, in the state of change 20,100
//! reader   evaluates 20,000 rows: 40 ms                         others insert 400 rows
//! engine   evaluates 400 rows within its budget, decides, and writes one record
//! ```
//!
//! # Invariants
//! - The outcome is that of the statement over the engine's state in the moment of the decision. A row that was not changed since
//!   the plan fits the condition then if it did in the plan; every other row is evaluated then ([`crate::recent::Recent`]).
//! - LIMIT takes the first rows of now. A plan with LIMIT knows the first rows of its state and some more. If changes have used
//!   those up, the statement is planned again.
//! - The engine's thread evaluates within a budget ([`Workspace::within_budget`]). What does not fit is planned again, at most
//!   [`PLANS_MAX`] times; then the answer is [`Error::Conflict`], and nothing was changed.
//! - A statement that was stopped is not decided ([`Workspace::check`]).

mod ids;
mod rows;
mod values;

use std::sync::Arc;

use index::Control;

use self::ids::{ids_again, ids_anew, ids_now};
use self::rows::{rows_anew, rows_now};
use self::values::{values_again, values_anew, values_now};
use super::delete::{Documents, check_owner};
use super::{Circumstances, Decision, Workspace, delete, update};
use crate::catalog::TableId;
use crate::command::Reply;
use crate::error::{Error, Result};
use crate::limits::{MOVED_COSTLY_ROWS_MAX, MOVED_ROWS_MAX, PLANS_MAX, REPLANNED_ROWS_MAX};
use crate::planned::{Conditional, Found, Plan, Planned, Planning};
use crate::recent::Since;
use crate::sessions::Owned;
use crate::state::State;

/// An earlier plan, and the rows that were changed since, rising.
pub(crate) struct Before {
    plan: Planned,
    changed: Vec<u64>,
}

/// The decision that changes nothing and hands a statement out to be planned, for the `plans`-th time. `before`: only those rows
/// are evaluated that were changed since.
///
/// # Errors
/// `NoSuchTable`; `Corrupt` of a segment; `Invalid` for a session that holds a row as a consumer group.
pub(crate) fn hand_out(
    state: &mut State,
    (table, owner): (TableId, Option<&Owned>),
    asked: Conditional,
    before: Option<Before>,
    plans: u32,
) -> Result<Decision> {
    let Some(definition) = state.catalog.get(table).cloned() else {
        return Err(Error::NoSuchTable(asked.table().to_owned()));
    };
    let of = move |found: Found, asked: Conditional, control: &Control| {
        Planned(Arc::new(Plan {
            asked,
            table,
            definition,
            found,
            plans,
            _memory: Arc::clone(&control.memory),
        }))
    };
    let planning = match (&asked, state.searches.get_mut(&table)) {
        (_, Some(search)) => {
            // An id that is not found may stand in a segment that cannot be read.
            search.table.check_whole()?;
            let since = search.recent.now();
            let over = Documents::of(search);
            Planning::new(move |control| {
                let found = documents_found(&over, since, &asked, before.as_ref(), control)?;
                Ok(of(found, asked, control))
            })
        }
        (Conditional::Delete(delete), None) => {
            let delete = Arc::clone(delete);
            if let Some(pq) = state.percolates.get_mut(&table) {
                // Whether the condition holds for a query that cannot be read is not known.
                pq.lost.check(&pq.definition.name)?;
                let since = pq.recent.now();
                let name = pq.definition.name.clone();
                let queries = pq.set.snapshot();
                Planning::new(move |control| {
                    let over = ids::Queries {
                        table: &name,
                        queries: &queries,
                    };
                    let found = over.found(since, &delete, before.as_ref(), control)?;
                    Ok(of(found, asked, control))
                })
            } else if let Some(queue) = state.queues.get(&table) {
                check_owner(queue, owner)?;
                let (snapshot, below) = (queue.snapshot(), queue.unit_from());
                let owned = owner.map(|owned| {
                    let rows = queue.visible_rows(Some(owned.rows_of(table)));
                    rows.collect::<Vec<_>>()
                });
                Planning::new(move |control| {
                    let before = before.as_ref().map(|before| &before.plan);
                    let found = rows_anew((&snapshot, below), owned, &delete, before, control)?;
                    Ok(of(found, asked, control))
                })
            } else {
                return Err(Error::NoSuchTable(asked.table().to_owned()));
            }
        }
        (Conditional::Update(_), None) => {
            return Err(Error::NoSuchTable(asked.table().to_owned()));
        }
    };
    Ok(Decision::nothing(Reply::Plan(planning)))
}

/// Chooses the documents of a statement; with `before` only among those that were changed since.
fn documents_found(
    over: &Documents,
    since: Since,
    asked: &Conditional,
    before: Option<&Before>,
    control: &Control,
) -> Result<Found> {
    match (asked, before) {
        (Conditional::Delete(asked), None) => ids_anew(over, since, asked, control),
        (Conditional::Delete(asked), Some(before)) => {
            ids_again(over, since, asked, before, control)
        }
        (Conditional::Update(asked), None) => values_anew(over, since, asked, control),
        (Conditional::Update(asked), Some(before)) => {
            values_again(over, since, asked, before, control)
        }
    }
}

/// What the engine's thread makes of a plan.
enum Outcome {
    /// The statement is decided.
    Decided(Box<Decision>),
    /// The plan is still of use, but more rows were changed than the engine's thread looks at.
    Changed(Vec<u64>),
    /// The plan is of no use.
    Useless,
}

/// Decides a statement that a reader has planned. The reply is a [`Reply::Plan`], and nothing is changed, if it is to be planned
/// again.
///
/// # Errors
/// Those of the statement; `Conflict` after the last plan.
pub(crate) fn planned(
    state: &mut State,
    work: &mut Workspace,
    around: Circumstances,
    owner: Option<&Owned>,
    planned: &Planned,
) -> Result<Decision> {
    work.check()?;
    let plan = &*planned.0;
    let table = state.catalog.find(plan.asked.table())?;
    let is_same = |now: &Arc<_>| table == plan.table && Arc::ptr_eq(now, &plan.definition);
    let outcome = match state.catalog.get(table).is_some_and(is_same) {
        true => outcome(state, work, around, owner, plan)?,
        false => Outcome::Useless,
    };
    let before = match outcome {
        Outcome::Decided(decision) => return Ok(*decision),
        Outcome::Changed(changed) if changed.len() <= REPLANNED_ROWS_MAX => Some(Before {
            plan: planned.clone(),
            changed,
        }),
        Outcome::Changed(_) | Outcome::Useless => None,
    };
    again(state, work, around, (table, owner), plan, before)
}

fn outcome(
    state: &mut State,
    work: &mut Workspace,
    around: Circumstances,
    owner: Option<&Owned>,
    plan: &Plan,
) -> Result<Outcome> {
    let (table, most) = (plan.table, looked_at_most(&plan.asked));
    match (&plan.asked, &plan.found) {
        (Conditional::Delete(delete), Found::Ids(found)) => {
            ids_now(state, work, (table, most), delete, found)
        }
        (Conditional::Delete(delete), Found::Rows(found)) => {
            rows_now(state, work, (table, owner, most), delete, found)
        }
        (Conditional::Update(update), Found::Values(found)) => {
            values_now(state, work, around, (table, update, most), found)
        }
        _ => Err(Error::internal("a plan of another statement")),
    }
}

/// Hands a statement out again. Where two plans came too late, the rows are taken so often that the engine's thread first tries to
/// decide it alone: of a small table, or where it soon has the rows of LIMIT, that fits into its budget.
fn again(
    state: &mut State,
    work: &mut Workspace,
    around: Circumstances,
    (table, owner): (TableId, Option<&Owned>),
    plan: &Plan,
    before: Option<Before>,
) -> Result<Decision> {
    if plan.plans >= 2 && !plan.asked.may_be_costly() {
        let decided = match &plan.asked {
            Conditional::Delete(asked) => {
                let whole =
                    |control: &Control| delete::whole(state, control, (table, owner), asked);
                work.within_budget(whole)?
            }
            Conditional::Update(asked) => {
                let whole = |control: &Control| update::chosen(state, control, table, asked);
                let rows = work.within_budget(whole)?;
                let decided = rows.map(|rows| update::decided(table, rows, around));
                decided.transpose()?
            }
        };
        if let Some(decision) = decided {
            return update::with_hits(state, work, around, table, decision);
        }
    }
    if plan.plans >= PLANS_MAX {
        return Err(Error::Conflict {
            what: format!(
                "rows of the condition were changed while it was evaluated, {PLANS_MAX} times: run the statement again"
            ),
        });
    }
    hand_out(
        state,
        (table, owner),
        plan.asked.clone(),
        before,
        plan.plans + 1,
    )
}

/// How many changed rows the engine's thread looks at again.
fn looked_at_most(asked: &Conditional) -> usize {
    match asked.may_be_costly() {
        true => MOVED_COSTLY_ROWS_MAX,
        false => MOVED_ROWS_MAX,
    }
}

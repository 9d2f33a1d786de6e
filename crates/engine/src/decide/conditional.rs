//! DELETE and UPDATE by a condition: decided at once where they are short, else handed out to be planned ([`super::planned`]).

use std::sync::Arc;

use relation::request::{Delete, Update};

use super::delete::{self, check, whole};
use super::planned::hand_out;
use super::update::{self, chosen, decided, updated_table, with_hits};
use super::{Circumstances, Decision, Workspace};
use crate::command::Reply;
use crate::error::{Error, Result};
use crate::planned::{Conditional, Planning};
use crate::sessions::Owned;
use crate::state::State;

/// Decides a DELETE that is short; of any other the reply is a [`Reply::Plan`]. `owner`: the session is in owner mode.
pub(crate) fn delete(
    state: &mut State,
    work: &mut Workspace,
    owner: Option<&Owned>,
    delete: &Arc<Delete>,
) -> Result<Decision> {
    work.check()?;
    let table = state.catalog.find(&delete.table)?;
    if let Some(definition) = state.catalog.get(table) {
        check(&definition.kind, delete)?;
    }
    let asked = Conditional::Delete(Arc::clone(delete));
    let tries = !work.plans_all() && !asked.may_be_costly();
    if tries && delete::is_short(state, (table, owner), delete) {
        let decided =
            work.within_budget(|control| whole(state, control, (table, owner), delete))?;
        if let Some(decision) = decided {
            return Ok(decision);
        }
    }
    hand_out(state, (table, owner), asked, None, 1)
}

/// Hands out a DELETE or UPDATE of a transaction that commits, however short it is.
///
/// # Errors
/// As of [`delete`] and [`update`].
pub(crate) fn plan(state: &mut State, asked: &Conditional) -> Result<Planning> {
    let table = state.catalog.find(asked.table())?;
    let handed = hand_out(state, (table, None), asked.clone(), None, 1)?;
    let Reply::Plan(planning) = handed.reply else {
        return Err(Error::internal("a statement that is not handed out"));
    };
    Ok(planning)
}

/// Decides an UPDATE that is short; of any other the reply is a [`Reply::Plan`].
///
/// # Errors
/// `NoSuchTable`, `UnknownColumn`, `Query`; `Invalid` for another kind of table; `BadValue`, `OutOfRange`; `Limit`; `Overloaded`.
pub(crate) fn update(
    state: &mut State,
    work: &mut Workspace,
    around: Circumstances,
    update: &Arc<Update>,
) -> Result<Decision> {
    work.check()?;
    let table = updated_table(state, update)?;
    let asked = Conditional::Update(Arc::clone(update));
    let tries = !work.plans_all() && !asked.may_be_costly();
    if tries && update::is_short(state, table, update) {
        let rows = work.within_budget(|control| chosen(state, control, table, update))?;
        if let Some(rows) = rows {
            let decision = decided(table, rows, around)?;
            return with_hits(state, work, around, table, decision);
        }
    }
    hand_out(state, (table, None), asked, None, 1)
}

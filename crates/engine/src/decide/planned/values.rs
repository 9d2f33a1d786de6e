//! UPDATE: the rows are ids with new values, most of them as pages that the table takes in at once.
//!
//! Example: a plan over a million rows has pages for rows 1 to 900,000. Since then row 5 was updated, row 6 was deleted, row 7 was
//! written into a segment, and row 1,000,001 was inserted.
//!
//! | rows | looked at again | how the values get in |
//! |---|---|---|
//! | 5, 1,000,001 | yes | one by one |
//! | 6 | yes, and it is gone | |
//! | 7 | no: it has the values of the plan | one by one: the plan's page is that of a part which is gone |
//! | all others | no | a page at a time |

use std::collections::BTreeSet;
use std::sync::Arc;

use index::Control;
use relation::request::Update;

use super::{Before, Outcome};
use crate::catalog::TableId;
use crate::decide::delete::Documents;
use crate::decide::delete::with_ids;
use crate::decide::update::{decided, with_hits, work_out};
use crate::decide::{Circumstances, Workspace};
use crate::error::{Error, Result};
use crate::limits::MOVED_ROWS_MAX;
use crate::planned::{Found, FoundValues};
use crate::recent::Since;
use crate::record::UpdatedRows;
use crate::state::{Prepared, State};

/// Works out an UPDATE.
pub(super) fn values_anew(
    over: &Documents,
    since: Since,
    update: &Update,
    control: &Control,
) -> Result<Found> {
    let (change, rows) = work_out(over, update, control)?;
    let mut chosen: Vec<u64> = change.ids().collect();
    control.memory.take(8 * chosen.len() as u64)?;
    chosen.sort_unstable();
    Ok(Found::Values(FoundValues {
        since,
        change: Arc::new(change),
        chosen: chosen.into(),
        more: UpdatedRows::new(rows.columns.clone()),
        rows: Arc::new(rows),
        replaced: BTreeSet::new(),
    }))
}

/// Works out again the rows that were changed since an earlier plan.
pub(super) fn values_again(
    over: &Documents,
    since: Since,
    update: &Update,
    before: &Before,
    control: &Control,
) -> Result<Found> {
    if is_ordered(update) {
        return values_anew(over, since, update, control);
    }
    let Found::Values(found) = &before.plan.0.found else {
        return Err(Error::internal("a plan of another statement"));
    };
    let (_, fit) = work_out(over, &among(update, &before.changed), control)?;
    let mut found = FoundValues {
        since,
        ..found.clone()
    };
    found.replace(&before.changed, fit);
    Ok(Found::Values(found))
}

/// Whether only the first rows are updated: which these are, each changed row may change.
fn is_ordered(update: &Update) -> bool {
    update.limit.is_some() || !update.order.is_empty()
}

/// The UPDATE of those rows of the condition that have one of these ids.
fn among(update: &Update, ids: &[u64]) -> Update {
    Update {
        filter: Some(with_ids(update.filter.clone(), ids)),
        order: Vec::new(),
        limit: None,
        ..update.clone()
    }
}

impl FoundValues {
    /// Takes in a second look at rows. `fit`: those of them that get other values.
    fn replace(&mut self, changed: &[u64], fit: UpdatedRows) {
        let changed: BTreeSet<u64> = changed.iter().copied().collect();
        self.more = self.more.without(&changed);
        self.more.append(fit);
        self.replaced.extend(changed);
    }

    /// Drops the second look at rows that are again as they were when `change` was made.
    fn put_back(&mut self, is_as_planned: impl Fn(&u64) -> bool) {
        let replaced = self.replaced.iter().copied();
        let back: BTreeSet<u64> = replaced.filter(is_as_planned).collect();
        self.replaced.retain(|id| !back.contains(id));
        self.more = self.more.without(&back);
    }
}

/// Decides a planned UPDATE. `most`: changed rows to look at.
pub(super) fn values_now(
    state: &mut State,
    work: &mut Workspace,
    around: Circumstances,
    (table, update, most): (TableId, &Update, usize),
    found: &FoundValues,
) -> Result<Outcome> {
    let Some(search) = state.searches.get_mut(&table) else {
        return Ok(Outcome::Useless);
    };
    search.table.check_whole()?;
    let Some(mut changed) = search.recent.since(&found.since) else {
        return Ok(Outcome::Useless);
    };
    let is_chosen = |id: &u64| found.chosen.binary_search(id).is_ok();
    let by_rows = work.takes_rows_alone();
    let moved = match by_rows {
        true => found
            .replaced
            .union(&changed.iter().copied().collect())
            .copied()
            .collect(),
        false => search.table.moved_since(&found.change),
    };
    let is_as_planned = |id: &u64| is_chosen(id) && !moved.contains(id);
    changed.retain(|id| !is_as_planned(id));
    let mut now = found.clone();
    now.put_back(is_as_planned);
    if is_ordered(update)
        && (changed.iter().any(is_chosen) || update.matching.is_some() && !changed.is_empty())
    {
        return Ok(Outcome::Useless);
    }
    if !changed.is_empty() {
        let looked = match changed.len() <= most {
            false => None,
            true => work.within_budget(|control| {
                work_out(&Documents::of(search), &among(update, &changed), control)
            })?,
        };
        let Some((change, fit)) = looked else {
            return Ok(Outcome::Changed(changed));
        };
        if is_ordered(update) && change.ids().next().is_some() {
            return Ok(Outcome::Useless);
        }
        now.replace(&changed, fit);
    }
    let elsewhere: BTreeSet<u64> = moved.difference(&now.replaced).copied().collect();
    if elsewhere.len() + now.more.ids.len() > MOVED_ROWS_MAX {
        return Ok(Outcome::Useless);
    }
    let mut rows = now.rows.without(&moved);
    let taken = rows.ids.len();
    rows.append(now.rows.only(&elsewhere));
    rows.append(now.more);
    let mut decision = decided(table, rows, around)?;
    if by_rows {
        let decision = with_hits(state, work, around, table, decision)?;
        return Ok(Outcome::Decided(Box::new(decision)));
    }
    decision.prepared = Prepared {
        planned: Some((Arc::clone(&found.change), taken)),
        ..Prepared::default()
    };
    let decision = with_hits(state, work, around, table, decision)?;
    Ok(Outcome::Decided(Box::new(decision)))
}

//! DELETE of documents and standing queries: the rows are ids, rising.
//!
//! Example: `DELETE FROM t WHERE n < 5 LIMIT 2`. The plan has the ids 3, 4 and 8, of which one is spare, and more may follow behind
//! 8. Since then 3 was updated, and no longer fits; 6 and 9 were inserted, and fit. The candidates are 4, 6 and 8; of 9 nobody knows
//! which ids stand before it. 4 and 6 are deleted.

use index::Control;
use relation::request::Delete;

use super::{Before, Outcome};
use crate::catalog::TableId;
use crate::decide::Workspace;
use crate::decide::delete::{Documents, of_documents, of_queries, queries};
use crate::error::{Error, Result};
use crate::limits::SPARE_ROWS;
use crate::planned::{Found, FoundIds};
use crate::recent::Since;
use crate::state::State;
use crate::table::search::SearchTable;
use crate::table::standing::PercolateTable;

/// Memory of a chosen id, and of a standing query's counts, in bytes.
const CHOSEN_BYTES: u64 = 32;

/// Most rows that a plan chooses.
fn most(delete: &Delete) -> Option<u64> {
    delete.limit.map(|limit| limit.saturating_add(SPARE_ROWS))
}

/// Whether a plan that has chosen `count` rows has chosen all.
fn is_whole(delete: &Delete, count: usize) -> bool {
    most(delete).is_none_or(|most| (count as u64) < most)
}

/// Chooses the documents of a DELETE.
pub(super) fn ids_anew(
    over: &Documents,
    since: Since,
    delete: &Delete,
    control: &Control,
) -> Result<Found> {
    let ids = over.chosen(delete, None, most(delete), control)?;
    Ok(Found::Ids(FoundIds {
        since,
        is_whole: is_whole(delete, ids.len()),
        ids,
        counts: Vec::new(),
    }))
}

/// Chooses again among the documents that were changed since an earlier plan.
pub(super) fn ids_again(
    over: &Documents,
    since: Since,
    delete: &Delete,
    before: &Before,
    control: &Control,
) -> Result<Found> {
    let fit = over.chosen(delete, Some(&before.changed), None, control)?;
    let (ids, is_whole) = candidates(planned_ids(before)?, &before.changed, &fit);
    Ok(Found::Ids(FoundIds {
        since,
        ids,
        is_whole,
        counts: Vec::new(),
    }))
}

fn planned_ids(before: &Before) -> Result<&FoundIds> {
    match &before.plan.0.found {
        Found::Ids(found) => Ok(found),
        Found::Values(_) | Found::Rows(_) => Err(Error::internal("a plan of another statement")),
    }
}

/// A pq table in one state.
pub(super) struct Queries<'p> {
    pub(super) table: &'p str,
    pub(super) queries: &'p percolate::Snapshot,
}

impl Queries<'_> {
    /// Chooses the standing queries of a DELETE; with `before` only among those that were changed since.
    pub(super) fn found(
        &self,
        since: Since,
        delete: &Delete,
        before: Option<&Before>,
        control: &Control,
    ) -> Result<Found> {
        let chosen = match before {
            None => {
                let all = self.queries.iter();
                queries(self.table, delete, all, most(delete), control)?
            }
            Some(before) => {
                let changed = before.changed.iter();
                let there = changed.filter_map(|id| self.queries.get(*id));
                queries(self.table, delete, there, None, control)?
            }
        };
        control.memory.take(CHOSEN_BYTES * chosen.len() as u64)?;
        let fit: Vec<u64> = chosen.iter().map(|query| query.id).collect();
        let (ids, is_whole) = match before {
            None => {
                let is_whole = is_whole(delete, fit.len());
                (fit, is_whole)
            }
            Some(before) => candidates(planned_ids(before)?, &before.changed, &fit),
        };
        let counted = ids.iter().filter(|_| reads_counts(delete));
        let counts = counted.map(|id| {
            let query = self.queries.get(*id);
            query.map_or((0, 0), |query| query.count.get())
        });
        Ok(Found::Ids(FoundIds {
            since,
            is_whole,
            counts: counts.collect(),
            ids,
        }))
    }
}

/// Whether a condition on standing queries depends on their hits, which change without a change of the query.
fn reads_counts(delete: &Delete) -> bool {
    let mut reads = false;
    if let Some(filter) = &delete.filter {
        filter.each_column(&mut |name| {
            reads |= name.eq_ignore_ascii_case("hits") || name.eq_ignore_ascii_case("last_hit");
        });
    }
    reads
}

/// The rows that a plan and a second look at the changed rows have found, rising, and whether these are all. `changed`: rising;
/// `fit`: those of them that fit.
fn candidates(found: &FoundIds, changed: &[u64], fit: &[u64]) -> (Vec<u64>, bool) {
    let last = found.ids.last().copied().unwrap_or_default();
    let is_known = |id: &u64| found.is_whole || *id <= last;
    let stay = found.ids.iter().copied();
    let stay = stay.filter(|id| changed.binary_search(id).is_err());
    let fit = fit.iter().copied().filter(is_known);
    let mut ids: Vec<u64> = stay.chain(fit).collect();
    ids.sort_unstable();
    (ids, found.is_whole)
}

/// The first rows of a plan that LIMIT allows; `None`: the plan has too few, and others may follow.
fn limited((mut ids, is_whole): (Vec<u64>, bool), delete: &Delete) -> Option<Vec<u64>> {
    let Some(limit) = delete.limit else {
        return Some(ids);
    };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    ids.truncate(limit);
    (is_whole || ids.len() == limit).then_some(ids)
}

/// Decides a planned DELETE of documents or standing queries. `most`: changed rows to look at.
pub(super) fn ids_now(
    state: &mut State,
    work: &mut Workspace,
    (table, most): (TableId, usize),
    delete: &Delete,
    found: &FoundIds,
) -> Result<Outcome> {
    let (looked, decision): (_, fn(TableId, Vec<u64>) -> _) =
        match (state.searches.get_mut(&table), state.percolates.get(&table)) {
            (Some(search), _) => {
                let looked = documents_now(search, work, most, delete, found)?;
                (looked, of_documents)
            }
            (None, Some(pq)) => (queries_now(pq, work, most, delete, found)?, of_queries),
            (None, None) => return Ok(Outcome::Useless),
        };
    Ok(match looked {
        None => Outcome::Useless,
        Some((changed, None)) => Outcome::Changed(changed),
        Some((changed, Some(fit))) => match limited(candidates(found, &changed, &fit), delete) {
            Some(ids) => Outcome::Decided(Box::new(decision(table, ids))),
            None => Outcome::Useless,
        },
    })
}

/// The rows that were changed since a plan, rising, and those of them that fit now. `None` for both: nobody knows the first; for
/// the second: they were not looked at.
type Looked = Option<(Vec<u64>, Option<Vec<u64>>)>;

fn documents_now(
    search: &mut SearchTable,
    work: &mut Workspace,
    most: usize,
    delete: &Delete,
    found: &FoundIds,
) -> Result<Looked> {
    search.table.check_whole()?;
    let Some(changed) = search.recent.since(&found.since) else {
        return Ok(None);
    };
    let fit = match (changed.is_empty(), changed.len() <= most) {
        (true, _) => Some(Vec::new()),
        (false, false) => None,
        (false, true) => work.within_budget(|control| {
            Documents::of(search).chosen(delete, Some(&changed), None, control)
        })?,
    };
    Ok(Some((changed, fit)))
}

fn queries_now(
    pq: &PercolateTable,
    work: &mut Workspace,
    most: usize,
    delete: &Delete,
    found: &FoundIds,
) -> Result<Looked> {
    let Some(mut changed) = pq.recent.since(&found.since) else {
        return Ok(None);
    };
    let counted = found.ids.iter().zip(&found.counts);
    let hit = counted.filter(|(id, counts)| {
        let query = pq.set.get(**id);
        query.is_some_and(|query| query.count.get() != **counts)
    });
    changed.extend(hit.map(|(id, _)| *id));
    changed.sort_unstable();
    changed.dedup();
    let fit = match (changed.is_empty(), changed.len() <= most) {
        (true, _) => Some(Vec::new()),
        (false, false) => None,
        (false, true) => work.within_budget(|control| {
            let there = changed.iter().filter_map(|id| pq.set.get(*id));
            let fit = queries(&pq.definition.name, delete, there, None, control)?;
            Ok(fit.iter().map(|query| query.id).collect())
        })?,
    };
    Ok(Some((changed, fit)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recent::Recent;

    fn check(
        (ids, is_whole): (&[u64], bool),
        (changed, fit): (&[u64], &[u64]),
        limit: Option<u64>,
        want: Option<&[u64]>,
    ) {
        let found = FoundIds {
            since: Recent::default().now(),
            ids: ids.to_vec(),
            is_whole,
            counts: Vec::new(),
        };
        let delete = Delete {
            limit,
            ..Delete::new("t".to_owned(), None)
        };
        let got = limited(candidates(&found, changed, fit), &delete);
        assert_eq!(got.as_deref(), want);
    }

    #[test]
    fn a_row_that_was_changed_counts_as_it_is_now() {
        check((&[3, 4, 8], true), (&[3, 9], &[9]), None, Some(&[4, 8, 9]));
        check((&[3], true), (&[3], &[]), None, Some(&[]));
    }

    #[test]
    fn a_limit_takes_the_first_rows_that_are_known_to_be_first() {
        let two = Some(2);
        check(
            (&[3, 4, 8], false),
            (&[3, 6, 9], &[6, 9]),
            two,
            Some(&[4, 6]),
        );
        check((&[3, 4, 8], false), (&[3, 4, 9], &[9]), two, None);
        check((&[3, 4, 8], true), (&[3, 4, 9], &[9]), two, Some(&[8, 9]));
        check((&[3], true), (&[], &[]), two, Some(&[3]));
    }
}

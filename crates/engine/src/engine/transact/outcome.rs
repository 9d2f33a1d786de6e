//! Whether COMMIT comes to what the transaction's statements have told.
//!
//! # Example
//! `stock` has row 1 with n = 1. Two sessions run `BEGIN; UPDATE stock SET n = n - 1 WHERE id = 1 AND n > 0`. Both are told 1 row.
//! The first COMMIT decides the UPDATE again: row 1 is changed, 1 row, as told. It is stored, n = 0. The second COMMIT decides its
//! UPDATE over n = 0: no row. That is another outcome than row 1, so this COMMIT is refused: [`Error::Conflict`].
//!
//! With n = 5 both are stored, and n is 3. If the second session has SELECTed row 1 behind its UPDATE, it was shown n = 4, and COMMIT
//! comes to n = 3: it is refused too, by the [`Witness`].

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hasher;

use relation::request::tables_of;
use relation::row;
use relation::value::Value;

use super::Engine;
use crate::catalog::TableId;
use crate::command::{Kind, Reply, SessionId};
use crate::decide::Decision;
use crate::error::{Error, Result};
use crate::failure;
use crate::planned::Planned;
use crate::recent::Since;
use crate::transactions::{Digests, Member, Outcome, RowDigest, Transaction, Witness};

/// Memory of a row of a [`Witness`], in bytes.
const WITNESS_ROW_BYTES: u64 = 32;

/// A step of COMMIT: looks at rows that the transaction has read before the member, then decides the member.
pub(super) struct Step<'t> {
    /// Number of members before it.
    index: usize,
    witnesses: &'t [Witness],
    /// `None`: behind the last member.
    member: Option<&'t Member>,
    /// The member's rows, where a reader has chosen them.
    plan: Option<&'t Planned>,
    /// Whether a member before it changes the same table.
    is_behind_own: bool,
    since: &'t BTreeMap<TableId, Since>,
}

/// The steps of a transaction's COMMIT, in order.
pub(super) fn steps(transaction: &Transaction) -> Vec<Step<'_>> {
    let mut rest = transaction.witnesses.as_slice();
    let plans = transaction.rehearsal.as_ref();
    let plans = plans.map(|rehearsal| &rehearsal.plans);
    let mut changed = BTreeSet::new();
    let members = transaction.members.iter().map(Some).chain([None]);
    let steps = members.enumerate().map(|(index, member)| {
        let here = rest.partition_point(|witness| witness.behind <= index);
        let (witnesses, later) = rest.split_at(here);
        rest = later;
        Step {
            index,
            witnesses,
            member,
            plan: plans.and_then(|plans| plans.get(&index)),
            is_behind_own: member.is_some_and(|member| !changed.insert(member.table)),
            since: &transaction.since,
        }
    });
    steps.collect()
}

impl Member {
    /// A decision of the member anew, if its outcome is the one that was told.
    ///
    /// # Errors
    /// `Conflict`: it is another one, or a value is refused now; those of `decided`.
    pub(super) fn as_told(&self, decided: Result<Decision>) -> Result<Decision> {
        let Some(told) = &self.outcome else {
            return decided;
        };
        let name = &self.definition.name;
        let conflict = |why: &str| {
            let what = format!("another connection changed rows of '{name}': {why}");
            Err(Error::Conflict { what })
        };
        match decided {
            Ok(decision) if matches!(decision.reply, Reply::Plan(_)) => Ok(decision),
            Ok(decision) => {
                let now = Outcome::of(self.table, decision.record.as_ref(), &decision.reply);
                match now == *told {
                    true => Ok(decision),
                    false => conflict("the statement would have another outcome"),
                }
            }
            Err(
                error @ (Error::BadValue { .. } | Error::OutOfRange { .. } | Error::Invalid { .. }),
            ) => conflict(&error.to_string()),
            Err(other) => Err(other),
        }
    }
}

impl Engine {
    /// Decides a step of COMMIT. The steps before it are applied.
    ///
    /// # Errors
    /// `InMany`, of the member; `Conflict`: a row is not as it was shown.
    pub(super) fn decide_step(&mut self, step: Step<'_>) -> Result<Decision> {
        for Witness { table, rows, .. } in step.witnesses {
            // A row that no other session has changed since the transaction's first look is what its own statements make of it.
            let search = self.state.searches.get(table);
            let since = step.since.get(table);
            let moved = search.and_then(|search| search.recent.since(since?));
            let may_differ = |id: &u64| {
                let moved = moved.as_ref();
                moved.is_none_or(|moved| moved.binary_search(id).is_ok())
            };
            let shown = rows.iter().filter(|row| may_differ(&row.0));
            let shown: Digests = shown.copied().collect();
            let now = self.digests(*table, shown.iter().map(|row| row.0))?;
            if now != shown {
                let definition = self.state.catalog.get(*table);
                let name = definition.map_or("?", |definition| &definition.name);
                return Err(Error::Conflict {
                    what: format!(
                        "another connection changed a row of '{name}' that the transaction has changed and read"
                    ),
                });
            }
        }
        match step.member {
            Some(member) => {
                self.work.take_rows_alone(step.is_behind_own);
                let decided = self.decide_member(member, step.plan);
                decided.map_err(|error| Error::InMany {
                    index: step.index,
                    error: Box::new(error),
                })
            }
            None => Ok(Decision::nothing(Reply::done())),
        }
    }

    /// The tables of some names, and the parts of distributed ones.
    pub(super) fn parts_of(&self, names: &[String]) -> BTreeSet<TableId> {
        let catalog = &self.state.catalog;
        let mut tables: BTreeSet<TableId> = BTreeSet::new();
        for name in names.iter().flat_map(|name| tables_of(name)) {
            let Ok(table) = catalog.find(name) else {
                continue;
            };
            match catalog.get(table).map(|definition| &definition.kind) {
                Some(Kind::Distributed { locals }) => {
                    tables.extend(locals.iter().filter_map(|local| catalog.find(local).ok()));
                }
                Some(Kind::Search(_) | Kind::Percolate { .. } | Kind::Queue(_)) | None => {
                    tables.insert(table);
                }
            }
        }
        tables
    }

    /// The rows that statements of a transaction have chosen, that no SELECT has shown as they are now, and that are of `ids`.
    pub(super) fn unshown(
        &mut self,
        session: SessionId,
        tables: &BTreeSet<TableId>,
        ids: Option<&[u64]>,
    ) -> Result<BTreeMap<TableId, Vec<u64>>> {
        // A rebase tells which rows others have changed.
        self.overlaid(session, |_| Ok(()))?;
        let Some(transaction) = self.sessions.transactions.get(session) else {
            return Ok(BTreeMap::new());
        };
        let chosen = transaction.chosen.iter();
        let chosen = chosen.filter(|(table, _)| tables.contains(table));
        let unshown = chosen.map(|(table, chosen)| {
            let fresh = &chosen.fresh;
            let rows = match ids {
                Some(ids) => ids
                    .iter()
                    .copied()
                    .filter(|id| fresh.contains(id))
                    .collect(),
                None => fresh.iter().copied().collect(),
            };
            (*table, rows)
        });
        Ok(unshown.collect())
    }

    /// The digests of rows as they are now.
    ///
    /// # Errors
    /// Those of reading a row.
    pub(super) fn digests(
        &mut self,
        table: TableId,
        ids: impl IntoIterator<Item = u64>,
    ) -> Result<Digests> {
        let Some(search) = self.state.searches.get_mut(&table) else {
            return Ok(Vec::new());
        };
        let columns = search.definition.columns.len();
        let mut digests = Vec::new();
        for id in ids {
            let stored = search.table.row(id).map_err(failure::of_index)?;
            let digest = match stored {
                None => None,
                Some(stored) => {
                    let values = (0..columns).map(|column| stored.column(column));
                    let values: index::Result<Vec<Value>> = values.collect();
                    Some(digest(&values.map_err(failure::of_index)?))
                }
            };
            digests.push((id, digest));
        }
        Ok(digests)
    }

    /// Keeps what a SELECT has shown behind a number of members, but for rows that an earlier one has shown alike.
    pub(super) fn note_shown(
        &mut self,
        session: SessionId,
        behind: usize,
        shown: Vec<(TableId, Digests)>,
    ) -> Result<()> {
        let mut noted = 0;
        for (table, mut rows) in shown {
            let Some(transaction) = self.sessions.transactions.get_mut(session) else {
                return Ok(());
            };
            let chosen = transaction.chosen.entry(table).or_default();
            rows.retain(|(id, digest)| {
                chosen.fresh.remove(id);
                chosen.shown.insert(*id, *digest) != Some(*digest)
            });
            if rows.is_empty() {
                continue;
            }
            noted += rows.len() as u64;
            transaction.witnesses.push(Witness {
                behind,
                table,
                rows,
            });
        }
        match noted {
            0 => Ok(()),
            rows => self.grow(session, rows * WITNESS_ROW_BYTES),
        }
    }
}

/// Two hashes of the row's bytes, each begun with another byte. Equal rows have equal bytes.
fn digest(values: &[Value]) -> RowDigest {
    let bytes = row::encode(values);
    [0u8, 1].map(|seed| {
        let mut hasher = std::hash::DefaultHasher::new();
        hasher.write_u8(seed);
        hasher.write(&bytes);
        hasher.finish()
    })
}

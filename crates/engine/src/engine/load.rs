//! Loads: each step stores rows and the load's new place in one unit, so that a load that goes on after a crash skips and doubles
//! nothing.

use relation::request::Insert;

use super::Engine;
use crate::catalog::TableId;
use crate::command::{LoadStep, Reply, SessionId, Write};
use crate::decide::Decision;
use crate::error::{Error, Result};
use crate::limits::LOADS_MAX;
use crate::record::Record;

impl Engine {
    /// One step of a load.
    pub(super) fn load(
        &mut self,
        session: SessionId,
        name: &str,
        load: u64,
        step: LoadStep,
    ) -> Result<Reply> {
        let table = self.state.catalog.find(name)?;
        let place = self.state.loads.place(table, load);
        match step {
            LoadStep::Ask => Ok(done(0, place)),
            LoadStep::End if place == 0 => Ok(Reply::done()),
            LoadStep::End => self.commit(Decision::of(mark(table, load, None), Reply::done())),
            LoadStep::Forget => {
                let ends = self.ends_of_loads(table);
                let reply = done(ends.len() as u64, 0);
                match Record::unit(ends) {
                    Some(record) => self.commit(Decision::of(record, reply)),
                    None => Ok(reply),
                }
            }
            LoadStep::Put { to, .. } if to <= place => Ok(done(0, place)),
            LoadStep::Put { .. } if place == 0 && self.state.loads.is_full() => Err(Error::Limit {
                what: "unfinished loads (run one of them again to its end, or forget those of a table: \
                       seine load TABLE --forget, TRUNCATE or DROP TABLE)",
                max: LOADS_MAX as u64,
            }),
            LoadStep::Put { from, to, .. } if from < place || to <= from => {
                Err(Error::invalid(format!(
                    "the load has stored what is before {place}: rows from {from} to {to} do not follow"
                )))
            }
            LoadStep::Put {
                to,
                columns,
                rows,
                replace,
                ..
            } => {
                let insert = Write::Insert(Insert {
                    table: name.to_owned(),
                    columns: Some(columns),
                    rows,
                    replace,
                });
                let mut decision = self.decide_write(session, insert, None)?;
                let mark = mark(table, load, Some(to));
                decision.record = Record::unit(decision.record.into_iter().chain([mark]));
                let reply = self.commit(decision)?;
                self.seal_early(table);
                Ok(reply)
            }
        }
    }

    /// The records that end every load of a table.
    pub(super) fn ends_of_loads(&self, table: TableId) -> Vec<Record> {
        let loads = self.state.loads.of(table);
        loads.map(|load| mark(table, load, None)).collect()
    }

    /// Has half a tail sealed: the thread that seals then works beside a load from early on, and little is left at its end.
    fn seal_early(&mut self, table: TableId) {
        let rows = u64::from(self.options.seal_rows / 2);
        let search = self.state.searches.get(&table);
        if search.is_some_and(|search| search.is_full(rows)) {
            self.wanted_folds.insert(table);
        }
    }
}

fn mark(table: TableId, load: u64, place: Option<u64>) -> Record {
    Record::Load { table, load, place }
}

fn done(affected: u64, last_id: u64) -> Reply {
    Reply::Done {
        affected,
        last_id,
        ids: Vec::new(),
        warnings: Vec::new(),
    }
}

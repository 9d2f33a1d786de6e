//! Loads: rows in one unit with how far the load is.

use super::Engine;
use crate::catalog::TableId;
use crate::command::{Command, LoadStep, Reply, SessionId};
use crate::decide::Decision;
use crate::error::{Error, Result};
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
            LoadStep::Put { to, .. } if to <= place => Ok(done(0, place)),
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
                let insert = Command::Insert {
                    table: name.to_owned(),
                    columns: Some(columns),
                    rows,
                    replace,
                };
                let mut decision = self.decide_write(session, insert, None)?;
                let mark = mark(table, load, Some(to));
                decision.record = Some(match decision.record {
                    None => mark,
                    Some(Record::Many(mut records)) => {
                        records.push(mark);
                        Record::Many(records)
                    }
                    Some(single) => Record::Many(vec![single, mark]),
                });
                let reply = self.commit(decision)?;
                self.seal_early(table);
                Ok(reply)
            }
        }
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
        warnings: Vec::new(),
    }
}

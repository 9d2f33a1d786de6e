//! Rows of an INSERT, made before the engine's thread gets them; see [`crate::made`].

use index::Interrupt;
use query::analysis::Words;
use query::value::Value;

use super::{Snapshot, View, goes_on};
use crate::command::Command;
use crate::decide::insert::Making;
use crate::error::Result;
use crate::made::{Inserted, MadeRow, MadeRows};
use crate::table::search::analyse;

/// Memory that a text takes at most while its row is made, for each byte: values, row, and words of one letter.
const ANALYSED_FACTOR: usize = 10;

impl Snapshot {
    /// Converts and analyses the rows of an INSERT or of a step of a load, as the engine's thread would. `room` is asked before
    /// memory is taken: may the rows take this number of bytes in all? `None`: that thread does it, since there is no room, since
    /// a value is refused, or since the table is no search table.
    ///
    /// # Errors
    /// `OutOfTime`, `Interrupted`.
    pub fn make_rows(
        &self,
        command: &Command,
        room: &dyn Fn(usize) -> bool,
        interrupt: &Interrupt,
    ) -> Result<Option<MadeRows>> {
        let Some(Inserted {
            table,
            columns,
            rows,
        }) = command.inserted()
        else {
            return Ok(None);
        };
        let Ok(View::Search(view)) = self.view(table) else {
            return Ok(None);
        };
        let definition = &view.definition;
        let Ok(mut making) = Making::new(definition, columns) else {
            return Ok(None);
        };
        let mut made = MadeRows::new(definition, rows.len());
        let (mut values, mut words) = (Vec::new(), Words::new());
        for (place, sent) in rows.iter().enumerate() {
            goes_on(interrupt)?;
            let text: usize = sent.iter().map(Value::memory).sum();
            if !room(made.bytes() + ANALYSED_FACTOR * text) {
                return Ok(None);
            }
            values.clone_from(sent);
            let number = place + 1;
            let Ok(id) = making.id(&mut values, number) else {
                return Ok(None);
            };
            let Ok(row) = making.row(&mut values, number, rows.len() == 1) else {
                return Ok(None);
            };
            analyse(&view.analyzer, &definition.columns, &row, &mut words);
            made.push(MadeRow { id, row }, words.compact());
        }
        Ok(room(made.bytes()).then_some(made))
    }
}

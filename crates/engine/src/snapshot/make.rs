//! Rows of an INSERT, made before the engine's thread gets them; see [`crate::made`].

use index::Interrupt;
use language::analysis::Words;
use relation::value::Value;

use super::{PercolateView, SearchView, Snapshot, View, goes_on};
use crate::command::Command;
use crate::decide::insert::{Making, MakingQueries, compile};
use crate::error::Result;
use crate::limits::ANALYSED_FACTOR;
use crate::made::{InsertedRows, MadeQuery, MadeRows, Wanted};
use crate::table::search::analyse;
use crate::table::standing::Reading;

/// Memory that a standing query takes, for each byte of its texts: its tree, and the copies of its texts.
const COMPILED_FACTOR: usize = 16;

impl Snapshot {
    /// Converts and analyses the rows of each INSERT in a command, see [`Command::inserts`], and compiles standing queries, as the
    /// engine's thread would. `room` is asked before memory is taken: may all rows take so much? Where there is no room, or a
    /// value is refused, that thread does the rest of an INSERT; with `None` all of it, such as rows of a queue.
    ///
    /// # Errors
    /// `OutOfTime`, `Interrupted`.
    pub fn make_rows(
        &self,
        command: &Command,
        room: &dyn Fn(Wanted) -> bool,
        interrupt: &Interrupt,
    ) -> Result<Vec<Option<MadeRows>>> {
        let (mut taken, mut is_whole) = (Wanted::default(), true);
        let inserts = command.inserts().into_iter();
        let made = inserts.map(|inserted| {
            // The engine's thread refuses the first that is not made whole, or does the rest within its bound.
            let room = |wanted: Wanted| is_whole && room(taken + wanted);
            let made = match self.view(inserted.table) {
                Ok(View::Search(view)) if inserted.is_made(&view.definition) => {
                    documents(view, inserted, &room, interrupt)?
                }
                Ok(View::Percolate(view)) => queries(view, inserted, &room, interrupt)?,
                Ok(View::Search(_) | View::Queue(_)) | Err(_) => None,
            };
            if let Some(made) = &made {
                taken = taken + made.bytes();
                is_whole &= made.count() == inserted.count();
            }
            Ok(made)
        });
        made.collect()
    }
}

/// The rows up to one that is refused or for which there is no room.
fn documents(
    view: &SearchView,
    InsertedRows { columns, rows, .. }: InsertedRows<'_>,
    room: &dyn Fn(Wanted) -> bool,
    interrupt: &Interrupt,
) -> Result<Option<MadeRows>> {
    let definition = &view.definition;
    let Ok(mut making) = Making::new(definition, columns) else {
        return Ok(None);
    };
    let mut made = MadeRows::documents(definition, rows.len());
    let (mut values, mut words) = (Vec::new(), Words::new());
    for (place, sent) in rows.iter().enumerate() {
        goes_on(interrupt)?;
        let text: usize = sent.iter().map(Value::memory).sum();
        let mut wanted = made.bytes();
        wanted.words += ANALYSED_FACTOR * text;
        if !room(wanted) {
            break;
        }
        values.clone_from(sent);
        let number = place + 1;
        let Ok(id) = making.id(&mut values, number) else {
            break;
        };
        let row = making.row(&mut values, number, rows.len() == 1, interrupt);
        goes_on(interrupt)?;
        let Ok(row) = row else {
            break;
        };
        analyse(&view.analyzer, &definition.columns, &row, &mut words);
        made.push(id, row, words.compact());
    }
    Ok(room(made.bytes()).then_some(made))
}

/// The standing queries of the first rows, up to one that is refused or for which there is no room.
fn queries(
    view: &PercolateView,
    InsertedRows { columns, rows, .. }: InsertedRows<'_>,
    room: &dyn Fn(Wanted) -> bool,
    interrupt: &Interrupt,
) -> Result<Option<MadeRows>> {
    let definition = &view.definition;
    let Ok(making) = MakingQueries::new(definition, columns.map(<[String]>::to_vec), rows) else {
        return Ok(None);
    };
    let reading = Reading::new(definition, &view.analyzer);
    let mut compiled = Vec::with_capacity(rows.len());
    // The engine holds them from then on, as it does rows.
    let mut bytes = rows.len() * size_of::<MadeQuery>();
    let mut values = Vec::new();
    for (place, sent) in rows.iter().enumerate() {
        goes_on(interrupt)?;
        let text: usize = sent.iter().map(Value::memory).sum();
        let wanted = Wanted {
            rows: bytes + COMPILED_FACTOR * text,
            words: 0,
        };
        if !room(wanted) {
            break;
        }
        bytes = wanted.rows;
        values.clone_from(sent);
        let number = place + 1;
        if making.id(&mut values, number).is_err() {
            break;
        }
        let row = making.row(0, &mut values, number);
        let read = row.and_then(|row| Ok(MadeQuery::new(&row, compile(&reading, &row, number)?)));
        let Ok(read) = read else {
            break;
        };
        bytes += read.regex_bytes();
        compiled.push(read);
    }
    Ok(Some(MadeRows::queries(definition, compiled, bytes)))
}

//! Rows of a table of touches and orders, as `attribution::table` has them, or of another making.
//!
//! A row is read as a line of a file of touches is. What is wrong with one is counted and kept by example, with the number of the
//! row in place of the line's.

use super::touches::{COLUMNS, Touches, fields_of};
use super::{Lines, Places, TouchOptions};
use crate::attribution::events::Events;

/// Columns of a table that a report reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadColumns {
    /// Their names, as the table has them, in the order in which [`TableRows::add`] takes their values.
    pub names: Vec<String>,
    /// For each of [`COLUMNS`] its place among them; `None`: the table has no such column.
    places: [Option<usize>; COLUMNS.len()],
}

/// Reads rows into events.
pub struct TableRows<'a> {
    touches: Touches<'a>,
    columns: ReadColumns,
    lines: Lines,
}

impl ReadColumns {
    /// Those among the columns of a table.
    ///
    /// # Errors
    /// A message that names the column which is missing.
    pub fn among(table: &str, columns: &[String]) -> Result<ReadColumns, String> {
        let find = |names: &[&str]| {
            let is_named =
                |column: &&String| names.iter().any(|name| column.eq_ignore_ascii_case(name));
            columns.iter().find(is_named)
        };
        let found = COLUMNS.map(find);
        let [visitor, time, channel, source, ..] = found;
        let needed = [
            (visitor.is_some(), "visitor"),
            (time.is_some(), "time"),
            (channel.is_some() || source.is_some(), "channel or source"),
        ];
        if let Some((_, missing)) = needed.iter().find(|(is_there, _)| !is_there) {
            return Err(format!(
                "the table {table} has no column {missing}: a report reads visitor, time, channel or source, and perhaps medium, \
                 subcat, value, order_id, currency, confirmed"
            ));
        }
        let mut places = [None; COLUMNS.len()];
        let mut names = Vec::new();
        for (place, column) in places.iter_mut().zip(found) {
            if let Some(column) = column {
                *place = Some(names.len());
                names.push(column.clone());
            }
        }
        Ok(ReadColumns { names, places })
    }
}

impl<'a> TableRows<'a> {
    /// No row yet.
    pub fn new(
        table: &str,
        columns: ReadColumns,
        events: &'a mut Events,
        places: &'a mut Places,
        options: &'a TouchOptions,
    ) -> TableRows<'a> {
        TableRows {
            touches: Touches::new(events, places, options),
            columns,
            lines: Lines::new(table),
        }
    }

    /// Bytes that the events hold while `rows` more are added, whose values have `text_bytes` bytes.
    pub fn bytes(&self, rows: usize, text_bytes: usize) -> usize {
        self.touches.event_bytes(rows, text_bytes)
    }

    /// Adds a row: the texts of its values in the order of the columns' names; NULL is an empty text.
    ///
    /// # Errors
    /// A message: orders in two currencies of which none was asked for, too many channels or touches.
    pub fn add(&mut self, values: &[&[u8]]) -> Result<(), String> {
        self.lines.count += 1;
        let value = |place: Option<usize>| place.and_then(|place| values.get(place).copied());
        let fields = fields_of(|at| {
            let text = value(self.columns.places[at]);
            text.unwrap_or_default().trim_ascii()
        });
        let Err(refused) = self.touches.add(&fields) else {
            return Ok(());
        };
        self.lines.refuse(refused, self.lines.count, || {
            let texts = values.iter().map(|text| String::from_utf8_lossy(text));
            texts.collect::<Vec<_>>().join(",")
        })
    }

    /// Rows so far.
    pub fn count(&self) -> u64 {
        self.lines.count
    }

    /// How the rows were read, and the number of orders in other currencies.
    pub fn finish(self) -> (Lines, u64) {
        (self.lines, self.touches.other_currencies)
    }
}

#[cfg(test)]
mod tests;

//! Files of maps, `name,channel`, and of factors, `day,transactions,revenue`.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::rows::{Row, Rows, field};
use super::{Amount, Naming, Source};
use crate::attribution::tally::DAY_MS;
use crate::log::LogTime;

/// Adds the maps of a file. Unlike a line of data, a map that cannot be read ends the reading: its channel would be missed in all
/// figures.
///
/// # Errors
/// A message with the line.
pub fn read_maps(source: Source, naming: &mut Naming) -> Result<(), String> {
    let file = source.name.clone();
    let mut rows = Rows::open(source)?;
    let (name, channel) = (rows.column(&["name"]), rows.column(&["channel"]));
    if name.is_none() || channel.is_none() {
        return Err(format!(
            "{file}: the first line names the columns name, channel; it has {}",
            rows.names()
        ));
    }
    loop {
        match rows.next() {
            Row::Record(record, line) => {
                let text = |column| std::str::from_utf8(field(record, column));
                let (Ok(name), Ok(channel)) = (text(name), text(channel)) else {
                    return Err(format!("{file}:{line}: the line is not UTF-8"));
                };
                naming
                    .map(name, channel)
                    .map_err(|why| format!("{file}:{line}: {why}"))?;
            }
            Row::Cut(why) => return Err(format!("{file}: {why}")),
            Row::End => return Ok(()),
        }
    }
}

/// The factors of transactions and revenue by day since 1970.
pub type Factors = HashMap<i64, [Amount; 2], FxBuildHasher>;

/// Reads a file of factors. A line that cannot be read ends the reading: its day would be wrong.
///
/// # Errors
/// A message with the line.
pub fn read_factors(source: Source) -> Result<Factors, String> {
    let file = source.name.clone();
    let mut rows = Rows::open(source)?;
    let columns = ["day", "transactions", "revenue"].map(|name| rows.column(&[name]));
    if columns.contains(&None) {
        return Err(format!(
            "{file}: the first line names the columns day, transactions, revenue; it has {}",
            rows.names()
        ));
    }
    let mut factors = Factors::default();
    loop {
        let (record, line) = match rows.next() {
            Row::Record(record, line) => (record, line),
            Row::Cut(why) => return Err(format!("{file}: {why}")),
            Row::End => return Ok(factors),
        };
        let [day, transactions, revenue] = columns.map(|column| field(record, column));
        let day = LogTime::read_rfc3339(day)
            .filter(|(_, rest)| rest.is_empty() && day.len() == 10)
            .map(|(time, _)| time.local_ms / DAY_MS);
        let factor = |text| Amount::parse(text).map(|written| written.amount);
        let (Some(day), Ok(transactions), Ok(revenue)) =
            (day, factor(transactions), factor(revenue))
        else {
            return Err(format!(
                "{file}:{line}: a line is a day and two factors, such as 2024-06-29,1.05,1.02"
            ));
        };
        if transactions < Amount::ZERO || revenue < Amount::ZERO {
            return Err(format!("{file}:{line}: a factor is not negative"));
        }
        if factors.insert(day, [transactions, revenue]).is_some() {
            return Err(format!("{file}:{line}: the day has factors already"));
        }
    }
}

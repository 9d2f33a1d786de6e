//! `keep=`, `keep_bytes=`, `keep_by=` of a search table: their text form, and their checks in CREATE TABLE.

use relation::schema::ColumnType;

use crate::command::{Definition, Keep, Kind};
use crate::error::{Error, Result};

/// Units of a time, by their seconds, the largest first.
const UNITS: [(u64, char); 4] = [(86_400, 'd'), (3_600, 'h'), (60, 'm'), (1, 's')];

/// The options that are set, each with its value as CREATE TABLE takes it.
pub(crate) fn keep_pairs(keep: &Keep) -> Vec<(&'static str, String)> {
    let seconds = keep.seconds.map(|seconds| ("keep", time(seconds)));
    let bytes = keep.bytes.map(|bytes| ("keep_bytes", bytes.to_string()));
    let by = keep.by.clone().map(|by| ("keep_by", by));
    seconds.into_iter().chain(bytes).chain(by).collect()
}

/// Sets an option as [`keep_pairs`] wrote it. False: the name is none of the three. `None`: the value is not valid.
pub(crate) fn read_keep(keep: &mut Option<Keep>, name: &str, value: &str) -> Option<bool> {
    if !matches!(name, "keep" | "keep_bytes" | "keep_by") {
        return Some(false);
    }
    let keep = keep.get_or_insert_default();
    match name {
        "keep" => keep.seconds = Some(seconds(value)?),
        "keep_bytes" => keep.bytes = Some(value.parse().ok()?),
        _ => keep.by = Some(value.to_owned()),
    }
    Some(true)
}

/// Seconds in the largest unit that gives a whole number: 129,600 is `36h`.
fn time(seconds: u64) -> String {
    let unit = UNITS.iter().find(|(unit, _)| seconds.is_multiple_of(*unit));
    let (unit, letter) = unit.unwrap_or(&(1, 's'));
    format!("{}{letter}", seconds / unit)
}

fn seconds(text: &str) -> Option<u64> {
    let (unit, letter) = UNITS.iter().find(|(_, letter)| text.ends_with(*letter))?;
    let number: u64 = text.strip_suffix(*letter)?.parse().ok()?;
    number.checked_mul(*unit)
}

/// Checks the options, and fills in `keep_by=` where it was left out: the only timestamp column.
///
/// Errors: `Invalid` for another kind of table, for `keep_by=` alone, and without a timestamp column or with several and no
/// `keep_by=`.
pub(super) fn complete_keep(definition: &mut Definition) -> Result<()> {
    let Some(keep) = &mut definition.keep else {
        return Ok(());
    };
    if !matches!(definition.kind, Kind::Search(_)) {
        return Err(Error::invalid(
            "keep=, keep_bytes= and keep_by= belong to search tables",
        ));
    }
    if keep.seconds.is_none() && keep.bytes.is_none() {
        return Err(Error::invalid("keep_by= needs keep= or keep_bytes="));
    }
    let mut times = definition
        .columns
        .iter()
        .filter(|column| column.kind == ColumnType::Timestamp);
    let by = keep.by.as_ref().map(|by| by.to_lowercase());
    let column = match &by {
        Some(by) => times.find(|column| column.name == *by).ok_or_else(|| {
            let what = format!(
                "keep_by='{by}' is no timestamp column of '{}'",
                definition.name
            );
            Error::invalid(what)
        })?,
        None => match (times.next(), times.next()) {
            (Some(only), None) => only,
            (None, _) => {
                return Err(Error::invalid(
                    "keep= and keep_bytes= need a timestamp column that tells how old a row is",
                ));
            }
            (Some(one), Some(other)) => {
                let (one, other) = (&one.name, &other.name);
                let what = format!(
                    "say keep_by='{one}' or keep_by='{other}': which column tells how old a row is"
                );
                return Err(Error::invalid(what));
            }
        },
    };
    keep.by = Some(column.name.clone());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for text in ["30d", "36h", "90m", "61s", "1d"] {
            let seconds = seconds(text).unwrap();
            assert_eq!(time(seconds), text);
        }
        assert_eq!(time(86_400 * 7), "7d");
        assert_eq!(seconds("7"), None);
        assert_eq!(seconds("d"), None);
        assert_eq!(seconds("18446744073709551615d"), None);
    }
}

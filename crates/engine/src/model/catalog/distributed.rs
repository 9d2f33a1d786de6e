//! The checks of CREATE TABLE for `type='distributed'`: its local tables have the same columns and the same analysis.

use super::Catalog;
use super::check::without_keys;
use crate::command::{Definition, Kind};
use crate::error::{Error, Result};
use crate::limits::LOCALS_MAX;

/// Checks the local tables, and fills in their columns and analysis.
///
/// # Errors
/// `NoSuchTable`; `Limit` above [`LOCALS_MAX`]; `Invalid` without a local table, with columns of its own, for a name that is there
/// twice, is no search table, or differs from the first local table, naming the difference.
pub(super) fn check(
    catalog: &Catalog,
    definition: &mut Definition,
    locals: &[String],
) -> Result<()> {
    if !definition.columns.is_empty() {
        return Err(Error::invalid(
            "a distributed table has the columns of its local tables: leave them out",
        ));
    }
    if locals.len() > LOCALS_MAX {
        return Err(Error::Limit {
            what: "local tables of a distributed one",
            max: LOCALS_MAX as u64,
        });
    }
    let Some(first) = locals.first() else {
        return Err(Error::invalid("a distributed table needs local='table'"));
    };
    let first = catalog.named(first)?;
    for (place, name) in locals.iter().enumerate() {
        if locals.iter().take(place).any(|before| before == name) {
            return Err(Error::invalid(format!("local='{name}' is there twice")));
        }
        let local = catalog.named(name)?;
        if !matches!(local.kind, Kind::Search(_)) {
            return Err(Error::invalid(format!(
                "local='{name}' is not a search table"
            )));
        }
        if let Some(difference) = difference(&first, &local) {
            return Err(Error::invalid(format!(
                "local='{name}' differs from local='{}': {difference}",
                first.name
            )));
        }
    }
    definition.columns = without_keys(first.columns.clone());
    definition.analysis = first.analysis.clone();
    Ok(())
}

/// The first difference of two local tables, in words for the error; `None` if rows of both can stand in one answer.
fn difference(one: &Definition, other: &Definition) -> Option<String> {
    let columns = one.columns.iter().zip(&other.columns);
    for (ours, theirs) in columns {
        if ours.name != theirs.name || ours.kind != theirs.kind {
            let (our_type, their_type) = (ours.kind.sql_name(), theirs.kind.sql_name());
            return Some(format!(
                "its column '{}' {their_type} stands where '{}' {our_type} does",
                theirs.name, ours.name
            ));
        }
    }
    let (ours, theirs) = (one.columns.len(), other.columns.len());
    if ours != theirs {
        return Some(format!("it has {theirs} columns and not {ours}"));
    }
    (one.analysis != other.analysis).then(|| "its settings of analysis".to_owned())
}

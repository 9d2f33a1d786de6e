//! The checks of tables that are searched as one, by CREATE TABLE for `type='distributed'` or by `FROM a, b`: they have the same
//! columns and the same analysis.

use std::sync::Arc;

use relation::request::tables_of;

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
    let Some(first) = locals.first() else {
        return Err(Error::invalid("a distributed table needs local='table'"));
    };
    check_alike(catalog, locals, "local=")?;
    let first = catalog.named(first)?;
    definition.columns = without_keys(first.columns.clone());
    definition.analysis = first.analysis.clone();
    Ok(())
}

/// The definition of `FROM a, b`: that of a distributed table over these tables and the parts of those that are distributed.
///
/// # Errors
/// As [`check`].
pub(crate) fn of_several(catalog: &Catalog, name: &str) -> Result<Arc<Definition>> {
    let mut locals = Vec::new();
    for table in tables_of(name) {
        if let Kind::Distributed { locals: parts } = &catalog.named(table)?.kind {
            locals.extend_from_slice(parts);
        } else {
            locals.push(table.to_lowercase());
        }
    }
    check_alike(catalog, &locals, "table ")?;
    let first = catalog.named(locals.first().map_or(name, String::as_str))?;
    Ok(Arc::new(Definition {
        name: name.to_owned(),
        kind: Kind::Distributed { locals },
        columns: without_keys(first.columns.clone()),
        analysis: first.analysis.clone(),
        sync: None,
        keep: None,
    }))
}

/// Checks that the tables can be searched as one. `noun` stands before their names in errors.
fn check_alike(catalog: &Catalog, tables: &[String], noun: &str) -> Result<()> {
    if tables.len() > LOCALS_MAX {
        return Err(Error::Limit {
            what: "tables that are searched as one",
            max: LOCALS_MAX as u64,
        });
    }
    let mut first: Option<Arc<Definition>> = None;
    for (place, name) in tables.iter().enumerate() {
        if tables.iter().take(place).any(|before| before == name) {
            return Err(Error::invalid(format!("{noun}'{name}' is there twice")));
        }
        let table = catalog.named(name)?;
        if !matches!(table.kind, Kind::Search(_)) {
            return Err(Error::invalid(format!(
                "{noun}'{name}' is not a search table"
            )));
        }
        let first = first.get_or_insert_with(|| Arc::clone(&table));
        if let Some(difference) = difference(first, &table) {
            return Err(Error::invalid(format!(
                "{noun}'{name}' differs from {noun}'{}': {difference}",
                first.name
            )));
        }
    }
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

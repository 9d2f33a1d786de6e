//! The checks of CREATE TABLE and ALTER TABLE. They also fill in the parts of a definition that the statement leaves out.

use std::sync::Arc;

use language::analysis::Settings;
use relation::schema::{Column, ColumnType, TEXT_COLUMNS_MAX, TypeFamily, text_names};

use super::Catalog;
use super::keep::complete_keep;
use super::webhook::{self, Webhook, is_address};
use super::{distributed, options, search_options};
use crate::command::{Definition, Kind};
use crate::error::{Error, Result};
use crate::into::Into;
use crate::limits::{COLUMNS_MAX, DEFAULTS_BYTES_MAX, NAME_BYTES_MAX, ON_MAX, TABLES_MAX};

/// The definition as it is stored: names in lower case, the columns of a listening pq table filled in.
pub(crate) fn complete(catalog: &Catalog, asked: Definition) -> Result<Definition> {
    let mut definition = lower_case(asked);
    check_name("table", &definition.name)?;
    if catalog.find(&definition.name).is_ok() {
        return Err(Error::TableExists(definition.name));
    }
    if catalog.len() >= TABLES_MAX {
        return Err(Error::Limit {
            what: "tables",
            max: TABLES_MAX as u64,
        });
    }
    check_keys(&definition)?;
    match definition.kind.clone() {
        Kind::Search(options) => {
            check_columns(&mut definition, true)?;
            search_options::check(options)?;
        }
        Kind::Distributed { locals } => distributed::check(catalog, &mut definition, &locals)?,
        Kind::Percolate {
            on,
            into,
            on_update,
            ..
        } => {
            if on_update && on.is_empty() {
                return Err(Error::invalid(
                    "on_update= needs on=: it names the tables whose UPDATEs are heard",
                ));
            }
            check_columns(&mut definition, true)?;
            check_percolate(catalog, &mut definition, &on, into.as_deref())?;
        }
        Kind::Queue(options) => {
            check_columns(&mut definition, false)?;
            options::check(&definition, &options)?;
        }
    }
    complete_keep(&mut definition)?;
    if definition.columns.is_empty() {
        return Err(Error::invalid("a table needs at least one column"));
    }
    Ok(definition)
}

/// The definition of a queue with other columns, as it is stored. Refused if the columns are not valid, if the hits of a pq table
/// could not fill them, or if rows would no longer go from a queue into that of its `dead=`.
pub(crate) fn check_altered(catalog: &Catalog, mut definition: Definition) -> Result<Definition> {
    check_columns(&mut definition, false)?;
    if definition.columns.is_empty() {
        return Err(Error::invalid("a table needs at least one column"));
    }
    if let Kind::Queue(options) = &definition.kind {
        options::check_columns(&definition, options)?;
        if let Some(dead) = &options.dead {
            options::check_dead(&definition, &*catalog.named(dead)?)?;
        }
    }
    for (_, other) in catalog.iter() {
        if let Kind::Queue(options) = &other.kind
            && options.dead.as_ref() == Some(&definition.name)
        {
            options::check_dead(other, &definition)?;
        }
        let Kind::Percolate { on, into, .. } = &other.kind else {
            continue;
        };
        let queue = Webhook::of(other).map(|webhook| webhook.queue);
        if queue.as_ref().or(into.as_ref()) != Some(&definition.name) {
            continue;
        }
        for name in on {
            Into::resolve(&definition, &*catalog.named(name)?)?;
        }
        if on.is_empty() {
            Into::resolve(&definition, other)?;
        }
    }
    Ok(definition)
}

/// The definition of a search or pq table with other columns, as it is stored. Refused, by name, if a table that names it could not go
/// on as it is. `gone`: the columns that it has no longer under their name and type.
pub(crate) fn check_altered_documents(
    catalog: &Catalog,
    mut definition: Definition,
    gone: &[String],
) -> Result<Definition> {
    check_columns(&mut definition, true)?;
    check_keys(&definition)?;
    if definition.columns.is_empty() {
        return Err(Error::invalid("a table needs at least one column"));
    }
    if let Some(by) = definition.keep.as_ref().and_then(|keep| keep.by.as_ref())
        && gone.contains(by)
    {
        return Err(Error::invalid(format!(
            "the column '{by}' tells the age of rows (keep_by): it cannot be dropped, renamed or changed"
        )));
    }
    complete_keep(&mut definition)?;
    if let Kind::Percolate { on, into, .. } = definition.kind.clone() {
        check_percolate(catalog, &mut definition, &on, into.as_deref())?;
    }
    for (_, other) in catalog.iter() {
        if let Kind::Distributed { locals } = &other.kind
            && locals.contains(&definition.name)
        {
            return Err(Error::TableInUse {
                table: definition.name,
                by: other.name.clone(),
            });
        }
        let Kind::Percolate { on, into, .. } = &other.kind else {
            continue;
        };
        if on.contains(&definition.name) {
            check_heard(&definition, other, gone)?;
        }
        if into.as_ref() == Some(&definition.name) {
            for name in on {
                Into::resolve(&definition, &*catalog.named(name)?)?;
            }
            if on.is_empty() {
                Into::resolve(&definition, other)?;
            }
        }
    }
    Ok(definition)
}

/// Refuses other columns of a table that the pq table `other` hears: its queries were read in the columns of before.
fn check_heard(definition: &Definition, other: &Definition, gone: &[String]) -> Result<()> {
    let heard = |name: &&String| other.columns.iter().any(|column| column.name == **name);
    if let Some(name) = gone.iter().find(heard) {
        return Err(Error::invalid(format!(
            "the pq table '{}' hears '{}' and its column '{name}': drop it first",
            other.name, definition.name
        )));
    }
    if text_names(&definition.columns) != text_names(&other.columns) {
        return Err(Error::invalid(format!(
            "the pq table '{}' hears '{}', so its text columns must stay: drop it first",
            other.name, definition.name
        )));
    }
    Ok(())
}

/// The definition of a distributed table with other local tables, as it is stored: it has their columns and analysis. Errors: as
/// CREATE TABLE.
pub(crate) fn check_parts(
    catalog: &Catalog,
    distributed: &Definition,
    locals: &[String],
) -> Result<Definition> {
    let locals: Vec<String> = locals.iter().map(|name| name.to_lowercase()).collect();
    let mut definition = Definition {
        kind: Kind::Distributed {
            locals: locals.clone(),
        },
        columns: Vec::new(),
        ..distributed.clone()
    };
    distributed::check(catalog, &mut definition, &locals)?;
    Ok(definition)
}

fn lower_case(mut definition: Definition) -> Definition {
    definition.name = definition.name.to_lowercase();
    for column in &mut definition.columns {
        column.name = column.name.to_lowercase();
    }
    if let Kind::Queue(options) = &mut definition.kind {
        options::lower_case(options);
    }
    if let Kind::Distributed { locals } = &mut definition.kind {
        for name in locals {
            *name = name.to_lowercase();
        }
    }
    if let Kind::Percolate { on, into, .. } = &mut definition.kind {
        let into = into.iter_mut().filter(|into| !is_address(into));
        for name in on.iter_mut().chain(into) {
            *name = name.to_lowercase();
        }
    }
    definition
}

pub(super) fn check_name(what: &str, name: &str) -> Result<()> {
    if name.is_empty()
        || name
            .bytes()
            .any(|byte| byte.is_ascii_control() || byte == b'`')
    {
        return Err(Error::invalid(format!(
            "'{name}' cannot be the name of a {what}"
        )));
    }
    if name.len() > NAME_BYTES_MAX {
        return Err(Error::Limit {
            what: "bytes of a name",
            max: NAME_BYTES_MAX as u64,
        });
    }
    Ok(())
}

/// Names, types and defaults. `documents`: a table of documents, where `id` is implied.
fn check_columns(definition: &mut Definition, documents: bool) -> Result<()> {
    if documents {
        drop_implied_id(&mut definition.columns)?;
    }
    let columns = &mut definition.columns;
    if columns.len() > COLUMNS_MAX {
        return Err(Error::Limit {
            what: "columns",
            max: COLUMNS_MAX as u64,
        });
    }
    let texts = columns
        .iter()
        .filter(|column| column.kind == ColumnType::Text)
        .count();
    if documents && texts > TEXT_COLUMNS_MAX {
        return Err(Error::Limit {
            what: "text columns",
            max: TEXT_COLUMNS_MAX as u64,
        });
    }
    for index in 0..columns.len() {
        let (before, rest) = columns.split_at_mut(index);
        let Some(column) = rest.first_mut() else {
            break;
        };
        check_name("column", &column.name)?;
        if before.iter().any(|other| other.name == column.name) {
            return Err(Error::invalid(format!("column '{}' twice", column.name)));
        }
        check_default(column)?;
    }
    let defaults = columns.iter().filter_map(|column| column.default.as_ref());
    let texts = defaults.filter_map(|default| default.text_bytes());
    if texts.map(<[u8]>::len).sum::<usize>() > DEFAULTS_BYTES_MAX {
        return Err(Error::Limit {
            what: "bytes of the defaults of a table",
            max: DEFAULTS_BYTES_MAX as u64,
        });
    }
    Ok(())
}

/// Takes `id` out of the columns of a search or pq table, which have it anyway. Errors: `Invalid` if it is not a whole number.
fn drop_implied_id(columns: &mut Vec<Column>) -> Result<()> {
    let Some(place) = columns.iter().position(|column| column.name == "id") else {
        return Ok(());
    };
    if columns[place].kind.family() != TypeFamily::Whole {
        return Err(Error::invalid("column 'id' is a whole number"));
    }
    columns.remove(place);
    Ok(())
}

/// Errors: `NotYet` for a KEY in a table that is no search table; `Invalid` for a column that cannot have one.
fn check_keys(definition: &Definition) -> Result<()> {
    let keyed = definition.columns.iter().filter(|column| column.keyed);
    for column in keyed {
        if !matches!(definition.kind, Kind::Search(_)) {
            return Err(Error::NotYet {
                what: "KEY in a table that is no search table (leave it out)".to_owned(),
            });
        }
        if !column.kind.takes_key() {
            return Err(Error::invalid(format!(
                "KEY ({}): {} has no key, only integers and strings have",
                column.name,
                column.kind.sql_name()
            )));
        }
    }
    Ok(())
}

/// The columns of a search table for a table that has no look-up index of its own.
pub(super) fn without_keys(mut columns: Vec<Column>) -> Vec<Column> {
    for column in &mut columns {
        column.keyed = false;
    }
    columns
}

/// Turns a default into the form in which the column stores it. Errors: `Invalid` if the column cannot hold it.
pub(crate) fn check_default(column: &mut Column) -> Result<()> {
    let Some(default) = column.default.take() else {
        return Ok(());
    };
    if default == relation::value::Value::Null {
        return Ok(()); // as without a default
    }
    let accepted = column.kind.accept(default);
    let wrong = |_| {
        Error::invalid(format!(
            "invalid default value for column '{}'",
            column.name
        ))
    };
    column.default = Some(accepted.map_err(wrong)?);
    Ok(())
}

fn check_percolate(
    catalog: &Catalog,
    definition: &mut Definition,
    on: &[String],
    into: Option<&str>,
) -> Result<()> {
    if on.len() > ON_MAX {
        return Err(Error::Limit {
            what: "tables in on=",
            max: ON_MAX as u64,
        });
    }
    let mut listened = Vec::with_capacity(on.len());
    for (place, name) in on.iter().enumerate() {
        if on.iter().take(place).any(|before| before == name) {
            return Err(Error::invalid(format!("on= names '{name}' twice")));
        }
        let table = catalog.named(name)?;
        if !matches!(table.kind, Kind::Search(_)) {
            return Err(Error::invalid(format!("on='{name}' is not a search table")));
        }
        listened.push(table);
    }
    let Some((first, others)) = listened.split_first() else {
        // Its own columns are those of the rows that it hears.
        let own = Arc::new(definition.clone());
        return into.map_or(Ok(()), |into| {
            check_into(catalog, definition, on, into, &[own])
        });
    };
    let common = common_columns(first, others)?;
    check_analysis(definition, first, others)?;
    let columns = &definition.columns;
    let fits =
        columns.len() == common.len() && columns.iter().zip(&common).all(|(a, b)| is_same(a, b));
    if !columns.is_empty() && !fits {
        let on = on.join(",");
        return Err(Error::invalid(format!(
            "the columns differ from those of on='{on}': leave them out"
        )));
    }
    definition.columns = without_keys(common);
    into.map_or(Ok(()), |into| {
        check_into(catalog, definition, on, into, &listened)
    })
}

/// Checks that the hits of documents with the columns of each of `heard` can go where `into=` says.
fn check_into(
    catalog: &Catalog,
    definition: &Definition,
    on: &[String],
    into: &str,
    heard: &[Arc<Definition>],
) -> Result<()> {
    if let Some(webhook) = Webhook::of(definition) {
        return webhook::check(&webhook);
    }
    let target = catalog.named(into)?;
    match &target.kind {
        Kind::Queue(options) if options.unique_by.is_some() => {
            return Err(Error::invalid(format!(
                "into='{into}' has unique_by=, which hits do not go through"
            )));
        }
        Kind::Queue(_) => {}
        Kind::Search(_) => check_no_circle(catalog, on, into)?,
        Kind::Percolate { .. } | Kind::Distributed { .. } => {
            return Err(Error::invalid(format!(
                "into='{into}' is neither a queue nor a search table"
            )));
        }
    }
    heard
        .iter()
        .try_for_each(|table| Into::resolve(&target, table).map(drop))
}

/// The columns of `first` that every other table has too, by name and type. Refuses tables whose text columns differ in name or
/// order: a query would mean something else in each.
fn common_columns(first: &Definition, others: &[Arc<Definition>]) -> Result<Vec<Column>> {
    let texts = text_names(&first.columns);
    for other in others {
        if text_names(&other.columns) != texts {
            let (first, other) = (&first.name, &other.name);
            return Err(Error::invalid(format!(
                "on='{first},{other}': their text columns differ"
            )));
        }
    }
    let everywhere = |column: &&Column| {
        others
            .iter()
            .all(|other| other.columns.iter().any(|theirs| is_same(column, theirs)))
    };
    Ok(first.columns.iter().filter(everywhere).cloned().collect())
}

/// Refuses a pq table whose hits would become documents that it listens to, directly or through other pq tables. Such hits would
/// never end.
fn check_no_circle(catalog: &Catalog, on: &[String], into: &str) -> Result<()> {
    let mut fed = vec![into.to_owned()];
    let mut next = 0;
    while let Some(table) = fed.get(next).cloned() {
        next += 1;
        if on.contains(&table) {
            return Err(Error::invalid(format!(
                "into='{into}' feeds on='{table}': hits would lead to hits without end"
            )));
        }
        let mut targets = Vec::new();
        for (_, definition) in catalog.iter() {
            if let Kind::Percolate { on, into, .. } = &definition.kind
                && on.contains(&table)
            {
                targets.extend(into.clone());
            }
        }
        targets.retain(|target| !fed.contains(target));
        fed.extend(targets);
    }
    Ok(())
}

/// Checks that all listened tables have the same analysis, and gives it to the pq table. Errors: `Invalid`, also if the pq table
/// sets another analysis.
fn check_analysis(
    definition: &mut Definition,
    first: &Definition,
    others: &[Arc<Definition>],
) -> Result<()> {
    if let Some(other) = others.iter().find(|other| other.analysis != first.analysis) {
        let (first, other) = (&first.name, &other.name);
        return Err(Error::invalid(format!(
            "on='{first},{other}': their settings of analysis differ"
        )));
    }
    if definition.analysis != Settings::default() && definition.analysis != first.analysis {
        let on = &first.name;
        return Err(Error::invalid(format!(
            "the settings of analysis differ from those of on='{on}': leave them out"
        )));
    }
    definition.analysis = first.analysis.clone();
    Ok(())
}

fn is_same(ours: &Column, theirs: &Column) -> bool {
    ours.name == theirs.name && ours.kind == theirs.kind
}

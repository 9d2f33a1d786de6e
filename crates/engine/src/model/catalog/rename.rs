//! RENAME TABLE: new names are checked as a whole, and what names a renamed table follows it.
//!
//! # Example
//! `RENAME TABLE t TO old, new TO t` of the tables 1, `t`, and 2, `new`: the renames go from left to right over the names, so
//! `t` is free when the second one asks for it. The outcome is 1 → `old`, 2 → `t`. A pq table with `on='t'` listens to table 1
//! as before, so it becomes `on='old'`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::check::check_name;
use super::{Catalog, TableId, Webhook};
use crate::command::{Definition, Kind};
use crate::error::{Error, Result};
use crate::limits::RENAMED_TABLES_MAX;

/// The tables whose names change, by number, each with its new name in lower case. Renames that end where they began are left out.
///
/// # Errors
/// `NoSuchTable` and `TableExists`, as the names are when the renames before it are done; `Limit`; `Invalid` for a name that no
/// table can have, and for a pq table that sends hits to an address; `TableInUse` for a queue of such hits.
pub(crate) fn check_rename(
    catalog: &Catalog,
    renames: &[(String, String)],
) -> Result<Vec<(TableId, String)>> {
    if renames.len() > RENAMED_TABLES_MAX {
        return Err(Error::Limit {
            what: "tables in one RENAME",
            max: RENAMED_TABLES_MAX as u64,
        });
    }
    let mut names = catalog.names.clone();
    let mut moved = BTreeMap::new();
    for (from, to) in renames {
        let (from, to) = (from.to_lowercase(), to.to_lowercase());
        check_name("table", &to)?;
        let found = names.get(&from).copied();
        let table = found.ok_or_else(|| Error::NoSuchTable(from.clone()))?;
        check_free_of_webhooks(catalog, table)?;
        if names.contains_key(&to) {
            return Err(Error::TableExists(to));
        }
        names.remove(&from);
        names.insert(to.clone(), table);
        moved.insert(table, to);
    }
    let is_new = |(table, name): &(TableId, String)| {
        let definition = catalog.get(*table);
        definition.is_none_or(|definition| definition.name != *name)
    };
    Ok(moved.into_iter().filter(is_new).collect())
}

/// The queues before a webhook are found by the name of their pq table.
fn check_free_of_webhooks(catalog: &Catalog, table: TableId) -> Result<()> {
    let Some(renamed) = catalog.get(table) else {
        return Ok(());
    };
    if let Some(webhook) = Webhook::of(renamed) {
        return Err(Error::invalid(format!(
            "'{}' sends its hits to an address: its queues '{}' and '{}' bear its name, so it keeps it",
            webhook.table, webhook.queue, webhook.dead
        )));
    }
    for (_, other) in catalog.iter() {
        if let Some(webhook) = Webhook::of(other)
            && (webhook.queue == renamed.name || webhook.dead == renamed.name)
        {
            return Err(Error::TableInUse {
                table: renamed.name.clone(),
                by: webhook.table,
            });
        }
    }
    Ok(())
}

impl Catalog {
    /// Gives tables new names, all at once, and rewrites the names in definitions that name them. Numbers without a table are
    /// skipped. Answer: the tables whose definitions changed.
    pub(crate) fn rename(&mut self, renamed: &[(TableId, String)]) -> Vec<TableId> {
        let old_name = |(table, new): &(TableId, String)| {
            let definition = self.tables.get(table)?;
            Some((definition.name.clone(), new.clone()))
        };
        let names: BTreeMap<String, String> = renamed.iter().filter_map(old_name).collect();
        let mut changed = Vec::new();
        for (table, definition) in &mut self.tables {
            if let Some(follows) = following(definition, &names) {
                *definition = Arc::new(follows);
                changed.push(*table);
            }
        }
        let of_table =
            |(table, definition): (&TableId, &Arc<Definition>)| (definition.name.clone(), *table);
        self.names = self.tables.iter().map(of_table).collect();
        changed
    }
}

/// The definition with the new names; `None` if it has none of the old ones.
fn following(definition: &Definition, names: &BTreeMap<String, String>) -> Option<Definition> {
    let mut follows = definition.clone();
    let mut any = false;
    let mut follow = |name: &mut String| {
        if let Some(new) = names.get(name) {
            name.clone_from(new);
            any = true;
        }
    };
    follow(&mut follows.name);
    match &mut follows.kind {
        Kind::Search(_) => {}
        Kind::Distributed { locals } => locals.iter_mut().for_each(&mut follow),
        // An address in `into=` is no name of a table.
        Kind::Percolate { on, into, .. } => on.iter_mut().chain(into).for_each(&mut follow),
        Kind::Queue(options) => options.dead.iter_mut().for_each(&mut follow),
    }
    any.then_some(follows)
}

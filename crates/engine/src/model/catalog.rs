//! The catalog: the definition of each table, by number and by name, and the checks of CREATE, ALTER and DROP.
//!
//! The engine's thread owns it. Readers get a copy in each snapshot whose batch changed a definition. The manifest holds it; the
//! journal's `Create`, `Drop`, `Alter`, `Rename` and `Parts` records above the manifest bring it up to date.
//!
//! Example: `CREATE TABLE a …` gives number 1, `DROP TABLE a` frees the name, and a second `CREATE TABLE a …` gives number 2. The
//! folder of table 1 may still be there, and records of table 1 may still be replayed; neither is taken for the new `a`.

mod check;
mod distributed;
mod keep;
mod options;
mod rename;
mod search_options;
mod show;
mod webhook;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

pub(crate) use check::{
    check_altered, check_altered_documents, check_default, check_parts, complete,
};
pub(crate) use distributed::of_several;
pub(crate) use keep::{keep_pairs, read_keep};
pub(crate) use options::missing_dead;
pub(crate) use rename::check_rename;
pub(crate) use search_options::shards;
pub(crate) use show::{settings, show_create};
pub use webhook::Webhook;
pub(crate) use webhook::{missing_queues, warnings};

use crate::command::{Definition, Kind};
use crate::error::{Error, Result};

/// The option of a pq table that hears UPDATE.
const ON_UPDATE: &str = "on_update";

/// The options of a table that are set, each with its value as CREATE TABLE takes it.
pub(crate) fn pairs(kind: &Kind) -> Vec<(&'static str, String)> {
    match kind {
        Kind::Search(options) => search_options::pairs(*options),
        Kind::Queue(options) => options::pairs(options),
        Kind::Percolate { on_update, .. } => {
            let set = on_update.then(|| (ON_UPDATE, "1".to_owned()));
            set.into_iter().collect()
        }
        Kind::Distributed { .. } => Vec::new(),
    }
}

/// Sets an option as [`pairs`] wrote it; false for another name, `None` for a value that is none.
pub(crate) fn read_option(kind: &mut Kind, name: &str, value: &str) -> Option<bool> {
    match kind {
        Kind::Search(options) => search_options::read(options, name, value),
        Kind::Queue(options) => options::read_option(options, name, value),
        Kind::Percolate { on_update, .. } if name == ON_UPDATE => {
            *on_update = value == "1";
            on_update.then_some(true)
        }
        Kind::Percolate { .. } | Kind::Distributed { .. } => Some(false),
    }
}

/// A table's number. From 1, never used twice in one data directory, so a record of a dropped table is never taken
/// for one of a later table of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TableId(pub(crate) u32);

impl fmt::Display for TableId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Every table's definition, by number and by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Catalog {
    tables: BTreeMap<TableId, Arc<Definition>>,
    names: BTreeMap<String, TableId>,
    /// The highest number ever given. It never falls, so no number is given twice.
    pub(crate) highest: u32,
}

impl Catalog {
    /// Adds a table under a number that is not in use.
    pub(crate) fn insert(&mut self, table: TableId, definition: Arc<Definition>) {
        self.highest = self.highest.max(table.0);
        self.names.insert(definition.name.clone(), table);
        self.tables.insert(table, definition);
    }

    /// Removes a table; its number stays used.
    pub(crate) fn remove(&mut self, table: TableId) {
        if let Some(definition) = self.tables.remove(&table) {
            self.names.remove(&definition.name);
        }
    }

    /// The table of that name, in any case.
    pub(crate) fn find(&self, name: &str) -> Result<TableId> {
        let found = self
            .names
            .get(name)
            .or_else(|| self.names.get(&name.to_lowercase()));
        found
            .copied()
            .ok_or_else(|| Error::NoSuchTable(name.to_lowercase()))
    }

    pub(crate) fn get(&self, table: TableId) -> Option<&Arc<Definition>> {
        self.tables.get(&table)
    }

    /// The table of that name in any case.
    ///
    /// # Errors
    /// `NoSuchTable`.
    pub(crate) fn named(&self, name: &str) -> Result<Arc<Definition>> {
        let found = self.get(self.find(name)?).cloned();
        found.ok_or_else(|| Error::NoSuchTable(name.to_owned()))
    }

    /// Every table, by number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (TableId, &Arc<Definition>)> {
        self.tables
            .iter()
            .map(|(table, definition)| (*table, definition))
    }

    pub(crate) fn len(&self) -> usize {
        self.tables.len()
    }

    /// The pq tables that listen to a search table, by number.
    pub(crate) fn listeners(&self, name: &str) -> Vec<TableId> {
        let listens = |definition: &Definition| matches!(&definition.kind, Kind::Percolate { on, .. } if on.iter().any(|on| on == name));
        self.iter()
            .filter(|(_, definition)| listens(definition))
            .map(|(table, _)| table)
            .collect()
    }

    /// The names in an order in which each table is dropped before those that it names.
    ///
    /// # Errors
    /// `TableInUse`: one is named by a table that is not among them.
    pub(crate) fn drop_order(&self, mut names: Vec<String>) -> Result<Vec<String>> {
        let mut gone: Vec<String> = Vec::with_capacity(names.len());
        while let Some(first) = names.first() {
            let unused = |name: &String| self.check_unused(name, &gone).is_ok();
            let Some(next) = names.iter().position(unused) else {
                self.check_unused(first, &gone)?;
                break;
            };
            gone.push(names.remove(next));
        }
        Ok(gone)
    }

    /// Refuses a DROP of a table that another one names, unless that one is `gone`.
    fn check_unused(&self, name: &str, gone: &[String]) -> Result<()> {
        for (_, definition) in self.iter() {
            if gone.contains(&definition.name) {
                continue;
            }
            if let Kind::Queue(options) = &definition.kind
                && options.dead.as_deref() == Some(name)
            {
                return Err(Error::TableInUse {
                    table: name.to_owned(),
                    by: definition.name.clone(),
                });
            }
            if let Kind::Distributed { locals } = &definition.kind
                && locals.iter().any(|local| local == name)
            {
                return Err(Error::TableInUse {
                    table: name.to_owned(),
                    by: definition.name.clone(),
                });
            }
            let Kind::Percolate { on, into, .. } = &definition.kind else {
                continue;
            };
            let webhook = Webhook::of(definition);
            let queues = webhook
                .iter()
                .flat_map(|webhook| [&webhook.queue, &webhook.dead]);
            if on
                .iter()
                .chain(into)
                .chain(queues)
                .any(|named| named == name)
            {
                return Err(Error::TableInUse {
                    table: name.to_owned(),
                    by: definition.name.clone(),
                });
            }
        }
        Ok(())
    }
}

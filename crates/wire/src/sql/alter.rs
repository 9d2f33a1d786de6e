//! ALTER TABLE: adds, drops, changes and renames columns and keys. The text does not tell whether the table is a queue, in which
//! types have other names, so it is read as both.

use relation::lexer::TokenKind;
use relation::request::{Change, ColumnPlace};

use super::parser::{OBJECTS_LATER, Parser, Result};
use super::statement::Statement;

/// Other changes that MySQL and Manticore know.
const LATER: [&str; 19] = [
    "algorithm",
    "alter",
    "auto_increment",
    "character",
    "collate",
    "comment",
    "convert",
    "default",
    "disable",
    "discard",
    "enable",
    "engine",
    "force",
    "killlist_target",
    "lock",
    "order",
    "partition",
    "rebuild",
    "reconfigure",
];

impl Parser<'_> {
    /// Parses ALTER TABLE, from behind ALTER.
    pub(super) fn alter(&mut self) -> Result<Statement> {
        self.take_word("ignore");
        if !self.take_word("table") {
            return Err(self.refused_word("ALTER", &OBJECTS_LATER, "TABLE"));
        }
        let table = self.table()?;
        if self.at_any(&["local", "agent"]) {
            return self.locals(table);
        }
        let mut renamed = self.clone();
        if renamed.take_word("rename") && !renamed.at_word("column") {
            *self = renamed;
            return self.renamed(table);
        }
        let mut as_queue = self.clone();
        let of_queue = as_queue.changes(true);
        let of_documents = self.changes(false);
        match (of_queue, of_documents) {
            (Err(error), Err(_)) => Err(error),
            (of_queue, of_documents) => Ok(Statement::AlterTable {
                table,
                of_queue,
                of_documents,
            }),
        }
    }

    /// The changes up to the end, in the types of a queue or of another table.
    fn changes(&mut self, is_queue: bool) -> Result<Vec<Change>> {
        let mut changes = Vec::new();
        loop {
            self.change(is_queue, &mut changes)?;
            self.listed(changes.len())?;
            if !self.take(TokenKind::Comma) {
                break;
            }
        }
        self.end()?;
        Ok(changes)
    }

    /// Parses `local='a' local='b'` or `local='a,b'` with or without commas, from the first `local`.
    fn locals(&mut self, table: String) -> Result<Statement> {
        let mut locals = Vec::new();
        while !self.at_end() {
            if self.at_word("agent") {
                return Err(self.not_yet("agent=: tables on other servers"));
            }
            self.expect_word("local")?;
            self.take(TokenKind::Equal);
            let written = self.word_or_string("the name of a search table")?;
            let names = written.split(',').map(|name| name.trim().to_lowercase());
            locals.extend(names);
            self.listed(locals.len())?;
            self.take(TokenKind::Comma);
        }
        self.end()?;
        Ok(Statement::AlterLocals { table, locals })
    }

    /// Parses the new name of ALTER TABLE … RENAME, from behind RENAME.
    fn renamed(&mut self, table: String) -> Result<Statement> {
        if self.at_any(&["index", "key"]) {
            return Err(self.refused_word("ALTER TABLE … RENAME", &["index", "key"], "TO"));
        }
        if !self.take_any(&["to", "as"]) {
            self.take(TokenKind::Equal);
        }
        let new = self.table()?;
        self.end()?;
        Ok(Statement::RenameTables(vec![(table, new)]))
    }

    /// Parses RENAME TABLE, from behind RENAME.
    pub(super) fn rename(&mut self) -> Result<Statement> {
        if !self.take_any(&["table", "tables"]) {
            return Err(self.refused_word("RENAME", &OBJECTS_LATER, "TABLE"));
        }
        let mut renames = Vec::new();
        loop {
            let table = self.table()?;
            self.expect_word("to")?;
            renames.push((table, self.table()?));
            self.listed(renames.len())?;
            if !self.take(TokenKind::Comma) {
                break;
            }
        }
        self.end()?;
        Ok(Statement::RenameTables(renames))
    }

    fn change(&mut self, is_queue: bool, changes: &mut Vec<Change>) -> Result<()> {
        if self.take_word("add") {
            if let Some(change) = self.added_key(is_queue)? {
                changes.push(change);
                return Ok(());
            }
            self.take_word("column");
            return self.added(is_queue, changes);
        }
        if self.take_word("drop") {
            changes.push(self.dropped(is_queue)?);
            return Ok(());
        }
        if self.take_word("rename") {
            self.expect_word("column")?;
            let from = self.column()?;
            self.expect_word("to")?;
            let to = self.column()?;
            changes.push(Change::Rename { from, to });
            return Ok(());
        }
        let changed = self.take_word("change");
        if !changed && !self.take_word("modify") {
            return Err(self.refused_word("ALTER TABLE …", &LATER, "ADD, DROP, MODIFY or RENAME"));
        }
        self.take_word("column");
        let from = if changed { Some(self.column()?) } else { None };
        let column = self.altered_column(is_queue)?;
        if let Some(from) = from.filter(|from| *from != column.name) {
            let to = column.name.clone();
            changes.push(Change::Rename { from, to });
        }
        if self.at_any(&["first", "after"]) {
            return Err(self.not_yet("another place for a column"));
        }
        changes.push(Change::Modify { column });
        Ok(())
    }

    /// A key behind ADD; `None` at a column.
    fn added_key(&mut self, is_queue: bool) -> Result<Option<Change>> {
        let Some(key) = self.key()? else {
            self.refuse_key()?;
            return Ok(None);
        };
        if is_queue || key.word == "PRIMARY KEY" {
            return Err(self.no_key(key.position, key.word));
        }
        let (name, keyed) = (key.column, true);
        Ok(Some(Change::Key { name, keyed }))
    }

    /// The column or key behind DROP. A key has the name of its column.
    fn dropped(&mut self, is_queue: bool) -> Result<Change> {
        let position = self.position();
        if self.take_any(&["key", "index"]) {
            if is_queue {
                return Err(self.no_key(position, "KEY"));
            }
            let (name, keyed) = (self.column()?, false);
            return Ok(Change::Key { name, keyed });
        }
        self.refuse_key()?;
        self.take_word("column");
        let name = self.column()?;
        Ok(Change::Drop { name })
    }

    /// Parses one added column with its position, or several in brackets.
    fn added(&mut self, is_queue: bool, changes: &mut Vec<Change>) -> Result<()> {
        if self.take(TokenKind::Open) {
            loop {
                let column = self.altered_column(is_queue)?;
                let place = ColumnPlace::Last;
                changes.push(Change::Add { column, place });
                self.listed(changes.len())?;
                if self.take(TokenKind::Close) {
                    return Ok(());
                }
                self.expect(TokenKind::Comma, "`,` or `)`")?;
            }
        }
        let column = self.altered_column(is_queue)?;
        let place = if self.take_word("first") {
            ColumnPlace::First
        } else if self.take_word("after") {
            ColumnPlace::After(self.column()?)
        } else {
            ColumnPlace::Last
        };
        changes.push(Change::Add { column, place });
        Ok(())
    }
}

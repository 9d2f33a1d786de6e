//! ALTER TABLE: adds, drops and changes columns. Only queues can be altered, so types have their meaning in a queue.

use query::lexer::TokenKind;
use query::request::{Change, ColumnPlace};

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
        if self.take_word("rename") {
            return self.renamed(table);
        }
        let mut changes = Vec::new();
        loop {
            self.change(&mut changes)?;
            self.listed(changes.len())?;
            if !self.take(TokenKind::Comma) {
                break;
            }
        }
        self.end()?;
        Ok(Statement::AlterTable { table, changes })
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
        if self.at_any(&["column", "index", "key"]) {
            return Err(self.refused_word(
                "ALTER TABLE … RENAME",
                &["column", "index", "key"],
                "TO",
            ));
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

    fn change(&mut self, changes: &mut Vec<Change>) -> Result<()> {
        if self.take_word("add") {
            self.refuse_altered_key()?;
            self.take_word("column");
            return self.added(changes);
        }
        if self.take_word("drop") {
            self.refuse_altered_key()?;
            self.take_word("column");
            let name = self.column()?;
            changes.push(Change::Drop { name });
            return Ok(());
        }
        let changed = self.take_word("change");
        if !changed && !self.take_word("modify") {
            return Err(self.refused_word("ALTER TABLE …", &LATER, "ADD, DROP or MODIFY"));
        }
        self.take_word("column");
        let old = if changed { Some(self.column()?) } else { None };
        let column = self.queue_column()?;
        if old.is_some_and(|old| old != column.name) {
            return Err(self.not_yet("CHANGE of a column's name"));
        }
        if self.at_any(&["first", "after"]) {
            return Err(self.not_yet("another place for a column"));
        }
        changes.push(Change::Modify { column });
        Ok(())
    }

    /// Parses one added column with its position, or several in brackets.
    fn added(&mut self, changes: &mut Vec<Change>) -> Result<()> {
        if self.take(TokenKind::Open) {
            loop {
                let column = self.queue_column()?;
                let place = ColumnPlace::Last;
                changes.push(Change::Add { column, place });
                self.listed(changes.len())?;
                if self.take(TokenKind::Close) {
                    return Ok(());
                }
                self.expect(TokenKind::Comma, "`,` or `)`")?;
            }
        }
        let column = self.queue_column()?;
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

//! ALTER TABLE: columns come, go and change. Types are those of a queue, the one kind of table that can be altered.

use query::lexer::TokenKind;
use query::request::{Change, Place};

use super::parser::{Parser, Result};
use super::statement::Statement;

impl Parser<'_> {
    /// Behind ALTER.
    pub(super) fn alter(&mut self) -> Result<Statement> {
        self.take_word("ignore");
        if !self.take_word("table") {
            let what = String::from_utf8_lossy(self.peek_bytes()).to_uppercase();
            return Err(self.not_yet(format!("ALTER {what}")));
        }
        let table = self.table()?;
        let mut changes = Vec::new();
        loop {
            self.change(&mut changes)?;
            if !self.take(TokenKind::Comma) {
                break;
            }
        }
        self.end()?;
        Ok(Statement::AlterTable { table, changes })
    }

    fn change(&mut self, changes: &mut Vec<Change>) -> Result<()> {
        if self.take_word("add") {
            self.refuse_key()?;
            self.take_word("column");
            return self.added(changes);
        }
        if self.take_word("drop") {
            self.refuse_key()?;
            self.take_word("column");
            let name = self.column()?;
            changes.push(Change::Drop { name });
            return Ok(());
        }
        let changed = self.take_word("change");
        if !changed && !self.take_word("modify") {
            if matches!(self.peek(), TokenKind::Word) {
                let what = String::from_utf8_lossy(self.peek_bytes()).to_uppercase();
                return Err(self.not_yet(format!("ALTER TABLE … {what}")));
            }
            return Err(self.unexpected("ADD, DROP or MODIFY"));
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

    /// One column with its place, or several in brackets.
    fn added(&mut self, changes: &mut Vec<Change>) -> Result<()> {
        if self.take(TokenKind::Open) {
            loop {
                let column = self.queue_column()?;
                let place = Place::Last;
                changes.push(Change::Add { column, place });
                if self.take(TokenKind::Close) {
                    return Ok(());
                }
                self.expect(TokenKind::Comma, "`,` or `)`")?;
            }
        }
        let column = self.queue_column()?;
        let place = if self.take_word("first") {
            Place::First
        } else if self.take_word("after") {
            Place::After(self.column()?)
        } else {
            Place::Last
        };
        changes.push(Change::Add { column, place });
        Ok(())
    }
}

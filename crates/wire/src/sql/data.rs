//! UPDATE, DELETE and TRUNCATE.

use relation::lexer::TokenKind;
use relation::request::{Assignment, Delete, Update, UpdateOptions};

use super::parser::{Parser, Result};
use super::select::limit_of;
use super::statement::Statement;

impl Parser<'_> {
    /// Parses DELETE, from behind that word.
    pub(super) fn delete(&mut self) -> Result<Statement> {
        while self.take_any(&["low_priority", "quick"]) {}
        self.expect_word("from")?;
        let table = self.table()?;
        let alias = match self.at_word("using") {
            true => None,
            false => self.table_alias()?,
        };
        if self.at_any(&["using", "join", "inner", "left"]) || self.peek() == TokenKind::Comma {
            return Err(self.not_yet("DELETE over several tables"));
        }
        // An alias needs a WHERE: a mistyped WHERE would be an alias, and the statement would delete every row.
        if alias.is_some() && !self.at_word("where") {
            return Err(self.unexpected("WHERE"));
        }
        self.tables = [table.clone()].into_iter().chain(alias).collect();
        let (matching, filter) = self.filter()?;
        let order = self.order(&[])?;
        let limit = limit_of(self)?;
        if self.at_word("option") {
            return Err(self.not_yet("DELETE … OPTION"));
        }
        self.end()?;
        Ok(Statement::Delete(Delete {
            table,
            matching,
            filter,
            order,
            limit,
        }))
    }

    /// Parses UPDATE, from behind that word.
    pub(super) fn update(&mut self) -> Result<Statement> {
        self.take_any(&["low_priority"]);
        if self.at_word("ignore") {
            return Err(self.not_yet("UPDATE IGNORE"));
        }
        let table = self.table()?;
        let alias = match self.at_word("set") {
            true => None,
            false => self.table_alias()?,
        };
        if self.at_any(&["join", "inner", "left"]) || self.peek() == TokenKind::Comma {
            return Err(self.not_yet("UPDATE over several tables"));
        }
        self.tables = [table.clone()].into_iter().chain(alias).collect();
        self.expect_word("set")?;
        let mut set = Vec::new();
        loop {
            set.push(self.column_value()?);
            self.listed(set.len())?;
            if !self.take(TokenKind::Comma) {
                break;
            }
        }
        let (matching, filter) = self.filter()?;
        let order = self.order(&[])?;
        let limit = limit_of(self)?;
        let options = self.update_options()?;
        self.end()?;
        Ok(Statement::Update(Update {
            table,
            set,
            matching,
            filter,
            order,
            limit,
            options,
        }))
    }

    /// `OPTION ignore_nonexistent_columns=1, strict=0` of an UPDATE.
    fn update_options(&mut self) -> Result<UpdateOptions> {
        let mut read = UpdateOptions::default();
        for (name, value) in self.options()? {
            let is_on = match value.as_str() {
                "0" => false,
                "1" => true,
                _ => return Err(self.error(format!("option {name} takes 0 or 1"))),
            };
            match name.as_str() {
                "ignore_nonexistent_columns" => read.leaves_unknown_columns = is_on,
                "strict" => read.leaves_missing_paths = !is_on,
                _ => {
                    let known = "ignore_nonexistent_columns and strict";
                    let message = format!("UPDATE has no option '{name}': there are {known}");
                    return Err(self.error(message));
                }
            }
        }
        Ok(read)
    }

    /// `column = expression` or `column.key[2] = expression`; the column may stand behind its table's name.
    fn column_value(&mut self) -> Result<Assignment> {
        let (column, path) = self.place()?;
        self.expect(TokenKind::Equal, "`=`")?;
        let value = self.expression(&mut |_, _| Ok(None))?;
        Ok(Assignment {
            column,
            path,
            value,
        })
    }

    /// Parses TRUNCATE, from behind that word.
    pub(super) fn truncate(&mut self) -> Result<Statement> {
        if !self.take_word("table") {
            // A table may have that name: it is Manticore's keyword only before another name.
            let mut ahead = self.clone();
            if ahead.take_word("rtindex") && !ahead.at_end() {
                *self = ahead;
            }
        }
        let table = self.table()?;
        if self.at_word("with") {
            return Err(self.not_yet("TRUNCATE … WITH RECONFIGURE"));
        }
        self.end()?;
        Ok(Statement::Truncate { table })
    }
}

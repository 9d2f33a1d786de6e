//! Keys in CREATE TABLE: `PRIMARY KEY (id)`, `KEY name (column)`, `INDEX (column)`.
//!
//! The name of a key and the words that MySQL's dumps put behind it (`USING BTREE`, the length of a prefix, ASC) have no
//! effect: a key of a column is its look-up index, and has the column's name.

use relation::lexer::TokenKind;
use relation::schema::Column;

use super::parser::{Parser, Result};

/// A key of one column, before the table's kind is known.
pub(super) struct Key {
    /// Place of the key in the statement.
    pub(super) position: usize,
    /// `PRIMARY KEY`, `KEY` or `INDEX`.
    pub(super) word: &'static str,
    pub(super) column: String,
}

impl Parser<'_> {
    /// Parses a key; `None` at anything else, also at constraints.
    pub(super) fn key(&mut self) -> Result<Option<Key>> {
        let position = self.position();
        let word = match () {
            () if self.take_words(&["primary", "key"]) => "PRIMARY KEY",
            () if self.take_word("key") => "KEY",
            () if self.take_word("index") => "INDEX",
            () => return Ok(None),
        };
        if self.peek() != TokenKind::Open && !self.at_any(&["using"]) {
            self.name("the name of a key, or `(`")?;
        }
        self.using()?;
        self.expect(TokenKind::Open, "`(`")?;
        let column = self.column()?;
        if self.take(TokenKind::Open) {
            self.integer("a length")?;
            self.expect(TokenKind::Close, "`)`")?;
        }
        self.take_any(&["asc", "desc"]);
        if self.peek() == TokenKind::Comma {
            return Err(self.not_yet(format!("{word} of several columns")));
        }
        self.expect(TokenKind::Close, "`)`")?;
        self.using()?;
        if self.take_word("comment") {
            self.string("a comment in quotes")?;
        }
        Ok(Some(Key {
            position,
            word,
            column,
        }))
    }

    pub(super) fn using(&mut self) -> Result<()> {
        if self.take_word("using") && !self.take_any(&["btree", "hash"]) {
            return Err(self.unexpected("BTREE or HASH"));
        }
        Ok(())
    }

    /// Marks the column of a key. A key of `id` has no effect: every search table finds rows by id. Errors: a column
    /// that is not there; PRIMARY KEY of another column than `id`.
    pub(super) fn mark_key(&self, key: Key, columns: &mut [Column]) -> Result<()> {
        if key.column == "id" {
            return Ok(());
        }
        if key.word == "PRIMARY KEY" {
            return Err(self.no_key(key.position, key.word));
        }
        let column = columns.iter_mut().find(|column| column.name == key.column);
        let Some(column) = column else {
            let message = format!("{} ({}): no such column", key.word, key.column);
            return Err(self.error_at(key.position, message));
        };
        column.keyed = true;
        Ok(())
    }
}

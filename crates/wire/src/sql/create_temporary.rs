//! CREATE TEMPORARY TABLE.

use relation::lexer::TokenKind;
use relation::schema::Column;

use super::parser::{Parser, Result};
use super::statement::{CreateTemporary, Statement};

impl Parser<'_> {
    /// Parses CREATE TEMPORARY TABLE, from behind these words. Options such as ENGINE=MEMORY have no effect.
    pub(super) fn create_temporary(&mut self) -> Result<Statement> {
        let if_not_exists = self.take_words(&["if", "not", "exists"]);
        let name = self.table()?;
        let mut create = CreateTemporary {
            name,
            if_not_exists,
            columns: Vec::new(),
            unique: Vec::new(),
            select: None,
        };
        if self.at_word("like") {
            return Err(self.not_yet("CREATE TEMPORARY TABLE … LIKE"));
        }
        if self.take(TokenKind::Open) {
            self.temporary_columns(&mut create)?;
        }
        self.table_options()?;
        let is_as = self.take_word("as");
        if self.take_word("select") {
            let first = self.select_body()?;
            create.select = Some(Box::new(self.union_or_end(first, false)?));
        } else if is_as || create.columns.is_empty() {
            return Err(self.unexpected("columns in brackets, or SELECT"));
        }
        self.end()?;
        Ok(Statement::CreateTemporary(create))
    }

    /// Columns and keys, behind the opening bracket.
    fn temporary_columns(&mut self, create: &mut CreateTemporary) -> Result<()> {
        let mut unique = Vec::new();
        loop {
            let position = self.position();
            let is_unique = match () {
                () if self.take_words(&["primary", "key"]) => Some(true),
                () if self.take_word("unique") => {
                    self.take_any(&["key", "index"]);
                    Some(true)
                }
                () if self.take_any(&["key", "index"]) => Some(false),
                () => None,
            };
            match is_unique {
                None => {
                    let mut draft = self.draft()?;
                    let of_id = draft.of_id.take();
                    let column = self.typed(draft, true)?;
                    match of_id {
                        Some(("PRIMARY KEY", _)) => {
                            unique.push((position, vec![column.name.clone()]))
                        }
                        Some((clause, _)) => {
                            let what = format!("{clause} in a temporary table");
                            return Err(self.not_yet_at(position, what));
                        }
                        None => {}
                    }
                    if create.columns.iter().any(|other| other.name == column.name) {
                        let message = format!("column '{}' is there twice", column.name);
                        return Err(self.error_at(position, message));
                    }
                    create.columns.push(column);
                }
                Some(is_unique) => {
                    let columns = self.key_columns()?;
                    // Any key names columns that are there; only a unique one has an effect.
                    unique.push((position, columns));
                    if !is_unique && let Some((position, columns)) = unique.pop() {
                        self.places(position, &columns, &create.columns)?;
                    }
                }
            }
            self.listed(create.columns.len() + unique.len())?;
            if self.take(TokenKind::Close) {
                break;
            }
            self.expect(TokenKind::Comma, "`,` or `)`")?;
        }
        for (position, columns) in unique {
            create
                .unique
                .push(self.places(position, &columns, &create.columns)?);
        }
        Ok(())
    }

    /// `[name] [USING BTREE] (column, …)` of a key.
    fn key_columns(&mut self) -> Result<Vec<String>> {
        if self.peek() != TokenKind::Open && !self.at_word("using") {
            self.name("the name of a key, or `(`")?;
        }
        self.using()?;
        self.expect(TokenKind::Open, "`(`")?;
        let mut columns = Vec::new();
        loop {
            columns.push(self.column()?);
            self.listed(columns.len())?;
            self.take_any(&["asc", "desc"]);
            if self.take(TokenKind::Close) {
                break;
            }
            self.expect(TokenKind::Comma, "`,` or `)`")?;
        }
        self.using()?;
        Ok(columns)
    }

    /// Indexes of the columns of a key.
    fn places(&self, position: usize, names: &[String], columns: &[Column]) -> Result<Vec<usize>> {
        let place = |name: &String| {
            let at = columns.iter().position(|column| column.name == *name);
            at.ok_or_else(|| self.error_at(position, format!("KEY ({name}): no such column")))
        };
        names.iter().map(place).collect()
    }
}

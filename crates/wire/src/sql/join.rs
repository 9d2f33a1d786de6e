//! FROM with several tables: JOIN.

use relation::expression::Expression;
use relation::lexer::{Lexer, SyntaxError as LexerError, TokenKind};
use relation::request::{JoinedSelect, JoinedTable};

use super::parser::{Parser, Result};
use super::select::{MATCH_PLACE, has_groups, own_name, without_match};
use super::statement::Statement;
use crate::limits::JOINED_TABLES_MAX;

/// Words that begin a join, and those that are refused.
const JOINS: [&str; 7] = [
    "join",
    "inner",
    "left",
    "right",
    "natural",
    "cross",
    "straight_join",
];

/// Clauses behind FROM.
const BEHIND: [&str; 9] = [
    "where", "order", "limit", "option", "group", "within", "having", "union", "facet",
];

impl Parser<'_> {
    /// Whether a join is next.
    pub(super) fn at_join(&self) -> bool {
        self.at_any(&JOINS)
    }

    /// The names of the tables behind the first one of a FROM: this parser looks ahead.
    pub(super) fn more_tables(&mut self, names: &mut Vec<String>) -> Result<()> {
        while self.at_join() {
            self.join_word()?;
            let table = self.table_read()?;
            names.push(self.table_alias()?.unwrap_or(own_name(table)));
            let mut depth = 0_u32;
            loop {
                match self.peek() {
                    TokenKind::Open => depth += 1,
                    TokenKind::Close => match depth.checked_sub(1) {
                        Some(less) => depth = less,
                        None => return Ok(()),
                    },
                    TokenKind::End | TokenKind::Semicolon | TokenKind::Invalid(_) => return Ok(()),
                    _ if depth == 0 && (self.at_join() || self.at_any(&BEHIND)) => break,
                    _ => {}
                }
                self.next();
            }
        }
        Ok(())
    }

    /// Takes the words of a join; true: LEFT.
    fn join_word(&mut self) -> Result<bool> {
        if self.take_word("straight_join") {
            return Ok(false);
        }
        if self.at_any(&["right", "natural"]) {
            let word = String::from_utf8_lossy(self.peek_bytes()).to_uppercase();
            return Err(self.not_yet(format!("{word} JOIN")));
        }
        let is_left = self.take_word("left");
        match is_left {
            true => _ = self.take_word("outer"),
            false => _ = self.take_any(&["inner", "cross"]),
        }
        self.expect_word("join")?;
        Ok(is_left)
    }

    /// Parses a SELECT of several tables, from its list on. `tables` of this parser are their names.
    pub(super) fn joined_select(&mut self) -> Result<Statement> {
        let from = self.position();
        for (at, name) in self.tables.iter().enumerate() {
            if self.tables[..at].contains(name) {
                let message = format!("two tables of FROM are named '{name}': give one an alias");
                return Err(self.error_at(from, message));
            }
        }
        self.is_joined = true;
        let items = self.items()?;
        self.expect_word("from")?;
        let mut tables = vec![self.joined_table(false)?];
        while self.at_join() {
            let is_left = self.join_word()?;
            let position = self.position();
            let mut table = self.joined_table(is_left)?;
            if self.take_word("on") {
                table.on = Some(self.expression(&mut |_, _| Ok(None))?);
            } else if self.take_word("using") {
                table.using = self.using_columns()?;
            } else if is_left {
                return Err(self.error_at(position, "LEFT JOIN needs ON or USING"));
            }
            tables.push(table);
            self.at_most(tables.len(), JOINED_TABLES_MAX, "tables in a join")?;
        }
        let filter = self.joined_filter(&mut tables)?;
        let grouping = self.grouping(&items)?;
        self.refuse_clauses()?;
        let is_grouped = grouping.is_some() || has_groups(&items);
        let order = self.order_keys(&items, is_grouped)?;
        let (limit, offset) = self.limit()?;
        let options = self.options()?;
        self.is_joined = false;
        Ok(Statement::Joined(Box::new(JoinedSelect {
            tables,
            items,
            filter,
            grouping,
            order,
            limit,
            offset,
            options,
        })))
    }

    fn joined_table(&mut self, is_left: bool) -> Result<JoinedTable> {
        if self.peek() == TokenKind::Open {
            return Err(self.not_yet("sub-selects and brackets in FROM"));
        }
        let table = self.table_read()?;
        let name = self
            .table_alias()?
            .unwrap_or_else(|| own_name(table.clone()));
        Ok(JoinedTable {
            table,
            name,
            is_left,
            using: Vec::new(),
            on: None,
            matching: None,
        })
    }

    /// `(column, …)` behind USING.
    fn using_columns(&mut self) -> Result<Vec<String>> {
        self.expect(TokenKind::Open, "`(`")?;
        let mut columns = Vec::new();
        loop {
            columns.push(self.column()?);
            self.listed(columns.len())?;
            if self.take(TokenKind::Close) {
                return Ok(columns);
            }
            self.expect(TokenKind::Comma, "`,` or `)`")?;
        }
    }

    /// Parses WHERE. The texts of its MATCHes go to their tables.
    fn joined_filter(&mut self, tables: &mut [JoinedTable]) -> Result<Option<Expression>> {
        if !self.take_word("where") {
            return Ok(None);
        }
        let from = self.position();
        let mut count = 0;
        let expression = self.expression(&mut |name, lexer| {
            if name != "match" {
                return Ok(None);
            }
            count += 1;
            let (text, at) = match_of(lexer, tables)?;
            if tables[at].matching.replace(text).is_some() {
                return Err(lexer.unexpected("one MATCH for each table"));
            }
            Ok(Some(Expression::Column(MATCH_PLACE.to_owned())))
        })?;
        if expression.has_aggregate() {
            return Err(self.error_at(
                from,
                "an aggregate cannot stand in WHERE: write it in HAVING",
            ));
        }
        let mut taken = 0;
        let filter = without_match(expression, &mut taken);
        match taken == count {
            true => Ok(filter),
            false => {
                Err(self.error_at(from, "MATCH can only be joined to the rest of WHERE by AND"))
            }
        }
    }
}

/// The text of `MATCH('…')` or `MATCH('…', table)` and the index of its table, from behind the opening bracket.
fn match_of(
    lexer: &mut Lexer<'_>,
    tables: &[JoinedTable],
) -> std::result::Result<(String, usize), LexerError> {
    if lexer.peek().kind != TokenKind::String {
        return Err(lexer.unexpected("a query text: MATCH('…')"));
    }
    let token = lexer.next();
    let text = String::from_utf8(lexer.string(&token));
    let text = text.map_err(|_| lexer.error(&token, "the query text is not UTF-8"))?;
    let mut at = 0;
    if lexer.take(TokenKind::Comma) {
        let token = lexer.next();
        let name = lexer.name(&token)?.to_lowercase();
        let place = tables.iter().position(|table| table.name == name);
        at = place.ok_or_else(|| lexer.error(&token, "MATCH names a table that is not in FROM"))?;
    }
    if !lexer.take(TokenKind::Close) {
        return Err(lexer.unexpected("`)`"));
    }
    Ok((text, at))
}

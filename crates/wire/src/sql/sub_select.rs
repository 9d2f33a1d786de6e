//! A sub-select: `SELECT * FROM (SELECT …) ORDER BY … LIMIT …`. It is parsed as a UNION with one part. The outer list, ORDER BY and
//! LIMIT apply to the rows of that part.

use relation::lexer::TokenKind;

use super::parser::{Parser, Result};
use super::statement::{Shown, Statement, Union};
use crate::limits::{COLUMNS_MAX, SUB_SELECTS_MAX};

/// Clauses that stand inside the brackets, as joins do.
const INSIDE: [&str; 6] = ["where", "group", "within", "having", "option", "facet"];

impl<'a> Parser<'a> {
    /// Parses a SELECT of a sub-select from its list on, up to what may follow it. `alias` is the name of its rows.
    pub(super) fn sub_select(&mut self, alias: Option<String>) -> Result<Statement> {
        let alias: Vec<String> = alias.into_iter().collect();
        self.sub_selects += 1;
        self.at_most(self.sub_selects, SUB_SELECTS_MAX, "sub-selects in another")?;
        self.tables = alias.clone().into();
        let shown = self.shown()?;
        self.expect_word("from")?;
        self.expect(TokenKind::Open, "`(`")?;
        let is_bracketed = self.take(TokenKind::Open);
        if !self.take_word("select") {
            return Err(self.not_yet("brackets around tables in FROM"));
        }
        let first = self.select_body()?;
        if is_bracketed {
            self.expect(TokenKind::Close, "`)`")?;
        }
        let inner = self.union(first, is_bracketed)?;
        self.refuse_clauses()?;
        self.expect(TokenKind::Close, "`)`")?;
        self.table_alias()?;
        self.tables = alias.into();
        self.refuse_inside()?;
        let order = self.union_order()?;
        let (limit, offset) = self.limit()?;
        self.refuse_inside()?;
        self.sub_selects -= 1;
        Ok(Statement::Union(Box::new(Union {
            parts: vec![self.part(inner)?],
            distinct_parts: 0,
            shown,
            order,
            limit,
            offset,
        })))
    }

    /// The alias behind the bracket that comes next. Call it on a parser that looks ahead: it moves the parser.
    pub(super) fn alias_behind_brackets(&mut self) -> Result<Option<String>> {
        let mut depth = 0_u32;
        loop {
            match self.next().kind {
                TokenKind::Open => depth += 1,
                TokenKind::Close if depth == 1 => return self.table_alias(),
                TokenKind::Close => depth -= 1,
                TokenKind::End | TokenKind::Invalid(_) => return Ok(None),
                _ => {}
            }
        }
    }

    /// The list of a SELECT of a sub-select: `*` and names of its columns.
    fn shown(&mut self) -> Result<Vec<Shown>> {
        let mut shown = Vec::new();
        loop {
            shown.push(match self.take_star() {
                Some(_) => Shown::All,
                None => {
                    let column = self.shown_column()?;
                    let header = self.alias()?.unwrap_or_else(|| column.clone());
                    Shown::Column { column, header }
                }
            });
            self.at_most(shown.len(), COLUMNS_MAX, "items in a SELECT list")?;
            if !self.take(TokenKind::Comma) {
                return Ok(shown);
            }
        }
    }

    /// The header of a column of a UNION or sub-select, as `price`, `t.price`, `weight()` and `count(*)`.
    pub(super) fn shown_column(&mut self) -> Result<String> {
        let (_, header) = self.headed()?;
        Ok(header)
    }

    /// Refuses a clause that belongs into the brackets.
    fn refuse_inside(&self) -> Result<()> {
        if self.peek() == TokenKind::Comma {
            return Err(self.not_yet("tables beside a sub-select in FROM"));
        }
        if !self.at_any(&INSIDE) && !self.at_join() {
            return Ok(());
        }
        let word = String::from_utf8_lossy(self.peek_bytes()).to_uppercase();
        Err(self.not_yet(format!(
            "{word} behind a sub-select, which takes ORDER BY and LIMIT: write it inside the brackets"
        )))
    }
}

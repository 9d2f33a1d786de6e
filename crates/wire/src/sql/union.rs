//! UNION: several SELECTs, one behind the other.
//!
//! A UNION of a hundred thousand SELECTs that differ in one constant is read as a pattern with that constant, as long lists are;
//! see [`relation::expression::Pattern`].

use relation::expression::{BinaryOperator, Expression, List, Pattern, Read};
use relation::lexer::TokenKind;
use relation::request::{Item, Output, Select};
use relation::value::Value;

use super::parser::{Parser, Result, digits};
use super::skip_select_modifiers;
use super::statement::{Part, Shown, Statement, Union, UnionColumn, UnionKey};
use crate::limits::{ORDER_KEYS_MAX, UNION_SELECTS_MAX};

/// Memory of a part of a UNION in bytes, beside its expressions and names.
const PART_BYTES: usize = 2 * size_of::<Select>();

impl Parser<'_> {
    /// Parses what follows a SELECT: UNION with more of them, or nothing, and the statement's end.
    /// `is_bracketed`: the first one stood in brackets.
    pub(super) fn union_or_end(
        &mut self,
        first: Statement,
        is_bracketed: bool,
    ) -> Result<Statement> {
        let whole = self.union(first, is_bracketed)?;
        self.refuse_clauses()?;
        self.refuse_facet()?;
        self.end()?;
        Ok(whole)
    }

    /// Parses UNION with more SELECTs behind a SELECT, if it is next.
    pub(super) fn union(&mut self, first: Statement, mut is_bracketed: bool) -> Result<Statement> {
        if !self.at_word("union") {
            return Ok(first);
        }
        let mut union = Union {
            parts: vec![self.part(first)?],
            distinct_parts: 0,
            shown: vec![Shown::All],
            order: Vec::new(),
            limit: None,
            offset: 0,
        };
        let mut count = 1;
        while self.at_word("union") {
            let from = self.lexer().peek().range.start;
            self.refuse_tail(&union, is_bracketed)?;
            self.take_word("union");
            let is_all = self.take_word("all");
            if !is_all {
                self.take_word("distinct");
                union.distinct_parts = union.parts.len() + 1;
            }
            is_bracketed = self.take(TokenKind::Open);
            self.expect_word("select")?;
            let select = self.select_body()?;
            if is_bracketed {
                self.expect(TokenKind::Close, "`)`")?;
            }
            let part = self.part(select)?;
            union.parts.push(part);
            count += 1 + self.repeated_part(from, &mut union.parts)?;
            if !is_all {
                union.distinct_parts = union.parts.len();
            }
            self.at_most(count, UNION_SELECTS_MAX, "SELECTs in a UNION")?;
        }
        if is_bracketed {
            union.order = self.union_order()?;
            (union.limit, union.offset) = self.limit()?;
        } else {
            take_tail(&mut union).map_err(|what| self.not_yet(what))?;
        }
        Ok(Statement::Union(Box::new(union)))
    }

    /// Parses `(SELECT …) UNION (SELECT …)`, or a SELECT in brackets, from behind the first bracket.
    pub(super) fn bracketed_select(&mut self) -> Result<Statement> {
        self.expect_word("select")?;
        let first = self.select_body()?;
        self.expect(TokenKind::Close, "`)`")?;
        self.union_or_end(first, true)
    }

    /// A SELECT from behind that word, without what may follow it.
    pub(super) fn select_body(&mut self) -> Result<Statement> {
        skip_select_modifiers(self)?;
        match self.has_from() {
            true => self.select(),
            false => self.select_constants(),
        }
    }

    /// Refuses FACET behind what gives one result set.
    fn refuse_facet(&self) -> Result<()> {
        match self.at_word("facet") {
            true => Err(self.not_yet("FACET behind brackets, UNION, INSERT and CREATE")),
            false => Ok(()),
        }
    }

    pub(super) fn part(&mut self, select: Statement) -> Result<Part> {
        self.charge(PART_BYTES)?;
        match select {
            Statement::Select(select) => Ok(Part::Select(Box::new(select))),
            Statement::Joined(select) => Ok(Part::Joined(select)),
            Statement::SelectConstants(items) => Ok(Part::Constants(items)),
            Statement::Union(union) => Ok(Part::Union(union)),
            _ => Err(self.not_yet("UNION of functions of queues")),
        }
    }

    /// Refuses ORDER BY and LIMIT of a SELECT that is not the last and has no brackets.
    fn refuse_tail(&self, union: &Union, is_bracketed: bool) -> Result<()> {
        let has_tail = match union.parts.last() {
            Some(Part::Select(select)) => !select.order.is_empty() || select.limit.is_some(),
            Some(Part::Joined(select)) => !select.order.is_empty() || select.limit.is_some(),
            Some(Part::Union(select)) => !select.order.is_empty() || select.limit.is_some(),
            _ => false,
        };
        match has_tail && !is_bracketed {
            true => Err(self.error("a SELECT with ORDER BY or LIMIT before UNION needs brackets")),
            false => Ok(()),
        }
    }

    /// Reads on as long as the last part comes again with another constant in `WHERE column = constant`. Returns how often. All
    /// of them become one part, with the part before them if that differs in nothing else.
    fn repeated_part(&mut self, from: usize, parts: &mut Vec<Part>) -> Result<usize> {
        let Some(Part::Select(last)) = parts.last() else {
            return Ok(0);
        };
        let Some((column, constant)) = equality(last) else {
            return Ok(0);
        };
        let begin = self.lexer().peek().range.start;
        let text = self.lexer().text();
        let Some((pattern, mut constants)) = Pattern::of(&text[from..begin]) else {
            return Ok(0);
        };
        if !matches!(&constants[..], [read] if read.value() == *constant) {
            return Ok(0);
        }
        let (column, select) = (column.to_owned(), last.clone());
        let alike = match &parts[..] {
            [Part::Select(first), _] => alike(first, &select),
            _ => None,
        };
        let mut list: List = alike.iter().copied().chain([constant]).cloned().collect();
        let own = list.len();
        let mut at = begin;
        while let Some(bytes) = pattern.read(&text[at..], &mut constants) {
            let [read] = constants[..] else { break };
            match read {
                Read::Whole(number) => list.push_whole(number),
                Read::Text(text) => list.push_text(text),
            }
            at += bytes;
            if list.len() > UNION_SELECTS_MAX {
                break;
            }
        }
        let count = list.len() - own;
        if count > 0 {
            self.charge(2 * list.memory())?;
            self.lexer().seek(at);
            parts.truncate(parts.len() - own);
            parts.push(Part::Each {
                select,
                column,
                constants: list,
            });
        }
        Ok(count)
    }

    /// ORDER BY of a UNION behind brackets, or of a sub-select: names and numbers of its columns.
    pub(super) fn union_order(&mut self) -> Result<Vec<UnionKey>> {
        let mut order = Vec::new();
        if !self.take_word("order") {
            return Ok(order);
        }
        self.expect_word("by")?;
        loop {
            let column = match self.peek() {
                TokenKind::Integer => {
                    let number = digits(self.peek_bytes());
                    self.next();
                    UnionColumn::Numbered(number.unwrap_or(0))
                }
                _ => UnionColumn::Named(self.shown_column()?),
            };
            let descending = self.take_word("desc");
            if !descending {
                self.take_word("asc");
            }
            order.push(UnionKey { column, descending });
            self.at_most(order.len(), ORDER_KEYS_MAX, "keys in ORDER BY")?;
            if !self.take(TokenKind::Comma) {
                return Ok(order);
            }
        }
    }
}

/// Moves ORDER BY and LIMIT of the last SELECT, which has no brackets, to the whole. Error: what is not yet there.
fn take_tail(union: &mut Union) -> std::result::Result<(), &'static str> {
    let (items, order, limit, offset) = match union.parts.last_mut() {
        Some(Part::Select(it)) => (&it.items, &mut it.order, &mut it.limit, &mut it.offset),
        Some(Part::Joined(it)) => (&it.items, &mut it.order, &mut it.limit, &mut it.offset),
        Some(Part::Union(it)) => {
            union.order = std::mem::take(&mut it.order);
            (union.limit, union.offset) = (it.limit.take(), std::mem::take(&mut it.offset));
            return Ok(());
        }
        _ => return Ok(()),
    };
    (union.limit, union.offset) = (limit.take(), std::mem::take(offset));
    for key in std::mem::take(order) {
        let mut before = items
            .iter()
            .take_while(|item| matches!(item, Item::Value { .. }));
        let is_key = |item: &Item| matches!(item, Item::Value { what, .. } if *what == key.key);
        let column = match (before.position(is_key), key.key) {
            (Some(at), _) => UnionColumn::Numbered(at as u64 + 1),
            (None, Output::Expression(Expression::Column(name))) => UnionColumn::Named(name),
            _ => return Err("ORDER BY of a UNION by an expression"),
        };
        let descending = key.descending;
        union.order.push(UnionKey { column, descending });
    }
    Ok(())
}

/// The constant of a SELECT that differs from another one in nothing but it, and has one of the same kind.
fn alike<'s>(select: &'s Select, other: &Select) -> Option<&'s Value> {
    let (_, constant) = equality(select)?;
    let (column, own) = equality(other)?;
    if std::mem::discriminant(constant) != std::mem::discriminant(own) {
        return None;
    }
    let mut same = other.clone();
    same.filter = Some(Expression::Binary(
        BinaryOperator::Equal,
        Box::new(Expression::Column(column.to_owned())),
        Box::new(Expression::Literal(constant.clone())),
    ));
    (same == *select).then_some(constant)
}

/// The column and constant of a SELECT that is nothing but `… WHERE column = constant`.
fn equality(select: &Select) -> Option<(&str, &Value)> {
    let is_plain = select.matching.is_none()
        && select.order.is_empty()
        && select.limit.is_none()
        && select.options.is_empty();
    match select.filter.as_ref()? {
        Expression::Binary(BinaryOperator::Equal, left, right) if is_plain => {
            match (&**left, &**right) {
                (Expression::Column(column), Expression::Literal(constant)) => {
                    Some((column, constant))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

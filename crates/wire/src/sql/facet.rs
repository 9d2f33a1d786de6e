//! FACET: result sets of groups behind that of a SELECT.

use relation::expression::{AggregateKind, Expression};
use relation::lexer::TokenKind;
use relation::request::{Facet, Item, Output};

use super::parser::{Parser, Result};
use super::select::{expression_of, is_aggregate_output};
use super::statement::{Faceted, Statement};
use crate::limits::{FACETS_MAX, ORDER_KEYS_MAX};

/// Words of clauses that Manticore has behind the lists of a FACET.
const LATER: [&str; 5] = ["all", "filters", "exclude", "zeroes", "mode"];

impl Parser<'_> {
    /// Parses the FACETs behind a SELECT, and the statement's end.
    pub(super) fn faceted(&mut self, head: Statement) -> Result<Statement> {
        let (select, grouping) = match head {
            Statement::Select(select) => (select, None),
            Statement::Joined(joined) if joined.tables.len() > 1 => {
                return Err(self.not_yet("FACET of a join"));
            }
            Statement::Joined(joined) => match joined.into_first() {
                Some((select, grouping)) => (select, Some(grouping.unwrap_or_default())),
                None => return Err(self.unexpected("a table")),
            },
            Statement::SelectWaiting { .. } => {
                return Err(self.not_yet("FACET of rows that queue_wait gives"));
            }
            _ => return Err(self.unexpected("the end of the statement")),
        };
        let mut facets = Vec::new();
        while self.take_word("facet") {
            facets.push(self.facet()?);
            self.at_most(facets.len(), FACETS_MAX, "FACETs in a statement")?;
        }
        self.refuse_clauses()?;
        if self.at_word("union") {
            return Err(self.not_yet("FACET in a UNION"));
        }
        self.end()?;
        Ok(Statement::Faceted(Box::new(Faceted {
            select,
            grouping,
            facets,
        })))
    }

    /// Parses a FACET from behind that word.
    fn facet(&mut self) -> Result<Facet> {
        let mut items = self.facet_items()?;
        let mut named = items.clone();
        let by = match self.take_word("by") {
            true => self.facet_items()?,
            false => items.clone(),
        };
        let keys = by.iter().filter_map(|item| match item {
            Item::Value { what, .. } => Some(expression_of(what)),
            Item::Star | Item::TableStar(_) => None,
        });
        let keys: Vec<Expression> = keys.collect();
        self.refuse_later()?;
        if self.take_word("distinct") {
            let distinct = self.facet_distinct()?;
            items.push(distinct.clone());
            named.push(distinct);
        }
        let count = Item::Value {
            what: Output::Count,
            name: "count(*)".to_owned(),
        };
        items.push(count.clone());
        named.push(count);
        named.extend(by);
        let order = self.order_keys(&named, true)?;
        let (limit, offset) = self.limit()?;
        self.refuse_later()?;
        Ok(Facet {
            items,
            keys,
            having: None,
            after: None,
            order,
            limit,
            offset,
        })
    }

    /// The expressions behind FACET or BY.
    fn facet_items(&mut self) -> Result<Vec<Item>> {
        let mut items = Vec::new();
        loop {
            let from = self.position();
            let (what, written) = self.headed()?;
            if is_aggregate_output(&what) {
                let message = "an aggregate cannot stand in FACET: it shows COUNT(*) by itself";
                return Err(self.error_at(from, message));
            }
            self.refuse_later()?;
            let name = self.alias()?.unwrap_or(written);
            items.push(Item::Value { what, name });
            self.at_most(items.len(), ORDER_KEYS_MAX, "expressions in a FACET")?;
            if !self.take(TokenKind::Comma) {
                return Ok(items);
            }
        }
    }

    /// The column `count(distinct x)`, from behind DISTINCT.
    fn facet_distinct(&mut self) -> Result<Item> {
        let from = self.position();
        let (what, written) = self.headed()?;
        let distinct = expression_of(&what);
        if distinct.has_aggregate() {
            return Err(self.error_at(from, "DISTINCT of an aggregate"));
        }
        Ok(Item::Value {
            what: Output::Expression(Expression::Aggregate(
                AggregateKind::CountDistinct,
                vec![distinct],
            )),
            name: format!("count(distinct {written})"),
        })
    }

    fn refuse_later(&self) -> Result<()> {
        match self.at_any(&LATER) {
            true => Err(self.not_yet("FILTERS, ZEROES and MODE of a FACET")),
            false => Ok(()),
        }
    }
}

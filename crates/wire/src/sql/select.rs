//! SELECT on one table.

use relation::expression::{AggregateKind, BinaryOperator, Expression};
use relation::lexer::{Lexer, SyntaxError as LexerError, TokenKind};
use relation::request::{
    Grouping, Item, JoinedSelect, OrderBy, Output, Select, tables_of, together,
};
use relation::value::Value;

use super::parser::{Calls, Parser, Result, digits};
use super::queue_functions::wait_in_filter;
use super::statement::Statement;
use crate::limits::{COLUMNS_MAX, OPTIONS_MAX, ORDER_KEYS_MAX, TABLES_AS_ONE_MAX};

/// Keywords that end a SELECT list, and so cannot be an alias unless they are quoted.
const CLAUSES: [&str; 25] = [
    "by",
    "distinct",
    "from",
    "where",
    "limit",
    "order",
    "group",
    "having",
    "option",
    "union",
    "into",
    "for",
    "facet",
    "within",
    "procedure",
    "lock",
    "join",
    "inner",
    "left",
    "right",
    "natural",
    "cross",
    "on",
    "using",
    "straight_join",
];

/// Column that stands for MATCH('…') in an expression until [`without_match`] removes it. No table has a column of that name:
/// column names have no brackets.
pub(super) const MATCH_PLACE: &str = "match()";

/// What stands behind FROM, with the names that may stand before a column's name.
enum FromClause {
    /// One table, and its alias. Several tables that are searched as one have no names.
    One(Vec<String>),
    /// Tables with JOIN: the name of each.
    Joined(Vec<String>),
    /// A bracket, and the alias behind it.
    SubSelect(Option<String>),
}

/// The name before a column of a table, which has no database: that of `system.tables` is `tables`.
pub(super) fn own_name(table: String) -> String {
    match table.split_once('.') {
        Some((_, name)) => name.to_owned(),
        None => table,
    }
}

impl<'a> Parser<'a> {
    /// Parses a SELECT with FROM, from behind SELECT, up to what may follow it.
    pub(super) fn select(&mut self) -> Result<Statement> {
        self.tables = match self.clause_ahead()? {
            FromClause::One(names) => names.into(),
            FromClause::Joined(names) => {
                self.tables = names.into();
                return self.joined_select();
            }
            FromClause::SubSelect(alias) => return self.sub_select(alias),
        };
        let items = self.items()?;
        self.expect_word("from")?;
        let table = self.tables_as_one()?;
        let mut wait = None;
        let (matching, filter) = self.filter_with(&mut |name, lexer| match name {
            "queue_wait" => wait_in_filter(lexer, &mut wait),
            _ => Ok(None),
        })?;
        let grouping = self.grouping(&items)?;
        self.refuse_clauses()?;
        let is_grouped = grouping.is_some() || has_groups(&items);
        let order = self.order_keys(&items, is_grouped)?;
        let (limit, offset) = self.limit()?;
        self.refuse_clauses()?;
        let options = self.options()?;
        let select = Select {
            table,
            items,
            matching,
            filter,
            order,
            limit,
            offset,
            options,
        };
        Ok(match (wait, is_grouped) {
            (Some(_), true) => return Err(self.not_yet("groups of rows that queue_wait gives")),
            (Some(_), false) if tables_of(&select.table).count() > 1 => {
                return Err(self.error("queue_wait in WHERE takes one table in FROM"));
            }
            (Some(wait), false) => Statement::SelectWaiting { wait, select },
            (None, true) => Statement::Joined(Box::new(JoinedSelect {
                grouping,
                ..JoinedSelect::of(select)
            })),
            (None, false) => Statement::Select(select),
        })
    }

    /// Parses GROUP [n] BY, WITHIN GROUP ORDER BY and HAVING; `None` without them.
    pub(super) fn grouping(&mut self, items: &[Item]) -> Result<Option<Grouping>> {
        if !self.at_any(&["group", "having"]) {
            return Ok(None);
        }
        let mut grouping = Grouping::default();
        if self.take_word("group") {
            if self.peek() != TokenKind::Word {
                let from = self.position();
                let rows = self.integer("BY, or a number of rows")?;
                if rows == 0 {
                    return Err(self.error_at(from, "GROUP n BY shows at least 1 row"));
                }
                grouping.rows_each = Some(rows);
            }
            self.expect_word("by")?;
            loop {
                let from = self.position();
                grouping.keys.push(match self.order_key(items)? {
                    Output::Count => {
                        return Err(self.error_at(from, "count(*) is no key to group by"));
                    }
                    key => expression_of(&key),
                });
                self.at_most(grouping.keys.len(), ORDER_KEYS_MAX, "keys in GROUP BY")?;
                if !self.take(TokenKind::Comma) {
                    break;
                }
            }
        }
        if self.take_word("within") {
            self.expect_word("group")?;
            grouping.within = self.order(&[])?;
        }
        if self.take_word("having") {
            grouping.having = Some(self.expression(&mut |_, _| Ok(None))?);
        }
        Ok(Some(grouping))
    }

    /// What stands behind the FROM ahead.
    fn clause_ahead(&self) -> Result<FromClause> {
        let Some(mut ahead) = self.behind_from() else {
            return Ok(FromClause::One(Vec::new()));
        };
        if ahead.peek() == TokenKind::Open {
            return Ok(FromClause::SubSelect(ahead.alias_behind_brackets()?));
        }
        if !matches!(ahead.peek(), TokenKind::Word | TokenKind::Quoted) {
            return Ok(FromClause::One(Vec::new())); // the parser of FROM reports the error
        }
        let mut tables = vec![own_name(ahead.table_read()?)];
        tables.extend(ahead.table_alias()?);
        if ahead.peek() == TokenKind::Comma {
            if let Some(tables) = self.behind_from() {
                self.refuse_qualified(tables)?;
            }
            return Ok(FromClause::One(Vec::new()));
        }
        if !ahead.at_join() {
            return Ok(FromClause::One(tables));
        }
        tables.drain(..tables.len() - 1);
        ahead.more_tables(&mut tables)?;
        Ok(FromClause::Joined(tables))
    }

    /// Parses the tables behind FROM: one with an alias, or several that are searched as one; see [`together`].
    fn tables_as_one(&mut self) -> Result<String> {
        let mut tables = vec![self.table_read()?];
        self.table_alias()?;
        while self.take(TokenKind::Comma) {
            if self.peek() == TokenKind::Open {
                return Err(self.not_yet("sub-selects beside tables in FROM"));
            }
            let position = self.position();
            let table = self.table_read()?;
            if tables.contains(&table) {
                let message = format!("table '{table}' is twice in FROM");
                return Err(self.error_at(position, message));
            }
            tables.push(table);
            self.at_most(tables.len(), TABLES_AS_ONE_MAX, "tables in FROM")?;
            self.table_alias()?;
        }
        if tables.len() > 1 && self.at_join() {
            return Err(self.not_yet("tables with commas beside JOIN: write JOIN for each"));
        }
        Ok(together(&tables))
    }

    /// Refuses a table's name or alias before a column where FROM has several tables: that SELECT is a join in MySQL. `tables` stands
    /// behind FROM.
    fn refuse_qualified(&self, mut tables: Parser<'a>) -> Result<()> {
        let list_end = tables.position();
        let mut names = Vec::new();
        loop {
            let Ok(table) = tables.table_read() else {
                return Ok(()); // the parser of FROM reports the error
            };
            names.push(table);
            names.extend(tables.table_alias()?);
            if !tables.take(TokenKind::Comma) {
                break;
            }
        }
        self.looking().refuse_before_dot(&names, list_end)?;
        tables.refuse_before_dot(&names, usize::MAX)
    }

    /// Refuses these names before a dot, up to a position or the end of the SELECT: this parser looks ahead.
    fn refuse_before_dot(mut self, names: &[String], until: usize) -> Result<()> {
        let mut depth = 0_u32;
        let mut is_behind_dot = false;
        while self.position() < until {
            let (kind, position) = (self.peek(), self.position());
            match kind {
                TokenKind::Open => depth += 1,
                TokenKind::Close if depth == 0 => return Ok(()),
                TokenKind::Close => depth -= 1,
                TokenKind::End | TokenKind::Semicolon | TokenKind::Invalid(_) => return Ok(()),
                TokenKind::Word if depth == 0 && self.at_word("union") => return Ok(()),
                TokenKind::Word | TokenKind::Quoted if !is_behind_dot => {
                    let name = self.name("a name")?.to_lowercase();
                    if names.contains(&name) && self.peek() == TokenKind::Dot {
                        let message = format!(
                            "'{name}.' before a column: FROM a, b searches its tables as one, JOIN joins them"
                        );
                        return Err(self.error_at(position, message));
                    }
                    continue;
                }
                _ => {}
            }
            is_behind_dot = kind == TokenKind::Dot;
            self.next();
        }
        Ok(())
    }

    /// `[AS] alias` of the table, in lower case.
    pub(super) fn table_alias(&mut self) -> Result<Option<String>> {
        let named = self.take_word("as");
        let bare = self.peek() == TokenKind::Word && !self.at_any(&CLAUSES)
            || self.peek() == TokenKind::Quoted;
        if !named && (!bare || self.at_any(&["use", "force", "ignore", "partition"])) {
            return Ok(None);
        }
        Ok(Some(self.name("an alias")?.to_lowercase()))
    }

    /// Refuses clauses that a later version will serve.
    pub(super) fn refuse_clauses(&self) -> Result<()> {
        if self.peek() == TokenKind::Comma {
            return Err(self.not_yet("tables with commas beside JOIN: write JOIN for each"));
        }
        for (word, what) in [
            ("into", "SELECT … INTO"),
            ("for", "SELECT … FOR UPDATE"),
            ("lock", "LOCK IN SHARE MODE"),
            ("procedure", "PROCEDURE"),
            ("use", "index hints"),
            ("force", "index hints"),
            ("ignore", "index hints"),
            ("partition", "partitions"),
        ] {
            if self.at_word(word) {
                return Err(self.not_yet(what));
            }
        }
        Ok(())
    }

    pub(super) fn items(&mut self) -> Result<Vec<Item>> {
        let mut items = Vec::new();
        loop {
            self.at_most(items.len() + 1, COLUMNS_MAX, "items in a SELECT list")?;
            items.push(self.item()?);
            if !self.take(TokenKind::Comma) {
                return Ok(items);
            }
        }
    }

    fn item(&mut self) -> Result<Item> {
        if let Some(star) = self.take_star() {
            return Ok(star);
        }
        let (what, written) = self.headed()?;
        let name = self.alias()?.unwrap_or(written);
        Ok(Item::Value { what, name })
    }

    /// An item without alias, and its header.
    pub(super) fn headed(&mut self) -> Result<(Output, String)> {
        let before = self.clone();
        let what = self.output()?;
        let written = match &what {
            Output::Expression(Expression::Path { .. }) => self.written_since(&before),
            _ => self.header_since(&before)?,
        };
        Ok((what, written))
    }

    /// The header of an item without alias. For a column it is the name as written, without table and backticks; for an
    /// expression its text.
    fn header_since(&self, before: &Parser<'_>) -> Result<String> {
        let mut walker = before.clone();
        let mut name = None;
        while walker.position() < self.position() {
            match walker.peek() {
                TokenKind::Word | TokenKind::Quoted => name = Some(walker.name("a name")?),
                TokenKind::Dot => _ = walker.next(),
                _ => return Ok(self.written_since(before)),
            }
        }
        Ok(name.unwrap_or_default())
    }

    /// Takes `*` or `t.*`, if it is next. `t` is the table or its alias, with or without a database.
    pub(super) fn take_star(&mut self) -> Option<Item> {
        let mut ahead = self.clone();
        let mut table = None;
        // A look at the token first: an error counts the lines before it, which is too much for each of many SELECTs.
        while matches!(ahead.peek(), TokenKind::Word | TokenKind::Quoted) {
            let name = ahead.name("a table").ok()?;
            if !ahead.take(TokenKind::Dot) {
                return None;
            }
            table = Some(name.to_lowercase());
        }
        let is_known = table
            .as_ref()
            .is_none_or(|table| self.tables.contains(table));
        if !ahead.take(TokenKind::Star) || !is_known {
            return None;
        }
        *self = ahead;
        Some(match table {
            Some(table) if self.is_joined => Item::TableStar(table),
            _ => Item::Star,
        })
    }

    /// `[AS] name`, if there is one.
    pub(super) fn alias(&mut self) -> Result<Option<String>> {
        let named = self.take_word("as");
        let bare = self.peek() == TokenKind::Word && !self.at_any(&CLAUSES);
        if self.peek() == TokenKind::String {
            return self.string("an alias").map(Some);
        }
        if named || bare || self.peek() == TokenKind::Quoted {
            return self.name("an alias").map(Some);
        }
        Ok(None)
    }

    fn output(&mut self) -> Result<Output> {
        let is_joined = self.is_joined;
        let expression = self.expression(&mut |name, lexer| match name {
            "weight" if is_joined => weight_of(lexer),
            // Sphinx's name of GROUPBY() in FACET.
            "facet" if lexer.take(TokenKind::Close) => {
                Ok(Some(Expression::Column("groupby()".to_owned())))
            }
            _ => Ok(None),
        })?;
        let is_weight = matches!(&expression, Expression::Column(name) if name == "weight()");
        let is_count = matches!(expression, Expression::Aggregate(AggregateKind::Rows, _));
        Ok(match (is_weight, is_count) {
            (true, _) => Output::Weight,
            (_, true) => Output::Count,
            (false, false) => Output::Expression(expression),
        })
    }

    /// Parses WHERE: gives the text of MATCH, and the other conditions. Both are `None` without WHERE.
    pub(super) fn filter(&mut self) -> Result<(Option<String>, Option<Expression>)> {
        self.filter_with(&mut |_, _| Ok(None))
    }

    /// As [`Parser::filter`]; `calls` parses functions other than MATCH.
    fn filter_with(
        &mut self,
        calls: &mut Calls<'_>,
    ) -> Result<(Option<String>, Option<Expression>)> {
        if !self.take_word("where") {
            return Ok((None, None));
        }
        let from = self.position();
        let mut matching = None;
        let mut count = 0;
        let expression = self.expression(&mut |name, lexer| {
            if name != "match" {
                return calls(name, lexer);
            }
            count += 1;
            matching = Some(match_text(lexer)?);
            Ok(Some(Expression::Column(MATCH_PLACE.to_owned())))
        })?;
        if count > 1 {
            return Err(self.error_at(from, "more than one MATCH in WHERE"));
        }
        if expression.has_aggregate() {
            return Err(self.error_at(
                from,
                "an aggregate cannot stand in WHERE: write it in HAVING",
            ));
        }
        let mut taken = 0;
        let filter = without_match(expression, &mut taken);
        if taken != count {
            return Err(self.error_at(from, "MATCH can only be joined to the rest of WHERE by AND"));
        }
        Ok((matching, filter))
    }

    /// Parses ORDER BY of rows; empty without it. A name or number may stand for an item of the SELECT list.
    pub(super) fn order(&mut self, items: &[Item]) -> Result<Vec<OrderBy>> {
        self.order_keys(items, false)
    }

    /// As [`Parser::order`]. `is_grouped`: aggregates may be keys.
    pub(super) fn order_keys(&mut self, items: &[Item], is_grouped: bool) -> Result<Vec<OrderBy>> {
        let mut order = Vec::new();
        if !self.take_word("order") {
            return Ok(order);
        }
        self.expect_word("by")?;
        let mut written = 0;
        loop {
            let from = self.position();
            let key = self.order_key(items)?;
            if !is_grouped && is_aggregate_output(&key) {
                return Err(self.error_at(from, "an aggregate is no key to order rows by"));
            }
            let descending = self.take_word("desc");
            if !descending {
                self.take_word("asc");
            }
            written += 1;
            self.at_most(written, ORDER_KEYS_MAX, "keys in ORDER BY")?;
            // A repeated key cannot change the order. It is left out because it may be the alias of a long list.
            if !order.iter().any(|known: &OrderBy| known.key == key) {
                order.push(OrderBy { key, descending });
            }
            if !self.take(TokenKind::Comma) {
                return Ok(order);
            }
        }
    }

    /// A key as written, or the item of the SELECT list that its alias or number names.
    fn order_key(&mut self, items: &[Item]) -> Result<Output> {
        if self.peek() == TokenKind::Variable {
            return self.old_order_key();
        }
        let from = self.position();
        let key = self.output()?;
        let named = |wanted: &str| {
            items.iter().find_map(|item| match item {
                Item::Value { what, name } if name.eq_ignore_ascii_case(wanted) => {
                    Some(what.clone())
                }
                _ => None,
            })
        };
        Ok(match &key {
            Output::Expression(Expression::Column(name)) => named(name).unwrap_or(key),
            Output::Expression(Expression::Literal(Value::Int(number))) => {
                let index = usize::try_from(*number)
                    .ok()
                    .and_then(|number| number.checked_sub(1));
                match index.and_then(|index| items.get(index)) {
                    Some(Item::Value { what, .. }) => what.clone(),
                    _ => {
                        return Err(
                            self.error_at(from, "no item of that number in the SELECT list")
                        );
                    }
                }
            }
            _ => key,
        })
    }

    /// Sphinx's old names of the weight and the document id.
    fn old_order_key(&mut self) -> Result<Output> {
        let key = match self.peek_bytes().to_ascii_lowercase().as_slice() {
            b"@weight" | b"@rank" | b"@relevance" => Output::Weight,
            b"@id" => Output::Expression(Expression::Column("id".to_owned())),
            _ => return Err(self.unexpected("a key to order by")),
        };
        self.next();
        Ok(key)
    }

    /// Parses LIMIT and OFFSET; without them no limit and 0.
    pub(super) fn limit(&mut self) -> Result<(Option<u64>, u64)> {
        if !self.take_word("limit") {
            return Ok((None, 0));
        }
        let first = self.integer("a number of rows")?;
        if self.take(TokenKind::Comma) {
            return Ok((Some(self.integer("a number of rows")?), first));
        }
        if self.take_word("offset") {
            return Ok((Some(first), self.integer("a number of rows to skip")?));
        }
        Ok((Some(first), 0))
    }

    /// Parses OPTION name=value, …; empty without it.
    pub(super) fn options(&mut self) -> Result<Vec<(String, String)>> {
        let mut options = Vec::new();
        if !self.take_word("option") {
            return Ok(options);
        }
        loop {
            let name = self.name("an option")?.to_lowercase();
            self.expect(TokenKind::Equal, "`=`")?;
            let value = if self.peek() == TokenKind::String {
                self.string("a value")?
            } else {
                let before = self.clone();
                self.skip_value()?;
                self.written_since(&before)
            };
            options.push((name, value));
            self.at_most(options.len(), OPTIONS_MAX, "options")?;
            if !self.take(TokenKind::Comma) {
                return Ok(options);
            }
        }
    }

    /// Skips a value up to the next comma or FACET outside brackets, to the bracket around it, or to the end.
    pub(super) fn skip_value(&mut self) -> Result<()> {
        let mut depth = 0_u32;
        let mut tokens = 0;
        loop {
            match self.peek() {
                TokenKind::Open => depth += 1,
                TokenKind::Close if depth == 0 && tokens > 0 => return Ok(()),
                TokenKind::Close if depth == 0 => return Err(self.unexpected("a value")),
                TokenKind::Close => depth -= 1,
                TokenKind::Comma if depth == 0 && tokens > 0 => return Ok(()),
                TokenKind::Comma if depth == 0 => return Err(self.unexpected("a value")),
                TokenKind::Word if depth == 0 && tokens > 0 && self.at_word("facet") => {
                    return Ok(());
                }
                TokenKind::End | TokenKind::Semicolon if depth == 0 && tokens > 0 => return Ok(()),
                TokenKind::End | TokenKind::Semicolon | TokenKind::Invalid(_) => {
                    return Err(self.unexpected(if depth > 0 { "`)`" } else { "a value" }));
                }
                _ => {}
            }
            self.next();
            tokens += 1;
        }
    }

    /// Whether the statement has a FROM outside brackets; `FROM dual` does not count.
    pub(super) fn has_from(&self) -> bool {
        self.behind_from().is_some()
    }

    /// A parser behind that FROM; `None`: there is none.
    fn behind_from(&self) -> Option<Parser<'a>> {
        let mut ahead = self.looking();
        let mut depth = 0_u32;
        loop {
            match ahead.peek() {
                TokenKind::Open => depth += 1,
                TokenKind::Close => match depth.checked_sub(1) {
                    Some(less) => depth = less,
                    None => return None,
                },
                TokenKind::Word if depth == 0 && ahead.at_word("from") => {
                    ahead.next();
                    return (!ahead.at_word("dual")).then_some(ahead);
                }
                TokenKind::Word if depth == 0 && ahead.at_word("union") => return None,
                TokenKind::End | TokenKind::Semicolon | TokenKind::Invalid(_) => return None,
                _ => {}
            }
            ahead.next();
        }
    }
}

/// The weight of a joined table's row, from behind the bracket of `weight(t)`. `None`: no table is named.
fn weight_of(lexer: &mut Lexer<'_>) -> std::result::Result<Option<Expression>, LexerError> {
    if lexer.peek().kind == TokenKind::Close {
        return Ok(None);
    }
    let token = lexer.next();
    let table = lexer.name(&token)?.to_lowercase();
    match lexer.take(TokenKind::Close) {
        true => Ok(Some(Expression::Column(format!("{table}.weight()")))),
        false => Err(lexer.unexpected("`)`")),
    }
}

/// Whether a SELECT list without GROUP BY makes all rows one group. COUNT(*) alone does not.
pub(super) fn has_groups(items: &[Item]) -> bool {
    let is_count = |item: &Item| {
        matches!(
            item,
            Item::Value {
                what: Output::Count,
                ..
            }
        )
    };
    let is_aggregate = |item: &Item| match item {
        Item::Value { what, .. } => is_aggregate_output(what),
        Item::Star | Item::TableStar(_) => false,
    };
    items.iter().any(is_aggregate) && !items.iter().all(is_count)
}

pub(super) fn expression_of(output: &Output) -> Expression {
    match output {
        Output::Expression(expression) => expression.clone(),
        Output::Weight => Expression::Column("weight()".to_owned()),
        Output::Count => Expression::Aggregate(AggregateKind::Rows, Vec::new()),
    }
}

pub(super) fn is_aggregate_output(output: &Output) -> bool {
    match output {
        Output::Count => true,
        Output::Weight => false,
        Output::Expression(expression) => expression.has_aggregate(),
    }
}

/// The text of `MATCH('…')`, from behind its opening bracket.
fn match_text(lexer: &mut Lexer<'_>) -> std::result::Result<String, LexerError> {
    if lexer.peek().kind != TokenKind::String {
        return Err(lexer.unexpected("a query text: MATCH('…')"));
    }
    let token = lexer.next();
    let text = String::from_utf8(lexer.string(&token));
    let text = text.map_err(|_| lexer.error(&token, "the query text is not UTF-8"))?;
    if !lexer.take(TokenKind::Close) {
        return Err(lexer.unexpected("`)`"));
    }
    Ok(text)
}

/// Removes [`MATCH_PLACE`] from an expression's chain of AND, and counts the removals. `None`: nothing else is left.
pub(super) fn without_match(expression: Expression, taken: &mut usize) -> Option<Expression> {
    match expression {
        Expression::Column(name) if name == MATCH_PLACE => {
            *taken += 1;
            None
        }
        Expression::Binary(BinaryOperator::And, left, right) => {
            match (without_match(*left, taken), without_match(*right, taken)) {
                (Some(left), Some(right)) => Some(Expression::Binary(
                    BinaryOperator::And,
                    Box::new(left),
                    Box::new(right),
                )),
                (left, right) => left.or(right),
            }
        }
        other => Some(other),
    }
}

/// Parses a LIMIT of one number; `None`: there is no LIMIT.
pub(super) fn limit_of(parser: &mut Parser<'_>) -> Result<Option<u64>> {
    if !parser.take_word("limit") {
        return Ok(None);
    }
    let number =
        digits(parser.peek_bytes()).ok_or_else(|| parser.unexpected("a number of rows"))?;
    parser.next();
    Ok(Some(number))
}

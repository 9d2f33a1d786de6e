//! The parser of expressions: operators by precedence, as in MySQL.
//!
//! A chain of OR or AND becomes a balanced tree, and neighbouring equalities of one column under OR become an IN
//! list. So neither a million terms nor deep brackets exhaust the stack, here or where the tree is evaluated or
//! dropped.

mod calls;

use super::chain::{balanced, equated, lists_of, merge_equalities};
use super::function::Function;
use super::list::List;
use super::literal::{Word, constant, literal, whole_hex, word_literal};
use super::repeat::{Pattern, Read};
use super::row_set::ROW_WIDTH_MAX;
use super::tree::{BinaryOperator, Expression, NODE_BYTES, Over, UnaryOperator};
use crate::json::JsonStep;
use crate::lexer::{Lexer, SyntaxError, Token, TokenKind};
use crate::limits::{EXPRESSION_DEPTH_MAX, EXPRESSION_NODES_MAX, IN_VALUES_MAX};
use crate::value::Value;

/// The caller's parser of `name(…)` inside an expression; the name comes in lower case. It starts with the lexer
/// behind the opening bracket and must leave it behind the closing one. `None`: there is no such function.
pub type Calls<'c> =
    dyn FnMut(&str, &mut Lexer<'_>) -> Result<Option<Expression>, SyntaxError> + 'c;

/// How tightly an operator binds; later variants bind more tightly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Or,
    Xor,
    And,
    Not,
    Comparison,
    BitOr,
    BitAnd,
    Shift,
    Sum,
    Product,
    BitXor,
    Sign,
}

/// What is missing behind `(a, b)`, which may have been meant as a list.
const BEHIND_A_ROW: &str = "IN ((…), …) or = (…) behind a row (a, b); a list as a value has whole numbers alone, as (1, 2)";

/// Memory of a whole number in a list, in bytes: itself, room to grow, and its share of the prepared set.
const WHOLE_BYTES: usize = 6 * size_of::<i64>();

/// The same of another constant, beside twice its text.
const LISTED_BYTES: usize = 3 * size_of::<Value>();

/// A tree and its depth.
struct Built {
    tree: Expression,
    depth: u32,
}

/// The kinds of operators behind an operand.
enum Following {
    /// OR or AND.
    Chain(BinaryOperator),
    /// Comparisons, arithmetic, bits and XOR.
    Binary(BinaryOperator),
    /// `[NOT] IN`, `[NOT] BETWEEN`, IS.
    Predicate,
}

pub(super) struct Parser<'p, 'l, 'c> {
    lexer: &'p mut Lexer<'l>,
    calls: &'p mut Calls<'c>,
    /// Names that may stand before a column's, in lower case.
    tables: &'p [String],
    /// Whether these names stay before the column's.
    keeps_tables: bool,
    nodes: usize,
    in_values: usize,
    /// Whether `0x1F` is a number, and `017` an octal one.
    whole_hex: bool,
    /// Whether the caller gives NOW() its time.
    has_time: bool,
}

impl<'p, 'l, 'c> Parser<'p, 'l, 'c> {
    pub(super) fn new(lexer: &'p mut Lexer<'l>, calls: &'p mut Calls<'c>) -> Self {
        Parser {
            lexer,
            calls,
            tables: &[],
            keeps_tables: false,
            nodes: 0,
            in_values: 0,
            whole_hex: false,
            has_time: false,
        }
    }

    /// Allows these names before a column's.
    pub(super) fn of_tables(mut self, tables: &'p [String]) -> Self {
        self.tables = tables;
        self
    }

    /// Keeps the name of a table before a column's.
    pub(super) fn keeping_tables(mut self) -> Self {
        self.keeps_tables = true;
        self
    }

    /// Allows NOW().
    pub(super) fn with_time(mut self) -> Self {
        self.has_time = true;
        self
    }

    /// Reads numbers as in the conditions of `queue_wait`.
    pub(super) fn with_whole_hex(mut self) -> Self {
        self.whole_hex = true;
        self
    }

    pub(super) fn expression(&mut self) -> Result<Expression, SyntaxError> {
        Ok(self.climb(Binding::Or, 0)?.tree)
    }

    /// Reads an operand, and all operators behind it that bind at least as tightly as `least`.
    fn climb(&mut self, least: Binding, nesting: u32) -> Result<Built, SyntaxError> {
        if nesting > EXPRESSION_DEPTH_MAX {
            return Err(self.too_deep());
        }
        let mut left = self.operand(least, nesting + 1)?;
        while let Some((binding, following)) = self.following()? {
            if binding < least {
                break;
            }
            left = self.one_more(binding, following, left, nesting)?;
        }
        Ok(left)
    }

    /// Reads the rest of `first OR b OR c …`; the cursor stands on the first OR.
    fn chain(
        &mut self,
        operator: BinaryOperator,
        first: Built,
        nesting: u32,
    ) -> Result<Built, SyntaxError> {
        let binding = if operator == BinaryOperator::Or {
            Binding::Or
        } else {
            Binding::And
        };
        let mut depth = first.depth;
        let mut terms = vec![first.tree];
        while matches!(self.following()?, Some((_, Following::Chain(next))) if next == operator) {
            let room = self.lexer.room();
            let from = self.lexer.peek().range.start;
            self.lexer.next();
            let term = self.climb(tighter(binding), nesting + 1)?;
            depth = depth.max(term.depth);
            if operator == BinaryOperator::Or {
                self.push_alternative(&mut terms, term.tree, room)?;
                if let Some(last) = terms.last_mut() {
                    self.repeat(from, lists_of(last))?;
                }
            } else {
                self.count_nodes(1)?;
                terms.push(term.tree);
            }
        }
        let levels = terms.len().next_power_of_two().trailing_zeros();
        let tree = balanced(operator, terms).unwrap_or(Expression::Literal(Value::Null));
        self.built(tree, depth + levels)
    }

    /// Adds a term to a chain of OR, or its constants to the equalities of the same column before it. `room` is the
    /// memory that was left before the term.
    fn push_alternative(
        &mut self,
        terms: &mut Vec<Expression>,
        term: Expression,
        room: usize,
    ) -> Result<(), SyntaxError> {
        let columns = equated(&term);
        match terms.last_mut() {
            Some(last) if !columns.is_empty() && equated(last) == columns => {
                let added = merge_equalities(last, term);
                // Only the term's constants remain: its other memory is returned.
                self.lexer.restore(room);
                for list in lists_of(last) {
                    let texts =
                        (list.len().saturating_sub(added)..list.len()).map(|at| list.get(at));
                    let bytes = texts.map(|value| value.text_bytes().map_or(0, <[u8]>::len));
                    self.lexer.charge(2 * bytes.sum::<usize>())?;
                }
                self.count_values(added, LISTED_BYTES)
            }
            _ => {
                terms.push(term);
                self.count_nodes(1)
            }
        }
    }

    /// The operator that the next token is behind an operand; `None` if it cannot continue the expression.
    fn following(&self) -> Result<Option<(Binding, Following)>, SyntaxError> {
        use BinaryOperator as O;
        use TokenKind as T;
        let comparison = |operator| Some((Binding::Comparison, Following::Binary(operator)));
        match self.lexer.peek().kind {
            T::Equal => Ok(comparison(O::Equal)),
            T::NotEqual => Ok(comparison(O::NotEqual)),
            T::Less => Ok(comparison(O::Less)),
            T::LessOrEqual => Ok(comparison(O::LessOrEqual)),
            T::Greater => Ok(comparison(O::Greater)),
            T::GreaterOrEqual => Ok(comparison(O::GreaterOrEqual)),
            T::And => Ok(Some((Binding::And, Following::Chain(O::And)))),
            T::Or => Ok(Some((Binding::Or, Following::Chain(O::Or)))),
            T::Plus => Ok(Some((Binding::Sum, Following::Binary(O::Add)))),
            T::Minus => Ok(Some((Binding::Sum, Following::Binary(O::Subtract)))),
            T::Star => Ok(Some((Binding::Product, Following::Binary(O::Multiply)))),
            T::Slash => Ok(Some((Binding::Product, Following::Binary(O::Divide)))),
            T::Percent => Ok(Some((Binding::Product, Following::Binary(O::Modulo)))),
            T::Bar => Ok(Some((Binding::BitOr, Following::Binary(O::BitOr)))),
            T::Ampersand => Ok(Some((Binding::BitAnd, Following::Binary(O::BitAnd)))),
            T::ShiftLeft => Ok(Some((Binding::Shift, Following::Binary(O::ShiftLeft)))),
            T::ShiftRight => Ok(Some((Binding::Shift, Following::Binary(O::ShiftRight)))),
            T::Caret => Ok(Some((Binding::BitXor, Following::Binary(O::BitXor)))),
            T::NullSafeEqual => Ok(comparison(O::NullSafeEqual)),
            T::Word => self.following_word(),
            _ => Ok(None),
        }
    }

    fn following_word(&self) -> Result<Option<(Binding, Following)>, SyntaxError> {
        let word = self.lexer.bytes(self.lexer.peek()).to_ascii_uppercase();
        Ok(Some(match word.as_slice() {
            b"AND" => (Binding::And, Following::Chain(BinaryOperator::And)),
            b"OR" => (Binding::Or, Following::Chain(BinaryOperator::Or)),
            b"MOD" => (Binding::Product, Following::Binary(BinaryOperator::Modulo)),
            b"NOT" | b"IN" | b"BETWEEN" | b"IS" | b"LIKE" | b"REGEXP" | b"RLIKE" => {
                (Binding::Comparison, Following::Predicate)
            }
            b"XOR" => (Binding::Xor, Following::Binary(BinaryOperator::Xor)),
            b"DIV" => (
                Binding::Product,
                Following::Binary(BinaryOperator::IntegerDivide),
            ),
            b"COLLATE" => return Err(self.not_yet("COLLATE")),
            b"ANY" | b"ALL" if self.before_bracket() => (Binding::Comparison, Following::Predicate),
            _ => return Ok(None),
        }))
    }

    /// Whether an opening bracket stands behind the next token.
    fn before_bracket(&self) -> bool {
        let mut ahead = self.lexer.clone();
        ahead.next();
        ahead.peek().kind == TokenKind::Open
    }

    /// Reads IN, BETWEEN, LIKE, REGEXP or IS behind an operand; the cursor stands on the first word.
    fn predicate(&mut self, left: Built, nesting: u32) -> Result<Built, SyntaxError> {
        let needle = Box::new(left.tree);
        if self.lexer.take_word("IS") {
            return self.is(needle, left.depth);
        }
        let negated = self.lexer.take_word("NOT");
        let over = match () {
            () if self.lexer.take_word("ANY") => Some(Over::Any),
            () if self.lexer.take_word("ALL") => Some(Over::All),
            () => None,
        };
        if let Some(over) = over {
            return self.among(*needle, over, negated, left.depth);
        }
        if !self.lexer.take_word("IN") {
            return self.between(*needle, negated, left.depth, nesting);
        }
        let list = match self.variable()? {
            Some(name) => List::of_variable(&name),
            None => {
                let (list, moments) = self.in_list(nesting)?;
                if !moments.is_empty() {
                    return self.among_moments(*needle, negated, (list, moments), left.depth);
                }
                list
            }
        };
        let listed = Expression::In {
            needle,
            negated,
            list,
        };
        self.built(listed, left.depth)
    }

    /// Reads `@name`, if it is next; gives the name in lower case.
    fn variable(&mut self) -> Result<Option<String>, SyntaxError> {
        if self.lexer.peek().kind != TokenKind::Variable {
            return Ok(None);
        }
        let written = String::from_utf8_lossy(self.lexer.bytes(self.lexer.peek())).into_owned();
        let name = written.strip_prefix('@').unwrap_or_default();
        if name.starts_with('@') {
            return Err(self.not_yet("variables of the server in expressions"));
        }
        if !self.has_time {
            return Err(self.not_yet("variables in expressions that outlive their statement"));
        }
        self.lexer.next();
        self.lexer.charge(name.len())?;
        Ok(Some(name.to_lowercase()))
    }

    /// Reads the list of `m ANY (…)`, Manticore's way of writing `any(m) IN (…)`.
    fn among(
        &mut self,
        needle: Expression,
        over: Over,
        negated: bool,
        depth: u32,
    ) -> Result<Built, SyntaxError> {
        let Expression::Column(_) = &needle else {
            return Err(self.lexer.unexpected("a column before ANY"));
        };
        let (list, moments) = self.in_list(0)?;
        if !moments.is_empty() {
            return Err(self.not_yet("NOW() in the list of ANY"));
        }
        let listed = Expression::In {
            needle: Box::new(Expression::Column("x".to_owned())),
            negated,
            list,
        };
        self.count_nodes(2)?;
        let each = Expression::Each {
            over,
            variable: "x".to_owned(),
            list: Box::new(needle),
            condition: Box::new(listed),
        };
        self.built(each, depth)
    }

    /// Reads `BETWEEN low AND high`, LIKE or REGEXP, behind NOT.
    fn between(
        &mut self,
        needle: Expression,
        negated: bool,
        depth: u32,
        nesting: u32,
    ) -> Result<Built, SyntaxError> {
        if !self.lexer.take_word("BETWEEN") {
            let patterns = ["LIKE", "REGEXP", "RLIKE"];
            return match patterns.iter().any(|word| self.lexer.at_word(word)) {
                true => self.pattern(needle, negated, depth, nesting),
                false => Err(self.lexer.unexpected("IN or BETWEEN")),
            };
        }
        let low = self.climb(Binding::BitOr, nesting + 1)?;
        if !self.lexer.take_word("AND") {
            return Err(self.lexer.unexpected("AND"));
        }
        let high = self.climb(Binding::BitOr, nesting + 1)?;
        let depth = depth.max(low.depth).max(high.depth);
        let between = Expression::Between {
            needle: Box::new(needle),
            negated,
            low: Box::new(low.tree),
            high: Box::new(high.tree),
        };
        self.built(between, depth)
    }

    /// Reads `[NOT] NULL`, TRUE or FALSE, behind IS.
    fn is(&mut self, needle: Box<Expression>, depth: u32) -> Result<Built, SyntaxError> {
        let negated = self.lexer.take_word("NOT");
        let operator = if self.lexer.take_word("TRUE") {
            UnaryOperator::IsTrue
        } else if self.lexer.take_word("FALSE") {
            UnaryOperator::IsFalse
        } else if self.lexer.take_word("NULL") {
            return self.built(Expression::IsNull { needle, negated }, depth);
        } else {
            return Err(self.lexer.unexpected("NULL, TRUE or FALSE"));
        };
        let is = self.built(Expression::Unary(operator, needle), depth)?;
        if negated {
            return self.unary(UnaryOperator::Not, is);
        }
        Ok(is)
    }

    /// Reads `(1, 'a', -2)` or `()`.
    pub(super) fn list(&mut self) -> Result<List, SyntaxError> {
        if !self.lexer.take(TokenKind::Open) {
            return Err(self.lexer.unexpected("("));
        }
        match self.lexer.take(TokenKind::Close) {
            true => Ok(List::default()),
            false => self.listed_to_bracket(&mut |_| Ok(false)),
        }
    }

    /// `a IN (1, NOW())` as `a IN (1) OR a = NOW()`.
    fn among_moments(
        &mut self,
        needle: Expression,
        negated: bool,
        (list, moments): (List, Vec<Expression>),
        depth: u32,
    ) -> Result<Built, SyntaxError> {
        // A copy of any other for each moment could double at each level.
        if !matches!(needle, Expression::Column(_)) {
            return Err(self.not_yet(
                "NOW() in the list of IN beside what is no column: write a = b OR a = c",
            ));
        }
        let levels = moments.len().next_power_of_two().trailing_zeros() + 3;
        let depth = moments.iter().map(Expression::depth).fold(depth, u32::max);
        self.count_nodes(3 * moments.len() + 2)?;
        let mut terms = Vec::with_capacity(moments.len() + 1);
        for moment in moments {
            let (of, moment) = (Box::new(needle.clone()), Box::new(moment));
            terms.push(Expression::Binary(BinaryOperator::Equal, of, moment));
        }
        if !list.is_empty() {
            terms.push(Expression::In {
                needle: Box::new(needle),
                negated: false,
                list,
            });
        }
        let any = Expression::any_of(terms);
        let any = match negated {
            true => Expression::Unary(UnaryOperator::Not, Box::new(any)),
            false => any,
        };
        self.built(any, depth + levels)
    }

    /// Reads `(1, 'a', NOW())`: the constants, and the moments among them.
    fn in_list(&mut self, nesting: u32) -> Result<(List, Vec<Expression>), SyntaxError> {
        if !self.lexer.take(TokenKind::Open) {
            return Err(self.lexer.unexpected("("));
        }
        if self.lexer.at_word("SELECT") {
            return Err(self.not_yet("SELECT in the list of IN: join the tables"));
        }
        let mut moments = Vec::new();
        let mut moment = |parser: &mut Self| {
            if !at_column(parser.lexer) {
                return Ok(false);
            }
            let at = parser.lexer.peek().clone();
            let of = parser.climb(Binding::BitOr, nesting + 1)?.tree;
            if of.first_column().is_some() || !of.is_of_the_moment() {
                let message = "not yet: columns in the list of IN: write a = b OR a = c";
                return Err(parser.lexer.error(&at, message));
            }
            moments.push(of);
            Ok(true)
        };
        let list = self.listed_to_bracket(&mut moment)?;
        Ok((list, moments))
    }

    /// Reads `1, 'a', -2)`. `other` reads what is no constant of the list, and tells whether it did.
    fn listed_to_bracket(
        &mut self,
        other: &mut dyn FnMut(&mut Self) -> Result<bool, SyntaxError>,
    ) -> Result<List, SyntaxError> {
        let (mut list, mut is_first) = (List::default(), true);
        loop {
            let from = self.lexer.peek().range.start;
            if !is_first && !self.lexer.take(TokenKind::Comma) {
                return Err(self.lexer.unexpected(", or )"));
            }
            is_first = false;
            if !other(self)? {
                list.push(self.listed()?);
                self.repeat(from, std::slice::from_mut(&mut list))?;
            }
            if self.lexer.take(TokenKind::Close) {
                return Ok(list);
            }
        }
    }

    /// Reads a constant of a list.
    fn listed(&mut self) -> Result<Value, SyntaxError> {
        let value = constant(self.lexer)?;
        let text = value.text_bytes().map_or(0, <[u8]>::len);
        self.count_values(1, listed_bytes(&value) + 2 * text)?;
        Ok(value)
    }

    /// Reads `[NOT] IN ((1, 2), (3, 4))`, or `= (1, 2)`, behind `(a, b)`.
    fn rows(&mut self, needles: Vec<Expression>, depth: u32) -> Result<Built, SyntaxError> {
        if needles.len() > ROW_WIDTH_MAX {
            return Err(self.error(&format!("a row has more than {ROW_WIDTH_MAX} values")));
        }
        let mut columns = vec![List::default(); needles.len()];
        if self.lexer.take(TokenKind::Equal) {
            self.row(&mut columns)?;
            let pairs = needles.into_iter().zip(columns).map(|(needle, list)| {
                let constant = Box::new(Expression::of_listed(list.get(0)));
                Expression::Binary(BinaryOperator::Equal, Box::new(needle), constant)
            });
            let levels = pairs.len().next_power_of_two().trailing_zeros() + 1;
            return self.built(Expression::all_of(pairs.collect()), depth + levels);
        }
        let negated = self.lexer.take_word("NOT");
        if !self.lexer.take_word("IN") {
            return Err(self.lexer.unexpected(BEHIND_A_ROW));
        }
        if !self.lexer.take(TokenKind::Open) {
            return Err(self.lexer.unexpected("IN ((…), …) behind a row"));
        }
        loop {
            let from = self.lexer.peek().range.start;
            if !columns[0].is_empty() && !self.lexer.take(TokenKind::Comma) {
                return Err(self.lexer.unexpected(", or )"));
            }
            self.row(&mut columns)?;
            self.repeat(from, &mut columns)?;
            if self.lexer.take(TokenKind::Close) {
                break;
            }
        }
        let listed = Expression::InRows {
            needles,
            negated,
            columns,
        };
        self.built(listed, depth)
    }

    /// Reads `(1, 'a')` and adds each constant to its list.
    fn row(&mut self, columns: &mut [List]) -> Result<(), SyntaxError> {
        if !self.lexer.take(TokenKind::Open) {
            return Err(self.lexer.unexpected("a row in brackets"));
        }
        let width = columns.len();
        for (place, list) in columns.iter_mut().enumerate() {
            if place > 0 && !self.lexer.take(TokenKind::Comma) {
                return Err(self.error(&format!("a row needs {width} values here, as before IN")));
            }
            list.push(self.listed()?);
        }
        match self.lexer.take(TokenKind::Close) {
            true => Ok(()),
            false => Err(self.error(&format!("a row needs {width} values here, as before IN"))),
        }
    }

    /// Reads on as long as the part behind byte `from`, whose constants end the lists, comes again with others.
    fn repeat(&mut self, from: usize, lists: &mut [List]) -> Result<(), SyntaxError> {
        let begin = self.lexer.peek().range.start;
        let text = self.lexer.text();
        let Some((pattern, mut constants)) = Pattern::of(&text[from..begin]) else {
            return Ok(());
        };
        let ends = |(list, read): (&List, &Read<'_>)| {
            list.len()
                .checked_sub(1)
                .is_some_and(|last| list.get(last) == read.value())
        };
        if constants.len() != lists.len() || !lists.iter().zip(&constants).all(ends) {
            return Ok(());
        }
        let mut at = begin;
        while let Some(bytes) = pattern.read(&text[at..], &mut constants) {
            for (list, read) in lists.iter_mut().zip(&constants) {
                match *read {
                    Read::Whole(number) => {
                        self.count_values(1, WHOLE_BYTES)?;
                        list.push_whole(number);
                    }
                    Read::Text(text) => {
                        self.count_values(1, LISTED_BYTES + 2 * text.len())?;
                        list.push_text(text);
                    }
                }
            }
            at += bytes;
        }
        if at > begin {
            self.lexer.seek(at);
        }
        Ok(())
    }

    /// Reads a constant, a column, a call, brackets, or an operator before one of these.
    fn operand(&mut self, least: Binding, nesting: u32) -> Result<Built, SyntaxError> {
        if self.whole_hex
            && let Some(number) = whole_hex(self.lexer)?
        {
            return self.built(Expression::Literal(Value::Int(number)), 0);
        }
        if let Some(value) = literal(self.lexer)? {
            let bytes = value.text_bytes().map_or(0, <[u8]>::len);
            self.lexer.charge(2 * bytes)?;
            return self.built(Expression::Literal(value), 0);
        }
        match self.lexer.peek().kind {
            TokenKind::Open => self.brackets(nesting),
            TokenKind::Minus => {
                self.lexer.next();
                let operand = self.climb(Binding::Sign, nesting)?;
                match operand.tree {
                    Expression::Literal(Value::Int(number)) => {
                        self.built(Expression::Literal(Value::Int(-number)), 0)
                    }
                    Expression::Literal(Value::Float(number)) => {
                        self.built(Expression::Literal(Value::Float(-number)), 0)
                    }
                    tree => self.unary(
                        UnaryOperator::Minus,
                        Built {
                            tree,
                            depth: operand.depth,
                        },
                    ),
                }
            }
            TokenKind::Bang => {
                self.lexer.next();
                let operand = self.climb(Binding::Sign, nesting)?;
                self.unary(UnaryOperator::Not, operand)
            }
            TokenKind::Word if self.lexer.at_word("NOT") && least <= Binding::Not => {
                self.lexer.next();
                let operand = self.climb(Binding::Not, nesting)?;
                self.unary(UnaryOperator::Not, operand)
            }
            TokenKind::Word | TokenKind::Quoted => self.named(nesting),
            TokenKind::Variable => {
                let name = self.variable()?.unwrap_or_default();
                self.built(Expression::Variable(name), 0)
            }
            TokenKind::Tilde => {
                self.lexer.next();
                let operand = self.climb(Binding::Sign, nesting)?;
                self.unary(UnaryOperator::BitNot, operand)
            }
            _ => Err(self.lexer.unexpected("a value")),
        }
    }

    fn brackets(&mut self, nesting: u32) -> Result<Built, SyntaxError> {
        self.lexer.next();
        if self.lexer.take(TokenKind::Close) {
            return self.built(Expression::Literal(Value::Set([].into())), 0);
        }
        let inside = self.climb(Binding::Or, nesting)?;
        if self.lexer.peek().kind == TokenKind::Comma {
            return self.several(inside, nesting);
        }
        if !self.lexer.take(TokenKind::Close) {
            return Err(self.lexer.unexpected(")"));
        }
        Ok(inside)
    }

    /// Reads the rest of `(a, b) IN (…)` or of `(1, 2, 3)`, a set, behind its first value.
    fn several(&mut self, first: Built, nesting: u32) -> Result<Built, SyntaxError> {
        let mut depth = first.depth;
        let mut values = vec![first.tree];
        while self.lexer.take(TokenKind::Comma) {
            self.count_values(1, LISTED_BYTES)?;
            let next = self.climb(Binding::Or, nesting + 1)?;
            depth = depth.max(next.depth);
            values.push(next.tree);
        }
        if !self.lexer.take(TokenKind::Close) {
            return Err(self.lexer.unexpected(", or )"));
        }
        let whole = |value: &Expression| match value {
            Expression::Literal(Value::Int(number)) => i64::try_from(*number).ok(),
            _ => None,
        };
        let negates = self.lexer.at_word("NOT");
        if !negates
            && !self.lexer.at_word("IN")
            && let Some(numbers) = values.iter().map(whole).collect::<Option<Vec<i64>>>()
        {
            return self.built(Expression::Literal(Value::Set(numbers.into())), 0);
        }
        self.rows(values, depth)
    }

    /// Reads TRUE, FALSE, NULL, a column or a call.
    fn named(&mut self, nesting: u32) -> Result<Built, SyntaxError> {
        match word_literal(self.lexer) {
            Some(Word::Null) => return self.built(Expression::Literal(Value::Null), 0),
            Some(Word::Truth(truth)) => return self.built(Expression::Truth(truth), 0),
            None => {}
        }
        if self.lexer.at_word("CASE") {
            return self.case(nesting);
        }
        if self.lexer.at_word("IN") && self.before_bracket() {
            return self.in_call(nesting);
        }
        if is_reserved(self.lexer) {
            return Err(self.lexer.unexpected("a value"));
        }
        let token = self.lexer.next();
        let written = self.lexer.name(&token)?;
        let name = written.to_lowercase();
        let column = match self.lexer.peek().kind {
            TokenKind::Open if token.kind == TokenKind::Word => {
                self.lexer.next();
                return self.call(&token, &name, nesting);
            }
            TokenKind::Dot | TokenKind::OpenBracket => self.qualified(&token, written)?,
            _ if token.kind == TokenKind::Word && self.has_time && Function::is_bare(&name) => {
                let function = Function::named(&name).unwrap_or(Function::Now);
                return self.called(&token, function, Vec::new(), 0);
            }
            _ => {
                self.lexer.charge(name.len())?;
                Expression::Column(name)
            }
        };
        self.built(column, 0)
    }

    /// Reads a column's name, or the path of a value in its document, where it is set.
    pub(super) fn place(&mut self) -> Result<(String, Vec<JsonStep>), SyntaxError> {
        if !matches!(self.lexer.peek().kind, TokenKind::Word | TokenKind::Quoted) {
            return Err(self.lexer.unexpected("a column name"));
        }
        let token = self.lexer.next();
        let name = self.lexer.name(&token)?;
        self.path(&token, name)
    }

    /// Reads the rest of `t.column`, `db.t.column` or `column.key[2]`, behind the first name.
    fn qualified(&mut self, token: &Token, name: String) -> Result<Expression, SyntaxError> {
        let (column, steps) = self.path(token, name)?;
        Ok(match steps.is_empty() {
            true => Expression::Column(column),
            false => Expression::Path { column, steps },
        })
    }

    /// As [`Parser::qualified`]: the column in lower case, and the steps behind it. Any database name passes.
    fn path(
        &mut self,
        token: &Token,
        name: String,
    ) -> Result<(String, Vec<JsonStep>), SyntaxError> {
        // Names as written: those of tables and columns have no case, keys of JSON have.
        let mut steps = vec![JsonStep::Key(name)];
        loop {
            if self.lexer.take(TokenKind::Dot) {
                if !matches!(self.lexer.peek().kind, TokenKind::Word | TokenKind::Quoted) {
                    return Err(self.lexer.unexpected("a column name"));
                }
                let next = self.lexer.next();
                steps.push(JsonStep::Key(self.lexer.name(&next)?));
            } else if self.lexer.take(TokenKind::OpenBracket) {
                steps.push(self.bracketed()?);
            } else {
                break;
            }
            self.count_nodes(1)?;
        }
        let is_table = |at: usize| match steps.get(at) {
            Some(JsonStep::Key(name)) => self.tables.contains(&name.to_lowercase()),
            _ => false,
        };
        let before: usize = match (is_table(0), is_table(1) && steps.len() > 2) {
            (true, _) => 1,
            (false, true) => 2,
            (false, false) => 0,
        };
        let table = match (
            before.checked_sub(1).and_then(|at| steps.get(at)),
            self.keeps_tables,
        ) {
            (Some(JsonStep::Key(table)), true) => format!("{}.", table.to_lowercase()),
            _ => String::new(),
        };
        let mut steps = steps.into_iter().skip(before);
        let Some(JsonStep::Key(column)) = steps.next() else {
            return Err(self.lexer.error(token, "expected a column name"));
        };
        let column = table + &column.to_lowercase();
        self.lexer.charge(column.len())?;
        Ok((column, steps.collect()))
    }

    /// Reads `'key']` or `2]`, behind the bracket.
    fn bracketed(&mut self) -> Result<JsonStep, SyntaxError> {
        let step = match literal(self.lexer)? {
            Some(Value::Str(key)) => JsonStep::Key(key),
            Some(Value::Int(number)) if u32::try_from(number).is_ok() => {
                JsonStep::Item(number as u32)
            }
            _ => {
                return Err(self
                    .lexer
                    .unexpected("a key in quotes or the number of an item"));
            }
        };
        match self.lexer.take(TokenKind::CloseBracket) {
            true => Ok(step),
            false => Err(self.lexer.unexpected("]")),
        }
    }

    fn unary(&mut self, operator: UnaryOperator, operand: Built) -> Result<Built, SyntaxError> {
        self.built(
            Expression::Unary(operator, Box::new(operand.tree)),
            operand.depth,
        )
    }

    /// Counts a node over trees of depth `below`.
    fn built(&mut self, tree: Expression, below: u32) -> Result<Built, SyntaxError> {
        self.count_nodes(1)?;
        if below >= EXPRESSION_DEPTH_MAX {
            return Err(self.too_deep());
        }
        Ok(Built {
            tree,
            depth: below + 1,
        })
    }

    fn count_nodes(&mut self, more: usize) -> Result<(), SyntaxError> {
        self.lexer.charge(more * NODE_BYTES)?;
        self.nodes += more;
        if self.nodes > EXPRESSION_NODES_MAX {
            return Err(self.error(&format!(
                "expression has more than {EXPRESSION_NODES_MAX} nodes"
            )));
        }
        Ok(())
    }

    /// Counts constants of lists, each of which takes `bytes` of memory.
    fn count_values(&mut self, more: usize, bytes: usize) -> Result<(), SyntaxError> {
        self.lexer.charge(more * bytes)?;
        self.in_values += more;
        if self.in_values > IN_VALUES_MAX {
            return Err(self.error(&format!("IN lists have more than {IN_VALUES_MAX} values")));
        }
        Ok(())
    }

    fn too_deep(&self) -> SyntaxError {
        self.error(&format!(
            "expression is nested deeper than {EXPRESSION_DEPTH_MAX}"
        ))
    }

    fn not_yet(&self, what: &str) -> SyntaxError {
        self.error(&format!("not yet: {what}"))
    }

    fn error(&self, message: &str) -> SyntaxError {
        self.lexer.error(self.lexer.peek(), message)
    }
}

/// Memory of a constant in a list, without its text.
fn listed_bytes(value: &Value) -> usize {
    match value {
        Value::Int(_) => WHOLE_BYTES,
        _ => LISTED_BYTES,
    }
}

/// The least binding of the right side of a left-associative operator.
fn tighter(binding: Binding) -> Binding {
    match binding {
        Binding::Or => Binding::Xor,
        Binding::Xor => Binding::And,
        Binding::And => Binding::Not,
        Binding::Not => Binding::Comparison,
        Binding::Comparison => Binding::BitOr,
        Binding::BitOr => Binding::BitAnd,
        Binding::BitAnd => Binding::Shift,
        Binding::Shift => Binding::Sum,
        Binding::Sum => Binding::Product,
        Binding::Product => Binding::BitXor,
        Binding::BitXor | Binding::Sign => Binding::Sign,
    }
}

/// Words that name no column where a value must stand, unless in backticks.
const RESERVED: [&str; 18] = [
    "AND", "BETWEEN", "BY", "FROM", "GROUP", "HAVING", "IN", "IS", "LIMIT", "NOT", "OPTION", "OR",
    "ORDER", "SELECT", "WHERE", "CASE", "DIV", "XOR",
];

/// Whether a name stands next that is no constant: a column.
fn at_column(lexer: &Lexer<'_>) -> bool {
    let constants = ["TRUE", "FALSE", "NULL"];
    match lexer.peek().kind {
        TokenKind::Quoted => true,
        TokenKind::Word => {
            let is_constant = constants.iter().any(|word| lexer.at_word(word));
            !is_constant && !lexer.bytes(lexer.peek()).starts_with(b"_")
        }
        _ => false,
    }
}

fn is_reserved(lexer: &Lexer<'_>) -> bool {
    RESERVED.iter().any(|word| lexer.at_word(word))
}

/// Whether a name needs backticks inside an expression: a reserved word, a constant, or an operator in letters.
pub(super) fn is_keyword(name: &str) -> bool {
    let others = [
        "TRUE", "FALSE", "NULL", "MOD", "LIKE", "REGEXP", "RLIKE", "COLLATE", "WHEN", "THEN",
        "ELSE", "END", "FOR", "ANY", "ALL", "INTERVAL",
    ];
    let words = RESERVED.iter().chain(&others);
    name.starts_with('_')
        || words
            .into_iter()
            .any(|word| word.eq_ignore_ascii_case(name))
}

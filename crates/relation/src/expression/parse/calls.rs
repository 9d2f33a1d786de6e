//! The parser of functions, CASE, and conditions on the items of a list.

use std::collections::BTreeMap;

use super::{Binding, Built, Following, Parser, at_column};
use crate::expression::aggregate::{AggregateKind, Gives as AggregateGives, Takes};
use crate::expression::call::{Known, growth, listed};
use crate::expression::function::{Function, refusal};
use crate::expression::tree::{BinaryOperator, Expression, LONG_REGEX_UNITS, Over, compiles_long};
use crate::json::{JSON_BYTES_MAX, Json};
use crate::lexer::{SyntaxError, TOO_MUCH_WORK, Token, TokenKind};
use crate::time_unit;
use crate::value::Value;

/// The column that stands for an item of `ANY(list)` until the condition behind it is read. No column has an empty name.
const ITEM: &str = "";

impl Parser<'_, '_, '_> {
    /// Reads the rest of `name(…)`, behind its opening bracket.
    pub(super) fn call(
        &mut self,
        token: &Token,
        name: &str,
        nesting: u32,
    ) -> Result<Built, SyntaxError> {
        if let Some(expression) = (self.calls)(name, self.lexer)? {
            return self.built(expression, 0);
        }
        let two = |operator| move |left, right| Expression::Binary(operator, left, right);
        match name {
            "pow" | "power" => return self.two(nesting, two(BinaryOperator::Power)),
            "idiv" => return self.two(nesting, two(BinaryOperator::IntegerDivide)),
            "mod" => return self.two(nesting, two(BinaryOperator::Modulo)),
            "any" => return self.each(Over::Any, nesting),
            "all" => return self.each(Over::All, nesting),
            "indexof" => return self.each(Over::Index, nesting),
            "weight" if self.lexer.take(TokenKind::Close) => {
                return self.built(Expression::Column("weight()".to_owned()), 0);
            }
            "groupby" if self.lexer.take(TokenKind::Close) => {
                return self.built(Expression::Column("groupby()".to_owned()), 0);
            }
            _ => {}
        }
        if self.has_time
            && let Some(aggregate) = self.aggregate(name, nesting)?
        {
            return Ok(aggregate);
        }
        let function = Function::named(name).filter(|known| {
            let is_clock = known.is_of_the_moment() && *known != Function::Rand;
            self.has_time || !is_clock
        });
        let Some(function) = function else {
            return Err(self.lexer.error(token, &refusal(name)));
        };
        let (mut arguments, mut depth) = (Vec::new(), 0);
        while !self.lexer.take(TokenKind::Close) {
            if !arguments.is_empty() && !self.lexer.take(TokenKind::Comma) {
                return Err(self.lexer.unexpected(", or )"));
            }
            let moves = matches!(function, Function::DateAdd | Function::DateSub);
            if moves && arguments.len() == 1 && self.lexer.take_word("INTERVAL") {
                let count = self.climb(Binding::Or, nesting + 1)?;
                depth = depth.max(count.depth);
                arguments.push(count.tree);
                arguments.push(self.unit()?);
                continue;
            }
            let argument = self.argument(function, arguments.len(), nesting)?;
            depth = depth.max(argument.depth);
            arguments.push(argument.tree);
        }
        self.called(token, function, arguments, depth)
    }

    /// Reads the rest of an aggregate; `None`: the name is none.
    fn aggregate(&mut self, name: &str, nesting: u32) -> Result<Option<Built>, SyntaxError> {
        let Some(kind) = AggregateKind::named(name).find(|kind| match kind.takes() {
            Takes::Star => self.lexer.take(TokenKind::Star),
            Takes::Distinct => self.lexer.take_word("DISTINCT"),
            Takes::One | Takes::Several => true,
        }) else {
            return Ok(None);
        };
        let (mut arguments, mut depth, mut kind) = (Vec::new(), 0, kind.clone());
        if kind.takes() != Takes::Star {
            loop {
                let argument = self.climb(Binding::Or, nesting + 1)?;
                depth = depth.max(argument.depth);
                arguments.push(argument.tree);
                if !self.lexer.take(TokenKind::Comma) {
                    break;
                }
            }
        }
        if let AggregateKind::Concat(separator) = &mut kind {
            if self.lexer.at_word("ORDER") {
                return Err(self.not_yet("ORDER BY in GROUP_CONCAT"));
            }
            *separator = match self.lexer.take_word("SEPARATOR") {
                true => self.listed()?.to_string(),
                false => ",".to_owned(),
            };
        }
        // MIN and MAX of two values are functions.
        if kind.gives() == AggregateGives::Argument
            && arguments.len() == 2
            && let Some(function) = Function::named(name)
            && self.lexer.take(TokenKind::Close)
        {
            return self
                .built(Expression::Call(function, arguments), depth)
                .map(Some);
        }
        let takes_several = matches!(kind.takes(), Takes::Distinct | Takes::Several);
        if arguments.len() > 1 && !takes_several {
            return Err(self.error(&format!("{name}() takes one argument")));
        }
        if arguments.iter().any(Expression::has_aggregate) {
            return Err(self.error(&format!("{name}() of an aggregate")));
        }
        if !self.lexer.take(TokenKind::Close) {
            return Err(self.lexer.unexpected(", or )"));
        }
        self.built(Expression::Aggregate(kind, arguments), depth)
            .map(Some)
    }

    /// A call, unless its arguments are refused at its name.
    pub(super) fn called(
        &mut self,
        token: &Token,
        function: Function,
        arguments: Vec<Expression>,
        depth: u32,
    ) -> Result<Built, SyntaxError> {
        if compiles_long(function, &arguments) && self.lexer.work() < LONG_REGEX_UNITS {
            return Err(self.lexer.error(token, TOO_MUCH_WORK));
        }
        let known = check(function, &arguments);
        let known = known.map_err(|message| self.lexer.error(token, &message))?;
        if !self.lexer.spend(known.units()) {
            return Err(self.lexer.error(token, TOO_MUCH_WORK));
        }
        self.lexer.charge(growth(function, &arguments))?;
        self.built(Expression::Call(function, arguments), depth)
    }

    /// Reads an argument, by its place from 0, or `{name=value, …}` as the text of a JSON object.
    fn argument(
        &mut self,
        function: Function,
        place: usize,
        nesting: u32,
    ) -> Result<Built, SyntaxError> {
        match self.lexer.peek().kind {
            TokenKind::OpenBrace => {}
            TokenKind::Open if function == Function::Remap && place > 1 => {
                return self.list_of_remap(nesting);
            }
            _ => return self.climb(Binding::Or, nesting + 1),
        }
        self.lexer.next();
        let mut members = BTreeMap::new();
        while !self.lexer.take(TokenKind::CloseBrace) {
            if !members.is_empty() && !self.lexer.take(TokenKind::Comma) {
                return Err(self.lexer.unexpected(", or }"));
            }
            let token = self.lexer.next();
            let key = match token.kind {
                TokenKind::String => {
                    String::from_utf8_lossy(&self.lexer.string(&token)).into_owned()
                }
                _ => self.lexer.name(&token)?,
            };
            if !self.lexer.take(TokenKind::Equal) && !self.lexer.take(TokenKind::Colon) {
                return Err(self.lexer.unexpected("="));
            }
            let value = match self.lexer.peek().kind {
                TokenKind::Word => {
                    let word = self.lexer.next();
                    Value::Str(self.lexer.name(&word)?)
                }
                _ => self.listed()?,
            };
            members.insert(key, value.to_json());
        }
        let mut text = Vec::new();
        Json::of_members(&members).write_text(&mut text);
        if text.len() > JSON_BYTES_MAX {
            return Err(self.error("options are too long"));
        }
        let text = String::from_utf8_lossy(&text).into_owned();
        self.built(Expression::Literal(Value::Str(text)), 0)
    }

    /// Reads `(1, 2.5)` or `('a', 'b')` of REMAP, or an expression in brackets.
    fn list_of_remap(&mut self, nesting: u32) -> Result<Built, SyntaxError> {
        let token = self.lexer.peek().clone();
        if !self.opens_list() {
            return self.climb(Binding::Or, nesting + 1);
        }
        let list = self.list()?;
        let value = listed(&list);
        let value = value.map_err(|what| self.lexer.error(&token, &format!("remap() {what}")));
        self.built(Expression::Literal(value?), 0)
    }

    /// Whether the bracket that is next holds nothing, one constant, or something with a comma behind it.
    fn opens_list(&self) -> bool {
        let mut ahead = self.lexer.clone();
        ahead.next();
        if ahead.take(TokenKind::Close) {
            return true;
        }
        if matches!(ahead.peek().kind, TokenKind::Minus | TokenKind::Plus) {
            ahead.next();
        }
        let is_column = at_column(&ahead);
        ahead.next();
        match ahead.peek().kind {
            TokenKind::Comma => true,
            TokenKind::Close => !is_column,
            _ => false,
        }
    }

    /// Whether `INTERVAL 1 DAY` comes next behind `+` or `-`, and not the function of that name.
    fn at_interval(&self, operator: BinaryOperator) -> bool {
        matches!(operator, BinaryOperator::Add | BinaryOperator::Subtract)
            && self.lexer.at_word("INTERVAL")
            && !self.before_bracket()
    }

    /// Reads `INTERVAL 1 DAY` behind `+` or `-`.
    fn moved(
        &mut self,
        operator: BinaryOperator,
        left: Built,
        nesting: u32,
    ) -> Result<Built, SyntaxError> {
        let function = match operator {
            BinaryOperator::Subtract => Function::DateSub,
            _ => Function::DateAdd, // `at_interval` knows no third one
        };
        let token = self.lexer.next();
        let count = self.climb(Binding::Or, nesting + 1)?;
        let depth = left.depth.max(count.depth);
        let arguments = vec![left.tree, count.tree, self.unit()?];
        self.called(&token, function, arguments, depth)
    }

    /// The unit of `INTERVAL n unit`.
    fn unit(&mut self) -> Result<Expression, SyntaxError> {
        if self.lexer.peek().kind != TokenKind::Word {
            return Err(self.lexer.unexpected("a unit"));
        }
        let token = self.lexer.next();
        let unit = time_unit::folded(&self.lexer.name(&token)?).into_owned();
        self.count_nodes(1)?;
        Ok(Expression::Literal(Value::Str(unit)))
    }

    /// Reads the rest of `f(a, b)`, which is an operator.
    fn two(
        &mut self,
        nesting: u32,
        make: impl FnOnce(Box<Expression>, Box<Expression>) -> Expression,
    ) -> Result<Built, SyntaxError> {
        let left = self.climb(Binding::Or, nesting + 1)?;
        if !self.lexer.take(TokenKind::Comma) {
            return Err(self.lexer.unexpected("`,`"));
        }
        let right = self.climb(Binding::Or, nesting + 1)?;
        if !self.lexer.take(TokenKind::Close) {
            return Err(self.lexer.unexpected(")"));
        }
        let depth = left.depth.max(right.depth);
        let (left, right) = (Box::new(left.tree), Box::new(right.tree));
        self.built(make(left, right), depth)
    }

    /// Reads `IN(x, 1, 2)`, Sphinx's other form of `x IN (1, 2)`.
    pub(super) fn in_call(&mut self, nesting: u32) -> Result<Built, SyntaxError> {
        self.lexer.next();
        self.lexer.next();
        let needle = self.climb(Binding::Or, nesting + 1)?;
        if !self.lexer.take(TokenKind::Comma) {
            return Err(self.lexer.unexpected("`,`"));
        }
        let list = self.listed_to_bracket(&mut |_| Ok(false))?;
        let listed = Expression::In {
            needle: Box::new(needle.tree),
            negated: false,
            list,
        };
        self.built(listed, needle.depth)
    }

    /// Reads `CASE [x] WHEN a THEN b … [ELSE c] END`.
    pub(super) fn case(&mut self, nesting: u32) -> Result<Built, SyntaxError> {
        let token = self.lexer.next();
        let nodes = self.nodes;
        let subject = match self.lexer.at_word("WHEN") {
            true => None,
            false => Some(self.climb(Binding::Or, nesting + 1)?),
        };
        let subject_nodes = self.nodes - nodes;
        let (mut arguments, mut depth) = (Vec::new(), 0);
        while self.lexer.take_word("WHEN") {
            let mut condition = self.climb(Binding::Or, nesting + 1)?;
            if let Some(subject) = &subject {
                self.count_nodes(subject_nodes)?; // each condition has a copy of it
                let below = subject.depth.max(condition.depth);
                let (left, right) = (Box::new(subject.tree.clone()), Box::new(condition.tree));
                let equal = Expression::Binary(BinaryOperator::Equal, left, right);
                condition = self.built(equal, below)?;
            }
            self.word("THEN")?;
            let value = self.climb(Binding::Or, nesting + 1)?;
            depth = depth.max(condition.depth).max(value.depth);
            arguments.extend([condition.tree, value.tree]);
        }
        if arguments.is_empty() {
            return Err(self.lexer.unexpected("WHEN"));
        }
        if self.lexer.take_word("ELSE") {
            let value = self.climb(Binding::Or, nesting + 1)?;
            depth = depth.max(value.depth);
            arguments.push(value.tree);
        }
        self.word("END")?;
        self.called(&token, Function::Case, arguments, depth)
    }

    fn word(&mut self, word: &str) -> Result<(), SyntaxError> {
        match self.lexer.take_word(word) {
            true => Ok(()),
            false => Err(self.lexer.unexpected(word)),
        }
    }

    /// Reads `[NOT] LIKE pattern` or `[NOT] REGEXP pattern`, behind NOT; the cursor stands on the word.
    pub(super) fn pattern(
        &mut self,
        needle: Expression,
        negated: bool,
        depth: u32,
        nesting: u32,
    ) -> Result<Built, SyntaxError> {
        let token = self.lexer.next();
        let function = match self.lexer.bytes(&token).eq_ignore_ascii_case(b"LIKE") {
            true => Function::Like,
            false => Function::Regexp,
        };
        let pattern = self.climb(Binding::BitOr, nesting + 1)?;
        let depth = depth.max(pattern.depth);
        let mut arguments = vec![needle, pattern.tree];
        if function == Function::Like && self.lexer.take_word("ESCAPE") {
            arguments.push(self.climb(Binding::BitOr, nesting + 1)?.tree);
        }
        let call = self.called(&token, function, arguments, depth)?;
        match negated {
            true => self.unary(super::UnaryOperator::Not, call),
            false => Ok(call),
        }
    }

    /// Reads the rest of `ANY(condition FOR x IN list)`, or of `ANY(list)` with the comparison behind it.
    fn each(&mut self, over: Over, nesting: u32) -> Result<Built, SyntaxError> {
        let first = self.climb(Binding::Or, nesting + 1)?;
        if self.lexer.take_word("FOR") {
            let token = self.lexer.next();
            let variable = self.lexer.name(&token)?.to_lowercase();
            self.word("IN")?;
            let list = self.climb(Binding::BitOr, nesting + 1)?;
            if !self.lexer.take(TokenKind::Close) {
                return Err(self.lexer.unexpected(")"));
            }
            return self.each_of(over, variable, list, first);
        }
        if !self.lexer.take(TokenKind::Close) {
            return Err(self.lexer.unexpected("FOR or )"));
        }
        let item = self.built(Expression::Column(ITEM.to_owned()), 0)?;
        let tested = match self.following()? {
            Some((Binding::Comparison, following)) => {
                self.one_more(Binding::Comparison, following, item, nesting)?
            }
            _ => return Err(self.lexer.unexpected("a comparison with the items")),
        };
        // A name for the item that the condition does not use.
        let mut variable = "x".to_owned();
        while tested
            .tree
            .has(&mut |part| part.column() == Some(&variable))
        {
            variable.push('x');
        }
        let named = tested.tree.map_columns(&mut |of| match of {
            Expression::Column(name) if name == ITEM => Expression::Column(variable.clone()),
            other => other,
        });
        let condition = Built {
            tree: named,
            depth: tested.depth,
        };
        self.each_of(over, variable, first, condition)
    }

    fn each_of(
        &mut self,
        over: Over,
        variable: String,
        list: Built,
        condition: Built,
    ) -> Result<Built, SyntaxError> {
        self.lexer.charge(variable.len())?;
        let depth = list.depth.max(condition.depth);
        let each = Expression::Each {
            over,
            variable,
            list: Box::new(list.tree),
            condition: Box::new(condition.tree),
        };
        self.built(each, depth)
    }

    /// An operator and what stands behind it, for the operand before it.
    pub(super) fn one_more(
        &mut self,
        binding: Binding,
        following: Following,
        left: Built,
        nesting: u32,
    ) -> Result<Built, SyntaxError> {
        match following {
            Following::Chain(operator) => self.chain(operator, left, nesting),
            Following::Predicate => self.predicate(left, nesting),
            Following::Binary(operator) => {
                self.lexer.next();
                if self.at_interval(operator) {
                    return self.moved(operator, left, nesting);
                }
                let right = self.climb(super::tighter(binding), nesting + 1)?;
                let depth = left.depth.max(right.depth);
                let (left, right) = (Box::new(left.tree), Box::new(right.tree));
                self.built(Expression::Binary(operator, left, right), depth)
            }
        }
    }
}

/// Refuses arguments that no row can make right: too few, too many, or a bad constant.
fn check(function: Function, arguments: &[Expression]) -> Result<Known, String> {
    let (least, most) = match function {
        // The second one, the id of the row, is not written.
        Function::Rand => (0, 1),
        _ => function.arity(),
    };
    let (name, count) = (function.name(), arguments.len());
    let is_clock = function.is_of_the_moment() && function != Function::Rand;
    if is_clock && count > 0 {
        return Err(format!("not yet: arguments of {name}()"));
    }
    if !(least..=most).contains(&count) {
        let wanted = match (least, most) {
            (least, usize::MAX) => format!("at least {least}"),
            (least, most) if least == most => least.to_string(),
            (least, most) => format!("{least} to {most}"),
        };
        return Err(format!(
            "{name}() takes {wanted} arguments, there are {count}"
        ));
    }
    let constants: Vec<Option<&Value>> = arguments.iter().map(Expression::constant).collect();
    Known::of(function, &constants)
}

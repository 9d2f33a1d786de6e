//! An expression as a tree.

use super::aggregate::{AggregateKind, Gives};
use super::call::growth;
use super::function::Function;
use super::list::List;
use crate::json::{JsonNode, JsonStep};
use crate::value::Value;

/// An expression. Three-valued logic as in SQL: a comparison with NULL is NULL.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A constant of the text.
    Literal(Value),
    /// TRUE or FALSE: the number 1 or 0, and beside a value of a JSON document its truth.
    Truth(bool),
    /// A column by its lower-case name (`id` included).
    Column(String),
    /// `@name`: a variable by its lower-case name. [`Moment::settle`](super::Moment::settle) puts its value here.
    Variable(String),
    /// `column.key`, `column['key'][2]`: a value inside a JSON document. NULL where there is none.
    Path {
        /// The column by its lower-case name.
        column: String,
        /// At least one.
        steps: Vec<JsonStep>,
    },
    /// `-x`, `NOT x`, `!x`.
    Unary(UnaryOperator, Box<Expression>),
    /// `a + b`, `a = b`, `a AND b` …
    Binary(BinaryOperator, Box<Expression>, Box<Expression>),
    /// `x [NOT] IN (…)`.
    In {
        /// The value looked for.
        needle: Box<Expression>,
        /// NOT IN.
        negated: bool,
        /// Constants in the order written, up to ten million, or the list of a variable. A prepared expression has them as a set.
        list: List,
    },
    /// `(x, y) [NOT] IN ((…, …), …)`.
    InRows {
        /// The values looked for, at least one.
        needles: Vec<Expression>,
        /// NOT IN.
        negated: bool,
        /// The constants beside each needle: those of the first row come first in each list.
        columns: Vec<List>,
    },
    /// `x [NOT] BETWEEN low AND high`, both ends included.
    Between {
        /// The value compared.
        needle: Box<Expression>,
        /// NOT BETWEEN.
        negated: bool,
        /// Lower end.
        low: Box<Expression>,
        /// Upper end.
        high: Box<Expression>,
    },
    /// `x IS [NOT] NULL`.
    IsNull {
        /// The value tested.
        needle: Box<Expression>,
        /// IS NOT NULL.
        negated: bool,
    },
    /// `f(a, b)`; also LIKE, REGEXP and CASE, whose arguments are its conditions and values in turn.
    Call(Function, Vec<Expression>),
    /// `ANY(condition FOR x IN list)`. `ALL(tags) > 5` is `ALL(x > 5 FOR x IN tags)`.
    Each {
        /// What is told of the items.
        over: Over,
        /// The name of an item in the condition, in lower case. It hides a column of that name.
        variable: String,
        /// The set or JSON array.
        list: Box<Expression>,
        /// The condition on an item.
        condition: Box<Expression>,
    },
    /// `SUM(x)`: a value of a group of rows. It has none over a single row.
    Aggregate(AggregateKind, Vec<Expression>),
}

/// A regular expression up to this length, in bytes, is compiled in some tens of microseconds, unless it repeats a part by a number.
const SHORT_REGEX_BYTES: usize = 100;

/// Units of compiling a longer one, or one that repeats a part, at most: some milliseconds.
pub(super) const LONG_REGEX_UNITS: usize = 5_000_000;

static TRUE: Value = Value::Int(1);
static FALSE: Value = Value::Int(0);

/// What an [`Expression::Each`] tells of the items that meet its condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// ANY: whether there is one.
    Any,
    /// ALL: whether all do and there is one.
    All,
    /// INDEXOF: the place of the first, from 0; −1 without one.
    Index,
}

/// Whether to prepare a call of the function may take a millisecond or more, see [`Expression::compiles_long`].
pub(super) fn compiles_long(function: Function, arguments: &[Expression]) -> bool {
    let is_regex = matches!(function, Function::Regex | Function::Regexp);
    let is_long = |text: &str| text.len() > SHORT_REGEX_BYTES || text.contains('{');
    is_regex
        && matches!(arguments.get(1), Some(Expression::Literal(Value::Str(text))) if is_long(text))
}

impl Expression {
    /// A constant of a list as an expression.
    pub(super) fn of_listed(constant: Value) -> Expression {
        match &constant {
            Value::Json(document) => match document.node_at(&[]) {
                Some(JsonNode::Truth(truth)) => Expression::Truth(truth),
                _ => Expression::Literal(constant),
            },
            _ => Expression::Literal(constant),
        }
    }

    /// Whether its work over one row may take longer than reading the row: it calls a function, or reads inside a document or a
    /// list.
    #[must_use]
    pub fn may_take_long(&self) -> bool {
        self.has(&mut |part| {
            matches!(
                part,
                Expression::Call(..) | Expression::Each { .. } | Expression::Path { .. }
            )
        })
    }

    /// Whether to prepare it may take a millisecond or more: it has a regular expression that is long or repeats a part.
    #[must_use]
    pub fn compiles_long(&self) -> bool {
        self.has(&mut |part| {
            matches!(part, Expression::Call(function, arguments) if compiles_long(*function, arguments))
        })
    }

    /// Levels of it: 1 for a constant or a column.
    #[must_use]
    pub fn depth(&self) -> u32 {
        let below = self.parts().into_iter().map(Expression::depth);
        1 + below.max().unwrap_or(0)
    }

    /// Memory of a copy of it, in bytes, with what its calls may take. Cost: linear in its nodes.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.bytes(&growth)
    }

    /// Memory of it while nobody evaluates it, in bytes. Cost: linear in its nodes.
    #[must_use]
    pub fn held_memory(&self) -> usize {
        self.bytes(&|_, _| 0)
    }

    /// Its memory. `growth`: what a call may take beyond its arguments.
    fn bytes(&self, growth: &dyn Fn(Function, &[Expression]) -> usize) -> usize {
        let own = match self {
            Expression::Literal(value) => value.memory(),
            Expression::Column(name) | Expression::Variable(name) => name.len(),
            Expression::Path { column, steps } => {
                let key = |step: &JsonStep| match step {
                    JsonStep::Key(key) => key.len(),
                    JsonStep::Item(_) | JsonStep::Itself => 0,
                };
                column.len() + steps.iter().map(key).sum::<usize>() + size_of_val::<[_]>(steps)
            }
            Expression::In { list, .. } => list.memory(),
            Expression::InRows { columns, .. } => columns.iter().map(List::memory).sum(),
            Expression::Call(function, arguments) => growth(*function, arguments),
            Expression::Aggregate(kind, _) => kind.memory(),
            _ => 0,
        };
        let parts = self.parts().into_iter().map(|part| part.bytes(growth));
        NODE_BYTES + own + parts.sum::<usize>()
    }

    /// The conditions that AND joins, from left to right.
    #[must_use]
    pub fn conjuncts(self) -> Vec<Expression> {
        let mut found = Vec::new();
        let mut open = vec![self];
        while let Some(next) = open.pop() {
            match next {
                Expression::Binary(BinaryOperator::And, left, right) => {
                    open.push(*right);
                    open.push(*left);
                }
                other => found.push(other),
            }
        }
        found
    }

    /// The expressions of which it is made, in the order written.
    #[must_use]
    pub fn parts(&self) -> Vec<&Expression> {
        match self {
            Expression::Literal(_)
            | Expression::Truth(_)
            | Expression::Column(_)
            | Expression::Variable(_)
            | Expression::Path { .. } => Vec::new(),
            Expression::Unary(_, operand) => vec![operand],
            Expression::Binary(_, left, right) => vec![left, right],
            Expression::In { needle, .. } | Expression::IsNull { needle, .. } => vec![needle],
            Expression::InRows { needles, .. } => needles.iter().collect(),
            Expression::Between {
                needle, low, high, ..
            } => vec![needle, low, high],
            Expression::Call(_, arguments) | Expression::Aggregate(_, arguments) => {
                arguments.iter().collect()
            }
            Expression::Each {
                list, condition, ..
            } => vec![list, condition],
        }
    }

    /// As [`Expression::parts`], to be changed.
    #[must_use]
    pub fn parts_mut(&mut self) -> Vec<&mut Expression> {
        match self {
            Expression::Literal(_)
            | Expression::Truth(_)
            | Expression::Column(_)
            | Expression::Variable(_)
            | Expression::Path { .. } => Vec::new(),
            Expression::Unary(_, operand) => vec![operand],
            Expression::Binary(_, left, right) => vec![left, right],
            Expression::In { needle, .. } | Expression::IsNull { needle, .. } => vec![needle],
            Expression::InRows { needles, .. } => needles.iter_mut().collect(),
            Expression::Between {
                needle, low, high, ..
            } => vec![needle, low, high],
            Expression::Call(_, arguments) | Expression::Aggregate(_, arguments) => {
                arguments.iter_mut().collect()
            }
            Expression::Each {
                list, condition, ..
            } => vec![list, condition],
        }
    }

    /// The expression with each column and path replaced by what `change` makes of it. Items of a list keep their names.
    #[must_use]
    pub fn map_columns(mut self, change: &mut dyn FnMut(Expression) -> Expression) -> Expression {
        if let Expression::Column(_) | Expression::Path { .. } = self {
            return change(self);
        }
        if let Expression::Each {
            variable,
            list,
            condition,
            ..
        } = &mut self
        {
            list.replace_columns(change);
            condition.replace_columns(&mut |of| match of.column() == Some(variable) {
                true => of,
                false => change(of),
            });
            return self;
        }
        let parts = self.parts_mut();
        parts
            .into_iter()
            .for_each(|part| part.replace_columns(change));
        self
    }

    fn replace_columns(&mut self, change: &mut dyn FnMut(Expression) -> Expression) {
        let taken = std::mem::replace(self, Expression::Literal(Value::Null));
        *self = taken.map_columns(change);
    }

    /// Whether [`Moment::settle`](super::Moment::settle) changes its value: it calls NOW() or the like, or names a variable.
    #[must_use]
    pub fn is_of_the_moment(&self) -> bool {
        self.has(&mut |part| match part {
            Expression::Variable(_) => true,
            Expression::In { list, .. } => list.variable().is_some(),
            Expression::Call(Function::UnixTimestamp, arguments) => arguments.is_empty(),
            Expression::Call(function, _) => function.is_of_the_moment(),
            _ => false,
        })
    }

    /// Whether its value is a number whatever its operands are: it is arithmetic, on bits, a count, or a condition.
    pub(super) fn is_arithmetic(&self) -> bool {
        use BinaryOperator as O;
        match self {
            Expression::Binary(operator, ..) => match operator {
                O::Add | O::Subtract | O::Multiply | O::Divide | O::Modulo => true,
                O::IntegerDivide | O::Power => true,
                O::BitOr | O::BitAnd | O::BitXor | O::ShiftLeft | O::ShiftRight => true,
                O::Or | O::And | O::Xor | O::Equal | O::NotEqual | O::NullSafeEqual => true,
                O::Less | O::LessOrEqual | O::Greater | O::GreaterOrEqual => true,
            },
            Expression::Unary(..)
            | Expression::In { .. }
            | Expression::InRows { .. }
            | Expression::Between { .. }
            | Expression::IsNull { .. }
            | Expression::Each { .. } => true,
            Expression::Call(function, _) => function.gives_number(),
            Expression::Literal(_)
            | Expression::Truth(_)
            | Expression::Column(_)
            | Expression::Variable(_)
            | Expression::Path { .. }
            | Expression::Aggregate(..) => false,
        }
    }

    /// The parts of which its value is one, as those of COALESCE and IF. None: it makes a value of its own.
    #[must_use]
    pub fn gives_back(&self) -> Vec<&Expression> {
        let Expression::Call(function, arguments) = self else {
            return Vec::new();
        };
        let places = function.gives_back(arguments.len()).into_iter();
        places.filter_map(|place| arguments.get(place)).collect()
    }

    /// As [`Expression::gives_back`].
    pub(super) fn given_back_mut(&mut self) -> impl Iterator<Item = &mut Expression> {
        let (places, arguments) = match self {
            Expression::Call(function, arguments) => {
                (function.gives_back(arguments.len()), &mut arguments[..])
            }
            _ => (Vec::new(), [].as_mut_slice()),
        };
        let parts = arguments.iter_mut().enumerate();
        parts.filter_map(move |(at, part)| places.binary_search(&at).is_ok().then_some(part))
    }

    /// Whether it compares the parts of it with each other, or its first with the others: GREATEST, NULLIF, INTERVAL.
    #[must_use]
    pub(super) fn compares_parts(&self) -> bool {
        matches!(self, Expression::Call(function, _) if function.compares())
    }

    /// The constant that it is.
    #[must_use]
    pub fn constant(&self) -> Option<&Value> {
        match self {
            Expression::Literal(value) => Some(value),
            Expression::Truth(true) => Some(&TRUE),
            Expression::Truth(false) => Some(&FALSE),
            _ => None,
        }
    }

    /// The name of the column that it is, or reads a path of.
    #[must_use]
    pub fn column(&self) -> Option<&str> {
        match self {
            Expression::Column(name) | Expression::Path { column: name, .. } => Some(name),
            _ => None,
        }
    }

    /// Calls `visit` with the name of each column, those of paths included. Items of a list are none.
    pub fn each_column<'e>(&'e self, visit: &mut dyn FnMut(&'e str)) {
        if let Some(name) = self.column() {
            return visit(name);
        }
        if let Expression::Each {
            variable,
            list,
            condition,
            ..
        } = self
        {
            list.each_column(visit);
            return condition.each_column(&mut |name| {
                if name != variable {
                    visit(name);
                }
            });
        }
        let parts = self.parts().into_iter();
        parts.for_each(|part| part.each_column(visit));
    }

    /// The first column that it reads. A call whose value no constants give, such as RAND(), counts as a column.
    #[must_use]
    pub fn first_column(&self) -> Option<&str> {
        let mut first = None;
        self.each_column(&mut |name| first = first.or(Some(name)));
        let mut call = None;
        self.has(&mut |part| {
            call = match part {
                Expression::Call(Function::Rand, _) => Some("rand()"),
                Expression::Aggregate(kind, _) => Some(kind.name()),
                _ => None,
            };
            call.is_some()
        });
        first.or(call)
    }

    /// Of an aggregate that gives a value of its argument, the argument.
    pub(crate) fn of_extreme(&self) -> Option<&Expression> {
        let Expression::Aggregate(kind, of) = self else {
            return None;
        };
        let is_extreme = kind.gives() == Gives::Argument;
        of.first().filter(|_| is_extreme)
    }

    /// Whether it has an aggregate.
    #[must_use]
    pub fn has_aggregate(&self) -> bool {
        self.has(&mut |part| matches!(part, Expression::Aggregate(..)))
    }

    /// Whether it or a part of it is so.
    pub fn has(&self, is: &mut dyn FnMut(&Expression) -> bool) -> bool {
        is(self) || self.parts().into_iter().any(|part| part.has(is))
    }
}

/// Memory of a node in bytes: itself, its place in a box or a growing list, and its share of the prepared form.
pub(super) const NODE_BYTES: usize = 3 * size_of::<Expression>();

/// Operators on one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOperator {
    /// `-x`
    Minus,
    /// `NOT x`, `!x`
    Not,
    /// `~x`: all 64 bits inverted
    BitNot,
    /// `x IS TRUE`; never NULL
    IsTrue,
    /// `x IS FALSE`; never NULL
    IsFalse,
}

/// Operators on two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOperator {
    /// `AND`, `&&`
    And,
    /// `OR`, `||`
    Or,
    /// `XOR`
    Xor,
    /// `=`
    Equal,
    /// `<>`, `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `<=>`: as `=`, but NULL equals NULL and nothing else; never NULL
    NullSafeEqual,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`; by zero is NULL
    Divide,
    /// `%`, `MOD`; by zero is NULL
    Modulo,
    /// `DIV`: the whole part of the quotient; by zero is NULL
    IntegerDivide,
    /// `pow(x, y)`: whole where both are, the exponent is not negative and 128 bits hold it
    Power,
    /// `|`, over 64 bits as `&`, `^`, `<<` and `>>`; the result is never negative, as MySQL has it
    BitOr,
    /// `&`
    BitAnd,
    /// `^`
    BitXor,
    /// `<<`; by 64 bits or more is 0
    ShiftLeft,
    /// `>>`; by 64 bits or more is 0
    ShiftRight,
}

impl BinaryOperator {
    /// AND, OR and XOR, whose operands are truths.
    pub(super) fn is_logical(self) -> bool {
        matches!(
            self,
            BinaryOperator::And | BinaryOperator::Or | BinaryOperator::Xor
        )
    }

    /// `= <> < <= > >= <=>`.
    pub(super) fn compares(self) -> bool {
        matches!(
            self,
            BinaryOperator::Equal
                | BinaryOperator::NotEqual
                | BinaryOperator::Less
                | BinaryOperator::LessOrEqual
                | BinaryOperator::Greater
                | BinaryOperator::GreaterOrEqual
                | BinaryOperator::NullSafeEqual
        )
    }
}

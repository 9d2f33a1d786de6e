//! An expression as text, in the form in which Manticore shows the filters of standing queries.
//!
//! Comparisons stand without blanks (`price>5`), words are in capitals, strings in single quotes, and brackets only
//! where they are needed. Parsed again, the text gives the same tree.

use std::fmt::{self, Display, Formatter};

use super::aggregate::{AggregateKind, Takes};
use super::function::Function;
use super::list::List;
use super::tree::{BinaryOperator, Expression, Over, UnaryOperator};
use crate::json::{JsonNode, JsonStep};
use crate::value::Value;

/// How tightly a node's text binds; a node in a place that needs a higher level gets brackets.
type Level = u8;

const OR: Level = 1;
const AND: Level = 3;
const NOT: Level = 4;
const COMPARISON: Level = 5;
const SIGN: Level = 12;
const WHOLE: Level = 13;

impl Display for Expression {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        put(self, 0, out)
    }
}

fn put(expression: &Expression, needed: Level, out: &mut Formatter<'_>) -> fmt::Result {
    if level(expression) < needed {
        out.write_str("(")?;
        put(expression, 0, out)?;
        return out.write_str(")");
    }
    match expression {
        Expression::Literal(value) => constant(value, out),
        Expression::Truth(truth) => out.write_str(word(*truth)),
        Expression::Column(name) => column(name, out),
        Expression::Variable(name) => write!(out, "@{name}"),
        Expression::Path { column: of, steps } => path(of, steps, out),
        Expression::Unary(operator, operand) => unary(*operator, operand, out),
        Expression::Binary(BinaryOperator::Power, base, exponent) => {
            out.write_str("pow(")?;
            put(base, 0, out)?;
            out.write_str(",")?;
            put(exponent, 0, out)?;
            out.write_str(")")
        }
        Expression::Binary(operator, left, right) => {
            let (sign, own) = binary(*operator);
            // A chain of AND or of OR is one list, however its tree is balanced.
            let of_right = own + Level::from(own != OR && own != AND);
            let of_left = own + Level::from(own == COMPARISON);
            put(left, of_left, out)?;
            out.write_str(sign)?;
            put(right, of_right, out)
        }
        Expression::In {
            needle,
            negated,
            list,
        } => listed(needle, *negated, list, out),
        Expression::InRows {
            needles,
            negated,
            columns,
        } => rows(needles, *negated, columns, out),
        Expression::Between {
            needle,
            negated,
            low,
            high,
        } => {
            put(needle, COMPARISON + 1, out)?;
            out.write_str(if *negated {
                " NOT BETWEEN "
            } else {
                " BETWEEN "
            })?;
            put(low, COMPARISON + 1, out)?;
            out.write_str(" AND ")?;
            put(high, COMPARISON + 1, out)
        }
        Expression::IsNull { needle, negated } => {
            put(needle, COMPARISON + 1, out)?;
            out.write_str(if *negated { " IS NOT NULL" } else { " IS NULL" })
        }
        Expression::Call(function, arguments) => call(*function, arguments, out),
        Expression::Aggregate(kind, arguments) => aggregate(kind, arguments, out),
        Expression::Each {
            over,
            variable,
            list,
            condition,
        } => each(*over, variable, list, condition, out),
    }
}

fn listed(needle: &Expression, negated: bool, list: &List, out: &mut Formatter<'_>) -> fmt::Result {
    put(needle, COMPARISON + 1, out)?;
    out.write_str(if negated { " NOT IN (" } else { " IN (" })?;
    for (place, value) in list.iter().enumerate() {
        out.write_str(if place > 0 { "," } else { "" })?;
        constant(&value, out)?;
    }
    out.write_str(")")
}

fn each(
    over: Over,
    variable: &str,
    list: &Expression,
    condition: &Expression,
    out: &mut Formatter<'_>,
) -> fmt::Result {
    out.write_str(match over {
        Over::Any => "any(",
        Over::All => "all(",
        Over::Index => "indexof(",
    })?;
    put(condition, 0, out)?;
    out.write_str(" FOR ")?;
    column(variable, out)?;
    out.write_str(" IN ")?;
    put(list, WHOLE, out)?;
    out.write_str(")")
}

/// An aggregate, by its name.
fn aggregate(
    kind: &AggregateKind,
    arguments: &[Expression],
    out: &mut Formatter<'_>,
) -> fmt::Result {
    out.write_str(kind.name())?;
    out.write_str(match kind.takes() {
        Takes::Star => "(*",
        Takes::Distinct => "(DISTINCT ",
        Takes::One | Takes::Several => "(",
    })?;
    for (place, argument) in arguments.iter().enumerate() {
        if place > 0 {
            out.write_str(",")?;
        }
        put(argument, 0, out)?;
    }
    if let AggregateKind::Concat(separator) = kind {
        out.write_str(" SEPARATOR ")?;
        constant(&Value::Str(separator.clone()), out)?;
    }
    out.write_str(")")
}

fn call(function: Function, arguments: &[Expression], out: &mut Formatter<'_>) -> fmt::Result {
    match (function, arguments) {
        (Function::Like | Function::Regexp, [text, pattern, escape @ ..]) => {
            put(text, COMPARISON + 1, out)?;
            let word = function.name().to_uppercase();
            write!(out, " {word} ")?;
            put(pattern, COMPARISON + 1, out)?;
            return escape.iter().try_for_each(|escape| {
                out.write_str(" ESCAPE ")?;
                put(escape, COMPARISON + 1, out)
            });
        }
        (Function::Case, arguments) => {
            out.write_str("CASE")?;
            let (pairs, other) = arguments.as_chunks::<2>();
            for [condition, value] in pairs {
                out.write_str(" WHEN ")?;
                put(condition, 0, out)?;
                out.write_str(" THEN ")?;
                put(value, 0, out)?;
            }
            if let [other] = other {
                out.write_str(" ELSE ")?;
                put(other, 0, out)?;
            }
            return out.write_str(" END");
        }
        _ => {}
    }
    out.write_str(function.name())?;
    out.write_str("(")?;
    for (place, argument) in arguments.iter().enumerate() {
        let moves = matches!(function, Function::DateAdd | Function::DateSub);
        match (place, argument) {
            (0, _) => {}
            (1, _) if moves => out.write_str(",INTERVAL ")?,
            (3, _) if moves => continue, // the zone, which nobody writes
            (_, Expression::Literal(unit)) if moves => {
                write!(out, " {unit}")?;
                continue;
            }
            (_, Expression::Literal(Value::Json(_))) if function == Function::Remap => {
                out.write_str(",")?;
                list_of_remap(argument, out)?;
                continue;
            }
            _ => out.write_str(",")?,
        }
        put(argument, 0, out)?;
    }
    out.write_str(")")
}

/// A list of constants that are not all whole numbers.
fn list_of_remap(list: &Expression, out: &mut Formatter<'_>) -> fmt::Result {
    let items = match list {
        Expression::Literal(list) => list.items(),
        _ => None,
    };
    out.write_str("(")?;
    for (place, item) in items.into_iter().flatten().enumerate() {
        out.write_str(if place > 0 { "," } else { "" })?;
        constant(&item, out)?;
    }
    out.write_str(")")
}

fn rows(
    needles: &[Expression],
    negated: bool,
    columns: &[List],
    out: &mut Formatter<'_>,
) -> fmt::Result {
    for (place, needle) in needles.iter().enumerate() {
        out.write_str(if place > 0 { "," } else { "(" })?;
        put(needle, 0, out)?;
    }
    out.write_str(if negated { ") NOT IN (" } else { ") IN (" })?;
    for row in 0..columns.first().map_or(0, List::len) {
        out.write_str(if row > 0 { "),(" } else { "(" })?;
        for (place, list) in columns.iter().enumerate() {
            out.write_str(if place > 0 { "," } else { "" })?;
            constant(&list.get(row), out)?;
        }
    }
    out.write_str("))")
}

fn unary(operator: UnaryOperator, operand: &Expression, out: &mut Formatter<'_>) -> fmt::Result {
    let (before, needed, behind) = match operator {
        UnaryOperator::Minus => ("-", WHOLE, ""),
        UnaryOperator::BitNot => ("~", WHOLE, ""),
        UnaryOperator::Not => ("NOT ", NOT, ""),
        UnaryOperator::IsTrue => ("", COMPARISON + 1, " IS TRUE"),
        UnaryOperator::IsFalse => ("", COMPARISON + 1, " IS FALSE"),
    };
    out.write_str(before)?;
    put(operand, needed, out)?;
    out.write_str(behind)
}

fn level(expression: &Expression) -> Level {
    match expression {
        Expression::Literal(Value::Int(number)) if *number < 0 => SIGN,
        Expression::Literal(Value::Float(number)) if number.is_sign_negative() => SIGN,
        Expression::Call(Function::Like | Function::Regexp, _) => COMPARISON,
        Expression::Literal(_)
        | Expression::Truth(_)
        | Expression::Column(_)
        | Expression::Variable(_)
        | Expression::Path { .. }
        | Expression::Call(..)
        | Expression::Aggregate(..)
        | Expression::Each { .. } => WHOLE,
        Expression::Unary(UnaryOperator::Minus | UnaryOperator::BitNot, _) => SIGN,
        Expression::Unary(UnaryOperator::Not, _) => NOT,
        Expression::Unary(UnaryOperator::IsTrue | UnaryOperator::IsFalse, _)
        | Expression::In { .. }
        | Expression::InRows { .. }
        | Expression::Between { .. }
        | Expression::IsNull { .. } => COMPARISON,
        Expression::Binary(operator, ..) => binary(*operator).1,
    }
}

/// An operator's text and level. A blank in front of a minus keeps `a- -1` from beginning a comment.
fn binary(operator: BinaryOperator) -> (&'static str, Level) {
    match operator {
        BinaryOperator::Or => (" OR ", OR),
        BinaryOperator::Xor => (" XOR ", 2),
        BinaryOperator::And => (" AND ", AND),
        BinaryOperator::Equal => ("=", COMPARISON),
        BinaryOperator::NotEqual => ("!=", COMPARISON),
        BinaryOperator::Less => ("<", COMPARISON),
        BinaryOperator::LessOrEqual => ("<=", COMPARISON),
        BinaryOperator::Greater => (">", COMPARISON),
        BinaryOperator::GreaterOrEqual => (">=", COMPARISON),
        BinaryOperator::NullSafeEqual => ("<=>", COMPARISON),
        BinaryOperator::BitOr => ("|", 6),
        BinaryOperator::BitAnd => ("&", 7),
        BinaryOperator::ShiftLeft => ("<<", 8),
        BinaryOperator::ShiftRight => (">>", 8),
        BinaryOperator::Add => ("+", 9),
        BinaryOperator::Subtract => (" - ", 9),
        BinaryOperator::Multiply => ("*", 10),
        BinaryOperator::Divide => ("/", 10),
        BinaryOperator::Modulo => ("%", 10),
        BinaryOperator::IntegerDivide => (" DIV ", 10),
        BinaryOperator::BitXor => ("^", 11),
        BinaryOperator::Power => ("", WHOLE),
    }
}

fn constant(value: &Value, out: &mut Formatter<'_>) -> fmt::Result {
    match value {
        Value::Str(text) => {
            let text = text.replace('\\', "\\\\").replace('\'', "\\'");
            write!(out, "'{text}'")
        }
        Value::Bytes(bytes) => {
            out.write_str("x'")?;
            bytes
                .iter()
                .try_for_each(|byte| write!(out, "{byte:02x}"))?;
            out.write_str("'")
        }
        // Rust's shortest text that reads back as the same number, with a point or an exponent.
        Value::Float(number) => write!(out, "{number:?}"),
        Value::Set(_) => write!(out, "({value})"),
        Value::Json(document) => match document.node_at(&[]) {
            Some(JsonNode::Truth(truth)) => out.write_str(word(truth)),
            _ => constant(&Value::Str(value.to_string()), out),
        },
        Value::Null | Value::Int(_) => value.fmt(out),
    }
}

fn word(truth: bool) -> &'static str {
    match truth {
        true => "TRUE",
        false => "FALSE",
    }
}

fn path(of: &str, steps: &[JsonStep], out: &mut Formatter<'_>) -> fmt::Result {
    column(of, out)?;
    for step in steps {
        match step {
            JsonStep::Key(key) => {
                out.write_str("[")?;
                constant(&Value::Str(key.clone()), out)?;
                out.write_str("]")?;
            }
            JsonStep::Item(at) => write!(out, "[{at}]")?,
            JsonStep::Itself => {}
        }
    }
    Ok(())
}

fn column(name: &str, out: &mut Formatter<'_>) -> fmt::Result {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_word = name.bytes().all(plain) && !name.starts_with(|letter: char| letter.is_numeric());
    if is_word && !super::parse::is_keyword(name) {
        out.write_str(name)
    } else {
        write!(out, "`{name}`")
    }
}

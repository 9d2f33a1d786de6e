//! What is known of the values of a column of an answer, by which others take them: a temporary table, a UNION, the order of a
//! sub-select, the metadata of MySQL.
//!
//! | item | kept as |
//! |---|---|
//! | `due + INTERVAL 1 DAY` of a `date` | a `date`; with hours in the interval a `datetime` |
//! | `NOW() - INTERVAL 1 DAY`, `COALESCE(made, due)` of a `timestamp` and a date | a `timestamp` |
//! | `n + 1`, `SUM(n)`, `0.5` | a number; whole ones stay whole |
//! | `CONCAT(a, b)` | a `string` |
//! | `IFNULL(n, '-')`, `j.path` | what the values are |

use super::aggregate::{AggregateKind, Gives};
use super::beside::{kind_of, like_moment, unified};
use super::call::is_of_days;
use super::function::Function;
use super::moment::{MOVED_DATE, zone_of};
use super::tree::Expression;
use crate::schema::{ColumnType, DIGITS_MAX, Moment, SCALE_MAX};
use crate::value::Value;

/// What is known of the values of a column of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// They are of a type. [`ColumnType::Double`]: numbers, which may all be whole.
    Of(ColumnType),
    /// They are NULL, which is of each type.
    Null,
    /// Only the values tell.
    Unknown,
}

impl Kept {
    /// Of a column whose type is known or not.
    #[must_use]
    pub fn of(kind: Option<ColumnType>) -> Kept {
        kind.map_or(Kept::Unknown, Kept::Of)
    }

    /// The type, if one is known.
    #[must_use]
    pub fn kind(self) -> Option<ColumnType> {
        match self {
            Kept::Of(kind) => Some(kind),
            Kept::Null | Kept::Unknown => None,
        }
    }

    /// Of a column that has the values of both.
    #[must_use]
    pub fn and(self, other: Kept) -> Kept {
        match (self, other) {
            (Kept::Null, it) | (it, Kept::Null) => it,
            (Kept::Of(a), Kept::Of(b)) => Kept::of(unified(a, b)),
            (Kept::Unknown, _) | (_, Kept::Unknown) => Kept::Unknown,
        }
    }
}

/// What is known of the values of an expression over columns of these types.
pub(crate) fn kept_as(written: &Expression, columns: &dyn Fn(&str) -> Option<ColumnType>) -> Kept {
    match written {
        Expression::Literal(value) => of_literal(value),
        Expression::Truth(_) => Kept::Of(ColumnType::Bigint),
        Expression::Column(name) => Kept::of(columns(name)),
        Expression::Aggregate(kind, of) => of_aggregate(kind, of, columns),
        written if zone_of(written).is_some() => Kept::Of(ColumnType::Timestamp),
        Expression::Call(Function::DateAdd | Function::DateSub, of) => of_moved(of, columns),
        Expression::Call(function, of) => of_call(written, *function, of, columns),
        Expression::Variable(_)
        | Expression::Path { .. }
        | Expression::Unary(..)
        | Expression::Binary(..)
        | Expression::In { .. }
        | Expression::InRows { .. }
        | Expression::Between { .. }
        | Expression::IsNull { .. }
        | Expression::Each { .. } => Kept::of(kind_of(written, columns)),
    }
}

/// The type of what a call gives back, where a client sees another form of it than the one by which it is compared, or where a text
/// beside it is read by its type, as beside a `timestamp`.
pub(crate) fn shown_as(
    written: &Expression,
    columns: &dyn Fn(&str) -> Option<ColumnType>,
) -> Option<ColumnType> {
    let Expression::Call(function, arguments) = written else {
        return None;
    };
    let is_given = !function.gives_back(arguments.len()).is_empty();
    let kind = kind_of(written, columns).filter(|_| is_given);
    let is_shown = |kind: &ColumnType| {
        kind.family().has_comparable() && *kind != MOVED_DATE || *kind == ColumnType::Timestamp
    };
    let kind = kind.filter(is_shown)?;
    // Among timestamps may be seconds with a fraction.
    let is_whole = kind != ColumnType::Timestamp || kept_as(written, columns).kind() == Some(kind);
    is_whole.then_some(kind)
}

fn of_literal(value: &Value) -> Kept {
    match value {
        Value::Null => Kept::Null,
        Value::Int(number) if i64::try_from(*number).is_ok() => Kept::Of(ColumnType::Bigint),
        Value::Int(_) => Kept::Of(ColumnType::Double),
        Value::Float(number) => Kept::Of(decimal_of(*number).unwrap_or(ColumnType::Double)),
        Value::Str(_) => Kept::Of(ColumnType::String),
        Value::Bytes(_) | Value::Set(_) | Value::Json(_) => Kept::Unknown,
    }
}

/// The DECIMAL that holds a number as it is written, so that it is exact beside others.
fn decimal_of(number: f64) -> Option<ColumnType> {
    let written = number.abs().to_string();
    let (whole, fraction) = written.split_once('.')?;
    let (whole, scale) = (
        u8::try_from(whole.len()).ok()?,
        u8::try_from(fraction.len()).ok()?,
    );
    let digits = whole.checked_add(scale)?;
    let is_one = digits <= DIGITS_MAX && scale <= SCALE_MAX;
    is_one.then_some(ColumnType::Decimal { digits, scale })
}

fn of_aggregate(
    kind: &AggregateKind,
    of: &[Expression],
    columns: &dyn Fn(&str) -> Option<ColumnType>,
) -> Kept {
    match (kind.gives(), of) {
        (Gives::Argument, [of]) => kept_as(of, columns),
        (Gives::Argument, _) => Kept::Unknown,
        (Gives::Text, _) => Kept::Of(ColumnType::String),
        (Gives::Count, _) => Kept::Of(ColumnType::Bigint),
        (Gives::Number, _) => Kept::Of(ColumnType::Double),
    }
}

/// Of a moment that is moved by an interval. A constant text has the time that it is written with.
fn of_moved(of: &[Expression], columns: &dyn Fn(&str) -> Option<ColumnType>) -> Kept {
    let moved = of.first().map(|moved| match moved.constant() {
        Some(text @ Value::Str(written)) => match MOVED_DATE.constant(text) {
            Ok(_) if written.trim().len() <= "2024-01-02".len() => Kept::Of(ColumnType::Date),
            Ok(_) => Kept::Of(MOVED_DATE),
            Err(_) => Kept::Unknown,
        },
        _ => kept_as(moved, columns),
    });
    let unit = of.get(2).and_then(Expression::constant);
    let kind = moved.and_then(Kept::kind);
    if kind == Some(ColumnType::Date) && !unit.is_some_and(is_of_days) {
        return Kept::Of(ColumnType::DateTime { fraction_digits: 0 });
    }
    let kind = kind.filter(|kind| kind.is_date() || *kind == ColumnType::Timestamp);
    kind.map_or(Kept::Unknown, Kept::Of) // else as what is moved: a number or a text
}

fn of_call(
    written: &Expression,
    function: Function,
    of: &[Expression],
    columns: &dyn Fn(&str) -> Option<ColumnType>,
) -> Kept {
    let places = function.gives_back(of.len());
    let given = || {
        let given: Vec<&Expression> = places.iter().filter_map(|at| of.get(*at)).collect();
        of_given(&given, columns)
    };
    match kind_of(written, columns) {
        // The values of its second list are of any kind.
        _ if function == Function::Remap => Kept::Unknown,
        Some(kind) if places.is_empty() => Kept::Of(kind),
        // A constant among whole numbers may have a fraction.
        // So may moments among timestamps.
        Some(kind)
            if kind == MOVED_DATE
                || kind == ColumnType::Timestamp
                || kind.family().is_counted() =>
        {
            given()
        }
        Some(kind) => Kept::Of(kind),
        None if !places.is_empty() => given(),
        None if function.gives_text() => Kept::Of(ColumnType::String),
        None => Kept::Unknown,
    }
}

/// Of values that are given back: dates beside timestamps are moments, and so are the constants that they read.
fn of_given(given: &[&Expression], columns: &dyn Fn(&str) -> Option<ColumnType>) -> Kept {
    use ColumnType as T;
    let (constants, others): (Vec<&Expression>, Vec<&Expression>) =
        given.iter().partition(|part| part.constant().is_some());
    let known = others.iter().map(|part| kept_as(part, columns));
    let known = known.reduce(|a, b| match (a, b) {
        // A timestamp has no fraction of a second: the values tell.
        (
            Kept::Of(T::Timestamp),
            Kept::Of(T::DateTime {
                fraction_digits: 1..,
            }),
        )
        | (
            Kept::Of(T::DateTime {
                fraction_digits: 1..,
            }),
            Kept::Of(T::Timestamp),
        ) => Kept::Unknown,
        (Kept::Of(a), Kept::Of(b)) if like_moment(true, a, b).is_some() => Kept::Of(T::Timestamp),
        (a, b) => a.and(b),
    });
    let known = known.unwrap_or(Kept::Null);
    constants
        .iter()
        .fold(known, |known, part| match (known, part.constant()) {
            (Kept::Of(kind), Some(text @ Value::Str(_)))
                if kind.family().moment() == Some(Moment::Date) && kind.constant(text).is_ok() =>
            {
                Kept::Of(if kind == T::Date { MOVED_DATE } else { kind })
            }
            // Seconds.
            (Kept::Of(T::Timestamp), Some(Value::Int(_))) => known,
            (known, _) => known.and(kept_as(part, columns)),
        })
}

/// What is known of an item without a table, which is a moment as the text of local date and time.
#[must_use]
pub fn kept_without_table(written: &Expression) -> Kept {
    match zone_of(written) {
        Some(_) => Kept::Of(ColumnType::DateTime { fraction_digits: 0 }),
        None => kept_as(written, &|_| None),
    }
}

/// Makes CURDATE() say that it is a date: it becomes a constant text, and one that is moved is a date.
pub fn keep_date(written: &mut Expression) {
    if matches!(written, Expression::Call(Function::CurDate, _)) {
        let date = std::mem::replace(written, Expression::Literal(Value::Null));
        let unit = Value::Str("day".to_owned());
        let by = [Value::Int(0), unit].map(Expression::Literal);
        let moved = std::iter::once(date).chain(by).collect();
        *written = Expression::Call(Function::DateAdd, moved);
    }
}

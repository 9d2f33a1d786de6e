//! What stands beside a constant: a column, what gives a column's value back, or a value inside a document.
//!
//! Example: in `COALESCE(due, made) > '2024-1-2'`, over two columns of dates, the constant is read as a date, as beside `due` alone.
//!
//! | written | is like |
//! |---|---|
//! | `due`, `due + INTERVAL 1 DAY` | the column; a date that is moved has a time |
//! | `COALESCE(a, b, 0)`, `IF(c, a, b)`, CASE, `NULLIF(a, c)`, GREATEST, LEAST, `REMAP(c, a, …)` | `a`, if all that it may give are of one kind |
//! | `DATE_HISTOGRAM(…)` | a timestamp |
//! | `j.path`, and the same functions of such | a value inside a document |
//! | all else | itself |

use std::cmp::Ordering;
use std::fmt;

use super::call::SHOWN_CHARS_MAX;
use super::evaluate::as_compared;
use super::function::Function;
use super::moment::{MOVED_DATE, zone_of};
use super::node::WEIGHT_SLOT;
use super::tree::Expression;
use crate::schema::{ColumnType, DIGITS_MAX, Moment, TypeFamily};
use crate::value::Value;

/// Digits of the longest whole number.
const INTEGER_DIGITS_MAX: u8 = 20;

/// Why an expression cannot be prepared for the rows of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unprepared {
    /// The name of a column that the table does not have.
    UnknownColumn(String),
    /// A constant that the type of the column beside it does not read, in words.
    Constant(Box<str>),
    /// Columns that no row can compare, in words.
    Invalid(Box<str>),
}

impl fmt::Display for Unprepared {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unprepared::UnknownColumn(name) => write!(out, "unknown column '{name}'"),
            Unprepared::Constant(what) | Unprepared::Invalid(what) => out.write_str(what),
        }
    }
}

/// A column's slot and, if known, its type.
pub(crate) type Columns<'r> = dyn Fn(&str) -> Option<(usize, Option<ColumnType>)> + 'r;

/// The names that an expression may use.
pub(super) struct Resolve<'r> {
    pub(super) columns: &'r Columns<'r>,
    /// The item of the innermost list around the expression, and those of the lists around that.
    pub(super) item: Option<(Item<'r>, &'r Resolve<'r>)>,
}

/// The name that a condition gives to each item of a list.
#[derive(Clone, Copy)]
pub(super) struct Item<'r> {
    pub(super) name: &'r str,
    pub(super) slot: usize,
    /// `None`: items of a document.
    pub(super) kind: Option<ColumnType>,
}

impl Resolve<'_> {
    pub(super) fn find(&self, name: &str) -> Option<(usize, Option<ColumnType>)> {
        match self.item {
            Some((item, _)) if item.name == name => Some((item.slot, item.kind)),
            Some((_, around)) => around.find(name),
            None => (self.columns)(name),
        }
    }

    /// A slot that no column and no item around has. Slots of items count down from the last.
    pub(super) fn free(&self) -> usize {
        self.item.map_or(usize::MAX, |(item, _)| item.slot - 1)
    }

    pub(super) fn with_item<'r>(&'r self, item: Item<'r>) -> Resolve<'r> {
        Resolve {
            columns: self.columns,
            item: Some((item, self)),
        }
    }
}

/// What stands on the other side of a comparison.
#[derive(Clone, Copy)]
pub(super) enum Beside<'e> {
    /// A column, by its name, or what is of a column's type.
    Column(&'e str, ColumnType),
    /// A value inside a document.
    Inside,
    /// Another expression, or a column of an unknown type.
    Other,
}

/// The type of an expression's value: that of the column which it is or gives back, DOUBLE for a number that is worked out.
/// `None`: its values have several types, or come from a document.
pub(crate) fn kind_of(
    written: &Expression,
    columns: &dyn Fn(&str) -> Option<ColumnType>,
) -> Option<ColumnType> {
    let typed = |name: &str| columns(name).map(|kind| (0, Some(kind)));
    let resolve = Resolve {
        columns: &typed,
        item: None,
    };
    match beside(written, &resolve) {
        Beside::Column(_, kind) => Some(kind),
        Beside::Inside => None,
        Beside::Other => written.is_arithmetic().then_some(ColumnType::Double),
    }
}

pub(super) fn beside<'e>(written: &'e Expression, resolve: &Resolve<'_>) -> Beside<'e> {
    match written {
        Expression::Path { .. } => Beside::Inside,
        Expression::Call(function, arguments) => of_call(*function, arguments, resolve),
        Expression::Column(name) => match resolve.find(name) {
            Some((_, Some(kind))) => Beside::Column(name, kind),
            Some((slot, None)) if slot > WEIGHT_SLOT => Beside::Inside,
            Some((_, None)) | None => Beside::Other,
        },
        _ => Beside::Other,
    }
}

pub(super) fn of_call<'e>(
    function: Function,
    arguments: &'e [Expression],
    resolve: &Resolve<'_>,
) -> Beside<'e> {
    match function {
        // What is moved is of the kind that it was, but a date gets a time.
        Function::DateAdd | Function::DateSub => {
            match arguments.first().map(|moved| beside(moved, resolve)) {
                Some(Beside::Column(name, kind)) if kind.is_date() => {
                    Beside::Column(name, MOVED_DATE)
                }
                Some(Beside::Column(name, kind)) if kind == ColumnType::Timestamp => {
                    Beside::Column(name, kind)
                }
                _ => Beside::Other,
            }
        }
        Function::DateHistogram => Beside::Column("date_histogram()", ColumnType::Timestamp),
        // A text that is no date stays a text.
        Function::LocalMoment => match arguments.first().map(|of| beside(of, resolve)) {
            Some(Beside::Column(_, kind)) if kind.is_date() => {
                Beside::Column("local()", ColumnType::Timestamp)
            }
            _ => Beside::Other,
        },
        function => {
            let places = function.gives_back(arguments.len()).into_iter();
            let given: Vec<&Expression> = places.filter_map(|at| arguments.get(at)).collect();
            common(&given, function.compares(), resolve)
        }
    }
}

/// What values of several expressions are all like. `compares`: the constants among them are read as values of the column.
fn common<'e>(given: &[&'e Expression], compares: bool, resolve: &Resolve<'_>) -> Beside<'e> {
    let mut found = Beside::Other;
    let (moments, parts): (Vec<&Expression>, Vec<&Expression>) = given
        .iter()
        .filter(|part| part.constant().is_none())
        .partition(|part| zone_of(part).is_some());
    for (place, part) in parts.into_iter().enumerate() {
        let like = match beside(part, resolve) {
            Beside::Other if part.is_arithmetic() => Beside::Column("number()", ColumnType::Double),
            like => like,
        };
        found = match (found, like) {
            (_, like) if place == 0 => like,
            (Beside::Inside, Beside::Inside) => Beside::Inside,
            (Beside::Column(name, a), Beside::Column(other, b)) => {
                match like_moment(compares, a, b).or_else(|| unified(a, b)) {
                    Some(kind) if kind == a => Beside::Column(name, kind),
                    Some(kind) if kind == b => Beside::Column(other, kind),
                    Some(kind) => Beside::Column("common()", kind),
                    None => Beside::Other,
                }
            }
            (Beside::Column(..) | Beside::Inside | Beside::Other, _) => Beside::Other,
        };
        if matches!(found, Beside::Other) {
            return Beside::Other;
        }
    }
    if let (Beside::Column(name, kind), false) = (&found, moments.is_empty()) {
        found = match with_moment(*kind) {
            Some(kind) => Beside::Column(name, kind),
            None => Beside::Other,
        };
    }
    let constants = given.iter().filter_map(|part| part.constant());
    for value in constants {
        if let Beside::Column(name, kind) = found {
            let read = kind.constant(value).ok().filter(|_| compares);
            found = match with_constant(read.as_ref().unwrap_or(value), kind) {
                Some(kind) => Beside::Column(name, kind),
                None => return Beside::Other,
            };
        }
    }
    found
}

/// What compares a timestamp with dates makes timestamps of them.
pub(super) fn like_moment(compares: bool, a: ColumnType, b: ColumnType) -> Option<ColumnType> {
    let is_one = |a: ColumnType, b: ColumnType| a == ColumnType::Timestamp && b.is_date();
    (compares && (is_one(a, b) || is_one(b, a))).then_some(ColumnType::Timestamp)
}

/// The type of values that are of a type, or NOW() as a value of it; `None`: the type has no such value.
fn with_moment(kind: ColumnType) -> Option<ColumnType> {
    match (kind.family().moment(), kind.family()) {
        (Some(Moment::Date), _) if kind == ColumnType::Date => {
            Some(ColumnType::DateTime { fraction_digits: 0 })
        }
        (Some(_), _) => Some(kind),
        (None, TypeFamily::Bool) => None,
        (None, TypeFamily::Text) => Some(ColumnType::String),
        (None, _) => unified(kind, ColumnType::Bigint),
    }
}

/// The type of a column of a UNION, of which two SELECTs give these; `None`: its values are as they come.
#[must_use]
pub fn type_of_union(a: ColumnType, b: ColumnType) -> Option<ColumnType> {
    let are_whole = a.family().is_integer() && b.family().is_integer();
    // As they come they are whole numbers.
    unified(a, b).filter(|kind| *kind != ColumnType::Double || !are_whole)
}

/// The type of values that are of either type; `None`: there is none.
pub(super) fn unified(a: ColumnType, b: ColumnType) -> Option<ColumnType> {
    use {ColumnType as T, TypeFamily as F};
    let families = [a.family(), b.family()];
    let are = |is: fn(F) -> bool| families.into_iter().all(is);
    Some(match (a, b) {
        (T::Date, T::DateTime { fraction_digits }) | (T::DateTime { fraction_digits }, T::Date) => {
            T::DateTime { fraction_digits }
        }
        (T::DateTime { fraction_digits: a }, T::DateTime { fraction_digits: b }) => T::DateTime {
            fraction_digits: a.max(b),
        },
        (T::Time { fraction_digits: a }, T::Time { fraction_digits: b }) => T::Time {
            fraction_digits: a.max(b),
        },
        (a, b) if a == b => a,
        (T::Decimal { .. }, _) | (_, T::Decimal { .. }) if are(F::is_number) => {
            wider_decimal(a, b).unwrap_or(T::Double)
        }
        // Two years, or a year and a truth, are no numbers: one of them is.
        _ if are(F::is_counted) && families.iter().any(|of| of.is_number()) => T::Double,
        _ if are(|of| of == F::Text) => T::String,
        _ => return None,
    })
}

/// The DECIMAL that holds each value of two exact types; `None`: there is none.
fn wider_decimal(a: ColumnType, b: ColumnType) -> Option<ColumnType> {
    let digits_of = |kind: ColumnType| {
        if let ColumnType::Decimal { digits, scale } = kind {
            return Some((digits - scale, scale));
        }
        kind.family()
            .is_integer()
            .then_some((INTEGER_DIGITS_MAX, 0))
    };
    let ((whole_a, scale_a), (whole_b, scale_b)) = (digits_of(a)?, digits_of(b)?);
    let (whole, scale) = (whole_a.max(whole_b), scale_a.max(scale_b));
    let digits = whole + scale;
    (digits <= DIGITS_MAX).then_some(ColumnType::Decimal { digits, scale })
}

/// The type of values that are of a type, or a constant as it stands: of `COALESCE(day, '2024-01-02 10:00:00')` dates with a time.
/// `None`: the constant is of another kind.
fn with_constant(value: &Value, kind: ColumnType) -> Option<ColumnType> {
    use ColumnType as T;
    let number = matches!(value, Value::Int(_) | Value::Float(_));
    match (value, kind) {
        (Value::Null, _) => Some(kind),
        (Value::Bytes(_) | Value::Set(_) | Value::Json(_), _) => None,
        (Value::Str(_), kind) if kind.is_date() && kind.constant(value).is_ok() => {
            Some(if is_kept(value, kind) {
                kind
            } else {
                MOVED_DATE
            })
        }
        (_, T::Time { .. }) => {
            let widest = T::Time { fraction_digits: 6 };
            let kinds = [kind, widest].into_iter();
            kinds.into_iter().find(|kind| is_kept(value, *kind))
        }
        (_, T::Decimal { .. }) if number => Some(if is_kept(value, kind) {
            kind
        } else {
            T::Double
        }),
        (Value::Str(_), kind) => (kind.family() == TypeFamily::Text).then_some(kind),
        (Value::Int(_) | Value::Float(_), kind) => {
            (kind.family().compares_as_number() == Some(true)).then_some(kind)
        }
    }
}

/// Whether a column of that type stores a constant without rounding it.
fn is_kept(value: &Value, kind: ColumnType) -> bool {
    match (kind.constant(value), kind.accept(value.clone())) {
        (Ok(exact), Ok(stored)) => kind.comparable(stored).cmp_sql(&exact) == Some(Ordering::Equal),
        (Err(_), _) | (_, Err(_)) => false,
    }
}

/// A value that a client was shown of an expression, read again as the expression compares. `kind`: the type of the column that
/// the expression is, if it is one. Unlike a constant of a condition, a text is no number of a column of texts.
///
/// # Errors
/// [`Unprepared::Constant`]: the expression has no such value.
pub(crate) fn read_beside(
    value: &Value,
    written: &Expression,
    kind: Option<ColumnType>,
) -> Result<Value, Unprepared> {
    match (kind, written) {
        (Some(kind), Expression::Column(name)) => {
            let is_of_texts = kind.family().compares_as_number() == Some(false);
            let read = kind
                .constant(value)
                .and_then(|read| match kind == ColumnType::Float {
                    // It is shown by the digits that only this float has.
                    true => kind.accept(read),
                    false => Ok(read),
                });
            match read {
                Ok(Value::Int(_) | Value::Float(_) | Value::Json(_)) if is_of_texts => {
                    Err(no_constant(value, name, kind))
                }
                Ok(read) => Ok(read),
                Err(_) => Err(no_constant(value, name, kind)),
            }
        }
        (_, Expression::Call(Function::Histogram | Function::DateHistogram, _)) => number(value),
        // What gives decimals, dates or times back.
        (Some(kind), _) if kind.family().has_comparable() && kind != MOVED_DATE => {
            constant(value, "key()", kind)
        }
        (_, written) if written.is_arithmetic() => number(value),
        _ => Ok(value.clone()),
    }
}

/// The number that a value is.
fn number(value: &Value) -> Result<Value, Unprepared> {
    let read = ColumnType::Double.constant(value);
    read.map_err(|_| not_a_number(value))
}

/// A constant beside a column, as [`ColumnType::constant`].
pub(super) fn constant(value: &Value, column: &str, kind: ColumnType) -> Result<Value, Unprepared> {
    let plain = as_compared(value.clone(), kind == ColumnType::Json);
    kind.constant(&plain)
        .map_err(|_| no_constant(&plain, column, kind))
}

fn no_constant(value: &Value, column: &str, kind: ColumnType) -> Unprepared {
    if column.ends_with(')') && kind == ColumnType::Double {
        return not_a_number(value);
    }
    let text = match value {
        Value::Float(number) => number.to_string(), // as written, without six decimals
        value => value.to_string(),
    };
    let text = shown(&text);
    let kind = kind.sql_name();
    // Keys and aggregates of groups have names with brackets, and no user gave them.
    let what = match column.ends_with(')') {
        true => format!("'{text}' is no value of type {kind}"),
        false => format!("'{text}' is no value of column '{column}', which is {kind}"),
    };
    Unprepared::Constant(what.into())
}

/// The beginning of a constant, for an error.
pub(super) fn shown(constant: &str) -> String {
    constant.chars().take(SHOWN_CHARS_MAX).collect()
}

/// Refuses a text beside a number that is worked out. NULL, a set and a document are unlike it.
pub(super) fn no_number(value: &Value) -> Result<(), Unprepared> {
    match (value.text_bytes(), value.spelled()) {
        (None, _) | (_, Some(_)) => Ok(()),
        (Some(_), None) => Err(not_a_number(value)),
    }
}

fn not_a_number(value: &Value) -> Unprepared {
    let text = shown(&value.to_string());
    let what = format!("'{text}' is no number, and stands beside one");
    Unprepared::Constant(what.into())
}

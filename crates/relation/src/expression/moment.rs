//! What an expression depends on besides its row: the time of the statement, the session's time zone, and variables.

use std::borrow::Cow;
use std::fmt;

use jiff::tz::TimeZone;

use super::call::{add_option, moment_in, named_zone};
use super::function::Function;
use super::list::List;
use super::tree::Expression;
use crate::schema::ColumnType;
use crate::value::Value;

/// The time of a statement and the variables that it may name. No expression reads a clock or a session: NOW(), RAND() and
/// `@name` become constants before the first row.
pub struct Moment<'v> {
    /// Microseconds since 1970-01-01 UTC.
    pub unix_us: i64,
    /// Name of the session's time zone; `None` for UTC. Functions of dates that name no zone get it.
    pub zone: Option<String>,
    /// What DATABASE() gives; `None`: NULL.
    pub database: Option<String>,
    /// The value of a variable by its lower-case name without `@`; `None`: there is none.
    pub variable: &'v dyn Fn(&str) -> Option<Variable>,
}

/// The value of a variable.
#[derive(Clone, Debug, PartialEq)]
pub enum Variable {
    /// A constant, as of `SET @x = 5`.
    One(Value),
    /// A list of whole numbers, shared by all that name it.
    List(List),
}

/// A variable that has no value for its place; by its name without `@`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsettled {
    /// There is no such variable.
    Unknown(String),
    /// It is a list, and does not stand behind IN.
    IsList(String),
    /// It is no list, and stands behind IN.
    IsNoList(String),
}

impl fmt::Display for Unsettled {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unsettled::Unknown(name) => {
                write!(out, "no variable '@{name}': SET @{name} comes before it")
            }
            Unsettled::IsList(name) => write!(out, "'@{name}' is a list: it stands behind IN"),
            Unsettled::IsNoList(name) => write!(
                out,
                "'@{name}' is no list: IN takes one of SET @{name} = (1, 5, 7)"
            ),
        }
    }
}

impl Moment<'_> {
    /// Puts the time and the variables into an expression: NOW() gets its microseconds and the zone, RAND() the
    /// microseconds as the seed,
    /// functions of dates the zone, and a variable becomes its value. Gives the count of numbers in lists of variables.
    ///
    /// # Errors
    /// [`Unsettled`], of the first variable.
    pub fn settle(&self, expression: &mut Expression) -> Result<usize, Unsettled> {
        let mut listed = self.settle_node(expression)?;
        for part in expression.parts_mut() {
            listed += self.settle(part)?;
        }
        Ok(listed)
    }

    /// As [`Moment::settle`], without the parts of the expression.
    fn settle_node(&self, expression: &mut Expression) -> Result<usize, Unsettled> {
        match expression {
            Expression::Call(Function::Now, arguments) if arguments.is_empty() => {
                let zone = self.zone.iter().cloned().map(Value::Str);
                let time = [Value::Int(self.unix_us.into())].into_iter().chain(zone);
                arguments.extend(time.map(Expression::Literal));
            }
            Expression::Call(Function::CurDate | Function::CurTime, _) => {
                let is_date = matches!(expression, Expression::Call(Function::CurDate, _));
                let text = self.local(if is_date { "%Y-%m-%d" } else { "%H:%M:%S" });
                *expression = Expression::Literal(text.map_or(Value::Null, Value::Str));
            }
            Expression::Call(Function::Database, _) => {
                let name = self.database.clone();
                *expression = Expression::Literal(name.map_or(Value::Null, Value::Str));
            }
            Expression::Call(Function::UnixTimestamp, arguments) if arguments.is_empty() => {
                *expression = Expression::Literal(Value::Int(seconds_of(self.unix_us)));
            }
            Expression::Call(Function::Rand, arguments) if arguments.is_empty() => {
                arguments.push(Expression::Literal(Value::Int(self.unix_us.into())));
            }
            Expression::Call(function, arguments) => self.add_zone(*function, arguments),
            Expression::Variable(name) => *expression = Expression::Literal(self.value(name)?),
            Expression::In { list, .. } => {
                if let Some(name) = list.variable() {
                    *list = self.list(name)?;
                    return Ok(list.len());
                }
            }
            _ => {}
        }
        Ok(0)
    }

    /// The time of the statement in the session's zone.
    fn local(&self, format: &str) -> Option<String> {
        let zone = self.zone.as_deref().map(named_zone);
        let zone = zone.and_then(Result::ok).unwrap_or(TimeZone::UTC);
        moment_in(seconds_of(self.unix_us), &zone, format)
    }

    fn value(&self, name: &str) -> Result<Value, Unsettled> {
        match (self.variable)(name) {
            Some(Variable::One(value)) => Ok(value),
            Some(Variable::List(_)) => Err(Unsettled::IsList(name.to_owned())),
            None => Err(Unsettled::Unknown(name.to_owned())),
        }
    }

    fn list(&self, name: &str) -> Result<List, Unsettled> {
        match (self.variable)(name) {
            Some(Variable::List(list)) => Ok(list),
            Some(Variable::One(_)) => Err(Unsettled::IsNoList(name.to_owned())),
            None => Err(Unsettled::Unknown(name.to_owned())),
        }
    }

    fn add_zone(&self, function: Function, arguments: &mut Vec<Expression>) {
        let Some(zone) = &self.zone else { return };
        let wanted = match function {
            Function::DateHistogram => {
                if let Some(Expression::Literal(Value::Str(options))) = arguments.get_mut(1) {
                    add_option(function, options, "time_zone", zone);
                }
                return;
            }
            Function::DateDiff | Function::DateFormat => 2,
            Function::FromUnixtime => {
                let format = "%Y-%m-%d %H:%M:%S".to_owned();
                if arguments.len() == 1 {
                    arguments.push(Expression::Literal(Value::Str(format)));
                }
                2
            }
            Function::DateAdd | Function::DateSub => 3,
            function if function.takes_zone() => 1,
            _ => return,
        };
        if arguments.len() == wanted {
            arguments.push(Expression::Literal(Value::Str(zone.clone())));
        }
    }
}

/// Whole seconds since 1970-01-01 UTC.
pub(super) fn seconds_of(unix_us: i64) -> i128 {
    unix_us.div_euclid(1_000_000).into()
}

/// The type of a date that was moved by an interval.
pub(crate) const MOVED_DATE: ColumnType = ColumnType::DateTime { fraction_digits: 6 };

/// Most units of a moment that is worked out before the first row, such as `NOW() - INTERVAL 1 DAY`.
const MOMENT_UNITS_MAX: usize = 64 << 10;

/// A moment, in seconds, as a value beside a column of that type: local date and time beside a date or a text, a time beside a time, a
/// year beside a year. `None`: beside all others it is its seconds.
pub(super) fn beside(seconds: i128, zone: &TimeZone, kind: ColumnType) -> Option<String> {
    let format = kind.family().moment_format()?;
    moment_in(seconds, zone, format)
}

/// As [`beside`], of the value of an expression that is a moment: NOW(), or NOW() moved by some interval.
pub(super) fn text_beside(written: &Expression, value: &Value, kind: ColumnType) -> Option<String> {
    let zone = zone_of(written)?;
    match value {
        Value::Int(seconds) => beside(*seconds, &zone, kind),
        Value::Null
        | Value::Float(_)
        | Value::Str(_)
        | Value::Bytes(_)
        | Value::Set(_)
        | Value::Json(_) => None,
    }
}

/// An expression as a column of that type is set to its value: a moment becomes the text of a date or a time where the column has
/// such, and a truth that is set inside a document stays one. A moment that reads a column, or takes long, is as it was.
#[must_use]
pub fn as_set(written: &Expression, kind: ColumnType, is_inside: bool) -> Cow<'_, Expression> {
    if let (Expression::Truth(truth), true) = (written, is_inside) {
        return Cow::Owned(Expression::Literal(Value::of_truth(*truth)));
    }
    if is_inside || zone_of(written).is_none() || written.first_column().is_some() {
        return Cow::Borrowed(written);
    }
    let seconds = super::evaluate_constant(written, &mut { MOMENT_UNITS_MAX });
    match seconds.and_then(|seconds| text_beside(written, &seconds, kind)) {
        Some(text) => Cow::Owned(Expression::Literal(Value::Str(text))),
        None => Cow::Borrowed(written),
    }
}

/// The value of an expression that reads no column and has its moment, if it takes less than `left` units. Takes that much. A moment is
/// a text of local date and time.
#[must_use]
pub fn value_of_its_moment(written: &Expression, left: &mut usize) -> Option<Value> {
    let text = ColumnType::DateTime { fraction_digits: 0 };
    let value = super::evaluate_constant(written, left)?;
    Some(text_beside(written, &value, text).map_or(value, Value::Str))
}

/// The zone of a moment: of NOW(), or of NOW() moved by intervals, which may be those of a column. `None`: the expression is none.
pub(crate) fn zone_of(written: &Expression) -> Option<TimeZone> {
    match written {
        Expression::Call(Function::Now, arguments) => match arguments.get(1) {
            Some(Expression::Literal(Value::Str(zone))) => named_zone(zone).ok(),
            _ => Some(TimeZone::UTC),
        },
        Expression::Call(Function::DateAdd | Function::DateSub, arguments) => {
            zone_of(arguments.first()?)
        }
        _ => None,
    }
}

//! Texts and dates beside timestamps, in a session with a time zone: they are moments of its clock.
//!
//! Example, in +05:00, where `ts` is a timestamp, `dt` a datetime and `s` a text:
//!
//! | written | becomes |
//! |---|---|
//! | `ts = '2024-01-02 00:00:00'` | `ts = 1704135600` |
//! | `ts = dt`, `ts = COALESCE(dt, NOW())` | `ts = local(dt)`, `ts = COALESCE(local(dt), NOW())` |
//! | `COALESCE(ts, 'none') = s` | `COALESCE(ts, 'none') = local(s)` |
//! | `GREATEST(ts, dt)` | `GREATEST(ts, local(dt))`, a timestamp |
//! | `NULLIF(dt, ts)` | `NULLIF(dt, local(ts))`, which gives `dt` unless `local(dt) = ts` |
//!
//! `local` is [`Function::LocalMoment`]. It gives a text that is a date as the seconds of that moment, and any other value as it is.
//! So a condition means the same for a constant, a column, and a call that gives one of them back.

use jiff::tz::TimeZone;

use super::aggregate::Gives as AggregateGives;
use super::beside::Resolve;
use super::call::{exactly_listed, in_zone, named_zone};
use super::function::Function;
use super::list::List;
use super::tree::{BinaryOperator, Expression};
use crate::schema::{ColumnType, TypeFamily};
use crate::value::Value;

/// A time zone in which texts are local time.
pub struct LocalTime {
    zone: TimeZone,
    /// As it was written.
    name: String,
}

/// What values an expression may give, as far as timestamps are concerned. None: numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gives {
    /// Those of timestamps, in seconds.
    moments: bool,
    /// Those of dates and datetimes.
    dates: bool,
    texts: bool,
}

/// What a column gives, by its name; `None`: there is no such column.
pub type GivesOf<'c> = dyn Fn(&str) -> Option<Gives> + 'c;

impl Gives {
    /// The values of a column of that type.
    #[must_use]
    pub fn of(kind: ColumnType) -> Gives {
        let family = kind.family();
        Gives {
            moments: family == TypeFamily::Timestamp,
            dates: family == TypeFamily::Date,
            texts: family == TypeFamily::Text,
        }
    }

    /// The values of an expression.
    #[must_use]
    pub fn by(of: &Expression, columns: &GivesOf<'_>) -> Gives {
        let texts = |texts: bool| Gives {
            texts,
            ..Gives::default()
        };
        match of {
            Expression::Literal(value) => texts(matches!(value, Value::Str(_))),
            Expression::Column(name) => columns(name).unwrap_or_default(),
            Expression::Call(Function::DateAdd | Function::DateSub, arguments) => {
                let first = arguments.first();
                first.map_or_else(Gives::default, |of| Gives::by(of, columns))
            }
            Expression::Aggregate(kind, arguments) => match (kind.gives(), arguments.first()) {
                (AggregateGives::Argument, Some(of)) => Gives::by(of, columns),
                (AggregateGives::Text, _) => texts(true),
                (AggregateGives::Argument | AggregateGives::Count | AggregateGives::Number, _) => {
                    Gives::default()
                }
            },
            Expression::Call(Function::DateHistogram, _) => Gives {
                moments: true,
                ..Gives::default()
            },
            Expression::Call(function, _) if function.gives_text() => texts(true),
            of => {
                let given = of.gives_back().into_iter();
                given.fold(Gives::default(), |all, part| {
                    let part = Gives::by(part, columns);
                    Gives {
                        moments: all.moments || part.moments,
                        dates: all.dates || part.dates,
                        texts: all.texts || part.texts,
                    }
                })
            }
        }
    }

    /// Whether some are those of timestamps and others are not.
    #[must_use]
    pub fn are_mixed(self) -> bool {
        self.moments && self.is_read()
    }

    fn is_read(self) -> bool {
        self.texts || self.dates
    }
}

impl LocalTime {
    /// The zone of a name; `None`: there is no such zone. Cost: a look-up in the table of zones.
    #[must_use]
    pub fn named(name: &str) -> Option<LocalTime> {
        let zone = named_zone(name).ok()?;
        let name = name.to_owned();
        Some(LocalTime { zone, name })
    }

    /// A text that is a date, with a time or without, becomes the seconds of that moment; any other value is unchanged.
    pub fn read(&self, value: &mut Value) {
        if let Some(seconds) = in_zone(value, &self.zone) {
            *value = seconds;
        }
    }

    /// Makes seconds of the texts and dates that an expression compares with timestamps.
    pub fn compare(&self, expression: &mut Expression, columns: &GivesOf<'_>) {
        self.compare_parts(expression, columns);
        for part in expression.parts_mut() {
            self.compare(part, columns);
        }
    }

    fn compare_parts(&self, expression: &mut Expression, columns: &GivesOf<'_>) {
        let is_moment = |of: &Expression| Gives::by(of, columns).moments;
        match expression {
            Expression::Binary(operator, left, right)
                if operator.compares() && asks([&**left, &**right], columns) =>
            {
                self.convert(left, columns);
                self.convert(right, columns);
            }
            Expression::Between {
                needle, low, high, ..
            } if asks([&**needle, low, high], columns) => {
                for part in [needle, low, high] {
                    self.convert(part, columns);
                }
            }
            Expression::In { needle, list, .. } if is_moment(needle) && has_texts(list) => {
                self.convert(needle, columns);
                self.list(list);
            }
            Expression::InRows {
                needles,
                columns: lists,
                ..
            } => {
                let lists = needles.iter().zip(lists);
                let moments = lists.filter(|(needle, _)| is_moment(needle));
                moments.for_each(|(_, list)| self.list(list));
            }
            Expression::Call(Function::NullIf, arguments) => self.null_if(arguments, columns),
            Expression::Call(Function::Remap, arguments) => {
                if let [of, _, Expression::Literal(list), _] = &mut arguments[..]
                    && is_moment(of)
                    && has_text(list)
                {
                    self.convert(of, columns);
                    self.constants(list);
                }
            }
            Expression::Call(Function::TimeDiff, arguments) if arguments.iter().any(is_moment) => {
                let sides = arguments.iter_mut();
                sides.for_each(|side| self.convert(side, columns));
            }
            Expression::Call(function, arguments)
                if function.compares() && asks(&*arguments, columns) =>
            {
                let parts = arguments.iter_mut();
                parts.for_each(|part| self.convert(part, columns));
            }
            Expression::Binary(..)
            | Expression::In { .. }
            | Expression::Between { .. }
            | Expression::Call(..)
            | Expression::Literal(_)
            | Expression::Truth(_)
            | Expression::Column(_)
            | Expression::Variable(_)
            | Expression::Path { .. }
            | Expression::Unary(..)
            | Expression::IsNull { .. }
            | Expression::Each { .. }
            | Expression::Aggregate(..) => {}
        }
    }

    /// Makes seconds of what a timestamp is set to. A text that is no date stays, for the column to read or to refuse.
    pub fn set(&self, of: &mut Expression, columns: &GivesOf<'_>) {
        if matches!(of, Expression::Path { .. }) {
            self.wrap(of);
        } else {
            self.convert(of, columns);
        }
    }

    /// Makes seconds of what is compared with a timestamp, or stored as one.
    fn convert(&self, of: &mut Expression, columns: &GivesOf<'_>) {
        let gives = Gives::by(of, columns);
        let is_mixed = gives.moments && gives.is_read();
        match of {
            Expression::Literal(value) => self.read(value),
            Expression::Call(Function::If | Function::Case | Function::Coalesce, _) => {
                of.given_back_mut()
                    .for_each(|part| self.convert(part, columns));
            }
            Expression::Aggregate(kind, of)
                if is_mixed && kind.gives() == AggregateGives::Argument =>
            {
                of.iter_mut().for_each(|of| self.convert(of, columns));
            }
            // Its parts are made moments, or it is refused.
            of if of.compares_parts() && gives.moments => {}
            of => {
                if gives.is_read() {
                    self.wrap(of);
                }
            }
        }
    }

    /// `local(of)`.
    fn wrap(&self, of: &mut Expression) {
        let zone = Expression::Literal(Value::Str(self.name.clone()));
        let inner = std::mem::replace(of, Expression::Literal(Value::Null));
        *of = Expression::Call(Function::LocalMoment, vec![inner, zone]);
    }

    /// NULLIF gives its first argument as it is, so a text or a date there stays one: the second argument says in which zone both are
    /// compared, see [`equal`].
    fn null_if(&self, arguments: &mut [Expression], columns: &GivesOf<'_>) {
        let [of, other] = arguments else {
            return;
        };
        if !asks([&*of, &*other], columns) {
            return;
        }
        if let Expression::Literal(value) = of {
            self.read(value);
        } else {
            self.wrap(other);
        }
    }

    fn list(&self, list: &mut List) {
        if list.whole().is_some() {
            return;
        }
        let mut local: Vec<Value> = list.iter().collect();
        local.iter_mut().for_each(|value| self.read(value));
        *list = List::from_iter(local);
    }

    /// The constants of REMAP, which are one value.
    fn constants(&self, list: &mut Value) {
        let Some(items) = list.items() else {
            return self.read(list);
        };
        let mut local: Vec<Value> = items.collect();
        if local
            .iter()
            .any(|value| in_zone(value, &self.zone).is_some())
        {
            local.iter_mut().for_each(|value| self.read(value));
            *list = exactly_listed(&List::from_iter(local));
        }
    }
}

/// The test of `NULLIF(of, other)`: `of = other`, in the zone of `local(other)`.
pub(super) fn equal(of: &Expression, other: &Expression, resolve: &Resolve<'_>) -> Expression {
    let sides = [of, within(other)].map(|side| Box::new(side.clone()));
    let [left, right] = sides;
    let mut equal = Expression::Binary(BinaryOperator::Equal, left, right);
    if let Expression::Call(Function::LocalMoment, arguments) = other
        && let Some(Expression::Literal(Value::Str(zone))) = arguments.get(1)
        && let Some(zone) = LocalTime::named(zone)
    {
        zone.compare_parts(&mut equal, &|name| gives_of(name, resolve));
    }
    equal
}

/// What became a moment: `of` of `local(of)`.
pub(super) fn within(of: &Expression) -> &Expression {
    let Expression::Call(Function::LocalMoment, arguments) = of else {
        return of;
    };
    arguments.first().unwrap_or(of)
}

fn gives_of(name: &str, resolve: &Resolve<'_>) -> Option<Gives> {
    let (_, kind) = resolve.find(name)?;
    kind.map(Gives::of)
}

/// A comparison with timestamps in UTC, where what is beside them is no column and no constant, and may be a text or a date: the parts
/// of it become moments. Expressions of a session with a zone have none. `None`: it is no such comparison.
pub(super) fn in_utc(of: &Expression, resolve: &Resolve<'_>) -> Option<Box<Expression>> {
    let columns = |name: &str| gives_of(name, resolve);
    let (mut has_moments, mut is_read) = (false, false);
    let compares = match of {
        Expression::Binary(operator, ..) => operator.compares(),
        Expression::Between { .. } | Expression::In { .. } => true,
        // The test of NULLIF is such a comparison itself.
        Expression::Call(Function::NullIf, _) => false,
        Expression::Call(function, _) => function.compares() || *function == Function::Remap,
        Expression::InRows { .. }
        | Expression::Literal(_)
        | Expression::Truth(_)
        | Expression::Column(_)
        | Expression::Variable(_)
        | Expression::Path { .. }
        | Expression::Unary(..)
        | Expression::IsNull { .. }
        | Expression::Each { .. }
        | Expression::Aggregate(..) => false,
    };
    if !compares {
        return None;
    }
    for part in of.parts() {
        let gives = Gives::by(part, &columns);
        let is_chosen = of.compares_parts() && matches!(part, Expression::Column(_));
        has_moments |= gives.moments;
        is_read |= gives.is_read() && (!is_plain(part) || is_chosen);
    }
    if !has_moments || !is_read {
        return None;
    }
    let utc = LocalTime {
        zone: TimeZone::UTC,
        name: "UTC".to_owned(),
    };
    let mut read = Box::new(of.clone());
    utc.compare_parts(&mut read, &columns);
    (*read != *of).then_some(read)
}

/// Whether parts that are compared are to be moments: a timestamp stands beside a text, a date or another timestamp. Beside numbers
/// each value is compared as its own column is.
fn asks<'e>(parts: impl IntoIterator<Item = &'e Expression>, columns: &GivesOf<'_>) -> bool {
    let (mut moments, mut others) = (0, false);
    for part in parts {
        let gives = Gives::by(part, columns);
        moments += usize::from(gives.moments);
        others |= gives.is_read() && !gives.moments;
    }
    moments > 1 || moments == 1 && others
}

/// Whether a list has a text, which may be a date. One of whole numbers is not looked at.
fn has_texts(list: &List) -> bool {
    list.whole().is_none() && list.iter().any(|value| matches!(value, Value::Str(_)))
}

/// As [`has_texts`], of the constants of REMAP, which are one value.
fn has_text(list: &Value) -> bool {
    match list.items() {
        Some(mut items) => items.any(|value| matches!(value, Value::Str(_))),
        None => matches!(list, Value::Str(_)),
    }
}

/// Whether it is a column or a constant.
fn is_plain(of: &Expression) -> bool {
    matches!(of, Expression::Column(_) | Expression::Literal(_))
}

//! The nodes of prepared expressions: how they are worked out over a row, and walked.

use std::sync::Arc;

use jiff::tz::TimeZone;
use language::meter::{Budget, Meter, Work};

use super::call::{Known, call, each};
use super::evaluate::{NODE_UNITS, between, binary, negate_if, three_valued, unary, weighed};
use super::function::Function;
use super::lazy_set::LazySet;
use super::mixed::Mixed;
use super::moment;
use super::row_set::RowSet;
use super::tree::{BinaryOperator, Over, UnaryOperator};
use crate::json::JsonStep;
use crate::schema::ColumnType;
use crate::value::Value;

/// The slot of `weight()`, in rows that have a weight. No row has a column with so high a number.
pub const WEIGHT_SLOT: usize = usize::MAX / 2;

/// Slot of the first key in a group; the other keys follow, then the aggregates. They are comparable values. No row has a column with
/// so high a number.
pub const GROUP_SLOT: usize = usize::MAX / 4;

/// Most memory of the value of a part that reads no column, in bytes, where it replaces the part.
const FOLDED_BYTES_MAX: usize = 256;

/// Most units of such a part. One that takes more is worked out row by row, where a statement can be stopped.
const FOLDED_UNITS_MAX: u64 = 64 << 10;

/// Units of a path inside a document, beside those of its node.
const PATH_UNITS: u64 = 60;

/// A row as expressions read it, and the meter of the statement that reads it.
pub trait ColumnValues {
    /// The value of a column, by its slot.
    fn value(&self, slot: usize) -> Value;

    /// What stands at a path in a column's document, as [`Value::at_path`] of the column's value. A reader that has the row's
    /// bytes overrides it, so that no document is copied.
    fn value_at(&self, slot: usize, path: &[JsonStep]) -> Value {
        self.value(slot).at_path(path)
    }

    /// Counts the work of expressions over the row. Once it has stopped, their values are of no use: who evaluates asks it before
    /// a value is used.
    fn meter(&self) -> &dyn Meter;
}

/// A row made of a closure from slot to value.
pub struct Metered<'m, F> {
    meter: &'m dyn Meter,
    value: F,
}

impl<'m, F: Fn(usize) -> Value> Metered<'m, F> {
    /// The row whose values the closure gives.
    pub fn new(meter: &'m dyn Meter, value: F) -> Metered<'m, F> {
        Metered { meter, value }
    }
}

impl<F: Fn(usize) -> Value> ColumnValues for Metered<'_, F> {
    fn value(&self, slot: usize) -> Value {
        (self.value)(slot)
    }

    fn meter(&self) -> &dyn Meter {
        self.meter
    }
}

#[derive(Clone, Debug)]
pub(super) enum PreparedNode {
    Literal(Value),
    Slot(usize),
    /// A column whose stored form compares wrongly, such as a DECIMAL.
    Typed(usize, ColumnType),
    /// A value inside a JSON column.
    Path(usize, Box<[JsonStep]>),
    /// Seconds, or the text of a date, as a value of that type: see [`moment::beside`].
    Moment(Box<PreparedNode>, Arc<TimeZone>, ColumnType),
    Unary(UnaryOperator, Box<PreparedNode>),
    Binary(BinaryOperator, Box<PreparedNode>, Box<PreparedNode>),
    In {
        needle: Box<PreparedNode>,
        negated: bool,
        set: Arc<LazySet>,
    },
    InRows {
        needles: Box<[PreparedNode]>,
        negated: bool,
        set: Arc<RowSet>,
    },
    Between {
        needle: Box<PreparedNode>,
        negated: bool,
        low: Box<PreparedNode>,
        high: Box<PreparedNode>,
    },
    IsNull {
        needle: Box<PreparedNode>,
        negated: bool,
    },
    Call(Function, Arc<Known>, Box<[PreparedNode]>),
    /// What gives back a value of that type, in the form of [`ColumnType::comparable`].
    Given(Box<PreparedNode>, ColumnType),
    /// The same in the form that a client sees.
    Stored(Box<PreparedNode>, ColumnType),
    /// A call of GREATEST and the like whose arguments are shown values of that type: they are compared by their comparable form, and
    /// one is given back as it is shown.
    Picked(Box<PreparedNode>, ColumnType),
    /// The number of a date's digits, as MySQL has it: 20240102 of a DATE, 20240102000000 of a DATETIME at midnight.
    Digits(Box<PreparedNode>, ColumnType),
    /// A text or a number of a row as a value of that type. One that is none is unlike all values of it.
    Read(Box<PreparedNode>, ColumnType),
    /// What a call of a [`Mixed`] may give back, with the number of its kind.
    Part(Box<PreparedNode>, usize),
    Mixed(Mixed),
    Each {
        over: Over,
        /// The slot of an item in the condition.
        slot: usize,
        list: Box<PreparedNode>,
        condition: Box<PreparedNode>,
    },
}

/// A row with an item of a list beside its columns.
pub(super) struct WithItem<'r> {
    row: &'r dyn ColumnValues,
    slot: usize,
    item: &'r Value,
}

impl<'r> WithItem<'r> {
    pub(super) fn new(row: &'r dyn ColumnValues, slot: usize, item: &'r Value) -> WithItem<'r> {
        WithItem { row, slot, item }
    }
}

impl ColumnValues for WithItem<'_> {
    fn value(&self, slot: usize) -> Value {
        match slot == self.slot {
            true => self.item.clone(),
            false => self.row.value(slot),
        }
    }

    fn value_at(&self, slot: usize, path: &[JsonStep]) -> Value {
        match slot == self.slot {
            true => self.item.at_path(path),
            false => self.row.value_at(slot, path),
        }
    }

    fn meter(&self) -> &dyn Meter {
        self.row.meter()
    }
}

impl PreparedNode {
    /// Seconds as a value of that type, where the type is no number: see [`PreparedNode::Moment`].
    pub(super) fn as_moment(
        self: Box<Self>,
        zone: TimeZone,
        kind: ColumnType,
    ) -> Box<PreparedNode> {
        match moment::beside(0, &zone, kind) {
            Some(_) => {
                // A date compares as its midnight.
                let kind = if kind == ColumnType::Date {
                    moment::MOVED_DATE
                } else {
                    kind
                };
                Box::new(PreparedNode::Moment(self, Arc::new(zone), kind))
            }
            None => self,
        }
    }

    /// Of what is read inside a document, texts and truths stay values of a document.
    pub(super) fn read_inside(&mut self) {
        match self {
            PreparedNode::Path(_, steps) => {
                *steps = [&**steps, &[JsonStep::Itself]].concat().into();
            }
            PreparedNode::Slot(slot) => {
                *self = PreparedNode::Path(*slot, [JsonStep::Itself].into());
            }
            PreparedNode::Call(function, _, arguments) => {
                for place in function.gives_back(arguments.len()) {
                    if let Some(argument) = arguments.get_mut(place) {
                        argument.read_inside();
                    }
                }
            }
            PreparedNode::Mixed(mixed) => mixed.each_test(&mut PreparedNode::read_inside),
            // What is worked out is no value of a document.
            PreparedNode::Literal(_)
            | PreparedNode::Typed(..)
            | PreparedNode::Moment(..)
            | PreparedNode::Unary(..)
            | PreparedNode::Binary(..)
            | PreparedNode::In { .. }
            | PreparedNode::InRows { .. }
            | PreparedNode::Between { .. }
            | PreparedNode::IsNull { .. }
            | PreparedNode::Given(..)
            | PreparedNode::Stored(..)
            | PreparedNode::Picked(..)
            | PreparedNode::Digits(..)
            | PreparedNode::Read(..)
            | PreparedNode::Part(..)
            | PreparedNode::Each { .. } => {}
        }
    }

    /// The node as its value is shown and stored.
    pub(super) fn stored(mut self) -> PreparedNode {
        self.make_stored();
        self
    }

    /// See [`PreparedNode::stored`].
    pub(super) fn make_stored(&mut self) {
        let taken = std::mem::replace(self, PreparedNode::Literal(Value::Null));
        *self = match taken {
            PreparedNode::Typed(slot, kind) => {
                let of = PreparedNode::Slot(slot);
                match (GROUP_SLOT..WEIGHT_SLOT).contains(&slot) {
                    true => PreparedNode::Stored(Box::new(of), kind),
                    false => of,
                }
            }
            PreparedNode::Given(of, kind) => match *of {
                PreparedNode::Call(function, known, mut arguments) if function.chooses() => {
                    store_chosen(function, &mut arguments, Some(kind));
                    PreparedNode::Call(function, known, arguments)
                }
                // A comparable decimal may have lost digits.
                PreparedNode::Call(function, known, mut arguments)
                    if function.compares() && matches!(kind, ColumnType::Decimal { .. }) =>
                {
                    arguments.iter_mut().for_each(PreparedNode::make_stored);
                    let call = PreparedNode::Call(function, known, arguments);
                    PreparedNode::Picked(Box::new(call), kind)
                }
                of => PreparedNode::Stored(Box::new(of), kind),
            },
            PreparedNode::Call(function, known, mut arguments) if function.chooses() => {
                store_chosen(function, &mut arguments, None);
                PreparedNode::Call(function, known, arguments)
            }
            PreparedNode::Part(of, kind) => PreparedNode::Part(Box::new(of.stored()), kind),
            PreparedNode::Mixed(mut mixed) => {
                // What a test gives back, as REMAP does.
                mixed.each_test(&mut PreparedNode::make_stored);
                PreparedNode::Mixed(mixed)
            }
            other => other,
        };
    }

    /// Replaces the largest parts that read no column by their values. A long text stays an expression: statements pay for the
    /// memory of what is written, and `HEX(HEX(HEX('a')))` may grow to 4 MiB.
    pub(super) fn fold(&mut self) {
        if !self.is_constant() {
            return self.fold_parts();
        }
        if matches!(self, PreparedNode::Literal(_)) {
            return;
        }
        let budget = Budget::new(FOLDED_UNITS_MAX);
        let row = Metered::new(&budget, |_| Value::Null);
        let value = self.evaluate(&row, &Work::new(&budget));
        if !budget.is_stopped() && value.memory() <= FOLDED_BYTES_MAX {
            *self = PreparedNode::Literal(value);
        }
    }

    /// Whether its value depends on no row. IN and conditions on lists are not looked into.
    fn is_constant(&self) -> bool {
        match self {
            PreparedNode::Literal(_) => true,
            PreparedNode::Unary(_, operand) => operand.is_constant(),
            PreparedNode::Binary(_, left, right) => left.is_constant() && right.is_constant(),
            PreparedNode::Between {
                needle, low, high, ..
            } => [needle, low, high].iter().all(|part| part.is_constant()),
            PreparedNode::IsNull { needle, .. } => needle.is_constant(),
            PreparedNode::Moment(of, ..)
            | PreparedNode::Given(of, _)
            | PreparedNode::Stored(of, _)
            | PreparedNode::Picked(of, _)
            | PreparedNode::Digits(of, _)
            | PreparedNode::Read(of, _) => of.is_constant(),
            PreparedNode::Call(_, _, arguments) => arguments.iter().all(PreparedNode::is_constant),
            PreparedNode::Slot(_)
            | PreparedNode::Path(..)
            | PreparedNode::Typed(..)
            | PreparedNode::In { .. }
            | PreparedNode::InRows { .. }
            // The number of its kind would be lost.
            | PreparedNode::Part(..)
            | PreparedNode::Mixed(_)
            | PreparedNode::Each { .. } => false,
        }
    }

    /// Folds the parts of an expression that reads a row.
    fn fold_parts(&mut self) {
        self.each_part(&mut |part| part.fold());
    }

    /// Gives all expressions of REGEX and REGEXP in it small caches, and gives the memory that these take at most.
    pub(super) fn keep_little(&mut self) -> usize {
        let mut bytes = 0;
        self.each_part(&mut |part| bytes += part.keep_little());
        if let PreparedNode::Call(_, known, _) = self
            && let Known::Regex(regex) = &**known
        {
            let little = regex.with_little();
            bytes += little.memory();
            *known = Arc::new(Known::Regex(little));
        }
        bytes
    }

    /// Calls `visit` with each slot of a column that it reads.
    pub(super) fn each_slot(&mut self, visit: &mut dyn FnMut(usize)) {
        let slot = match self {
            PreparedNode::Slot(slot)
            | PreparedNode::Typed(slot, _)
            | PreparedNode::Path(slot, _) => Some(*slot),
            _ => None,
        };
        // Those above are items of lists.
        slot.into_iter()
            .filter(|slot| *slot <= WEIGHT_SLOT)
            .for_each(&mut *visit);
        self.each_part(&mut |part| part.each_slot(visit));
    }

    fn each_part(&mut self, visit: &mut dyn FnMut(&mut PreparedNode)) {
        match self {
            PreparedNode::Literal(_)
            | PreparedNode::Slot(_)
            | PreparedNode::Path(..)
            | PreparedNode::Typed(..) => {}
            PreparedNode::Unary(_, part)
            | PreparedNode::Moment(part, ..)
            | PreparedNode::Given(part, _)
            | PreparedNode::Stored(part, _)
            | PreparedNode::Picked(part, _)
            | PreparedNode::Digits(part, _)
            | PreparedNode::Read(part, _)
            | PreparedNode::Part(part, _)
            | PreparedNode::In { needle: part, .. }
            | PreparedNode::IsNull { needle: part, .. } => visit(part),
            PreparedNode::Binary(_, left, right) => {
                visit(left);
                visit(right);
            }
            PreparedNode::Between {
                needle, low, high, ..
            } => {
                for part in [needle, low, high] {
                    visit(part);
                }
            }
            PreparedNode::Mixed(mixed) => mixed.each_part(visit),
            // No `for_each`, whose frames would lie on the stack of each level.
            PreparedNode::Call(_, _, parts) | PreparedNode::InRows { needles: parts, .. } => {
                for part in parts.iter_mut() {
                    visit(part);
                }
            }
            PreparedNode::Each {
                list, condition, ..
            } => {
                visit(list);
                visit(condition);
            }
        }
    }

    /// The value of an operand, whose length is counted.
    pub(super) fn operand(&self, row: &dyn ColumnValues, work: &Work<'_>) -> Value {
        weighed(self.evaluate(row, work), work)
    }

    pub(super) fn evaluate(&self, row: &dyn ColumnValues, work: &Work<'_>) -> Value {
        if work.begin(NODE_UNITS).is_none() {
            return Value::Null;
        }
        match self {
            PreparedNode::Literal(value) => copied(value.clone(), work),
            PreparedNode::Slot(slot) => copied(row.value(*slot), work),
            PreparedNode::Path(slot, steps) => at_path(row, *slot, steps, work),
            PreparedNode::Typed(slot, kind) => copied(kind.comparable(row.value(*slot)), work),
            PreparedNode::Moment(of, zone, kind) => in_zone(of.evaluate(row, work), zone, *kind),
            PreparedNode::Given(of, _) | PreparedNode::Part(of, _) => of.evaluate(row, work),
            PreparedNode::Mixed(mixed) => mixed.evaluate(row, work),
            PreparedNode::Stored(of, kind) => in_column(of.evaluate(row, work), *kind),
            PreparedNode::Picked(of, kind) => picked(of, *kind, row, work),
            PreparedNode::Digits(of, kind) => kind.digits(of.evaluate(row, work)),
            PreparedNode::Read(of, kind) => read_as(of.operand(row, work), *kind),
            PreparedNode::Unary(operator, operand) => unary(*operator, &operand.operand(row, work)),
            PreparedNode::Binary(operator, left, right) => {
                binary(*operator, left.operand(row, work), &mut || {
                    right.operand(row, work)
                })
            }
            PreparedNode::In {
                needle,
                negated,
                set,
            } => {
                let needle = needle.operand(row, work);
                let held = set.set_within(work).and_then(|set| set.holds(&needle));
                three_valued(negate_if(*negated, held))
            }
            PreparedNode::InRows {
                needles,
                negated,
                set,
            } => {
                let needles: Vec<Value> = needles.iter().map(|of| of.operand(row, work)).collect();
                three_valued(negate_if(*negated, set.holds(&needles, work)))
            }
            PreparedNode::Between {
                needle,
                negated,
                low,
                high,
            } => between(
                &needle.operand(row, work),
                &low.operand(row, work),
                &high.operand(row, work),
                *negated,
            ),
            PreparedNode::IsNull { needle, negated } => {
                is_null(&needle.evaluate(row, work), *negated)
            }
            PreparedNode::Call(function, known, arguments) => {
                call(*function, known, arguments.len(), work, &mut |at| {
                    let of = arguments.get(at);
                    of.map_or(Value::Null, |of| of.evaluate(row, work))
                })
            }
            PreparedNode::Each {
                over,
                slot,
                list,
                condition,
            } => each(*over, &list.evaluate(row, work), work, &mut |item| {
                let row = WithItem::new(row, *slot, &item);
                condition.evaluate(&row, work).as_bool() == Some(true)
            }),
        }
    }
}

/// See [`PreparedNode::Read`].
fn read_as(value: Value, kind: ColumnType) -> Value {
    match value {
        // A number is unlike a date, and the text of no number is unlike a time and a moment.
        Value::Int(_) | Value::Float(_) => kind.constant(&value).unwrap_or(value),
        Value::Str(_) => match (kind.constant(&value), kind.family().compares_as_number()) {
            (Ok(read), _) => read,
            (Err(_), Some(false)) => Value::Int(0),
            (Err(_), Some(true) | None) => value,
        },
        other => other,
    }
}

/// See [`PreparedNode::Picked`].
fn picked(of: &PreparedNode, kind: ColumnType, row: &dyn ColumnValues, work: &Work<'_>) -> Value {
    let PreparedNode::Call(function, known, arguments) = of else {
        return of.evaluate(row, work); // a part of it was folded
    };
    let shown = arguments.iter().map(|of| of.evaluate(row, work));
    let shown: Vec<Value> = shown.collect();
    let comparable = shown.iter().map(|value| kind.comparable(value.clone()));
    let comparable: Vec<Value> = comparable.collect();
    let best = call(*function, known, comparable.len(), work, &mut |at| {
        comparable.get(at).cloned().unwrap_or(Value::Null)
    });
    let mut pairs = comparable.into_iter().zip(shown);
    match (pairs.find(|(value, _)| *value == best), kind) {
        (None | Some((Value::Null, _)), _) => Value::Null,
        (Some((_, shown)), ColumnType::Decimal { .. }) => in_column(shown, kind),
        (Some((_, shown)), _) => shown,
    }
}

fn is_null(value: &Value, negated: bool) -> Value {
    Value::Int(((*value == Value::Null) != negated).into())
}

fn at_path(row: &dyn ColumnValues, slot: usize, steps: &[JsonStep], work: &Work<'_>) -> Value {
    work.spend(PATH_UNITS);
    copied(row.value_at(slot, steps), work)
}

/// What a call may give back, each as it is shown and stored. `kind`: the type of all, of which constants are comparable values.
fn store_chosen(function: Function, arguments: &mut [PreparedNode], kind: Option<ColumnType>) {
    for place in function.gives_back(arguments.len()) {
        match (arguments.get_mut(place), kind) {
            (Some(PreparedNode::Literal(value)), Some(kind)) => {
                *value = in_column(value.clone(), kind);
            }
            (Some(argument), _) => argument.make_stored(),
            (None, _) => {}
        }
    }
}

/// A comparable value as a column of that type shows it.
fn in_column(comparable: Value, kind: ColumnType) -> Value {
    match comparable {
        Value::Null => Value::Null,
        value => kind.of_comparable(value),
    }
}

/// Seconds, or a date that was moved, as a value of that type.
fn in_zone(moment: Value, zone: &TimeZone, kind: ColumnType) -> Value {
    kind.comparable(match moment {
        Value::Int(seconds) => moment::beside(seconds, zone, kind).map_or(Value::Null, Value::Str),
        date => date,
    })
}

/// A value that was copied, which is counted. Once the meter has stopped nobody uses it.
fn copied(value: Value, work: &Work<'_>) -> Value {
    if let Some(text) = value.text_bytes() {
        let _ = work.copy(text.len());
    }
    value
}

//! Expressions prepared for many rows: columns are slots, IN lists are sets.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use super::call::{Known, call, each};
use super::evaluate::{
    NODE_UNITS, as_compared, between, binary, negate_if, three_valued, unary, weighed,
};
use super::function::Function;
use super::lazy_set::LazySet;
use super::list::List;
use super::moment;
use super::row_set::RowSet;
use super::simple::{self, Simple};
use super::tree::{BinaryOperator, Expression, Over, UnaryOperator};
use crate::json::JsonStep;
use crate::limits::COMPUTED_TEXT_BYTES_MAX;
use crate::meter::{Budget, Meter, Work};
use crate::schema::ColumnType;
use crate::value::Value;

/// Why an expression cannot be prepared for the rows of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unprepared {
    /// The name of a column that the table does not have.
    UnknownColumn(String),
    /// A constant that the type of the column beside it does not read, in words.
    Constant(Box<str>),
}

impl fmt::Display for Unprepared {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unprepared::UnknownColumn(name) => write!(out, "unknown column '{name}'"),
            Unprepared::Constant(what) => out.write_str(what),
        }
    }
}

/// Most characters of a constant that an error shows.
const SHOWN_CHARS_MAX: usize = 64;

/// The slot of `weight()`, in rows that have a weight. No row has a column with so high a number.
pub const WEIGHT_SLOT: usize = usize::MAX / 2;

/// Most memory of the value of a part that reads no column, in bytes, where it replaces the part.
const FOLDED_BYTES_MAX: usize = 256;

/// Most units of such a part. One that takes more is worked out row by row, where a statement can be stopped.
const FOLDED_UNITS_MAX: u64 = 64 << 10;

/// Units of a path inside a document, beside those of its node.
const PATH_UNITS: u64 = 60;

/// Most units of a call whose arguments are all written constants, for the same reason.
const CALLED_UNITS_MAX: u64 = 2 * COMPUTED_TEXT_BYTES_MAX as u64;

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

/// An expression with its columns resolved. It means the same as its expression under [`super::evaluate`].
#[derive(Clone, Debug)]
pub struct Prepared {
    pub(super) root: PreparedNode,
    /// The slots of its columns, rising.
    slots: Vec<usize>,
    /// Memory of its regular expressions at most, in bytes; 0 unless [`Prepared::for_many`] was called.
    regex_bytes: usize,
}

#[derive(Clone, Debug)]
pub(super) enum PreparedNode {
    Literal(Value),
    Slot(usize),
    /// A column whose stored form compares wrongly, such as a DECIMAL.
    Typed(usize, ColumnType),
    /// A value inside a JSON column.
    Path(usize, Box<[JsonStep]>),
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
    Each {
        over: Over,
        /// The slot of an item in the condition.
        slot: usize,
        list: Box<PreparedNode>,
        condition: Box<PreparedNode>,
    },
}

/// A row with an item of a list beside its columns.
struct WithItem<'r> {
    row: &'r dyn ColumnValues,
    slot: usize,
    item: &'r Value,
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

impl Prepared {
    /// Resolves columns by `resolve` (lower-case name to slot). Cost: linear in the expression.
    ///
    /// # Errors
    /// [`Unprepared`], the first one.
    pub fn new(
        expression: &Expression,
        resolve: &dyn Fn(&str) -> Option<usize>,
    ) -> Result<Prepared, Unprepared> {
        let plain = |name: &str| resolve(name).map(|slot| (slot, None));
        Prepared::resolved(expression, &plain)
    }

    /// As [`Prepared::new`], with the columns' types. Dates, times and decimals are stored as text; they are compared
    /// and sorted by [`ColumnType::comparable`], and constants beside them are read as that type.
    ///
    /// # Errors
    /// [`Unprepared`], the first one.
    pub fn typed(
        expression: &Expression,
        resolve: &dyn Fn(&str) -> Option<(usize, ColumnType)>,
    ) -> Result<Prepared, Unprepared> {
        let typed = |name: &str| resolve(name).map(|(slot, kind)| (slot, Some(kind)));
        Prepared::resolved(expression, &typed)
    }

    /// As [`Prepared::typed`], where the type of a column may be unknown.
    pub(crate) fn resolved(
        expression: &Expression,
        resolve: &Columns<'_>,
    ) -> Result<Prepared, Unprepared> {
        let slots = RefCell::new(BTreeSet::new());
        let noted = |name: &str| {
            let found = resolve(name);
            slots.borrow_mut().extend(found.map(|(slot, _)| slot));
            found
        };
        let names = Resolve {
            columns: &noted,
            item: None,
        };
        let mut root = PreparedNode::new(expression, &names)?;
        root.fold();
        let slots = slots.into_inner().into_iter().collect();
        Ok(Prepared {
            root,
            slots,
            regex_bytes: 0,
        })
    }

    /// The value of a slot.
    #[must_use]
    pub fn of_slot(slot: usize) -> Prepared {
        Prepared {
            root: PreparedNode::Slot(slot),
            slots: vec![slot],
            regex_bytes: 0,
        }
    }

    /// The same expression as one of very many that are kept, such as the filter of a standing query: its regular expressions
    /// have small caches.
    #[must_use]
    pub fn for_many(mut self) -> Prepared {
        self.regex_bytes = self.root.keep_little();
        self
    }

    /// Both sides of a comparison, as they are compared: a value of a document keeps its kind, and a timestamp beside a date is one.
    /// `None`: it is no comparison.
    pub(crate) fn sides(self) -> Option<[Prepared; 2]> {
        let PreparedNode::Binary(operator, left, right) = self.root else {
            return None;
        };
        let side = |mut root: PreparedNode| {
            let mut slots = BTreeSet::new();
            root.each_slot(&mut |slot| _ = slots.insert(slot));
            Prepared {
                root,
                slots: slots.into_iter().collect(),
                regex_bytes: 0,
            }
        };
        operator.compares().then(|| [side(*left), side(*right)])
    }

    /// Memory of the regular expressions of one of very many at most, in bytes.
    #[must_use]
    pub fn regex_bytes(&self) -> usize {
        self.regex_bytes
    }

    /// The slot whose value it is, if it is nothing else.
    #[must_use]
    pub fn slot(&self) -> Option<usize> {
        match self.root {
            PreparedNode::Slot(slot) => Some(slot),
            _ => None,
        }
    }

    /// Whether it is the value of this slot.
    #[must_use]
    pub fn is_slot(&self, slot: usize) -> bool {
        self.slot() == Some(slot)
    }

    /// The index of this expression in `all`. A plain column that `all` already holds is not added again; anything else is.
    pub fn place_among(&self, all: &mut Vec<Prepared>) -> usize {
        let own = self.slot();
        let known = all.iter().position(|of| own.is_some() && of.slot() == own);
        known.unwrap_or_else(|| {
            all.push(self.clone());
            all.len() - 1
        })
    }

    /// Whether the value depends on the weight of the row.
    #[must_use]
    pub fn needs_weight(&self) -> bool {
        self.slots.contains(&WEIGHT_SLOT)
    }

    /// The slots of the columns that the value depends on, rising.
    #[must_use]
    pub fn slots(&self) -> &[usize] {
        &self.slots
    }

    /// The value over a row; of no use once the row's meter has stopped. An IN list of any length costs one look-up.
    #[must_use]
    pub fn evaluate(&self, row: &dyn ColumnValues) -> Value {
        self.root.evaluate(row, &Work::new(row.meter()))
    }

    /// As [`Prepared::evaluate`], for a loop over rows: `work` gathers what all of them cost.
    pub(crate) fn evaluate_within(&self, row: &dyn ColumnValues, work: &Work<'_>) -> Value {
        self.root.evaluate(row, work)
    }

    /// Whether the value over a row is true. NULL is not. As [`Prepared::evaluate`].
    #[must_use]
    pub fn accepts(&self, row: &dyn ColumnValues) -> bool {
        self.evaluate(row).as_bool() == Some(true)
    }

    /// The conditions on single columns whose conjunction the expression is; `None` if it is no such conjunction.
    /// Where each condition decides, the row is accepted if all are true.
    #[must_use]
    pub fn simple(&self) -> Option<Vec<Simple>> {
        let mut found = Vec::new();
        simple::conditions(&self.root, true, &mut found).then_some(found)
    }

    /// As [`Prepared::simple`], of conditions on numbers alone. Never makes the set of a list of texts, which nothing would stop.
    #[must_use]
    pub fn simple_of_numbers(&self) -> Option<Vec<Simple>> {
        let mut found = Vec::new();
        simple::conditions(&self.root, false, &mut found).then_some(found)
    }
}

/// A column's slot and, if known, its type.
pub(crate) type Columns<'r> = dyn Fn(&str) -> Option<(usize, Option<ColumnType>)> + 'r;

/// The names that an expression may use.
struct Resolve<'r> {
    columns: &'r Columns<'r>,
    /// The item of the innermost list around the expression, and those of the lists around that.
    item: Option<(Item<'r>, &'r Resolve<'r>)>,
}

/// The name that a condition gives to each item of a list.
#[derive(Clone, Copy)]
struct Item<'r> {
    name: &'r str,
    slot: usize,
    /// `None`: items of a document.
    kind: Option<ColumnType>,
}

/// What stands on the other side of a comparison.
enum Beside<'e> {
    /// A column, by its name.
    Column(&'e str, ColumnType),
    /// A value inside a document.
    Inside,
    /// Another expression, or a column of an unknown type.
    Other,
}

/// One side of a comparison.
struct Operand<'e> {
    written: &'e Expression,
    node: Box<PreparedNode>,
    is: Beside<'e>,
}

impl<'e> Operand<'e> {
    fn new(written: &'e Expression, resolve: &Resolve<'_>) -> Result<Operand<'e>, Unprepared> {
        let mut node = Box::new(PreparedNode::new(written, resolve)?);
        node.fold();
        let is = beside(written, resolve);
        if let Beside::Inside = is {
            node.read_inside();
        }
        Ok(Operand { written, node, is })
    }

    /// Turns a constant beside another operand into a value of its kind.
    fn read_beside(&mut self, other: &Operand<'_>) -> Result<(), Unprepared> {
        match (&other.is, self.written, &mut *self.node) {
            (Beside::Column(column, kind), written, PreparedNode::Literal(value)) => {
                if let Some(text) = moment::text_beside(written, value, *kind) {
                    *value = Value::Str(text);
                }
                *value = constant(value, column, *kind)?;
            }
            (Beside::Inside, Expression::Truth(truth), PreparedNode::Literal(value)) => {
                *value = Value::of_truth(*truth);
            }
            (Beside::Inside, _, PreparedNode::Literal(value)) => {
                *value = std::mem::replace(value, Value::Null).inside();
            }
            (Beside::Column(_, ColumnType::Date | ColumnType::DateTime { .. }), _, node) => {
                if let (Beside::Column(_, ColumnType::Timestamp), PreparedNode::Slot(slot)) =
                    (&self.is, &*node)
                {
                    *node = PreparedNode::Typed(*slot, ColumnType::Timestamp);
                }
            }
            (Beside::Other, written, PreparedNode::Literal(value)) => {
                if let PreparedNode::Literal(Value::Str(_)) = &*other.node
                    && let Some(text) = moment::text_beside(written, value, ColumnType::String)
                {
                    *value = Value::Str(text);
                } else if other.written.is_arithmetic() && value.spelled().is_none() {
                    return no_number(value);
                }
            }
            (Beside::Column(..) | Beside::Inside | Beside::Other, ..) => {}
        }
        Ok(())
    }
}

/// Refuses a text beside a number that is worked out. NULL, a set and a document are unlike it.
fn no_number(value: &Value) -> Result<(), Unprepared> {
    match value.text_bytes() {
        None => Ok(()),
        Some(_) => {
            let text: String = value.to_string().chars().take(SHOWN_CHARS_MAX).collect();
            let what = format!("'{text}' is no number, and stands beside one");
            Err(Unprepared::Constant(what.into()))
        }
    }
}

fn beside<'e>(written: &'e Expression, resolve: &Resolve<'_>) -> Beside<'e> {
    match written {
        Expression::Path { .. } => Beside::Inside,
        Expression::Column(name) => match resolve.find(name) {
            Some((_, Some(kind))) => Beside::Column(name, kind),
            Some((slot, None)) if slot > WEIGHT_SLOT => Beside::Inside,
            Some((_, None)) | None => Beside::Other,
        },
        _ => Beside::Other,
    }
}

/// A constant beside a column, as [`ColumnType::constant`].
fn constant(value: &Value, column: &str, kind: ColumnType) -> Result<Value, Unprepared> {
    let plain = as_compared(value.clone(), kind == ColumnType::Json);
    kind.constant(&plain).map_err(|_| {
        let text: String = plain.to_string().chars().take(SHOWN_CHARS_MAX).collect();
        let kind = kind.sql_name();
        // Keys and aggregates of groups have names with brackets, and no user gave them.
        let what = match column.ends_with(')') {
            true => format!("'{text}' is no value of type {kind}"),
            false => format!("'{text}' is no value of column '{column}', which is {kind}"),
        };
        Unprepared::Constant(what.into())
    })
}

impl Resolve<'_> {
    fn find(&self, name: &str) -> Option<(usize, Option<ColumnType>)> {
        match self.item {
            Some((item, _)) if item.name == name => Some((item.slot, item.kind)),
            Some((_, around)) => around.find(name),
            None => (self.columns)(name),
        }
    }

    /// A slot that no column and no item around has. Slots of items count down from the last.
    fn free(&self) -> usize {
        self.item.map_or(usize::MAX, |(item, _)| item.slot - 1)
    }

    fn with_item<'r>(&'r self, item: Item<'r>) -> Resolve<'r> {
        Resolve {
            columns: self.columns,
            item: Some((item, self)),
        }
    }
}

/// The refusal of a variable where no session gives it its value.
fn unsettled(variable: &str) -> Unprepared {
    Unprepared::UnknownColumn(format!("@{variable}"))
}

/// A call. One whose arguments are all constants is worked out here.
fn called(
    function: Function,
    arguments: &[Expression],
    resolve: &Resolve<'_>,
) -> Result<PreparedNode, Unprepared> {
    let is_unsettled = match function {
        Function::Now => arguments.is_empty(),
        Function::Rand => arguments.len() < 2,
        function => function.is_of_the_moment(),
    };
    if is_unsettled {
        return Err(Unprepared::UnknownColumn(format!("{}()", function.name()))); // nobody has given it its time or id
    }
    let arguments = &as_read(function, arguments)[..];
    let known = match worked_out(function, arguments) {
        Ok(value) => return Ok(PreparedNode::Literal(value)),
        Err(known) => known,
    };
    let mut prepared = Vec::with_capacity(arguments.len());
    // A loop: the frames of an iterator would lie on the stack of each level.
    for argument in arguments {
        prepared.push(match &**argument {
            Expression::Column(name) => read(function, name, resolve)?,
            argument => PreparedNode::new(argument, resolve)?,
        });
    }
    let arguments = prepared.into();
    Ok(PreparedNode::Call(function, Arc::new(known), arguments))
}

/// The arguments of a function: where it reads texts, a moment is a text.
fn as_read(function: Function, arguments: &[Expression]) -> Vec<Cow<'_, Expression>> {
    let read = arguments
        .iter()
        .map(|argument| match function.reads_texts() {
            true => moment::as_set(argument, ColumnType::String, false),
            false => Cow::Borrowed(argument),
        });
    read.collect()
}

/// The value of a call whose arguments are all constants and that does not take long. The error: what is known of another call.
fn worked_out(function: Function, arguments: &[Cow<'_, Expression>]) -> Result<Value, Known> {
    let constants: Vec<Option<&Value>> = arguments.iter().map(|it| it.constant()).collect();
    let known = Known::of(function, &constants).unwrap_or(Known::Nothing);
    if constants.iter().all(Option::is_some) {
        let budget = Budget::new(CALLED_UNITS_MAX);
        let work = Work::new(&budget);
        let value = call(function, &known, arguments.len(), &work, &mut |at| {
            let argument = constants.get(at).copied().flatten();
            argument.cloned().unwrap_or(Value::Null)
        });
        drop(work);
        if !budget.is_stopped() {
            return Ok(value);
        }
    }
    Err(known)
}

/// A column as an argument of a function. One of texts reads the text that a client sees, `10:11:12` and not 101112; one of moments
/// reads that of a date or a time, which is no number of seconds.
fn read(function: Function, name: &str, resolve: &Resolve<'_>) -> Result<PreparedNode, Unprepared> {
    match resolve.find(name) {
        Some((slot, Some(kind)))
            if function.reads_texts()
                || function.reads_moments() && !matches!(kind, ColumnType::Decimal { .. }) =>
        {
            Ok(PreparedNode::Slot(slot))
        }
        _ => column(name, resolve),
    }
}

fn column(name: &str, resolve: &Resolve<'_>) -> Result<PreparedNode, Unprepared> {
    match resolve
        .find(name)
        .ok_or_else(|| Unprepared::UnknownColumn(name.to_owned()))?
    {
        (slot, Some(kind)) if kind.has_comparable() => Ok(PreparedNode::Typed(slot, kind)),
        (slot, _) => Ok(PreparedNode::Slot(slot)),
    }
}

fn path(
    column: &str,
    steps: &[JsonStep],
    resolve: &Resolve<'_>,
) -> Result<PreparedNode, Unprepared> {
    match resolve.find(column) {
        Some((slot, None | Some(ColumnType::Json))) => Ok(PreparedNode::Path(slot, steps.into())),
        None => Err(Unprepared::UnknownColumn(column.to_owned())),
        Some(_) => {
            let (column, steps) = (column.to_owned(), steps.to_vec());
            Err(Unprepared::UnknownColumn(
                Expression::Path { column, steps }.to_string(),
            ))
        }
    }
}

/// `a = b`. The walk over a tree has a frame of its own for it, so that deep trees of other kinds take less stack.
fn compared(
    operator: BinaryOperator,
    left: &Expression,
    right: &Expression,
    resolve: &Resolve<'_>,
) -> Result<PreparedNode, Unprepared> {
    let mut left = Operand::new(left, resolve)?;
    let mut right = Operand::new(right, resolve)?;
    left.read_beside(&right)?;
    right.read_beside(&left)?;
    Ok(PreparedNode::Binary(operator, left.node, right.node))
}

/// The item of a list inside the expressions around it.
fn item_of<'r>(list: &Expression, name: &'r str, resolve: &Resolve<'_>) -> Item<'r> {
    let is_set = matches!(
        beside(list, resolve),
        Beside::Column(_, ColumnType::Multi { .. })
    );
    Item {
        name,
        slot: resolve.free(),
        kind: is_set.then_some(ColumnType::Bigint),
    }
}

/// `a [NOT] IN (1, 2)`.
fn listed(
    needle: &Expression,
    negated: bool,
    list: &List,
    resolve: &Resolve<'_>,
) -> Result<PreparedNode, Unprepared> {
    if let Some(name) = list.variable() {
        return Err(unsettled(name));
    }
    let needle = Operand::new(needle, resolve)?;
    let set = Arc::new(LazySet::new(comparable(list, &needle.is)?));
    Ok(PreparedNode::In {
        needle: needle.node,
        negated,
        set,
    })
}

/// `(a, b) [NOT] IN ((1, 2), (3, 4))`.
fn rows(
    needles: &[Expression],
    negated: bool,
    columns: &[List],
    resolve: &Resolve<'_>,
) -> Result<PreparedNode, Unprepared> {
    let needles = needles.iter().map(|it| Operand::new(it, resolve));
    let needles = needles.collect::<Result<Vec<_>, _>>()?;
    let numbers = needles.iter().map(|needle| match needle.is {
        Beside::Column(_, kind) => kind.compares_as_number(),
        Beside::Inside | Beside::Other => None,
    });
    let numbers = numbers.collect();
    let columns = columns.iter().zip(&needles);
    let columns = columns.map(|(list, needle)| comparable(list, &needle.is));
    let set = RowSet::new(columns.collect::<Result<_, _>>()?, numbers);
    let needles = needles.into_iter().map(|needle| *needle.node);
    Ok(PreparedNode::InRows {
        needles: needles.collect(),
        negated,
        set: Arc::new(set),
    })
}

impl PreparedNode {
    fn new(expression: &Expression, resolve: &Resolve<'_>) -> Result<PreparedNode, Unprepared> {
        let part = |of: &Expression| PreparedNode::new(of, resolve).map(Box::new);
        Ok(match expression {
            Expression::Literal(value) => PreparedNode::Literal(value.clone()),
            Expression::Truth(truth) => PreparedNode::Literal(Value::Int((*truth).into())),
            Expression::Column(name) => column(name, resolve)?,
            Expression::Variable(name) => return Err(unsettled(name)),
            Expression::Path { column, steps } => path(column, steps, resolve)?,
            Expression::Unary(operator, operand) => PreparedNode::Unary(*operator, part(operand)?),
            Expression::Binary(operator, left, right) if operator.compares() => {
                compared(*operator, left, right, resolve)?
            }
            Expression::Binary(operator, left, right) => {
                PreparedNode::Binary(*operator, part(left)?, part(right)?)
            }
            Expression::In {
                needle,
                negated,
                list,
            } => listed(needle, *negated, list, resolve)?,
            Expression::InRows {
                needles,
                negated,
                columns,
            } => rows(needles, *negated, columns, resolve)?,
            Expression::Between {
                needle,
                negated,
                low,
                high,
            } => PreparedNode::between([needle, low, high], *negated, resolve)?,
            Expression::IsNull { needle, negated } => PreparedNode::IsNull {
                needle: part(needle)?,
                negated: *negated,
            },
            Expression::Call(function, arguments) => called(*function, arguments, resolve)?,
            Expression::Aggregate(..) => {
                return Err(Unprepared::UnknownColumn(expression.to_string()));
            }
            Expression::Each {
                over,
                variable,
                list,
                condition,
            } => {
                let item = item_of(list, variable, resolve);
                let (slot, inside) = (item.slot, resolve.with_item(item));
                let condition = PreparedNode::new(condition, &inside)?;
                PreparedNode::Each {
                    over: *over,
                    slot,
                    list: part(list)?,
                    condition: Box::new(condition),
                }
            }
        })
    }

    fn between(
        parts: [&Expression; 3],
        negated: bool,
        resolve: &Resolve<'_>,
    ) -> Result<PreparedNode, Unprepared> {
        let [needle, low, high] = parts.map(|part| Operand::new(part, resolve));
        let (mut needle, mut low, mut high) = (needle?, low?, high?);
        low.read_beside(&needle)?;
        high.read_beside(&needle)?;
        needle.read_beside(&low)?;
        needle.read_beside(&high)?;
        Ok(PreparedNode::Between {
            needle: needle.node,
            negated,
            low: low.node,
            high: high.node,
        })
    }

    /// Of what is read inside a document, texts and truths stay values of a document.
    fn read_inside(&mut self) {
        match self {
            PreparedNode::Path(_, steps) => {
                *steps = [&**steps, &[JsonStep::Itself]].concat().into();
            }
            PreparedNode::Slot(slot) => {
                *self = PreparedNode::Path(*slot, [JsonStep::Itself].into());
            }
            _ => {}
        }
    }

    /// Replaces the largest parts that read no column by their values. A long text stays an expression: statements pay for the
    /// memory of what is written, and `HEX(HEX(HEX('a')))` may grow to 4 MiB.
    fn fold(&mut self) {
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
            PreparedNode::Call(_, _, arguments) => arguments.iter().all(PreparedNode::is_constant),
            PreparedNode::Slot(_)
            | PreparedNode::Path(..)
            | PreparedNode::Typed(..)
            | PreparedNode::In { .. }
            | PreparedNode::InRows { .. }
            | PreparedNode::Each { .. } => false,
        }
    }

    /// Folds the parts of an expression that reads a row.
    fn fold_parts(&mut self) {
        self.each_part(&mut |part| part.fold());
    }

    /// Gives all expressions of REGEX and REGEXP in it small caches, and gives the memory that these take at most.
    fn keep_little(&mut self) -> usize {
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
    fn each_slot(&mut self, visit: &mut dyn FnMut(usize)) {
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
    fn operand(&self, row: &dyn ColumnValues, work: &Work<'_>) -> Value {
        weighed(self.evaluate(row, work), work)
    }

    fn evaluate(&self, row: &dyn ColumnValues, work: &Work<'_>) -> Value {
        if work.begin(NODE_UNITS).is_none() {
            return Value::Null;
        }
        match self {
            PreparedNode::Literal(value) => copied(value.clone(), work),
            PreparedNode::Slot(slot) => copied(row.value(*slot), work),
            PreparedNode::Path(slot, steps) => at_path(row, *slot, steps, work),
            PreparedNode::Typed(slot, kind) => copied(kind.comparable(row.value(*slot)), work),
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
                Value::Int(((needle.evaluate(row, work) == Value::Null) != *negated).into())
            }
            PreparedNode::Call(function, known, arguments) => {
                call(*function, known, arguments.len(), work, &mut |at| {
                    arguments
                        .get(at)
                        .map_or(Value::Null, |argument| argument.evaluate(row, work))
                })
            }
            PreparedNode::Each {
                over,
                slot,
                list,
                condition,
            } => each(*over, &list.evaluate(row, work), work, &mut |item| {
                let row = WithItem {
                    row,
                    slot: *slot,
                    item: &item,
                };
                condition.evaluate(&row, work).as_bool() == Some(true)
            }),
        }
    }
}

fn at_path(row: &dyn ColumnValues, slot: usize, steps: &[JsonStep], work: &Work<'_>) -> Value {
    work.spend(PATH_UNITS);
    copied(row.value_at(slot, steps), work)
}

/// A value that was copied, which is counted. Once the meter has stopped nobody uses it.
fn copied(value: Value, work: &Work<'_>) -> Value {
    if let Some(text) = value.text_bytes() {
        let _ = work.copy(text.len());
    }
    value
}

/// The constants beside a needle, read as its type. Whole numbers in quotes beside a number are numbers: a set of them needs no texts.
fn comparable(list: &List, needle: &Beside<'_>) -> Result<List, Unprepared> {
    let is_digits = |kind: &ColumnType| kind.has_comparable() || *kind == ColumnType::Year;
    let reads = matches!(needle, Beside::Column(_, kind) if is_digits(kind));
    if list.whole().is_some() && !reads {
        return Ok(list.clone());
    }
    let list = match needle {
        Beside::Column(name, kind) => {
            let read = list.iter().map(|value| constant(&value, name, *kind));
            read.collect::<Result<List, _>>()?
        }
        Beside::Inside => list.iter().map(|value| as_compared(value, true)).collect(),
        Beside::Other => list.iter().map(|value| as_compared(value, false)).collect(),
    };
    Ok(list)
}

//! Expressions prepared for many rows: columns are slots, IN lists are sets.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::tz::TimeZone;
use language::meter::{Budget, Meter, Work};

use super::beside::{Beside, Columns, Item, Resolve, Unprepared, beside, constant, no_number};
use super::call::{Known, call, exactly_listed};
use super::evaluate::as_compared;
use super::function::Function;
use super::giving_back::giving_back;
use super::kinds::{columns_of, make_digits, mixed};
use super::lazy_set::LazySet;
use super::list::List;
use super::local_time::{in_utc, within};
use super::moment::{self, MOVED_DATE};
use super::node::{ColumnValues, PreparedNode, WEIGHT_SLOT};
use super::row_set::RowSet;
use super::simple::{self, Simple};
use super::tree::{BinaryOperator, Expression, UnaryOperator};
use crate::json::JsonStep;
use crate::limits::COMPUTED_TEXT_BYTES_MAX;
use crate::schema::{ColumnType, Moment, TypeFamily};
use crate::value::Value;

/// Most units of a call whose arguments are all written constants, for the same reason.
const CALLED_UNITS_MAX: u64 = 2 * COMPUTED_TEXT_BYTES_MAX as u64;

/// An expression with its columns resolved. It means the same as its expression under [`super::evaluate`].
#[derive(Clone, Debug)]
pub struct Prepared {
    pub(super) root: PreparedNode,
    /// The slots of its columns, rising.
    slots: Vec<usize>,
    /// Memory of its regular expressions at most, in bytes; 0 unless [`Prepared::for_many`] was called.
    regex_bytes: usize,
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

    /// The expression as a column of that type is set to its value: a moment, as [`as_set`](super::as_set), which may read columns.
    #[must_use]
    pub fn set_to(self, written: &Expression, kind: ColumnType) -> Prepared {
        let Some(zone) = moment::zone_of(written) else {
            return self;
        };
        Prepared {
            root: *Box::new(self.root).as_moment(zone, kind),
            ..self
        }
    }

    /// The expression as its value is shown and stored: a time is `10:11:12`, and not the number by which it is compared.
    #[must_use]
    pub fn stored(self) -> Prepared {
        Prepared {
            root: self.root.stored(),
            ..self
        }
    }

    /// The expression as a JSON column, or a part of one, is set to it: what is read inside a document keeps its kind.
    #[must_use]
    pub fn set_inside(mut self, written: &Expression) -> Prepared {
        if matches!(written, Expression::Path { .. }) {
            self.root.read_inside();
        }
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
        match (&is, written) {
            (Beside::Inside, _) => node.read_inside(),
            // A date that is moved has a time, which may be midnight.
            (Beside::Column(_, kind), Expression::Call(..)) if kind.is_date() => {
                node = node.as_moment(TimeZone::UTC, *kind);
            }
            (Beside::Column(..) | Beside::Other, _) => {}
        }
        Ok(Operand { written, node, is })
    }

    /// Turns a constant beside another operand into a value of its kind, and a moment beside a date into a date.
    fn read_beside(&mut self, other: &Operand<'_>) -> Result<(), Unprepared> {
        let kind = match &other.is {
            Beside::Inside => {
                if let PreparedNode::Literal(value) = &mut *self.node {
                    *value = match self.written {
                        Expression::Truth(truth) => Value::of_truth(*truth),
                        _ => std::mem::replace(value, Value::Null).inside(),
                    };
                }
                return Ok(());
            }
            Beside::Column(_, kind) => *kind,
            Beside::Other if other.gives_text() => ColumnType::String,
            Beside::Other => {
                return match &*self.node {
                    PreparedNode::Literal(value) if other.written.is_arithmetic() => {
                        no_number(value)
                    }
                    _ => Ok(()),
                };
            }
        };
        // A timestamp beside a date is one, in UTC.
        let is_timestamp = matches!(&self.is, Beside::Column(_, ColumnType::Timestamp));
        let zone = match is_timestamp && kind.is_date() {
            true => Some(TimeZone::UTC),
            false => moment::zone_of(self.written),
        };
        if let Some(zone) = zone {
            let node = std::mem::replace(&mut *self.node, PreparedNode::Literal(Value::Null));
            self.node = Box::new(node).as_moment(zone, kind);
            self.node.fold();
        }
        if let (Beside::Column(column, kind), PreparedNode::Literal(value)) =
            (&other.is, &mut *self.node)
        {
            *value = if let (ColumnType::Json, Expression::Truth(truth)) = (kind, self.written) {
                Value::of_truth(*truth)
            } else {
                constant(value, column, *kind)?
            };
        }
        Ok(())
    }

    /// Makes columns of two kinds comparable: beside dates a number is read by its digits, as a constant is, and beside dates, times and
    /// moments a text is the one that it is the text of.
    fn make_like(&mut self, other: &mut Operand<'_>) -> Result<(), Unprepared> {
        let (Some(kind), Some(other_kind)) = (self.row_kind(), other.row_kind()) else {
            return Ok(());
        };
        self.make_like_kind(kind, other_kind);
        other.make_like_kind(other_kind, kind);
        // A moment, a time of day and a year: no two of them are values of one kind.
        let [first, second] = [kind, other_kind].map(|kind| kind.family().moment());
        let refused = first != second && first.is_some() && second.is_some();
        match (refused, &self.is, &other.is) {
            (true, Beside::Column(a, _), Beside::Column(b, _)) => {
                let [a, b] = [(a, kind), (b, other_kind)].map(|(name, kind)| described(name, kind));
                let what = format!("a condition compares values of one kind: {a}, {b}");
                Err(Unprepared::Invalid(what.into()))
            }
            _ => Ok(()),
        }
    }

    fn make_like_kind(&mut self, kind: ColumnType, other: ColumnType) {
        let node = std::mem::replace(&mut *self.node, PreparedNode::Literal(Value::Null));
        *self.node = match kind.family().is_read_as(other.family()) {
            true => PreparedNode::Read(Box::new(node), other),
            false => node,
        };
    }

    /// The type of what a row gives; `None`: it is a constant, or of no column's type.
    fn row_kind(&self) -> Option<ColumnType> {
        match (&self.is, &*self.node) {
            (_, PreparedNode::Literal(_)) => None,
            (Beside::Column(_, kind), _) => Some(*kind),
            (Beside::Other, _) if self.written.is_arithmetic() => Some(ColumnType::Double),
            (Beside::Inside | Beside::Other, _) => None,
        }
    }

    /// Whether its value is a text, such as that of a date.
    fn gives_text(&self) -> bool {
        match self.written {
            Expression::Literal(value) => matches!(value, Value::Str(_)),
            Expression::Call(function, _) => function.gives_date(),
            _ => false,
        }
    }
}

/// The refusal of a variable where no session gives it its value.
fn unsettled(variable: &str) -> Unprepared {
    Unprepared::UnknownColumn(format!("@{variable}"))
}

/// A call. One whose arguments are all constants is worked out here.
pub(super) fn called(
    function: Function,
    arguments: &[Expression],
    resolve: &Resolve<'_>,
) -> Result<PreparedNode, Unprepared> {
    let is_unsettled = match function {
        Function::Now | Function::UnixTimestamp => arguments.is_empty(),
        Function::Rand => arguments.len() < 2,
        function => function.is_of_the_moment(),
    };
    if is_unsettled {
        return Err(Unprepared::UnknownColumn(format!("{}()", function.name()))); // nobody has given it its time or id
    }
    let arguments = &as_read(function, arguments)[..];
    if matches!(function, Function::DateAdd | Function::DateSub) {
        refuse_unmoved(arguments)?;
    }
    let known = match worked_out(function, arguments) {
        Ok(value) => return Ok(PreparedNode::Literal(value)),
        Err(known) => known,
    };
    let mut prepared = Vec::with_capacity(arguments.len());
    match function.compares() {
        true => compared_arguments(function, arguments, resolve, &mut prepared)?,
        // A loop: the frames of an iterator would lie on the stack of each level.
        false => {
            for argument in arguments {
                prepared.push(read(function, argument, resolve)?);
            }
        }
    }
    if function == Function::Remap {
        read_list(&mut prepared, arguments, resolve)?;
    }
    Ok(PreparedNode::Call(
        function,
        Arc::new(known),
        prepared.into(),
    ))
}

/// Refuses an operand of arithmetic that is a text and no number.
fn refuse_texts_of(expression: &Expression) -> Result<(), Unprepared> {
    match expression {
        Expression::Binary(operator, left, right)
            if !operator.compares() && !operator.is_logical() =>
        {
            refuse_texts([&**left, &**right])
        }
        Expression::Unary(UnaryOperator::Minus | UnaryOperator::BitNot, of) => {
            refuse_texts([&**of])
        }
        _ => Ok(()),
    }
}

/// Refuses a constant text that is no number in arithmetic.
fn refuse_texts<'e>(operands: impl IntoIterator<Item = &'e Expression>) -> Result<(), Unprepared> {
    let mut constants = operands.into_iter().filter_map(Expression::constant);
    constants.try_for_each(no_number)
}

/// Refuses constants of a moved date that are no date, or no number of units.
fn refuse_unmoved(arguments: &[Cow<'_, Expression>]) -> Result<(), Unprepared> {
    if let Some(moved @ Value::Str(_)) = arguments.first().and_then(|moved| moved.constant())
        && ColumnType::Timestamp.constant(moved).is_err()
    {
        constant(moved, "date()", MOVED_DATE)?;
    }
    refuse_texts(arguments.get(1).map(|count| &**count))
}

/// The arguments of a function that compares them. Constants are read as values of the column among them, a moment beside a date is
/// one, and columns of two kinds are refused.
fn compared_arguments(
    function: Function,
    arguments: &[Cow<'_, Expression>],
    resolve: &Resolve<'_>,
    prepared: &mut Vec<PreparedNode>,
) -> Result<(), Unprepared> {
    let mut operands = Vec::with_capacity(arguments.len());
    for argument in arguments {
        operands.push(match beside(argument, resolve) {
            Beside::Column(..) => Operand::new(argument, resolve)?,
            // Its value may be that of the call, which is of no document.
            Beside::Inside | Beside::Other => Operand {
                written: argument,
                node: Box::new(PreparedNode::new(argument, resolve)?),
                is: Beside::Other,
            },
        });
    }
    refuse_unlike(function, arguments, resolve)?;
    let is_column = |operand: &Operand<'_>| matches!(operand.is, Beside::Column(..));
    if let Some(at) = operands.iter().position(is_column) {
        let column = operands.remove(at);
        for operand in &mut operands {
            operand.node.fold();
            operand.read_beside(&column)?;
        }
        operands.insert(at, column);
    }
    prepared.extend(operands.into_iter().map(|operand| *operand.node));
    Ok(())
}

/// Refuses arguments whose values no row can compare: as [`one_kind`], of all that each may give back.
fn refuse_unlike(
    function: Function,
    arguments: &[Cow<'_, Expression>],
    resolve: &Resolve<'_>,
) -> Result<(), Unprepared> {
    let mut first = None;
    for argument in arguments {
        for of in columns_of(within(argument), resolve) {
            one_kind(function, first.get_or_insert(of), &of)?;
        }
    }
    Ok(())
}

/// Refuses two columns whose values no row can compare. Numbers and texts may be compared, where the texts are numbers.
pub(super) fn one_kind(
    function: Function,
    a: &Beside<'_>,
    b: &Beside<'_>,
) -> Result<(), Unprepared> {
    let (Beside::Column(a, first), Beside::Column(b, second)) = (a, b) else {
        return Ok(());
    };
    let [of_first, of_second] = [first.family(), second.family()];
    let is_moment = [of_first, of_second].map(TypeFamily::moment) == [Some(Moment::Date); 2];
    if of_first.is_like(of_second) || is_moment {
        return Ok(());
    }
    let [a, b] = [(a, first), (b, second)].map(|(name, kind)| described(name, *kind));
    let function = function.name();
    let what = format!("{function}() compares values of one kind: {a}, {b}");
    Err(Unprepared::Invalid(what.into()))
}

/// What an operand is, for an error. Nobody gave what is worked out its name, which has brackets.
fn described(name: &str, kind: ColumnType) -> String {
    match (name.ends_with(')'), kind) {
        (true, ColumnType::Double) => "what is worked out is a number".to_owned(),
        (true, kind) => format!("what is given back is {}", kind.sql_name()),
        (false, kind) => format!("'{name}' is {}", kind.sql_name()),
    }
}

/// Reads the constants that REMAP compares with a column as values of it.
fn read_list(
    prepared: &mut [PreparedNode],
    arguments: &[Cow<'_, Expression>],
    resolve: &Resolve<'_>,
) -> Result<(), Unprepared> {
    let of = arguments.first().map(|of| beside(of, resolve));
    if let (Some(Beside::Column(_, kind)), Some(zone)) =
        (&of, arguments.get(2).and_then(|list| moment::zone_of(list)))
        && let Some(list) = prepared.get_mut(2)
    {
        let now = std::mem::replace(list, PreparedNode::Literal(Value::Null));
        *list = *Box::new(now).as_moment(zone, *kind);
        list.fold();
    }
    if let (Some(of @ Beside::Column(..)), Some(PreparedNode::Literal(list))) =
        (of, prepared.get_mut(2))
    {
        let constants: List = match list.items() {
            Some(items) => items.collect(),
            None => [list.clone()].into_iter().collect(),
        };
        *list = exactly_listed(&comparable(&constants, &of)?);
    }
    Ok(())
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

/// An argument of a function. A function of texts reads a column, and what gives one back, as a client sees it: `10:11:12` and not
/// 101112. One of moments reads the text of a date or a time, which is no number of seconds.
fn read(
    function: Function,
    argument: &Expression,
    resolve: &Resolve<'_>,
) -> Result<PreparedNode, Unprepared> {
    if function.reads_numbers() {
        return number(argument, resolve);
    }
    let node = PreparedNode::new(argument, resolve)?;
    let mut reads_shown = function.reads_texts();
    if function.reads_moments()
        && let Beside::Column(name, kind) = beside(argument, resolve)
    {
        if is_no_moment(function, kind) {
            return Err(no_moment(function, name, kind));
        }
        reads_shown |= !matches!(kind, ColumnType::Decimal { .. });
    }
    Ok(match reads_shown {
        true => node.stored(),
        false => node,
    })
}

/// An operand of arithmetic: of a date the number of its digits.
fn number(written: &Expression, resolve: &Resolve<'_>) -> Result<PreparedNode, Unprepared> {
    let mut node = PreparedNode::new(written, resolve)?;
    make_digits(written, &mut node, resolve);
    Ok(node)
}

fn no_moment(function: Function, name: &str, kind: ColumnType) -> Unprepared {
    let (function, kind) = (function.name(), kind.sql_name());
    let what = format!("{function}() reads dates and timestamps: '{name}' is {kind}");
    Unprepared::Invalid(what.into())
}

/// Whether values of a type are no moments, as a year is. Of a time of day there are hours, minutes and seconds.
fn is_no_moment(function: Function, kind: ColumnType) -> bool {
    let is_of_times = matches!(
        function,
        Function::Hour | Function::Minute | Function::Second | Function::Time | Function::TimeDiff
    );
    match kind.family().moment() {
        Some(Moment::Year) => true,
        Some(Moment::Time) => !is_of_times,
        Some(Moment::Date) | None => false,
    }
}

fn column(name: &str, resolve: &Resolve<'_>) -> Result<PreparedNode, Unprepared> {
    match resolve
        .find(name)
        .ok_or_else(|| Unprepared::UnknownColumn(name.to_owned()))?
    {
        (slot, Some(kind)) if kind.family().has_comparable() => Ok(PreparedNode::Typed(slot, kind)),
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
    left.make_like(&mut right)?;
    left.read_beside(&right)?;
    right.read_beside(&left)?;
    Ok(PreparedNode::Binary(operator, left.node, right.node))
}

/// An operator on two operands.
fn binary(
    operator: BinaryOperator,
    left: &Expression,
    right: &Expression,
    resolve: &Resolve<'_>,
) -> Result<PreparedNode, Unprepared> {
    if operator.compares() {
        return compared(operator, left, right, resolve);
    }
    let part = match operator.is_logical() {
        true => PreparedNode::new,
        false => number,
    };
    let (left, right) = (part(left, resolve)?, part(right, resolve)?);
    Ok(PreparedNode::Binary(
        operator,
        Box::new(left),
        Box::new(right),
    ))
}

/// An operator on one operand.
fn unary(
    operator: UnaryOperator,
    operand: &Expression,
    resolve: &Resolve<'_>,
) -> Result<PreparedNode, Unprepared> {
    use UnaryOperator as O;
    let operand = match operator {
        O::Minus | O::BitNot => number(operand, resolve)?,
        O::Not | O::IsTrue | O::IsFalse => PreparedNode::new(operand, resolve)?,
    };
    Ok(PreparedNode::Unary(operator, Box::new(operand)))
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
        Beside::Column(_, kind) => kind.family().compares_as_number(),
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
    pub(super) fn new(
        expression: &Expression,
        resolve: &Resolve<'_>,
    ) -> Result<PreparedNode, Unprepared> {
        refuse_texts_of(expression)?;
        if let Some(read) = in_utc(expression, resolve) {
            return PreparedNode::new(&read, resolve);
        }
        if let Some(mixed) = mixed(expression, resolve)? {
            return Ok(PreparedNode::Mixed(mixed));
        }
        let part = |of: &Expression| PreparedNode::new(of, resolve).map(Box::new);
        Ok(match expression {
            Expression::Literal(value) => PreparedNode::Literal(value.clone()),
            Expression::Truth(truth) => PreparedNode::Literal(Value::Int((*truth).into())),
            Expression::Column(name) => column(name, resolve)?,
            Expression::Variable(name) => return Err(unsettled(name)),
            Expression::Path { column, steps } => path(column, steps, resolve)?,
            Expression::Unary(operator, operand) => unary(*operator, operand, resolve)?,
            Expression::Binary(operator, left, right) => binary(*operator, left, right, resolve)?,
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
            Expression::Call(function, arguments)
                if !function.gives_back(arguments.len()).is_empty() =>
            {
                giving_back(*function, arguments, resolve)?
            }
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
        if let [Expression::Column(_), low, high] = parts
            && [low, high].iter().any(|end| end.first_column().is_some())
            && matches!(beside(parts[0], resolve), Beside::Column(_, kind) if kind.family().is_converted())
        {
            // Each end says what the column is beside it.
            use BinaryOperator as O;
            let low = compared(O::GreaterOrEqual, parts[0], low, resolve)?;
            let high = compared(O::LessOrEqual, parts[0], high, resolve)?;
            let within = PreparedNode::Binary(O::And, Box::new(low), Box::new(high));
            return Ok(match negated {
                true => PreparedNode::Unary(UnaryOperator::Not, Box::new(within)),
                false => within,
            });
        }
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
}

/// The constants beside a needle, read as its type. Lists that mean the same as written are not walked constant by constant: a
/// statement may have millions.
fn comparable(list: &List, needle: &Beside<'_>) -> Result<List, Unprepared> {
    match needle {
        Beside::Column(_, kind) if kind.family().has_comparable() || *kind == ColumnType::Year => {}
        Beside::Column(_, kind) => {
            let are_texts = kind.family().compares_as_number() == Some(false);
            if list.whole().is_some() || are_texts && list.has_only_texts() {
                return Ok(list.clone());
            }
            // Whole numbers in quotes, as drivers write them.
            if kind.family().compares_as_number() == Some(true)
                && let Some(whole) = list.to_whole()
            {
                return Ok(whole);
            }
        }
        Beside::Inside | Beside::Other if list.whole().is_some() => return Ok(list.clone()),
        Beside::Inside | Beside::Other => {}
    }
    match needle {
        Beside::Column(name, kind) => {
            let read = list.iter().map(|value| constant(&value, name, *kind));
            read.collect()
        }
        Beside::Inside => Ok(list.iter().map(|value| as_compared(value, true)).collect()),
        Beside::Other => Ok(list.iter().map(|value| as_compared(value, false)).collect()),
    }
}

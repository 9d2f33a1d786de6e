//! A constant beside what gives back values of several kinds, such as `IFNULL(due, '')`: it is read once for each kind, and each row
//! is compared by the kind of the value that it gives. So are REMAP and INTERVAL, and functions of moments read each value by its kind.
//!
//! Example: `IFNULL(clock, '') = '10:11:12'` over a TIME. Beside the column the constant is the number 101112, beside the text it is
//! itself. A row of 10:11:12 takes the first test and is found; a row without a time takes the second.
//!
//! Invariants:
//! - A constant that no kind reads is refused, as beside a column; one that some kind reads is unlike values of the others.
//! - Tests copy what stands beside the call, and that reads no column: so no nesting of calls multiplies their nodes.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::beside::{Beside, Item, Resolve, Unprepared, beside, constant, shown, unified};
use super::call::exactly_listed;
use super::function::Function;
use super::mixed::Mixed;
use super::moment::zone_of;
use super::node::PreparedNode;
use super::tree::Expression;
use crate::limits::MIXED_LIST_MAX;
use crate::schema::{ColumnType, Moment};
use crate::value::Value;

/// The type of a value that a call may give back; `None`: it is one of a document.
pub(crate) type Kind = Option<ColumnType>;

/// The comparison, if it is one of a mixed call with constants alone.
pub(super) fn mixed(
    comparison: &Expression,
    resolve: &Resolve<'_>,
) -> Result<Option<Mixed>, Unprepared> {
    let Some(place) = place(comparison, resolve) else {
        return refuse_row(comparison, resolve).map(|()| None);
    };
    let Some(written @ Expression::Call(function, _)) = comparison.parts().get(place).copied()
    else {
        return Ok(None);
    };
    let mut kinds = Vec::new();
    // A call that gives NULL alone has no kinds.
    if !kinds_of(written, &mut kinds, resolve) || kinds.is_empty() {
        return Ok(None);
    }
    refuse_moments(comparison, place, &kinds)?;
    let name = format!("{}()", function.name());
    let mut of = PreparedNode::new(written, resolve)?;
    mark(written, &mut of, &kinds, resolve);
    let reads_moments = reads_moments(comparison);
    if reads_moments || picks(comparison) {
        of.make_stored(); // as such a function reads a column
    }
    let mut test = comparison.clone();
    share_lists(&mut test)?;
    if let Some(part) = test.parts_mut().into_iter().nth(place) {
        *part = Expression::Column(name.clone());
    }
    let slot = resolve.free();
    let (mut tests, mut refused) = (Vec::with_capacity(kinds.len()), Vec::new());
    for kind in &kinds {
        let item = Item {
            name: &name,
            slot,
            kind: kind.map(|kind| own_kind(written, kind, resolve)),
        };
        let read = PreparedNode::new(&test, &resolve.with_item(item));
        tests.push(match read {
            Ok(test) => test,
            Err(error) if reads_moments => return Err(error),
            Err(error) => {
                refused.push(error);
                of_unread(&test, item, resolve)?
            }
        });
    }
    let is_read = |value: &Value| {
        let mut kinds = kinds.iter();
        kinds.any(|kind| kind.is_none_or(|kind| kind.constant(value).is_ok()))
    };
    let is_each_read = match comparison {
        Expression::InRows { .. } => false,
        of => constants_of(of).iter().all(is_read),
    };
    match refused.len() == kinds.len() && !is_each_read {
        true => Err(refused.swap_remove(0)),
        false => Ok(Some(Mixed {
            of: Box::new(of),
            slot,
            tests: tests.into(),
        })),
    }
}

/// Refuses GREATEST and the like of dates and timestamps together beside a number or NOW(): what is given back is a date or seconds,
/// and a comparison around it cannot tell which.
fn refuse_moments(comparison: &Expression, place: usize, kinds: &[Kind]) -> Result<(), Unprepared> {
    let Expression::Call(function, _) = comparison else {
        return Ok(());
    };
    let is_both = kinds.contains(&Some(ColumnType::Timestamp))
        && kinds.iter().flatten().any(|kind| kind.is_date());
    let is_text = |part: &Expression| matches!(part.constant(), Some(Value::Str(_) | Value::Null));
    let mut parts = comparison.parts().into_iter().enumerate();
    if !is_both || !picks(comparison) || parts.all(|(at, part)| at == place || is_text(part)) {
        return Ok(());
    }
    let function = function.name();
    let what =
        format!("{function}() compares dates and timestamps together with columns and texts alone");
    Err(Unprepared::Invalid(what.into()))
}

/// Refuses a row of which one value may be of several kinds, and another one is worked out of columns.
fn refuse_row(comparison: &Expression, resolve: &Resolve<'_>) -> Result<(), Unprepared> {
    let Expression::InRows { needles, .. } = comparison else {
        return Ok(());
    };
    match needles.iter().any(|needle| is_mixed(needle, resolve)) {
        true => Err(Unprepared::Invalid(
            "IN over rows compares a value of several kinds beside columns and constants alone"
                .into(),
        )),
        false => Ok(()),
    }
}

/// The test of a kind that does not read each constant: its values are unlike those that it does not.
fn of_unread(
    test: &Expression,
    item: Item<'_>,
    resolve: &Resolve<'_>,
) -> Result<PreparedNode, Unprepared> {
    if picks(test) || matches!(test, Expression::Call(Function::Interval, _)) {
        return Ok(PreparedNode::Literal(Value::Null)); // nothing is above or below them
    }
    let (test, kind) = match without_unread(test, item.kind) {
        Some(test) => (Cow::Owned(test), item.kind),
        None => (Cow::Borrowed(test), Some(ColumnType::String)),
    };
    PreparedNode::new(&test, &resolve.with_item(Item { kind, ..item }))
}

/// The constants that a comparison has beside its parts that read columns.
fn constants_of(comparison: &Expression) -> Vec<Value> {
    match comparison {
        Expression::In { list, .. } => list.iter().collect(),
        Expression::Call(Function::Remap, arguments) => match arguments.get(2) {
            Some(Expression::Literal(list)) => items_of(list),
            Some(_) | None => Vec::new(),
        },
        of => {
            let constants = of.parts().into_iter().filter_map(Expression::constant);
            constants.cloned().collect()
        }
    }
}

/// A list without the constants that a kind does not read, which its values are unlike. `None`: it is no list, or none is left.
fn without_unread(test: &Expression, kind: Kind) -> Option<Expression> {
    let mut test = test.clone();
    let kind = kind?;
    let is_read = |value: &Value| kind.constant(value).is_ok();
    match &mut test {
        Expression::In { list, .. } => {
            *list = list.iter().filter(is_read).collect();
            (!list.is_empty()).then_some(test)
        }
        Expression::Call(Function::Remap, arguments) => {
            let [_, _, Expression::Literal(from), Expression::Literal(to)] = &mut arguments[..]
            else {
                return None;
            };
            let pairs = items_of(from).into_iter().zip(items_of(to));
            let read: Vec<_> = pairs.filter(|(from, _)| is_read(from)).collect();
            let is_left = !read.is_empty();
            let (froms, tos): (Vec<Value>, Vec<Value>) = read.into_iter().unzip();
            *from = exactly_listed(&froms.into_iter().collect());
            *to = exactly_listed(&tos.into_iter().collect());
            is_left.then_some(test)
        }
        Expression::Binary(..)
        | Expression::InRows { .. }
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
        | Expression::Aggregate(..) => None,
    }
}

/// The constants of a list of REMAP, which is one value.
fn items_of(list: &Value) -> Vec<Value> {
    match list.items() {
        Some(items) => items.collect(),
        None => vec![list.clone()],
    }
}

/// Whether values of a type are times of day or years.
fn is_no_instant(kind: &ColumnType) -> bool {
    match kind.family().moment() {
        Some(Moment::Time | Moment::Year) => true,
        Some(Moment::Date) | None => false,
    }
}

/// Whether it is a function of a moment, such as HOUR, of which a time of day is none.
fn reads_moments(of: &Expression) -> bool {
    let Expression::Call(function, _) = of else {
        return false;
    };
    function.reads_moments() && !matches!(function, Function::DateAdd | Function::DateSub)
}

/// The kinds of all that an expression may give back, if they are several and known.
pub(crate) fn given_kinds(
    written: &Expression,
    columns: &dyn Fn(&str) -> Option<ColumnType>,
) -> Option<Vec<Kind>> {
    let typed = |name: &str| columns(name).map(|kind| (0, Some(kind)));
    let resolve = Resolve {
        columns: &typed,
        item: None,
    };
    let mut kinds = Vec::new();
    let is_known = is_mixed(written, &resolve) && kinds_of(written, &mut kinds, &resolve);
    is_known.then_some(kinds)
}

/// Refuses constants beside values whose kinds a group has lost, as in `HAVING MAX(IFNULL(due, '')) = '2024-1-2'`, where one of the
/// kinds reads the constant as another value. `kinds`: those of a column of such values.
pub(crate) fn refuse_lost(
    of: &Expression,
    kinds: &dyn Fn(&str) -> Option<Vec<Kind>>,
) -> Result<(), Unprepared> {
    let parts = of.parts();
    if reads_moments(of)
        && let Some(name) = parts.first().and_then(|part| part.column())
        && kinds(name).is_some_and(|kinds| kinds.iter().flatten().any(is_no_instant))
    {
        let what = "groups have values of several kinds: work out parts of dates before they are grouped, or give values of one kind";
        return Err(Unprepared::Invalid(what.into()));
    }
    if is_comparison(of) {
        let columns = parts.iter().filter_map(|part| part.column());
        for kinds in columns.filter_map(kinds) {
            for part in &parts {
                part.constant()
                    .map_or(Ok(()), |value| refuse_reading(value, &kinds))?;
            }
            if let Expression::In { list, .. } = of {
                list.iter()
                    .try_for_each(|value| refuse_reading(&value, &kinds))?;
            }
        }
    }
    parts
        .into_iter()
        .try_for_each(|part| refuse_lost(part, kinds))
}

/// Refuses a constant that one of the kinds reads as another value, or that none reads.
fn refuse_reading(value: &Value, kinds: &[Kind]) -> Result<(), Unprepared> {
    let mut refused = 0;
    for kind in kinds.iter().flatten() {
        match kind.constant(value) {
            Ok(read) if read == *value || read.cmp_sql(value) == Some(Ordering::Equal) => {}
            Ok(_) => {
                let (text, kind) = (shown(&value.to_string()), kind.sql_name());
                let what = format!(
                    "groups have values of several kinds, and '{text}' is another value beside {kind}: compare before they are grouped, or give values of one kind"
                );
                return Err(Unprepared::Invalid(what.into()));
            }
            Err(_) => refused += 1,
        }
    }
    match kinds.iter().flatten().next() {
        Some(kind) if refused == kinds.len() => constant(value, "group()", *kind).map(|_| ()),
        Some(_) | None => Ok(()),
    }
}

/// Makes lists whose numbers the copies share.
///
/// # Errors
/// A list that cannot be shared is long.
fn share_lists(comparison: &mut Expression) -> Result<(), Unprepared> {
    let lists = match comparison {
        Expression::In { list, .. } => std::slice::from_mut(list),
        Expression::InRows { columns, .. } => columns.as_mut_slice(),
        Expression::Binary(..)
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
        | Expression::Aggregate(..) => return Ok(()),
    };
    for list in lists {
        let (count, is_whole) = (list.len(), list.whole().is_some());
        if !is_whole && count > MIXED_LIST_MAX {
            let what = format!(
                "a list beside values of several kinds has at most {MIXED_LIST_MAX} constants, unless all are whole numbers: this one has {count}"
            );
            return Err(Unprepared::Invalid(what.into()));
        }
        if let Some(shared) = list.clone().shared().filter(|_| is_whole) {
            *list = shared;
        }
    }
    Ok(())
}

/// The place of the mixed call among the parts of a comparison whose other parts are of one kind each; `None`: it is none. What REMAP
/// gives back without a match may read columns, unless there is a REMAP in it, and so may what a call is compared with, unless
/// another mixed call is in it: copies of copies would be many.
fn place(comparison: &Expression, resolve: &Resolve<'_>) -> Option<usize> {
    let parts = comparison.parts();
    let is_remap = |of: &Expression| matches!(of, Expression::Call(Function::Remap, _));
    let reads_kinds = match comparison {
        Expression::Call(Function::Interval | Function::Remap, _) => true,
        of => reads_moments(of),
    };
    if reads_kinds {
        let (first, others) = parts.split_first()?;
        let is_plain = |part: &&Expression| {
            part.first_column().is_none()
                || is_remap(comparison) && !part.has(&mut |part| is_remap(part))
        };
        return (is_mixed(first, resolve) && others.iter().all(is_plain)).then_some(0);
    }
    if !is_comparison(comparison) && !picks(comparison) {
        return None;
    }
    let place = parts.iter().position(|part| is_mixed(part, resolve))?;
    let mut others = parts.iter().enumerate().filter(|(at, _)| *at != place);
    let is_row = matches!(comparison, Expression::InRows { .. });
    let is_of_columns = matches!(
        comparison,
        Expression::Binary(..) | Expression::Between { .. }
    );
    let is_plain = |part: &Expression| {
        part.first_column().is_none()
            || is_row && matches!(part, Expression::Column(_))
            || is_of_columns && !part.has(&mut |part| is_mixed(part, resolve))
    };
    others.all(|(_, part)| is_plain(part)).then_some(place)
}

fn is_comparison(of: &Expression) -> bool {
    match of {
        Expression::Binary(operator, ..) => operator.compares(),
        Expression::In { list, .. } => list.variable().is_none(),
        Expression::InRows { .. } | Expression::Between { .. } => true,
        Expression::Call(..)
        | Expression::Literal(_)
        | Expression::Truth(_)
        | Expression::Column(_)
        | Expression::Variable(_)
        | Expression::Path { .. }
        | Expression::Unary(..)
        | Expression::IsNull { .. }
        | Expression::Each { .. }
        | Expression::Aggregate(..) => false,
    }
}

/// Whether an expression gives back values of columns and of another kind.
fn is_mixed(written: &Expression, resolve: &Resolve<'_>) -> bool {
    let is_divided = matches!(written, Expression::Call(function, _) if divides(*function));
    if !is_divided && picks(written) {
        return picked_from(written, resolve).is_some();
    }
    is_divided
        && written.first_column().is_some()
        && matches!(beside(written, resolve), Beside::Other)
}

/// Whether it compares its arguments and gives one of them back, as GREATEST does.
fn picks(of: &Expression) -> bool {
    match of {
        Expression::Call(Function::NullIf, _) => false,
        of => of.compares_parts() && !of.gives_back().is_empty(),
    }
}

/// The mixed call among the arguments of GREATEST and the like, where the others read no column: by the kind of its value they are
/// compared, and the value is of that kind. `None`: it is another call.
fn picked_from<'e>(written: &'e Expression, resolve: &Resolve<'_>) -> Option<&'e Expression> {
    let at = place(written, resolve).filter(|_| picks(written))?;
    written.parts().get(at).copied()
}

/// The type of the columns of a kind among all that a mixed call may give back.
fn own_kind(written: &Expression, kind: ColumnType, resolve: &Resolve<'_>) -> ColumnType {
    let columns = columns_of(written, resolve).into_iter();
    let types = columns.filter_map(|of| match of {
        Beside::Column(_, own) => (own.widest() == kind).then_some(own),
        Beside::Inside | Beside::Other => None,
    });
    let own = types.reduce(|a, b| unified(a, b).unwrap_or(kind));
    own.unwrap_or(kind)
}

/// Whether a call gives back one of its arguments as it is.
fn divides(function: Function) -> bool {
    matches!(
        function,
        Function::If | Function::Case | Function::Coalesce | Function::NullIf
    )
}

/// The parts of a mixed call of which its value is one, with the place of each among the prepared arguments.
fn parts<'e>(
    written: &'e Expression,
    resolve: &Resolve<'_>,
) -> Option<Vec<(&'e Expression, usize)>> {
    let Expression::Call(function, arguments) = written else {
        return None;
    };
    let is_divided = divides(*function) && matches!(beside(written, resolve), Beside::Other);
    let places = is_divided.then(|| function.gives_back(arguments.len()))?;
    let parts = places.into_iter().filter_map(|place| {
        // NULLIF is prepared as IF(a = b, NULL, a).
        let at = if *function == Function::NullIf {
            2
        } else {
            place
        };
        Some((arguments.get(place)?, at))
    });
    Some(parts.collect())
}

/// Adds the kinds of all that a mixed call may give back. `false`: the kind of a part is not known.
fn kinds_of(written: &Expression, kinds: &mut Vec<Kind>, resolve: &Resolve<'_>) -> bool {
    if let Some(parts) = parts(written, resolve) {
        return parts.iter().all(|(part, _)| kinds_of(part, kinds, resolve));
    }
    if let Some(of) = picked_from(written, resolve) {
        return kinds_of(of, kinds, resolve);
    }
    match (kind_of(written, resolve), written.constant()) {
        (Some(kind), _) if kinds.contains(&kind) => true,
        (Some(kind), _) => {
            kinds.push(kind);
            true
        }
        (None, of) => of == Some(&Value::Null),
    }
}

/// The columns among all that an expression may give back, also where others are of no known kind. What is worked out is a number.
pub(super) fn columns_of<'e>(written: &'e Expression, resolve: &Resolve<'_>) -> Vec<Beside<'e>> {
    match parts(written, resolve) {
        Some(parts) => {
            let columns = parts.iter().map(|(part, _)| columns_of(part, resolve));
            columns.flatten().collect()
        }
        None if picks(written) && matches!(beside(written, resolve), Beside::Other) => {
            let arguments = written.gives_back().into_iter();
            arguments.flat_map(|of| columns_of(of, resolve)).collect()
        }
        None => match beside(written, resolve) {
            of @ Beside::Column(..) => vec![of],
            Beside::Other if written.is_arithmetic() => {
                vec![Beside::Column("number()", ColumnType::Double)]
            }
            Beside::Inside | Beside::Other => Vec::new(),
        },
    }
}

/// The kind of a part; `None`: it is not known, or it is NULL.
fn kind_of(written: &Expression, resolve: &Resolve<'_>) -> Option<Kind> {
    match (beside(written, resolve), written.constant()) {
        (Beside::Column(_, kind), _) => Some(Some(kind.widest())),
        (Beside::Inside, _) => Some(None),
        (Beside::Other, Some(value)) => kind_of_constant(value),
        // A moment is its seconds here.
        (Beside::Other, None) if written.is_arithmetic() || zone_of(written).is_some() => {
            Some(Some(ColumnType::Double))
        }
        (Beside::Other, None) => {
            let is_text = matches!(written, Expression::Call(of, _) if of.gives_text());
            is_text.then_some(Some(ColumnType::String))
        }
    }
}

fn kind_of_constant(value: &Value) -> Option<Kind> {
    match value {
        Value::Int(_) | Value::Float(_) => Some(Some(ColumnType::Double)),
        Value::Str(_) | Value::Bytes(_) => Some(Some(ColumnType::String)),
        Value::Null | Value::Set(_) | Value::Json(_) => None,
    }
}

/// Makes each value that a mixed call may give back a [`PreparedNode::Part`] with the number of its kind.
fn mark(written: &Expression, node: &mut PreparedNode, kinds: &[Kind], resolve: &Resolve<'_>) {
    each_given(written, node, resolve, &mut |written, node| {
        let mut of = std::mem::replace(node, PreparedNode::Literal(Value::Null));
        let number = |kind: Option<Kind>| {
            let number = kinds.iter().position(|known| Some(*known) == kind);
            number.unwrap_or(0)
        };
        if let (PreparedNode::Mixed(mixed), Some(inner)) = (&mut of, picked_from(written, resolve))
        {
            let mut own = Vec::new();
            kinds_of(inner, &mut own, resolve);
            mixed.each_numbered_test(&mut |at, test| {
                let part = std::mem::replace(test, PreparedNode::Literal(Value::Null));
                *test = PreparedNode::Part(Box::new(part), number(own.get(at).copied()));
            });
            *node = of;
            return;
        }
        // A call of constants was worked out.
        let kind = if let PreparedNode::Literal(value) = &of {
            kind_of_constant(value)
        } else {
            kind_of(written, resolve)
        };
        if kind == Some(None) {
            of.read_inside();
        }
        *node = PreparedNode::Part(Box::new(of), number(kind));
    });
}

/// Makes numbers of their digits of the dates that an operand of arithmetic may give back.
pub(super) fn make_digits(written: &Expression, node: &mut PreparedNode, resolve: &Resolve<'_>) {
    each_given(written, node, resolve, &mut |written, node| {
        if let Beside::Column(_, kind) = beside(written, resolve)
            && kind.is_date()
        {
            let of = std::mem::replace(node, PreparedNode::Literal(Value::Null));
            *node = PreparedNode::Digits(Box::new(of), kind);
        }
    });
}

/// Calls `visit` with each value that a mixed call may give back, or with what is no such call.
fn each_given(
    written: &Expression,
    node: &mut PreparedNode,
    resolve: &Resolve<'_>,
    visit: &mut dyn FnMut(&Expression, &mut PreparedNode),
) {
    if let PreparedNode::Call(_, _, nodes) = node
        && let Some(parts) = parts(written, resolve)
    {
        for (written, at) in parts {
            if let Some(node) = nodes.get_mut(at) {
                each_given(written, node, resolve, visit);
            }
        }
        return;
    }
    visit(written, node);
}

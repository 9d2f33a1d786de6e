//! Functions of sets and JSON arrays, and of lists of arguments.

use std::cmp::Ordering;

use super::super::function::Function;
use super::super::tree::Over;
use crate::meter::Work;
use crate::value::Value;

/// Units of an item of a list, without the condition on it.
const ITEM_UNITS: u64 = 60;

/// Units of a value that is compared and copied, without its node.
fn compared_units(value: &Value) -> u64 {
    2 * value.memory() as u64
}

/// The value of a function of lists; `None`: it is another kind of function.
pub(super) fn value(function: Function, arguments: &[Value], work: &Work<'_>) -> Option<Value> {
    Some(match function {
        Function::Least | Function::Min => extreme(arguments, Ordering::Less, work),
        Function::Greatest | Function::Max => extreme(arguments, Ordering::Greater, work),
        Function::NullIf => match arguments {
            [value, other] if value.cmp_sql(other) == Some(Ordering::Equal) => Value::Null,
            [value, _] => value.clone(),
            _ => Value::Null,
        },
        Function::Interval => interval(arguments),
        Function::Remap => remap(arguments, work),
        _ => return None,
    })
}

/// The least or the greatest of the arguments, or of the items of a single list. NULL among the arguments makes it NULL; an item
/// that is NULL or cannot be compared is left out.
fn extreme(arguments: &[Value], wanted: Ordering, work: &Work<'_>) -> Value {
    let mut best = None;
    let is_better = |best: &Option<Value>, value: &Value| {
        let known = best.as_ref();
        known.is_none_or(|known| value.cmp_sql(known) == Some(wanted))
    };
    if let [single] = arguments
        && let Some(items) = single.items()
    {
        for item in items {
            if work.begin(ITEM_UNITS + item.memory() as u64).is_none() {
                return Value::Null;
            }
            if item.cmp_sql(&item).is_some() && is_better(&best, &item) {
                best = Some(item);
            }
        }
        return best.unwrap_or(Value::Null);
    }
    for value in arguments {
        let is_nan = matches!(value, Value::Float(number) if number.is_nan());
        if is_nan || *value == Value::Null || work.begin(compared_units(value)).is_none() {
            return Value::Null;
        }
        if is_better(&best, value) {
            best = Some(value.clone());
        }
    }
    best.unwrap_or(Value::Null)
}

/// `REMAP(x, other, (1, 2), (10, 20))`: 10 for 1, 20 for 2, else `other`. A value that is no list is one of one value, as `(2)` is.
fn remap(arguments: &[Value], work: &Work<'_>) -> Value {
    let [of, other, from, to] = arguments else {
        return Value::Null;
    };
    if matches!(from, Value::Null) || matches!(to, Value::Null) {
        return Value::Null;
    }
    let is_equal = |known: Value| {
        let goes_on = work.begin(ITEM_UNITS + known.memory() as u64);
        goes_on.is_none() || known.cmp_sql(of) == Some(Ordering::Equal)
    };
    let place = match from.items() {
        Some(mut items) => items.position(is_equal),
        None => is_equal(from.clone()).then_some(0),
    };
    match (place, to.items()) {
        (None, _) => other.clone(),
        (Some(place), Some(mut items)) => items.nth(place).unwrap_or(Value::Null),
        (Some(0), None) => to.clone(),
        (Some(_), None) => Value::Null,
    }
}

/// Refuses constant lists of REMAP of which one has more values than the other.
pub(super) fn check_remap(from: Option<&Value>, to: Option<&Value>) -> Result<(), String> {
    let length = |list: &Value| match list {
        Value::Null => None,
        list => Some(list.items().map_or(1, |items| items.len())),
    };
    match (from.and_then(length), to.and_then(length)) {
        (Some(from), Some(to)) if from != to => Err(format!(
            "remap() needs lists of one length, these have {from} and {to} values"
        )),
        _ => Ok(()),
    }
}

/// ANY, ALL and INDEXOF: `holds` says whether an item meets the condition. A value that is no list has no items, and for an
/// empty list none of them holds, as in Sphinx. NULL where the work is stopped.
pub(in super::super) fn each(
    over: Over,
    list: &Value,
    work: &Work<'_>,
    holds: &mut dyn FnMut(Value) -> bool,
) -> Value {
    let count = list.items().map_or(0, |items| items.len());
    let mut items = list.items_compared().into_iter().flatten();
    // A stopped search ends at the next item.
    let mut is = |item: Value, wanted: bool| {
        let goes_on = work.begin(ITEM_UNITS + item.memory() as u64);
        goes_on.is_none() || holds(item) == wanted
    };
    let found = match over {
        Over::Any => i128::from(items.any(|item| is(item, true))),
        Over::All => i128::from(count > 0 && !items.any(|item| is(item, false))),
        Over::Index => items
            .position(|item| is(item, true))
            .map_or(-1, |place| place as i128),
    };
    match work.is_stopped() {
        true => Value::Null,
        false => Value::Int(found),
    }
}

/// The number of points, which must rise, that are at most the first argument.
fn interval(arguments: &[Value]) -> Value {
    let Some((of, points)) = arguments.split_first() else {
        return Value::Null;
    };
    if *of == Value::Null {
        return Value::Int(-1); // as in MySQL
    }
    let below = points
        .iter()
        .take_while(|point| of.cmp_sql(point).is_none_or(Ordering::is_ge));
    Value::Int(below.count() as i128)
}

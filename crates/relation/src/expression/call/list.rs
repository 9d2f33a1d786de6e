//! Functions of sets and JSON arrays, and of lists of arguments.

use std::cmp::Ordering;

use language::meter::Work;

use super::super::function::Function;
use super::super::list::List;
use super::super::tree::Over;
use super::SHOWN_CHARS_MAX;
use crate::json::{Json, JsonNode};
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

/// The least or the greatest of the arguments, or of the items of a single list. NULL among the arguments makes it NULL. Texts beside a
/// number are the numbers that they are from end to end; one that is none makes it NULL, as two arguments without an order do. Items
/// have the order of ORDER BY; one that is NULL or no number is left out.
fn extreme(arguments: &[Value], wanted: Ordering, work: &Work<'_>) -> Value {
    if let [single] = arguments
        && let Some(items) = single.items()
    {
        let mut best: Option<Value> = None;
        for item in items {
            if work.begin(ITEM_UNITS + item.memory() as u64).is_none() {
                return Value::Null;
            }
            let is_better = best.as_ref().map(|best| item.cmp_order(best) == wanted);
            if item.cmp_sql(&item).is_some() && is_better.unwrap_or(true) {
                best = Some(item);
            }
        }
        return best.unwrap_or(Value::Null);
    }
    let is_number = |value: &Value| matches!(value, Value::Int(_) | Value::Float(_));
    let are_numbers = arguments.iter().any(is_number);
    let mut best: Option<&Value> = None;
    for value in arguments {
        if value.cmp_sql(value).is_none() || work.begin(compared_units(value)).is_none() {
            return Value::Null;
        }
        let known = best.unwrap_or(value);
        let order = match are_numbers {
            true => compare_spelled(value, known),
            false => value.cmp_sql(known),
        };
        match order {
            None => return Value::Null,
            Some(order) if order == wanted || best.is_none() => best = Some(value),
            Some(_) => {}
        }
    }
    best.cloned().unwrap_or(Value::Null)
}

/// Compares two values as numbers; `None`: one is none, from end to end.
fn compare_spelled(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        _ => a.spelled()?.compare(b.spelled()?),
    }
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

/// A list of constants as one value, whose items REMAP reads: whole numbers are a set in the order written, others an array. Numbers
/// among which one has a fraction are doubles.
///
/// # Errors
/// What is wrong with the list, behind the name of the function.
pub(in super::super) fn listed(list: &List) -> Result<Value, String> {
    if list.whole().is_some() {
        return Ok(exactly_listed(list));
    }
    let (mut text, mut real) = (None, false);
    let list: List = list.iter().map(plain).collect();
    let list = &list;
    for value in list.iter() {
        match value {
            Value::Str(_) => text = Some(value),
            Value::Float(_) => real = true,
            Value::Null | Value::Int(_) => {}
            Value::Bytes(_) | Value::Set(_) | Value::Json(_) => {
                return Err("takes lists of numbers or of texts".to_owned());
            }
        }
    }
    let is_number = |value: &Value| matches!(value, Value::Int(_) | Value::Float(_));
    if let (Some(text), Some(number)) = (text, list.iter().find(is_number)) {
        let text = text.to_string();
        let shown: String = text.chars().take(SHOWN_CHARS_MAX).collect();
        return Err(format!(
            "takes lists of numbers or of texts, this one has both: {number} and '{shown}'"
        ));
    }
    if !real {
        return Ok(exactly_listed(list));
    }
    let doubles = list.iter().map(|value| match value {
        Value::Int(whole) if (whole as f64) as i128 != whole => Err(format!(
            "takes numbers with and without fractions as doubles, which do not hold {whole}"
        )),
        Value::Int(whole) => Ok(Value::Float(whole as f64)),
        other => Ok(other),
    });
    let doubles: List = doubles.collect::<Result<_, String>>()?;
    Ok(exactly_listed(&doubles))
}

/// TRUE and FALSE as numbers, bytes that are a text as one.
fn plain(constant: Value) -> Value {
    match &constant {
        Value::Json(document) => match document.node_at(&[]) {
            Some(JsonNode::Truth(truth)) => Value::Int(truth.into()),
            _ => constant,
        },
        Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Value::Str(text.to_owned()),
            Err(_) => constant,
        },
        _ => constant,
    }
}

/// As [`listed`], of constants of any kinds as they are.
pub(in super::super) fn exactly_listed(list: &List) -> Value {
    if let Some(whole) = list.whole() {
        return Value::Set(whole.into());
    }
    let items: Vec<Value> = list.iter().collect();
    let items = items.iter().map(|value| match value {
        Value::Int(number) => JsonNode::Whole(*number),
        Value::Float(number) => JsonNode::Real(*number),
        Value::Str(text) => JsonNode::Text(text),
        Value::Null | Value::Bytes(_) | Value::Set(_) | Value::Json(_) => JsonNode::Null,
    });
    Value::Json(Json::of_items(items))
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

/// The number of points, which must rise, that are at most the first argument. NULL where it has no order beside a point.
fn interval(arguments: &[Value]) -> Value {
    let Some((of, points)) = arguments.split_first() else {
        return Value::Null;
    };
    if *of == Value::Null {
        return Value::Int(-1); // as in MySQL
    }
    let mut below = 0;
    for point in points {
        match of.cmp_sql(point) {
            Some(Ordering::Less) => break,
            Some(Ordering::Equal | Ordering::Greater) => below += 1,
            None if *point == Value::Null => below += 1, // as in MySQL
            None => return Value::Null,
        }
    }
    Value::Int(below)
}

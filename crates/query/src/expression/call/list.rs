//! Functions of sets and JSON arrays, and of lists of arguments.

use std::cmp::Ordering;

use super::super::function::Function;
use super::super::tree::Over;
use super::super::work::Work;
use crate::value::Value;

/// The value of a function of lists; `None`: it is another kind of function.
pub(super) fn value(function: Function, arguments: &[Value]) -> Option<Value> {
    Some(match function {
        Function::Least | Function::Min => extreme(arguments, Ordering::Less),
        Function::Greatest | Function::Max => extreme(arguments, Ordering::Greater),
        Function::NullIf => match arguments {
            [value, other] if value.cmp_sql(other) == Some(Ordering::Equal) => Value::Null,
            [value, _] => value.clone(),
            _ => Value::Null,
        },
        Function::Interval => interval(arguments),
        Function::Remap => remap(arguments),
        _ => return None,
    })
}

/// The least or the greatest of the arguments, or of the items of a single list. NULL among the arguments makes it NULL; an item
/// that is NULL or cannot be compared is left out.
fn extreme(arguments: &[Value], wanted: Ordering) -> Value {
    let of_list = match arguments {
        [single] => single.items(),
        _ => None,
    };
    let mut best: Option<Value> = None;
    let is_list = of_list.is_some();
    for value in of_list.unwrap_or_else(|| arguments.to_vec()) {
        match (&best, value.cmp_sql(&value)) {
            (_, None) if !is_list => return Value::Null,
            (_, None) => {}
            (Some(known), _) if value.cmp_sql(known) != Some(wanted) => {}
            _ => best = Some(value),
        }
    }
    best.unwrap_or(Value::Null)
}

/// `REMAP(x, other, (1, 2), (10, 20))`: 10 for 1, 20 for 2, else `other`.
fn remap(arguments: &[Value]) -> Value {
    let [of, other, from, to] = arguments else {
        return Value::Null;
    };
    let (Some(from), Some(to)) = (from.items(), to.items()) else {
        return Value::Null;
    };
    let is_equal = |known: &Value| known.cmp_sql(of) == Some(Ordering::Equal);
    let place = from.iter().position(is_equal);
    place.map_or_else(
        || other.clone(),
        |place| to.get(place).cloned().unwrap_or(Value::Null),
    )
}

/// ANY, ALL and INDEXOF: `holds` says whether an item meets the condition. A value that is no list has no items, and for an
/// empty list none of them holds, as in Sphinx. NULL where too little work is left.
pub(in super::super) fn each(
    over: Over,
    list: &Value,
    work: &Work,
    holds: &mut dyn FnMut(Value) -> bool,
) -> Value {
    if !work.pay(list.memory().saturating_mul(8)) {
        return Value::Null;
    }
    let mut items = list.items().unwrap_or_default().into_iter();
    let found = match over {
        Over::Any => items.any(holds).into(),
        Over::All => i128::from(items.len() > 0 && items.all(holds)),
        Over::Index => items.position(holds).map_or(-1, |place| place as i128),
    };
    // A condition that was given up is no answer.
    match work.is_spent() {
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

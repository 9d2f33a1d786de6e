//! The values of operators: three-valued logic, comparisons, arithmetic.

use std::cmp::Ordering;

use language::meter::Work;

use super::call::{Known, call, each};
use super::function::Function;
use super::list::List;
use super::moment::as_set;
use super::row_set::holds_slowly;
use super::tree::{BinaryOperator, Expression, UnaryOperator};
use crate::json::{JsonNode, JsonStep};
use crate::schema::ColumnType;
use crate::value::{Compared, Number, Value};

/// Units of an operator, a column or a constant, and of a number of a list.
pub(super) const NODE_UNITS: u64 = 10;
pub(super) const NUMBER_UNITS: u64 = 20;

/// Units of a byte of a text that is compared or read as a number.
const TEXT_UNITS: u64 = 3;

/// See [`super::evaluate()`]. The tree's depth bounds the recursion.
pub(super) fn evaluate(
    expression: &Expression,
    work: &Work<'_>,
    row: &dyn Fn(&str) -> Option<Value>,
) -> Value {
    if work.begin(NODE_UNITS).is_none() {
        return Value::Null;
    }
    let value = |of: &Expression| weighed(evaluate(of, work, row), work);
    let beside = |of: &Expression, others: &[&Expression]| compared(of, others, work, row);
    match expression {
        Expression::Literal(literal) => literal.clone(),
        Expression::Truth(truth) => Value::Int((*truth).into()),
        Expression::Column(name) => row(name).unwrap_or(Value::Null),
        Expression::Path { column, steps } => row(column).unwrap_or(Value::Null).at_path(steps),
        Expression::Unary(operator, operand) => unary(*operator, &value(operand)),
        Expression::Binary(operator, left, right) if operator.compares() => {
            binary(*operator, beside(left, &[right]), &mut || {
                beside(right, &[left])
            })
        }
        Expression::Binary(operator, left, right) => {
            binary(*operator, value(left), &mut || value(right))
        }
        Expression::In {
            needle,
            negated,
            list,
        } => {
            work.spend(NUMBER_UNITS * list.len() as u64);
            let held = is_listed(&beside(needle, &[]), &as_compared_list(list, needle));
            three_valued(negate_if(*negated, held))
        }
        Expression::InRows {
            needles,
            negated,
            columns,
        } => {
            let lists = columns.iter().zip(needles);
            let lists: Vec<List> = lists.map(|(list, of)| as_compared_list(list, of)).collect();
            let needles: Vec<Value> = needles.iter().map(|of| beside(of, &[])).collect();
            three_valued(negate_if(*negated, holds_slowly(&lists, &needles, work)))
        }
        Expression::Between {
            needle,
            negated,
            low,
            high,
        } => between(
            &beside(needle, &[low, high]),
            &beside(low, &[needle]),
            &beside(high, &[needle]),
            *negated,
        ),
        Expression::IsNull { needle, negated } => {
            Value::Int(((value(needle) == Value::Null) != *negated).into())
        }
        Expression::Call(function, arguments) => called(*function, arguments, work, &value),
        Expression::Aggregate(..) | Expression::Variable(_) => Value::Null, // a row is no group
        Expression::Each {
            over,
            variable,
            list,
            condition,
        } => each(*over, &value(list), work, &mut |item| {
            holds_of(condition, (variable, item), work, row)
        }),
    }
}

/// A constant of a list as it is compared. `is_inside`: beside a value of a document.
pub(super) fn as_compared(constant: Value, is_inside: bool) -> Value {
    match &constant {
        Value::Json(document) if !is_inside => match document.node_at(&[]) {
            Some(JsonNode::Truth(truth)) => Value::Int(truth.into()),
            _ => constant,
        },
        _ if is_inside => constant.inside(),
        _ => constant,
    }
}

/// Whether a needle equals one of the constants of a list.
fn is_listed(needle: &Value, constants: &List) -> Option<bool> {
    let found = constants.iter().map(|one| holds(needle, one));
    found.fold(Some(false), or)
}

/// Whether a needle equals a constant of a list. An array does if an item of it does.
fn holds(needle: &Value, constant: Value) -> Option<bool> {
    match (needle, needle.items_compared()) {
        (Value::Json(_), Some(_)) if constant == Value::Null => None,
        (Value::Json(_), Some(mut items)) => {
            Some(items.any(|item| truth(&item.inside(), &constant, Ordering::is_eq) == Some(true)))
        }
        _ => truth(needle, &constant, Ordering::is_eq),
    }
}

/// Whether a condition holds of an item of a list, under its name.
fn holds_of(
    condition: &Expression,
    (variable, item): (&str, Value),
    work: &Work<'_>,
    row: &dyn Fn(&str) -> Option<Value>,
) -> bool {
    let with_item = |name: &str| match name == variable {
        true => Some(item.clone()),
        false => row(name),
    };
    evaluate(condition, work, &with_item).as_bool() == Some(true)
}

/// The constants of a list beside a needle.
fn as_compared_list(list: &List, needle: &Expression) -> List {
    let is_inside = matches!(needle, Expression::Path { .. });
    let constants = list.iter().map(|one| as_compared(one, is_inside));
    constants.collect()
}

/// The value of an operand beside others. Beside a value of a document it is one of a document, and a moment beside a text is a text.
fn compared(
    of: &Expression,
    others: &[&Expression],
    work: &Work<'_>,
    row: &dyn Fn(&str) -> Option<Value>,
) -> Value {
    let is_inside = |of: &&Expression| matches!(of, Expression::Path { .. });
    let is_text = |of: &&Expression| matches!(of, Expression::Literal(Value::Str(_)));
    let value = match of {
        Expression::Path { column, steps } => {
            let steps = [steps.as_slice(), &[JsonStep::Itself]].concat();
            row(column).map_or(Value::Null, |it| it.at_path(&steps))
        }
        Expression::Truth(truth) if others.iter().any(is_inside) => Value::of_truth(*truth),
        of if others.iter().any(is_inside) => evaluate(of, work, row).inside(),
        of if others.iter().any(is_text) => {
            evaluate(&as_set(of, ColumnType::String, false), work, row)
        }
        of => evaluate(of, work, row),
    };
    weighed(value, work)
}

/// The value of a call. A function that reads texts reads a moment as one.
fn called(
    function: Function,
    arguments: &[Expression],
    work: &Work<'_>,
    value: &dyn Fn(&Expression) -> Value,
) -> Value {
    let constants: Vec<_> = arguments.iter().map(Expression::constant).collect();
    let Ok(known) = Known::of(function, &constants) else {
        return Value::Null;
    };
    call(function, &known, arguments.len(), work, &mut |at| match (
        arguments.get(at),
        function.reads_texts(),
    ) {
        (None, _) => Value::Null,
        (Some(of), true) => value(&as_set(of, ColumnType::String, false)),
        (Some(of), false) => value(of),
    })
}

/// Counts what an operator may do with an operand: a look at each byte of a text, and at each number of a set.
#[inline]
pub(super) fn weighed(value: Value, work: &Work<'_>) -> Value {
    match &value {
        Value::Null | Value::Int(_) | Value::Float(_) => {}
        Value::Str(text) => work.spend(TEXT_UNITS * text.len() as u64),
        Value::Bytes(bytes) => work.spend(TEXT_UNITS * bytes.len() as u64),
        Value::Set(numbers) => work.spend(NUMBER_UNITS * numbers.len() as u64),
        Value::Json(document) => work.spend(document.bytes().len() as u64),
    }
    value
}

pub(super) fn unary(operator: UnaryOperator, operand: &Value) -> Value {
    match operator {
        UnaryOperator::Not => three_valued(operand.as_bool().map(|truth| !truth)),
        UnaryOperator::Minus => match operand.number() {
            None => Value::Null,
            Some(Number::Whole(number)) => number
                .checked_neg()
                .map_or(Value::Float(-(number as f64)), Value::Int),
            Some(Number::Real(number)) => Value::Float(-number),
        },
        UnaryOperator::BitNot => {
            bits(operand).map_or(Value::Null, |bits| Value::Int((!bits).into()))
        }
        UnaryOperator::IsTrue => Value::Int((operand.as_bool() == Some(true)).into()),
        UnaryOperator::IsFalse => Value::Int((operand.as_bool() == Some(false)).into()),
    }
}

/// Calls `right` only if `left` does not decide.
pub(super) fn binary(
    operator: BinaryOperator,
    left: Value,
    right: &mut dyn FnMut() -> Value,
) -> Value {
    use BinaryOperator as O;
    let is: fn(Ordering) -> bool = match operator {
        O::And => {
            let left = left.as_bool();
            return match left {
                Some(false) => Value::Int(0),
                _ => three_valued(and(left, right().as_bool())),
            };
        }
        O::Or => {
            let left = left.as_bool();
            return match left {
                Some(true) => Value::Int(1),
                _ => three_valued(or(left, right().as_bool())),
            };
        }
        O::Xor => {
            let (left, right) = (left.as_bool(), right().as_bool());
            return three_valued(left.zip(right).map(|(left, right)| left != right));
        }
        O::Add
        | O::Subtract
        | O::Multiply
        | O::Divide
        | O::Modulo
        | O::IntegerDivide
        | O::Power => {
            return arithmetic(operator, &left, &right());
        }
        O::BitOr | O::BitAnd | O::BitXor | O::ShiftLeft | O::ShiftRight => {
            return bitwise(operator, &left, &right());
        }
        O::NullSafeEqual => return null_safe(&left, &right()),
        O::Equal => Ordering::is_eq,
        O::NotEqual => Ordering::is_ne,
        O::Less => Ordering::is_lt,
        O::LessOrEqual => Ordering::is_le,
        O::Greater => Ordering::is_gt,
        O::GreaterOrEqual => Ordering::is_ge,
    };
    three_valued(truth(&left, &right(), is))
}

fn null_safe(left: &Value, right: &Value) -> Value {
    let both = *left == Value::Null && *right == Value::Null;
    let is_equal = both || truth(left, right, Ordering::is_eq) == Some(true);
    Value::Int(is_equal.into())
}

pub(super) fn between(needle: &Value, low: &Value, high: &Value, negated: bool) -> Value {
    let within = |one: &Value| {
        and(
            truth(one, low, Ordering::is_ge),
            truth(one, high, Ordering::is_le),
        )
    };
    let inside = match needle {
        Value::Set(numbers) => {
            let each = numbers
                .iter()
                .map(|number| within(&Value::Int((*number).into())));
            each.fold(Some(false), or)
        }
        one => within(one),
    };
    three_valued(negate_if(negated, inside))
}

/// 1, 0 or NULL.
pub(super) fn three_valued(truth: Option<bool>) -> Value {
    truth.map_or(Value::Null, |truth| Value::Int(truth.into()))
}

pub(super) fn negate_if(negated: bool, truth: Option<bool>) -> Option<bool> {
    truth.map(|truth| truth != negated)
}

pub(super) fn truth(left: &Value, right: &Value, is: fn(Ordering) -> bool) -> Option<bool> {
    match (left, right) {
        (Value::Set(_), Value::Set(_)) => of_comparison(left.compare(right), is),
        (Value::Set(numbers), one) => any(numbers, is, |number| number.cmp_sql(one)),
        (one, Value::Set(numbers)) => any(numbers, is, |number| one.cmp_sql(number)),
        _ => of_comparison(left.compare(right), is),
    }
}

/// Values of kinds that are never equal differ, and have no order.
fn of_comparison(compared: Compared, is: fn(Ordering) -> bool) -> Option<bool> {
    let holds = [Ordering::Less, Ordering::Equal, Ordering::Greater].map(is);
    match compared {
        Compared::Ordered(order) => Some(is(order)),
        Compared::Null => None,
        Compared::Unlike => match holds {
            [false, true, false] => Some(false),
            [true, false, true] => Some(true),
            _ => None,
        },
    }
}

/// A set beside a value: whether any of its numbers compares so. `<>` is the opposite of `=`, as in Sphinx: no number is equal.
fn any(
    numbers: &[i64],
    is: fn(Ordering) -> bool,
    compare: impl Fn(&Value) -> Option<Ordering>,
) -> Option<bool> {
    compare(&Value::Int(0))?; // NULL beside the set
    let differs = is(Ordering::Less) && is(Ordering::Greater) && !is(Ordering::Equal);
    let holds = |number: &i64| {
        let found = compare(&Value::Int(i128::from(*number)));
        found.is_some_and(|found| is(found) != differs)
    };
    Some(numbers.iter().any(holds) != differs)
}

pub(super) fn and(left: Option<bool>, right: Option<bool>) -> Option<bool> {
    match (left, right) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

pub(super) fn or(left: Option<bool>, right: Option<bool>) -> Option<bool> {
    match (left, right) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (Some(false), Some(false)) => Some(false),
        _ => None,
    }
}

/// Whole numbers stay whole while 128 bits hold the result, except that `/` is always real. Division by zero is NULL, and so is a
/// result that is no finite number.
fn arithmetic(operator: BinaryOperator, left: &Value, right: &Value) -> Value {
    use BinaryOperator as O;
    let (Some(left), Some(right)) = (left.number(), right.number()) else {
        return Value::Null;
    };
    let divides = matches!(operator, O::Divide | O::Modulo | O::IntegerDivide);
    if divides && right.real() == 0.0 {
        return Value::Null;
    }
    if let (Number::Whole(left), Number::Whole(right)) = (left, right) {
        let whole = match operator {
            O::Add => left.checked_add(right),
            O::Subtract => left.checked_sub(right),
            O::Multiply => left.checked_mul(right),
            O::Modulo => left.checked_rem(right),
            O::IntegerDivide => left.checked_div(right),
            O::Power => u32::try_from(right)
                .ok()
                .and_then(|exponent| left.checked_pow(exponent)),
            _ => None,
        };
        if let Some(whole) = whole {
            return Value::Int(whole);
        }
    }
    let (left, right) = (left.real(), right.real());
    if operator == O::IntegerDivide {
        let whole = (left / right).trunc();
        return if whole.is_finite() {
            Value::Int(whole as i128)
        } else {
            Value::Null
        };
    }
    let real = match operator {
        O::Add => left + right,
        O::Subtract => left - right,
        O::Multiply => left * right,
        O::Modulo => left % right,
        O::Power => left.powf(right),
        _ => left / right,
    };
    match real.is_finite() {
        true => Value::Float(real),
        false => Value::Null,
    }
}

/// On 64 bits without a sign, as in MySQL.
fn bitwise(operator: BinaryOperator, left: &Value, right: &Value) -> Value {
    let (Some(left), Some(right)) = (bits(left), bits(right)) else {
        return Value::Null;
    };
    let places = u32::try_from(right).unwrap_or(u32::MAX);
    let result = match operator {
        BinaryOperator::BitOr => left | right,
        BinaryOperator::BitAnd => left & right,
        BinaryOperator::BitXor => left ^ right,
        BinaryOperator::ShiftLeft => left.checked_shl(places).unwrap_or(0),
        _ => left.checked_shr(places).unwrap_or(0),
    };
    Value::Int(result.into())
}

/// The 64 bits of a number, a negative one in two's complement. A number beyond them becomes the nearest that fits.
fn bits(value: &Value) -> Option<u64> {
    let whole = match value.number()? {
        Number::Whole(number) => number,
        Number::Real(number) => number.round() as i128,
    };
    Some(match i64::try_from(whole) {
        Ok(number) => number as u64,
        Err(_) if whole < 0 => i64::MIN as u64,
        Err(_) => u64::try_from(whole).unwrap_or(u64::MAX),
    })
}

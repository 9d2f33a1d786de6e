//! Calls whose value is that of one of their arguments: IF, CASE, COALESCE, NULLIF, REMAP, GREATEST and LEAST.
//!
//! Example: `COALESCE(due, NOW())` over a DATETIME gives datetimes, so the moment becomes one. `NULLIF(a + b, 5)` is worked out as
//! `IF(x = 5, NULL, x)`, where x is `a + b`.

use std::sync::Arc;

use super::beside::{Beside, Item, Resolve, Unprepared, beside, of_call};
use super::call::Known;
use super::function::Function;
use super::local_time::{equal, within};
use super::mixed::Mixed;
use super::moment::{self, MOVED_DATE, zone_of};
use super::node::PreparedNode;
use super::prepared::{called, one_kind};
use super::tree::Expression;
use crate::schema::ColumnType;
use crate::value::Value;

/// Calls of NULLIF inside one that is prepared twice: each level takes three times as long, and some hundred calls fit a short text.
const NULLIF_NESTED_MAX: usize = 3;

/// A call of a function whose value is that of one of its arguments.
pub(super) fn giving_back(
    function: Function,
    written: &[Expression],
    resolve: &Resolve<'_>,
) -> Result<PreparedNode, Unprepared> {
    if function == Function::NullIf {
        return null_if(written, resolve);
    }
    let node = called(function, written, resolve)?;
    let PreparedNode::Call(_, known, mut arguments) = node else {
        return Ok(node); // it was worked out
    };
    let common = common_of(function, written, resolve);
    if let Some(kind) = common {
        set_moments(function, written, &mut arguments, kind);
    }
    let Some(kind) = common.filter(|kind| kind.family().has_comparable()) else {
        return Ok(PreparedNode::Call(function, known, arguments));
    };
    let picks = function.compares() && kind == MOVED_DATE;
    for (argument, of) in arguments.iter_mut().zip(written) {
        if picks {
            show(argument, of);
        }
    }
    for place in function.gives_back(written.len()) {
        if let Some(PreparedNode::Literal(value)) = arguments.get_mut(place) {
            let read = kind.constant(value).unwrap_or(Value::Null);
            // A date that is moved is shown by its text, and compared without a midnight: so is a constant beside it.
            if kind != MOVED_DATE || kind.comparable(value.clone()) != read {
                *value = read;
            }
        }
    }
    let call = PreparedNode::Call(function, known, arguments);
    Ok(match kind == MOVED_DATE {
        true if picks => PreparedNode::Picked(Box::new(call), kind),
        true => call,
        false => PreparedNode::Given(Box::new(call), kind),
    })
}

/// Makes an argument that is compared as a date of one that is shown, with its midnight.
fn show(argument: &mut PreparedNode, written: &Expression) {
    let taken = std::mem::replace(argument, PreparedNode::Literal(Value::Null));
    *argument = match (taken, written.constant()) {
        (PreparedNode::Literal(_), Some(value)) => PreparedNode::Literal(value.clone()),
        (PreparedNode::Moment(of, ..), _) if zone_of(written).is_none() => of.stored(),
        (of, _) => of.stored(),
    };
}

/// `NULLIF(of, other)` is `IF(of = other, NULL, of)`. What is of one type and no column is worked out once, and has a name in the
/// comparison and behind it. Else it is prepared twice, so such calls are nested a few times at most.
fn null_if(written: &[Expression], resolve: &Resolve<'_>) -> Result<PreparedNode, Unprepared> {
    let [of, other] = written else {
        return called(Function::NullIf, written, resolve); // no parser makes it
    };
    let like = beside(of, resolve);
    let read_beside = of.constant().is_some() || zone_of(of).is_some();
    let kind = match like {
        _ if read_beside || is_named(of) => None,
        Beside::Column(_, kind) if kind.family().has_comparable() || is_as_shown(of) => Some(kind),
        Beside::Other if of.is_arithmetic() => Some(ColumnType::Double),
        Beside::Column(..) | Beside::Inside | Beside::Other => None,
    };
    let node = if let Some(kind) = kind {
        let (name, slot, kind) = ("nullif()", resolve.free(), Some(kind));
        let item = Item { name, slot, kind };
        let named = [Expression::Column(name.to_owned()), other.clone()];
        let test = null_if(&named, &resolve.with_item(item))?;
        PreparedNode::Mixed(Mixed::one(PreparedNode::new(of, resolve)?, slot, test))
    } else {
        let doubled = if read_beside { other } else { of };
        if nested(doubled) > NULLIF_NESTED_MAX {
            let what = format!("NULLIF() is nested more than {NULLIF_NESTED_MAX} times");
            return Err(Unprepared::Invalid(what.into()));
        }
        one_kind(Function::NullIf, &like, &beside(within(other), resolve))?;
        let given = match read_beside {
            true => called(Function::NullIf, written, resolve)?,
            false => PreparedNode::new(of, resolve)?,
        };
        let given = match given {
            PreparedNode::Call(Function::NullIf, _, arguments) => arguments.into_iter().next(),
            value if read_beside => return Ok(value), // it was worked out
            given => Some(given),
        };
        let equal = PreparedNode::new(&equal(of, other, resolve), resolve)?;
        let null = PreparedNode::Literal(Value::Null);
        let arguments = [Some(equal), Some(null), given];
        let arguments = arguments.into_iter().flatten().collect();
        PreparedNode::Call(Function::If, Arc::new(Known::Nothing), arguments)
    };
    let kind = common_of(Function::NullIf, written, resolve);
    let kind = kind.filter(|kind| kind.family().has_comparable() && *kind != MOVED_DATE);
    Ok(match kind {
        Some(kind) => PreparedNode::Given(Box::new(node), kind),
        None => node,
    })
}

/// Whether to prepare it twice costs nothing: it has no parts.
fn is_named(of: &Expression) -> bool {
    matches!(of, Expression::Column(_) | Expression::Path { .. })
}

/// Whether its value is shown as it is compared: it chooses among no columns, of which one may be a DECIMAL.
fn is_as_shown(of: &Expression) -> bool {
    let Expression::Call(function, arguments) = of else {
        return true;
    };
    match *function == Function::NullIf {
        true => arguments.first().is_none_or(is_as_shown),
        false => !function.chooses(),
    }
}

/// The most calls of NULLIF that lie in each other.
fn nested(of: &Expression) -> usize {
    let own = usize::from(matches!(of, Expression::Call(Function::NullIf, _)));
    own + of.parts().into_iter().map(nested).max().unwrap_or(0)
}

/// Makes values of that type of the moments that a call may give back: `COALESCE(due, NOW())` gives dates.
fn set_moments(
    function: Function,
    written: &[Expression],
    arguments: &mut [PreparedNode],
    kind: ColumnType,
) {
    for place in function.gives_back(written.len()) {
        let zone = written.get(place).and_then(moment::zone_of);
        if let (Some(zone), Some(argument)) = (zone, arguments.get_mut(place)) {
            let node = std::mem::replace(argument, PreparedNode::Literal(Value::Null));
            *argument = *Box::new(node).as_moment(zone, kind);
            argument.fold();
        }
    }
}

/// The type of all that a call may give back; `None`: they are of several, or of none.
fn common_of(
    function: Function,
    written: &[Expression],
    resolve: &Resolve<'_>,
) -> Option<ColumnType> {
    match of_call(function, written, resolve) {
        Beside::Column(_, kind) => Some(kind),
        Beside::Inside | Beside::Other => None,
    }
}

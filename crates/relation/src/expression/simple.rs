//! Expressions that are conjunctions of conditions on single columns: ranges of whole numbers, and lists of texts by
//! their hashes. The percolator decides these without walking a tree.

use std::hash::Hasher;

use rustc_hash::FxHasher;

use super::node::PreparedNode;
use super::set::Set;
use super::tree::BinaryOperator;
use crate::json::JsonStep;
use crate::value::{Value, without_case};

/// A condition on one column. It decides only for values of its kind; for others, NULL among them, it cannot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Simple {
    /// A 64-bit whole number lies between the ends, both included; with `negated`, outside. Wider numbers are
    /// undecided.
    Whole {
        /// Slot of the column.
        slot: usize,
        /// Where the number stands in the column's document; empty: the column is the number.
        path: Box<[JsonStep]>,
        /// Lower end.
        low: i64,
        /// Upper end.
        high: i64,
        /// True for numbers outside.
        negated: bool,
    },
    /// A text has one of these [`text_hash`]es; with `negated`, none. A text with another hash is none of the texts;
    /// one with an equal hash may be another text and is undecided.
    Texts {
        /// Slot of the column.
        slot: usize,
        /// At least one.
        hashes: Vec<u32>,
        /// True for other texts.
        negated: bool,
    },
}

/// A hash that is equal for texts that compare as equal.
#[must_use]
pub fn text_hash(text: &str) -> u32 {
    hash(without_case(text))
}

fn hash(folded: impl Iterator<Item = u8>) -> u32 {
    let mut hasher = FxHasher::default();
    folded.for_each(|byte| hasher.write_u8(byte));
    (hasher.finish() >> 32) as u32
}

/// Adds the conditions that must all be true for the expression to be true. Returns whether the expression says
/// nothing else. `texts`: a list of texts is a condition too.
pub(super) fn conditions(part: &PreparedNode, texts: bool, found: &mut Vec<Simple>) -> bool {
    let simple = match part {
        PreparedNode::Binary(BinaryOperator::And, left, right) => {
            return conditions(left, texts, found) && conditions(right, texts, found);
        }
        PreparedNode::Binary(operator, left, right) => match (place(left), place(right)) {
            (Some(place), _) => compared(*operator, place, right),
            (None, Some(place)) => {
                mirrored(*operator).and_then(|operator| compared(operator, place, left))
            }
            (None, None) => None,
        },
        PreparedNode::In {
            needle,
            negated,
            set,
        } if texts => match (&**needle, set.of_texts().and_then(Set::only_texts)) {
            (PreparedNode::Slot(slot), Some(texts)) => Some(Simple::Texts {
                slot: *slot,
                hashes: texts.map(|text| hash(text.iter().copied())).collect(),
                negated: *negated,
            }),
            _ => None,
        },
        PreparedNode::Between {
            needle,
            negated,
            low,
            high,
        } => match (place(needle), whole(low), whole(high)) {
            (Some((slot, path)), Some(low), Some(high)) => Some(Simple::Whole {
                slot,
                path: path.into(),
                low,
                high,
                negated: *negated,
            }),
            _ => None,
        },
        _ => None,
    };
    let is_simple = simple.is_some();
    found.extend(simple);
    is_simple
}

/// The slot of a column, with a path in its documents; empty: the column itself.
fn place(part: &PreparedNode) -> Option<(usize, &[JsonStep])> {
    match part {
        PreparedNode::Slot(slot) => Some((*slot, &[])),
        PreparedNode::Path(slot, path) => match path.split_last() {
            Some((JsonStep::Itself, path)) if !path.is_empty() => Some((*slot, path)),
            _ => Some((*slot, path)),
        },
        _ => None,
    }
}

/// A column, or a path in it, beside a constant.
fn compared(
    operator: BinaryOperator,
    (slot, path): (usize, &[JsonStep]),
    constant: &PreparedNode,
) -> Option<Simple> {
    use BinaryOperator as O;
    let negated = operator == O::NotEqual;
    if let PreparedNode::Literal(Value::Str(text)) = constant {
        let is_equality = matches!(operator, O::Equal | O::NotEqual);
        return (is_equality && path.is_empty()).then(|| Simple::Texts {
            slot,
            hashes: vec![text_hash(text)],
            negated,
        });
    }
    let constant = whole(constant)?;
    let (low, high) = match operator {
        O::Equal | O::NotEqual => (constant, constant),
        O::Less => (i64::MIN, constant.checked_sub(1)?),
        O::LessOrEqual => (i64::MIN, constant),
        O::Greater => (constant.checked_add(1)?, i64::MAX),
        O::GreaterOrEqual => (constant, i64::MAX),
        _ => return None,
    };
    Some(Simple::Whole {
        slot,
        path: path.into(),
        low,
        high,
        negated,
    })
}

/// The comparison with its sides swapped.
fn mirrored(operator: BinaryOperator) -> Option<BinaryOperator> {
    use BinaryOperator as O;
    Some(match operator {
        O::Equal | O::NotEqual => operator,
        O::Less => O::Greater,
        O::LessOrEqual => O::GreaterOrEqual,
        O::Greater => O::Less,
        O::GreaterOrEqual => O::LessOrEqual,
        _ => return None,
    })
}

fn whole(part: &PreparedNode) -> Option<i64> {
    match part {
        PreparedNode::Literal(Value::Int(number)) => i64::try_from(*number).ok(),
        _ => None,
    }
}

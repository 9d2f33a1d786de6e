//! The longest run of a tree of two words, bounded by their places without counting.
//!
//! Most trees with an operator on positions have two words: `big NEAR/2 cat`, `big << cat`, `big SENTENCE cat`. A run of both
//! needs them one behind the other. Example, `big << cat`:
//!
//! ```text
//! big   4, 20     cat   9, 21        21 follows 20: a run may have 2 words
//! big   4, 20     cat   9, 30        no run has more than 1
//! ```

use super::prepared::{Kind, Prepared};
use crate::reference::Span;

/// A tree that is one operator over two different words, each asked for once.
#[derive(Debug)]
pub(super) struct TwoWords {
    /// The numbers of the words, in the order of the query.
    pub(super) first: usize,
    pub(super) second: usize,
    operator: Operator,
}

#[derive(Debug)]
enum Operator {
    And,
    /// Both words stand in one field.
    InField,
    /// NEAR with its distance.
    Near(u32),
}

impl TwoWords {
    pub(super) fn of(root: &Prepared) -> Option<TwoWords> {
        let (operator, first, second) = if let Kind::Near(near) = &root.kind {
            if !near.always_joins {
                return None;
            }
            (Operator::Near(near.distance), &*near.left, &*near.right)
        } else if let Kind::And(parts) | Kind::Order(parts) | Kind::Together(_, parts) = &root.kind
        {
            let [first, second] = &**parts else {
                return None;
            };
            let is_and = matches!(root.kind, Kind::And(_));
            let operator = if is_and {
                Operator::And
            } else {
                Operator::InField
            };
            (operator, first, second)
        } else {
            return None;
        };
        let (Kind::Word(first), Kind::Word(second)) = (&first.kind, &second.kind) else {
            return None;
        };
        let (first, second) = (first.term, second.term);
        (first != second).then_some(TwoWords {
            first,
            second,
            operator,
        })
    }

    /// Upper bound of the words of a run. `first`, `second`: the places of the words in one field.
    pub(super) fn longest_run(&self, first: &[Span], second: &[Span]) -> u64 {
        let have_both = !first.is_empty() && !second.is_empty();
        match self.operator {
            Operator::And => 1 + u64::from(is_followed(first, second)),
            _ if !have_both => 0,
            Operator::InField => 1 + u64::from(is_followed(first, second)),
            Operator::Near(distance) => match may_go_on(first, second, distance) {
                true => u64::MAX,
                false => 2,
            },
        }
    }
}

/// Those of the places, which rise, that lie in a field.
pub(super) fn in_field(places: &[Span], field: u8) -> &[Span] {
    let first = places.partition_point(|span| span.field < field);
    let rest = &places[first..];
    &rest[..rest.partition_point(|span| span.field == field)]
}

/// Whether a place of `second` is the next one behind a place of `first`.
fn is_followed(first: &[Span], second: &[Span]) -> bool {
    let mut rest = second;
    first.iter().any(|span| {
        while let [next, behind @ ..] = rest
            && next.start <= span.start
        {
            rest = behind;
        }
        rest.first()
            .is_some_and(|next| next.start == span.start + 1)
    })
}

/// Whether two joined occurrences may be in one run: then they begin at most two positions apart, and a third place is near to
/// the second one's.
fn may_go_on(first: &[Span], second: &[Span], distance: u32) -> bool {
    let (mut first, mut second) = (first, second);
    let mut next = || match (first, second) {
        ([one, rest @ ..], [other, ..]) if one.start <= other.start => {
            first = rest;
            Some(one.start)
        }
        ([one, rest @ ..], []) => {
            first = rest;
            Some(one.start)
        }
        (_, [other, rest @ ..]) => {
            second = rest;
            Some(other.start)
        }
        ([], []) => None,
    };
    let (Some(mut before), Some(mut here)) = (next(), next()) else {
        return false;
    };
    while let Some(behind) = next() {
        if here - before <= 2 && behind - here <= distance {
            return true;
        }
        (before, here) = (here, behind);
    }
    false
}

//! How a comparison of values of several kinds is worked out, such as `IFNULL(clock, '') = '10:11:12'`: each value is compared as the
//! kind is of the part that gave it. [`super::kinds`] prepares it.
//!
//! Example: over a TIME the first of two tests compares with 101112, the second with the text. A row of 10:11:12 takes the first and
//! is found; a row without a time takes the second.

use language::meter::Work;

use super::evaluate::{NODE_UNITS, weighed};
use super::function::Function;
use super::node::{ColumnValues, PreparedNode, WithItem};
use crate::value::Value;

/// What is worked out of a call by the kind of the value that it gives back: a comparison with constants, what REMAP, INTERVAL and
/// functions of moments make of it, and NULLIF.
#[derive(Clone, Debug)]
pub(super) struct Mixed {
    /// The call. Each value that it may give back is a [`PreparedNode::Part`].
    pub(super) of: Box<PreparedNode>,
    /// The slot of the given value in the tests.
    pub(super) slot: usize,
    /// What is worked out for each kind, by the number of a part.
    pub(super) tests: Box<[PreparedNode]>,
}

impl Mixed {
    /// A test of what has one kind.
    pub(super) fn one(of: PreparedNode, slot: usize, test: PreparedNode) -> Mixed {
        Mixed {
            of: Box::new(of),
            slot,
            tests: [test].into(),
        }
    }

    pub(super) fn evaluate(&self, row: &dyn ColumnValues, work: &Work<'_>) -> Value {
        let (value, kind) = self.of.part(row, work);
        let value = weighed(value, work);
        let row = WithItem::new(row, self.slot, &value);
        self.tests
            .get(kind)
            .map_or(Value::Null, |test| test.evaluate(&row, work))
    }

    /// As [`PreparedNode::part`], of tests that give values of several kinds.
    fn part(&self, row: &dyn ColumnValues, work: &Work<'_>) -> (Value, usize) {
        let (value, kind) = self.of.part(row, work);
        let value = weighed(value, work);
        let row = WithItem::new(row, self.slot, &value);
        let test = self.tests.get(kind);
        test.map_or((Value::Null, 0), |test| test.part(&row, work))
    }

    /// Calls `visit` with the call and each test.
    pub(super) fn each_part(&mut self, visit: &mut dyn FnMut(&mut PreparedNode)) {
        visit(&mut self.of);
        self.each_test(visit);
    }

    /// Calls `visit` with each test.
    pub(super) fn each_test(&mut self, visit: &mut dyn FnMut(&mut PreparedNode)) {
        self.each_numbered_test(&mut |_, test| visit(test));
    }

    /// Calls `visit` with each test and the number of its kind.
    pub(super) fn each_numbered_test(&mut self, visit: &mut dyn FnMut(usize, &mut PreparedNode)) {
        for (at, test) in self.tests.iter_mut().enumerate() {
            visit(at, test);
        }
    }
}

impl PreparedNode {
    /// The value, and the number of the kind of the part that gave it; 0 where none did.
    fn part(&self, row: &dyn ColumnValues, work: &Work<'_>) -> (Value, usize) {
        if work.begin(NODE_UNITS).is_none() {
            return (Value::Null, 0);
        }
        let of = |at: Option<&PreparedNode>| at.map_or((Value::Null, 0), |at| at.part(row, work));
        let is_true = |at: &PreparedNode| at.evaluate(row, work).as_bool() == Some(true);
        match self {
            PreparedNode::Part(of, kind) => (of.evaluate(row, work), *kind),
            PreparedNode::Mixed(mixed) => mixed.part(row, work),
            PreparedNode::Call(Function::Coalesce, _, parts) => {
                let mut given = parts.iter().map(|part| part.part(row, work));
                given
                    .find(|(value, _)| *value != Value::Null)
                    .unwrap_or((Value::Null, 0))
            }
            PreparedNode::Call(Function::If, _, parts) => {
                of(parts.get(if parts.first().is_some_and(is_true) {
                    1
                } else {
                    2
                }))
            }
            PreparedNode::Call(Function::Case, _, parts) => {
                let mut pairs = (0..parts.len() / 2).map(|pair| 2 * pair);
                match pairs.find(|at| is_true(&parts[*at])) {
                    Some(at) => of(parts.get(at + 1)),
                    None if parts.len() % 2 == 1 => of(parts.last()),
                    None => (Value::Null, 0),
                }
            }
            other => (other.evaluate(row, work), 0),
        }
    }
}

//! The form of a compiled check: one flat list of 32-bit numbers.
//!
//! An operation is a head and its operands. The head has the operation in its upper 8 bits and the number of operands
//! in the lower 24. Some operations work on masks. The others work on a stack of lists of spans, for one document: each
//! takes its lists off the stack and puts one list back.
//!
//! Example: the check of `storm NEAR/3 gulf`.
//!
//! ```text
//! offset  code
//! 0       PLACES 15 0         goes on at offset 15; needs no patterns
//! 3       WORD storm 0 0 0    anywhere in its field
//! 8       WORD gulf 0 0 0
//! 13      NEAR 3
//! ```

use crate::term::TermId;

/// An operation on masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Masks {
    /// Keeps documents that hold every term of the operands.
    Hold,
    /// Keeps documents that hold none of the terms.
    Lack,
    /// Keeps documents that hold at least one of the terms.
    Any,
    /// Begins alternatives; the first follows.
    OrBegin,
    /// Begins the next alternative, for documents that no earlier alternative took. Operand: the offset of `OrEnd`.
    OrNext,
    /// Keeps documents that some alternative took.
    OrEnd,
    /// Begins a negation: documents that satisfy the code up to `NotEnd` are dropped.
    NotBegin,
    /// Keeps the documents of `NotBegin` that did not come so far.
    NotEnd,
    /// Begins counting. Operands: the bits of a counter; its start, chosen so that it overflows at the number wanted. To
    /// count to 3, a counter of 2 bits starts at 1: after three parts it passes 3 and overflows.
    CountBegin,
    /// Counts the documents that satisfy the part, and begins the next part. Operand: the bits of a counter.
    CountNext,
    /// Counts the documents that satisfy the last part, and keeps documents whose counter has overflowed. Operand: the
    /// bits of a counter.
    CountEnd,
    /// Keeps documents that the following operations on spans match. Operands: the offset behind these; 1 if they need
    /// the places of patterns, else 0.
    Places,
}

/// An operation on lists of spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spans {
    /// Puts the spans of a term. Operands of this and the next two: groups of [`GROUP`] numbers. These are a term, the
    /// bits of its place, the last position allowed (0: any), and a number.
    Word,
    /// Puts the spans of a phrase. The number of a group is the term's distance from the first.
    Phrase,
    /// Puts the windows of a proximity. The number of a group is the slack.
    Proximity,
    /// Matches every document, without spans.
    Every,
    /// Takes the last lists (operand: how many), each part behind the one before.
    Order,
    /// Takes two lists: spans near each other. Operand: the distance.
    Near,
    /// Takes two lists: spans of the first that are away from the second. Operand: the distance.
    NotNear,
    /// Takes the last lists (first operand: how many): spans in one sentence (second operand 0) or paragraph (1).
    Together,
    /// Takes the last lists (first operand: how many). A minimum of them must match (second operand).
    AtLeast,
    /// Takes two lists: the first must match, the second only adds spans.
    Maybe,
    /// Takes a list, which must not match.
    Absent,
    /// Takes a list, which must have a minimum of spans (operand).
    Times,
}

/// An operation of either kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Masks(Masks),
    Spans(Spans),
}

impl Operation {
    /// Every operation, at the number that its head has.
    const ALL: [Operation; 24] = [
        Operation::Masks(Masks::Hold),
        Operation::Masks(Masks::Lack),
        Operation::Masks(Masks::Any),
        Operation::Masks(Masks::OrBegin),
        Operation::Masks(Masks::OrNext),
        Operation::Masks(Masks::OrEnd),
        Operation::Masks(Masks::NotBegin),
        Operation::Masks(Masks::NotEnd),
        Operation::Masks(Masks::CountBegin),
        Operation::Masks(Masks::CountNext),
        Operation::Masks(Masks::CountEnd),
        Operation::Masks(Masks::Places),
        Operation::Spans(Spans::Word),
        Operation::Spans(Spans::Phrase),
        Operation::Spans(Spans::Proximity),
        Operation::Spans(Spans::Every),
        Operation::Spans(Spans::Order),
        Operation::Spans(Spans::Near),
        Operation::Spans(Spans::NotNear),
        Operation::Spans(Spans::Together),
        Operation::Spans(Spans::AtLeast),
        Operation::Spans(Spans::Maybe),
        Operation::Spans(Spans::Absent),
        Operation::Spans(Spans::Times),
    ];

    /// The number of an operation in its head.
    fn number(self) -> u32 {
        match self {
            Operation::Masks(masks) => masks as u32,
            Operation::Spans(spans) => Masks::Places as u32 + 1 + spans as u32,
        }
    }

    /// From one term to the next in its operands; `None`: it has no terms.
    fn term_step(self) -> Option<usize> {
        match self {
            Operation::Masks(Masks::Hold | Masks::Lack | Masks::Any) => Some(1),
            Operation::Masks(
                Masks::OrBegin
                | Masks::OrNext
                | Masks::OrEnd
                | Masks::NotBegin
                | Masks::NotEnd
                | Masks::CountBegin
                | Masks::CountNext
                | Masks::CountEnd
                | Masks::Places,
            ) => None,
            Operation::Spans(Spans::Word | Spans::Phrase | Spans::Proximity) => Some(GROUP),
            Operation::Spans(
                Spans::Every
                | Spans::Order
                | Spans::Near
                | Spans::NotNear
                | Spans::Together
                | Spans::AtLeast
                | Spans::Maybe
                | Spans::Absent
                | Spans::Times,
            ) => None,
        }
    }
}

/// Operands of one term with its place.
pub(super) const GROUP: usize = 4;

/// Bits of a place: the field's first position, its last.
pub(super) const FIRST: u32 = 1;
pub(super) const LAST: u32 = 2;

const COUNT_BITS: u32 = 24;

/// The head of an operation with `operands` operands.
pub(super) fn head(operation: Operation, operands: usize) -> u32 {
    assert!(operands < 1 << COUNT_BITS, "a query has fewer words");
    operation.number() << COUNT_BITS | operands as u32
}

/// The operation whose head stands at `offset`, and its number of operands; `None` at the end of the code.
#[inline]
pub(super) fn at(code: &[u32], offset: usize) -> Option<(Operation, usize)> {
    let head = *code.get(offset)?;
    let operation = Operation::ALL.get((head >> COUNT_BITS) as usize)?;
    Some((*operation, (head & ((1 << COUNT_BITS) - 1)) as usize))
}

/// Calls `visit` with every term in the code of one or more checks.
pub(super) fn each_term(code: &mut [u32], mut visit: impl FnMut(&mut TermId)) {
    let mut offset = 0;
    while let Some((operation, operands)) = at(code, offset) {
        let step = operation.term_step();
        let end = offset + 1 + operands;
        if let (Some(step), Some(operands)) = (step, code.get_mut(offset + 1..end)) {
            operands.iter_mut().step_by(step).for_each(&mut visit);
        }
        offset = end;
    }
}

#[cfg(test)]
mod tests {
    use super::{Operation, at, head};

    #[test]
    fn each_operation_comes_back_from_its_head() {
        for operation in Operation::ALL {
            assert_eq!(at(&[head(operation, 5)], 0), Some((operation, 5)));
        }
        assert_eq!(at(&[], 0), None);
    }
}

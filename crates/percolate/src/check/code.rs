//! The form of a compiled check: one flat list of 32-bit numbers.
//!
//! An operation is a head and its operands. The head has the operation in its upper 8 bits and the number of operands
//! in the lower 24. Operations below 16 work on masks. The others work on a stack of lists of spans, for one
//! document: each takes its lists off the stack and puts one list back.
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

/// Keeps documents that hold every term of the operands.
pub(super) const HOLD: u32 = 0;
/// Keeps documents that hold none of the terms.
pub(super) const LACK: u32 = 1;
/// Keeps documents that hold at least one of the terms.
pub(super) const ANY: u32 = 2;
/// Begins alternatives; the first follows.
pub(super) const OR_BEGIN: u32 = 3;
/// Begins the next alternative, for documents that no earlier alternative took. Operand: the offset of `OR_END`.
pub(super) const OR_NEXT: u32 = 4;
/// Keeps documents that some alternative took.
pub(super) const OR_END: u32 = 5;
/// Begins a negation: documents that satisfy the code up to `NOT_END` are dropped.
pub(super) const NOT_BEGIN: u32 = 6;
/// Keeps the documents of `NOT_BEGIN` that did not come so far.
pub(super) const NOT_END: u32 = 7;
/// Begins counting. Operands: the bits of a counter; its start, chosen so that it overflows at the number wanted. To
/// count to 3, a counter of 2 bits starts at 1: after three parts it passes 3 and overflows.
pub(super) const COUNT_BEGIN: u32 = 8;
/// Counts the documents that satisfy the part, and begins the next part. Operand: the bits of a counter.
pub(super) const COUNT_NEXT: u32 = 9;
/// Counts the documents that satisfy the last part, and keeps documents whose counter has overflowed. Operand: the
/// bits of a counter.
pub(super) const COUNT_END: u32 = 10;
/// Keeps documents that the following operations on spans match. Operands: the offset behind these; 1 if they need
/// the places of patterns, else 0.
pub(super) const PLACES: u32 = 11;

/// Puts the spans of a term. Operands of this and the next two: groups of [`GROUP`] numbers. These are a term, the
/// bits of its place, the last position allowed (0: any), and a number.
pub(super) const WORD: u32 = 16;
/// Puts the spans of a phrase. The number of a group is the term's distance from the first.
pub(super) const PHRASE: u32 = 17;
/// Puts the windows of a proximity. The number of a group is the slack.
pub(super) const PROXIMITY: u32 = 18;
/// Matches every document, without spans.
pub(super) const EVERY: u32 = 19;
/// Takes the last lists (operand: how many), each part behind the one before.
pub(super) const ORDER: u32 = 20;
/// Takes two lists: spans near each other. Operand: the distance.
pub(super) const NEAR: u32 = 21;
/// Takes two lists: spans of the first that are away from the second. Operand: the distance.
pub(super) const NOT_NEAR: u32 = 22;
/// Takes the last lists (first operand: how many): spans in one sentence (second operand 0) or paragraph (1).
pub(super) const TOGETHER: u32 = 23;
/// Takes the last lists (first operand: how many). A minimum of them must match (second operand).
pub(super) const AT_LEAST: u32 = 24;
/// Takes two lists: the first must match, the second only adds spans.
pub(super) const MAYBE: u32 = 25;
/// Takes a list, which must not match.
pub(super) const ABSENT: u32 = 26;

/// Takes a list, which must have a minimum of spans (operand).
pub(super) const TIMES: u32 = 27;

/// Operands of one term with its place.
pub(super) const GROUP: usize = 4;

/// Bits of a place: the field's first position, its last.
pub(super) const FIRST: u32 = 1;
pub(super) const LAST: u32 = 2;

const COUNT_BITS: u32 = 24;

/// The head of an operation with `operands` operands.
pub(super) fn head(operation: u32, operands: usize) -> u32 {
    assert!(operands < 1 << COUNT_BITS, "a query has fewer words");
    operation << COUNT_BITS | operands as u32
}

/// The operation of a head, and its number of operands.
#[inline]
pub(super) fn parts(head: u32) -> (u32, usize) {
    (
        head >> COUNT_BITS,
        (head & ((1 << COUNT_BITS) - 1)) as usize,
    )
}

/// Calls `visit` with every term in the code of one or more checks.
pub(super) fn each_term(code: &mut [u32], mut visit: impl FnMut(&mut TermId)) {
    let mut at = 0;
    while let Some(head) = code.get(at) {
        let (operation, operands) = parts(*head);
        let step = match operation {
            HOLD | LACK | ANY => Some(1),
            WORD | PHRASE | PROXIMITY => Some(GROUP),
            _ => None,
        };
        let end = at + 1 + operands;
        if let (Some(step), Some(operands)) = (step, code.get_mut(at + 1..end)) {
            operands.iter_mut().step_by(step).for_each(&mut visit);
        }
        at = end;
    }
}

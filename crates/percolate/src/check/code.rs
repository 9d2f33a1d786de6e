//! The form of a compiled check: one flat row of numbers.
//!
//! Each operation is a head, which says which one it is and how many operands follow, and its operands. Checks are
//! read front to back; what does not come out is jumped over.

use crate::term::TermId;

/// Documents that hold every term of the operands.
pub(super) const HOLD: u32 = 0;
/// Documents that hold none of the terms.
pub(super) const LACK: u32 = 1;
/// Documents that hold at least one of the terms.
pub(super) const ANY: u32 = 2;
/// Alternatives begin; what follows is the first.
pub(super) const OR_BEGIN: u32 = 3;
/// The next alternative, for documents that no earlier one took. Operand: where `OR_END` is.
pub(super) const OR_NEXT: u32 = 4;
/// Documents that some alternative took.
pub(super) const OR_END: u32 = 5;
/// What follows must not come out.
pub(super) const NOT_BEGIN: u32 = 6;
/// The documents before `NOT_BEGIN` without those that came out.
pub(super) const NOT_END: u32 = 7;
/// Counting begins. Operands: bits of a counter; where it starts, so that it overflows at the number wanted.
pub(super) const COUNT_BEGIN: u32 = 8;
/// Counts what came out, and begins the next part. Operand: bits of a counter.
pub(super) const COUNT_NEXT: u32 = 9;
/// Counts what came out; documents whose counter has overflowed. Operand: bits of a counter.
pub(super) const COUNT_END: u32 = 10;
/// Documents for which the operations up to the first operand, over lists of spans, leave a match. The second says whether
/// these ask for patterns.
pub(super) const PLACES: u32 = 11;

/// Spans of a term. Operands of this and the next two: groups of [`GROUP`], a term, the bits of its place, the last
/// position it may have (0: any), and a number.
pub(super) const WORD: u32 = 16;
/// Spans of terms at fixed distances. The number is the distance from the first.
pub(super) const PHRASE: u32 = 17;
/// Spans of terms in any order. The number is the slack.
pub(super) const PROXIMITY: u32 = 18;
/// Every document, no spans.
pub(super) const EVERY: u32 = 19;
/// The last so many lists (operand), each behind the one before.
pub(super) const ORDER: u32 = 20;
/// Two lists near each other. Operand: the distance.
pub(super) const NEAR: u32 = 21;
/// The first of two lists away from the other. Operand: the distance.
pub(super) const NOT_NEAR: u32 = 22;
/// The last so many lists (first operand) in one sentence (second operand 0) or paragraph (1).
pub(super) const TOGETHER: u32 = 23;
/// So many lists (first operand), of which so many (second operand) must have matched.
pub(super) const AT_LEAST: u32 = 24;
/// The first of two lists must have matched, the other only adds.
pub(super) const MAYBE: u32 = 25;
/// The last list must not have matched.
pub(super) const ABSENT: u32 = 26;

/// The last list must have at least so many spans (operand).
pub(super) const TIMES: u32 = 27;

/// Operands of one term with its place.
pub(super) const GROUP: usize = 4;

/// Bits of a place.
pub(super) const FIRST: u32 = 1;
pub(super) const LAST: u32 = 2;

const COUNT_BITS: u32 = 24;

/// The head of an operation with so many operands.
pub(super) fn head(operation: u32, operands: usize) -> u32 {
    assert!(operands < 1 << COUNT_BITS, "a query has fewer words");
    operation << COUNT_BITS | operands as u32
}

/// Takes a head apart.
#[inline]
pub(super) fn parts(head: u32) -> (u32, usize) {
    (
        head >> COUNT_BITS,
        (head & ((1 << COUNT_BITS) - 1)) as usize,
    )
}

/// Calls `visit` with every term of a check.
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

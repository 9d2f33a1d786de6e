//! What the words of an entry alone cannot decide: inner alternatives, numbers of words, negations of more than a word, and
//! where words stand.
//!
//! A check runs on the documents that survived the entry's words, and gives back those that stay. It is a program over
//! masks, all documents of a slice at once; only its operations on places look at single documents.

mod assemble;
mod code;
mod places;
mod spans;

use query::analysis::Words;

use crate::{
    dictionary::{Dictionary, TermId},
    further::Further,
};

pub(crate) use assemble::{Assembler, anywhere, as_term, chained};

/// A compiled check.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    code: Box<[u32]>,
}

/// The documents a check is run on.
#[derive(Clone, Copy)]
pub(crate) struct Slice<'a> {
    /// By term: which documents hold it.
    pub(crate) masks: &'a [u64],
    /// At most 64.
    pub(crate) documents: &'a [Words],
    pub(crate) dictionary: &'a Dictionary,
}

impl Slice<'_> {
    /// Which documents hold a term.
    #[inline]
    pub(crate) fn mask(&self, term: TermId) -> u64 {
        self.masks.get(term as usize).copied().unwrap_or(0)
    }
}

/// Buffers for running checks. A matcher's own.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    stack: Vec<u64>,
    places: places::Places,
    lists: spans::Lists,
    pub(crate) further: Further,
}

impl Workspace {
    /// Forgets the slice.
    pub(crate) fn clear(&mut self) {
        self.places.clear();
    }
}

impl Check {
    /// Gives its terms new numbers.
    pub(crate) fn renumber(&mut self, number: &mut dyn FnMut(TermId) -> TermId) {
        code::each_term(&mut self.code, |term| *term = number(*term));
    }

    /// Those of the documents `among` that satisfy the check.
    pub(crate) fn run(&self, among: u64, slice: Slice<'_>, work: &mut Workspace) -> u64 {
        work.stack.clear();
        let (mut at, mut left) = (0, among);
        while let Some(head) = self.code.get(at) {
            let (operation, count) = code::parts(*head);
            let operands = self.code.get(at + 1..at + 1 + count).unwrap_or_default();
            at += 1 + count;
            match operation {
                code::HOLD => left = operands.iter().fold(left, |left, t| left & slice.mask(*t)),
                code::LACK => left = operands.iter().fold(left, |left, t| left & !slice.mask(*t)),
                code::ANY => left &= operands.iter().fold(0, |any, t| any | slice.mask(*t)),
                code::PLACES => {
                    let end = operands.first().map_or(at, |end| *end as usize);
                    let with_patterns = operands.get(1).is_some_and(|with| *with != 0);
                    let spans = self.code.get(at..end).unwrap_or_default();
                    left = keep(left, |document| {
                        let memo = with_patterns.then_some(&mut work.further.memo);
                        work.places.learn(document, slice, memo);
                        work.lists.matches(spans, document, slice, &work.places)
                    });
                    at = end;
                }
                operation => {
                    let (kept, jump) = nested(operation, operands, left, &mut work.stack);
                    left = kept;
                    at = jump.unwrap_or(at);
                }
            }
        }
        left
    }
}

/// The operations that keep masks on the stack: what is left, and where to go on if not behind.
fn nested(
    operation: u32,
    operands: &[u32],
    left: u64,
    stack: &mut Vec<u64>,
) -> (u64, Option<usize>) {
    let first = operands.first().copied().unwrap_or(0);
    match operation {
        code::OR_BEGIN => {
            stack.extend([left, 0]);
            (left, None)
        }
        code::OR_NEXT | code::OR_END => {
            let [.., among, found] = stack.as_mut_slice() else {
                return (left, None);
            };
            *found |= left;
            let (open, found) = (*among & !*found, *found);
            if operation == code::OR_END {
                stack.truncate(stack.len() - 2);
                return (found, None);
            }
            (open, (open == 0).then_some(first as usize))
        }
        code::NOT_BEGIN => {
            stack.push(left);
            (left, None)
        }
        code::NOT_END => (stack.pop().unwrap_or(0) & !left, None),
        code::COUNT_BEGIN => {
            stack.extend([left, 0]);
            let start = operands.get(1).copied().unwrap_or(0);
            stack.extend((0..first).map(|bit| 0_u64.wrapping_sub(u64::from(start >> bit & 1))));
            (left, None)
        }
        code::COUNT_NEXT | code::COUNT_END => {
            let base = stack.len().saturating_sub(2 + first as usize);
            let [among, reached, counters @ ..] = &mut stack[base..] else {
                return (left, None);
            };
            let mut carry = left;
            for counter in counters {
                (*counter, carry) = (*counter ^ carry, *counter & carry);
            }
            *reached |= carry;
            let (open, reached) = (*among & !*reached, *reached);
            if operation == code::COUNT_END {
                stack.truncate(base);
                return (reached, None);
            }
            (open, None)
        }
        _ => (left, None),
    }
}

/// The bits of `among` whose document passes.
fn keep(among: u64, mut passes: impl FnMut(usize) -> bool) -> u64 {
    let (mut open, mut kept) = (among, 0);
    while open != 0 {
        let bit = open & open.wrapping_neg();
        if passes(open.trailing_zeros() as usize) {
            kept |= bit;
        }
        open ^= bit;
    }
    kept
}

//! Checks: the conditions that masks of single terms cannot decide. These are inner alternatives, numbers of words,
//! negations of more than a word, and the places of words.
//!
//! A check runs on the documents that satisfy the entry's conditions, and returns those that satisfy the check. It is
//! a program over masks, for all documents of a slice at once. Only its operations on places look at single
//! documents.
//!
//! Example: `storm | flood | (gulf warning)`, run on the documents 1111 of a slice of four.
//!
//! ```text
//! offset  operation            left   stack
//! 0       OR_BEGIN             1111   1111 0000
//! 1       ANY storm flood      0001   1111 0000    storm is in document 0
//! 4       OR_NEXT 10           1110   1111 0001    on with the documents not yet taken
//! 6       HOLD gulf            0110   1111 0001
//! 8       HOLD warning         0010   1111 0001
//! 10      OR_END               0011                documents 0 and 1 satisfy it
//! ```
//!
//! If the first part took all documents, `OR_NEXT` would jump to offset 10 and the operations between would be
//! skipped.
//!
//! Invariants:
//! - A nested operation returns a subset of the documents that it began with. It keeps these on the stack, because
//!   each of its parts changes `left`.
//! - Each operation that begins leaves the stack at its end as it found it.
//! - A check's code lies in one piece: it starts where the code of the check before it ends.

pub(crate) mod assemble;
mod code;
mod places;
mod spans;

use code::{Masks, Operation};
use language::analysis::Words;

use crate::{
    compound::CompoundTerms, dictionary::Dictionary, fetch::Fetch, meter::Meter, removed::Removed,
    term::TermId, word_terms::WordTerms,
};

/// Words of a check's code that count as one step.
const OPERANDS_PER_STEP: usize = 8;

/// A compiled check; `code.rs` has its form.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    code: Box<[u32]>,
}

/// The slice that a check runs on.
#[derive(Clone, Copy)]
pub(crate) struct Slice<'a> {
    /// By term: the documents that hold it.
    pub(crate) masks: &'a [u64],
    /// The words of its documents: at most 64.
    pub(crate) documents: &'a [Words],
    /// These words, looked up in the dictionary.
    pub(crate) word_terms: &'a WordTerms,
    pub(crate) dictionary: &'a Dictionary,
    /// The level's removed queries, of which checks need not run.
    pub(crate) removed: &'a Removed,
    /// Whether the caller still wants the answer.
    pub(crate) goes_on: &'a dyn Fn() -> bool,
}

impl Slice<'_> {
    /// The documents that hold a term.
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
    pub(crate) compound: CompoundTerms,
    pub(crate) meter: Meter,
}

impl Workspace {
    /// Forgets the places of the slice's documents.
    pub(crate) fn clear(&mut self) {
        self.places.clear();
        self.lists.forget();
    }
}

/// The checks of a level, one behind the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checks {
    code: Vec<u32>,
    /// By number: where the check's code ends.
    ends: Vec<u32>,
}

impl Checks {
    /// The number of checks.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Memory of the checks, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.code) + size_of_val(&*self.ends)
    }

    /// Adds a check and returns its number.
    pub(crate) fn push(&mut self, check: &Check) -> u32 {
        self.add(&check.code)
    }

    /// Copies a check of another level and returns its number here.
    pub(crate) fn push_of(&mut self, others: &Checks, number: u32) -> u32 {
        self.add(others.code(number))
    }

    fn add(&mut self, code: &[u32]) -> u32 {
        self.code.extend_from_slice(code);
        assert!(
            self.code.len() <= u32::MAX as usize,
            "a level's checks fit into memory"
        );
        self.ends.push(self.code.len() as u32);
        self.ends.len() as u32 - 1
    }

    /// Prefetches the beginning of a check.
    #[inline(always)]
    pub(crate) fn fetch(&self, steps: impl Fetch, number: u32) {
        let before = number.checked_sub(1).map_or(0, |before| before as usize);
        let end = self.ends.get(before).copied().unwrap_or(0);
        steps.fetch(&self.code, end as usize);
    }

    #[inline]
    fn code(&self, number: u32) -> &[u32] {
        let end = |number: u32| self.ends.get(number as usize).copied().unwrap_or(0);
        let start = number.checked_sub(1).map_or(0, end);
        let code = self.code.get(start as usize..end(number) as usize);
        code.unwrap_or_default()
    }

    /// Renumbers all terms.
    pub(crate) fn renumber(&mut self, number: &mut dyn FnMut(TermId) -> TermId) {
        code::each_term(&mut self.code, |term| *term = number(*term));
    }

    /// The documents in `among` that satisfy the check. After the call has ended the answer means nothing.
    pub(crate) fn run(
        &self,
        number: u32,
        among: u64,
        slice: Slice<'_>,
        work: &mut Workspace,
    ) -> u64 {
        work.stack.clear();
        let code = self.code(number);
        let operands = (code.len() / OPERANDS_PER_STEP) as u64;
        if !work.meter.spend(operands, slice.goes_on) {
            return 0;
        }
        let (mut at, mut left) = (0, among);
        while let Some((Operation::Masks(operation), count)) = code::at(code, at) {
            let operands = code.get(at + 1..at + 1 + count).unwrap_or_default();
            at += 1 + count;
            match operation {
                Masks::Hold => left = operands.iter().fold(left, |left, t| left & slice.mask(*t)),
                Masks::Lack => left = operands.iter().fold(left, |left, t| left & !slice.mask(*t)),
                Masks::Any => left &= operands.iter().fold(0, |any, t| any | slice.mask(*t)),
                Masks::Places => {
                    let end = operands.first().map_or(at, |end| *end as usize);
                    let with_patterns = operands.get(1).is_some_and(|with| *with != 0);
                    let spans = code.get(at..end).unwrap_or_default();
                    left = keep(left, |document| {
                        let memo = with_patterns.then_some(&mut work.compound.memo);
                        let Workspace { places, lists, .. } = work;
                        let meter = &mut work.meter;
                        places.learn(document, slice, memo, meter)
                            && meter.measured(document, |meter| {
                                lists.matches(spans, document, slice, places, meter)
                            })
                    });
                    at = end;
                }
                Masks::OrBegin
                | Masks::OrNext
                | Masks::OrEnd
                | Masks::NotBegin
                | Masks::NotEnd
                | Masks::CountBegin
                | Masks::CountNext
                | Masks::CountEnd => {
                    let (kept, jump) = nested(operation, operands, left, &mut work.stack);
                    left = kept;
                    at = jump.unwrap_or(at);
                }
            }
        }
        left
    }
}

/// Does one operation that keeps masks on the stack. Returns the documents left, and the offset to jump to, if any.
fn nested(
    operation: Masks,
    operands: &[u32],
    left: u64,
    stack: &mut Vec<u64>,
) -> (u64, Option<usize>) {
    let first = operands.first().copied().unwrap_or(0);
    match operation {
        Masks::OrBegin => {
            stack.extend([left, 0]);
            (left, None)
        }
        Masks::OrNext | Masks::OrEnd => {
            let [.., among, found] = stack.as_mut_slice() else {
                return (left, None);
            };
            *found |= left;
            let (open, found) = (*among & !*found, *found);
            if operation == Masks::OrEnd {
                stack.truncate(stack.len() - 2);
                return (found, None);
            }
            (open, (open == 0).then_some(first as usize))
        }
        Masks::NotBegin => {
            stack.push(left);
            (left, None)
        }
        Masks::NotEnd => (stack.pop().unwrap_or(0) & !left, None),
        Masks::CountBegin => {
            stack.extend([left, 0]);
            let start = operands.get(1).copied().unwrap_or(0);
            stack.extend((0..first).map(|bit| 0_u64.wrapping_sub(u64::from(start >> bit & 1))));
            (left, None)
        }
        Masks::CountNext | Masks::CountEnd => {
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
            if operation == Masks::CountEnd {
                stack.truncate(base);
                return (reached, None);
            }
            (open, None)
        }
        // These keep nothing on the stack.
        Masks::Hold | Masks::Lack | Masks::Any | Masks::Places => (left, None),
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

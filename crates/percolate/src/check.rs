//! What the words of an entry alone cannot decide: inner alternatives, numbers of words, negations of more than a word, and
//! where words stand.
//!
//! A check runs on the documents that survived the entry's words, and gives back those that stay. It is a program over
//! masks, all documents of a slice at once; only its operations on places look at single documents.

pub(crate) mod assemble;
mod code;
mod places;
mod spans;

use query::analysis::Words;

use crate::{
    compound::CompoundTerms, dictionary::Dictionary, meter::Meter, removed::Removed, term::TermId,
};

/// Operands of an operation on masks that are one step.
const OPERANDS_PER_STEP: usize = 8;

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
    /// Queries of the level that are no longer asked.
    pub(crate) removed: &'a Removed,
    /// Whether anybody still wants the answer.
    pub(crate) goes_on: &'a dyn Fn() -> bool,
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
    pub(crate) compound: CompoundTerms,
    pub(crate) meter: Meter,
}

impl Workspace {
    /// Forgets the slice.
    pub(crate) fn clear(&mut self) {
        self.places.clear();
        self.lists.forget();
    }
}

/// The checks of a level, one behind the other: a check that is run is found where the one before ends.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checks {
    code: Vec<u32>,
    /// By number: where its code ends.
    ends: Vec<u32>,
}

impl Checks {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes they take.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.code) + size_of_val(&*self.ends)
    }

    /// Adds a check and gives its number.
    pub(crate) fn push(&mut self, check: &Check) -> u32 {
        self.add(&check.code)
    }

    /// Adds one of other checks and gives its number here.
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

    #[inline]
    fn code(&self, number: u32) -> &[u32] {
        let end = |number: u32| self.ends.get(number as usize).copied().unwrap_or(0);
        let start = number.checked_sub(1).map_or(0, end);
        let code = self.code.get(start as usize..end(number) as usize);
        code.unwrap_or_default()
    }

    /// Gives all terms new numbers.
    pub(crate) fn renumber(&mut self, number: &mut dyn FnMut(TermId) -> TermId) {
        code::each_term(&mut self.code, |term| *term = number(*term));
    }

    /// Those of the documents `among` that satisfy a check. None once the call has ended.
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
        while let Some(head) = code.get(at) {
            let (operation, count) = code::parts(*head);
            let operands = code.get(at + 1..at + 1 + count).unwrap_or_default();
            at += 1 + count;
            match operation {
                code::HOLD => left = operands.iter().fold(left, |left, t| left & slice.mask(*t)),
                code::LACK => left = operands.iter().fold(left, |left, t| left & !slice.mask(*t)),
                code::ANY => left &= operands.iter().fold(0, |any, t| any | slice.mask(*t)),
                code::PLACES => {
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

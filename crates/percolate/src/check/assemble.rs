//! The assembler: from a tree to the code of a check.

use language::tree::{FieldPlace, FieldSet, Form, Node, Term, Unit, Word};

use super::Check;
use super::code::{self, Masks, Operation, Spans};
use crate::{limits::PHRASE_TERM_WORDS_MAX, term::Terms};

/// Code that is being written. Each method appends the code for one condition; all conditions must hold.
pub(crate) struct Assembler<'t, T> {
    code: Vec<u32>,
    terms: &'t mut T,
    /// Whether the operations on places at hand need the places of patterns.
    with_patterns: bool,
}

impl<'t, T: Terms> Assembler<'t, T> {
    /// Empty code, which every document satisfies.
    pub(crate) fn new(terms: &'t mut T) -> Assembler<'t, T> {
        Assembler {
            code: Vec::new(),
            terms,
            with_patterns: false,
        }
    }

    /// The check; `None` for empty code.
    pub(crate) fn finish(self) -> Option<Check> {
        let code = self.code.into_boxed_slice();
        (!code.is_empty()).then_some(Check { code })
    }

    /// Requires all of these terms.
    pub(crate) fn hold(&mut self, terms: &[u32]) {
        self.put_unless_empty(Operation::Masks(Masks::Hold), terms);
    }

    /// Excludes all of these terms.
    pub(crate) fn lack(&mut self, terms: &[u32]) {
        self.put_unless_empty(Operation::Masks(Masks::Lack), terms);
    }

    /// Requires that a node matches.
    pub(crate) fn node(&mut self, node: &Node) {
        match node {
            Node::All => {}
            Node::Word(word) => {
                let term = self.terms.intern(&anywhere(word));
                self.hold(&[term]);
                if word.term.place != FieldPlace::default() {
                    self.places(node);
                }
            }
            Node::And(parts) => {
                let (boolean, others): (Vec<&Node>, Vec<&Node>) =
                    parts.iter().partition(|part| part.is_boolean());
                boolean.into_iter().for_each(|part| self.node(part));
                others.into_iter().for_each(|part| self.node(part));
            }
            Node::Or(parts) => self.or(parts),
            Node::Quorum { parts, least } => self.count(parts, *least),
            Node::Maybe(node, _) => self.node(node),
            Node::Not(node) => self.absent(node),
            Node::Repeated { .. }
            | Node::Phrase { .. }
            | Node::Proximity { .. }
            | Node::Order(_)
            | Node::Near { .. }
            | Node::NotNear { .. }
            | Node::Together { .. } => match as_phrase(node) {
                Some((words, fields)) => {
                    let term = self.terms.phrase(&words, fields);
                    self.hold(&[term]);
                }
                None => {
                    self.node(&node.necessary());
                    self.places(node);
                }
            },
        }
    }

    /// Excludes documents that match a node.
    pub(crate) fn absent(&mut self, node: &Node) {
        if let Some(word) = as_term(node) {
            let term = self.terms.intern(word);
            return self.lack(&[term]);
        }
        self.put(Operation::Masks(Masks::NotBegin), &[]);
        self.node(node);
        self.put(Operation::Masks(Masks::NotEnd), &[]);
    }

    /// Requires that a node on places matches. The code before must require what the node needs without positions.
    pub(crate) fn places(&mut self, node: &Node) {
        let at = self.put(Operation::Masks(Masks::Places), &[0, 0]);
        self.with_patterns = false;
        self.spans(node);
        self.code[at + 1] = self.code.len() as u32;
        self.code[at + 2] = self.with_patterns.into();
    }

    fn or(&mut self, parts: &[Node]) {
        let words: Vec<u32> = parts
            .iter()
            .filter_map(as_term)
            .map(|word| self.terms.intern(word))
            .collect();
        let others: Vec<&Node> = parts
            .iter()
            .filter(|part| as_term(part).is_none())
            .collect();
        if others.is_empty() {
            self.put_unless_empty(Operation::Masks(Masks::Any), &words);
            return;
        }
        self.put(Operation::Masks(Masks::OrBegin), &[]);
        self.put_unless_empty(Operation::Masks(Masks::Any), &words);
        let mut jumps = Vec::with_capacity(others.len());
        for (index, part) in others.into_iter().enumerate() {
            if index > 0 || !words.is_empty() {
                jumps.push(self.put(Operation::Masks(Masks::OrNext), &[0]));
            }
            self.node(part);
        }
        let end = self.put(Operation::Masks(Masks::OrEnd), &[]) as u32;
        for at in jumps {
            self.code[at + 1] = end;
        }
    }

    fn count(&mut self, parts: &[Node], least: u32) {
        let bits = u32::BITS - least.max(1).saturating_sub(1).leading_zeros();
        let start = (1_u64 << bits) - u64::from(least.max(1));
        self.put(Operation::Masks(Masks::CountBegin), &[bits, start as u32]);
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                self.put(Operation::Masks(Masks::CountNext), &[bits]);
            }
            self.node(part);
        }
        self.put(Operation::Masks(Masks::CountEnd), &[bits]);
    }

    fn spans(&mut self, node: &Node) {
        match node {
            Node::All => {
                self.put(Operation::Spans(Spans::Every), &[]);
            }
            Node::Word(Word { term, fields }) => self.groups(
                Operation::Spans(Spans::Word),
                [(term, 0)].into_iter(),
                *fields,
            ),
            Node::Repeated { word, times } => {
                self.groups(
                    Operation::Spans(Spans::Word),
                    [(&word.term, 0)].into_iter(),
                    word.fields,
                );
                self.put(Operation::Spans(Spans::Times), &[*times]);
            }
            Node::Phrase { words, fields } => {
                let words = words.iter().map(|(term, distance)| (term, *distance));
                self.groups(Operation::Spans(Spans::Phrase), words, *fields);
            }
            Node::Proximity {
                terms,
                fields,
                slack,
            } => {
                // Equal terms must be neighbours: `proximity` counts runs of them.
                let mut sorted: Vec<&Term> = terms.iter().collect();
                sorted.sort_by_key(|term| (term.form as u8, &term.text, order_of(term.place)));
                let terms = sorted.into_iter().map(|term| (term, *slack));
                self.groups(Operation::Spans(Spans::Proximity), terms, *fields);
            }
            Node::Quorum { parts, least } => {
                self.lists(parts, Operation::Spans(Spans::AtLeast), Some(*least))
            }
            Node::And(parts) => self.lists(
                parts,
                Operation::Spans(Spans::AtLeast),
                Some(parts.len() as u32),
            ),
            Node::Or(parts) => self.lists(parts, Operation::Spans(Spans::AtLeast), Some(1)),
            Node::Order(parts) => self.lists(parts, Operation::Spans(Spans::Order), None),
            Node::Together { unit, parts } => {
                let unit = match unit {
                    Unit::Sentence => 0,
                    Unit::Paragraph => 1,
                };
                self.lists(parts, Operation::Spans(Spans::Together), Some(unit));
            }
            Node::Near {
                left,
                right,
                distance,
            } => self.two(left, right, Operation::Spans(Spans::Near), &[*distance]),
            Node::NotNear {
                left,
                right,
                distance,
            } => self.two(left, right, Operation::Spans(Spans::NotNear), &[*distance]),
            Node::Maybe(left, right) => self.two(left, right, Operation::Spans(Spans::Maybe), &[]),
            Node::Not(part) => {
                self.spans(part);
                self.put(Operation::Spans(Spans::Absent), &[]);
            }
        }
    }

    fn lists(&mut self, parts: &[Node], operation: Operation, number: Option<u32>) {
        parts.iter().for_each(|part| self.spans(part));
        let operands = [parts.len() as u32, number.unwrap_or(0)];
        self.put(operation, &operands[..1 + usize::from(number.is_some())]);
    }

    fn two(&mut self, left: &Node, right: &Node, operation: Operation, operands: &[u32]) {
        self.spans(left);
        self.spans(right);
        self.put(operation, operands);
    }

    fn groups<'n>(
        &mut self,
        operation: Operation,
        terms: impl Iterator<Item = (&'n Term, u32)>,
        fields: FieldSet,
    ) {
        let mut operands = Vec::new();
        for (term, number) in terms {
            let place = term.place;
            self.with_patterns |= term.form != Form::Whole;
            let word = Word {
                term: term.clone(),
                fields,
            };
            operands.extend([
                self.terms.intern(&anywhere(&word)),
                (u32::from(place.first) * code::FIRST) | (u32::from(place.last) * code::LAST),
                place.within,
                number,
            ]);
        }
        self.put(operation, &operands);
    }

    fn put_unless_empty(&mut self, operation: Operation, operands: &[u32]) {
        if !operands.is_empty() {
            self.put(operation, operands);
        }
    }

    /// Appends an operation and returns its offset.
    fn put(&mut self, operation: Operation, operands: &[u32]) -> usize {
        let at = self.code.len();
        self.code.push(code::head(operation, operands.len()));
        self.code.extend_from_slice(operands);
        at
    }
}

fn order_of(place: FieldPlace) -> (bool, bool, u32) {
    (place.first, place.last, place.within)
}

/// The word without its place in the field: the form in which the dictionary has it.
pub(crate) fn anywhere(word: &Word) -> Word {
    let term = Term {
        place: FieldPlace::default(),
        ..word.term.clone()
    };
    Word { term, ..*word }
}

/// The word of a node that is a word which may stand anywhere in its fields: its term's mask is then the answer.
pub(crate) fn as_term(node: &Node) -> Option<&Word> {
    let Node::Word(word) = node else { return None };
    (word.term.place == FieldPlace::default()).then_some(word)
}

fn as_phrase(node: &Node) -> Option<(Vec<&str>, FieldSet)> {
    let Node::Phrase { words, fields } = node else {
        return None;
    };
    chained(words).map(|words| (words, *fields))
}

/// The words of a phrase that is a term: 2 to 8 plain words, each directly behind the one before. Else `None`.
pub(crate) fn chained(words: &[(Term, u32)]) -> Option<Vec<&str>> {
    let is_chain = (2..=PHRASE_TERM_WORDS_MAX).contains(&words.len())
        && words.iter().all(|(term, _)| term.is_plain())
        && words.windows(2).all(|pair| pair[1].1 == pair[0].1 + 1);
    is_chain.then(|| words.iter().map(|(term, _)| &*term.text).collect())
}

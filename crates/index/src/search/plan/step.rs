//! A query's tree with words by number: how an executor finds rows.

use query::tree::{FieldSet, Node, Term};

use super::super::terms::WordNumbers;

/// A node of the tree.
pub(in super::super) enum Step {
    All,
    Word {
        word: usize,
        fields: Fields,
    },
    Phrase {
        words: Vec<(usize, u32)>,
        fields: Fields,
        /// Among the phrases of the tree.
        number: usize,
    },
    And {
        required: Vec<Step>,
        excluded: Vec<Step>,
    },
    /// Any so many of several.
    AtLeast {
        parts: Vec<Step>,
        least: usize,
    },
    /// The first; the second only adds to the weight.
    Maybe(Box<Step>, Box<Step>),
}

/// The fields that a word may stand in.
#[derive(Clone, Copy)]
pub(in super::super) struct Fields {
    /// One bit for each.
    pub(in super::super) set: u64,
    /// Whether that is every field of the table.
    pub(in super::super) every: bool,
}

impl Step {
    /// The word, if the step is one in any field.
    pub(in super::super) fn word(&self) -> Option<usize> {
        match self {
            Step::Word { word, fields } if fields.every => Some(*word),
            _ => None,
        }
    }
}

/// Makes the steps of one query.
pub(super) struct Stepper<'w> {
    pub(super) words: &'w mut WordNumbers,
    /// The bits of the table's fields.
    pub(super) every: u64,
    /// Phrases so far.
    pub(super) phrases: usize,
}

impl Stepper<'_> {
    pub(super) fn step(&mut self, node: &Node) -> Step {
        match node {
            Node::All => Step::All,
            Node::Word(word) => Step::Word {
                word: self.words.add(&word.term.text),
                fields: self.fields(word.fields),
            },
            Node::Phrase { words, fields } => {
                let word = |(term, distance): &(Term, u32)| (self.words.add(&term.text), *distance);
                let words = words.iter().map(word).collect();
                self.phrases += 1;
                Step::Phrase {
                    words,
                    fields: self.fields(*fields),
                    number: self.phrases - 1,
                }
            }
            Node::And(children) => self.and(children),
            Node::Or(children) => Step::AtLeast {
                parts: self.each(children),
                least: 1,
            },
            Node::Quorum { parts, least } => Step::AtLeast {
                parts: self.each(parts),
                least: *least as usize,
            },
            Node::Maybe(left, right) => {
                Step::Maybe(Box::new(self.step(left)), Box::new(self.step(right)))
            }
            // Never comes here: steps are made of what is necessary instead.
            Node::Repeated { .. }
            | Node::Proximity { .. }
            | Node::Order(_)
            | Node::Near { .. }
            | Node::NotNear { .. }
            | Node::Together { .. } => Step::All,
            Node::Not(_) => self.and(std::slice::from_ref(node)),
        }
    }

    fn fields(&self, FieldSet(set): FieldSet) -> Fields {
        let set = set & self.every;
        Fields {
            set,
            every: set == self.every,
        }
    }

    fn each(&mut self, parts: &[Node]) -> Vec<Step> {
        parts.iter().map(|part| self.step(part)).collect()
    }

    fn and(&mut self, children: &[Node]) -> Step {
        let (mut required, mut excluded) = (Vec::new(), Vec::new());
        for child in children {
            match child {
                Node::Not(child) => excluded.push(self.step(child)),
                child => required.push(self.step(child)),
            }
        }
        if required.is_empty() {
            required.push(Step::All);
        }
        Step::And { required, excluded }
    }
}

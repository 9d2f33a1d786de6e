//! A query's tree with words by number: the form that the executor runs.

use language::tree::{FieldPlace, FieldSet, Form, Node, Term, Word};

use super::numbered::Numbered;
use super::placed::Placed;

/// A node of the tree: a set of rows.
pub(in super::super) enum Step {
    /// Every row.
    All,
    /// The rows that hold a word in one of `fields`.
    Word {
        /// Number of the word in the plan.
        word: usize,
        fields: Fields,
    },
    /// The rows in which the words stand at fixed distances in one of `fields`. `words`: number,
    /// and distance from the phrase's start.
    Phrase {
        words: Vec<(usize, u32)>,
        fields: Fields,
        /// Number of the phrase among those of the tree.
        number: usize,
    },
    /// The rows that match every required step and no excluded one. `required` is never empty.
    And {
        required: Vec<Step>,
        excluded: Vec<Step>,
    },
    /// The rows that match at least `least` of `parts`.
    AtLeast {
        /// Operands. (Not parts of a table, as elsewhere in the crate.)
        parts: Vec<Step>,
        /// 1 for an OR, more for a quorum.
        least: usize,
    },
    /// The rows that match the first step. The second only adds to their weight.
    Maybe(Box<Step>, Box<Step>),
    /// The rows of a tree that the places of its words decide.
    Placed {
        /// A step without places that each of these rows matches.
        needs: Box<Step>,
        placed: Box<Placed>,
    },
}

/// The fields that a word may stand in.
#[derive(Clone, Copy)]
pub(in super::super) struct Fields {
    /// One bit for each field.
    pub(in super::super) set: u64,
    /// Whether the set is every field of the table.
    pub(in super::super) every: bool,
}

impl Step {
    /// The word's number, if the step is a word in any field.
    pub(in super::super) fn word(&self) -> Option<usize> {
        match self {
            Step::Word { word, fields } if fields.every => Some(*word),
            _ => None,
        }
    }
}

/// Makes the steps of one query.
pub(super) struct Stepper<'w> {
    pub(super) numbered: &'w Numbered,
    /// Set of the table's fields.
    pub(super) every: u64,
    /// Number of phrases so far.
    pub(super) phrases: usize,
    /// Whether places decide a tree so far.
    pub(super) is_placed: bool,
}

impl Stepper<'_> {
    /// The step of a node.
    pub(super) fn step(&mut self, node: &Node) -> Step {
        match node {
            Node::All => Step::All,
            Node::Word(word) if word.term.place == FieldPlace::default() => self.word(word),
            Node::Phrase { words, fields } if words.iter().all(|(term, _)| term.is_plain()) => {
                let word = |(term, distance): &(Term, u32)| {
                    let words = self.numbered.of(term);
                    words.first().map(|word| (*word, *distance))
                };
                let words = words.iter().filter_map(word).collect();
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
            Node::Not(_) => self.and(std::slice::from_ref(node)),
            Node::Word(_)
            | Node::Repeated { .. }
            | Node::Phrase { .. }
            | Node::Proximity { .. }
            | Node::Order(_)
            | Node::Near { .. }
            | Node::NotNear { .. }
            | Node::Together { .. } => {
                self.is_placed = true;
                Step::Placed {
                    needs: Box::new(self.step(&node.necessary())),
                    placed: Box::new(Placed::new(node, self.numbered)),
                }
            }
        }
    }

    /// A word, or the words that a pattern stands for.
    fn word(&self, word: &Word) -> Step {
        let fields = self.fields(word.fields);
        let step = |word: &usize| Step::Word {
            word: *word,
            fields,
        };
        let words = self.numbered.of(&word.term);
        match (word.term.form, words.first()) {
            (Form::Whole, Some(word)) => step(word),
            _ => Step::AtLeast {
                parts: words.iter().map(step).collect(),
                least: 1,
            },
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
            if let Node::Not(child) = child {
                excluded.push(self.step(child));
            } else {
                required.push(self.step(child));
            }
        }
        if required.is_empty() {
            required.push(Step::All);
        }
        Step::And { required, excluded }
    }
}

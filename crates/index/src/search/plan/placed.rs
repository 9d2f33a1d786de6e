//! Trees that places decide: those of NEAR, `<<`, `~N` and the other operators on positions, and of words at fixed places.

use language::tree::{FieldPlace, FieldSet, Form, Node, Unit, Word};
use language::verify::{Rated, Verifier};

use super::numbered::{Numbered, TermWords};

/// A tree, or a part of it, that the places of its words decide.
pub(in super::super) struct Placed {
    pub(in super::super) verifier: Verifier,
    /// By number of the term in the verifier: the words of the plan that it stands for.
    pub(in super::super) terms: Vec<TermWords>,
    /// By number of the term: how often the tree has it.
    pub(in super::super) times: Vec<i64>,
    /// By number of the term: the fields in which it may count.
    pub(in super::super) fields: Vec<u64>,
    /// By number of the word in the plan, whether its value counts in a row that matches.
    pub(in super::super) rated: Vec<Rated>,
    /// Whether it asks where a field, a sentence or a paragraph ends.
    pub(in super::super) asks_ends: bool,
    /// The tree, where it is a single word at a place of its field.
    pub(in super::super) word: Option<PlacedWord>,
    /// The tree, where it is an operator over two words that may stand anywhere.
    pub(in super::super) two: Option<PlacedTwo>,
}

/// A word at a place of its field: `^word`, `word$`, `@field[N] word`.
pub(in super::super) struct PlacedWord {
    /// Number of the word in the plan.
    pub(in super::super) word: usize,
    /// Set of the fields that it may stand in.
    pub(in super::super) fields: u64,
    pub(in super::super) place: FieldPlace,
}

/// `a NEAR/5 b`, `a << b` or `a SENTENCE b`, where a row holds both words at different places.
pub(in super::super) struct PlacedTwo {
    /// Numbers of the words in the plan, in the order of the query.
    pub(in super::super) words: [usize; 2],
    pub(in super::super) operator: TwoOperator,
}

#[derive(Clone, Copy, PartialEq)]
pub(in super::super) enum TwoOperator {
    /// NEAR with its distance.
    Near(u32),
    /// `<<`.
    Before,
    /// SENTENCE or PARAGRAPH.
    Together(Unit),
}

impl Placed {
    pub(super) fn new(node: &Node, numbered: &Numbered) -> Placed {
        let verifier = Verifier::new(node);
        let terms = verifier.terms().iter();
        let terms: Vec<TermWords> = terms.map(|term| numbered.of(term)).collect();
        let mut times = vec![0; verifier.terms().len()];
        node.each_term(&mut |term| {
            if let Some(times) = verifier
                .number(term)
                .and_then(|number| times.get_mut(number))
            {
                *times += 1;
            }
        });
        Placed {
            rated: rated(&verifier, &terms, numbered.words.texts().len()),
            fields: verifier.fields(),
            verifier,
            terms,
            times,
            asks_ends: node.asks_ends(),
            word: PlacedWord::from_node(node, numbered),
            two: PlacedTwo::from_node(node, numbered),
        }
    }
}

impl Placed {
    /// Whether a word may count in a field, in a row that matches and that has these words there. Only of a tree of single words
    /// ([`Verifier::is_of_words`]).
    pub(super) fn may_count(&self, field: usize, words: u64) -> bool {
        let is_there = |word: &usize| *word < 64 && words >> word & 1 == 1;
        let standing = |term: usize| match self.terms.get(term) {
            Some(words) if words.iter().any(is_there) => MANY_PLACES,
            _ => 0,
        };
        self.verifier.most(field as u8, &standing).words > 0
    }

    /// Whether it is known of each word whether its value counts in the rows that match.
    pub(in super::super) fn is_rated(&self) -> bool {
        self.rated.iter().all(|rated| *rated != Rated::Maybe)
    }
}

/// More places of a term than a field has.
const MANY_PLACES: u64 = 1 << 32;

/// Whether the value of each word of the plan counts in a row that matches.
fn rated(verifier: &Verifier, terms: &[TermWords], words: usize) -> Vec<Rated> {
    let mut of_words = vec![Rated::Never; words];
    let of_terms = verifier.rated().into_iter().zip(verifier.fields());
    for (words, (rated, fields)) in terms.iter().zip(of_terms) {
        // A row may hold some of a pattern's words in other fields.
        let is_sure = words.len() == 1 || fields == FieldSet::ALL.0;
        let rated = if is_sure {
            rated
        } else {
            rated.min(Rated::Maybe)
        };
        for word in words {
            of_words[*word] = of_words[*word].max(rated);
        }
    }
    of_words
}

impl PlacedTwo {
    fn from_node(node: &Node, numbered: &Numbered) -> Option<PlacedTwo> {
        let (operator, words) = if let Node::Near {
            left,
            right,
            distance,
        } = node
        {
            (TwoOperator::Near(*distance), [&**left, &**right])
        } else if let Node::Order(parts) = node {
            (TwoOperator::Before, two(parts)?)
        } else if let Node::Together { unit, parts } = node {
            (TwoOperator::Together(*unit), two(parts)?)
        } else {
            return None;
        };
        let [first, second] = words.map(|word| free_word(word, numbered));
        let words = [first?, second?];
        (words[0] != words[1]).then_some(PlacedTwo { words, operator })
    }
}

fn two(parts: &[Node]) -> Option<[&Node; 2]> {
    match parts {
        [left, right] => Some([left, right]),
        _ => None,
    }
}

/// The number of a word that may stand anywhere, at a place where no other word of a query stands: a marked word, such as `#tag`,
/// stands where its bare word does.
fn free_word(node: &Node, numbered: &Numbered) -> Option<usize> {
    let Node::Word(Word { term, fields }) = node else {
        return None;
    };
    let is_free = *fields == FieldSet::ALL && term.place == FieldPlace::default();
    let is_bare = term.form == Form::Whole && !term.text.starts_with(['#', '@', '=']);
    (is_free && is_bare).then(|| numbered.of(term).first().copied())?
}

impl PlacedWord {
    fn from_node(node: &Node, numbered: &Numbered) -> Option<PlacedWord> {
        let Node::Word(Word { term, fields }) = node else {
            return None;
        };
        let word = *numbered.of(term).first()?;
        (term.form == Form::Whole).then_some(PlacedWord {
            word,
            fields: fields.0,
            place: term.place,
        })
    }
}

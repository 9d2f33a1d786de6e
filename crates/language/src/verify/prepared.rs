//! A tree with its terms by number: the form that documents are compared with.

use super::document::Document;
use super::terms::Terms;
use crate::reference::Span;
use crate::tree::{FieldPlace, FieldSet, Form, Node, Term, Unit, Word};

/// A node, and the places that it takes in the text of its query.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(super) kind: Kind,
    /// [`Node::places`].
    pub(super) places: u32,
}

/// What a node is; see [`Node`].
#[derive(Debug)]
pub(super) enum Kind {
    All,
    Word(Standing),
    Repeated(Standing, u32),
    Phrase(Vec<(Standing, u32)>),
    Proximity(Proximity),
    AtLeast(Vec<Prepared>, u32),
    And(Vec<Prepared>),
    Order(Vec<Prepared>),
    Near(Near),
    /// Left, right, distance.
    NotNear(Box<Prepared>, Box<Prepared>, u32),
    Together(Unit, Vec<Prepared>),
    Maybe(Box<Prepared>, Box<Prepared>),
    Not(Box<Prepared>),
}

/// `left NEAR/distance right`.
#[derive(Debug)]
pub(super) struct Near {
    pub(super) left: Box<Prepared>,
    pub(super) right: Box<Prepared>,
    pub(super) distance: u32,
    /// Whether a match joins at least two occurrences, so that none counts alone.
    pub(super) always_joins: bool,
}

/// Whether the operands are two words that never stand at one position: only a marked word, such as `#tag`, stands where another
/// one does.
fn stand_apart(left: &Node, right: &Node) -> bool {
    let bare = |node: &Node| {
        let Node::Word(word) = node else { return None };
        (word.term.form == Form::Whole).then(|| word.term.text.clone())
    };
    let is_marked = |text: &str| text.starts_with(['#', '@', '=']);
    match (bare(left), bare(right)) {
        (Some(left), Some(right)) => left != right && !is_marked(&left) && !is_marked(&right),
        _ => false,
    }
}

/// A term by number, and where it may stand.
#[derive(Debug)]
pub(super) struct Standing {
    pub(super) term: usize,
    pub(super) fields: FieldSet,
    pub(super) place: FieldPlace,
}

/// `"…"~slack`.
#[derive(Debug)]
pub(super) struct Proximity {
    /// The terms as the query lists them, each with its number among the distinct ones.
    pub(super) listed: Vec<(Standing, usize)>,
    /// By distinct term, index in `listed` where it comes first, and how often it comes.
    pub(super) distinct: Vec<(usize, i64)>,
    pub(super) slack: u32,
}

impl Prepared {
    /// `terms`: those of a tree that has this node.
    pub(crate) fn new(node: &Node, terms: &Terms) -> Prepared {
        let all = |parts: &[Node]| {
            parts
                .iter()
                .map(|part| Prepared::new(part, terms))
                .collect()
        };
        let one = |part: &Node| Box::new(Prepared::new(part, terms));
        let standing = |term: &Term, fields: FieldSet| Standing::new(term, fields, terms);
        let word = |word: &Word| standing(&word.term, word.fields);
        let kind = match node {
            Node::All => Kind::All,
            Node::Word(asked) => Kind::Word(word(asked)),
            Node::Repeated { word: asked, times } => Kind::Repeated(word(asked), *times),
            Node::Phrase { words, fields } => {
                let each = words.iter();
                let each = each.map(|(term, distance)| (standing(term, *fields), *distance));
                Kind::Phrase(each.collect())
            }
            Node::Proximity {
                terms: listed,
                fields,
                slack,
            } => Kind::Proximity(Proximity::new(listed, *fields, *slack, terms)),
            Node::Quorum { parts, least } => Kind::AtLeast(all(parts), *least),
            Node::Or(parts) => Kind::AtLeast(all(parts), 1),
            Node::And(parts) => Kind::And(all(parts)),
            Node::Order(parts) => Kind::Order(all(parts)),
            Node::Near {
                left,
                right,
                distance,
            } => Kind::Near(Near {
                left: one(left),
                right: one(right),
                distance: *distance,
                always_joins: stand_apart(left, right),
            }),
            Node::NotNear {
                left,
                right,
                distance,
            } => Kind::NotNear(one(left), one(right), *distance),
            Node::Together { unit, parts } => Kind::Together(*unit, all(parts)),
            Node::Maybe(left, right) => Kind::Maybe(one(left), one(right)),
            Node::Not(part) => Kind::Not(one(part)),
        };
        Prepared {
            kind,
            places: node.places(),
        }
    }
}

impl Standing {
    pub(super) fn new(term: &Term, fields: FieldSet, terms: &Terms) -> Standing {
        Standing {
            // Each term of the tree has a number; another would stand nowhere.
            term: terms.number(term).unwrap_or(usize::MAX),
            fields,
            place: term.place,
        }
    }

    /// Whether the term may stand anywhere.
    pub(super) fn is_free(&self) -> bool {
        self.fields == FieldSet::ALL && self.place == FieldPlace::default()
    }
}

impl Standing {
    /// Whether the term may stand at a place.
    pub(super) fn holds(&self, span: &Span, document: &impl Document) -> bool {
        let place = self.place;
        self.fields.holds(span.field)
            && (!place.first || span.start == 1)
            && (!place.last || document.last(span.field) == Some(span.start))
            && (place.within == 0 || span.start <= place.within)
    }
}

impl Proximity {
    fn new(listed: &[Term], fields: FieldSet, slack: u32, terms: &Terms) -> Proximity {
        let mut proximity = Proximity {
            listed: Vec::with_capacity(listed.len()),
            distinct: Vec::new(),
            slack,
        };
        let mut numbers = rustc_hash::FxHashMap::default();
        for (at, term) in listed.iter().enumerate() {
            let next = proximity.distinct.len();
            let number = *numbers.entry(term).or_insert(next);
            match proximity.distinct.get_mut(number) {
                Some((_, times)) => *times += 1,
                None => proximity.distinct.push((at, 1)),
            }
            let standing = Standing::new(term, fields, terms);
            proximity.listed.push((standing, number));
        }
        proximity
    }
}

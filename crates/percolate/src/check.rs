//! What the words of an entry alone cannot decide: phrases, inner alternatives, negations of more than a word.
//!
//! A check runs on the documents that survived the entry's words, and gives back those that stay.

use query::{
    analysis::Words,
    reference,
    tree::{FieldSet, Node, Term},
};

use crate::dictionary::TermId;

/// A tree over masks.
#[derive(Clone, Debug)]
pub(crate) enum Check {
    /// Documents that hold the term.
    Term(TermId),
    /// Documents where the words stand at their distances, in one field.
    Phrase {
        words: Box<[(Term, u32)]>,
        fields: FieldSet,
    },
    /// Documents that satisfy each; every document if empty.
    All(Box<[Check]>),
    /// Documents that satisfy at least one.
    Any(Box<[Check]>),
    /// Documents that match a node that has no faster check.
    Slow(Box<Node>),
    /// Documents that do not satisfy it.
    Not(Box<Check>),
}

/// The documents a check is run on.
#[derive(Clone, Copy)]
pub(crate) struct Slice<'a> {
    /// By term: which documents hold it.
    pub(crate) masks: &'a [u64],
    /// At most 64.
    pub(crate) documents: &'a [Words],
}

impl Slice<'_> {
    /// Which documents hold a term.
    #[inline]
    pub(crate) fn mask(&self, term: TermId) -> u64 {
        self.masks.get(term as usize).copied().unwrap_or(0)
    }
}

impl Check {
    /// The same question as a part of a query, its words numbered by `intern`.
    pub(crate) fn of(node: &Node, intern: &mut impl FnMut(&query::tree::Word) -> TermId) -> Check {
        match node {
            Node::All => Check::All(Box::default()),
            Node::Word(word) if word.term.is_plain() => Check::Term(intern(word)),
            Node::Phrase { words, fields } if words.iter().all(|(term, _)| term.is_plain()) => {
                Check::Phrase {
                    words: words.clone().into(),
                    fields: *fields,
                }
            }
            Node::And(parts) => Check::All(parts.iter().map(|p| Check::of(p, intern)).collect()),
            Node::Or(parts) => Check::Any(parts.iter().map(|p| Check::of(p, intern)).collect()),
            Node::Not(part) => Check::Not(Box::new(Check::of(part, intern))),
            node => Check::Slow(Box::new(node.clone())),
        }
    }

    /// Gives its terms new numbers.
    pub(crate) fn renumber(&mut self, number: &mut dyn FnMut(TermId) -> TermId) {
        match self {
            Check::Term(term) => *term = number(*term),
            Check::All(parts) | Check::Any(parts) => {
                parts.iter_mut().for_each(|part| part.renumber(number));
            }
            Check::Not(part) => part.renumber(number),
            Check::Phrase { .. } | Check::Slow(_) => {}
        }
    }

    /// Those of the documents `among` that satisfy the check.
    pub(crate) fn run(&self, among: u64, slice: Slice<'_>) -> u64 {
        match self {
            Check::Term(term) => among & slice.mask(*term),
            Check::Phrase { words, fields } => keep(among, |document| {
                holds_phrase(&slice.documents[document], words, *fields)
            }),
            Check::Slow(node) => keep(among, |document| {
                reference::matches(node, &slice.documents[document])
            }),
            Check::All(parts) => parts.iter().fold(among, |left, part| match left {
                0 => 0,
                left => part.run(left, slice),
            }),
            Check::Any(parts) => parts.iter().fold(0, |found, part| match among & !found {
                0 => found,
                open => found | part.run(open, slice),
            }),
            Check::Not(part) => among & !part.run(among, slice),
        }
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

/// Whether the words stand at their distances in one of the fields. One pass over the document for each word; each
/// pass keeps the places where the phrase can still begin.
fn holds_phrase(document: &Words, words: &[(Term, u32)], fields: FieldSet) -> bool {
    let Some(((first, _), rest)) = words.split_first() else {
        return false;
    };
    let mut starts: Vec<u64> = places(document, &first.text, fields).collect();
    for (word, distance) in rest {
        let mut found = places(document, &word.text, fields).peekable();
        starts.retain(|start| {
            let wanted = start + u64::from(*distance);
            while found.next_if(|place| *place < wanted).is_some() {}
            found.peek() == Some(&wanted)
        });
    }
    !starts.is_empty()
}

/// Where a word stands in the fields, ascending: the field's number above the position.
fn places<'a>(
    document: &'a Words,
    wanted: &'a str,
    fields: FieldSet,
) -> impl Iterator<Item = u64> + 'a {
    document.iter().filter_map(move |(word, field, position)| {
        let place = u64::from(field) << 32 | u64::from(position);
        (word == wanted && fields.holds(field)).then_some(place)
    })
}

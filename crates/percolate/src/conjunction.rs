//! A query's tree as conjunctions, any of which is enough, each filed under words that it needs.

mod cover;
mod simple;

use query::tree::{Form, Node, Place, Term, Word};

use crate::{
    check::{
        Check,
        assemble::{Assembler, anywhere, as_term, chained},
    },
    limits::{EXPANSION_MAX, INLINE_TERMS},
    term::{TermId, Terms},
};
use cover::cover;

/// What must be there, what must not, and what is left to check on the documents that survive.
#[derive(Clone, Debug, Default)]
struct Parts<'q> {
    /// Words that may stand anywhere in their fields.
    positive: Vec<&'q Word>,
    /// What asks where words stand.
    placed: Vec<&'q Node>,
    /// `Or`s that were not expanded, and quorums.
    inner: Vec<&'q Node>,
    negative: Vec<&'q Node>,
}

/// One conjunction, compiled.
#[derive(Clone, Debug)]
pub(crate) struct Conjunction {
    /// Terms that all must be there, cheapest first.
    pub(crate) positive: Vec<TermId>,
    /// Terms that must not be there.
    pub(crate) negative: Vec<TermId>,
    /// The rest.
    pub(crate) check: Option<Check>,
    /// Terms to file it under: a document that satisfies it holds at least one of them. Empty: every document
    /// must be tried.
    pub(crate) anchors: Vec<TermId>,
    /// The anchors come from an inner `Or`, not from `positive`.
    pub(crate) covered: bool,
}

/// Compiles a query.
pub(crate) fn compile(root: &Node, terms: &mut impl Terms) -> Vec<Conjunction> {
    alternatives(&simple::of(root))
        .into_iter()
        .map(|parts| conjunction(&parts, terms))
        .collect()
}

/// The tree as an `Or` of conjunctions.
fn alternatives(node: &Node) -> Vec<Parts<'_>> {
    match node {
        Node::Or(parts) => parts.iter().flat_map(alternatives).collect(),
        Node::And(parts) => parts.iter().fold(vec![Parts::default()], conjoin),
        single => vec![Parts::default().with(single)],
    }
}

/// Each of the conjunctions with one more part.
fn conjoin<'q>(conjunctions: Vec<Parts<'q>>, part: &'q Node) -> Vec<Parts<'q>> {
    match part {
        Node::And(parts) => parts.iter().fold(conjunctions, conjoin),
        Node::Or(parts) if conjunctions.len() * parts.len() <= EXPANSION_MAX => {
            let each = |left: &Parts<'q>| {
                parts
                    .iter()
                    .flat_map(|part| conjoin(vec![left.clone()], part))
                    .collect::<Vec<_>>()
            };
            conjunctions.iter().flat_map(each).collect()
        }
        part => conjunctions
            .into_iter()
            .map(|left| left.with(part))
            .collect(),
    }
}

impl<'q> Parts<'q> {
    fn with(mut self, part: &'q Node) -> Parts<'q> {
        match part {
            Node::All => {}
            Node::Word(word) if word.term.place == Place::default() => self.positive.push(word),
            Node::Not(inner) => self.without(inner),
            Node::Or(_) | Node::Quorum { .. } => self.inner.push(part),
            part => self.placed.push(part),
        }
        self
    }

    /// Not (a or b) is not a and not b.
    fn without(&mut self, part: &'q Node) {
        match part {
            Node::Or(parts) => parts.iter().for_each(|part| self.without(part)),
            part => self.negative.push(part),
        }
    }
}

fn conjunction(parts: &Parts<'_>, terms: &mut impl Terms) -> Conjunction {
    let words = parts.positive.iter();
    let mut positive: Vec<TermId> = words.map(|word| terms.intern(word)).collect();
    // What needs no positions of what does: more words, and further alternatives that narrow down where to look.
    let mut incomplete: Vec<&Node> = Vec::new();
    let mut narrowing: Vec<Node> = Vec::new();
    for node in &parts.placed {
        if !require(node, terms, &mut positive, &mut narrowing) {
            incomplete.push(node);
        }
    }
    positive.sort_unstable_by_key(|term| (terms.cost(*term), *term));
    positive.dedup();
    let inner: Vec<&Node> = parts.inner.iter().copied().chain(&narrowing).collect();
    let (anchors, covered) = anchors(&positive, &inner, terms);
    let (words, others): (Vec<&Node>, Vec<&Node>) = parts
        .negative
        .iter()
        .partition(|node| as_term(node).is_some());
    let words = words.into_iter().filter_map(as_term);
    let mut negative: Vec<TermId> = words.map(|word| terms.intern(word)).collect();
    negative.sort_unstable_by_key(|term| (std::cmp::Reverse(terms.cost(*term)), *term));
    negative.dedup();
    let is_checked = !(inner.is_empty() && others.is_empty() && incomplete.is_empty());
    let (further, refused) = fit(&mut positive, &mut negative, is_checked);
    let mut check = Assembler::new(terms);
    check.hold(&further);
    check.lack(&refused);
    let (boolean, placed): (Vec<&Node>, Vec<&Node>) =
        inner.into_iter().partition(|node| node.is_boolean());
    boolean.into_iter().for_each(|node| check.node(node));
    let (boolean_not, placed_not): (Vec<&Node>, Vec<&Node>) =
        others.into_iter().partition(|node| node.is_boolean());
    boolean_not.into_iter().for_each(|node| check.absent(node));
    incomplete.into_iter().for_each(|node| check.places(node));
    placed.into_iter().for_each(|node| check.node(node));
    placed_not.into_iter().for_each(|node| check.absent(node));
    Conjunction {
        check: check.finish(),
        positive,
        negative,
        anchors,
        covered,
    }
}

/// Adds the terms that every document holds which a node on places matches, and what else narrows it down; whether the
/// terms are all that it asks.
fn require(
    node: &Node,
    terms: &mut impl Terms,
    positive: &mut Vec<TermId>,
    narrowing: &mut Vec<Node>,
) -> bool {
    if let Node::Phrase { words, fields } = node {
        if let Some(words) = chained(words) {
            positive.push(terms.phrase(&words, *fields));
            return true;
        }
        let mut word = |(term, _): &(Term, u32)| {
            let word = Word {
                term: term.clone(),
                fields: *fields,
            };
            terms.intern(&anywhere(&word))
        };
        let numbers: Vec<TermId> = words.iter().map(&mut word).collect();
        let is_neighbours = |at: &usize| match &words[*at..*at + 2] {
            [left, right] => {
                left.0.form == Form::Whole && right.0.form == Form::Whole && right.1 == left.1 + 1
            }
            _ => false,
        };
        let rarity = |at: &usize| {
            let costs = (terms.cost(numbers[*at]), terms.cost(numbers[*at + 1]));
            (costs.0.min(costs.1), costs.0.max(costs.1))
        };
        let pairs = 0..words.len().saturating_sub(1);
        let Some(rarest) = pairs.filter(is_neighbours).min_by_key(rarity) else {
            positive.extend(numbers);
            return false;
        };
        let (left, right) = (&words[rarest], &words[rarest + 1]);
        positive.push(terms.phrase(&[&left.0.text, &right.0.text], *fields));
        positive.extend(&numbers[..rarest]);
        positive.extend(&numbers[rarest + 2..]);
        return false;
    }
    let necessary = match node.necessary() {
        Node::And(parts) => parts,
        part => vec![part],
    };
    for part in necessary {
        match part {
            Node::All => {}
            Node::Word(word) => positive.push(terms.intern(&word)),
            part => narrowing.push(part),
        }
    }
    false
}

/// The cheapest choice of terms of which any satisfying document holds one, and whether it is an inner node's.
fn anchors(positive: &[TermId], inner: &[&Node], terms: &mut impl Terms) -> (Vec<TermId>, bool) {
    let single = positive
        .first()
        .map(|term| (terms.cost(*term), vec![*term]));
    let covers: Vec<_> = inner.iter().filter_map(|node| cover(node, terms)).collect();
    let best = covers.into_iter().min_by_key(|(cost, _)| *cost);
    match (single, best) {
        (Some((cost, _)), Some((cover_cost, cover))) if cover_cost < cost => (cover, true),
        (Some((_, term)), _) => (term, false),
        (None, Some((_, cover))) => (cover, true),
        (None, None) => (Vec::new(), false),
    }
}

/// Leaves as many terms as an entry has room for and gives the others to the check. The cheapest positive terms and the
/// commonest negative ones stay: those decide most.
fn fit(
    positive: &mut Vec<TermId>,
    negative: &mut Vec<TermId>,
    is_checked: bool,
) -> (Vec<TermId>, Vec<TermId>) {
    if !is_checked && positive.len() + negative.len() <= INLINE_TERMS {
        return (Vec::new(), Vec::new());
    }
    let room = INLINE_TERMS - 1; // the last place names the check
    let further = positive.split_off(positive.len().min(room));
    let refused = negative.split_off(negative.len().min(room - positive.len()));
    (further, refused)
}

#[cfg(test)]
mod tests;

//! The compiler of queries: from a tree to conjunctions, any of which is enough.
//!
//! Example: `gulf (storm | flood) -"cold front"`, where filing costs are gulf 10, storm 40 and flood 5.
//!
//! ```text
//! conjunction  positive       negative  check              anchors
//! 1            gulf, storm              not (cold front)   gulf
//! 2            flood, gulf              not (cold front)   flood
//! ```
//!
//! The inner `Or` has two parts, and 1 · 2 conjunctions are at most [`EXPANSION_MAX`], so it is expanded. The phrase
//! is a term, but only single words become negative terms; a check excludes it. With nine alternatives the `Or` would
//! stay in the check, and the conjunction would be filed under the cheaper of `gulf` and all nine.
//!
//! Invariants:
//! - A document that matches the query satisfies a conjunction, and a document that satisfies one matches the query.
//! - A document that satisfies a conjunction holds at least one of its anchors. Without anchors every document is
//!   tried.
//! - `positive` is sorted by cost, and an uncovered conjunction's only anchor is the first.

mod cover;
mod simple;

use cover::cover;
use language::tree::{FieldPlace, Form, Node, Term, Word};

use crate::{
    check::{
        Check,
        assemble::{Assembler, anywhere, as_term, chained},
    },
    limits::{EXPANSION_MAX, INLINE_TERMS},
    term::{TermId, Terms},
};

/// The parts of one conjunction: required, excluded, and left to a check.
#[derive(Clone, Debug, Default)]
struct Parts<'q> {
    /// Required words that may stand anywhere in their fields.
    positive: Vec<&'q Word>,
    /// Required nodes that ask where words stand.
    placed: Vec<&'q Node>,
    /// Required `Or`s that were not expanded, and quorums.
    inner: Vec<&'q Node>,
    negative: Vec<&'q Node>,
}

/// A compiled conjunction.
#[derive(Clone, Debug)]
pub(crate) struct Conjunction {
    /// Required terms, cheapest first.
    pub(crate) positive: Vec<TermId>,
    /// Excluded terms, costliest first.
    pub(crate) negative: Vec<TermId>,
    /// The part that masks of single terms cannot decide, if there is one.
    pub(crate) check: Option<Check>,
    /// The terms that it is filed under. Empty: every document is tried.
    pub(crate) anchors: Vec<TermId>,
    /// Whether the anchors are those of an inner `Or`, not the first of `positive`.
    pub(crate) covered: bool,
}

/// Compiles a query's tree. Numbers its words, phrases and patterns.
pub(crate) fn compile(root: &Node, terms: &mut impl Terms) -> Vec<Conjunction> {
    alternatives(&simple::of(root))
        .into_iter()
        .map(|parts| conjunction(&parts, terms))
        .collect()
}

/// The tree as alternatives, each a conjunction of parts.
fn alternatives(node: &Node) -> Vec<Parts<'_>> {
    if let Node::Or(parts) = node {
        return parts.iter().flat_map(alternatives).collect();
    }
    conjoin(vec![Parts::default()], node)
}

/// Adds a part to each conjunction. An `Or` multiplies them, up to [`EXPANSION_MAX`].
fn conjoin<'q>(conjunctions: Vec<Parts<'q>>, part: &'q Node) -> Vec<Parts<'q>> {
    if let Node::And(parts) = part {
        return parts.iter().fold(conjunctions, conjoin);
    }
    if let Node::Or(parts) = part
        && conjunctions.len() * parts.len() <= EXPANSION_MAX
    {
        let each = |left: &Parts<'q>| {
            parts
                .iter()
                .flat_map(|part| conjoin(vec![left.clone()], part))
                .collect::<Vec<_>>()
        };
        return conjunctions.iter().flat_map(each).collect();
    }
    conjunctions
        .into_iter()
        .map(|left| left.with(part))
        .collect()
}

impl<'q> Parts<'q> {
    fn with(mut self, part: &'q Node) -> Parts<'q> {
        match part {
            Node::All => {}
            Node::Word(word) if word.term.place == FieldPlace::default() => {
                self.positive.push(word)
            }
            Node::Not(inner) => self.without(inner),
            Node::Or(_) | Node::Quorum { .. } => self.inner.push(part),
            Node::Word(_)
            | Node::Repeated { .. }
            | Node::Phrase { .. }
            | Node::Proximity { .. }
            | Node::Order(_)
            | Node::And(_)
            | Node::Near { .. }
            | Node::NotNear { .. }
            | Node::Together { .. }
            | Node::Maybe(..) => self.placed.push(part),
        }
        self
    }

    /// Adds an excluded part: `NOT (a OR b)` is `NOT a` and `NOT b`.
    fn without(&mut self, part: &'q Node) {
        if let Node::Or(parts) = part {
            parts.iter().for_each(|part| self.without(part));
        } else {
            self.negative.push(part);
        }
    }
}

fn conjunction(parts: &Parts<'_>, terms: &mut impl Terms) -> Conjunction {
    let words = parts.positive.iter();
    let mut positive: Vec<TermId> = words.map(|word| terms.intern(word)).collect();
    // The terms and alternatives that nodes on places imply: they need no positions, and narrow down the documents.
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

/// Adds the terms that a node on places requires to `positive`, and the alternatives that it implies to `narrowing`.
/// Returns whether the terms say all that the node says.
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
    for part in node.necessary().into_all() {
        if let Node::Word(word) = part {
            positive.push(terms.intern(&word));
        } else if part != Node::All {
            narrowing.push(part);
        }
    }
    false
}

/// The cheapest anchors of a conjunction, and whether they are an inner node's.
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

/// Moves the terms for which an entry has no room into the check; returns them. The cheapest required and the
/// costliest excluded terms stay, because they decide most documents.
fn fit(
    positive: &mut Vec<TermId>,
    negative: &mut Vec<TermId>,
    is_checked: bool,
) -> (Vec<TermId>, Vec<TermId>) {
    if !is_checked && positive.len() + negative.len() <= INLINE_TERMS {
        return (Vec::new(), Vec::new());
    }
    let room = INLINE_TERMS - 1; // a checked conjunction leaves one place free
    let further = positive.split_off(positive.len().min(room));
    let refused = negative.split_off(negative.len().min(room - positive.len()));
    (further, refused)
}

#[cfg(test)]
mod tests;

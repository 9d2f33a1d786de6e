//! A query's tree as conjunctions, any of which is enough, each filed under words that it needs.

use query::tree::{Form, Node, Term, Word};

use crate::{
    check::Check,
    dictionary::TermId,
    limits::{EXPANSION_MAX, INLINE_TERMS},
};

/// Words that must be there, words that must not, and what is left to check on the documents that survive.
#[derive(Clone, Debug, Default)]
struct Parts<'q> {
    positive: Vec<&'q Word>,
    phrases: Vec<&'q Node>,
    /// `Or`s that were not expanded. One of each one's words must be there.
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

/// What compiling needs from the writer.
pub(crate) trait Terms {
    /// Numbers a word that an entry names.
    fn intern(&mut self, word: &Word) -> TermId;
    /// Cost of filing under a term.
    fn cost(&self, term: TermId) -> u64;
}

/// Compiles a query.
pub(crate) fn compile(root: &Node, terms: &mut impl Terms) -> Vec<Conjunction> {
    alternatives(root)
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
            Node::Word(word) if word.term.is_plain() => self.positive.push(word),
            Node::Phrase { words, .. } if words.iter().all(|(term, _)| term.is_plain()) => {
                self.phrases.push(part);
            }
            Node::Not(inner) => self.without(inner),
            part => self.inner.push(part),
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
    let mut positive: Vec<TermId> = parts
        .positive
        .iter()
        .map(|word| terms.intern(word))
        .collect();
    for phrase in &parts.phrases {
        positive.extend(phrase_terms(phrase, terms));
    }
    positive.sort_unstable_by_key(|term| (terms.cost(*term), *term));
    positive.dedup();
    let (anchors, covered) = anchors(&positive, &parts.inner, terms);
    let mut check_of = |node: &Node| Check::of(node, &mut |word| terms.intern(word));
    let mut checks: Vec<Check> = parts.inner.iter().map(|node| check_of(node)).collect();
    checks.extend(parts.phrases.iter().map(|node| check_of(node)));
    let (words, others): (Vec<&Node>, Vec<&Node>) = parts
        .negative
        .iter()
        .partition(|node| matches!(node, Node::Word(word) if word.term.is_plain()));
    checks.extend(
        others
            .into_iter()
            .map(|node| Check::Not(Box::new(check_of(node)))),
    );
    let word_term = |node: &Node| match node {
        Node::Word(word) => Some(terms.intern(word)),
        _ => None,
    };
    let mut negative: Vec<TermId> = words.into_iter().filter_map(word_term).collect();
    negative.sort_unstable_by_key(|term| (std::cmp::Reverse(terms.cost(*term)), *term));
    negative.dedup();
    let check = fit(&mut positive, &mut negative, checks);
    Conjunction {
        positive,
        negative,
        check,
        anchors,
        covered,
    }
}

/// The words of a phrase, each of which must be there.
fn phrase_terms(phrase: &Node, terms: &mut impl Terms) -> Vec<TermId> {
    let Node::Phrase { words, fields } = phrase else {
        return Vec::new();
    };
    let word = |(term, _): &(Term, u32)| Word {
        term: term.clone(),
        fields: *fields,
    };
    words.iter().map(|each| terms.intern(&word(each))).collect()
}

/// The cheapest choice of terms of which any satisfying document holds one, and whether it is an inner `Or`'s.
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

/// Terms of which every document that satisfies the node holds one, with their cost; none if there are no such.
fn cover(node: &Node, terms: &mut impl Terms) -> Option<(u64, Vec<TermId>)> {
    let cheapest =
        |covers: Vec<(u64, Vec<TermId>)>| covers.into_iter().min_by_key(|(cost, _)| *cost);
    match node {
        Node::All | Node::Not(_) | Node::Quorum { .. } => None,
        Node::Word(word) if word.term.form != Form::Whole => None,
        Node::Word(word) if word.term.is_plain() => {
            let term = terms.intern(word);
            Some((terms.cost(term), vec![term]))
        }
        Node::Phrase { words, .. } if words.iter().all(|(term, _)| term.is_plain()) => {
            let words = phrase_terms(node, terms);
            cheapest(
                words
                    .into_iter()
                    .map(|term| (terms.cost(term), vec![term]))
                    .collect(),
            )
        }
        Node::And(parts) => cheapest(parts.iter().filter_map(|part| cover(part, terms)).collect()),
        Node::Or(parts) => {
            let mut all = Vec::new();
            for part in parts {
                all.extend(cover(part, terms)?.1);
            }
            all.sort_unstable();
            all.dedup();
            Some((
                all.iter()
                    .fold(0, |sum, term| sum.saturating_add(terms.cost(*term))),
                all,
            ))
        }
        node => cover(&node.necessary(), terms),
    }
}

/// Leaves as many terms as an entry has room for and moves the others into the check. The cheapest positive terms
/// and the commonest negative ones stay: those decide most.
fn fit(
    positive: &mut Vec<TermId>,
    negative: &mut Vec<TermId>,
    checks: Vec<Check>,
) -> Option<Check> {
    if checks.is_empty() && positive.len() + negative.len() <= INLINE_TERMS {
        return None;
    }
    let room = INLINE_TERMS - 1; // the last place names the check
    let kept_positive = positive.len().min(room);
    let kept_negative = negative.len().min(room - kept_positive);
    let further = positive.drain(kept_positive..).map(Check::Term);
    let refused = negative
        .drain(kept_negative..)
        .map(|term| Check::Not(Box::new(Check::Term(term))));
    Some(Check::All(further.chain(refused).chain(checks).collect()))
}

#[cfg(test)]
mod tests;

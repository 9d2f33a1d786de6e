//! Covers: terms of which every document that satisfies a node holds at least one.
//!
//! Example: the quorum `"storm gulf flood"/2` with costs 40, 10 and 5. A document that holds two of three words lacks
//! at most one, so any two words cover the quorum. The cheapest two are `flood` and `gulf`, at cost 15.

use language::tree::{Node, Word};

use crate::{
    limits::COVER_TERMS_MAX,
    term::{TermId, Terms},
};

/// The cheapest cover found and its filing cost. `None` if the node has no cover, or none of at most
/// [`COVER_TERMS_MAX`] terms.
pub(super) fn cover(node: &Node, terms: &mut impl Terms) -> Option<(u64, Vec<TermId>)> {
    let mut all = Vec::new();
    let cost = match node {
        Node::All | Node::Not(_) => return None,
        Node::Word(word) if word.term.place == Default::default() => single(word, terms, &mut all),
        Node::And(parts) => {
            let covers: Vec<_> = parts.iter().filter_map(|part| cover(part, terms)).collect();
            return covers.into_iter().min_by_key(|(cost, _)| *cost);
        }
        Node::Or(parts) => {
            for part in parts {
                all.extend(cover(part, terms)?.1);
                if all.len() > COVER_TERMS_MAX {
                    return None;
                }
            }
            sum(&mut all, terms)
        }
        Node::Quorum { parts, least } => {
            // A match lacks at most `parts - least` parts, so it holds one of any `wanted` parts.
            let wanted = (parts.len() + 1).checked_sub(*least as usize)?;
            let mut covers: Vec<_> = parts.iter().filter_map(|part| cover(part, terms)).collect();
            covers.sort_by_key(|(cost, _)| *cost);
            if covers.len() < wanted {
                return None;
            }
            covers.truncate(wanted);
            all = covers.into_iter().flat_map(|(_, cover)| cover).collect();
            sum(&mut all, terms)
        }
        Node::Word(_)
        | Node::Repeated { .. }
        | Node::Phrase { .. }
        | Node::Proximity { .. }
        | Node::Order(_)
        | Node::Near { .. }
        | Node::NotNear { .. }
        | Node::Together { .. }
        | Node::Maybe(..) => return cover(&node.necessary(), terms),
    };
    (all.len() <= COVER_TERMS_MAX).then_some((cost, all))
}

fn single(word: &Word, terms: &mut impl Terms, all: &mut Vec<TermId>) -> u64 {
    let term = terms.intern(word);
    all.push(term);
    terms.cost(term)
}

/// Sorts the terms, drops repeated ones, and returns their total cost.
fn sum(all: &mut Vec<TermId>, terms: &impl Terms) -> u64 {
    all.sort_unstable();
    all.dedup();
    let costs = all.iter().map(|term| terms.cost(*term));
    costs.fold(0, u64::saturating_add)
}

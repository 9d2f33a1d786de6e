//! Trees that places decide: those of NEAR, `<<`, `~N` and the other operators on positions, and of words at fixed places.

use query::tree::Node;
use query::verify::Verifier;

use super::numbered::{Numbered, TermWords};

/// A tree, or a part of it, that the places of its words decide.
pub(in super::super) struct Placed {
    pub(in super::super) verifier: Verifier,
    /// By number of the term in the verifier: the words of the plan that it stands for.
    pub(in super::super) terms: Vec<TermWords>,
    /// By number of the term: how often the tree has it.
    pub(in super::super) times: Vec<i64>,
    /// Whether it asks where a field, a sentence or a paragraph ends.
    pub(in super::super) asks_ends: bool,
}

impl Placed {
    pub(super) fn new(node: &Node, numbered: &Numbered) -> Placed {
        let verifier = Verifier::new(node);
        let terms = verifier.terms().iter();
        let terms = terms.map(|term| numbered.of(term)).collect();
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
            verifier,
            terms,
            times,
            asks_ends: node.asks_ends(),
        }
    }
}

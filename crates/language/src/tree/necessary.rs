//! The necessary part of a query: conditions without positions that every matching document satisfies. They narrow
//! down where to look.
//!
//! Example: `("gulf storm" NEAR/5 coast) -"cold front"` needs `And [ gulf, storm, coast ]`. The excluded phrase asks
//! for positions, so it is left out: documents with both of its words may still match.

use super::{FieldPlace, Node, Term, Word};

impl Node {
    /// A tree that every document matches which matches this one. It consists of `All`, `Word`, `And`, `Or`, `Quorum`
    /// and `Not`, and its terms may stand anywhere in their fields. Terms keep their form.
    #[must_use]
    pub fn necessary(&self) -> Node {
        self.narrowed(false)
    }

    /// As [`Node::necessary`], with the parts that only add to weights: right sides of MAYBE, and parts beside one
    /// that every document matches.
    #[must_use]
    pub fn necessary_and_welcome(&self) -> Node {
        self.narrowed(true)
    }

    fn narrowed(&self, welcome: bool) -> Node {
        let words = |terms: &mut dyn Iterator<Item = &Term>, fields| {
            let word = |term: &Term| {
                let term = Term {
                    place: FieldPlace::default(),
                    ..term.clone()
                };
                Node::Word(Word { term, fields })
            };
            all_of(terms.map(word).collect())
        };
        let narrowed = |part: &Node| part.narrowed(welcome);
        match self {
            Node::All => Node::All,
            Node::Word(word) | Node::Repeated { word, .. } => {
                words(&mut [&word.term].into_iter(), word.fields)
            }
            Node::Phrase {
                words: terms,
                fields,
            } => words(&mut terms.iter().map(|(term, _)| term), *fields),
            Node::Proximity { terms, fields, .. } => words(&mut terms.iter(), *fields),
            Node::Quorum { parts, least } => quorum(parts, *least, welcome),
            Node::Order(parts) | Node::Together { parts, .. } | Node::And(parts) => {
                all_of(parts.iter().map(narrowed).collect())
            }
            Node::Near { left, right, .. } => all_of(vec![narrowed(left), narrowed(right)]),
            Node::Maybe(left, right) if welcome => {
                Node::Maybe(Box::new(narrowed(left)), Box::new(narrowed(right)))
            }
            Node::NotNear { left, .. } | Node::Maybe(left, _) => narrowed(left),
            Node::Or(parts) => any_of(parts.iter().map(narrowed).collect(), welcome),
            Node::Not(part) if part.is_boolean() => Node::Not(Box::new(part.necessary())),
            Node::Not(_) => Node::All,
        }
    }

    /// Whether [`Node::necessary`] says all that the tree says, because no position matters.
    #[must_use]
    pub fn is_boolean(&self) -> bool {
        match self {
            Node::All => true,
            Node::Word(word) => word.term.place == FieldPlace::default(),
            Node::Quorum { parts, .. } | Node::And(parts) | Node::Or(parts) => {
                parts.iter().all(Node::is_boolean)
            }
            Node::Not(part) | Node::Maybe(part, _) => part.is_boolean(),
            Node::Repeated { .. }
            | Node::Phrase { .. }
            | Node::Proximity { .. }
            | Node::Order(_)
            | Node::Near { .. }
            | Node::NotNear { .. }
            | Node::Together { .. } => false,
        }
    }
}

/// A quorum. A part that every document matches is always there: the others need one less.
fn quorum(parts: &[Node], least: u32, welcome: bool) -> Node {
    let asked = parts.len();
    let parts = parts.iter().map(|part| part.narrowed(welcome));
    let parts: Vec<Node> = parts.filter(|part| *part != Node::All).collect();
    let least = (least as usize).saturating_sub(asked - parts.len());
    match least {
        0 => all_beside(parts, welcome),
        least if least >= parts.len() => all_of(parts),
        1 => any_of(parts, welcome),
        least => Node::Quorum {
            parts,
            least: least as u32,
        },
    }
}

/// All of some parts: flat, and without `All`.
fn all_of(parts: Vec<Node>) -> Node {
    let mut kept = Vec::with_capacity(parts.len());
    for part in parts {
        if part != Node::All {
            kept.extend(part.into_all());
        }
    }
    let excludes = matches!(kept[..], [Node::Not(_)]);
    match kept.len() {
        0 => Node::All,
        1 if !excludes => kept.remove(0),
        _ => Node::And(kept),
    }
}

fn any_of(mut parts: Vec<Node>, welcome: bool) -> Node {
    if parts.contains(&Node::All) {
        parts.retain(|part| *part != Node::All);
        return all_beside(parts, welcome);
    }
    let mut kept = Vec::with_capacity(parts.len());
    for part in parts {
        kept.extend(part.into_any());
    }
    match kept.len() {
        1 => kept.remove(0),
        _ => Node::Or(kept),
    }
}

/// Every document; with `welcome` the parts add to weights.
fn all_beside(parts: Vec<Node>, welcome: bool) -> Node {
    match welcome && !parts.is_empty() {
        true => Node::Maybe(Box::new(Node::All), Box::new(any_of(parts, welcome))),
        false => Node::All,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::FieldSet;

    #[test]
    fn a_negated_quorum_is_exact_though_a_part_of_it_matches_every_document() {
        let ant = Node::Word(Word {
            term: Term::whole("ant"),
            fields: FieldSet::ALL,
        });
        let quorum = |parts: &[&Node], least| Node::Quorum {
            parts: parts.iter().map(|part| (*part).clone()).collect(),
            least,
        };
        let narrowed = |node: Node| Node::Not(Box::new(node)).necessary();
        let not = |node: Node| Node::Not(Box::new(node));
        let any = Node::Or(vec![ant.clone(), ant.clone()]);
        assert_eq!(narrowed(quorum(&[&Node::All, &ant, &ant], 2)), not(any));
        assert_eq!(
            narrowed(quorum(&[&Node::All, &ant, &ant], 1)),
            not(Node::All)
        );
        let both = Node::And(vec![ant.clone(), ant.clone()]);
        assert_eq!(narrowed(quorum(&[&Node::All, &ant, &ant], 3)), not(both));
    }
}

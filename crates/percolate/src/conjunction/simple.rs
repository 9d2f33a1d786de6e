//! A tree without what makes no difference to whether a document matches.

use query::tree::Node;

/// The same question without `Maybe`, nested `And` and `Or`, and quorums that are one of these. What asks where words
/// stand is left as it is.
pub(super) fn of(node: &Node) -> Node {
    match node {
        Node::Maybe(node, _) => of(node),
        Node::And(parts) => all_of(parts),
        Node::Quorum { parts, least } if *least as usize == parts.len() => all_of(parts),
        Node::Or(parts) | Node::Quorum { parts, least: 1 } => {
            let mut kept = Vec::with_capacity(parts.len());
            for part in parts {
                match of(part) {
                    Node::All => return Node::All,
                    Node::Or(inner) => kept.extend(inner),
                    part => kept.push(part),
                }
            }
            Node::Or(kept)
        }
        Node::Quorum { parts, least } => Node::Quorum {
            parts: parts.iter().map(of).collect(),
            least: *least,
        },
        Node::Not(part) => Node::Not(Box::new(of(part))),
        node => node.clone(),
    }
}

fn all_of(parts: &[Node]) -> Node {
    let mut kept = Vec::with_capacity(parts.len());
    for part in parts {
        match of(part) {
            Node::All => {}
            Node::And(inner) => kept.extend(inner),
            part => kept.push(part),
        }
    }
    match kept.len() {
        0 => Node::All,
        _ => Node::And(kept),
    }
}

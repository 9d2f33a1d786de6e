//! Simplifies a tree without changing which documents match.

use std::borrow::Cow;

use query::tree::Node;

/// The simplified tree. Most queries are words side by side, which are borrowed as they are.
pub(super) fn of(node: &Node) -> Cow<'_, Node> {
    let is_plain = match node {
        Node::And(parts) => parts.iter().all(is_word),
        node => is_word(node),
    };
    match is_plain {
        true => Cow::Borrowed(node),
        false => Cow::Owned(simplified(node)),
    }
}

fn is_word(node: &Node) -> bool {
    match node {
        Node::Word(_) => true,
        Node::Not(part) => matches!(**part, Node::Word(_)),
        _ => false,
    }
}

/// Drops `Maybe`, nested `And` and `Or`, and quorums that are an `And` or an `Or`. Nodes on places are left alone.
fn simplified(node: &Node) -> Node {
    match node {
        Node::Maybe(node, _) => simplified(node),
        Node::And(parts) => all_of(parts),
        Node::Quorum { parts, least } if *least as usize == parts.len() => all_of(parts),
        Node::Or(parts) | Node::Quorum { parts, least: 1 } => {
            let mut kept = Vec::with_capacity(parts.len());
            for part in parts {
                match simplified(part) {
                    Node::All => return Node::All,
                    Node::Or(inner) => kept.extend(inner),
                    part => kept.push(part),
                }
            }
            Node::Or(kept)
        }
        Node::Quorum { parts, least } => Node::Quorum {
            parts: parts.iter().map(simplified).collect(),
            least: *least,
        },
        Node::Not(part) => Node::Not(Box::new(simplified(part))),
        node => node.clone(),
    }
}

fn all_of(parts: &[Node]) -> Node {
    let mut kept = Vec::with_capacity(parts.len());
    for part in parts {
        match simplified(part) {
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

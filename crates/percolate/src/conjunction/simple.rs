//! Simplifies a tree without changing which documents match.

use std::borrow::Cow;

use language::tree::Node;

/// The simplified tree. Most queries are words side by side, which are borrowed as they are.
pub(super) fn of(node: &Node) -> Cow<'_, Node> {
    let is_plain = is_word(node) || matches!(node, Node::And(parts) if parts.iter().all(is_word));
    match is_plain {
        true => Cow::Borrowed(node),
        false => Cow::Owned(simplified(node)),
    }
}

fn is_word(node: &Node) -> bool {
    let is_excluded = |part: &Node| matches!(part, Node::Word(_));
    is_excluded(node) || matches!(node, Node::Not(part) if is_excluded(part))
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
                let part = simplified(part);
                if part == Node::All {
                    return Node::All;
                }
                kept.extend(part.into_any());
            }
            Node::Or(kept)
        }
        Node::Quorum { parts, least } => Node::Quorum {
            parts: parts.iter().map(simplified).collect(),
            least: *least,
        },
        Node::Not(part) => Node::Not(Box::new(simplified(part))),
        Node::All
        | Node::Word(_)
        | Node::Repeated { .. }
        | Node::Phrase { .. }
        | Node::Proximity { .. }
        | Node::Order(_)
        | Node::Near { .. }
        | Node::NotNear { .. }
        | Node::Together { .. } => node.clone(),
    }
}

fn all_of(parts: &[Node]) -> Node {
    let mut kept = Vec::with_capacity(parts.len());
    for part in parts {
        let part = simplified(part);
        if part != Node::All {
            kept.extend(part.into_all());
        }
    }
    match kept.len() {
        0 => Node::All,
        _ => Node::And(kept),
    }
}

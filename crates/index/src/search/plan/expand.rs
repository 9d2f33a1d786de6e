//! Replaces patterns by the words of live rows that they stand for.

use query::tree::{Form, Node, Word};

use super::super::statistics::Statistics;
use super::super::terms::Terms;
use crate::error::{Error, Result};
use crate::limits::EXPANSION_MAX;

/// The tree with each pattern as an `Or` of its words, in the order of their texts: the same
/// however rows are spread over parts. A pattern of no words becomes an empty `Or`, which no row
/// matches. Errors: `TooManyWords` above [`EXPANSION_MAX`] words.
pub(super) fn expand(node: &Node, terms: &Terms<'_>, statistics: &Statistics) -> Result<Node> {
    let one = |part: &Node| expand(part, terms, statistics);
    let each = |parts: &[Node]| parts.iter().map(one).collect::<Result<Vec<Node>>>();
    let boxed = |part: &Node| one(part).map(Box::new);
    Ok(match node {
        Node::Word(Word { term, fields }) if term.form != Form::Whole => {
            let number = terms.pattern(term);
            let words = number.and_then(|number| statistics.patterns.get(number));
            let found = words.map_or(0, |words| words.len());
            if found > EXPANSION_MAX {
                let pattern = term.text.to_string();
                return Err(Error::TooManyWords { pattern, found });
            }
            let texts = words.into_iter().flat_map(|words| words.keys());
            let word = |text: &String| Node::Word(Word::whole(text.as_str(), *fields));
            Node::Or(texts.map(word).collect())
        }
        Node::Quorum { parts, least } => Node::Quorum {
            parts: each(parts)?,
            least: *least,
        },
        Node::And(parts) => Node::And(each(parts)?),
        Node::Or(parts) => Node::Or(each(parts)?),
        Node::Maybe(left, right) => Node::Maybe(boxed(left)?, boxed(right)?),
        Node::Not(part) => Node::Not(boxed(part)?),
        node => node.clone(),
    })
}

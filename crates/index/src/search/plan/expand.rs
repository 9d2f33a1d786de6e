//! Wildcards and regular expressions as the words of the table that they stand for.

use std::collections::BTreeSet;

use query::pattern::{Literal, Matcher};
use query::tree::{Form, Node, Term, Word};

use crate::error::{Error, Result};
use crate::limits::EXPANSION_MAX;
use crate::snapshot::Snapshot;

/// The tree with each pattern replaced by the words of live rows that it matches, in their order: the same ones however rows
/// are spread over parts. Errors: `TooManyWords`; `Io`, `Corrupt` of a dictionary.
pub(super) fn expand(node: &Node, snapshot: &Snapshot) -> Result<Node> {
    let each = |parts: &[Node]| -> Result<Vec<Node>> {
        parts.iter().map(|part| expand(part, snapshot)).collect()
    };
    let boxed = |part: &Node| expand(part, snapshot).map(Box::new);
    Ok(match node {
        Node::Word(word) if word.term.form != Form::Whole => pattern(word, snapshot)?,
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

/// An `Or` of the words; of none if there are none, which no row satisfies.
fn pattern(word: &Word, snapshot: &Snapshot) -> Result<Node> {
    let matcher = Matcher::new(&word.term).map_err(|what| Error::Internal { what })?;
    let prefix = match matcher.literal() {
        Literal::Prefix(prefix) => prefix,
        _ => "",
    };
    let mut found = BTreeSet::new();
    for part in &snapshot.parts {
        part.each_word(prefix, &mut |text| {
            if matcher.is_match(text) {
                found.insert(text.to_owned());
            }
        })?;
    }
    let mut words = Vec::with_capacity(found.len());
    for text in found {
        if snapshot.document_frequency(&text)? > 0 {
            let term = Term::whole(text);
            words.push(Node::Word(Word {
                term,
                fields: word.fields,
            }));
        }
    }
    if words.len() > EXPANSION_MAX {
        return Err(Error::TooManyWords {
            pattern: word.term.text.to_string(),
            found: words.len(),
        });
    }
    Ok(Node::Or(words))
}

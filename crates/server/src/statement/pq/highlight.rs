//! Highlights: the texts of the documents that a standing query hit, with marks around what it found there.
//!
//! A word is marked where a term of the query stands on it and the query's match reaches over it: in `"star wars" -lost`
//! only the stars beside wars. What the query matches is asked of the reference, as highlights are for people and few.

use std::fmt::Write as _;
use std::ops::Range;

use engine::{Definition, PqDocument};
use query::analysis::{Analyzer, Words};
use query::reference::{Span, spans};
use query::schema::ColumnType;
use query::tree::{Node, Word};
use query::value::Value;

use super::PqRows;
use crate::errors::{self, Failure};
use crate::limits::{HIGHLIGHT_WORDS_MAX, REPLY_BYTES_MAX};

/// For each row a JSON array with an object for each of its documents: the text fields that have marks.
pub(super) fn of(
    rows: &PqRows,
    definition: &Definition,
    documents: &[PqDocument],
) -> Result<Vec<String>, Failure> {
    let analyzer = Analyzer::default();
    let texts = definition
        .columns
        .iter()
        .filter(|column| column.kind == ColumnType::Text);
    let fields: Vec<&str> = texts.map(|column| column.name.as_str()).collect();
    let mut read: Vec<Option<Read>> = documents.iter().map(|_| None).collect();
    let mut highlights = Vec::with_capacity(rows.answer.hits.len());
    let mut bytes = 0;
    for row in rows.rows() {
        // It was parsed when it was stored; one that cannot be any more has no marks.
        let root = query::parse(&row.query.text, &fields, &analyzer).map(|query| query.root);
        let root = root.unwrap_or(Node::All);
        let mut leaves = Vec::new();
        positive(&root, &mut leaves);
        let mut array = String::from("[");
        for &index in row.documents {
            let place = index as usize;
            let (Some(document), Some(slot)) = (documents.get(place), read.get_mut(place)) else {
                continue;
            };
            let read = slot.get_or_insert_with(|| Read::new(document, &fields, &analyzer));
            if array.len() > 1 {
                array.push(',');
            }
            let marked = read.marked(&root, &leaves);
            let named: Vec<(&str, String)> = marked
                .into_iter()
                .filter_map(|(field, text)| Some((*fields.get(field)?, text)))
                .collect();
            wire::json::write_object(&named, &mut array);
        }
        array.push(']');
        bytes += array.len();
        if bytes > REPLY_BYTES_MAX {
            let message = "the highlights are longer than 256 MiB: use limit and after";
            return Err(Failure::new(errors::LIMIT, message));
        }
        highlights.push(array);
    }
    Ok(highlights)
}

/// The terms that a match may rest on, each as a node of its own.
fn positive(node: &Node, leaves: &mut Vec<Node>) {
    let word = |term: &query::tree::Term, fields| {
        Node::Word(Word {
            term: term.clone(),
            fields,
        })
    };
    match node {
        Node::All | Node::Not(_) => {}
        Node::Word(_) => leaves.push(node.clone()),
        Node::Phrase { words, fields } => {
            leaves.extend(words.iter().map(|(term, _)| word(term, *fields)));
        }
        Node::Proximity { terms, fields, .. } => {
            leaves.extend(terms.iter().map(|term| word(term, *fields)));
        }
        Node::Quorum { parts, .. } | Node::Order(parts) => {
            parts.iter().for_each(|part| positive(part, leaves));
        }
        Node::And(parts) | Node::Or(parts) | Node::Together { parts, .. } => {
            parts.iter().for_each(|part| positive(part, leaves));
        }
        Node::Near { left, right, .. } | Node::Maybe(left, right) => {
            positive(left, leaves);
            positive(right, leaves);
        }
        Node::NotNear { left, .. } => positive(left, leaves),
    }
}

/// A document whose words are known.
struct Read {
    words: Words,
    /// Each text field.
    fields: Vec<Field>,
}

struct Field {
    text: String,
    /// The position of each word, and its bytes in the text.
    places: Vec<Place>,
}

type Place = (u32, Range<usize>);

impl Read {
    fn new(document: &PqDocument, names: &[&str], analyzer: &Analyzer) -> Read {
        let mut words = Words::new();
        let mut fields = Vec::with_capacity(names.len());
        for (field, name) in names.iter().enumerate() {
            let text = text_of(document, field, name);
            words.push_field(analyzer, field as u8, &text);
            let mut places = Vec::new();
            analyzer.words(&text, &mut |word| places.push((word.position, word.source)));
            fields.push(Field { text, places });
        }
        Read { words, fields }
    }

    /// The fields with marks, by number.
    fn marked(&self, root: &Node, leaves: &[Node]) -> Vec<(usize, String)> {
        // What a long text matched takes too long to ask: there every word of the query is marked.
        let is_short = self.words.len() <= HIGHLIGHT_WORDS_MAX;
        let matched = is_short.then(|| spans(root, &self.words).unwrap_or_default());
        let standing = leaves.iter().filter_map(|leaf| spans(leaf, &self.words));
        let mut found: Vec<Span> = standing.flatten().collect();
        found.retain(|one| {
            let covers = |span: &Span| {
                span.field == one.field && span.start <= one.start && one.end <= span.end
            };
            matched
                .as_ref()
                .is_none_or(|matched| matched.iter().any(covers))
        });
        found.sort_unstable();
        found.dedup();
        let fields = self.fields.iter().enumerate();
        let marked = fields.filter_map(|(field, Field { text, places })| {
            let own: Vec<u32> = found
                .iter()
                .filter(|span| usize::from(span.field) == field)
                .map(|span| span.start)
                .collect();
            (!own.is_empty()).then(|| (field, with_marks(text, places, &own)))
        });
        marked.collect()
    }
}

fn text_of(document: &PqDocument, field: usize, name: &str) -> String {
    match document {
        PqDocument::Text(text) if field == 0 => text.clone(),
        PqDocument::Text(_) => String::new(),
        PqDocument::Fields(values) => {
            let value = values.iter().find(|(own, _)| own == name);
            match value.map(|(_, value)| value) {
                None | Some(Value::Null) => String::new(),
                Some(Value::Str(text)) => text.clone(),
                Some(other) => other.to_string(),
            }
        }
    }
}

/// `positions`: rising. A position may hold several words (a stem and the word as written), which lie on the same bytes.
fn with_marks(text: &str, places: &[Place], positions: &[u32]) -> String {
    let mut marked = String::with_capacity(text.len() + positions.len() * 7);
    let mut until = 0;
    for (position, source) in places {
        let is_found = positions.binary_search(position).is_ok();
        let (Some(before), Some(word)) = (text.get(until..source.start), text.get(source.clone()))
        else {
            continue;
        };
        if is_found {
            // A String takes all that is written.
            let _ = write!(marked, "{before}<b>{word}</b>");
            until = source.end;
        }
    }
    marked.push_str(text.get(until..).unwrap_or_default());
    marked
}

#[cfg(test)]
mod tests;

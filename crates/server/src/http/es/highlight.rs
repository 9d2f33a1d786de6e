//! Highlights of `_search`: fragments of the percolated documents with marks around the words that a stored query found.

use engine::Kind;
use language::analysis::Analyzer;
use relation::schema::ColumnType;
use relation::value::Value;
use serde_json::{Map, Value as Json};
use wire::es::{FieldKind, Highlight, Percolate, columns_of, glob};
use wire::fragment::fragments;

use super::index::Index;
use crate::limits::HIGHLIGHT_BYTES_MAX;

/// The fragments of each text field in which the query matched, by field name. With several documents the document's number
/// stands before the field's name, and the clause's name before that if it has one: `clause_0_title`.
pub(super) fn of(
    index: &Index,
    text: &str,
    clause: &Percolate,
    slots: &[u32],
    how: &Highlight,
) -> Map<String, Json> {
    let texts: Vec<&str> = index
        .definition
        .columns
        .iter()
        .filter(|column| column.kind == ColumnType::Text)
        .map(|column| column.name.as_str())
        .collect();
    let definition = &index.definition;
    let analyzer = Analyzer::new(definition.analysis.clone());
    let mut marked = Map::new();
    // If today's parser refuses a text that an older one accepted, there are no marks.
    let Kind::Percolate { syntax, .. } = &definition.kind else {
        return marked;
    };
    let Ok(parsed) = syntax.parse_stored(text, &texts, &analyzer) else {
        return marked;
    };
    for slot in slots {
        let document = clause.documents.get(*slot as usize);
        let values = document.map(|document| columns_of(document, &index.mapping));
        let Some(Ok(values)) = values else {
            continue;
        };
        for field in index
            .mapping
            .fields
            .iter()
            .filter(|field| field.kind == FieldKind::Text)
        {
            let Some((_, count)) = how.fields.iter().find(|(name, _)| glob(name, &field.path))
            else {
                continue;
            };
            let value = values.iter().find(|(column, _)| *column == field.column);
            let place = texts.iter().position(|name| *name == field.column);
            let (Some((_, Value::Str(text))), Some(place)) = (value, place) else {
                continue;
            };
            if text.len() > HIGHLIGHT_BYTES_MAX {
                continue;
            }
            let marks = language::highlight::ranges(&parsed.root, place as u8, text, &analyzer);
            let pieces = fragments(text, &marks, (*count, how.fragment_chars), &how.tags);
            if !pieces.is_empty() {
                marked.insert(named(clause, *slot, &field.path), pieces.into());
            }
        }
    }
    marked
}

fn named(clause: &Percolate, slot: u32, field: &str) -> String {
    match (&clause.name, clause.documents.len()) {
        (_, 1) if clause.name.is_none() => field.to_owned(),
        (Some(name), 1) => format!("{name}_{field}"),
        (Some(name), _) => format!("{name}_{slot}_{field}"),
        (None, _) => format!("{slot}_{field}"),
    }
}

//! Highlights of CALL PQ: texts of the hit documents with `<b>` marks around the words that matched.

use std::fmt::Write as _;
use std::ops::Range;

use engine::{Definition, Interrupt, Kind, PqDocument};
use language::Syntax;
use language::analysis::Analyzer;
use language::highlight::ranges_within;
use language::tree::Node;
use relation::schema::ColumnType;
use relation::value::Value;

use super::PqRows;
use crate::budget::Grant;
use crate::errors::{self, Failure};
use crate::limits::{HIGHLIGHT_TEXT_BYTES_MAX, REPLY_BYTES_MAX};

/// For each row a JSON array with an object for each of its documents: the marked text fields. `held` is the grant that pays
/// for them, and the bytes that it holds already.
///
/// # Errors
/// `LIMIT`: longer than [`REPLY_BYTES_MAX`] in all. `OVERLOADED`. `INTERRUPTED` and `OUT_OF_TIME`, by `interrupt`.
pub(super) fn of(
    rows: &PqRows,
    definition: &Definition,
    documents: &[PqDocument],
    interrupt: &Interrupt,
    held: (&Grant, usize),
) -> Result<Vec<String>, Failure> {
    let columns = definition.columns.iter();
    let texts = columns.filter(|column| column.kind == ColumnType::Text);
    let fields: Vec<&str> = texts.map(|column| column.name.as_str()).collect();
    let syntax = match &definition.kind {
        Kind::Percolate { syntax, .. } => *syntax,
        Kind::Search(_) | Kind::Queue(_) | Kind::Distributed { .. } => Syntax::default(),
    };
    let reading = TableAnalysis {
        analyzer: Analyzer::new(definition.analysis.clone()),
        syntax,
        fields,
    };
    let mut highlights = Vec::with_capacity(rows.answer.hits.len());
    let mut bytes = 0;
    for row in rows.rows() {
        let root = reading.root(&row.query.text);
        let mut array = String::from("[");
        for &index in row.documents {
            engine::goes_on(interrupt)?;
            if array.len() > 1 {
                array.push(',');
            }
            let (grant, before) = held;
            grant.cover(before + bytes + 2 * array.capacity())?;
            if let Some(document) = documents.get(index as usize) {
                let marked = reading.marked(&root, document, interrupt);
                engine::goes_on(interrupt)?;
                wire::json::write_object(&marked, &mut array);
            }
        }
        array.push(']');
        array.shrink_to_fit();
        bytes += array.len() + size_of::<String>();
        if bytes > REPLY_BYTES_MAX {
            let message = "the highlights are longer than 256 MiB: use limit and after";
            return Err(Failure::new(errors::LIMIT, message));
        }
        highlights.push(array);
    }
    Ok(highlights)
}

/// A pq table's rules for parsing queries and analysing documents.
struct TableAnalysis<'a> {
    analyzer: Analyzer,
    /// Syntax of its queries.
    syntax: Syntax,
    /// Names of its text columns.
    fields: Vec<&'a str>,
}

impl TableAnalysis<'_> {
    /// The tree of a stored query. If today's parser refuses a text that an older one accepted, the query has no marks.
    fn root(&self, text: &str) -> Node {
        let parsed = self.syntax.parse_stored(text, &self.fields, &self.analyzer);
        parsed.map_or(Node::All, |query| query.root)
    }

    /// Names and marked texts of the text fields in which the query matched. Leaves out fields above
    /// [`HIGHLIGHT_TEXT_BYTES_MAX`]. Of no use once `interrupt` was stopped.
    fn marked(
        &self,
        root: &Node,
        document: &PqDocument,
        interrupt: &Interrupt,
    ) -> Vec<(&str, String)> {
        let fields = self.fields.iter().enumerate();
        let marked = fields.filter_map(|(field, name)| {
            let text = text_of(document, field, name)?;
            if text.len() > HIGHLIGHT_TEXT_BYTES_MAX {
                return None;
            }
            let field = u8::try_from(field).ok()?;
            let marks = ranges_within(root, field, &text, &self.analyzer, interrupt);
            (!marks.is_empty()).then(|| (*name, with_marks(&text, &marks)))
        });
        marked.collect()
    }
}

fn text_of(document: &PqDocument, field: usize, name: &str) -> Option<String> {
    match document {
        PqDocument::Text(text) => (field == 0).then(|| text.clone()),
        PqDocument::Fields(values) => {
            let (_, value) = values.iter().find(|(own, _)| own == name)?;
            match value {
                Value::Null => None,
                Value::Str(text) => Some(text.clone()),
                other => Some(other.clone().without_truth().to_string()),
            }
        }
    }
}

/// Writes `<b>` and `</b>` around each mark. The marks rise and do not overlap.
fn with_marks(text: &str, marks: &[Range<usize>]) -> String {
    let mut marked = String::with_capacity(text.len() + marks.len() * 7);
    let mut until = 0;
    for mark in marks {
        let before = text.get(until..mark.start).unwrap_or_default();
        let word = text.get(mark.clone()).unwrap_or_default();
        // Writing into a String cannot fail.
        let _ = write!(marked, "{before}<b>{word}</b>");
        until = mark.end;
    }
    marked.push_str(text.get(until..).unwrap_or_default());
    marked
}

#[cfg(test)]
mod tests;

//! `aggs` of `_search`: those of POST /search, over the fields of stored documents.
//!
//! Example: `"aggs": {"levels": {"terms": {"field": "host.level"}}}` over the mapping `host.level: keyword`, whose column is
//! `host__level`:
//!
//! ```text
//! facet      FACET host__level ORDER BY COUNT(*) DESC, host__level ASC
//! fields     host.level
//! document   {"query": …, "host": {"level": ["warn", "error"]}}
//! row        ["warn", "error"]        the document counts in both buckets
//! ```

use relation::expression::Expression;
use relation::json::{Json as Document, JsonStep};
use relation::request::Facet;
use relation::value::Value;
use serde_json::{Value as Json, json};

use super::document::at;
use super::error::EsError;
use super::mapping::{Field, FieldKind, Mapping};
use super::number::value;
use crate::json::{Aggregation, JsonError, aggregations};

type Result<T> = std::result::Result<T, EsError>;

/// The aggregations of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregations {
    /// How they are shown.
    pub shown: Vec<Aggregation>,
    /// The FACETs that give their groups, in the order of [`Aggregation::facets`]. Their columns are those of `fields`.
    pub facets: Vec<Facet>,
    /// The fields that they name, each once.
    fields: Vec<Field>,
}

impl Aggregations {
    /// Parses `aggs`.
    ///
    /// # Errors
    /// [`EsError`]: those of POST /search; a field that the mapping does not have, or that holds words.
    pub(super) fn parse(body: &Json, mapping: &Mapping) -> Result<Aggregations> {
        let mut facets = Vec::new();
        let shown = aggregations(body, "aggs", true, &mut facets).map_err(refused)?;
        let (mut fields, mut unknown) = (Vec::new(), None);
        for facet in &mut facets {
            facet.each_expression(&mut |expression| {
                let taken = std::mem::replace(expression, Expression::Literal(Value::Null));
                *expression = taken.map_columns(&mut |column| match field(&column, mapping) {
                    Ok(field) => {
                        let column = field.column.clone();
                        if !fields.contains(field) {
                            fields.push(field.clone());
                        }
                        Expression::Column(column)
                    }
                    Err(error) => {
                        unknown = unknown.take().or(Some(error));
                        column
                    }
                });
            });
        }
        match unknown {
            Some(error) => Err(error),
            None => Ok(Aggregations {
                shown,
                facets,
                fields,
            }),
        }
    }

    /// Names of the columns of a row.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|field| &*field.column)
    }

    /// The values of a stored document, one a column: NULL, a scalar, or an array of them.
    #[must_use]
    pub fn row(&self, document: &Json) -> Vec<Value> {
        let fields = self.fields.iter();
        fields.map(|field| value_of(field, document)).collect()
    }
}

fn refused(error: JsonError) -> EsError {
    match error.not_yet {
        true => EsError::not_yet(&error.path, error.message),
        false => EsError::parsing(&error.path, error.message),
    }
}

/// The field that an aggregation names.
fn field<'m>(named: &Expression, mapping: &'m Mapping) -> Result<&'m Field> {
    let mut path = String::new();
    match named {
        Expression::Path { column, steps } => {
            path.push_str(column);
            for step in steps {
                match step {
                    JsonStep::Key(key) => path.extend([".", key]),
                    JsonStep::Item(item) => path.push_str(&format!("[{item}]")),
                    JsonStep::Itself => {}
                }
            }
        }
        column => path.push_str(column.column().unwrap_or_default()),
    }
    // Names of columns come in lower case.
    let mut fields = mapping.fields.iter();
    let field = fields.find(|field| field.path.eq_ignore_ascii_case(&path));
    let field = field.ok_or_else(|| {
        let meant = mapping.meant(&path);
        EsError::illegal(
            "aggs",
            format!("no mapping found for field [{path}]{meant}"),
        )
    })?;
    match field.kind {
        FieldKind::Text => {
            let what = format!("field [{path}] of type [text] has words: name a keyword field");
            Err(EsError::illegal("aggs", what))
        }
        _ => Ok(field),
    }
}

fn value_of(field: &Field, document: &Json) -> Value {
    let mut found = Vec::new();
    at(document, &field.place, &mut found);
    // What a field cannot hold was refused when the document was stored.
    let values = found.iter().filter_map(|json| value(field, json, "").ok());
    let mut values: Vec<Value> = values.collect();
    if values.len() < 2 {
        return values.pop().unwrap_or(Value::Null);
    }
    let list = values.into_iter().map(|value| match value {
        Value::Int(number) => i64::try_from(number).map_or(Json::Null, |number| json!(number)),
        Value::Float(number) => json!(number),
        other => json!(other.to_string()),
    });
    let list = Json::Array(list.collect()).to_string();
    Document::parse(list.as_bytes()).map_or(Value::Null, Value::Json)
}

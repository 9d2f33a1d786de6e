//! `highlight` of a JSON search: pieces of the texts of each hit, with marks around the words that made it match.
//!
//! Example: `{"fields": ["title", "b*"], "pre_tags": "<i>", "post_tags": "</i>", "fragment_size": 100, "number_of_fragments": 2}`.

use serde_json::Value as Json;

use super::clause;
use super::error::JsonError;
use super::member::{at_most, count, object, string};
use crate::fragment::Tags;
use crate::limits::{COLUMNS_MAX, TAG_BYTES_MAX};

type Result<T> = std::result::Result<T, JsonError>;

/// What is marked, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Highlight {
    /// Names of text columns, which may have `*`, with the form of their pieces. The first that fits a column counts.
    pub fields: Vec<(String, Pieces)>,
    /// What stands around a mark.
    pub tags: Tags,
    /// Whether a text without a mark shows its beginning.
    pub shows_beginnings: bool,
    /// The text whose words are marked; `None`: that of `query`.
    pub text: Option<String>,
}

/// The pieces of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pieces {
    /// Approximate length of a piece, in characters. A text that is no longer is one piece. 0: every text is.
    pub chars: usize,
    /// Most pieces of a text, at least 1.
    pub count: usize,
}

/// Parses `highlight`.
pub(super) fn highlight(json: &Json) -> Result<Highlight> {
    let path = "highlight";
    let (mut pieces, mut fields) = (
        Pieces {
            chars: 256,
            count: 5,
        },
        None,
    );
    let mut highlight = Highlight {
        fields: Vec::new(),
        tags: Tags {
            before: "<b>".to_owned(),
            after: "</b>".to_owned(),
        },
        shows_beginnings: true,
        text: None,
    };
    for (name, value) in object(json, path)? {
        let at = format!("{path}.{name}");
        match name.as_str() {
            "fields" => fields = Some(value),
            "pre_tags" | "before_match" => highlight.tags.before = tag(value, &at)?,
            "post_tags" | "after_match" => highlight.tags.after = tag(value, &at)?,
            "no_match_size" => highlight.shows_beginnings = count(value, &at)? > 0,
            "highlight_query" => {
                let (text, filter) = clause::clause(value, &at, 0)?.finish(&at)?;
                if filter.is_some() {
                    return Err(JsonError::new(
                        &at,
                        "expected words, not a condition on columns",
                    ));
                }
                highlight.text = Some(text.unwrap_or_default());
            }
            _ if form(&mut pieces, name, value, &at)? => {}
            "encoder" | "html_strip_mode" | "order" | "around" | "use_boundaries"
            | "weight_order" | "force_all_words" | "limit_words" | "limits_per_field"
            | "start_snippet_id" | "snippet_boundary" | "emit_zones" | "force_snippets"
            | "allow_empty" | "type" => {
                return Err(JsonError::not_yet(&at, "this option of highlights"));
            }
            _ => return Err(JsonError::new(&at, "unknown option of highlights")),
        }
    }
    highlight.fields = match fields {
        None => vec![("*".to_owned(), pieces)],
        Some(fields) => named(fields, pieces)?,
    };
    Ok(highlight)
}

/// Parses `fields`: an array of names, or an object with the options of each.
fn named(json: &Json, pieces: Pieces) -> Result<Vec<(String, Pieces)>> {
    let path = "highlight.fields";
    if let Json::Array(names) = json {
        at_most(names.len(), COLUMNS_MAX, "fields", path)?;
        let names = names.iter().map(|name| string(name, path));
        return names
            .map(|name| Ok((name?.to_lowercase(), pieces)))
            .collect();
    }
    let named = object(json, path)?;
    at_most(named.len(), COLUMNS_MAX, "fields", path)?;
    let mut fields = Vec::with_capacity(named.len());
    for (name, options) in named {
        let path = format!("{path}.{name}");
        let mut own = pieces;
        for (option, value) in object(options, &path)? {
            let path = format!("{path}.{option}");
            if !form(&mut own, option, value, &path)? {
                return Err(JsonError::not_yet(&path, "this option of a field"));
            }
        }
        fields.push((name.to_lowercase(), own));
    }
    Ok(fields)
}

/// Reads an option about pieces; false: it is another option.
fn form(pieces: &mut Pieces, name: &str, value: &Json, path: &str) -> Result<bool> {
    let number = || count(value, path).map(|number| usize::try_from(number).unwrap_or(usize::MAX));
    match name {
        "limit" | "fragment_size" => pieces.chars = number()?,
        "limit_snippets" | "number_of_fragments" => {
            pieces.count = match number()? {
                0 => usize::MAX,
                count => count,
            }
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// A tag, or the first of an array.
fn tag(json: &Json, path: &str) -> Result<String> {
    let tag = string(json.get(0).unwrap_or(json), path)?;
    match tag.len() > TAG_BYTES_MAX {
        true => {
            let message = format!("a tag has at most {TAG_BYTES_MAX} bytes");
            Err(JsonError::new(path, message))
        }
        false => Ok(tag.to_owned()),
    }
}

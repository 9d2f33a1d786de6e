//! Conditions on one field: words on text fields, tests on all others.

use std::cmp::Ordering;

use relation::value::Value;
use serde_json::Value as Json;

use super::condition::Condition;
use super::error::EsError;
use super::language::{TextField, words};
use super::mapping::{Field, FieldKind, Mapping};
use super::number::{column, compared, constant, minimum, quoted};

type Result<T> = std::result::Result<T, EsError>;

/// A field of the index, as conditions see it.
pub(super) enum Target<'m> {
    Text(TextField),
    Attribute(&'m Field),
}

/// A bound of `range`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// `gt`
    Above,
    /// `gte`, `from`
    From,
    /// `lt`
    Below,
    /// `lte`, `to`
    To,
}

impl Bound {
    pub(super) fn of(name: &str, path: &str) -> Result<Bound> {
        Ok(match name {
            "gt" => Bound::Above,
            "gte" | "from" => Bound::From,
            "lt" => Bound::Below,
            "lte" | "to" => Bound::To,
            _ => {
                let what = format!("[range] query does not support [{name}]");
                return Err(EsError::parsing(path, what));
            }
        })
    }

    fn sign(self) -> &'static str {
        match self {
            Bound::Above => ">",
            Bound::From => ">=",
            Bound::Below => "<",
            Bound::To => "<=",
        }
    }

    /// Whether a value is within, by its order to the limit.
    pub(super) fn holds(self, order: Ordering) -> bool {
        match self {
            Bound::Above => order.is_gt(),
            Bound::From => order.is_ge(),
            Bound::Below => order.is_lt(),
            Bound::To => order.is_le(),
        }
    }

    /// The limit as it is compared with values of a field.
    pub(super) fn limit(self, field: &Field, json: &Json, path: &str) -> Result<Value> {
        let is_math = |text: &str| text.contains("||") || text.starts_with("now");
        if field.kind == FieldKind::Date && json.as_str().is_some_and(is_math) {
            return Err(EsError::not_yet(path, "date math"));
        }
        compared(field, json, matches!(self, Bound::Above | Bound::To), path)
    }
}

/// How many words of a text must occur.
pub(super) struct Words<'j> {
    pub(super) all: bool,
    pub(super) minimum: Option<&'j Json>,
    pub(super) empty_is_everything: bool,
}

impl<'m> Target<'m> {
    pub(super) fn named(
        mapping: &'m Mapping,
        path_of_field: &str,
        path: &str,
    ) -> Result<Target<'m>> {
        match mapping.field(path_of_field) {
            Some(field) if field.kind == FieldKind::Text => {
                Ok(Target::Text(TextField::mapped(&field.column)))
            }
            Some(field) => Ok(Target::Attribute(field)),
            None => match TextField::unmapped(mapping, path_of_field) {
                Some(field) => Ok(Target::Text(field)),
                None => {
                    let meant = mapping.meant(path_of_field);
                    let what = format!(
                        "no field mapping can be found for the field with name [{path_of_field}]{meant}"
                    );
                    Err(EsError::query(path, what))
                }
            },
        }
    }

    /// The condition of `match`.
    pub(super) fn words(&self, json: &Json, how: &Words<'_>, path: &str) -> Result<Condition> {
        let field = match self {
            Target::Attribute(_) => return self.equals(json, path),
            Target::Text(field) => field,
        };
        let words = words(&text_of(json, path)?);
        if words.is_empty() {
            return Ok(if how.empty_is_everything {
                Condition::Everything
            } else {
                Condition::Nothing
            });
        }
        Ok(match how.minimum {
            _ if how.all => field.all_of(&words),
            None => field.any_of(&words),
            Some(json) => field.at_least(&words, minimum(json, words.len(), path)?.max(1)),
        })
    }

    /// The condition of `match_phrase`. `after` is appended to the last word.
    pub(super) fn phrase(
        &self,
        json: &Json,
        slop: u64,
        after: &str,
        path: &str,
    ) -> Result<Condition> {
        match self {
            Target::Attribute(_) if !after.is_empty() => self.prefix(&text_of(json, path)?, path),
            Target::Attribute(_) => self.equals(json, path),
            Target::Text(field) => Ok(field.phrase(&words(&text_of(json, path)?), slop, after)),
        }
    }

    /// The condition of `term`.
    pub(super) fn equals(&self, json: &Json, path: &str) -> Result<Condition> {
        match self {
            Target::Text(field) => Ok(field.phrase(&words(&text_of(json, path)?), 0, "")),
            Target::Attribute(field) => {
                let name = column(field);
                let test = format!(
                    "{name} = {}",
                    constant(&compared(field, json, false, path)?)
                );
                Ok(Condition::filter(&name, test))
            }
        }
    }

    /// The condition of `terms`.
    pub(super) fn one_of(&self, list: &[Json], path: &str) -> Result<Condition> {
        match self {
            Target::Text(_) => {
                let terms: Result<Vec<_>> =
                    list.iter().map(|term| self.equals(term, path)).collect();
                Ok(Condition::any(terms?))
            }
            Target::Attribute(_) if list.is_empty() => Ok(Condition::Nothing),
            Target::Attribute(field) => {
                let constants = list
                    .iter()
                    .map(|term| Ok(constant(&compared(field, term, false, path)?)));
                let constants: Result<Vec<String>> = constants.collect();
                let name = column(field);
                let test = format!("{name} IN ({})", constants?.join(", "));
                Ok(Condition::filter(&name, test))
            }
        }
    }

    /// The condition of one bound of `range`: `gt`, `gte`, `lt` or `lte`.
    pub(super) fn bound(&self, bound: &str, json: &Json, path: &str) -> Result<Condition> {
        let Target::Attribute(field) = self else {
            return Err(EsError::not_yet(path, "range on a field of type [text]"));
        };
        let bound = Bound::of(bound, path)?;
        let limit = bound.limit(field, json, path)?;
        let (name, sign, limit) = (column(field), bound.sign(), constant(&limit));
        Ok(Condition::filter(&name, format!("{name} {sign} {limit}")))
    }

    /// The condition of `exists`.
    pub(super) fn exists(&self) -> Condition {
        match self {
            Target::Text(field) => field.any_word(),
            Target::Attribute(field) => {
                let name = column(field);
                let test = format!("{name} IS NOT NULL");
                Condition::filter(&name, test)
            }
        }
    }

    /// The condition of `prefix`.
    pub(super) fn prefix(&self, text: &str, path: &str) -> Result<Condition> {
        match self {
            Target::Text(field) => field.pattern(&format!("{}*", escaped(text)), path),
            Target::Attribute(field) if field.kind == FieldKind::Keyword => {
                let name = column(field);
                let last = quoted(&format!("{text}{}", char::MAX));
                let test = format!("({name} >= {} AND {name} <= {last})", quoted(text));
                Ok(Condition::filter(&name, test))
            }
            Target::Attribute(field) => {
                let what = format!(
                    "prefix on field [{}], which is neither text nor keyword",
                    field.path
                );
                Err(EsError::query(path, what))
            }
        }
    }

    /// The condition of `wildcard`, with `*` and `?`.
    pub(super) fn pattern(&self, pattern: &str, path: &str) -> Result<Condition> {
        match self {
            _ if pattern == "*" => Ok(self.exists()),
            Target::Text(field) => field.pattern(pattern, path),
            Target::Attribute(_) => match pattern.strip_suffix('*') {
                Some(prefix) if !prefix.contains(['*', '?', '\\']) => self.prefix(prefix, path),
                None if !pattern.contains(['*', '?', '\\']) => self.equals(&pattern.into(), path),
                _ => {
                    let what = "a wildcard that is not at the end, on a field that is not text";
                    Err(EsError::not_yet(path, what))
                }
            },
        }
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '*' | '?' | '\\') {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

/// A JSON scalar as text.
pub(super) fn text_of(json: &Json, path: &str) -> Result<String> {
    match json {
        Json::String(text) => Ok(text.clone()),
        Json::Number(number) => Ok(number.to_string()),
        Json::Bool(truth) => Ok(truth.to_string()),
        _ => Err(EsError::parsing(path, "expected a text")),
    }
}

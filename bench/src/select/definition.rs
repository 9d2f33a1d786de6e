//! The forms of `seine bench select`: `benchmarks/definitions/select.toml`, compiled in.

use serde::Deserialize;

use super::rows::Place;
use crate::error::{Error, Result};

const SELECT: &str = include_str!("../../../benchmarks/definitions/select.toml");

/// Rows of an answer.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Answer {
    /// A row for every id of the list that the table has.
    Each,
    /// Each row at most once.
    Once,
}

/// A form: how SQL asks for rows by a list of ids.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(super) struct Form {
    /// Name on the command line.
    pub(super) name: String,
    #[serde(default)]
    pub(super) before: Vec<String>,
    pub(super) statements: Vec<String>,
    #[serde(default)]
    pub(super) after: Vec<String>,
    /// The statements for SQLite; `None`: the same.
    sqlite: Option<Vec<String>>,
    pub(super) rows: Answer,
    #[serde(default = "unbounded")]
    pub(super) ids_max: u32,
}

fn unbounded() -> u32 {
    u32::MAX
}

/// A server's SQL for the table.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    /// Alternatives; the first that the server takes is used.
    pub(super) create: Vec<String>,
    /// Statements behind the last row.
    pub(super) filled: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    form: Vec<Form>,
    mysql: Table,
    sqlite: Table,
}

/// Whose SQL a system reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Ours, MariaDB's and MySQL's.
    Mysql,
    Sqlite,
}

impl Form {
    /// The timed statements of a job.
    pub(super) fn texts(&self, dialect: Dialect, ids: &[u64]) -> Vec<String> {
        let statements = match (dialect, &self.sqlite) {
            (Dialect::Sqlite, Some(statements)) => statements,
            _ => &self.statements,
        };
        expand(statements, ids)
    }
}

impl Table {
    pub(super) fn of(dialect: Dialect) -> Result<Table> {
        let file = read()?;
        Ok(match dialect {
            Dialect::Mysql => file.mysql,
            Dialect::Sqlite => file.sqlite,
        })
    }
}

/// The forms of these names, in the order of the file; all forms if there are no names.
pub(super) fn named(names: &[String]) -> Result<Vec<Form>> {
    let forms = read()?.form;
    if let Some(unknown) = names
        .iter()
        .find(|name| forms.iter().all(|form| form.name != **name))
    {
        return Err(Error::UnknownDefinition {
            name: unknown.clone(),
            known: forms.into_iter().map(|form| form.name).collect(),
        });
    }
    let wanted = |form: &Form| names.is_empty() || names.contains(&form.name);
    Ok(forms.into_iter().filter(wanted).collect())
}

fn read() -> Result<File> {
    toml::from_str(SELECT).map_err(|error| Error::BadDefinition(error.to_string()))
}

/// The statements that templates stand for.
pub(super) fn expand(templates: &[String], ids: &[u64]) -> Vec<String> {
    let mut texts = Vec::new();
    for template in templates {
        let list = template
            .split_once('<')
            .and_then(|(begin, rest)| Some((begin, rest.split_once('>')?)));
        let list = list.and_then(|(begin, (list, end))| Some((begin, list.split_once('|')?, end)));
        match list {
            Some((begin, (each, between), end)) => {
                let each = pieces(each);
                let mut text = String::from(begin);
                for (number, id) in ids.iter().enumerate() {
                    if number > 0 {
                        text.push_str(between);
                    }
                    fill(&mut text, &each, *id);
                }
                text.push_str(end);
                texts.push(text);
            }
            None => {
                let each = pieces(template);
                let times = if each.iter().all(|piece| piece.1.is_none()) {
                    &ids[..ids.len().min(1)]
                } else {
                    ids
                };
                texts.extend(times.iter().map(|id| {
                    let mut text = String::new();
                    fill(&mut text, &each, *id);
                    text
                }));
            }
        }
    }
    texts
}

/// Parts of a template: text, and the number that follows it.
fn pieces(template: &str) -> Vec<(&str, Option<Place>)> {
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some((text, (name, behind))) = rest
        .split_once('{')
        .and_then(|(text, rest)| Some((text, rest.split_once('}')?)))
    {
        pieces.push((text, Place::named(name)));
        rest = behind;
    }
    pieces.push((rest, None));
    pieces
}

fn fill(text: &mut String, pieces: &[(&str, Option<Place>)], id: u64) {
    for (piece, place) in pieces {
        text.push_str(piece);
        if let Some(place) = place {
            text.push_str(&place.of(id).to_string());
        }
    }
}

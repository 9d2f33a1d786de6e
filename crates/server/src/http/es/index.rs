//! Indices: pq tables with a mapping.

use std::sync::Arc;

use engine::{Command, Definition, Kind};
use language::Syntax;
use language::analysis::Settings;
use serde_json::{Value as Json, json};
use wire::es::{EsError, Mapping};

use super::request::EsRequest;
use super::{Replied, failed, info};
use crate::http::Guest;

/// Part of an index that a request shows.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum IndexPart {
    Whole,
    Mappings,
    Settings,
}

/// An existing index.
pub(super) struct Index {
    pub name: String,
    pub definition: Arc<Definition>,
    pub mapping: Mapping,
}

impl Index {
    /// Finds an index by name.
    ///
    /// # Errors
    /// `index_not_found_exception`; the table is no pq table.
    pub(super) fn find(guest: &Guest<'_>, name: &str) -> Result<Index, EsError> {
        let snapshot = guest.reads(name).map_err(|failure| failed(failure, name))?;
        let definition = snapshot
            .definition(name)
            .map_err(|error| failed(error.into(), name))?;
        if !matches!(definition.kind, Kind::Percolate { .. }) {
            let what = format!("[{name}] is a table without standing queries; it is read by SQL");
            return Err(EsError::not_yet("", what));
        }
        let mapping = Mapping::of_columns(&definition.columns);
        Ok(Index {
            name: name.to_owned(),
            definition,
            mapping,
        })
    }
}

/// `PUT /{index}`.
pub(super) async fn create(guest: &Guest<'_>, name: &str, request: &EsRequest) -> Replied {
    let is_name = name == name.to_lowercase()
        && !name.starts_with(['-', '+', '.'])
        && !name.contains(['"', '\\', '<', '>', '|', ' ', '?', '#', ':']);
    if !is_name {
        let reason = format!("invalid index name [{name}]: lower case, without blanks and signs");
        return Err(EsError::new(400, "invalid_index_name_exception", reason).about(name));
    }
    let mapping = Mapping::read(&request.json()?)?;
    let definition = Definition {
        name: name.to_owned(),
        kind: Kind::Percolate {
            on: Vec::new(),
            into: None,
            syntax: Syntax::Sphinx,
            on_update: false,
        },
        columns: mapping.columns(),
        analysis: analysis(&mapping)?,
        sync: None,
        keep: None,
    };
    submit(
        guest,
        name,
        Command::CreateTable {
            definition: Box::new(definition),
            if_not_exists: false,
        },
    )
    .await?;
    let reply = json!({"acknowledged": true, "shards_acknowledged": true, "index": name});
    Ok((200, reply.to_string()))
}

/// The analysis of a mapping. The analyzer `english` is only its stemmer here: stop words and possessives stay.
fn analysis(mapping: &Mapping) -> Result<Settings, EsError> {
    let mut settings = Settings::default();
    if mapping.english
        && let Some(Err(what)) = settings.set("morphology", "stem_en")
    {
        return Err(EsError::illegal("analyzer", what));
    }
    Ok(settings)
}

/// `DELETE /{index}`.
pub(super) async fn delete(guest: &Guest<'_>, name: &str, request: &EsRequest) -> Replied {
    let if_exists = request.is_set("ignore_unavailable");
    if !if_exists {
        Index::find(guest, name)?;
    }
    submit(
        guest,
        name,
        Command::DropTable {
            tables: vec![name.to_owned()],
            if_exists,
        },
    )
    .await?;
    Ok((200, json!({"acknowledged": true}).to_string()))
}

/// `GET /{index}`, `GET /{index}/_mapping` and `GET /{index}/_settings`.
pub(super) fn show(guest: &Guest<'_>, name: &str, part: IndexPart) -> Replied {
    let index = Index::find(guest, name)?;
    let mut shown = json!({});
    if part == IndexPart::Whole {
        shown["aliases"] = json!({});
    }
    if part != IndexPart::Settings {
        shown["mappings"] = index.mapping.shown();
    }
    if part != IndexPart::Mappings {
        shown["settings"] = settings(&index);
    }
    let mut reply = json!({});
    reply[index.definition.name.as_str()] = shown;
    Ok((200, reply.to_string()))
}

fn settings(index: &Index) -> Json {
    let unmapped = index.mapping.unmapped_as_text.to_string();
    json!({"index": {
        "number_of_shards": "1",
        "number_of_replicas": "0",
        "provided_name": index.definition.name,
        "uuid": "_na_",
        "version": {"created": info::VERSION},
        "percolator": {"map_unmapped_fields_as_text": unmapped},
        "max_result_window": wire::es::WINDOW_MAX.to_string(),
    }})
}

/// `PUT /{index}/_mapping`: accepts only fields that the index already has, unchanged.
pub(super) fn put_mapping(guest: &Guest<'_>, name: &str, request: &EsRequest) -> Replied {
    let index = Index::find(guest, name)?;
    let body = request.json()?;
    let given = body.get("properties").and_then(Json::as_object);
    let known = |(field, body): (&String, &Json)| index.mapping.properties.get(field) == Some(body);
    if given.is_some_and(|given| !given.iter().all(known)) {
        return Err(
            EsError::not_yet("properties", "new fields in an index that is there").about(name),
        );
    }
    Ok((200, json!({"acknowledged": true}).to_string()))
}

/// `/_refresh`, `/_flush`, `/_forcemerge`: does nothing, since acknowledged writes are visible at once.
pub(super) fn refresh(guest: &Guest<'_>, name: &str) -> Replied {
    Index::find(guest, name)?;
    Ok((
        200,
        json!({"_shards": {"total": 1, "successful": 1, "failed": 0}}).to_string(),
    ))
}

async fn submit(guest: &Guest<'_>, name: &str, command: Command) -> Result<(), EsError> {
    let done = guest.submit(command).await;
    done.map(|_| ()).map_err(|failure| failed(failure, name))
}

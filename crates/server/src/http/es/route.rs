//! Routes of the Elasticsearch API, by method and path.

#[cfg(test)]
mod tests;

use axum::http::Method;
use percent_encoding::percent_decode_str;

/// A request, as its path and method name it. `kind` is the document type in paths of Elasticsearch before 8.
#[derive(Debug, PartialEq)]
pub(super) enum Route {
    Info,
    Health,
    CreateIndex(String),
    ShowIndex(String),
    ShowMapping(String),
    ShowSettings(String),
    PutMapping(String),
    DropIndex(String),
    Refresh(String),
    Count(String),
    Store {
        index: String,
        kind: Option<String>,
        id: Option<String>,
        create: bool,
    },
    Get {
        index: String,
        kind: Option<String>,
        id: String,
    },
    GetSource {
        index: String,
        id: String,
    },
    Delete {
        index: String,
        kind: Option<String>,
        id: String,
    },
    Bulk(Option<String>),
    Search(String),
    SearchMany(Option<String>),
    NotYet(&'static str),
    WrongMethod,
}

impl Route {
    /// The route of a path; `None`: no known path of Elasticsearch.
    pub(super) fn of(method: &Method, path: &str) -> Option<Route> {
        let names: Option<Vec<String>> = path
            .split('/')
            .filter(|name| !name.is_empty())
            .map(|name| Some(percent_decode_str(name).decode_utf8().ok()?.into_owned()))
            .collect();
        let names = names?;
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        match names.as_slice() {
            [] => Some(if reads(method) {
                Route::Info
            } else {
                Route::WrongMethod
            }),
            ["_cluster", "health", ..] => Some(Route::Health),
            ["_bulk"] => Some(Route::Bulk(None)),
            ["_msearch"] => Some(Route::SearchMany(None)),
            ["_search" | "_count" | "_mapping" | "_refresh", ..] => {
                Some(Route::NotYet("requests to all indices: name one"))
            }
            ["_all", ..] => Some(Route::NotYet("requests to all indices: name one")),
            [index, ..] if index.starts_with('_') => None,
            [index, ..] if index.contains([',', '*']) => {
                Some(Route::NotYet("several indices in one request"))
            }
            [index, rest @ ..] => in_index(method, (*index).to_owned(), rest),
        }
    }
}

fn reads(method: &Method) -> bool {
    method == Method::GET || method == Method::HEAD
}

fn writes(method: &Method) -> bool {
    method == Method::PUT || method == Method::POST
}

fn in_index(method: &Method, index: String, rest: &[&str]) -> Option<Route> {
    let when = |fits: bool, route: Route| Some(if fits { route } else { Route::WrongMethod });
    let asks = reads(method) || method == Method::POST;
    match rest {
        [] if method == Method::PUT => Some(Route::CreateIndex(index)),
        [] if method == Method::DELETE => Some(Route::DropIndex(index)),
        [] => when(reads(method), Route::ShowIndex(index)),
        ["_bulk"] | [_, "_bulk"] => when(writes(method), Route::Bulk(Some(index))),
        ["_search"] | [_, "_search"] => when(asks, Route::Search(index)),
        ["_msearch"] | [_, "_msearch"] => when(asks, Route::SearchMany(Some(index))),
        ["_count"] | [_, "_count"] => when(asks, Route::Count(index)),
        ["_refresh" | "_flush" | "_forcemerge"] => when(asks, Route::Refresh(index)),
        ["_mapping" | "_mappings", ..] if writes(method) => Some(Route::PutMapping(index)),
        ["_mapping" | "_mappings", ..] => when(reads(method), Route::ShowMapping(index)),
        ["_settings"] => when(reads(method), Route::ShowSettings(index)),
        ["_update", ..] | [_, _, "_update"] => Some(Route::NotYet(
            "updates by a part of a document: index the whole",
        )),
        ["_delete_by_query" | "_update_by_query"]
        | [_, "_delete_by_query" | "_update_by_query"] => Some(Route::NotYet("changes by a query")),
        ["_create", id] | [_, id, "_create"] => when(
            writes(method),
            Route::Store {
                index,
                kind: None,
                id: Some((*id).to_owned()),
                create: true,
            },
        ),
        ["_source", id] => when(
            reads(method),
            Route::GetSource {
                index,
                id: (*id).to_owned(),
            },
        ),
        [kind] if method == Method::POST && names_type(kind) => Some(Route::Store {
            index,
            kind: type_name(kind),
            id: None,
            create: false,
        }),
        // Behind a type of old, such a name asks for something else than a document. In `_doc` it is an id, as in Elasticsearch.
        [kind, id] if *kind != "_doc" && id.starts_with('_') => None,
        [kind, id] if names_type(kind) => {
            document(method, index, type_name(kind), (*id).to_owned())
        }
        _ => None,
    }
}

fn document(method: &Method, index: String, kind: Option<String>, id: String) -> Option<Route> {
    Some(match method {
        _ if writes(method) => Route::Store {
            index,
            kind,
            id: Some(id),
            create: false,
        },
        _ if reads(method) => Route::Get { index, kind, id },
        &Method::DELETE => Route::Delete { index, kind, id },
        _ => Route::WrongMethod,
    })
}

/// Whether a part of a path is `_doc`, or a document type of Elasticsearch before 8.
fn names_type(name: &str) -> bool {
    name == "_doc" || !name.starts_with('_')
}

fn type_name(name: &str) -> Option<String> {
    (name != "_doc").then(|| name.to_owned())
}

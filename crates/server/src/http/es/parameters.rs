//! The parameters behind the `?` of Elasticsearch's paths. One that nothing here reads is refused, unless Elasticsearch's clients send
//! it and its effect is there anyway: a write is durable and seen at once, and all is in one place.

use language::nearest::nearest;
use wire::es::EsError;

use super::route::Route;

/// On every path.
const EVERYWHERE: &[&str] = &["error_trace", "filter_path", "human", "pretty"];

/// How an index is looked up.
const LOOKED_UP: &[&str] = &[
    "allow_no_indices",
    "expand_wildcards",
    "ignore_throttled",
    "ignore_unavailable",
    "local",
    "master_timeout",
    "timeout",
];

/// Writes of documents.
const WRITES: &[&str] = &[
    "include_source_on_error",
    "op_type",
    "refresh",
    "routing",
    "timeout",
    "wait_for_active_shards",
];

/// Reads of one document.
const READS: &[&str] = &[
    "_source",
    "_source_excludes",
    "_source_includes",
    "preference",
    "realtime",
    "refresh",
    "routing",
];

/// What is searched for and shown; the rest steers shards and caches.
const SEARCHES: &[&str] = &[
    "_source",
    "_source_excludes",
    "_source_includes",
    "allow_partial_search_results",
    "batched_reduce_size",
    "ccs_minimize_roundtrips",
    "from",
    "max_concurrent_searches",
    "max_concurrent_shard_requests",
    "pre_filter_shard_size",
    "preference",
    "q",
    "request_cache",
    "rest_total_hits_as_int",
    "routing",
    "scroll",
    "search_type",
    "size",
    "sort",
    "track_scores",
    "track_total_hits",
    "typed_keys",
];

/// Changes of an index, and nothing to do.
const MANAGES: &[&str] = &[
    "flush",
    "force",
    "include_type_name",
    "max_num_segments",
    "only_expunge_deletes",
    "wait_for_active_shards",
    "wait_for_completion",
    "wait_if_ongoing",
];

/// What a look at the cluster's health waits for: it is there.
const HEALTH: &[&str] = &[
    "level",
    "wait_for_active_shards",
    "wait_for_events",
    "wait_for_no_initializing_shards",
    "wait_for_no_relocating_shards",
    "wait_for_nodes",
    "wait_for_status",
];

/// Parameters whose effect is not there, with the only values that ask for none.
const WITHOUT: &[(&str, &[&str])] = &[
    ("explain", &["false"]),
    ("flat_settings", &["false"]),
    ("format", &["json"]),
    ("if_primary_term", &[]),
    ("if_seq_no", &[]),
    ("include_defaults", &["false"]),
    ("pipeline", &["_none"]),
    ("require_alias", &["false"]),
    ("require_data_stream", &["false"]),
    ("stored_fields", &["_none_", "_source"]),
    ("version", &["false"]),
    ("version_type", &["internal"]),
];

/// Refuses a parameter that the route does not read.
pub(super) fn check(route: &Route, parameters: &[(String, String)]) -> Result<(), EsError> {
    let of_route: &[&[&str]] = match route {
        // The reply says what is wrong with the path.
        Route::NotYet(_) | Route::WrongMethod => return Ok(()),
        Route::Info => &[],
        Route::Health => &[LOOKED_UP, HEALTH],
        Route::CreateIndex(_)
        | Route::ShowIndex(_)
        | Route::ShowMapping(_)
        | Route::ShowSettings(_)
        | Route::PutMapping(_)
        | Route::DropIndex(_)
        | Route::Refresh(_) => &[LOOKED_UP, MANAGES],
        Route::Count(_) | Route::Search(_) | Route::SearchMany(_) => &[LOOKED_UP, SEARCHES],
        Route::Store { .. } | Route::Delete { .. } | Route::Bulk(_) => &[WRITES],
        Route::Get { .. } | Route::GetSource { .. } => &[READS],
    };
    let known = || EVERYWHERE.iter().chain(of_route.iter().copied().flatten());
    for (name, value) in parameters {
        if known().any(|known| known == name) {
            continue;
        }
        if let Some((_, values)) = WITHOUT.iter().find(|(known, _)| known == name) {
            match values.contains(&value.as_str()) {
                true => continue,
                false => return Err(EsError::not_yet("", format!("parameter [{name}={value}]"))),
            }
        }
        let meant = nearest(name, known().copied());
        let meant = meant.map_or_else(String::new, |meant| format!(" -> did you mean [{meant}]?"));
        let what = format!("request contains unrecognized parameter: [{name}]{meant}");
        return Err(EsError::illegal("", what));
    }
    Ok(())
}

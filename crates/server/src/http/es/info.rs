//! `GET /` and `GET /_cluster/health`: facts about the server that clients check when they connect.

use serde_json::json;

/// The version of Elasticsearch whose API this one follows. Clients compare it with their own.
pub(super) const VERSION: &str = "8.19.0";

/// `GET /`.
pub(super) fn root() -> String {
    json!({
        "name": "seine",
        "cluster_name": "seine",
        "cluster_uuid": "seine-0000000000000000",
        "version": {
            "number": VERSION,
            "build_flavor": "default",
            "build_type": "seine",
            "build_hash": env!("CARGO_PKG_VERSION"),
            "build_date": "2026-01-01T00:00:00.000Z",
            "build_snapshot": false,
            "lucene_version": "9.12.2",
            "minimum_wire_compatibility_version": "7.17.0",
            "minimum_index_compatibility_version": "7.0.0",
        },
        "tagline": "You Know, for Search",
    })
    .to_string()
}

/// `GET /_cluster/health`: always green, with one node.
pub(super) fn health() -> String {
    json!({
        "cluster_name": "seine",
        "status": "green",
        "timed_out": false,
        "number_of_nodes": 1,
        "number_of_data_nodes": 1,
        "active_primary_shards": 1,
        "active_shards": 1,
        "relocating_shards": 0,
        "initializing_shards": 0,
        "unassigned_shards": 0,
        "delayed_unassigned_shards": 0,
        "number_of_pending_tasks": 0,
        "number_of_in_flight_fetch": 0,
        "task_max_waiting_in_queue_millis": 0,
        "active_shards_percent_as_number": 100.0,
    })
    .to_string()
}

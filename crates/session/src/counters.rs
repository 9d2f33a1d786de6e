//! The server's own counters, each named once for SHOW STATUS and once for `/metrics`.

pub mod engine;

use std::sync::atomic::{AtomicU64, Ordering};

use ::engine::Filters;

use crate::budget::Budget;
use crate::scheduler::SchedulerStatus;

/// One number with its two names.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Name in SHOW STATUS; Sphinx's name if it has one.
    pub status: &'static str,
    /// Name in `/metrics`, with labels if any; empty: not shown there. Names of counters that only grow end in `_total`.
    pub metric: &'static str,
    /// HELP line of `/metrics`.
    pub help: &'static str,
    /// The value; times in microseconds.
    pub value: u64,
}

/// A value as `/metrics` shows it. A metric named `…_seconds…` is counted in microseconds and shown in seconds.
pub fn in_base_units(metric: &str, value: u64) -> String {
    match metric.contains("_seconds") {
        true => format!("{}.{:06}", value / 1_000_000, value % 1_000_000),
        false => value.to_string(),
    }
}

macro_rules! counters {
    ($($(#[doc = $help:literal])+ $field:ident $status:literal $metric:literal;)*) => {
        /// Counters of the doors. They are read and written without a lock: each is exact, but two of them may be read at
        /// different moments.
        #[derive(Debug, Default)]
        pub struct Counters {
            $($(#[doc = $help])+ pub $field: AtomicU64,)*
        }

        impl Counters {
            /// All counters, in the order of declaration. The doc line of a field is its help text.
            pub fn samples(&self) -> Vec<Sample> {
                vec![$(Sample {
                    status: $status,
                    metric: $metric,
                    help: concat!($($help),+).trim_ascii(),
                    value: self.$field.load(Ordering::Relaxed),
                }),*]
            }
        }
    };
}

counters! {
    /// Connections accepted.
    connections "connections" "seine_connections_total";
    /// Connections open now.
    connections_open "threads_connected" "seine_connections";
    /// Connections refused because too many were open.
    refused "maxed_out" "seine_connections_refused_total";
    /// Connections closed, before their login or request was whole, because a newcomer needed the place.
    evicted "evicted_connects" "seine_connections_evicted_total";
    /// Logins refused.
    logins_refused "aborted_connects" "seine_logins_refused_total";
    /// Calls of fb303 refused because the client is not on this machine.
    scribe_refused "scribe_refused" "seine_scribe_calls_refused_total";
    /// Syslog messages taken.
    syslog_messages "syslog_messages" "seine_syslog_messages_total";
    /// Pieces of syslog messages longer than 1 MiB, taken one by one.
    syslog_pieces "syslog_pieces" "seine_syslog_pieces_total";
    /// Syslog datagrams dropped because the server was overloaded, starting, stopping, or its disk full.
    syslog_dropped "syslog_dropped" "seine_syslog_datagrams_dropped_total";
    /// Syslog messages given up: a bad length, a connection that ended before the message, no memory, a stop.
    syslog_refused "syslog_refused" "seine_syslog_messages_refused_total";
    /// Touches and orders that were stored in the table touches.
    touches_stored "touches_stored" "seine_touches_total{outcome=\"stored\"}";
    /// Touches and orders that were stored before.
    touches_repeated "touches_repeated" "seine_touches_total{outcome=\"repeated\"}";
    /// Touches and orders of visitors who do not want to be recorded.
    touches_opted_out "touches_opted_out" "seine_touches_total{outcome=\"opted_out\"}";
    /// Touches and orders refused because a client or a site sent too many.
    touches_flooded "touches_flooded" "seine_touches_total{outcome=\"too_often\"}";
    /// Touches and orders refused because touch.origins does not name their site.
    touches_foreign "touches_foreign" "seine_touches_total{outcome=\"foreign\"}";
    /// Touches and orders refused or failed for another reason.
    touches_failed "touches_failed" "seine_touches_total{outcome=\"failed\"}";
    /// HTTP requests answered.
    http_requests "http_requests" "seine_http_requests_total";
    /// Statements that were refused or failed.
    failed "errors" "seine_statements_failed_total";
    /// SELECT statements on a table.
    selects "command_search" "seine_statements_total{kind=\"select\"}";
    /// INSERT statements.
    inserts "command_insert" "seine_statements_total{kind=\"insert\"}";
    /// REPLACE statements.
    replaces "command_replace" "seine_statements_total{kind=\"replace\"}";
    /// DELETE statements.
    deletes "command_delete" "seine_statements_total{kind=\"delete\"}";
    /// UPDATE statements.
    updates "command_update" "seine_statements_total{kind=\"update\"}";
    /// CALL PQ statements.
    call_pqs "command_callpq" "seine_statements_total{kind=\"call_pq\"}";
    /// Calls of queue_wait, queue_end and queue_abort.
    queue_calls "command_queue" "seine_statements_total{kind=\"queue\"}";
    /// SHOW STATUS statements.
    statuses "command_status" "seine_statements_total{kind=\"status\"}";
    /// SET statements.
    sets "command_set" "seine_statements_total{kind=\"set\"}";
    /// Other statements.
    others "command_other" "seine_statements_total{kind=\"other\"}";
    /// Calls of one of Q4M's functions.
    queue_waits "queue_wait_calls" "seine_queue_calls_total{function=\"queue_wait\"}";
    /// Calls of one of Q4M's functions.
    queue_ends "queue_end_calls" "seine_queue_calls_total{function=\"queue_end\"}";
    /// Calls of one of Q4M's functions.
    queue_aborts "queue_abort_calls" "seine_queue_calls_total{function=\"queue_abort\"}";
    /// Calls of one of Q4M's functions.
    queue_rowids "queue_rowid_calls" "seine_queue_calls_total{function=\"queue_rowid\"}";
    /// Calls of one of Q4M's functions.
    queue_set_srcids "queue_set_srcid_calls" "seine_queue_calls_total{function=\"queue_set_srcid\"}";
    /// Microseconds spent on statements, waiting of queue_wait left out.
    statement_us "query_wall_us" "seine_statement_seconds_total";
    /// Documents given to CALL PQ.
    pq_documents "pq_documents" "seine_pq_documents_total";
    /// Rows sent to clients.
    rows_sent "rows_sent" "seine_rows_sent_total";
    /// Bytes received from MySQL clients.
    bytes_received "bytes_received" "seine_mysql_received_bytes_total";
    /// Bytes sent to MySQL clients.
    bytes_sent "bytes_sent" "seine_mysql_sent_bytes_total";
    /// Hits that a webhook took.
    webhooks_delivered "webhooks_delivered" "seine_webhook_delivered_total";
    /// Attempts to send a hit to a webhook that failed.
    webhooks_failed "webhooks_failed" "seine_webhook_failed_total";
    /// Hits that were given up and put to the dead.
    webhooks_dead "webhooks_dead" "seine_webhook_dead_total";
    /// Answers that lack rows of a damaged file.
    answers_damaged "answers_damaged" "seine_answers_damaged_total";
    /// Files that were found damaged by a search since the start.
    files_damaged "files_damaged" "seine_damaged_files";
    /// Statements ended by a fault of the server.
    panics "panics" "seine_panics_total";
}

/// The sample of the memory that requests hold.
pub fn requests(budget: &Budget) -> Sample {
    Sample {
        status: "request_bytes",
        metric: "seine_request_bytes",
        help: "Memory that requests hold of their budget.",
        value: budget.held_bytes(),
    }
}

fn sample(status: &'static str, metric: &'static str, help: &'static str, value: u64) -> Sample {
    Sample {
        status,
        metric,
        help,
        value,
    }
}

/// The samples of long work and its turns.
pub fn long_turns(status: SchedulerStatus) -> [Sample; 4] {
    [
        sample(
            "long_turns_running",
            "seine_long_turns_running",
            "Long statements, or long parts of them, that run now.",
            status.running,
        ),
        sample(
            "long_turns_waiting",
            "seine_long_turns_waiting",
            "Long statements that wait for their turn, those that gave way among them.",
            status.waiting,
        ),
        sample(
            "long_turns",
            "seine_long_turns_total",
            "Turns of long statements begun.",
            status.begun_total,
        ),
        sample(
            "long_turns_gave_way",
            "seine_long_turns_gave_way_total",
            "Times that a long statement gave way to another one.",
            status.gave_way_total,
        ),
    ]
}

/// The samples of cached conditions on attributes.
pub fn filters(filters: &Filters) -> [Sample; 3] {
    [
        sample(
            "filter_bytes",
            "seine_filter_bytes",
            "Memory of what conditions on attributes say of pages of segments.",
            filters.bytes(),
        ),
        sample(
            "filter_pages_made",
            "seine_filter_pages_made_total",
            "Pages of segments that a condition was asked about as a whole, and that were kept.",
            filters.pages_made(),
        ),
        sample(
            "filter_pages_used",
            "seine_filter_pages_used_total",
            "Times that such a page answered.",
            filters.pages_used(),
        ),
    ]
}

/// Adds to a counter.
pub fn add(counter: &AtomicU64, count: u64) {
    counter.fetch_add(count, Ordering::Relaxed);
}

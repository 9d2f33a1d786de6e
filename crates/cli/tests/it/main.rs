//! The real binary, started on free ports and driven from outside.
#![expect(
    clippy::unwrap_used,
    reason = "what a test needs and does not get is its failure"
)]
#![expect(unreachable_pub, reason = "no crate sees into a test program")]

mod alter;
mod attacks;
mod attribution_table;
mod attribution_verb;
mod before_login;
mod bench_verb;
mod collect;
mod collect_http;
mod collect_tree;
mod column_types;
mod command_line;
mod constants;
mod damage;
mod data_verbs;
mod demo;
mod depths;
mod explain;
mod facets;
mod guards;
mod http_door;
mod kept_types;
mod kill;
mod kill_queue;
mod life;
mod load_verb;
mod log_replay;
mod log_verb;
mod match_verb;
mod mysql_door;
mod other_sites;
mod query_log;
mod queue_doors;
mod queue_waits;
#[path = "../../../../bench/src/random.rs"]
mod random;
mod refused_memory;
mod relations;
mod scribe_door;
mod scripts;
mod scroll;
mod searches;
mod server;
mod syslog_door;
mod time_zones;
mod touches;
mod transactions;

mod webhook;

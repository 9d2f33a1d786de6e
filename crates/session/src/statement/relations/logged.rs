//! The last searches of the query log.

use relation::value::Value;

use super::{Asked, NUMBER, Relation, Rows, named, number, text};
use crate::clock::civil;
use crate::errors::Failure;
use crate::query_log::LoggedAt;

pub(super) const RELATIONS: &[Relation] = &[Relation {
    name: "system.query_log",
    columns: named!(
        time, real_us: NUMBER, queued_us: NUMBER, found: NUMBER, returned: NUMBER, faults: NUMBER, read_bytes: NUMBER, table, mode, query, ranker,
        connection: NUMBER, client, error, statement
    ),
    asks: None,
    rows: logged,
}];

/// The searches, the latest first, over tables that the client may read.
fn logged(asked: &Asked<'_>) -> Result<Rows, Failure> {
    asked.gather(asked.searches(), |logged| Ok(vec![row(logged.get())]))
}

fn row(logged: LoggedAt<'_>) -> Vec<Value> {
    let entry = logged.entry();
    let known = |known: Option<u64>| known.map_or(Value::Null, number);
    let words =
        |known: Option<&[u8]>| known.map_or(Value::Null, |it| text(String::from_utf8_lossy(it)));
    vec![
        text(civil(logged.unix_us().div_euclid(1_000_000))),
        known(entry.real_us),
        known(entry.queued_us),
        known(entry.found),
        known(entry.returned),
        known(entry.faults),
        known(entry.read_bytes),
        text(String::from_utf8_lossy(&entry.tables)),
        entry.mode.map_or(Value::Null, |mode| text(mode.code())),
        words(entry.query.as_deref()),
        words(entry.ranker.as_deref()),
        known(entry.connection),
        words(entry.client.as_deref()),
        words(entry.error.as_deref()),
        words(entry.statement.as_deref()),
    ]
}

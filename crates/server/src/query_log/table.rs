//! The table of the query log: rows of a search table, so that the log is searched, grouped and heard by standing queries.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use relation::request::Insert;
use relation::value::Value;
use session::Session;
use session::errors::Failure;
use session::statement::{self, Parsed};
use study::log::Entry;
use wire::sql::Statement;

use crate::limits::{QUERY_LOG_ROWS_EVERY, QUERY_LOG_ROWS_MAX, QUERY_LOG_ROWS_WAITING_MAX};
use crate::server::{OWN_SESSION, Server};

/// The columns, with what a row has in them.
const COLUMNS: &str = "at timestamp, real_us bigint, queued_us bigint, found bigint, returned bigint, faults bigint, read_bytes bigint, tables string, \
                       mode string, query text, ranker string, connection bigint, client string, error string, \
                       statement string";

/// Begins to keep entries as rows of a table. An entry that finds no room in the channel is lost.
pub(super) fn keep(server: &Arc<Server>, table: String) -> SyncSender<Vec<Value>> {
    let (to, from) = sync_channel(QUERY_LOG_ROWS_WAITING_MAX);
    let server = Arc::clone(server);
    tokio::spawn(async move {
        let mut stopping = server.stopping();
        let mut look = tokio::time::interval(QUERY_LOG_ROWS_EVERY);
        let (mut is_made, mut is_failing) = (false, false);
        loop {
            let ends = tokio::select! {
                _ = stopping.wait_for(|stop| *stop) => true,
                _ = look.tick() => false,
            };
            while let Some(rows) = some_rows(&from) {
                let count = rows.len() as u64;
                match put(&server, &table, &mut is_made, rows).await {
                    Ok(()) => is_failing = false,
                    Err(failure) => {
                        server.query_log.lose_rows(count);
                        if !std::mem::replace(&mut is_failing, true) {
                            let why = failure.to_string();
                            tracing::warn!(table, why, "rows of the query log are lost");
                        }
                    }
                }
            }
            if ends {
                return;
            }
        }
    });
    to
}

/// The rows that wait, at most [`QUERY_LOG_ROWS_MAX`]; `None`: none do.
fn some_rows(from: &Receiver<Vec<Value>>) -> Option<Vec<Vec<Value>>> {
    let rows: Vec<_> = from.try_iter().take(QUERY_LOG_ROWS_MAX).collect();
    (!rows.is_empty()).then_some(rows)
}

/// Inserts rows, into a table that is made by the first of them.
async fn put(
    server: &Server,
    table: &str,
    is_made: &mut bool,
    rows: Vec<Vec<Value>>,
) -> Result<(), Failure> {
    let mut session = Session::new(OWN_SESSION, String::new(), String::new(), None);
    if !*is_made {
        let create = format!(
            "CREATE TABLE IF NOT EXISTS `{table}` ({COLUMNS}) sync='never' keep='30d' keep_by='at'"
        );
        if let Some((parsed, _)) = statement::next(server, &session, create.as_bytes()).await {
            statement::execute(server, &mut session, parsed).await?;
        }
        *is_made = true;
    }
    let names = COLUMNS
        .split(", ")
        .filter_map(|column| column.split(' ').next());
    let insert = Insert {
        table: table.to_owned(),
        columns: Some(names.map(str::to_owned).collect()),
        rows,
        replace: false,
    };
    let parsed = Parsed::of(Statement::Insert(insert));
    statement::execute(server, &mut session, parsed)
        .await
        .map(|_| ())
}

/// The row of an entry.
pub(super) fn row(unix_us: i64, entry: &Entry<'_>) -> Vec<Value> {
    let number = |known: Option<u64>| Value::Int(known.unwrap_or(0).into());
    let text = |known: Option<&[u8]>| {
        Value::Str(String::from_utf8_lossy(known.unwrap_or_default()).into_owned())
    };
    vec![
        Value::Int(unix_us.div_euclid(1_000_000).into()),
        number(entry.real_us),
        number(entry.queued_us),
        number(entry.found),
        number(entry.returned),
        number(entry.faults),
        number(entry.read_bytes),
        text(Some(&entry.tables)),
        Value::Str(entry.mode.map_or("", |mode| mode.code()).to_owned()),
        text(entry.query.as_deref()),
        text(entry.ranker.as_deref()),
        number(entry.connection),
        text(entry.client.as_deref()),
        text(entry.error.as_deref()),
        text(entry.statement.as_deref()),
    ]
}

//! The table `touches` as the server writes and reads it.

use relation::request::Insert;
use relation::value::Value;
use session::errors::{self, Failure};
use study::attribution::amount::{Amount, MILLION};
use study::attribution::limits::FIRST_TOUCH_DAYS;
use study::attribution::record::{Told, Touch};
use study::attribution::table::{self, COLUMNS, TABLE};
use wire::sql::Statement;

use crate::http::document;
use crate::server::Server;

/// A row before it has an id.
pub(super) struct Row {
    pub visitor: String,
    pub time_s: i64,
    pub told: Told,
    pub is_confirmed: bool,
    pub site: String,
}

/// Whether a row was stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stored {
    /// By this call.
    New,
    /// A row of that id is there: nothing was stored.
    Before,
}

/// What a stored row says.
pub(super) struct StoredRow {
    pub visitor: String,
    pub order_id: String,
    pub currency: String,
    /// `None`: it is a touch.
    pub value: Option<Amount>,
    pub is_confirmed: bool,
}

/// Makes the table unless it is there, as the server starts, so that standing queries can listen to it before the first touch. Warns of a
/// table that lacks a column.
pub(crate) async fn prepare(server: &Server) {
    let settings = server.settings();
    if settings.read_only || settings.live.touch.origins.is_empty() {
        return;
    }
    let names: Vec<&str> = COLUMNS.iter().map(|column| column.name).collect();
    let look = format!("SELECT {} FROM {TABLE} LIMIT 1", names.join(", "));
    let made = match server.run(&table::create()).await {
        Ok(_) => server.run(&look).await,
        Err(failure) => Err(failure),
    };
    if let Err(failure) = made {
        let why = failure.to_string();
        tracing::warn!(table = TABLE, why, "touches cannot be stored");
    }
}

/// Inserts a row. Durable when it returns. An order gets the first touch of its visitor.
///
/// # Errors
/// Those of an INSERT.
pub(super) async fn insert(server: &Server, id: u64, row: Row) -> Result<Stored, Failure> {
    let first = match &row.told {
        Told::Touch(_) => Touch::default(),
        Told::Order(_) => first_touch(server, &row.visitor, row.time_s).await?,
    };
    let values = values(id, row, first);
    match insert_values(server, values.clone()).await {
        Err(failure) if failure.kind == errors::NO_SUCH_TABLE => {
            server.run(&table::create()).await?;
            insert_values(server, values).await
        }
        done => done,
    }
}

async fn insert_values(server: &Server, values: Vec<Value>) -> Result<Stored, Failure> {
    let names = COLUMNS.iter().map(|column| column.name);
    let columns = std::iter::once("id").chain(names).map(str::to_owned);
    let insert = Insert {
        table: TABLE.to_owned(),
        columns: Some(columns.collect()),
        rows: vec![values],
        replace: false,
    };
    match document::execute(server, TABLE, Statement::Insert(insert)).await {
        Ok(_) => Ok(Stored::New),
        Err(failure) if failure.kind == errors::DUPLICATE_ID => Ok(Stored::Before),
        Err(failure) => Err(failure),
    }
}

/// The values of a row: its id, then those of [`COLUMNS`].
fn values(id: u64, row: Row, first: Touch) -> Vec<Value> {
    let (touch, value, order_id, currency) = match row.told {
        Told::Touch(touch) => (touch, Value::Null, String::new(), String::new()),
        Told::Order(order) => {
            let value = Value::Str(decimal(order.value));
            (Touch::default(), value, order.id, order.currency)
        }
    };
    vec![
        Value::Int(id.into()),
        Value::Str(row.visitor),
        Value::Int(row.time_s.into()),
        Value::Str(touch.source),
        Value::Str(touch.medium),
        Value::Str(touch.subcat),
        value,
        Value::Str(order_id),
        Value::Str(currency),
        Value::Int(row.is_confirmed.into()),
        Value::Str(first.source),
        Value::Str(first.medium),
        Value::Str(first.subcat),
        Value::Str(row.site),
    ]
}

/// An amount with all six digits behind its point.
pub(super) fn decimal(amount: Amount) -> String {
    let sign = if amount.0 < 0 { "-" } else { "" };
    let millionths = amount.0.unsigned_abs();
    let million = MILLION.unsigned_abs();
    format!("{sign}{}.{:06}", millionths / million, millionths % million)
}

/// The oldest touch of a visitor in the window before a time, as reports find it; of several at one moment that with the least id.
async fn first_touch(server: &Server, visitor: &str, time_s: i64) -> Result<Touch, Failure> {
    let from_s = time_s - FIRST_TOUCH_DAYS * 86_400;
    let visitor = collect::quoted_text(visitor);
    let select = format!(
        "SELECT source, medium, subcat FROM {TABLE} WHERE visitor={visitor} AND value IS NULL \
         AND time BETWEEN {from_s} AND {time_s} ORDER BY time ASC, id ASC LIMIT 1"
    );
    let rows = run_on_table(server, &select).await?;
    let mut row = rows.into_iter().next().unwrap_or_default().into_iter();
    let mut next = || row.next().map(text_of).unwrap_or_default();
    Ok(Touch {
        source: next(),
        medium: next(),
        subcat: next(),
    })
}

/// The visitor of an order; of several rows a confirmed one before others, then the earliest.
pub(super) async fn visitor_of(server: &Server, order: &str) -> Result<Option<String>, Failure> {
    let order = collect::quoted_text(order);
    let select = format!(
        "SELECT visitor FROM {TABLE} WHERE order_id={order} ORDER BY confirmed DESC, time ASC, id ASC LIMIT 1"
    );
    let rows = run_on_table(server, &select).await?;
    Ok(rows.into_iter().flatten().next().map(text_of))
}

/// The row of an id.
pub(super) async fn row_of_id(server: &Server, id: u64) -> Result<Option<StoredRow>, Failure> {
    let select =
        format!("SELECT visitor, order_id, currency, value, confirmed FROM {TABLE} WHERE id={id}");
    let rows = run_on_table(server, &select).await?;
    let read = |row: Vec<Value>| {
        let [visitor, order_id, currency, value, confirmed] = <[Value; 5]>::try_from(row).ok()?;
        let value = match value {
            Value::Null => None,
            value => Amount::parse(text_of(value).as_bytes()).ok(),
        };
        Some(StoredRow {
            visitor: text_of(visitor),
            order_id: text_of(order_id),
            currency: text_of(currency),
            value: value.map(|written| written.amount),
            is_confirmed: confirmed == Value::Int(1),
        })
    };
    Ok(rows.into_iter().next().and_then(read))
}

fn text_of(value: Value) -> String {
    match value {
        Value::Str(text) => text,
        value => value.to_string(),
    }
}

/// As [`Server::run`]; a table that is not there has no rows.
async fn run_on_table(server: &Server, sql: &str) -> Result<Vec<Vec<Value>>, Failure> {
    match server.run(sql).await {
        Err(failure) if failure.kind == errors::NO_SUCH_TABLE => Ok(Vec::new()),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_written_digit_by_digit() {
        for (millionths, text) in [
            (0, "0.000000"),
            (129_900_000, "129.900000"),
            (-1, "-0.000001"),
            (i64::MAX, "9223372036854.775807"),
            (i64::MIN, "-9223372036854.775808"),
        ] {
            assert_eq!(decimal(Amount(millionths)), text);
        }
    }
}

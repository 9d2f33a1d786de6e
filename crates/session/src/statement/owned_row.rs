//! The row that `queue_wait` gave, kept with the session. It answers a Q4M worker's second statement, `SELECT * FROM t`.
//!
//! The engine would answer that SELECT between two batches, and so after a sync. The row needs no sync: it is durable, and only
//! its owner can end it. Anything else that may change it raises [`engine::Handle::upheavals`].

use engine::{Answer, Taken};
use relation::expression::Expression;
use relation::request::{Item, Output, Select};
use relation::schema::ColumnType;
use relation::value::Value;

use super::ready;

/// Largest row that a session keeps, in bytes of its texts. Ten thousand sessions may each keep a row.
const BYTES_MAX: usize = 4 << 10;

/// A row that the session owns.
#[derive(Debug)]
pub(crate) struct OwnedRow {
    table: String,
    upheavals: u64,
    columns: Vec<(String, ColumnType)>,
    values: Vec<Value>,
}

impl OwnedRow {
    /// The row taken from `table`. `upheavals` was read before the wait began. `None`: no row, or larger than [`BYTES_MAX`].
    pub(crate) fn new(table: &str, upheavals: u64, taken: Taken) -> Option<OwnedRow> {
        let is_small = taken.bytes() <= BYTES_MAX;
        let first = taken.rows.into_iter().next().filter(|_| is_small)?;
        Some(OwnedRow {
            table: table.to_lowercase(),
            upheavals,
            columns: taken.columns,
            values: first.values,
        })
    }
}

/// The answer to a plain SELECT of columns of the owned row; `None`: the engine must answer.
pub(crate) fn answer(owned: &Option<OwnedRow>, select: &Select, upheavals: u64) -> Option<Answer> {
    let owned = owned.as_ref()?;
    let is_plain = select.matching.is_none()
        && select.filter.is_none()
        && select.limit.is_none()
        && select.offset == 0
        && select.options.is_empty();
    if !is_plain || owned.upheavals != upheavals || owned.table != select.table {
        return None;
    }
    let (mut columns, mut row) = (Vec::new(), Vec::new());
    for item in &select.items {
        match item {
            Item::Star => {
                let shown = owned.columns.iter();
                columns.extend(shown.map(|(name, kind)| (name.clone(), Some(*kind))));
                row.extend(owned.values.iter().cloned());
            }
            Item::Value {
                what: Output::Expression(Expression::Column(column)),
                name,
            } => {
                let at = owned.columns.iter().position(|(name, _)| name == column)?;
                columns.push((name.clone(), Some(owned.columns[at].1)));
                row.push(owned.values.get(at)?.clone());
            }
            Item::TableStar(_) | Item::Value { .. } => return None,
        }
    }
    Some(ready(columns, vec![row]))
}

#[cfg(test)]
mod tests {
    use engine::TakenRow;

    use super::*;

    fn owned() -> Option<OwnedRow> {
        let columns = vec![
            ("v".to_owned(), ColumnType::Bigint),
            ("s".to_owned(), ColumnType::String),
        ];
        let values = vec![Value::Int(7), Value::Str("seven".to_owned())];
        let rows = vec![TakenRow {
            row: engine::RowNumber(1),
            delivery: 1,
            values,
        }];
        let taken = Taken {
            source: 1,
            columns,
            rows,
            ..Taken::default()
        };
        OwnedRow::new("Q", 5, taken)
    }

    fn select(text: &str) -> Select {
        match wire::sql::parse(text.as_bytes()) {
            Ok(wire::sql::Statement::Select(select)) => select,
            other => panic!("{other:?}"),
        }
    }

    fn told(text: &str, upheavals: u64) -> Option<Vec<Value>> {
        let mut answer = answer(&owned(), &select(text), upheavals)?;
        answer.rows.next().map(Result::unwrap)
    }

    #[test]
    fn the_row_and_its_columns_are_at_hand() {
        let both = [Value::Int(7), Value::Str("seven".to_owned())];
        assert_eq!(told("SELECT * FROM q", 5).unwrap(), both);
        assert_eq!(told("SELECT s FROM q", 5).unwrap(), both[1..]);
    }

    #[test]
    fn after_an_upheaval_the_engine_is_asked() {
        assert_eq!(told("SELECT * FROM q", 6), None);
    }

    #[test]
    fn what_is_more_than_the_row_is_the_engines_matter() {
        for text in [
            "SELECT * FROM other",
            "SELECT * FROM q WHERE v=7",
            "SELECT * FROM q LIMIT 0",
            "SELECT COUNT(*) FROM q",
            "SELECT nothing FROM q",
        ] {
            assert_eq!(told(text, 5), None, "{text}");
        }
    }

    #[test]
    fn a_large_row_is_not_kept() {
        let values = vec![Value::Str("x".repeat(BYTES_MAX + 1))];
        let rows = vec![TakenRow {
            row: engine::RowNumber(1),
            delivery: 1,
            values,
        }];
        let taken = Taken {
            rows,
            ..Taken::default()
        };
        assert!(OwnedRow::new("q", 0, taken).is_none());
    }
}

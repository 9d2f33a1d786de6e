use relation::expression::Expression;
use relation::schema::{Column, ColumnType};

use super::*;

const ROW_BYTES: u64 = 1 << 20;

/// Shows the one column of rows of a mebibyte each, `named` times each, with memory for `bytes`.
fn shown(rows: u64, named: usize, bytes: u64) -> Result<Answer> {
    let item = Item::Value {
        what: Output::Expression(Expression::Column("body".to_owned())),
        name: "body".to_owned(),
    };
    let select = Select::new("q", vec![item; named]);
    let columns = [Column {
        name: "body".to_owned(),
        kind: ColumnType::String,
        nullable: true,
        default: None,
        keyed: false,
    }];
    let scope = Scope {
        columns: &columns,
        has_id: false,
        starred: 1,
        is_searched: false,
        is_standing: false,
    };
    let control = within(bytes);
    let source = QueueRows { control: &control };
    let row = |_| Ok(vec![Value::Str("x".repeat(ROW_BYTES as usize))]);
    answer("q", &select, &scope, &source, rows, (0..rows).map(row))
}

#[test]
fn an_answer_ends_with_an_error_before_it_fills_memory() {
    assert!(shown(7, 1, 8 * ROW_BYTES).is_ok());
    let refused = shown(9, 1, 8 * ROW_BYTES).map(|_| ());
    assert!(
        matches!(refused, Err(Error::SearchMemory { .. })),
        "{refused:?}"
    );
}

#[test]
fn a_column_that_is_named_often_counts_as_often() {
    assert!(shown(1, 7, 8 * ROW_BYTES).is_ok());
    let refused = shown(1, 9, 8 * ROW_BYTES).map(|_| ());
    assert!(
        matches!(refused, Err(Error::SearchMemory { .. })),
        "{refused:?}"
    );
}

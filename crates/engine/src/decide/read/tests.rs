use super::*;

const ROW_BYTES: u64 = 1 << 20;

/// Shows the one column of rows of a mebibyte each, `named` times each, with memory for `bytes`.
fn shown(rows: u64, named: usize, bytes: u64) -> Result<Answer> {
    let item = Item::Value {
        what: Output::Expression(Expression::Column("body".to_owned())),
        name: "body".to_owned(),
    };
    let select = Select {
        table: "q".to_owned(),
        items: vec![item; named],
        matching: None,
        filter: None,
        order: Vec::new(),
        limit: None,
        offset: 0,
        options: Vec::new(),
    };
    let scan = Scan::new("q", &[("body", ColumnType::String)], 1, &select).unwrap();
    let access = Access {
        value: &|(): &(), _| Value::Str("x".repeat(ROW_BYTES as usize)),
        accepts: &|(): &()| true,
        bytes: &|(): &()| 0,
        takes_all: true,
    };
    let all = (0..rows).map(|_| Ok(()));
    scan.answer(rows, all, &access, &Memory::new(bytes))
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

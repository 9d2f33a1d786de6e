use super::*;
use crate::command::Kind;

#[test]
fn a_stored_query_that_is_refused_is_named_and_changes_nothing() {
    let definition = Definition {
        name: "alerts".to_owned(),
        kind: Kind::Percolate {
            on: Vec::new(),
            into: None,
            syntax: Default::default(),
        },
        columns: Vec::new(),
        analysis: Default::default(),
    };
    let mut table = PercolateTable::new(Arc::new(definition), 0);
    let row = QueryRow {
        id: 7,
        query: "\"never closed".to_owned(),
        tags: String::new(),
        filters: String::new(),
        source: String::new(),
    };
    let refused = table.store(&row, 1).unwrap_err();
    let text = refused.to_string();
    assert!(
        text.starts_with("stored query 7 of table 'alerts': "),
        "{text}"
    );
    assert_eq!((table.set.len(), table.changed), (0, 0));
}

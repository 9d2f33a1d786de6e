use super::{COLUMNS, create};

/// The page that says what the columns hold.
const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/attribution.md");

#[test]
fn the_document_has_the_columns() {
    let document = std::fs::read_to_string(DOCUMENT).unwrap();
    for column in COLUMNS {
        let row = format!(
            "| `{}` | `{}` | {} |",
            column.name, column.kind, column.text
        );
        assert!(document.contains(&row), "docs/attribution.md lacks:\n{row}");
    }
}

#[test]
fn the_table_is_made_with_its_columns_and_keys() {
    let create = create();
    assert!(
        create.starts_with("CREATE TABLE IF NOT EXISTS touches (visitor string, time timestamp,")
    );
    assert!(
        create.ends_with("site string, KEY (visitor), KEY (order_id))"),
        "{create}"
    );
}

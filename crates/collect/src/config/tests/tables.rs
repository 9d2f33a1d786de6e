//! Stores of tables.

use super::*;

/// The problems of a store with these lines.
fn problems(lines: &str) -> String {
    told(&store(lines), Defaults::V2_2).1.join("; ")
}

fn table(lines: &str) -> TableConfig {
    let (configuration, problems) = told(&store(lines), Defaults::V2_2);
    assert_eq!(problems, Vec::<String>::new());
    match &configuration.stores[0].store {
        StoreConfig::Table(table) => (**table).clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_type_of_table_is_read_with_its_columns_and_queries() {
    let text = table("type=index\ntable=logs\ncategory_column=c\ntime_column=t");
    assert_eq!(text.kind, TableKind::Index);
    assert_eq!(
        text.columns(),
        [("body", "text"), ("c", "string"), ("t", "timestamp")]
    );
    let json = table("type=queue\ntable=jobs\nformat=json\nfields=level a.b:n:int\nhost_column=h");
    assert_eq!(json.kind, TableKind::Queue);
    assert_eq!(
        json.columns(),
        [
            ("level", "text"),
            ("n", "int"),
            ("rest", "string"),
            ("h", "string")
        ]
    );
    let pq = table(
        "type=percolate\ntable=alerts\ninto=hits\n<queries>\n7=error -test\n2=\"disk full\"\n</queries>",
    );
    let queries = [
        (2, "\"disk full\"".to_owned()),
        (7, "error -test".to_owned()),
    ];
    assert_eq!(
        (pq.kind, pq.queries),
        (TableKind::Percolate, queries.to_vec())
    );
}

#[test]
fn a_store_of_a_table_that_cannot_be_is_left_out_with_the_reason() {
    for (lines, wanted) in [
        ("type=index", "no table="),
        ("type=index\ntable=t\nformat=xml", "neither text nor json"),
        ("type=index\ntable=t\nformat=json", "needs fields="),
        (
            "type=index\ntable=t\nformat=json\nfields=a..b",
            "a..b in fields",
        ),
        (
            "type=index\ntable=t\nformat=json\nfields=a:b:blob",
            "types are",
        ),
        (
            "type=index\ntable=t\nformat=json\nfields=a.b a",
            "a part of it",
        ),
        (
            "type=index\ntable=t\nformat=json\nfields=a a:b",
            "a part of it",
        ),
        ("type=index\ntable=t\nhost_column=Body", "filled twice"),
        (
            "type=multi\n<store0>\ntype=index\ntable=t\n</store0>",
            "at the top of the file",
        ),
    ] {
        let told = problems(lines);
        assert!(told.contains(wanted), "{lines}: {told}");
    }
}

#[test]
fn what_has_no_effect_in_a_store_of_a_table_is_told() {
    for (lines, wanted) in [
        ("type=index\ntable=t\nsync=never", "sync has no effect here"),
        ("type=index\ntable=t\nfields=a", "without format=json"),
        (
            "type=index\ntable=t\nformat=json\nfields=a\ncolumn=x",
            "fields names the columns",
        ),
        ("type=index\ntable=t\ninto=x", "into has no effect"),
        (
            "type=index\ntable=t\n<queries>\n1=a\n</queries>",
            "<queries> has no effect",
        ),
        (
            "type=percolate\ntable=t\ninto=x\n<queries>\nfirst=a\n</queries>",
            "first is no variable",
        ),
        (
            "type=percolate\ntable=t\ninto=x\n<queries>\n1=a\n1=b\n</queries>",
            "given in line",
        ),
    ] {
        let told = problems(lines);
        assert!(told.contains(wanted), "{lines}: {told}");
    }
}

use super::{ReadColumns, TableRows};
use crate::attribution::bounds::Unbounded;
use crate::attribution::events::Events;
use crate::attribution::figures::Places;
use crate::attribution::input::TouchOptions;
use crate::attribution::settings::Settings;
use crate::attribution::table;
use crate::attribution::tally::Detail;

fn names(columns: &[&str]) -> Vec<String> {
    columns.iter().map(|name| (*name).to_owned()).collect()
}

const OPTIONS: TouchOptions = TouchOptions {
    currency: None,
    now_ms: 2_000_000_000_000,
};

#[test]
fn the_columns_of_the_table_touches_are_read_by_name() {
    let columns: Vec<String> = table::COLUMNS
        .iter()
        .map(|column| column.name.to_owned())
        .collect();
    let read = ReadColumns::among(table::TABLE, &columns).unwrap();
    let expected = [
        "visitor",
        "time",
        "source",
        "medium",
        "subcat",
        "value",
        "order_id",
        "currency",
        "confirmed",
    ];
    assert_eq!(read.names, expected);
}

#[test]
fn a_missing_column_is_named() {
    let missing = |columns: &[&str]| ReadColumns::among("visits", &names(columns)).unwrap_err();
    assert!(
        missing(&["id", "time", "source"]).starts_with("the table visits has no column visitor: ")
    );
    assert!(missing(&["visitor", "source"]).contains("no column time: "));
    assert!(missing(&["visitor", "TIME", "medium"]).contains("no column channel or source: "));
    assert!(ReadColumns::among("visits", &names(&["Visitor", "TIME", "channel"])).is_ok());
}

#[test]
fn a_confirmed_order_counts_in_place_of_what_a_page_told() {
    let columns = names(&[
        "visitor",
        "time",
        "channel",
        "value",
        "order_id",
        "confirmed",
    ]);
    let mut events = Events::new(Settings::default().naming());
    let mut places = Places::default();
    let read = ReadColumns::among("touches", &columns).unwrap();
    let mut rows = TableRows::new("touches", read, &mut events, &mut places, &OPTIONS);
    let written = [
        ["v", "1700000000", "Search", "", "", "0"],
        ["v", "1700000100", "", "90.00", "7", "0"],
        ["v", "1700000200", "", "129.900000", "7", "1"],
        ["v", "1700000300", "", "1", "8", "maybe"],
        ["", "1700000400", "Search", "", "", "0"],
    ];
    for row in written {
        rows.add(&row.map(str::as_bytes)).unwrap();
    }
    assert_eq!(rows.count(), 5);
    let (lines, others) = rows.finish();
    assert_eq!((lines.count, lines.unknown, others), (5, 2, 0));
    assert_eq!(lines.examples[0].line, 4);
    assert_eq!(lines.examples[0].why, "confirmed is neither 0 nor 1");
    let settings = Settings::default();
    let counted = events.attribute(
        &settings.window,
        &settings.models,
        Detail::Figures,
        |channels| settings.rule(channels),
        &Unbounded,
    );
    let counted = counted.unwrap();
    assert_eq!(counted.tally.total.value.value(), 129.9);
    assert_eq!(counted.tally.total.conversions.value(), 1.0);
}

/// What is counted for the memory of a request is what the lists take.
#[test]
fn the_memory_of_events_is_told_before_it_is_taken() {
    let columns = names(&["visitor", "time", "channel", "value", "order_id"]);
    let mut events = Events::new(Settings::default().naming());
    let mut places = Places::default();
    let read = ReadColumns::among("touches", &columns).unwrap();
    let mut rows = TableRows::new("touches", read, &mut events, &mut places, &OPTIONS);
    let mut told = 0;
    for number in 0..10_000 {
        let (visitor, time) = (
            format!("visitor-{number}"),
            (1_700_000_000 + number).to_string(),
        );
        let row = [visitor.as_str(), &time, "Search", "", ""];
        let text_bytes = row.iter().map(|text| text.len()).sum();
        told = told.max(rows.bytes(1, text_bytes));
        rows.add(&row.map(str::as_bytes)).unwrap();
        assert!(rows.bytes(0, 0) <= told, "row {number}");
    }
    // 16 bytes an event, and the visitor's name with its places.
    assert!((10_000 * 30..10_000 * 200).contains(&told), "{told}");
}

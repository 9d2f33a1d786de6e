use proptest::prelude::*;

use super::super::write_json;
use super::*;

/// Lines of every key, with values that the quick reader takes, refuses and must not misread.
fn line() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        "\"[a-z ]{0,5}\"",
        "[0-9]{1,2}",
        "[0-9]{1,10}\\.[0-9]{6}",
        "[0-9]{18,21}",
        Just("0.5".to_owned()),
        Just("01".to_owned()),
        Just("1e3".to_owned()),
        Just("-1".to_owned()),
        Just("null".to_owned()),
        Just("\"a\\\"b\"".to_owned()),
        Just("\"\u{1}\"".to_owned()),
        Just("[\"a\",\"b\"]".to_owned()),
        Just("{\"a\":1}".to_owned()),
        Just("\"ext2\"".to_owned()),
        Just("\"attr-\"".to_owned()),
    ];
    const KEYS: [&str; 33] = [
        "real",
        "wall",
        "queued",
        "multiplier",
        "found",
        "returned",
        "mode",
        "filters",
        "sort",
        "offset",
        "limit",
        "group_by",
        "table",
        "tables",
        "query",
        "statement",
        "cut",
        "ranker",
        "threads",
        "connection",
        "client",
        "error",
        "comment",
        "bytes",
        "parts",
        "reads",
        "read_bytes",
        "read_time",
        "cpu",
        "faults",
        "lost",
        "later",
        "time",
    ];
    let member = (prop::sample::select(&KEYS[..]), value);
    let ending = prop_oneof![Just("}"), Just(" }"), Just("}}"), Just(",}"), Just("")];
    (prop::collection::vec(member, 0..6), ending).prop_map(|(members, ending)| {
        let mut line = "{\"time\":\"2024-04-28T12:38:02.808Z\"".to_owned();
        for (key, value) in members {
            line += &format!(",\"{key}\":{value}");
        }
        line + ending
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn what_the_quick_reader_takes_means_what_the_parser_says(line in line()) {
        let mut quick = Entry::default();
        if flat::read(line.as_bytes(), &mut quick).is_some() {
            let mut slow = Entry::default();
            prop_assert_eq!(parse_any(line.as_bytes(), &mut slow), Some(()), "{}", line);
            prop_assert_eq!(quick, slow);
        }
    }
}

#[test]
fn the_quick_reader_takes_what_the_writer_writes() {
    let text = |text: &'static str| Some(Cow::Borrowed(text.as_bytes()));
    let number = Some(u64::from(u32::MAX));
    let entry = Entry {
        time: LogTime {
            local_ms: 1_714_307_882_808,
            offset_minutes: Some(0),
        },
        real_us: Some(153),
        wall_us: Some(1_000_001),
        queued_us: Some(0),
        multiplier: Some(3),
        found: number,
        returned: number,
        mode: Some(MatchMode::Extended2),
        filters: number,
        sort: Some(SortMode::Extended),
        window: Some((5, 20)),
        group_by: text("tag"),
        tables: Cow::Borrowed(b"posts"),
        query: text("grün | 'blau'"),
        statement: text("SELECT 1"),
        cut_bytes: number,
        ranker: text("bm25"),
        threads: number,
        connection: number,
        client: text("127.0.0.1"),
        error: text("none"),
        comment: text("mine"),
        table_bytes: number,
        table_parts: number,
        reads: number,
        read_bytes: number,
        read_us: Some(7),
        cpu_us: Some(8),
        faults: number,
    };
    let mut line = Vec::new();
    write_json(&entry, 100, &mut line);
    line.pop();
    let mut read = Entry::default();
    assert_eq!(flat::read(&line, &mut read), Some(()));
    assert_eq!(read, entry);
}

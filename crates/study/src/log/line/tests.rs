//! Known lines, and every field written and read back.

use std::borrow::Cow;

use proptest::prelude::*;

use super::super::entry::{Entry, Form, MatchMode, SortMode};
use super::super::time::LogTime;
use super::{
    begins_record, parse, parse_lost, write_json, write_lost, write_plain, write_sphinxql,
};

fn entry(line: &str) -> Entry<'_> {
    assert!(begins_record(line.as_bytes()), "{line}");
    parse(line.as_bytes())
        .unwrap_or_else(|| panic!("unknown: {line}"))
        .1
}

fn text<'e>(bytes: &'e Option<Cow<'_, [u8]>>) -> Option<&'e str> {
    bytes
        .as_deref()
        .map(|bytes| std::str::from_utf8(bytes).unwrap())
}

#[test]
fn the_one_time_line_of_sphinx_0_9_8_is_read() {
    for line in [
        "[Fri Jun 29 21:17:58.609 2007] 0.004 sec [all/0/rel 35254 (0,20)] [lj] test",
        "[Fri Jun 29 21:17:58 2007] 0.004 sec [all/0/rel 35254 (0,20)] [lj] test",
    ] {
        let entry = entry(line);
        assert_eq!(
            (entry.real_us, entry.wall_us, entry.found),
            (Some(4_000), None, Some(35_254))
        );
        assert_eq!(
            (entry.mode, entry.sort),
            (Some(MatchMode::All), Some(SortMode::Relevance))
        );
        assert_eq!((entry.filters, entry.window), (Some(0), Some((0, 20))));
        assert_eq!(
            (&*entry.tables, text(&entry.query)),
            (&b"lj"[..], Some("test"))
        );
    }
}

#[test]
fn the_options_of_a_plain_line_are_read() {
    let line = "[Sun Apr 28 15:09:44.974 2024] 0.010 sec 0.020 sec x4 [ext2/3/attr- 7 (40,100) @channel_id] [lj, small] \
                [ios=6 kb=111.1 ioms=0.5 cpums=0.3] [front page]   two words ";
    let entry = entry(line);
    assert_eq!(
        (entry.real_us, entry.wall_us, entry.multiplier),
        (Some(10_000), Some(20_000), Some(4))
    );
    assert_eq!(
        (text(&entry.group_by), text(&entry.comment)),
        (Some("channel_id"), Some("front page"))
    );
    assert_eq!(
        (entry.reads, entry.read_us, entry.cpu_us),
        (Some(6), Some(500), Some(300))
    );
    assert_eq!(entry.read_bytes, Some(113_767));
    assert_eq!(text(&entry.query), Some("two words"));
}

#[test]
fn counters_are_read_in_braces_and_with_the_name_of_the_manual() {
    let line = "[Fri Jun 29 21:17:58 2021] 0.004 sec [all/0/rel 35254 (0,20)] [lj] {ios=6 kb=111.1 ms=0.5} test";
    let entry = entry(line);
    assert_eq!(
        (entry.reads, entry.read_us, text(&entry.query)),
        (Some(6), Some(500), Some("test"))
    );
}

#[test]
fn a_json_request_in_a_plain_line_gives_its_words() {
    let line = "[Sun Apr 28 15:24:32.975 2024] 0.000 sec 0.000 sec [ext2/0/ext 0 (0,30)] [test] {     \"table\" : \"test\",     \
                \"query\":     {         \"match\":         {             \"*\" : \"test it\"         }     } }";
    assert_eq!(text(&entry(line).query), Some("test it"));
}

#[test]
fn the_lines_of_manticores_manual_are_read() {
    let first = entry(
        "/* Sun Apr 28 12:38:02.808 2024 conn 2 (127.0.0.1:53228) real 0.000 wall 0.001 found 5 */ SELECT * FROM test WHERE \
         MATCH('test') OPTION ranker=proximity;",
    );
    assert_eq!(
        (first.connection, text(&first.client)),
        (Some(2), Some("127.0.0.1:53228"))
    );
    assert_eq!(
        (first.real_us, first.wall_us, first.found),
        (Some(0), Some(1_000), Some(5))
    );
    assert_eq!(
        text(&first.statement),
        Some("SELECT * FROM test WHERE MATCH('test') OPTION ranker=proximity")
    );
    assert_eq!(
        (&*first.tables, text(&first.query)),
        (&b"test"[..], Some("test"))
    );

    let json = entry(
        "/* Sun Apr 28 12:40:57.366 2024 conn 4 (127.0.0.1:53256) real 0.000 wall 0.000 found 0 */  /*{ \"index\" : \"test\", \
         \"query\": { \"match\": { \"*\" : \"a */ b\" } }, \"_source\": [\"f\"], \"limit\": 30 } */",
    );
    assert_eq!(
        (&*json.tables, text(&json.query)),
        (&b"test"[..], Some("a */ b"))
    );

    let two = entry(
        "/* Sun Apr 28 12:40:57.366 2024 conn 4 (127.0.0.1:1) real 0.000 wall 0.000 x2 found 0 */  /*{\"index\":\"test\"}*/ \
         /*{\"query\":{\"query_string\":\"cat\"}} */ /* ios=1 kb=9.7 ioms=0.0 */",
    );
    assert_eq!(
        (&*two.tables, text(&two.query), two.multiplier),
        (&b"test"[..], Some("cat"), Some(2))
    );
    assert_eq!(two.reads, Some(1));

    let update = entry(
        "/* Sat Mar 15 01:05:28.508 2025 conn 7 (127.0.0.1:63942) real 0.000 */ UPDATE test SET title='x' WHERE id=1;",
    );
    assert!(!update.is_answered_search());
}

#[test]
fn errors_are_read_in_both_of_their_places() {
    let refused = entry(
        "/* Sat Nov 28 17:50:05.252 2026 conn 24 */ SELEC nonsense # error=sphinxql: syntax error",
    );
    assert_eq!(
        (text(&refused.error), text(&refused.statement)),
        (Some("sphinxql: syntax error"), Some("SELEC nonsense"))
    );
    let failed = entry(
        "/* Sat Nov 28 17:50:05.072 2026 conn 20 real 0.000 wall 0.000 found 0 */ SELECT * FROM absent WHERE MATCH('test'); \
         /* error=unknown local index 'absent' in search request */",
    );
    assert_eq!(
        text(&failed.error),
        Some("unknown local index 'absent' in search request")
    );
    assert!(!failed.is_answered_search());
}

#[test]
fn the_scan_of_a_statement_is_not_misled_by_quotes_names_and_facets() {
    for (statement, tables, query) in [
        (
            "SELECT 'from x', `match` FROM a, `b` WHERE MATCH('it\\'s; a \\\\ b')",
            "a, `b`",
            Some("it's; a \\ b"),
        ),
        (
            "select from_date from t1 where match ( \"x\" ) limit 5 facet brand",
            "t1",
            Some("x"),
        ),
        (
            "SELECT * FROM (SELECT * FROM inner_t WHERE MATCH('q')) ORDER BY id DESC",
            "inner_t",
            Some("q"),
        ),
        ("SELECT * FROM a; SHOW META", "a", None),
        (
            "/* page 3 */ SELECT * FROM a WHERE MATCH('x') /* of 7 */ LIMIT 1",
            "a",
            Some("x"),
        ),
        (
            "SELECT * FROM a WHERE b='x''; y' AND MATCH('it''s')",
            "a",
            Some("it's"),
        ),
        (
            "CALL PQ ('standing', 'a match(\\'x\\') from b')",
            "standing",
            None,
        ),
        ("SELECT * FROM * WHERE MATCH('')", "*", None),
    ] {
        let line = format!(
            "/* Sun Apr 28 12:38:02.808 2024 conn 2 real 0.000 wall 0.000 found 1 */ {statement}; /* ios=1 */"
        );
        let entry = entry(&line);
        assert_eq!(
            String::from_utf8_lossy(&entry.tables),
            tables,
            "{statement}"
        );
        assert_eq!(text(&entry.query), query, "{statement}");
        assert_eq!(text(&entry.statement), Some(statement));
        assert_eq!(entry.reads, Some(1));
    }
}

#[test]
fn other_forms_are_unknown() {
    for line in [
        "",
        "[query] 0.004 sec [all/0/rel 35254 (0,20)] [lj] test",
        "[Fri Jun 29 21:17:58.609 2007] 0.04 sec: [0 20 all/0/0 5] test",
        "[Ven Jui 29 21:17:58.609 2007] 0.004 sec [all/0/rel 35254 (0,20)] [lj] test",
        "[Fri Jun 29 21:17:58.609 2007] 0.004 sec [all/0/rel 35254 (0,20)] [l",
        "[Fri Jun 29 21:17:58.609 2007] 0.004 sec [most/0/rel 35254 (0,20)] [lj] test",
        "[Fri Jun 29 21:17:58.609 2007] -1.004 sec [all/0/rel 35254 (0,20)] [lj] test",
        "[Fri Jun 29 21:17:58.609 2007] 0.004 sec [all/0/rel 99999999999999999999999 (0,20)] [lj] test",
        "/* Sun Apr 28 12:38:02.808 2024 conn 2 real 0.0",
        "/* Sun Apr 28 12:38:02.808 2024 conn 2 real 0.000 wall 0.000 found 0 */",
        "{\"time\":\"yesterday\",\"real\":1}",
        "{\"time\":\"2024-04-28T12:38:02.808Z\",\"real\":-1}",
        "{\"real\":1}",
        "\u{0}\u{1}\u{2}",
    ] {
        assert_eq!(parse(line.as_bytes()), None, "{line}");
    }
}

#[test]
fn a_cut_statement_tells_its_length_and_hides_no_counter() {
    let statement = format!("SELECT * FROM t WHERE MATCH('{}')", "ä".repeat(100));
    let whole = Entry {
        real_us: Some(0),
        found: Some(1),
        tables: Cow::Borrowed(b"t"),
        query: Some(Cow::Owned("ä".repeat(100).into_bytes())),
        statement: Some(Cow::Borrowed(statement.as_bytes())),
        faults: Some(3),
        ..Entry::default()
    };
    let mut line = Vec::new();
    write_sphinxql(&whole, 50, &mut line);
    let (_, read) = parse(line.trim_ascii_end()).unwrap();
    assert_eq!(
        (read.cut_bytes, read.faults),
        (Some(statement.len() as u64), Some(3))
    );
    assert_eq!(text(&read.statement), Some(&statement[..49]));
    line.clear();
    write_json(&whole, 50, &mut line);
    let (_, read) = parse(line.trim_ascii_end()).unwrap();
    assert_eq!(read.cut_bytes, Some(statement.len() as u64));
    assert_eq!(text(&read.statement), Some(&statement[..49]));
}

#[test]
fn a_message_cannot_end_the_comment_that_holds_it() {
    let failed = Entry {
        statement: Some(Cow::Borrowed(b"SELECT 1")),
        error: Some(Cow::Borrowed(b"near '*/ */' \n here")),
        ..Entry::default()
    };
    let mut line = Vec::new();
    write_sphinxql(&failed, 1_000, &mut line);
    let (_, read) = parse(line.trim_ascii_end()).unwrap();
    assert_eq!(text(&read.error), Some("near '* / * /'   here"));
}

const MATCH_MODES: [MatchMode; 7] = [
    MatchMode::All,
    MatchMode::Any,
    MatchMode::Phrase,
    MatchMode::Boolean,
    MatchMode::Extended,
    MatchMode::Fullscan,
    MatchMode::Extended2,
];
const SORT_MODES: [SortMode; 6] = [
    SortMode::Relevance,
    SortMode::AttributeDescending,
    SortMode::AttributeAscending,
    SortMode::TimeSegments,
    SortMode::Extended,
    SortMode::Expression,
];

#[test]
fn a_statement_over_lines_is_written_on_one_with_the_same_meaning() {
    for (statement, line) in [
        ("SELECT *\nFROM a", "SELECT * FROM a"),
        ("SELECT 'x\ny\\\n', 1\r\n", "SELECT 'x\\ny\\n', 1  "),
        (
            "SELECT 1 -- it's one;\n, 2 # two\n+ 3",
            "SELECT 1  , 2  + 3",
        ),
        (
            "SELECT 1 /* a\nb -- c */ , 5--3\n",
            "SELECT 1 /* a b -- c */ , 5--3 ",
        ),
        ("SELECT '# no -- comment\n'", "SELECT '# no -- comment\\n'"),
        (
            "/* Sun Apr 28 12:38:02.808 2024 conn 2 real 0.000 */\nSELECT 1",
            "/* Sun Apr 28 12:38:02.808 2024 conn 2 real 0.000 */ SELECT 1",
        ),
    ] {
        let entry = Entry {
            statement: Some(Cow::Borrowed(statement.as_bytes())),
            ..Entry::default()
        };
        let mut written = Vec::new();
        write_sphinxql(&entry, 1_000, &mut written);
        let written = String::from_utf8(written).unwrap();
        let (_, statement) = written.split_once("1970 */ ").unwrap();
        assert_eq!(statement, format!("{line};\n"));
    }
}

/// Words without blanks at their ends, whatever else is in them.
fn words() -> impl Strategy<Value = String> {
    "[a-zäß\"|@~/()*;#{'-][a-zA-Z0-9 äß\"|@~/()*;#{}'\\[\\]-]{0,30}[a-z*]"
}

fn owned(text: Option<String>) -> Option<Cow<'static, [u8]>> {
    text.map(|text| Cow::Owned(text.into_bytes()))
}

fn some_time() -> impl Strategy<Value = LogTime> {
    (
        0_i64..4_000_000_000_000,
        proptest::option::of(-1_439_i16..1_440),
    )
        .prop_map(|(local_ms, offset_minutes)| LogTime {
            local_ms,
            offset_minutes,
        })
}

/// Counters in the resolution of plain and sphinxql lines, or finer for JSON.
fn counters(step_us: u64, step_bytes: bool) -> impl Strategy<Value = Entry<'static>> {
    let number = || proptest::option::of(0_u64..1_000_000);
    let all = (
        number(),
        number(),
        number(),
        number(),
        number(),
        number(),
        number(),
    );
    let bytes = proptest::option::of((0_u64..1_000_000, 0_u64..10));
    let reads = proptest::option::of((number(), 0_u64..1_000_000, 0_u64..1_000_000));
    (all, reads, bytes, number()).prop_map(move |(all, reads, bytes, cpu)| {
        let bytes = bytes.map(|(kb, tenth)| {
            if step_bytes {
                kb * 1_024 + (tenth * 1_024).div_ceil(10)
            } else {
                kb * 10 + tenth
            }
        });
        Entry {
            faults: all.0,
            table_bytes: all.1,
            table_parts: all.2,
            queued_us: all.3,
            returned: all.4,
            threads: all.5,
            // Plain lines have all three or none.
            reads: reads.map(|(reads, _, _)| reads.unwrap_or(0)),
            read_bytes: reads.map(|_| bytes.unwrap_or(0)),
            read_us: reads.map(|(_, us, _)| us * step_us),
            cpu_us: cpu.map(|us| us * step_us),
            ..Entry::default()
        }
    })
}

fn plain_entry() -> impl Strategy<Value = Entry<'static>> {
    let texts = (
        proptest::option::of("[a-z_]{1,9}"),
        "[a-z_]{1,9}(, [a-z]{1,4}){0,2}",
        proptest::option::of(words()),
    );
    let comment = proptest::option::of("[a-z]{1,9} [a-z]{1,9}");
    let numbers = (
        0_u64..100_000,
        0_u64..100_000,
        proptest::option::of(2_u64..100),
        any::<u32>(),
        0_u64..20,
    );
    let codes = (
        0..MATCH_MODES.len(),
        0..SORT_MODES.len(),
        0_u64..1_000,
        0_u64..1_000,
    );
    (
        some_time(),
        texts,
        comment,
        numbers,
        codes,
        counters(100, true),
    )
        .prop_map(
            |(time, (group_by, tables, query), comment, numbers, codes, counters)| Entry {
                time: LogTime {
                    offset_minutes: None,
                    ..time
                },
                real_us: Some(numbers.0 * 1_000),
                wall_us: Some(numbers.1 * 1_000),
                multiplier: numbers.2,
                found: Some(u64::from(numbers.3)),
                filters: Some(numbers.4),
                mode: Some(MATCH_MODES[codes.0]),
                sort: Some(SORT_MODES[codes.1]),
                window: Some((codes.2, codes.3)),
                group_by: owned(group_by),
                tables: Cow::Owned(tables.into_bytes()),
                query: owned(query),
                comment: owned(comment),
                ..counters
            },
        )
}

/// An entry of a SELECT whose tables and query stand in the statement.
fn sphinxql_entry() -> impl Strategy<Value = Entry<'static>> {
    let texts = (
        "[a-z_]{2,9}(, [a-z]{2,4}){0,2}",
        proptest::option::of(words()),
        proptest::option::of("[a-z0-9.:]{1,20}"),
    );
    let numbers = (
        0_u64..100_000,
        0_u64..100_000,
        proptest::option::of(2_u64..100),
        any::<u32>(),
        any::<u32>(),
    );
    let error = proptest::option::of("[a-z' ;#]{0,20}[a-z]");
    (some_time(), texts, numbers, error, counters(100, true)).prop_map(
        |(time, (tables, query, client), numbers, error, counters)| {
            let escaped = query
                .as_ref()
                .map(|query| query.replace('\\', "\\\\").replace('\'', "\\'"));
            let condition = escaped
                .map(|query| format!(" WHERE MATCH('{query}') AND a='x;y'"))
                .unwrap_or_default();
            Entry {
                time: LogTime {
                    offset_minutes: None,
                    ..time
                },
                real_us: Some(numbers.0 * 1_000),
                wall_us: Some(numbers.1 * 1_000),
                multiplier: numbers.2,
                found: Some(u64::from(numbers.3)),
                connection: Some(u64::from(numbers.4)),
                client: owned(client),
                statement: owned(Some(format!("SELECT * FROM {tables}{condition} LIMIT 5"))),
                tables: Cow::Owned(tables.into_bytes()),
                query: owned(query),
                error: owned(error.map(|error| error.trim().to_owned())),
                ..counters
            }
        },
    )
}

fn json_entry() -> impl Strategy<Value = Entry<'static>> {
    let any_text = || proptest::option::of(any::<String>());
    let times = (
        0_u64..1_000_000_000_000,
        0_u64..1_000_000_000_000,
        0_u64..1_000_000_000,
    );
    (
        plain_entry(),
        times,
        any_text(),
        any_text(),
        any_text(),
        any_text(),
        counters(1, false),
    )
        .prop_map(
            |(plain, times, statement, ranker, client, error, counters)| Entry {
                time: plain.time,
                real_us: Some(times.0),
                wall_us: Some(times.1),
                multiplier: plain.multiplier,
                found: plain.found,
                mode: plain.mode,
                sort: plain.sort,
                filters: plain.filters,
                window: plain.window,
                group_by: plain.group_by,
                tables: Cow::Owned(
                    String::from_utf8_lossy(&plain.tables)
                        .replace(", ", ",")
                        .into_bytes(),
                ),
                query: plain.query,
                comment: plain.comment,
                statement: owned(statement),
                ranker: owned(ranker),
                client: owned(client),
                error: owned(error),
                connection: Some(times.2),
                ..counters
            },
        )
}

proptest! {
    #[test]
    fn a_plain_line_gives_every_field_back(entry in plain_entry()) {
        let mut line = Vec::new();
        write_plain(&entry, 1_000, &mut line);
        prop_assert_eq!(parse(line.strip_suffix(b"\n").unwrap()), Some((Form::Plain, entry)), "{}", String::from_utf8_lossy(&line));
    }

    #[test]
    fn a_sphinxql_line_gives_every_field_back(entry in sphinxql_entry()) {
        let mut line = Vec::new();
        write_sphinxql(&entry, 1_000, &mut line);
        prop_assert_eq!(parse(line.strip_suffix(b"\n").unwrap()), Some((Form::Sphinxql, entry)), "{}", String::from_utf8_lossy(&line));
    }

    #[test]
    fn a_json_line_gives_every_field_back(entry in json_entry()) {
        let entry = Entry { time: LogTime { offset_minutes: Some(entry.time.offset_minutes.unwrap_or(0)), ..entry.time }, ..entry };
        let mut line = Vec::new();
        write_json(&entry, 10_000, &mut line);
        prop_assert_eq!(parse(line.strip_suffix(b"\n").unwrap()), Some((Form::Json, entry)), "{}", String::from_utf8_lossy(&line));
    }

    #[test]
    fn rubbish_and_half_lines_never_panic(entry in sphinxql_entry(), cut in any::<prop::sample::Index>(), noise in any::<Vec<u8>>()) {
        let mut line = Vec::new();
        write_sphinxql(&entry, 1_000, &mut line);
        write_plain(&entry, 1_000, &mut line);
        write_json(&entry, 1_000, &mut line);
        let place = cut.index(line.len());
        let _ = parse(&line[place..]);
        let _ = parse(&line[..place]);
        line.splice(place..place, noise.iter().copied());
        let _ = parse(&line);
        let _ = parse(&noise);
    }
}

#[test]
fn a_line_about_lost_lines_is_read_back_and_is_no_entry() {
    for form in Form::ALL {
        let mut line = Vec::new();
        write_lost(form, 3, &mut line);
        assert_eq!(line.pop(), Some(b'\n'));
        assert_eq!(parse_lost(&line), Some(3), "{form:?}");
        assert_eq!(parse(&line), None, "{form:?}");
    }
    assert_eq!(
        parse_lost(b"# -3 lines of the query log were lost here"),
        None
    );
    assert_eq!(parse_lost(b"{\"lost\":3,\"found\":4}"), None);
}

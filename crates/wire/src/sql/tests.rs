use language::pattern::like;
use proptest::prelude::*;
use relation::request::Insert;

use relation::value::Value;

use super::*;

/// One statement per line. The snapshot beside this file has the parsed form of each.
const STATEMENTS: &str = include_str!("tests/statements.sql");
/// One refused statement per line.
const REFUSED: &str = include_str!("tests/refused.sql");

fn read_each(lines: &str) -> String {
    let mut read = String::new();
    for line in lines.lines().filter(|line| !line.is_empty()) {
        read.push_str(line);
        read.push_str("\n    ");
        match parse(line.as_bytes()) {
            Ok(statement) => read.push_str(&format!("{statement:?}")),
            Err(error) => read.push_str(&format!("ERROR {}: {error}", error.code())),
        }
        read.push('\n');
    }
    read
}

#[test]
fn no_type_is_refused_as_one_that_is_not_there_yet() {
    use relation::schema::{ColumnType, TypeError, TypeSystem};
    for name in create::TYPES_NOT_YET {
        for system in [TypeSystem::Search, TypeSystem::Queue] {
            let read = ColumnType::parse(name, &[], false, system);
            assert_eq!(read, Err(TypeError::Unknown), "{name}");
        }
    }
}

#[test]
fn statements_are_read_as_the_snapshot_shows() {
    let read = read_each(STATEMENTS);
    assert!(!read.contains("ERROR"), "every one is understood:\n{read}");
    insta::assert_snapshot!(read);
}

#[test]
fn refusals_say_what_and_where() {
    let read = read_each(REFUSED);
    let lines = REFUSED.lines().filter(|line| !line.is_empty()).count();
    assert_eq!(
        read.matches("ERROR").count(),
        lines,
        "none is understood:\n{read}"
    );
    insta::assert_snapshot!(read);
}

fn values(text: &str) -> Vec<Vec<Value>> {
    match parse(format!("INSERT INTO t VALUES {text}").as_bytes()) {
        Ok(Statement::Insert(Insert { rows, .. })) => rows,
        other => panic!("{text}: {other:?}"),
    }
}

fn text(text: &str) -> Value {
    Value::Str(text.to_owned())
}

#[test]
fn values_are_mysqls() {
    let row = r#"('a', "b", 'it''s', "say ""x""", 'tab\tnl\nq\'\"\\z', '\0\b\r\Z', '100\%\_', 'é', 'a' 'b')"#;
    let strings = [
        "a",
        "b",
        "it's",
        "say \"x\"",
        "tab\tnl\nq'\"\\z",
        "\0\u{8}\r\u{1a}",
        "100\\%\\_",
        "é",
        "ab",
    ];
    assert_eq!(values(row), [strings.map(text)]);
    let numbers = "(0, 1, -1, +7, - 5, --3, 007, 18446744073709551615, -9223372036854775808, NULL, true, FALSE)";
    let whole = |number: i128| Value::Int(number);
    let expected = [
        whole(0),
        whole(1),
        whole(-1),
        whole(7),
        whole(-5),
        whole(3),
        whole(7),
        whole(18_446_744_073_709_551_615),
        whole(-9_223_372_036_854_775_808),
        Value::Null,
        whole(1),
        whole(0),
    ];
    assert_eq!(values(numbers), [expected]);
    let floats = "(1.5, -.25, 1e3, 2E-2, 5., 99999999999999999999999999999999999999999)";
    assert_eq!(
        values(floats),
        [[1.5, -0.25, 1e3, 2e-2, 5.0, 1e41].map(Value::Float)]
    );
    let bytes = "(x'4D5a', 0x4D, 0xABC, _binary 'a', _binary'\\0', _utf8mb4'ö', N'n', '\u{1F980}')";
    let raw = |bytes: &[u8]| Value::Bytes(bytes.to_vec());
    let expected = [
        raw(b"MZ"),
        raw(b"M"),
        raw(&[0x0a, 0xbc]),
        raw(b"a"),
        raw(b"\0"),
        text("ö"),
        text("n"),
        text("🦀"),
    ];
    assert_eq!(values(bytes), [expected]);
}

#[test]
fn bytes_that_are_no_utf8_stay_bytes() {
    let statement = parse(b"INSERT INTO t VALUES ('\xff\xfe')").unwrap();
    let Statement::Insert(Insert { rows, .. }) = statement else {
        panic!("an insert");
    };
    assert_eq!(rows, [[Value::Bytes(vec![0xff, 0xfe])]]);
}

#[test]
fn rows_may_differ_in_length_and_carry_comments() {
    let rows = values("(1, /* two */ 2) -- one\n, (), # none\n(3) ;");
    let whole = |number: i128| Value::Int(number);
    assert_eq!(rows, [vec![whole(1), whole(2)], vec![], vec![whole(3)]]);
}

#[test]
fn an_error_inside_values_has_its_place() {
    let error = parse(b"INSERT INTO t VALUES (1),\n(2, now(6))").unwrap_err();
    assert_eq!((error.code(), error.line, error.position), (1235, 2, 30));
    assert_eq!(error.to_string(), "not yet: arguments of now() in row 2");
    let error = parse(b"INSERT INTO t VALUES (1),\n(2, 'open").unwrap_err();
    assert_eq!((error.code(), error.line, error.position), (1064, 2, 30));
    assert_eq!(
        error.to_string(),
        "syntax error: a string that does not end in row 2 near ''open' at line 2, position 30"
    );
}

#[test]
fn constants_take_a_bounded_work_however_short_they_are() {
    const CALL: &str = "LEVENSHTEIN(REPEAT('a', 1000), REPEAT('b', 1000))";
    let insert = |rows: usize| {
        let row = format!("({CALL})");
        let text = format!("INSERT INTO t VALUES {}", vec![row; rows].join(", "));
        parse(text.as_bytes())
    };
    assert!(insert(10).is_ok());
    let refused = insert(100).expect_err("each call may take a million steps");
    assert_eq!(refused.kind, ErrorKind::Limit);
    let set = format!("INSERT INTO t SET a = {}", vec![CALL; 90].join(" + "));
    let refused = parse(set.as_bytes()).expect_err("a single value has the same bound");
    assert_eq!(refused.kind, ErrorKind::Limit);
}

/// A long regular expression takes milliseconds to compile. The parser compiles it, so it counts as work before.
#[test]
fn a_statement_with_a_long_regular_expression_is_not_read_shortly() {
    const WORK: usize = 400_000;
    for long in [
        "SELECT id FROM t WHERE s REGEXP '(a|b|ab){1,200}'",
        "SELECT COUNT(*) FROM t JOIN u ON t.a = u.a WHERE REGEX(u.s, '(a|b){1,200}')",
        "DELETE FROM t WHERE NOT s REGEXP '(a|b){1,200}'",
        "UPDATE t SET n = s REGEXP '(a|b){1,200}'",
        "INSERT INTO t (n) VALUES (1), ('abc' REGEXP '(a|b){1,200}')",
        "INSERT INTO t (n) VALUES (1) AS new ON DUPLICATE KEY UPDATE n = t.s REGEXP '(a|b){1,200}'",
    ] {
        let error = parse_shortly(long.as_bytes(), WORK).unwrap_err();
        assert!(error.is_out_of_work(), "{long}: {error}");
        parse(long.as_bytes()).unwrap();
    }
    parse_shortly(b"SELECT id FROM t WHERE s REGEXP 'a.*b'", WORK).unwrap();
    let many = vec!["(REGEX('a', '(a|b|ab){1,200}(c|d){1,200}'))"; 60].join(",");
    parse(format!("INSERT INTO t (n) VALUES {many}").as_bytes()).unwrap();
}

#[test]
fn text_near_an_error_is_bounded_and_may_be_no_utf8() {
    let mut statement = b"SELEC \xff".to_vec();
    statement.resize(5000, b'x');
    let error = parse(&statement).unwrap_err();
    assert_eq!(error.near.chars().count(), crate::limits::NEAR_CHARS_MAX);
    assert!(error.near.starts_with("SELEC \u{fffd}x"));
}

#[test]
fn statements_are_cut_at_semicolons_outside_strings_names_and_comments() {
    let cut = |text: &'static str| -> Vec<&str> {
        split(text.as_bytes())
            .map(|piece| std::str::from_utf8(piece).unwrap())
            .collect()
    };
    assert_eq!(cut("a; b ;c"), ["a", " b ", "c"]);
    assert_eq!(cut("a;"), ["a"]);
    assert_eq!(
        cut(";; /* only ; this */ ; -- and ; this\n"),
        Vec::<&str>::new()
    );
    assert_eq!(
        cut("'a;''b;\\';c'; `x;``y`; \"\\\";\""),
        ["'a;''b;\\';c'", " `x;``y`", " \"\\\";\""]
    );
    assert_eq!(
        cut("a /* ; */ b # ;\n c -- ;\n; d"),
        ["a /* ; */ b # ;\n c -- ;\n", " d"]
    );
    assert_eq!(cut("1--1; '"), ["1--1", " '"]);
    assert_eq!(cut("/*! SET a=1 */; x"), ["/*! SET a=1 */", " x"]);
}

#[test]
fn like_knows_its_wildcards() {
    for (pattern, text, expected) in [
        ("%", "", true),
        ("", "", true),
        ("", "a", false),
        ("a%", "ABC", true),
        ("%c", "abc", true),
        ("%b%", "abc", true),
        ("a_c", "abc", true),
        ("a_c", "ac", false),
        ("a\\_c", "abc", false),
        ("a\\_c", "a_c", true),
        ("100\\%", "100%", true),
        ("%a%b%c", "xxaxxbxxbc", true),
        ("%a%b%c", "xxaxxbxxb", false),
        ("_", "é", true),
    ] {
        assert_eq!(like(pattern, text), expected, "{text:?} LIKE {pattern:?}");
    }
}

/// LIKE by its definition: tries every length of `%`.
fn like_reference(pattern: &[char], text: &[char]) -> bool {
    match (pattern, text) {
        ([], _) => text.is_empty(),
        (['%', rest @ ..], _) => (0..=text.len()).any(|at| like_reference(rest, &text[at..])),
        (_, []) => false,
        (['_', rest @ ..], [_, behind @ ..]) => like_reference(rest, behind),
        ([wanted, rest @ ..], [found, behind @ ..]) => {
            wanted == found && like_reference(rest, behind)
        }
    }
}

/// A literal and the value it stands for.
fn written_value() -> impl Strategy<Value = (String, Value)> {
    prop_oneof![
        any::<i64>().prop_map(|number| (number.to_string(), Value::Int(number.into()))),
        Just(("NULL".to_owned(), Value::Null)),
        (".{0,80}", any::<bool>())
            .prop_map(|(content, double)| (quoted(&content, double), text(&content))),
        prop::collection::vec(any::<u8>(), 0..9).prop_map(|bytes| {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
            (format!("x'{digits}'"), Value::Bytes(bytes))
        }),
    ]
}

fn quoted(content: &str, double: bool) -> String {
    let quote = if double { '"' } else { '\'' };
    let mut written = String::from(quote);
    for character in content.chars() {
        match character {
            '\\' => written.push_str("\\\\"),
            '\0' => written.push_str("\\0"),
            '\n' => written.push_str("\\n"),
            _ if character == quote => written.extend([quote, quote]),
            _ => written.push(character),
        }
    }
    written.push(quote);
    written
}

/// Words of real statements in random order: purely random texts would fail at their first word.
fn sql_like() -> impl Strategy<Value = Vec<u8>> {
    let words = STATEMENTS
        .split_whitespace()
        .chain(REFUSED.split_whitespace());
    let words: Vec<&str> = words.collect();
    let piece = prop_oneof![
        8 => prop::sample::select(words).prop_map(|word| word.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..4),
        1 => prop::sample::select(vec!["(", ")", ",", "'", "\"", "`", ";", "/*", "*/", "--", "\\", "@@", "x'"])
            .prop_map(|mark| mark.as_bytes().to_vec()),
    ];
    let first = prop::sample::select(vec![
        "SELECT",
        "INSERT INTO",
        "CREATE TABLE",
        "SHOW",
        "SET",
        "CALL PQ(",
        "DELETE FROM",
        "",
    ]);
    (first, prop::collection::vec(piece, 0..24)).prop_map(|(first, pieces)| {
        let mut text = first.as_bytes().to_vec();
        for piece in pieces {
            text.push(b' ');
            text.extend(piece);
        }
        text
    })
}

/// As [`split::first`], slow: each byte by itself.
fn first_by_bytes(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let (mut at, mut start, mut says_something) = (0, 0, false);
    let mut quote = None;
    while at <= text.len() {
        let byte = text.get(at).copied();
        match (quote, byte) {
            (None, None | Some(b';')) => {
                if says_something {
                    return Some((&text[start..at], text.get(at + 1..).unwrap_or_default()));
                }
                (at, start) = (at + 1, at + 1);
                continue;
            }
            (Some(_), None) => quote = None,
            (Some(open), Some(b'\\')) if open != b'`' => {
                at += if at + 1 < text.len() { 2 } else { 1 }
            }
            (Some(open), Some(byte)) => {
                quote = Some(open).filter(|_| byte != open);
                at += 1;
            }
            (None, Some(b'/' | b'-' | b'#')) => {
                let comment = super::values::comment_bytes(&text[at..]);
                says_something |= comment == 0 || text[at..].starts_with(b"/*!");
                at += comment.max(1);
            }
            (None, Some(byte)) => {
                quote = Some(byte).filter(|byte| matches!(byte, b'\'' | b'"' | b'`'));
                says_something |= !byte.is_ascii_whitespace();
                at += 1;
            }
        }
    }
    None
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn written_values_come_back(rows in prop::collection::vec(prop::collection::vec(written_value(), 1..5), 1..5)) {
        let written: Vec<String> = rows.iter().map(|row| {
            let cells: Vec<&str> = row.iter().map(|(written, _)| written.as_str()).collect();
            format!("({})", cells.join(", "))
        }).collect();
        let expected: Vec<Vec<Value>> =
            rows.iter().map(|row| row.iter().map(|(_, value)| value.clone()).collect()).collect();
        prop_assert_eq!(values(&written.join(",\n")), expected);
    }

    #[test]
    fn a_text_is_cut_as_byte_by_byte(text in "[ab ;'\"`\\\\/*#\n-]{0,40}") {
        prop_assert_eq!(split::first(text.as_bytes()), first_by_bytes(text.as_bytes()), "{:?}", text);
    }

    #[test]
    fn no_text_panics_the_parser(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        if let Err(error) = parse(&bytes) {
            prop_assert!(error.position <= bytes.len());
        }
        split(&bytes).for_each(drop);
    }

    #[test]
    fn no_text_of_sql_words_panics_the_parser(text in sql_like()) {
        if let Err(error) = parse(&text) {
            prop_assert!(error.position <= text.len());
            prop_assert!(!error.message.is_empty());
        }
        let cut: usize = split(&text).map(<[u8]>::len).sum();
        prop_assert!(cut <= text.len());
    }

    #[test]
    fn no_argument_of_queue_wait_panics_its_parser(text in "[a-z.:`' 0-9<>=&|^~()x-]{0,40}") {
        if let Ok(source) = wait_source(&text) {
            prop_assert!(!source.table.is_empty());
        }
    }

    #[test]
    fn like_is_its_reference(pattern in "[ab%_]{0,8}", text in "[ab]{0,10}") {
        let slow = like_reference(&pattern.chars().collect::<Vec<_>>(), &text.chars().collect::<Vec<_>>());
        prop_assert_eq!(like(&pattern, &text), slow);
    }
}

#[test]
fn a_statement_is_read_in_the_memory_that_it_is_said_to_take_and_in_no_less() {
    let list = format!("SELECT id FROM t WHERE n IN ({}1)", "1,".repeat(1_000));
    let rows = format!("INSERT INTO t (n) VALUES {}(1)", "(1),".repeat(1_000));
    let chain = format!("DELETE FROM t WHERE {}n=1", "n=1 OR id=1 OR ".repeat(1_000));
    let set = format!("SET {}@a=1", "@a=1,".repeat(1_000));
    let calls = format!("CALL PQ('pq', ({}'a'))", "'a',".repeat(1_000));
    for text in [list, rows, chain, set, calls] {
        let text = text.as_bytes();
        let (statement, bytes) = parse_within(text, usize::MAX).unwrap();
        assert!(bytes > 4 * text.len() / 10, "{bytes} bytes");
        assert_eq!(parse_within(text, bytes), Ok((statement, bytes)));
        for room in (1..bytes).step_by(bytes / 37 + 1) {
            let error = parse_within(text, room).unwrap_err();
            assert!(error.is_out_of_room(), "{error}");
            assert_eq!(error.code(), 1105);
        }
    }
}

fn columns(count: usize) -> String {
    let columns: Vec<String> = (0..count).map(|number| format!("c{number} int")).collect();
    columns.join(",")
}

#[test]
fn lists_of_a_statement_end_at_their_limits() {
    for (text, message) in [
        (
            "SELECT ".to_owned() + &"n,".repeat(4_096) + "n FROM t",
            "more than 4096 items in a SELECT list",
        ),
        (
            "SELECT ".to_owned() + &"1,".repeat(4_096) + "1",
            "more than 4096 items in a SELECT list",
        ),
        (
            "SELECT n FROM t ORDER BY ".to_owned() + &"n,".repeat(256) + "n",
            "more than 256 keys in ORDER BY",
        ),
        (
            "SELECT n FROM t OPTION ".to_owned() + &"a=1,".repeat(256) + "a=1",
            "more than 256 options",
        ),
        (
            "CREATE TABLE t (".to_owned() + &columns(4_097) + ")",
            "more than 4096 names in a list",
        ),
        (
            "CREATE TABLE t (a int) ".to_owned() + &"local='t' ".repeat(4_097),
            "more than 4096 names in a list",
        ),
        (
            "ALTER TABLE t ADD (".to_owned() + &columns(4_097) + ")",
            "more than 4096 names in a list",
        ),
        (
            "INSERT INTO t (".to_owned() + &"a,".repeat(4_096) + "a) VALUES (1)",
            "more than 4096 names in a list",
        ),
        (
            "DROP TABLE ".to_owned() + &"a,".repeat(4_096) + "a",
            "more than 4096 names in a list",
        ),
        (
            "FLUSH TABLES ".to_owned() + &"a,".repeat(4_096) + "a",
            "more than 4096 names in a list",
        ),
        (
            "SET ".to_owned() + &"@a=1,".repeat(4_096) + "@a=1",
            "more than 4096 names in a list",
        ),
    ] {
        let error = parse(text.as_bytes()).unwrap_err();
        assert_eq!(
            (error.kind, error.message.as_str()),
            (ErrorKind::Limit, message)
        );
    }
}

#[test]
fn a_text_is_blank_where_no_statement_is_in_it() {
    for text in [
        "",
        " ;; ",
        "-- x\n;",
        "/* x */ # y",
        "; /*! 1 */",
        "a",
        "'",
        " ;x",
    ] {
        let text = text.as_bytes();
        assert_eq!(is_blank(text), split(text).next().is_none(), "{text:?}");
    }
}

#[test]
fn alternatives_that_become_one_list_are_counted_as_that_list() {
    let numbers: Vec<String> = (0..10_000).map(|n| n.to_string()).collect();
    let taken = |condition: String| {
        let text = format!("SELECT id FROM t WHERE {condition}");
        parse_within(text.as_bytes(), usize::MAX).unwrap().1
    };
    let list = taken(format!("n IN ({})", numbers.join(",")));
    let alternatives = taken(format!("n={}", numbers.join(" OR n=")));
    assert!(alternatives < 2 * list, "{alternatives} and {list}");
    let texts = |bytes: usize| {
        let text = "x".repeat(bytes);
        taken(format!("n='{}'", [text.as_str(); 100].join("' OR n='")))
    };
    assert!(texts(1_100) - texts(100) >= 100 * 1_000);
}

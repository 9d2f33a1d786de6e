//! What a temporary table keeps of a SELECT is what the SELECT itself gives: the values, which of them a constant finds, their order,
//! the least and the greatest. Each function of docs/functions.md is tried, and what gives columns of each type back.

use client::{Client, ClientError};
use wire::mysql::FieldType;

use crate::server::Setup;

/// Rows of an answer, or the code that refuses it.
type Answer = Result<Vec<Vec<String>>, u16>;

fn ask(client: &mut Client, statement: &str) -> Answer {
    let cell = |cell: Option<Vec<u8>>| match cell {
        None => "NULL".to_owned(),
        Some(bytes) => plain(String::from_utf8_lossy(&bytes).into_owned()),
    };
    match client.query(statement) {
        Ok(answer) => Ok(answer
            .rows
            .into_iter()
            .map(|row| row.into_iter().map(cell).collect())
            .collect()),
        Err(ClientError::Server(error)) => Err(error.code),
        Err(other) => panic!("{statement}: {other}"),
    }
}

fn done(client: &mut Client, statement: &str) {
    ask(client, statement).unwrap_or_else(|code| panic!("{statement}: {code}"));
}

/// Digits of the longest whole number that a temporary table keeps as it is.
const DIGITS: usize = 20;

/// A value without what only shows its type: zeros behind the point, and midnight.
fn plain(text: String) -> String {
    if let (Ok(number), true) = (text.parse::<f64>(), text.len() > DIGITS) {
        return format!("{number:e}");
    }
    let mut text = &*text;
    if text.contains('.') && text.parse::<f64>().is_ok() || text.contains(':') && text.contains('.')
    {
        text = text.trim_end_matches('0').trim_end_matches('.');
    }
    text.strip_suffix(" 00:00:00").unwrap_or(text).to_owned()
}

/// The first cell, as it is; `None`: NULL.
fn raw(client: &mut Client, statement: &str) -> Option<String> {
    let answer = client.query(statement);
    let answer = answer.unwrap_or_else(|error| panic!("{statement}: {error}"));
    let cell = answer.rows[0][0].as_deref();
    cell.map(|cell| String::from_utf8_lossy(cell).into_owned())
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

#[test]
fn a_temporary_table_has_what_each_function_gives() {
    let server = Setup::default().start();
    let mut client = server.client();
    done(&mut client, "CREATE TABLE one (body text)");
    done(&mut client, "INSERT INTO one (id, body) VALUES (1, '')");
    let cases = include_str!("../../../relation/src/expression/tests/functions.txt");
    let lines = cases.lines().filter(|line| !line.starts_with("//"));
    let (mut tried, mut wrong) = (0, Vec::new());
    for (written, _) in lines.filter_map(|line| line.split_once(" => ")) {
        let select = format!("SELECT {written} AS v FROM one");
        let Ok(given) = ask(&mut client, &select) else {
            continue; // it needs a column
        };
        tried += 1;
        done(&mut client, "DROP TEMPORARY TABLE IF EXISTS kept");
        done(
            &mut client,
            &format!("CREATE TEMPORARY TABLE kept AS {select}"),
        );
        if ask(&mut client, "SELECT v FROM kept") != Ok(given.clone()) {
            wrong.push(format!("{written}: kept as another value than {given:?}"));
        }
        if written.contains("ranges(") {
            continue; // a column of sets is compared by its items
        }
        let text = format!("SELECT TO_STRING({written}) FROM one");
        let text = raw(&mut client, &text).map(|text| quoted(&text));
        for constant in [Some(format!("({written})")), text].into_iter().flatten() {
            let selected = ask(
                &mut client,
                &format!("{select} WHERE ({written}) = {constant}"),
            );
            let kept = ask(
                &mut client,
                &format!("SELECT v FROM kept WHERE v = {constant}"),
            );
            if selected != kept {
                wrong.push(format!(
                    "{written}: = {constant} finds {selected:?}, kept: {kept:?}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tried > 200, "only {tried} functions were tried");
}

const TABLE: &str = "CREATE TABLE t (body text, i int, f float, bo bool, ts timestamp, da date, dt datetime, d3 datetime(3), \
    tm time, y year, de decimal(8,2), s string, j json)";

const ROWS: &str = "INSERT INTO t (id, body, i, f, bo, ts, da, dt, d3, tm, y, de, s, j) VALUES \
    (1, '', 9, 0.5, 1, '2024-01-02 00:00:00', '2024-01-02', '2024-01-02 03:04:05', '2024-01-02 03:04:05.25', '10:11:12', 2024, \
     '9.00', 'abc', '{\"p\": 9}'), \
    (2, '', 10, 2.5, 0, '2024-02-29 12:00:00', '2024-02-29', '2024-02-29 12:00:00', '2024-02-29 12:00:00', '100:11:12', 1999, \
     '100.25', '9', '{\"p\": 10}'), \
    (3, '', -3, 0, 1, '1999-12-31 23:59:59', '1999-12-31', '1999-12-31 23:59:59', '1999-12-31 23:59:59.999', '-01:00:00', 2001, \
     '-0.50', '', '{\"p\": 2.5}'), \
    (4, '', 2024, 1, 0, '2024-10-01', NULL, NULL, NULL, NULL, NULL, NULL, '10', '{}')";

/// What is kept, and constants beside it.
const GIVEN: &[(&[&str], &[&str])] = &[
    (
        &[
            "da",
            "da + INTERVAL 1 DAY",
            "da - INTERVAL 1 MONTH",
            "da + INTERVAL 1 HOUR",
            "dt - INTERVAL 2 WEEK",
            "d3 + INTERVAL 1 SECOND",
            "COALESCE(da, dt)",
            "IFNULL(da + INTERVAL 1 DAY, dt)",
            "COALESCE(dt, NOW())",
            "COALESCE(da + INTERVAL 1 DAY, '2024-1-2')",
            "IF(i > 9, da, dt)",
            "GREATEST(da, dt)",
            "LEAST(dt, '2024-1-2')",
            "NULLIF(da, '2024-2-29')",
            "CASE i WHEN 9 THEN da ELSE da + INTERVAL 1 DAY END",
        ],
        &[
            "'2024-1-2'",
            "'2024-01-03'",
            "'2024-02-29 12:00:00'",
            "'2024-3-1'",
            "20240102",
            "'abc'",
            "5",
        ],
    ),
    (
        &[
            "ts",
            "ts + INTERVAL 1 DAY",
            "COALESCE(ts, 0)",
            "COALESCE(ts, NOW())",
            "IF(i > 9, ts, ts + INTERVAL 1 HOUR)",
            "NULLIF(ts, 0)",
        ],
        &[
            "'2024-01-02'",
            "1704153600",
            "'2024-02-29 12:00:00'",
            "'abc'",
        ],
    ),
    (
        &[
            "tm",
            "COALESCE(tm, '9:00:00')",
            "IF(i > 9, tm, NULL)",
            "GREATEST(tm, '10:00:00')",
        ],
        &["'10:11:12'", "'9:00:00'", "101112", "'abc'"],
    ),
    (
        &[
            "i",
            "i + 1",
            "i / 4",
            "f",
            "f + 0.5",
            "de",
            "de + 0",
            "de + 1",
            "ABS(de)",
            "YEAR(da)",
            "COALESCE(de, 0)",
            "COALESCE(de, i)",
            "IF(bo, de, i)",
            "GREATEST(de, i)",
            "IF(bo, i, 0.5)",
            "COALESCE(bo, i)",
            "GREATEST(i, 2.5)",
            "COALESCE(de, 99999999999)",
            "NULLIF(i, 9)",
            "i > 5",
            "LENGTH(s)",
            "DATEDIFF(da, '2024-01-01')",
            "CRC32(s)",
            "y",
            "y + 1",
            "bo",
        ],
        &[
            "9", "'9'", "'9.00'", "0.5", "100.25", "1", "2024", "'abc'", "''",
        ],
    ),
    // Constants, which read no text.
    (
        &["0.5", "NOW() - INTERVAL 1 DAY"],
        &["0.5", "1", "1704153600"],
    ),
    (
        &[
            "s",
            "CONCAT(s, '')",
            "LEFT(s, 2)",
            "COALESCE(s, '-')",
            "IF(bo, s, 'x')",
            "UPPER(s)",
            "DATE(ts)",
            "TIME(dt)",
            "DATE_FORMAT(dt, '%Y')",
            "MONTHNAME(da)",
            "TO_STRING(de)",
            "CONCAT(tm, '')",
        ],
        &["'abc'", "'9'", "''", "'10:11:12'", "'2024-01-02'", "'2024'"],
    ),
];

/// Where a temporary table of an expression answers otherwise than the expression.
fn differences(client: &mut Client, written: &str, constant: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut differ = |selected: &str, kept: &str| {
        let (a, b) = (ask(client, selected), ask(client, kept));
        if a != b {
            wrong.push(format!("{selected}: {a:?}, kept: {b:?}"));
        }
    };
    let of = |what: &str| what.replace('$', written);
    let kept = |what: &str| what.replace('$', "v").replace("FROM t", "FROM kept");
    for made in [
        "DROP TEMPORARY TABLE IF EXISTS kept",
        "CREATE TEMPORARY TABLE kept AS SELECT id, $ AS v FROM t",
    ] {
        differ(&of(made), "SELECT 1 FROM t LIMIT 0");
    }
    for what in [
        "SELECT id, $ FROM t ORDER BY id",
        "SELECT id FROM t ORDER BY $, id",
        "SELECT MIN($), MAX($) FROM t",
    ] {
        differ(&of(what), &kept(what));
    }
    for comparison in ["=", "<>", "<", ">="] {
        let what = format!("SELECT id FROM t WHERE $ {comparison} {constant} ORDER BY id");
        differ(&of(&what), &kept(&what));
    }
    wrong
}

#[test]
fn a_temporary_table_finds_and_sorts_as_its_select_does() {
    let server = Setup::default().start();
    let mut client = server.client();
    done(&mut client, TABLE);
    done(&mut client, ROWS);
    let mut wrong = Vec::new();
    for (written, constant) in GIVEN.iter().flat_map(|(given, constants)| {
        given
            .iter()
            .flat_map(move |of| constants.iter().map(move |constant| (of, constant)))
    }) {
        // A second may end between NOW() of the table and that of its SELECT: what differs is asked again.
        let mut last = differences(&mut client, written, constant);
        for _ in 0..2 {
            if !last.is_empty() {
                last = differences(&mut client, written, constant);
            }
        }
        wrong.extend(last);
    }
    wrong.sort();
    wrong.dedup();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn clients_are_told_the_type_of_a_moved_date() {
    let server = Setup::default().start();
    let mut client = server.client();
    done(&mut client, TABLE);
    done(&mut client, ROWS);
    for (written, kind) in [
        ("da + INTERVAL 1 DAY", FieldType::DATE),
        ("da + INTERVAL 1 HOUR", FieldType::DATETIME),
        ("MAX(dt - INTERVAL 1 DAY)", FieldType::DATETIME),
        ("COALESCE(tm, '09:00:00')", FieldType::TIME),
        ("i + 1", FieldType::LONGLONG),
        ("i / 4", FieldType::DOUBLE),
        ("CONCAT(s, '')", FieldType::VAR_STRING),
    ] {
        let answer = client.query(&format!("SELECT {written} FROM t"));
        let answer = answer.unwrap_or_else(|error| panic!("{written}: {error}"));
        assert_eq!(answer.columns[0].kind, kind, "{written}");
        // Also where there is no row to tell it.
        if matches!(
            kind,
            FieldType::DATE | FieldType::DATETIME | FieldType::TIME
        ) {
            let of_none = format!("SELECT {written} FROM t WHERE id > 9 GROUP BY id");
            let answer = client.query(&of_none);
            let answer = answer.unwrap_or_else(|error| panic!("{of_none}: {error}"));
            assert_eq!(answer.columns[0].kind, kind, "{of_none}");
        }
    }
}

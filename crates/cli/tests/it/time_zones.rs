//! A text, a date and a datetime beside a timestamp are local moments of the session's time zone: in each place where they are
//! compared, in each place where they are stored, in each kind of table, in hours that the clock leaves out or repeats.
//!
//! What is right is the rule of docs/types.md worked out by hand, not the answer of another place.

use client::{Client, ClientError};

use crate::server::Setup;

/// A moment as the clock on the wall shows it in a session's time zone.
struct Wall {
    zone: &'static str,
    text: &'static str,
    /// Seconds since 1970-01-01 UTC.
    seconds: i64,
}

const fn wall(zone: &'static str, text: &'static str, seconds: i64) -> Wall {
    Wall {
        zone,
        text,
        seconds,
    }
}

const WALLS: &[Wall] = &[
    wall("UTC", "2024-06-01 12:00:00", 1_717_243_200),
    wall("+05:00", "2024-06-01 12:00:00", 1_717_225_200),
    wall("Europe/Berlin", "2024-06-01 12:00:00", 1_717_236_000),
    wall("Europe/Berlin", "2024-01-02 00:00:00", 1_704_150_000),
    // Clocks go from 02:00 to 03:00: the moment is as many minutes behind 03:00.
    wall("Europe/Berlin", "2024-03-31 02:30:00", 1_711_848_600),
    // Clocks go from 03:00 back to 02:00: the moment is the first of two.
    wall("Europe/Berlin", "2024-10-27 02:30:00", 1_729_989_000),
];

/// What stands beside the timestamp.
#[derive(Clone, Copy, PartialEq)]
enum Source {
    Constant,
    /// A column of texts.
    Text,
    DateTime,
    /// Only at midnight.
    Date,
    /// NOW(), where a moment is stored.
    Now,
}

const SOURCES: &[Source] = &[
    Source::Constant,
    Source::Text,
    Source::DateTime,
    Source::Date,
];

impl Source {
    fn has(self, wall: &Wall) -> bool {
        self != Source::Date || wall.text.ends_with(" 00:00:00")
    }

    /// As it is written, behind the prefix of a table's columns.
    fn written(self, wall: &Wall, prefix: &str) -> String {
        match self {
            Source::Constant => format!("'{}'", wall.text),
            Source::Text => format!("{prefix}s"),
            Source::DateTime => format!("{prefix}dt"),
            Source::Date => format!("{prefix}da"),
            Source::Now => "NOW()".to_owned(),
        }
    }
}

/// Which sources a place takes.
#[derive(Clone, Copy, PartialEq)]
enum Takes {
    All,
    /// No columns stand there.
    Constants,
    Columns,
}

impl Takes {
    fn takes(self, source: Source) -> bool {
        match self {
            Takes::All => true,
            Takes::Constants => source == Source::Constant,
            Takes::Columns => !matches!(source, Source::Constant | Source::Now),
        }
    }
}

/// A SELECT on the table `{t}` that finds the row 1 alone if `{x}` is its moment. `{b.x}` is of the table named b.
const COMPARED: &[(Takes, &str)] = &[
    (Takes::All, "SELECT id FROM {t} WHERE ts = {x}"),
    (Takes::All, "SELECT id FROM {t} WHERE {x} = ts"),
    (Takes::All, "SELECT id FROM {t} WHERE {x} <=> ts"),
    (Takes::All, "SELECT id FROM {t} WHERE NOT (ts <> {x})"),
    (
        Takes::All,
        "SELECT id FROM {t} WHERE ts >= {x} AND ts <= {x}",
    ),
    (
        Takes::All,
        "SELECT id FROM {t} WHERE ts BETWEEN {x} AND {x}",
    ),
    (Takes::All, "SELECT id FROM {t} WHERE {x} BETWEEN ts AND ts"),
    (
        Takes::All,
        "SELECT id FROM {t} WHERE COALESCE(ts, NULL) = {x}",
    ),
    (Takes::All, "SELECT id FROM {t} WHERE COALESCE(ts, 0) = {x}"),
    (
        Takes::All,
        "SELECT id FROM {t} WHERE IFNULL(ts, 'none') = {x}",
    ),
    (
        Takes::All,
        "SELECT id FROM {t} WHERE COALESCE(NULL, {x}) = ts",
    ),
    (Takes::All, "SELECT id FROM {t} WHERE IF(1, {x}, NULL) = ts"),
    (
        Takes::All,
        "SELECT id FROM {t} WHERE IF(id < 5, ts, NULL) = IF(id > 0, {x}, NULL)",
    ),
    (
        Takes::All,
        "SELECT id FROM {t} WHERE ts + INTERVAL 0 SECOND = {x}",
    ),
    (
        Takes::All,
        "SELECT id FROM {t} WHERE CASE WHEN ts = {x} THEN 1 ELSE 0 END = 1",
    ),
    (
        Takes::All,
        "SELECT id FROM {t} WHERE CASE ts WHEN {x} THEN 1 ELSE 0 END = 1",
    ),
    (
        Takes::All,
        "SELECT id FROM {t} WHERE CASE {x} WHEN ts THEN 1 ELSE 0 END = 1",
    ),
    (
        Takes::All,
        "SELECT id FROM {t} WHERE NULLIF(ts, {x}) IS NULL",
    ),
    (
        Takes::All,
        "SELECT id FROM {t} WHERE NULLIF({x}, ts) IS NULL",
    ),
    (Takes::All, "SELECT id, ts = {x} AS e FROM {t} WHERE e = 1"),
    (Takes::All, "SELECT id, ts AS e FROM {t} WHERE e = {x}"),
    (Takes::All, "SELECT id, {x} AS e FROM {t} WHERE ts = e"),
    (
        Takes::All,
        "SELECT id, ts AS e, {x} AS f FROM {t} WHERE e = f",
    ),
    (
        Takes::All,
        "SELECT id FROM (SELECT id FROM {t} WHERE ts = {x}) a",
    ),
    (
        Takes::All,
        "SELECT id FROM {t} WHERE ts = {x} UNION SELECT id FROM {t} WHERE ts = {x}",
    ),
    (
        Takes::All,
        "SELECT a.id FROM {t} a JOIN {t} b ON a.id = b.id AND a.ts = {b.x}",
    ),
    (
        Takes::All,
        "SELECT a.id FROM {t} a JOIN {t} b ON a.id = b.id WHERE a.ts = {b.x}",
    ),
    (
        Takes::All,
        "SELECT a.id FROM {t} a JOIN one b ON a.ts = {b.x}",
    ),
    (
        Takes::All,
        "SELECT b.id FROM one b JOIN {t} a ON {a.x} = b.ts AND a.id = b.id",
    ),
    (
        Takes::Columns,
        "SELECT id FROM {t} GROUP BY id HAVING MAX(ts) = MAX({x})",
    ),
    (
        Takes::All,
        "SELECT id, MAX(ts = {x}) AS e FROM {t} GROUP BY id HAVING e = 1",
    ),
    (
        Takes::Columns,
        "SELECT id, MIN(ts) AS e, MIN({x}) AS f FROM {t} GROUP BY id HAVING e = f",
    ),
    (Takes::Constants, "SELECT id FROM {t} WHERE ts IN ({x})"),
    (
        Takes::Constants,
        "SELECT id FROM {t} WHERE ts IN ('1999-01-01', {x})",
    ),
    (
        Takes::Constants,
        "SELECT id FROM {t} WHERE IFNULL(ts, 'none') IN ('none', {x})",
    ),
    (
        Takes::Constants,
        "SELECT id FROM {t} WHERE (id, ts) IN ((7, {x}), (1, {x}))",
    ),
    (
        Takes::Constants,
        "SELECT id FROM {t} WHERE REMAP(ts, 0, ({x}), (1)) = 1",
    ),
    (
        Takes::Constants,
        "SELECT ts, MIN(id) AS least FROM {t} GROUP BY ts HAVING ts = {x}",
    ),
    (
        Takes::Constants,
        "SELECT id FROM {t} GROUP BY id HAVING MAX(ts) = {x}",
    ),
    (
        Takes::Constants,
        "SELECT id FROM {t} GROUP BY id HAVING MIN(ts) IN ({x})",
    ),
    (
        Takes::Constants,
        "SELECT id FROM {t} WHERE INTERVAL(ts, {x} + INTERVAL 1 SECOND) = 0 AND INTERVAL(ts, {x}) = 1",
    ),
    (
        Takes::All,
        "SELECT id FROM {t} WHERE GREATEST(ts, {x}) = {x} AND LEAST(ts, {x}) = {x}",
    ),
    (
        Takes::All,
        "SELECT id FROM {t} WHERE MAX({x}, ts) = ts AND MIN({x}, ts) = ts",
    ),
    (
        Takes::All,
        "SELECT id FROM {t} WHERE GREATEST({x}, IF(id < 3, ts, {x})) = ts AND LEAST({x}, ts) = ts",
    ),
    (
        Takes::All,
        "SELECT id FROM {t} WHERE NULLIF({x}, IF(id < 3, ts, NULL)) IS NULL",
    ),
    (
        Takes::All,
        "SELECT id FROM {t} WHERE NULLIF(IF(id < 5, {x}, NULL), ts) IS NULL",
    ),
    (
        Takes::All,
        "SELECT id FROM {t} WHERE NULLIF(IF(id < 5, ts, {x}), IF(id < 5, {x}, ts)) IS NULL",
    ),
    (
        Takes::Columns,
        "SELECT id FROM {t} WHERE INTERVAL(ts, {x}) = 1 AND INTERVAL({x}, ts) = 1",
    ),
    (
        Takes::Columns,
        "SELECT id FROM {t} WHERE ts = {x} + INTERVAL 0 SECOND",
    ),
    (
        Takes::All,
        "SELECT id FROM {t} WHERE TIMEDIFF(ts, {x}) = '00:00:00'",
    ),
    (
        Takes::Columns,
        "SELECT id FROM {t} WHERE COALESCE({x}, NOW()) = ts",
    ),
    (
        Takes::Columns,
        "SELECT id FROM {t} WHERE COALESCE({x}, ts) = ts",
    ),
];

/// As [`COMPARED`], where a queue gives the row.
const WAITED: &[&str] = &[
    "SELECT id FROM q WHERE queue_wait('q', 0) AND ts = {x}",
    "SELECT id FROM q WHERE ts <= {x} AND ts >= {x} AND queue_wait('q', 0)",
];

/// A statement that stores `{x}`, of the row 1 of z, as the timestamp of the row 50 of `{t}`, which has all other columns of that row.
const STORED: &[(Takes, &str)] = &[
    (
        Takes::Constants,
        "INSERT INTO {t} (id, ts) VALUES (50, {x})",
    ),
    (
        Takes::Constants,
        "INSERT INTO {t} (ts, id) VALUES ({x}, 50)",
    ),
    (
        Takes::All,
        "INSERT INTO {t} (id, ts) SELECT 50, {x} FROM z WHERE id = 1",
    ),
    (
        Takes::All,
        "INSERT INTO {t} (id, ts) SELECT 50, COALESCE({x}, NULL) FROM z WHERE id = 1",
    ),
    (
        Takes::All,
        "INSERT INTO {t} (id, ts) SELECT 50, IF(id = 1, {x}, NULL) FROM z WHERE id = 1",
    ),
    (
        Takes::All,
        "INSERT INTO {t} (id, ts) SELECT 50, CONCAT({x}, '') FROM z WHERE id = 1",
    ),
    (
        Takes::All,
        "INSERT INTO {t} (id, ts) SELECT 50, MAX({x}) FROM z WHERE id = 1",
    ),
    (
        Takes::All,
        "INSERT INTO {t} (id, ts) SELECT 50, {x} FROM z WHERE id = 1 UNION SELECT 51, {x} FROM z WHERE id = 1",
    ),
    (
        Takes::All,
        "INSERT INTO {t} (id, ts) SELECT 51, 7 FROM z WHERE id = 1 UNION ALL SELECT 50, {x} FROM z WHERE id = 1",
    ),
    (
        Takes::All,
        "INSERT INTO {t} (id, ts) SELECT * FROM (SELECT 50, {x} FROM z WHERE id = 1) a",
    ),
    (
        Takes::All,
        "INSERT INTO {t} (id, ts) SELECT e, f FROM (SELECT {x} AS f, 50 AS e FROM z WHERE id = 1) a",
    ),
    (
        Takes::All,
        "INSERT INTO {t} (id, ts) SELECT b.id + 49, {b.x} FROM z a JOIN z b ON a.id = b.id WHERE a.id = 1",
    ),
    (
        Takes::All,
        "INSERT INTO {t} (id, ts) SELECT 50, {x} FROM y WHERE id = 1",
    ),
    (Takes::All, "INSERT INTO {t} (id, ts) SELECT 50, {x}"),
];

/// As [`STORED`], into a table whose rows may be updated.
const UPDATED: &[(Takes, &str)] = &[
    (Takes::All, "UPDATE {t} SET ts = {x} WHERE id = 50"),
    (
        Takes::All,
        "UPDATE {t} SET ts = COALESCE({x}, NULL) WHERE id = 50",
    ),
    (
        Takes::All,
        "UPDATE {t} SET ts = IF(id = 50, {x}, 0) WHERE id = 50",
    ),
    (
        Takes::All,
        "UPDATE {t} SET ts = CONCAT({x}, '') WHERE id = 50",
    ),
    (
        Takes::Constants,
        "INSERT INTO {t} (id, body) VALUES (50, '') ON DUPLICATE KEY UPDATE ts = {x}",
    ),
    (
        Takes::Constants,
        "REPLACE INTO {t} (id, body, ts) VALUES (50, '', {x})",
    ),
    (
        Takes::All,
        "REPLACE INTO {t} (id, body, ts) SELECT 50, '', {x} FROM z WHERE id = 1",
    ),
];

fn run(client: &mut Client, statement: &str) -> Result<Vec<String>, String> {
    match client.query(statement) {
        Ok(answer) => Ok(answer
            .rows
            .into_iter()
            .map(|row| {
                let cell = row.into_iter().next().flatten();
                cell.map_or("NULL".to_owned(), |cell| {
                    String::from_utf8_lossy(&cell).into_owned()
                })
            })
            .collect()),
        Err(ClientError::Server(error)) => Err(format!("{} {}", error.code, error.message)),
        Err(other) => panic!("{statement}: {other}"),
    }
}

fn done(client: &mut Client, statement: &str) {
    run(client, statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
}

fn filled(place: &str, source: Source, wall: &Wall, table: &str) -> String {
    let mut statement = place.replace("{t}", table);
    for prefix in ["", "a.", "b."] {
        let written = source.written(wall, prefix);
        statement = statement.replace(&format!("{{{prefix}x}}"), &written);
    }
    statement
}

/// The tables of a wall. Row 1 has the moment in each column; the timestamp of row 2 is a second later. Numbers are those of
/// the rule, so no text is read for a timestamp here.
fn make(client: &mut Client, wall: &Wall) {
    let Wall {
        zone,
        text,
        seconds,
    } = wall;
    let columns = "s string, dt datetime, da date, ts timestamp";
    for statement in [
        format!("SET time_zone = '{zone}'"),
        "DROP TABLE IF EXISTS z, q, y, v, one, stored, queued, kept".to_owned(),
        format!("CREATE TABLE z (body text, {columns})"),
        format!("CREATE TABLE q (id bigint, {columns}) ENGINE=QUEUE"),
        format!("CREATE TEMPORARY TABLE y (id bigint, {columns})"),
        format!("CREATE TEMPORARY TABLE one (id bigint, {columns})"),
        format!("CREATE TABLE stored (body text, {columns})"),
        format!("CREATE TABLE queued (id bigint, {columns}) ENGINE=QUEUE"),
        format!("CREATE TEMPORARY TABLE kept (id bigint, {columns})"),
    ] {
        done(client, &statement);
    }
    for table in ["z", "q", "y"] {
        let statement = format!(
            "INSERT INTO {table} (id, s, dt, da, ts) VALUES (1, '{text}', '{text}', '{text}', {seconds}), (2, '{text}', '{text}', '{text}', {}), (3, 'soon', '1999-01-01', '1999-01-01', {0})",
            seconds + 1
        );
        done(client, &statement);
    }
    done(
        client,
        &format!(
            "INSERT INTO one (id, s, dt, da, ts) VALUES (1, '{text}', '{text}', '{text}', {seconds})"
        ),
    );
    done(
        client,
        "CREATE TEMPORARY TABLE v AS SELECT id, s, dt, da, ts FROM z",
    );
}

/// The sources that a place takes. A moment of today has no wall.
fn sources(takes: Takes, wall: &Wall) -> impl Iterator<Item = Source> {
    let sources = SOURCES.iter().copied();
    sources.filter(move |source| source.has(wall) && takes.takes(*source))
}

fn check_compared(client: &mut Client, wall: &Wall, wrong: &mut Vec<String>) {
    for (takes, place) in COMPARED {
        for source in sources(*takes, wall) {
            for table in ["z", "q", "y", "v"] {
                let statement = filled(place, source, wall, table);
                let got = run(client, &statement);
                if !matches!(&got, Ok(rows) if rows.len() == 1) {
                    wrong.push(format!("{}: {statement}: {got:?}", wall.zone));
                }
            }
        }
    }
}

fn check_waited(client: &mut Client, wall: &Wall, wrong: &mut Vec<String>) {
    for place in WAITED {
        for source in sources(Takes::All, wall) {
            let statement = filled(place, source, wall, "q");
            let got = run(client, &statement);
            if got != Ok(vec!["1".to_owned()]) {
                wrong.push(format!("{}: {statement}: {got:?}", wall.zone));
            }
            done(client, "SELECT queue_abort()");
        }
    }
}

/// The DEFAULT of a column in tables of each kind, when they are made and behind ALTER TABLE.
fn check_defaults(client: &mut Client, wall: &Wall, wrong: &mut Vec<String>) {
    let text = wall.text;
    let column = format!("ts timestamp DEFAULT '{text}'");
    for (create, alter) in [
        ("CREATE TABLE made (body text, n int, {c})", None),
        ("CREATE TABLE made (n int, {c}) ENGINE=QUEUE", None),
        ("CREATE TEMPORARY TABLE made (n int, {c})", None),
        (
            "CREATE TABLE made (body text, n int)",
            Some("ADD COLUMN {c}"),
        ),
        (
            "CREATE TABLE made (n int) ENGINE=QUEUE",
            Some("ADD COLUMN {c}"),
        ),
        (
            "CREATE TABLE made (n int, ts timestamp) ENGINE=QUEUE",
            Some("MODIFY COLUMN {c}"),
        ),
    ] {
        done(client, "DROP TABLE IF EXISTS made");
        done(client, &create.replace("{c}", &column));
        if let Some(change) = alter {
            done(
                client,
                &format!("ALTER TABLE made {change}").replace("{c}", &column),
            );
        }
        done(client, "INSERT INTO made (n) VALUES (1)");
        let got = run(client, "SELECT ts FROM made");
        if got != Ok(vec![wall.seconds.to_string()]) {
            wrong.push(format!("{}: {create}: {got:?}", wall.zone));
        }
    }
    done(client, "DROP TABLE IF EXISTS made");
}

fn check_stored(client: &mut Client, wall: &Wall, wrong: &mut Vec<String>) {
    let stored = STORED
        .iter()
        .flat_map(|place| ["stored", "queued", "kept"].map(|of| (place, of)));
    let updated = UPDATED.iter().map(|place| (place, "stored"));
    for ((takes, place), table) in stored.chain(updated) {
        for source in sources(*takes, wall).chain([Source::Now]) {
            let has_columns = !place.ends_with("{x}"); // a SELECT without a table has none
            let is_told = !place.contains("MAX(") || source != Source::Now;
            if !takes.takes(source) || !is_told {
                continue;
            }
            if !has_columns && !matches!(source, Source::Constant | Source::Now) {
                continue;
            }
            let statement = filled(place, source, wall, table);
            done(client, &format!("DELETE FROM {table} WHERE id > 0"));
            if statement.contains("UPDATE") {
                let text = wall.text;
                let insert = format!(
                    "INSERT INTO stored (id, body, s, dt, da) VALUES (50, '', '{text}', '{text}', '{text}')"
                );
                done(client, &insert);
            }
            let shown = format!("SELECT ts FROM {table} WHERE id = 50");
            let got = run(client, &statement).and_then(|_| run(client, &shown));
            let wanted = match source {
                Source::Now => run(client, "SELECT UNIX_TIMESTAMP()"),
                _ => Ok(vec![wall.seconds.to_string()]),
            };
            let is_now = |got: &str, now: &str| {
                let [got, now] = [got, now].map(|it| it.parse().unwrap_or(i64::MIN));
                now.abs_diff(got) < 600
            };
            let is_right = match (&got, &wanted) {
                (Ok(got), Ok(now)) if source == Source::Now && got.len() == 1 => {
                    is_now(&got[0], &now[0])
                }
                (got, wanted) => got == wanted,
            };
            if !is_right {
                wrong.push(format!(
                    "{}: {statement}: {got:?}, not {wanted:?}",
                    wall.zone
                ));
            }
        }
    }
}

/// Statements that change the row 2 alone, whose timestamp is behind the moment; the row 3 is gone.
const CHANGED: &[(&str, &str)] = &[
    ("z", "UPDATE z SET s = 'changed' WHERE ts > {x}"),
    ("z", "DELETE FROM z WHERE ts > {x}"),
    ("q", "DELETE FROM q WHERE ts > {x}"),
    ("y", "DELETE FROM y WHERE ts > {x}"),
    ("v", "DELETE FROM v WHERE ts > {x}"),
];

fn check_changed(client: &mut Client, wall: &Wall, wrong: &mut Vec<String>) {
    for source in [Source::Constant, Source::Text] {
        make(client, wall);
        for table in ["z", "q", "y", "v"] {
            done(client, &format!("DELETE FROM {table} WHERE id = 3"));
        }
        for (table, place) in CHANGED {
            done(client, &filled(place, source, wall, table));
            let left = match place.contains("UPDATE") {
                true => "SELECT id FROM z WHERE s <> 'changed'".to_owned(),
                false => format!("SELECT id FROM {table}"),
            };
            let left = run(client, &left);
            done(client, &format!("UPDATE z SET s = '{}'", wall.text));
            if left != Ok(vec!["1".to_owned()]) {
                wrong.push(format!("{}: {place} {left:?}", wall.zone));
            }
        }
    }
}

#[test]
fn what_stands_beside_a_timestamp_is_local_in_each_place() {
    let server = Setup::default().start();
    let mut client = server.client();
    let mut wrong = Vec::new();
    for wall in WALLS {
        make(&mut client, wall);
        check_compared(&mut client, wall, &mut wrong);
        check_waited(&mut client, wall, &mut wrong);
        check_stored(&mut client, wall, &mut wrong);
        check_defaults(&mut client, wall, &mut wrong);
        check_changed(&mut client, wall, &mut wrong);
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn a_fraction_of_a_second_is_local_too_and_refusals_are_the_same_in_each_zone() {
    let server = Setup::default().start();
    let mut client = server.client();
    for (zone, seconds) in [("UTC", 1_717_243_200), ("+05:00", 1_717_225_200_i64)] {
        for statement in [
            &format!("SET time_zone = '{zone}'"),
            "DROP TABLE IF EXISTS f",
            "CREATE TABLE f (body text, s string, dt datetime(6), j json, ts timestamp)",
            "INSERT INTO f (id, s, dt, j, ts) VALUES (1, '2024-06-01 12:00:00.5', '2024-06-01 12:00:00.5', '{\"a\":\"2024-06-01 12:00:00\"}', '2024-06-01 12:00:00.5')",
        ] {
            done(&mut client, statement);
        }
        let answer = |client: &mut Client, statement: &str| match run(client, statement) {
            Ok(rows) => rows.join(","),
            Err(error) => error[..4].to_owned(),
        };
        let seconds = &seconds.to_string();
        for (statement, wanted) in [
            ("SELECT ts FROM f", &**seconds),
            ("SELECT COUNT(*) FROM f WHERE ts = s", "0"),
            ("SELECT COUNT(*) FROM f WHERE ts = dt", "0"),
            (
                "SELECT COUNT(*) FROM f WHERE ts = '2024-06-01 12:00:00.5'",
                "0",
            ),
            (
                "SELECT COUNT(*) FROM f WHERE ts < s AND ts + INTERVAL 1 SECOND > s",
                "1",
            ),
            (
                "SELECT COUNT(*) FROM f WHERE ts < dt AND ts + INTERVAL 1 SECOND > dt",
                "1",
            ),
            (
                "SELECT COUNT(*) FROM f WHERE ts < '2024-06-01 12:00:00.5'",
                "1",
            ),
            ("UPDATE f SET ts = 0", ""),
            ("UPDATE f SET ts = s", ""),
            ("SELECT ts FROM f", &**seconds),
            ("UPDATE f SET ts = 0", ""),
            ("UPDATE f SET ts = dt", ""),
            ("SELECT ts FROM f", &**seconds),
            ("UPDATE f SET ts = 0", ""),
            ("UPDATE f SET ts = j.a", ""),
            ("SELECT ts FROM f", &**seconds),
            ("UPDATE f SET ts = '2024-06-01 12:00:00'", ""),
            (
                "INSERT INTO f (id, body) VALUES (1, '') ON DUPLICATE KEY UPDATE s = IF(ts = '2024-06-01 12:00:00', IF(ts < dt, 'before', 'at'), 'elsewhere')",
                "",
            ),
            ("SELECT s FROM f", "before"),
            ("UPDATE f SET s = 'soon'", ""),
            ("UPDATE f SET ts = s", "1366"),
            ("SELECT COUNT(*) FROM f WHERE ts <> s", "1"),
            ("SELECT COUNT(*) FROM f WHERE COALESCE(ts, s) = 'soon'", "0"),
            ("SELECT COUNT(*) FROM f WHERE COALESCE(s, ts) = 'soon'", "1"),
            ("SELECT COUNT(*) FROM f WHERE ts = 'soon'", "1292"),
            ("SELECT COUNT(*) FROM f WHERE ts IN ('soon')", "1292"),
            (
                "SELECT COUNT(*) FROM f WHERE COALESCE(ts, dt) > 'soon'",
                "1292",
            ),
            (
                "SELECT COUNT(*) FROM f WHERE 'soon' < IF(1, ts, dt)",
                "1292",
            ),
            ("SELECT COUNT(*) FROM f WHERE ts - '2024-01-01' > 0", "1292"),
            (
                "SELECT COUNT(*) FROM f WHERE GREATEST(ts, dt) = LEAST(dt, ts) + INTERVAL 0 SECOND",
                "0",
            ),
            ("SELECT LEAST(ts, dt) FROM f", &**seconds),
            ("SELECT NULLIF(dt, ts) FROM f", "2024-06-01 12:00:00.500000"),
            ("SELECT NULLIF(ts, dt) FROM f", &**seconds),
            ("SELECT GREATEST(ts, dt, 5, j.a) FROM f", "NULL"),
            ("SELECT GREATEST(dt, ts, LENGTH(s) + 1) FROM f", "1210"),
            ("SELECT ts - dt + 20240601120000.5 - ts FROM f", "0.000000"),
            (
                "SELECT REMAP(ts, 0, ('soon', '2024-06-01 12:00:00'), (1, 2)) FROM f",
                "1292",
            ),
            ("SELECT NULLIF(s, ts) FROM f", "soon"),
            ("UPDATE f SET ts = NOW(), dt = NOW(), s = NOW()", ""),
            (
                "SELECT COUNT(*) FROM f WHERE ts = dt AND ts = s AND dt = s",
                "1",
            ),
            (
                "SELECT COUNT(*) FROM f WHERE ts BETWEEN NOW() - INTERVAL 1 HOUR AND NOW()",
                "1",
            ),
            (
                "SELECT COUNT(*) FROM f WHERE dt BETWEEN NOW() - INTERVAL 1 HOUR AND NOW()",
                "1",
            ),
            (
                "SELECT COUNT(*) FROM f WHERE s BETWEEN NOW() - INTERVAL 1 HOUR AND NOW()",
                "1",
            ),
            ("CREATE TEMPORARY TABLE g AS SELECT ts, dt, s FROM f", ""),
            (
                "SELECT COUNT(*) FROM g WHERE ts = dt AND ts = s AND ts <= NOW()",
                "1",
            ),
            ("DROP TABLE g", ""),
        ] {
            assert_eq!(
                answer(&mut client, statement),
                wanted,
                "{zone}: {statement}"
            );
        }
    }
}

/// A moment, what it is moved by, and where it is then, all as the clock on the wall shows them.
const MOVED: &[(&str, &str, &str, &str)] = &[
    (
        "Europe/Berlin",
        "2024-03-30 12:00:00",
        "+ INTERVAL 1 DAY",
        "2024-03-31 12:00:00",
    ),
    (
        "Europe/Berlin",
        "2024-04-06 12:00:00",
        "- INTERVAL 1 WEEK",
        "2024-03-30 12:00:00",
    ),
    (
        "Europe/Berlin",
        "2024-03-01 00:00:00",
        "+ INTERVAL 1 MONTH",
        "2024-04-01 00:00:00",
    ),
    (
        "Europe/Berlin",
        "2024-03-01 00:00:00",
        "- INTERVAL 1 YEAR",
        "2023-03-01 00:00:00",
    ),
    (
        "Europe/Berlin",
        "2024-03-30 02:30:00",
        "+ INTERVAL 1 DAY",
        "2024-03-31 03:30:00",
    ),
    (
        "+05:00",
        "2024-03-01 00:00:00",
        "+ INTERVAL 1 MONTH",
        "2024-04-01 00:00:00",
    ),
    (
        "+05:00",
        "2024-03-01 00:00:00",
        "+ INTERVAL 1 QUARTER",
        "2024-06-01 00:00:00",
    ),
    (
        "UTC",
        "2024-01-31 00:00:00",
        "+ INTERVAL 1 MONTH",
        "2024-02-29 00:00:00",
    ),
];

#[test]
fn a_timestamp_moves_by_days_and_months_of_the_local_calendar() {
    let server = Setup::default().start();
    let mut client = server.client();
    for (zone, text, interval, moved) in MOVED {
        for statement in [
            &format!("SET time_zone = '{zone}'"),
            "DROP TABLE IF EXISTS m",
            "CREATE TABLE m (body text, n int, dt datetime, later datetime, ts timestamp)",
            &format!(
                "INSERT INTO m (id, n, dt, later, ts) VALUES (1, 1, '{text}', '{moved}', '{text}')"
            ),
        ] {
            done(&mut client, statement);
        }
        for condition in [
            format!("ts {interval} = '{moved}'"),
            format!("ts {interval} = later"),
            format!("ts {interval} = ts {}", interval.replace('1', "n")),
            format!("COALESCE(ts, 0) {interval} = '{moved}'"),
            format!("MAX(ts) {interval} = '{moved}'"),
        ] {
            let statement = match condition.contains("MAX") {
                true => format!("SELECT id FROM m GROUP BY id HAVING {condition}"),
                false => format!("SELECT id FROM m WHERE {condition}"),
            };
            let found = run(&mut client, &statement);
            assert_eq!(found, Ok(vec!["1".to_owned()]), "{zone}: {statement}");
        }
        done(&mut client, &format!("UPDATE m SET ts = ts {interval}"));
        let found = run(
            &mut client,
            &format!("SELECT id FROM m WHERE ts = '{moved}'"),
        );
        assert_eq!(found, Ok(vec!["1".to_owned()]), "{zone}: {text} {interval}");
    }
    // A day of the histogram is a local one, unless it names a zone.
    let days = [
        ("ts", "{calendar_interval='day'}", "'2024-06-01'"),
        ("dt", "{calendar_interval='day'}", "'2024-06-01'"),
        (
            "ts",
            "{calendar_interval='day', time_zone='UTC'}",
            "'2024-05-31T00:00:00Z'",
        ),
        (
            "dt",
            "{calendar_interval='day', time_zone='UTC'}",
            "'2024-06-01T00:00:00Z'",
        ),
        ("ts", "{fixed_interval='24h'}", "'2024-06-01'"),
        ("dt", "{fixed_interval='24h'}", "'2024-06-01'"),
    ];
    for statement in [
        "SET time_zone = '+05:00'",
        "UPDATE m SET ts = '2024-06-01 03:00:00', dt = '2024-06-01 03:00:00'",
    ] {
        done(&mut client, statement);
    }
    for (of, options, day) in days {
        let statement = format!("SELECT id FROM m WHERE DATE_HISTOGRAM({of}, {options}) = {day}");
        let found = run(&mut client, &statement);
        assert_eq!(found, Ok(vec!["1".to_owned()]), "{statement}");
    }
    // An hour is an hour when clocks change.
    for statement in [
        "SET time_zone = 'Europe/Berlin'",
        "UPDATE m SET ts = '2024-10-27 01:30:00'",
    ] {
        done(&mut client, statement);
    }
    let hours = "SELECT ts + INTERVAL 3 HOUR - ts FROM m";
    assert_eq!(run(&mut client, hours), Ok(vec!["10800".to_owned()]));
}

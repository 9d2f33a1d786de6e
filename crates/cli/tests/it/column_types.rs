//! Every type of `SAMPLES` through insert, read, comparison, order, groups, SHOW CREATE TABLE, a restart and `seine dump`, in each kind
//! of table, by MySQL's protocol and by JSON over HTTP.
//!
//! A table has three rows: 1 and 3 with the sample's value, 2 with its least.

use client::{Client, ClientError};
use relation::schema::samples::{SAMPLES, Sample};
use serde_json::{Value as Json, json};

use crate::server::{Server, Setup, clean_command, request};

/// The rows of an answer, or the error. Cells in the text that a client sees.
fn ask(client: &mut Client, statement: &str) -> Result<Vec<Vec<String>>, String> {
    let cell = |cell: Option<Vec<u8>>| match cell {
        Some(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        None => "NULL".to_owned(),
    };
    match client.query(statement) {
        Ok(answer) => {
            let rows = answer.rows.into_iter();
            Ok(rows
                .map(|row| row.into_iter().map(cell).collect())
                .collect())
        }
        Err(ClientError::Server(error)) => Err(format!("{error:?}")),
        Err(other) => panic!("{statement}: {other}"),
    }
}

fn done(client: &mut Client, statement: &str) -> Vec<Vec<String>> {
    ask(client, statement).unwrap_or_else(|error| panic!("{statement}: {error}"))
}

/// The reply to a request of JSON.
fn posted(server: &Server, path: &str, body: &str) -> Json {
    let (status, reply) = request(server.http(), &format!("POST {path}"), "", body.as_bytes());
    assert_eq!(status, 200, "{path}: {body}: {reply}");
    serde_json::from_str(&reply).unwrap()
}

/// The rows of a statement over HTTP, cells as in [`ask`].
fn selected(server: &Server, statement: &str) -> Vec<Vec<String>> {
    let reply = posted(server, "/sql?mode=raw", statement);
    let columns: Vec<String> = reply[0]["columns"]
        .as_array()
        .unwrap_or_else(|| panic!("{statement}: {reply}"))
        .iter()
        .map(|column| column.as_object().unwrap().keys().next().unwrap().clone())
        .collect();
    let rows = reply[0]["data"].as_array().unwrap().iter();
    rows.map(|row| columns.iter().map(|name| plain(&row[name])).collect())
        .collect()
}

/// A value of JSON in the text of MySQL's protocol.
fn plain(value: &Json) -> String {
    match value {
        Json::Null => "NULL".to_owned(),
        Json::Bool(truth) => u8::from(*truth).to_string(),
        Json::String(text) => text.clone(),
        Json::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(","),
        Json::Number(_) | Json::Object(_) => value.to_string(),
    }
}

/// Whether a cell is the sample's value. A number has fewer zeros at its ends in JSON than in MySQL's protocol.
fn is_value(sample: &Sample, cell: &str) -> bool {
    let is_number = sample.shown.parse::<f64>().is_ok();
    let zeros = |text: &str| text.trim_start_matches('0').to_owned();
    let bare = |text: &str| match text.contains('.') {
        true => zeros(text.trim_end_matches('0')),
        false => zeros(text),
    };
    cell == sample.shown || is_number && bare(cell) == bare(sample.shown)
}

/// The kinds of tables: the beginning of the name, before and behind the columns.
const KINDS: [(&str, &str, &str); 3] = [
    ("t", "TABLE", ""),
    ("q", "TABLE", "ENGINE=QUEUE"),
    ("y", "TEMPORARY TABLE", ""),
];

/// Conditions on `c`, and the rows that they find. `{k}` is the value, `{l}` the least.
const CONDITIONS: &[(&str, &str)] = &[
    ("c = {k}", "1,3"),
    ("c = {l}", "2"),
    ("c <> {k}", "2"),
    ("c < {k}", "2"),
    ("c < {l}", ""),
    ("c <= {l}", "2"),
    ("c > {l}", "1,3"),
    ("c IN ({k})", "1,3"),
    ("c IN ({l}, {l})", "2"),
    ("c IN ({k}, {l})", "1,2,3"),
    ("c NOT IN ({l})", "1,3"),
    ("c BETWEEN {l} AND {k}", "1,2,3"),
    ("c BETWEEN {k} AND {k}", "1,3"),
];

fn insert(client: &mut Client, table: &str, sample: &Sample) {
    let Sample { value, least, .. } = sample;
    for (n, value) in [(1, value), (2, least), (3, value)] {
        let has_id = table.starts_with('t');
        let (id, of) = match has_id {
            true => ("id, ", format!("{n}, ")),
            false => ("", String::new()),
        };
        done(
            client,
            &format!("INSERT INTO {table} ({id}n, c) VALUES ({of}{n}, {value})"),
        );
    }
}

/// Reads, compares, sorts and groups the rows of a table through `ask`.
fn check(
    sample: &Sample,
    table: &str,
    ask: &mut dyn FnMut(&str) -> Vec<Vec<String>>,
    wrong: &mut Vec<String>,
) {
    let mut expect = |statement: String, is_right: &dyn Fn(&[Vec<String>]) -> bool| {
        let rows = ask(&statement);
        if !is_right(&rows) {
            wrong.push(format!("{}: {statement}: {rows:?}", sample.name));
        }
    };
    let numbers = |rows: &[Vec<String>]| {
        let first = rows.iter().map(|row| row[0].as_str());
        first.collect::<Vec<_>>().join(",")
    };
    expect(format!("SELECT c FROM {table} WHERE n = 3"), &|rows| {
        rows.len() == 1 && is_value(sample, &rows[0][0])
    });
    if sample.equal.is_empty() {
        return;
    }
    for (condition, found) in CONDITIONS {
        for constant in sample.equal {
            // The bool of a queue is MySQL's tinyint, which reads no words.
            if *constant == "'true'" && !table.starts_with('t') {
                continue;
            }
            let condition = condition
                .replace("{k}", constant)
                .replace("{l}", sample.least);
            let statement = format!("SELECT n FROM {table} WHERE {condition} ORDER BY n ASC");
            expect(statement, &|rows| numbers(rows) == *found);
        }
    }
    for (order, found) in [("c ASC, n ASC", "2,1,3"), ("c DESC, n ASC", "1,3,2")] {
        let statement = format!("SELECT n FROM {table} ORDER BY {order}");
        expect(statement, &|rows| numbers(rows) == found);
    }
    let statement =
        format!("SELECT COUNT(*) AS k, c, MIN(c), MAX(c) FROM {table} GROUP BY c ORDER BY k DESC");
    expect(statement, &|rows| {
        let counts: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
        counts == ["2", "1"] && rows[0][1..].iter().all(|cell| is_value(sample, cell))
    });
}

/// The row 3 of a search table as `/search` gives it, put back by `/insert` as row 4.
fn check_json(
    sample: &Sample,
    (server, client): (&Server, &mut Client),
    table: &str,
    wrong: &mut Vec<String>,
) {
    let query = json!({ "table": table, "query": { "equals": { "n": 3 } } });
    let reply = posted(server, "/search", &query.to_string());
    let value = &reply["hits"]["hits"][0]["_source"]["c"];
    if !is_value(sample, &plain(value)) && !value.is_object() {
        wrong.push(format!("{}: /search: {reply}", sample.name));
    }
    let document = json!({ "table": table, "id": 4, "doc": { "n": 4, "c": value } });
    posted(server, "/insert", &document.to_string());
    let rows = done(client, &format!("SELECT c FROM {table} WHERE n = 4"));
    if !is_value(sample, &rows[0][0]) {
        wrong.push(format!("{}: {document}: {rows:?}", sample.name));
    }
    done(client, &format!("DELETE FROM {table} WHERE id = 4"));
}

/// Makes a table by what SHOW CREATE TABLE says of it, and returns that.
fn make_again(client: &mut Client, table: &str, sample: &Sample) -> String {
    let mut create = || done(client, &format!("SHOW CREATE TABLE {table}"))[0][1].clone();
    let first = create();
    done(client, &format!("DROP TABLE {table}"));
    done(client, &first);
    assert_eq!(
        done(client, &format!("SHOW CREATE TABLE {table}"))[0][1],
        first
    );
    insert(client, table, sample);
    first
}

#[test]
fn every_type_goes_through_every_statement_and_both_protocols() {
    let mut server = Setup::default().start();
    let mut client = server.client();
    let (mut wrong, mut made) = (Vec::new(), Vec::new());
    for (at, sample) in SAMPLES.iter().enumerate() {
        for (kind, what, options) in KINDS {
            let table = format!("{kind}{at}");
            let name = sample.name;
            done(
                &mut client,
                &format!("CREATE {what} {table} (n int, c {name}) {options}"),
            );
            insert(&mut client, &table, sample);
            let shown = format!("SELECT c FROM {table} WHERE n = 1");
            assert_eq!(
                done(&mut client, &shown),
                [[sample.shown]],
                "{table}: {name}"
            );
            check(sample, &table, &mut |it| done(&mut client, it), &mut wrong);
            if kind == "y" {
                continue;
            }
            check(sample, &table, &mut |it| selected(&server, it), &mut wrong);
            if kind == "t" {
                check_json(sample, (&server, &mut client), &table, &mut wrong);
            }
            let create = make_again(&mut client, &table, sample);
            made.push((table, sample, create));
        }
    }
    server.kill_and_restart();
    let mut client = server.client();
    for (table, sample, _) in &made {
        check(sample, table, &mut |it| done(&mut client, it), &mut wrong);
    }
    server.kill();
    let data = server.folder().path("data");
    for (table, sample, create) in &made {
        let dump = clean_command()
            .args(["dump", &data, "--table", table])
            .output();
        let dump = String::from_utf8(dump.unwrap().stdout).unwrap();
        let lines = dump.lines().map(|line| serde_json::from_str(line).unwrap());
        let lines: Vec<Json> = lines.collect();
        let value = &lines[3]["values"]["c"];
        let is_right = value.is_object() || is_value(sample, &plain(value));
        if lines.len() != 4 || !is_right || lines[0]["create"] != *create {
            wrong.push(format!("{}: dump: {dump}", sample.name));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

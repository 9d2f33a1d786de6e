//! Attribution over a table: by the verb, by SQL, and over the same rows in a file; what ends a statement, and its memory.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;

use client::Client;
use serde_json::Value;

use crate::random::XorShift;
use crate::server::{Server, Setup, clean_command, request, until};

/// The columns that the server gives the table.
fn create() -> String {
    study::attribution::table::create()
}

/// Rows of touches and orders in random order: refunds, orders that a back end confirmed, times that are equal, rows that do not
/// count.
fn rows(random: &mut XorShift, count: usize) -> Vec<String> {
    let sources = [
        "google",
        "bing",
        "(direct)",
        "newsletter",
        "it''s, \"quoted\"",
    ];
    let media = ["cpc", "organic", "", "email"];
    let row = |_| {
        let id = random.next_u64() >> 1 | 1;
        let visitor = random.below(count / 6 + 1);
        let time = 1_717_200_000 + 3_600 * random.below(24 * 60);
        let source = sources[random.below(sources.len())];
        let medium = media[random.below(media.len())];
        let cents = random.below(20_000) as f64 / 100.0 - 20.0;
        match random.below(10) {
            0..7 => {
                format!("({id}, 'v{visitor}', {time}, '{source}', '{medium}', '', NULL, '', 0)")
            }
            7..9 => {
                let (order, confirmed) = (random.below(count / 8 + 1), random.below(2));
                format!(
                    "({id}, 'v{visitor}', {time}, '', '', '', {cents:.2}, 'o{order}', {confirmed})"
                )
            }
            _ => format!("({id}, 'v{visitor}', {time}, '', '{medium}', 'part', {cents:.2}, '', 0)"),
        }
    };
    (0..count).map(row).collect()
}

fn insert(client: &mut Client, table: &str, rows: &[String]) {
    const COLUMNS: &str = "(id, visitor, time, source, medium, subcat, value, order_id, confirmed)";
    for rows in rows.chunks(5_000) {
        let rows = rows.join(", ");
        client
            .query(&format!("INSERT INTO {table} {COLUMNS} VALUES {rows}"))
            .unwrap();
    }
}

fn texts(client: &mut Client, statement: &str) -> Vec<Vec<String>> {
    let text = |cell: Option<Vec<u8>>| String::from_utf8(cell.unwrap_or_default()).unwrap();
    let rows = client.query(statement).unwrap().rows;
    rows.into_iter()
        .map(|row| row.into_iter().map(text).collect())
        .collect()
}

/// Channel and model → the figures as CSV or SQL write them.
type Figures = BTreeMap<(String, String), [f64; 4]>;

fn called(client: &mut Client, options: &str) -> Figures {
    let rows = texts(client, &format!("CALL ATTRIBUTION('touches'{options})"));
    let figures = rows.into_iter().map(|row| {
        let numbers = [2, 3, 4, 5].map(|at: usize| row[at].parse().unwrap());
        ((row[0].clone(), row[1].clone()), numbers)
    });
    figures.collect()
}

/// The report of the verb. Its unrounded tables have no totals.
fn reported(folder: &Path, arguments: &[&str]) -> Figures {
    let mut command = clean_command();
    command
        .args(["attribution", "report", "--json"])
        .args(arguments);
    command.current_dir(folder).stdin(Stdio::null());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut figures = Figures::new();
    let tables = [
        "transactions",
        "revenue",
        "transactions_exact",
        "revenue_exact",
    ];
    for (at, table) in tables.iter().enumerate() {
        for row in report[table].as_array().unwrap() {
            let channel = row["channel"].as_str().unwrap();
            for (model, number) in row.as_object().unwrap() {
                if let Some(number) = number.as_f64() {
                    let key = (channel.to_owned(), model.replace('_', "-"));
                    figures.entry(key).or_default()[at] = number;
                }
            }
        }
    }
    figures
}

#[track_caller]
fn check_equal(called: &Figures, reported: &Figures) {
    let keys: Vec<_> = called.keys().collect();
    assert_eq!(keys, reported.keys().collect::<Vec<_>>());
    for (key, numbers) in called {
        let compared = if key.0 == "(total)" { 2 } else { 4 };
        assert_eq!(numbers[..compared], reported[key][..compared], "{key:?}");
    }
}

#[test]
fn a_table_a_call_and_a_file_of_the_same_rows_have_the_same_figures_by_each_model() {
    let server = Server::start();
    let mut client = server.client();
    let mut random = XorShift::new(46);
    let folder = &server.folder().0;
    for round in 0..4 {
        client.query(&create()).unwrap();
        let rows = rows(&mut random, 200 << round);
        insert(&mut client, "touches", &rows);
        if round == 2 {
            client.query("FLUSH TABLE touches").unwrap();
        }
        let exported = clean_command()
            .args([
                "sql",
                "--json",
                "--addr",
                server.mysql(),
                "SELECT * FROM touches LIMIT 100000",
            ])
            .output()
            .unwrap();
        std::fs::write(folder.join("touches.json"), &exported.stdout).unwrap();
        let options = [
            (vec!["--model", "all"], ", 'all' AS model"),
            (
                vec![
                    "--model",
                    "all",
                    "--window",
                    "12.5",
                    "--single-order",
                    "--channel-name",
                    "source",
                    "--direct",
                    "bing",
                ],
                ", 'all' AS model, 12.5 AS window, 1 AS single_order, 'source' AS channel_name, 'bing' AS direct",
            ),
            (
                vec![
                    "--model",
                    "time-decay,linear",
                    "--half-life",
                    "1",
                    "--from",
                    "2024-06-10",
                    "--to",
                    "2024-07-01 12:00",
                ],
                ", 'time-decay,linear' AS model, 1 AS half_life, '2024-06-10' AS from, '2024-07-01 12:00' AS to",
            ),
        ];
        for (flags, options) in options {
            let called = called(&mut client, options);
            let file = [&["--touches", "touches.json"], &flags[..]].concat();
            check_equal(&called, &reported(folder, &file));
            let table = ["--table", "touches", "--addr", server.mysql()];
            check_equal(&called, &reported(folder, &[&table, &flags[..]].concat()));
        }
        client.query("DROP TABLE touches").unwrap();
    }
}

/// A search may take 2 MiB: the statement reads pages of 16,384 rows, and the verb asks for smaller pages until one is answered. The
/// ids of the rows are in no order.
#[test]
fn each_row_of_several_pages_is_read_once_and_a_restart_changes_nothing() {
    const ROWS: u64 = 100_000;
    let mut server = Setup::default()
        .flag("--memory", "64MiB")
        .variable("SEINE_SEARCH_MEMORY", "2MiB")
        .start();
    let mut client = server.client();
    client.query(&create()).unwrap();
    // Each visitor has one touch and one order of 0.01: ids are a permutation by an odd factor.
    let row = |number: u64| {
        let id = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 1 | 1;
        let (visitor, time) = (number / 2, 1_717_200_000 + number);
        match number % 2 {
            0 => format!(
                "({id}, '{visitor}', {time}, 's{}', '', '', NULL, '', 0)",
                visitor % 5
            ),
            _ => format!("({id}, '{visitor}', {time}, '', '', '', 0.01, '', 0)"),
        }
    };
    let rows: Vec<String> = (0..ROWS).map(row).collect();
    insert(&mut client, "touches", &rows);
    let options = ", 'last,markov' AS model, 'source' AS channel_name";
    let before = called(&mut client, options);
    let total = before[&("(total)".to_owned(), "last".to_owned())];
    assert_eq!(total[..2], [(ROWS / 2) as f64, ROWS as f64 / 200.0]);
    server.kill_and_restart();
    let after = called(&mut server.client(), options);
    assert_eq!(before, after);
    let table = ["--table", "touches", "--addr", server.mysql()];
    let flags = ["--model", "last,markov", "--channel-name", "source"];
    check_equal(
        &after,
        &reported(&server.folder().0, &[&table[..], &flags].concat()),
    );
}

#[test]
fn a_call_that_needs_more_than_the_memory_of_requests_is_refused_and_gives_it_back() {
    let server = Setup::default().flag("--memory", "64MiB").start();
    let mut client = server.client();
    client.query(&create()).unwrap();
    let rows: Vec<String> = (1..40_000)
        .map(|id| format!("({id}, '{id:0300}', 1717200000, 's', '', '', NULL, '', 0)"))
        .collect();
    insert(&mut client, "touches", &rows);
    let refused = client
        .query("CALL ATTRIBUTION('touches')")
        .unwrap_err()
        .to_string();
    // The rows of a page hold memory beside the events: which of the two errors comes depends on that.
    let is_told =
        refused.contains("memory of requests is taken") || refused.contains("raise memory");
    assert!(is_told, "{refused}");
    until("its memory is free", || {
        (server.requests_hold() == 0).then_some(())
    });
    client.query("DELETE FROM touches WHERE id > 100").unwrap();
    let call = b"CALL ATTRIBUTION('touches', 'last' AS model)";
    let (status, body) = request(server.http(), "POST /sql?mode=raw", "", call);
    assert_eq!(status, 200, "{body}");
    assert!(body.contains("\"model\":\"last\""), "{body}");
    assert_eq!(
        texts(&mut client, "CALL ATTRIBUTION('touches', 'last' AS model)").len(),
        2
    );
}

#[test]
fn kill_and_the_end_of_a_client_end_a_call() {
    let server = Setup::default()
        .variable("SEINE_FAULTS", "hold-search=held")
        .start();
    let mut client = server.client();
    client.query(&create()).unwrap();
    let held = "CALL ATTRIBUTION('touches', 'first' AS model, 'held' AS direct)";
    let is_held = |row: &Vec<String>| row[7].contains("held");
    let mut looker = server.client();
    let mut held_thread = || {
        until("the call runs", || {
            texts(&mut looker, "SHOW THREADS").into_iter().find(is_held)
        })
    };
    std::thread::scope(|scope| {
        let calling = scope.spawn(|| client.query(held).map(drop));
        let id = held_thread()[0].clone();
        server.client().query(&format!("KILL QUERY {id}")).unwrap();
        let error = calling.join().unwrap().unwrap_err().to_string();
        assert!(error.contains("1317"), "{error}");
    });
    let mut leaving = clean_command()
        .args(["sql", "--addr", server.mysql(), held])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    held_thread();
    leaving.kill().unwrap();
    leaving.wait().unwrap();
    until("nobody calls", || {
        let threads = texts(&mut looker, "SHOW THREADS");
        (!threads.iter().any(is_held)).then_some(())
    });
}

#[test]
fn a_table_that_a_report_cannot_read_is_named() {
    let server = Server::start();
    let mut client = server.client();
    for statement in [
        "CREATE TABLE visits (visitor string, source string)",
        "CREATE TABLE waiting (visitor text, time int, source text) ENGINE=queue",
    ] {
        client.query(statement).unwrap();
    }
    let refused = |arguments: &[&str]| {
        let mut command = clean_command();
        command.args(["attribution", "report", "--addr", server.mysql()]);
        let output = command.args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(refused(&["--table", "visits"]).contains("the table visits has no column time: "));
    assert!(refused(&["--table", "waiting"]).contains("waiting is no search table"));
    assert!(refused(&["--table", "nothing"]).contains("no table 'nothing'"));
    client.query(&create()).unwrap();
    assert!(refused(&["--table", "touches"]).contains("touches: no line to report on"));
}

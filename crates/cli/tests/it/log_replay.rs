//! `seine log replay`: logs of each form against a server, what is not sent, and replies that are kept.

use std::process::{Command, Output, Stdio};

use serde_json::Value;
use study::results::{Results, compare, read};

use crate::server::{Folder, Server, Setup, clean_command, number, until};

const PLAIN: &str = "\
[Fri Jun 29 21:17:58.100 2007] 0.004 sec [any/0/rel 2 (0,20)] [posts] storm-calm
[Fri Jun 29 21:17:58.200 2007] 0.004 sec [all/2/attr- 2 (0,20)] [posts] a (storm)
[Fri Jun 29 21:17:58.300 2007] 0.004 sec [scan/0/rel 3 (0,20) @n] [posts]\x20
";

const SPHINXQL: &str = "\
/* Sun Apr 28 12:38:02.808 2024 conn 2 real 0.105 wall 0.104 found 2 */ SELECT id, weight() FROM posts WHERE MATCH('storm') FACET n;
/* Sun Apr 28 12:38:02.809 2024 conn 3 real 0.001 wall 0.001 found 1 */ CALL PQ('alerts', 'a storm', 0 AS docs_json);
/* Sun Apr 28 12:38:02.810 2024 conn 3 real 0.001 wall 0.001 found 0 */ DROP TABLE posts;
/* Sun Apr 28 12:38:02.811 2024 conn 3 real 0.001 wall 0.001 found 0 */ SELECT 1; DROP TABLE posts;
/* Sun Apr 28 12:38:02.812 2024 conn 3 real 0.001 wall 0.001 */ SELECT nope FROM posts; /* error=no column */
/* Sun Apr 28 12:38:02.813 2024 conn 3 real 0.001 wall 0.001 found 3 */ SELECT id FROM posts WHERE n IN (1,; /* cut=90000 */
/* Sun Apr 28 12:38:02.814 2024 conn 3 real 0.001 wall 0.001 found 3 */ SELECT id FR
/* Sun Apr 28 12:38:03.000 2024 conn 3 real 0.001 wall 0.001 found 1 */ /*{\"index\": \"posts\", \"query\": {\"match\": {\"*\": \"calm\"}}} */
not a line of a log
";

const JSON: &str = r#"{"time":"2026-08-01T10:00:00.123+02:00","real":0.000153,"found":2,"table":"posts","query":"storm","statement":"SELECT * FROM posts WHERE MATCH('storm')"}
"#;

/// A server with three posts and a standing query, and the logs beside it.
fn started() -> Server {
    let server = Server::start();
    let mut client = server.client();
    for statement in [
        "CREATE TABLE posts (body text, n int)",
        "CREATE TABLE alerts (body text) type='pq'",
        "INSERT INTO posts (id, body, n) VALUES (1, 'storm', 3), (2, 'a storm', 4), (3, 'calm', 5)",
        "INSERT INTO alerts (id, query) VALUES (7, 'storm')",
    ] {
        client.query(statement).unwrap();
    }
    for (name, text) in [("plain", PLAIN), ("sphinxql", SPHINXQL), ("json", JSON)] {
        std::fs::write(server.folder().path(name), text).unwrap();
    }
    server
}

fn replay(server: &Server, arguments: &[&str]) -> Command {
    let mut command = clean_command();
    command.args(["log", "replay", "--addr", server.mysql()]);
    command.args(arguments).current_dir(&server.folder().0);
    command.stdin(Stdio::null());
    command
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[track_caller]
fn json(server: &Server, arguments: &[&str]) -> Value {
    let output = replay(server, &[arguments, &["--json"]].concat())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The replies that a replay has kept in a file.
fn results(server: &Server, name: &str) -> Results {
    read(&std::fs::read_to_string(server.folder().path(name)).unwrap()).unwrap()
}

#[test]
fn each_form_is_sent_and_what_is_not_sent_is_counted() {
    let server = started();
    let report = json(&server, &["plain", "--fast"]);
    assert_eq!(report["queries"], 3);
    assert_eq!(report["without_filters"], 1);
    assert_eq!(report["without_order"], 1);
    assert_eq!(report["against_log"][0]["log_seconds"], 0.004);
    let report = json(&server, &["sphinxql", "--fast"]);
    assert_eq!(
        (&report["sent"], &report["queries"]),
        (&2.into(), &2.into())
    );
    for (name, count) in [
        ("skipped_refused", 2),
        ("skipped_failed", 1),
        ("skipped_cut", 2),
        ("skipped_bodies", 1),
        ("log_unknown_lines", 1),
        ("failed_statements", 0),
    ] {
        assert_eq!(report[name], count, "{name}");
    }
    let report = json(&server, &["sphinxql", "--fast", "--http", server.http()]);
    assert_eq!(
        (&report["queries"], &report["skipped_bodies"]),
        (&3.into(), &0.into())
    );
    let report = json(
        &server,
        &[
            "json",
            "plain",
            "--fast",
            "--index",
            "posts",
            "--from",
            "2020-01-01",
        ],
    );
    assert_eq!(
        (&report["queries"], &report["log_outside_filter"]),
        (&1.into(), &3.into())
    );
    // DROP TABLE was never sent.
    assert_eq!(
        number(&mut server.client(), "SELECT COUNT(*) FROM posts"),
        3
    );
}

#[test]
fn the_logs_own_pace_is_kept_and_may_be_quickened() {
    let server = started();
    let report = json(&server, &["plain", "--speed", "100"]);
    assert_eq!(
        (&report["queries"], &report["lost"]),
        (&3.into(), &0.into())
    );
    let report = json(&server, &["plain", "sphinxql"]);
    assert_eq!(report["sent"], 5);
    // Lines of the plain log are 200 ms apart, and the other log begins without a gap.
    let elapsed = report["elapsed_seconds"].as_f64().unwrap();
    assert!(elapsed >= 0.2, "{elapsed}");
}

#[test]
fn clients_and_parts_make_a_grid() {
    let server = started();
    let report = json(&server, &["plain", "--clients", "1,2", "--parts", "1,2"]);
    let grid = report["grid"].as_array().unwrap();
    let cells: Vec<_> = grid
        .iter()
        .map(|row| {
            (
                row["clients"].as_u64(),
                row["parts"].as_u64(),
                row["sent"].as_u64(),
            )
        })
        .collect();
    let wanted = [(1, 1), (1, 2), (2, 1), (2, 2)];
    assert_eq!(
        cells,
        wanted.map(|(clients, parts)| (Some(clients), Some(parts), Some(3)))
    );
}

#[test]
fn parts_are_put_back_as_the_server_had_them() {
    let server = started();
    let mut client = server.client();
    for before in ["idle", "3"] {
        let set = format!("SET GLOBAL max_threads_per_query = {before}");
        client.query(&set).unwrap();
        json(&server, &["plain", "--parts", "1"]);
        let bound = client.query("SELECT @@GLOBAL.max_threads_per_query");
        let bound = bound.unwrap().rows.remove(0).remove(0);
        assert_eq!(bound.as_deref(), Some(before.as_bytes()));
    }
}

#[test]
fn kept_replies_are_equal_until_the_table_changes() {
    let server = started();
    let keep = |name: &str| {
        let more = ["--fast", "--http", server.http(), "--results", name];
        json(
            &server,
            &[&["plain", "sphinxql", "json"], &more[..]].concat(),
        );
        results(&server, name)
    };
    let first = keep("first");
    assert_eq!(first.answers.len(), 7);
    let facets = &first.answers[3];
    assert_eq!(facets.number, 4, "the entries before it count");
    assert!(facets.query.ends_with("FACET n"), "{}", facets.query);
    assert!(compare(&first, &keep("again")).unwrap().is_same());
    let mut client = server.client();
    client
        .query("REPLACE INTO posts (id, body, n) VALUES (2, 'a storm', 9)")
        .unwrap();
    let measures = compare(&first, &keep("changed")).unwrap();
    assert!(!measures.is_same());
    let text = measures.to_string();
    assert!(text.contains("the first queries that differ"), "{text}");
    client.query("DROP TABLE posts").unwrap();
    let text = compare(&first, &keep("gone")).unwrap().to_string();
    assert!(text.contains("failed: 0 of A, 6 of B, 0 of both"), "{text}");
}

#[test]
fn what_cannot_be_replayed_is_refused() {
    let server = started();
    let folder = server.folder();
    std::fs::write(folder.path("drop"), SPHINXQL.lines().nth(2).unwrap()).unwrap();
    std::fs::write(folder.path("empty"), "").unwrap();
    for (arguments, status, why) in [
        (&["missing"][..], 1, "missing: No such file"),
        (&["empty"], 1, "the log has no query"),
        (
            &["drop"],
            1,
            "no query to send: 1 refused: not one SELECT or CALL PQ",
        ),
        (&["plain", "--speed", "0"], 2, "a speed is a number"),
        (
            &["plain", "--clients", "1,2", "--results", "r"],
            2,
            "--results has the replies of one run",
        ),
        (&["-", "--clients", "1,2"], 2, "standard input is read once"),
        (
            &["plain", "--addr", "127.0.0.1:1"],
            1,
            "127.0.0.1:1: connection:",
        ),
    ] {
        let mut command = clean_command();
        command.args(["log", "replay"]).args(arguments);
        if !arguments.contains(&"--addr") {
            command.args(["--addr", server.mysql()]);
        }
        let output = command
            .current_dir(&folder.0)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(status), "{arguments:?}");
        assert!(
            stderr(&output).contains(why),
            "{arguments:?}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn ctrl_c_ends_in_the_report_of_what_was_done() {
    let server = started();
    let late = PLAIN.lines().next().unwrap().replace("21:17", "23:17");
    std::fs::write(server.folder().path("long"), format!("{PLAIN}{late}\n")).unwrap();
    let child = replay(&server, &["long", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let log = |server: &Server| {
        let asked = "SELECT COUNT(*) FROM system.processes";
        number(&mut server.client(), asked)
    };
    // The three first queries have been sent once their connections are there.
    until("connections of the replay", || {
        (log(&server) >= 3).then_some(())
    });
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(
        report["notes"][0]
            .as_str()
            .unwrap()
            .contains("Ended by a signal")
    );
    assert!(report["sent"].as_u64().unwrap() <= 3);
}

#[test]
fn a_servers_own_log_is_replayed_from_a_folder_of_another() {
    let folder = Folder::new();
    let path = folder.path("query.log");
    let server = Setup::default().flag("--query-log", &path).start();
    let mut client = server.client();
    client.query("CREATE TABLE posts (body text)").unwrap();
    let search = "SELECT id, 'it''s; a \\' text' AS t FROM posts WHERE MATCH('a \\\\(b') OPTION comment='mine'";
    client.query(search).unwrap();
    until("the line of the log", || {
        let log = std::fs::read_to_string(&path).unwrap_or_default();
        log.ends_with("\n").then_some(())
    });
    json(&server, &[&path, "--fast", "--results", "kept"]);
    assert_eq!(results(&server, "kept").answers[0].query, search);
}

//! Start, recovery, signals, faults, end.

use std::fs;
use std::thread;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::Signal;

use crate::server::{Folder, Server, Setup, request, until};

#[test]
fn sigterm_finishes_folds_and_ends_with_0() {
    let mut server = Server::start();
    let mut client = server.client();
    client.query("CREATE TABLE t (body text)").unwrap();
    client
        .query("INSERT INTO t (id, body) VALUES (1, 'kept')")
        .unwrap();
    assert_eq!(server.terminate().code(), Some(0), "{}", server.log());
    assert!(
        server.log().contains("everything is in files"),
        "{}",
        server.log()
    );
    server.restart_as(Setup::default());
    let rows = server.client().query("SELECT body FROM t").unwrap().rows;
    assert_eq!(rows, [[Some(b"kept".to_vec())]]);
    let replayed = server
        .client()
        .query("SHOW STATUS LIKE 'recovery_replayed'")
        .unwrap()
        .rows;
    assert_eq!(
        replayed[0][1].as_deref(),
        Some(&b"0"[..]),
        "a clean end leaves nothing to replay"
    );
}

/// A number of SHOW STATUS or SHOW TABLE STATUS.
fn number(server: &Server, statement: &str, name: &str) -> u64 {
    let rows = server.client().query(statement).unwrap().rows;
    let row = rows
        .iter()
        .find(|row| row[0].as_deref() == Some(name.as_bytes()))
        .unwrap_or_else(|| panic!("{statement} has no {name}"));
    let text = String::from_utf8(row[1].clone().unwrap()).unwrap();
    text.parse().unwrap()
}

#[test]
fn two_hundred_thousand_rows_are_in_segments_and_a_restart_replays_only_what_is_above_them() {
    let mut server = Server::start();
    let mut client = server.client();
    client.query("CREATE TABLE t (body text)").unwrap();
    let before = number(&server, "SHOW STATUS", "checkpoints");
    let rows = vec!["('one of many rows')"; 1_000].join(",");
    let statements = 200;
    for _ in 0..statements {
        client
            .query(&format!("INSERT INTO t (body) VALUES {rows}"))
            .unwrap();
    }
    // The seal works beside the inserts; its end shows in the manifest that names its segment, not at a time.
    until("a manifest names the segment", || {
        (number(&server, "SHOW STATUS", "checkpoints") > before).then_some(())
    });
    server.kill_and_restart();
    let replayed = number(&server, "SHOW STATUS", "recovery_replayed");
    assert!(replayed < statements, "{replayed} records replayed");
    assert!(number(&server, "SHOW TABLE t STATUS", "segments") > 0);
    let found = server
        .client()
        .query("SELECT COUNT(*) FROM t WHERE MATCH('many')")
        .unwrap()
        .rows;
    assert_eq!(found, [[Some(b"200000".to_vec())]]);
}

#[test]
fn what_was_replayed_after_sigkill_is_folded_by_a_clean_end() {
    let mut server = Server::start();
    let mut client = server.client();
    client.query("CREATE TABLE t (body text)").unwrap();
    client
        .query("INSERT INTO t (id, body) VALUES (1, 'kept')")
        .unwrap();
    let count = |server: &Server| number(server, "SHOW TABLE t STATUS", "indexed_documents");
    server.kill_and_restart();
    assert_eq!(count(&server), 1);
    server.stop_and_restart();
    assert_eq!(count(&server), 1);
    assert_eq!(number(&server, "SHOW STATUS", "recovery_replayed"), 0);
}

#[test]
fn a_second_server_on_the_directory_ends_with_1_and_names_the_first() {
    let server = Server::start();
    let folder = server.folder();
    let setup = Setup::default();
    fs::rename(folder.path("log"), folder.path("first-log")).unwrap();
    let mut second = setup.spawn(folder);
    assert_eq!(second.wait().unwrap().code(), Some(1));
    let log = fs::read_to_string(folder.path("log")).unwrap();
    assert!(log.contains(&server.pid().to_string()), "{log}");
    assert!(server.client().ping().is_ok());
}

#[test]
fn a_removed_lock_file_lets_no_second_server_start() {
    let server = Server::start();
    let folder = server.folder();
    fs::rename(folder.path("log"), folder.path("first-log")).unwrap();
    fs::remove_file(folder.path("data/lock")).unwrap();
    let mut second = Setup::default().spawn(folder);
    assert_eq!(second.wait().unwrap().code(), Some(1));
    let log = fs::read_to_string(folder.path("log")).unwrap();
    assert!(log.contains("is held by"), "{log}");
    let mut client = server.client();
    client.query("CREATE TABLE t (body text)").unwrap();
    until("the file is put back by a turn of a later second", || {
        client.query("INSERT INTO t (body) VALUES ('a')").unwrap();
        let text = fs::read_to_string(folder.path("data/lock")).ok()?;
        (text.trim() == server.pid().to_string()).then_some(())
    });
}

#[test]
fn a_server_whose_directory_was_moved_away_ends_with_1_and_what_it_acknowledged_is_there() {
    let server = Server::start();
    let folder = server.folder();
    let mut client = server.client();
    client.query("CREATE TABLE t (body text)").unwrap();
    fs::rename(folder.path("data"), folder.path("moved")).unwrap();
    fs::create_dir(folder.path("data")).unwrap();
    let mut acknowledged = 0_u64;
    until("the server takes no more", || {
        let answer = client.query("INSERT INTO t (body) VALUES ('a')");
        acknowledged += u64::from(answer.is_ok());
        answer.is_err().then_some(())
    });
    let mut server = server;
    assert_eq!(server.ended().code(), Some(1), "{}", server.log());
    assert!(server.log().contains("ERROR"), "{}", server.log());
    let folder = server.folder();
    assert_eq!(fs::read_dir(folder.path("data")).unwrap().count(), 0);
    fs::remove_dir(folder.path("data")).unwrap();
    fs::rename(folder.path("moved"), folder.path("data")).unwrap();
    server.restart_as(Setup::default());
    let rows = server
        .client()
        .query("SELECT COUNT(*) FROM t")
        .unwrap()
        .rows;
    let found = String::from_utf8(rows[0][0].clone().unwrap()).unwrap();
    assert!(
        found.parse::<u64>().unwrap() >= acknowledged,
        "{found} of {acknowledged}"
    );
}

#[test]
fn an_address_that_is_taken_ends_with_1_and_names_it() {
    let server = Server::start();
    let folder = Folder::new();
    let mut second = Setup::default()
        .flag("--mysql", server.mysql())
        .spawn(&folder);
    assert_eq!(second.wait().unwrap().code(), Some(1));
    let log = fs::read_to_string(folder.path("log")).unwrap();
    assert!(log.contains(server.mysql()), "{log}");
}

/// Doors open before recovery ends. It is held here until somebody opens a pipe.
#[test]
fn a_server_that_recovers_says_so_at_both_doors() {
    let folder = Folder::new();
    let pipe = folder.path("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let (mysql, http) = (
        format!("unix:{}", folder.path("m")),
        format!("unix:{}", folder.path("h")),
    );
    let setup = Setup::default()
        .flag("--mysql", &mysql)
        .flag("--http", &http)
        .variable("SEINE_FAULTS", &format!("hold-recovery={pipe}"));
    let mut child = setup.spawn(&folder);
    until("it listens", || {
        let log = fs::read_to_string(folder.path("log")).unwrap_or_default();
        log.contains("listening").then_some(())
    });
    let (status, body) = request(&http, "GET /readyz", "", b"");
    assert_eq!(status, 503, "{body}");
    assert!(body.contains("recovering"), "{body}");
    assert_eq!(request(&http, "GET /livez", "", b"").0, 200);
    let mut client = client::Client::connect(&mysql, "test", "").unwrap();
    let error = client.query("SHOW TABLES").unwrap_err().to_string();
    assert!(error.contains("3032"), "{error}");

    fs::write(&pipe, b"go").unwrap();
    until("it is ready", || {
        (request(&http, "GET /readyz", "", b"").0 == 200).then_some(())
    });
    assert!(client.query("SHOW TABLES").is_ok());
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn sighup_takes_what_may_change_and_names_what_may_not() {
    let folder = Folder::new();
    let config = folder.path("seine.toml");
    fs::write(&config, "connections_max = 10\n").unwrap();
    let server = Setup::default().flag("--config", &config).start();
    let mut client = server.client();
    fs::write(
        &config,
        "connections_max = 1\nmemory = '512MiB'\nlog = 'debug'\n",
    )
    .unwrap();
    server.signal(Signal::HUP);
    until("the settings were read", || {
        client.ping().unwrap();
        let log = server.log();
        log.contains("settings were read again").then_some(())
    });
    assert!(server.log().contains("\"memory\""), "{}", server.log());
    let shown = client.query("SHOW VARIABLES LIKE 'seine_connections_max'");
    let shown = shown.unwrap().rows.remove(0).remove(1);
    assert_eq!(shown, Some(b"1".to_vec()), "SHOW VARIABLES tells it");
    let error = client::Client::connect(server.mysql(), "test", "")
        .unwrap_err()
        .to_string();
    assert!(error.contains("1040"), "{error}");

    fs::write(&config, "connections_max = 'many'\n").unwrap();
    server.signal(Signal::HUP);
    until("the settings were refused", || {
        client.ping().unwrap();
        let log = server.log();
        log.contains("the settings stay as they were").then_some(())
    });
}

#[test]
fn a_panic_in_a_read_ends_that_statement_only() {
    let server = Setup::default()
        .variable("SEINE_FAULTS", "panic-read=explode")
        .start();
    let mut client = server.client();
    client.query("CREATE TABLE t (body text)").unwrap();
    client
        .query("CREATE TABLE p (body text) type='pq'")
        .unwrap();
    for statement in [
        "SELECT id FROM t WHERE MATCH('explode')",
        "CALL PQ('p', 'explode', 0 AS docs_json)",
    ] {
        let error = client.query(statement).unwrap_err().to_string();
        assert!(error.contains("1105"), "{error}");
        assert!(
            client.query("SELECT id FROM t").is_ok(),
            "the connection goes on"
        );
    }
    let plain = "Content-Type: text/plain\r\n";
    let percolate = |text: &[u8]| request(server.http(), "POST /pq/p/search", plain, text).0;
    assert_eq!(percolate(b"explode"), 500);
    assert_eq!(percolate(b"a text"), 200);
    let panics = client.query("SHOW STATUS LIKE 'panics'").unwrap().rows;
    assert_eq!(panics[0][1].as_deref(), Some(&b"3"[..]));
    assert!(server.log().contains("ERROR"), "{}", server.log());
}

#[test]
fn a_panic_in_the_write_path_stops_the_process_and_loses_nothing() {
    let mut server = Setup::default()
        .variable("SEINE_FAULTS", "panic-write=explode")
        .start();
    let mut client = server.client();
    client.query("CREATE TABLE t (body text)").unwrap();
    client
        .query("INSERT INTO t (id, body) VALUES (1, 'acknowledged')")
        .unwrap();
    assert!(
        client
            .query("INSERT INTO t (id, body) VALUES (2, 'explode')")
            .is_err()
    );
    assert_eq!(server.ended().code(), Some(1), "{}", server.log());
    server.restart_as(Setup::default());
    let rows = server
        .client()
        .query("SELECT body FROM t WHERE id = 1")
        .unwrap()
        .rows;
    assert_eq!(rows, [[Some(b"acknowledged".to_vec())]]);
}

#[test]
fn logs_are_json_where_asked_for() {
    let server = Setup::default().flag("--log-format", "json").start();
    let log = server.log();
    assert!(log.lines().count() >= 2);
    for line in log.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(
            line["level"].is_string() && line["message"].is_string(),
            "{line}"
        );
    }
}

/// A server whose engine waits in the write of a statement that holds "stick", until somebody writes into the pipe.
fn sticky(folder: &Folder, faults: &str) -> (Server, String) {
    let pipe = folder.path("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let faults = format!("hold-write=stick@{pipe},{faults}");
    let server = Setup::default().variable("SEINE_FAULTS", &faults).start();
    let mut client = server.client();
    client.query("CREATE TABLE t (body text)").unwrap();
    client
        .query("INSERT INTO t (id, body) VALUES (1, 'acknowledged')")
        .unwrap();
    (server, pipe)
}

/// Sends the statement that sticks from a thread of its own, and waits until `/readyz` tells.
fn stick(server: &Server) -> thread::JoinHandle<bool> {
    let mut client = server.client();
    let sticks = thread::spawn(move || {
        let sticks = client.query("INSERT INTO t (id, body) VALUES (2, 'stick')");
        sticks.is_ok()
    });
    let told = until("readyz tells", || {
        let (status, body) = request(server.http(), "GET /readyz", "", b"");
        (status == 503).then_some(body)
    });
    assert!(told.contains("stuck"), "{told}");
    sticks
}

#[test]
fn readyz_tells_of_an_engine_that_is_stuck_until_it_goes_on() {
    let folder = Folder::new();
    let (server, pipe) = sticky(&folder, "stuck-after=100");
    assert_eq!(request(server.http(), "GET /readyz", "", b"").0, 200);
    let sticks = stick(&server);
    assert_eq!(request(server.http(), "GET /livez", "", b"").0, 200);
    let (_, metrics) = request(server.http(), "GET /metrics", "", b"");
    let age = metrics
        .lines()
        .find_map(|line| line.strip_prefix("seine_engine_turn_age_seconds "));
    assert!(age.unwrap().parse::<f64>().unwrap() >= 0.1, "{metrics}");
    fs::write(&pipe, b"go").unwrap();
    assert!(sticks.join().unwrap());
    until("it is ready again", || {
        (request(server.http(), "GET /readyz", "", b"").0 == 200).then_some(())
    });
}

#[test]
fn sigterm_ends_a_server_whose_engine_is_stuck_and_loses_nothing_acknowledged() {
    let folder = Folder::new();
    let (mut server, _) = sticky(&folder, "stuck-after=100,stop-grace=200");
    let sticks = stick(&server);
    assert_eq!(server.terminate().code(), Some(1), "{}", server.log());
    assert!(!sticks.join().unwrap(), "nobody was told that it is done");
    let log = server.log();
    assert!(log.contains("the engine did not end within"), "{log}");
    server.restart_as(Setup::default());
    let rows = server.client().query("SELECT body FROM t").unwrap().rows;
    assert_eq!(rows, [[Some(b"acknowledged".to_vec())]]);
}

/// Stores `count` different standing queries `a NEAR/x a NEAR/y a`.
fn chains(server: &Server, table: &str, count: usize) {
    let query = |n| format!("({n}, 'a NEAR/{} a NEAR/{} a')", 1 + n % 100, 1 + n / 100);
    let rows: Vec<String> = (1..=count).map(query).collect();
    let insert = format!("INSERT INTO {table} (id, query) VALUES {}", rows.join(", "));
    server.client().query(&insert).unwrap();
}

#[test]
fn a_document_that_costs_too_much_is_refused_and_neither_writes_nor_sigterm_wait_for_it() {
    let mut server = Server::start();
    let mut client = server.client();
    for statement in [
        "CREATE TABLE t (body text)",
        "CREATE TABLE q (query_id bigint) engine=queue",
        "CREATE TABLE p type='pq' on='t' into='q'",
    ] {
        client.query(statement).unwrap();
    }
    chains(&server, "p", 2_000);
    let text = "a ".repeat(32_000) + "b b b";
    let costly = format!("INSERT INTO t (body) VALUES ('{text}')");
    let error = client.query(&costly).unwrap_err().to_string();
    assert!(
        error.contains("1105") && error.contains("standing queries of table 'p'"),
        "{error}"
    );
    assert_eq!(number(&server, "SHOW STATUS", "matching_refused"), 1);
    client
        .query("INSERT INTO t (id, body) VALUES (7, 'a b')")
        .unwrap();
    let mut attacker = server.client();
    let mut refused = move || attacker.query(&costly).unwrap_err().to_string();
    let attack = thread::spawn(move || while refused().contains("1105") {});
    assert_eq!(server.terminate().code(), Some(0), "{}", server.log());
    attack.join().unwrap();
}

//! Stores of tables: what is collected is searched, matched and queued once `Log` has answered OK.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use wire::scribe::{Reply, ResultCode};

use super::{Scribe, log_call};
use crate::collect::{ctl, holds_in_order, lines, wait_for};
use crate::server::{Folder, Server, Setup, number};

/// `web` is kept in files, searched, matched and queued; `plain` is kept in files; `json` becomes rows of a queue.
fn all_stores(folder: &Folder, queries: &str) -> String {
    let files = folder.path("files");
    format!(
        "<store>\ncategory=default\ntype=file\nfile_path={files}\n</store>\n\
         <store>\ncategory=web\ntype=file\nfile_path={files}\n</store>\n\
         <store>\ncategory=web\ntype=index\ntable=logs\ncategory_column=cat\nhost_column=host\ntime_column=ts\n</store>\n\
         <store>\ncategory=web\ntype=queue\ntable=jobs\n</store>\n\
         <store>\ncategory=web\ntype=percolate\ntable=alerts\ninto=hits\n<queries>\n{queries}\n</queries>\n</store>\n\
         <store>\ncategory=json\ntype=queue\ntable=events\nformat=json\nfields=level n:number:int\n</store>\n"
    )
}

fn start(conf: impl Fn(&Folder) -> String, setup: Setup) -> Server {
    let folder = Folder::new();
    std::fs::write(folder.0.join("scribe.conf"), conf(&folder)).unwrap();
    let path = folder.path("scribe.conf");
    setup.flag("--scribe-config", &path).start_in(folder)
}

fn rows(server: &Server, statement: &str) -> Vec<Vec<String>> {
    let rows = server.client().query(statement).unwrap().rows;
    let text = |cell: Option<Vec<u8>>| {
        cell.map_or("NULL".to_owned(), |cell| String::from_utf8(cell).unwrap())
    };
    rows.into_iter()
        .map(|row| row.into_iter().map(text).collect())
        .collect()
}

fn count(server: &Server, from: &str) -> i64 {
    number(
        &mut server.client(),
        &format!("SELECT COUNT(*) FROM {from}"),
    )
}

#[test]
fn a_message_is_searched_matched_and_queued_when_ok_is_sent() {
    let mut server = start(
        |folder| all_stores(folder, "1=error -test"),
        Setup::default(),
    );
    let mut client = Scribe::connect(&server);
    let mut sql = server.client();
    for round in 1..=50 {
        let error = format!("an error, {round}\n");
        let sent = [
            (&b"web"[..], error.as_bytes()),
            (b"web", b"a test error\n"),
            (b"plain", b"a line\n"),
        ];
        assert_eq!(client.try_log(&sent), Some(ResultCode::Ok));
        let mut found = |from: &str| number(&mut sql, &format!("SELECT COUNT(*) FROM {from}"));
        assert_eq!(found("logs WHERE MATCH('error')"), 2 * round);
        assert_eq!(found("jobs"), 2 * round);
        assert_eq!(found("hits"), round);
    }
    let row = &rows(&server, "SELECT body, cat, host FROM logs WHERE id=1")[0];
    assert_eq!(row[..], ["an error, 1", "web", "127.0.0.1"]);
    let now = jiff_s();
    let stamps = rows(&server, "SELECT ts FROM logs ORDER BY id DESC LIMIT 1");
    let stamp: i64 = stamps[0][0].parse().unwrap();
    assert!((now - 100..=now).contains(&stamp), "{stamp}, now {now}");
    let hit = &rows(
        &server,
        "SELECT query_id, query, tags, body FROM hits LIMIT 1",
    )[0];
    assert_eq!(
        hit[..],
        ["1", "error -test", "configuration", "an error, 1"]
    );
    server.stop_and_restart();
    assert_eq!((count(&server, "logs"), count(&server, "hits")), (100, 50));
    assert_eq!(lines(&server.folder().0.join("files"), "web").len(), 100);
}

/// Seconds since 1970.
fn jiff_s() -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.unwrap().as_secs() as i64
}

#[test]
fn json_fills_columns_and_what_they_do_not_hold_stands_whole_in_the_rest() {
    let server = start(|folder| all_stores(folder, "1=x"), Setup::default());
    let mut client = Scribe::connect(&server);
    let sent: [(&[u8], &[u8]); 5] = [
        (b"json", b"{\"level\":\"warn\",\"n\":7}\n"),
        (b"json", b"{\"level\":\"warn\",\"n\":\"x\"}"),
        (b"json", b"{\"n\":1,\"more\":2}"),
        (b"json", b"no json \0"),
        (b"json", b"\xff\xfe"),
    ];
    assert_eq!(client.try_log(&sent), Some(ResultCode::Ok));
    let wanted = [
        ["warn", "7", "NULL"],
        ["warn", "NULL", "{\"level\":\"warn\",\"n\":\"x\"}"],
        ["NULL", "1", "{\"n\":1,\"more\":2}"],
        ["NULL", "NULL", "no json \0"],
        ["NULL", "NULL", "\u{fffd}\u{fffd}"],
    ];
    assert_eq!(
        rows(&server, "SELECT level, number, rest FROM events"),
        wanted
    );
    assert_eq!(client.counter("json:kept whole"), 4);
    assert_eq!(client.counter("json:not utf-8"), 1);
}

#[test]
fn a_dropped_or_altered_table_makes_its_senders_wait_and_holds_no_other_category() {
    let server = start(|folder| all_stores(folder, "1=x"), Setup::default());
    let mut client = Scribe::connect(&server);
    let later = |client: &mut Scribe, category: &[u8]| {
        client.try_log(&[(category, b"x\n")]) == Some(ResultCode::TryLater)
    };
    let mut sql = server.client();
    sql.query("DROP TABLE jobs").unwrap();
    sql.query("ALTER TABLE events DROP COLUMN level").unwrap();
    assert!(later(&mut client, b"web") && later(&mut client, b"json"));
    assert!(!later(&mut client, b"plain"));
    assert_eq!(count(&server, "logs"), 0, "all stores of a call, or none");
    let status = ctl(&server, "status");
    assert!(status.contains("there is no table 'jobs'"), "{status}");
    assert!(server.log().contains("TRY_LATER: there is no table 'jobs'"));
    sql.query("CREATE TABLE jobs (body text) ENGINE=queue")
        .unwrap();
    assert!(!later(&mut client, b"web"));
    let status = ctl(&server, "status");
    assert!(
        status.contains("table 'events' has no column 'level'"),
        "{status}"
    );
    sql.query("ALTER TABLE events ADD COLUMN level text")
        .unwrap();
    assert!(!later(&mut client, b"json"));
    assert_eq!((count(&server, "logs"), count(&server, "events")), (1, 1));
    assert!(ctl(&server, "status").contains("ALIVE"));
}

#[test]
fn a_reload_makes_new_tables_and_keeps_the_queries_as_the_file_says() {
    let server = start(
        |folder| all_stores(folder, "1=error\n2=warn\n3=x"),
        Setup::default(),
    );
    let queries = || rows(&server, "SELECT id, query FROM alerts ORDER BY id");
    assert_eq!(queries(), [["1", "error"], ["2", "warn"], ["3", "x"]]);
    let mut sql = server.client();
    sql.query("INSERT INTO alerts (id, query, tags) VALUES (9, 'mine', '')")
        .unwrap();
    let more = "<store>\ncategory=new\ntype=index\ntable=fresh\n</store>\n";
    let conf = all_stores(server.folder(), "1=error -test\n2=warn\n4=it's \\\\x") + more;
    std::fs::write(server.folder().0.join("scribe.conf"), conf).unwrap();
    ctl(&server, "reload");
    wait_for("the reload", || server.log().contains("was read again"));
    let wanted = [
        ["1", "error -test"],
        ["2", "warn"],
        ["4", "it's \\\\x"],
        ["9", "mine"],
    ];
    assert_eq!(queries(), wanted);
    let mut client = Scribe::connect(&server);
    assert_eq!(client.try_log(&[(b"new", b"a line")]), Some(ResultCode::Ok));
    assert_eq!(count(&server, "fresh WHERE MATCH('line')"), 1);
}

#[test]
fn a_query_or_table_that_cannot_be_made_is_told_and_the_rest_of_the_file_works() {
    let server = start(|folder| all_stores(folder, "1=\"open"), Setup::default());
    let status = ctl(&server, "status");
    assert!(
        status.contains("table 'alerts'") && status.contains("unclosed quote"),
        "{status}"
    );
    let mut client = Scribe::connect(&server);
    assert_eq!(client.try_log(&[(b"web", b"a line")]), Some(ResultCode::Ok));
    let mut server = server;
    for statement in ["DROP TABLE logs", "CREATE TABLE logs (n int) ENGINE=queue"] {
        server.client().query(statement).unwrap();
    }
    let conf = all_stores(server.folder(), "1=x");
    std::fs::write(server.folder().0.join("scribe.conf"), conf).unwrap();
    server.stop_and_restart();
    let status = ctl(&server, "status");
    assert!(
        status.contains("table 'logs' is no search table"),
        "{status}"
    );
}

#[test]
fn kill_9_leaves_a_message_in_all_of_its_tables_and_in_its_file_or_in_none() {
    let mut server = start(|folder| all_stores(folder, "1=cat"), Setup::default());
    let (mut sent, mut wanted) = (0_usize, Vec::new());
    for round in 0..6_u64 {
        let address = server.scribe().to_owned();
        let calls = Arc::new(AtomicU64::new(0));
        let (counted, first) = (Arc::clone(&calls), sent);
        let sender = thread::spawn(move || {
            let mut client = Scribe::connect_to(address);
            let mut acknowledged = Vec::new();
            let mut number = first;
            loop {
                let bodies = [0, 1, 2].map(|line| format!("cat {number} {line}\n"));
                let call = bodies.each_ref().map(|body| (&b"web"[..], body.as_bytes()));
                if client.try_log(&call) != Some(ResultCode::Ok) {
                    break;
                }
                acknowledged.extend(bodies.map(|body| body.trim_end().to_owned()));
                number += 1;
                counted.fetch_add(1, Ordering::Relaxed);
            }
            (number + 1, acknowledged)
        });
        wait_for("the kill is due", || {
            calls.load(Ordering::Relaxed) >= 20 + 37 * (round * 5 % 4)
        });
        server.kill();
        let (next, acknowledged) = sender.join().unwrap();
        (sent, wanted) = (next, [wanted, acknowledged].concat());
        server.again();
        let of = |table: &str| -> Vec<String> {
            let statement = format!("SELECT body FROM {table} LIMIT 10000000");
            rows(&server, &statement).concat()
        };
        let stored = of("logs ORDER BY id ASC");
        assert_eq!(
            (&stored, &stored),
            (&of("jobs"), &of("hits")),
            "round {round}"
        );
        assert!(holds_in_order(&stored, &wanted), "round {round}");
        assert!(stored.len() <= wanted.len() + 3 * (round as usize + 1));
        let files = server.folder().0.join("files");
        wait_for("the file has all of them", || {
            holds_in_order(&lines(&files, "web"), &stored)
        });
    }
    assert!(wanted.len() > 100, "{} messages", wanted.len());
}

#[test]
fn rows_of_tiny_messages_count_as_memory_before_they_are_made() {
    let server = start(
        |folder| all_stores(folder, "1=x"),
        Setup::default().flag("--memory", "64MiB"),
    );
    let mut client = Scribe::connect(&server);
    let tiny: Vec<(&[u8], &[u8])> = vec![(b"json", b""); 300_000];
    client.send(&log_call(1, &tiny));
    let reply = client.receive().unwrap();
    let refused = Reply::decode(&reply, wire::scribe::Method::Log, 1).unwrap();
    assert!(matches!(refused, Reply::Exception(_)), "{refused:?}");
    let mut client = Scribe::connect(&server);
    assert_eq!(client.try_log(&tiny[..10_000]), Some(ResultCode::Ok));
    assert_eq!(count(&server, "events"), 10_000);
}

#[test]
fn a_message_that_no_column_holds_is_refused_with_its_table_and_one_of_16_mib_is_taken() {
    let server = start(|folder| all_stores(folder, "1=end"), Setup::default());
    let mut client = Scribe::connect(&server);
    let words = "word ".repeat((16 << 20) / 5 - 2) + "end";
    assert_eq!(
        client.try_log(&[(b"web", words.as_bytes())]),
        Some(ResultCode::Ok)
    );
    assert_eq!(
        (
            count(&server, "logs WHERE MATCH('end')"),
            count(&server, "hits")
        ),
        (1, 1)
    );
    client.send(&log_call(7, &[(b"web", "x".repeat(64 << 20).as_bytes())]));
    let reply = client.receive().unwrap();
    let Reply::Exception(refused) = Reply::decode(&reply, wire::scribe::Method::Log, 7).unwrap()
    else {
        panic!("an exception")
    };
    assert!(
        refused.message.contains("table 'logs'"),
        "{}",
        refused.message
    );
    let mut client = Scribe::connect(&server);
    client.log("goes on");
}

#[test]
fn a_full_queue_makes_its_senders_wait_until_rows_are_taken() {
    let server = start(|folder| all_stores(folder, "1=x"), Setup::default());
    let mut sql = server.client();
    for statement in [
        "DROP TABLE events",
        "CREATE TABLE events (level text, number int, rest text) ENGINE=queue rows_max=2",
    ] {
        sql.query(statement).unwrap();
    }
    let mut client = Scribe::connect(&server);
    let mut put = || client.try_log(&[(b"json", b"{\"n\":1}")]);
    assert_eq!([put(), put()], [Some(ResultCode::Ok); 2]);
    assert_eq!(put(), Some(ResultCode::TryLater));
    sql.query("SELECT queue_wait('events')").unwrap();
    sql.query("SELECT queue_end()").unwrap();
    assert_eq!(put(), Some(ResultCode::Ok));
    assert_eq!(count(&server, "events"), 2);
}

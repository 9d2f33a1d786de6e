//! Searches that are ended: by KILL, by their time, because their client is gone, by a panic.

use std::io::Write;
use std::net::TcpStream;
use std::process::Stdio;

use client::Client;
use wire::mysql::Capabilities;

use crate::mysql_door::{command, errno, log_in, receive, send};
use crate::server::{Server, Setup, clean_command, request, until};

const HELD: &str = "SELECT id FROM t WHERE MATCH('held | cat') ORDER BY id ASC";
const HELD_PQ: &str = "CALL PQ('p', ('held', 'a cat'), 0 AS docs_json)";

/// A table of two segments and a tail; searches for "held" do not begin before they are stopped.
fn server() -> Server {
    let server = Setup::default()
        .variable("SEINE_FAULTS", "hold-search=held,panic-read=panics")
        .start();
    let mut client = server.client();
    client.query("CREATE TABLE t (body text)").unwrap();
    percolator(&mut client);
    for round in 0..3 {
        let rows: Vec<String> = (1..40)
            .map(|row| format!("({}, 'cat {row}')", 40 * round + row))
            .collect();
        let insert = format!("INSERT INTO t (id, body) VALUES {}", rows.join(", "));
        client.query(&insert).unwrap();
        if round < 2 {
            client.query("FLUSH TABLE t").unwrap();
        }
    }
    server
}

/// One standing query.
fn percolator(client: &mut Client) {
    for statement in [
        "CREATE TABLE p (body text) type='pq'",
        "INSERT INTO p (query) VALUES ('cat')",
    ] {
        client.query(statement).unwrap();
    }
}

fn cells(client: &mut Client, statement: &str) -> Vec<Vec<String>> {
    let cell = |cell: Option<Vec<u8>>| String::from_utf8(cell.unwrap_or_default()).unwrap();
    let rows = client.query(statement).unwrap().rows;
    let row = |row: Vec<Option<Vec<u8>>>| row.into_iter().map(cell).collect();
    rows.into_iter().map(row).collect()
}

fn post(server: &Server, statement: &str) -> (u16, String) {
    request(server.http(), "POST /sql", "", statement.as_bytes())
}

/// Waits until a row of SHOW THREADS satisfies `is_it`, and returns the row.
fn thread_that(client: &mut Client, is_it: impl Fn(&[String]) -> bool) -> Vec<String> {
    until("a thread of SHOW THREADS", || {
        let threads = cells(client, "SHOW THREADS");
        threads.into_iter().find(|row| is_it(row))
    })
}

/// The connection that runs a held search, once it does.
fn held(client: &mut Client) -> String {
    let row = thread_that(client, |row| row[7].contains("held"));
    assert_eq!(row[4], "Query");
    row[0].clone()
}

/// A held search or percolation over HTTP, which SHOW THREADS shows by its statement or its address.
fn is_held(row: &[String]) -> bool {
    row[7].contains("held") || row[7] == "POST /pq/p/search"
}

/// The thread number of a held search, once it runs.
fn running(client: &mut Client) -> String {
    thread_that(client, is_held)[0].clone()
}

fn nobody_searches(client: &mut Client) {
    until("nobody searches", || {
        let rows = cells(client, "SHOW PROCESSLIST");
        (!rows.iter().any(|row| is_held(row))).then_some(())
    });
}

/// A search that holds half of the memory of requests.
struct Holder {
    /// Its connection, for KILL.
    id: String,
    search: std::thread::JoinHandle<Result<(), client::ClientError>>,
}

impl Holder {
    fn end(self, killer: &mut Client) {
        killer.query(&format!("KILL QUERY {}", self.id)).unwrap();
        self.search.join().unwrap().unwrap_err();
    }
}

/// A server with an empty table. It has 16 MiB for requests, and a search has a list of some 8 MB.
fn server_whose_memory_is_taken() -> (Server, Holder) {
    let server = Setup::default()
        .variable("SEINE_FAULTS", "hold-search=held")
        .flag("--memory", "64MiB")
        .start();
    let mut client = server.client();
    client.query("CREATE TABLE t (body text)").unwrap();
    let numbers: Vec<String> = (1..200_000).map(|number| number.to_string()).collect();
    let some = format!("AND id NOT IN ({}) ORDER", numbers.join(","));
    let holds = HELD.replace("ORDER", &some);
    let mut holder = server.client();
    let search = std::thread::spawn(move || holder.query(&holds).map(drop));
    let id = running(&mut client);
    (server, Holder { id, search })
}

#[test]
fn kill_query_ends_a_statement_that_waits_for_memory_to_be_parsed() {
    let (server, holder) = server_whose_memory_is_taken();
    let mut killer = server.client();
    // 11 MB are asked for it at first.
    let waits = format!("SELECT id FROM t WHERE body = '{}'", "a".repeat(900_000));
    let mut client = server.client();
    let waiting = std::thread::spawn(move || (client.query(&waits).map(drop), client));
    let is_waiting = |row: &[String]| row[7].contains("a text of");
    let id = thread_that(&mut killer, is_waiting)[0].clone();
    killer.query(&format!("KILL QUERY {id}")).unwrap();
    let (result, mut client) = waiting.join().unwrap();
    let error = result.unwrap_err().to_string();
    assert!(error.contains("1317"), "{error}");
    assert!(client.ping().is_ok());
    holder.end(&mut killer);
}

#[test]
fn kill_query_ends_a_statement_of_which_the_first_half_has_come() {
    let server = server();
    let mut killer = server.client();
    killer.query("CREATE TABLE large (body text)").unwrap();
    let mut stream = TcpStream::connect(server.mysql()).unwrap();
    log_in(&mut stream, Capabilities::CLIENT);
    let insert = format!(
        "\x03INSERT INTO large (body) VALUES ('{}')",
        "a".repeat(900_000)
    );
    let packet = command(insert.as_bytes());
    let (first, rest) = packet.split_at(packet.len() / 2);
    send(&mut stream, first);
    let is_arriving = |row: &[String]| row[7].contains("a packet of");
    let id = thread_that(&mut killer, is_arriving)[0].clone();
    assert!(server.requests_hold() > 0);
    killer.query(&format!("KILL QUERY {id}")).unwrap();
    until("its memory is free, though the rest has not come", || {
        (server.requests_hold() == 0).then_some(())
    });
    send(&mut stream, rest);
    assert_eq!(errno(&receive(&mut stream)), 1317);
    send(&mut stream, &command(b"\x03SELECT COUNT(*) FROM large"));
    let count = [(); 4].map(|()| receive(&mut stream)); // columns, the column, the row, the end
    assert_eq!(count[2], b"\x010", "nothing is stored");
    send(&mut stream, &packet);
    assert_eq!(receive(&mut stream)[0], 0, "the next one is done");
}

#[test]
fn kill_query_of_an_idle_connection_does_not_end_its_next_statement() {
    let server = server();
    let (mut killer, mut client) = (server.client(), server.client());
    let id = cells(&mut client, "SELECT CONNECTION_ID()")[0][0].clone();
    let long = format!("SELECT LENGTH('{}')", "a".repeat(20_000));
    assert_eq!(cells(&mut client, &long), [["20000"]]);
    killer.query(&format!("KILL QUERY {id}")).unwrap();
    assert_eq!(cells(&mut client, "SELECT 1"), [["1"]]);
}

#[test]
fn a_packet_for_which_no_memory_becomes_free_is_refused_and_the_next_one_is_read() {
    let (server, holder) = server_whose_memory_is_taken();
    let mut client = server.client();
    let large = format!("SELECT id FROM t WHERE body = '{}'", "a".repeat(14 << 20));
    let refused = client.query(&large).map(drop).unwrap_err().to_string();
    assert!(refused.contains("1040"), "{refused}");
    assert!(client.ping().is_ok(), "the connection stays");
    holder.end(&mut server.client());
}

#[test]
fn kill_query_ends_a_wait_for_a_row_of_a_queue() {
    let server = server();
    let mut killer = server.client();
    killer
        .query("CREATE TABLE jobs (n int) ENGINE=queue")
        .unwrap();
    for wait in [
        "SELECT queue_wait('jobs', 600)",
        "SELECT * FROM jobs WHERE queue_wait('jobs', 600)",
        "CALL QUEUE_NEXT('jobs', 600)",
    ] {
        let mut client = server.client();
        let id = cells(&mut client, "SELECT CONNECTION_ID()")[0][0].clone();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| (client.query(wait).map(drop), client));
            until("it waits", || {
                let shown = cells(&mut killer, "SHOW STATUS LIKE 'queue_waiting'");
                (shown[0][1] == "1").then_some(())
            });
            killer.query(&format!("KILL QUERY {id}")).unwrap();
            let (result, mut client) = waiting.join().unwrap();
            let error = result.unwrap_err().to_string();
            assert!(error.contains("1317"), "{wait}: {error}");
            assert!(client.ping().is_ok());
        });
    }
}

#[test]
fn kill_query_ends_the_statement_and_kill_the_connection_too() {
    let server = server();
    let mut killer = server.client();
    for (statement, held_one) in [
        ("KILL QUERY", HELD),
        ("KILL", HELD),
        ("KILL QUERY", HELD_PQ),
        ("KILL", HELD_PQ),
    ] {
        let mut client = server.client();
        std::thread::scope(|scope| {
            let searching = scope.spawn(|| (client.query(held_one).map(drop), client));
            let id = held(&mut killer);
            killer.query(&format!("{statement} {id}")).unwrap();
            let (result, mut client) = searching.join().unwrap();
            let error = result.unwrap_err().to_string();
            assert!(error.contains("1317"), "{error}");
            assert_eq!(client.ping().is_ok(), statement == "KILL QUERY");
        });
    }
    let error = killer.query("KILL QUERY 999999").unwrap_err().to_string();
    assert!(error.contains("1094"), "{error}");
    let own = cells(&mut killer, "SELECT CONNECTION_ID()")[0][0].clone();
    killer.query(&format!("KILL QUERY {own}")).unwrap();
}

#[test]
fn a_search_out_of_time_answers_with_a_part_and_says_so() {
    let server = server();
    let mut client = server.client();
    let rows = cells(&mut client, &format!("{HELD} OPTION max_query_time=5"));
    assert!(rows.is_empty(), "it was stopped before it began: {rows:?}");
    let meta = cells(&mut client, "SHOW META LIKE 'total_relation'");
    assert_eq!(meta[0][1], "gte");
    cells(&mut client, &format!("{HELD} OPTION max_query_time=5"));
    let warning = &cells(&mut client, "SHOW WARNINGS")[0][2];
    assert!(warning.contains("max_query_time"), "{warning}");
    client.query("CREATE TABLE copies (body text)").unwrap();
    let copy = "INSERT INTO copies (id) SELECT id FROM t WHERE MATCH('held | cat') OPTION max_query_time=5";
    let error = client.query(copy).unwrap_err().to_string();
    assert!(error.contains("3024"), "{error}");
    assert_eq!(cells(&mut client, "SELECT COUNT(*) FROM copies")[0], ["0"]);
    let count = "SELECT COUNT(*) FROM t WHERE MATCH('held') OPTION max_query_time=5";
    let error = client.query(count).unwrap_err().to_string();
    assert!(error.contains("3024"), "{error}");
    let rows = cells(&mut client, "SELECT id FROM t WHERE MATCH('cat') LIMIT 500");
    assert_eq!(rows.len(), 117);
    assert_eq!(
        cells(&mut client, "SHOW META LIKE 'total_relation'")[0][1],
        "eq"
    );
    let (status, body) = post(&server, &format!("{HELD} OPTION max_query_time=5"));
    assert_eq!(status, 200);
    assert!(body.contains("\"timed_out\":true"), "{body}");
    assert!(body.contains("\"total_relation\":\"gte\""), "{body}");
}

#[test]
fn the_servers_own_limit_holds_and_no_option_lifts_it() {
    let server = Setup::default()
        .variable("SEINE_FAULTS", "hold-search=held")
        .variable("SEINE_MAX_QUERY_TIME", "20ms")
        .start();
    let mut client = server.client();
    client.query("CREATE TABLE t (body text)").unwrap();
    client.query("INSERT INTO t (body) VALUES ('cat')").unwrap();
    cells(
        &mut client,
        &format!("{HELD} OPTION max_query_time=100000000"),
    );
    assert_eq!(
        cells(&mut client, "SHOW META LIKE 'total_relation'")[0][1],
        "gte"
    );
}

#[test]
fn a_match_inside_another_statement_gives_every_row() {
    let server = Server::start();
    let mut client = server.client();
    client.query("CREATE TABLE t (body text)").unwrap();
    client.query("CREATE TABLE copy (body text)").unwrap();
    let rows: Vec<String> = (1..=1_500).map(|id| format!("({id}, 'cat')")).collect();
    let insert = format!("INSERT INTO t (id, body) VALUES {}", rows.join(", "));
    client.query(&insert).unwrap();
    let cat = "SELECT id FROM t WHERE MATCH('cat')";
    let mut count = |statement: &str| {
        let done = client.query(statement).unwrap();
        done.affected.max(done.rows.len() as u64)
    };
    for (statement, rows) in [
        (format!("{cat} LIMIT 2000"), 1_000),
        (format!("{cat} UNION ALL SELECT id FROM copy"), 1_500),
        (format!("{cat} UNION {cat}"), 1_500),
        (format!("SELECT id FROM ({cat}) ORDER BY id ASC"), 1_500),
        (
            format!("({cat} LIMIT 7) UNION ALL ({cat} OPTION max_matches=5)"),
            12,
        ),
        (format!("INSERT INTO copy (id) {cat}"), 1_500),
        (format!("CREATE TEMPORARY TABLE mine AS {cat}"), 1_500),
    ] {
        assert_eq!(count(&statement), rows, "{statement}");
    }
}

#[test]
fn a_client_that_goes_ends_its_search_over_either_door() {
    let server = server();
    let mut looker = server.client();
    for statement in [HELD, HELD_PQ] {
        let mut asking = clean_command();
        asking.args(["sql", "--addr", server.mysql(), statement]);
        let asking = asking.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = asking.spawn().unwrap();
        held(&mut looker);
        child.kill().unwrap();
        child.wait().unwrap();
        nobody_searches(&mut looker);
    }
    for (path, kind, body) in [
        ("/sql", "text/plain", HELD),
        ("/pq/p/search", "text/plain", "held"),
    ] {
        let mut client = TcpStream::connect(server.http()).unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        client
            .write_all(format!("{head}{body}").as_bytes())
            .unwrap();
        running(&mut looker);
        drop(client);
        nobody_searches(&mut looker);
    }
}

#[test]
fn a_percolation_out_of_time_is_an_error_and_its_connection_goes_on() {
    let server = Setup::default()
        .variable("SEINE_FAULTS", "hold-search=held")
        .variable("SEINE_MAX_QUERY_TIME", "500ms") // the short one below may wait for a busy machine
        .start();
    let mut client = server.client();
    percolator(&mut client);
    let error = client.query(HELD_PQ).unwrap_err().to_string();
    assert!(error.contains("3024"), "{error}");
    let rows = cells(&mut client, "CALL PQ('p', 'a cat', 0 AS docs_json)");
    assert_eq!(rows.len(), 1);
    let (status, body) = request(
        server.http(),
        "POST /pq/p/search",
        "content-type: text/plain\r\n",
        b"held",
    );
    assert_eq!(status, 503);
    assert!(body.contains("out_of_time"), "{body}");
}

#[test]
fn a_search_over_http_is_killed_by_the_number_that_show_threads_gives() {
    let server = server();
    let mut killer = server.client();
    for is_percolation in [false, true] {
        std::thread::scope(|scope| {
            let searching = scope.spawn(|| match is_percolation {
                false => post(&server, HELD),
                true => request(
                    server.http(),
                    "POST /pq/p/search",
                    "content-type: text/plain\r\n",
                    b"held",
                ),
            });
            let id = running(&mut killer);
            killer.query(&format!("KILL QUERY {id}")).unwrap();
            let (status, body) = searching.join().unwrap();
            assert_eq!(status, 503);
            assert!(body.contains("interrupted"), "{body}");
        });
    }
}

#[test]
fn a_panic_in_a_search_fails_that_search_only() {
    let server = server();
    let mut client = server.client();
    let error = client
        .query("SELECT id FROM t WHERE MATCH('panics')")
        .unwrap_err();
    assert!(error.to_string().contains("1105"), "{error}");
    assert_eq!(
        cells(&mut client, "SELECT id FROM t WHERE MATCH('cat') LIMIT 3").len(),
        3
    );
    assert!(server.client().ping().is_ok());
}

#[test]
fn rows_that_take_too_much_memory_are_an_error_that_says_what_to_do() {
    let server = Setup::default()
        .variable("SEINE_SEARCH_MEMORY", "4KiB")
        .start();
    let mut client = server.client();
    client.query("CREATE TABLE t (body text, n int)").unwrap();
    let rows: Vec<String> = (1..3000).map(|row| format!("('cat', {row})")).collect();
    let insert = format!("INSERT INTO t (body, n) VALUES {}", rows.join(", "));
    client.query(&insert).unwrap();
    let all = "SELECT id FROM t WHERE MATCH('cat') ORDER BY n DESC LIMIT 100000 OPTION max_matches=100000";
    let error = client.query(all).unwrap_err().to_string();
    assert!(error.contains("1038") && error.contains("LIMIT"), "{error}");
    assert_eq!(
        cells(&mut client, "SELECT id FROM t WHERE MATCH('cat') LIMIT 5").len(),
        5
    );
}

/// Stores 10,000 standing queries, each of which looks at every word of a long document. Returns the CALL PQ of that document.
fn dear_percolation(server: &Server) -> String {
    let mut client = server.client();
    client
        .query("CREATE TABLE dear (body text) type='pq'")
        .unwrap();
    let query = |n| format!("('a NEAR/{} a NEAR/{} a')", 1 + n % 100, 1 + n / 100);
    let rows: Vec<String> = (0..10_000).map(query).collect();
    let insert = format!("INSERT INTO dear (query) VALUES {}", rows.join(", "));
    client.query(&insert).unwrap();
    let text = "a ".repeat(32_000) + "b b b";
    format!("CALL PQ('dear', '{text}', 0 AS docs_json)")
}

#[test]
fn kill_and_max_query_time_end_a_percolation_within_one_document() {
    let server = Setup::default().start();
    let mut client = server.client();
    let call = dear_percolation(&server);
    let mut other = server.client();
    let ended = std::thread::spawn({
        let call = call.clone();
        move || other.query(&call).unwrap_err().to_string()
    });
    let number = thread_that(&mut client, |row| row[7].starts_with("CALL PQ"))[0].clone();
    client.query(&format!("KILL QUERY {number}")).unwrap();
    let error = ended.join().unwrap();
    assert!(error.contains("1317"), "{error}");
    drop(server);
    let server = Setup::default()
        .variable("SEINE_MAX_QUERY_TIME", "100ms")
        .start();
    let call = dear_percolation(&server);
    let error = server.client().query(&call).unwrap_err().to_string();
    assert!(error.contains("3024"), "{error}");
}

/// A search table, a queue and standing queries, each of whose rows a condition takes a millisecond or more to decide.
fn dear_rows(client: &mut Client) {
    let text = "ab".repeat(250);
    for (create, insert) in [
        (
            "CREATE TABLE d (body text, s string, n int)",
            "d (id, body, s)",
        ),
        (
            "CREATE TABLE dq (i bigint, body text, s string) ENGINE=QUEUE",
            "dq (i, body, s)",
        ),
    ] {
        client.query(create).unwrap();
        let row = |id: u32| format!("({id}, 'x', '{text}{id}')");
        let rows: Vec<String> = (1..=1_200).map(row).collect();
        let insert = format!("INSERT INTO {insert} VALUES {}", rows.join(", "));
        client.query(&insert).unwrap();
    }
}

#[test]
fn kill_ends_changes_and_reads_of_queues_whose_condition_is_expensive() {
    let server = Setup::default().start();
    let mut killer = server.client();
    dear_rows(&mut killer);
    killer
        .query("CREATE TABLE other (n int) ENGINE=QUEUE")
        .unwrap();
    let far = format!("LEVENSHTEIN(s, '{}') < 0", "ba".repeat(250));
    let ids: Vec<String> = (1..=1_000).map(|id| id.to_string()).collect();
    let ids = ids.join(", ");
    for statements in [
        vec![format!("DELETE FROM d WHERE {far}")],
        vec![format!("DELETE FROM dq WHERE {far}")],
        vec![format!("SELECT i FROM dq WHERE {far}")],
        vec![format!(
            "UPDATE d SET n = 1 WHERE {far} ORDER BY n ASC LIMIT 5"
        )],
        vec![format!("UPDATE d SET n = 1 WHERE id IN ({ids}) AND {far}")],
        vec![
            "BEGIN".to_owned(),
            format!("UPDATE d SET n = 1 WHERE {far}"),
        ],
        vec!["BEGIN".to_owned(), format!("DELETE FROM d WHERE {far}")],
    ] {
        let mut client = server.client();
        let error = std::thread::scope(|scope| {
            let ended = scope.spawn(|| {
                let outcomes = statements.iter().map(|statement| client.query(statement));
                let outcome = outcomes.last().unwrap();
                assert!(outcome.is_err(), "{statements:?} ended");
                outcome.unwrap_err().to_string()
            });
            let running = thread_that(&mut killer, |row| {
                let has = |start: &str| row[7].starts_with(start);
                has("rows of 'd") || has("DELETE FROM d") || has("UPDATE d") || has("SELECT i")
            });
            if statements.len() == 1 {
                // Other writes go on: else this one would come after the end of the statement, which then nobody could kill.
                killer.query("INSERT INTO other VALUES (1)").unwrap();
            }
            killer.query(&format!("KILL QUERY {}", running[0])).unwrap();
            ended.join().unwrap()
        });
        assert!(error.contains("1317"), "{statements:?}: {error}");
    }
    // Short changes are not in anybody's way afterwards.
    killer
        .query("UPDATE d SET n = 7 WHERE id IN (3, 4)")
        .unwrap();
    killer
        .query("DELETE FROM d WHERE n = 7 AND id > 3")
        .unwrap();
    assert_eq!(cells(&mut killer, "SELECT COUNT(*) FROM d")[0], ["1199"]);
    let (_, body) = post(&server, "SELECT n FROM d WHERE id = 3");
    assert!(body.contains('7'), "{body}");
}

/// An expression that takes long over a row, whatever the row holds.
const SLOW: &str = "CRC32(REVERSE(REPEAT(s, 600000)))";

/// The milliseconds that a statement takes.
fn took_ms(client: &mut Client, statement: &str) -> u128 {
    let begin = std::time::Instant::now();
    // An error ends a statement, too.
    let _ = client.query(statement);
    begin.elapsed().as_millis()
}

#[test]
fn a_time_limit_ends_a_statement_within_some_rows() {
    let server = Setup::default().start();
    let mut client = server.client();
    let values: Vec<String> = (1..=300)
        .map(|id| format!("({id}, 'cat', 's{id}')"))
        .collect();
    let (texts, queued) = (values.join(", "), values.join(", ").replace("'cat', ", ""));
    for statement in [
        "CREATE TABLE t (body text, s string)".to_owned(),
        format!("INSERT INTO t (id, body, s) VALUES {texts}"),
        "FLUSH TABLE t".to_owned(),
        "CREATE TABLE tail (body text, s string)".to_owned(),
        format!("INSERT INTO tail (id, body, s) VALUES {texts}"),
        "CREATE TABLE q (n int, s varchar(9)) ENGINE=queue".to_owned(),
        format!("INSERT INTO q VALUES {queued}"),
        "CREATE TEMPORARY TABLE own (n int, s varchar(9))".to_owned(),
        format!("INSERT INTO own VALUES {queued}"),
    ] {
        client.query(&statement).unwrap();
    }
    let row_ms = took_ms(&mut client, &format!("SELECT {SLOW} FROM t WHERE id = 1")).max(1);
    client.query("SET GLOBAL max_query_time = '1ms'").unwrap();
    for statement in [
        format!("SELECT id FROM t WHERE {SLOW} = 5"),
        format!("SELECT COUNT(*) FROM t WHERE {SLOW} = 5"),
        format!("SELECT COUNT(*) FROM tail WHERE {SLOW} = 5"),
        format!("SELECT id FROM t WHERE MATCH('cat') AND id + {SLOW} = 5"),
        format!("SELECT id FROM t WHERE MATCH('cat') ORDER BY id + {SLOW} ASC"),
        format!("SELECT id FROM tail WHERE MATCH('cat') ORDER BY {SLOW} ASC OPTION ranker=none"),
        format!("SELECT id FROM t ORDER BY {SLOW} ASC"),
        format!("SELECT COUNT(*) FROM t GROUP BY {SLOW}"),
        format!("SELECT SUM({SLOW}) FROM tail"),
        format!("SELECT COUNT(*) FROM t GROUP BY s HAVING {SLOW} = 5"),
        format!("SELECT GROUP_CONCAT({SLOW}) FROM t"),
        format!("SELECT s FROM t GROUP BY id % 2 WITHIN GROUP ORDER BY {SLOW} ASC"),
        format!("SELECT id FROM t LIMIT 1 FACET {SLOW}"),
        "SELECT COUNT(*) FROM t JOIN own o ON o.n = CRC32(REVERSE(REPEAT(t.s, 600000)))".to_owned(),
        "SELECT COUNT(*) FROM t JOIN own o ON o.n = t.id WHERE CRC32(REVERSE(REPEAT(o.s, 600000))) = 5".to_owned(),
        format!("SELECT COUNT(*) FROM q WHERE {SLOW} = 5"),
        format!("SELECT n, {SLOW} FROM q ORDER BY n ASC LIMIT 300"),
        format!("SELECT COUNT(*) FROM own WHERE {SLOW} = 5"),
        format!("INSERT INTO t (s) SELECT {SLOW} FROM tail"),
        format!("DELETE FROM t WHERE {SLOW} = 5"),
        format!("DELETE FROM q WHERE {SLOW} = 5"),
        format!("UPDATE t SET s = 'x' WHERE {SLOW} = 5"),
        format!("UPDATE t SET s = {SLOW} WHERE id < 250"),
    ] {
        let ms = took_ms(&mut client, &statement);
        assert!(
            ms < 20 * row_ms + 300,
            "{ms} ms, a row {row_ms} ms: {statement}"
        );
    }
}

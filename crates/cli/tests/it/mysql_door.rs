//! The MySQL door: logins, limits, packets, results.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;

use client::Client;
use wire::mysql::{Capabilities, HandshakeResponse, PacketWriter};

use crate::server::{Server, Setup, request, until};

#[track_caller]
fn refusal<T: std::fmt::Debug>(result: Result<T, client::ClientError>, code: &str) {
    let error = result.unwrap_err().to_string();
    assert!(error.contains(code), "{error} should be {code}");
}

fn text(client: &mut Client, statement: &str) -> Vec<Vec<String>> {
    let cell = |cell: Option<Vec<u8>>| {
        cell.map_or("NULL".to_owned(), |cell| String::from_utf8(cell).unwrap())
    };
    let rows = client.query(statement).unwrap().rows;
    rows.into_iter()
        .map(|row| row.into_iter().map(cell).collect())
        .collect()
}

#[test]
fn a_password_guards_the_door_and_without_one_any_name_passes() {
    let guarded = Setup::default()
        .variable("SEINE_PASSWORD", "sésame")
        .start();
    assert!(Client::connect(guarded.mysql(), "seine", "sésame").is_ok());
    refusal(Client::connect(guarded.mysql(), "seine", "wrong"), "1045");
    refusal(Client::connect(guarded.mysql(), "seine", ""), "1045");
    refusal(Client::connect(guarded.mysql(), "root", "sésame"), "1045");

    let open = Server::start();
    assert!(Client::connect(open.mysql(), "", "").is_ok());
    assert!(Client::connect(open.mysql(), "anyone", "anything").is_ok());
}

#[test]
fn one_client_too_many_is_told_so_and_a_place_is_given_back() {
    let server = Setup::default()
        .variable("SEINE_CONNECTIONS_MAX", "2")
        .start();
    let first = server.client();
    let mut second = server.client();
    refusal(Client::connect(server.mysql(), "test", ""), "1040");
    drop(first);
    until("one connection is left", || {
        let rows = text(&mut second, "SHOW STATUS LIKE 'threads_connected'");
        (rows[0][1] == "1").then_some(())
    });
    let mut third = server.client();
    assert!(third.ping().is_ok());
    assert_eq!(text(&mut second, "SHOW STATUS LIKE 'maxed_out'")[0][1], "1");
}

#[test]
fn a_client_that_has_logged_in_keeps_its_place() {
    let server = Setup::default()
        .variable("SEINE_CONNECTIONS_MAX", "1")
        .start();
    for _ in 0..50 {
        let mut only = until_let_in(&server);
        refusal(Client::connect(server.mysql(), "test", ""), "1040");
        assert!(only.ping().is_ok());
    }
}

/// Logs in as soon as the server has a free connection.
fn until_let_in(server: &Server) -> Client {
    until("a place is free", || {
        let connected = Client::connect(server.mysql(), "test", "");
        if let Err(error) = &connected {
            assert!(error.to_string().contains("1040"), "{error}");
        }
        connected.ok()
    })
}

#[test]
fn a_packet_beyond_the_limit_is_refused_and_one_beyond_a_frame_is_not() {
    let server = Server::start();
    let mut client = server.client();
    let long = format!("SELECT '{}' AS a", "x".repeat(17 << 20));
    let rows = client.query(&long).unwrap().rows;
    assert_eq!(rows[0][0].as_ref().unwrap().len(), 17 << 20);
    refusal(client.query(&" ".repeat(128 << 20)), "1153");
    assert!(server.client().ping().is_ok());
}

#[test]
fn statements_of_one_text_run_in_order_until_one_fails() {
    let server = Server::start();
    let mut client = server.client();
    client.query("CREATE TABLE t (n int)").unwrap();
    let several = "INSERT INTO t (id, n) VALUES (1, 1); SELECT nothing FROM t; INSERT INTO t (id, n) VALUES (2, 2)";
    refusal(client.query(several), "1054");
    assert_eq!(text(&mut client, "SELECT id FROM t"), [["1"]]);
    assert_eq!(text(&mut client, "SELECT 1 AS a; SELECT 2 AS a").len(), 2);
    refusal(client.query(""), "1065");
    refusal(client.query("-- nothing"), "1065");
}

#[test]
fn a_large_answer_arrives_whole_and_a_client_that_leaves_midway_is_forgotten() {
    let server = Server::start();
    let mut client = server.client();
    client
        .query("CREATE TABLE q (id bigint, body text) ENGINE=queue")
        .unwrap();
    let body = "word ".repeat(200);
    for chunk in 0..20 {
        let rows: Vec<String> = (0..500)
            .map(|row| format!("({}, '{body}')", chunk * 500 + row))
            .collect();
        client
            .query(&format!("INSERT INTO q VALUES {}", rows.join(",")))
            .unwrap();
    }
    let mut ids = BTreeSet::new();
    let mut visit = |cells: &[Option<&[u8]>]| {
        let id: u32 = std::str::from_utf8(cells[0].unwrap())
            .unwrap()
            .parse()
            .unwrap();
        ids.insert(id);
        assert_eq!(cells[1].unwrap().len(), body.len());
    };
    client.query_rows("SELECT * FROM q", &mut visit).unwrap();
    assert_eq!(ids.len(), 10_000);

    // Asks, reads nothing, leaves: the server is stuck in its write, and lets go.
    let raw = TcpStream::connect(server.mysql()).unwrap();
    let _left = std::thread::spawn(move || abandon(raw)).join();
    until("one connection is left", || {
        let rows = text(&mut client, "SHOW STATUS LIKE 'threads_connected'");
        (rows[0][1] == "1").then_some(())
    });
}

/// Logs in by hand, asks for a large answer and closes without reading it.
fn abandon(mut stream: TcpStream) {
    log_in(&mut stream, Capabilities::CLIENT);
    send(&mut stream, &command(b"\x03SELECT * FROM q"));
}

/// Logs in by hand as a client with these capabilities.
pub(crate) fn log_in(stream: &mut TcpStream, capabilities: Capabilities) {
    assert!(!receive(stream).is_empty(), "a greeting");
    let response = HandshakeResponse {
        capabilities,
        packet_bytes_max: 1 << 24,
        charset: 45,
        user: "test".to_owned(),
        auth: Vec::new(),
        database: None,
        plugin: Some("caching_sha2_password".to_owned()),
        attributes: Vec::new(),
    };
    let mut packets = PacketWriter::new();
    packets.start(1);
    response.encode(&mut packets);
    send(stream, packets.bytes());
    assert_eq!(receive(stream)[0], 0, "an OK packet");
}

/// A command's only packet.
pub(crate) fn command(payload: &[u8]) -> Vec<u8> {
    let mut bytes = u32::try_from(payload.len()).unwrap().to_le_bytes().to_vec();
    bytes[3] = 0;
    bytes.extend_from_slice(payload);
    bytes
}

pub(crate) fn send(stream: &mut TcpStream, bytes: &[u8]) {
    stream.write_all(bytes).unwrap();
}

/// The payload of the next packet.
pub(crate) fn receive(stream: &mut TcpStream) -> Vec<u8> {
    let mut head = [0; 4];
    stream.read_exact(&mut head).unwrap();
    head[3] = 0;
    let mut payload = vec![0; u32::from_le_bytes(head) as usize];
    stream.read_exact(&mut payload).unwrap();
    payload
}

/// MySQL's number of an error packet.
#[track_caller]
pub(crate) fn errno(payload: &[u8]) -> u16 {
    assert_eq!(payload[0], 0xff, "an error packet");
    u16::from_le_bytes([payload[1], payload[2]])
}

#[test]
fn several_statements_in_one_text_are_for_clients_that_ask_for_that() {
    let server = Server::start();
    let mut stream = TcpStream::connect(server.mysql()).unwrap();
    let careful = Capabilities(Capabilities::CLIENT.0 & !Capabilities::MULTI_STATEMENTS.0);
    log_in(&mut stream, careful);
    let mut ask = |payload: &[u8]| {
        send(&mut stream, &command(payload));
        receive(&mut stream)
    };
    let several = b"\x03DROP TABLE IF EXISTS a; DROP TABLE IF EXISTS b";
    assert_eq!(errno(&ask(several)), 1064);
    assert_eq!(
        ask(b"\x03DROP TABLE IF EXISTS a; ")[0],
        0,
        "one, and an end"
    );
    assert_eq!(ask(b"\x1b\x00\x00")[0], 0xfe, "COM_SET_OPTION: on");
    assert_eq!(ask(several)[0], 0);
    assert_eq!(receive(&mut stream)[0], 0, "the second answer");
}

#[test]
fn facets_are_for_clients_that_take_several_result_sets() {
    let server = Server::start();
    let table = "CREATE TABLE t (n int)";
    server.client().query(table).unwrap();
    let (sets, statements) = (
        Capabilities::MULTI_RESULTS.0,
        Capabilities::MULTI_STATEMENTS.0,
    );
    for (missing, is_taken) in [(statements, true), (sets, true), (sets | statements, false)] {
        let mut stream = TcpStream::connect(server.mysql()).unwrap();
        log_in(&mut stream, Capabilities(Capabilities::CLIENT.0 & !missing));
        send(&mut stream, &command(b"\x03SELECT id FROM t FACET n"));
        let answer = receive(&mut stream);
        match is_taken {
            true => assert_eq!(answer, [1], "one column"),
            false => assert_eq!(errno(&answer), 1210),
        }
    }
}

#[test]
fn a_driver_that_prepares_is_told_to_do_it_itself() {
    let server = Server::start();
    let mut stream = TcpStream::connect(server.mysql()).unwrap();
    log_in(&mut stream, Capabilities::CLIENT);
    send(&mut stream, &command(b"\x16SELECT ?"));
    assert_eq!(errno(&receive(&mut stream)), 1295);
    send(&mut stream, &command(b"\x0d"));
    assert_eq!(errno(&receive(&mut stream)), 1047, "COM_DEBUG");
    // COM_STMT_SEND_LONG_DATA and COM_STMT_CLOSE have no answer: the next one is that of the ping.
    send(&mut stream, &command(b"\x18\x01\0\0\0\0\0x"));
    send(&mut stream, &command(b"\x19\x01\0\0\0"));
    send(&mut stream, &command(b"\x0e"));
    assert_eq!(receive(&mut stream)[0], 0, "OK, to COM_PING");
}

/// Sequence number and error code of the answer to a packet of `frames` full frames and a byte. A driver accepts a refusal
/// only if its number follows the number of the last frame that the driver sent.
#[track_caller]
fn refused_packet(server: &Server, frames: u8) -> (u8, u16) {
    let mut stream = TcpStream::connect(server.mysql()).unwrap();
    log_in(&mut stream, Capabilities::CLIENT);
    let frame = vec![b' '; 0xff_ffff];
    for sequence in 0..frames {
        send(&mut stream, &[0xff, 0xff, 0xff, sequence]);
        send(&mut stream, &frame);
    }
    send(&mut stream, &[1, 0, 0, frames, b' ']);
    let mut head = [0; 4];
    stream.read_exact(&mut head).unwrap();
    let mut payload = vec![0; usize::from(head[0])];
    stream.read_exact(&mut payload).unwrap();
    (head[3], errno(&payload))
}

#[test]
fn the_refusal_of_a_packet_that_is_too_long_has_the_number_behind_its_last_frame() {
    assert_eq!(refused_packet(&Server::start(), 9), (10, 1153));
}

#[test]
fn so_has_that_of_a_packet_that_memory_has_no_room_for() {
    let server = Setup::default().flag("--memory", "256MiB").start();
    assert_eq!(refused_packet(&server, 6), (7, 1105));
}

#[test]
fn a_text_may_hold_a_hundred_thousand_statements_and_the_next_one_is_refused() {
    const STATEMENTS_MAX: usize = 100_000;
    let server = Server::start();
    let mut stream = TcpStream::connect(server.mysql()).unwrap();
    log_in(&mut stream, Capabilities::CLIENT);
    let mut ask = |count: usize| {
        let text = [b"\x03".as_slice(), &b"COMMIT;".repeat(count)].concat();
        send(&mut stream, &command(&text));
        for number in 0..STATEMENTS_MAX {
            assert_eq!(receive(&mut stream)[0], 0, "OK, to statement {number}");
        }
        send(&mut stream, &command(b"\x0e"));
        receive(&mut stream)
    };
    assert_eq!(ask(STATEMENTS_MAX)[0], 0, "OK, to COM_PING");
    assert_eq!(errno(&ask(STATEMENTS_MAX + 1)), 1105, "a limit");
    let late = "COMMIT;".repeat(STATEMENTS_MAX) + "CREATE TABLE late (body text)";
    let (status, _) = request(server.http(), "POST /sql?mode=raw", "", late.as_bytes());
    assert_eq!(status, 413);
    let tables = server.client().query("SHOW TABLES").unwrap();
    assert!(tables.rows.is_empty(), "{tables:?}");
}

#[test]
fn status_flags_tell_drivers_whether_a_rollback_would_mean_anything() {
    const IN_TRANSACTION: u8 = 1;
    const AUTOCOMMIT: u8 = 2;
    let server = Server::start();
    let mut stream = TcpStream::connect(server.mysql()).unwrap();
    log_in(&mut stream, Capabilities::CLIENT);
    let mut flags = |sql: &str| {
        send(&mut stream, &command(&[b"\x03", sql.as_bytes()].concat()));
        let answer = receive(&mut stream);
        // An OK packet: header, rows and id of one byte each, flags.
        assert_eq!(answer[0], 0, "{sql}");
        answer[3]
    };
    assert_eq!(flags("CREATE TABLE t (n int)"), AUTOCOMMIT);
    assert_eq!(flags("BEGIN"), AUTOCOMMIT | IN_TRANSACTION);
    assert_eq!(flags("ROLLBACK"), AUTOCOMMIT);
    assert_eq!(flags("SET autocommit=0"), 0);
    assert_eq!(flags("DELETE FROM t WHERE id=1"), IN_TRANSACTION);
    assert_eq!(flags("COMMIT"), 0);
    assert_eq!(flags("DELETE FROM t WHERE id=1"), IN_TRANSACTION);
    assert_eq!(flags("SET autocommit=1"), AUTOCOMMIT);
    assert_eq!(flags("BEGIN"), AUTOCOMMIT | IN_TRANSACTION);
    assert_eq!(flags("DROP TABLE t"), AUTOCOMMIT, "as in MySQL, it commits");
}

#[test]
fn meta_and_warnings_tell_of_the_last_statement() {
    let server = Server::start();
    let mut client = server.client();
    client.query("CREATE TABLE t (body text)").unwrap();
    client
        .query("INSERT INTO t (id, body) VALUES (1, 'red shoes'), (2, 'blue shoes')")
        .unwrap();
    client
        .query("SELECT id FROM t WHERE MATCH('shoes') LIMIT 1")
        .unwrap();
    let meta = text(&mut client, "SHOW META");
    let value = |name: &str| meta.iter().find(|row| row[0] == name).unwrap()[1].clone();
    assert_eq!(
        (value("total").as_str(), value("total_found").as_str()),
        ("2", "2")
    );
    assert_eq!(
        (value("keyword[0]").as_str(), value("docs[0]").as_str()),
        ("shoes", "2")
    );

    client
        .query("CREATE TABLE p (body text) type='pq'")
        .unwrap();
    client
        .query("INSERT INTO p (id, query) VALUES (7, 'red')")
        .unwrap();
    let call = "CALL PQ('p', ('{\"body\":\"red\"}', 'not json', '{\"body\":\"a red hat\"}'), \
                1 AS docs, 1 AS skip_bad_json)";
    let found = client.query(call).unwrap();
    assert_eq!(found.warnings, 1);
    assert_eq!(found.rows, [[Some(b"7".to_vec()), Some(b"1,2".to_vec())]]);
    assert!(text(&mut client, "SHOW WARNINGS")[0][2].contains("strings: 2"));
    let meta = text(&mut client, "SHOW META");
    assert!(
        meta.contains(&vec!["document_matched".to_owned(), "2".to_owned()]),
        "{meta:?}"
    );
    refusal(client.query("CALL PQ('p', 'not json')"), "1064");
}

#[test]
fn a_killed_connection_is_closed_and_others_go_on() {
    let server = Server::start();
    let mut victim = server.client();
    let mut other = server.client();
    let id = text(&mut victim, "SELECT CONNECTION_ID()")[0][0].clone();
    other.query(&format!("KILL {id}")).unwrap();
    until("one connection is left", || {
        let rows = text(&mut other, "SHOW STATUS LIKE 'threads_connected'");
        (rows[0][1] == "1").then_some(())
    });
    assert!(victim.ping().is_err());
    refusal(other.query("KILL 987654"), "1094");
}

#[test]
fn a_reset_and_a_vanished_connection_roll_back() {
    const RESET: &[u8] = b"\x1f";
    let server = Server::start();
    let mut other = server.client();
    other.query("CREATE TABLE t (n int)").unwrap();
    other.query("CREATE TABLE q (n int) ENGINE=queue").unwrap();
    other.query("INSERT INTO q VALUES (1)").unwrap();
    let mut stream = TcpStream::connect(server.mysql()).unwrap();
    log_in(&mut stream, Capabilities::CLIENT);
    let begin = b"\x03BEGIN".as_slice();
    let insert = b"\x03INSERT INTO t (n) VALUES (1)".as_slice();
    for packet in [begin, insert, RESET, b"\x03COMMIT"] {
        send(&mut stream, &command(packet));
        assert_eq!(receive(&mut stream)[0], 0, "an OK packet");
    }
    let stored = |client: &mut Client| client.query("SELECT id FROM t").unwrap().rows.len();
    assert_eq!(stored(&mut other), 0);

    let mut vanishing = server.client();
    vanishing.query("BEGIN").unwrap();
    vanishing.query("INSERT INTO t (n) VALUES (1)").unwrap();
    vanishing.query("CALL QUEUE_NEXT('q', 0)").unwrap();
    vanishing.query("CALL QUEUE_DONE()").unwrap();
    drop(vanishing);
    let taken = other.query("CALL QUEUE_NEXT('q', 60)").unwrap();
    assert_eq!(
        taken.rows.len(),
        1,
        "the row came back with the end of the session"
    );
    assert_eq!(stored(&mut other), 0);
}

#[test]
fn variables_answer_what_was_set() {
    let server = Server::start();
    let mut client = server.client();
    client.query("SET NAMES utf8mb4").unwrap();
    client
        .query("SET autocommit = OFF, @mine = 'x', SESSION wait_timeout = 5")
        .unwrap();
    let row = text(
        &mut client,
        "SELECT @@autocommit, @mine, @@wait_timeout, @@global.wait_timeout, @other",
    );
    assert_eq!(row, [["0", "x", "5", "28800", "NULL"]]);
    refusal(client.query("SELECT @@no_such_variable"), "1193");
    refusal(client.query("SET GLOBAL wait_timeout = 1"), "1238");
    let long = format!("SET GLOBAL log = '{}info'", "info,".repeat(1_000));
    refusal(client.query(&long), "1105");
    let rows = text(&mut client, "SHOW VARIABLES LIKE 'seine\\_data'");
    assert!(rows[0][1].ends_with("/data"), "{rows:?}");
}

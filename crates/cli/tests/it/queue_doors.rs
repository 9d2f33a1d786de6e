//! /queue: long polls, leases, event streams, and clients that vanish.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use client::Client;

use crate::server::{Server, number, request, until_waiting};

fn queue(server: &Server) -> Client {
    let mut client = server.client();
    client
        .query("CREATE TABLE q (n int NOT NULL) ENGINE=queue")
        .unwrap();
    client
}

fn ask(server: &Server, line: &str, body: &str) -> String {
    let (status, answer) = request(server.http(), line, "", body.as_bytes());
    assert_eq!(status, 200, "{line}: {answer}");
    answer
}

/// A request whose answer is not read yet.
fn begin(server: &Server, line: &str) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(server.http()).unwrap();
    write!(
        stream,
        "{line} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
    )
    .unwrap();
    BufReader::new(stream)
}

/// The next line that begins so.
fn line_of(stream: &mut BufReader<TcpStream>, start: &str) -> String {
    loop {
        let mut line = String::new();
        assert_ne!(stream.read_line(&mut line).unwrap(), 0, "the stream ended");
        if line.starts_with(start) {
            return line.trim_end().to_owned();
        }
    }
}

/// The token of the first receipt in an answer; empty where there is none.
fn token(answer: &str) -> &str {
    let receipt = answer.split("\"receipt\":\"").nth(1);
    let token = receipt.and_then(|receipt| receipt.split(['-', '"']).nth(2));
    token.unwrap_or_default()
}

/// A body that shows receipts of one token.
fn receipts(of: &[&str], token: &str) -> String {
    let receipts: Vec<String> = of.iter().map(|of| format!("\"{of}-{token}\"")).collect();
    format!(r#"{{"receipts":[{}]}}"#, receipts.join(","))
}

const NOTHING: &str = r#"{"rows":[]}"#;

#[test]
fn a_row_wakes_a_long_poll() {
    let server = Server::start();
    let mut client = queue(&server);
    let mut poll = begin(&server, "GET /queue/q/next?wait=60s");
    until_waiting(&mut client, 1);
    client.query("INSERT INTO q VALUES (7)").unwrap();
    let row = line_of(&mut poll, "{");
    let token = token(&row);
    assert_eq!(
        row,
        format!(r#"{{"rows":[{{"receipt":"1-1-{token}","delivery":1,"data":{{"n":7}}}}]}}"#)
    );
}

#[test]
fn a_long_poll_that_vanishes_takes_no_row() {
    let server = Server::start();
    let mut client = queue(&server);
    let poll = begin(&server, "GET /queue/q/next?wait=60s");
    until_waiting(&mut client, 1);
    drop(poll);
    until_waiting(&mut client, 0);
    client.query("INSERT INTO q VALUES (7)").unwrap();
    let rows = ask(&server, "GET /queue/q/next", "");
    assert!(rows.contains(r#""delivery":1"#), "{rows}");
}

#[test]
fn a_row_whose_time_is_over_goes_to_the_next() {
    let server = Server::start();
    let mut client = queue(&server);
    client.query("INSERT INTO q VALUES (7)").unwrap();
    ask(&server, "GET /queue/q/next?visible_again=20ms", "");
    let again = ask(&server, "GET /queue/q/next?wait=60s&visible_again=1h", "");
    let token = token(&again);
    let want = format!(r#""receipt":"1-2-{token}","delivery":2"#);
    assert!(again.contains(&want), "{again}");
    let late = ask(&server, "POST /queue/q/done", &receipts(&["1-1"], token));
    assert_eq!(late, r#"{"done":0}"#);
    let done = ask(&server, "POST /queue/q/done", &receipts(&["1-2"], token));
    assert_eq!(done, r#"{"done":1}"#);
    assert_eq!(number(&mut client, "SELECT COUNT(*) FROM q"), 0);
}

#[test]
fn a_receipt_of_before_a_restart_is_late_and_the_new_one_counts() {
    for restart in [Server::stop_and_restart, Server::kill_and_restart] {
        let mut server = Server::start();
        queue(&server).query("INSERT INTO q VALUES (7)").unwrap();
        let first = ask(&server, "GET /queue/q/next?visible_again=1h", "");
        restart(&mut server);
        let again = ask(&server, "GET /queue/q/next?visible_again=1h", "");
        assert!(again.contains(r#""delivery":1"#), "{again}");
        let old = receipts(&["1-1"], token(&first));
        for path in ["done", "return", "extend?visible_again=1h"] {
            let late = ask(&server, &format!("POST /queue/q/{path}"), &old);
            assert_eq!(late, r#"{"done":0}"#, "{path}");
        }
        let older = ask(&server, "POST /queue/q/done", r#"{"receipts":["1-1"]}"#);
        assert_eq!(older, r#"{"done":0}"#);
        assert_eq!(ask(&server, "GET /queue/q/next", ""), NOTHING);
        let new = receipts(&["1-1"], token(&again));
        let done = ask(&server, "POST /queue/q/done", &new);
        assert_eq!(done, r#"{"done":1}"#);
    }
}

#[test]
fn one_call_acknowledges_and_takes_the_next() {
    let server = Server::start();
    let mut client = queue(&server);
    client.query("INSERT INTO q VALUES (1), (2)").unwrap();
    let first = ask(&server, "POST /queue/q/next", "");
    assert!(first.contains(r#""n":1"#), "{first}");
    let done = receipts(&["1-1"], token(&first));
    let second = ask(&server, "POST /queue/q/next", &done);
    assert!(second.contains(r#""n":2"#), "{second}");
    let done = receipts(&["2-1"], token(&second));
    let none = ask(&server, "POST /queue/q/next", &done);
    assert_eq!(none, NOTHING);
    assert_eq!(number(&mut client, "SELECT COUNT(*) FROM q"), 0);
}

#[test]
fn an_event_stream_sends_the_next_row_when_one_is_acknowledged() {
    let server = Server::start();
    let mut client = queue(&server);
    client.query("INSERT INTO q VALUES (1), (2)").unwrap();
    let mut events = begin(&server, "GET /queue/q/events");
    let id = line_of(&mut events, "id:");
    assert_eq!(line_of(&mut events, "event:"), "event: row");
    let data = line_of(&mut events, "data:");
    let token = token(&data);
    assert_eq!(id, format!("id: 1-1-{token}"));
    assert_eq!(
        data,
        format!(r#"data: {{"receipt":"1-1-{token}","delivery":1,"data":{{"n":1}}}}"#)
    );
    // One row is out and one may be: the other is still free.
    assert_eq!(number(&mut client, "SELECT COUNT(*) FROM q"), 1);
    ask(&server, "POST /queue/q/done", &receipts(&["1-1"], token));
    let id = line_of(&mut events, "id:");
    assert_eq!(id, format!("id: 2-1-{token}"));
}

#[test]
fn the_rows_of_an_event_stream_that_vanishes_go_to_others_at_once() {
    let server = Server::start();
    let mut client = queue(&server);
    client.query("INSERT INTO q VALUES (1)").unwrap();
    let mut events = begin(&server, "GET /queue/q/events?visible_again=1h");
    assert!(line_of(&mut events, "id:").starts_with("id: 1-1-"));
    drop(events);
    let again = ask(&server, "GET /queue/q/next?wait=60s", "");
    assert!(again.contains(r#""delivery":2"#), "{again}");
}

#[test]
fn a_server_that_stops_ends_long_polls_and_event_streams() {
    let mut server = Server::start();
    let mut client = queue(&server);
    let mut poll = begin(&server, "GET /queue/q/next?wait=60s");
    let mut events = begin(&server, "GET /queue/q/events");
    until_waiting(&mut client, 2);
    assert_eq!(server.terminate().code(), Some(0));
    assert_eq!(
        line_of(&mut poll, "HTTP"),
        "HTTP/1.1 503 Service Unavailable"
    );
    assert_eq!(line_of(&mut events, "HTTP"), "HTTP/1.1 200 OK");
}

#[test]
fn metrics_are_labelled_by_queue() {
    let server = Server::start();
    let mut client = queue(&server);
    client.query("INSERT INTO q VALUES (1), (2)").unwrap();
    client.query("SELECT queue_wait('q')").unwrap();
    let metrics = ask(&server, "GET /metrics", "");
    for line in [
        "seine_queue_depth{queue=\"q\"} 2",
        "seine_queue_owned{queue=\"q\"} 1",
        "seine_queue_calls_total{function=\"queue_wait\"} 1",
    ] {
        assert!(metrics.lines().any(|other| other == line), "{line}");
    }
}

//! Waiting for rows: clients that vanish, servers that stop.

use std::process::Stdio;

use client::Client;

use crate::server::{Server, clean_command, number, request, until_waiting};

fn queue(server: &Server) -> Client {
    let mut client = server.client();
    client.query("CREATE TABLE q (n int) ENGINE=queue").unwrap();
    client
}

#[test]
fn a_client_that_vanishes_while_it_waits_takes_no_row() {
    let server = Server::start();
    let mut client = queue(&server);
    let mut waiting = clean_command();
    waiting.args([
        "sql",
        "--addr",
        server.mysql(),
        "SELECT queue_wait('q', 60)",
    ]);
    let mut child = waiting
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until_waiting(&mut client, 1);
    child.kill().unwrap();
    child.wait().unwrap();
    until_waiting(&mut client, 0);
    client.query("INSERT INTO q VALUES (1)").unwrap();
    assert_eq!(number(&mut client, "SELECT queue_wait('q', 0)"), 1);
}

#[test]
fn the_row_of_a_client_that_vanishes_goes_back() {
    let server = Server::start();
    let mut client = queue(&server);
    client.query("INSERT INTO q VALUES (1)").unwrap();
    let mut owner = server.client();
    assert_eq!(number(&mut owner, "SELECT queue_wait('q', 0)"), 1);
    assert_eq!(number(&mut client, "SELECT queue_wait('q', 0)"), 0);
    drop(owner);
    assert_eq!(number(&mut client, "SELECT queue_wait('q', 60)"), 1);
    assert_eq!(number(&mut client, "SELECT n FROM q"), 1);
    assert_eq!(number(&mut client, "SELECT queue_end()"), 1);
}

#[test]
fn a_row_wakes_the_client_that_waits() {
    let server = Server::start();
    let mut client = queue(&server);
    let mut waiter = server.client();
    let waited = std::thread::spawn(move || number(&mut waiter, "SELECT queue_wait('q', 60)"));
    until_waiting(&mut client, 1);
    client.query("INSERT INTO q VALUES (1)").unwrap();
    assert_eq!(waited.join().unwrap(), 1);
}

#[test]
fn a_server_that_stops_ends_every_wait() {
    let mut server = Server::start();
    let mut client = queue(&server);
    let mut waiter = server.client();
    let waited = std::thread::spawn(move || waiter.query("SELECT queue_wait('q', 60)").is_err());
    until_waiting(&mut client, 1);
    assert_eq!(server.terminate().code(), Some(0));
    assert!(waited.join().unwrap());
}

#[test]
fn http_has_no_connection_to_own_a_row() {
    let server = Server::start();
    let _client = queue(&server);
    let (status, body) = request(
        server.http(),
        "POST /sql?mode=raw",
        "",
        b"SELECT queue_wait('q', 0)",
    );
    assert_eq!(status, 400);
    assert!(body.contains("MySQL door"), "{body}");
}

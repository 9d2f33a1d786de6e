//! Requests that a browser sends for a page of another site: what it marks as theirs is not served and changes nothing.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use crate::server::{Server, request};

/// Paths that are asked by GET; the first two take rows.
const PATHS: [&str; 9] = [
    "/queue/q/next?visible_again=1h",
    "/queue/q/events",
    "/queue/q/peek",
    "/metrics",
    "/livez",
    "/q/_flush",
    "/sql?query=SELECT+1",
    "/cli?SELECT%201",
    "/",
];

/// A server with a queue of `rows` rows that are gone for good after one delivery.
fn server(rows: u32) -> Server {
    let server = Server::start();
    let mut client = server.client();
    client
        .query("CREATE TABLE q (n int) ENGINE=queue max_deliveries='1'")
        .unwrap();
    for n in 0..rows {
        let insert = format!("INSERT INTO q VALUES ({n})");
        client.query(&insert).unwrap();
    }
    server
}

/// The status of a reply whose body need not end.
fn status(server: &Server, method: &str, path: &str, headers: &str) -> u16 {
    let mut stream = TcpStream::connect(server.http()).unwrap();
    let host = server.http();
    let request = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    line.split(' ').nth(1).unwrap().parse().unwrap()
}

fn taken(server: &Server) -> Vec<u8> {
    let rows = server
        .client()
        .query("SHOW STATUS LIKE 'queue_rows_taken'")
        .unwrap()
        .rows;
    rows[0][1].clone().unwrap()
}

#[test]
fn a_get_that_a_page_of_another_site_sent_is_refused_and_takes_no_row() {
    let server = server(1);
    for path in PATHS {
        for site in ["cross-site", "same-site", "", "something-new"] {
            let headers = format!("Sec-Fetch-Site: {site}\r\n");
            for method in ["GET", "HEAD"] {
                let status = status(&server, method, path, &headers);
                assert_eq!(status, 403, "{method} {path} {site:?}");
            }
        }
        let both = "Sec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site\r\n";
        assert_eq!(status(&server, "GET", path, both), 403, "{path}");
    }
    assert_eq!(taken(&server), b"0");
    let cross = "Sec-Fetch-Site: cross-site\r\n";
    let (_, body) = request(server.http(), "GET /queue/q/next", cross, b"");
    assert!(body.contains("foreign_origin"), "{body}");
    assert!(body.contains("Sec-Fetch-Site: cross-site"), "{body}");
    let (_, body) = request(server.http(), "GET /queue/q/next", "", b"");
    assert!(
        body.contains("\"data\":{\"n\":0}"),
        "the row is there: {body}"
    );
}

#[test]
fn a_get_of_a_program_of_a_typed_address_or_of_a_page_of_this_server_is_served() {
    let server = server(6);
    for headers in [
        "",
        "Sec-Fetch-Site: none\r\n",
        "Sec-Fetch-Site: same-origin\r\n",
    ] {
        for path in PATHS {
            let status = status(&server, "GET", path, headers);
            assert_ne!(status, 403, "{path} {headers:?}");
        }
    }
    let (status, body) = request(
        server.http(),
        "POST /queue/q/next",
        "Sec-Fetch-Site: cross-site\r\n",
        b"",
    );
    assert_eq!(status, 200, "a POST is judged by Host and Origin: {body}");
}

#[test]
fn a_head_takes_no_row() {
    let server = server(1);
    for path in ["/queue/q/next", "/queue/q/events"] {
        assert_eq!(status(&server, "HEAD", path, ""), 405, "{path}");
    }
    assert_eq!(taken(&server), b"0");
}

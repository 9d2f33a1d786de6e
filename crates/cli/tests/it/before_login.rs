//! What strangers can take: connections that are half open, requests that stop half-way, clients that are slow or vanish.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use client::Client;
use rustix::process::{Resource, getrlimit, setrlimit};
use wire::mysql::Capabilities;

use crate::mysql_door::{errno, log_in, receive, send};
use crate::server::{Folder, Server, Setup, request, until};

/// Longer than any of these answers takes on a busy machine, shorter than `client_timeout`.
const SOON: Duration = Duration::from_secs(30);

const LOGIN: &str = "Authorization: Basic c2VpbmU6c2VzYW1l\r\n"; // seine:sesame

/// Private memory of the server, in bytes.
pub(crate) fn rss_anon(server: &Server) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"))
        .unwrap();
    let kib: u64 = line.trim().trim_end_matches(" kB").parse().unwrap();
    kib << 10
}

pub(crate) fn raise_file_limit() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
}

fn sql(server: &Server, headers: &str) -> u16 {
    request(server.http(), "POST /sql?mode=raw", headers, b"SHOW TABLES").0
}

#[track_caller]
fn refusal(result: Result<Client, client::ClientError>, code: &str) -> String {
    let error = result.err().unwrap().to_string();
    assert!(error.contains(code), "{error} should be {code}");
    error
}

#[test]
fn a_packet_of_more_than_kilobytes_is_refused_at_its_header_before_login_and_taken_after_it() {
    let server = Server::start();
    let mut stream = TcpStream::connect(server.mysql()).unwrap();
    assert!(!receive(&mut stream).is_empty(), "a greeting");
    let length = (16_u32 << 10) + 1;
    let [low, middle, high, _] = length.to_le_bytes();
    send(&mut stream, &[low, middle, high, 1]);
    stream.set_read_timeout(Some(SOON)).unwrap();
    assert_eq!(errno(&receive(&mut stream)), 1153);
    assert_eq!(stream.read(&mut [0]).unwrap(), 0, "and closed");
    let long = format!("SELECT '{}' AS a", "x".repeat(1 << 20));
    assert!(server.client().query(&long).is_ok());
}

#[test]
fn more_half_open_connections_than_places_leave_health_an_administrator_and_a_client_served() {
    raise_file_limit();
    let server = Setup::default()
        .flag("--memory", "256MiB")
        .variable("SEINE_PASSWORD", "sesame")
        .start();
    let half_body = format!(
        "POST /sql HTTP/1.1\r\nHost: localhost\r\n{LOGIN}Content-Length: 99999\r\n\r\nSELECT"
    );
    let half_head = "POST /sql HTTP/1.1\r\nHost: localhost\r\nX-Slow: ";
    let kinds = [
        (server.mysql(), ""),
        (server.http(), half_head),
        (server.http(), &half_body),
    ];
    let open: Vec<TcpStream> = (0..1_100)
        .map(|number| {
            let (door, part) = kinds[number % kinds.len()];
            let mut stream = TcpStream::connect(door).unwrap();
            // A server that refuses closes: what it does not take is not our matter.
            let _ = stream.write_all(part.as_bytes());
            stream
        })
        .collect();
    for path in ["/livez", "/readyz"] {
        assert_eq!(
            request(server.http(), &format!("GET {path}"), "", b"").0,
            200
        );
    }
    let mut administrator = Client::connect(server.mysql(), "seine", "sesame").unwrap();
    assert!(administrator.query("SHOW STATUS").is_ok());
    assert_eq!(sql(&server, LOGIN), 200);
    let rss = rss_anon(&server);
    assert!(rss < 320 << 20, "{} MiB", rss >> 20);
    drop(open);
}

#[test]
fn a_server_without_a_file_descriptor_left_closes_those_that_are_half_open() {
    raise_file_limit();
    let server = Setup::default().in_shell("ulimit -n 256").start();
    let open: Vec<TcpStream> = (0..400)
        .map(|number| {
            let door = [server.mysql(), server.http()][number % 2];
            TcpStream::connect(door).unwrap()
        })
        .collect();
    let since = Instant::now();
    assert!(server.client().query("SHOW STATUS").is_ok());
    assert_eq!(request(server.http(), "GET /livez", "", b"").0, 200);
    // Sooner than the half-open ones go by themselves.
    assert!(
        since.elapsed() < Duration::from_secs(5),
        "{:?}",
        since.elapsed()
    );
    drop(open);
}

/// From 900 connections at once a mebibyte each, without a login. The server's memory is looked at all the while.
#[test]
fn what_comes_before_a_login_takes_no_memory() {
    raise_file_limit();
    let server = Setup::default().flag("--memory", "256MiB").start();
    let before = rss_anon(&server);
    let part = vec![b'x'; (1 << 20) - 4];
    let send_some = || {
        let mut open = Vec::new();
        for _ in 0..112 {
            let mut stream = TcpStream::connect(server.mysql()).unwrap();
            stream.set_write_timeout(Some(SOON)).unwrap();
            // Refused at the header; the rest finds nobody.
            let _ = stream
                .write_all(&[0xff, 0xff, 0x0f, 1])
                .and_then(|()| stream.write_all(&part));
            open.push(stream);
        }
        open
    };
    let most = std::thread::scope(|scope| {
        let senders: Vec<_> = (0..8).map(|_| scope.spawn(send_some)).collect();
        let mut most = 0;
        while senders.iter().any(|sender| !sender.is_finished()) {
            most = most.max(rss_anon(&server));
        }
        let open: Vec<_> = senders
            .into_iter()
            .map(|sender| sender.join().unwrap())
            .collect();
        most = most.max(rss_anon(&server));
        drop(open);
        most
    });
    let grown = most.saturating_sub(before) >> 20;
    assert!(grown < 100, "{grown} MiB");
    assert!(server.client().ping().is_ok());
}

#[test]
fn when_clients_hold_all_places_health_checks_and_the_owner_get_reserved_ones() {
    let server = Setup::default()
        .variable("SEINE_CONNECTIONS_MAX", "2")
        .variable("SEINE_PASSWORD", "sesame")
        .start();
    let connect = |password: &str| Client::connect(server.mysql(), "seine", password);
    let _held = [connect("sesame").unwrap(), connect("sesame").unwrap()];
    for path in ["/livez", "/readyz"] {
        assert_eq!(
            request(server.http(), &format!("GET {path}"), "", b"").0,
            200
        );
    }
    refusal(connect("wrong"), "1045");
    let mut owner = connect("sesame").unwrap();
    assert!(owner.ping().is_ok());
    assert_eq!(sql(&server, LOGIN), 200, "the owner on loopback");
    assert_eq!(sql(&server, ""), 401);
}

#[test]
fn without_a_password_the_owner_is_who_comes_by_a_unix_socket() {
    let folder = Folder::new();
    let sockets = ["m", "h"].map(|name| format!("unix:{}", folder.path(name)));
    let server = Setup::default()
        .flag("--mysql", "127.0.0.1:0")
        .flag("--mysql", &sockets[0])
        .flag("--http", "127.0.0.1:0")
        .flag("--http", &sockets[1])
        .variable("SEINE_CONNECTIONS_MAX", "1")
        .start();
    let first = |list: &str| list.split(',').next().unwrap().to_owned();
    let (mysql, http) = (first(server.mysql()), first(server.http()));
    let _held = Client::connect(&mysql, "test", "").unwrap();
    refusal(Client::connect(&mysql, "test", ""), "1040");
    let ask = |http: &str| request(http, "POST /sql?mode=raw", "", b"SHOW TABLES");
    let (status, body) = ask(&http);
    assert_eq!(status, 503, "{body}");
    assert!(body.contains("too_many_connections"), "{body}");
    assert_eq!(request(&http, "GET /livez", "", b"").0, 200);
    assert!(Client::connect(&sockets[0], "test", "").is_ok());
    assert_eq!(ask(&sockets[1]).0, 200);
}

#[test]
fn one_address_is_bounded_where_that_is_set() {
    let server = Setup::default()
        .variable("SEINE_CONNECTIONS_PER_ADDRESS", "2")
        .start();
    let _held = [server.client(), server.client()];
    let why = refusal(Client::connect(server.mysql(), "test", ""), "1040");
    assert!(why.contains("connections_per_address"), "{why}");
}

#[test]
fn large_requests_that_stop_half_way_do_not_hold_up_others() {
    let server = Setup::default().flag("--memory", "256MiB").start();
    let part = vec![b' '; 2 << 20];
    let mut stopped = Vec::new();
    for _ in 0..2 {
        let mut stream = TcpStream::connect(server.http()).unwrap();
        let head = format!(
            "POST /sql HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n",
            128 << 20
        );
        send(&mut stream, head.as_bytes());
        send(&mut stream, &part);
        stopped.push(stream);
    }
    let mut stream = TcpStream::connect(server.mysql()).unwrap();
    log_in(&mut stream, Capabilities::CLIENT);
    send(&mut stream, &[0xff, 0xff, 0xff, 0]);
    send(&mut stream, &part);
    stopped.push(stream);

    let since = Instant::now();
    let long = format!("SELECT '{}' AS a", "x".repeat(2 << 20));
    assert!(server.client().query(&long).is_ok());
    let over_http = request(server.http(), "POST /sql?mode=raw", "", long.as_bytes());
    assert_eq!(over_http.0, 200);
    assert!(since.elapsed() < SOON, "{:?}", since.elapsed());
}

#[test]
fn a_head_must_come_in_time_and_a_connection_may_be_silent_between_two() {
    let server = Setup::default()
        .variable("SEINE_FAULTS", "http-head=200")
        .start();
    for part in ["", "GET /livez HTTP/1.1\r\nHost: local"] {
        let mut stream = TcpStream::connect(server.http()).unwrap();
        stream.set_read_timeout(Some(SOON)).unwrap();
        send(&mut stream, part.as_bytes());
        assert_eq!(stream.read(&mut [0]).unwrap(), 0, "closed: {part:?}");
    }
    let mut stream = TcpStream::connect(server.http()).unwrap();
    let mut ask = || {
        send(
            &mut stream,
            b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n",
        );
        stream.set_read_timeout(Some(SOON)).unwrap();
        let mut reply = Vec::new();
        while !reply.ends_with(b"}") {
            let mut piece = [0; 512];
            let count = stream.read(&mut piece).unwrap();
            assert!(count > 0, "closed after {reply:?}");
            reply.extend_from_slice(&piece[..count]);
        }
        // Longer than a head may take: nothing comes, not even an end.
        stream
            .set_read_timeout(Some(Duration::from_millis(600)))
            .unwrap();
        let silence = stream.read(&mut [0]).unwrap_err();
        assert_eq!(silence.kind(), ErrorKind::WouldBlock);
    };
    ask();
    ask();
}

#[test]
fn a_client_that_never_logs_in_is_closed() {
    let server = Server::start();
    let mut stream = TcpStream::connect(server.mysql()).unwrap();
    stream.set_read_timeout(Some(SOON)).unwrap();
    assert!(!receive(&mut stream).is_empty(), "a greeting");
    assert_eq!(stream.read(&mut [0]).unwrap(), 0);
}

#[test]
fn clients_that_vanish_at_any_point_give_their_places_back() {
    let server = Server::start();
    let head = b"POST /sql HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nSEL";
    for length in 0..head.len() {
        drop(TcpStream::connect(server.mysql()).unwrap());
        let mut stream = TcpStream::connect(server.http()).unwrap();
        send(&mut stream, &head[..length]);
    }
    let mut client = server.client();
    let mut open = || {
        let rows = client
            .query("SHOW STATUS LIKE 'threads_connected'")
            .unwrap();
        rows.rows[0][1].clone().unwrap()
    };
    until("one connection is left", || (open() == b"1").then_some(()));
}

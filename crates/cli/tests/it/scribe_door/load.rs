//! Overload, stops, starts, kills and reloads under load.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use wire::scribe::{Method, Reply, ResultCode};

use super::{SOON, Scribe, lines_of, log_call};
use crate::collect::{ctl, holds_in_order, lines, wait_for};
use crate::server::{Folder, Server, Setup};

/// A server with this configuration of Scribe.
fn configured(conf: &str) -> (Folder, Server) {
    let folder = Folder::new();
    std::fs::write(folder.0.join("scribe.conf"), conf).unwrap();
    let server = Setup::default()
        .flag("--scribe-config", &folder.path("scribe.conf"))
        .start();
    (folder, server)
}

/// A configuration that keeps all categories in files of one folder.
fn to_files(globals: &str) -> String {
    format!("{globals}\n<store>\ncategory=default\ntype=file\nfile_path=files\n</store>\n")
}

#[test]
fn above_max_conn_a_connection_is_closed_and_one_that_ends_gives_its_place_to_the_next() {
    let (_folder, server) = configured(&to_files("max_conn=3"));
    let mut open: Vec<Scribe> = (0..3).map(|_| Scribe::connect(&server)).collect();
    for (number, client) in open.iter_mut().enumerate() {
        client.log(&number.to_string());
    }
    for _ in 0..200 {
        assert!(Scribe::connect(&server).receive().is_none());
    }
    for client in &mut open {
        client.log("still here");
    }
    open.pop();
    wait_for("a place is free", || {
        Scribe::connect(&server).try_log(&[(b"web", b"next\n")]) == Some(ResultCode::Ok)
    });
}

#[test]
fn above_the_rate_log_answers_try_later_and_takes_the_same_call_in_a_later_second() {
    let (_folder, server) = configured(&to_files("max_msg_per_second=10"));
    let mut client = Scribe::connect(&server);
    let mut answers = Vec::new();
    for _ in 0..40 {
        answers.push(client.try_log(&[(b"web", b"x\n")]).unwrap());
    }
    let denied = answers
        .iter()
        .filter(|answer| **answer == ResultCode::TryLater)
        .count();
    assert!(denied > 0, "{answers:?}");
    assert_eq!(
        client.counter("scribe_overall:denied for rate"),
        denied as i64
    );
    wait_for("a later second takes it", || {
        client.try_log(&[(b"web", b"x\n")]) == Some(ResultCode::Ok)
    });
}

#[test]
fn more_than_memory_may_hold_is_answered_try_later_and_taken_once_stores_have_the_rest() {
    let server = Setup::default().flag("--memory", "64MiB").start();
    let mut client = Scribe::connect(&server);
    let part = "x".repeat(3 << 20);
    let (mut later, mut wanted) = (0, Vec::new());
    for number in 0..12 {
        let body = format!("{number}.{part}\n");
        wait_for("the call is taken", || {
            let answer = client.try_log(&[(b"web", body.as_bytes())]).unwrap();
            later += usize::from(answer == ResultCode::TryLater);
            answer == ResultCode::Ok
        });
        wanted.push(format!("{number}.{part}"));
    }
    assert!(later > 0, "36 MiB passed 64 MiB of memory without a pause");
    wait_for("all is in the file, in order", || {
        lines_of(&server, "web") == wanted
    });
}

#[test]
fn a_server_that_starts_answers_try_later_and_takes_the_call_once_it_has_started() {
    let folder = Folder::new();
    let pipe = folder.path("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    // The address is known before the line that says ready.
    let address = format!("unix:{}", folder.path("scribe"));
    let setup = Setup::default()
        .flag("--scribe", &address)
        .variable("SEINE_FAULTS", &format!("hold-recovery={pipe}"));
    let mut child = setup.spawn(&folder);
    let mut stream = crate::server::until("the door listens", || {
        std::os::unix::net::UnixStream::connect(folder.path("scribe")).ok()
    });
    stream.set_read_timeout(Some(SOON)).unwrap();
    let mut ask = || {
        stream.write_all(&log_call(1, &[(b"web", b"x\n")])).unwrap();
        let mut reply = [0; 24];
        stream.read_exact(&mut reply).unwrap();
        match Reply::decode(&reply[4..], Method::Log, 1).unwrap() {
            Reply::Log(code) => code,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(ask(), ResultCode::TryLater);
    std::fs::write(&pipe, "go").unwrap();
    wait_for("the server has started", || ask() == ResultCode::Ok);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_call_that_ends_while_the_server_stops_is_answered() {
    let mut server = Server::start();
    let call = log_call(1, &[(b"web", b"late\n")]);
    let mut client = Scribe::connect(&server);
    client.send(&call[..20]);
    Scribe::connect(&server).log("early");
    server.signal(Signal::TERM);
    wait_for("the server stops", || server.log().contains("stopping"));
    client.send(&call[20..]);
    let reply = client.receive().unwrap();
    let Reply::Log(code) = Reply::decode(&reply, Method::Log, 1).unwrap() else {
        panic!("{reply:?}");
    };
    assert!(server.ended().success());
    let mut wanted = vec!["early"];
    wanted.extend((code == ResultCode::Ok).then_some("late"));
    assert_eq!(lines_of(&server, "web"), wanted);
}

/// Clients that send numbered lines, each to a category of its own and to one that all share, until `is_over`. Gives the lines
/// that were acknowledged by category and client.
fn senders(
    server: &Server,
    count: usize,
    is_over: &AtomicBool,
) -> BTreeMap<(String, usize), Vec<String>> {
    let send = |client_number: usize| {
        let mut sent: BTreeMap<(String, usize), Vec<String>> = BTreeMap::new();
        let mut client = Scribe::connect(server);
        for number in 0.. {
            if is_over.load(Ordering::Relaxed) {
                break;
            }
            for category in [format!("own{client_number}"), "shared".to_owned()] {
                let lines: Vec<String> = (0..20)
                    .map(|line| format!("{client_number}.{number}.{line}"))
                    .collect();
                let bodies: Vec<Vec<u8>> = lines
                    .iter()
                    .map(|line| format!("{line}\n").into_bytes())
                    .collect();
                let messages: Vec<(&[u8], &[u8])> = bodies
                    .iter()
                    .map(|body| (category.as_bytes(), &body[..]))
                    .collect();
                match client.try_log(&messages) {
                    Some(ResultCode::Ok) => sent
                        .entry((category, client_number))
                        .or_default()
                        .extend(lines),
                    Some(ResultCode::TryLater) => {}
                    None => panic!("the connection is closed"),
                }
            }
        }
        sent
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..count)
            .map(|number| scope.spawn(move || send(number)))
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect()
    })
}

#[test]
fn reloads_under_load_lose_nothing_repeat_nothing_and_keep_the_order_of_each_client() {
    let folder = Folder::new();
    let path = folder.path("scribe.conf");
    let conf = |size: u64| {
        let files = folder.path("files");
        format!(
            "<store>\ncategory=default\ntype=file\nfile_path={files}\nmax_size={size}\n</store>\n"
        )
    };
    std::fs::write(&path, conf(1_000_000)).unwrap();
    let mut server = Setup::default().flag("--scribe-config", &path).start();
    let is_over = AtomicBool::new(false);
    let sent = thread::scope(|scope| {
        let sending = scope.spawn(|| senders(&server, 4, &is_over));
        for round in 0..10 {
            std::fs::write(&path, conf(1_000_000 + round % 3)).unwrap();
            match round % 2 {
                0 => server.signal(Signal::HUP),
                _ => drop(ctl(&server, "reload")),
            }
            wait_for("the reload", || {
                let read = server.log().matches("configuration was read again").count();
                read as u64 > round
            });
        }
        is_over.store(true, Ordering::Relaxed);
        sending.join().unwrap()
    });
    assert!(server.terminate().success());
    for ((category, client), wanted) in sent {
        let mut found = lines(&folder.0.join("files").join(&category), &category);
        found.retain(|line| line.starts_with(&format!("{client}.")));
        assert!(
            found == wanted,
            "{category} of client {client}: {} of {}",
            found.len(),
            wanted.len()
        );
    }
}

#[test]
fn a_server_killed_between_a_send_and_its_checkpoint_repeats_messages_and_loses_none() {
    let next = Server::start();
    let port = next.scribe().rsplit_once(':').unwrap().1.to_owned();
    let folder = Folder::new();
    let conf = format!(
        "check_interval=1\n<store>\ncategory=default\ntype=network\nremote_host=127.0.0.1\nremote_port={port}\n\
         max_write_interval=1\n</store>\n"
    );
    std::fs::write(folder.0.join("scribe.conf"), conf).unwrap();
    let mut server = Setup::default()
        .flag("--scribe-config", &folder.path("scribe.conf"))
        .start();
    let mut wanted: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for round in 0..6_u64 {
        let end = Instant::now() + Duration::from_millis(500 + 370 * (round * 7 % 5));
        let mut client = Scribe::connect(&server);
        let mut number = 0;
        while Instant::now() < end {
            let category = ["web", "mail"][number % 2];
            let line = format!("{round}.{number}");
            if client.try_log(&[(category.as_bytes(), format!("{line}\n").as_bytes())])
                == Some(ResultCode::Ok)
            {
                wanted.entry(category.to_owned()).or_default().push(line);
            }
            number += 1;
        }
        server.kill_and_restart();
    }
    for (category, wanted) in wanted {
        assert!(wanted.len() > 50);
        wait_for("the next server has all, in order", || {
            holds_in_order(&lines_of(&next, &category), &wanted)
        });
    }
}

/// Addresses of this machine that are not loopback; none where it has no network. Nothing is sent.
fn own_addresses() -> Vec<std::net::IpAddr> {
    let ways = [("0.0.0.0:0", "192.0.2.1:9"), ("[::]:0", "[2001:db8::1]:9")];
    let own = |(from, to): (&str, &str)| {
        let socket = std::net::UdpSocket::bind(from).ok()?;
        socket.connect(to).ok()?;
        Some(socket.local_addr().ok()?.ip())
    };
    ways.into_iter()
        .filter_map(own)
        .filter(|ip| !ip.is_loopback())
        .collect()
}

#[test]
fn a_client_of_another_address_stops_and_changes_nothing_unless_scribe_admin_names_it() {
    let set = wire::scribe::Call::SetOption {
        key: b"a",
        value: b"b",
    };
    for ip in own_addresses() {
        let at = |port: &str| std::net::SocketAddr::new(ip, port.parse().unwrap());
        let start = |admin: &str| {
            let any = if ip.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
            let setup = Setup::default().flag("--scribe", any);
            let server = setup.variable("SEINE_SCRIBE_ADMIN", admin).start();
            let client = Scribe::connect_to(at(server.scribe().rsplit_once(':').unwrap().1));
            (server, client)
        };
        let (server, mut stranger) = start("192.0.2.77,fd00::77");
        for number in 0..50 {
            let refused = stranger.call(&set, |reply| matches!(reply, Reply::Exception(_)));
            assert!(refused, "{number}");
            for method in ["shutdown", "reinitialize"] {
                stranger.send(&super::framed(&super::message(method, 1, &[])));
            }
        }
        stranger.log("the server goes on");
        let log = server.log();
        assert!(
            !log.contains("read again") && !log.contains("stopping"),
            "{log}"
        );
        let lines = log.matches("may call it").count();
        assert!((1..20).contains(&lines), "{lines} lines");
        let mut counted = server.client();
        let refused = crate::server::number(&mut counted, "SHOW STATUS LIKE 'scribe_refused'");
        assert_eq!(refused, 150);
        let (mut server, mut admin) = start(&ip.to_string());
        assert!(admin.call(&set, |reply| reply == Reply::Done), "{ip}");
        admin.send(&super::framed(&super::message("shutdown", 1, &[])));
        assert!(server.ended().success());
    }
}

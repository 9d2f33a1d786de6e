//! Overload: a stream waits, a datagram is dropped, and no other door waits for either.

use std::io::Write;
use std::net::UdpSocket;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::{connect, setup, status, udp, wait_for_lines};
use crate::collect::wait_for;
use crate::scribe_door::{Scribe, lines_of};
use crate::server::{Folder, Setup, until};

/// A configuration with one folder for all categories and this rate.
fn rated(folder: &Folder, rate: u32) -> Setup {
    let conf = format!(
        "max_msg_per_second={rate}\n<store>\ncategory=default\ntype=file\nfile_path={}\n</store>\n",
        folder.path("files")
    );
    std::fs::write(folder.0.join("scribe.conf"), conf).unwrap();
    setup().flag("--scribe-config", &folder.path("scribe.conf"))
}

#[test]
fn a_stream_that_the_server_cannot_take_now_waits_and_loses_and_repeats_nothing() {
    let folder = Folder::new();
    let server = rated(&folder, 10).start();
    let mut stream = connect(&server);
    let mut wanted = Vec::new();
    // One call each: eleven of them are more than a second may have.
    for number in 0..25 {
        stream
            .write_all(format!("<13>web: {number}\n").as_bytes())
            .unwrap();
        wanted.push(format!("web: {number}"));
        wait_for("it is taken in this second or a later one", || {
            status(&server, "syslog_messages") == number + 1
        });
    }
    let denied = Scribe::connect(&server).counter("scribe_overall:denied for rate");
    assert!(
        denied > 0,
        "25 messages passed a rate of 10 a second at once"
    );
    wait_for("all are in the file, in order", || {
        crate::collect::lines(&folder.0.join("files/web"), "web") == wanted
    });
}

#[test]
fn more_than_memory_may_hold_waits_in_the_stream_and_is_taken_once_stores_have_the_rest() {
    let server = setup().flag("--memory", "64MiB").start();
    let mut stream = connect(&server);
    let part = "x".repeat(500_000);
    let mut wanted = Vec::new();
    for number in 0..100 {
        stream
            .write_all(format!("<13>web: {number}.{part}\n").as_bytes())
            .unwrap();
        wanted.push(format!("web: {number}.{part}"));
    }
    wait_for("all is in the file, in order", || {
        lines_of(&server, "web") == wanted
    });
    assert_eq!(status(&server, "syslog_refused"), 0);
}

/// A server whose recovery waits, with a stream and a UDP socket that already listen.
fn held(folder: &Folder) -> (std::process::Child, UnixStream, UdpSocket) {
    let pipe = folder.path("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let setup = Setup::default()
        .flag("--syslog", &format!("unix:{}", folder.path("syslog")))
        .flag("--syslog-udp", "127.0.0.1:0")
        .variable("SEINE_FAULTS", &format!("hold-recovery={pipe}"));
    let child = setup.spawn(folder);
    let port = until("the door listens", || {
        let log = std::fs::read_to_string(folder.path("log")).ok()?;
        let line = log.lines().find(|line| line.contains("for syslog_udp"))?;
        let (_, port) = line.split_once("127.0.0.1:")?;
        port.split_once('"')?.0.parse::<u16>().ok()
    });
    let stream = until("the socket listens", || {
        UnixStream::connect(folder.path("syslog")).ok()
    });
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(("127.0.0.1", port)).unwrap();
    (child, stream, socket)
}

#[test]
fn a_server_that_starts_takes_a_stream_once_it_has_started_and_drops_datagrams() {
    let folder = Folder::new();
    let (mut child, mut stream, socket) = held(&folder);
    stream.write_all(b"<13>early: 1\n<13>early: 2\n").unwrap();
    drop(stream);
    socket.send(b"<13>early: 3").unwrap();
    until("the datagram is dropped", || {
        let log = std::fs::read_to_string(folder.path("log")).unwrap();
        log.contains("dropped datagrams").then_some(())
    });
    std::fs::write(folder.path("pipe"), "go").unwrap();
    let files = folder.0.join("data/collected/early");
    wait_for("the stream is taken, the datagram is not", || {
        crate::collect::lines(&files, "early") == ["early: 1", "early: 2"]
    });
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_stop_does_not_wait_for_a_stream_and_a_message_is_either_in_the_file_or_told_as_lost() {
    let folder = Folder::new();
    let mut server = rated(&folder, 3).start();
    let mut stream = connect(&server);
    let mut client = Scribe::connect(&server);
    let denied = || Scribe::connect(&server).counter("scribe_overall:denied for rate");
    // The client uses the rate up, again and again, so that the stream most likely waits at the stop.
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                if client.try_log(&[(b"web", b"x\n")]).is_none() {
                    return;
                }
            }
        });
        wait_for("calls are denied", || denied() > 10);
        stream.write_all(b"<13>late: x\n").unwrap();
        let before = denied();
        wait_for("more calls are denied", || denied() > before + 100);
        server.signal(rustix::process::Signal::TERM);
        wait_for("the server stops", || server.log().contains("stopping"));
        is_over.store(true, Ordering::Relaxed);
    });
    assert!(server.ended().success());
    let log = server.log();
    let is_taken = crate::collect::lines(&folder.0.join("files/late"), "late") == ["late: x"];
    assert_ne!(
        is_taken,
        log.contains("messages of this connection are lost"),
        "{log}"
    );
    assert!(!log.contains("did not end in time"), "{log}");
}

#[test]
fn a_flood_of_datagrams_does_not_keep_a_client_of_scribe_from_its_answers() {
    let server = setup().flag("--memory", "64MiB").start();
    let is_over = AtomicBool::new(false);
    let sent = thread::scope(|scope| {
        let flood = || {
            let socket = udp(&server);
            let datagram = format!("<13>flood: {}", "x".repeat(1_000));
            let mut sent = 0;
            while !is_over.load(Ordering::Relaxed) {
                sent += i64::from(socket.send(datagram.as_bytes()).is_ok());
            }
            sent
        };
        let floods: Vec<_> = (0..2).map(|_| scope.spawn(flood)).collect();
        wait_for("the flood flows", || {
            status(&server, "syslog_messages") > 1_000
        });
        let mut client = Scribe::connect(&server);
        for number in 0..300 {
            // OK, and no TRY_LATER.
            client.log(&number.to_string());
        }
        is_over.store(true, Ordering::Relaxed);
        let sent = floods.into_iter().map(|flood| flood.join().unwrap());
        sent.sum::<i64>()
    });
    let (taken, dropped) = (
        status(&server, "syslog_messages"),
        status(&server, "syslog_dropped"),
    );
    assert!(taken + dropped <= sent, "{taken} + {dropped} of {sent}");
    wait_for("what was taken is in the file", || {
        lines_of(&server, "flood").len() as i64 >= taken
    });
    wait_for("the client's lines are there, in order", || {
        let wanted = (0..300).map(|number: u32| number.to_string());
        lines_of(&server, "web").into_iter().eq(wanted)
    });
    let socket = udp(&server);
    wait_for("datagrams are taken again", || {
        socket.send(b"<13>after: x").unwrap();
        lines_of(&server, "after")
            .first()
            .is_some_and(|line| line == "after: x")
    });
}

#[test]
fn many_streams_at_once_keep_the_order_of_each() {
    let server = setup().start();
    thread::scope(|scope| {
        for sender in 0..8 {
            let mut stream = connect(&server);
            scope.spawn(move || {
                for number in 0..2_000 {
                    let line = format!("<13>shared: {sender}.{number}\n");
                    stream.write_all(line.as_bytes()).unwrap();
                }
            });
        }
    });
    wait_for("all are there", || {
        lines_of(&server, "shared").len() == 16_000
    });
    let lines = lines_of(&server, "shared");
    for sender in 0..8 {
        let begin = format!("shared: {sender}.");
        let own = lines.iter().filter_map(|line| line.strip_prefix(&begin));
        assert!(
            own.eq((0..2_000)
                .map(|number: u32| number.to_string())
                .collect::<Vec<_>>())
        );
    }
    let idle = connect(&server);
    wait_for_lines(&server, "none", &[]);
    drop(idle);
}

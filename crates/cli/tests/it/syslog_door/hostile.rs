//! What no honest sender sends, and what honest ones get meanwhile.

use std::io::{Read, Write};
use std::net::Shutdown;

use super::{connect, counted, send, setup, status, udp, wait_for_lines};
use crate::before_login::rss_anon;
use crate::collect::wait_for;
use crate::scribe_door::text_of;
use crate::server::Server;

/// Longest message that is taken as one.
const PIECE_BYTES: usize = 1 << 20;

/// Most that long messages may add to a server, which holds a piece several times on its way to the file.
const GROWN_BYTES_MAX: u64 = 64 << 20;

/// Waits until the server has closed the connection.
#[track_caller]
fn wait_for_close(mut stream: std::net::TcpStream) {
    let mut byte = [0];
    let read = stream.read(&mut byte);
    let is_open = matches!(&read, Err(error) if error.kind() == std::io::ErrorKind::WouldBlock);
    assert!(!is_open && !matches!(read, Ok(1)), "{read:?}");
}

#[test]
fn a_message_of_64_mib_is_taken_in_pieces_of_1_mib_of_one_category_in_bounded_memory() {
    let server = setup().flag("--memory", "256MiB").start();
    send(&server, b"<13>first: x\n");
    wait_for_lines(&server, "first", &["first: x"]);
    let before = rss_anon(&server);
    let body = "0123456789abcdef".repeat(4 << 20);
    for (category, is_counted) in [("counted", true), ("line", false)] {
        let message = format!("<13>{category}: {body}");
        let framed = match is_counted {
            true => counted(&message),
            false => format!("{message}\n"),
        };
        send(&server, framed.as_bytes());
        wait_for("all bytes are in the file", || {
            text_of(&server, category).len() >= message.len() - 4 + 65
        });
        let text = text_of(&server, category);
        let pieces: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
        assert_eq!(pieces.len(), 65, "{category}");
        // The first piece begins with `<13>`, which is no part of the body.
        assert_eq!(pieces[0].len(), PIECE_BYTES - 4 + 1);
        let joined: Vec<u8> = text.into_iter().filter(|byte| *byte != b'\n').collect();
        assert!(joined == message.as_bytes()[4..], "{category}");
    }
    assert_eq!(status(&server, "syslog_messages"), 3);
    assert_eq!(status(&server, "syslog_pieces"), 130);
    let grown = rss_anon(&server).saturating_sub(before);
    assert!(grown < GROWN_BYTES_MAX, "{} MiB more", grown >> 20);
}

#[test]
fn a_sender_that_lies_about_lengths_is_closed_and_its_earlier_messages_stay() {
    let server = setup().start();
    let mut honest = connect(&server);
    let liars = [
        "0 x",
        "00000",
        "12345678901 x",
        "7\n",
        "5x",
        "1\0",
        "2026-11-23T23:00:00Z web",
    ];
    let mut wanted = Vec::new();
    for (number, liar) in liars.iter().enumerate() {
        let mut stream = connect(&server);
        stream
            .write_all(format!("<13>liar: {number}\n{liar}").as_bytes())
            .unwrap();
        wait_for_close(stream);
        wanted.push(format!("liar: {number}"));
        honest
            .write_all(format!("<13>honest: {number}\n").as_bytes())
            .unwrap();
    }
    let lines: Vec<&str> = wanted.iter().map(String::as_str).collect();
    wait_for_lines(&server, "liar", &lines);
    wait_for("the honest sender goes on", || {
        text_of(&server, "honest").ends_with(b"honest: 6\n")
    });
    assert_eq!(status(&server, "syslog_refused"), liars.len() as i64);
    let told = server
        .log()
        .matches("closed a connection of the syslog door")
        .count();
    assert!((1..=liars.len()).contains(&told), "{told} lines");
}

#[test]
fn a_thousand_liars_make_few_lines_in_the_log() {
    let server = setup().start();
    for _ in 0..1_000 {
        send(&server, b"0 x");
    }
    wait_for("all are counted", || {
        status(&server, "syslog_refused") == 1_000
    });
    let told = server
        .log()
        .matches("closed a connection of the syslog door")
        .count();
    assert!((1..60).contains(&told), "{told} lines");
}

#[test]
fn bytes_that_are_no_text_are_kept_as_they_are() {
    let server = setup().start();
    let garbage: [&[u8]; 5] = [
        b"\0\0\0\0",
        b"\xff\xfe<13>\x80",
        b"GET / HTTP/1.1\r",
        b"<13>bin: \0\x01\xc3\x28\x7f",
        b"<999>x",
    ];
    let mut stream = connect(&server);
    for message in garbage {
        stream.write_all(&[message, b"\n"].concat()).unwrap();
    }
    stream.write_all(b"3 a\nb").unwrap();
    wait_for("each byte is there", || {
        text_of(&server, "syslog")
            == b"\0\0\0\0\n\xff\xfe<13>\x80\nGET / HTTP/1.1\r\n<999>x\na\nb\n"
    });
    wait_for("those of the other category too", || {
        text_of(&server, "bin") == b"bin: \0\x01\xc3\x28\x7f\n"
    });
    udp(&server).send(&[0xff; 100]).unwrap();
    wait_for("the datagram too", || {
        text_of(&server, "syslog").ends_with(&[&[0xff; 100][..], b"\n"].concat())
    });
}

#[test]
fn a_sender_that_vanishes_leaves_its_last_line_and_no_half_of_a_counted_message() {
    let server = setup().start();
    send(&server, b"<13>gone: a\n<13>gone: half a li");
    wait_for_lines(&server, "gone", &["gone: a", "gone: half a li"]);
    assert_eq!(status(&server, "syslog_refused"), 0);
    send(&server, b"<13>cut: a\n20 <13>cut: half");
    wait_for("the half is counted", || {
        status(&server, "syslog_refused") == 1
    });
    wait_for_lines(&server, "cut", &["cut: a"]);
    // One that closes only its own side has all its messages taken.
    let stream = connect(&server);
    (&stream)
        .write_all(counted("<13>shut: a").as_bytes())
        .unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    wait_for_close(stream);
    wait_for_lines(&server, "shut", &["shut: a"]);
}

#[test]
fn a_sender_that_stops_within_a_message_is_closed_and_an_idle_one_is_not() {
    let server: Server = setup().variable("SEINE_CLIENT_TIMEOUT", "1s").start();
    let mut idle = connect(&server);
    idle.write_all(b"<13>idle: a\n").unwrap();
    wait_for_lines(&server, "idle", &["idle: a"]);
    let mut slow: Vec<_> = (0..20).map(|_| connect(&server)).collect();
    for (number, stream) in slow.iter_mut().enumerate() {
        let half: &[u8] = [&b"5000 <13>slow: x"[..], b"<13>slow: x"][number % 2];
        stream.write_all(half).unwrap();
    }
    for stream in slow {
        wait_for_close(stream);
    }
    wait_for_lines(&server, "slow", &["slow: x"; 10]);
    assert_eq!(status(&server, "syslog_refused"), 10);
    idle.write_all(b"<13>idle: b\n").unwrap();
    wait_for_lines(&server, "idle", &["idle: a", "idle: b"]);
}

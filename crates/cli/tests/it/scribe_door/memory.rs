//! Memory, log lines and time that strangers can take.

use std::thread;
use std::time::{Duration, Instant};

use wire::scribe::{Call, Dialect, Reply, ResultCode};

use super::{Scribe, framed, lines_of, log_call, message};
use crate::before_login::{raise_file_limit, rss_anon};
use crate::collect::{files, wait_for};
use crate::server::{Server, Setup, until_within};

/// Most that attacks may add to a server of `--memory 256MiB`, which gives a quarter of it to requests.
const GROWN_BYTES_MAX: u64 = 160 << 20;

fn server() -> Server {
    raise_file_limit();
    Setup::default()
        .flag("--memory", "256MiB")
        .variable("SEINE_CONNECTIONS_MAX", "4000")
        .start()
}

/// A call that its client never ends: the head of a frame of `announced` bytes, and `sent` of them.
fn half_frame(announced: u32, sent: usize) -> Vec<u8> {
    let mut half = announced.to_be_bytes().to_vec();
    half.extend(message("Log", 1, &[]));
    half.resize(sent + 4, b'x');
    half
}

#[track_caller]
fn assert_grown_by_at_most(server: &Server, before: u64, most: u64) {
    let grown = rss_anon(server).saturating_sub(before);
    assert!(grown < most, "{} MiB more", grown >> 20);
}

#[test]
fn a_thousand_idle_connections_and_a_thousand_half_frames_take_64_kib_each_at_most() {
    let server = server();
    Scribe::connect(&server).log("first");
    let before = rss_anon(&server);
    let open: Vec<Scribe> = (0..2_000)
        .map(|number| {
            let mut client = Scribe::connect(&server);
            match number % 2 {
                0 => client.log("idle"),
                _ => client.send(&half_frame(64 << 20, 1_000)),
            }
            client
        })
        .collect();
    Scribe::connect(&server).log("last");
    // An idle one has a buffer of 16 KiB, a half frame one of 64 KiB.
    assert_grown_by_at_most(&server, before, open.len() as u64 * (64 << 10));
    wait_for("all that was acknowledged is in the file", || {
        lines_of(&server, "web").len() == 1_002
    });
}

#[test]
fn frames_that_announce_64_mib_take_memory_for_what_came_and_hold_up_no_small_call() {
    let server = server();
    let mut honest = Scribe::connect(&server);
    honest.log("0");
    let before = rss_anon(&server);
    let half = half_frame(64 << 20, 1 << 20);
    let stranger = || {
        let mut client = Scribe::connect(&server);
        client.send(&half);
        client
    };
    let open: Vec<Scribe> = thread::scope(|scope| {
        let strangers: Vec<_> = (0..200).map(|_| scope.spawn(stranger)).collect();
        for number in 1..=100 {
            honest.log(&number.to_string());
        }
        strangers
            .into_iter()
            .map(|one| one.join().unwrap())
            .collect()
    });
    assert_grown_by_at_most(&server, before, GROWN_BYTES_MAX);
    // A large one waits for room, which the server takes from those that stall.
    let large = vec![b'x'; 4 << 20];
    until_within(120, "a call of 4 MiB is taken", || {
        let mut client = Scribe::connect(&server);
        let is_taken = client.try_log(&[(b"large", &large)]) == Some(ResultCode::Ok);
        is_taken.then_some(())
    });
    drop(open);
    let wanted: Vec<String> = (0..=100).map(|number| number.to_string()).collect();
    wait_for("all that was acknowledged is in the file", || {
        lines_of(&server, "web") == wanted
    });
}

#[test]
fn clients_that_never_read_fill_no_memory_and_do_not_hold_up_a_stop() {
    let mut server = server();
    let mut honest = Scribe::connect(&server);
    for number in 0..500 {
        let category = format!("{}{number}", "x".repeat(200));
        let answer = honest.try_log(&[(category.as_bytes(), b"x")]);
        assert_eq!(answer, Some(ResultCode::Ok));
    }
    let before = rss_anon(&server);
    let mut calls = Vec::new();
    for sequence in 0..5_000 {
        let put = Dialect::SCRIBE.put_call(sequence, &Call::GetCounters, &mut calls);
        put.unwrap();
    }
    let open: Vec<Scribe> = (0..50)
        .map(|_| {
            let mut client = Scribe::connect(&server);
            client
                .stream
                .set_write_timeout(Some(Duration::from_millis(100)))
                .unwrap();
            client.send(&calls);
            client
        })
        .collect();
    let mut half = Scribe::connect(&server);
    half.send(&half_frame(1_000, 100));
    honest.log("honest");
    assert_grown_by_at_most(&server, before, GROWN_BYTES_MAX);
    let since = Instant::now();
    assert!(server.terminate().success());
    assert!(
        since.elapsed() < Duration::from_secs(20),
        "{:?}",
        since.elapsed()
    );
    let folder = server.folder().0.join("data/collected/web");
    let text: String = files(&folder, "web")
        .iter()
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    assert_eq!(text, "honest\n");
    drop(open);
}

#[test]
fn a_call_of_tiny_messages_takes_memory_in_the_measure_of_its_bytes() {
    let server = server();
    let mut honest = Scribe::connect(&server);
    honest.log("first");
    let before = rss_anon(&server);
    // 16 bytes each, and each the end of a run.
    let messages: Vec<(&[u8], &[u8])> = (0..1 << 20)
        .map(|number| ([&b"a"[..], &b"b"[..]][number % 2], &b""[..]))
        .collect();
    let call = log_call(1, &messages);
    let mut client = Scribe::connect(&server);
    client.send(&call);
    let reply = client.receive().unwrap();
    assert_grown_by_at_most(&server, before, GROWN_BYTES_MAX);
    let reply = Reply::decode(&reply, wire::scribe::Method::Log, 1).unwrap();
    assert!(matches!(reply, Reply::Log(_)), "{reply:?}");
    honest.log("last");
    wait_for("the honest messages are in the file", || {
        lines_of(&server, "web") == ["first", "last"]
    });
}

#[test]
fn counters_of_many_categories_leave_no_buffer_with_an_idle_client() {
    let server = server();
    let mut honest = Scribe::connect(&server);
    let names: Vec<String> = (0..2_000)
        .map(|number| format!("{}{number}", "x".repeat(200)))
        .collect();
    let messages: Vec<(&[u8], &[u8])> = names
        .iter()
        .map(|name| (name.as_bytes(), &b"x"[..]))
        .collect();
    assert_eq!(honest.try_log(&messages), Some(ResultCode::Ok));
    let count = |reply: Reply<'_>| match reply {
        Reply::Counters(counters) => counters.len(),
        other => panic!("{other:?}"),
    };
    assert_eq!(honest.call(&Call::GetCounters, count), 2_001);
    wait_for("all have files", || {
        std::fs::read_dir(server.folder().0.join("data/collected"))
            .unwrap()
            .count()
            == 2_000
    });
    let before = rss_anon(&server);
    let open: Vec<Scribe> = (0..100)
        .map(|_| {
            let mut client = Scribe::connect(&server);
            assert_eq!(client.call(&Call::GetCounters, count), 2_001);
            client
        })
        .collect();
    assert_grown_by_at_most(&server, before, 30 << 20);
    drop(open);
}

#[test]
fn a_call_that_no_memory_could_ever_hold_is_refused_by_an_exception_and_not_by_try_later() {
    let server = server();
    // Requests have 64 MiB: the frame fits, its copy for the journal does not.
    let body = vec![b'x'; 40 << 20];
    let mut client = Scribe::connect(&server);
    client.send(&log_call(1, &[(b"web", &body)]));
    let reply = client.receive().unwrap();
    let reply = Reply::decode(&reply, wire::scribe::Method::Log, 1).unwrap();
    assert!(
        matches!(&reply, Reply::Exception(why) if why.message.contains("raise memory")),
        "{reply:?}"
    );
    client.log("small");
}

#[test]
fn a_flood_of_garbage_fills_no_log() {
    let server = Server::start();
    for _ in 0..500 {
        let mut client = Scribe::connect(&server);
        client.send(&framed(&[0x82, 1, 2, 3]));
        assert!(client.receive().is_none());
    }
    Scribe::connect(&server).log("honest");
    let lines = server
        .log()
        .lines()
        .filter(|line| line.contains("closed a connection"))
        .count();
    assert!((1..100).contains(&lines), "{lines} lines");
}

//! The network store against a server of few lines that answers as it is told.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use disk::{Disk, MemoryDisk};
use wire::scribe::{
    Call, Exception, ExceptionKind, HostPort, MessageReader, Reply, Request, Transport,
};

use super::*;
use crate::config::{BucketUpdater, MultiConfig, StoreConfig};
use crate::store::build;
use crate::store::tests::{at, file, read, surroundings};

/// What the server does with a call.
#[derive(Clone, Copy)]
enum Does {
    Answers(ResultCode),
    /// Answers OK, each byte by itself.
    Trickles,
    /// Announces an answer of 1 MiB and sends a byte each 10 ms, for at most 20 s.
    Drips,
    /// Answers by Thrift's own exception.
    Raises,
    /// Says that a bucket lives at a port of this machine.
    Maps(i32, u16),
    /// Says that no bucket has a server.
    MapsNothing,
    /// Answers by the exception that `getMapping` declares.
    HasNoMapping,
    /// Closes the connection without an answer.
    Closes,
    /// Answers by these bytes.
    Says(&'static [u8]),
    /// Reads nothing for as long as the client waits.
    Sleeps,
}

/// A server that does these, one after the other, and tells the messages of each call that it reads, or the category asked for.
fn server(does: &[Does]) -> ((String, u16), mpsc::Receiver<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, calls) = mpsc::channel();
    let does = does.to_vec();
    thread::spawn(move || {
        let mut does = does.into_iter().peekable();
        while does.peek().is_some() {
            let (stream, _) = listener.accept().unwrap();
            serve(stream, &mut does, &sender);
        }
    });
    (("127.0.0.1".to_owned(), port), calls)
}

/// One connection, until it ends.
fn serve(
    mut stream: TcpStream,
    does: &mut impl Iterator<Item = Does>,
    calls: &mpsc::Sender<Vec<String>>,
) {
    let mut reader = MessageReader::of(Transport::Framed, 16 << 20);
    while let Some(()) = serve_one(&mut stream, &mut reader, does, calls) {}
}

/// One call; `None`: the connection ends.
fn serve_one(
    stream: &mut TcpStream,
    reader: &mut MessageReader,
    does: &mut impl Iterator<Item = Does>,
    calls: &mpsc::Sender<Vec<String>>,
) -> Option<()> {
    while !reader.advance().unwrap() {
        match stream.read(reader.spare()) {
            Ok(count) if count > 0 => reader.filled(count),
            _ => return None,
        }
    }
    let request = Request::decode(reader.message(), Transport::Framed).unwrap();
    let lossy = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
    let texts = match &request.call {
        Call::Log(entries) => entries.iter().map(|(_, body)| lossy(body)).collect(),
        Call::GetMapping(category) => vec![lossy(category)],
        other => panic!("{other:?}"),
    };
    let _ = calls.send(texts);
    answer(stream, does.next()?, request)
}

/// Does this with a call; `None`: the connection ends.
fn answer(stream: &mut TcpStream, does: Does, request: Request<'_>) -> Option<()> {
    let mut out = Vec::new();
    let mut put = |reply: Reply<'_>| request.to.put(&reply, &mut out);
    match does {
        Does::Answers(code) => put(Reply::Log(code)),
        Does::Trickles => {
            put(Reply::Log(ResultCode::Ok));
            stream.set_nodelay(true).ok()?;
            for byte in out {
                stream.write_all(&[byte]).ok()?;
            }
            return Some(());
        }
        Does::Drips => {
            stream.write_all(&(1_u32 << 20).to_be_bytes()).ok()?;
            let pause = Duration::from_millis(10);
            stream.set_read_timeout(Some(pause)).ok()?;
            for _ in 0..2_000 {
                if stream.read(&mut [0]).is_ok() {
                    return None; // the client has gone
                }
                stream.write_all(&[0]).ok()?;
            }
            return None;
        }
        Does::Raises => put(Reply::Exception(Exception {
            kind: ExceptionKind::InternalError,
            message: "out of order".to_owned(),
        })),
        Does::Maps(bucket, port) => {
            let (host, port) = (b"127.0.0.1", port.into());
            put(Reply::Mapping(vec![(bucket, HostPort { host, port })]));
        }
        Does::MapsNothing => put(Reply::Mapping(Vec::new())),
        Does::HasNoMapping => put(Reply::NoMapping {
            message: b"unknown",
            code: 9,
        }),
        Does::Says(bytes) => out.extend_from_slice(bytes),
        Does::Sleeps => {
            let _ = stream.read(&mut [0]); // until the client gives up
            return None;
        }
        Does::Closes => return None,
    }
    stream.write_all(&out).ok()
}

/// A server that takes connections, as the kernel does for it, and never reads.
fn deaf() -> (TcpListener, (String, u16)) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, ("127.0.0.1".to_owned(), port))
}

/// The address of a server that is gone.
fn gone() -> (String, u16) {
    deaf().1
}

fn store(hosts: &[(String, u16)], change: impl Fn(&mut NetworkConfig)) -> (Network, Surroundings) {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    let surroundings = surroundings(&disk);
    let mut config = config(hosts);
    change(&mut config);
    (Network::new(&config, b"web", &surroundings), surroundings)
}

fn config(hosts: &[(String, u16)]) -> NetworkConfig {
    NetworkConfig {
        hosts: hosts.to_vec(),
        is_service: false,
        timeout_ms: 200,
        ignore_network_error: false,
        bucket_updater: None,
    }
}

/// A store that asks this server for bucket 3.
fn asking(host: &(String, u16)) -> (Network, Surroundings) {
    store(&[], |config| {
        config.bucket_updater = Some(BucketUpdater {
            bucket_id: 3,
            category: Vec::new(),
            hosts: vec![host.clone()],
            ttl_s: 60,
        });
    })
}

/// Noon, and some seconds.
fn after(seconds: u64) -> Now {
    let steady_us = at(12, 0).steady_us + seconds * 1_000_000;
    Now {
        steady_us,
        ..at(12, 0)
    }
}

fn write(store: &mut Network, bodies: &[&str]) -> Written {
    write_at(store, bodies, at(12, 0))
}

fn write_at(store: &mut Network, bodies: &[&str], now: Now) -> Written {
    let batch: Vec<Message<'_>> = bodies
        .iter()
        .map(|body| Message {
            category: b"web",
            body: body.as_bytes(),
        })
        .collect();
    store.write(&batch, now)
}

use Does::{
    Answers, Closes, Drips, HasNoMapping, Maps, MapsNothing, Raises, Says, Sleeps, Trickles,
};
const OK: Does = Answers(ResultCode::Ok);
const LATER: Does = Answers(ResultCode::TryLater);

#[test]
fn a_small_batch_is_one_call_and_a_large_one_is_announced_and_cut() {
    let (host, calls) = server(&[OK; 4]);
    let (mut store, surroundings) = store(&[host], |_| {});
    assert_eq!(
        write(&mut store, &["a", ""]),
        Written {
            taken: 2,
            failed: None
        }
    );
    assert_eq!(calls.recv().unwrap(), ["a", ""]);
    let large = "x".repeat(700 << 10);
    assert_eq!(write(&mut store, &[&large, &large, "end"]).taken, 3);
    let sizes: Vec<usize> = calls.iter().take(3).map(|call| call.len()).collect();
    assert_eq!(sizes, [0, 2, 1], "an empty call, then calls of about 1 MiB");
    assert_eq!(surroundings.counters.all()[&b"scribe_overall:sent"[..]], 5);
}

#[test]
fn try_later_keeps_the_connection_and_gives_the_rest_back() {
    let (host, calls) = server(&[OK, OK, LATER, OK, OK]);
    let (mut store, _) = store(&[host], |_| {});
    let large = "x".repeat(2 << 20);
    let written = write(&mut store, &[&large, "rest"]);
    assert_eq!(written.taken, 1);
    assert!(written.failed.unwrap().ends_with("TRY_LATER"));
    assert!(store.status().is_some());
    assert_eq!(write(&mut store, &["rest"]).taken, 1);
    assert_eq!(calls.iter().take(4).last().unwrap(), ["rest"]);
    assert_eq!(store.status(), None);
}

#[test]
fn what_is_no_answer_closes_the_connection_and_nothing_counts_as_taken() {
    let other_sequence = b"\0\0\0\x14\0\0\0\x03Log\x02\0\0\0\x63\x08\0\0\0\0\0\0\0";
    let other_method = b"\0\0\0\x17\0\0\0\x06getLog\x02\0\0\0\x01\x08\0\0\0\0\0\0\0";
    let other_code = b"\0\0\0\x14\0\0\0\x03Log\x02\0\0\0\x01\x08\0\0\0\0\0\x07\0";
    let no_result = b"\0\0\0\x0d\0\0\0\x03Log\x02\0\0\0\x01\0";
    let late = "no answer within 200 ms";
    for (wrong, why) in [
        (Closes, "closed before the answer"),
        (Says(b"\x7f\xff\xff\xff"), "the limit is 1048576 bytes"),
        (Says(b"\0\x10\0\x01"), "the limit is 1048576 bytes"),
        (Says(other_sequence), "the reply to sequence id 99"),
        (Says(other_method), "the reply to another method"),
        (Says(other_code), "has the number 7"),
        (Says(no_result), "a reply without a result"),
        (Says(b"\0\0\0\x14\0\0\0\x03Log"), late),
        (Raises, "out of order"),
        (Sleeps, late),
        (Drips, late),
    ] {
        let (host, _calls) = server(&[wrong, OK]);
        let (mut store, _) = store(&[host], |_| {});
        let start = Instant::now();
        let written = write(&mut store, &["a"]);
        assert!(start.elapsed() < Duration::from_secs(10), "{why}");
        assert_eq!(written.taken, 0);
        let failed = written.failed.unwrap();
        assert!(failed.contains(why), "{failed}");
        assert!(store.link.is_none(), "{failed}");
        assert_eq!(
            write(&mut store, &["a"]),
            Written {
                taken: 1,
                failed: None
            }
        );
    }
}

#[test]
fn an_answer_may_come_byte_by_byte() {
    let (host, _calls) = server(&[Trickles, OK]);
    let (mut store, _) = store(&[host], |_| {});
    assert_eq!(write(&mut store, &["a"]).taken, 1);
    assert_eq!(write(&mut store, &["b"]).taken, 1);
}

#[test]
fn a_server_that_takes_no_bytes_fails_the_batch_after_the_timeout() {
    let (listener, host) = deaf();
    let (mut store, _) = store(&[host], |_| {});
    let (stop, stopped) = mpsc::channel::<()>();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = MessageReader::of(Transport::Framed, 1 << 20);
        let (calls, _calls) = mpsc::channel();
        // The call without messages that announces the batch.
        serve_one(&mut stream, &mut reader, &mut [OK].into_iter(), &calls).unwrap();
        let _ = stopped.recv();
    });
    let large = "x".repeat(64 << 20);
    let start = Instant::now();
    let written = write(&mut store, &[&large]);
    let took = start.elapsed();
    assert_eq!(written.taken, 0);
    assert!(written.failed.is_some() && store.link.is_none());
    assert!((200..10_000).contains(&took.as_millis()), "{took:?}");
    drop(stop);
    server.join().unwrap();
}

#[test]
fn a_slow_link_takes_a_large_call_for_as_long_as_it_goes_on() {
    let (listener, host) = deaf();
    let (mut store, _) = store(&[host], |_| {});
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = MessageReader::of(Transport::Framed, 64 << 20);
        let (calls, _calls) = mpsc::channel();
        serve_one(&mut stream, &mut reader, &mut [OK].into_iter(), &calls).unwrap();
        while !reader.advance().unwrap() {
            // The speed of the link is the test's input.
            thread::park_timeout(Duration::from_millis(1));
            let spare = reader.spare();
            let most = spare.len().min(64 << 10);
            let count = stream.read(&mut spare[..most]).unwrap();
            reader.filled(count);
        }
        let request = Request::decode(reader.message(), Transport::Framed).unwrap();
        answer(&mut stream, OK, request);
    });
    let large = "x".repeat(32 << 20);
    let start = Instant::now();
    assert_eq!(write(&mut store, &[&large]).taken, 1);
    assert!(
        start.elapsed() > Duration::from_millis(200),
        "longer than the timeout"
    );
    server.join().unwrap();
}

#[test]
fn a_server_that_never_answers_holds_no_other_store_of_a_multi() {
    let (_listener, host) = deaf();
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    let config = StoreConfig::Multi(MultiConfig {
        any_succeeds: false,
        stores: vec![StoreConfig::Network(config(&[host])), file(|_| ())],
    });
    let mut store = build(&config, b"web", 0, &surroundings(&disk)).unwrap();
    let batch = [Message {
        category: b"web",
        body: b"a",
    }];
    for _ in 0..2 {
        let start = Instant::now();
        let written = store.write(&batch, at(12, 0));
        assert!(start.elapsed() < Duration::from_secs(10));
        assert_eq!(written.taken, 0);
        assert!(written.failed.unwrap().contains("no answer within 200 ms"));
        assert_eq!(read(&*disk, "log/web_00000"), b"a");
    }
}

#[test]
fn a_server_that_is_away_is_passed_over_for_another_of_the_list() {
    let gone = gone();
    let (host, _calls) = server(&[OK; 8]);
    for _ in 0..4 {
        let (mut store, _) = store(&[gone.clone(), host.clone()], |_| {});
        assert_eq!(write(&mut store, &["a"]).taken, 1);
    }
    let (mut alone, _) = store(&[gone], |_| {});
    assert!(alone.open(at(12, 0)).is_err());
    let (mut none, _) = store(&[], |_| {});
    assert_eq!(
        none.open(at(12, 0)),
        Err("no remote_host is given".to_owned())
    );
}

#[test]
fn a_server_that_started_anew_while_the_connection_rested_gets_the_batch() {
    let (host, calls) = server(&[OK, Closes, OK, OK]);
    let (mut store, _) = store(&[host], |_| {});
    assert_eq!(write(&mut store, &["a"]).taken, 1);
    assert_eq!(
        write_at(&mut store, &["b"], after(2)),
        Written {
            taken: 1,
            failed: None
        }
    );
    let sent: Vec<Vec<String>> = calls.iter().take(3).collect();
    assert_eq!(sent[0], ["a"]);
    assert!(
        sent[1].is_empty(),
        "the probe, which the old server did not answer"
    );
    assert_eq!(sent[2], ["b"]);
}

#[test]
fn ignored_errors_count_the_messages_as_lost() {
    let (host, _calls) = server(&[Closes]);
    let (mut store, surroundings) = store(&[host], |config| config.ignore_network_error = true);
    assert_eq!(
        write(&mut store, &["a", "b"]),
        Written {
            taken: 2,
            failed: None
        }
    );
    assert_eq!(surroundings.counters.all()[&b"web:lost"[..]], 2);
}

/// What is counted of questions for buckets: asked, buckets, not reached, failed, empty, without the bucket.
fn asked(surroundings: &Surroundings) -> [u64; 6] {
    let all = surroundings.counters.all();
    let names = [
        "remove_updater",
        "bucket_updated",
        "err.update_connect",
        "err.thrift_call",
        "err.empty_result",
        "err.nobidmapping",
    ];
    names.map(|name| {
        let name = format!("bucketupdater.{name}").into_bytes();
        all.get(&name).copied().unwrap_or(0)
    })
}

#[test]
fn the_server_of_a_bucket_is_asked_for_with_the_category_of_the_store() {
    let (first, _calls) = server(&[OK]);
    let (updater, questions) = server(&[Maps(3, first.1)]);
    let (mut store, surroundings) = asking(&updater);
    assert_eq!(store.open(at(12, 0)), Ok(()));
    assert_eq!(questions.recv().unwrap(), ["web"]);
    assert_eq!(write(&mut store, &["a"]).taken, 1);
    assert_eq!(asked(&surroundings), [1, 1, 0, 0, 0, 0]);
    let (updater, questions) = server(&[MapsNothing]);
    let (store, surroundings) = asking(&updater);
    let mut shared = Network::new(&store.config, b"", &surroundings);
    assert!(shared.open(at(12, 0)).is_err());
    assert_eq!(questions.recv().unwrap(), ["default"]);
}

#[test]
fn a_look_asks_again_once_the_answer_is_too_old_and_the_new_server_gets_what_follows() {
    let (first, first_calls) = server(&[OK; 2]);
    let (second, second_calls) = server(&[OK]);
    let (updater, _questions) = server(&[Maps(3, first.1), Maps(3, first.1), Maps(3, second.1)]);
    let (mut store, surroundings) = asking(&updater);
    assert_eq!(write(&mut store, &["a"]).taken, 1);
    store.look(after(59));
    assert_eq!(asked(&surroundings)[0], 1);
    store.look(after(60));
    assert_eq!(asked(&surroundings)[0], 2);
    assert!(store.link.is_some(), "the same server keeps its connection");
    store.look(after(120));
    assert_eq!(write_at(&mut store, &["b"], after(120)).taken, 1);
    assert_eq!(asked(&surroundings), [3, 3, 0, 0, 0, 0]);
    assert_eq!(first_calls.recv().unwrap(), ["a"]);
    assert_eq!(second_calls.recv().unwrap(), ["b"]);
}

#[test]
fn what_is_no_server_is_counted_and_the_last_one_stays() {
    let (first, calls) = server(&[OK; 3]);
    let answers = [
        Maps(3, first.1),
        HasNoMapping,
        MapsNothing,
        Maps(4, 7),
        Maps(3, 0),
        Closes,
    ];
    let (updater, _questions) = server(&answers);
    let (mut store, surroundings) = asking(&updater);
    assert_eq!(write(&mut store, &["a"]).taken, 1);
    for (seconds, want) in [
        (60, [2, 1, 0, 1, 0, 0]),
        (64, [2, 1, 0, 1, 0, 0]),
        (65, [3, 1, 0, 1, 1, 0]),
        (70, [4, 2, 0, 1, 1, 1]),
        (75, [5, 3, 0, 1, 1, 2]),
        (80, [6, 3, 0, 2, 1, 2]),
    ] {
        store.look(after(seconds));
        assert_eq!(asked(&surroundings), want, "{seconds} s");
    }
    assert_eq!(write_at(&mut store, &["b"], after(81)).taken, 1);
    let sent: Vec<Vec<String>> = calls.iter().take(3).collect();
    assert_eq!(sent, [vec!["a".to_owned()], vec![], vec!["b".to_owned()]]);
}

#[test]
fn without_any_answer_the_store_does_not_open_and_says_why() {
    let gone = gone();
    let (mut store, surroundings) = asking(&gone);
    let failed = store.open(at(12, 0)).unwrap_err();
    assert!(
        failed.starts_with(&format!("127.0.0.1:{}: ", gone.1)),
        "{failed}"
    );
    assert_eq!(asked(&surroundings), [1, 0, 1, 0, 0, 0]);
    let (updater, _questions) = server(&[Maps(4, 7)]);
    let (mut store, _) = asking(&updater);
    let failed = store.open(at(12, 0)).unwrap_err();
    assert!(failed.ends_with("bucket 3 has no server"), "{failed}");
}

#[test]
fn a_server_that_fails_is_asked_about_again_before_the_answer_is_too_old() {
    let (first, _calls) = server(&[OK, Closes]);
    let (second, calls) = server(&[OK]);
    let (updater, _questions) = server(&[Maps(3, first.1), Maps(3, second.1)]);
    let (mut store, surroundings) = asking(&updater);
    assert_eq!(write(&mut store, &["a"]).taken, 1);
    assert_eq!(write(&mut store, &["b"]).taken, 0);
    assert_eq!(asked(&surroundings)[0], 1);
    assert_eq!(write_at(&mut store, &["b"], after(5)).taken, 1);
    assert_eq!(calls.recv().unwrap(), ["b"]);
}

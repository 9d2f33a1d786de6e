//! The network store against a server of few lines that answers as it is told.

use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;

use disk::{Disk, MemoryDisk};
use wire::scribe::{HostPort, Request};

use super::*;
use crate::store::tests::{at, surroundings};

/// What the server does with a call.
#[derive(Clone, Copy)]
enum Does {
    Answers(ResultCode),
    /// Closes the connection without an answer.
    Closes,
    /// Answers by these bytes.
    Says(&'static [u8]),
    /// Reads nothing for as long as the client waits.
    Sleeps,
}

/// A server that does these, one after the other, and tells the messages of each call that it reads.
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
    loop {
        while !reader.advance().unwrap() {
            match stream.read(reader.spare()) {
                Ok(count) if count > 0 => reader.filled(count),
                _ => return,
            }
        }
        let request = Request::decode(reader.message(), Transport::Framed).unwrap();
        if let Call::Log(entries) = request.call {
            let texts = entries
                .iter()
                .map(|(_, body)| String::from_utf8_lossy(body).into_owned());
            let _ = calls.send(texts.collect());
        }
        let mut out = Vec::new();
        match (does.next(), request.call) {
            (Some(Does::Answers(_)), Call::GetMapping(_)) => {
                let host = HostPort {
                    host: b"127.0.0.1",
                    port: 7,
                };
                request.to.put(&Reply::Mapping(vec![(3, host)]), &mut out);
            }
            (Some(Does::Answers(code)), _) => request.to.put(&Reply::Log(code), &mut out),
            (Some(Does::Says(bytes)), _) => out.extend_from_slice(bytes),
            (Some(Does::Sleeps), _) => {
                let _ = stream.read(&mut [0]); // until the client gives up
                return;
            }
            (Some(Does::Closes) | None, _) => return,
        }
        if stream.write_all(&out).is_err() {
            return;
        }
    }
}

fn store(hosts: &[(String, u16)], change: impl Fn(&mut NetworkConfig)) -> (Network, Surroundings) {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    let surroundings = surroundings(&disk);
    let mut config = NetworkConfig {
        hosts: hosts.to_vec(),
        is_service: false,
        timeout_ms: 200,
        use_conn_pool: false,
        ignore_network_error: false,
        bucket_updater: None,
    };
    change(&mut config);
    (Network::new(&config, &surroundings), surroundings)
}

fn write(store: &mut Network, bodies: &[&str]) -> Written {
    let batch: Vec<Message<'_>> = bodies
        .iter()
        .map(|body| Message {
            category: b"web",
            body: body.as_bytes(),
        })
        .collect();
    store.write(&batch, at(12, 0))
}

use Does::{Answers, Closes, Says, Sleeps};
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
    let too_long = b"\x7f\xff\xff\xff";
    let other_sequence = b"\0\0\0\x14\0\0\0\x03Log\x02\0\0\0\x63\x08\0\0\0\0\0\0\0";
    let other_method = b"\0\0\0\x17\0\0\0\x06getLog\x02\0\0\0\x01\x08\0\0\0\0\0\0\0";
    for wrong in [
        Closes,
        Says(too_long),
        Says(other_sequence),
        Says(other_method),
        Sleeps,
    ] {
        let (host, _calls) = server(&[wrong, OK]);
        let (mut store, _) = store(&[host], |_| {});
        let written = write(&mut store, &["a"]);
        assert!(
            written.taken == 0 && written.failed.is_some(),
            "{written:?}"
        );
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
fn a_server_that_is_away_is_passed_over_for_another_of_the_list() {
    let gone = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let (host, _calls) = server(&[OK; 8]);
    for _ in 0..4 {
        let (mut store, _) = store(&[("127.0.0.1".to_owned(), gone), host.clone()], |_| {});
        assert_eq!(write(&mut store, &["a"]).taken, 1);
    }
    let (mut alone, _) = store(&[("127.0.0.1".to_owned(), gone)], |_| {});
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
    let batch = [Message {
        category: b"web",
        body: b"b",
    }];
    let later = Now {
        steady_us: at(12, 0).steady_us + 2 * RESTS_US,
        ..at(12, 0)
    };
    assert_eq!(
        store.write(&batch, later),
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

#[test]
fn the_server_of_a_bucket_is_asked_for_and_a_bucket_without_one_is_named() {
    let updater = |bucket_id, host: &(String, u16)| BucketUpdater {
        bucket_id,
        category: Vec::new(),
        hosts: vec![host.clone()],
        ttl_s: 60,
    };
    let (asked, _calls) = server(&[OK, OK]);
    let (mut known, _) = store(&[], |config| {
        config.bucket_updater = Some(updater(3, &asked))
    });
    let failed = known.open(at(12, 0)).unwrap_err();
    assert!(
        failed.starts_with("127.0.0.1:7: "),
        "it connects to the server of the answer: {failed}"
    );
    let (mut unknown, _) = store(&[], |config| {
        config.bucket_updater = Some(updater(4, &asked))
    });
    assert!(
        unknown
            .open(at(12, 0))
            .unwrap_err()
            .ends_with("bucket 4 has no server")
    );
}

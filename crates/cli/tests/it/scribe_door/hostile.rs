//! Frames that no client sends.

use wire::scribe::{Call, ExceptionKind, Method, Reply, ResultCode, Status};

use super::{Scribe, framed, is_closed, lines_of, log_call, message, text_of};
use crate::collect::wait_for;
use crate::server::{Server, number};

const CALL: u8 = 1;
const REPLY: u8 = 2;
const ONEWAY: u8 = 4;

/// The head of the field `messages`: a list of structs.
const MESSAGES: [u8; 4] = [15, 0, 1, 12];

/// What the server does with the bytes.
#[derive(Debug)]
enum Outcome {
    /// It answers with this exception, and the connection goes on.
    Refused(ExceptionKind),
    /// It closes the connection without a word.
    Closed,
    /// It answers OK.
    Taken,
}
use Outcome::{Closed, Refused, Taken};

/// `Log` with these bytes as its arguments, in a frame.
fn log_of(arguments: &[u8]) -> Vec<u8> {
    framed(&message("Log", CALL, arguments))
}

/// A field 9, which no method declares, of this type and with these bytes.
fn undeclared(kind: u8, value: &[u8]) -> Vec<u8> {
    log_of(&[&[kind, 0, 9][..], value].concat())
}

fn hostile_frames() -> Vec<(&'static str, Vec<u8>, Outcome)> {
    let most = i32::MAX.to_be_bytes();
    let billions = |types: &[u8]| [types, &most].concat();
    let versioned = |word: u32| [&word.to_be_bytes()[..], &[0, 0, 0, 3], b"Log"].concat();
    let entry = |fields: &[u8]| log_of(&[&MESSAGES[..], &[0, 0, 0, 1], fields, &[0]].concat());
    vec![
        ("a frame of 0 bytes", vec![0, 0, 0, 0, 0], Closed),
        ("a frame of -1 bytes", vec![0xff; 5], Closed),
        (
            "a frame of 2^31-1 bytes",
            [&most[..], &[0]].concat(),
            Closed,
        ),
        ("the compact protocol", framed(&[0x82, 0x21, 1, 3]), Closed),
        (
            "HTTP",
            b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec(),
            Closed,
        ),
        ("version 2", framed(&versioned(0x8002_0001)), Closed),
        (
            "a kind of message that is none",
            framed(&versioned(0x8001_0009)),
            Closed,
        ),
        ("a header that is cut", framed(&[0, 0, 0, 3, b'L']), Closed),
        (
            "a name of 129 bytes",
            framed(&message(&"x".repeat(129), CALL, &[])),
            Closed,
        ),
        (
            "a method that is none",
            framed(&message("Drop", CALL, &[])),
            Refused(ExceptionKind::UnknownMethod),
        ),
        (
            "a reply",
            framed(&message("Log", REPLY, &[])),
            Refused(ExceptionKind::InvalidMessageType),
        ),
        (
            "2^31-1 messages",
            log_of(&billions(&MESSAGES)),
            Refused(ExceptionKind::ProtocolError),
        ),
        (
            "-1 messages",
            log_of(&[&MESSAGES[..], &[0xff; 4]].concat()),
            Refused(ExceptionKind::ProtocolError),
        ),
        (
            "messages that are numbers",
            log_of(&[15, 0, 1, 8, 0, 0, 0, 1, 0, 0, 0, 5]),
            Refused(ExceptionKind::ProtocolError),
        ),
        (
            "messages that are no list",
            log_of(&[8, 0, 1, 0, 0, 0, 5]),
            Refused(ExceptionKind::ProtocolError),
        ),
        (
            "a category that is a number",
            entry(&[8, 0, 1, 0, 0, 0, 5]),
            Refused(ExceptionKind::ProtocolError),
        ),
        (
            "a message of -1 bytes",
            entry(&[11, 0, 2, 0xff, 0xff, 0xff, 0xff]),
            Refused(ExceptionKind::ProtocolError),
        ),
        (
            "a message of 2^31-1 bytes",
            entry(&[&[11, 0, 2][..], &most].concat()),
            Refused(ExceptionKind::ProtocolError),
        ),
        (
            "messages twice",
            log_of(&[MESSAGES, [0; 4], MESSAGES, [0; 4]].concat()),
            Refused(ExceptionKind::ProtocolError),
        ),
        (
            "a list of 2^31-1 lists",
            undeclared(15, &billions(&[15])),
            Refused(ExceptionKind::ProtocolError),
        ),
        (
            "a map of 2^31-1 maps",
            undeclared(13, &billions(&[13, 13])),
            Refused(ExceptionKind::ProtocolError),
        ),
        (
            "a set of 2^31-1 structs",
            undeclared(14, &billions(&[12])),
            Refused(ExceptionKind::ProtocolError),
        ),
        (
            "lists in lists of 2^31-1",
            undeclared(15, &billions(&[15]).repeat(60)),
            Refused(ExceptionKind::ProtocolError),
        ),
        (
            "a million lists in lists",
            undeclared(15, &[15, 0, 0, 0, 1].repeat(1 << 20)),
            Refused(ExceptionKind::ProtocolError),
        ),
        (
            "a million structs in structs",
            undeclared(12, &[12, 0, 1].repeat(1 << 20)),
            Refused(ExceptionKind::ProtocolError),
        ),
        (
            "a type that is none",
            undeclared(99, &[]),
            Refused(ExceptionKind::ProtocolError),
        ),
        (
            "bytes behind the end",
            log_of(&[0, 0, 0]),
            Refused(ExceptionKind::ProtocolError),
        ),
        (
            "a million structs of no field",
            undeclared(
                15,
                &[&[12][..], &[0, 0x10, 0, 0], &vec![0; 1 << 20]].concat(),
            ),
            Taken,
        ),
        (
            "an undeclared field",
            undeclared(11, &[0, 0, 0, 1, b'x']),
            Taken,
        ),
        ("no argument", log_of(&[]), Taken),
    ]
}

#[track_caller]
fn check(name: &str, client: &mut Scribe, outcome: &Outcome) {
    let reply = match outcome {
        Closed => return assert!(is_closed(client), "{name}"),
        Refused(_) | Taken => client.receive().unwrap_or_else(|| panic!("{name}: closed")),
    };
    let method = if name == "a method that is none" {
        b"Drop"
    } else {
        &b"Log"[..]
    };
    assert_eq!(reply[4..4 + method.len()], *method, "{name}");
    let (kind, result) = (reply[4 + method.len()], &reply[9 + method.len()..]);
    match outcome {
        // Field 2 of the exception, before its end, is the number of its kind.
        Refused(wanted) => {
            assert_eq!(kind, 3, "{name}: an exception");
            assert_eq!(result[result.len() - 2], *wanted as u8, "{name}");
        }
        Taken | Closed => assert_eq!(
            (kind, result),
            (REPLY, &[8, 0, 0, 0, 0, 0, 0, 0][..]),
            "{name}"
        ),
    }
}

#[test]
fn a_hostile_frame_ends_in_an_exception_or_a_closed_connection_and_costs_no_other_client_a_message()
{
    let server = Server::start();
    let mut honest = Scribe::connect(&server);
    let mut wanted = Vec::new();
    for (name, bytes, outcome) in hostile_frames() {
        let mut client = Scribe::connect(&server);
        client.send(&bytes);
        check(name, &mut client, &outcome);
        if !matches!(outcome, Closed) {
            client.log(&format!("after {name}"));
            wanted.push(format!("after {name}"));
        }
        honest.log(name);
        wanted.push(name.to_owned());
        // The same behind an honest call on one connection.
        let mut client = Scribe::connect(&server);
        client.log(&format!("before {name}"));
        wanted.push(format!("before {name}"));
        if !matches!(name, "the compact protocol" | "HTTP" | "a frame of 0 bytes") {
            client.send(&bytes);
            check(name, &mut client, &outcome);
        }
    }
    wait_for("all that was acknowledged is in the file", || {
        lines_of(&server, "web") == wanted
    });
}

#[test]
fn random_bytes_are_answered_or_end_the_connection() {
    let server = Server::start();
    let mut honest = Scribe::connect(&server);
    let log = log_call(1, &[(b"noise", b"x")]);
    let mut random = 7_u64;
    let mut draw = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random as usize
    };
    for round in 0..300 {
        let mut bytes = log.clone();
        match round % 3 {
            0 => bytes = (0..draw() % 200).map(|_| draw() as u8).collect(),
            1 => {
                let at = draw() % bytes.len();
                bytes[at] = draw() as u8;
            }
            _ => bytes.truncate(draw() % bytes.len()),
        }
        let mut client = Scribe::connect(&server);
        client.send(&bytes);
        let _ = client.stream.shutdown(std::net::Shutdown::Write);
        // At most one answer, then the end.
        let _ = client.receive().is_some() && client.receive().is_some();
        if round % 50 == 0 {
            honest.log("well");
        }
    }
    honest.log("well");
    wait_for("the honest messages are in the file", || {
        lines_of(&server, "web").len() == 7
    });
}

#[test]
fn a_call_may_come_byte_by_byte_and_framed_and_unframed_calls_do_not_mix() {
    let server = Server::start();
    let mut slow = Scribe::connect(&server);
    slow.stream.set_nodelay(true).unwrap();
    for byte in log_call(1, &[(b"web", b"slow\n")]) {
        slow.send(&[byte]);
    }
    let reply = slow.receive().unwrap();
    assert_eq!(
        Reply::decode(&reply, Method::Log, 1),
        Ok(Reply::Log(ResultCode::Ok))
    );
    let call = log_call(1, &[(b"web", b"unframed\n")]);
    let (frame, unframed) = (&call[..], &call[4..]);
    for (first, second) in [(frame, unframed), (unframed, frame)] {
        let mut client = Scribe::connect(&server);
        client.send(first);
        client.send(second);
        let _ = client.stream.shutdown(std::net::Shutdown::Write);
        let mut replies = Vec::new();
        // A closed connection with unread bytes ends in a reset.
        let _ = std::io::Read::read_to_end(&mut client.stream, &mut replies);
        let one = if first.len() == frame.len() { 24 } else { 20 };
        assert!(replies.len() <= one, "no second answer: {replies:?}");
    }
    slow.log("last");
    wait_for("the slow call is in the file", || {
        let lines = lines_of(&server, "web");
        lines.first().is_some_and(|line| line == "slow")
            && lines.last().is_some_and(|line| line == "last")
    });
}

#[test]
fn calls_of_one_segment_are_answered_in_order_and_oneway_calls_not_at_all() {
    let server = Server::start();
    let mut client = Scribe::connect(&server);
    let mut segment = Vec::new();
    let mut wanted = Vec::new();
    for number in 0..300 {
        let body = format!("{number}\n");
        segment.extend(log_call(number, &[(b"web", body.as_bytes())]));
        segment.extend(framed(&message(
            "reinitialize",
            [CALL, ONEWAY][number as usize % 2],
            &[],
        )));
        segment.extend(framed(&message("getName", ONEWAY, &[])));
        segment.extend(framed(&message("no such method", ONEWAY, &[])));
        wanted.push(number.to_string());
    }
    client.send(&segment);
    for number in 0..300 {
        let reply = client.receive().unwrap();
        let wanted = Ok(Reply::Log(ResultCode::Ok));
        assert_eq!(
            Reply::decode(&reply, Method::Log, number),
            wanted,
            "{number}"
        );
    }
    wait_for("the messages are in order", || {
        lines_of(&server, "web") == wanted
    });
}

/// Names of categories and the counter that each message adds to.
fn odd_categories() -> Vec<(Vec<u8>, &'static str)> {
    let bad = "scribe_overall:received bad";
    vec![
        (b"..".to_vec(), bad),
        (b"../x".to_vec(), bad),
        (b"a/../../x".to_vec(), bad),
        (b"/etc/x".to_vec(), bad),
        (b"a//b".to_vec(), bad),
        (b"a\0b".to_vec(), bad),
        (vec![b'x'; 64 << 10], bad),
        (vec![b'x'; 221], bad),
        // In hexadecimal, such a name is twice as long.
        (vec![0xff; 109], bad),
        (Vec::new(), "scribe_overall:received blank category"),
        (vec![b'x'; 220], "scribe_overall:received good"),
        (vec![0xff; 108], "scribe_overall:received good"),
        (b"a/b".to_vec(), "scribe_overall:received good"),
        ("straße\n\u{1b}[2J".into(), "scribe_overall:received good"),
    ]
}

#[test]
fn a_category_that_is_no_clean_path_is_dropped_and_counted_and_no_file_lies_elsewhere() {
    let mut server = Server::start();
    let mut client = Scribe::connect(&server);
    for (category, counter) in odd_categories() {
        let shown = String::from_utf8_lossy(&category[..category.len().min(30)]).into_owned();
        let before = client.counter(counter);
        assert_eq!(
            client.try_log(&[(&category, b"x")]),
            Some(ResultCode::Ok),
            "{shown}"
        );
        assert_eq!(client.counter(counter), before + 1, "{shown}");
    }
    client.log("");
    client.log("last");
    let status = client.call(&Call::GetStatus, |reply| match reply {
        Reply::Status(status) => status,
        other => panic!("{other:?}"),
    });
    assert_eq!(status, Status::Alive);
    wait_for("an empty message is an empty line", || {
        text_of(&server, "web") == b"\nlast\n"
    });
    server.stop_and_restart();
    assert_eq!(text_of(&server, "web"), b"\nlast\n");
    let mut found: Vec<String> = std::fs::read_dir(server.folder().0.join("data/collected"))
        .unwrap()
        .map(|entry| {
            entry
                .unwrap()
                .file_name()
                .to_string_lossy()
                .chars()
                .take(4)
                .collect()
        })
        .collect();
    found.sort();
    assert_eq!(found, ["a", "hex-", "stra", "web", "xxxx"]);
    let spools = std::fs::read_dir(server.folder().0.join("data/spools")).unwrap();
    assert_eq!(spools.count(), 0, "nothing was spooled");
    assert!(
        !server.log().contains('\u{1b}'),
        "no control byte gets to the log"
    );
}

#[test]
fn a_message_of_64_mib_is_whole_in_its_file_and_a_frame_above_128_mib_is_refused_at_its_header() {
    let server = crate::server::Setup::default()
        .flag("--memory", "1GiB")
        .start();
    let mut client = Scribe::connect(&server);
    let body: Vec<u8> = (0..64_u32 << 20).map(|at| (at % 251) as u8).collect();
    assert_eq!(client.try_log(&[(b"large", &body)]), Some(ResultCode::Ok));
    let mut above = Scribe::connect(&server);
    above.send(&((128_u32 << 20) + 1).to_be_bytes());
    above.send(&[0, 0, 0, 3]);
    assert!(above.receive().is_none(), "closed at the header");
    client.log("after it");
    wait_for("the large message is whole", || {
        let text = text_of(&server, "large");
        text == body
    });
}

#[test]
fn connections_that_vanish_in_the_middle_of_a_call_give_their_places_back() {
    let server = Server::start();
    let call = log_call(1, &[(b"web", b"half\n")]);
    for length in 0..call.len() {
        let mut client = Scribe::connect(&server);
        client.send(&call[..length]);
    }
    for _ in 0..50 {
        let mut client = Scribe::connect(&server);
        // Whole, and gone before the answer.
        client.send(&call);
    }
    Scribe::connect(&server).log("honest");
    let mut client = server.client();
    wait_for("one connection is left", || {
        number(&mut client, "SHOW STATUS LIKE 'threads_connected'") == 1
    });
    wait_for("the honest message is in the file", || {
        let lines = lines_of(&server, "web");
        lines.iter().any(|line| line == "honest")
    });
}

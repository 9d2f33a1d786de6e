//! Headers and frames by example, then by random bytes.

use proptest::prelude::*;

use super::time::{read_long, read_short};
use super::*;
use crate::limits::{SYSLOG_BUFFER_BYTES_MAX, SYSLOG_PIECE_BYTES_MAX};

/// 2026-11-23 23:00:00 UTC.
const NOW: Arrival = Arrival {
    unix_s: 1_795_474_800,
    utc_offset_s: 0,
};

/// Facility, program, host, time and body of a message.
type Said<'a> = (&'a str, &'a str, &'a str, Option<i64>, &'a str);

fn said(message: &str) -> Said<'_> {
    let header = Header::read(message.as_bytes(), NOW);
    let text = |bytes| std::str::from_utf8(bytes).unwrap();
    (
        header.facility.name(),
        header.program.map_or("", text),
        header.host.unwrap_or(""),
        header.unix_s,
        text(header.body),
    )
}

/// Checks a message whose body is what follows `mark`.
#[track_caller]
fn check(mark: &str, body: &str, facility: &str, program: &str, host: &str, unix_s: Option<i64>) {
    let message = format!("{mark}{body}");
    assert_eq!(said(&message), (facility, program, host, unix_s, body));
}

#[test]
fn headers_of_rfc_5424_are_read() {
    let at = Some(1_065_910_455);
    let body =
        "2003-10-11T22:14:15.003Z mymachine.example.com su - ID47 - \u{feff}'su root' failed";
    check("<34>1 ", body, "auth", "su", "mymachine.example.com", at);
    let body = "2003-10-11T15:14:15.000003-07:00 192.0.2.1 myproc 8710 - - %% It's time.";
    check("<165>1 ", body, "local4", "myproc", "192.0.2.1", at);
    let body = "2003-10-11T22:14:15Z web postfix/smtpd 7 - [a@1 b=\"]\\\"\"] x";
    check("<22>1 ", body, "mail", "postfix/smtpd", "web", at);
    check("<0>1 ", "- - - - - -", "kern", "", "", None);
    check("<191>1 ", "- web cron", "local7", "cron", "web", None);
    // No header of this RFC: no time, or another version.
    check("<13>", "1 yesterday web cron - - - x", "user", "", "", None);
    check(
        "<13>",
        "2 2003-10-11T22:14:15Z web cron - - - x",
        "user",
        "",
        "",
        None,
    );
}

#[test]
fn headers_of_rfc_3164_are_read_without_host_or_time_too() {
    let at = Some(1_791_756_855); // 2026-10-11 22:14:15 UTC
    check(
        "<34>",
        "Oct 11 22:14:15 db su: failed",
        "auth",
        "su",
        "db",
        at,
    );
    check(
        "<34>",
        "Oct 11 22:14:15 db su[70]: failed",
        "auth",
        "su",
        "db",
        at,
    );
    check(
        "<34>",
        "Oct 11 22:14:15 db su[70] failed",
        "auth",
        "su",
        "db",
        at,
    );
    check(
        "<13>",
        "Oct 11 22:14:15 su[70]: failed",
        "user",
        "su",
        "",
        at,
    );
    check(
        "<13>",
        "Oct 11 22:14:15 fe80::1 kernel: up",
        "user",
        "kernel",
        "fe80::1",
        at,
    );
    check(
        "<13>",
        "Oct 11 22:14:15 db last message repeated",
        "user",
        "",
        "db",
        at,
    );
    check("<13>", "Oct 11 22:14:15", "user", "", "", at);
    check("", "Oct 11 22:14:15 db su: failed", "user", "su", "db", at);
    check("<13>", "su: failed", "user", "su", "", None);
    check("<13>", "su[70]: failed", "user", "su", "", None);
    check("<78>", "CRON[9]: (root) CMD", "cron", "CRON", "", None);
    check("<13>", "(systemd): x", "user", "(systemd)", "", None);
    let at = Some(1_065_910_455);
    check(
        "<13>",
        "2003-10-11T22:14:15.25+00:00 db su[70]: x",
        "user",
        "su",
        "db",
        at,
    );
}

#[test]
fn what_is_no_header_is_a_body() {
    for body in [
        "",
        " ",
        "no idea",
        "<",
        "<>x: y",
        "<192>su: x",
        "<1234>su: x",
        "<-1>su: x",
        "<1",
        "<a>su: x",
    ] {
        assert_eq!(said(body), ("user", "", "", None, body), "{body:?}");
    }
    for body in [
        "123: *Mar  1 18:46:11: %SYS-5",
        "a b: c",
        "C:\\x: y",
        ": x",
        "[1]: x",
        "Oct 32 22:14:15 a",
    ] {
        check("<189>", body, "local7", "", "", None);
    }
    let long = format!("{}: x", "p".repeat(256));
    assert_eq!(said(&long).1, "");
    assert_eq!(said(&long[1..]).1, "p".repeat(255));
    assert_eq!(Header::read(b"<13>s\xfcd: x", NOW).program, None);
    assert_eq!(Header::read(b"<13>s\0: x", NOW).program, None);
}

#[test]
fn a_time_without_a_year_lies_at_most_a_day_after_the_arrival_and_in_its_zone() {
    #[track_caller]
    fn lies(text: &str, arrival_s: i64, utc_offset_s: i32, wanted: Option<i64>) {
        let arrival = Arrival {
            unix_s: arrival_s,
            utc_offset_s,
        };
        assert_eq!(
            read_short(text.as_bytes(), arrival).map(|(at, _)| at),
            wanted
        );
    }
    let new_year = 1_767_225_600; // 2026-01-01 00:00:00 UTC
    let day = 86_400;
    lies("Dec 31 23:59:59", new_year + 5, 0, Some(new_year - 1));
    lies("Jan  1 00:00:00", new_year - 5, 0, Some(new_year));
    lies("Jan 01 00:00:00", new_year - day, 0, Some(new_year));
    lies(
        "Jan  1 00:00:01",
        new_year - day,
        0,
        Some(new_year - 365 * day + 1),
    );
    lies("Jan  1 02:00:00", new_year, 7_200, Some(new_year));
    lies("Dec 31 19:00:00", new_year, -18_000, Some(new_year));
    // The last leap day before 2026 is that of 2024.
    lies("Feb 29 00:00:00", new_year, 0, Some(1_709_164_800));
    for bad in [
        "Feb 30 00:00:00",
        "Oct 11 24:00:00",
        "Oct 11 22:60:00",
        "oct 11 22:14:15",
        "Oct 00 22:14:15",
    ] {
        lies(bad, new_year, 0, None);
    }
    for arrival_s in [i64::MIN, i64::MAX] {
        let arrival = Arrival {
            unix_s: arrival_s,
            utc_offset_s: i32::MAX,
        };
        let _ = read_short(b"Oct 11 22:14:15", arrival);
    }
}

#[test]
fn a_whole_time_needs_a_zone_and_a_day_that_is() {
    let read = |text: &'static str| read_long(text.as_bytes());
    assert_eq!(read("1970-01-01T00:00:00Z"), Some((0, &b""[..])));
    assert_eq!(
        read("2000-02-29T23:59:60+00:00 x"),
        Some((951_868_800, &b" x"[..]))
    );
    assert_eq!(read("1969-12-31T23:00:00.5-01:00"), Some((0, &b""[..])));
    for bad in [
        "2003-10-11T22:14:15",
        "2003-10-11T22:14:15.Z",
        "2003-10-11 22:14:15Z",
        "2003-10-11T22:14:15Zx",
        "1900-02-29T00:00:00Z",
        "2003-00-11T22:14:15Z",
        "2003-13-11T22:14:15Z",
        "2003-10-00T22:14:15Z",
        "2003-10-11T22:14:15+0200",
        "",
    ] {
        assert_eq!(read(bad), None, "{bad}");
    }
}

/// The bytes of a frame, and whether it begins and ends its message.
type Given = (Vec<u8>, bool, bool);

/// Frames of a stream that arrives in steps of this size; then what the reader says.
fn frames(stream: &[u8], step: usize) -> (Vec<Given>, Result<(), BadLength>) {
    let mut reader = FrameReader::default();
    let mut found = Vec::new();
    let mut put =
        |frame: Frame<'_>| found.push((frame.bytes.to_vec(), frame.is_begin, frame.is_end));
    let mut rest = stream;
    while !rest.is_empty() {
        let spare = reader.spare();
        assert!(spare.len() >= 16 << 10);
        let (now, later) = rest.split_at(step.min(spare.len()).min(rest.len()));
        spare[..now.len()].copy_from_slice(now);
        reader.filled(now.len());
        rest = later;
        loop {
            match reader.advance() {
                Ok(Some(frame)) => put(frame),
                Ok(None) => break,
                Err(bad) => return (found, Err(bad)),
            }
        }
        let came = stream.len() - rest.len();
        assert!(reader.buffer_bytes() <= SYSLOG_BUFFER_BYTES_MAX.min(2 * came + (32 << 10)));
    }
    reader.finish().map(put);
    (found, Ok(()))
}

/// The messages of a stream, their pieces joined.
fn messages(stream: &[u8], step: usize) -> Vec<Vec<u8>> {
    let mut messages: Vec<Vec<u8>> = Vec::new();
    let mut is_open = false;
    for (bytes, is_begin, is_end) in frames(stream, step).0 {
        assert_eq!(is_begin, !is_open, "a message begins where another ended");
        match messages.last_mut().filter(|_| is_open) {
            Some(last) => last.extend(bytes),
            None => messages.push(bytes),
        }
        is_open = !is_end;
    }
    messages
}

#[test]
fn each_message_of_a_stream_has_a_form_of_its_own() {
    let stream = b"5 <1>ab<2>cd\n7 <3>e\nfg\n<4>\0\xff\r\n1 x<5>end";
    let wanted: [&[u8]; 6] = [b"<1>ab", b"<2>cd", b"<3>e\nfg", b"", b"<4>\0\xff\r", b"x"];
    for step in [1, 2, 3, 5, 64] {
        let found = messages(stream, step);
        assert_eq!(found[..6], wanted, "{step}");
        // The end of the stream ends a line, but not a message with a length.
        assert_eq!(found[6..], [b"<5>end"], "{step}");
        assert_eq!(messages(b"<1>a\n9 <2>b", step), [b"<1>a"], "{step}");
    }
}

#[test]
fn a_length_that_is_none_is_told_at_its_first_wrong_byte_and_the_messages_before_it_stay() {
    for liar in [
        "0",
        "00 x",
        "0123 x",
        "5x",
        "5\n",
        "2026-11-23T23:00:00Z web",
        "12345678901",
        "1\0",
    ] {
        let stream = format!("<1>a\n{liar}");
        let (found, end) = frames(stream.as_bytes(), 1);
        assert_eq!(end, Err(BadLength), "{liar}");
        assert_eq!(found, [(b"<1>a".to_vec(), true, true)], "{liar}");
    }
    assert_eq!(frames(b"1234567890", 1), (Vec::new(), Ok(())));
    assert_eq!(frames(b"9999999999 x", 1), (Vec::new(), Ok(())));
}

#[test]
fn a_long_message_comes_in_pieces_and_memory_follows_what_came() {
    const PIECE: usize = SYSLOG_PIECE_BYTES_MAX;
    for length in [PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 3 * PIECE + 7] {
        let body = vec![b'x'; length];
        let line = [&body[..], b"\n<1>next\n"].concat();
        let counted = [format!("{length} ").as_bytes(), &body, b"<1>next\n"].concat();
        for stream in [line, counted] {
            let (found, end) = frames(&stream, 1 << 16);
            assert_eq!(end, Ok(()));
            let (next, pieces) = found.split_last().unwrap();
            assert_eq!(next.0, b"<1>next");
            assert_eq!(pieces.len(), length.div_ceil(PIECE), "{length}");
            let (last, full) = pieces.split_last().unwrap();
            assert!(full.iter().all(|(bytes, ..)| bytes.len() == PIECE));
            assert_eq!(last.0.len() + full.len() * PIECE, length);
        }
    }
}

/// If each byte looked at the whole line before it, this would take minutes.
#[test]
fn a_line_of_a_mebibyte_that_comes_byte_by_byte_is_searched_once() {
    let mut stream = vec![b'x'; SYSLOG_PIECE_BYTES_MAX - 1];
    stream.push(b'\n');
    assert_eq!(messages(&stream, 1).len(), 1);
}

#[test]
fn a_buffer_that_may_not_grow_stays_and_one_that_is_used_up_is_freed() {
    let mut reader = FrameReader::default();
    let room = reader.spare().len();
    reader.spare().fill(b'\n');
    reader.filled(room);
    assert_eq!(reader.wanted_bytes(), 2 * room);
    assert!(reader.must_grow());
    while reader.advance().unwrap().is_some() {}
    assert!(!reader.must_grow() && !reader.is_midway());
    assert_eq!(reader.wanted_bytes(), 2 * room);
    reader.stay_small();
    assert_eq!(reader.wanted_bytes(), room);
    reader.release();
    assert_eq!(reader.buffer_bytes(), 0);
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..200)
}

/// Bytes of which headers are made, so that random texts come near to them.
fn marks() -> impl Strategy<Value = Vec<u8>> {
    let parts: [&[u8]; 13] = [
        b"<34>",
        b"1 ",
        b"Oct 11 22:14:15 ",
        b"2003-10-11T22:14:15Z ",
        b"db ",
        b"su",
        b"[7]",
        b": ",
        b"- ",
        b"\xff",
        b"\0",
        b"5 ",
        b"\n",
    ];
    let part = prop::sample::select(parts.to_vec());
    prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn no_bytes_panic_and_a_body_is_the_end_of_its_message(
        message in prop_oneof![bytes(), marks()],
        unix_s in any::<i64>(),
        utc_offset_s in any::<i32>(),
    ) {
        let header = Header::read(&message, Arrival { unix_s, utc_offset_s });
        prop_assert!(message.ends_with(header.body));
        prop_assert!(message.len() - header.body.len() <= 7);
        for name in [header.program, header.host.map(str::as_bytes)].into_iter().flatten() {
            prop_assert!(!name.is_empty() && name.len() <= 255);
            prop_assert!(name.iter().all(u8::is_ascii_graphic));
            prop_assert!(header.body.windows(name.len()).any(|part| part == name));
        }
    }

    #[test]
    fn messages_are_found_however_they_are_framed_and_arrive(
        sent in prop::collection::vec((bytes(), any::<bool>()), 0..20),
        step in 1_usize..300,
    ) {
        let (mut stream, mut wanted) = (Vec::new(), Vec::new());
        for (mut message, is_counted) in sent {
            if is_counted && !message.is_empty() {
                stream.extend(format!("{} ", message.len()).into_bytes());
                stream.extend(&message);
            } else {
                message.retain(|byte| *byte != b'\n');
                message.insert(0, b'<');
                stream.extend(&message);
                stream.push(b'\n');
            }
            wanted.push(message);
        }
        prop_assert_eq!(messages(&stream, step), wanted);
    }

    #[test]
    fn random_streams_give_the_same_frames_in_any_steps(stream in prop_oneof![bytes(), marks()], step in 1_usize..50) {
        prop_assert_eq!(frames(&stream, step), frames(&stream, usize::MAX));
    }
}

//! Messages that break the protocol or the service.

use super::*;
use crate::limits::{METHOD_NAME_BYTES_MAX, THRIFT_DEPTH_MAX};

/// What the refusal of a call says.
#[track_caller]
fn check(written: &str, said: &str) {
    assert_eq!(decode(&bytes(written)).unwrap_err().to_string(), said);
}

#[test]
fn a_refusal_says_what_is_wrong_and_at_which_byte() {
    let malformed = |said| format!("malformed Thrift message: {said}");
    let log = "00000003 'Log' 01 00000000";
    let table = [
        (
            "",
            "it ends inside the version or length of the method name, at byte 0",
        ),
        (
            "80020001",
            "no binary protocol has the version 80020001, at byte 0",
        ),
        ("80010009", "no kind of message has the number 9, at byte 0"),
        (
            "00000000 01 00000000 00",
            "a method name of 0 bytes, 1 to 128 are allowed, at byte 0",
        ),
        (
            "80010001 ffffffff",
            "a method name of -1 bytes, 1 to 128 are allowed, at byte 4",
        ),
        (
            "00000003 'Log' 07",
            "no kind of message has the number 7, at byte 7",
        ),
        (
            "00000003 'Log' 01 00",
            "it ends inside the sequence id, at byte 8",
        ),
        ("{log}", "it ends inside the type of a field, at byte 12"),
        ("{log} 05", "no type has the number 5, at byte 12"),
        (
            "{log} 0f 00",
            "it ends inside the id of a field, at byte 13",
        ),
        (
            "{log} 0b 0001 00000000 00",
            "the list of messages has the type 11, at byte 12",
        ),
        (
            "{log} 0f 0001 0b 00000001 00000000 00",
            "the list of messages has the type 11, at byte 15",
        ),
        (
            "{log} 0f 0001 0c 7fffffff 00 00",
            "the count of messages announces 2147483647, and 2 bytes are left, at byte 16",
        ),
        (
            "{log} 0f 0001 0c ffffffff 00 00",
            "the count of messages announces -1, and 2 bytes are left, at byte 16",
        ),
        (
            "{log} 0f 0001 0c 00000001 0b 0001 00000009 'web' 00 00",
            "the category announces 9, and 5 bytes are left, at byte 23",
        ),
        (
            "{log} 0f 0001 0c 00000001 0b 0002 ffffffff 'web' 00 00",
            "the message announces -1, and 5 bytes are left, at byte 23",
        ),
        (
            "{log} 0f 0001 0c 00000001 08 0002 00000000 00 00",
            "the message has the type 8, at byte 20",
        ),
        (
            "{log} 0f 0001 0c 00000001 0b 0001 00000000 0b 0001 00000000 00 00",
            "the category stands twice, at byte 27",
        ),
        (
            "{log} 0f 0001 0c 00000000 0f 0001 0c 00000000 00",
            "the list of messages stands twice, at byte 20",
        ),
        (
            "{log} 0b 0009 00000005 'x'",
            "it ends inside the value of an undeclared field, at byte 15",
        ),
        (
            "{log} 0b 0009 fffffffb 'x'",
            "the length of an undeclared value announces -5, and 1 bytes are left, at byte 15",
        ),
        (
            "{log} 0f 0009 07 00000001 00",
            "no type has the number 7, at byte 15",
        ),
        ("{log} 00 00", "1 bytes follow its end, at byte 13"),
    ];
    for (written, said) in table {
        check(&written.replace("{log}", log), &malformed(said));
    }
    check(
        "00000003 'g' 27 'x' 01 00000000 00",
        "Invalid method name: 'g\\'x'",
    );
    check(
        "00000003 'Log' 02 00000000 00",
        "a message of the kind Reply is no call",
    );
}

#[test]
fn a_refusal_is_answered_in_the_form_of_the_call() {
    let table = [
        (
            "'foo' 00000005 00",
            ExceptionKind::UnknownMethod,
            "80010001",
        ),
        (
            "'Log' 00000005 00",
            ExceptionKind::InvalidMessageType,
            "80010003",
        ),
        (
            "'Log' 00000005 05",
            ExceptionKind::ProtocolError,
            "80010001",
        ),
    ];
    for (rest, kind, version) in table {
        let message = bytes(&format!("{version} 00000003 {rest}"));
        for transport in [Transport::Framed, Transport::Unframed] {
            let refusal = Request::decode(&message, transport).unwrap_err();
            assert!(!refusal.must_close());
            let mut out = Vec::new();
            refusal.put_answer(&mut out);
            let wanted = dialect(transport, Protocol::Strict);
            assert_eq!(Dialect::detect(&out), Ok(Some(wanted)));
            let answer = only(&out);
            assert_eq!(answer[..4], bytes("80010003"));
            // `foo` is no method of ours, so its answer is read as that of a call of `Log`.
            let answer = [&answer[..8], b"Log", &answer[11..]].concat();
            let Ok(Reply::Exception(exception)) = Reply::decode(&answer, Method::Log, 5) else {
                panic!("{answer:?}")
            };
            assert_eq!(exception.kind, kind);
            assert_eq!(exception.message, refusal.to_string());
        }
    }
}

#[test]
fn a_malformed_header_cannot_be_answered_and_ends_the_connection() {
    for message in ["", "80020001", "00000003 'Lo"] {
        let message = bytes(message);
        let refusal = decode(&message).unwrap_err();
        assert!(refusal.must_close());
        let mut out = Vec::new();
        refusal.put_answer(&mut out);
        assert!(out.is_empty());
    }
}

#[test]
fn oneway_calls_have_no_answer_whatever_kind_their_message_has() {
    let table = [
        ("00000008 'shutdown' 01 00000000 00", false),
        ("0000000c 'reinitialize' 04 00000000 00", false),
        ("00000007 'getName' 04 00000000 00", false),
        ("00000007 'getName' 01 00000000 00", true),
    ];
    for (written, is_wanted) in table {
        let message = bytes(written);
        let to = decode(&message).unwrap().to;
        assert_eq!(to.is_wanted, is_wanted, "{written}");
        let mut out = Vec::new();
        to.put(&Reply::Text(b"x"), &mut out);
        assert_eq!(out.is_empty(), !is_wanted, "{written}");
    }
    let unknown = bytes("00000003 'foo' 04 00000000 00");
    let mut out = Vec::new();
    decode(&unknown).unwrap_err().put_answer(&mut out);
    assert!(out.is_empty());
}

#[test]
fn undeclared_fields_nest_up_to_the_limit() {
    // One level is the field itself.
    let nested = |depth: usize| {
        let open = "0c 0009 ".repeat(depth);
        let close = "00 ".repeat(depth);
        bytes(&format!("00000003 'Log' 01 00000000 {open} {close} 00"))
    };
    assert!(decode(&nested(THRIFT_DEPTH_MAX - 1)).is_ok());
    let deep = nested(THRIFT_DEPTH_MAX);
    let refusal = decode(&deep).unwrap_err();
    let RequestFault::Malformed(error) = refusal.fault else {
        panic!("{refusal:?}")
    };
    assert_eq!(error.fault, Fault::Depth);
    assert!(decode(&nested(100_000)).is_err());
}

#[test]
fn the_name_of_a_method_has_a_limit() {
    let named = |length: usize| {
        let name = "x".repeat(length);
        bytes(&format!("{length:08x} '{name}' 01 00000000 00"))
    };
    let longest = named(METHOD_NAME_BYTES_MAX);
    assert_eq!(
        decode(&longest).unwrap_err().fault,
        RequestFault::UnknownMethod
    );
    assert!(
        decode(&named(METHOD_NAME_BYTES_MAX + 1))
            .unwrap_err()
            .must_close()
    );
}

#[test]
fn a_call_or_reply_that_ends_early_is_refused_wherever_it_ends() {
    let log = log();
    for call in calls(&log) {
        for protocol in [Protocol::Strict, Protocol::Versionless] {
            let mut out = Vec::new();
            let unframed = dialect(Transport::Unframed, protocol);
            unframed.put_call(1, &call, &mut out).unwrap();
            for end in 0..out.len() {
                assert!(decode(&out[..end]).is_err(), "{call:?} cut at {end}");
            }
            out.push(0);
            assert!(decode(&out).is_err(), "{call:?} with a byte more");
        }
    }
    for (method, reply) in replies() {
        let mut out = only(&written(Dialect::SCRIBE, method, 1, &reply));
        for end in 0..out.len() {
            let read = Reply::decode(&out[..end], method, 1);
            assert!(read.is_err(), "{reply:?} cut at {end}");
        }
        out.push(0);
        assert!(Reply::decode(&out, method, 1).is_err());
    }
}

#[test]
fn a_reply_to_another_call_is_refused() {
    let reply = only(&written(
        Dialect::SCRIBE,
        Method::GetName,
        4,
        &Reply::Text(b"x"),
    ));
    let fault = |method, sequence| Reply::decode(&reply, method, sequence).unwrap_err().fault;
    assert_eq!(fault(Method::GetVersion, 4), Fault::OtherMethod);
    let (wanted, found) = (5, 4);
    assert_eq!(fault(Method::GetName, 5), Fault::Sequence { wanted, found });
}

#[test]
fn a_reply_without_a_declared_result_is_refused() {
    let table = [
        ("00000003 'Log' 02 00000000 00", Fault::NoResult),
        (
            "00000003 'Log' 02 00000000 08 0000 00000002 00",
            Fault::Number {
                what: "result code",
                found: 2,
            },
        ),
        (
            "00000003 'Log' 02 00000000 0a 0000 0000000000000000 00",
            Fault::Type {
                what: "result",
                found: 10,
            },
        ),
        ("00000003 'Log' 01 00000000 00", Fault::MessageKind(1)),
    ];
    for (written, fault) in table {
        let message = bytes(written);
        let read = Reply::decode(&message, Method::Log, 0);
        assert_eq!(read.unwrap_err().fault, fault, "{written}");
    }
    let status = "00000009 'getStatus' 02 00000000 08 0000 00000006 00";
    let status = bytes(status);
    let read = Reply::decode(&status, Method::GetStatus, 0);
    let (what, found) = ("status", 6);
    assert_eq!(read.unwrap_err().fault, Fault::Number { what, found });
}

#[test]
fn a_map_that_announces_more_pairs_than_it_has_bytes_is_refused() {
    let counters = "0000000b 'getCounters' 02 00000000 0d 0000 0b0a 7fffffff 00 00";
    let counters = bytes(counters);
    let read = Reply::decode(&counters, Method::GetCounters, 0);
    let said = read.unwrap_err().to_string();
    let wanted =
        "the count of the map's pairs announces 2147483647, and 2 bytes are left, at byte 25";
    assert_eq!(said, format!("malformed Thrift message: {wanted}"));
    let empty = "0000000b 'getCounters' 02 00000000 0d 0000 0000 00000000 00";
    let empty = bytes(empty);
    let read = Reply::decode(&empty, Method::GetCounters, 0);
    assert_eq!(read, Ok(Reply::Counters(vec![])));
}

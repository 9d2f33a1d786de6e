//! Bytes written by hand from Thrift's specification of the binary protocol.

use super::*;

const FRAMED_STRICT: Dialect = dialect(Transport::Framed, Protocol::Strict);

const LOG: &str = "00000003 'Log' 01 00000000 \
    0f 0001 0c 00000001  0b 0001 00000003 'web'  0b 0002 00000005 'GET /'  00 00";

const STRICT_LOG: &str = "80010001 00000003 'Log' 00000007 \
    0f 0001 0c 00000001  0b 0001 00000003 'web'  0b 0002 00000005 'GET /'  00 00";

#[test]
fn a_call_of_log_is_these_bytes_in_both_forms() {
    let messages = [(&b"web"[..], &b"GET /"[..])];
    let mut out = Vec::new();
    Dialect::SCRIBE.put_log(0, messages, &mut out).unwrap();
    assert_eq!(out, bytes(&format!("0000002c {LOG}")));
    out.clear();
    FRAMED_STRICT.put_log(7, messages, &mut out).unwrap();
    assert_eq!(out, bytes(&format!("0000002f {STRICT_LOG}")));
    for (written, protocol, sequence) in [
        (LOG, Protocol::Versionless, 0),
        (STRICT_LOG, Protocol::Strict, 7),
    ] {
        let message = bytes(written);
        let request = decode(&message).unwrap();
        assert_eq!(entries(&request), messages);
        let to = ReplyTo {
            dialect: dialect(Transport::Framed, protocol),
            method: Method::Log,
            sequence,
            is_wanted: true,
        };
        assert_eq!(request.to, to);
    }
}

#[test]
fn lines_are_messages_with_one_more_field_that_others_skip() {
    let lines = [(&b"web"[..], &b"GET /\n"[..])];
    let mut out = Vec::new();
    Dialect::SCRIBE.put_lines(0, lines, &mut out).unwrap();
    let list = "0f 0001 0c 00000001  0b 0001 00000003 'web'  0b 0002 00000006 'GET /' 0a  00";
    let head = "00000003 'Log' 01 00000000";
    assert_eq!(out, bytes(&format!("00000031 {head} {list} 02 'Se' 01 00")));
    for (written, are_lines) in [
        (format!("{head} {list} 02 'Se' 01 00"), true),
        (format!("{head} 02 'Se' 01 {list} 00"), true),
        (format!("{head} {list} 02 'Se' 00 00"), false),
        (format!("{head} {list} 0b 'Se' 00000001 'x' 00"), false),
        (format!("{head} {list} 02 0002 01 00"), false),
    ] {
        let message = bytes(&written);
        let request = decode(&message).unwrap();
        assert_eq!(entries(&request), lines);
        let Call::Log(found) = request.call else {
            panic!("{written}")
        };
        assert_eq!(found.are_lines(), are_lines, "{written}");
    }
    let again = decode(&out[4..]).unwrap().call;
    let mut put = Vec::new();
    Dialect::SCRIBE.put_call(0, &again, &mut put).unwrap();
    assert_eq!(put, out);
}

#[test]
fn the_empty_call_that_probes_a_server_is_these_bytes() {
    let mut out = Vec::new();
    Dialect::SCRIBE.put_log(0, [], &mut out).unwrap();
    let probe = "00000015 00000003 'Log' 01 00000000  0f 0001 0c 00000000  00";
    assert_eq!(out, bytes(probe));
    assert!(entries(&decode(&out[4..]).unwrap()).is_empty());
}

#[test]
fn calls_of_fb303_and_of_the_mapping_are_these_bytes() {
    let key = &b"k"[..];
    let table = [
        (Call::GetName, "00000007 'getName' 01 00000003 00"),
        (Call::GetVersion, "0000000a 'getVersion' 01 00000003 00"),
        (Call::GetStatus, "00000009 'getStatus' 01 00000003 00"),
        (
            Call::GetStatusDetails,
            "00000010 'getStatusDetails' 01 00000003 00",
        ),
        (Call::GetCounters, "0000000b 'getCounters' 01 00000003 00"),
        (
            Call::GetCounter(key),
            "0000000a 'getCounter' 01 00000003 0b 0001 00000001 'k' 00",
        ),
        (
            Call::SetOption { key, value: b"vv" },
            "00000009 'setOption' 01 00000003 0b 0001 00000001 'k' 0b 0002 00000002 'vv' 00",
        ),
        (
            Call::GetOption(key),
            "00000009 'getOption' 01 00000003 0b 0001 00000001 'k' 00",
        ),
        (Call::GetOptions, "0000000a 'getOptions' 01 00000003 00"),
        (
            Call::GetCpuProfile { seconds: 30 },
            "0000000d 'getCpuProfile' 01 00000003 08 0001 0000001e 00",
        ),
        (Call::AliveSince, "0000000a 'aliveSince' 01 00000003 00"),
        (Call::Reinitialize, "0000000c 'reinitialize' 01 00000003 00"),
        (Call::Shutdown, "00000008 'shutdown' 01 00000003 00"),
        (
            Call::GetMapping(key),
            "0000000a 'getMapping' 01 00000003 0b 0001 00000001 'k' 00",
        ),
    ];
    for (call, expected) in table {
        let mut out = Vec::new();
        Dialect::SCRIBE.put_call(3, &call, &mut out).unwrap();
        assert_eq!(out[4..], bytes(expected), "{call:?}");
        assert_eq!(decode(&bytes(expected)).unwrap().call, call);
    }
}

#[test]
fn replies_are_these_bytes() {
    let address = HostPort {
        host: b"h",
        port: 1463,
    };
    let no_mapping = Reply::NoMapping {
        message: b"no",
        code: 2,
    };
    let table = [
        (
            Method::Log,
            Reply::Log(ResultCode::Ok),
            "08 0000 00000000 00",
        ),
        (
            Method::Log,
            Reply::Log(ResultCode::TryLater),
            "08 0000 00000001 00",
        ),
        (
            Method::GetStatus,
            Reply::Status(Status::Alive),
            "08 0000 00000002 00",
        ),
        (
            Method::GetVersion,
            Reply::Text(b"2.2"),
            "0b 0000 00000003 '2.2' 00",
        ),
        (
            Method::AliveSince,
            Reply::Number(258),
            "0a 0000 00000000 00000102 00",
        ),
        (Method::SetOption, Reply::Done, "00"),
        (
            Method::GetCounters,
            Reply::Counters(vec![(b"a", -1)]),
            "0d 0000 0b0a 00000001 00000001 'a' ffffffff ffffffff 00",
        ),
        (
            Method::GetOptions,
            Reply::Options(vec![(b"a", b"bc")]),
            "0d 0000 0b0b 00000001 00000001 'a' 00000002 'bc' 00",
        ),
        (
            Method::GetMapping,
            Reply::Mapping(vec![(4, address)]),
            "0d 0000 080c 00000001 00000004 0b 0002 00000001 'h' 08 0003 000005b7 00 00",
        ),
        (
            Method::GetMapping,
            no_mapping,
            "0c 0001 0b 0001 00000002 'no' 08 0002 00000002 00 00",
        ),
    ];
    for (method, reply, body) in table {
        let name = method.name();
        let versionless = format!("{:08x} '{name}' 02 00000009 {body}", name.len());
        let strict = format!("80010002 {:08x} '{name}' 00000009 {body}", name.len());
        for (expected, dialect) in [(versionless, Dialect::SCRIBE), (strict, FRAMED_STRICT)] {
            let expected = bytes(&expected);
            let framed = [&(expected.len() as u32).to_be_bytes()[..], &expected].concat();
            assert_eq!(written(dialect, method, 9, &reply), framed, "{reply:?}");
            assert_eq!(Reply::decode(&expected, method, 9).as_ref(), Ok(&reply));
        }
    }
}

#[test]
fn an_exception_is_these_bytes() {
    let unknown = bytes("00000003 'foo' 01 00000005 00");
    let mut out = Vec::new();
    decode(&unknown).unwrap_err().put_answer(&mut out);
    let expected = "00000035 00000003 'foo' 03 00000005 \
        0b 0001 0000001a 'Invalid method name: ' 27 'foo' 27  08 0002 00000001 00";
    let expected = bytes(expected);
    assert_eq!(out, expected);
}

#[test]
fn the_fields_of_an_entry_come_in_any_order_and_may_be_missing() {
    let message = bytes(
        "00000003 'Log' 01 00000000 0f 0001 0c 00000004 \
         0b 0002 00000001 'm' 0b 0001 00000001 'c' 00 \
         0b 0002 00000001 'm' 00 \
         0b 0001 00000001 'c' 00 \
         00 \
         00",
    );
    let (c, m, none) = (&b"c"[..], &b"m"[..], &b""[..]);
    let wanted = [(c, m), (none, m), (c, none), (none, none)];
    assert_eq!(entries(&decode(&message).unwrap()), wanted);
}

#[test]
fn missing_arguments_are_empty() {
    let key = &b""[..];
    let table = [
        ("00000003 'Log' 01 00000000 00", None),
        (
            "0000000a 'getCounter' 01 00000000 00",
            Some(Call::GetCounter(key)),
        ),
        (
            "00000009 'setOption' 01 00000000 00",
            Some(Call::SetOption { key, value: b"" }),
        ),
        (
            "0000000d 'getCpuProfile' 01 00000000 00",
            Some(Call::GetCpuProfile { seconds: 0 }),
        ),
    ];
    for (written, call) in table {
        let message = bytes(written);
        let request = decode(&message).unwrap();
        match call {
            Some(call) => assert_eq!(request.call, call),
            None => assert!(entries(&request).is_empty()),
        }
    }
}

/// An undeclared field of each type, before and between the declared ones.
#[test]
fn undeclared_fields_of_every_type_are_skipped() {
    let extra = "02 0009 01  03 0009 ff  04 0009 0102030405060708  06 0009 0001  08 0009 00000001 \
        0a 0009 0102030405060708  0b 0009 00000002 'xy' \
        0c 0009 0b 0001 00000001 'x' 0c 0002 00 00 \
        0d 0009 0b06 00000002 00000001 'a' 0001 00000000 0002  0d 0009 080a 00000001 00000001 0102030405060708 \
        0d 0009 0000 00000000  0d 0009 020b 00000001 01 00000001 'z' \
        0e 0009 0a 00000001 0102030405060708  0f 0009 0b 00000002 00000000 00000001 'x' \
        0f 0009 0f 00000002 02 00000003 010001 00 00000000  0f 0009 0c 00000002 00 08 0001 00000000 00";
    let message = bytes(&format!(
        "00000003 'Log' 01 00000000 {extra} 0f 0001 0c 00000001 \
         {extra} 0b 0001 00000001 'c' {extra} 0b 0002 00000001 'm' {extra} 00 {extra} 00"
    ));
    let wanted = [(&b"c"[..], &b"m"[..])];
    assert_eq!(entries(&decode(&message).unwrap()), wanted);
    for step in [1, 7, usize::MAX] {
        assert_eq!(messages(&message, step), std::slice::from_ref(&message));
    }
    let reply = bytes(&format!(
        "00000003 'Log' 02 00000000 {extra} 08 0000 00000001 {extra} 00"
    ));
    let try_later = Ok(Reply::Log(ResultCode::TryLater));
    assert_eq!(Reply::decode(&reply, Method::Log, 0), try_later);
}

#[test]
fn every_method_is_found_by_its_name() {
    for method in Method::ALL {
        assert_eq!(Method::of(method.name().as_bytes()), Some(method));
    }
    assert_eq!(Method::of(b"log"), None);
}

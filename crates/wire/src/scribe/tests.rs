mod golden;
mod laws;
mod stream;
mod wrong;

use super::*;

const DIALECTS: [Dialect; 4] = [
    Dialect::SCRIBE,
    dialect(Transport::Framed, Protocol::Strict),
    dialect(Transport::Unframed, Protocol::Versionless),
    dialect(Transport::Unframed, Protocol::Strict),
];

const fn dialect(transport: Transport, protocol: Protocol) -> Dialect {
    Dialect {
        transport,
        protocol,
    }
}

/// Bytes written as in the module's head: pairs of hexadecimal digits, and texts between quotes. Spaces are left out.
fn bytes(written: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (index, part) in written.split('\'').enumerate() {
        if index % 2 == 1 {
            bytes.extend_from_slice(part.as_bytes());
            continue;
        }
        let digits: Vec<u8> = part
            .bytes()
            .filter(|byte| !byte.is_ascii_whitespace())
            .collect();
        for pair in digits.chunks(2) {
            let pair = std::str::from_utf8(pair).unwrap();
            bytes.push(u8::from_str_radix(pair, 16).unwrap());
        }
    }
    bytes
}

fn decode(message: &[u8]) -> Result<Request<'_>, Refusal<'_>> {
    Request::decode(message, Transport::Framed)
}

/// The messages of a call of `Log`.
fn entries<'a>(request: &Request<'a>) -> Vec<(&'a [u8], &'a [u8])> {
    let Call::Log(entries) = request.call else {
        panic!("{request:?}")
    };
    assert_eq!(entries.iter().len(), entries.len());
    entries.iter().collect()
}

/// The messages of a stream that arrives in pieces of `step` bytes.
fn messages(stream: &[u8], step: usize) -> Vec<Vec<u8>> {
    let mut reader = MessageReader::default();
    let mut found = Vec::new();
    for piece in stream.chunks(step.max(1)) {
        reader.spare()[..piece.len()].copy_from_slice(piece);
        reader.filled(piece.len());
        while reader.advance().unwrap() {
            let seen = reader.message().to_vec();
            // Every second message leaves with its buffer.
            match found.len() % 2 {
                0 => assert_eq!(reader.take().bytes(), seen),
                _ => assert_eq!(reader.message(), seen),
            }
            found.push(seen);
        }
    }
    assert!(!reader.is_midway());
    found
}

/// The one message of what a writer has appended.
fn only(written: &[u8]) -> Vec<u8> {
    let mut found = messages(written, usize::MAX);
    assert_eq!(found.len(), 1);
    found.pop().unwrap()
}

/// One call of each method; `Log` has two messages.
fn calls(log: &[u8]) -> Vec<Call<'_>> {
    let (key, value) = (&b"key"[..], &b"\0\xff"[..]);
    vec![
        decode(log).unwrap().call,
        Call::GetName,
        Call::GetVersion,
        Call::GetStatus,
        Call::GetStatusDetails,
        Call::GetCounters,
        Call::GetCounter(key),
        Call::SetOption { key, value },
        Call::GetOption(key),
        Call::GetOptions,
        Call::GetCpuProfile { seconds: -7 },
        Call::AliveSince,
        Call::Reinitialize,
        Call::Shutdown,
        Call::GetMapping(key),
    ]
}

/// A versionless call of `Log` without a frame: `web` says `GET /`, `` says ``.
fn log() -> Vec<u8> {
    let mut out = Vec::new();
    let messages = [(&b"web"[..], &b"GET /"[..]), (b"", b"")];
    dialect(Transport::Unframed, Protocol::Versionless)
        .put_log(9, messages, &mut out)
        .unwrap();
    out
}

/// Every kind of reply, with a method that has it.
fn replies() -> Vec<(Method, Reply<'static>)> {
    let exception = Exception {
        kind: ExceptionKind::InternalError,
        message: "no".to_owned(),
    };
    let address = HostPort {
        host: b"host",
        port: 1463,
    };
    vec![
        (Method::Log, Reply::Log(ResultCode::Ok)),
        (Method::Log, Reply::Log(ResultCode::TryLater)),
        (Method::GetName, Reply::Text(b"Scribe")),
        (Method::GetVersion, Reply::Text(b"2.2")),
        (Method::GetStatus, Reply::Status(Status::Warning)),
        (Method::GetStatusDetails, Reply::Text(b"")),
        (
            Method::GetCounters,
            Reply::Counters(vec![(b"a:lost", -1), (b"b", i64::MAX)]),
        ),
        (Method::GetCounter, Reply::Number(1 << 40)),
        (Method::SetOption, Reply::Done),
        (Method::GetOption, Reply::Text(b"\0\xff")),
        (
            Method::GetOptions,
            Reply::Options(vec![(b"port", b"1463"), (b"", b"")]),
        ),
        (Method::GetCpuProfile, Reply::Text(b"none")),
        (Method::AliveSince, Reply::Number(0)),
        (
            Method::GetMapping,
            Reply::Mapping(vec![(1, address), (-2, HostPort::default())]),
        ),
        (
            Method::GetMapping,
            Reply::NoMapping {
                message: b"gone",
                code: 5,
            },
        ),
        (Method::GetStatus, Reply::Exception(exception)),
    ]
}

fn written(dialect: Dialect, method: Method, sequence: i32, reply: &Reply<'_>) -> Vec<u8> {
    let to = ReplyTo {
        dialect,
        method,
        sequence,
        is_wanted: true,
    };
    let mut out = Vec::new();
    to.put(reply, &mut out);
    out
}

//! Connections: what they speak, and where their messages end.

use super::*;
use crate::limits::READ_AHEAD_BYTES;

/// The table in the module's head.
#[test]
fn five_bytes_tell_what_a_connection_speaks() {
    let found = |transport, protocol| Ok(Some(dialect(transport, protocol)));
    let (framed, unframed) = (Transport::Framed, Transport::Unframed);
    let (strict, versionless) = (Protocol::Strict, Protocol::Versionless);
    let refused = |bytes: &[u8; 5]| Err(TransportError::NotThrift(*bytes));
    let table = [
        ("80 01 00 01 00 00 00 03", found(unframed, strict)),
        ("00 00 00 2f 80 01 00 01", found(framed, strict)),
        ("00 00 00 2c 00 00 00 03", found(framed, versionless)),
        ("00 00 00 03 4c 6f 67 01", found(unframed, versionless)),
        ("00 00 00 07 67 65 74 4e", found(unframed, versionless)),
        ("04 00 00 00 00 00 00 03", found(framed, versionless)),
        ("82 21", Err(TransportError::Compact)),
        ("00 00 00 10 82 21", Err(TransportError::Compact)),
        ("00 00 00 00", refused(&[0; 5])),
        ("47 45 54 20 2f", refused(b"GET /")),
        ("47 45 54 20 66", refused(b"GET f")),
        ("80 02 00 01", refused(&[0x80, 2, 0, 1, 0])),
        ("00 00 00 0c 5b", refused(&[0, 0, 0, 12, 0x5b])),
    ];
    for (written, wanted) in table {
        assert_eq!(Dialect::detect(&bytes(written)), wanted, "{written}");
    }
}

#[test]
fn every_call_in_every_form_is_told_by_its_first_bytes() {
    let log = log();
    for call in calls(&log) {
        for dialect in DIALECTS {
            let mut out = Vec::new();
            dialect.put_call(1, &call, &mut out).unwrap();
            assert_eq!(Dialect::detect(&out), Ok(Some(dialect)), "{call:?}");
            for end in 0..5 {
                let early = Dialect::detect(&out[..end]).unwrap();
                assert!(early.is_none() || early == Some(dialect));
            }
        }
    }
}

#[test]
fn messages_are_found_however_they_arrive() {
    let log = log();
    for transport in [Transport::Framed, Transport::Unframed] {
        let (mut stream, mut sent) = (Vec::new(), Vec::new());
        // Each message may have the other form of the header.
        for (call, protocol) in calls(&log).into_iter().zip(
            [Protocol::Strict, Protocol::Versionless]
                .into_iter()
                .cycle(),
        ) {
            dialect(Transport::Unframed, protocol)
                .put_call(1, &call, &mut stream)
                .unwrap();
            sent.push(std::mem::take(&mut stream));
        }
        let framed = |message: &Vec<u8>| {
            let length = (message.len() as u32).to_be_bytes();
            let length = if transport == Transport::Framed {
                &length[..]
            } else {
                &[]
            };
            [length, message].concat()
        };
        let stream: Vec<u8> = sent.iter().flat_map(framed).collect();
        for step in [1, 2, 3, 5, 64, usize::MAX] {
            assert_eq!(messages(&stream, step), sent, "{transport:?} by {step}");
        }
    }
}

#[test]
fn a_message_that_ends_early_is_not_found() {
    for dialect in DIALECTS {
        let mut out = Vec::new();
        dialect
            .put_log(1, [(&b"c"[..], &b"m"[..])], &mut out)
            .unwrap();
        for end in 1..out.len() {
            let mut reader = MessageReader::default();
            reader.spare()[..end].copy_from_slice(&out[..end]);
            reader.filled(end);
            assert_eq!(reader.advance(), Ok(false), "{dialect:?} cut at {end}");
            assert!(reader.is_midway());
            assert!(reader.announced_bytes() > end && reader.announced_bytes() <= out.len());
        }
    }
}

/// A framed call of `Log` with one message of this length.
fn long(length: usize) -> Vec<u8> {
    let (mut out, body) = (Vec::new(), vec![b'x'; length]);
    Dialect::SCRIBE
        .put_log(1, [(&b"c"[..], &body[..])], &mut out)
        .unwrap();
    out
}

/// Feeds all of `stream`, and finds no message before its end.
fn fed(stream: &[u8]) -> MessageReader {
    let mut reader = MessageReader::default();
    let mut at = 0;
    while at < stream.len() {
        let room = reader.spare();
        let count = room.len().min(stream.len() - at);
        room[..count].copy_from_slice(&stream[at..at + count]);
        reader.filled(count);
        at += count;
        if at < stream.len() {
            assert!(!reader.advance().unwrap());
        }
    }
    reader
}

#[test]
fn a_frame_leaves_with_its_buffer_and_is_not_copied() {
    let stream = long(300_000);
    let mut reader = fed(&stream);
    assert!(reader.advance().unwrap());
    let place = reader.message().as_ptr();
    let frame = reader.take();
    assert_eq!(frame.bytes().as_ptr(), place);
    assert_eq!(frame.bytes(), &stream[4..]);
    assert!(frame.held_bytes() <= 2 * stream.len());
    assert_eq!(reader.buffer_bytes(), 0);
    assert!(reader.take().bytes().is_empty());
}

#[test]
fn a_short_frame_is_copied_and_its_reader_keeps_the_buffer() {
    let (first, second) = (long(50), long(60));
    let mut reader = fed(&[&first[..], &second[..]].concat());
    let buffer_bytes = reader.buffer_bytes();
    for sent in [&first, &second] {
        assert!(reader.advance().unwrap());
        let frame = reader.take();
        assert_eq!(frame.bytes(), &sent[4..]);
        assert_eq!(frame.held_bytes(), sent.len() - 4);
        assert_eq!(reader.buffer_bytes(), buffer_bytes);
    }
    reader.release();
    assert_eq!(reader.buffer_bytes(), 0);
}

/// The bytes behind a frame that leaves with its buffer go on as the next message.
#[test]
fn bytes_behind_a_frame_that_has_left_stay() {
    let (first, second) = (long(14_000), long(1_000));
    let mut reader = MessageReader::default();
    let stream = [&first[..], &second[..500]].concat();
    reader.spare()[..stream.len()].copy_from_slice(&stream);
    reader.filled(stream.len());
    assert!(reader.advance().unwrap());
    let place = reader.message().as_ptr();
    let frame = reader.take();
    assert_eq!(
        (frame.bytes(), frame.bytes().as_ptr()),
        (&first[4..], place)
    );
    assert!(!reader.advance().unwrap());
    let rest = &second[500..];
    reader.spare()[..rest.len()].copy_from_slice(rest);
    reader.filled(rest.len());
    assert!(reader.advance().unwrap());
    assert_eq!(reader.message(), &second[4..]);
}

#[test]
fn memory_follows_the_bytes_that_arrive_and_not_the_length_they_announce() {
    let stream = long(64 << 20);
    let mut reader = MessageReader::default();
    let mut arrived = 0;
    for piece in stream[..8 << 20].chunks(100_000) {
        let wanted = reader.wanted_bytes();
        let mut left = piece;
        while !left.is_empty() {
            let room = reader.spare();
            let count = room.len().min(left.len());
            room[..count].copy_from_slice(&left[..count]);
            reader.filled(count);
            left = &left[count..];
        }
        arrived += piece.len();
        assert!(wanted <= 2 * arrived + READ_AHEAD_BYTES);
        assert!(reader.buffer_bytes() <= 2 * arrived + READ_AHEAD_BYTES);
        assert!(!reader.advance().unwrap());
        assert_eq!(reader.announced_bytes(), stream.len());
    }
}

#[test]
fn a_message_of_64_mib_arrives() {
    let stream = long(64 << 20);
    let mut reader = fed(&stream);
    assert!(reader.advance().unwrap());
    let frame = reader.take();
    assert_eq!(frame.held_bytes(), stream.len());
    let request = decode(frame.bytes()).unwrap();
    let (_, message) = entries(&request)[0];
    assert_eq!(message.len(), 64 << 20);
}

/// What a reader with a limit of 100 bytes says once `stream` has arrived.
fn limited(stream: &[u8]) -> Result<bool, TransportError> {
    let mut reader = MessageReader::new(100);
    reader.spare()[..stream.len()].copy_from_slice(stream);
    reader.filled(stream.len());
    reader.advance()
}

#[test]
fn a_message_above_the_limit_is_refused_as_soon_as_its_length_is_known() {
    let too_long = |announced| {
        Err(TransportError::TooLong {
            announced,
            limit: 100,
        })
    };
    let framed = |length: u32| [&length.to_be_bytes()[..], &[0]].concat();
    assert_eq!(limited(&framed(100)), Ok(false));
    assert_eq!(limited(&framed(101)), too_long(101));
    assert_eq!(
        limited(&framed(i32::MAX as u32)),
        too_long(i32::MAX as usize)
    );
    // The list is whole at byte 20, the body of the message ends at byte 30 + its length.
    let entry = "00000003 'Log' 01 00000000 0f 0001 0c 00000001 0b 0001 00000001 'c' 0b 0002";
    assert_eq!(limited(&bytes(&format!("{entry} 0000003f"))), Ok(false));
    assert_eq!(limited(&bytes(&format!("{entry} 00000047"))), too_long(106));
    let numbers = "00000003 'Log' 01 00000000 0f 0009 0a 7fffffff";
    assert_eq!(
        limited(&bytes(numbers)),
        too_long(20 + 8 * (i32::MAX as usize))
    );
}

#[test]
fn a_negative_length_of_a_frame_is_above_every_limit() {
    let mut reader = MessageReader::of(Transport::Framed, 1 << 30);
    reader.spare()[..4].copy_from_slice(&[0xff; 4]);
    reader.filled(4);
    assert!(matches!(
        reader.advance(),
        Err(TransportError::TooLong { .. })
    ));
}

#[test]
fn an_unframed_message_whose_end_cannot_be_found_says_where() {
    let message = bytes("00000003 'Log' 01 00000000 05 0001");
    let error = limited(&message).unwrap_err();
    let said = "malformed Thrift message: no type has the number 5, at byte 12";
    assert_eq!(error.to_string(), said);
    let message = bytes("80010009 00000003");
    let said = "malformed Thrift message: no kind of message has the number 9, at byte 0";
    assert_eq!(limited(&message).unwrap_err().to_string(), said);
}

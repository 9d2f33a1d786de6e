//! Syslog of strangers: no reader panics, frames do not depend on how a stream arrives, and a body is the end of its message.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::limits::SYSLOG_READ_BYTES_MIN;
use wire::syslog::{Arrival, FrameReader, Header};

fuzz_target!(|bytes: &[u8]| {
    assert_eq!(messages(bytes, 7), messages(bytes, SYSLOG_READ_BYTES_MIN));
    read(bytes);
});

/// The messages of a stream that arrives in steps of this size.
fn messages(stream: &[u8], step: usize) -> Vec<Vec<u8>> {
    let mut reader = FrameReader::default();
    let mut found = Vec::new();
    for piece in stream.chunks(step) {
        reader.spare()[..piece.len()].copy_from_slice(piece);
        reader.filled(piece.len());
        loop {
            match reader.advance() {
                Ok(Some(frame)) => {
                    read(frame.bytes);
                    found.push(frame.bytes.to_vec());
                }
                Ok(None) => break,
                Err(_) => return found,
            }
        }
    }
    found.extend(reader.finish().map(|frame| frame.bytes.to_vec()));
    found
}

fn read(message: &[u8]) {
    let arrival = Arrival {
        unix_s: 1_795_474_800,
        utc_offset_s: 3_600,
    };
    let header = Header::read(message, arrival);
    assert!(message.ends_with(header.body));
    for name in [header.program, header.host.map(str::as_bytes)]
        .into_iter()
        .flatten()
    {
        assert!((1..=255).contains(&name.len()));
    }
}

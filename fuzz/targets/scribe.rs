//! Thrift messages of strangers: no reader panics, and an accepted call of Log hands out the messages that it announces.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::scribe::{Call, MessageReader, Method, Reply, Request, Transport};

const MESSAGE_BYTES_MAX: usize = 1 << 20;

fuzz_target!(|bytes: &[u8]| {
    let mut reader = MessageReader::new(MESSAGE_BYTES_MAX);
    for piece in bytes.chunks(7) {
        reader.spare()[..piece.len()].copy_from_slice(piece);
        reader.filled(piece.len());
        while let Ok(true) = reader.advance() {
            read(reader.take().bytes());
        }
    }
    assert!(reader.buffer_bytes() <= 2 * bytes.len() + (64 << 10));
    read(bytes);
});

fn read(message: &[u8]) {
    for method in Method::ALL {
        let _ = Reply::decode(message, method, 0);
    }
    match Request::decode(message, Transport::Framed) {
        Ok(request) => {
            if let Call::Log(entries) = request.call {
                assert_eq!(entries.iter().count(), entries.len());
                assert!(entries.len() + entries.text_bytes() <= message.len());
            }
        }
        Err(refusal) => refusal.put_answer(&mut Vec::new()),
    }
}

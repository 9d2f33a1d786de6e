//! JSON bodies and MySQL packets of strangers: the readers never panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::mysql::PacketReader;

fuzz_target!(|bytes: &[u8]| {
    let _ = wire::json::search(bytes);
    let _ = wire::json::documents(bytes);
    wire::json::bulk(bytes).for_each(drop);
    let mut reader = PacketReader::new(1 << 20);
    let room = reader.spare();
    let count = room.len().min(bytes.len());
    room[..count].copy_from_slice(&bytes[..count]);
    reader.filled(count);
    while let Ok(Some(_)) = reader.next_packet() {}
});

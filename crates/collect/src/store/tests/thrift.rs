//! Bytes of `thriftfile` stores.

use std::io::ErrorKind;
use std::sync::Arc;

use disk::{Call, Disk, Fault, FaultDisk};
use proptest::prelude::*;

use super::{at, listing, memory, messages, read, surroundings, web, write};
use crate::config::{FileBase, RotatePeriod, StoreConfig, ThriftFileConfig};
use crate::store::build;

fn thrift(change: impl FnOnce(&mut ThriftFileConfig)) -> StoreConfig {
    let mut config = ThriftFileConfig {
        base: FileBase {
            file_path: "/log".to_owned(),
            create_symlink: false,
            ..FileBase::default()
        },
        ..ThriftFileConfig::default()
    };
    change(&mut config);
    StoreConfig::ThriftFile(config)
}

#[test]
fn an_event_is_its_length_and_its_message_and_none_crosses_a_chunk() {
    let disk = memory();
    let mut store = web(&disk, &thrift(|config| config.base.chunk_size = 16));
    write(&mut *store, &["abc"], at(12, 0));
    write(&mut *store, &["defghi", "ijk"], at(12, 0));
    let want = b"\x03\0\0\0abc\0\0\0\0\0\0\0\0\0\x06\0\0\0defghi\0\0\0\0\0\0\x03\0\0\0ijk";
    assert_eq!(read(&*disk, "log/web_00000"), want);
}

#[test]
fn a_message_that_the_format_cannot_hold_is_counted_as_lost() {
    let disk = memory();
    let surroundings = surroundings(&disk);
    let config = thrift(|config| config.base.chunk_size = 8);
    let mut store = build(&config, b"web", 0, &surroundings).unwrap();
    write(&mut *store, &["", "abcd", "abcde", "x"], at(12, 0));
    assert_eq!(read(&*disk, "log/web_00000"), b"\x04\0\0\0abcd\x01\0\0\0x");
    store.sync().unwrap();
    write(&mut *store, &["y"], at(12, 0));
    store.sync().unwrap();
    assert_eq!(surroundings.counters.all()[&b"web:lost"[..]], 2);
}

#[test]
fn a_message_that_the_format_cannot_hold_counts_once_though_a_failed_sync_brings_it_again() {
    let disk = FaultDisk::new();
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let surroundings = surroundings(&shared);
    let mut store = build(&thrift(|_| ()), b"web", 0, &surroundings).unwrap();
    for _ in 0..3 {
        disk.inject(Call::Sync, 1, Fault::Fail(ErrorKind::Other));
        write(&mut *store, &["", "x"], at(12, 0));
        assert!(store.sync().is_err());
    }
    write(&mut *store, &["", "x"], at(12, 0));
    store.sync().unwrap();
    assert_eq!(surroundings.counters.all()[&b"web:lost"[..]], 1);
}

#[test]
fn the_first_thriftfile_of_a_day_has_no_hour() {
    for (hour, name) in [(0, "web-2026-11-23_00000"), (13, "web-2026-11-23_00000")] {
        let disk = memory();
        let hourly = thrift(|config| config.base.rotate_period = RotatePeriod::Hourly);
        write(&mut *web(&disk, &hourly), &["one"], at(hour, 0));
        assert!(disk.exists(&format!("log/{name}")).unwrap(), "{hour}");
    }
}

#[test]
fn every_opening_begins_a_new_file() {
    let disk = memory();
    for body in ["one", "two"] {
        let mut store = web(&disk, &thrift(|config| config.use_simple_file = true));
        write(&mut *store, &[body, "!"], at(12, 0));
        store.look(at(12, 1));
        write(&mut *store, &["?"], at(12, 1));
    }
    assert_eq!(
        listing(&*disk, "log"),
        ["web_00000: one!?", "web_00001: two!?"]
    );
}

#[test]
fn msg_buffer_size_bounds_the_messages_of_a_write() {
    let disk = FaultDisk::new();
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let mut store = web(&shared, &thrift(|config| config.msg_buffer_size = 2));
    write(&mut *store, &["a", "b", "c", "d", "e"], at(12, 0));
    assert_eq!(disk.count(Call::Write), 3);
}

#[test]
fn a_store_syncs_on_its_own_at_its_flush_frequency() {
    let disk = FaultDisk::new();
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let mut store = web(
        &shared,
        &thrift(|config| config.flush_frequency_ms = 90_000),
    );
    for (minute, syncs) in [(0, 0), (1, 0), (2, 1), (3, 1), (4, 2)] {
        write(&mut *store, &["x"], at(12, minute));
        store.look(at(12, minute));
        assert_eq!(disk.count(Call::Sync), syncs, "minute {minute}");
    }
}

/// Messages of a file as Thrift's reader finds them.
fn events(data: &[u8], chunk_bytes: usize) -> Vec<Vec<u8>> {
    let (mut at, mut events) = (0, Vec::new());
    while at < data.len() {
        let left = chunk_bytes - at % chunk_bytes;
        let length = match data.get(at..at + 4) {
            Some(length) if left >= 4 => u32::from_le_bytes(length.try_into().unwrap()) as usize,
            _ => 0,
        };
        if length == 0 {
            at += left.min(data.len() - at);
        } else {
            assert!(length + 4 <= left, "an event crosses a chunk");
            events.push(data[at + 4..at + 4 + length].to_vec());
            at += 4 + length;
        }
    }
    events
}

proptest! {
    #[test]
    fn a_reader_of_thrift_finds_every_message(
        bodies in prop::collection::vec("[a-z]{1,20}", 1..40),
        chunk_bytes in 24..90_u64,
        at_once in 1..9_usize,
    ) {
        let disk = memory();
        let mut store = web(&disk, &thrift(|config| config.base.chunk_size = chunk_bytes));
        for batch in bodies.chunks(at_once) {
            let batch: Vec<&str> = batch.iter().map(String::as_str).collect();
            prop_assert_eq!(store.write(&messages(&batch), at(12, 0)).taken, batch.len());
        }
        let got = events(&read(&*disk, "log/web_00000"), chunk_bytes as usize);
        let want: Vec<Vec<u8>> = bodies.iter().map(|body| body.clone().into_bytes()).collect();
        prop_assert_eq!(got, want);
    }
}

//! Stores on a disk in memory, and on one that fails.

mod bucket;
mod crash;
mod files;
mod marks;
mod several;
mod thrift;

use std::sync::Arc;

use disk::{Disk, MemoryDisk};

use crate::config::{FileBase, FileConfig, StoreConfig};
use crate::counters::Counters;
use crate::message::{Message, Now};

use super::{Store, Surroundings, Written, build};

pub(super) fn surroundings(disk: &Arc<dyn Disk>) -> Surroundings {
    Surroundings {
        disk: Arc::clone(disk),
        folder: "data/collected".to_owned(),
        spools: "data/spools".to_owned(),
        host_name: "box".to_owned(),
        counters: Arc::new(Counters::default()),
        max_queue_size: 5_000_000,
        queue_bytes: Arc::default(),
        tables: Arc::new(()),
        seed: 7,
    }
}

pub(super) fn memory() -> Arc<dyn Disk> {
    Arc::new(MemoryDisk::new())
}

/// 2026-11-23 at a time of day in UTC.
pub(super) fn at(hour: i64, minute: i64) -> Now {
    let second = hour * 3_600 + minute * 60;
    Now {
        unix_us: (20_780 * 86_400 + second) * 1_000_000,
        utc_offset_s: 0,
        steady_us: (1_000_000 + second) as u64 * 1_000_000,
    }
}

/// A configuration of files in `/log`.
pub(super) fn file(change: impl FnOnce(&mut FileConfig)) -> StoreConfig {
    let mut config = FileConfig {
        base: FileBase {
            file_path: "/log".to_owned(),
            ..FileBase::default()
        },
        ..FileConfig::default()
    };
    change(&mut config);
    StoreConfig::File(config)
}

pub(super) fn web(disk: &Arc<dyn Disk>, config: &StoreConfig) -> Box<dyn Store> {
    build(config, b"web", 0, &surroundings(disk)).unwrap()
}

pub(super) fn messages<'a>(bodies: &[&'a str]) -> Vec<Message<'a>> {
    let message = |body: &&'a str| Message {
        category: b"web",
        body: body.as_bytes(),
    };
    bodies.iter().map(message).collect()
}

/// Writes a batch that must be taken as a whole.
#[track_caller]
pub(super) fn write(store: &mut dyn Store, bodies: &[&str], now: Now) {
    let written = store.write(&messages(bodies), now);
    let whole = Written {
        taken: bodies.len(),
        failed: None,
    };
    assert_eq!(written, whole);
}

pub(super) fn read(disk: &dyn Disk, path: &str) -> Vec<u8> {
    disk.open(path).unwrap().map().unwrap().to_vec()
}

/// Every file of a folder and its folders: `name: content`, sorted. A NUL is shown as `~`.
pub(super) fn listing(disk: &dyn Disk, folder: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for name in disk.list(folder).unwrap() {
        let path = format!("{folder}/{name}");
        if let Ok(file) = disk.open(&path) {
            let text = String::from_utf8_lossy(&file.map().unwrap()).replace('\0', "~");
            lines.push(format!("{name}: {text}"));
        } else {
            let inner = listing(disk, &path);
            lines.extend(inner.into_iter().map(|line| format!("{name}/{line}")));
        }
    }
    lines
}

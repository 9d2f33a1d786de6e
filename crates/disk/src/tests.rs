mod contract;
mod copies;
mod faults;
mod overlay;
mod real;
mod replace;

use crate::{Disk, FaultDisk, MemoryDisk, Overlay, RealDisk};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder of the real file system that is removed when the test ends.
struct Scratch {
    path: PathBuf,
}

impl Scratch {
    fn new() -> Scratch {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("seine-disk-{}-{number}", std::process::id());
        Scratch {
            path: std::env::temp_dir().join(name),
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// Runs a test on every implementation.
#[track_caller]
fn on_every_disk(check: impl Fn(&dyn Disk)) {
    let scratch = Scratch::new();
    check(&RealDisk::open(&scratch.path).unwrap());
    check(&MemoryDisk::new());
    check(&FaultDisk::new());
    check(&Overlay::new(Arc::new(MemoryDisk::new())).unwrap());
}

fn read(disk: &dyn Disk, path: &str) -> Vec<u8> {
    let file = disk.open(path).unwrap();
    let mut content = vec![0; file.len().unwrap() as usize];
    file.read_at(0, &mut content).unwrap();
    content
}

fn write(disk: &dyn Disk, path: &str, content: &[u8]) {
    let file = if disk.exists(path).unwrap() {
        disk.open(path)
    } else {
        disk.create(path)
    }
    .unwrap();
    file.write_at(0, content).unwrap();
}

fn write_synced(disk: &dyn Disk, path: &str, content: &[u8]) {
    write(disk, path, content);
    disk.open(path).unwrap().sync().unwrap();
}

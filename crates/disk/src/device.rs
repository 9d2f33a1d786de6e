//! Facts about the device below a folder: its file system, and how fast it makes writes durable.

use crate::PAGE_BYTES;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Longest time of the measurement.
const MEASURE_FOR: Duration = Duration::from_millis(250);
/// 4 KiB pages of the measured file. They are filled with zeroes first, so that no measured write changes the file's
/// metadata.
const PAGES: u64 = 256;

/// Measures how often a second `pwrite` and `fdatasync` of 4 KiB into prepared space run, one after the other. Blocks
/// for up to a quarter of a second, and removes the file that it uses. Compare any speed that syncs limit with this
/// figure.
pub fn fdatasync_rate(dir: &Path) -> io::Result<f64> {
    let path = dir.join(format!("fdatasync-rate-{}.tmp", std::process::id()));
    let rate = measure(&path);
    fs::remove_file(&path)?;
    rate
}

fn measure(path: &Path) -> io::Result<f64> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(path)?;
    file.write_all_at(&vec![0; PAGES as usize * PAGE_BYTES], 0)?;
    file.sync_all()?;
    let (started, page) = (Instant::now(), [0x5e; PAGE_BYTES]);
    let mut count = 0;
    loop {
        file.write_all_at(&page, count % PAGES * PAGE_BYTES as u64)?;
        file.sync_data()?;
        count += 1;
        let elapsed = started.elapsed();
        if elapsed >= MEASURE_FOR {
            return Ok(count as f64 / elapsed.as_secs_f64());
        }
    }
}

/// The file system that holds `path`, such as `ext4` or `tmpfs`; `unknown` with its number if the number has no name
/// here. (ext2, ext3 and ext4 share a number and are all called `ext4`.)
#[cfg(target_os = "linux")]
pub fn file_system_kind(path: &Path) -> String {
    let Ok(device) = rustix::fs::statfs(path) else {
        return "unknown".to_owned();
    };
    let kind = device.f_type as u32;
    KINDS
        .iter()
        .find(|(number, _)| *number == kind)
        .map_or_else(
            || format!("unknown ({kind:#x})"),
            |(_, name)| (*name).to_owned(),
        )
}

/// The file system that holds `path`: unknown on this system.
#[cfg(not(target_os = "linux"))]
pub fn file_system_kind(_path: &Path) -> String {
    "unknown".to_owned()
}

/// File systems by their numbers in `statfs(2)`.
#[cfg(target_os = "linux")]
const KINDS: [(u32, &str); 13] = [
    (0x0000_ef53, "ext4"),
    (0x5846_5342, "xfs"),
    (0x9123_683e, "btrfs"),
    (0x2fc1_2fc1, "zfs"),
    (0xf2f5_2010, "f2fs"),
    (0x0102_1994, "tmpfs"),
    (0x8584_58f6, "ramfs"),
    (0x794c_7630, "overlayfs"),
    (0x0000_6969, "nfs"),
    (0xff53_4d42, "cifs"),
    (0x6573_5546, "fuse"),
    (0x0102_1997, "9p"),
    (0xca45_1a4e, "bcachefs"),
];

//! What a thread has read from devices.

/// What the kernel counts a device's block as, whatever it has.
#[cfg(target_os = "linux")]
const BLOCK_BYTES: u64 = 512;

/// Reads of a thread from devices: what the page cache held is not among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    /// Accesses to a mapped file that had to wait for a device: major page faults.
    pub faults: u64,
    /// Bytes that devices gave, with what the kernel read ahead.
    pub bytes: u64,
}

impl Reads {
    /// Those of the calling thread since it began; `None`: this system does not count them. Cost: one system call, some 0.2 µs.
    #[cfg(target_os = "linux")]
    #[must_use]
    pub fn of_thread() -> Option<Reads> {
        use nix::sys::resource::{UsageWho, getrusage};

        let usage = getrusage(UsageWho::RUSAGE_THREAD).ok()?;
        Some(Reads {
            faults: usage.major_page_faults() as u64,
            bytes: usage.block_reads() as u64 * BLOCK_BYTES,
        })
    }

    /// Those of the calling thread since it began: this system does not count them.
    #[cfg(not(target_os = "linux"))]
    #[must_use]
    pub fn of_thread() -> Option<Reads> {
        None
    }

    /// Those between an earlier moment of the thread and this one.
    #[must_use]
    pub fn since(self, earlier: Reads) -> Reads {
        Reads {
            faults: self.faults.saturating_sub(earlier.faults),
            bytes: self.bytes.saturating_sub(earlier.bytes),
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs::File;

    use rustix::fs::{Advice, fadvise, fsync};

    use super::Reads;
    use crate::{file_system_kind, map::map};

    #[test]
    fn a_page_that_a_device_must_give_is_counted_and_one_of_the_cache_is_not() {
        let path = std::env::temp_dir().join(format!("seine-reads-{}", std::process::id()));
        std::fs::write(&path, vec![7; 1 << 20]).unwrap();
        let file = File::open(&path).unwrap();
        fsync(&file).unwrap();
        let touch = || {
            let begin = Reads::of_thread().unwrap();
            let bytes = map(&file).unwrap();
            let sum: u64 = (*bytes).as_ref().iter().map(|byte| u64::from(*byte)).sum();
            assert_eq!(sum, 7 << 20);
            Reads::of_thread().unwrap().since(begin)
        };
        assert_eq!(touch(), Reads::default(), "the cache has what was written");
        fadvise(&file, 0, None, Advice::DontNeed).unwrap();
        let read = touch();
        std::fs::remove_file(&path).unwrap();
        // A file system in memory has no device.
        if file_system_kind(&std::env::temp_dir()) != "tmpfs" {
            assert!(read.faults > 0 && read.bytes >= 1 << 20, "{read:?}");
        }
    }
}

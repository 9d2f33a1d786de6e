//! The allocator of the binary, and when it returns freed memory to the system.
//!
//! The setting `memory` bounds the memory of tables and requests. The process stays within it only if freed memory returns to
//! the system. But most freed pages are soon used again, and the kernel clears a page that comes back: to return each at once
//! costs a load a quarter more processor time. And requests were seen to free 36 MiB in 10 ms. Therefore:
//!
//! - With `memory` below 1 GiB each free page returns at once.
//! - With more, a page returns after ten free seconds. A thread looks 40 times a second. While the process holds more than half
//!   of `memory`, the thread returns all free pages.
//!
//! ADR 033 has the figures.

use std::ffi::c_long;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::thread;
use std::time::Duration;

use libmimalloc_sys::{mi_collect, mi_option_set, mi_option_t};
use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Below this `memory` each free page returns at once.
const LITTLE_BYTES: u64 = 1 << 30;

/// How long a server with more `memory` keeps a freed page. A load seals a segment about every second. With mimalloc's own
/// delay of one second the pages of a seal return just before the next seal asks for them: 8 % more processor time.
const KEPT_MS: c_long = 10_000;

/// Time between two looks at the memory of the process. Requests were seen to free 36 MiB in 10 ms, so 90 MiB between two
/// looks; at least 512 MiB are left then.
const LOOK: Duration = Duration::from_millis(25);

/// `mi_option_purge_delay` of mimalloc.h, in milliseconds; the bindings lack it.
const PURGE_DELAY: mi_option_t = 15;

/// File with the process's page counts: all, in memory, in memory and of files, and others.
const COUNTS: &str = "/proc/self/statm";

/// Bytes of a page in [`COUNTS`].
const PAGE_BYTES: u64 = 4096;

/// Keeps the process within `memory`. Must be called before another thread starts.
///
/// # Errors
/// The thread that looks cannot be started.
pub(crate) fn keep_to(memory_bytes: u64) -> io::Result<()> {
    if memory_bytes < LITTLE_BYTES {
        set_purge_delay(0);
        return Ok(());
    }
    let Ok(counts) = File::open(COUNTS) else {
        set_purge_delay(0); // a system without page counts
        return Ok(());
    };
    set_purge_delay(KEPT_MS);
    let look = move || {
        loop {
            thread::sleep(LOOK);
            if anonymous_bytes(&counts).is_some_and(|bytes| bytes > memory_bytes / 2) {
                give_back();
            }
        }
    };
    let thread = thread::Builder::new().name("seine-memory".to_owned());
    thread.spawn(look).map(drop)
}

/// From now on a page returns to the system once it has been free for `delay_ms`.
#[expect(unsafe_code, reason = "the option has no safe binding")]
fn set_purge_delay(delay_ms: c_long) {
    // SAFETY: the call writes an integer into a static table of options, within its bounds. No other thread reads the table
    // meanwhile, as none was started.
    unsafe { mi_option_set(PURGE_DELAY, delay_ms) };
}

/// Returns every free page. Cost: about 15 µs, and the system's cost of each page.
#[expect(unsafe_code, reason = "the call has no safe binding")]
fn give_back() {
    // SAFETY: the call takes no pointer, and any thread may make it at any time.
    unsafe { mi_collect(true) };
}

/// Memory of the process without mapped files, in bytes; `None`: the counts cannot be read.
fn anonymous_bytes(counts: &File) -> Option<u64> {
    let mut text = [0; 128];
    let read = counts.read_at(&mut text, 0).ok()?;
    let text = std::str::from_utf8(text.get(..read)?).ok()?;
    let mut pages = text.split(' ').skip(1).map(str::parse::<u64>);
    let (resident, of_files) = (pages.next()?.ok()?, pages.next()?.ok()?);
    Some(resident.saturating_sub(of_files) * PAGE_BYTES)
}

#[cfg(test)]
mod tests {
    use libmimalloc_sys::mi_option_get;

    use super::*;

    /// The safe twin: what mimalloc reads from its environment variable.
    #[test]
    #[expect(unsafe_code, reason = "the option has no safe binding")]
    fn the_number_is_the_option_that_it_is_taken_for() {
        const BINARY: &str = "SEINE_TEST_PURGE_DELAY_OF_A_CHILD";
        if std::env::var_os(BINARY).is_some() {
            // SAFETY: reads an integer of a static table.
            assert_eq!(unsafe { mi_option_get(PURGE_DELAY) }, 4321);
            keep_to(LITTLE_BYTES).unwrap();
            // SAFETY: as above.
            assert_eq!(unsafe { mi_option_get(PURGE_DELAY) }, KEPT_MS);
            keep_to(LITTLE_BYTES - 1).unwrap();
            // SAFETY: as above.
            assert_eq!(unsafe { mi_option_get(PURGE_DELAY) }, 0);
            return;
        }
        let name = "allocator::tests::the_number_is_the_option_that_it_is_taken_for";
        let status = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name])
            .env("MIMALLOC_PURGE_DELAY", "4321")
            .env(BINARY, "1")
            .stdout(std::process::Stdio::null())
            .status();
        assert!(status.unwrap().success());
    }

    #[test]
    fn freed_memory_is_the_systems_again_once_it_is_given_back() {
        const BYTES: usize = 256 << 20;
        let counts = File::open(COUNTS).unwrap();
        let before = anonymous_bytes(&counts).unwrap();
        let held = vec![1_u8; BYTES];
        let most = anonymous_bytes(&counts).unwrap();
        assert!(most >= before + (BYTES as u64) * 3 / 4, "{before}, {most}");
        drop(held);
        give_back();
        let after = anonymous_bytes(&counts).unwrap();
        assert!(after + (BYTES as u64) * 3 / 4 <= most, "{most}, {after}");
    }
}

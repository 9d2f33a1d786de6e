//! The allocator of the binary, and how soon it gives memory back.
//!
//! `memory` bounds what tables and requests hold. The process keeps to it only if what they have freed goes back to the system:
//! see ADR 033 for the allocators that were measured.

use libmimalloc_sys::{mi_option_set, mi_option_t};
use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// `mi_option_purge_delay` of mimalloc.h, in milliseconds; the bindings do not name it.
const PURGE_DELAY: mi_option_t = 15;

/// From now on a page of memory goes back to the system as soon as nothing on it is in use. To be called before a thread
/// is started.
#[expect(unsafe_code, reason = "the option has no safe binding")]
pub fn give_back_at_once() {
    // SAFETY: the call writes an integer into a static table of options, within its bounds. No other thread reads the table
    // meanwhile, as none was started.
    unsafe { mi_option_set(PURGE_DELAY, 0) };
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
            give_back_at_once();
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
}

//! Threads whose work may wait a little for that of others.

/// How much less of a busy processor such a thread asks for: as `nice` counts, where 5 is a third of the share of a thread with 0.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 5;

/// From now on the system gives this thread a smaller share of a busy processor than one of usual priority.
///
/// For threads that do long work: beside them the thread that writes and the threads that serve sockets, which need a processor for
/// microseconds, get it at once. A large statement occupied the writer for 15 ms where it used 7, and everyone who writes waited.
/// Elsewhere than on Linux priorities belong to processes, and nothing changes.
pub fn give_others_precedence() {
    // Threads work at any priority, so a system that refuses is no reason to stop.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, NICENESS);
}

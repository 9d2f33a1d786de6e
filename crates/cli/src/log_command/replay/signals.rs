//! Ctrl-C and SIGTERM: the first ends the replay in its report, the second ends the process.

use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use tokio::signal::unix::{SignalKind, signal};

/// Exit status of a process that Ctrl-C ends, for a shell.
const EXIT_INTERRUPTED: i32 = 130;

static ASKED: AtomicBool = AtomicBool::new(false);

/// Whether the replay is to end.
pub(super) fn is_asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

/// Watches for the signals from now on.
pub(super) fn watch() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build();
    let Ok(runtime) = runtime else {
        return; // Signals keep their default effect.
    };
    let guard = runtime.enter();
    let signals = (
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
    );
    drop(guard);
    let (Ok(mut interrupt), Ok(mut terminated)) = signals else {
        return;
    };
    thread::spawn(move || {
        runtime.block_on(async {
            loop {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminated.recv() => {}
                }
                if ASKED.swap(true, Ordering::SeqCst) {
                    exit(EXIT_INTERRUPTED);
                }
            }
        });
    });
}

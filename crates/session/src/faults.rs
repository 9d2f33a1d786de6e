//! Faults for tests of the real binary. The environment variable `SEINE_FAULTS` asks for them; it is read once, at the start.
//! Production leaves it unset. If it is set, the log begins with a warning.
//!
//! Its value is a list with commas. TEXT is compared with the bytes of a statement, PATH is a named pipe, MS are milliseconds:
//!
//! | fault | effect |
//! |---|---|
//! | `panic-read=TEXT` | a read whose statement contains TEXT panics |
//! | `panic-write=TEXT` | after a statement that contains TEXT, the engine panics as it applies the next record |
//! | `hold-search=TEXT` | a search whose statement contains TEXT does not begin until it is stopped |
//! | `hold-recovery=PATH` | recovery does not end before a writer opens and closes PATH |
//! | `hold-write=TEXT@PATH` | as `panic-write`, but the engine waits for a writer of PATH |
//! | `stuck-after=MS` | `/readyz` answers `stuck` after a turn of that length |
//! | `stop-grace=MS` | time that a stop leaves to connections, and then to the engine |
//! | `webhook-pause=MS` | every pause between two attempts of a webhook |
//! | `webhook-timeout=MS` | time that a webhook's target has to answer |
//! | `http-head=MS` | time that the head of an HTTP request has |

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Fault of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadFault {
    /// The read panics.
    Panic,
    /// The search waits until it is stopped.
    Hold,
}

/// The faults that `SEINE_FAULTS` asks for.
#[derive(Debug, Default)]
pub struct Faults {
    panic_read: Option<String>,
    hold_search: Option<String>,
    panic_write: Option<String>,
    hold_recovery: Option<PathBuf>,
    hold_write: Option<(String, PathBuf)>,
    stuck_after: Option<Duration>,
    stop_grace: Option<Duration>,
    webhook_pause: Option<Duration>,
    webhook_timeout: Option<Duration>,
    http_head: Option<Duration>,
    write_panics: AtomicBool,
    write_holds: AtomicBool,
}

impl Faults {
    /// Reads the variable's text. Parts with an unknown name or a bad number are ignored.
    pub fn read(text: &str) -> Faults {
        let mut faults = Faults::default();
        for (name, value) in text.split(',').filter_map(|part| part.split_once('=')) {
            match name {
                "panic-read" => faults.panic_read = Some(value.to_owned()),
                "hold-search" => faults.hold_search = Some(value.to_owned()),
                "panic-write" => faults.panic_write = Some(value.to_owned()),
                "hold-recovery" => faults.hold_recovery = Some(PathBuf::from(value)),
                "hold-write" => {
                    let parts = value.split_once('@');
                    faults.hold_write = parts.map(|(text, path)| (text.to_owned(), path.into()));
                }
                "stuck-after" => faults.stuck_after = milliseconds(value),
                "stop-grace" => faults.stop_grace = milliseconds(value),
                "webhook-pause" => faults.webhook_pause = milliseconds(value),
                "webhook-timeout" => faults.webhook_timeout = milliseconds(value),
                "http-head" => faults.http_head = milliseconds(value),
                _ => {}
            }
        }
        faults
    }

    /// Whether any fault is asked for.
    pub fn any(&self) -> bool {
        let times = [
            self.webhook_pause,
            self.webhook_timeout,
            self.http_head,
            self.stuck_after,
            self.stop_grace,
        ];
        let times = times.into_iter().find_map(|time| time);
        let texts = [&self.panic_read, &self.panic_write, &self.hold_search];
        let paths = self.hold_recovery.is_some() || self.hold_write.is_some();
        texts.into_iter().any(Option::is_some) || paths || times.is_some()
    }

    /// The fault of this statement's read, if any. Arms the fault of the engine's next write if the statement asks for one.
    pub fn choose(&self, statement: &[u8]) -> Option<ReadFault> {
        if holds(statement, self.panic_write.as_deref()) {
            self.write_panics.store(true, Ordering::SeqCst);
        }
        let text = self.hold_write.as_ref().map(|(text, _)| text.as_str());
        if holds(statement, text) {
            self.write_holds.store(true, Ordering::SeqCst);
        }
        if holds(statement, self.panic_read.as_deref()) {
            return Some(ReadFault::Panic);
        }
        holds(statement, self.hold_search.as_deref()).then_some(ReadFault::Hold)
    }

    /// The engine calls this before it applies a record. Panics or blocks if [`Faults::choose`] has armed that.
    pub fn on_apply(&self) {
        assert!(
            !self.write_panics.load(Ordering::Relaxed),
            "SEINE_FAULTS asked for a panic in this write"
        );
        if self.write_holds.swap(false, Ordering::SeqCst)
            && let Some((_, path)) = &self.hold_write
        {
            wait_for(path);
        }
    }

    /// Pause between two attempts of a webhook: `usual`, unless a test has set it.
    pub fn webhook_pause(&self, usual: Duration) -> Duration {
        self.webhook_pause.unwrap_or(usual)
    }

    /// Time that a webhook's target has to answer: `usual`, unless a test has set it.
    pub fn webhook_timeout(&self, usual: Duration) -> Duration {
        self.webhook_timeout.unwrap_or(usual)
    }

    /// Time that the head of an HTTP request has: `usual`, unless a test has set it.
    pub fn http_head(&self, usual: Duration) -> Duration {
        self.http_head.unwrap_or(usual)
    }

    /// Blocks until the test lets recovery end.
    pub fn on_recovered(&self) {
        if let Some(path) = &self.hold_recovery {
            wait_for(path);
        }
    }

    /// Longest turn of the engine before `/readyz` answers `stuck`: `usual`, unless a test has set it.
    pub fn stuck_after(&self, usual: Duration) -> Duration {
        self.stuck_after.unwrap_or(usual)
    }

    /// Time that a stop leaves to connections, and then to the engine: `usual`, unless a test has set it.
    pub fn stop_grace(&self, usual: Duration) -> Duration {
        self.stop_grace.unwrap_or(usual)
    }
}

/// Blocks until another process has opened the pipe for writing and closed it. The bytes that it writes do not matter.
fn wait_for(path: &Path) {
    let _ = std::fs::read(path);
}

fn milliseconds(text: &str) -> Option<Duration> {
    text.parse().ok().map(Duration::from_millis)
}

fn holds(statement: &[u8], text: Option<&str>) -> bool {
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        return false;
    };
    statement
        .windows(text.len())
        .any(|window| window == text.as_bytes())
}

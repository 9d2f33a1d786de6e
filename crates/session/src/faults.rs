//! Faults that the tests of the real binary ask for in the variable `SEINE_FAULTS`, read once at the start. Empty in
//! every real life; when it is not, the log begins with a warning.
//!
//! A comma list of: `panic-read=TEXT` (a read whose statement holds TEXT panics), `panic-write=TEXT` (the engine's
//! thread panics when a statement holds TEXT), `hold-search=TEXT` (a search whose statement holds TEXT does not begin before
//! it is stopped), `hold-recovery=PATH` (recovery ends when the pipe at PATH is opened for
//! writing and closed), `hold-write=TEXT@PATH` (likewise the engine's next turn that writes after a statement that holds TEXT came),
//! `stuck-after=MS` (a turn that lasts longer makes `/readyz` say so), `stop-grace=MS` (so long have connections, and then
//! the engine, when the server stops), `webhook-pause=MS` (every pause between two attempts of a webhook lasts so long),
//! `webhook-timeout=MS` (so long has its target to answer), `http-head=MS` (so long has the head of an HTTP request).

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What is to happen in a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadFault {
    /// It panics.
    Panic,
    /// A search waits until it is stopped.
    Hold,
}

/// What was asked for.
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
    /// Reads the variable's text; parts that mean nothing are ignored.
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

    /// Whether anything was asked for.
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

    /// What is to happen in this statement's read. Marks the engine's next record where its write is to panic or to wait.
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

    /// Called before a record is applied: panics where a write was chosen, or blocks until the test lets it go.
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

    /// The pause between two attempts of a webhook, in place of the usual one.
    pub fn webhook_pause(&self, usual: Duration) -> Duration {
        self.webhook_pause.unwrap_or(usual)
    }

    /// The time a webhook's target has, in place of the usual one.
    pub fn webhook_timeout(&self, usual: Duration) -> Duration {
        self.webhook_timeout.unwrap_or(usual)
    }

    /// The time that the head of an HTTP request has, in place of the usual one.
    pub fn http_head(&self, usual: Duration) -> Duration {
        self.http_head.unwrap_or(usual)
    }

    /// Blocks until the test lets recovery end.
    pub fn on_recovered(&self) {
        if let Some(path) = &self.hold_recovery {
            wait_for(path);
        }
    }

    /// How long a turn of the engine may last before `/readyz` tells, in place of the usual time.
    pub fn stuck_after(&self, usual: Duration) -> Duration {
        self.stuck_after.unwrap_or(usual)
    }

    /// How long a stop waits for connections, and then for the engine, in place of the usual time.
    pub fn stop_grace(&self, usual: Duration) -> Duration {
        self.stop_grace.unwrap_or(usual)
    }
}

/// Opening a pipe for reading waits for its writer; what it writes does not matter.
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

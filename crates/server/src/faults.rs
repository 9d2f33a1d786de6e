//! Faults that the tests of the real binary ask for in the variable `SEINE_FAULTS`, read once at the start. Empty in
//! every real life; when it is not, the log begins with a warning.
//!
//! A comma list of: `panic-read=TEXT` (a read whose statement holds TEXT panics), `panic-write=TEXT` (the engine's
//! thread panics when a statement holds TEXT), `hold-search=TEXT` (a search whose statement holds TEXT does not begin before
//! it is stopped), `hold-recovery=PATH` (recovery ends when the pipe at PATH is opened for
//! writing and closed), `webhook-pause=MS` (every pause between two attempts of a webhook lasts so long),
//! `webhook-timeout=MS` (so long has its target to answer), `http-head=MS` (so long has the head of an HTTP request).

use std::path::PathBuf;
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
    webhook_pause: Option<Duration>,
    webhook_timeout: Option<Duration>,
    http_head: Option<Duration>,
    write_panics: AtomicBool,
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
        let times = self
            .webhook_pause
            .or(self.webhook_timeout)
            .or(self.http_head);
        let texts = [&self.panic_read, &self.panic_write, &self.hold_search];
        texts.into_iter().any(Option::is_some) || self.hold_recovery.is_some() || times.is_some()
    }

    /// What is to happen in this statement's read. Marks the engine's next record where its write is to panic.
    pub fn choose(&self, statement: &[u8]) -> Option<ReadFault> {
        if holds(statement, self.panic_write.as_deref()) {
            self.write_panics.store(true, Ordering::SeqCst);
        }
        if holds(statement, self.panic_read.as_deref()) {
            return Some(ReadFault::Panic);
        }
        holds(statement, self.hold_search.as_deref()).then_some(ReadFault::Hold)
    }

    /// Called before a record is applied: panics where a write was chosen.
    pub fn on_apply(&self) {
        assert!(
            !self.write_panics.load(Ordering::Relaxed),
            "SEINE_FAULTS asked for a panic in this write"
        );
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
            // Opening a pipe for reading waits for its writer; what it writes does not matter.
            let _ = std::fs::read(path);
        }
    }
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

//! The calls of fb303: state, counters and options of the server, and the two calls that stop and reload it.

use std::sync::PoisonError;

use collect::Collector;
use session::Remote;
use wire::scribe::{Call, Exception, ExceptionKind, Reply, Status};

use super::Scribe;
use crate::server::Server;

/// What `getName` answers, as Scribe does.
const NAME: &[u8] = b"Scribe";

/// What `getVersion` answers: the version whose calls and configuration the door understands.
const VERSION: &[u8] = b"2.2";

/// A reply that owns its texts.
pub(super) enum Answer {
    Text(Vec<u8>),
    Number(i64),
    Status(Status),
    Counters(Vec<(Vec<u8>, i64)>),
    Options(Vec<(Vec<u8>, Vec<u8>)>),
    Done,
    Refused(ExceptionKind, String),
}

impl Answer {
    /// The reply, borrowed.
    pub(super) fn reply(&self) -> Reply<'_> {
        match self {
            Answer::Text(text) => Reply::Text(text),
            Answer::Number(number) => Reply::Number(*number),
            Answer::Status(status) => Reply::Status(*status),
            Answer::Counters(counters) => Reply::Counters(
                counters
                    .iter()
                    .map(|(name, count)| (&name[..], *count))
                    .collect(),
            ),
            Answer::Options(options) => Reply::Options(
                options
                    .iter()
                    .map(|(key, value)| (&key[..], &value[..]))
                    .collect(),
            ),
            Answer::Done => Reply::Done,
            Answer::Refused(kind, why) => Reply::Exception(Exception {
                kind: *kind,
                message: why.clone(),
            }),
        }
    }
}

/// Most options that clients may set, and most bytes of a name or value.
const OPTIONS_MAX: usize = 1_000;
const OPTION_BYTES_MAX: usize = 4_096;

impl Scribe {
    /// Answers every call but `Log`.
    pub(super) fn answer(&self, server: &Server, remote: Remote, call: &Call<'_>) -> Answer {
        match call {
            Call::GetName => Answer::Text(NAME.to_vec()),
            Call::GetVersion => Answer::Text(VERSION.to_vec()),
            Call::GetStatus => Answer::Status(self.status(server).0),
            Call::GetStatusDetails => Answer::Text(self.status(server).1.into_bytes()),
            Call::GetCounters => Answer::Counters(self.counters().collect()),
            Call::GetCounter(name) => Answer::Number(
                self.counters()
                    .find(|(key, _)| key == name)
                    .map_or(0, |(_, count)| count),
            ),
            Call::GetOption(key) => {
                let options = self.options.lock().unwrap_or_else(PoisonError::into_inner);
                Answer::Text(options.get(*key).cloned().unwrap_or_default())
            }
            Call::GetOptions => {
                let options = self.options.lock().unwrap_or_else(PoisonError::into_inner);
                Answer::Options(
                    options
                        .iter()
                        .map(|(key, value)| (key.clone(), value.clone()))
                        .collect(),
                )
            }
            Call::AliveSince => Answer::Number(self.alive_since_s),
            Call::GetCpuProfile { .. } => Answer::Text(Vec::new()),
            Call::SetOption { key, value } => match self.is_admin(server, remote, "setOption") {
                true => self.set_option(key, value),
                false => Answer::Refused(ExceptionKind::InternalError, not_permitted("setOption")),
            },
            Call::Reinitialize => {
                if self.is_admin(server, remote, "reinitialize") {
                    self.reload_asked.notify_one();
                }
                Answer::Done
            }
            Call::Shutdown => {
                if self.is_admin(server, remote, "shutdown") {
                    tracing::info!(address = %remote, "a client of the Scribe door stops the server");
                    self.stop_asked.notify_one();
                }
                Answer::Done
            }
            Call::GetMapping(_) => Answer::Refused(
                ExceptionKind::UnknownMethod,
                "Invalid method name: 'getMapping'".to_owned(),
            ),
            Call::Log(_) => Answer::Refused(
                ExceptionKind::InternalError,
                "Log is answered by its own path".to_owned(),
            ),
        }
    }

    fn set_option(&self, key: &[u8], value: &[u8]) -> Answer {
        let mut options = self.options.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = !options.contains_key(key);
        if key.len() > OPTION_BYTES_MAX
            || value.len() > OPTION_BYTES_MAX
            || is_new && options.len() >= OPTIONS_MAX
        {
            let why =
                format!("at most {OPTIONS_MAX} options of {OPTION_BYTES_MAX} bytes each are kept");
            return Answer::Refused(ExceptionKind::InternalError, why);
        }
        options.insert(key.to_vec(), value.to_vec());
        Answer::Done
    }

    /// fb303's state and its words.
    pub(super) fn status(&self, server: &Server) -> (Status, String) {
        if *server.stopping().borrow() {
            return (Status::Stopping, "the server stops".to_owned());
        }
        let Some(collector) = self.collector.get() else {
            return (Status::Starting, "the server reads its journal".to_owned());
        };
        let trouble = self
            .trouble
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        match trouble.or_else(|| collector.status()) {
            Some(details) => (Status::Warning, details),
            None => (Status::Alive, String::new()),
        }
    }

    fn counters(&self) -> impl Iterator<Item = (Vec<u8>, i64)> {
        let counters = self
            .collector
            .get()
            .map(Collector::counters)
            .unwrap_or_default();
        counters
            .into_iter()
            .map(|(name, count)| (name, i64::try_from(count).unwrap_or(i64::MAX)))
    }

    /// Whether a client may stop, reload and change the server. A refusal is counted and logged.
    fn is_admin(&self, server: &Server, remote: Remote, method: &'static str) -> bool {
        let is_named = matches!(remote, Remote::Ip(address) if server.settings().scribe_admin.contains(&address));
        let may = remote.is_local() || is_named;
        if !may {
            server
                .counters
                .scribe_refused
                .fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            tracing::warn!(address = %remote, method, "refused: only this machine and scribe_admin may call it");
        }
        may
    }
}

fn not_permitted(method: &str) -> String {
    format!(
        "{method} is for clients on this machine and for the addresses of the setting scribe_admin"
    )
}

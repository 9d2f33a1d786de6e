//! The answer to each call: `Log`; state, counters and options of the server; the two calls that stop and reload it.

use std::net::IpAddr;
use std::sync::{Arc, PoisonError};

use session::places::Peer;
use session::{Grant, Session};
use wire::scribe::{Call, Exception, ExceptionKind, Reply, ResultCode, Status};

use super::Scribe;
use super::connection::INLINE_BYTES;
use crate::limits::SCRIBE_LOG_EVERY;
use crate::server::Server;

/// What `getName` answers, as Scribe does.
const NAME: &[u8] = b"Scribe";

/// What `getVersion` answers: the version whose calls and configuration the door understands.
const VERSION: &[u8] = b"2.2";

/// The connection that a call comes from.
pub(super) struct Caller<'a> {
    pub(super) server: &'a Arc<Server>,
    pub(super) peer: &'a Peer,
    /// The client's whole IP address, if it has one.
    pub(super) address: Option<IpAddr>,
    pub(super) session: &'a Session,
    /// Memory that the call holds already, in bytes.
    pub(super) held_bytes: usize,
    /// Memory of the answer until it is sent.
    pub(super) reply_memory: &'a Grant,
}

/// A reply that owns its texts.
pub(super) enum Answer {
    Log(ResultCode),
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
            Answer::Log(code) => Reply::Log(*code),
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
    /// Answers a call.
    pub(super) async fn answer(&self, caller: &Caller<'_>, call: &Call<'_>) -> Answer {
        let server = caller.server;
        match call {
            Call::Log(entries) => self.log(caller, entries).await,
            Call::GetName => Answer::Text(NAME.to_vec()),
            Call::GetVersion => Answer::Text(VERSION.to_vec()),
            Call::GetStatus => Answer::Status(self.status(server).0),
            Call::GetStatusDetails => Answer::Text(self.status(server).1.into_bytes()),
            Call::GetCounters => self.all_counters(caller).await,
            Call::GetCounter(name) => Answer::Number(signed(self.counters.one(name))),
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
            Call::SetOption { key, value } => match self.is_admin(caller, "setOption") {
                true => self.set_option(key, value),
                false => Answer::Refused(ExceptionKind::InternalError, not_permitted("setOption")),
            },
            Call::Reinitialize => {
                if self.is_admin(caller, "reinitialize") {
                    self.reload_asked.notify_one();
                }
                Answer::Done
            }
            Call::Shutdown => {
                if self.is_admin(caller, "shutdown") {
                    tracing::info!(address = %caller.peer.remote, "a client of the Scribe door stops the server");
                    self.stop_asked.notify_one();
                }
                Answer::Done
            }
            Call::GetMapping(_) => Answer::Refused(
                ExceptionKind::UnknownMethod,
                "Invalid method name: 'getMapping'".to_owned(),
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

    /// All counters. Their names are strangers': the answer counts as memory of requests, and is made off the event loop.
    async fn all_counters(&self, caller: &Caller<'_>) -> Answer {
        let bytes = self.counters.reply_bytes();
        if let Err(failure) = caller.reply_memory.reserve(bytes).await {
            return Answer::Refused(ExceptionKind::InternalError, failure.to_string());
        }
        if bytes > INLINE_BYTES {
            caller.server.long(caller.session).await;
        }
        let all = self.counters.all().into_iter();
        Answer::Counters(all.map(|(name, count)| (name, signed(count))).collect())
    }

    /// Whether a client may stop, reload and change the server. A refusal is counted, and logged once in a while.
    fn is_admin(&self, caller: &Caller<'_>, method: &'static str) -> bool {
        let (server, remote) = (caller.server, caller.peer.remote);
        let admins = &server.settings().scribe_admin;
        let is_named = |address| admins.iter().any(|admin| admin.to_canonical() == address);
        let may = remote.is_local() || caller.address.is_some_and(is_named);
        if !may {
            server
                .counters
                .scribe_refused
                .fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let now_us = server.clock.steady_us();
            if let Some(count) = self.told.not_permitted.due(SCRIBE_LOG_EVERY, now_us) {
                tracing::warn!(address = %remote, method, count, "refused: only this machine and scribe_admin may call it; count: those since the last such line");
            }
        }
        may
    }
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn not_permitted(method: &str) -> String {
    format!(
        "{method} is for clients on this machine and for the addresses of the setting scribe_admin"
    )
}

//! A store that sends messages to another collector, Seine or Scribe, by calls of `Log`.
//!
//! # Example
//! A batch of 3 MB goes to a server that becomes busy:
//!
//! | | sent | answer | taken of the batch |
//! |---|---|---|---|
//! | 1 | a call without messages, since the batch is above 4,096 bytes: is the server there? | OK | 0 |
//! | 2 | the first 1 MiB | OK | 10,400 |
//! | 3 | the next 1 MiB | TRY_LATER | 10,400: the rest comes again, the connection stays |
//!
//! A call whose answer does not come may have been taken by the server. Its messages are sent again, so they may come twice.
//!
//! Invariants:
//! - A message counts as taken when the server has answered OK.
//! - After any failure but TRY_LATER the connection is closed: an answer that comes late must not answer a later call.
//! - An attempt to connect to an address, the sending of 64 KiB of a call, and its answer take at most `timeout` each.
//! - With `dynamic_config_type`, new messages go to the server that the last good answer of the updater named.

mod updater;

use std::sync::Arc;
use std::time::Duration;

use wire::scribe::ResultCode;

use self::updater::Updater;
use super::random::Random;
use super::{Store, Surroundings, Written};
use crate::client::Client;
use crate::config::NetworkConfig;
use crate::counters::{Counter, Counters};
use crate::message::{Message, Now};

/// A call ends with the message that brings it to this size. Bytes.
const CALL_BYTES: usize = 1 << 20;

/// A batch above this size is announced by a call without messages. Bytes; Scribe's number.
const PROBE_BYTES: usize = 4_096;

/// Longest answer of a server. Bytes.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// A connection that rests for this time is probed before it is used again: the server may have started anew. Microseconds.
const RESTS_US: u64 = 1_000_000;

/// A `network` store.
pub(super) struct Network {
    config: NetworkConfig,
    link: Option<Client>,
    /// When the connection was used last, on the steady clock.
    used_us: u64,
    /// Finds the server, where the configuration names none.
    updater: Option<Updater>,
    random: Random,
    failed: Option<String>,
    counters: Arc<Counters>,
}

impl Network {
    /// A store that connects at its first use. `category` as in [`super::build`].
    pub(super) fn new(
        config: &NetworkConfig,
        category: &[u8],
        surroundings: &Surroundings,
    ) -> Network {
        let updater = config.bucket_updater.as_ref();
        Network {
            updater: updater
                .map(|updater| Updater::new(updater, category, timeout(config), surroundings)),
            config: config.clone(),
            link: None,
            used_us: 0,
            random: Random::new(surroundings.seed),
            failed: None,
            counters: Arc::clone(&surroundings.counters),
        }
    }

    /// Connects to one of the servers, beginning with a random one.
    fn connect(&mut self, now: Now) -> Result<(), String> {
        if self.link.is_some() {
            return Ok(());
        }
        let hosts = match &mut self.updater {
            Some(updater) => vec![updater.host(now)?],
            None => self.config.hosts.clone(),
        };
        if hosts.is_empty() {
            return Err("no remote_host is given".to_owned());
        }
        let first = self.random.below(hosts.len() as u64) as usize;
        let mut failed = String::new();
        for host in hosts.iter().cycle().skip(first).take(hosts.len()) {
            match link(host, timeout(&self.config)) {
                Ok(link) => {
                    self.link = Some(link);
                    self.used_us = now.steady_us;
                    return Ok(());
                }
                Err(error) => failed = error,
            }
        }
        self.doubt(now);
        Err(failed)
    }

    /// The server failed: perhaps the bucket has moved.
    fn doubt(&mut self, now: Now) {
        if let Some(updater) = &mut self.updater {
            updater.doubt(now);
        }
    }

    /// Sends the batch in calls; gives the number of messages that the server took, and why not all.
    fn send(&mut self, batch: &[Message<'_>], now: Now) -> (usize, Option<String>) {
        let has_rested = now.steady_us.saturating_sub(self.used_us) >= RESTS_US;
        if let Some(link) = &mut self.link
            && has_rested
            && link.log([]).is_err()
        {
            self.link = None; // no message was sent, so a new connection doubles none
        }
        if let Err(error) = self.connect(now) {
            return (0, Some(error));
        }
        let Some(link) = &mut self.link else {
            return (0, Some("not connected".to_owned()));
        };
        self.used_us = now.steady_us;
        let size = |message: &Message<'_>| message.category.len() + message.body.len() + 16;
        let is_large = batch.iter().map(size).sum::<usize>() > PROBE_BYTES;
        let (mut taken, mut is_probe) = (0, is_large);
        while taken < batch.len() {
            let rest = if is_probe {
                &[]
            } else {
                batch.get(taken..).unwrap_or_default()
            };
            let mut bytes = 0;
            let fits = rest.iter().take_while(|message| {
                let goes = bytes < CALL_BYTES;
                bytes += size(message);
                goes
            });
            let count = fits.count();
            let call = rest.get(..count).unwrap_or_default();
            let entries = call.iter().map(|message| (message.category, message.body));
            match link.log(entries) {
                Ok(ResultCode::Ok) => taken += count,
                Ok(ResultCode::TryLater) => {
                    let failed = format!("{}: TRY_LATER", link.address());
                    if self.config.is_service {
                        self.link = None; // another server may take it
                    }
                    return (taken, Some(failed));
                }
                Err(error) => {
                    self.link = None;
                    self.doubt(now);
                    return (taken, Some(error));
                }
            }
            is_probe = false;
        }
        (taken, None)
    }
}

impl Store for Network {
    fn open(&mut self, now: Now) -> Result<(), String> {
        let opened = self.connect(now);
        self.failed = opened.clone().err();
        opened
    }

    fn write(&mut self, batch: &[Message<'_>], now: Now) -> Written {
        let (taken, failed) = self.send(batch, now);
        self.counters.add_overall(Counter::Sent, taken as u64);
        self.failed.clone_from(&failed);
        match failed {
            Some(_) if self.config.ignore_network_error => {
                for message in batch.get(taken..).unwrap_or_default() {
                    self.counters.add(message.category, Counter::Lost, 1);
                }
                Written {
                    taken: batch.len(),
                    failed: None,
                }
            }
            failed => Written { taken, failed },
        }
    }

    /// Asks anew where the bucket is, if it is time. A server that is not its server any more is left.
    fn look(&mut self, now: Now) {
        if let (Some(updater), Some(link)) = (&mut self.updater, &self.link)
            && let Ok((host, port)) = updater.host(now)
            && link.address() != format!("{host}:{port}")
        {
            self.link = None;
        }
    }

    fn status(&self) -> Option<String> {
        self.failed.clone()
    }

    fn close(&mut self, _: Now) {
        self.link = None;
    }
}

fn link((host, port): &(String, u16), timeout: Duration) -> Result<Client, String> {
    Client::connect((host, *port), timeout, ANSWER_BYTES_MAX)
}

fn timeout(config: &NetworkConfig) -> Duration {
    Duration::from_millis(config.timeout_ms.max(1))
}

#[cfg(test)]
mod tests;

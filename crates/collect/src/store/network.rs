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
//! - The connection, the sending of a call and its answer take at most `timeout` each, however small the parts are.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::{Duration, Instant};

use wire::scribe::{Call, Dialect, MessageReader, Method, Reply, ResultCode, Transport};

use super::random::Random;
use super::{Store, Surroundings, Written};
use crate::config::{BucketUpdater, NetworkConfig};
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

/// A buffer above this size is freed after its call: there may be thousands of stores. Bytes.
const KEPT_BYTES: usize = 64 << 10;

/// A `network` store.
pub(super) struct Network {
    config: NetworkConfig,
    link: Option<Link>,
    /// When the connection was used last, on the steady clock.
    used_us: u64,
    /// The server of the bucket, and until when it is good, on the steady clock.
    mapped: Option<((String, u16), u64)>,
    random: Random,
    failed: Option<String>,
    counters: Arc<Counters>,
}

impl Network {
    /// A store that connects at its first use.
    pub(super) fn new(config: &NetworkConfig, surroundings: &Surroundings) -> Network {
        Network {
            config: config.clone(),
            link: None,
            used_us: 0,
            mapped: None,
            random: Random::new(surroundings.seed),
            failed: None,
            counters: Arc::clone(&surroundings.counters),
        }
    }

    fn timeout(&self) -> Duration {
        Duration::from_millis(self.config.timeout_ms.max(1))
    }

    /// Connects to one of the servers, beginning with a random one.
    fn connect(&mut self, category: &[u8], now: Now) -> Result<(), String> {
        if self.link.is_some() {
            return Ok(());
        }
        let timeout = self.timeout();
        let hosts = match self.config.bucket_updater.clone() {
            Some(updater) => vec![self.host_of_bucket(&updater, category, now)?],
            None => self.config.hosts.clone(),
        };
        if hosts.is_empty() {
            return Err("no remote_host is given".to_owned());
        }
        let first = self.random.below(hosts.len() as u64) as usize;
        let mut failed = String::new();
        for host in hosts.iter().cycle().skip(first).take(hosts.len()) {
            match Link::connect(host, timeout) {
                Ok(link) => {
                    self.link = Some(link);
                    self.used_us = now.steady_us;
                    return Ok(());
                }
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    /// Asks where the bucket is, unless an answer is still good.
    fn host_of_bucket(
        &mut self,
        updater: &BucketUpdater,
        category: &[u8],
        now: Now,
    ) -> Result<(String, u16), String> {
        if let Some((host, until_us)) = &self.mapped
            && now.steady_us < *until_us
        {
            return Ok(host.clone());
        }
        let timeout = self.timeout();
        let category = match updater.category.is_empty() {
            true => category,
            false => &updater.category,
        };
        let mut failed = "no server to ask for the bucket is given".to_owned();
        for host in &updater.hosts {
            let found = Link::connect(host, timeout)
                .and_then(|mut link| link.mapping(category, updater.bucket_id));
            match found {
                Ok(found) => {
                    let until_us = now
                        .steady_us
                        .saturating_add(updater.ttl_s.saturating_mul(1_000_000));
                    self.mapped = Some((found.clone(), until_us));
                    return Ok(found);
                }
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    /// Sends the batch in calls; gives the number of messages that the server took, and why not all.
    fn send(&mut self, batch: &[Message<'_>], now: Now) -> (usize, Option<String>) {
        let category = batch.first().map_or(&b""[..], |message| message.category);
        let has_rested = now.steady_us.saturating_sub(self.used_us) >= RESTS_US;
        if let Some(link) = &mut self.link
            && has_rested
            && link.log(&[]).is_err()
        {
            self.link = None; // no message was sent, so a new connection doubles none
        }
        if let Err(error) = self.connect(category, now) {
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
            match link.log(call) {
                Ok(ResultCode::Ok) => taken += count,
                Ok(ResultCode::TryLater) => {
                    let failed = format!("{}: TRY_LATER", link.address);
                    if self.config.is_service {
                        self.link = None; // another server may take it
                    }
                    return (taken, Some(failed));
                }
                Err(error) => {
                    self.link = None;
                    self.mapped = None;
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
        let opened = self.connect(b"", now);
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

    fn status(&self) -> Option<String> {
        self.failed.clone()
    }

    fn close(&mut self, _: Now) {
        self.link = None;
    }
}

/// A connection to a server.
struct Link {
    address: String,
    timeout: Duration,
    stream: TcpStream,
    reader: MessageReader,
    out: Vec<u8>,
    sequence: i32,
}

impl Link {
    fn connect((host, port): &(String, u16), timeout: Duration) -> Result<Link, String> {
        let address = format!("{host}:{port}");
        let failed = |error: io::Error| format!("{address}: {error}");
        let mut last = format!("{address}: the name has no address");
        for found in (host.as_str(), *port).to_socket_addrs().map_err(failed)? {
            let opened = TcpStream::connect_timeout(&found, timeout).and_then(|stream| {
                stream.set_nodelay(true)?;
                Ok(stream)
            });
            match opened {
                Ok(stream) => {
                    return Ok(Link {
                        address,
                        timeout,
                        stream,
                        reader: MessageReader::of(Transport::Framed, ANSWER_BYTES_MAX),
                        out: Vec::new(),
                        sequence: 0,
                    });
                }
                Err(error) => last = failed(error),
            }
        }
        Err(last)
    }

    /// One call of `Log`.
    fn log(&mut self, messages: &[Message<'_>]) -> Result<ResultCode, String> {
        self.sequence = self.sequence.wrapping_add(1);
        self.out.clear();
        let entries = messages
            .iter()
            .map(|message| (message.category, message.body));
        let encoded = Dialect::SCRIBE.put_log(self.sequence, entries, &mut self.out);
        encoded.map_err(|error| error.to_string())?;
        let address = self.address.clone();
        match self.answer(Method::Log)? {
            Reply::Log(code) => Ok(code),
            Reply::Exception(exception) => Err(format!("{address}: {exception}")),
            other => Err(format!("{address}: Log was answered by {other:?}")),
        }
    }

    /// Asks for the server of a bucket.
    fn mapping(&mut self, category: &[u8], bucket_id: u64) -> Result<(String, u16), String> {
        self.sequence = self.sequence.wrapping_add(1);
        self.out.clear();
        let encoded =
            Dialect::SCRIBE.put_call(self.sequence, &Call::GetMapping(category), &mut self.out);
        encoded.map_err(|error| error.to_string())?;
        let address = self.address.clone();
        let hosts = match self.answer(Method::GetMapping)? {
            Reply::Mapping(hosts) => hosts,
            Reply::NoMapping { message, code } => {
                let message = String::from_utf8_lossy(message);
                return Err(format!("{address}: no mapping: {message} ({code})"));
            }
            other => return Err(format!("{address}: getMapping was answered by {other:?}")),
        };
        let found = hosts
            .iter()
            .find(|(bucket, _)| u64::try_from(*bucket) == Ok(bucket_id));
        let Some((_, host)) = found else {
            return Err(format!("{address}: bucket {bucket_id} has no server"));
        };
        let port =
            u16::try_from(host.port).map_err(|_| format!("{address}: {} is no port", host.port))?;
        Ok((String::from_utf8_lossy(host.host).into_owned(), port))
    }

    /// Sends the call in `out` and waits for its answer.
    fn answer(&mut self, method: Method) -> Result<Reply<'_>, String> {
        let exchanged = self.exchange();
        if self.out.capacity() > KEPT_BYTES {
            self.out = Vec::new();
        }
        let address = &self.address;
        exchanged.map_err(|error| format!("{address}: {error}"))?;
        let reply = Reply::decode(self.reader.message(), method, self.sequence);
        reply.map_err(|error| format!("{address}: {error}"))
    }

    /// Sends the call; returns when the reader has a message.
    fn exchange(&mut self) -> io::Result<()> {
        let end = Instant::now() + self.timeout;
        let mut rest = &self.out[..];
        while !rest.is_empty() {
            self.stream.set_write_timeout(Some(left(end)?))?;
            let count = self.stream.write(rest)?;
            if count == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            rest = rest.get(count..).unwrap_or_default();
        }
        let end = Instant::now() + self.timeout;
        while !self.reader.advance().map_err(io::Error::other)? {
            self.stream.set_read_timeout(Some(left(end)?))?;
            let count = self.stream.read(self.reader.spare())?;
            if count == 0 {
                let why = "the connection was closed before the answer";
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, why));
            }
            self.reader.filled(count);
        }
        Ok(())
    }
}

/// Time until `end`.
fn left(end: Instant) -> io::Result<Duration> {
    let left = end.saturating_duration_since(Instant::now());
    match left.is_zero() {
        true => Err(io::ErrorKind::TimedOut.into()),
        false => Ok(left),
    }
}

#[cfg(test)]
mod tests;

//! The server of a bucket, by asking a `BucketStoreMapping` service (`dynamic_config_type=thrift_bucket`).
//!
//! ```text
//! bucket_id=3, bucket_updater_ttl=60
//!
//!  0 s   asks: 3 is at a:1463            a
//! 60 s   asks: no answer                 a: the last good answer stays
//! 65 s   asks: 3 is at b:1463            b
//! 70 s   b does not take a message       b
//! 75 s   asks before the 60 s are over: 3 is at c:1463
//! ```
//!
//! Each question, each failure and each bucket of an answer is counted under Scribe's names.

use std::sync::Arc;
use std::time::Duration;

use wire::scribe::{Call, Reply};

use super::link;
use crate::client::Client;
use crate::config::BucketUpdater;
use crate::counters::{Counter, Counters};
use crate::message::Now;
use crate::store::Surroundings;

/// After a failure the service is asked again when this time has passed, if the answer would not be too old before. Scribe's
/// `check_interval`. Microseconds.
const ASKS_AGAIN_US: u64 = 5_000_000;

/// Knows the server of one bucket.
pub(super) struct Updater {
    config: BucketUpdater,
    timeout: Duration,
    host: Option<(String, u16)>,
    /// The service is asked from then on, on the steady clock.
    until_us: u64,
    counters: Arc<Counters>,
}

impl Updater {
    /// Asks nothing yet. The question names the category of the configuration, else `category`; `default` where several share
    /// the store, as in Scribe.
    pub(super) fn new(
        config: &BucketUpdater,
        category: &[u8],
        timeout: Duration,
        surroundings: &Surroundings,
    ) -> Updater {
        let names = [&config.category[..], category, b"default"];
        let category = names.into_iter().find(|name| !name.is_empty());
        Updater {
            config: BucketUpdater {
                category: category.unwrap_or_default().to_vec(),
                ..config.clone()
            },
            timeout,
            host: None,
            until_us: 0,
            counters: Arc::clone(&surroundings.counters),
        }
    }

    /// The server. Asks if none is known, or the last answer is too old. While nobody knows better, the last good answer counts.
    ///
    /// # Errors
    /// There is no good answer yet, and why.
    pub(super) fn host(&mut self, now: Now) -> Result<(String, u16), String> {
        if let Some(host) = &self.host
            && now.steady_us < self.until_us
        {
            return Ok(host.clone());
        }
        let ttl_us = self.config.ttl_s.saturating_mul(1_000_000);
        let asked = self.ask();
        let good_us = match asked {
            Ok(_) => ttl_us,
            Err(_) => ttl_us.min(ASKS_AGAIN_US),
        };
        self.until_us = now.steady_us.saturating_add(good_us);
        let host = asked.or_else(|error| self.host.clone().ok_or(error))?;
        Ok(self.host.insert(host).clone())
    }

    /// The server failed: the next question is not far.
    pub(super) fn doubt(&mut self, now: Now) {
        self.until_us = self.until_us.min(now.steady_us + ASKS_AGAIN_US);
    }

    fn ask(&self) -> Result<(String, u16), String> {
        let mut failed = "no server to ask for the bucket is given".to_owned();
        for host in &self.config.hosts {
            match self.ask_at(host) {
                Ok(found) => return Ok(found),
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    fn ask_at(&self, host: &(String, u16)) -> Result<(String, u16), String> {
        let count = |counter| self.counters.add_overall(counter, 1);
        count(Counter::UpdaterAsked);
        let mut link =
            link(host, self.timeout).inspect_err(|_| count(Counter::UpdaterNotReached))?;
        let mapping = mapping(&mut link, &self.config.category);
        let mapping = mapping.inspect_err(|_| count(Counter::UpdaterFailed))?;
        let address = link.address();
        if mapping.is_empty() {
            count(Counter::UpdaterEmpty);
            return Err(format!("{address}: no bucket has a server"));
        }
        let buckets = mapping.len() as u64;
        self.counters.add_overall(Counter::BucketsUpdated, buckets);
        let id = self.config.bucket_id;
        let found = mapping.into_iter().find_map(|(bucket, host, port)| {
            let is_it = u64::try_from(bucket) == Ok(id) && !host.is_empty();
            let port = u16::try_from(port).ok().filter(|port| is_it && *port > 0)?;
            Some((host, port))
        });
        found.ok_or_else(|| {
            count(Counter::BucketUnmapped);
            format!("{address}: bucket {id} has no server")
        })
    }
}

/// Asks for the servers of all buckets: the number of each, its host and its port as they were sent.
fn mapping(link: &mut Client, category: &[u8]) -> Result<Vec<(i32, String, i32)>, String> {
    let address = link.address().to_owned();
    let hosts = match link.call(&Call::GetMapping(category))? {
        Reply::Mapping(hosts) => hosts,
        Reply::NoMapping { message, code } => {
            let message = String::from_utf8_lossy(message);
            return Err(format!("{address}: no mapping: {message} ({code})"));
        }
        Reply::Exception(exception) => return Err(format!("{address}: {exception}")),
        other => return Err(format!("{address}: getMapping was answered by {other:?}")),
    };
    let name = |host: &[u8]| String::from_utf8_lossy(host).into_owned();
    let hosts = hosts.iter();
    Ok(hosts
        .map(|(bucket, at)| (*bucket, name(at.host), at.port))
        .collect())
}

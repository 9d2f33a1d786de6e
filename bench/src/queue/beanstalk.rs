//! beanstalkd: `put`; then, in one write, `delete` of the job before and `reserve` of the next.
//!
//! By hand: the crates `beanstalkd` and `beanstalkc` block a thread for each connection and send one command at a time.

use std::io::Write;

use super::{payload::Payload, stream::Lines};
use crate::{
    Server,
    error::{Error, Result},
};

/// A connection that uses the tube `default`.
pub(super) struct Beanstalk {
    lines: Lines,
    /// The reserved job, which is still to be deleted.
    held: Option<u64>,
}

impl Beanstalk {
    pub(super) async fn connect(server: &Server) -> Result<Beanstalk> {
        Ok(Beanstalk {
            lines: Lines::connect(&server.addr).await?,
            held: None,
        })
    }

    /// Deletes all jobs and counts them.
    pub(super) async fn drain(&mut self) -> Result<u64> {
        let mut count = 0;
        loop {
            self.lines
                .out
                .extend_from_slice(b"reserve-with-timeout 0\r\n");
            self.lines.send().await?;
            if self.reserved().await?.is_none() {
                return Ok(count);
            }
            count += 1;
            self.finish().await?;
        }
    }

    pub(super) async fn count(&mut self) -> Result<u64> {
        self.lines.out.extend_from_slice(b"stats-tube default\r\n");
        self.lines.send().await?;
        let length = self.expect("OK").await?;
        let stats = self.lines.body(length as usize).await?;
        let stats = String::from_utf8_lossy(stats).into_owned();
        let field = |name: &str| {
            let line = stats.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|number| number.trim().parse::<u64>().ok())
        };
        let ready = field("current-jobs-ready:").zip(field("current-jobs-reserved:"));
        let (ready, reserved) =
            ready.ok_or_else(|| Error::Peer("stats-tube without counts of jobs".to_owned()))?;
        Ok(ready + reserved)
    }

    pub(super) async fn put(
        &mut self,
        values: impl Iterator<Item = i64>,
        payload: Payload,
    ) -> Result<()> {
        let mut count = 0;
        for value in values {
            let body = payload.text(value);
            // Writing into memory does not fail.
            let _ = write!(self.lines.out, "put 0 0 600 {}\r\n{body}\r\n", body.len());
            count += 1;
        }
        self.lines.send().await?;
        for _ in 0..count {
            self.expect("INSERTED").await?;
        }
        Ok(())
    }

    pub(super) async fn next(&mut self) -> Result<i64> {
        let held = self.delete();
        self.lines.out.extend_from_slice(b"reserve\r\n");
        self.lines.send().await?;
        if held {
            self.expect("DELETED").await?;
        }
        match self.reserved().await? {
            Some(value) => Ok(value),
            None => Err(Error::Peer("reserve without a limit timed out".to_owned())),
        }
    }

    pub(super) async fn finish(&mut self) -> Result<()> {
        if self.delete() {
            self.lines.send().await?;
            self.expect("DELETED").await?;
        }
        Ok(())
    }

    fn delete(&mut self) -> bool {
        let Some(held) = self.held.take() else {
            return false;
        };
        let _ = write!(self.lines.out, "delete {held}\r\n");
        true
    }

    /// Reads the answer to a reserve and keeps its job; `None`: it timed out.
    async fn reserved(&mut self) -> Result<Option<i64>> {
        let line = String::from_utf8_lossy(self.lines.line().await?).into_owned();
        let mut words = line.split(' ');
        match words.next() {
            Some("RESERVED") => {}
            Some("TIMED_OUT") => return Ok(None),
            _ => return Err(Error::Peer(line)),
        }
        let mut number = || words.next().and_then(|word| word.parse::<u64>().ok());
        let (Some(job), Some(length)) = (number(), number()) else {
            return Err(Error::Peer(line));
        };
        self.held = Some(job);
        Payload::value(self.lines.body(length as usize).await?).map(Some)
    }

    /// Reads a line, which must begin with `word`. Gives its first number; 0 without one.
    async fn expect(&mut self, word: &str) -> Result<u64> {
        let line = self.lines.line().await?;
        let text = std::str::from_utf8(line).unwrap_or_default();
        match text.strip_prefix(word) {
            Some(rest) => Ok(rest.trim().parse().unwrap_or(0)),
            None => Err(Error::Peer(String::from_utf8_lossy(line).into_owned())),
        }
    }
}

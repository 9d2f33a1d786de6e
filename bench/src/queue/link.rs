//! A connection to a queue of any protocol.

use std::{fmt, str::FromStr};

use super::{
    beanstalk::Beanstalk,
    nats::Nats,
    payload::Payload,
    postgres::Postgres,
    redis::Redis,
    tables::{Table, Taking},
};
use crate::{Server, error::Result};

/// Protocol of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// Q4M's two statements over MySQL: `SELECT queue_wait(…)`, `SELECT * FROM …`.
    Statements,
    /// `CALL QUEUE_NEXT(…)` over MySQL.
    Call,
    /// As `Call`; the end of a row and a row of another table are one transaction, sent as one text.
    Commit,
    /// A table and `FOR UPDATE SKIP LOCKED` over MySQL.
    SkipLocked,
    /// A table and `FOR UPDATE SKIP LOCKED` in PostgreSQL.
    Postgres,
    /// Redis streams.
    Redis,
    /// NATS JetStream.
    Nats,
    /// beanstalkd, by its text protocol.
    Beanstalkd,
}

/// Names of the doors on the command line.
const NAMES: [(&str, Door); 8] = [
    ("statements", Door::Statements),
    ("call", Door::Call),
    ("commit", Door::Commit),
    ("skip-locked", Door::SkipLocked),
    ("postgres", Door::Postgres),
    ("redis", Door::Redis),
    ("nats", Door::Nats),
    ("beanstalkd", Door::Beanstalkd),
];

impl FromStr for Door {
    type Err = ();

    /// `statements`, `call`, `commit`, `skip-locked`, `postgres`, `redis`, `nats` or `beanstalkd`.
    fn from_str(text: &str) -> std::result::Result<Door, ()> {
        let found = NAMES.iter().find(|(name, _)| *name == text);
        found.map(|(_, door)| *door).ok_or(())
    }
}

impl fmt::Display for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = NAMES.iter().find(|(_, door)| door == self);
        f.write_str(found.map_or("", |(name, _)| name))
    }
}

impl Door {
    /// Whether it is a protocol of Seine's or Q4M's queues.
    pub(super) fn is_q4m(self) -> bool {
        matches!(self, Door::Statements | Door::Call | Door::Commit)
    }

    /// Whether the server speaks the MySQL protocol.
    pub(super) fn is_sql(self) -> bool {
        self.is_q4m() || self == Door::SkipLocked
    }
}

/// A connection to a queue.
pub(super) enum Link {
    Table(Table),
    Postgres(Postgres),
    Redis(Redis),
    Nats(Nats),
    Beanstalk(Beanstalk),
}

impl Link {
    /// Connects. `number` must differ for each connection of a run.
    pub(super) async fn connect(door: Door, server: &Server, number: u32) -> Result<Link> {
        let table = async |taking| Table::connect(server, taking).await.map(Link::Table);
        match door {
            Door::Statements => table(Taking::Statements).await,
            Door::Call => table(Taking::Call).await,
            Door::Commit => table(Taking::Commit).await,
            Door::SkipLocked => table(Taking::SkipLocked).await,
            Door::Postgres => Postgres::connect(server).await.map(Link::Postgres),
            Door::Redis => Redis::connect(server, number).await.map(Link::Redis),
            Door::Nats => Nats::connect(server, number).await.map(Link::Nats),
            Door::Beanstalkd => Beanstalk::connect(server).await.map(Link::Beanstalk),
        }
    }

    /// Creates an empty queue.
    pub(super) async fn reset(&mut self, payload: Payload) -> Result<()> {
        match self {
            Link::Table(table) => table.reset(payload).await,
            Link::Postgres(postgres) => postgres.reset(payload).await,
            Link::Redis(redis) => redis.reset().await,
            Link::Nats(nats) => nats.reset().await,
            Link::Beanstalk(beanstalk) => beanstalk.drain().await.map(drop),
        }
    }

    /// Removes the leftovers of the runs that would disturb a user.
    pub(super) async fn clear(&mut self) -> Result<()> {
        match self {
            Link::Table(table) => table.drop_tables().await,
            Link::Postgres(postgres) => postgres.drop_table().await,
            _ => Ok(()),
        }
    }

    /// Count of messages in the queue.
    pub(super) async fn count(&mut self) -> Result<u64> {
        match self {
            Link::Table(table) => table.count().await,
            Link::Postgres(postgres) => postgres.count().await,
            Link::Redis(redis) => redis.count().await,
            Link::Nats(nats) => nats.count().await,
            Link::Beanstalk(beanstalk) => beanstalk.count().await,
        }
    }

    /// Count of the rows that transactions stored beside the ends of messages; `None` where messages end alone.
    pub(super) async fn results(&mut self) -> Result<Option<u64>> {
        match self {
            Link::Table(table) => table.results().await,
            _ => Ok(None),
        }
    }

    /// Puts messages, in one statement or one write, and waits until they are acknowledged.
    pub(super) async fn put_all(
        &mut self,
        values: impl Iterator<Item = i64>,
        payload: Payload,
    ) -> Result<()> {
        match self {
            Link::Table(table) => table.put(values, payload).await,
            Link::Postgres(postgres) => postgres.put(values, payload).await,
            Link::Redis(redis) => redis.put(values, payload).await,
            Link::Nats(nats) => nats.put(values, payload).await,
            Link::Beanstalk(beanstalk) => beanstalk.put(values, payload).await,
        }
    }

    /// Puts one message.
    pub(super) async fn put(&mut self, value: i64, payload: Payload) -> Result<()> {
        self.put_all(std::iter::once(value), payload).await
    }

    /// Ends the message taken before and takes the next; waits for one if need be.
    pub(super) async fn next(&mut self) -> Result<i64> {
        match self {
            Link::Table(table) => table.next().await,
            Link::Postgres(postgres) => postgres.next().await,
            Link::Redis(redis) => redis.next().await,
            Link::Nats(nats) => nats.next().await,
            Link::Beanstalk(beanstalk) => beanstalk.next().await,
        }
    }

    /// Ends the message taken last.
    pub(super) async fn finish(&mut self) -> Result<()> {
        match self {
            Link::Table(table) => table.finish().await,
            Link::Postgres(postgres) => postgres.finish().await,
            Link::Redis(redis) => redis.finish().await,
            Link::Nats(nats) => nats.finish().await,
            Link::Beanstalk(beanstalk) => beanstalk.finish().await,
        }
    }
}

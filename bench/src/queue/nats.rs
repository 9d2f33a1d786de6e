//! NATS JetStream: publishes with an acknowledgement, and takes by a pull consumer. The acknowledgement of a message, which the
//! server confirms, goes out in one write with the next pull.
//!
//! By hand, not by `async-nats`: a connection of it is a task of its own, as that of the crate `redis`, which was slower than our
//! lines (`redis.rs`). Nobody has measured it.

use std::io::Write;

use serde_json::{Value, json};

use super::{payload::Payload, stream::Lines};
use crate::{
    Server,
    error::{Error, Result},
};

/// Subscriptions of a connection, one for each kind of answer.
const PUBLISHED: u64 = 1;
const PULLED: u64 = 2;
const ACKNOWLEDGED: u64 = 3;
const ASKED: u64 = 4;

/// A connection to the stream `Q` of the subject `q`, whose consumer is `C`.
pub(super) struct Nats {
    lines: Lines,
    inbox: String,
    /// Subject for acknowledging the message taken last.
    held: Option<String>,
}

/// A message: subscription, reply subject, content.
struct Message {
    subscription: u64,
    reply: String,
    body: Vec<u8>,
    /// Whether it has headers: it is then a status of the server, not a message.
    status: bool,
}

impl Nats {
    pub(super) async fn connect(server: &Server, number: u32) -> Result<Nats> {
        let mut nats = Nats {
            lines: Lines::connect(&server.addr).await?,
            inbox: format!("_INBOX.{}.{number}", std::process::id()),
            held: None,
        };
        nats.lines.line().await?;
        let connect = json!({ "verbose": false, "pedantic": false, "headers": true,
            "no_responders": true, "lang": "seine-bench", "version": "1", "protocol": 1 });
        let out = &mut nats.lines.out;
        // Writing into memory does not fail.
        let _ = write!(out, "CONNECT {connect}\r\n");
        for subscription in [PUBLISHED, PULLED, ACKNOWLEDGED, ASKED] {
            let _ = write!(out, "SUB {}.{subscription} {subscription}\r\n", nats.inbox);
        }
        nats.lines.send().await?;
        Ok(nats)
    }

    pub(super) async fn reset(&mut self) -> Result<()> {
        // There may be no stream yet.
        self.ask("STREAM.DELETE.Q", "").await?;
        let stream = json!({ "name": "Q", "subjects": ["q"], "retention": "workqueue",
            "storage": "file" });
        self.ask_well("STREAM.CREATE.Q", &stream.to_string())
            .await?;
        let consumer = json!({ "stream_name": "Q", "config": { "durable_name": "C",
            "ack_policy": "explicit", "deliver_policy": "all", "ack_wait": 600_000_000_000_u64,
            "max_ack_pending": 100_000, "max_waiting": 20_000 } });
        self.ask_well("CONSUMER.DURABLE.CREATE.Q.C", &consumer.to_string())
            .await
            .map(drop)
    }

    pub(super) async fn count(&mut self) -> Result<u64> {
        let info = self.ask_well("STREAM.INFO.Q", "").await?;
        let count = info["state"]["messages"].as_u64();
        count.ok_or_else(|| Error::Peer(format!("a stream without a count: {info}")))
    }

    pub(super) async fn put(
        &mut self,
        values: impl Iterator<Item = i64>,
        payload: Payload,
    ) -> Result<()> {
        let mut count = 0;
        for value in values {
            let body = payload.text(value);
            self.publish("q", PUBLISHED, &body);
            count += 1;
        }
        self.lines.send().await?;
        for _ in 0..count {
            let message = self.message().await?;
            let stored = find(&message.body, b"\"seq\"");
            if message.subscription != PUBLISHED || !stored {
                return Err(refused(&message));
            }
        }
        Ok(())
    }

    pub(super) async fn next(&mut self) -> Result<i64> {
        let mut acknowledging = self.acknowledge();
        let pull = "{\"batch\":1,\"expires\":60000000000}";
        self.publish("$JS.API.CONSUMER.MSG.NEXT.Q.C", PULLED, pull);
        self.lines.send().await?;
        let mut taken = None;
        while acknowledging || taken.is_none() {
            let message = self.message().await?;
            match message.subscription {
                ACKNOWLEDGED => acknowledging = false,
                PULLED if message.status => {
                    self.publish("$JS.API.CONSUMER.MSG.NEXT.Q.C", PULLED, pull);
                    self.lines.send().await?;
                }
                PULLED => taken = Some(message),
                _ => return Err(refused(&message)),
            }
        }
        let Some(message) = taken else {
            return Err(Error::Peer("no message".to_owned()));
        };
        self.held = Some(message.reply);
        Payload::value(&message.body)
    }

    pub(super) async fn finish(&mut self) -> Result<()> {
        if self.acknowledge() {
            self.lines.send().await?;
            let message = self.message().await?;
            if message.subscription != ACKNOWLEDGED {
                return Err(refused(&message));
            }
        }
        Ok(())
    }

    fn acknowledge(&mut self) -> bool {
        let Some(held) = self.held.take() else {
            return false;
        };
        self.publish(&held, ACKNOWLEDGED, "+ACK");
        true
    }

    async fn ask_well(&mut self, what: &str, body: &str) -> Result<Value> {
        let answer = self.ask(what, body).await?;
        match answer.get("error") {
            Some(error) => Err(Error::Peer(format!("{what}: {error}"))),
            None => Ok(answer),
        }
    }

    async fn ask(&mut self, what: &str, body: &str) -> Result<Value> {
        self.publish(&format!("$JS.API.{what}"), ASKED, body);
        self.lines.send().await?;
        let message = self.message().await?;
        if message.subscription != ASKED {
            return Err(refused(&message));
        }
        serde_json::from_slice(&message.body).map_err(|error| Error::Peer(error.to_string()))
    }

    fn publish(&mut self, subject: &str, answer: u64, body: &str) {
        let (inbox, length) = (&self.inbox, body.len());
        let out = &mut self.lines.out;
        let _ = write!(out, "PUB {subject} {inbox}.{answer} {length}\r\n{body}\r\n");
    }

    /// The next message. Answers a PING before it.
    async fn message(&mut self) -> Result<Message> {
        loop {
            let line = String::from_utf8_lossy(self.lines.line().await?).into_owned();
            let words: Vec<&str> = line.split(' ').collect();
            match words.as_slice() {
                ["PING"] => {
                    self.lines.out.extend_from_slice(b"PONG\r\n");
                    self.lines.send().await?;
                }
                ["PONG"] | ["INFO", ..] => {}
                ["MSG" | "HMSG", _subject, sid, rest @ .., length] => {
                    let length: usize = length.parse().unwrap_or(0);
                    let status = words[0] == "HMSG";
                    let reply = if rest.len() > usize::from(status) {
                        rest[0]
                    } else {
                        ""
                    };
                    let (reply, subscription) = (reply.to_owned(), sid.parse().unwrap_or(0));
                    let body = self.lines.body(length).await?.to_vec();
                    return Ok(Message {
                        subscription,
                        reply,
                        body,
                        status,
                    });
                }
                _ => return Err(Error::Peer(line)),
            }
        }
    }
}

fn refused(message: &Message) -> Error {
    Error::Peer(String::from_utf8_lossy(&message.body).into_owned())
}

fn find(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|part| part == word)
}

//! Redis streams: XADD; then, in one write, XACK and XDEL of the entry before and XREADGROUP of the next.
//!
//! By hand, not by the crate `redis`: its asynchronous connection is a task of its own, which takes 1.2 to 2.2 times the processor
//! time of this module, so that Redis would be measured slower:
//! `benchmarks/record/epyc-2vcpu/2026-11-28-dcedeca-clients.csv`.

use std::io::Write;

use super::{payload::Payload, stream::Lines};
use crate::{
    Server,
    error::{Error, Result},
};

/// A connection with a consumer of its own in group `g` of the stream `q`.
pub(super) struct Redis {
    lines: Lines,
    /// The entry taken last, which is still to be ended.
    held: Option<Vec<u8>>,
    consumer: String,
}

impl Redis {
    pub(super) async fn connect(server: &Server, number: u32) -> Result<Redis> {
        Ok(Redis {
            lines: Lines::connect(&server.addr).await?,
            held: None,
            consumer: format!("c{number}"),
        })
    }

    pub(super) async fn reset(&mut self) -> Result<()> {
        self.ask(&[b"DEL", b"q"]);
        self.ask(&[b"XGROUP", b"CREATE", b"q", b"g", b"0", b"MKSTREAM"]);
        self.lines.send().await?;
        self.answer().await?;
        self.answer().await.map(drop)
    }

    pub(super) async fn count(&mut self) -> Result<u64> {
        self.ask(&[b"XLEN", b"q"]);
        self.lines.send().await?;
        let found = self.answer().await?;
        number(found.first()).map(i64::unsigned_abs)
    }

    pub(super) async fn put(
        &mut self,
        values: impl Iterator<Item = i64>,
        payload: Payload,
    ) -> Result<()> {
        let mut count = 0;
        for value in values {
            let body = payload.text(value);
            self.ask(&[b"XADD", b"q", b"*", b"v", body.as_bytes()]);
            count += 1;
        }
        self.lines.send().await?;
        for _ in 0..count {
            self.answer().await?;
        }
        Ok(())
    }

    pub(super) async fn next(&mut self) -> Result<i64> {
        let consumer = std::mem::take(&mut self.consumer);
        let held = self.acknowledge();
        self.ask(&[
            b"XREADGROUP",
            b"GROUP",
            b"g",
            consumer.as_bytes(),
            b"COUNT",
            b"1",
            b"BLOCK",
            b"0",
            b"STREAMS",
            b"q",
            b">",
        ]);
        self.consumer = consumer;
        self.lines.send().await?;
        if held {
            self.answer().await?;
            self.answer().await?;
        }
        let mut found = self.answer().await?;
        if found.len() != 4 {
            return Err(Error::Peer(format!(
                "an entry of {} parts, not 4",
                found.len()
            )));
        }
        let value = Payload::value(&found[3]);
        self.held = Some(std::mem::take(&mut found[1]));
        value
    }

    pub(super) async fn finish(&mut self) -> Result<()> {
        if self.acknowledge() {
            self.lines.send().await?;
            self.answer().await?;
            self.answer().await?;
        }
        Ok(())
    }

    fn acknowledge(&mut self) -> bool {
        let Some(held) = self.held.take() else {
            return false;
        };
        self.ask(&[b"XACK", b"q", b"g", &held]);
        self.ask(&[b"XDEL", b"q", &held]);
        true
    }

    fn ask(&mut self, parts: &[&[u8]]) {
        let out = &mut self.lines.out;
        // Writing into memory does not fail.
        let _ = write!(out, "*{}\r\n", parts.len());
        for part in parts {
            let _ = write!(out, "${}\r\n", part.len());
            out.extend_from_slice(part);
            out.extend_from_slice(b"\r\n");
        }
    }

    /// The leaves of an answer, with lists flattened.
    async fn answer(&mut self) -> Result<Vec<Vec<u8>>> {
        let mut leaves = Vec::new();
        let mut left = 1;
        while left > 0 {
            left -= 1;
            let line = self.lines.line().await?;
            let (kind, rest) = line.split_at_checked(1).unwrap_or_default();
            match kind {
                b"-" => return Err(Error::Peer(String::from_utf8_lossy(rest).into_owned())),
                b"*" => left += number(Some(&rest.to_vec()))?.max(0),
                b"$" => {
                    let length = number(Some(&rest.to_vec()))?;
                    if let Ok(length) = usize::try_from(length) {
                        leaves.push(self.lines.body(length).await?.to_vec());
                    }
                }
                _ => leaves.push(rest.to_vec()),
            }
        }
        Ok(leaves)
    }
}

fn number(text: Option<&Vec<u8>>) -> Result<i64> {
    let text = text.map(Vec::as_slice).unwrap_or_default();
    std::str::from_utf8(text)
        .ok()
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| {
            Error::Peer(format!(
                "{:?} is not a number",
                String::from_utf8_lossy(text)
            ))
        })
}

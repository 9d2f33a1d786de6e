//! One connection that sends numbered messages to a collector.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use wire::scribe::{Dialect, MessageReader, Method, Reply, ResultCode, Transport};

use super::{Door, FRONT_BYTES, Shape};
use crate::error::{Error, Result};
use crate::latency::Latencies;

/// Pause after TRY_LATER.
const LATER: Duration = Duration::from_millis(2);

/// Digits of a category's number.
const CATEGORY_DIGITS: usize = 6;

/// Result of a connection.
pub(super) struct Ended {
    pub connection: u32,
    pub sent: u64,
    pub later: u64,
    pub latencies: Latencies,
}

/// A connection, with the bytes of its next call.
pub(super) struct Client {
    stream: TcpStream,
    door: Door,
    shape: Shape,
    connection: u32,
    call: Vec<u8>,
    /// Where the number of each message stands in `call`.
    numbers: Vec<usize>,
    /// Where the number of each message's category stands in `call`; none with a single category.
    categories: Vec<usize>,
    reader: MessageReader,
    /// Messages of all connections that were answered OK.
    acknowledged: Arc<AtomicU64>,
}

impl Client {
    pub(super) fn new(
        stream: TcpStream,
        door: Door,
        category: &str,
        shape: Shape,
        run: u32,
        connection: u32,
        acknowledged: Arc<AtomicU64>,
    ) -> Result<Client> {
        let mut message = format!("{run:08} {connection:04} {:012} ", 0).into_bytes();
        message.resize(shape.length - door.header().len() - 1, b'x');
        message.push(b'\n');
        let category = match shape.categories {
            1 => category.to_owned(),
            _ => format!("{category}{}", "0".repeat(CATEGORY_DIGITS)),
        };
        let mut call = Vec::new();
        let messages = std::iter::repeat_n(&message[..], shape.per_call as usize);
        match door {
            Door::Scribe => Dialect::SCRIBE
                .put_log(
                    0,
                    messages.map(|message| (category.as_bytes(), message)),
                    &mut call,
                )
                .map_err(|error| Error::Peer(error.to_string()))?,
            Door::Lines => messages.for_each(|message| call.extend_from_slice(message)),
            Door::Octets => {
                let text = &message[..message.len() - 1];
                let syslog = [b"<13>1 ", door.header().as_bytes(), text].concat();
                let length = syslog.len().to_string().into_bytes();
                let framed = [&length[..], b" ", &syslog].concat();
                messages.for_each(|_| call.extend_from_slice(&framed));
            }
        }
        let mut numbers = places(&call, &message[..FRONT_BYTES]);
        for place in &mut numbers {
            *place += 8 + 1 + 4 + 1;
        }
        let mut categories = Vec::new();
        if shape.categories > 1 && door == Door::Scribe {
            categories = places(&call, category.as_bytes());
            for place in &mut categories {
                *place += category.len() - CATEGORY_DIGITS;
            }
        }
        Ok(Client {
            stream,
            door,
            shape,
            connection,
            call,
            numbers,
            categories,
            reader: MessageReader::of(Transport::Framed, 1 << 20),
            acknowledged,
        })
    }

    /// Sends calls, each after the answer to the one before. A call that was answered TRY_LATER is sent again.
    pub(super) async fn send_until(mut self, end: Instant) -> Result<Ended> {
        let mut ended = Ended {
            connection: self.connection,
            sent: 0,
            later: 0,
            latencies: Latencies::default(),
        };
        let begun = Instant::now();
        let per_call = u64::from(self.shape.per_call);
        let rate = self
            .shape
            .rate
            .map(|rate| rate as f64 / f64::from(self.shape.connections));
        while Instant::now() < end {
            if let Some(rate) = rate {
                let due = begun + Duration::from_secs_f64(ended.sent as f64 / rate);
                tokio::time::sleep_until(due.into()).await;
            }
            for (number, place) in (ended.sent..).zip(&self.numbers) {
                put_digits(&mut self.call[*place..*place + 12], number);
            }
            let category = self.shape.category(self.connection, ended.sent / per_call);
            for place in &self.categories {
                put_digits(&mut self.call[*place..*place + CATEGORY_DIGITS], category);
            }
            let asked = Instant::now();
            self.stream.write_all(&self.call).await?;
            if self.door.answers() && self.answer().await? == ResultCode::TryLater {
                ended.later += 1;
                tokio::time::sleep(LATER).await;
                continue;
            }
            ended.latencies.add(asked.elapsed());
            ended.sent += per_call;
            self.acknowledged.fetch_add(per_call, Ordering::Relaxed);
        }
        self.stream.shutdown().await?;
        Ok(ended)
    }

    async fn answer(&mut self) -> Result<ResultCode> {
        let peer = |error: String| Error::Peer(error);
        loop {
            if self
                .reader
                .advance()
                .map_err(|error| peer(error.to_string()))?
            {
                break;
            }
            let count = self.stream.read(self.reader.spare()).await?;
            if count == 0 {
                return Err(peer("the collector closed the connection".to_owned()));
            }
            self.reader.filled(count);
        }
        match Reply::decode(self.reader.message(), Method::Log, 0)
            .map_err(|error| peer(error.to_string()))?
        {
            Reply::Log(code) => Ok(code),
            other => Err(peer(format!("Log was answered by {other:?}"))),
        }
    }
}

/// Where `part` stands in `bytes`.
fn places(bytes: &[u8], part: &[u8]) -> Vec<usize> {
    let mut places = Vec::new();
    let mut from = 0;
    while let Some(rest) = bytes.get(from..)
        && let Some(found) = rest.windows(part.len()).position(|window| window == part)
    {
        places.push(from + found);
        from += found + part.len();
    }
    places
}

/// Writes a number with leading zeroes.
fn put_digits(digits: &mut [u8], mut number: u64) {
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_written_with_leading_zeroes() {
        let mut digits = *b"xxxxxx";
        put_digits(&mut digits, 420);
        assert_eq!(&digits, b"000420");
    }

    #[test]
    fn every_place_of_a_part_is_found() {
        assert_eq!(places(b"abcab", b"ab"), [0, 3]);
        assert!(places(b"a", b"ab").is_empty());
    }
}

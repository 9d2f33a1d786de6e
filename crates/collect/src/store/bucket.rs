//! A message goes to one of several stores, by its key.
//!
//! ```text
//! bucket_type=key_modulo, delimiter=58, num_buckets=3: stores 0 to 3
//!
//! "7:x"    key 7, 7 mod 3 = 1    bucket 2
//! "x"      no key                bucket 0
//! ":x"     an empty key          bucket 0
//! ```
//!
//! With N = `num_buckets`, the bucket of a message is
//!
//! | type | bucket |
//! |---|---|
//! | `context_log` | id mod N + 1, with the id as the low 32 bits of the number behind the third byte 1; id 0: bucket 0 |
//! | `random` | any but bucket 0 |
//! | `key_hash` | djb2(key) mod N + 1 |
//! | `key_modulo` | key mod N + 1 |
//! | `key_range` | (key mod R) / R × N + 1 with R = `bucket_range`, in floating point; R = 0: bucket 0 |
//!
//! The key is what stands before the first delimiter, up to a NUL. As a number it is read as C's `atol` does, and a negative
//! number counts from 2^64 down: all as in Scribe, so that a change of server moves no key to another bucket.

use crate::config::{BucketConfig, BucketType};
use crate::message::{Message, Now};

use super::marks::Marks;
use super::random::Random;
use super::split::{self, Ahead};
use super::{Store, Surroundings, Written};

pub(super) struct Bucket {
    rule: Rule,
    /// Bucket 0 first; at least 2.
    stores: Vec<Box<dyn Store>>,
    random: Random,
    ahead: Ahead,
}

/// The variables that choose a bucket.
struct Rule {
    bucket_type: BucketType,
    delimiter: u8,
    range: u64,
    remove_key: bool,
    /// Buckets without bucket 0.
    count: u64,
}

impl Bucket {
    pub(super) fn new(
        config: &BucketConfig,
        stores: Vec<Box<dyn Store>>,
        surroundings: &Surroundings,
    ) -> Bucket {
        let rule = Rule {
            bucket_type: config.bucket_type,
            delimiter: config.delimiter,
            range: config.bucket_range,
            remove_key: config.remove_key,
            count: (stores.len() as u64).saturating_sub(1),
        };
        Bucket {
            rule,
            stores,
            random: Random::new(surroundings.seed),
            ahead: Ahead::default(),
        }
    }
}

impl Rule {
    /// The bucket of a message, and the message as the bucket gets it.
    fn route<'a>(&self, message: Message<'a>, random: &mut Random) -> (usize, Message<'a>) {
        if self.count == 0 {
            return (0, message);
        }
        let number = match self.bucket_type {
            BucketType::ContextLog => match context_id(message.body) {
                0 => 0,
                id => u64::from(id) % self.count + 1,
            },
            BucketType::Random => random.below(self.count) + 1,
            BucketType::KeyHash | BucketType::KeyModulo | BucketType::KeyRange => {
                return self.by_key(message);
            }
        };
        (number as usize, message)
    }

    fn by_key<'a>(&self, message: Message<'a>) -> (usize, Message<'a>) {
        let Some(end) = message.body.iter().position(|byte| *byte == self.delimiter) else {
            return (0, message);
        };
        let (key, rest) = message.body.split_at(end);
        let key = key.split(|byte| *byte == 0).next().unwrap_or_default();
        let number = match self.bucket_type {
            _ if key.is_empty() => 0,
            BucketType::KeyModulo => atol(key) as u64 % self.count + 1,
            BucketType::KeyRange if self.range == 0 => 0,
            BucketType::KeyRange => {
                let part = (atol(key) as u64 % self.range) as f64 / self.range as f64;
                ((part * self.count as f64) as u64).min(self.count - 1) + 1
            }
            BucketType::KeyHash | BucketType::ContextLog | BucketType::Random => {
                u64::from(djb2(key)) % self.count + 1
            }
        };
        let body = match self.remove_key {
            true => rest.get(1..).unwrap_or_default(),
            false => message.body,
        };
        (number as usize, Message { body, ..message })
    }
}

/// Bernstein's hash, over signed bytes, modulo 2^32.
fn djb2(key: &[u8]) -> u32 {
    key.iter().fold(5381, |hash: u32, byte| {
        hash.wrapping_mul(33).wrapping_add(*byte as i8 as u32)
    })
}

/// A number as C's `atol` reads it: white space, a sign, digits; what follows is ignored. Saturates.
fn atol(text: &[u8]) -> i64 {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t'..=b'\r');
    let start = text
        .iter()
        .position(|byte| !is_space(byte))
        .unwrap_or(text.len());
    let (sign, digits) = match text[start..].split_first() {
        Some((b'-', digits)) => (-1, digits),
        Some((b'+', digits)) => (1, digits),
        _ => (1, &text[start..]),
    };
    let digits = digits.iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(0_i64, |number, digit| {
        number
            .saturating_mul(10)
            .saturating_add(sign * i64::from(digit - b'0'))
    })
}

/// The number behind the third byte 1; 0: there is none.
fn context_id(body: &[u8]) -> u32 {
    let field = body.split(|byte| *byte == 1).nth(3).unwrap_or_default();
    atol(field) as u32
}

impl Store for Bucket {
    fn parts(&self) -> &[Box<dyn Store>] {
        &self.stores
    }

    fn parts_mut(&mut self) -> &mut [Box<dyn Store>] {
        &mut self.stores
    }

    fn write(&mut self, batch: &[Message<'_>], now: Now) -> Written {
        let (rule, random) = (&self.rule, &mut self.random);
        let routes = batch.iter().map(|message| Ok(rule.route(*message, random)));
        split::write(&mut self.stores, batch, routes, &mut self.ahead, now)
    }

    fn marks(&self) -> Marks {
        self.ahead.marks().with_parts(&self.stores)
    }

    fn take_up(&mut self, marks: &Marks) {
        self.ahead.take_up(marks);
        marks.give_to(&mut self.stores);
    }

    fn forget(&mut self) {
        self.ahead.forget();
        self.stores.iter_mut().for_each(|store| store.forget());
    }
}

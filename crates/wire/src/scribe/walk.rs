//! Finds the end of a value whose meaning does not matter: a field that the service does not declare, or an unframed message.
//!
//! The walk stops where bytes are missing and goes on from there once they have arrived, so that finding the end of a message
//! costs time linear in its bytes however it arrives. The levels while it stands in the second entry of a call of `Log`:
//!
//! ```text
//! 0f 00 01 0c 00 00 00 03   0b 00 01 … 0b 00 02 … 00   0b 00 01 …
//!                                                      at
//! levels   [ Fields (the arguments), Items { kinds: [Struct, Struct], left: 1 }, Fields (an entry) ]
//! ```
//!
//! Invariants:
//! - `at` is the offset of the next head: of a field, of an item, or of a string's or container's length.
//! - `at` may lie behind the bytes that have arrived: the body of a string is passed over before it is there.
//! - There are at most [`THRIFT_DEPTH_MAX`] levels. Items of a fixed size need none.

use super::bytes::{DecodeError, Fault, Kind, Reader, STOP};
use crate::limits::THRIFT_DEPTH_MAX;

/// A walk over one value.
#[derive(Debug, Default)]
pub(super) struct Walk {
    levels: Vec<Level>,
    /// Offset of the next head from the value's first byte.
    at: usize,
}

/// What has begun and not ended.
#[derive(Clone, Copy, Debug)]
enum Level {
    /// A struct: a field or its end is next.
    Fields,
    /// A list, a set or a map. Keys and values count as items each.
    Items { kinds: [Kind; 2], left: u64 },
}

/// How far a walk has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// The value has this count of bytes, and all of them are there.
    End(usize),
    /// At least this count of bytes is missing; never 0.
    Missing(usize),
}

/// The head of a value: the bytes that it passes over, and the level that it opens.
struct Head {
    bytes: usize,
    opens: Option<Level>,
}

impl Walk {
    /// A walk over one value of this type.
    pub(super) fn value(kind: Kind) -> Walk {
        Walk {
            levels: vec![Level::Items {
                kinds: [kind; 2],
                left: 1,
            }],
            at: 0,
        }
    }

    /// A walk over the message whose header has `header_bytes` and whose arguments are a struct.
    pub(super) fn message(header_bytes: usize) -> Walk {
        Walk {
            levels: vec![Level::Fields],
            at: header_bytes,
        }
    }

    /// Walks on. `bytes` begins with the value's first byte in each call.
    pub(super) fn go_on(&mut self, bytes: &[u8]) -> Result<Progress, DecodeError> {
        loop {
            if let Some(missing @ 1..) = self.at.checked_sub(bytes.len()) {
                return Ok(Progress::Missing(missing));
            }
            let (kind, value_at) = match self.levels.last() {
                None => return Ok(Progress::End(self.at)),
                Some(Level::Items { left: 0, .. }) => {
                    self.levels.pop();
                    continue;
                }
                Some(Level::Items {
                    kinds: [one, _],
                    left,
                }) if left % 2 == 0 => (*one, self.at),
                Some(Level::Items {
                    kinds: [_, two], ..
                }) => (*two, self.at),
                Some(Level::Fields) => match bytes.get(self.at) {
                    None => return Ok(Progress::Missing(1)),
                    Some(&STOP) => {
                        self.levels.pop();
                        self.at += 1;
                        continue;
                    }
                    Some(&byte) => (self.kind(byte, self.at)?, self.at + 3),
                },
            };
            match self.head(kind, bytes, value_at)? {
                Ok(head) => self.pass(value_at, head)?,
                Err(missing) => return Ok(Progress::Missing(missing)),
            }
        }
    }

    /// Passes over a head: the level that it stands in has one item less.
    fn pass(&mut self, value_at: usize, head: Head) -> Result<(), DecodeError> {
        if let Some(Level::Items { left, .. }) = self.levels.last_mut() {
            *left -= 1;
        }
        if let Some(level) = head.opens {
            if self.levels.len() >= THRIFT_DEPTH_MAX {
                return Err(self.fail(Fault::Depth, value_at));
            }
            self.levels.push(level);
        }
        self.at = value_at.saturating_add(head.bytes);
        Ok(())
    }

    /// The head of a value at `at`; the inner error is the count of missing bytes.
    fn head(
        &self,
        kind: Kind,
        bytes: &[u8],
        at: usize,
    ) -> Result<Result<Head, usize>, DecodeError> {
        let passed = |bytes| Ok(Ok(Head { bytes, opens: None }));
        let head_bytes = match kind {
            Kind::Struct => {
                let opens = Some(Level::Fields);
                return Ok(Ok(Head { bytes: 0, opens }));
            }
            Kind::String => 4,
            Kind::List | Kind::Set => 5,
            Kind::Map => 6,
            Kind::Bool | Kind::Byte | Kind::Double | Kind::I16 | Kind::I32 | Kind::I64 => {
                return passed(kind.fixed_bytes().unwrap_or_default());
            }
        };
        let Some((kinds, number)) = bytes
            .get(at..at + head_bytes)
            .and_then(<[u8]>::split_last_chunk::<4>)
        else {
            return Ok(Err(at + head_bytes - bytes.len()));
        };
        let announced = i32::from_be_bytes(*number);
        let Ok(count) = usize::try_from(announced) else {
            let fault = Fault::Length {
                what: "length of an undeclared value",
                announced,
                left: bytes.len() - (at + head_bytes),
            };
            return Err(self.fail(fault, at));
        };
        // An empty container may name any type.
        let kinds = match (kinds, count) {
            ([], _) => return passed(head_bytes.saturating_add(count)),
            (_, 0) => return passed(head_bytes),
            ([one], _) => [self.kind(*one, at)?; 2],
            ([key, value, ..], _) => [self.kind(*key, at)?, self.kind(*value, at + 1)?],
        };
        let [one, two] = kinds.map(Kind::fixed_bytes);
        let per_count = if kind == Kind::Map { 2 } else { 1 };
        if let (Some(one), Some(two)) = (one, two) {
            let each = if per_count == 2 { one + two } else { one };
            return passed(head_bytes.saturating_add(count.saturating_mul(each)));
        }
        let left = count as u64 * per_count;
        let opens = Some(Level::Items { kinds, left });
        Ok(Ok(Head {
            bytes: head_bytes,
            opens,
        }))
    }

    fn kind(&self, byte: u8, at: usize) -> Result<Kind, DecodeError> {
        Kind::of(byte).ok_or_else(|| self.fail(Fault::UnknownType(byte), at))
    }

    #[cold]
    fn fail(&self, fault: Fault, offset: usize) -> DecodeError {
        DecodeError { fault, offset }
    }
}

/// Passes over the value of a field that the service does not declare.
#[cold]
pub(super) fn skip(reader: &mut Reader<'_>, kind: Kind) -> Result<(), DecodeError> {
    const WHAT: &str = "value of an undeclared field";
    let from = reader.offset();
    let progress = Walk::value(kind).go_on(reader.rest());
    match progress {
        Ok(Progress::End(length)) => reader.take(length, WHAT).map(drop),
        Ok(Progress::Missing(_)) => Err(reader.fail(Fault::Cut(WHAT))),
        Err(DecodeError { fault, offset }) => Err(DecodeError {
            fault,
            offset: from + offset,
        }),
    }
}

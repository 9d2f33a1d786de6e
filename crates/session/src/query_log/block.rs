//! Entries of the query log on their way to the writer, as few bytes as they need.
//!
//! Example: a look-up by id, 66 bytes.
//!
//! ```text
//! has      a bit for each number and text that is known
//! numbers  ended_us, real_us, found 1, returned 1, offset 0, limit 20, filters 1, connection 7, ..: 7 bits a byte, lowest first
//! lengths  statement 28, tables 5, client 9: the same
//! texts    SELECT n FROM posts WHERE id=1posts127.0.0.1
//! ```
//!
//! An [`Entry`] is half a kilobyte with a piece of memory for each text. At 200,000 searches a second the writer would find none of
//! them in its processor's cache, and each line of a cache that it fetches from another processor costs as much as ten numbers.

use std::borrow::Cow;
use std::sync::Arc;

use study::log::{Entry, MatchMode, SortMode};

use crate::clock::Clock;

/// A number of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    /// When it was answered, by the steady clock.
    EndedUs,
    RealUs,
    QueuedUs,
    Found,
    Returned,
    Offset,
    Limit,
    Filters,
    Threads,
    CutBytes,
    Faults,
    ReadBytes,
    Connection,
    /// Place in [`MatchMode::ALL`].
    Mode,
    /// Place in [`SortMode::ALL`].
    Sort,
}

/// A text of an entry. The texts of an entry stand in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Text {
    Statement,
    Tables,
    Query,
    GroupBy,
    Ranker,
    Comment,
    Client,
    Error,
}

const NUMBERS: usize = Number::Sort as usize + 1;
const TEXTS: usize = Text::Error as usize + 1;

/// What an entry has: a bit for each number, then one for each text.
type Has = u32;

/// Bytes of a head with its place in a block, at most: 10 of a number of 64 bits, 5 of a length.
const HEAD_BYTES_MAX: usize = 2 * size_of::<u32>() + 10 * NUMBERS + 5 * TEXTS;

const _: () = assert!(NUMBERS + TEXTS <= Has::BITS as usize);

/// The numbers of an entry, and the lengths of its texts, in bytes.
#[derive(Clone, Copy, Default)]
struct Head {
    has: Has,
    numbers: [u64; NUMBERS],
    lengths: [u32; TEXTS],
}

/// The bit of a text.
const fn bit(text: Text) -> usize {
    NUMBERS + text as usize
}

/// The bits that are set in `has`, rising.
fn bits(mut has: Has) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = has.trailing_zeros();
        has &= has.checked_sub(1)?;
        Some(bit as usize)
    })
}

impl Head {
    fn number(&self, number: Number) -> Option<u64> {
        let place = number as usize;
        (self.has >> place & 1 == 1).then(|| self.numbers[place])
    }

    /// Appends it to the bytes of a block.
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.has.to_le_bytes());
        for bit in bits(self.has) {
            let mut rest = match bit.checked_sub(NUMBERS) {
                None => self.numbers[bit],
                Some(text) => u64::from(self.lengths[text]),
            };
            while rest >= 0x80 {
                out.push(rest as u8 | 0x80);
                rest >>= 7;
            }
            out.push(rest as u8);
        }
    }

    /// Reads what [`Head::write`] wrote, and returns what is behind it.
    fn read(bytes: &[u8]) -> (Head, &[u8]) {
        let (has, mut rest) = bytes.split_first_chunk().unwrap_or((&[0; 4], &[]));
        let mut head = Head {
            has: Has::from_le_bytes(*has),
            ..Head::default()
        };
        for bit in bits(head.has) {
            let (mut number, mut shift) = (0, 0);
            while let Some((byte, behind)) = rest.split_first() {
                rest = behind;
                number |= u64::from(byte & 0x7f) << shift;
                shift += 7;
                if byte & 0x80 == 0 {
                    break;
                }
            }
            match bit.checked_sub(NUMBERS) {
                None => head.numbers[bit] = number,
                Some(text) => head.lengths[text] = number as u32,
            }
        }
        (head, rest)
    }
}

/// An entry that is being made.
#[derive(Default)]
pub(crate) struct Told {
    head: Head,
    texts: Vec<u8>,
}

impl Told {
    /// An entry with the beginning of the client's statement, which has `whole` bytes.
    pub(super) fn new(statement: Vec<u8>, whole: u64) -> Told {
        let length = statement.len() as u32;
        let mut told = Told {
            head: Head::default(),
            texts: statement,
        };
        told.head.has = 1 << bit(Text::Statement);
        told.head.lengths[Text::Statement as usize] = length;
        if whole > u64::from(length) {
            told.set(Number::CutBytes, Some(whole));
        }
        told
    }

    /// Sets a number; `None`: it is not known.
    pub(super) fn set(&mut self, number: Number, value: Option<u64>) {
        let place = number as usize;
        self.head.numbers[place] = value.unwrap_or(0);
        self.head.has &= !(1 << place);
        self.head.has |= Has::from(value.is_some()) << place;
    }

    /// A number, if it is known.
    pub(super) fn number(&self, number: Number) -> Option<u64> {
        self.head.number(number)
    }

    /// Adds to a text, which may have a beginning. Texts are added in their order.
    pub(super) fn add(&mut self, text: Text, bytes: &[u8]) {
        debug_assert!(self.head.has >> bit(text) <= 1, "{text:?} comes too late");
        self.head.has |= 1 << bit(text);
        self.head.lengths[text as usize] += bytes.len() as u32;
        self.texts.extend_from_slice(bytes);
    }

    /// The memory of its texts, which it does not have behind this.
    pub(super) fn take_texts(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.texts)
    }

    /// Names of the tables with commas between.
    pub(super) fn tables(&self) -> &[u8] {
        let texts = Texts {
            head: &self.head,
            bytes: &self.texts,
        };
        texts.get(Text::Tables).unwrap_or_default()
    }

    /// Memory that it takes in a block at most, in bytes.
    pub(super) fn bytes_max(&self) -> usize {
        HEAD_BYTES_MAX + self.texts.len()
    }
}

/// The texts of one entry.
struct Texts<'b> {
    head: &'b Head,
    /// Theirs, and perhaps what stands behind them.
    bytes: &'b [u8],
}

impl<'b> Texts<'b> {
    fn get(&self, text: Text) -> Option<&'b [u8]> {
        let length = |at: usize| self.head.lengths[at] as usize;
        let start = (0..text as usize).map(length).sum::<usize>();
        let is_there = self.head.has >> bit(text) & 1 == 1;
        is_there.then(|| &self.bytes[start..start + length(text as usize)])
    }
}

/// Entries behind each other.
#[derive(Default)]
pub struct Block {
    bytes: Vec<u8>,
    /// Where each begins.
    starts: Vec<u32>,
    /// By how much the time of day was ahead of the steady clock at the first entry, in microseconds: to ask for both at each
    /// entry costs a tenth of it. The writer takes a block every 50 ms, so a clock that is set is noticed as soon.
    ahead_us: i64,
}

impl Block {
    /// Adds an entry, whose times are of `clock`, and returns by how much [`Block::bytes`] grew.
    pub(super) fn push(&mut self, told: &Told, clock: Clock) -> usize {
        let before = self.bytes();
        if self.is_empty() {
            self.ahead_us = clock.unix_us().saturating_sub_unsigned(clock.steady_us());
        }
        self.starts.push(self.bytes.len() as u32);
        told.head.write(&mut self.bytes);
        self.bytes.extend_from_slice(&told.texts);
        self.bytes() - before
    }

    /// How many entries it has.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether it has no entry.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Memory of the entries, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.starts.len() * size_of::<u32>() + self.bytes.len()
    }

    /// Forgets the entries, and keeps their memory.
    pub(super) fn clear(&mut self) {
        self.starts.clear();
        self.bytes.clear();
    }

    /// The entries, the first one first.
    pub fn iter(&self) -> impl Iterator<Item = LoggedAt<'_>> {
        self.starts.iter().map(|start| self.at(*start))
    }

    fn at(&self, start: u32) -> LoggedAt<'_> {
        let (head, texts) = Head::read(&self.bytes[start as usize..]);
        LoggedAt {
            head,
            texts,
            ahead_us: self.ahead_us,
        }
    }
}

/// An entry of a block.
#[derive(Clone, Copy)]
pub struct LoggedAt<'b> {
    head: Head,
    texts: &'b [u8],
    ahead_us: i64,
}

impl<'b> LoggedAt<'b> {
    /// When it was answered, in microseconds since 1970-01-01 UTC.
    pub fn unix_us(&self) -> i64 {
        let ended_us = self.head.numbers[Number::EndedUs as usize];
        self.ahead_us.saturating_add_unsigned(ended_us)
    }

    /// What it is. Its time and the sizes of tables are not set: the writer knows them.
    pub fn entry(&self) -> Entry<'b> {
        let number = |of| self.head.number(of);
        let mut texts = self.texts;
        let mut text = |text: Text| {
            let at = text as usize;
            let length = self.head.lengths[at] as usize;
            let (own, behind) = texts.split_at(length);
            texts = behind;
            (self.head.has >> bit(text) & 1 == 1).then_some(Cow::Borrowed(own))
        };
        let real_us = number(Number::RealUs).unwrap_or(0);
        let queued_us = number(Number::QueuedUs).unwrap_or(0);
        Entry {
            real_us: Some(real_us),
            wall_us: Some(real_us.saturating_sub(queued_us)),
            queued_us: Some(queued_us),
            multiplier: Some(1),
            found: number(Number::Found),
            returned: number(Number::Returned),
            mode: number(Number::Mode).map(|place| MatchMode::ALL[place as usize]),
            filters: number(Number::Filters),
            sort: number(Number::Sort).map(|place| SortMode::ALL[place as usize]),
            window: number(Number::Offset).zip(number(Number::Limit)),
            statement: text(Text::Statement),
            tables: text(Text::Tables).unwrap_or_default(),
            query: text(Text::Query),
            group_by: text(Text::GroupBy),
            ranker: text(Text::Ranker),
            comment: text(Text::Comment),
            client: text(Text::Client),
            error: text(Text::Error),
            cut_bytes: number(Number::CutBytes),
            threads: number(Number::Threads),
            connection: number(Number::Connection),
            reads: number(Number::Faults),
            faults: number(Number::Faults),
            read_bytes: number(Number::ReadBytes),
            ..Entry::default()
        }
    }
}

/// An entry among the last ones.
pub struct Logged {
    block: Arc<Block>,
    at: usize,
}

impl Logged {
    /// The last entry of a block, and each before it.
    pub(super) fn backwards(block: Arc<Block>) -> impl Iterator<Item = Logged> {
        let count = block.len();
        (0..count).rev().map(move |at| Logged {
            block: Arc::clone(&block),
            at,
        })
    }

    /// Where it stands in its block.
    pub fn get(&self) -> LoggedAt<'_> {
        self.block.at(self.block.starts[self.at])
    }
}

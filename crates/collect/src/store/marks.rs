//! What the parts of a store have of messages that the store as a whole has not taken yet, in a form that outlives a restart.
//!
//! # Example
//! A `multi` of two stores: the first has m0, m1 and m2, the second is away. A `bucket`: a0 is not taken, b0 is, a1 is not, b1 is:
//!
//! ```text
//! multi     hashes  m0 m1 m2       numbers  3 0         each part has the first 3, the first 0 of them
//! bucket    hashes  a0 b0 a1 b1    numbers  1 1 1 1     runs: 1 not taken, 1 taken, 1 not taken, 1 taken
//! ```
//!
//! # Bytes
//! Numbers have 4 bytes, little-endian. One store is: count of hashes, the hashes of 8 bytes; count of numbers, the numbers;
//! count of parts that have marks of their own; for each of them the length of its key, the key, and the part in the same form. The
//! key is the part's place (4 bytes), or in a store of categories the category. At most [`MESSAGES_MAX`] messages of a store are
//! noted, and no store below [`DEPTH_MAX`] others: what is not noted is given again.
//!
//! Invariants:
//! - A message counts as taken only where its hash stands in its place. Marks that fit no messages are forgotten.
//! - Marks speak of one sequence of messages: a store that takes them up is given these next.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::message::Message;

use super::Store;

/// Most messages of one store that are noted.
const MESSAGES_MAX: usize = 1 << 20;
/// Most stores around one whose marks are noted.
const DEPTH_MAX: usize = 16;

/// A message as it is recognised when it comes again. Another build may compute it in another way: its marks then fit nothing.
pub(super) fn hash(message: &Message<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    (message.category, message.body).hash(&mut hasher);
    hasher.finish()
}

/// See the head of this file. Empty: no part has anything that the store has not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Recognise the messages that come next, in their order.
    pub(super) hashes: Vec<u64>,
    /// Of a `multi`: how many of them each part has. Of other stores: lengths of runs, in turn not taken and taken.
    pub(super) numbers: Vec<u32>,
    /// Marks of parts, by a key that the store gives them.
    pub(super) parts: Vec<(Box<[u8]>, Marks)>,
}

impl Marks {
    /// Marks of `hashes` and of parts whose key is their place. `numbers` is told how many of the hashes are noted.
    pub(super) fn new(hashes: &[u64], numbers: impl FnOnce(usize) -> Vec<u32>) -> Marks {
        let hashes = hashes.get(..MESSAGES_MAX).unwrap_or(hashes);
        Marks {
            numbers: match hashes {
                [] => Vec::new(),
                hashes => numbers(hashes.len()),
            },
            hashes: hashes.to_vec(),
            parts: Vec::new(),
        }
    }

    /// The marks as they are noted: the store's [`shape`](super::shape) before them; nothing of marks that say nothing.
    pub(crate) fn note(&self, shape: u64) -> Vec<u8> {
        match self.is_empty() {
            true => Vec::new(),
            false => [&shape.to_le_bytes()[..], &self.encode()].concat(),
        }
    }

    /// The opposite of `note`; `None`: nothing is noted, or it is of a store of another shape, or other bytes.
    pub(crate) fn of_note(note: &[u8], shape: u64) -> Option<Marks> {
        let marks = note.strip_prefix(&shape.to_le_bytes())?;
        Marks::decode(marks)
    }

    /// Whether they say nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.hashes.is_empty() && self.parts.is_empty()
    }

    /// Adds the marks of each part that has some, under its place.
    pub(super) fn with_parts(mut self, parts: &[Box<dyn Store>]) -> Marks {
        for (place, part) in (0_u32..).zip(parts) {
            self.add_part(&place.to_le_bytes(), part.marks());
        }
        self
    }

    /// Adds the marks of a part, if it has some.
    pub(super) fn add_part(&mut self, key: &[u8], marks: Marks) {
        if !marks.is_empty() {
            self.parts.push((key.into(), marks));
        }
    }

    /// Gives each part the marks that stand under its place.
    pub(super) fn give_to(&self, parts: &mut [Box<dyn Store>]) {
        for (place, part) in (0_u32..).zip(parts) {
            let of_part = |(key, _): &&(Box<[u8]>, Marks)| **key == place.to_le_bytes();
            if let Some((_, marks)) = self.parts.iter().find(of_part) {
                part.take_up(marks);
            }
        }
    }

    /// The bytes of the head of this file.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.append_to(&mut bytes, DEPTH_MAX);
        bytes
    }

    fn append_to(&self, bytes: &mut Vec<u8>, depth: usize) {
        let count = |bytes: &mut Vec<u8>, count: usize| {
            let count = u32::try_from(count).unwrap_or(u32::MAX);
            bytes.extend(count.to_le_bytes());
        };
        count(bytes, self.hashes.len());
        bytes.extend(self.hashes.iter().flat_map(|hash| hash.to_le_bytes()));
        count(bytes, self.numbers.len());
        bytes.extend(self.numbers.iter().flat_map(|number| number.to_le_bytes()));
        let parts = if depth == 0 { &[] } else { &self.parts[..] };
        count(bytes, parts.len());
        for (key, part) in parts {
            count(bytes, key.len());
            bytes.extend(&**key);
            part.append_to(bytes, depth - 1);
        }
    }

    /// The opposite of `encode`; `None`: other bytes. Memory and time are linear in `bytes`.
    #[must_use]
    pub fn decode(mut bytes: &[u8]) -> Option<Marks> {
        let marks = take_marks(&mut bytes, DEPTH_MAX)?;
        bytes.is_empty().then_some(marks)
    }
}

fn take_marks(bytes: &mut &[u8], depth: usize) -> Option<Marks> {
    let hashes = take_array(bytes)?;
    let numbers = take_array(bytes)?;
    let count = u32::from_le_bytes(take(bytes)?);
    if depth == 0 && count > 0 {
        return None;
    }
    let mut parts = Vec::new();
    for _ in 0..count {
        let length = usize::try_from(u32::from_le_bytes(take(bytes)?)).ok()?;
        let key = bytes.split_off(..length)?;
        parts.push((key.into(), take_marks(bytes, depth - 1)?));
    }
    Some(Marks {
        hashes: hashes.map(u64::from_le_bytes).collect(),
        numbers: numbers.map(u32::from_le_bytes).collect(),
        parts,
    })
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*first)
}

/// A count, and that many values of `N` bytes.
fn take_array<'b, const N: usize>(
    bytes: &mut &'b [u8],
) -> Option<impl Iterator<Item = [u8; N]> + use<'b, N>> {
    let count = usize::try_from(u32::from_le_bytes(take(bytes)?)).ok()?;
    let values = bytes.split_off(..count.checked_mul(N)?)?;
    let (values, _) = values.as_chunks::<N>();
    Some(values.iter().copied())
}

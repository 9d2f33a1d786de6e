//! The rows of the table, and the lists of ids.
//!
//! Everything about a row follows from its id, so the right answer to any list is computed here, without a server.

use super::definition::{Answer, Dialect};
use crate::{
    random::XorShift,
    workload::{Post, push_literal},
};

/// A prime above all ids of a table. Multiplying by a primitive root modulo a prime permutes 1 to the prime minus 1.
const PRIME: u64 = 2_147_483_647;

/// Rows of a first key.
const PAIRS: u64 = 10;

/// One id in this many has no row, and one is in the list twice.
const SPECIAL_EVERY: usize = 50;

/// A number in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Id,
    Keyed,
    PairFirst,
    PairSecond,
    Unkeyed,
}

impl Place {
    /// All, in the order of the columns.
    const ALL: [Place; 5] = [
        Place::Id,
        Place::Keyed,
        Place::PairFirst,
        Place::PairSecond,
        Place::Unkeyed,
    ];

    /// The place with this name in a template.
    pub(super) fn named(name: &str) -> Option<Place> {
        let names = ["id", "k", "k1", "k2", "n"];
        let place = names.iter().position(|known| *known == name)?;
        Some(Place::ALL[place])
    }

    /// The number of the row of this id.
    pub(super) fn of(self, id: u64) -> u64 {
        match self {
            Place::Id => id,
            Place::Keyed => id * 48_271 % PRIME,
            Place::PairFirst => id / PAIRS,
            Place::PairSecond => id % PAIRS,
            Place::Unkeyed => id * 16_807 % PRIME,
        }
    }
}

/// The table: the rows 1 to `count`.
pub(super) struct Rows {
    posts: Vec<Post>,
    pub(super) count: u64,
}

impl Rows {
    /// `posts` has at least one post.
    pub(super) fn new(posts: Vec<Post>, count: u64) -> Rows {
        Rows { posts, count }
    }

    fn post(&self, id: u64) -> &Post {
        &self.posts[(id % self.posts.len() as u64) as usize]
    }

    /// Appends the values of a row for INSERT.
    pub(super) fn push_tuple(&self, dialect: Dialect, text: &mut String, id: u64) {
        text.push('(');
        for place in Place::ALL {
            text.push_str(&place.of(id).to_string());
            text.push(',');
        }
        let post = self.post(id);
        for (value, end) in [(&post.sub, ','), (&post.body, ')')] {
            match dialect {
                Dialect::Mysql => push_literal(text, value),
                Dialect::Sqlite => {
                    text.push('\'');
                    text.push_str(&value.replace('\'', "''"));
                    text.push('\'');
                }
            }
            text.push(end);
        }
    }

    /// The right answer to a list: count and checksum of its rows.
    pub(super) fn answer(&self, list: &List, answer: Answer) -> Sum {
        let mut sum = Sum::default();
        for (number, id) in list.ids.iter().enumerate() {
            let is_repeated = List::repeats(number).is_some();
            if *id <= self.count && !(is_repeated && answer == Answer::Once) {
                let numbers = Place::ALL.map(|place| place.of(*id).to_string());
                let post = self.post(*id);
                let cells = numbers.iter().chain([&post.sub, &post.body]);
                sum.add(cells.map(|cell| Some(cell.as_bytes())));
            }
        }
        sum
    }
}

/// Count and checksum of rows, in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) rows: u64,
    /// The sum, modulo 2^64, of the rows' own checksums. `benchmarks/peers/select` computes the same.
    pub(super) value: u64,
}

impl Sum {
    /// Adds a row by the texts of its cells; `None` is NULL.
    pub(super) fn add<'r>(&mut self, cells: impl Iterator<Item = Option<&'r [u8]>>) {
        let mut row = 0;
        for cell in cells {
            let bytes = cell.unwrap_or_default();
            row = mixed(row, cell.map_or(u64::MAX, |cell| cell.len() as u64));
            let mut words = bytes.chunks_exact(8);
            for word in words.by_ref() {
                row = mixed(row, little_endian(word));
            }
            row = mixed(row, little_endian(words.remainder()));
        }
        self.rows += 1;
        self.value = self.value.wrapping_add(row);
    }
}

fn mixed(row: u64, word: u64) -> u64 {
    (row ^ word)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .rotate_left(32)
}

/// The number of up to 8 bytes.
fn little_endian(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// A list of ids.
pub(super) struct List {
    pub(super) ids: Vec<u64>,
}

impl List {
    /// For the number of an id that is in the list for the second time, the number of the first.
    fn repeats(number: usize) -> Option<usize> {
        (number % SPECIAL_EVERY == SPECIAL_EVERY / 2).then(|| number - 1)
    }
}

/// All ids of a table in random order. Lists are cut from it, so that two ids of a list differ unless a list repeats one.
pub(super) struct Drawn {
    ids: Vec<u64>,
}

impl Drawn {
    pub(super) fn new(count: u64, seed: u64) -> Drawn {
        let mut ids: Vec<u64> = (1..=count).collect();
        let mut random = XorShift::new(seed);
        for place in (1..ids.len()).rev() {
            ids.swap(place, random.below(place + 1));
        }
        Drawn { ids }
    }

    /// The list of this number and size. Requires: `size` is at most the count of ids.
    pub(super) fn list(&self, number: usize, size: usize) -> List {
        let count = self.ids.len();
        let mut ids: Vec<u64> = Vec::with_capacity(size);
        for place in 0..size {
            let id = if place % SPECIAL_EVERY == SPECIAL_EVERY - 1 {
                (count + 1 + place / SPECIAL_EVERY) as u64
            } else {
                match List::repeats(place) {
                    Some(first) => ids[first],
                    None => self.ids[(number * size + place) % count],
                }
            };
            ids.push(id);
        }
        List { ids }
    }
}

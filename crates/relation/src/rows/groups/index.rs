//! Numbers of keys, key after key, and the distinct values of groups.
//!
//! Example: GROUP BY city, n over (Bonn, 1), (Rome, 1), (BONN, 2).
//!
//! ```text
//! stage 0   (0, bonn) → 0   (0, rome) → 1
//! stage 1   (0, 1) → 0      (1, 1) → 1     (0, 2) → 2      the groups
//! ```
//!
//! Invariant: a value that is a whole number of 64 bits, `5.0` too, is in a table of numbers, any other in a table of bytes, as
//! [`write`] gives them. So equal values meet in one table.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use language::meter::{Meter, Work};
use rustc_hash::FxBuildHasher;

use super::super::distinct::{write, write_text};
use crate::value::{Number, Value};

/// Parts of distinct values. Each is made on its own, and those of several threads are merged part by part.
pub(super) const SHARDS: usize = 256;

/// 2^64 divided by the golden ratio: products with it have well mixed high bits.
const MIXER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Units of an entry of a table that is put into another one, without its bytes.
const MERGED_UNITS: u64 = 40;

/// Units of a number that is appended, and then dropped where it is repeated.
const APPENDED_UNITS: u64 = 10;

/// Memory of an entry of a table, in bytes, with the table's room to grow.
const ENTRY_BYTES: usize = 48;

/// The whole number that a value equals, if it is one of 64 bits.
pub(super) fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Int(number) => i64::try_from(*number).ok(),
        Value::Float(number) => match Number::Real(*number).normal() {
            Number::Whole(number) => i64::try_from(number).ok(),
            Number::Real(_) => None,
        },
        _ => None,
    }
}

fn hash_whole(before: u32, number: i64) -> u64 {
    FxBuildHasher.hash_one((number, before))
}

fn hash_bytes(before: u32, bytes: &[u8]) -> u64 {
    FxBuildHasher.hash_one((bytes, before))
}

/// Length of the table in [`Near`]. Keys in a range of this length, such as years or prices, are looked up without a hash.
const NEAR: usize = 1 << 14;

/// Least rows of a block for which [`Near`] is used: setting up the table costs more than hashing a few values.
const NEAR_ROWS: usize = 256;

/// A table of groups by one whole-number key, for keys in `base .. base + NEAR`.
struct Near {
    /// The key of the table's first entry.
    base: i64,
    /// At `key - base`: the group's number plus 1; 0 for a key without a group.
    numbers: Box<[u32]>,
}

impl Near {
    fn around(value: i64) -> Near {
        Near {
            base: value.wrapping_sub(NEAR as i64 / 2),
            numbers: vec![0; NEAR].into_boxed_slice(),
        }
    }

    /// The place of a value; `None`: it is far away.
    #[inline]
    fn place(&mut self, value: i64) -> Option<&mut u32> {
        let distance = value.wrapping_sub(self.base).cast_unsigned();
        self.numbers.get_mut(usize::try_from(distance).ok()?)
    }
}

/// The groups of the texts of a list by one key, as far as they are known.
struct OfList {
    texts: Arc<Texts>,
    /// By place: the group's number plus 1; 0 of a text without a group. One more for NULL. The memory of a longer list before is
    /// kept: what groups have paid for never falls.
    numbers: Vec<u32>,
}

/// The numbers of one key's values, each behind the number of the keys before it.
#[derive(Default)]
struct Stage {
    near: Option<Near>,
    /// Of the list that the last block had.
    list: Option<OfList>,
    whole: HashTable<(u32, i64, u32)>,
    others: HashTable<(u32, Box<[u8]>, u32)>,
    count: u32,
    /// Memory of the texts, in bytes.
    bytes: usize,
}

impl Stage {
    fn of_whole(&mut self, before: u32, number: i64) -> u32 {
        let hash = hash_whole(before, number);
        let is = |entry: &(u32, i64, u32)| entry.1 == number && entry.0 == before;
        match self
            .whole
            .entry(hash, is, |entry| hash_whole(entry.0, entry.1))
        {
            Entry::Occupied(entry) => entry.get().2,
            Entry::Vacant(entry) => {
                entry.insert((before, number, self.count));
                self.count += 1;
                self.count - 1
            }
        }
    }

    /// Sets `numbers` to the group numbers of the values of the first key.
    fn of_block(&mut self, values: &[i64], numbers: &mut [u32]) {
        let Some(first) = values.first().filter(|_| values.len() >= NEAR_ROWS) else {
            for (number, value) in numbers.iter_mut().zip(values) {
                *number = self.of_whole(0, *value);
            }
            return;
        };
        let mut near = self.near.take().unwrap_or_else(|| Near::around(*first));
        for (number, value) in numbers.iter_mut().zip(values) {
            *number = match near.place(*value) {
                None => self.of_whole(0, *value),
                Some(0) => {
                    let new = self.of_whole(0, *value);
                    if let Some(place) = near.place(*value) {
                        *place = new + 1;
                    }
                    new
                }
                Some(known) => *known - 1,
            };
        }
        self.near = Some(near);
    }

    fn of_value(
        &mut self,
        before: u32,
        value: &Value,
        code: &mut Vec<u8>,
        meter: &dyn Meter,
    ) -> u32 {
        match whole(value) {
            Some(value) => self.of_whole(before, value),
            None => {
                code.clear();
                write(value, code, meter);
                self.of_bytes(before, code)
            }
        }
    }

    /// Sets `numbers` to the group numbers of the texts of the first key. Cost: a look-up in a table for each row, and the hash of
    /// each text once for each list.
    fn of_list(
        &mut self,
        places: &[u32],
        texts: &Arc<Texts>,
        numbers: &mut [u32],
        code: &mut Vec<u8>,
        meter: &dyn Meter,
    ) {
        let mut list = self.list.take().unwrap_or_else(|| OfList {
            texts: Arc::default(),
            numbers: Vec::new(),
        });
        if !Arc::ptr_eq(&list.texts, texts) {
            list.texts = Arc::clone(texts);
            list.numbers.clear();
            list.numbers.resize(texts.count() + 1, 0);
        }
        for (number, place) in numbers.iter_mut().zip(places) {
            let at = (*place as usize).min(texts.count());
            *number = match list.numbers[at] {
                0 => {
                    texts.write(at, code, meter);
                    let new = self.of_bytes(0, code);
                    list.numbers[at] = new + 1;
                    new
                }
                known => known - 1,
            };
        }
        self.list = Some(list);
    }

    fn of_bytes(&mut self, before: u32, bytes: &[u8]) -> u32 {
        let hash = hash_bytes(before, bytes);
        let is = |entry: &(u32, Box<[u8]>, u32)| entry.0 == before && *entry.1 == *bytes;
        match self
            .others
            .entry(hash, is, |entry| hash_bytes(entry.0, &entry.1))
        {
            Entry::Occupied(entry) => entry.get().2,
            Entry::Vacant(entry) => {
                entry.insert((before, bytes.into(), self.count));
                self.bytes += bytes.len();
                self.count += 1;
                self.count - 1
            }
        }
    }
}

/// Values of some rows.
#[derive(Debug)]
pub enum Block {
    /// Whole numbers, none of them NULL.
    Whole(Vec<i64>),
    /// Doubles, none of them NULL.
    Real(Vec<f64>),
    /// Texts, none of them NULL.
    Texts(Texts),
    /// Texts by their places in a list of distinct ones. A place behind the last one is NULL.
    Listed(Vec<u32>, Arc<Texts>),
    /// Any values.
    Any(Vec<Value>),
}

/// Texts behind each other.
#[derive(Debug, Default)]
pub struct Texts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Texts {
    /// Adds a text in UTF-8.
    #[inline]
    pub fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
    }

    /// The texts, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        let spans = starts.zip(&self.ends);
        spans.map(|(start, end)| &self.bytes[*start..*end])
    }

    /// The `at`-th text; `None` behind the last one.
    #[must_use]
    pub fn get(&self, at: usize) -> Option<&[u8]> {
        let start = match at.checked_sub(1) {
            Some(before) => *self.ends.get(before)?,
            None => 0,
        };
        self.bytes.get(start..*self.ends.get(at)?)
    }

    /// The `at`-th text; NULL behind the last one.
    #[must_use]
    pub fn value(&self, at: usize) -> Value {
        let text = self.get(at).map(String::from_utf8_lossy);
        text.map_or(Value::Null, |text| Value::Str(text.into_owned()))
    }

    /// Sets `code` to the bytes of the `at`-th text as a key; of NULL behind the last one.
    fn write(&self, at: usize, code: &mut Vec<u8>, meter: &dyn Meter) {
        code.clear();
        match self.get(at) {
            Some(text) => write_text(text, code, meter),
            None => write(&Value::Null, code, meter),
        }
    }

    /// Number of texts.
    #[must_use]
    pub fn count(&self) -> usize {
        self.ends.len()
    }
}

impl Block {
    /// Memory of the block's own texts, in bytes.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        match self {
            Block::Whole(_) | Block::Real(_) | Block::Listed(..) => 0,
            Block::Texts(texts) => texts.bytes.capacity(),
            Block::Any(values) => values.iter().map(Value::memory).sum(),
        }
    }

    /// The value of the `at`-th row.
    pub(super) fn value(&self, at: usize) -> Value {
        match self {
            Block::Whole(numbers) => Value::Int(numbers[at].into()),
            Block::Real(numbers) => Value::Float(numbers[at]),
            Block::Texts(texts) => texts.value(at),
            Block::Listed(places, texts) => texts.value(places[at] as usize),
            Block::Any(values) => values[at].clone(),
        }
    }

    /// Whether some of the values are sets or JSON arrays.
    pub(super) fn has_lists(&self) -> bool {
        match self {
            Block::Whole(_) | Block::Real(_) | Block::Texts(_) | Block::Listed(..) => false,
            Block::Any(values) => values.iter().any(|value| value.items().is_some()),
        }
    }

    /// The values of these rows.
    pub(super) fn of_rows(&self, rows: &[u32]) -> Block {
        match self {
            Block::Whole(numbers) => {
                Block::Whole(rows.iter().map(|row| numbers[*row as usize]).collect())
            }
            Block::Real(numbers) => {
                Block::Real(rows.iter().map(|row| numbers[*row as usize]).collect())
            }
            Block::Texts(texts) => {
                let mut chosen = Texts::default();
                let of_rows = rows.iter().filter_map(|row| texts.get(*row as usize));
                of_rows.for_each(|text| chosen.push(text));
                Block::Texts(chosen)
            }
            Block::Listed(places, texts) => Block::Listed(
                rows.iter().map(|row| places[*row as usize]).collect(),
                Arc::clone(texts),
            ),
            Block::Any(values) => Block::Any(
                rows.iter()
                    .map(|row| values[*row as usize].clone())
                    .collect(),
            ),
        }
    }
}

impl From<Vec<Value>> for Block {
    fn from(values: Vec<Value>) -> Block {
        let whole = values.iter().map(|value| match value {
            Value::Int(number) => i64::try_from(*number).ok(),
            _ => None,
        });
        match whole.collect() {
            Some(numbers) => Block::Whole(numbers),
            None => Block::Any(values),
        }
    }
}

/// The numbers of all keys together: the groups.
pub(super) struct Index {
    stages: Vec<Stage>,
    code: Vec<u8>,
}

impl Index {
    pub(super) fn new(keys: usize) -> Index {
        Index {
            stages: (0..keys).map(|_| Stage::default()).collect(),
            code: Vec::new(),
        }
    }

    /// Number of groups. Without keys there is one.
    pub(super) fn count(&self) -> u32 {
        self.stages.last().map_or(1, |stage| stage.count)
    }

    /// Memory beside that of groups, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let all = self.stages.iter();
        all.map(|stage| {
            let near = stage.near.as_ref();
            let near = near.map_or(0, |near| size_of_val(&*near.numbers));
            let list = stage.list.as_ref();
            let list = list.map_or(0, |list| size_of::<u32>() * list.numbers.capacity());
            stage.bytes + near + list + stage.count as usize * ENTRY_BYTES
        })
        .sum()
    }

    /// Sets `numbers`, one for each row, to the rows' groups. `keys`: a block for each key. Of no use once the meter has stopped.
    pub(super) fn number<'b>(
        &mut self,
        keys: impl Iterator<Item = &'b Block>,
        numbers: &mut [u32],
        meter: &dyn Meter,
    ) {
        numbers.fill(0);
        for (at, (stage, block)) in self.stages.iter_mut().zip(keys).enumerate() {
            match block {
                Block::Whole(values) if at == 0 => stage.of_block(values, numbers),
                Block::Whole(values) => {
                    for (number, value) in numbers.iter_mut().zip(values) {
                        *number = stage.of_whole(*number, *value);
                    }
                }
                Block::Texts(texts) => {
                    for (number, text) in numbers.iter_mut().zip(texts.iter()) {
                        self.code.clear();
                        write_text(text, &mut self.code, meter);
                        *number = stage.of_bytes(*number, &self.code);
                    }
                }
                Block::Listed(places, texts) if at == 0 => {
                    stage.of_list(places, texts, numbers, &mut self.code, meter);
                }
                Block::Listed(places, texts) => {
                    for (number, place) in numbers.iter_mut().zip(places) {
                        texts.write(*place as usize, &mut self.code, meter);
                        *number = stage.of_bytes(*number, &self.code);
                    }
                }
                Block::Real(values) => {
                    for (number, value) in numbers.iter_mut().zip(values) {
                        let value = Value::Float(*value);
                        *number = stage.of_value(*number, &value, &mut self.code, meter);
                    }
                }
                Block::Any(values) => {
                    for (number, value) in numbers.iter_mut().zip(values) {
                        *number = stage.of_value(*number, value, &mut self.code, meter);
                    }
                }
            }
        }
    }

    /// The codes of the keys of all groups.
    pub(super) fn into_codes(self) -> KeyCodes {
        let stages = self.stages.into_iter().map(|stage| {
            let mut codes: Vec<(u32, KeyCode)> = Vec::new();
            codes.resize_with(stage.count as usize, || (0, KeyCode::Whole(0)));
            for (before, value, number) in stage.whole {
                codes[number as usize] = (before, KeyCode::Whole(value));
            }
            for (before, bytes, number) in stage.others {
                codes[number as usize] = (before, KeyCode::Other(bytes));
            }
            codes
        });
        KeyCodes(stages.collect())
    }

    /// Adds the groups of another index of as many keys. Gives for each of its groups the number here; `None`: the meter has stopped.
    pub(super) fn merge(&mut self, other: Index, work: &Work<'_>) -> Option<Vec<u32>> {
        let mut known = vec![0];
        for (stage, from) in self.stages.iter_mut().zip(other.stages) {
            let mut next = vec![0; from.count as usize];
            stage
                .whole
                .reserve(from.whole.len(), |entry| hash_whole(entry.0, entry.1));
            for (before, value, number) in from.whole {
                work.begin(MERGED_UNITS)?;
                next[number as usize] = stage.of_whole(known[before as usize], value);
            }
            for (before, bytes, number) in from.others {
                work.begin(MERGED_UNITS + bytes.len() as u64)?;
                next[number as usize] = stage.of_bytes(known[before as usize], &bytes);
            }
            known = next;
        }
        Some(known)
    }
}

/// A key's value, as the tables have it.
enum KeyCode {
    Whole(i64),
    Other(Box<[u8]>),
}

/// For each key, by the number of the keys up to it: the number of the keys before it, and its code.
pub(super) struct KeyCodes(Vec<Vec<(u32, KeyCode)>>);

impl KeyCodes {
    /// Puts in the place of each list among the keys of a group's first row the item that the group is of.
    pub(super) fn choose(&self, group: u32, keys: &mut [Value], meter: &dyn Meter) {
        let mut number = group;
        for (key, stage) in keys.iter_mut().zip(&self.0).rev() {
            let (before, code) = &stage[number as usize];
            number = *before;
            let mut items = key.items().into_iter().flatten();
            if let Some(item) = items.find(|item| code.is(item, meter)) {
                *key = item;
            }
        }
    }
}

impl KeyCode {
    fn is(&self, value: &Value, meter: &dyn Meter) -> bool {
        match (self, whole(value)) {
            (KeyCode::Whole(code), Some(number)) => *code == number,
            (KeyCode::Other(code), None) => {
                let mut bytes = Vec::new();
                write(value, &mut bytes, meter);
                **code == *bytes
            }
            _ => false,
        }
    }
}

/// The distinct values of some groups.
///
/// Numbers are only appended. When their room is full, repeated ones are dropped, and the room is doubled if more than half of it is
/// still taken. So a number costs a constant number of steps, in a table that is made anew, never grows and fits the processor's cache.
#[derive(Default)]
pub(super) struct Shard {
    whole: Vec<(u32, i64)>,
    others: HashTable<(u32, Box<[u8]>)>,
}

/// Least numbers that a shard has room for.
const ROOM_MIN: usize = 64;

impl Shard {
    /// Adds a number. Gives the memory that this takes, in bytes.
    #[inline]
    fn add_whole(&mut self, group: u32, number: i64, slots: &mut Vec<u32>) -> usize {
        let mut bytes = 0;
        if self.whole.len() == self.whole.capacity() {
            bytes = self.make_room(slots);
        }
        self.whole.push((group, number));
        bytes
    }

    #[cold]
    fn make_room(&mut self, slots: &mut Vec<u32>) -> usize {
        let before = self.whole.capacity();
        self.drop_repeated(slots);
        if 2 * self.whole.len() >= before {
            let room = (2 * before).max(ROOM_MIN);
            self.whole.reserve_exact(room - self.whole.len());
        }
        (self.whole.capacity() - before) * size_of::<(u32, i64)>()
    }

    /// Keeps each number of a group once. `slots`: memory for a hash table of places.
    fn drop_repeated(&mut self, slots: &mut Vec<u32>) {
        const NONE: u32 = u32::MAX;
        let bits = (2 * self.whole.len().max(1)).next_power_of_two().ilog2();
        slots.clear();
        slots.resize(1 << bits, NONE);
        let mut kept = 0;
        for at in 0..self.whole.len() {
            let entry = self.whole[at];
            let mixed = (entry.1.cast_unsigned() ^ u64::from(entry.0) << 40).wrapping_mul(MIXER);
            let mut slot = (mixed >> (64 - bits)) as usize;
            let is_known = loop {
                match slots[slot] {
                    NONE => break false,
                    place if self.whole[place as usize] == entry => break true,
                    _ => slot = (slot + 1) & ((1 << bits) - 1),
                }
            };
            if !is_known {
                slots[slot] = kept as u32;
                self.whole[kept] = entry;
                kept += 1;
            }
        }
        self.whole.truncate(kept);
    }

    fn add_bytes(&mut self, group: u32, bytes: &[u8]) -> bool {
        let hash = hash_bytes(group, bytes);
        let is = |entry: &(u32, Box<[u8]>)| entry.0 == group && *entry.1 == *bytes;
        match self
            .others
            .entry(hash, is, |entry| hash_bytes(entry.0, &entry.1))
        {
            Entry::Occupied(_) => false,
            Entry::Vacant(entry) => {
                entry.insert((group, bytes.into()));
                true
            }
        }
    }

    /// Adds the values of another shard. `numbers`: for each of its groups the number here. Gives the memory that they take, in
    /// bytes; `None`: the meter has stopped.
    pub(super) fn merge(
        &mut self,
        other: Shard,
        numbers: &[u32],
        work: &Work<'_>,
    ) -> Option<usize> {
        let before = self.whole.capacity();
        work.begin(APPENDED_UNITS * other.whole.len() as u64)?;
        let whole = other.whole.into_iter();
        let whole = whole.map(|(group, number)| (numbers[group as usize], number));
        self.whole.extend(whole);
        let mut bytes = (self.whole.capacity() - before) * size_of::<(u32, i64)>();
        for (group, code) in other.others {
            work.begin(MERGED_UNITS + code.len() as u64)?;
            if self.add_bytes(numbers[group as usize], &code) {
                bytes += ENTRY_BYTES + code.len();
            }
        }
        Some(bytes)
    }

    /// Number of values, with those that are repeated.
    pub(super) fn len(&self) -> usize {
        self.whole.len() + self.others.len()
    }

    /// Calls `visit` with groups and how many values they have here. A group may come several times.
    pub(super) fn counts(&mut self, mut visit: impl FnMut(u32, u64)) {
        self.drop_repeated(&mut Vec::new());
        let groups = self.whole.iter().map(|entry| entry.0);
        let groups = groups.chain(self.others.iter().map(|entry| entry.0));
        let (mut last, mut count) = (0, 0);
        for group in groups {
            if group != last && count > 0 {
                visit(last, std::mem::take(&mut count));
            }
            last = group;
            count += 1;
        }
        if count > 0 {
            visit(last, count);
        }
    }
}

/// The distinct values of all groups, in [`SHARDS`] parts.
pub(super) struct DistinctValues {
    pub(super) shards: Vec<Shard>,
    code: Vec<u8>,
    slots: Vec<u32>,
}

impl DistinctValues {
    pub(super) fn new() -> DistinctValues {
        DistinctValues {
            shards: (0..SHARDS).map(|_| Shard::default()).collect(),
            code: Vec::new(),
            slots: Vec::new(),
        }
    }

    /// Adds a number to a group. Gives the memory that this takes, in bytes. The group has no part in the choice of the shard, since
    /// each thread numbers groups as it likes.
    #[inline]
    pub(super) fn add_whole(&mut self, group: u32, number: i64) -> usize {
        let at = number.cast_unsigned().wrapping_mul(MIXER) >> 32;
        self.shards[at as usize % SHARDS].add_whole(group, number, &mut self.slots)
    }

    /// Adds the values of a row to a group. Gives the memory that this takes, in bytes. Of no use once the meter has stopped.
    pub(super) fn add(&mut self, group: u32, values: &[Value], meter: &dyn Meter) -> usize {
        // Each number of a set counts, as in Sphinx.
        if let [Value::Set(numbers)] = values {
            let numbers = numbers.iter();
            return numbers.map(|number| self.add_whole(group, *number)).sum();
        }
        if let [value] = values
            && let Some(number) = whole(value)
        {
            return self.add_whole(group, number);
        }
        self.add_code(group, |code| {
            values.iter().for_each(|value| write(value, code, meter));
        })
    }

    /// As [`DistinctValues::add`] of a text.
    pub(super) fn add_text(&mut self, group: u32, text: &[u8], meter: &dyn Meter) -> usize {
        self.add_code(group, |code| write_text(text, code, meter))
    }

    /// Adds the values whose bytes `write` appends.
    fn add_code(&mut self, group: u32, write: impl FnOnce(&mut Vec<u8>)) -> usize {
        let mut code = std::mem::take(&mut self.code);
        code.clear();
        write(&mut code);
        let at = hash_bytes(0, &code) as usize % SHARDS;
        let bytes = match self.shards[at].add_bytes(group, &code) {
            true => ENTRY_BYTES + code.len(),
            false => 0,
        };
        self.code = code;
        bytes
    }
}

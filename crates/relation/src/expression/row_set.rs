//! The rows of `(a, b) IN ((1, 'x'), (2, 'y'))` as a set, so that one look-up answers.
//!
//! Example: each place of the rows has a [`Coder`], which gives equal constants the same number: 1 and 2 are themselves, `x` and
//! `Y` are the first and the second text of their place. The rows become (1, 0) and (2, 1) in a hash table. The needle (2, 'y')
//! has the numbers (2, 1) and is found.
//!
//! A comparison with NULL is NULL: beside `(1, NULL)` the needle (1, 'x') is NULL, and (2, 'x') is false. So rows with NULL in the
//! same places are one [`Group`], and a group is also asked without the places in which the needle is NULL. Such tables are made
//! when they are first asked for.

use std::cmp::Ordering;
use std::hash::{BuildHasher, BuildHasherDefault};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use hashbrown::HashTable;
use language::meter::Work;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHasher};

use super::evaluate::{and, or, truth};
use super::list::List;
use crate::value::{Number, Value};

/// Units of a place of a row that is compared.
const PLACE_UNITS: u64 = 40;

/// Units of a row that becomes a number, place by place.
const CODED_UNITS: u64 = 5;

/// Places of a row as bits.
type Places = u32;

/// Most places of a row: the bits of [`Places`].
pub(super) const ROW_WIDTH_MAX: usize = Places::BITS as usize;

/// The rows of a list of rows. They become numbers when the first row asks.
#[derive(Debug)]
pub(super) struct RowSet {
    columns: Vec<List>,
    /// For each place whether the needle is a number, where that is known.
    numbers: Vec<Option<bool>>,
    coded: OnceLock<Option<Coded>>,
    /// Held by the thread that makes the numbers.
    making: Mutex<()>,
}

/// The rows of a set of nothing but whole numbers of 64 bits.
#[derive(Clone, Copy)]
pub(super) struct WholeRows<'s>(&'s Coded);

impl WholeRows<'_> {
    /// As [`RowSet::holds`] for whole numbers.
    pub(super) fn holds(self, needle: &[i64]) -> bool {
        self.0.find(&self.0.whole, 0, needle)
    }
}

/// Tables of row numbers by the index of their group and the places that they leave out.
type Tables = FxHashMap<(usize, Places), Arc<HashTable<u32>>>;

/// Rows as numbers.
#[derive(Debug)]
struct Coded {
    coders: Vec<Coder>,
    /// The numbers of all rows, row by row; 0 for NULL.
    codes: Vec<i64>,
    groups: Vec<Group>,
    tables: Mutex<Tables>,
    /// The table of the rows without NULL.
    whole: HashTable<u32>,
}

/// The rows that have NULL in the same places.
#[derive(Debug)]
struct Group {
    nulls: Places,
    rows: Vec<u32>,
}

/// Gives the constants of a place numbers: equal constants the same, others another.
#[derive(Debug)]
enum Coder {
    /// Whole numbers of 64 bits are their own numbers.
    Whole,
    Numbers(FxHashMap<(bool, u128), i64>),
    /// Texts in lower case.
    Texts(FxHashMap<Box<[u8]>, i64>),
}

/// What a needle is in a place.
enum Place {
    Null,
    /// It equals the constants of this number.
    Code(i64),
    /// It equals none.
    Other,
}

impl RowSet {
    /// The set of rows whose constants are given place by place. `numbers` tells for each place whether the needle is a number,
    /// where that is known.
    pub(super) fn new(columns: Vec<List>, numbers: Vec<Option<bool>>) -> RowSet {
        RowSet {
            columns,
            numbers,
            coded: OnceLock::new(),
            making: Mutex::new(()),
        }
    }

    /// The rows as numbers, `None` where numbers cannot tell. They are counted where they have to be made; the outer `None`: the meter
    /// has stopped.
    fn coded(&self, work: &Work<'_>) -> Option<Option<&Coded>> {
        if let Some(coded) = self.coded.get() {
            return Some(coded.as_ref());
        }
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(coded) = self.coded.get() {
            return Some(coded.as_ref());
        }
        let coded = Coded::new(&self.columns, &self.numbers, work);
        if work.is_stopped() {
            return None;
        }
        Some(self.coded.get_or_init(|| coded).as_ref())
    }

    /// Whether the needle, given place by place, equals a row; `None` is NULL. Cost: a look-up, where each place has constants of
    /// one kind.
    pub(super) fn holds(&self, needle: &[Value], work: &Work<'_>) -> Option<bool> {
        let coded = self.coded(work)?;
        let coded = coded.and_then(|coded| coded.holds(needle, work));
        coded.unwrap_or_else(|| holds_slowly(&self.columns, needle, work))
    }

    /// Whether all constants are whole numbers of 64 bits.
    pub(super) fn is_whole(&self) -> bool {
        !self.columns.is_empty() && self.columns.iter().all(|list| list.whole().is_some())
    }

    /// The rows, if [`RowSet::is_whole`]. `None` also once the meter has stopped.
    pub(super) fn whole_within(&self, work: &Work<'_>) -> Option<WholeRows<'_>> {
        match self.is_whole() {
            true => self.coded(work)?.map(WholeRows),
            false => None,
        }
    }
}

/// As [`RowSet::holds`], by comparing each row.
pub(super) fn holds_slowly(columns: &[List], needle: &[Value], work: &Work<'_>) -> Option<bool> {
    let rows = 0..columns.first().map_or(0, List::len);
    let equals = |row: usize| {
        let places = columns.iter().zip(needle);
        let places = places.map(|(list, value)| truth(value, &list.get(row), Ordering::is_eq));
        places.fold(Some(true), and)
    };
    let units = PLACE_UNITS * columns.len() as u64;
    rows.map_while(|row| work.begin(units).map(|()| equals(row)))
        .fold(Some(false), or)
}

impl Coded {
    /// `None`: numbers cannot tell, or the meter has stopped.
    fn new(columns: &[List], numbers: &[Option<bool>], work: &Work<'_>) -> Option<Coded> {
        let (width, count) = (columns.len(), columns.first()?.len());
        let mut coders = Vec::with_capacity(width);
        let mut codes = vec![0; width * count];
        let mut nulls: Vec<Places> = Vec::new();
        for (place, (list, is_number)) in columns.iter().zip(numbers).enumerate() {
            let mut coder = Coder::of(list, *is_number)?;
            if let (Coder::Whole, Some(whole)) = (&coder, list.whole()) {
                for (row, number) in whole.iter().enumerate() {
                    work.begin(CODED_UNITS)?;
                    codes[row * width + place] = *number;
                }
            } else {
                nulls.resize(count, 0);
                for (row, value) in list.iter().enumerate() {
                    work.begin(PLACE_UNITS + value.memory() as u64)?;
                    match value == Value::Null {
                        true => nulls[row] |= 1 << place,
                        false => codes[row * width + place] = coder.add(&value)?,
                    }
                }
            }
            coders.push(coder);
        }
        let mut groups: Vec<Group> = Vec::new();
        for row in 0..count {
            work.begin(CODED_UNITS)?;
            let places = nulls.get(row).copied().unwrap_or(0);
            match groups.iter_mut().find(|group| group.nulls == places) {
                Some(group) => group.rows.push(row as u32),
                None => groups.push(Group {
                    nulls: places,
                    rows: vec![row as u32],
                }),
            }
        }
        let mut coded = Coded {
            coders,
            codes,
            groups,
            tables: Mutex::default(),
            whole: HashTable::new(),
        };
        if let Some(group) = coded.groups.iter().find(|group| group.nulls == 0) {
            coded.whole = coded.table(group, 0, work)?;
        }
        Some(coded)
    }

    /// `None`: a value of the needle has a kind for which the numbers cannot tell.
    fn holds(&self, needle: &[Value], work: &Work<'_>) -> Option<Option<bool>> {
        let mut codes = [0; ROW_WIDTH_MAX];
        let (mut nulls, mut others): (Places, Places) = (0, 0);
        for (place, (coder, value)) in self.coders.iter().zip(needle).enumerate() {
            match coder.place(value)? {
                Place::Null => nulls |= 1 << place,
                Place::Other => others |= 1 << place,
                Place::Code(code) => codes[place] = code,
            }
        }
        let codes = &codes[..self.coders.len()];
        if nulls == 0 && others == 0 && self.find(&self.whole, 0, codes) {
            return Some(Some(true));
        }
        let might_be = |(at, group): (usize, &Group)| {
            let out = group.nulls | nulls;
            work.spend(PLACE_UNITS);
            // Rows without NULL were asked above.
            if out == 0 || others & !out != 0 {
                return false;
            }
            let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
            let table = match tables.get(&(at, out)) {
                Some(table) => Arc::clone(table),
                None => match self.table(group, out, work) {
                    None => return false,
                    Some(table) => Arc::clone(tables.entry((at, out)).or_insert(Arc::new(table))),
                },
            };
            drop(tables);
            self.find(&table, out, codes)
        };
        let is_null = self.groups.iter().enumerate().any(might_be);
        Some(if is_null { None } else { Some(false) })
    }

    /// The rows of a group by the numbers of all places but those of `out`; equal rows once. `None`: the meter has stopped.
    fn table(&self, group: &Group, out: Places, work: &Work<'_>) -> Option<HashTable<u32>> {
        let mut table = HashTable::with_capacity(group.rows.len());
        for row in &group.rows {
            work.begin(PLACE_UNITS)?;
            let codes = self.row(*row);
            let is_same = |other: &u32| equal(self.row(*other), codes, out);
            let entry = table.entry(hash(codes, out), is_same, |row| hash(self.row(*row), out));
            entry.or_insert(*row);
        }
        Some(table)
    }

    fn find(&self, table: &HashTable<u32>, out: Places, codes: &[i64]) -> bool {
        let is_same = |row: &u32| equal(self.row(*row), codes, out);
        table.find(hash(codes, out), is_same).is_some()
    }

    fn row(&self, row: u32) -> &[i64] {
        let width = self.coders.len();
        &self.codes[row as usize * width..][..width]
    }
}

fn hash(codes: &[i64], out: Places) -> u64 {
    let asked = codes.iter().enumerate();
    let asked = asked.filter(|(place, _)| out >> place & 1 == 0);
    let hasher = BuildHasherDefault::<FxHasher>::default();
    asked.fold(0, |hash, (_, code)| hasher.hash_one((hash, code)))
}

fn equal(one: &[i64], other: &[i64], out: Places) -> bool {
    let mut pairs = one.iter().zip(other).enumerate();
    pairs.all(|(place, (one, other))| out >> place & 1 == 1 || one == other)
}

impl Coder {
    /// The coder for the constants of a place; `None`: they have several kinds.
    fn of(list: &List, is_number: Option<bool>) -> Option<Coder> {
        let is_null = |value: &Value| *value == Value::Null;
        let is_text = |value: &Value| matches!(value, Value::Str(_));
        let is_plain = |value: &Value| matches!(value, Value::Int(_) | Value::Float(_));
        if list.whole().is_some() {
            return Some(Coder::Whole);
        }
        if list.iter().all(|value| is_null(&value) || is_plain(&value))
            || is_number == Some(true)
                && list
                    .iter()
                    .all(|value| is_null(&value) || value.spelled().is_some())
        {
            return Some(Coder::Numbers(FxHashMap::default()));
        }
        let is_texts =
            is_number != Some(true) && list.iter().all(|value| is_null(&value) || is_text(&value));
        is_texts.then(|| {
            Coder::Texts(FxHashMap::with_capacity_and_hasher(
                list.len(),
                FxBuildHasher,
            ))
        })
    }

    /// The number of a constant, which is new or known.
    fn add(&mut self, value: &Value) -> Option<i64> {
        match self {
            Coder::Whole => None,
            Coder::Numbers(known) => {
                let next = known.len() as i64;
                Some(*known.entry(key(value.spelled()?)).or_insert(next))
            }
            Coder::Texts(known) => {
                let next = known.len() as i64;
                let Value::Str(text) = value else { return None };
                let folded = text.as_bytes().to_ascii_lowercase();
                Some(*known.entry(folded.into()).or_insert(next))
            }
        }
    }

    /// `None`: numbers cannot tell, since a text is compared with a number, or a set or document with anything.
    fn place(&self, value: &Value) -> Option<Place> {
        let known = |code: Option<&i64>| code.map_or(Place::Other, |code| Place::Code(*code));
        Some(match (self, value) {
            (Coder::Whole, Value::Int(number)) => {
                i64::try_from(*number).map_or(Place::Other, Place::Code)
            }
            (_, Value::Null) => Place::Null,
            (_, Value::Set(_) | Value::Json(_)) => return None,
            (Coder::Texts(texts), Value::Str(text)) => {
                known(texts.get(text.as_bytes().to_ascii_lowercase().as_slice()))
            }
            (Coder::Texts(_), _) => return None,
            (_, value) => match (self, value.spelled().map(Number::normal)) {
                (_, Some(Number::Real(number))) if number.is_nan() => Place::Null,
                (_, None) => Place::Other, // a text that is no number
                (Coder::Numbers(numbers), Some(number)) => known(numbers.get(&key(number))),
                (_, Some(Number::Whole(number))) => {
                    i64::try_from(number).map_or(Place::Other, Place::Code)
                }
                (_, Some(Number::Real(_))) => Place::Other,
            },
        })
    }
}

/// Equal numbers have one key.
fn key(number: Number) -> (bool, u128) {
    match number.normal() {
        Number::Whole(number) => (false, number as u128),
        Number::Real(number) => (true, number.to_bits().into()),
    }
}

//! The constants of an IN list as sets, so that one look-up answers.
//!
//! Example: `('5', 7.0, 'Ab')` puts 7 into `numbers`, `5` and `ab` into `folded`, `5` and `Ab` into `texts`, and the
//! number 5, which a text is from end to end, into `text_numbers`. The needles 5, 7 and `'AB'` are found, and 0 is not.

use language::meter::{Unmetered, Work};
use rustc_hash::FxHashSet;

use super::list::List;
use crate::value::{Number, Value};

/// Units of a constant of a list that becomes a set, and of each of its bytes.
const CONSTANT_UNITS: u64 = 60;
const CONSTANT_BYTE_UNITS: u64 = 5;

/// Whole numbers that go into a set between two looks at the meter.
const CONSTANTS_AT_ONCE: usize = 1_024;

/// The constants of a list, in one set for each way of comparing.
#[derive(Clone, Debug, Default)]
pub(super) struct Set {
    numbers: Numbers,
    /// Texts in lower case: a text is compared with these.
    folded: FxHashSet<Box<[u8]>>,
    /// Texts and bytes as written: bytes are compared with these.
    texts: FxHashSet<Box<[u8]>>,
    /// The numbers that texts are from end to end: a number is compared with these.
    text_numbers: Numbers,
    /// Truths, arrays and objects of documents, as documents.
    documents: FxHashSet<Box<[u8]>>,
    has_null: bool,
    /// Bytes of the longest text: a longer one is compared with none.
    bytes_max: usize,
}

/// Numbers by exact value: a whole one is in `whole` or `wide`, however it was written.
#[derive(Clone, Debug, Default)]
struct Numbers {
    whole: FxHashSet<i64>,
    /// Whole numbers beyond 64 bits.
    wide: FxHashSet<i128>,
    /// Bits of doubles with a fraction or beyond 128 bits.
    real: FxHashSet<u64>,
}

impl Set {
    pub(super) fn new(list: &List) -> Set {
        Set::within(list, &Work::new(&Unmetered)).unwrap_or_default() // nothing stops it
    }

    /// As [`Set::new`], constant by constant. `None`: the meter has stopped.
    pub(super) fn within(list: &List, work: &Work<'_>) -> Option<Set> {
        let mut set = Set::default();
        if let Some(numbers) = list.whole() {
            set.numbers.whole.reserve(numbers.len());
            for piece in numbers.chunks(CONSTANTS_AT_ONCE) {
                work.begin(CONSTANT_UNITS * piece.len() as u64)?;
                set.numbers.whole.extend(piece);
            }
            return Some(set);
        }
        for value in list.iter() {
            work.begin(CONSTANT_UNITS + CONSTANT_BYTE_UNITS * value.memory() as u64)?;
            set.insert(&value);
        }
        Some(set)
    }

    fn insert(&mut self, value: &Value) {
        let inside = value.text_inside();
        if let Some(bytes) = inside.map(str::as_bytes).or(value.text_bytes()) {
            self.texts.insert(bytes.into());
            self.bytes_max = self.bytes_max.max(bytes.len());
        }
        match value {
            Value::Null => self.has_null = true,
            Value::Int(_) | Value::Float(_) => {
                if let Some(number) = value.number() {
                    self.numbers.insert(number);
                }
            }
            Value::Str(_) | Value::Bytes(_) => {
                if let Value::Str(text) = value {
                    self.folded.insert(folded(text));
                }
                if let Some(number) = value.spelled() {
                    self.text_numbers.insert(number);
                }
            }
            Value::Json(document) => match inside {
                Some(text) => {
                    self.folded.insert(folded(text));
                }
                None => {
                    self.documents.insert(document.bytes().into());
                }
            },
            Value::Set(_) => {} // no list has one
        }
    }

    /// Whether the value equals a constant. `None` (NULL) for NULL, and where only a NULL in the list could be equal.
    pub(super) fn holds(&self, needle: &Value) -> Option<bool> {
        if let Value::Set(numbers) = needle {
            let mut held = numbers
                .iter()
                .map(|number| self.holds(&Value::Int((*number).into())));
            let none = if self.has_null { None } else { Some(false) };
            return held.find(|held| *held == Some(true)).unwrap_or(none);
        }
        let number = needle.spelled();
        let is_number = |numbers: &Numbers| number.is_some_and(|number| numbers.contains(number));
        let is_held = match needle {
            Value::Null => return None,
            Value::Int(_) | Value::Float(_) => {
                is_number(&self.numbers) || is_number(&self.text_numbers)
            }
            Value::Str(text) => self.holds_text(text) || is_number(&self.numbers),
            Value::Bytes(bytes) => {
                bytes.len() <= self.bytes_max && self.texts.contains(bytes.as_slice())
                    || is_number(&self.numbers)
            }
            Value::Json(document) => match (needle.text_inside(), needle.items_compared()) {
                (Some(text), _) => self.holds_text(text),
                // As of a set, any item.
                (None, Some(mut items)) => {
                    items.any(|item| self.holds(&item.inside()) == Some(true))
                }
                (None, None) => self.documents.contains(document.bytes()),
            },
            Value::Set(_) => false, // asked above
        };
        match is_held {
            true => Some(true),
            // NaN compares with nothing, as NULL does.
            false if self.has_null || number.is_some_and(is_nan) && !self.is_empty() => None,
            false => Some(false),
        }
    }

    /// The whole numbers of 64 bits.
    pub(super) fn whole(&self) -> &FxHashSet<i64> {
        &self.numbers.whole
    }

    /// The constants in lower case, if all are texts; else `None`.
    pub(super) fn only_texts(&self) -> Option<impl Iterator<Item = &[u8]>> {
        let folds = |text: &[u8]| self.folded.contains(text.to_ascii_lowercase().as_slice());
        let has_others = self.has_null || !self.numbers.is_empty() || !self.documents.is_empty();
        let only = !has_others && self.texts.iter().all(|text| folds(text));
        (only && !self.folded.is_empty()).then(|| self.folded.iter().map(|text| &**text))
    }

    fn holds_text(&self, text: &str) -> bool {
        text.len() <= self.bytes_max
            && (self.texts.contains(text.as_bytes()) || self.folded.contains(&folded(text)))
    }

    fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.numbers.is_empty() && self.documents.is_empty()
    }
}

impl Numbers {
    fn is_empty(&self) -> bool {
        self.whole.is_empty() && self.wide.is_empty() && self.real.is_empty()
    }

    fn insert(&mut self, number: Number) {
        match number.normal() {
            Number::Whole(number) => match i64::try_from(number) {
                Ok(number) => self.whole.insert(number),
                Err(_) => self.wide.insert(number),
            },
            Number::Real(number) => self.real.insert(number.to_bits()),
        };
    }

    fn contains(&self, number: Number) -> bool {
        match number.normal() {
            Number::Whole(number) => match i64::try_from(number) {
                Ok(number) => self.whole.contains(&number),
                Err(_) => self.wide.contains(&number),
            },
            Number::Real(number) => !number.is_nan() && self.real.contains(&number.to_bits()),
        }
    }
}

/// A text as texts are compared.
fn folded(text: &str) -> Box<[u8]> {
    text.as_bytes().to_ascii_lowercase().into()
}

fn is_nan(number: Number) -> bool {
    matches!(number, Number::Real(real) if real.is_nan())
}

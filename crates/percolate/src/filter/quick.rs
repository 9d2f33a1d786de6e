//! Filters that are one or two conditions on single columns, in a few bytes. They need no walk of a tree and no copy
//! of a value. A condition that cannot decide, such as an equal hash or a NULL, leaves the document to the tree.

use relation::expression::{Prepared, Simple, text_hash};
use relation::value::Value;

use crate::limits::SLICE_DOCUMENTS;

/// Conditions of a quick filter, at most.
const CONDITIONS_MAX: usize = 2;

/// Texts that a condition lists, at most.
const TEXTS_MAX: usize = 4;

/// Columns with a higher slot are left to the tree.
const COLUMNS_MAX: usize = 64;

#[derive(Clone, Copy, Debug)]
enum Condition {
    /// Always true: fills a place.
    Nothing,
    Whole {
        slot: u8,
        negated: bool,
        low: i64,
        high: i64,
    },
    /// A shorter list repeats its first hash.
    Texts {
        slot: u8,
        negated: bool,
        hashes: [u32; TEXTS_MAX],
    },
}

/// The conditions of a filter; all must be true.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quick([Condition; CONDITIONS_MAX]);

impl Quick {
    /// The conditions of a filter; `None` if it is no conjunction of so few simple conditions.
    pub(super) fn of(filter: &Prepared) -> Option<Quick> {
        let simple = filter.simple()?;
        let mut conditions = [Condition::Nothing; CONDITIONS_MAX];
        if simple.len() > conditions.len() {
            return None;
        }
        for (condition, simple) in conditions.iter_mut().zip(&simple) {
            *condition = Condition::from_simple(simple)?;
        }
        Some(Quick(conditions))
    }

    /// Whether the filter accepts; `None` if a condition cannot decide.
    #[inline(always)]
    pub(super) fn accepts(&self, value: impl FnMut(usize) -> Known) -> Option<bool> {
        let mut value = value;
        let [first, second] = &self.0;
        match first.holds(&mut value)? {
            true => second.holds(&mut value),
            false => Some(false),
        }
    }
}

impl Condition {
    fn from_simple(simple: &Simple) -> Option<Condition> {
        let slot = |slot: usize| u8::try_from(slot).ok().filter(|_| slot < COLUMNS_MAX);
        Some(match simple {
            Simple::Whole { path, .. } if !path.is_empty() => return None,
            Simple::Whole {
                slot: column,
                low,
                high,
                negated,
                path: _,
            } => Condition::Whole {
                slot: slot(*column)?,
                negated: *negated,
                low: *low,
                high: *high,
            },
            Simple::Texts {
                slot: column,
                hashes: all,
                negated,
            } => {
                let mut hashes = [*all.first()?; TEXTS_MAX];
                hashes.get_mut(..all.len())?.copy_from_slice(all);
                Condition::Texts {
                    slot: slot(*column)?,
                    negated: *negated,
                    hashes,
                }
            }
        })
    }

    #[inline(always)]
    fn holds(&self, value: &mut impl FnMut(usize) -> Known) -> Option<bool> {
        match self {
            Condition::Nothing => Some(true),
            Condition::Whole {
                slot,
                negated,
                low,
                high,
            } => match value(usize::from(*slot)) {
                Known::Whole(number) => Some(((*low <= number) & (number <= *high)) != *negated),
                _ => None,
            },
            Condition::Texts {
                slot,
                negated,
                hashes,
            } => match value(usize::from(*slot)) {
                // Equal hashes may be of different texts: the tree decides.
                Known::Text(hash) if !hashes.contains(&hash) => Some(*negated),
                _ => None,
            },
        }
    }
}

/// A value as conditions compare it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Known {
    /// Not read yet in this slice.
    #[default]
    Unread,
    Whole(i64),
    /// The hash of a text.
    Text(u32),
    Other,
}

impl Known {
    fn from_value(value: &Value) -> Known {
        match value {
            Value::Int(number) => i64::try_from(*number).map_or(Known::Other, Known::Whole),
            Value::Str(text) => Known::Text(text_hash(text)),
            _ => Known::Other,
        }
    }
}

/// The values of a slice's documents, each read once.
#[derive(Debug, Default)]
pub(super) struct Values {
    /// By column, then by document of the slice.
    known: Vec<[Known; SLICE_DOCUMENTS]>,
}

impl Values {
    /// Forgets all values.
    pub(super) fn clear(&mut self) {
        self.known.fill([Known::Unread; SLICE_DOCUMENTS]);
    }

    /// The value of a document's column; `read` is called for the first use in a slice.
    #[inline(always)]
    pub(super) fn known(
        &mut self,
        document: usize,
        column: usize,
        read: impl FnOnce() -> Value,
    ) -> Known {
        let known = self.known.get(column);
        match known.and_then(|column| column.get(document)) {
            Some(Known::Unread) | None => self.read(document, column, &read()),
            Some(known) => *known,
        }
    }

    #[cold]
    fn read(&mut self, document: usize, column: usize, value: &Value) -> Known {
        if self.known.len() <= column {
            self.known
                .resize(column + 1, [Known::Unread; SLICE_DOCUMENTS]);
        }
        self.known[column][document] = Known::from_value(value);
        self.known[column][document]
    }
}

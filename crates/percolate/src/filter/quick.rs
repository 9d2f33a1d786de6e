//! Filters that are one or two conditions on single columns, in a few bytes: no tree is walked and no value copied for
//! them. What a condition does not decide is left to the tree.

use query::{
    expression::{Prepared, Simple, text_hash},
    value::Value,
};

use crate::limits::SLICE_DOCUMENTS;

/// Conditions that a quick filter has at most.
const CONDITIONS_MAX: usize = 2;

/// Texts that a condition lists at most.
const TEXTS_MAX: usize = 4;

/// Columns beyond these are left to the tree.
const COLUMNS_MAX: usize = 64;

#[derive(Clone, Copy, Debug)]
enum Condition {
    /// True of everything.
    Nothing,
    Whole {
        slot: u8,
        negated: bool,
        low: i64,
        high: i64,
    },
    /// A list of fewer holds the first again.
    Texts {
        slot: u8,
        negated: bool,
        hashes: [u32; TEXTS_MAX],
    },
}

/// A filter's conditions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quick([Condition; CONDITIONS_MAX]);

impl Quick {
    /// Those of a filter, if they are few.
    pub(super) fn of(filter: &Prepared) -> Option<Quick> {
        let simple = filter.simple()?;
        let mut conditions = [Condition::Nothing; CONDITIONS_MAX];
        if simple.len() > conditions.len() {
            return None;
        }
        for (condition, simple) in conditions.iter_mut().zip(&simple) {
            *condition = Condition::of(simple)?;
        }
        Some(Quick(conditions))
    }

    /// Whether it accepts; none if that is not decided here.
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
    fn of(simple: &Simple) -> Option<Condition> {
        let slot = |slot: usize| u8::try_from(slot).ok().filter(|_| slot < COLUMNS_MAX);
        Some(match simple {
            Simple::Whole {
                slot: column,
                low,
                high,
                negated,
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
                // An equal hash is no equal text.
                Known::Text(hash) if !hashes.contains(&hash) => Some(*negated),
                _ => None,
            },
        }
    }
}

/// What is known of a value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Known {
    /// Not asked for yet.
    #[default]
    Unread,
    Whole(i64),
    /// A text by its hash.
    Text(u32),
    Other,
}

impl Known {
    fn of(value: &Value) -> Known {
        match value {
            Value::Int(number) => i64::try_from(*number).map_or(Known::Other, Known::Whole),
            Value::Str(text) => Known::Text(text_hash(text)),
            _ => Known::Other,
        }
    }
}

/// The values of a slice's documents that were asked for, each once.
#[derive(Debug, Default)]
pub(super) struct Values {
    /// By column, then by document.
    known: Vec<[Known; SLICE_DOCUMENTS]>,
}

impl Values {
    /// Forgets the slice.
    pub(super) fn clear(&mut self) {
        self.known.fill([Known::Unread; SLICE_DOCUMENTS]);
    }

    /// The value of a document's column, which `read` gives.
    #[inline(always)]
    pub(super) fn of(
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
        self.known[column][document] = Known::of(value);
        self.known[column][document]
    }
}

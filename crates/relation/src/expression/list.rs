//! The constants of a list, in the smallest form that holds all of them.
//!
//! Example: `(7, 3)` is two whole numbers of 8 bytes each, `('a', 'bcd')` four bytes and two ends, and `(7, 'a', NULL)` three
//! values of 32 bytes each. A list changes its form when a constant comes that does not fit. So equal lists have equal forms.
//!
//! The list of a variable is shared by the statements that name it: copying it copies no number.

use std::fmt;
use std::sync::Arc;

use crate::value::Value;

/// Constants in the order written.
#[derive(Clone, PartialEq)]
pub struct List {
    held: Held,
}

#[derive(Clone)]
enum Held {
    /// Whole numbers of 64 bits. An empty list has this form.
    Whole(Vec<i64>),
    /// The same, shared.
    Shared(Arc<Vec<i64>>),
    /// The list of the variable of this name, which [`Moment::settle`](super::Moment::settle) puts here.
    Variable(Box<str>),
    /// Texts one behind the other, and where each ends.
    Texts {
        text: String,
        ends: Vec<u32>,
    },
    Values(Vec<Value>),
}

impl PartialEq for Held {
    fn eq(&self, other: &Held) -> bool {
        match (self, other) {
            (Held::Values(ours), Held::Values(theirs)) => ours == theirs,
            (Held::Variable(ours), Held::Variable(theirs)) => ours == theirs,
            (
                Held::Texts { text, ends },
                Held::Texts {
                    text: their_text,
                    ends: their_ends,
                },
            ) => text == their_text && ends == their_ends,
            (ours, theirs) => ours
                .whole()
                .is_some_and(|ours| theirs.whole() == Some(ours)),
        }
    }
}

impl Held {
    fn whole(&self) -> Option<&[i64]> {
        match self {
            Held::Whole(numbers) => Some(numbers),
            Held::Shared(numbers) => Some(numbers),
            Held::Texts { .. } | Held::Values(_) | Held::Variable(_) => None,
        }
    }
}

impl fmt::Debug for List {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = self.variable() {
            return write!(out, "@{name}");
        }
        out.debug_list().entries(self.iter()).finish()
    }
}

impl Default for List {
    fn default() -> List {
        List {
            held: Held::Whole(Vec::new()),
        }
    }
}

impl List {
    /// The place for the list of a variable. Until [`Moment::settle`](super::Moment::settle) it is empty.
    #[must_use]
    pub fn of_variable(name: &str) -> List {
        List {
            held: Held::Variable(name.into()),
        }
    }

    /// The variable that the list is to be read from; `None` for a written list.
    #[must_use]
    pub fn variable(&self) -> Option<&str> {
        match &self.held {
            Held::Variable(name) => Some(name),
            _ => None,
        }
    }

    /// The list in a form in which copies share the numbers; `None`: it has other constants than whole numbers of 64 bits.
    #[must_use]
    pub fn shared(self) -> Option<List> {
        let held = match self.held {
            Held::Whole(mut numbers) => {
                numbers.shrink_to_fit();
                Held::Shared(Arc::new(numbers))
            }
            shared @ Held::Shared(_) => shared,
            Held::Texts { .. } | Held::Values(_) | Held::Variable(_) => return None,
        };
        Some(List { held })
    }

    /// Number of constants; of a variable 0.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.held {
            Held::Variable(_) => 0,
            Held::Whole(numbers) => numbers.len(),
            Held::Shared(numbers) => numbers.len(),
            Held::Texts { ends, .. } => ends.len(),
            Held::Values(values) => values.len(),
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a constant. Cost: constant, or linear in the list when its form changes, which happens at most twice.
    pub fn push(&mut self, value: Value) {
        match (&mut self.held, value) {
            (Held::Values(values), value) => values.push(value),
            (Held::Whole(numbers), Value::Int(number)) if i64::try_from(number).is_ok() => {
                numbers.push(number as i64);
            }
            (Held::Shared(numbers), value) => {
                self.held = Held::Whole(numbers.to_vec());
                self.push(value);
            }
            (_, Value::Str(text)) => self.push_text(&text),
            (_, value) => self.push_other(value),
        }
    }

    /// Adds a constant that does not fit the form.
    fn push_other(&mut self, value: Value) {
        let mut values: Vec<Value> = self.iter().collect();
        values.push(value);
        self.held = Held::Values(values);
    }

    /// Adds a whole number.
    pub fn push_whole(&mut self, number: i64) {
        match &mut self.held {
            Held::Whole(numbers) => numbers.push(number),
            _ => self.push(Value::Int(number.into())),
        }
    }

    /// Adds a text.
    pub fn push_text(&mut self, added: &str) {
        if let Held::Values(values) = &mut self.held {
            return values.push(Value::Str(added.to_owned()));
        }
        if !self.takes_text(added) {
            return self.push_other(Value::Str(added.to_owned()));
        }
        if self.is_empty() {
            self.held = Held::Texts {
                text: String::new(),
                ends: Vec::new(),
            };
        }
        if let Held::Texts { text, ends } = &mut self.held {
            text.push_str(added);
            ends.push(text.len() as u32);
        }
    }

    /// Whether the list can hold one more text in the form of texts.
    fn takes_text(&self, added: &str) -> bool {
        match &self.held {
            Held::Whole(numbers) => numbers.is_empty() && u32::try_from(added.len()).is_ok(),
            Held::Texts { text, .. } => u32::try_from(text.len() + added.len()).is_ok(),
            Held::Shared(_) | Held::Values(_) | Held::Variable(_) => false,
        }
    }

    /// Adds the constants of another list.
    pub fn append(&mut self, other: List) {
        match (&mut self.held, other.held) {
            (Held::Whole(numbers), Held::Whole(more)) => numbers.extend(more),
            (_, other) => List { held: other }
                .iter()
                .for_each(|value| self.push(value)),
        }
    }

    /// The constant of an index.
    ///
    /// # Panics
    /// The list is shorter.
    #[must_use]
    pub fn get(&self, at: usize) -> Value {
        match &self.held {
            Held::Whole(numbers) => Value::Int(numbers[at].into()),
            Held::Shared(numbers) => Value::Int(numbers[at].into()),
            Held::Variable(_) => Value::Null,
            Held::Texts { text, ends } => {
                let begin = at.checked_sub(1).map_or(0, |before| ends[before] as usize);
                Value::Str(text[begin..ends[at] as usize].to_owned())
            }
            Held::Values(values) => values[at].clone(),
        }
    }

    /// The constants in their order. Texts are copied.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Value> + '_ {
        (0..self.len()).map(|at| self.get(at))
    }

    /// The constants, if all are whole numbers of 64 bits; an empty list is.
    #[must_use]
    pub fn whole(&self) -> Option<&[i64]> {
        self.held.whole()
    }

    /// Whether all constants are texts.
    pub(super) fn has_only_texts(&self) -> bool {
        matches!(self.held, Held::Texts { .. })
    }

    /// The constants as whole numbers, if each is one or a text of nothing but one.
    pub(super) fn to_whole(&self) -> Option<List> {
        let mut numbers = Vec::with_capacity(self.len());
        for value in self.iter() {
            numbers.push(match value {
                Value::Int(number) => number.try_into().ok()?,
                Value::Str(text)
                    if text.starts_with(|first: char| first == '-' || first.is_ascii_digit()) =>
                {
                    text.parse().ok()?
                }
                _ => return None,
            });
        }
        Some(List::from(numbers))
    }

    /// Memory of the constants, in bytes.
    #[must_use]
    pub fn memory(&self) -> usize {
        match &self.held {
            Held::Whole(numbers) => size_of_val::<[i64]>(numbers),
            Held::Shared(numbers) => size_of_val::<[i64]>(numbers),
            Held::Variable(name) => name.len(),
            Held::Texts { text, ends } => text.len() + size_of_val::<[u32]>(ends),
            Held::Values(values) => values.iter().map(Value::memory).sum(),
        }
    }
}

impl FromIterator<Value> for List {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> List {
        let mut list = List::default();
        values.into_iter().for_each(|value| list.push(value));
        list
    }
}

impl From<Vec<i64>> for List {
    fn from(numbers: Vec<i64>) -> List {
        List {
            held: Held::Whole(numbers),
        }
    }
}

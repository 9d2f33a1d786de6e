//! GROUP_CONCAT.

use language::meter::{Meter, WIDE_BYTES, Work};

use super::{Pay, States};
use crate::expression::AggregateKind;
use crate::rows::groups::index::Block;
use crate::value::Value;

/// The text of each group; `None` before the first.
pub(in crate::rows::groups) struct Joined {
    texts: Vec<Option<String>>,
    separator: String,
}

impl Joined {
    pub(super) fn new(kind: &AggregateKind) -> Joined {
        let mut separator = String::new();
        if let AggregateKind::Concat(own) = kind {
            separator.push_str(own);
        }
        Joined {
            texts: Vec::new(),
            separator,
        }
    }
}

impl States for Joined {
    fn grow(&mut self) {
        self.texts.push(None);
    }

    fn state_bytes(&self) -> usize {
        size_of::<Option<String>>()
    }

    fn compares(&self) -> bool {
        false
    }

    fn add<E>(
        &mut self,
        group: u32,
        arguments: &[Value],
        _: &dyn Meter,
        pay: &mut Pay<'_, E>,
    ) -> Result<usize, E> {
        let text = &mut self.texts[group as usize];
        join(text, &self.separator, arguments, pay)
    }

    fn add_block<E>(
        &mut self,
        _: &[u32],
        _: Option<&Block>,
        _: &dyn Meter,
        _: &mut Pay<'_, E>,
    ) -> Result<Option<usize>, E> {
        Ok(None)
    }

    /// The other's texts come behind those here.
    fn merge(&mut self, other: Joined, places: &[u32], work: &Work<'_>) -> Option<usize> {
        let mut bytes = 0;
        for (at, more) in places.iter().zip(other.texts) {
            let Some(more) = more else { continue };
            work.begin(more.len() as u64)?;
            let text = &mut self.texts[*at as usize];
            match text {
                None => *text = Some(more),
                Some(text) => {
                    let before = text.capacity();
                    text.push_str(&self.separator);
                    text.push_str(&more);
                    bytes += text.capacity() - before;
                }
            }
        }
        Some(bytes)
    }

    fn end(&mut self, _: usize) {}

    fn take(&mut self, _: &AggregateKind, group: usize) -> Value {
        self.texts[group].take().map_or(Value::Null, Value::Str)
    }
}

/// Adds values to the text of GROUP_CONCAT. As [`Accumulator::add`].
fn join<E>(
    joined: &mut Option<String>,
    separator: &str,
    values: &[Value],
    pay: &mut Pay<'_, E>,
) -> Result<usize, E> {
    let before = joined.as_ref().map_or(0, String::capacity);
    let separator = joined.as_ref().map_or("", |_| separator);
    let text = joined.get_or_insert_default();
    let mut paid = 0;
    for part in std::iter::once(None).chain(values.iter().map(Some)) {
        let other;
        let part = match part {
            None => separator,
            Some(Value::Str(part)) => part,
            Some(part) => {
                other = part.to_string();
                &other
            }
        };
        let (has, needs) = (text.capacity(), text.len() + part.len());
        if needs > has && needs >= WIDE_BYTES {
            // A wide text does not grow by doubling.
            let room = needs + text.len() / 4;
            pay((room - has) as u64)?;
            text.reserve_exact(room - text.len());
            paid += text.capacity() - has;
        }
        text.push_str(part);
    }
    Ok((text.capacity() - before).saturating_sub(paid))
}

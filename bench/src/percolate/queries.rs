//! The queries of a workload, in one buffer: ten million take half a gigabyte, not one and a half.

use crate::workload::Drawn;

/// Queries by index from 0. A query's id is its index plus one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queries {
    buffer: String,
    /// For each query the ends of its text and of its filters in the buffer.
    ends: Vec<(u64, u64)>,
}

/// A standing query with its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Query<'q> {
    pub(crate) id: u64,
    pub(crate) text: &'q str,
    pub(crate) filters: &'q str,
}

impl Queries {
    pub(crate) fn push(&mut self, query: &Drawn) {
        self.buffer += &query.text;
        let text = self.buffer.len() as u64;
        self.buffer += &query.filters;
        self.ends.push((text, self.buffer.len() as u64));
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, number: usize) -> Option<Query<'_>> {
        let (text, filters) = *self.ends.get(number)?;
        let start = match number.checked_sub(1) {
            Some(before) => self.ends.get(before)?.1,
            None => 0,
        };
        Some(Query {
            id: number as u64 + 1,
            text: self.buffer.get(start as usize..text as usize)?,
            filters: self.buffer.get(text as usize..filters as usize)?,
        })
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Query<'_>> {
        (0..self.len()).filter_map(|number| self.get(number))
    }
}

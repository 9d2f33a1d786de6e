//! The rows of an UPDATE and their new values, column by column.

use std::collections::BTreeSet;

use relation::codec::{Differences, Read, Reader, put_list, put_number, put_value};
use relation::value::Value;

/// Rows with new values. Each list of `values` belongs to the column of its place and has one value for each id.
///
/// Example: rows 3 and 9 get the value 1 in column 2, and 'a' and 'b' in column 5.
///
/// ```text
/// ids      [3, 9]
/// columns  [2, 5]
/// values   [[1, 1], ['a', 'b']]     the first is written as one value, since all are equal
/// ```
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UpdatedRows {
    /// In any order, each once.
    pub(crate) ids: Vec<u64>,
    /// Places of columns in the table.
    pub(crate) columns: Vec<u16>,
    pub(crate) values: Vec<Vec<Value>>,
}

impl UpdatedRows {
    pub(crate) fn new(columns: Vec<u16>) -> UpdatedRows {
        UpdatedRows {
            ids: Vec::new(),
            values: columns.iter().map(|_| Vec::new()).collect(),
            columns,
        }
    }

    /// Adds a row; `values` is emptied.
    pub(crate) fn push(&mut self, id: u64, values: &mut Vec<Value>) {
        self.ids.push(id);
        for (list, value) in self.values.iter_mut().zip(values.drain(..)) {
            list.push(value);
        }
    }

    /// The values of a row by its place in `ids`, with the places of their columns.
    pub(crate) fn of(&self, row: usize) -> impl Iterator<Item = (u16, Value)> + '_ {
        let lists = self.columns.iter().zip(&self.values);
        lists.filter_map(move |(column, list)| Some((*column, list.get(row)?.clone())))
    }

    /// The same without some rows.
    pub(crate) fn without(&self, ids: &BTreeSet<u64>) -> UpdatedRows {
        match ids.is_empty() {
            true => self.clone(),
            false => self.kept(|id| !ids.contains(id)),
        }
    }

    /// Only those of some rows.
    pub(crate) fn only(&self, ids: &BTreeSet<u64>) -> UpdatedRows {
        match ids.is_empty() {
            true => UpdatedRows::new(self.columns.clone()),
            false => self.kept(|id| ids.contains(id)),
        }
    }

    fn kept(&self, is_kept: impl Fn(&u64) -> bool) -> UpdatedRows {
        let mut left = UpdatedRows::new(self.columns.clone());
        let kept: Vec<bool> = self.ids.iter().map(is_kept).collect();
        let only = |at: &usize| kept[*at];
        left.ids = (0..self.ids.len())
            .filter(only)
            .map(|at| self.ids[at])
            .collect();
        for (list, new) in self.values.iter().zip(&mut left.values) {
            *new = (0..list.len())
                .filter(only)
                .map(|at| list[at].clone())
                .collect();
        }
        left
    }

    /// Adds rows of the same columns.
    pub(crate) fn append(&mut self, more: UpdatedRows) {
        self.ids.extend(more.ids);
        for (list, more) in self.values.iter_mut().zip(more.values) {
            list.extend(more);
        }
    }

    /// Memory of the values, in bytes: what they take where they are kept.
    pub(crate) fn memory(&self) -> u64 {
        let of = |value: &Value| match value {
            Value::Int(_) => 10,
            value => value.memory(),
        };
        let bytes: usize = self.values.iter().flatten().map(of).sum();
        bytes as u64
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        let mut differences = Differences::default();
        put_list(out, &self.ids, |out, id| differences.put(out, *id));
        put_number(out, self.columns.len() as u64);
        for (column, list) in self.columns.iter().zip(&self.values) {
            put_number(out, u64::from(*column));
            let is_one = list.len() > 1 && list.windows(2).all(|two| two[0] == two[1]);
            out.push(u8::from(is_one));
            let written = if is_one { &list[..1] } else { &list[..] };
            written.iter().for_each(|value| put_value(out, value));
        }
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Read<UpdatedRows> {
        let mut differences = Differences::default();
        let ids = reader.list(|reader| differences.read(reader))?;
        let mut rows = UpdatedRows::new(Vec::new());
        for _ in 0..reader.count()? {
            let column = u16::try_from(reader.small()?);
            rows.columns
                .push(column.map_err(|_| reader.damage("the place of a column"))?);
            let list = match reader.flag()? {
                true => vec![reader.value()?; ids.len()],
                false => reader.row(ids.len())?,
            };
            rows.values.push(list);
        }
        rows.ids = ids;
        Ok(rows)
    }
}

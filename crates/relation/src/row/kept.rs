//! Rows whose long texts are left out, to be kept packed beside them. Columns of such a row are found in one step, as those of any
//! row.
//!
//! A row that keeps at most 255 bytes of values has a *narrow* head: the column count in one byte, and each end in one. Other rows
//! have the head of [`super`]. Who keeps a row notes which of the two it has. Example: the row `'ab', 7, 'a longer text'`, and texts
//! of eight bytes or more are left out.
//!
//! ```text
//! narrow  03   04 02   01 0a   08 0a   61 62   07 00 00 00 00 00 00 00
//!         3    text    integer left    ab      7
//! texts   "a longer text"
//! ```
//!
//! Invariants:
//! - A text that is left out has tag 8 and no bytes. No row that [`super::encode`] made has this tag.
//! - Texts stand in the order of their columns. So the number of a column among those with tag 8 finds its text.

use crate::json::{self, JsonStep};
use crate::value::Value;

use super::{COLUMN_BYTES, DOCUMENT, FLOAT, HEAD_BYTES, LONG, SHORT, TEXT, stored, value};

const LEFT_OUT: u8 = 8;

/// Longest values of a row with a narrow head, in bytes.
const NARROW_VALUES_MAX: usize = u8::MAX as usize;

/// A row, of which texts may be left out. The functions below find `None` beyond the last column, and where the bytes are no row.
#[derive(Clone, Copy, Debug)]
pub struct KeptRow<'r> {
    bytes: &'r [u8],
    is_narrow: bool,
}

/// Appends the row without its texts of `least` bytes and more to `kept`, these texts to `texts`, and their lengths to `lengths`.
/// Returns whether the head is narrow; `None` where the bytes are no encoded row, and then anything may have been appended.
pub fn leave_out(
    row: &[u8],
    least: usize,
    kept: &mut Vec<u8>,
    texts: &mut Vec<u8>,
    lengths: &mut Vec<usize>,
) -> Option<bool> {
    let count = super::column_count(row)?;
    let mut values = Vec::with_capacity(count.min(row.len()));
    let mut bytes_kept = 0;
    for column in 0..count {
        let (mut tag, mut bytes) = stored(row, column)?;
        if tag == TEXT && bytes.len() >= least {
            texts.extend_from_slice(bytes);
            lengths.push(bytes.len());
            (tag, bytes) = (LEFT_OUT, &[]);
        }
        bytes_kept += bytes.len();
        values.push((tag, bytes));
    }
    let is_narrow = bytes_kept <= NARROW_VALUES_MAX && count <= usize::from(u8::MAX);
    match is_narrow {
        true => kept.push(count as u8),
        false => kept.extend((count as u16).to_le_bytes()),
    }
    let mut end = 0;
    for (tag, bytes) in &values {
        end += bytes.len() as u32; // a row is smaller than 4 GiB
        kept.push(*tag);
        match is_narrow {
            true => kept.push(end as u8),
            false => kept.extend(end.to_le_bytes()),
        }
    }
    values
        .iter()
        .for_each(|(_, bytes)| kept.extend_from_slice(bytes));
    Some(is_narrow)
}

impl<'r> KeptRow<'r> {
    /// A row as [`super::encode`] made it.
    #[inline]
    #[must_use]
    pub fn whole(row: &'r [u8]) -> KeptRow<'r> {
        KeptRow {
            bytes: row,
            is_narrow: false,
        }
    }

    /// The row at the start of the bytes, and what stands behind it.
    #[inline]
    #[must_use]
    pub fn cut(bytes: &'r [u8], is_narrow: bool) -> Option<(KeptRow<'r>, &'r [u8])> {
        let row = KeptRow { bytes, is_narrow };
        let count = row.column_count()?;
        let last = count.checked_sub(1).map(|last| row.slot(last));
        let values = last.map_or(Some(0), |slot| Some(slot?.1))?;
        let (own, rest) = bytes.split_at_checked(row.head_bytes(count) + values)?;
        Some((
            KeptRow {
                bytes: own,
                is_narrow,
            },
            rest,
        ))
    }

    /// The bytes of the row.
    #[must_use]
    pub fn bytes(&self) -> &'r [u8] {
        self.bytes
    }

    /// Whether the head is narrow.
    #[must_use]
    pub fn is_narrow(&self) -> bool {
        self.is_narrow
    }

    /// Number of columns.
    #[inline]
    #[must_use]
    pub fn column_count(&self) -> Option<usize> {
        match self.is_narrow {
            true => self.bytes.first().map(|count| usize::from(*count)),
            false => super::column_count(self.bytes),
        }
    }

    /// One column, as [`super::decode_column`]; `None` also for a text that is left out.
    #[inline]
    #[must_use]
    pub fn column(&self, column: usize) -> Option<Value> {
        let (tag, bytes) = self.stored(column)?;
        value(tag, bytes)
    }

    /// Bytes of a column's value in the row; 0 for a text that is left out, and where there is none.
    #[inline]
    #[must_use]
    pub fn column_bytes(&self, column: usize) -> usize {
        self.stored(column).map_or(0, |(_, bytes)| bytes.len())
    }

    /// A column's number, as [`super::decode_number`].
    #[inline]
    #[must_use]
    pub fn number(&self, column: usize) -> Option<Value> {
        match self.stored(column)? {
            (tag @ (SHORT | LONG | FLOAT), bytes) => value(tag, bytes),
            _ => None,
        }
    }

    /// The bytes of a column's text, as [`super::text`]; not of one that is left out.
    #[inline]
    #[must_use]
    pub fn text(&self, column: usize) -> Option<Option<&'r [u8]>> {
        let (tag, bytes) = self.stored(column)?;
        Some((tag == TEXT).then_some(bytes))
    }

    /// The bytes of a column's document, as [`super::document`].
    #[inline]
    #[must_use]
    pub fn document(&self, column: usize) -> Option<Option<&'r [u8]>> {
        let (tag, bytes) = self.stored(column)?;
        Some((tag == DOCUMENT).then_some(bytes))
    }

    /// What stands at a path in a column's document, as [`super::decode_path`].
    #[inline]
    #[must_use]
    pub fn at_path(&self, column: usize, path: &[JsonStep]) -> Option<Value> {
        let document = self.document(column)?;
        Some(Value::of_node(
            document.and_then(|document| json::node_at(document, path)),
        ))
    }

    /// Number of the column's text among those left out. `None`: the row has the column's value, or no such column.
    #[inline]
    #[must_use]
    pub fn left_out(&self, column: usize) -> Option<usize> {
        let is_left = |column: usize| self.slot(column).is_some_and(|(tag, _)| tag == LEFT_OUT);
        let is_there = self.column_count().is_some_and(|count| column < count);
        (is_there && is_left(column)).then(|| (0..column).filter(|before| is_left(*before)).count())
    }

    /// Number of texts left out.
    #[must_use]
    pub fn left_out_count(&self) -> usize {
        let columns = 0..self.column_count().unwrap_or(0);
        let tags = columns.map_while(|column| self.slot(column));
        tags.filter(|(tag, _)| *tag == LEFT_OUT).count()
    }

    /// The row that [`leave_out`] was given. `None` also where the texts are not those that were left out.
    #[must_use]
    pub fn put_back(&self, texts: &[u8], lengths: &[usize]) -> Option<Vec<u8>> {
        let count = self.column_count()?;
        let values = HEAD_BYTES + COLUMN_BYTES * count;
        if self.head_bytes(count) > self.bytes.len() {
            return None; // so nothing is asked for by a count that is not true
        }
        let mut row = Vec::with_capacity(values + self.bytes.len() + texts.len());
        row.extend((count as u16).to_le_bytes());
        row.resize(values, 0);
        let (mut texts, mut lengths) = (texts, lengths.iter());
        for column in 0..count {
            let (mut tag, mut bytes) = self.stored(column)?;
            if tag == LEFT_OUT {
                tag = TEXT;
                (bytes, texts) = texts.split_at_checked(*lengths.next()?)?;
            }
            row.extend_from_slice(bytes);
            let (at, end) = (HEAD_BYTES + COLUMN_BYTES * column, row.len() - values);
            row[at] = tag;
            row[at + 1..at + COLUMN_BYTES].copy_from_slice(&u32::try_from(end).ok()?.to_le_bytes());
        }
        (texts.is_empty() && lengths.next().is_none()).then_some(row)
    }

    /// Bytes of the head of a row of `count` columns.
    #[inline]
    fn head_bytes(&self, count: usize) -> usize {
        match self.is_narrow {
            true => 1 + 2 * count,
            false => HEAD_BYTES + COLUMN_BYTES * count,
        }
    }

    /// Tag and end of a column's value. `None` beyond the bytes.
    #[inline]
    fn slot(&self, column: usize) -> Option<(u8, usize)> {
        match self.is_narrow {
            true => {
                let slot = self.bytes.get(1 + 2 * column..)?.first_chunk::<2>()?;
                Some((slot[0], usize::from(slot[1])))
            }
            false => super::slot(self.bytes, column),
        }
    }

    /// Tag and bytes of a column's value.
    #[inline]
    fn stored(&self, column: usize) -> Option<(u8, &'r [u8])> {
        let count = self.column_count().filter(|count| column < *count)?;
        let (tag, end) = self.slot(column)?;
        let start = match column.checked_sub(1) {
            None => 0,
            Some(before) => self.slot(before)?.1,
        };
        let values = self.head_bytes(count);
        Some((tag, self.bytes.get(values + start..values + end)?))
    }
}

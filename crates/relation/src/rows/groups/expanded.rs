//! Rows with lists as keys, once for each group that they belong to.
//!
//! Example: `GROUP BY tags` over the rows 0 with (7, 9), 1 with () and 2 with (9).
//!
//! ```text
//! rows      0  0  2
//! tags      7  9  9
//! choices   0  1  0
//! ```

use language::meter::{Meter, Work};

use super::index::Block;
use super::{alternatives, each_choice};
use crate::value::Value;

/// Units of a row once more.
const CHOICE_UNITS: u64 = 60;

/// Most rows that the rows of a block may become.
const ROWS_MAX: usize = 1 << 16;

/// The rows of a block, each once for each of its groups.
pub(super) struct Expanded {
    /// Their indexes in the block.
    pub(super) rows: Vec<u32>,
    /// For each of these its number among those of the same row.
    pub(super) choices: Vec<u32>,
    /// The values of these rows, key by key; none of them is a list.
    pub(super) keys: Vec<Block>,
}

impl Expanded {
    /// Of a block of `count` rows. `None`: they are too many. Of no use once the meter has stopped.
    pub(super) fn of(keys: &[&Block], count: usize, meter: &dyn Meter) -> Option<Expanded> {
        let mut rows = Vec::with_capacity(count);
        if let [Block::Any(values)] = keys
            && let Some(numbers) = of_sets(values, &mut rows)
        {
            let keys = vec![Block::Whole(numbers)];
            return Some(Expanded::new(rows, keys));
        }
        let items = |value: &Value| value.items().map_or(1, |items| items.len());
        let all = keys
            .iter()
            .flat_map(|key| (0..count).map(|row| items(&key.value(row))));
        if all.sum::<usize>() > keys.len() * ROWS_MAX {
            return None;
        }
        let mut columns: Vec<Vec<Value>> = keys.iter().map(|_| Vec::new()).collect();
        let work = Work::new(meter);
        for row in 0..count {
            let lists = keys.iter().map(|key| alternatives(key.value(row), meter));
            let lists: Vec<Vec<Value>> = lists.collect();
            let made = each_choice(lists, |items| {
                if rows.len() == ROWS_MAX || work.begin(CHOICE_UNITS).is_none() {
                    return Err(());
                }
                rows.push(row as u32);
                let items = columns.iter_mut().zip(items);
                items.for_each(|(column, item)| column.push(item));
                Ok(())
            });
            made.ok()?;
        }
        let keys = columns.into_iter().map(Block::from).collect();
        Some(Expanded::new(rows, keys))
    }

    fn new(rows: Vec<u32>, keys: Vec<Block>) -> Expanded {
        let mut choices: Vec<u32> = Vec::with_capacity(rows.len());
        for (at, row) in rows.iter().enumerate() {
            let before = at.checked_sub(1).filter(|before| rows[*before] == *row);
            choices.push(before.map_or(0, |before| choices[before] + 1));
        }
        Expanded {
            rows,
            choices,
            keys,
        }
    }
}

/// The numbers of sets. `None`: not all values are sets, or a number comes twice in one, or they are too many.
fn of_sets(values: &[Value], rows: &mut Vec<u32>) -> Option<Vec<i64>> {
    let mut count = 0;
    for value in values {
        let Value::Set(numbers) = value else {
            return None;
        };
        count += numbers.len();
        if count > ROWS_MAX || !numbers.is_sorted_by(|a, b| a < b) {
            return None;
        }
    }
    let mut all = Vec::with_capacity(count);
    for (row, value) in values.iter().enumerate() {
        if let Value::Set(numbers) = value {
            all.extend_from_slice(numbers);
            rows.resize(all.len(), row as u32);
        }
    }
    Some(all)
}

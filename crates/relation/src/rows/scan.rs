//! A SELECT over rows that come one by one in their own order, without words or weights.

use language::meter::Meter;

use super::best::Best;
use super::order::Sorted;
use super::paid::Paid;
use crate::bind::BoundSelect;
use crate::expression::Metered;
use crate::value::Value;

/// Reads rows of type `R`.
pub trait Scan<R> {
    /// Why a row cannot be read, or memory is refused.
    type Error;

    /// The value of a row's column, by its slot.
    fn value(&self, row: &R, slot: usize) -> Value;

    /// Memory of a row while it is held, in bytes.
    fn bytes(&self, row: &R) -> u64;

    /// Takes memory for rows.
    ///
    /// # Errors
    /// There is no more memory.
    fn take(&self, bytes: u64) -> Result<(), Self::Error>;

    /// Looks at the stop switch, before the items of a row are evaluated.
    ///
    /// # Errors
    /// The scan was stopped.
    fn check(&self) -> Result<(), Self::Error>;

    /// Counts the work of expressions over rows.
    fn meter(&self) -> &dyn Meter;
}

/// The answer of a scan.
#[derive(Clone, Debug, PartialEq)]
pub struct Scanned {
    /// The projected rows, after OFFSET and LIMIT.
    pub rows: Vec<Vec<Value>>,
    /// Number of rows without OFFSET and LIMIT; 1 for COUNT(*).
    pub total: u64,
}

/// Answers a SELECT. `rows` are all rows in their own order, which breaks ties; `count` is their number.
///
/// Cost: without condition and ORDER BY the rows shown; COUNT(*) without a condition reads no row; else every row is
/// read.
///
/// # Errors
/// Those of `rows` and of [`Scan::take`].
pub fn scan<R, S: Scan<R>>(
    select: &BoundSelect<'_>,
    source: &S,
    count: u64,
    rows: impl Iterator<Item = Result<R, S::Error>>,
) -> Result<Scanned, S::Error> {
    let condition = select.condition.as_ref();
    // Before a value is used, the meter is asked.
    let wanted = |row: Result<R, S::Error>| match (condition, row) {
        (Some(condition), Ok(row)) => {
            let is_wanted = condition
                .prepared
                .accepts(&Metered::new(source.meter(), |slot| {
                    source.value(&row, slot)
                }));
            match source.check() {
                Ok(()) => is_wanted.then_some(Ok(row)),
                Err(error) => Some(Err(error)),
            }
        }
        (_, row) => Some(row),
    };
    let mut wanted = rows.filter_map(wanted);
    let whole = condition.is_none().then_some(count);
    if select.is_count {
        let counted = match whole {
            Some(count) => count,
            None => wanted.try_fold(0, |counted, row| row.map(|_| counted + 1))?,
        };
        return Ok(Scanned {
            rows: select.count_row(counted).into_iter().collect(),
            total: 1,
        });
    }
    match select.order.is_empty() {
        true => first(select, source, wanted, whole),
        false => sorted(select, source, wanted),
    }
}

/// The rows in their own order. `whole`: their number, if it is known.
fn first<R, S: Scan<R>>(
    select: &BoundSelect<'_>,
    source: &S,
    rows: impl Iterator<Item = Result<R, S::Error>>,
    whole: Option<u64>,
) -> Result<Scanned, S::Error> {
    let end = select
        .offset
        .saturating_add(select.limit.unwrap_or(u64::MAX));
    let mut shown = Showing::new(select, source);
    let mut total = 0;
    for row in rows {
        let row = row?;
        if (select.offset..end).contains(&total) {
            shown.add(&row)?;
        }
        total += 1;
        if whole.is_some() && total >= end {
            break;
        }
    }
    Ok(Scanned {
        rows: shown.rows,
        total: whole.unwrap_or(total),
    })
}

/// The rows by ORDER BY.
fn sorted<R, S: Scan<R>>(
    select: &BoundSelect<'_>,
    source: &S,
    rows: impl Iterator<Item = Result<R, S::Error>>,
) -> Result<Scanned, S::Error> {
    let keep = select
        .limit
        .and_then(|limit| limit.checked_add(select.offset));
    let mut best = Best::new(select.order.clone(), keep);
    let (mut paid, mut total) = (Paid::default(), 0);
    for row in rows {
        let row = row?;
        let held = Held {
            place: total,
            keys: {
                let values = Metered::new(source.meter(), |slot| source.value(&row, slot));
                select.order.values(&values)
            },
            own: source.bytes(&row),
            row,
        };
        let more = best.offer(held, source.meter());
        paid.more(more, &mut |more| source.take(more))?;
        total += 1;
    }
    let best = best.into_sorted(select.offset, source.meter());
    source.check()?;
    let mut shown = Showing::new(select, source);
    for held in best.into_iter().flatten() {
        shown.add(&held.row)?;
    }
    Ok(Scanned {
        rows: shown.rows,
        total,
    })
}

/// A row held by a sort.
struct Held<R> {
    /// Its index among the accepted rows.
    place: u64,
    keys: Vec<Value>,
    row: R,
    /// The row's own memory, in bytes.
    own: u64,
}

impl<R> Sorted for Held<R> {
    fn weight(&self) -> i64 {
        0
    }

    fn id(&self) -> u64 {
        self.place
    }

    fn keys(&self) -> &[Value] {
        &self.keys
    }

    fn bytes(&self) -> u64 {
        let keys: usize = self.keys.iter().map(Value::memory).sum();
        (size_of::<Self>() + keys) as u64 + self.own
    }
}

/// The rows projected so far.
struct Showing<'a, 's, S> {
    select: &'a BoundSelect<'s>,
    source: &'a S,
    paid: Paid,
    rows: Vec<Vec<Value>>,
}

impl<'a, 's, S> Showing<'a, 's, S> {
    fn new(select: &'a BoundSelect<'s>, source: &'a S) -> Showing<'a, 's, S> {
        Showing {
            select,
            source,
            paid: Paid::default(),
            rows: Vec::new(),
        }
    }

    fn add<R>(&mut self, row: &R) -> Result<(), S::Error>
    where
        S: Scan<R>,
    {
        self.source.check()?;
        let of_row = Metered::new(self.source.meter(), |slot| self.source.value(row, slot));
        let mut values = Vec::with_capacity(self.select.shown.len());
        for shown in self.select.shown.iter() {
            let value = shown.value(0, &of_row);
            // A statement may name a large column many times.
            self.paid
                .more(value.memory() as u64, &mut |more| self.source.take(more))?;
            values.push(value);
        }
        self.rows.push(values);
        self.source.check()
    }
}

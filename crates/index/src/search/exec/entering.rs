//! The rows of a block that may be among the first ones by the first key of ORDER BY.
//!
//! A whole-number key is read for a block of rows at once, and most rows need no more than that: neither a weight, nor the other
//! keys, nor their ids. Example: `ORDER BY n DESC LIMIT 2`, the collector's last row has n 5, and the block has
//!
//! ```text
//! row           0   1   2   3   4   5
//! n             3   9   7   9   6   8
//! row 0 is behind the last row of the collector
//! rows 2, 4, 5 are behind two rows of the block itself: 1 and 3
//! ```
//!
//! so rows 1 and 3 are offered. A row equal to the limit by this key is offered too: later keys and the id decide.

use language::meter::Meter;
use relation::rows::Key;
use relation::value::Value;

use super::super::blocks::of_slot;
use super::super::collect::FoundRow;
use super::super::values::ID;
use super::job::Job;
use crate::part::Part;

/// The block's own rows are compared with each other where more than this many times [`Job::keep`] may enter.
const COMPARED_FROM: usize = 4;

impl Job<'_> {
    /// Adds to `out` those of `lows` that may be among the first [`Job::keep`] rows. `last`: the last row that the collector keeps,
    /// once it has as many. All rows are added where their first key is not a whole number that the part keeps as such,
    /// and once the meter has stopped. The rows are `first` plus each of `lows`, which rise. Cost: some nanoseconds a row.
    pub(super) fn entering(
        &self,
        part: &Part,
        first: u32,
        lows: &[u16],
        last: Option<&FoundRow>,
        meter: &dyn Meter,
        out: &mut Vec<u16>,
    ) {
        let Some((ranks, mut worst)) = self.ranks(part, first, lows, last, meter) else {
            out.extend_from_slice(lows);
            return;
        };
        let entering = ranks.iter().filter(|rank| **rank <= worst).count();
        let keep = self.keep.and_then(|keep| usize::try_from(keep).ok());
        if let Some(keep) = keep.filter(|keep| (1..=entering / COMPARED_FROM).contains(keep)) {
            let mut sorted = ranks.clone();
            worst = worst.min(*sorted.select_nth_unstable(keep - 1).1);
        }
        let rows = lows.iter().zip(ranks);
        out.extend(rows.filter(|(_, rank)| *rank <= worst).map(|(low, _)| low));
    }

    /// The ranks of rows by the first key, lower ones first, and the rank of `last`.
    fn ranks(
        &self,
        part: &Part,
        first: u32,
        lows: &[u16],
        last: Option<&FoundRow>,
        meter: &dyn Meter,
    ) -> Option<(Vec<i64>, i64)> {
        let (key, falls) = self.order.first()?;
        let rank = |value: i64| if falls { !value } else { value };
        let mut column = |slot| of_slot(part, slot, first, lows);
        let (worst, mut ranks) = match key {
            Key::Weight => return None,
            Key::Id => {
                let worst = last.map(|last| i64::try_from(last.id).ok());
                (worst, column(ID)?)
            }
            Key::Computed(key) => {
                let worst = last.map(|last| match last.keys.first() {
                    Some(Value::Int(number)) => i64::try_from(*number).ok(),
                    _ => None,
                });
                (worst, key.evaluate_whole(lows.len(), &mut column, meter)?)
            }
        };
        let worst = match worst {
            Some(worst) => rank(worst?),
            None => i64::MAX,
        };
        ranks.iter_mut().for_each(|value| *value = rank(*value));
        Some((ranks, worst))
    }
}

//! The rows of each part that a condition can be true for, by the ids or the keyed values that it
//! names.
//!
//! Example: `mail = 'a@x' AND age = 7`, with a KEY on both columns, over two segments:
//!
//! ```text
//! part   rows with the mail   rows with the age   candidates
//! 0      3                    too many            the 3 rows
//! 1      (no key yet)         (no key yet)        every row
//! ```

#[cfg(test)]
mod tests;

use relation::bind::{Condition, KeyCodes};

use crate::control::Control;
use crate::error::Result;
use crate::part::Part;
use crate::snapshot::{PartIndex, Snapshot};
use crate::warning::Warning;

/// Of a part's rows, one in this many may be candidates by a key. If more are, the part is read
/// whole, which costs less than sorting them.
const ROWS_A_CANDIDATE: usize = 4;

/// Candidates that are always taken from a key.
const FEW: usize = 1024;

/// For each part, the rows that a condition can be true for.
pub(super) struct Candidates {
    /// By part: rows, rising; `None`: every row.
    parts: Vec<Option<Vec<u32>>>,
}

impl Candidates {
    /// The candidates of a condition; `None` if every row of every part is one. Of a part with a
    /// damaged key, which is added to `damaged`, every row is one. Memory: 4 bytes for each id, and
    /// 1 byte for each row where keys are used; it is taken from `memory`. Cost: a logarithm for
    /// each id or value and part. Errors: `Io`; `Corrupt` of ids; `SearchMemory`, `NoMemory`; `Interrupted`.
    pub(super) fn of(
        condition: &Condition<'_>,
        snapshot: &Snapshot,
        control: &Control,
        damaged: &mut Vec<Warning>,
    ) -> Result<Option<Candidates>> {
        let parts = snapshot.parts.iter();
        let parts: Vec<Option<Vec<u32>>> = match &condition.ids {
            Some(ids) => parts
                .map(|part| by_ids(part, &ids.ids, control).map(Some))
                .collect::<Result<_>>()?,
            None if condition.keys.is_empty() => return Ok(None),
            None => parts
                .map(|part| by_keys(part, &condition.keys, control, damaged))
                .collect::<Result<_>>()?,
        };
        let listed = parts.iter().flatten();
        control
            .memory
            .take(listed.map(|docs| size_of_val(&docs[..]) as u64).sum())?;
        let is_any = parts.iter().any(Option::is_some);
        Ok(is_any.then_some(Candidates { parts }))
    }

    /// What a profile tells of [`Candidates::of`].
    pub(super) fn told(found: &Result<Option<Candidates>>) -> (Option<u64>, String) {
        match found {
            Ok(Some(candidates)) => {
                let rows = candidates
                    .parts
                    .iter()
                    .flatten()
                    .map(Vec::len)
                    .sum::<usize>();
                (Some(rows as u64), "rows by id or KEY".to_owned())
            }
            Ok(None) => (None, "no id or KEY tells the rows".to_owned()),
            Err(_) => (None, String::new()),
        }
    }

    /// The candidates of a part; `None`: all its rows.
    pub(super) fn of_part(&self, part: PartIndex) -> Option<&[u32]> {
        self.parts[part.at()].as_deref()
    }

    /// Number of candidates of a snapshot's parts.
    pub(super) fn count(&self, snapshot: &Snapshot) -> u64 {
        let numbered = snapshot.numbered();
        let counts = numbered.map(|(at, part)| match self.of_part(at) {
            Some(docs) => docs.len() as u64,
            None => u64::from(part.rows()),
        });
        counts.sum()
    }
}

/// Ids that are looked up between two looks at the meter, and the units of each, or of a value.
const LOOK_UPS_A_PIECE: usize = 1_024;
const LOOK_UP_UNITS: u64 = 100;

/// The rows of a part that have these ids, which rise.
fn by_ids(part: &Part, ids: &[u64], control: &Control) -> Result<Vec<u32>> {
    let mut docs = Vec::new();
    for ids in ids.chunks(LOOK_UPS_A_PIECE) {
        control.spend(LOOK_UP_UNITS * ids.len() as u64)?;
        docs.append(&mut part.find_all(ids)?);
    }
    if !docs.is_sorted() {
        docs.sort_unstable();
    }
    Ok(docs)
}

/// The candidates of the key that has the fewest.
fn by_keys(
    part: &Part,
    keys: &[KeyCodes],
    control: &Control,
    damaged: &mut Vec<Warning>,
) -> Result<Option<Vec<u32>>> {
    let mut most = FEW.max(part.rows() as usize / ROWS_A_CANDIDATE);
    let mut fewest = None;
    for key in keys {
        control.spend(LOOK_UP_UNITS * key.codes.len() as u64)?;
        match part.find_by_key(key.column, &key.codes, most) {
            Ok(Some(found)) => {
                most = found.len();
                fewest = Some(found);
            }
            Ok(None) => {}
            Err(error) => damaged.push(Warning::of_damage(&error).ok_or(error)?),
        }
    }
    Ok(fewest)
}

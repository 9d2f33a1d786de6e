//! How far each load is: stored in one unit with its rows, so that a load which goes on neither doubles nor misses one.

use std::collections::BTreeMap;

use query::codec::{Read, Reader, put_number};

use crate::catalog::TableId;
use crate::limits::LOADS_MAX;

/// Loads that are not over, of all tables. No load may begin beside [`LOADS_MAX`] others; a directory that an earlier version
/// wrote may hold more.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Loads {
    /// By table and the load's own number.
    loads: BTreeMap<(TableId, u64), Load>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Load {
    /// What comes before it is stored.
    place: u64,
    /// The record that said so.
    position: u64,
}

impl Loads {
    /// Where a load goes on.
    pub(crate) fn place(&self, table: TableId, load: u64) -> u64 {
        self.loads.get(&(table, load)).map_or(0, |load| load.place)
    }

    /// Whether no other load may begin.
    pub(crate) fn is_full(&self) -> bool {
        self.loads.len() >= LOADS_MAX
    }

    /// Takes in what the record at a position says. A record that is applied again changes nothing.
    pub(crate) fn note(&mut self, table: TableId, load: u64, place: Option<u64>, position: u64) {
        let Some(place) = place else {
            self.loads.remove(&(table, load));
            return;
        };
        self.loads.insert((table, load), Load { place, position });
    }

    /// The numbers of a table's loads, rising.
    pub(crate) fn of(&self, table: TableId) -> impl Iterator<Item = u64> {
        let of = self.loads.range((table, 0)..=(table, u64::MAX));
        of.map(|((_, load), _)| *load)
    }

    /// A table is gone, and its loads with it.
    pub(crate) fn forget(&mut self, table: TableId) {
        self.loads.retain(|(of, _), _| *of != table);
    }

    /// Appends them to a manifest.
    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        put_number(out, self.loads.len() as u64);
        for ((table, load), Load { place, position }) in &self.loads {
            put_number(out, table.0.into());
            put_number(out, *load);
            put_number(out, *place);
            put_number(out, *position);
        }
    }

    /// Reads what [`Loads::put`] wrote.
    pub(crate) fn read(reader: &mut Reader<'_>) -> Read<Loads> {
        let mut loads = BTreeMap::new();
        for _ in 0..reader.count()? {
            let key = (TableId(reader.small()?), reader.number()?);
            let place = reader.number()?;
            let position = reader.number()?;
            loads.insert(key, Load { place, position });
        }
        Ok(Loads { loads })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_load_makes_room_for_another() {
        let mut loads = Loads::default();
        let count = 2 * LOADS_MAX as u64;
        for load in 0..count {
            assert_eq!(loads.is_full(), load >= LOADS_MAX as u64);
            loads.note(TableId(1), load, Some(load + 10), load + 1);
        }
        for load in 0..count {
            assert_eq!(loads.place(TableId(1), load), load + 10);
        }
        loads.note(TableId(1), 1, None, 1000);
        assert_eq!(loads.place(TableId(1), 1), 0);
        let mut bytes = Vec::new();
        loads.put(&mut bytes);
        assert_eq!(
            Loads::read(&mut Reader::new(&bytes)),
            Ok(loads),
            "as an earlier version left them"
        );
    }

    #[test]
    fn what_a_manifest_holds_is_read_back() {
        let mut loads = Loads::default();
        loads.note(TableId(1), 7, Some(1 << 40), 3);
        loads.note(TableId(2), u64::MAX, Some(0), 4);
        let mut bytes = Vec::new();
        loads.put(&mut bytes);
        let mut reader = Reader::new(&bytes);
        assert_eq!(Loads::read(&mut reader), Ok(loads));
        assert_eq!(reader.end(), Ok(()));
    }
}

//! How far each load is: stored in one unit with its rows, so that a load which goes on neither doubles nor misses one.

use std::collections::BTreeMap;

use crate::catalog::TableId;
use crate::codec::{Read, Reader, put_number};
use crate::limits::LOADS_MAX;

/// Loads that are not over, of all tables. At most [`LOADS_MAX`]: the one that has stood still longest makes room.
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

    /// Takes in what the record at a position says. A record that is applied again changes nothing.
    pub(crate) fn note(&mut self, table: TableId, load: u64, place: Option<u64>, position: u64) {
        let Some(place) = place else {
            self.loads.remove(&(table, load));
            return;
        };
        self.loads.insert((table, load), Load { place, position });
        if self.loads.len() > LOADS_MAX {
            let oldest = self.loads.iter().min_by_key(|(_, load)| load.position);
            if let Some(key) = oldest.map(|(key, _)| *key) {
                self.loads.remove(&key);
            }
        }
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
    fn the_load_that_stood_still_longest_makes_room() {
        let mut loads = Loads::default();
        for load in 0..=LOADS_MAX as u64 {
            loads.note(TableId(1), load, Some(load + 10), load + 1);
        }
        assert_eq!(loads.place(TableId(1), 0), 0);
        assert_eq!(loads.place(TableId(1), 1), 11);
        loads.note(TableId(1), 1, None, 1000);
        assert_eq!(loads.place(TableId(1), 1), 0);
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

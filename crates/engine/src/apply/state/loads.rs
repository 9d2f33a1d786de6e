//! How far each load is. A load's place is in the record of its rows, so a load that goes on neither doubles nor misses a row.
//!
//! Places are numbers that rise through the input, such as byte offsets. Example: load 7 of table 2 sends the rows in bytes 0 to
//! 1,000 of a file, then those in bytes 1,000 to 1,900. The second record is a unit of the rows and of `Load { table: 2, load: 7,
//! place: Some(1900) }`. The server is killed, and the client asks how far the load is. [`Loads::place`] is 1,900, or 1,000 if
//! the second record was lost with its rows. `place: None` ends the load.

use std::collections::BTreeMap;

use journal::Position;
use relation::codec::{Read, Reader, put_number};

use crate::catalog::TableId;
use crate::limits::LOADS_MAX;

/// The loads of all tables that are not over: at most [`LOADS_MAX`], more only in a directory of an earlier version.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Loads {
    /// By table and the number that the client gave the load.
    loads: BTreeMap<(TableId, u64), Load>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Load {
    /// The input's rows below this place are stored.
    place: u64,
    /// Position of the record that set `place`.
    at: Position,
}

impl Loads {
    /// The place from which a load goes on; 0 for an unknown load.
    pub(crate) fn place(&self, table: TableId, load: u64) -> u64 {
        self.loads.get(&(table, load)).map_or(0, |load| load.place)
    }

    /// Whether a new load is refused.
    pub(crate) fn is_full(&self) -> bool {
        self.loads.len() >= LOADS_MAX
    }

    /// Applies a `Load` record. Applied twice it changes nothing more.
    pub(crate) fn note(&mut self, table: TableId, load: u64, place: Option<u64>, at: Position) {
        let Some(place) = place else {
            self.loads.remove(&(table, load));
            return;
        };
        self.loads.insert((table, load), Load { place, at });
    }

    /// The numbers of a table's loads, rising.
    pub(crate) fn of(&self, table: TableId) -> impl Iterator<Item = u64> {
        let of = self.loads.range((table, 0)..=(table, u64::MAX));
        of.map(|((_, load), _)| *load)
    }

    /// Forgets the loads of a dropped table.
    pub(crate) fn forget(&mut self, table: TableId) {
        self.loads.retain(|(of, _), _| *of != table);
    }

    /// Appends all loads to a manifest, by table and number.
    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        put_number(out, self.loads.len() as u64);
        for ((table, load), Load { place, at }) in &self.loads {
            put_number(out, table.0.into());
            put_number(out, *load);
            put_number(out, *place);
            put_number(out, at.0);
        }
    }

    /// Reads what [`Loads::put`] wrote.
    pub(crate) fn read(reader: &mut Reader<'_>) -> Read<Loads> {
        let mut loads = BTreeMap::new();
        for _ in 0..reader.count()? {
            let key = (TableId(reader.small()?), reader.number()?);
            let place = reader.number()?;
            let at = Position(reader.number()?);
            loads.insert(key, Load { place, at });
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
            loads.note(TableId(1), load, Some(load + 10), Position(load + 1));
        }
        for load in 0..count {
            assert_eq!(loads.place(TableId(1), load), load + 10);
        }
        loads.note(TableId(1), 1, None, Position(1000));
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
        loads.note(TableId(1), 7, Some(1 << 40), Position(3));
        loads.note(TableId(2), u64::MAX, Some(0), Position(4));
        let mut bytes = Vec::new();
        loads.put(&mut bytes);
        let mut reader = Reader::new(&bytes);
        assert_eq!(Loads::read(&mut reader), Ok(loads));
        assert_eq!(reader.end(), Ok(()));
    }
}

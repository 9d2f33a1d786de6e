//! What a queue knows beside its rows and keeps: part of the manifest. docs/formats/data-directory.md.

use super::{Layouts, QueueTable, SENDERS};
use crate::codec::{Read, Reader, put_number};

impl QueueTable {
    /// Appends what is kept.
    pub(crate) fn put_kept(&self, out: &mut Vec<u8>) {
        let heard: Vec<(usize, u64)> = self
            .received
            .iter()
            .copied()
            .enumerate()
            .filter(|(_, row)| *row > 0)
            .collect();
        put_number(out, heard.len() as u64);
        for (sender, row) in heard {
            put_number(out, sender as u64);
            put_number(out, row);
        }
        out.push(u8::from(self.is_paused));
        self.layouts.put(out);
    }

    /// Takes in what [`QueueTable::put_kept`] wrote.
    pub(crate) fn read_kept(&mut self, reader: &mut Reader<'_>) -> Read<()> {
        for _ in 0..reader.count()? {
            let (sender, row) = (reader.small()?, reader.number()?);
            let place = usize::try_from(sender)
                .ok()
                .filter(|sender| *sender < SENDERS);
            let place = place.ok_or_else(|| reader.damage("a sender below 64"))?;
            self.received[place] = row;
        }
        self.is_paused = reader.flag()?;
        self.layouts = Layouts::read(reader)?;
        Ok(())
    }
}

//! The part of the manifest that a queue writes beside its files: docs/formats/data-directory.md.
//!
//! | part | as of | a replay of earlier records |
//! |---|---|---|
//! | last relayed row of each sender | the manifest's position | sets them again, up to the same values |
//! | layouts, keys of `unique_by=` | the manifest's position | leaves them alone: the engine skips these changes |
//! | lanes: pauses, delivery counts, delays, ended rows | the queue's own position, [`crate::Folded`] | begins with them |
//!
//! Not written: holders, leases, sessions that wait, deliveries without a record.

use relation::codec::{Read, Reader, put_bytes, put_list, put_number};
use roaring::RoaringTreemap;

use crate::ids::RowNumber;
use crate::lane::{DeliveryCount, Lane};
use crate::layout::Layouts;
use crate::queue::{Queue, SENDERS};
use crate::unique::Seen;

impl Queue {
    /// Appends the queue's part of the manifest.
    pub fn put_kept(&self, out: &mut Vec<u8>) {
        let heard: Vec<(usize, u64)> = self
            .received
            .iter()
            .copied()
            .enumerate()
            .filter(|(_, row)| *row > 0)
            .collect();
        put_list(out, &heard, |out, (sender, row)| {
            put_number(out, *sender as u64);
            put_number(out, *row);
        });
        self.layouts.put(out);
        self.seen.put(out);
        out.extend_from_slice(&self.folded.lanes);
    }

    /// The lanes of now, encoded, for [`crate::Folded::lanes`].
    pub(crate) fn encoded_lanes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_number(&mut out, self.lanes.len() as u64);
        for (lane, is_paused) in self.lanes.iter().zip(&self.paused) {
            out.push(u8::from(*is_paused));
            put_lane(&mut out, lane);
        }
        out
    }

    /// Reads what [`Queue::put_kept`] wrote into a new queue of the same options.
    ///
    /// Errors: a sender above 63, or another number of lanes than the queue has.
    pub fn read_kept(&mut self, reader: &mut Reader<'_>) -> Read<()> {
        for _ in 0..reader.count()? {
            let (sender, row) = (reader.small()?, reader.number()?);
            let place = usize::try_from(sender)
                .ok()
                .filter(|sender| *sender < SENDERS);
            let place = place.ok_or_else(|| reader.damage("a sender below 64"))?;
            self.received[place] = row;
        }
        self.layouts = Layouts::read(reader)?;
        self.seen = Seen::read(reader)?;
        if reader.count()? != self.lanes.len() {
            return Err(reader.damage("a lane for each consumer group"));
        }
        for (lane, is_paused) in self.lanes.iter_mut().zip(&mut self.paused) {
            *is_paused = reader.flag()?;
            read_lane(reader, lane)?;
        }
        self.folded.lanes = self.encoded_lanes();
        Ok(())
    }
}

/// Appends the rows that came back with a record (count and due time), then the rows that the group has ended.
fn put_lane(out: &mut Vec<u8>, lane: &Lane) {
    let kept = lane
        .delivery_counts
        .iter()
        .filter(|(_, count)| count.recorded > 0);
    let kept: Vec<(RowNumber, u32)> = kept.map(|(row, count)| (*row, count.recorded)).collect();
    put_list(out, &kept, |out, &(row, count)| {
        put_number(out, row.0);
        put_number(out, count.into());
        let due_us = lane.gate.delays.get(row).unwrap_or(0);
        out.extend_from_slice(&due_us.to_le_bytes());
    });
    let acked = &lane.gate.acked;
    let mut marks = Vec::with_capacity(acked.serialized_size());
    let written = acked.serialize_into(&mut marks);
    debug_assert!(written.is_ok(), "a Vec takes all that is written");
    put_bytes(out, &marks);
}

fn read_lane(reader: &mut Reader<'_>, lane: &mut Lane) -> Read<()> {
    for _ in 0..reader.count()? {
        let (row, count) = (RowNumber(reader.number()?), reader.small()?);
        lane.delivery_counts
            .insert(row, DeliveryCount::recorded(count));
        let due_us = i64::from_le_bytes(reader.array()?);
        if due_us > 0 {
            lane.gate.delays.set(row, due_us);
        }
    }
    let marks = RoaringTreemap::deserialize_from(reader.bytes()?);
    lane.gate.acked = marks.map_err(|_| reader.damage("marks of acknowledged rows"))?;
    Ok(())
}

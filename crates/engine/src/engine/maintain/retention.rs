//! `keep=` and `keep_bytes=`: the engine drops whole segments of a search table whose rows are all too old, or the oldest
//! segments of a table that is too large.
//!
//! The engine asks the clock once. The record names the rows that go by their ids: a replay, or another engine that follows the
//! journal, may have them in other segments, or still in the tail. Where all rows of a segment go, its files do.

use index::RetainedSegment;

use crate::catalog::TableId;
use crate::command::{Keep, Reply};
use crate::decide::Decision;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::failure;
use crate::record::Record;

/// How often it is looked at.
const LOOKED_EVERY_US: u64 = 10_000_000;

/// When it is looked at again, on the steady clock.
#[derive(Default)]
pub(in crate::engine) struct Retention {
    due_us: u64,
}

impl Engine {
    /// Drops what need not be kept any more. Trouble with it is for a later look; only what ends the engine is an error.
    pub(in crate::engine) fn retire_rows(&mut self) -> Result<()> {
        if self.now.steady_us < self.retention.due_us || self.options.read_only {
            return Ok(());
        }
        self.retention.due_us = self.now.steady_us.saturating_add(LOOKED_EVERY_US);
        let now_s = self.now.unix_us.div_euclid(1_000_000);
        let kept = self.state.searches.iter();
        let kept = kept.filter(|(_, search)| search.keep.is_some());
        let tables: Vec<TableId> = kept.map(|(table, _)| *table).collect();
        for table in tables {
            match self.retire_rows_of(table, now_s) {
                Err(error @ Error::Poisoned { .. }) => return Err(error),
                Err(_) => self.status.fold_errors_total += 1,
                Ok(()) => {}
            }
        }
        Ok(())
    }

    fn retire_rows_of(&mut self, table: TableId, now_s: i64) -> Result<()> {
        let Some(search) = self.state.searches.get(&table) else {
            return Ok(());
        };
        let Some((keep, column)) = &search.keep else {
            return Ok(());
        };
        let segments = search.table.segments_by_age(*column);
        let segments = segments.map_err(failure::of_index)?;
        let segments = no_longer_kept(&segments, keep, now_s);
        if segments.is_empty() {
            return Ok(());
        }
        let ids = search.table.ids(&segments);
        let ids = ids.map_err(failure::of_index)?;
        let record = Record::Retire { table, ids };
        self.commit(Decision::giving_room(record, Reply::done()))?;
        self.is_manifest_due = true;
        Ok(())
    }
}

/// The names of the segments to remove: those whose newest row is too old for `keep=`, then, oldest first, as long as the rest is
/// larger than `keep_bytes=`. By `keep_bytes=` alone the newest segment stays, however large it is.
fn no_longer_kept(segments: &[RetainedSegment], keep: &Keep, now_s: i64) -> Vec<String> {
    let mut dated: Vec<(i64, &RetainedSegment)> = segments
        .iter()
        .filter_map(|segment| Some((segment.newest?, segment)))
        .collect();
    dated.sort_by_key(|(newest, segment)| (*newest, segment.name.as_str()));
    let oldest_kept = keep
        .seconds
        .map(|seconds| now_s.saturating_sub_unsigned(seconds));
    let mut bytes: u64 = segments.iter().map(|segment| segment.bytes).sum();
    let mut gone = Vec::new();
    for (place, (newest, segment)) in dated.iter().enumerate() {
        let is_old = oldest_kept.is_some_and(|oldest| *newest < oldest);
        let is_too_much = keep.bytes.is_some_and(|most| bytes > most) && place + 1 < dated.len();
        if is_old || is_too_much {
            bytes -= segment.bytes;
            gone.push(segment.name.clone());
        }
    }
    gone
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(name: &str, bytes: u64, newest: Option<i64>) -> RetainedSegment {
        RetainedSegment {
            name: name.to_owned(),
            rows_live: 1,
            bytes,
            newest,
        }
    }

    fn keep(seconds: Option<u64>, bytes: Option<u64>) -> Keep {
        Keep {
            seconds,
            bytes,
            by: None,
        }
    }

    #[test]
    fn a_segment_goes_when_its_newest_row_is_older_than_keep() {
        let segments = [
            segment("a", 1, Some(899)),
            segment("b", 1, Some(900)),
            segment("c", 1, None),
            segment("d", 1, Some(i64::MIN)),
        ];
        assert_eq!(
            no_longer_kept(&segments, &keep(Some(100), None), 1_000),
            ["d", "a"]
        );
        assert!(no_longer_kept(&segments, &keep(Some(u64::MAX), None), 1_000).is_empty());
        assert!(no_longer_kept(&segments, &keep(None, None), 1_000).is_empty());
    }

    #[test]
    fn of_too_much_the_oldest_goes_and_the_newest_never() {
        let segments = [
            segment("new", 50, Some(3)),
            segment("old", 30, Some(1)),
            segment("mid", 30, Some(2)),
        ];
        assert!(no_longer_kept(&segments, &keep(None, Some(110)), 0).is_empty());
        assert_eq!(
            no_longer_kept(&segments, &keep(None, Some(109)), 0),
            ["old"]
        );
        assert_eq!(no_longer_kept(&segments, &keep(None, Some(80)), 0), ["old"]);
        assert_eq!(
            no_longer_kept(&segments, &keep(None, Some(1)), 0),
            ["old", "mid"]
        );
    }
}

//! Which levels are merged when, by the writer or by a job.

use std::sync::Arc;

use super::QuerySet;
use crate::{
    frequency::Costs,
    level::builder::Builder,
    limits::{LEVEL_RATIO, LEVELS_CROWDED, LEVELS_MAX, MERGED_FOR, MERGED_HERE_MAX},
    live_level::LiveLevel,
};

impl QuerySet {
    /// Merges neighbouring levels whose sizes are too alike, and rewrites hollow levels, from the smallest on. It
    /// leaves alone the levels of a job, and merges of more than [`MERGED_HERE_MAX`] queries, which are a job's work.
    /// With more than [`LEVELS_CROWDED`] levels the job thread is behind: then it merges large levels, too.
    pub(super) fn merge_small(&mut self) {
        let mut index = self.levels.len();
        while index > 0 {
            index -= 1;
            let held = &self.levels[index];
            let next_len = self.levels.get(index + 1).map_or(0, LiveLevel::len);
            let range = if held.len() < next_len * LEVEL_RATIO {
                index..index + 2
            } else if held.is_hollow() {
                index..index + 1
            } else {
                continue;
            };
            let levels = &self.levels[range.clone()];
            let cost: usize = levels.iter().map(|held| held.level.len()).sum();
            let is_crowded = self.levels.len() > LEVELS_CROWDED;
            if (cost <= MERGED_HERE_MAX || is_crowded) && !self.is_running(levels) {
                self.merge(range);
            }
        }
        assert!(self.levels.len() <= LEVELS_MAX, "levels grow by a ratio");
    }

    /// Whether the job under way reads one of these levels.
    fn is_running(&self, levels: &[LiveLevel]) -> bool {
        let mut running = self.running.iter().flat_map(|running| &running.levels);
        running.any(|running| levels.iter().any(|held| Arc::ptr_eq(&held.level, running)))
    }

    /// The levels that the next job is to merge. These are all levels, if matchers have paid for that; else the last
    /// run of levels that are too alike in size; else the last hollow level.
    pub(super) fn due(&self) -> Option<std::ops::Range<usize>> {
        if self.is_paid() {
            return Some(0..self.levels.len());
        }
        (0..self.levels.len()).rev().find_map(|last| {
            let held = &self.levels[last];
            let (mut start, mut len) = (last, held.len());
            while start > 0 && self.levels[start - 1].len() < len * LEVEL_RATIO {
                start -= 1;
                len += self.levels[start].len();
            }
            (start < last || held.is_hollow()).then_some(start..last + 1)
        })
    }

    /// Whether matchers have spent as much on the levels beside the largest as merging all levels takes. Counting
    /// documents needs no clock, and a set that no matcher asks is left alone.
    fn is_paid(&self) -> bool {
        let Some((largest, others)) = self.levels.split_first() else {
            return false;
        };
        let matched = self.stream.matched() - self.merged_at;
        let beside: usize = others.iter().map(|held| held.level.len()).sum();
        beside as u64 * matched > largest.len() as u64 * MERGED_FOR
    }

    /// Replaces neighbouring levels by one that holds their live queries, or by none if all were removed.
    fn merge(&mut self, range: std::ops::Range<usize>) {
        let costs = Costs::new(&self.stream, &self.words.uses);
        let merged = Builder::merge(&self.levels[range.clone()], &costs);
        let merged = (merged.len() > 0).then(|| LiveLevel::new(merged));
        self.replace(range, merged);
    }

    /// Replaces neighbouring levels by `made`. It keeps large replaced levels in `retired`: else a matcher that is
    /// the last to drop one would have to free it, which takes long.
    pub(super) fn replace(&mut self, range: std::ops::Range<usize>, made: Option<LiveLevel>) {
        let replaced = self.levels.splice(range, made).map(|held| held.level);
        let large = replaced.filter(|level| level.len() > MERGED_HERE_MAX);
        self.retired.extend(large);
    }
}

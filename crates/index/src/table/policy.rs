//! Which segments of a shard are worth merging.
//!
//! Three rules, each of which bounds how often a row is written again:
//! - *Beside writers*, above [`SEGMENTS_MAX`] segments, the smallest are joined as long as the next is no larger than all before it
//!   together: a row is written again only when its segment has doubled at least.
//! - *In quiet*, when nothing has been sealed for a while, also fewer are joined: the smallest, up to the last that is at most
//!   [`QUIET_TIMES`] (later [`LONG_QUIET_TIMES`]) as large as all before it together. What is joined to it pays for writing it again, `n + 1`
//!   rows for one at most, and is then in a segment that is as many times larger.
//! - *Where retention drops whole segments* only neighbours in time are joined, to an eighth of the rows at most, and only above
//!   [`KEPT_SEGMENTS_MAX`]; quiet changes nothing. Else the last segment would hold everything, and would never be old enough.

use std::cmp::Reverse;

/// Segments that a shard may have beside writers: each costs a query its look-ups, each merge a copy of what it joins.
const SEGMENTS_MAX: usize = 8;

/// Segments that a shard may have where retention drops them one by one.
const KEPT_SEGMENTS_MAX: usize = 16;

/// The part of a shard's rows that a merge may make one segment of, where retention drops it whole.
const KEPT_PART: u64 = 8;

/// How long nothing must have been sealed for the second rule, and for its second step. Microseconds.
const QUIET_US: u64 = 5_000_000;
const LONG_QUIET_US: u64 = 60_000_000;

/// How much larger than what is joined to it a segment may be that is written again in quiet.
const QUIET_TIMES: u64 = 3;
const LONG_QUIET_TIMES: u64 = 7;

/// A segment is written again when one row in so many of it is deleted.
const GONE_PART: u64 = 4;

/// Most rows of one segment: docs fit an `i32`.
const ROWS_MAX: u64 = i32::MAX as u64 - 1;

/// What the choice depends on beside the segments.
#[derive(Clone, Copy, Debug, Default)]
pub struct MergeRequest {
    /// How long ago the last seal was, in microseconds.
    pub quiet_us: u64,
    /// The column by which whole segments of the table are dropped, if they are.
    pub keep_by: Option<usize>,
}

impl MergeRequest {
    /// After how long a quiet the choice may be another; `None` for never.
    #[must_use]
    pub fn next_quiet_us(self) -> Option<u64> {
        let steps = [QUIET_US, LONG_QUIET_US];
        let left = |step: &u64| self.keep_by.is_none() && *step > self.quiet_us;
        steps.into_iter().find(left)
    }
}

/// A segment, as far as the choice looks at it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) rows: u64,
    /// Deleted rows that a merge would leave behind.
    pub(super) gone: u64,
    /// How new its newest row is, where that is asked for.
    pub(super) newest: Option<i64>,
}

/// The segments to be merged next, by their place; none where the shard is well as it is. `wholly`: until one segment without
/// deleted rows is left, whatever the request.
pub(super) fn choose(segments: &[Candidate], wholly: bool, request: MergeRequest) -> Vec<usize> {
    let mut order: Vec<usize> = (0..segments.len()).collect();
    order.sort_by_key(|at| segments[*at].live());
    if wholly {
        let total = segments.iter().map(Candidate::live).sum::<u64>();
        let is_one = segments.len() == 1 && segments[0].gone == 0;
        let fits = total <= ROWS_MAX;
        return if fits && !is_one { order } else { Vec::new() };
    }
    let worn = |segment: &Candidate| segment.gone * GONE_PART > segment.rows;
    if let Some(worn) = segments.iter().position(worn) {
        return vec![worn];
    }
    if request.keep_by.is_some() {
        return neighbours(segments);
    }
    let live = |at: &usize| segments[*at].live();
    let chosen = match request.quiet_us {
        LONG_QUIET_US.. => up_to_times(order.iter().map(live), LONG_QUIET_TIMES),
        QUIET_US.. => up_to_times(order.iter().map(live), QUIET_TIMES),
        _ if segments.len() > SEGMENTS_MAX => while_no_larger(order.iter().map(live)),
        _ => 0,
    };
    order.truncate(chosen);
    order
}

/// How many of the smallest are joined beside writers; 0 where no two fit one segment.
fn while_no_larger(rows: impl Iterator<Item = u64>) -> usize {
    let (mut total, mut chosen) = (0, 0);
    for rows in rows {
        if (chosen >= 2 && rows > total) || total + rows > ROWS_MAX {
            break;
        }
        total += rows;
        chosen += 1;
    }
    if chosen < 2 { 0 } else { chosen }
}

/// How many of the smallest are joined in quiet: up to the last that is at most so many times all before it.
fn up_to_times(rows: impl Iterator<Item = u64>, times: u64) -> usize {
    let (mut total, mut chosen) = (0, 0);
    for (rows, before) in rows.zip(0..) {
        if total + rows > ROWS_MAX {
            break;
        }
        if before > 0 && rows <= times * total {
            chosen = before + 1;
        }
        total += rows;
    }
    chosen
}

/// The neighbours in time that are joined: of all runs that come to no more than may be one segment, that of which the largest
/// is the smallest part; so a row is rarely written again with little beside it.
fn neighbours(segments: &[Candidate]) -> Vec<usize> {
    if segments.len() <= KEPT_SEGMENTS_MAX {
        return Vec::new();
    }
    let mut order: Vec<usize> = (0..segments.len()).collect();
    order.sort_by_key(|at| (segments[*at].newest, *at));
    let rows: Vec<u64> = order.iter().map(|at| segments[*at].live()).collect();
    // With more segments than twice the parts some two neighbours always fit.
    let most = (rows.iter().sum::<u64>() / KEPT_PART).min(ROWS_MAX);
    let mut best: Option<((u64, Reverse<u64>), usize, usize)> = None;
    for start in 0..rows.len() {
        let (mut total, mut largest) = (0, 0);
        for (end, rows) in rows.iter().enumerate().skip(start) {
            total += rows;
            largest = largest.max(*rows);
            if total > most {
                break;
            }
            // In parts of a thousand: what the others are beside the largest.
            let beside = 1_000 * (total - largest) / largest.max(1);
            let worth = (beside, Reverse(total));
            if end > start && best.is_none_or(|(most, ..)| worth > most) {
                best = Some((worth, start, end));
            }
        }
    }
    best.map_or_else(Vec::new, |(_, start, end)| order[start..=end].to_vec())
}

impl Candidate {
    fn live(&self) -> u64 {
        self.rows - self.gone
    }
}

#[cfg(test)]
mod tests;

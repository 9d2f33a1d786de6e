//! Chooses the segments of a shard to be merged.
//!
//! Three rules; each bounds how often a row is written again:
//! - *Beside writers*, above [`SEGMENTS_MAX`] segments: the smallest are merged, as long as the
//!   next is no larger than all before it together. A row is written again only into a segment of
//!   at least twice the size.
//! - *In quiet*, when nothing was sealed for a while: the smallest are merged. The largest of them
//!   is at most [`QUIET_TIMES`] (later [`LONG_QUIET_TIMES`]) as large as all before it together. So
//!   for each row of the smaller ones, at most that many rows of the largest are written again.
//! - *With retention by whole segments*, above [`KEPT_SEGMENTS_MAX`] segments: only neighbours in
//!   time are merged, up to an eighth of the rows. Else the last segment would hold all rows and
//!   never be old enough to drop. Quiet changes nothing.
//!
//! Examples, live rows of the segments, smallest first (sizes in thousands):
//!
//! ```text
//! 1 1 1 1 1 1 1 1 40   beside writers     the eight of 1: 40 is larger than their sum
//! 10 20 100            5 s of quiet       10 and 20: 100 is more than 3 times 30
//! 10 20 100            60 s of quiet      all: 100 is at most 7 times 30
//! ```
//!
//! A segment of which more than a quarter is deleted is written again alone, before these rules. So
//! is one whose changed values take more than a quarter of its bytes. In long quiet, when no rule gives a merge, a segment whose
//! rows are not packed is written again alone: a merge beside writers leaves packing to later ones ([`MergeRequest::packs`]).

use std::cmp::Reverse;

/// Segments of a shard that are left alone beside writers. Each segment costs a query its look-ups.
const SEGMENTS_MAX: usize = 8;

/// Segments of a shard that are left alone where retention drops them one by one.
const KEPT_SEGMENTS_MAX: usize = 16;

/// Largest part of a shard's rows that a merge may put into one segment under retention: an eighth.
const KEPT_PART: u64 = 8;

/// Time without a seal after which the second rule applies, and its second step. Microseconds.
const QUIET_US: u64 = 5_000_000;
const LONG_QUIET_US: u64 = 60_000_000;

/// How many times larger than all smaller ones together a segment may be that is written again in
/// quiet.
const QUIET_TIMES: u64 = 3;
const LONG_QUIET_TIMES: u64 = 7;

/// A segment is written again when more than one row in this many is deleted.
const GONE_PART: u64 = 4;

/// Most rows of one segment: docs fit an `i32`.
const ROWS_MAX: u64 = i32::MAX as u64 - 1;

/// The circumstances of a choice, beside the segments themselves.
#[derive(Clone, Copy, Debug, Default)]
pub struct MergeRequest {
    /// Time since the last seal, in microseconds.
    pub quiet_us: u64,
    /// Column by which retention drops whole segments; `None` without retention.
    pub keep_by: Option<usize>,
}

impl MergeRequest {
    /// Whether a merge has time to pack rows and to make lists of pairs: not beside writers. Under retention rows are merged a few
    /// times only, and quiet changes nothing.
    pub(super) fn packs(self) -> bool {
        self.quiet_us >= QUIET_US || self.keep_by.is_some()
    }

    /// The next time without a seal, in microseconds, at which the choice may change; `None` for
    /// never.
    #[must_use]
    pub fn next_quiet_us(self) -> Option<u64> {
        let steps = [QUIET_US, LONG_QUIET_US];
        let left = |step: &u64| self.keep_by.is_none() && *step > self.quiet_us;
        steps.into_iter().find(left)
    }
}

/// The facts of a segment that the choice depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) rows: u64,
    /// Deleted rows that a merge would leave behind.
    pub(super) gone: u64,
    /// Whether a merge would write changed values into their rows.
    pub(super) is_changed: bool,
    /// Whether the changed values take a large part of the segment's bytes.
    pub(super) is_worn: bool,
    /// Whether a merge wrote it that packs long texts.
    pub(super) is_packed: bool,
    /// Highest value of retention's column; `None` without retention.
    pub(super) newest: Option<i64>,
}

/// Indexes of the segments to be merged next; empty if none are due. `wholly`: merge until one
/// segment without deleted or changed rows is left, which is packed, whatever the request.
pub(super) fn choose(segments: &[Candidate], wholly: bool, request: MergeRequest) -> Vec<usize> {
    let mut order: Vec<usize> = (0..segments.len()).collect();
    order.sort_by_key(|at| segments[*at].live());
    if wholly {
        let total = segments.iter().map(Candidate::live).sum::<u64>();
        let is_whole = |one: &Candidate| one.gone == 0 && !one.is_changed && one.is_packed;
        let is_one = segments.len() == 1 && is_whole(&segments[0]);
        let fits = total <= ROWS_MAX;
        return if fits && !is_one { order } else { Vec::new() };
    }
    let worn = |segment: &Candidate| segment.is_worn || segment.gone * GONE_PART > segment.rows;
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
    if order.is_empty() && request.quiet_us >= LONG_QUIET_US {
        order.extend(segments.iter().position(|segment| !segment.is_packed));
    }
    order
}

/// Number of the smallest segments that are merged beside writers; 0 where no two fit one segment.
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

/// Number of the smallest segments that are merged in quiet: up to the last that has at most
/// `times` the rows of all before it.
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

/// The neighbours in time that are merged. Of all runs that fit one segment it takes the run whose
/// largest segment is the smallest part of it. So a row is rarely written again with few others.
fn neighbours(segments: &[Candidate]) -> Vec<usize> {
    if segments.len() <= KEPT_SEGMENTS_MAX {
        return Vec::new();
    }
    let mut order: Vec<usize> = (0..segments.len()).collect();
    order.sort_by_key(|at| (segments[*at].newest, *at));
    let rows: Vec<u64> = order.iter().map(|at| segments[*at].live()).collect();
    // With more than twice as many segments as parts, some two neighbours always fit.
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
            // In thousandths: all others beside the largest.
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

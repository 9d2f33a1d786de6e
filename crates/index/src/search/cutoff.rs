//! `OPTION cutoff=N`: if more than N rows match, only the N of the lowest ids count.
//!
//! So the answer depends neither on how rows are spread over parts nor on which thread is faster. A
//! job narrowed by cutoff runs twice: first by id, to find these rows; then for the order asked
//! for, over these rows only. Ids rise in a segment, so the first run skips the pages behind the
//! last id that can count.

use std::sync::Arc;

use relation::rows::Order;

use super::collect::Top;
use super::exec::{self, Job, Opened};
use crate::control::Control;
use crate::error::Result;

/// Narrows a job to the rows that count. Returns whether more rows matched. Errors: as
/// [`Job::run`].
pub(super) fn narrow(job: &mut Job<'_>, control: &Control, cutoff: u64) -> Result<bool> {
    if cutoff >= job.snapshot.count() {
        return Ok(false);
    }
    let order = std::mem::replace(&mut job.order, Arc::new(Order::by_id()));
    let (ranked, keep) = (job.ranked, job.keep);
    (job.ranked, job.keep, job.stops) = (false, Some(cutoff + 1), true);
    let top = || Top::new(Arc::clone(&job.order), job.keep);
    let (top, run) = exec::run(job, control, &top);
    (job.order, job.ranked, job.keep, job.stops) = (order, ranked, keep, false);
    run?;
    let found = top.into_sorted(0, &*control.interrupt);
    control.check()?;
    let mut found = found.unwrap_or_default();
    let is_cut = found.len() as u64 > cutoff;
    found.truncate(usize::try_from(cutoff).unwrap_or(usize::MAX));
    let mut only = vec![Vec::new(); job.snapshot.parts.len()];
    for row in found {
        only[row.part.at()].push(row.doc);
    }
    only.iter_mut().for_each(|docs| docs.sort_unstable());
    job.only = Some(only);
    (job.filter, job.candidates) = (None, None);
    // The first run opened the lists without what weights need.
    job.lists = Opened::new(job.snapshot);
    Ok(is_cut)
}

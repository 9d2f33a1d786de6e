//! `OPTION cutoff=N`: of more than N rows that match, those of the lowest ids are the ones that count.
//!
//! So the answer does not depend on how rows are split, nor on which thread was faster. Rows of a segment come by rising id: its pages behind the
//! last id that can count are not looked at.

use std::sync::Arc;

use query::rows::Order;

use super::collect::Top;
use super::exec::{self, Job, Opened};
use crate::control::Control;
use crate::error::Result;

/// Narrows a job to the rows that count, so that it finds these and no others; whether there were more. Errors: as [`Job::run`].
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
    let mut found = top.into_sorted(0);
    let is_cut = found.len() as u64 > cutoff;
    found.truncate(usize::try_from(cutoff).unwrap_or(usize::MAX));
    let mut only = vec![Vec::new(); job.snapshot.parts.len()];
    for row in found {
        only[row.part.at()].push(row.doc);
    }
    only.iter_mut().for_each(|docs| docs.sort_unstable());
    job.only = Some(only);
    (job.filter, job.ids) = (None, None);
    // They were opened for less than weights need.
    job.lists = Opened::new(job.snapshot);
    Ok(is_cut)
}

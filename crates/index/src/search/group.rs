//! GROUP BY and aggregates: the groups of the rows that a SELECT finds, made from blocks of columns in one pass.

use std::sync::Arc;

use language::tree::Query;
use relation::bind::BoundSelect;
use relation::rows::{BlockGroups, BlocksMade, Groups};

use super::collect::{Filed, FoundRow};
use super::fetch::FoundRows;
use super::{exec, job, parallel};
use crate::answer::{Located, Rows};
use crate::control::Control;
use crate::error::Result;
use crate::snapshot::Snapshot;

/// The groups of one grouping.
pub struct Grouping {
    /// The groups by the order of their first rows.
    pub made: BlocksMade,
    /// The first row of each group.
    pub rows: Located,
}

/// Units between two looks at the meter while the groups of threads are merged.
const MERGED_UNITS: u64 = 1_000;

impl Snapshot {
    /// Groups the rows that a SELECT finds, several times in one pass; its LIMIT and `cutoff` are ignored. The groups are those
    /// of the rows by the order of the SELECT: by weight or by id. Gives one for each of `groupings`; `None`: its rows must be added
    /// one by one.
    ///
    /// Slots are those of [`Located`]. Errors: as [`Snapshot::search`] of a count; never a part of the groups.
    pub fn group(
        self: &Arc<Self>,
        select: &BoundSelect<'_>,
        query: Option<&Query>,
        groupings: &[Arc<Groups>],
        control: &Control,
    ) -> Result<Vec<Option<Grouping>>> {
        let in_blocks = groupings.iter().filter(|groups| groups.are_in_blocks());
        let in_blocks: Vec<Arc<Groups>> = in_blocks.cloned().collect();
        if in_blocks.is_empty() {
            return Ok(groupings.iter().map(|_| None).collect());
        }
        self.check_whole()?;
        let mut job = job(self, select, query, control, &mut Vec::new())?;
        job.in_blocks = true;
        job.ranked &= in_blocks.iter().any(|groups| groups.needs_weights);
        let columns = self.shape.columns.len();
        let start = || Filed::new(&in_blocks, columns + 1);
        let run = || exec::run(&job, control, &start);
        let (filed, run) = control.step("search", run, |_| (None, job.how()));
        run?;
        // By grouping: the groups of each thread.
        let mut threads: Vec<Vec<BlockGroups>> =
            filed.groupings.into_iter().map(|of| vec![of]).collect();
        for other in filed.others {
            threads
                .iter_mut()
                .zip(other)
                .for_each(|(all, of)| all.push(of));
        }
        let mut made = Vec::with_capacity(groupings.len());
        let mut threads = threads.into_iter().peekable();
        for groups in groupings {
            let Some(of) = threads.next_if(|_| groups.are_in_blocks()) else {
                made.push(None);
                continue;
            };
            let detail = format!("of {} threads", of.len());
            let merge = || self.merged(of, columns, job.cost(), control);
            made.push(control.step("groups", merge, |merged| match merged {
                Ok(Some(grouping)) => (Some(grouping.rows.len() as u64), detail),
                _ => (None, detail),
            })?);
        }
        Ok(made)
    }

    /// The groups of all threads.
    fn merged(
        self: &Arc<Self>,
        threads: Vec<BlockGroups>,
        columns: usize,
        cost: u64,
        control: &Control,
    ) -> Result<Option<Grouping>> {
        let pay = |bytes| {
            control.spend(MERGED_UNITS)?;
            control.memory.take(bytes)
        };
        let spread = |pieces: usize, work: &(dyn Fn(usize) -> Result<()> + Sync)| {
            parallel::run(control, pieces, cost, &|| (), &|at, ()| work(at)).1
        };
        let meter = &*control.interrupt;
        let Some(made) = BlockGroups::merge(threads, meter, &pay, &spread)? else {
            control.check()?;
            return Ok(None);
        };
        control
            .memory
            .take(size_of::<FoundRow>() as u64 * made.rows.len() as u64)?;
        let found = made.rows.iter().map(FoundRow::of_place).collect();
        let rows = FoundRows::new(Arc::clone(self), Arc::default(), found, control);
        let rows = Rows::new(rows).located(columns);
        Ok(rows.map(|rows| Grouping { made, rows }))
    }
}

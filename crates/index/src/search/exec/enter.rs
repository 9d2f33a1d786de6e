//! Which rows enter the answer.

use std::cmp::{Ordering, Reverse};

use super::super::best::Found;
use super::Top;
use super::run::PageRun;
use crate::error::Result;

impl PageRun<'_, '_> {
    /// Offers rows with their weights, all that are given, by rising number, and raises the threshold to what those behind them need.
    pub(super) fn enter(
        &self,
        picked: &mut Vec<(u16, i64)>,
        threshold: &mut i64,
        out: &mut Top,
    ) -> Result<()> {
        let keep = self.job.keep.map_or(usize::MAX, |keep| keep as usize);
        drop_outweighed(picked, keep, self.part.is_sorted());
        let mut ids = std::mem::take(&mut out.spare.ids);
        ids.clear();
        let docs = picked.iter().map(|(low, _)| self.view.doc(*low));
        self.part.ids(docs, &mut ids)?;
        for ((low, weight), id) in picked.drain(..).zip(&ids) {
            if weight >= *threshold {
                self.offer(self.view.doc(low), *id, weight, threshold, out)?;
            }
        }
        out.spare.ids = ids;
        Ok(())
    }

    pub(super) fn offer(
        &self,
        doc: u32,
        id: u64,
        weight: i64,
        threshold: &mut i64,
        out: &mut Top,
    ) -> Result<()> {
        let found = Found {
            part: self.at as u32,
            doc,
            id,
            weight,
            keys: Vec::new(),
        };
        if out.offer(found, &self.shared.control.memory)? {
            let next = self.part.is_sorted().then(|| id.saturating_add(1));
            *threshold = self.threshold_from(next, out);
        }
        Ok(())
    }

    /// Whether every row of the page has a higher id than the last one kept.
    pub(super) fn is_behind(&self, out: &Top) -> bool {
        is_behind(out, self.id_first)
    }

    /// The weight that a row of the page must have to enter.
    pub(super) fn threshold(&self, out: &Top) -> i64 {
        self.threshold_from(self.id_first, out)
    }

    /// The weight that rows need of which none has a lower id than this one.
    fn threshold_from(&self, id: Option<u64>, out: &Top) -> i64 {
        let Some((weight, _)) = out.best.last() else {
            return self.shared.threshold();
        };
        self.shared.raise(weight);
        let own = weight.saturating_add(i64::from(is_behind(out, id)));
        own.max(self.shared.threshold())
    }
}

/// Leaves those of some rows with weights, by rising number, of which fewer than `keep` others weigh more, or, where ids rise too, also
/// come first of those that weigh the same: no id of another has to be read.
fn drop_outweighed(rows: &mut Vec<(u16, i64)>, keep: usize, ids_rise: bool) {
    if rows.len() <= keep || keep == 0 {
        return;
    }
    let mut weights: Vec<Reverse<i64>> = rows.iter().map(|(_, weight)| Reverse(*weight)).collect();
    let (above, Reverse(least), _) = weights.select_nth_unstable(keep - 1);
    let above = above
        .iter()
        .filter(|Reverse(weight)| *weight > *least)
        .count();
    let mut as_much = if ids_rise { keep - above } else { usize::MAX };
    rows.retain(|(_, weight)| match weight.cmp(least) {
        Ordering::Equal => {
            let is_first = as_much > 0;
            as_much = as_much.saturating_sub(1);
            is_first
        }
        order => order.is_gt(),
    });
}

/// Whether rows that have this id or higher ones come after the last one kept, if they weigh as much.
fn is_behind(out: &Top, id: Option<u64>) -> bool {
    match (out.best.last(), id) {
        (Some((_, last)), Some(id)) => id > last,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::drop_outweighed;

    proptest! {
        #[test]
        fn rows_that_others_outweigh_are_dropped_and_no_others(
            weights in proptest::collection::vec(0i64..6, 0..40),
            keep in 0usize..12,
        ) {
            let rows: Vec<(u16, i64)> = (0..).zip(weights).collect();
            let heavier = |weight| rows.iter().filter(|(_, other)| *other > weight).count();
            let before = |row: &(u16, i64)| rows.iter().filter(|other| other.1 == row.1 && other.0 < row.0).count();
            for ids_rise in [false, true] {
                let ties = |row: &(u16, i64)| if ids_rise { before(row) } else { 0 };
                let wanted: Vec<_> = rows.iter().filter(|row| keep == 0 || heavier(row.1) + ties(row) < keep).copied().collect();
                let mut kept = rows.clone();
                drop_outweighed(&mut kept, keep, ids_rise);
                prop_assert_eq!(kept, wanted);
            }
        }
    }
}

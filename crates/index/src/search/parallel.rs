//! Runs one search on several threads: each idle thread takes the next range.
//!
//! Each thread gathers on its own; the results are merged at the end. Chance decides which thread
//! takes which range, and the answer does not show it: totals are sums, and the order of rows has
//! no ties.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::control::Control;
use crate::error::{Error, Result};
use crate::pool::Stay;

/// Runs `work` once for each number below `ranges`, on the caller's thread, and on idle ones if
/// `cost` steps are worth it. Returns what each thread gathered, beginning with `start()`. The
/// first error, by range, ends the other ranges and is returned beside what was gathered. A panic
/// in a range is raised again here.
pub(super) fn run<T: Send>(
    control: &Control,
    ranges: usize,
    cost: u64,
    start: &(dyn Fn() -> T + Sync),
    work: &(dyn Fn(usize, &mut T) -> Result<()> + Sync),
) -> (Vec<T>, Result<()>) {
    let job = Job {
        ranges,
        next: AtomicUsize::new(0),
        failed: AtomicBool::new(false),
        error: Mutex::new(None),
        gathered: Mutex::new(Vec::new()),
        work,
    };
    let entered = control.pool.as_deref().map(|pool| pool.enter());
    let helpers = match (cost < control.helped_from, control.threads) {
        (true, _) => 0,
        (false, None) => usize::MAX,
        (false, Some(threads)) => threads.saturating_sub(1),
    };
    match entered {
        Some(entered) if helpers > 0 && ranges > 1 => {
            let help = |stay: &Stay<'_>| {
                let _counts = control.interrupt.counts_reads();
                let mut gathered = start();
                while stay.is_wanted() && job.step(&mut gathered) {}
                job.give(gathered);
            };
            entered.help(helpers, &help, |crew| {
                job.alone(start(), &|| crew.call());
            });
        }
        _ => job.alone(start(), &|| {}),
    }
    let result = job.error.into_inner();
    let result = result.unwrap_or_else(PoisonError::into_inner);
    let gathered = job.gathered.into_inner();
    (
        gathered.unwrap_or_else(PoisonError::into_inner),
        result.map_or(Ok(()), |(_, error)| Err(error)),
    )
}

/// The ranges of one search, shared by its threads.
struct Job<'a, T> {
    ranges: usize,
    /// The next range to be taken.
    next: AtomicUsize,
    failed: AtomicBool,
    /// The failed range with the lowest number, and its error.
    error: Mutex<Option<(usize, Error)>>,
    gathered: Mutex<Vec<T>>,
    work: &'a (dyn Fn(usize, &mut T) -> Result<()> + Sync),
}

impl<T> Job<'_, T> {
    /// Runs ranges on the caller's thread until none is left. Calls for help before each range that
    /// leaves another.
    fn alone(&self, mut gathered: T, call: &dyn Fn()) {
        loop {
            if self.next.load(Ordering::Relaxed) + 1 < self.ranges {
                call();
            }
            if !self.step(&mut gathered) {
                break;
            }
        }
        self.give(gathered);
    }

    /// Runs the next range; `false` where there is none, or one has failed.
    fn step(&self, gathered: &mut T) -> bool {
        if self.failed.load(Ordering::Relaxed) {
            return false;
        }
        let range = self.next.fetch_add(1, Ordering::Relaxed);
        if range >= self.ranges {
            return false;
        }
        if let Err(error) = (self.work)(range, gathered) {
            self.fail(range, error);
            return false;
        }
        true
    }

    fn fail(&self, range: usize, error: Error) {
        self.failed.store(true, Ordering::Relaxed);
        let mut first = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        if first.as_ref().is_none_or(|(known, _)| range < *known) {
            *first = Some((range, error));
        }
    }

    fn give(&self, gathered: T) {
        let all = self.gathered.lock();
        all.unwrap_or_else(PoisonError::into_inner).push(gathered);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::{Arc, Barrier};

    use super::*;
    use crate::error::Reason;
    use crate::pool::Pool;

    const DEAR: u64 = 40_000;

    fn control(threads: usize) -> Control {
        Control {
            pool: Some(Arc::new(Pool::new(threads).expect("threads"))),
            helped_from: DEAR,
            ..Control::default()
        }
    }

    fn numbers(control: &Control, ranges: usize, cost: u64) -> Vec<usize> {
        let work = |range: usize, gathered: &mut Vec<usize>| {
            gathered.push(range);
            Ok(())
        };
        let (gathered, result) = run(control, ranges, cost, &Vec::new, &work);
        result.expect("no range fails");
        let mut all = gathered.concat();
        all.sort_unstable();
        all
    }

    #[test]
    fn every_range_is_done_once_by_any_number_of_threads() {
        for threads in 1..6 {
            let control = control(threads);
            for ranges in [0, 1, 2, 7, 300] {
                let wanted: Vec<usize> = (0..ranges).collect();
                assert_eq!(numbers(&control, ranges, DEAR), wanted);
                assert_eq!(numbers(&Control::default(), ranges, DEAR), wanted);
            }
        }
    }

    #[test]
    fn a_dear_search_is_helped_and_a_cheap_one_is_not() {
        let control = control(2);
        let both = Barrier::new(2);
        let meet = |_: usize, _: &mut ()| {
            both.wait();
            Ok(())
        };
        // Each of the two ranges waits for the other: one thread alone would never end.
        let (gathered, result) = run(&control, 2, DEAR, &|| (), &meet);
        result.expect("both ranges met");
        assert_eq!(gathered.len(), 2);
        let (gathered, _) = run(&control, 100, DEAR - 1, &|| (), &|_, ()| Ok(()));
        assert_eq!(gathered.len(), 1);
        let alone = Control {
            threads: Some(1),
            ..control
        };
        let (gathered, _) = run(&alone, 100, DEAR, &|| (), &|_, ()| Ok(()));
        assert_eq!(gathered.len(), 1);
    }

    #[test]
    fn the_error_is_that_of_the_first_range_that_failed_and_what_was_gathered_stays() {
        let control = control(3);
        let work = |range: usize, gathered: &mut usize| {
            *gathered += 1;
            match range {
                5.. => Err(Error::Interrupted {
                    reason: Reason::Time,
                }),
                _ => Ok(()),
            }
        };
        let (gathered, result) = run(&control, 1_000, DEAR, &|| 0, &work);
        let reason = Reason::Time;
        assert!(matches!(result, Err(Error::Interrupted { reason: why }) if why == reason));
        assert!(
            (6..=8).contains(&gathered.iter().sum::<usize>()),
            "{gathered:?}"
        );
    }

    #[test]
    fn a_panic_in_any_range_ends_that_search_and_the_pool_goes_on() {
        let control = control(4);
        for bad in 0..40 {
            let work = |range: usize, _: &mut ()| {
                assert!(range != bad, "a range that panics");
                Ok(())
            };
            let search = || run(&control, 40, DEAR, &|| (), &work).1;
            let ended = catch_unwind(AssertUnwindSafe(search));
            assert!(ended.is_err(), "range {bad}");
            assert_eq!(numbers(&control, 40, DEAR), (0..40).collect::<Vec<_>>());
        }
        assert_eq!(control.pool.expect("a pool").busy(), 0);
    }
}

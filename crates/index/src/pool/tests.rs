use std::sync::Barrier;
use std::sync::atomic::AtomicU64;

use super::*;

/// Takes numbers until none is left, and returns their sum.
fn sum(next: &AtomicU64, most: u64, stay: &dyn Fn() -> bool) -> u64 {
    let mut sum = 0;
    while stay() {
        match next.fetch_add(1, Ordering::Relaxed) {
            number if number < most => sum += number,
            _ => break,
        }
    }
    sum
}

fn by_pool(pool: &Pool, most: u64) -> u64 {
    let (next, total) = (AtomicU64::new(0), AtomicU64::new(0));
    let add = |part| total.fetch_add(part, Ordering::Relaxed);
    let work = |stay: &Stay<'_>| {
        add(sum(&next, most, &|| stay.is_wanted()));
    };
    pool.enter().help(usize::MAX, &work, |crew| {
        add(sum(&next, most, &|| {
            crew.call();
            true
        }))
    });
    total.into_inner()
}

fn by_scope(helpers: usize, most: u64) -> u64 {
    let (next, total) = (AtomicU64::new(0), AtomicU64::new(0));
    let add = |part| total.fetch_add(part, Ordering::Relaxed);
    let work = |stay: &Stay<'_>| {
        add(sum(&next, most, &|| stay.is_wanted()));
    };
    help_scoped(helpers, &work, || add(sum(&next, most, &|| true)));
    total.into_inner()
}

#[test]
fn the_pool_does_what_scoped_threads_do() {
    for threads in 1..6 {
        let pool = Pool::new(threads).expect("threads");
        for most in [0, 1, 10, 5_000] {
            assert_eq!(by_pool(&pool, most), by_scope(threads - 1, most));
        }
        assert_eq!(pool.busy(), 0);
    }
}

#[test]
fn searches_share_the_threads_from_many_callers() {
    let pool = Pool::new(3).expect("threads");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for most in 0..200 {
                    assert_eq!(by_pool(&pool, most), (0..most).sum::<u64>());
                }
            });
        }
    });
    assert_eq!(pool.busy(), 0);
}

#[test]
fn nobody_is_called_while_every_thread_is_busy() {
    let pool = Pool::new(2).expect("threads");
    let helped = AtomicU64::new(0);
    let work = |_: &Stay<'_>| {
        helped.fetch_add(1, Ordering::Relaxed);
    };
    let (first, second) = (pool.enter(), pool.enter());
    first.help(9, &work, |crew| crew.call());
    assert_eq!(helped.load(Ordering::Relaxed), 0);
    drop(second);
    // The search withdraws a call that no thread has taken, so this test waits until a helper has.
    let came = Barrier::new(2);
    let work = |_: &Stay<'_>| {
        came.wait();
    };
    first.help(9, &work, |crew| {
        crew.call();
        came.wait();
    });
    drop(first);
    assert_eq!(pool.busy(), 0);
}

#[test]
fn a_helper_goes_when_another_search_needs_the_core() {
    let pool = Pool::new(2).expect("threads");
    let (came, told) = (Barrier::new(2), Barrier::new(2));
    let work = |stay: &Stay<'_>| {
        assert!(stay.is_wanted());
        came.wait();
        told.wait();
        assert!(!stay.is_wanted());
    };
    pool.enter().help(1, &work, |crew| {
        crew.call();
        came.wait();
        let other = pool.enter();
        told.wait();
        // The helper asks while the other search runs: this thread waits below, with that search
        // still entered.
        other
    });
    assert_eq!(pool.busy(), 0);
}

#[test]
fn a_caller_that_panics_waits_for_its_helpers() {
    let pool = Pool::new(2).expect("threads");
    let came = Barrier::new(2);
    let borrowed = AtomicU64::new(0);
    let work = |_: &Stay<'_>| {
        came.wait();
        for _ in 0..10_000 {
            borrowed.fetch_add(1, Ordering::Relaxed);
        }
    };
    let panics = || {
        pool.enter().help(1, &work, |crew| {
            crew.call();
            came.wait();
            resume_unwind(Box::new("the caller panics"));
        });
    };
    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
    assert_eq!(borrowed.load(Ordering::Relaxed), 10_000);
    assert_eq!(pool.busy(), 0);
}

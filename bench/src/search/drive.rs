//! Sends queries through callers as fast as they answer.

use std::{
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::Instant,
};

use super::{answer_sum::AnswerSum, report::Taken};
use crate::{
    error::{Error, Result},
    latency::Latencies,
    runs::{Effort, work_watched},
};

/// A thread in this process, or a connection to a server.
pub(super) trait Caller: Send {
    /// Runs the query with this index, and reads its whole answer.
    fn ask(&mut self, number: usize) -> Result<AnswerSum>;

    /// As [`ask`](Self::ask), with the total, for which a second query may be necessary.
    fn ask_all(&mut self, number: usize) -> Result<AnswerSum> {
        self.ask(number)
    }
}

/// The first pass: the answer of each query.
pub(super) fn first_pass(caller: &mut dyn Caller, queries: usize) -> Result<Vec<AnswerSum>> {
    (0..queries).map(|number| caller.ask_all(number)).collect()
}

/// Runs queries until the time is up, each caller on a thread of its own. The callers share a list of queries, which starts again
/// after its end. Each answer must agree with that of the first pass.
pub(super) fn drive(
    callers: Vec<Box<dyn Caller + '_>>,
    first: &[AnswerSum],
    next: &AtomicUsize,
    effort: Effort,
    tick: &mut dyn FnMut(),
) -> Result<Taken> {
    let begun = Instant::now();
    let until = begun + effort.run_time();
    let worker = |caller| move || ask_until(caller, first, next, until);
    let workers = callers.into_iter().map(worker).collect();
    let latencies = work_watched(workers, until, tick)?;
    Ok(Taken::new(begun.elapsed(), &latencies))
}

fn ask_until(
    mut caller: Box<dyn Caller + '_>,
    first: &[AnswerSum],
    next: &AtomicUsize,
    until: Instant,
) -> Result<Latencies> {
    let mut latencies = Latencies::default();
    let mut begun = Instant::now();
    loop {
        let number = next.fetch_add(1, Relaxed) % first.len();
        let found = caller.ask(number)?;
        if !found.agrees(first[number]) {
            return Err(Error::OtherAnswer { query: number + 1 });
        }
        let now = Instant::now();
        latencies.add(now - begun);
        begun = now;
        if begun >= until {
            return Ok(latencies);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::{Caller, drive, first_pass};
    use crate::{error::Result, runs::Effort, search::answer_sum::AnswerSum};

    /// Finds as many rows as the number of the query, until it has been asked so often; then one more.
    struct Forgetful(usize);

    impl Caller for Forgetful {
        fn ask(&mut self, number: usize) -> Result<AnswerSum> {
            self.0 = self.0.saturating_sub(1);
            let total = number as u64 + u64::from(self.0 == 0);
            Ok(AnswerSum {
                total: Some(total),
                rows: None,
            })
        }
    }

    #[test]
    fn another_answer_than_before_is_no_figure() {
        let effort = Effort {
            runs: 1,
            seconds_min: 10.0,
            progress: false,
        };
        let first = first_pass(&mut Forgetful(usize::MAX), 3).unwrap();
        let callers: Vec<Box<dyn Caller>> = vec![Box::new(Forgetful(5))];
        let refused = drive(callers, &first, &AtomicUsize::new(0), effort, &mut || {});
        let told = refused.err().unwrap().to_string();
        assert!(told.contains("query 2 "), "{told}");
    }
}

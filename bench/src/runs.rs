//! Runs of a cell. A figure is the median of several runs, each of several seconds.

use std::{
    convert::Infallible,
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use crate::{
    error::{Error, Result},
    latency::Latencies,
    progress::Progress,
};

/// Time between two looks at the progress of working threads.
pub(crate) const WATCHED_EVERY: Duration = Duration::from_millis(100);

/// Runs each worker on a thread of its own until all have ended. Calls `tick` now and then before `until`. Gives all
/// latencies, or the first error.
pub(crate) fn work_watched<W>(
    workers: Vec<W>,
    until: Instant,
    tick: &mut dyn FnMut(),
) -> Result<Latencies>
where
    W: FnOnce() -> Result<Latencies> + Send,
{
    thread::scope(|scope| {
        // Each worker drops its sender when it ends, so that the last one wakes the watcher at once: a run's time is not rounded up
        // to the next look.
        let (working, ended) = mpsc::channel::<Infallible>();
        let threads: Vec<_> = (workers.into_iter())
            .map(|work| {
                let working = working.clone();
                scope.spawn(move || {
                    let done = work();
                    drop(working);
                    done
                })
            })
            .collect();
        drop(working);
        while Instant::now() < until
            && ended.recv_timeout(WATCHED_EVERY) == Err(RecvTimeoutError::Timeout)
        {
            tick();
        }
        let mut all = Latencies::default();
        for thread in threads {
            match thread.join() {
                Ok(latencies) => all.merge(&latencies?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(all)
    })
}

/// Count and length of runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Count of runs of each cell; the figure is that of the median run.
    pub runs: u32,
    /// Least length of a run, in seconds.
    pub seconds_min: f64,
    /// Whether a line on standard error shows progress.
    pub progress: bool,
}

impl Default for Effort {
    /// The effort of published figures: 5 runs of 5 seconds.
    fn default() -> Effort {
        Effort {
            runs: 5,
            seconds_min: 5.0,
            progress: true,
        }
    }
}

impl Effort {
    pub(crate) fn run_time(&self) -> Duration {
        Duration::from_secs_f64(self.seconds_min.clamp(0.0, 86_400.0))
    }

    pub(crate) fn check(&self) -> Result<()> {
        if self.runs == 0 {
            return Err(Error::BadOption("at least one run must be made"));
        }
        Ok(())
    }
}

/// Least runs of a pair of cells whose ratio is reported, even if the cells of the grid have a single run.
pub(crate) const PAIRED_RUNS_MIN: u32 = 5;

/// Result of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Run {
    /// Count of matched documents or acknowledged rows.
    pub(crate) elements: u64,
    pub(crate) elapsed: Duration,
    /// A latency for each call.
    pub(crate) latencies: Latencies,
    /// Other measures, by name.
    pub(crate) facts: Vec<(&'static str, f64)>,
}

impl Run {
    /// Elements per second.
    pub(crate) fn rate(&self) -> f64 {
        self.elements as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }
}

/// Makes the runs of a cell. Gives them from the slowest to the fastest.
pub(crate) fn repeat(
    effort: Effort,
    doing: &str,
    mut run: impl FnMut(&mut dyn FnMut()) -> Result<Run>,
) -> Result<Vec<Run>> {
    let mut progress = Progress::new(effort.progress);
    let mut runs = Vec::new();
    for number in 0..effort.runs {
        let begun = Instant::now();
        let mut tick = || {
            let part = (begun.elapsed().as_secs_f64() / effort.seconds_min.max(1e-9)).min(1.0);
            progress.show(doing, (f64::from(number) + part) / f64::from(effort.runs));
        };
        tick();
        runs.push(run(&mut tick)?);
    }
    runs.sort_by(|a, b| a.rate().total_cmp(&b.rate()));
    Ok(runs)
}

/// A list of ratios as text, with three digits behind the point.
pub(crate) fn listed(ratios: &[f64]) -> String {
    let texts: Vec<String> = ratios.iter().map(|ratio| format!("{ratio:.3}")).collect();
    texts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Forty runs of nothing, each rounded up to the next look, would take four seconds.
    #[test]
    fn the_time_of_a_run_ends_with_its_last_worker_and_not_with_the_next_look() {
        let begun = Instant::now();
        let until = begun + 600 * WATCHED_EVERY;
        for _ in 0..40 {
            let worker = || Ok(Latencies::default());
            work_watched(vec![worker, worker], until, &mut || {}).unwrap();
        }
        assert!(begun.elapsed() < 20 * WATCHED_EVERY);
    }
}

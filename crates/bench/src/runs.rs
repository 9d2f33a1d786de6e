//! A figure is the median of several runs, each long enough to stand for itself.

use std::{
    thread,
    time::{Duration, Instant},
};

use crate::{
    error::{Error, Result},
    latency::Latencies,
    progress::Progress,
};

/// How often progress is told while threads work.
pub(crate) const WATCHED_EVERY: Duration = Duration::from_millis(100);

/// Works on a thread each until all have ended; `tick` is called now and then before `until`. Gives all latencies, or the
/// first error.
pub(crate) fn work_watched<W>(
    workers: Vec<W>,
    until: Instant,
    tick: &mut dyn FnMut(),
) -> Result<Latencies>
where
    W: FnOnce() -> Result<Latencies> + Send,
{
    thread::scope(|scope| {
        let threads: Vec<_> = workers.into_iter().map(|work| scope.spawn(work)).collect();
        while Instant::now() < until && threads.iter().any(|thread| !thread.is_finished()) {
            thread::park_timeout(WATCHED_EVERY);
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

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Runs of each cell; the median one is told.
    pub runs: u32,
    /// Seconds of each run, at least.
    pub seconds_min: f64,
    /// A line on standard error says how far it is.
    pub progress: bool,
}

impl Default for Effort {
    /// What a published figure takes: 5 runs of 5 seconds.
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

/// Runs of a pair of cells that are told as a ratio, at least: a grid may have been made of single ones.
pub(crate) const PAIRED_RUNS_MIN: u32 = 5;

/// What one run did.
#[derive(Clone, Debug, Default)]
pub(crate) struct Run {
    /// Documents matched, or rows acknowledged.
    pub(crate) elements: u64,
    pub(crate) elapsed: Duration,
    /// One for each call.
    pub(crate) latencies: Latencies,
    /// What else was counted, by name.
    pub(crate) facts: Vec<(&'static str, f64)>,
}

impl Run {
    /// Elements a second.
    pub(crate) fn rate(&self) -> f64 {
        self.elements as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }
}

/// Makes the runs of one cell. Gives them from the slowest to the fastest.
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

/// Ratios with three digits behind the point.
pub(crate) fn listed(ratios: &[f64]) -> String {
    let texts: Vec<String> = ratios.iter().map(|ratio| format!("{ratio:.3}")).collect();
    texts.join(" ")
}

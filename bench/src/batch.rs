//! The count of documents in a call: fixed, or adapted to the highest throughput.

use std::{fmt, str::FromStr, time::Duration};

/// Count of documents in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Batch {
    /// Always this count; above 0.
    Of(u32),
    /// The count with the highest throughput, searched while measuring.
    Auto,
}

impl fmt::Display for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Batch::Of(count) => count.fmt(f),
            Batch::Auto => f.write_str("auto"),
        }
    }
}

impl FromStr for Batch {
    type Err = ();

    /// Parses `auto`, or a number of 1 or more.
    fn from_str(text: &str) -> Result<Batch, ()> {
        match text {
            "auto" => Ok(Batch::Auto),
            number => match number.parse() {
                Ok(0) | Err(_) => Err(()),
                Ok(count) => Ok(Batch::Of(count)),
            },
        }
    }
}

/// Largest size that is tried; all are powers of two.
const SIZE_MAX: usize = 1_024;
const SIZE_FIRST: usize = 64;

/// Least calls, and least time, of a window. Rates of windows are compared.
const WINDOW_CALLS: u32 = 4;
const WINDOW_TIME: Duration = Duration::from_millis(4);

/// Windows at the best size before its neighbours are tried again.
const WINDOWS_SETTLED: u32 = 64;

/// Ratio of rates from which a size counts as faster.
const GAIN: f64 = 1.02;

/// The sizes of a caller's batches. The automatic size doubles or halves while that is faster. Then it stays, and tries its
/// neighbours again after [`WINDOWS_SETTLED`] windows.
#[derive(Clone, Debug)]
pub(crate) struct Sizes {
    size: usize,
    /// State of the search; `None`: the size is fixed.
    climb: Option<Climb>,
}

#[derive(Clone, Debug, Default)]
struct Climb {
    calls: u32,
    documents: usize,
    time: Duration,
    step: Step,
}

#[derive(Clone, Debug, Default)]
enum Step {
    /// The rate of the present size is not known yet.
    #[default]
    First,
    /// The present size is compared with the size before it.
    Try { from: usize, rate: f64, up: bool },
    /// The best size is kept for this count of windows.
    Settled(u32),
}

impl Sizes {
    pub(crate) fn new(batch: Batch) -> Sizes {
        match batch {
            Batch::Of(count) => Sizes {
                size: count as usize,
                climb: None,
            },
            Batch::Auto => Sizes {
                size: SIZE_FIRST,
                climb: Some(Climb::default()),
            },
        }
    }

    /// Count of documents for the next call.
    pub(crate) fn next(&self) -> usize {
        self.size
    }

    /// Records the time of a call.
    pub(crate) fn took(&mut self, documents: usize, time: Duration) {
        let Some(climb) = &mut self.climb else {
            return;
        };
        climb.calls += 1;
        climb.documents += documents;
        climb.time += time;
        if climb.calls >= WINDOW_CALLS && climb.time >= WINDOW_TIME {
            let rate = climb.documents as f64 / climb.time.as_secs_f64();
            (self.size, climb.step) = next_step(self.size, rate, &climb.step);
            (climb.calls, climb.documents, climb.time) = (0, 0, Duration::ZERO);
        }
    }
}

/// The next size and step.
fn next_step(size: usize, rate: f64, step: &Step) -> (usize, Step) {
    match *step {
        Step::First | Step::Settled(0) => attempt(size, rate, size < SIZE_MAX),
        Step::Settled(windows) => (size, Step::Settled(windows - 1)),
        Step::Try {
            from,
            rate: before,
            up,
        } => match (rate > before * GAIN, up) {
            (true, _) if size == 1 || size == SIZE_MAX => (size, Step::Settled(WINDOWS_SETTLED)),
            (true, up) => attempt(size, rate, up),
            (false, true) if from > 1 => attempt(from, before, false),
            (false, _) => (from, Step::Settled(WINDOWS_SETTLED)),
        },
    }
}

/// Tries the double or the half of a size whose rate is known.
fn attempt(from: usize, rate: f64, up: bool) -> (usize, Step) {
    let size = if up { from * 2 } else { from / 2 };
    (size.clamp(1, SIZE_MAX), Step::Try { from, rate, up })
}

#[cfg(test)]
mod tests;

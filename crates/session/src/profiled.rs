//! The profile of a session's last SELECT, for SHOW PLAN and SHOW PROFILE.

use std::sync::Arc;

use engine::{PARSE, Profile};

/// A SELECT that was profiled.
pub(crate) struct Profiled {
    profile: Arc<Profile>,
    from_us: u64,
    /// The time at which its rows were found; `None` once they were sent.
    found_us: Option<u64>,
    /// Microseconds from its begin to its end.
    us: u64,
}

impl Profiled {
    /// A SELECT that began at `from_us` and had found its rows at `found_us`, in steady time.
    pub(crate) fn new(profile: Arc<Profile>, from_us: u64, found_us: u64) -> Profiled {
        Profiled {
            profile,
            from_us,
            found_us: Some(found_us),
            us: found_us.saturating_sub(from_us),
        }
    }

    /// Notes that the rows were sent.
    pub(crate) fn sent(&mut self, now_us: u64) {
        if let Some(found_us) = self.found_us.take() {
            let took_us = now_us.saturating_sub(found_us);
            self.profile.note("send", None, String::new(), took_us);
            self.us = now_us.saturating_sub(self.from_us);
        }
    }

    /// The tree of each MATCH.
    pub(crate) fn trees(&self) -> Vec<String> {
        let steps = self.profile.steps().into_iter();
        let trees = steps.filter(|step| step.name == PARSE);
        trees.map(|step| step.detail).collect()
    }

    /// Names of steps, how often each was done, and microseconds; `other` is what no step tells, and `total` comes last.
    pub(crate) fn times(&self) -> Vec<(&'static str, u64, u64)> {
        let mut times = self.profile.totals();
        let told: u64 = times.iter().map(|(.., us)| us).sum();
        let all = self.us.max(told);
        times.push(("other", 1, all - told));
        times.push(("total", 1, all));
        times
    }
}

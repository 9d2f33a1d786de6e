//! When a hit that was not taken is sent again.

use std::time::Duration;

/// Pauses between attempts: a restart of the target, a short outage, a deploy.
const PAUSES: [Duration; 5] = [
    Duration::from_secs(1),
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_secs(120),
    Duration::from_secs(600),
];

/// How long to wait after so many failed attempts (from 1); `None`: no more, the hit goes to the dead.
pub(super) fn pause_after(attempts: usize) -> Option<Duration> {
    PAUSES.get(attempts.checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::pause_after;

    #[test]
    fn six_attempts_are_made_with_rising_pauses() {
        let pauses: Vec<u64> = (1..).map_while(pause_after).map(|p| p.as_secs()).collect();
        assert_eq!(pauses, [1, 5, 30, 120, 600]);
    }
}

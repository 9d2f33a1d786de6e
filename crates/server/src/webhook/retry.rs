//! Pauses between the attempts to send a hit.

use std::time::Duration;

/// The pauses, long enough for a restart of the target, a short outage, a deploy.
const PAUSES: [Duration; 5] = [
    Duration::from_secs(1),
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_secs(120),
    Duration::from_secs(600),
];

/// Pause after the failed attempt number `attempts`, from 1. `None`: that was the last, the hit goes to the dead.
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

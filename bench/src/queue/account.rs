//! Compares received messages with sent ones: Q4M's four checks, and a count of duplicates.

use std::collections::HashMap;

use crate::error::{Error, Result};

/// The right result of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Expected {
    /// Count of messages that all clients together receive.
    pub(super) received: u64,
    /// The least number of a message.
    pub(super) least: i64,
    /// The greatest number of a message.
    pub(super) greatest: i64,
    /// Count of messages with the least number. All other numbers belong to one message each.
    pub(super) alike: u64,
    /// Count of messages left in the queue.
    pub(super) left: u64,
}

impl Expected {
    /// Compares. Errors: [`Error::WrongAnswer`](crate::Error::WrongAnswer) for the first difference.
    pub(super) fn check(&self, clients: &[Vec<i64>], left: u64) -> Result<()> {
        let mut times: HashMap<i64, u64> = HashMap::new();
        for value in clients.iter().flatten() {
            *times.entry(*value).or_default() += 1;
        }
        let received: u64 = times.values().sum();
        Error::unless_equal("messages received", self.received, received)?;
        let duplicates = self.duplicates(&times);
        Error::unless_equal("messages received twice", 0, duplicates)?;
        let distinct = self.received - self.alike.saturating_sub(1);
        Error::unless_equal("distinct messages", distinct, times.len() as u64)?;
        let least = times.keys().min().copied().unwrap_or(-1);
        Error::unless_equal("as the least number", bits(self.least), bits(least))?;
        let greatest = times.keys().max().copied().unwrap_or(-1);
        if self.left == 0 || greatest > self.greatest {
            let expected = bits(self.greatest);
            Error::unless_equal("as the greatest number", expected, bits(greatest))?;
        }
        Error::unless_equal("messages left", self.left, left)
    }

    /// Count of deliveries beyond one for each sent message.
    fn duplicates(&self, times: &HashMap<i64, u64>) -> u64 {
        let more = times.iter().map(|(value, times)| {
            let put = if *value == self.least {
                self.alike.max(1)
            } else {
                1
            };
            times.saturating_sub(put)
        });
        more.sum()
    }
}

fn bits(number: i64) -> u64 {
    number.cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::Expected;

    const FOUR: Expected = Expected {
        received: 4,
        least: 1,
        greatest: 4,
        alike: 1,
        left: 0,
    };

    fn told(expected: Expected, clients: &[Vec<i64>], left: u64) -> String {
        match expected.check(clients, left) {
            Ok(()) => String::new(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn all_messages_once_in_any_order_pass() {
        assert_eq!(told(FOUR, &[vec![3, 1], vec![4, 2]], 0), "");
    }

    #[test]
    fn a_message_received_twice_is_a_wrong_answer() {
        let told = told(FOUR, &[vec![3, 1], vec![3, 4]], 0);
        assert!(told.contains("1 messages received twice"), "{told}");
    }

    #[test]
    fn a_message_left_is_a_wrong_answer() {
        let told = told(FOUR, &[vec![3, 1], vec![4, 2]], 1);
        assert!(told.contains("1 messages left"), "{told}");
    }

    #[test]
    fn a_number_that_was_never_put_is_a_wrong_answer() {
        let told = told(FOUR, &[vec![3, 1], vec![5, 2]], 0);
        assert!(told.contains("greatest"), "{told}");
    }

    #[test]
    fn seeds_are_alike_and_what_is_left_may_hold_the_greatest() {
        let seeded = Expected {
            received: 4,
            least: 0,
            greatest: 4,
            alike: 2,
            left: 2,
        };
        assert_eq!(told(seeded, &[vec![0, 1], vec![0, 2]], 2), "");
        let three = told(seeded, &[vec![0, 0], vec![0, 2]], 2);
        assert!(three.contains("received twice"), "{three}");
    }
}

//! Answers to queries, in a form that can be compared.

/// The answer to one query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AnswerSum {
    /// Count of matching rows; `None`: not asked for.
    pub(super) total: Option<u64>,
    /// Checksum of the ids and weights of the answer's rows, in order; `None`: the engine does not give rows.
    pub(super) rows: Option<u64>,
}

impl AnswerSum {
    /// Whether two answers to a query agree: the parts that both have are equal.
    pub(super) fn agrees(self, other: AnswerSum) -> bool {
        let equal = |a: Option<u64>, b: Option<u64>| a.zip(b).is_none_or(|(a, b)| a == b);
        equal(self.total, other.total) && equal(self.rows, other.rows)
    }
}

/// Checksum of ids and weights: FNV-1a of 64 bits, over 64-bit numbers.
#[derive(Clone, Copy)]
pub(super) struct RowSum(u64);

impl RowSum {
    pub(super) fn new() -> RowSum {
        RowSum(0xcbf2_9ce4_8422_2325)
    }

    pub(super) fn add(&mut self, id: u64, weight: i64) {
        for word in [id, weight as u64] {
            self.0 = (self.0 ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    pub(super) fn value(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::{AnswerSum, RowSum};

    fn sum(rows: &[(u64, i64)]) -> u64 {
        let mut sum = RowSum::new();
        rows.iter().for_each(|(id, weight)| sum.add(*id, *weight));
        sum.value()
    }

    #[test]
    fn the_order_of_rows_counts() {
        assert_ne!(sum(&[(1, 7), (2, 7)]), sum(&[(2, 7), (1, 7)]));
        assert_ne!(sum(&[(1, 7)]), sum(&[(7, 1)]));
    }

    #[test]
    fn what_one_side_does_not_know_is_no_difference() {
        let total = |total| AnswerSum {
            total,
            rows: Some(1),
        };
        assert!(total(None).agrees(total(Some(3))));
        assert!(!total(Some(4)).agrees(total(Some(3))));
    }
}

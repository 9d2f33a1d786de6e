use proptest::prelude::*;

use super::{BINS, Histogram, bin_of, upper_edge_us};

#[test]
fn bins_meet_without_gaps() {
    for bin in 0..BINS - 1 {
        let edge = upper_edge_us(bin);
        assert_eq!(bin_of(edge), bin);
        assert_eq!(bin_of(edge + 1), bin + 1);
    }
    assert_eq!(bin_of(u64::MAX), BINS - 1);
}

#[test]
fn the_limits_of_the_study_are_edges() {
    for us in [1_000, 10_000, 100_000, 500_000] {
        assert_eq!(upper_edge_us(bin_of(us)), us);
    }
}

#[test]
fn every_millisecond_up_to_100_has_its_own_bin() {
    let bins: std::collections::BTreeSet<usize> = (0..=100).map(|ms| bin_of(ms * 1_000)).collect();
    assert_eq!(bins.len(), 101);
}

proptest! {
    #[test]
    fn counts_shares_and_quantiles_are_those_of_the_sorted_values(
        values in prop::collection::vec(prop_oneof![0_u64..200, 0_u64..2_000_000, any::<u64>().prop_map(|us| us >> 8)], 1..300),
        split in any::<prop::sample::Index>(),
        share in 0.0..1.0_f64,
    ) {
        let (mut left, mut right) = (Histogram::default(), Histogram::default());
        let middle = split.index(values.len());
        values[..middle].iter().for_each(|us| left.add(*us));
        values[middle..].iter().for_each(|us| right.add(*us));
        let mut other_way = right.clone();
        other_way.merge(&left);
        left.merge(&right);
        prop_assert_eq!(&left, &other_way);

        let mut sorted = values.clone();
        sorted.sort_unstable();
        prop_assert_eq!(left.count(), values.len() as u64);
        prop_assert_eq!(left.max_us(), *sorted.last().unwrap());
        for us in [1_000, 10_000, 100_000, 500_000] {
            prop_assert_eq!(left.count_within(us), sorted.iter().filter(|value| **value <= us).count() as u64);
        }
        let rank = ((values.len() as f64 * share).ceil() as usize).max(1);
        let exact = sorted[rank - 1];
        prop_assert_eq!(left.quantile_us(share), Some(upper_edge_us(bin_of(exact)).min(left.max_us())));
    }
}

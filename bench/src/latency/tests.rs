use std::time::Duration;

use super::{Latencies, bucket, lowest};

#[test]
fn a_bucket_begins_at_most_a_64th_below_what_it_holds() {
    for ns in (0..10_000).chain((0..57).map(|bit| (1 << bit) + 12_345)) {
        let begin = lowest(bucket(ns));
        assert!(
            begin <= ns && ns - begin <= ns / 64,
            "{ns} is counted as {begin}"
        );
    }
}

#[test]
fn percentiles_are_those_of_the_sorted_list() {
    let mut latencies = Latencies::default();
    for ms in 1..=100 {
        latencies.add(Duration::from_millis(ms));
    }
    for (part, ms) in [(0.5, 50.0), (0.95, 95.0), (0.99, 99.0), (1.0, 100.0)] {
        let found = latencies.percentile_ms(part);
        assert!(found <= ms && found > ms * 0.98, "{part}: {found}");
    }
    assert!((latencies.mean_ms() - 50.5).abs() < 1e-9);
    assert_eq!(Latencies::default().percentile_ms(0.5), 0.0);
}

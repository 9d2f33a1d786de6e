use proptest::prelude::*;

use super::super::generate::{LogGenerator, Workload};
use super::super::{Histogram, Place, Summary, SummaryOptions};
use super::{bands, intervals};

#[test]
fn the_three_bands_of_the_study_are_found() {
    let mut generator = LogGenerator::new(Workload::default(), 0);
    let mut log = Vec::new();
    (0..50_000).for_each(|_| generator.write_line(&mut log));
    let mut summary = Summary::new(&SummaryOptions::default());
    summary.add_block("a", Place::default(), &log);
    let times = summary.times();
    let bands = bands(&times, true);
    let borders: Vec<u64> = bands.iter().map(|band| band.high_us / 1_000).collect();
    assert_eq!(bands.len(), 3, "{bands:?}");
    assert!(
        (8..=12).contains(&borders[0]) && (80..=120).contains(&borders[1]),
        "{borders:?}"
    );
    let in_peak = |number: usize, ms: u64| {
        let (low, high) = bands[number].peak_us;
        low / 1_000 <= ms && ms <= high / 1_000
    };
    assert!(in_peak(1, 35) || in_peak(1, 30), "{bands:?}");
    assert!(in_peak(2, 220) || in_peak(2, 200), "{bands:?}");
}

#[test]
fn one_hill_is_one_band() {
    let mut times = Histogram::default();
    (1..=1_000).for_each(|us| times.add(us * 3));
    assert_eq!(bands(&times, false).len(), 1);
}

#[test]
fn a_query_of_hours_has_a_band_and_an_interval() {
    let mut times = Histogram::default();
    times.add(10_000_000_000);
    for whole_ms in [false, true] {
        assert_eq!(bands(&times, whole_ms)[0].count, 1);
        assert_eq!(intervals(&times, whole_ms)[0].high_us, 10_000_000_000);
    }
}

#[test]
fn no_queries_have_no_bands() {
    assert!(bands(&Histogram::default(), true).is_empty());
}

proptest! {
    #[test]
    fn bands_and_intervals_hold_every_query_once(values in prop::collection::vec(0_u64..2_000_000_000, 1..200), whole_ms in any::<bool>()) {
        let mut times = Histogram::default();
        values.iter().for_each(|us| times.add(*us));
        let bands = bands(&times, whole_ms);
        prop_assert_eq!(bands.iter().map(|band| band.count).sum::<u64>(), values.len() as u64);
        prop_assert!(bands.windows(2).all(|pair| pair[0].high_us == pair[1].low_us && pair[0].high_us < pair[1].high_us));
        let counted: u64 = intervals(&times, whole_ms).iter().map(|interval| interval.count).sum();
        prop_assert_eq!(counted, values.len() as u64);
    }
}

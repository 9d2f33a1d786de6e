use proptest::prelude::*;

use super::{Found, Sorter};

proptest! {
    #[test]
    fn sorting_keeps_the_order_of_slices_within_a_query(
        queries in prop_oneof![Just(1_usize), 1_usize..2_000, 1_usize..5_000_000],
        drawn in proptest::collection::vec(any::<u32>(), 0..2_000),
    ) {
        let mut found: Vec<Found> = drawn
            .iter()
            .zip(0..)
            .map(|(query, number)| Found { query: query % queries as u32, slice: number / 50, mask: 1 })
            .collect();
        let mut expected = found.clone();
        expected.sort_by_key(|found| (found.query, found.slice));
        Sorter::default().sort(&mut found, queries);
        prop_assert_eq!(found, expected);
    }
}

use proptest::prelude::*;

use super::{HitPairs, Sorter, hit_pair};

proptest! {
    #[test]
    fn sorting_puts_queries_in_order_and_the_documents_of_each(
        queries in prop_oneof![Just(1_usize), 1_usize..2_000, 1_usize..50_000_000],
        documents in 1_usize..5_000,
        drawn in proptest::collection::vec(any::<(u32, u32)>(), 0..2_000),
        mixed in any::<bool>(),
    ) {
        let pair = |(query, document): &(u32, u32)| (query % queries as u32, document % documents as u32);
        let mut pairs: Vec<(u32, u32)> = drawn.iter().map(pair).collect();
        if !mixed {
            pairs.sort_by_key(|(_, document)| *document);
        }
        let pairs: Vec<u64> = pairs.iter().map(|(query, document)| hit_pair(*query, *document)).collect();
        let mut expected = pairs.clone();
        expected.sort_unstable();
        let mut hit_pairs = HitPairs::default();
        hit_pairs.extend(pairs.into_iter().map(|pair| (pair, true)));
        hit_pairs.mixed = mixed;
        Sorter::default().sort(&mut hit_pairs, queries, documents);
        prop_assert_eq!(hit_pairs.pairs(), expected);
    }
}

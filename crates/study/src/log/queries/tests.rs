use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{Batch, QueryOrder, QueryTable};

/// (text, microseconds, nothing) of each line.
type Lines = Vec<(String, u64, bool)>;

fn table(lines: &[(String, u64, bool)], queries_max: usize) -> QueryTable {
    let mut table = QueryTable::new(queries_max, 1 << 20);
    let mut batch = Batch::default();
    for (text, us, nothing) in lines {
        batch.push(*us, *nothing, |texts| {
            texts.extend_from_slice(text.as_bytes());
            0
        });
    }
    table.add_batch(&batch);
    table
}

/// Count, time, longest and empty answers of each text.
fn slow(lines: &[(String, u64, bool)]) -> BTreeMap<&str, (u64, u64, u64, u64)> {
    let mut counts = BTreeMap::new();
    for (text, us, nothing) in lines {
        let (count, sum, max, empty) = counts.entry(text.as_str()).or_insert((0, 0, 0, 0));
        *count += 1;
        *sum += us;
        *max = (*us).max(*max);
        *empty += u64::from(*nothing);
    }
    counts
}

fn lines() -> impl Strategy<Value = Lines> {
    // The square makes low numbers frequent.
    let text = (0_u32..12).prop_map(|root| format!("q{}", root * root / 2));
    prop::collection::vec((text, 0_u64..1_000, any::<bool>()), 0..400)
}

proptest! {
    #[test]
    fn below_the_bound_counts_are_exact_and_any_split_gives_the_same(lines in lines(), split in any::<prop::sample::Index>()) {
        let middle = split.index(lines.len() + 1);
        let (left, right) = (table(&lines[..middle], 1_000), table(&lines[middle..], 1_000));
        let mut merged = left.clone();
        merged.merge(&right);
        let mut other_way = right;
        other_way.merge(&left);
        let whole = table(&lines, 1_000);
        for order in [QueryOrder::Count, QueryOrder::Cost, QueryOrder::Nothing] {
            prop_assert_eq!(merged.top(order, 100), whole.top(order, 100));
            prop_assert_eq!(other_way.top(order, 5), whole.top(order, 5));
        }
        let counts = slow(&lines);
        prop_assert_eq!(whole.len(), counts.len());
        for query in whole.top(QueryOrder::Count, 1_000) {
            let (count, sum, max, empty) = counts[query.text.as_str()];
            prop_assert_eq!((query.count, query.sum_us, query.max_us, query.nothing), (count, sum, max, empty));
            prop_assert_eq!((query.count_error, query.sum_error_us), (0, 0));
        }
    }

    #[test]
    fn past_the_bound_the_stated_errors_hold(lines in lines(), split in any::<prop::sample::Index>()) {
        let middle = split.index(lines.len() + 1);
        let mut merged = table(&lines[..middle], 16);
        merged.merge(&table(&lines[middle..], 16));
        for table in [table(&lines, 16), merged] {
            let mut counts = slow(&lines);
            for query in table.top(QueryOrder::Count, 1_000) {
                let (count, sum, _, empty) = counts.remove(query.text.as_str()).unwrap();
                prop_assert!(query.count <= count && count <= query.count + query.count_error);
                prop_assert!(query.sum_us <= sum && sum <= query.sum_us + query.sum_error_us);
                prop_assert!(query.nothing <= empty && empty <= query.nothing + query.count_error);
            }
            for (count, _, _, _) in counts.values() {
                prop_assert!(*count <= table.count_floor());
            }
        }
    }
}

#[test]
fn a_frequent_query_stays_exact_while_rare_ones_come_and_go() {
    let lines: Lines = (0..20_000)
        .map(|line| match line % 4 {
            0 => ("often".to_owned(), 5, false),
            _ => (format!("rare {line}"), 1, false),
        })
        .collect();
    let table = table(&lines, 64);
    assert!(!table.is_exact() && table.len() <= 64);
    let first = &table.top(QueryOrder::Count, 1)[0];
    assert_eq!(
        (first.text.as_str(), first.count, first.count_error),
        ("often", 5_000, 0)
    );
}

#[test]
fn long_texts_are_bounded_by_their_bytes() {
    let lines: Lines = (0..1_000)
        .map(|line| (format!("{line} {}", "x".repeat(1_000)), 1, false))
        .collect();
    let mut table = QueryTable::new(1_000, 4_096);
    for line in &lines {
        let mut batch = Batch::default();
        batch.push(line.1, line.2, |texts| {
            texts.extend_from_slice(line.0.as_bytes());
            0
        });
        table.add_batch(&batch);
    }
    assert!(table.texts.len() <= 4_096 && table.len() >= 4);
}

use proptest::prelude::*;

use super::shapley;
use crate::attribution::amount::Amount;
use crate::attribution::channels::ChannelId;
use crate::attribution::paths::{PathCount, PathTable};

const CHANNELS: usize = 5;

/// All orders of the channels.
fn permutations(of: &[usize]) -> Vec<Vec<usize>> {
    if of.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for at in 0..of.len() {
        let mut rest = of.to_vec();
        let first = rest.remove(at);
        for mut others in permutations(&rest) {
            others.insert(0, first);
            all.push(others);
        }
    }
    all
}

fn table(paths: &[(Vec<u16>, i64)]) -> PathTable {
    let mut table = PathTable::default();
    for (path, conversions) in paths {
        let path: Vec<ChannelId> = path.iter().map(|channel| ChannelId(*channel)).collect();
        let count = PathCount {
            conversions: Amount(*conversions),
            ..PathCount::default()
        };
        table.add(&path, count).unwrap();
    }
    table
}

proptest! {
    #[test]
    fn the_value_is_the_mean_over_all_orders_and_equals_even(
        paths in prop::collection::vec((prop::collection::vec(0..CHANNELS as u16, 1..6), 0_i64..1_000), 1..20),
    ) {
        let worth = |set: &[usize]| -> f64 {
            let inside = paths.iter().filter(|(path, _)| {
                path.iter().all(|channel| set.contains(&usize::from(*channel)))
            });
            inside.map(|(_, conversions)| *conversions as f64).sum()
        };
        let orders = permutations(&(0..CHANNELS).collect::<Vec<_>>());
        let got = shapley(&table(&paths), CHANNELS, |count| count.conversions.0).unwrap();
        for (channel, got) in got.iter().enumerate() {
            let added = orders.iter().map(|order| {
                let place = order.iter().position(|at| *at == channel).unwrap();
                worth(&order[..=place]) - worth(&order[..place])
            });
            let mean = added.sum::<f64>() / orders.len() as f64;
            prop_assert!((got - mean).abs() < 1e-6, "{channel}: {got} is not {mean}");
            let even: f64 = paths.iter().map(|(path, conversions)| {
                let mut set = path.clone();
                set.sort_unstable();
                set.dedup();
                let has = set.contains(&(channel as u16));
                if has { *conversions as f64 / set.len() as f64 } else { 0.0 }
            }).sum();
            prop_assert!((got - even).abs() < 1e-6);
        }
    }
}

#[test]
fn twenty_channels_are_exact_and_one_more_is_refused() {
    let paths: Vec<(Vec<u16>, i64)> = (0..20).map(|channel| (vec![channel], 7)).collect();
    let values = shapley(&table(&paths), 20, |count| count.conversions.0).unwrap();
    assert!(
        values.iter().all(|value| (value - 7.0).abs() < 1e-9),
        "{values:?}"
    );
    assert_eq!(
        shapley(&table(&paths), 21, |count| count.conversions.0),
        None
    );
}

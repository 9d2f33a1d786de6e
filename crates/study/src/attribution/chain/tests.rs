use proptest::prelude::*;

use super::{Chain, ChainError, Effect, State, dense, sparse};
use crate::attribution::amount::Amount;
use crate::attribution::bounds::Unbounded;
use crate::attribution::channels::ChannelId;
use crate::attribution::limits::STATES_MAX;
use crate::attribution::paths::{PathCount, PathTable};

/// Paths such as `abc`, with conversions, money and nulls.
fn table(paths: &[(&str, i64, i64, i64)]) -> PathTable {
    let mut table = PathTable::default();
    for (path, conversions, value, nulls) in paths {
        let path: Vec<ChannelId> = path
            .bytes()
            .map(|byte| ChannelId(u16::from(byte - b'a')))
            .collect();
        let count = PathCount {
            conversions: Amount(conversions * 1_000_000),
            value: Amount(value * 1_000_000),
            nulls: Amount(nulls * 1_000_000),
        };
        table.add(&path, count).unwrap();
    }
    table
}

fn effects(paths: &[(&str, i64, i64, i64)], order: usize, channels: usize) -> Vec<Effect> {
    let chain = Chain::of_paths(&table(paths), order, &Unbounded).unwrap();
    chain.effects(channels, &Unbounded).unwrap()
}

#[test]
fn the_worked_example() {
    let effects = effects(&[("ab", 1, 0, 0), ("a", 0, 0, 1)], 1, 2);
    assert_eq!(effects[0].conversions, 1.0);
    assert_eq!(effects[1].conversions, 1.0);
}

#[test]
fn a_loop_is_solved() {
    // From a: to b by half, to the conversion by half; from b back to a always. P = 1; without b it is 1/2.
    let effects = effects(&[("aba", 1, 10, 0)], 1, 2);
    assert_eq!(effects[0].conversions, 1.0);
    assert!((effects[1].conversions - 0.5).abs() < 1e-15);
    assert!((effects[1].value - 0.5).abs() < 1e-15);
}

#[test]
fn a_path_shorter_than_the_order_is_one_state() {
    let paths = [("ab", 1, 0, 1), ("abcab", 2, 0, 0), ("a", 0, 0, 3)];
    let chain = Chain::of_paths(&table(&paths), 3, &Unbounded).unwrap();
    let mut lengths: Vec<usize> = chain
        .states()
        .iter()
        .map(|state| state.channels().len())
        .collect();
    lengths.sort_unstable();
    assert_eq!(lengths, [1, 2, 3, 3, 3]);
    let sum: f64 = chain
        .transitions()
        .filter(|transition| transition.from.is_none())
        .map(|transition| transition.probability)
        .sum();
    assert!((sum - 1.0).abs() < 1e-15);
}

#[test]
fn no_conversion_too_many_states_and_no_end_are_named() {
    let refused = |paths: &PathTable, order| {
        Chain::of_paths(paths, order, &Unbounded)
            .map(|_| ())
            .unwrap_err()
    };
    assert_eq!(
        refused(&table(&[("ab", 0, 0, 4)]), 1),
        ChainError::NoConversion
    );
    assert_eq!(refused(&PathTable::default(), 1), ChainError::NoConversion);
    let mut many = PathTable::default();
    let count = PathCount {
        conversions: Amount::ONE,
        ..PathCount::default()
    };
    for number in 0..=STATES_MAX {
        let digits = [number % 100, number / 100 % 100, number / 10_000];
        let path = digits.map(|digit| ChannelId(digit as u16));
        many.add(&path, count).unwrap();
    }
    assert_eq!(refused(&many, 3), ChainError::States);
}

#[test]
fn a_chain_that_never_ends_is_named() {
    // Paths always end, so the chain is made by hand: b leads to itself only.
    let mut chain =
        Chain::of_paths(&table(&[("a", 1, 0, 0), ("abb", 0, 0, 1)]), 1, &Unbounded).unwrap();
    chain.nulls.fill(0.0);
    let state = State::new(&[ChannelId(1)]);
    assert_eq!(chain.check(), Err(ChainError::NeverEnds(state)));
}

/// The effects by the definition: each chain with a channel taken out is solved by elimination with pivots.
fn slow(chain: &Chain, channels: usize) -> Vec<Effect> {
    let size = chain.states.len();
    let starts = chain.start_shares();
    let gains = chain.gains();
    let solve = |removed: Option<ChannelId>| {
        let is_removed = |at: usize| removed.is_some_and(|c| chain.states[at].has(c));
        gains.each_ref().map(|gains| {
            let mut rows: Vec<Vec<f64>> = (0..size)
                .map(|at| {
                    let mut row = vec![0.0; size + 1];
                    row[at] = 1.0;
                    if !is_removed(at) {
                        chain.edges.targets(at).for_each(|(to, count)| {
                            row[to] -= count / chain.leaving[at];
                        });
                        row[size] = gains[at];
                    }
                    row
                })
                .collect();
            for pivot in 0..size {
                let best = (pivot..size)
                    .max_by(|l, r| rows[*l][pivot].abs().total_cmp(&rows[*r][pivot].abs()))
                    .unwrap();
                rows.swap(pivot, best);
                let top = rows[pivot].clone();
                for at in (0..size).filter(|at| *at != pivot) {
                    let factor = rows[at][pivot] / top[pivot];
                    let columns = rows[at].iter_mut().zip(&top);
                    columns.for_each(|(value, top)| *value -= factor * top);
                }
            }
            (0..size)
                .map(|at| starts[at] * rows[at][size] / rows[at][at])
                .sum::<f64>()
        })
    };
    let whole = solve(None);
    (0..channels)
        .map(|channel| super::effect(whole, solve(Some(ChannelId(channel as u16)))))
        .collect()
}

fn close(left: &[Effect], right: &[Effect]) -> bool {
    let pairs = left.iter().zip(right);
    left.len() == right.len()
        && pairs.into_iter().all(|(left, right)| {
            (left.conversions - right.conversions).abs() < 1e-9
                && (left.value - right.value).abs() < 1e-9
        })
}

proptest! {
    #[test]
    fn both_solvers_are_as_a_dense_solve(
        paths in prop::collection::vec(("[a-e]{1,9}", 0_i64..5, 1_i64..100, 0_i64..5), 1..30),
        order in 1_usize..=3,
    ) {
        let paths: Vec<(&str, i64, i64, i64)> = paths.iter()
            .map(|(path, conversions, value, nulls)| {
                let value = if *conversions > 0 { *value } else { 0 };
                (path.as_str(), *conversions, value, *nulls)
            })
            .collect();
        let Ok(chain) = Chain::of_paths(&table(&paths), order, &Unbounded) else {
            prop_assert!(paths.iter().all(|path| path.1 == 0));
            return Ok(());
        };
        let slow = slow(&chain, 5);
        let (dense, sparse) = (dense::effects(&chain, 5, &Unbounded).unwrap(), sparse::effects(&chain, 5, &Unbounded).unwrap());
        prop_assert!(close(&dense, &slow), "{dense:?} {slow:?}");
        prop_assert!(close(&sparse, &slow), "{sparse:?} {slow:?}");
        // The order of paths changes nothing, to the last bit.
        let mut turned = paths.clone();
        turned.reverse();
        let turned = Chain::of_paths(&table(&turned), order, &Unbounded).unwrap();
        prop_assert_eq!(turned.effects(5, &Unbounded).unwrap(), chain.effects(5, &Unbounded).unwrap());
    }
}

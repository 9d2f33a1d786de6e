use proptest::prelude::*;

use super::{MODELS, Model, Rule, Touches, share};
use crate::attribution::amount::GRAINS;
use crate::attribution::channels::ChannelId;

const DAY_MS: i64 = 86_400_000;

fn rule() -> Rule {
    Rule {
        position: [4_000, 2_000, 4_000],
        half_life_ms: 7 * DAY_MS,
        is_direct: vec![false, false, false, true],
    }
}

fn firsts(channels: &[ChannelId]) -> Vec<usize> {
    let is_first = |at: &usize| !channels[..*at].contains(&channels[*at]);
    (0..channels.len()).filter(is_first).collect()
}

/// The shares of channels a, b, c and direct `d`, by the touches of a path such as `abbd`, one a day.
fn shares_of(model: Model, path: &str, rule: &Rule) -> [f64; 4] {
    let channels: Vec<ChannelId> = path
        .bytes()
        .map(|byte| ChannelId(u16::from(byte - b'a')))
        .collect();
    let times: Vec<i64> = (0..channels.len() as i64).map(|day| day * DAY_MS).collect();
    let mut out = Vec::new();
    let touches = Touches {
        channels: &channels,
        times_ms: &times,
        firsts: &firsts(&channels),
    };
    share(model, touches, rule, &mut out);
    let mut shares = [0; 4];
    for (channel, grains) in channels.iter().zip(out) {
        shares[usize::from(channel.0)] += grains;
    }
    shares.map(|grains| grains as f64 / GRAINS as f64)
}

#[track_caller]
fn check(model: Model, path: &str, wanted: [f64; 4]) {
    let got = shares_of(model, path, &rule());
    for (got, wanted) in got.iter().zip(wanted) {
        assert!(
            (got - wanted).abs() < 1e-12,
            "{model:?} {path}: {got} is not {wanted}"
        );
    }
}

// Rows of the table of MultiTouch Analytics' behaviour.

#[test]
fn first_gives_all_to_the_oldest_touch() {
    check(Model::First, "abbc", [1.0, 0.0, 0.0, 0.0]);
}

#[test]
fn last_gives_all_to_the_youngest_touch() {
    check(Model::Last, "abbc", [0.0, 0.0, 1.0, 0.0]);
}

#[test]
fn even_gives_each_distinct_channel_the_same() {
    check(Model::Even, "abbc", [1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 0.0]);
}

#[test]
fn distributed_goes_by_the_number_of_touches() {
    check(Model::Distributed, "aabba", [0.6, 0.4, 0.0, 0.0]);
}

#[test]
fn all_touches_gives_each_channel_the_whole() {
    check(Model::AllTouches, "abbc", [1.0, 1.0, 1.0, 0.0]);
}

#[test]
fn fifty_fifty_halves_between_first_and_last_and_counts_one_touch_once() {
    check(Model::FiftyFifty, "abbc", [0.5, 0.0, 0.5, 0.0]);
    check(Model::FiftyFifty, "ab", [0.5, 0.5, 0.0, 0.0]);
    check(Model::FiftyFifty, "aba", [1.0, 0.0, 0.0, 0.0]);
    check(Model::FiftyFifty, "a", [1.0, 0.0, 0.0, 0.0]);
}

// The other models.

#[test]
fn last_non_direct_passes_over_direct_touches_unless_all_are() {
    check(Model::LastNonDirect, "abdd", [0.0, 1.0, 0.0, 0.0]);
    check(Model::LastNonDirect, "dd", [0.0, 0.0, 0.0, 1.0]);
}

#[test]
fn position_based_has_free_shares() {
    check(Model::PositionBased, "abbc", [0.4, 0.2, 0.4, 0.0]);
    check(Model::PositionBased, "ab", [0.5, 0.5, 0.0, 0.0]);
    check(Model::PositionBased, "a", [1.0, 0.0, 0.0, 0.0]);
    let shares = |position: [u16; 3], path: &str| {
        let rule = Rule { position, ..rule() };
        shares_of(Model::PositionBased, path, &rule)
    };
    assert_eq!(shares([7_500, 0, 2_500], "ab"), [0.75, 0.25, 0.0, 0.0]);
    assert_eq!(shares([0, 10_000, 0], "ab"), [0.5, 0.5, 0.0, 0.0]);
    assert_eq!(shares([0, 10_000, 0], "abc"), [0.0, 1.0, 0.0, 0.0]);
}

#[test]
fn time_decay_halves_with_each_half_life() {
    // Touches of days 0 to 7, and the half-life is seven days.
    let path = "abbbbbbc";
    let shares = shares_of(Model::TimeDecay, path, &rule());
    assert!((shares[2] / shares[0] - 2.0).abs() < 1e-9, "{shares:?}");
}

#[test]
fn a_name_of_the_register_is_read_back() {
    for row in MODELS {
        assert_eq!(Model::parse(row.name), Some(row.model));
        assert_eq!(row.model.name(), row.name);
    }
    assert_eq!(Model::parse("markov-4"), None);
}

/// The shares by the words of the documentation, one touch at a time.
fn slow(model: Model, channels: &[ChannelId], times: &[i64], rule: &Rule) -> Vec<f64> {
    let count = channels.len();
    let distinct = firsts(channels);
    let touches = |at: usize| channels.iter().filter(|c| **c == channels[at]).count();
    (0..count)
        .map(|at| {
            let (is_first, is_last) = (at == 0, at == count - 1);
            let one = |is: bool| f64::from(u8::from(is));
            match model {
                Model::First => one(is_first),
                Model::Last => one(is_last),
                Model::LastNonDirect => {
                    let others =
                        (0..count).filter(|at| !rule.is_direct[usize::from(channels[*at].0)]);
                    one(at == others.max().unwrap_or(count - 1))
                }
                Model::Linear => 1.0 / count as f64,
                // Of the channel's share, its touches have equal parts.
                Model::Even => 1.0 / distinct.len() as f64 / touches(at) as f64,
                Model::Distributed => 1.0 / count as f64,
                Model::FiftyFifty => 0.5 * one(is_first) + 0.5 * one(is_last),
                Model::PositionBased => {
                    let [first, middle, last] = rule.position.map(|share| f64::from(share) / 1e4);
                    match (count, is_first, is_last) {
                        (1, _, _) => 1.0,
                        (2, _, _) if first + last == 0.0 => 0.5,
                        (2, true, _) => first / (first + last),
                        (2, false, _) => last / (first + last),
                        (_, true, _) => first,
                        (_, _, true) => last,
                        (_, false, false) => middle / (count - 2) as f64,
                    }
                }
                Model::TimeDecay => {
                    let weight = |at: usize| {
                        let age = (times[count - 1] - times[at]) as f64;
                        0.5_f64.powf(age / rule.half_life_ms as f64)
                    };
                    weight(at) / (0..count).map(weight).sum::<f64>()
                }
                Model::AllTouches => 1.0 / touches(at) as f64,
                Model::Markov1 | Model::Markov2 | Model::Markov3 | Model::Shapley => f64::NAN,
            }
        })
        .collect()
}

proptest! {
    #[test]
    fn each_model_is_as_the_slow_one(
        path in prop::collection::vec((0_u16..4, 0_i64..20 * DAY_MS), 1..40),
        first in 0_u16..=10_000,
        last in 0_u16..=10_000,
    ) {
        let channels: Vec<ChannelId> = path.iter().map(|(channel, _)| ChannelId(*channel)).collect();
        let mut times: Vec<i64> = path.iter().map(|(_, time)| *time).collect();
        times.sort_unstable();
        let last = last.min(10_000 - first);
        let rule = Rule { position: [first, 10_000 - first - last, last], ..rule() };
        for row in MODELS.iter().filter(|row| row.model.is_of_each_order()) {
            let mut out = Vec::new();
            let touches = Touches { channels: &channels, times_ms: &times, firsts: &firsts(&channels) };
            share(row.model, touches, &rule, &mut out);
            if row.model != Model::AllTouches {
                prop_assert_eq!(out.iter().sum::<i64>(), GRAINS);
            }
            let slow = slow(row.model, &channels, &times, &rule);
            for channel in 0..4 {
                let of = |at: &usize| channels[*at].0 == channel;
                let got: i64 = (0..out.len()).filter(of).map(|at| out[at]).sum();
                let wanted: f64 = (0..out.len()).filter(of).map(|at| slow[at]).sum();
                prop_assert!((got as f64 / GRAINS as f64 - wanted).abs() < 1e-11, "{}", row.name);
            }
        }
    }
}

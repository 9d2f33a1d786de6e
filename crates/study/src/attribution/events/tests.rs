use proptest::prelude::*;

use super::{Attributed, Events, OrderKind, Window};
use crate::attribution::amount::Amount;
use crate::attribution::bounds::Unbounded;
use crate::attribution::channels::Naming;
use crate::attribution::model::{Model, Rule};
use crate::attribution::tally::{DAY_MS, Detail};

fn window() -> Window {
    Window {
        window_ms: 45 * DAY_MS,
        is_single_order: false,
        requires_first: Vec::new(),
        from_ms: None,
        to_ms: None,
        factors: Default::default(),
    }
}

/// Events of visitors: day and channel, or day and `=money` with an id behind a colon; `=!money`: a back end's.
fn attribute(events: &[(&str, i64, &str)], window: &Window) -> Attributed {
    let mut all = Events::new(Naming::default());
    for (visitor, day, what) in events {
        let at_ms = day * DAY_MS;
        let visitor = visitor.as_bytes();
        match what.strip_prefix('=') {
            Some(order) => {
                let (value, id) = order.split_once(':').unwrap_or((order, ""));
                let kind = match value.starts_with('!') {
                    true => OrderKind::Confirmed,
                    false => OrderKind::Counts,
                };
                let value = value.trim_start_matches('!');
                let value = Amount::parse(value.as_bytes()).unwrap().amount;
                all.order(visitor, id.as_bytes(), value, at_ms, kind)
                    .unwrap();
            }
            None => {
                let channel = all.channels.of_name(what.as_bytes()).unwrap();
                all.touch(visitor, channel, at_ms).unwrap();
            }
        }
    }
    let rule = |channels: &[String]| Rule {
        position: [4_000, 2_000, 4_000],
        half_life_ms: DAY_MS,
        is_direct: vec![false; channels.len()],
    };
    all.attribute(
        window,
        &[Model::First, Model::Linear],
        Detail::Report { rows: 100 },
        rule,
        &Unbounded,
    )
    .unwrap()
}

/// The paths as `a > b 1/0` with conversions and nulls, in order.
fn paths(attributed: &Attributed) -> Vec<String> {
    let paths = attributed.paths.as_ref().unwrap().iter();
    let mut paths: Vec<String> = paths
        .map(|(path, count)| {
            let names: Vec<&str> = path
                .iter()
                .map(|channel| attributed.channels[usize::from(channel.0)].as_str())
                .collect();
            let [conversions, nulls] = [count.conversions, count.nulls].map(|c| c.0 / 1_000_000);
            format!("{} {conversions}/{nulls}", names.join(">"))
        })
        .collect();
    paths.sort();
    paths
}

#[track_caller]
fn check(events: &[(&str, i64, &str)], window: &Window, wanted: &[&str]) {
    assert_eq!(paths(&attribute(events, window)), wanted);
    let turned: Vec<_> = events.iter().rev().copied().collect();
    assert_eq!(paths(&attribute(&turned, window)), wanted);
}

#[test]
fn the_window_is_45_days_before_the_order_and_ends_at_the_first_older_touch() {
    let events = [
        ("v", 0, "a"),
        ("v", 10, "b"),
        ("v", 20, "=5"),
        ("v", 60, "c"),
        ("v", 61, "=7"),
    ];
    check(&events, &window(), &["a>b 1/0", "c 1/0"]);
    check(&[("v", 0, "a"), ("v", 45, "=5")], &window(), &["a 1/0"]);
    check(&[("v", 0, "a"), ("v", 46, "=5")], &window(), &[]);
}

#[test]
fn older_touches_lead_to_the_next_order_too_unless_orders_are_single() {
    let events = [("v", 0, "a"), ("v", 1, "=5"), ("v", 2, "b"), ("v", 3, "=7")];
    check(&events, &window(), &["a 1/0", "a>b 1/0"]);
    let single = Window {
        is_single_order: true,
        ..window()
    };
    check(&events, &single, &["a 1/0", "b 1/0"]);
}

#[test]
fn a_channel_that_requires_the_first_touch_counts_nowhere_else() {
    let window = Window {
        requires_first: vec!["direct".to_owned()],
        ..window()
    };
    let events = [
        ("v", 0, "a"),
        ("v", 1, "direct"),
        ("v", 2, "b"),
        ("v", 3, "=5"),
    ];
    check(&events, &window, &["a>b 1/0"]);
    let events = [
        ("v", 0, "direct"),
        ("v", 1, "a"),
        ("v", 2, "direct"),
        ("v", 3, "=5"),
    ];
    check(&events, &window, &["direct>a 1/0"]);
}

#[test]
fn days_are_adjusted_by_their_factors() {
    let mut window = window();
    window
        .factors
        .insert(1, [Amount(2_000_000), Amount(500_000)]);
    let attributed = attribute(&[("v", 0, "a"), ("v", 1, "=5"), ("v", 2, "=5")], &window);
    assert_eq!(attributed.tally.total.conversions.units(2), 300);
    assert_eq!(attributed.tally.total.value.units(2), 750);
}

#[test]
fn a_confirmed_order_counts_before_an_earlier_one_of_its_id() {
    let events = [
        ("v", 0, "a"),
        ("v", 1, "=900:x"),
        ("v", 2, "=!5:x"),
        ("v", 3, "=!6:x"),
    ];
    let single = Window {
        is_single_order: true,
        ..window()
    };
    for window in [window(), single] {
        let attributed = attribute(&events, &window);
        assert_eq!(attributed.tally.total.value.units(2), 500);
        assert_eq!(attributed.counts.repeated_orders, 2);
        check(&events, &window, &["a 1/0"]);
    }
}

#[test]
fn a_repeated_order_of_another_visitor_ends_its_path() {
    // As a cookie and the table have one order, under two names of one visitor.
    let events = [
        ("v", 0, "a"),
        ("v", 1, "=!5:x"),
        ("cookie", 0, "a"),
        ("cookie", 1, "=5:x"),
    ];
    check(&events, &window(), &["a 1/0"]);
}

#[test]
fn an_order_without_a_touch_is_in_the_list_of_touches_only() {
    let attributed = attribute(
        &[("v", 0, "=5:x"), ("w", 0, "a"), ("w", 0, "=7:y")],
        &window(),
    );
    assert_eq!(attributed.counts.orders_without_touch, 1);
    assert_eq!(attributed.tally.total.value.units(2), 700);
    let listed = attributed.tally.listed();
    let ids: Vec<&str> = listed.iter().map(|order| order.id.as_str()).collect();
    assert_eq!(ids, ["y", "x"]);
}

#[test]
fn touches_without_an_order_are_a_path_without_order() {
    let events = [
        ("v", 0, "a"),
        ("w", 0, "a"),
        ("w", 1, "=5"),
        ("w", 2, "b"),
        ("w", 90, "c"),
    ];
    // The null of `v` and the order of `w` are one path; b is out of the window before c.
    check(&events, &window(), &["a 1/1", "c 0/1"]);
}

#[test]
fn an_order_or_a_touch_that_is_there_twice_counts_once() {
    let events = [
        ("v", 0, "a"),
        ("v", 0, "a"),
        ("v", 1, "=5:x"),
        ("v", 2, "=5:x"),
        ("w", 3, "b"),
        ("w", 4, "=5:x"),
    ];
    let attributed = attribute(&events, &window());
    assert_eq!(attributed.counts.repeated_orders, 2);
    assert_eq!(attributed.counts.repeated_touches, 1);
    assert_eq!(attributed.tally.total.conversions.units(0), 1);
}

#[test]
fn a_refund_takes_money_and_is_no_transaction() {
    let attributed = attribute(&[("v", 0, "a"), ("v", 1, "=5"), ("v", 2, "=-2")], &window());
    assert_eq!(attributed.tally.total.conversions.units(0), 1);
    assert_eq!(attributed.tally.total.value.units(2), 300);
    assert_eq!(attributed.counts.refunds, 1);
}

#[test]
fn only_orders_of_the_times_asked_for_count() {
    let window = Window {
        from_ms: Some(2 * DAY_MS),
        to_ms: Some(3 * DAY_MS),
        ..window()
    };
    let events = [
        ("v", 0, "a"),
        ("v", 1, "=1"),
        ("v", 2, "=2"),
        ("v", 3, "=4"),
    ];
    let attributed = attribute(&events, &window);
    assert_eq!(attributed.tally.total.value.units(0), 2);
    assert_eq!(attributed.counts.orders_outside, 2);
}

#[test]
fn ten_thousand_touches_and_one_more() {
    let mut events: Vec<(&str, i64, &str)> = Vec::new();
    let names: Vec<String> = (0..10_001)
        .map(|number| format!("c{}", number % 7))
        .collect();
    for name in &names {
        events.push(("v", 0, name));
    }
    // At one moment, equal touches count once.
    events.push(("v", 1, "=5"));
    let attributed = attribute(&events, &window());
    assert_eq!(attributed.counts.touches, 7);
    let mut all = Events::new(Naming::default());
    let channel = all.channels.of_name(b"a").unwrap();
    for at in 0..10_001 {
        all.touch(b"v", channel, at).unwrap();
    }
    all.order(b"v", b"", Amount::ONE, 20_000, OrderKind::Counts)
        .unwrap();
    let rule = |_: &[String]| Rule {
        position: [4_000, 2_000, 4_000],
        half_life_ms: DAY_MS,
        is_direct: vec![false],
    };
    let attributed = all
        .attribute(
            &window(),
            &[Model::Linear],
            Detail::Report { rows: 1 },
            rule,
            &Unbounded,
        )
        .unwrap();
    let longest = attributed.tally.listed()[0].touches.len();
    assert_eq!(longest, 10_000);
}

proptest! {
    #[test]
    fn paths_are_as_a_walk_over_each_order(
        events in prop::collection::vec((0_usize..3, 0_i64..100, 0_usize..4), 1..60),
    ) {
        const VISITORS: [&str; 3] = ["u", "v", "w"];
        const WHAT: [&str; 4] = ["a", "b", "c", "=5"];
        let events: Vec<(&str, i64, &str)> = events
            .iter()
            .map(|(visitor, day, what)| (VISITORS[*visitor], *day, WHAT[*what]))
            .collect();
        let mut touches: Vec<_> = events.iter().filter(|event| event.2 != "=5").collect();
        touches.sort_by_key(|event| (event.1, event.2));
        touches.dedup();
        touches.sort();
        touches.dedup();
        touches.sort_by_key(|event| (event.1, event.2));
        let mut wanted: Vec<Vec<&str>> = Vec::new();
        for order in events.iter().filter(|event| event.2 == "=5") {
            let path: Vec<&str> = touches
                .iter()
                .filter(|touch| touch.0 == order.0)
                .filter(|touch| touch.1 <= order.1 && touch.1 >= order.1 - 45)
                .map(|touch| touch.2)
                .collect();
            if !path.is_empty() {
                wanted.push(path);
            }
        }
        wanted.sort();
        let attributed = attribute(&events, &window());
        let mut got: Vec<Vec<&str>> = Vec::new();
        for (path, count) in attributed.paths.as_ref().unwrap().iter() {
            let path: Vec<&str> = path
                .iter()
                .map(|channel| attributed.channels[usize::from(channel.0)].as_str())
                .collect();
            (0..count.conversions.0 / 1_000_000).for_each(|_| got.push(path.clone()));
        }
        got.sort();
        prop_assert_eq!(got, wanted);
    }
}

//! Decisions on calls.

use super::*;
use crate::config::{Categories, Configuration};
use crate::route::tests::store;

/// A door with these globals and a store for `web` and one for `mail`.
fn door(max_msg_per_second: u64) -> Door {
    let exact = |name: &str| [Categories::Exact(name.into())];
    let mut stores = vec![
        store("store0", &exact("web"), false),
        store("store1", &exact("mail"), false),
        store("store2", &exact("mail"), false),
    ];
    stores[0].sync = Some(SyncMode::Never);
    stores[1].sync = Some(SyncMode::Within { ms: 100 });
    stores[2].sync = Some(SyncMode::Never);
    let door = Door::default();
    door.set_router(Arc::new(Router::new(Configuration {
        max_msg_per_second,
        stores,
        ..Configuration::default()
    })));
    door
}

fn at(ms: u64) -> Now {
    Now {
        steady_us: ms * 1_000,
        ..Now::default()
    }
}

fn decide(door: &Door, categories: &[&str], now: Now) -> Decision {
    let entries = categories
        .iter()
        .map(|category| (category.as_bytes(), &b"x"[..]));
    let decision = door.decide(entries, now, &Counters::default(), |category| {
        category == b"web"
    });
    if let Decision::Store { messages, .. } = &decision {
        assert!(messages.count() > 0);
    }
    decision
}

#[test]
fn a_call_above_half_the_rate_passes_and_smaller_ones_share_a_second() {
    let door = door(100);
    let passes =
        |count: usize, ms| decide(&door, &vec!["web"; count], at(ms)) != Decision::TryLater;
    assert!(passes(40, 0));
    assert!(passes(51, 1));
    assert!(passes(45, 2));
    assert!(!passes(20, 3));
    assert!(passes(15, 999));
    assert!(!passes(1, 999));
    assert!(passes(20, 1_000));
}

#[test]
fn blank_and_unknown_categories_are_counted_and_dropped_and_the_rest_is_stored() {
    let door = door(0);
    let counters = Counters::default();
    let entries = ["web", "", "mail", "mail", "junk", "../x", "web"];
    let entries = entries
        .iter()
        .map(|category| (category.as_bytes(), &b"body"[..]));
    let decision = door.decide(entries, at(0), &counters, |_| true);
    let Decision::Store {
        messages,
        sync,
        received,
    } = decision
    else {
        panic!("{decision:?}");
    };
    let kept: Vec<_> = messages
        .runs()
        .map(|run| (run.category, run.count))
        .collect();
    assert_eq!(kept, [(&b"web"[..], 1), (b"mail", 2), (b"web", 1)]);
    assert_eq!(sync, Some(SyncMode::Within { ms: 100 }), "the strongest");
    assert!(
        counters.all().is_empty(),
        "nothing counts before the journal has it"
    );
    received.add_to(&counters);
    let wanted = [
        ("junk:received bad", 1),
        ("mail:received good", 2),
        ("scribe_overall:received bad", 2),
        ("scribe_overall:received blank category", 1),
        ("scribe_overall:received good", 4),
        ("web:received good", 2),
    ];
    assert_eq!(
        counters.all(),
        wanted
            .map(|(name, count)| (name.as_bytes().to_vec(), count))
            .into()
    );
    assert_eq!(decide(&door, &["junk", ""], at(0)), Decision::Nothing);
    assert_eq!(decide(&door, &[], at(0)), Decision::Nothing);
}

#[test]
fn a_stop_a_full_queue_and_too_many_lines_are_answered_try_later() {
    let door = door(0);
    door.line_count.store(LINES_MAX, Ordering::Relaxed);
    assert_ne!(
        decide(&door, &["web"], at(0)),
        Decision::TryLater,
        "its line lives"
    );
    assert_eq!(decide(&door, &["web", "mail"], at(0)), Decision::TryLater);
    door.set_full(Some(b"mail"[..].into()));
    assert_eq!(decide(&door, &["web"], at(0)), Decision::TryLater);
    door.set_full(None);
    assert_ne!(decide(&door, &["web"], at(0)), Decision::TryLater);
    door.is_stopping.store(true, Ordering::Relaxed);
    assert_eq!(decide(&door, &["web"], at(0)), Decision::TryLater);
}

#[test]
fn a_call_of_many_categories_is_bounded_by_its_names_and_not_by_its_runs() {
    let mut stores = vec![store("store0", &[Categories::Default], false)];
    stores[0].sync = None;
    let door = Door::default();
    door.set_router(Arc::new(Router::new(Configuration {
        stores,
        ..Configuration::default()
    })));
    let names = |count: usize| (0..count).map(|at| at.to_string()).collect::<Vec<_>>();
    let either = ["a".to_owned(), "b".to_owned()];
    let alternating: Vec<_> = either.iter().cycle().take(300_000).cloned().collect();
    let decide = |names: &[String], has_line: bool| {
        let entries = names.iter().map(|name| (name.as_bytes(), &b""[..]));
        door.decide(entries, at(0), &Counters::default(), |_| has_line)
    };
    let never = |decision| matches!(decision, Decision::Never(_));
    assert!(never(decide(&names(CATEGORIES_OF_CALL_MAX + 1), true)));
    let Decision::Store { received, .. } = decide(&alternating, false) else {
        panic!("two categories");
    };
    assert_eq!(received.0.len(), 2);
    door.line_count.store(LINES_MAX - 10, Ordering::Relaxed);
    assert!(matches!(decide(&names(10), false), Decision::Store { .. }));
    assert_eq!(
        decide(&names(11), false),
        Decision::TryLater,
        "one line too many"
    );
    assert!(matches!(decide(&names(11), true), Decision::Store { .. }));
}

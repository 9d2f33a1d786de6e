//! Decisions on calls.

use std::slice::from_ref;

use super::*;
use crate::config::{Categories, Configuration, StoreConfig};
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
        feeds,
    } = decision
    else {
        panic!("{decision:?}");
    };
    let kept: Vec<_> = messages
        .runs()
        .map(|run| (run.category, run.count))
        .collect();
    assert_eq!(kept, [(&b"web"[..], 1), (b"mail", 2), (b"web", 1)]);
    assert!(feeds.is_empty());
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
    assert_eq!(received.counts.len(), 2);
    door.line_count.store(LINES_MAX - 10, Ordering::Relaxed);
    assert!(matches!(decide(&names(10), false), Decision::Store { .. }));
    assert_eq!(
        decide(&names(11), false),
        Decision::TryLater,
        "one line too many"
    );
    assert!(matches!(decide(&names(11), true), Decision::Store { .. }));
}

/// Tables by name, as they are now.
#[derive(Default)]
struct Made(Mutex<BTreeMap<String, Arc<engine::Definition>>>);

impl Tables for Made {
    fn definition(&self, name: &str) -> Option<Arc<engine::Definition>> {
        lock(&self.0).get(name).cloned()
    }
}

impl Made {
    /// Makes or alters a search table with this column.
    fn make(&self, name: &str, column: &str) {
        let kind = relation::schema::ColumnType::Text;
        let column = relation::schema::Column {
            name: column.to_owned(),
            kind,
            nullable: true,
            default: None,
            keyed: false,
        };
        let definition = engine::Definition {
            name: name.to_owned(),
            kind: engine::Kind::Search(engine::SearchOptions::default()),
            columns: vec![column],
            analysis: Default::default(),
            sync: None,
            keep: None,
        };
        lock(&self.0).insert(name.to_owned(), Arc::new(definition));
    }
}

/// `web` goes to a file and into the table `logs`, `mail` into the table `mails`, `plain` to a file.
fn door_of_tables() -> (Door, Arc<Made>) {
    let text = "<store>\ncategory=web\ntype=file\nfile_path=/d\nbase_filename=f\n</store>\n\
        <store>\ncategory=web\ntype=index\ntable=logs\n</store>\n\
        <store>\ncategory=mail\ntype=index\ntable=mails\n</store>\n\
        <store>\ncategory=plain\ntype=file\nfile_path=/d\nbase_filename=f\n</store>\n";
    let (configuration, problems) = crate::config::read(text.as_bytes(), "f", Default::default());
    assert!(problems.is_empty(), "{problems:?}");
    let (door, made) = (Door::default(), Arc::new(Made::default()));
    door.set_router(Arc::new(Router::new(configuration)));
    door.set_tables(made.clone());
    (door, made)
}

/// Numbers of messages behind the journal and of rows by table; `None`: TRY_LATER.
fn taken(door: &Door, categories: &[&str]) -> Option<(u64, Vec<(String, usize)>)> {
    let entries = categories
        .iter()
        .map(|category| (category.as_bytes(), &b"x\n"[..]));
    match door.decide(entries, at(0), &Counters::default(), |_| true) {
        Decision::TryLater => None,
        Decision::Store {
            messages, feeds, ..
        } => {
            let rows = feeds.iter().map(|feed| {
                let rows = feed.rows();
                (rows.table.clone(), rows.rows.len())
            });
            Some((messages.count(), rows.collect()))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn messages_become_rows_of_their_tables_beside_what_goes_to_files() {
    let (door, made) = door_of_tables();
    made.make("logs", "body");
    made.make("mails", "body");
    let rows = |table: &str, count| (table.to_owned(), count);
    let all = taken(&door, &["web", "mail", "plain", "web", "mail"]);
    assert_eq!(all, Some((3, vec![rows("logs", 2), rows("mails", 2)])));
    assert_eq!(taken(&door, &["mail"]), Some((0, vec![rows("mails", 1)])));
    assert_eq!(taken(&door, &["plain"]), Some((1, Vec::new())));
    assert_eq!(door.trouble(), None);
}

#[test]
fn a_category_waits_while_its_table_is_missing_or_does_not_fit_and_no_other_does() {
    let (door, made) = door_of_tables();
    made.make("logs", "body");
    assert_eq!(taken(&door, &["plain", "mail"]), None);
    assert!(taken(&door, &["plain"]).is_some() && taken(&door, &["web"]).is_some());
    assert_eq!(door.trouble().unwrap(), "there is no table 'mails'");
    made.make("mails", "text");
    assert_eq!(taken(&door, &["mail"]), None);
    assert_eq!(
        door.trouble().unwrap(),
        "table 'mails' has no column 'body'"
    );
    made.make("mails", "body");
    assert!(taken(&door, &["mail"]).is_some());
    assert_eq!(door.trouble(), None);
}

#[test]
fn rows_are_counted_as_memory_before_they_are_made() {
    let (door, made) = door_of_tables();
    made.make("logs", "body");
    made.make("mails", "body");
    let bytes = |category: &'static str, count: usize| {
        let entry = Incoming::from((category.as_bytes(), &b"x"[..]));
        door.row_bytes(std::iter::repeat_n(entry, count))
    };
    assert_eq!(bytes("plain", 1_000), 0);
    let entries = std::iter::repeat_n((&b"mail"[..], &b"x"[..]), 1_000);
    let decided = door.decide(entries, at(0), &Counters::default(), |_| true);
    let Decision::Store { feeds, .. } = decided else {
        panic!("{decided:?}")
    };
    let rows = feeds.iter().flat_map(|feed| &feed.rows().rows);
    let memory = |row: &Vec<relation::value::Value>| {
        size_of::<Vec<relation::value::Value>>()
            + row
                .iter()
                .map(relation::value::Value::memory)
                .sum::<usize>()
    };
    let made: usize = rows.map(memory).sum();
    let counted = bytes("mail", 1_000);
    assert!(
        (made..2 * made).contains(&counted),
        "{made} made, {counted} counted"
    );
}

#[test]
fn a_message_that_no_row_can_hold_ends_the_call_with_the_reason() {
    let (door, made) = door_of_tables();
    made.make("logs", "body");
    let long = vec![b'x'; 1 << 24];
    let entries = [(&b"plain"[..], &b"x"[..]), (b"web", &long)];
    let decided = door.decide(entries.into_iter(), at(0), &Counters::default(), |_| true);
    let Decision::Never(why) = decided else {
        panic!("{decided:?}")
    };
    assert!(why.contains("too long for column 'body'"), "{why}");
}

#[test]
fn a_line_loses_its_line_feed_where_all_its_files_give_it_one() {
    let file = |add_newlines| {
        let config = crate::config::FileConfig {
            add_newlines,
            ..Default::default()
        };
        StoreConfig::File(config)
    };
    let taken = |stores: &[StoreConfig], is_line, body: &[u8]| {
        let door = Door::default();
        let with = |config: &StoreConfig| crate::config::TopStore {
            store: config.clone(),
            ..store("store0", &[Categories::Exact(b"web".into())], false)
        };
        door.set_router(Arc::new(Router::new(Configuration {
            stores: stores.iter().map(with).collect(),
            ..Configuration::default()
        })));
        let incoming = Incoming {
            is_line,
            ..Incoming::from((&b"web"[..], body))
        };
        match door.decide([incoming].into_iter(), at(0), &Counters::default(), |_| {
            true
        }) {
            Decision::Store { messages, .. } => {
                let (run, _) = messages.run_at(0).unwrap();
                run.bodies().next().unwrap().to_vec()
            }
            other => panic!("{other:?}"),
        }
    };
    let (ends, plain) = (file(true), file(false));
    assert_eq!(taken(from_ref(&ends), true, b"a\n"), b"a");
    assert_eq!(taken(from_ref(&ends), true, b"\n"), b"");
    assert_eq!(taken(from_ref(&ends), true, b"a"), b"a");
    assert_eq!(taken(from_ref(&ends), true, b"a\n\n"), b"a\n");
    assert_eq!(
        taken(from_ref(&ends), false, b"a\n"),
        b"a\n",
        "of a client of Scribe"
    );
    assert_eq!(taken(from_ref(&plain), true, b"a\n"), b"a\n");
    assert_eq!(taken(&[ends.clone(), plain.clone()], true, b"a\n"), b"a\n");
    let multi = |stores: &[StoreConfig]| {
        StoreConfig::Multi(crate::config::MultiConfig {
            any_succeeds: false,
            stores: stores.to_vec(),
        })
    };
    assert_eq!(
        taken(&[multi(&[ends.clone(), ends.clone()])], true, b"a\n"),
        b"a"
    );
    assert_eq!(taken(&[multi(&[ends, plain])], true, b"a\n"), b"a\n");
}

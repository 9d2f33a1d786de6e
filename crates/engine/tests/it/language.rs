//! The law of both directions over the whole language: the hits of a standing query are the documents that a search for it
//! finds, for any settings of analysis, syntax, filters, listened table and seals.

use std::collections::BTreeSet;
use std::sync::Arc;

use disk::MemoryDisk;
use engine::{Command, Error, Kind, Now, Options};
use language::Syntax;
use language::analysis::Settings;
use proptest::prelude::*;
use relation::value::Value;

use crate::driver::{Driver, options};
use crate::laws::read;
use crate::statement::command;
use crate::workload::{cases, insert, seal_rows};

const WORDS: [&str; 9] = [
    "cat", "cats", "run", "running", "Café", "#run", "dog", "ponies", "a",
];
const FILTERS: [&str; 4] = ["", "", "n > 2", "n IN (0, 3) AND id < 4"];

fn word() -> impl Strategy<Value = String> {
    proptest::sample::select(&WORDS[..]).prop_map(str::to_owned)
}

fn text() -> impl Strategy<Value = String> {
    let between = proptest::sample::select(&[" ", " ", " ", ". ", "\n\n"][..]);
    let part = (word(), between).prop_map(|(word, between)| format!("{word}{between}"));
    proptest::collection::vec(part, 0..7).prop_map(|parts| parts.concat())
}

fn sphinx() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        6 => word(),
        1 => word().prop_map(|a| format!("={a}")),
        1 => word().prop_map(|a| format!("^{a}")),
        1 => word().prop_map(|a| format!("{a}$")),
        1 => proptest::sample::select(&["ca*", "*nn*", "r?n", "*s", "=ca*", "%un"][..])
            .prop_map(str::to_owned),
        1 => Just("REGEX(/ca.*|r.n/)".to_owned()),
        2 => (word(), word()).prop_map(|(a, b)| format!("\"{a} {b}\"")),
        1 => (word(), word()).prop_map(|(a, b)| format!("\"{a} * {b}\"")),
        1 => (word(), word()).prop_map(|(a, b)| format!("\"={a} {b}\"")),
        1 => (word(), word(), 1..4u32).prop_map(|(a, b, n)| format!("\"{a} {b}\"~{n}")),
        1 => (word(), word(), word()).prop_map(|(a, b, c)| format!("\"{a} {b} {c}\"/2")),
        1 => (word(), word(), 1..6u32).prop_map(|(a, b, n)| format!("\"{a} {b} {a} {a}\"/{n}")),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let pair = || (inner.clone(), inner.clone());
        let operator = proptest::sample::select(
            &[
                " ",
                " | ",
                " << ",
                " NEAR/2 ",
                " NOTNEAR/1 ",
                " SENTENCE ",
                " PARAGRAPH ",
                " MAYBE ",
                " -",
            ][..],
        );
        let field = proptest::sample::select(
            &["@title", "@body", "@!body", "@body[2]", "@(title,body)"][..],
        );
        prop_oneof![
            5 => (pair(), operator).prop_map(|((a, b), operator)| format!("({a}){operator}({b})")),
            1 => (field, inner).prop_map(|(field, a)| format!("({field} {a})")),
        ]
    })
}

fn lucene() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => word(),
        1 => word().prop_map(|a| format!("title:{a}")),
        1 => (word(), word()).prop_map(|(a, b)| format!("body:\"{a} {b}\"")),
        1 => Just("ca*".to_owned()),
    ];
    leaf.prop_recursive(3, 8, 2, |inner| {
        let operator = proptest::sample::select(&[" AND ", " OR ", " ", " AND NOT ", " NOT "][..]);
        (inner.clone(), operator, inner)
            .prop_map(|(a, operator, b)| format!("({a}){operator}({b})"))
    })
}

/// Queries of one syntax, with their filters.
fn queries() -> impl Strategy<Value = (Syntax, Vec<(String, &'static str)>)> {
    let filter = || proptest::sample::select(&FILTERS[..]);
    prop_oneof![
        3 => proptest::collection::vec((sphinx(), filter()), 1..8)
            .prop_map(|queries| (Syntax::Sphinx, queries)),
        1 => proptest::collection::vec((lucene(), filter()), 1..8)
            .prop_map(|queries| (Syntax::Lucene, queries)),
    ]
}

fn settings() -> impl Strategy<Value = Vec<(&'static str, &'static str)>> {
    let stems = [
        ("morphology", "stem_en"),
        ("index_exact_words", "1"),
        ("index_sp", "1"),
    ];
    proptest::sample::select(vec![
        vec![],
        vec![("index_sp", "1")],
        stems[..1].to_vec(),
        stems.to_vec(),
    ])
}

fn open(settings: &[(&str, &str)], syntax: Syntax, seal_rows: u32) -> Driver {
    let options = Options {
        seal_rows,
        ..options(Arc::new(MemoryDisk::new()))
    };
    let mut driver = Driver::open(options, Now::default()).unwrap();
    for line in [
        "create search posts (title text, body text, n int)",
        "create search news (n int, title text, more string, body text)",
        "create queue hits (query_id bigint, doc_table varchar(8), doc_id bigint)",
        "create pq alerts on posts, news into hits",
    ] {
        let Command::CreateTable {
            mut definition,
            if_not_exists,
        } = command(line)
        else {
            panic!("{line}");
        };
        if matches!(definition.kind, Kind::Search(_)) {
            let mut analysis = Settings::default();
            for (name, value) in settings {
                assert_eq!(analysis.set(name, value), Some(Ok(())));
            }
            definition.analysis = analysis;
        }
        if let Kind::Percolate { syntax: of, .. } = &mut definition.kind {
            *of = syntax;
        }
        let asked = Command::CreateTable {
            definition,
            if_not_exists,
        };
        driver.run(asked).unwrap();
    }
    driver
}

/// Query, table, document.
type Pair = (u64, String, u64);

/// What a search for each of the queries finds.
fn found(driver: &Driver, queries: &[u64]) -> BTreeSet<Pair> {
    let snapshot = driver.handle.snapshot();
    let mut pairs = BTreeSet::new();
    for query in queries {
        let pieces = snapshot.backfill("alerts", *query, None, driver.now, &Arc::default());
        for piece in pieces.unwrap() {
            let ids = piece.ids.iter();
            pairs.extend(ids.map(|id| (*query, piece.on.clone(), *id)));
        }
    }
    pairs
}

/// The pairs in the queue of hits. None is there twice.
fn heard(driver: &mut Driver) -> BTreeSet<Pair> {
    let rows = read(driver, "read query_id, doc_table, doc_id from hits");
    let number = |value: &Value| value.to_string().parse().unwrap();
    let pairs: Vec<Pair> = rows
        .iter()
        .map(|row| (number(&row[0]), row[1].to_string(), number(&row[2])))
        .collect();
    let distinct: BTreeSet<Pair> = pairs.iter().cloned().collect();
    assert_eq!(distinct.len(), pairs.len(), "a hit twice");
    distinct
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn hits_are_what_a_search_for_the_query_finds(
        settings in settings(),
        (syntax, queries) in queries(),
        documents in proptest::collection::vec((any::<bool>(), text(), text(), 0..5i128), 1..10),
        again in proptest::collection::vec((any::<bool>(), text(), text(), 0..5i128), 0..4),
        seal_rows in seal_rows(),
    ) {
        let mut driver = open(&settings, syntax, seal_rows);
        let mut stored = Vec::new();
        for ((text, filters), id) in queries.iter().zip(1..) {
            let row = vec![
                Value::Int(id),
                Value::Str(text.clone()),
                Value::Str((*filters).to_owned()),
            ];
            match driver.run(insert("alerts", &["id", "query", "filters"], vec![row], false)) {
                Ok(_) => stored.push(id as u64),
                Err(Error::Query(_)) => {}
                Err(other) => prop_assert!(false, "{} {:?}", text, other),
            }
        }
        let put = |driver: &mut Driver, documents: &[(bool, String, String, i128)]| {
            for ((is_news, title, body, n), id) in documents.iter().zip(1..) {
                let table = if *is_news { "news" } else { "posts" };
                let row = vec![
                    Value::Int(id),
                    Value::Str(title.clone()),
                    Value::Str(body.clone()),
                    Value::Int(*n),
                ];
                driver.run(insert(table, &["id", "title", "body", "n"], vec![row], true)).unwrap();
            }
        };
        put(&mut driver, &documents);
        prop_assert_eq!(heard(&mut driver), found(&driver, &stored), "{:?} {:?} {:?}", settings, queries, documents);

        driver.run(command("delete hits where query_id > 0")).unwrap();
        put(&mut driver, &again);
        let is_again = |(_, table, id): &Pair| {
            let put = again.get(*id as usize - 1);
            put.is_some_and(|(is_news, ..)| (table == "news") == *is_news)
        };
        let want: BTreeSet<Pair> = found(&driver, &stored).into_iter().filter(is_again).collect();
        prop_assert_eq!(heard(&mut driver), want, "replaced: {:?} {:?} {:?}", settings, queries, again);
        let all = found(&driver, &stored);
        let driver = driver.reopen().unwrap();
        prop_assert_eq!(found(&driver, &stored), all, "after a restart");
    }
}

//! Laws over random commands. The engine gives the model's answers over any batches, seals and restarts. A search finds exactly
//! the documents that hit the same text as a standing query.

use std::collections::BTreeSet;
use std::sync::Arc;

use disk::MemoryDisk;
use engine::{Now, Options, PqAnswer, PqDocument, PqRequest, PqScratch, Reply};
use proptest::prelude::*;
use relation::expression::{BinaryOperator, Expression};
use relation::value::Value;

use crate::driver::{Driver, options};
use crate::model::Model;
use crate::statement::{Statement, command, options_of, parse};
use crate::workload::{
    Asked, adds_n, asked, body, cases, create_schema, dump, play, seal_rows, upserted, worded,
};

/// How the same commands may be run.
#[derive(Clone, Copy, Debug)]
struct Way {
    /// Commands in a batch.
    batch: usize,
    /// Rows of a tail that make a segment.
    seal_rows: u32,
    /// Batches between two restarts; 0: none.
    restart: usize,
}

fn open(seal_rows: u32) -> Driver {
    let options = Options {
        seal_rows,
        ..options(Arc::new(MemoryDisk::new()))
    };
    let mut driver = Driver::open(options, Now::default()).unwrap();
    create_schema(&mut driver);
    driver
}

/// Runs the commands one way, against the model.
fn check(asked: &[Asked], way: Way) -> Result<(), TestCaseError> {
    let mut driver = open(way.seal_rows);
    let mut model = Model::default();
    for (number, batch) in asked.chunks(way.batch).enumerate() {
        let answers = play(&mut driver, batch);
        for ((session, command), answer) in batch.iter().zip(answers) {
            let want = model.execute(*session, command);
            prop_assert_eq!(worded(answer), want, "{:?}", command);
        }
        prop_assert_eq!(dump(&mut driver), model.dump());
        if way.restart > 0 && number % way.restart == 0 {
            driver = driver.reopen().unwrap();
            model.restart();
            prop_assert_eq!(dump(&mut driver), model.dump(), "after a restart");
        }
    }
    Ok(())
}

#[test]
fn an_update_is_heard_with_its_new_values_and_its_hits_outlive_a_restart() {
    let asked = [
        "insert posts (id, body, n) values (1, 'a b', 1), (2, 'a', 2), (3, 'b', 3)",
        "insert news (id, body, n) values (1, 'a', 4)",
        "insert alerts (id, query, filters) values (1, 'a', 'n = 5'), (2, 'b', 'n = 1')",
        "insert watch (id, query, filters) values (1, 'a', 'n >= 5')",
        "insert loud (id, query, filters) values (1, 'a', '')",
        "update posts set n = n + 4 where id = 1",
        "update posts set n = n + 3 match 'a' where n < 9",
        "update news set n = n + 1 where n > 0",
        "update news set n = n + 0 where id = 1",
    ];
    let asked = asked.map(|line| (1, command(line)));
    for batch in [1, 2, asked.len()] {
        for seal_rows in [1, 1000] {
            let restart = 1;
            check(
                &asked,
                Way {
                    batch,
                    seal_rows,
                    restart,
                },
            )
            .unwrap();
        }
    }
    let mut driver = open(1000);
    play(&mut driver, &asked);
    let shown = dump(&mut driver).join("\n");
    for hit in [
        "1 | posts | 1 | a b | 5",
        "1 | posts | 2 | a | 5",
        "1 | news | 1 | a | 5",
    ] {
        assert!(shown.contains(hit), "{hit} is not in\n{shown}");
    }
}

#[test]
fn new_and_changed_rows_of_one_insert_hit_the_same_queue_and_table_and_outlive_a_restart() {
    let row = |id: i128, n: i128| {
        let body = Value::Str("a".to_owned());
        vec![Value::Int(id), body, Value::Int(n)]
    };
    let asked = [
        command("insert posts (id, body, n) values (1, 'a', 1)"),
        command("insert alerts (id, query, filters) values (1, 'a', '')"),
        command("insert watch (id, query, filters) values (1, 'a', '')"),
        command("insert loud (id, query, filters) values (1, 'a', '')"),
        upserted("posts", vec![row(1, 5), row(2, 5), row(3, 5)], adds_n()),
        upserted("posts", vec![row(1, 5), row(2, 5), row(2, 5)], adds_n()),
    ];
    let asked = asked.map(|command| (1, command));
    for batch in [1, asked.len()] {
        let (seal_rows, restart) = (2, 1);
        let way = Way {
            batch,
            seal_rows,
            restart,
        };
        check(&asked, way).unwrap();
    }
}

proptest! {
    #![proptest_config(cases(32))]

    #[test]
    fn answers_are_the_models_however_batched_sealed_and_restarted(
        asked in proptest::collection::vec(asked(), 1..40),
        batch in 1..8usize,
        seal_rows in seal_rows(),
        restart in 0..4usize,
    ) {
        check(&asked, Way { batch, seal_rows, restart })?;
    }

    #[test]
    fn a_seal_after_every_statement_changes_no_answer(asked in proptest::collection::vec(asked(), 1..30)) {
        check(&asked, Way { batch: 1, seal_rows: 1, restart: 0 })?;
    }

    #[test]
    fn every_split_into_two_batches_gives_the_same_answers(
        asked in proptest::collection::vec(asked(), 2..10),
    ) {
        for split in 1..asked.len() {
            let mut driver = open(1000);
            let mut model = Model::default();
            for batch in [&asked[..split], &asked[split..]] {
                for ((session, command), answer) in batch.iter().zip(play(&mut driver, batch)) {
                    prop_assert_eq!(worded(answer), model.execute(*session, command), "split {}", split);
                }
            }
            prop_assert_eq!(dump(&mut driver), model.dump());
        }
    }

    #[test]
    fn a_part_of_an_answer_is_that_part_of_the_whole(
        asked in proptest::collection::vec(asked(), 1..30),
        texts in proptest::collection::vec(body(), 0..6),
        page in 1..4u64,
        top in 0..3u32,
        split in 0..6usize,
    ) {
        let mut driver = open(3);
        for batch in asked.chunks(3) {
            play(&mut driver, batch);
        }
        let snapshot = driver.handle.snapshot();
        let documents: Vec<_> = texts.into_iter().map(PqDocument::Text).collect();
        let ask = |request: PqRequest<'_>| snapshot.call_pq(&request, &mut PqScratch::default()).unwrap();
        let request = PqRequest { weights: true, ..PqRequest::new("alerts", &documents) };
        let whole = pairs(&ask(request.clone()), 0);
        let queries: BTreeSet<u64> = whole.iter().map(|pair| pair.0).collect();

        let (mut paged, mut after) = (Vec::new(), None);
        loop {
            let answer = ask(PqRequest { after, limit: Some(page), ..request.clone() });
            prop_assert_eq!(answer.total, queries.len() as u64);
            let Some(last) = answer.hits.ids().map(|(id, _)| id).last() else { break };
            paged.extend(pairs(&answer, 0));
            after = Some(last);
        }
        prop_assert_eq!(&paged, &whole);

        let counted = ask(PqRequest { limit: Some(0), ..request.clone() });
        prop_assert_eq!((counted.total, counted.hits.len()), (queries.len() as u64, 0));

        let only = Expression::Binary(
            BinaryOperator::Less,
            Box::new(Expression::Column("id".to_owned())),
            Box::new(Expression::Literal(Value::Int(6))),
        );
        let answer = ask(PqRequest { only: Some(&only), ..request.clone() });
        let want: Vec<Pair> = whole.iter().copied().filter(|pair| pair.0 < 6).collect();
        prop_assert_eq!(pairs(&answer, 0), want);

        let answer = ask(PqRequest { top: Some(top), ..request.clone() });
        let is_best = |pair: &Pair| {
            let before = |other: &&Pair| other.1 == pair.1 && (other.2, pair.0) > (pair.2, other.0);
            whole.iter().filter(before).count() < top as usize
        };
        let want: Vec<Pair> = whole.iter().copied().filter(is_best).collect();
        prop_assert_eq!(pairs(&answer, 0), want);

        let (left, right) = documents.split_at(split.min(documents.len()));
        let left_answer = ask(PqRequest { documents: left, ..request.clone() });
        let right_answer = ask(PqRequest { documents: right, ..request });
        let mut both = pairs(&left_answer, 0);
        both.extend(pairs(&right_answer, left.len() as u32));
        both.sort_unstable();
        prop_assert_eq!(both, whole);
    }

    #[test]
    fn a_query_finds_the_documents_that_it_is_hit_by(asked in proptest::collection::vec(asked(), 1..30)) {
        let mut driver = open(3);
        for batch in asked.chunks(3) {
            play(&mut driver, batch);
        }
        let snapshot = driver.handle.snapshot();
        let posts = select(&snapshot, "select id, body, n from posts order by id limit 100000");
        let fields = |row: &Vec<Value>| {
            let names = ["id", "body", "n"].map(str::to_owned);
            PqDocument::Fields(names.into_iter().zip(row.iter().cloned()).collect())
        };
        let documents: Vec<_> = posts.iter().map(fields).collect();
        let request = PqRequest::new("alerts", &documents);
        let answer = snapshot.call_pq(&request, &mut PqScratch::default()).unwrap();
        let standing = read(&mut driver, "read id, query, filters from alerts");
        prop_assert_eq!(answer.queries_total as usize, standing.len());
        let mut by_query: std::collections::BTreeMap<String, Vec<String>> = std::collections::BTreeMap::new();
        for (query, hit) in answer.hits.rows() {
            let ids = hit.iter().map(|place| posts[*place as usize][0].to_string());
            by_query.insert(query.id.to_string(), ids.collect());
        }
        for row in standing {
            let [id, text, filters] = &row[..] else { panic!("{row:?}") };
            let condition = if filters.to_string().is_empty() { "1" } else { &filters.to_string() };
            let line = format!("select id from posts where {condition} order by id limit 1000");
            let Statement::Select(mut asked) = parse(&line) else {
                panic!("no select")
            };
            asked.matching = Some(text.to_string());
            let found: Vec<String> =
                rows(snapshot.select(&asked, &options_of(&asked), &engine::Control::default()).unwrap()).iter().map(|row| row[0].to_string()).collect();
            prop_assert_eq!(found, by_query.remove(&id.to_string()).unwrap_or_default(), "query {} {}", text, filters);
        }
    }
}

/// Query, document, weight.
type Pair = (u64, u32, u32);

/// The (query, document, weight) of an answer, with `shift` added to the number of each document.
fn pairs(answer: &PqAnswer, shift: u32) -> Vec<Pair> {
    let rows = answer.hits.ids();
    let pairs = rows.flat_map(|(id, hit)| hit.iter().map(move |document| (id, document + shift)));
    let pairs: Vec<_> = pairs.collect();
    assert_eq!(pairs.len(), answer.weights.len());
    let weighed = pairs.into_iter().zip(&answer.weights);
    weighed
        .map(|((id, document), weight)| (id, document, *weight))
        .collect()
}

/// Rows that the engine's thread reads.
pub fn read(driver: &mut Driver, line: &str) -> Vec<Vec<Value>> {
    match driver.run(command(line)).unwrap() {
        Reply::Rows(answer) => rows(answer),
        other => panic!("{other:?}"),
    }
}

pub fn select(snapshot: &engine::Snapshot, line: &str) -> Vec<Vec<Value>> {
    let Statement::Select(select) = parse(line) else {
        panic!("{line}")
    };
    rows(
        snapshot
            .select(&select, &options_of(&select), &engine::Control::default())
            .unwrap(),
    )
}

fn rows(answer: engine::Answer) -> Vec<Vec<Value>> {
    answer.rows.map(|row| row.unwrap()).collect()
}

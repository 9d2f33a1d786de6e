//! What must hold for any commands: the model's answers, whatever the batches, seals and restarts; and that a query
//! finds exactly the documents that it is hit by.

use std::sync::Arc;

use disk::MemoryDisk;
use engine::{Now, Options, PqDocument, PqRequest, PqScratch};
use proptest::prelude::*;

use crate::driver::{Driver, options};
use crate::model::Model;
use crate::statement::{Statement, parse};
use crate::workload::{Asked, asked, cases, create_schema, dump, play, worded};

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

proptest! {
    #![proptest_config(cases(32))]

    #[test]
    fn answers_are_the_models_however_batched_sealed_and_restarted(
        asked in proptest::collection::vec(asked(), 1..40),
        batch in 1..8usize,
        seal in prop_oneof![Just(1u32), Just(3), Just(1000)],
        restart in 0..4usize,
    ) {
        check(&asked, Way { batch, seal_rows: seal, restart })?;
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
    fn a_query_finds_the_documents_that_it_is_hit_by(asked in proptest::collection::vec(asked(), 1..30)) {
        let mut driver = open(3);
        for batch in asked.chunks(3) {
            play(&mut driver, batch);
        }
        let snapshot = driver.handle.snapshot();
        let posts = select(&snapshot, "select id, body from posts order by id limit 100000");
        let documents: Vec<_> = posts.iter().map(|row| PqDocument::Text(row[1].to_string())).collect();
        let answer = snapshot.call_pq(&PqRequest::new("alerts", &documents), &mut PqScratch::default()).unwrap();
        prop_assert_eq!(answer.queries_total as usize, dump(&mut driver).iter().filter(|line| line.starts_with("alerts")).count());
        let mut by_query: std::collections::BTreeMap<u64, Vec<String>> = std::collections::BTreeMap::new();
        for (query, hit) in answer.hits.rows() {
            let ids = hit.iter().map(|place| posts[*place as usize][0].to_string());
            by_query.insert(query.id, ids.collect());
        }
        for line in dump(&mut driver).iter().filter_map(|line| line.strip_prefix("alerts ")) {
            let (id, text) = line.split_once(" | ").unwrap();
            let Statement::Select(mut asked) = parse("select id from posts order by id limit 100000") else {
                panic!("no select")
            };
            asked.matching = Some(text.to_owned());
            let found: Vec<String> =
                rows(snapshot.select(&asked).unwrap()).iter().map(|row| row[0].to_string()).collect();
            prop_assert_eq!(found, by_query.remove(&id.parse().unwrap()).unwrap_or_default(), "query {}", text);
        }
    }
}

pub fn select(snapshot: &engine::Snapshot, line: &str) -> Vec<Vec<query::value::Value>> {
    let Statement::Select(select) = parse(line) else {
        panic!("{line}")
    };
    rows(snapshot.select(&select).unwrap())
}

fn rows(answer: engine::Answer) -> Vec<Vec<query::value::Value>> {
    answer.rows.map(|row| row.unwrap()).collect()
}

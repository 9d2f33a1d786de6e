//! The bound on matching steps: the engine refuses a statement whose documents cost the standing queries too many steps.

use std::sync::Arc;

use disk::MemoryDisk;
use engine::{
    Command, Dearest, Error, Interrupt, Now, PqDocument, PqRequest, PqScratch, Reason, Reply,
    WaitSource,
};
use relation::expression::{BinaryOperator, Expression};
use relation::value::Value;

use crate::driver::{Driver, options};
use crate::model::SCHEMA;
use crate::statement::{command, many};
use crate::workload::dump;

fn driver() -> Driver {
    let mut driver = Driver::open(options(Arc::new(MemoryDisk::new())), Now::default()).unwrap();
    for line in SCHEMA {
        run(&mut driver, line).unwrap();
    }
    driver
}

fn run(driver: &mut Driver, line: &str) -> Result<Reply, Error> {
    driver.run(command(line))
}

/// Stores `count` standing queries `a NEAR/x a NEAR/y a`, from id 1 on. Each looks at every `a` several times.
fn chains(driver: &mut Driver, count: usize) {
    let query = |n| format!("({n}, 'a NEAR/{} a NEAR/{} a')", 1 + n % 100, 1 + n / 100);
    let rows: Vec<String> = (1..=count).map(query).collect();
    run(
        driver,
        &format!("insert alerts (id, query) values {}", rows.join(", ")),
    )
    .unwrap();
}

fn post(id: u64, words: usize) -> Command {
    let text = "a ".repeat(words) + "b b b";
    command(&format!(
        "insert posts (id, body, n) values ({id}, '{text}', 0)"
    ))
}

#[test]
fn an_insert_that_costs_too_much_is_refused_whole_and_names_the_dearest_query() {
    let mut driver = driver();
    chains(&mut driver, 2_000);
    run(
        &mut driver,
        "insert posts (id, body, n) values (1, 'a a a', 0)",
    )
    .unwrap();
    let before = dump(&mut driver);
    let Err(Error::TooCostly {
        table,
        dearest: Some(Dearest { query, steps, row }),
        max,
    }) = driver.run(post(2, 8_000))
    else {
        panic!("the statement was done");
    };
    assert_eq!((table.as_str(), row), ("alerts", 1));
    assert!((1..=2_000).contains(&query) && steps > 8_000 && max > 1 << 21);
    assert_eq!(dump(&mut driver), before);
    driver.tick(1);
    assert_eq!(driver.handle.status().costly_total, 1);
    // Others are not touched, and without the queries the document is stored.
    run(
        &mut driver,
        "insert posts (id, body, n) values (3, 'a a a', 0)",
    )
    .unwrap();
    run(&mut driver, "delete alerts").unwrap();
    driver.run(post(2, 8_000)).unwrap();
}

#[test]
fn an_update_that_is_heard_changes_no_more_rows_than_the_bound_and_is_refused_whole() {
    let mut driver = driver();
    let rows = |from: usize, to: usize| {
        let rows: Vec<String> = (from..=to).map(|id| format!("({id}, 'a', 0)")).collect();
        format!("insert posts (id, body, n) values {}", rows.join(", "))
    };
    run(&mut driver, &rows(1, 10_001)).unwrap();
    run(
        &mut driver,
        "insert alerts (id, query, filters) values (1, 'a', 'n = 1')",
    )
    .unwrap();
    let before = dump(&mut driver);
    assert_eq!(
        run(&mut driver, "update posts set n = n + 1").err(),
        Some(Error::Limit {
            what: "rows of one UPDATE that a table with on_update= hears",
            max: 10_000,
        })
    );
    assert_eq!(dump(&mut driver), before);
    let done = run(&mut driver, "update posts set n = n + 1 where id <= 10000").unwrap();
    assert!(matches!(
        done,
        Reply::Done {
            affected: 10_000,
            ..
        }
    ));
    // Nobody hears the updates of this table any more.
    for table in ["loud", "watch", "alerts"] {
        run(&mut driver, &format!("drop {table}")).unwrap();
    }
    let done = run(&mut driver, "update posts set n = n + 1").unwrap();
    assert!(matches!(
        done,
        Reply::Done {
            affected: 10_001,
            ..
        }
    ));
}

#[test]
fn what_one_statement_may_cost_is_shared_by_its_members() {
    let mut driver = driver();
    chains(&mut driver, 40);
    let members = |count| many((1..=count).map(|id| post(id, 3_000)));
    driver.run(members(2)).unwrap();
    driver.run(command("delete posts")).unwrap();
    let Err(Error::InMany { index, error }) = driver.run(members(40)) else {
        panic!("the unit was done");
    };
    assert!(matches!(*error, Error::TooCostly { .. }), "{error}");
    assert!(index > 0);
    assert!(driver.run(post(1, 3_000)).is_ok(), "alone it is possible");
}

#[test]
fn a_thousand_documents_with_hundreds_of_hits_each_are_one_statement() {
    let mut driver = driver();
    let rows: Vec<String> = (1..=400)
        .map(|id| format!("({id}, 'cat{}')", id % 2))
        .collect();
    run(
        &mut driver,
        &format!("insert alerts (id, query) values {}", rows.join(", ")),
    )
    .unwrap();
    let rows: Vec<String> = (1..=1_000)
        .map(|id| format!("({id}, 'a cat1', 0)"))
        .collect();
    let insert = format!("insert posts (id, body, n) values {}", rows.join(", "));
    run(&mut driver, &insert).unwrap();
    driver.tick(1);
    assert_eq!(driver.handle.status().hits_total, 200_000);
}

#[test]
fn statements_are_refused_once_the_engine_is_to_end_and_the_end_comes() {
    let mut driver = driver();
    driver.handle.refuse_statements();
    let refused = run(&mut driver, "insert posts (id, body, n) values (1, 'a', 0)");
    assert_eq!(refused.err(), Some(Error::Stopped));
    assert!(driver.run(Command::Shutdown).is_ok());
}

#[test]
fn a_percolation_of_one_document_ends_when_it_is_stopped_or_a_query_costs_too_much() {
    let mut driver = driver();
    chains(&mut driver, 50);
    let documents = [PqDocument::Text("a ".repeat(2_000) + "b")];
    let (interrupt, snapshot) = (Interrupt::default(), driver.handle.snapshot());
    let request = PqRequest {
        interrupt: Some(&interrupt),
        ..PqRequest::new("alerts", &documents)
    };
    let mut scratch = PqScratch::default();
    assert!(snapshot.call_pq(&request, &mut scratch).is_ok());
    interrupt.stop(Reason::Time);
    let ended = snapshot.call_pq(&request, &mut scratch);
    assert_eq!(ended.map(|_| ()), Err(Error::OutOfTime));
    let dear = vec!["a"; 4_000].join(" ");
    run(
        &mut driver,
        &format!("insert alerts (id, query) values (7777, '\"{dear}\"')"),
    )
    .unwrap();
    let documents = [PqDocument::Text("a ".repeat(20_000))];
    let snapshot = driver.handle.snapshot();
    let ended = snapshot.call_pq(&PqRequest::new("alerts", &documents), &mut scratch);
    let Err(Error::TooCostly {
        dearest: Some(dearest),
        ..
    }) = ended
    else {
        panic!("it was done");
    };
    assert_eq!((dearest.query, dearest.row), (7_777, 1));
}

#[test]
fn the_memory_of_a_page_of_hits_is_that_of_all_hits_and_of_its_own_list() {
    let mut driver = driver();
    chains(&mut driver, 50);
    let documents = [PqDocument::Text("a ".repeat(500))];
    let snapshot = driver.handle.snapshot();
    let bytes = |limit| {
        let request = PqRequest {
            limit,
            ..PqRequest::new("alerts", &documents)
        };
        let answer = snapshot.call_pq(&request, &mut PqScratch::default());
        let hits = answer.unwrap().hits;
        (hits.len(), hits.bytes())
    };
    let (all, page) = (bytes(None), bytes(Some(49)));
    assert_eq!((all.0, page.0), (50, 49));
    assert!(page.1 > all.1 + 49 * 24, "{page:?} {all:?}");
}

/// A wait without patience for a row of the queue `jobs` whose `id` is this.
fn wait_for(id: i128) -> Command {
    let condition = Expression::Binary(
        BinaryOperator::Equal,
        Box::new(Expression::Column("id".to_owned())),
        Box::new(Expression::Literal(Value::Int(id))),
    );
    Command::QueueWait {
        sources: vec![WaitSource {
            condition: Some(condition),
            ..WaitSource::all("jobs")
        }],
        timeout_us: 0,
    }
}

#[test]
fn a_wait_that_asks_many_rows_leaves_turns_to_others_and_still_finds_its_row_or_none() {
    const ROWS: i128 = 60_000;
    let mut driver = driver();
    for first in (1..=ROWS).step_by(10_000) {
        let rows: Vec<String> = (first..first + 10_000)
            .map(|id| format!("({id})"))
            .collect();
        run(
            &mut driver,
            &format!("insert jobs (id) values {}", rows.join(", ")),
        )
        .unwrap();
    }
    for (session, id, found) in [(2, ROWS, 1), (3, ROWS + 2, 0), (4, ROWS + 1, 0)] {
        let asked = driver.ask(session, wait_for(id));
        assert!(asked.take().is_none(), "it goes on in later turns");
        let other = run(&mut driver, "insert posts (body, n) values ('a', 0)");
        assert!(other.is_ok(), "{other:?}");
        let answer = (0..100).find_map(|_| {
            driver.tick(1);
            asked.take()
        });
        let Some(Ok(Reply::Waited(place))) = answer else {
            panic!("{answer:?}")
        };
        assert_eq!(place, found);
    }
    assert_eq!(driver.handle.status().queue_timeouts_total, 2);
    // The rows were asked once: the same condition is answered at once.
    let again = driver.ask(3, wait_for(ROWS + 2)).take();
    assert!(matches!(again, Some(Ok(Reply::Waited(0)))), "{again:?}");
}

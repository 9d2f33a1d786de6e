//! The benchmarks against the real server: each door gives the pairs that the matcher gives in process.

use bench::{Batch, Effort, Outcome, percolate, queue, select};
use percolate::{Door, Options, Target};

use crate::server::Server;

/// Ten posts with words that queries can be drawn from.
fn posts() -> Vec<u8> {
    let words = ["harbour", "lantern", "granite", "thicket", "compass"];
    let filler: Vec<String> = (0..100).map(|number| format!("w{number}")).collect();
    let filler = filler.join(" ");
    let line = |number: usize| {
        let word = |step: usize| words[(number * step + number / 5) % words.len()];
        let (a, b, c) = (word(1), word(2), word(3));
        format!(
            "{{\"body\": \"{filler} {a} {b} it's {c}\", \"sub\": \"s{}\", \"ts\": \"2009-02-13 23:31:30\", \"score\": {number}}}\n",
            number % 3
        )
    };
    (0..10)
        .flat_map(|number| line(number).into_bytes())
        .collect()
}

fn options(definition: &str, door: Door, addr: &str) -> Options {
    let server = bench::Server {
        addr: addr.to_owned(),
        user: "test".to_owned(),
        password: String::new(),
    };
    Options {
        definition: definition.to_owned(),
        posts: posts(),
        from: 1,
        limit: None,
        place: Target::Server(door, server),
        own_count: false,
        batches: vec![Batch::Of(1), Batch::Of(7)],
        concurrencies: vec![2],
        changes: None,
        tag: None,
        effort: Effort {
            runs: 1,
            seconds_min: 0.0,
            progress: false,
        },
    }
}

/// What every cell counted, which must be something.
fn counted(outcome: &Outcome) -> Vec<f64> {
    let facts = outcome.cells.iter().flat_map(|cell| &cell.facts);
    let counts = facts.filter(|(name, _)| *name == "matches/doc");
    let counts: Vec<f64> = counts.map(|(_, count)| *count).collect();
    assert!(counts.iter().all(|count| *count > 0.0), "{counts:?}");
    counts
}

#[test]
fn call_pq_the_compact_answer_and_elasticsearchs_give_the_pairs_of_the_matcher() {
    let server = Server::start();
    let by_sql = options("selective-10k", Door::Mysql, server.mysql());
    let wanted = counted(&percolate::run(&by_sql).unwrap());
    for door in [Door::HttpBinary, Door::Elasticsearch] {
        let asked = options("selective-10k", door, server.http());
        assert_eq!(counted(&percolate::run(&asked).unwrap()), wanted, "{door}");
    }
}

#[test]
fn queries_that_are_replaced_while_documents_are_matched_are_never_missed() {
    let server = Server::start();
    let asked = Options {
        changes: Some(1_000),
        ..options("selective-10k", Door::Mysql, server.mysql())
    };
    assert_eq!(counted(&percolate::run(&asked).unwrap()).len(), 4);
}

#[test]
fn every_queue_test_gets_back_what_it_put_through_both_doors() {
    let server = Server::start();
    let contender = |door| queue::Contender {
        name: format!("seine-{door}"),
        door,
        server: bench::Server {
            addr: server.mysql().to_owned(),
            user: "test".to_owned(),
            password: String::new(),
        },
    };
    let tests = "multireader multirw multiwait puts latency waiters mixed batches-put";
    let outcome = queue::run(&queue::Options {
        tests: tests.split(' ').map(str::to_owned).collect(),
        contenders: vec![
            contender(queue::Door::Statements),
            contender(queue::Door::Call),
        ],
        clients: Some(8),
        messages: Some(80),
        length: Some(5),
        posts: posts(),
        data: None,
        tag: None,
        effort: Effort {
            runs: 1,
            seconds_min: 0.05,
            progress: false,
        },
    })
    .unwrap();
    assert_eq!(outcome.cells.len(), 18);
    assert!(outcome.cells.iter().all(|cell| cell.elements > 0));
}

#[test]
fn every_form_of_select_answers_with_the_rows_of_the_list() {
    let server = Server::start();
    let ours = bench::Server {
        addr: server.mysql().to_owned(),
        user: "test".to_owned(),
        password: String::new(),
    };
    let report = select::run(&select::Options {
        server: ours,
        peers: Vec::new(),
        forms: Vec::new(),
        sizes: vec![1, 60],
        rows: 200,
        keep: false,
        posts: posts(),
        timeout: std::time::Duration::from_secs(60),
        tag: None,
        effort: Effort {
            runs: 1,
            seconds_min: 0.0,
            progress: false,
        },
    })
    .unwrap();
    let untimed: Vec<_> = report.untimed().collect();
    assert_eq!((report.cells.len(), untimed), (32, Vec::new()));
}

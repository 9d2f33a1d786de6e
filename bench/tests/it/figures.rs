//! The benchmarks against the real server: each door gives the pairs that the matcher gives in process.

use bench::{Batch, Effort, Error, Outcome, percolate, queue, select, statements, touch};
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
fn touches_and_the_same_rows_inserted_are_there_as_they_were_acknowledged() {
    let server = Server::start();
    let options = touch::Options {
        server: bench::Server {
            addr: server.mysql().to_owned(),
            user: "test".to_owned(),
            password: String::new(),
        },
        http: server.http().to_owned(),
        connections: 4,
        data: None,
        effort: Effort {
            runs: 2,
            seconds_min: 0.05,
            progress: false,
        },
    };
    let outcome = touch::run(&options).unwrap();
    let names: Vec<&str> = outcome.cells.iter().map(|cell| &*cell.name).collect();
    assert_eq!(names, ["POST /touch", "POST /insert"]);
    assert!(outcome.cells.iter().all(|cell| cell.elements > 0));
    let mut client = client::Client::connect(server.mysql(), "test", "").unwrap();
    client
        .query("INSERT INTO touches (visitor, source) VALUES ('v', 'google')")
        .unwrap();
    let refused = touch::run(&options).unwrap_err();
    assert!(refused.to_string().contains("has rows"), "{refused}");
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

/// Statements against a server with the rows 1 to 3 in a table `t`.
fn asked(server: &Server, texts: &[&str]) -> statements::Options {
    let create = "DROP TABLE IF EXISTS t; CREATE TABLE t (body text, n int)";
    let rows = "INSERT INTO t (id, body, n) VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3)";
    for statement in [create, rows] {
        server.client().query(statement).unwrap();
    }
    statements::Options {
        server: bench::Server {
            addr: server.mysql().to_owned(),
            user: "test".to_owned(),
            password: String::new(),
        },
        statements: texts.iter().map(|text| (*text).to_owned()).collect(),
        connections: vec![2],
        is_once: false,
        tag: None,
        effort: Effort {
            runs: 1,
            seconds_min: 0.05,
            progress: false,
        },
    }
}

fn answers(outcome: &Outcome) -> &str {
    let note = outcome
        .notes
        .iter()
        .find(|note| note.starts_with("answers"));
    note.unwrap()
}

#[test]
fn statements_tell_rows_and_their_order_by_a_sum_of_their_answers() {
    let server = Server::start();
    let rising = "SELECT id, n FROM t ORDER BY id ASC";
    let sum = |texts: &[&str]| {
        let outcome = statements::run(&asked(&server, texts)).unwrap();
        assert!(outcome.cells[0].elements > 0);
        answers(&outcome).to_owned()
    };
    assert_eq!(sum(&[rising, "SELECT 1"]), sum(&[rising, "SELECT 1"]));
    for other in [
        "SELECT id, n FROM t ORDER BY id DESC",
        "SELECT id FROM t ORDER BY id ASC",
    ] {
        assert_ne!(sum(&[rising]), sum(&[other]), "{other}");
    }
}

#[test]
fn a_statement_that_answers_otherwise_than_at_first_is_no_figure() {
    let server = Server::start();
    let refused = statements::run(&asked(&server, &["SELECT 1", "SELECT CONNECTION_ID()"]));
    assert!(
        matches!(refused, Err(Error::OtherAnswer { query: 2 })),
        "{refused:?}"
    );
}

#[test]
fn statements_that_are_sent_once_are_sent_once() {
    let server = Server::start();
    let row = |id: u32| format!("INSERT INTO t (id, body, n) VALUES ({id}, 'd', {id})");
    let texts: Vec<String> = (4..100).map(row).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let once = statements::Options {
        is_once: true,
        ..asked(&server, &texts)
    };
    let outcome = statements::run(&once).unwrap();
    assert_eq!(outcome.cells[0].elements, 96);
    let rows = server
        .client()
        .query("SELECT COUNT(*) FROM t")
        .unwrap()
        .rows;
    assert_eq!(rows, [[Some(b"99".to_vec())]]);
}

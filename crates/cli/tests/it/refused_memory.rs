//! Memory that is refused, in statements of every kind, at a server of the least `--memory`: the statement ends with its error, the
//! connection and the server go on, and all that the statement had is free again.

use client::{Client, ClientError};
use wire::scribe::ResultCode;

use crate::scribe_door::Scribe;
use crate::server::{Server, Setup, request, until};

/// Rows of table `t`. Each has a text of 64 bytes.
const ROWS: usize = 6_000;

/// Makes a statement or a body.
type Made = fn() -> String;

/// What asks for more than there is, the number of its error, and how: 1038 is what `search_memory` bounds, 1040 what may fit later,
/// 1105 what never will.
const STATEMENTS: &[(&str, u16, Made)] = &[
    ("a sort by wide keys", 1038, || {
        "SELECT id FROM t ORDER BY REPEAT(s, 100) ASC, n ASC LIMIT 6000 OPTION max_matches=6000"
            .to_owned()
    }),
    ("rows that are wide", 1038, || {
        "SELECT id, REPEAT(s, 100) AS w FROM t ORDER BY w ASC LIMIT 6000 OPTION max_matches=6000"
            .to_owned()
    }),
    ("groups", 1038, || {
        "SELECT COUNT(*) AS c FROM t GROUP BY CONCAT(n, REPEAT(s, 100)) LIMIT 6000".to_owned()
    }),
    ("COUNT(DISTINCT)", 1038, || {
        "SELECT COUNT(DISTINCT CONCAT(n, REPEAT(s, 100))) AS c FROM t".to_owned()
    }),
    ("GROUP_CONCAT", 1038, || {
        "SELECT n % 10 AS g, GROUP_CONCAT(REPEAT(s, 1000)) AS w FROM t GROUP BY g".to_owned()
    }),
    ("a join", 1038, || {
        "SELECT a.id, REPEAT(b.s, 100) AS w FROM t a JOIN t b ON a.n = b.n ORDER BY w ASC LIMIT 6000".to_owned()
    }),
    ("UNION", 1105, || {
        "(SELECT CONCAT(n, REPEAT(s, 100)) AS w FROM t LIMIT 6000) UNION ALL (SELECT CONCAT(n, REPEAT(s, 100)) FROM t LIMIT 6000) ORDER BY w ASC".to_owned()
    }),
    ("FACET", 1038, || {
        "SELECT id FROM t LIMIT 1 FACET CONCAT(n, REPEAT(s, 100)) LIMIT 6000".to_owned()
    }),
    ("an IN list", 1105, || {
        format!("SELECT id FROM t WHERE n IN ({}1)", "1,".repeat(1_000_000))
    }),
    ("OR without end", 1105, || {
        format!(
            "SELECT id FROM t WHERE {}n=1",
            "n=1 OR id=1 OR ".repeat(150_000)
        )
    }),
    ("INSERT of short rows", 1105, || {
        format!("INSERT INTO k (n) VALUES {}(1)", "(1),".repeat(500_000))
    }),
    ("INSERT of a long text", 1105, || {
        format!("INSERT INTO t (s) VALUES ('{}')", "a".repeat(12_000_000))
    }),
    ("INSERT … SELECT", 1105, || {
        "INSERT INTO k (s) SELECT REPEAT(s, 100) FROM t".to_owned()
    }),
    ("UPDATE", 1038, || {
        "UPDATE t SET s = REPEAT(s, 200) WHERE n >= 0".to_owned()
    }),
    ("UPDATE of a document", 1038, || {
        "UPDATE t SET j.a = REPEAT(s, 200) WHERE n >= 0".to_owned()
    }),
    ("DELETE", 1105, || {
        format!("DELETE FROM t WHERE n IN ({}1)", "1,".repeat(1_000_000))
    }),
    ("a temporary table", 1105, || {
        "CREATE TEMPORARY TABLE w SELECT REPEAT(s, 100) AS w FROM t".to_owned()
    }),
    ("CALL PQ", 1105, || {
        format!(
            "CALL PQ('p', ({}'a'), 0 AS docs_json)",
            "'a',".repeat(400_000)
        )
    }),
    ("REPLACE of texts in texts", 1038, || {
        "SELECT id FROM t ORDER BY REPLACE(REPEAT(s, 20), 'a', 'aaaaaaaa') DESC LIMIT 6000 OPTION max_matches=6000".to_owned()
    }),
    ("a sub-select", 1105, || {
        "SELECT * FROM (SELECT REPEAT(s, 100) AS w FROM t LIMIT 6000) ORDER BY w ASC".to_owned()
    }),
];

/// The same over HTTP. The errors of all say that memory is short.
const BODIES: &[(&str, Made)] = &[
    ("POST /sql?mode=raw", || {
        "SELECT id FROM t ORDER BY REPEAT(s, 100) ASC LIMIT 6000 OPTION max_matches=6000".to_owned()
    }),
    ("POST /search", || {
        let list = "1,".repeat(1_000_000);
        format!("{{\"table\":\"t\",\"query\":{{\"in\":{{\"n\":[{list}1]}}}}}}")
    }),
    ("POST /insert", || {
        let list = "[],".repeat(200_000);
        format!("{{\"table\":\"t\",\"doc\":{{\"j\":[{list}1]}}}}")
    }),
    ("POST /pq/p/search", || {
        let documents = "{\"body\":\"a\"},".repeat(100_000);
        format!("{{\"query\":{{\"percolate\":{{\"documents\":[{documents}{{}}]}}}}}}")
    }),
    ("POST /es/_search", || {
        let documents = "{\"body\":\"a\"},".repeat(100_000);
        format!(
            "{{\"query\":{{\"percolate\":{{\"field\":\"query\",\"documents\":[{documents}{{}}]}}}}}}"
        )
    }),
    ("POST /es/_bulk", || {
        let query = format!(
            "{{\"query\":{{\"terms\":{{\"n\":[{}1]}}}}}}",
            "1,".repeat(1_000_000)
        );
        format!("{{\"index\":{{\"_id\":\"1\"}}}}\n{query}\n")
    }),
];

fn server() -> Server {
    let server = Setup::default()
        .flag("--memory", "64MiB")
        .variable("SEINE_SEARCH_MEMORY", "8MiB")
        .start();
    let mut client = server.client();
    for statement in [
        "CREATE TABLE t (body text, n int, s string, j json)",
        "CREATE TABLE k (n int, s string)",
        "CREATE TABLE p (body text) type='pq'",
        "INSERT INTO p (query) VALUES ('a')",
    ] {
        client.query(statement).unwrap();
    }
    let text = "a".repeat(64);
    for first in (1..=ROWS).step_by(1_000) {
        let rows: Vec<String> = (first..first + 1_000)
            .map(|id| format!("({id},'a',{id},'{text}','{{}}')"))
            .collect();
        let rows = rows.join(",");
        client
            .query(&format!("INSERT INTO t (id, body, n, s, j) VALUES {rows}"))
            .unwrap();
    }
    client.query("FLUSH TABLE t").unwrap();
    let mapping = "{\"mappings\":{\"properties\":{\"query\":{\"type\":\"percolator\"},\"body\":{\"type\":\"text\"},\"n\":{\"type\":\"long\"}}}}";
    let (status, reply) = request(server.http(), "PUT /es", "", mapping.as_bytes());
    assert_eq!(status, 200, "{reply}");
    server
}

/// Waits until requests hold nothing.
#[track_caller]
fn all_is_free(server: &Server) {
    until("all memory of requests is free", || {
        (server.requests_hold() == 0).then_some(())
    });
}

#[track_caller]
fn goes_on(server: &Server, client: &mut Client) {
    all_is_free(server);
    let counted = client
        .query("SELECT COUNT(*) FROM t WHERE s LIKE 'aa%'")
        .unwrap();
    assert_eq!(counted.rows[0][0], Some(ROWS.to_string().into_bytes()));
}

/// The expressions of standing queries are of the memory that the queries take, not of that of requests, which is a quarter.
#[test]
fn standing_queries_with_expressions_are_stored_as_long_as_they_fit() {
    let server = Setup::default().flag("--memory", "64MiB").start();
    let mut client = server.client();
    client
        .query("CREATE TABLE p (body text, s string) type='pq'")
        .unwrap();
    let insert = |rows: std::ops::Range<usize>| {
        let filter =
            |row| format!("({row}, 'w', 'REGEX(s, ''(a|b|ab){{1,60}}(c|d){{1,60}}{row}'')')");
        let rows: Vec<String> = rows.map(filter).collect();
        format!(
            "INSERT INTO p (id, query, filters) VALUES {}",
            rows.join(", ")
        )
    };
    let refused = client.query(&insert(1..4_000)).map(drop).unwrap_err();
    assert!(refused.to_string().contains("1105"), "{refused}");
    client.query(&insert(1..700)).unwrap();
    let count = client.query("SELECT COUNT(*) FROM p").unwrap();
    assert_eq!(count.rows[0][0], Some(b"699".to_vec()));
}

#[test]
fn memory_that_a_statement_is_refused_ends_it_and_is_free_again() {
    let server = server();
    let mut client = server.client();
    for (name, number, statement) in STATEMENTS {
        match client.query_sets(&statement()) {
            Err(ClientError::Server(error)) => assert_eq!(error.code, *number, "{name}: {error}"),
            other => panic!("{name}: {other:?}"),
        }
        goes_on(&server, &mut client);
    }
    for (head, body) in BODIES {
        let (status, reply) = request(server.http(), head, "", body().as_bytes());
        assert!(
            status >= 400 && reply.contains("memory"),
            "{head}: {status}: {reply}"
        );
        goes_on(&server, &mut client);
    }
    let mut scribe = Scribe::connect(&server);
    let text = vec![b'a'; 12 << 20];
    let refused = scribe.refused_log(&[(b"web", &text)]);
    assert!(refused.contains("memory"), "{refused}");
    goes_on(&server, &mut client);
    assert_eq!(
        Scribe::connect(&server).try_log(&[(b"web", b"b")]),
        Some(ResultCode::Ok)
    );
}

//! What strangers nest, as deep as it may be and deeper, at every door: an answer or an error that says so, and never the end of the
//! process. Each walk over a stranger's input that calls itself stands in [`SHAPES`] or [`WALKS`], or is tested beside its code where
//! no door leads to it: Thrift's (`wire::scribe::walk`) and Scribe's configuration (`collect::config`) keep their levels in lists.
//!
//! The server's threads have three quarters of the stack that they have elsewhere, in a build without optimisation. What fits here
//! has room there.

use client::{Client, ClientError};

use crate::server::{Server, Setup, request};

/// Stack of every thread of the server, in bytes. The threads of a server that nobody has told otherwise have 2 MiB.
const STACK_BYTES: u64 = 3 << 19;

/// A depth that no text may have.
const FAR_TOO_DEEP: usize = 5_000;

/// An expression that is nested: what comes before each level, the innermost, what comes behind each level, and the number of levels
/// behind WHERE. Elsewhere it may be one or two less.
const SHAPES: &[(&str, &str, &str, usize)] = &[
    ("(", "n", ")", 100),
    ("NOT ", "n", "", 99),
    ("-", "n", "", 99),
    ("~", "n", "", 99),
    ("!", "n", "", 99),
    ("n+(", "n", ")", 50),
    ("", "n", "+n", 99),
    ("n=1 OR (n=2 AND ", "n=3", ")", 48),
    ("n BETWEEN 0 AND (", "n", ")", 50),
    ("n IN (1,2) AND NOT (", "n", ")", 33),
    ("(", "n", ") IS NULL", 99),
    ("(", "s", ") LIKE 'a%'", 99),
    ("(", "s", ") REGEXP 'a+b'", 99),
    ("ABS(", "n", ")", 50),
    ("IF(n,1,", "n", ")", 50),
    ("COALESCE(NULL,", "n", ")", 50),
    ("CONCAT('a',", "s", ")", 50),
    ("CASE WHEN n THEN 1 ELSE ", "n", " END", 50),
    ("CASE n WHEN 1 THEN ", "n", " END", 50),
    ("ANY(x=1 OR ", "x=2", " FOR x IN j.list)", 33),
    ("IN(", "n", ",1,2)", 50),
    ("INTERVAL(", "n", ",1,2)", 50),
];

/// Where an expression may stand: what comes before it, and what behind.
const PLACES: &[(&str, &str)] = &[
    ("SELECT id FROM t WHERE ", ""),
    ("SELECT id, (", ") AS e FROM t"),
    ("SELECT id FROM t ORDER BY ", " ASC"),
    ("SELECT COUNT(*) AS c FROM t GROUP BY ", ""),
    ("SELECT id FROM t FACET ", ""),
    ("SELECT t.id FROM t JOIN u ON t.n = u.k WHERE ", ""),
    ("SELECT t.id FROM t LEFT JOIN u ON t.n = u.k ORDER BY ", ""),
    ("SELECT id FROM (SELECT id FROM t WHERE ", ") LIMIT 5"),
    (
        "SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM \
         (SELECT id FROM t WHERE ",
        ")))))))) LIMIT 5",
    ),
    ("SELECT id FROM t UNION SELECT id FROM t WHERE ", ""),
    ("EXPLAIN SELECT id FROM t WHERE ", ""),
    ("DELETE FROM t WHERE id = 99 AND ", ""),
    ("DELETE FROM t WHERE s = 'none' AND ", ""),
    ("UPDATE t SET n = ", " WHERE id = 1"),
    ("UPDATE t SET j.list[0] = 1 WHERE n = -5 AND ", ""),
    (
        "INSERT INTO t (id, n) VALUES (1, 1) ON DUPLICATE KEY UPDATE n = ",
        "",
    ),
    ("SELECT n FROM q WHERE ", ""),
    ("DELETE FROM q WHERE s = 'none' AND ", ""),
];

/// What else is nested, at which door, and the depth that it may have.
const WALKS: &[Walk] = &[
    Walk {
        name: "an array in INSERT",
        door: Door::Sql(|depth| {
            let array = nested("[", "1", "]", depth);
            format!("REPLACE INTO t (id, j) VALUES (2, '{array}')")
        }),
        deepest: 64,
    },
    Walk {
        name: "an object whose members are put in order, in INSERT",
        door: Door::Sql(|depth| {
            let object = nested("{\"b\":1,\"a\":", "2", "}", depth);
            format!("REPLACE INTO t (id, j) VALUES (3, '{object}')")
        }),
        deepest: 64,
    },
    Walk {
        name: "a path that is set",
        door: Door::Sql(|depth| format!("UPDATE t SET j{} = 7 WHERE id = 4", ".a".repeat(depth))),
        deepest: 64,
    },
    Walk {
        name: "a document at POST /insert",
        door: Door::Http("POST /insert", |depth| {
            let object = nested("{\"a\":", "1", "}", depth);
            format!("{{\"table\":\"t\",\"id\":0,\"doc\":{{\"j\":{object}}}}}")
        }),
        deepest: 64,
    },
    Walk {
        name: "brackets in MATCH",
        door: Door::Sql(|depth| found(&nested("(", "a", ")", depth))),
        deepest: 64,
    },
    Walk {
        name: "exclusions in MATCH",
        door: Door::Sql(|depth| found(&nested("a -(", "b", ")", depth))),
        deepest: 32,
    },
    Walk {
        name: "a chain of NEAR in MATCH",
        door: Door::Sql(|depth| found(&nested("", "a", " NEAR/3 b", depth))),
        deepest: 255,
    },
    Walk {
        name: "a chain of MAYBE in MATCH",
        door: Door::Sql(|depth| found(&nested("", "a", " MAYBE b", depth))),
        deepest: 255,
    },
    Walk {
        name: "groups of a regular expression",
        door: Door::Sql(|depth| {
            let groups = nested("(", "a", ")", depth);
            format!("SELECT id FROM t WHERE s REGEXP '{groups}'")
        }),
        deepest: 250,
    },
    Walk {
        name: "sub-selects",
        door: Door::Sql(|depth| nested("SELECT * FROM (", "SELECT id FROM t", ")", depth)),
        deepest: 8,
    },
    Walk {
        name: "brackets of a standing query",
        door: Door::Sql(|depth| standing(&nested("(", "a", ")", depth), "")),
        deepest: 64,
    },
    Walk {
        name: "a chain of NEAR of a standing query",
        door: Door::Sql(|depth| standing(&nested("", "a", " NEAR/3 b", depth), "")),
        deepest: 255,
    },
    Walk {
        name: "the filter of a standing query",
        door: Door::Sql(|depth| standing("a", &nested("NOT (", "n=1", ")", depth))),
        deepest: 49,
    },
    Walk {
        name: "a document of CALL PQ",
        door: Door::Sql(|depth| {
            let value = nested("[", "1", "]", depth);
            format!("CALL PQ('p', '{{\"body\":\"a b\",\"n\":1,\"x\":{value}}}', 1 AS docs_json)")
        }),
        deepest: 126,
    },
    Walk {
        name: "bool of POST /search",
        door: Door::Http("POST /search", |depth| {
            let query = nested(
                "{\"bool\":{\"must\":[",
                "{\"match\":{\"body\":\"a\"}}",
                "]}}",
                depth,
            );
            format!("{{\"table\":\"t\",\"query\":{query}}}")
        }),
        deepest: 41,
    },
    Walk {
        name: "filters of POST /search",
        door: Door::Http("POST /search", |depth| {
            let (is, not) = (
                "{\"equals\":{\"n\":3}}",
                "{\"bool\":{\"must_not\":[{\"bool\":{\"must\":[",
            );
            let before = format!("{not}{}", format!("{is},").repeat(64));
            let query = nested(&before, is, "]}}]}}", depth);
            format!("{{\"table\":\"t\",\"query\":{query}}}")
        }),
        deepest: 20,
    },
    Walk {
        name: "aggregations of POST /search",
        door: Door::Http("POST /search", |depth| {
            let part = |at| {
                let own = format!("{{\"field\":\"n\",\"interval\":{}}}", at + 1);
                format!("{{\"a\":{{\"histogram\":{own},\"aggs\":")
            };
            let parts: String = (0..depth).map(part).collect();
            let parts = parts + "{\"a\":{\"max\":{\"field\":\"n\"}}}" + &"}}".repeat(depth);
            format!("{{\"table\":\"t\",\"query\":{{\"match_all\":{{}}}},\"aggs\":{parts}}}")
        }),
        deepest: 8,
    },
    Walk {
        name: "bool of Elasticsearch's standing queries",
        door: Door::Http("PUT /es/_doc/1", |depth| {
            let query = nested(
                "{\"bool\":{\"must\":[",
                "{\"match\":{\"body\":\"a\"}}",
                "]}}",
                depth,
            );
            format!("{{\"query\":{query}}}")
        }),
        deepest: 41,
    },
    Walk {
        name: "brackets of Lucene's language",
        door: Door::Http("PUT /es/_doc/2", |depth| {
            let text = nested("(", "a", ")", depth);
            format!("{{\"query\":{{\"query_string\":{{\"query\":\"{text}\"}}}}}}")
        }),
        deepest: 64,
    },
    Walk {
        name: "brackets of Lucene's simple language",
        door: Door::Http("PUT /es/_doc/3", |depth| {
            let text = nested("(", "a", ")", depth);
            format!("{{\"query\":{{\"simple_query_string\":{{\"query\":\"{text}\"}}}}}}")
        }),
        deepest: 64,
    },
    Walk {
        name: "bool of _search",
        door: Door::Http("POST /es/_search", |depth| {
            let percolate = "{\"percolate\":{\"field\":\"query\",\"document\":{\"body\":\"a\"}}}";
            let query = nested("{\"bool\":{\"must\":[", percolate, "]}}", depth);
            format!("{{\"query\":{query}}}")
        }),
        deepest: 41,
    },
    Walk {
        name: "a document of _search",
        door: Door::Http("POST /es/_search", |depth| {
            let document = nested("{\"o\":", "{\"body\":\"a\"}", "}", depth);
            let percolate = format!("{{\"field\":\"query\",\"document\":{document}}}");
            format!("{{\"query\":{{\"percolate\":{percolate}}}}}")
        }),
        deepest: 123,
    },
];

/// Something that is nested.
struct Walk {
    name: &'static str,
    door: Door,
    deepest: usize,
}

/// Makes a request of a depth.
enum Door {
    Sql(fn(usize) -> String),
    /// What stands in the head of the request.
    Http(&'static str, fn(usize) -> String),
}

fn nested(before: &str, innermost: &str, behind: &str, depth: usize) -> String {
    before.repeat(depth) + innermost + &behind.repeat(depth)
}

fn found(query: &str) -> String {
    format!("SELECT id, WEIGHT() FROM t WHERE MATCH('{query}') OPTION ranker=proximity_bm25")
}

fn standing(query: &str, filter: &str) -> String {
    format!("REPLACE INTO p (id, query, filters) VALUES (1, '{query}', '{filter}')")
}

fn server() -> Server {
    let stack = STACK_BYTES.to_string();
    let server = Setup::default().variable("RUST_MIN_STACK", &stack).start();
    let mut client = server.client();
    for statement in [
        "CREATE TABLE t (body text, n int, s string, j json)",
        "CREATE TABLE u (k int)",
        "CREATE TABLE q (n int, s varchar(20), j json) ENGINE=QUEUE",
        "CREATE TABLE p (body text, n int) type='pq'",
        "INSERT INTO t (id, body, n, s, j) VALUES (1, 'a b a b', 3, 'ab', '{\"list\":[1,2]}'), (4, 'b', 1, '', '{}')",
        "FLUSH TABLE t",
        "INSERT INTO t (id, body, n, s) VALUES (7, 'a a b', 1, 'b')",
        "INSERT INTO u (id, k) VALUES (1, 3), (2, 1)",
        "INSERT INTO q (n, s) VALUES (1, 'ab'), (2, 'b')",
    ] {
        client
            .query(statement)
            .unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
    // A path of 63 levels is there.
    let object = nested("{\"a\":", "{}", "}", 63);
    client
        .query(&format!("UPDATE t SET j = '{object}' WHERE id = 4"))
        .unwrap();
    let mapping = "{\"mappings\":{\"properties\":{\"query\":{\"type\":\"percolator\"},\"body\":{\"type\":\"text\"}}}}";
    let (status, reply) = request(server.http(), "PUT /es", "", mapping.as_bytes());
    assert_eq!(status, 200, "{reply}");
    server
}

/// The error of a request; `None`: it was answered.
fn refusal(server: &Server, client: &mut Client, door: &Door, depth: usize) -> Option<String> {
    match door {
        Door::Sql(statement) => refusal_of(client, &statement(depth)),
        Door::Http(head, body) => {
            let (status, reply) = request(server.http(), head, "", body(depth).as_bytes());
            (status >= 400).then_some(reply)
        }
    }
}

#[track_caller]
fn refusal_of(client: &mut Client, statement: &str) -> Option<String> {
    match client.query_sets(statement) {
        Ok(_) => None,
        Err(ClientError::Server(error)) => Some(error.to_string()),
        Err(other) => panic!(
            "{} … {}: {other}",
            &statement[..statement.len().min(200)],
            &statement[statement.len().saturating_sub(300)..]
        ),
    }
}

/// Whether an error says that something is nested too deep, or that what is nested is too long.
fn says_so(error: &str) -> bool {
    [
        "deep",
        "recursion limit",
        "nest",
        "sub-selects",
        "levels of",
        "Bad JSON",
        "longer than",
    ]
    .iter()
    .any(|words| error.contains(words))
}

#[test]
fn expressions_may_be_as_deep_as_the_limit_wherever_they_stand() {
    let server = server();
    let mut client = server.client();
    for (start, end) in PLACES {
        for (before, innermost, behind, most) in SHAPES {
            let statement = |depth| {
                let expression = nested(before, innermost, behind, depth);
                format!("{start}{expression}{end}")
            };
            let mut error = |depth| refusal_of(&mut client, &statement(depth));
            for depth in [most + 1, FAR_TOO_DEEP] {
                let error = error(depth);
                assert!(
                    error.as_deref().is_some_and(says_so),
                    "{}: {error:?}",
                    statement(1)
                );
            }
            // A value that is out of range was evaluated.
            let is_evaluated = |error: Option<String>| {
                error.is_none_or(|error| error.contains("1264") || error.contains("1366"))
            };
            let deepest = (most - 2..=*most)
                .rev()
                .find(|depth| is_evaluated(error(*depth)));
            assert!(deepest.is_some(), "{}: {:?}", statement(1), error(most - 2));
        }
        assert!(client.ping().is_ok());
    }
}

#[test]
fn what_else_is_nested_may_be_as_deep_as_its_limit() {
    let mut server = server();
    let mut client = server.client();
    for Walk {
        name,
        door,
        deepest,
    } in WALKS
    {
        let mut error = |depth| refusal(&server, &mut client, door, depth);
        let answered = error(*deepest);
        assert_eq!(answered, None, "{name}");
        for depth in [deepest + 1, FAR_TOO_DEEP] {
            let error = error(depth);
            assert!(
                error.as_deref().is_some_and(says_so),
                "{name}: {depth}: {error:?}"
            );
        }
        assert!(client.ping().is_ok(), "{name}");
    }
    // What was stored is read again from the journal, and from what the seal wrote.
    for _ in 0..2 {
        server.stop_and_restart();
        let mut client = server.client();
        for table in ["t", "q", "p"] {
            client.query(&format!("SELECT * FROM {table}")).unwrap();
        }
        client.query("FLUSH TABLE t").unwrap();
    }
}

#[test]
fn a_condition_of_queue_wait_that_is_too_deep_is_null() {
    let server = server();
    let mut client = server.client();
    let mut found = |depth| {
        let condition = nested("NOT (", "n=1", ")", depth);
        let waits = format!("SELECT queue_wait('q:{condition}', 0)");
        client.query(&waits).unwrap().rows[0][0].clone()
    };
    assert_eq!(found(48), Some(b"1".to_vec()));
    assert_eq!((found(51), found(FAR_TOO_DEEP)), (None, None));
}

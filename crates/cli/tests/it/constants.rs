//! What a constant means beside a column, at each door: each type, beside constants that equal its value and constants that its type
//! does not read, in each place where a condition may stand. A type or a place that is added here is tested with all others.

use bench::client::{Client, ClientError};

use crate::server::{Server, Setup, request};

/// A column of each type with its value, the constants that equal the value, and those that its type does not read.
struct Sample {
    kind: &'static str,
    value: &'static str,
    equal: &'static [&'static str],
    refused: &'static [&'static str],
}

const NO_NUMBER: &[&str] = &["'abc'", "''", "'12abc'", "'.'"];

const SAMPLES: &[Sample] = &[
    Sample {
        kind: "int",
        value: "12",
        equal: &["12", "'12'", "' 12 '", "12.0", "'12.0'", "'1.2e1'"],
        refused: NO_NUMBER,
    },
    Sample {
        kind: "bigint",
        value: "9007199254740993",
        equal: &["9007199254740993", "'9007199254740993'"],
        refused: NO_NUMBER,
    },
    Sample {
        kind: "float",
        value: "0.5",
        equal: &["0.5", "'0.5'", "'5e-1'"],
        refused: NO_NUMBER,
    },
    Sample {
        kind: "double",
        value: "0.1",
        equal: &["0.1", "'0.1'"],
        refused: NO_NUMBER,
    },
    Sample {
        kind: "decimal(8,2)",
        value: "12.50",
        equal: &["12.5", "'12.50'", "'12.500'"],
        refused: NO_NUMBER,
    },
    Sample {
        kind: "bool",
        value: "1",
        equal: &["1", "'1'", "'true'", "TRUE"],
        refused: &["'yes'", "''"],
    },
    Sample {
        kind: "timestamp",
        value: "'2024-01-02 03:04:05'",
        equal: &[
            "'2024-01-02 03:04:05'",
            "'2024-01-02T03:04:05Z'",
            "'2024-01-02 05:04:05+02:00'",
            "1704164645",
            "'1704164645'",
        ],
        refused: &["'soon'", "''", "'2024-13-01'"],
    },
    Sample {
        kind: "date",
        value: "'2024-01-02'",
        equal: &[
            "'2024-01-02'",
            "'2024-1-2'",
            "20240102",
            "'2024-01-02 00:00:00'",
        ],
        refused: &["'soon'", "''", "'2024-13-01'"],
    },
    Sample {
        kind: "datetime",
        value: "'2024-01-02 03:04:05'",
        equal: &[
            "'2024-01-02 03:04:05'",
            "'2024-1-2 3:4:5'",
            "20240102030405",
        ],
        refused: &["'soon'", "''"],
    },
    Sample {
        kind: "time",
        value: "'10:11:12'",
        equal: &["'10:11:12'", "101112", "'10:11:12.0'"],
        refused: &["'noon'"],
    },
    Sample {
        kind: "year",
        value: "2024",
        equal: &["2024", "'2024'", "'24'"],
        refused: &["'MMXXIV'", "''"],
    },
    Sample {
        kind: "string",
        value: "'Ab'",
        equal: &["'Ab'", "'AB'"],
        refused: &[],
    },
];

/// Where a condition stands: a statement that finds one row where `c` equals the constant.
const PLACES: &[fn(&str) -> String] = &[
    |k| format!("SELECT id FROM t WHERE c = {k}"),
    |k| format!("SELECT id FROM t WHERE {k} <=> c"),
    |k| format!("SELECT id FROM t WHERE NOT (c <> {k})"),
    |k| format!("SELECT id FROM t WHERE c IN (NULL, {k})"),
    |k| format!("SELECT id FROM t WHERE (id, c) IN ((7, {k}), (1, {k}))"),
    |k| format!("SELECT id FROM t WHERE c BETWEEN {k} AND {k}"),
    |k| format!("SELECT id FROM t WHERE c >= {k} AND c <= {k}"),
    |k| format!("SELECT id FROM t WHERE CASE WHEN c = {k} THEN 1 ELSE 0 END = 1"),
    |k| format!("SELECT id, c = {k} AS e FROM t WHERE e = 1"),
    |k| format!("SELECT MIN(id) AS least FROM t GROUP BY c HAVING c = {k}"),
    |k| format!("SELECT a.id FROM t a JOIN t b ON a.id = b.id AND b.c = {k}"),
    |k| format!("SELECT a.id FROM t a JOIN t b ON a.c = b.c WHERE a.c = {k}"),
    |k| format!("SELECT id FROM (SELECT id FROM t WHERE c = {k}) LIMIT 5"),
    |k| format!("SELECT id FROM t WHERE MATCH('cat') AND c = {k}"),
    |k| format!("SELECT n FROM q WHERE c = {k}"),
];

fn run(client: &mut Client, statement: &str) -> Result<usize, u16> {
    match client.query(statement) {
        Ok(answer) => Ok(answer.rows.len()),
        Err(ClientError::Server(error)) => Err(error.code),
        Err(other) => panic!("{statement}: {other}"),
    }
}

/// Makes the tables of a sample: one row in each, and a second one of NULL or the empty value.
fn make(client: &mut Client, sample: &Sample) {
    let Sample { kind, value, .. } = sample;
    for statement in [
        "DROP TABLE IF EXISTS t".to_owned(),
        "DROP TABLE IF EXISTS q".to_owned(),
        "DROP TABLE IF EXISTS p".to_owned(),
        format!("CREATE TABLE t (body text, c {kind})"),
        format!("CREATE TABLE q (n int, c {kind}) ENGINE=QUEUE"),
        format!("CREATE TABLE p (body text, c {kind}) type='pq'"),
        format!("INSERT INTO t (id, body, c) VALUES (1, 'cat', {value})"),
        "INSERT INTO t (id, body) VALUES (2, 'dog')".to_owned(),
        format!("INSERT INTO q (n, c) VALUES (1, {value})"),
    ] {
        run(client, &statement).unwrap_or_else(|code| panic!("{statement}: {code}"));
    }
}

/// A constant as JSON; `None`: JSON has no such constant.
fn json(constant: &str) -> Option<String> {
    match constant
        .strip_prefix('\'')
        .and_then(|text| text.strip_suffix('\''))
    {
        Some(text) => Some(format!("\"{text}\"")),
        None if constant == "TRUE" => Some("true".to_owned()),
        None => constant.parse::<f64>().ok().map(|_| constant.to_owned()),
    }
}

/// The documents that a filter over HTTP finds, or the status of a refusal.
fn found(server: &Server, query: &str) -> Result<usize, u16> {
    let body = format!(r#"{{"table":"t","query":{query}}}"#);
    let (status, reply) = request(server.http(), "POST /search", "", body.as_bytes());
    match status {
        200 => Ok(reply.matches(r#""_id":"#).count()),
        refused => Err(refused),
    }
}

#[test]
fn a_constant_means_the_same_beside_a_column_of_each_type_in_each_place() {
    let server = Setup::default().start();
    let mut client = server.client();
    let mut wrong = Vec::new();
    for sample in SAMPLES {
        make(&mut client, sample);
        let constants = sample.equal.iter().map(|constant| (constant, Ok(1)));
        let constants = constants.chain(sample.refused.iter().map(|it| (it, Err(1292))));
        for (constant, wanted) in constants {
            let kind = sample.kind;
            for place in PLACES {
                let statement = place(constant);
                // The bool of a queue is MySQL's tinyint, which reads no words.
                if statement.contains(" q ") && *constant == "'true'" {
                    continue;
                }
                let got = run(&mut client, &statement);
                if got != wanted {
                    wrong.push(format!("{kind}: {statement}: {got:?}, not {wanted:?}"));
                }
            }
            let filter = format!("c = {constant}").replace('\'', "''");
            let stored =
                format!("REPLACE INTO p (id, query, filters) VALUES (1, 'cat', '{filter}')");
            let got = run(&mut client, &stored).map(|_| 1).map_err(|_| 1292);
            if got != wanted {
                wrong.push(format!("{kind}: {stored}: {got:?}"));
            }
            if wanted.is_ok() {
                let value = json(sample.value).unwrap_or_default();
                let call = format!(r#"CALL PQ ('p', ('{{"body":"cat","c":{value}}}'))"#);
                let got = run(&mut client, &call);
                if got != Ok(1) {
                    wrong.push(format!("{kind}: {filter}: {call}: {got:?}"));
                }
            }
            let Some(constant) = json(constant) else {
                continue;
            };
            let wanted = wanted.map_err(|_| 400);
            for query in [
                format!(r#"{{"equals":{{"c":{constant}}}}}"#),
                format!(r#"{{"in":{{"c":[{constant}]}}}}"#),
                format!(r#"{{"range":{{"c":{{"gte":{constant},"lte":{constant}}}}}}}"#),
            ] {
                let got = found(&server, &query);
                if got != wanted {
                    wrong.push(format!("{kind}: {query}: {got:?}, not {wanted:?}"));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

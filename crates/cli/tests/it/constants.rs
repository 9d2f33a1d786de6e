//! What a constant means beside a column, at each door: each type, in each call that gives its value back, beside constants that equal
//! it and constants that its type does not read, in each place where a condition may stand. The types are those of `SAMPLES`; a call or a
//! place that is added here is tested with all others.
//!
//! The first row has the value, the second one NULL, or the empty value where the type has no NULL. A constant equals the first row's
//! value, or is unlike it. The second row's value is unlike each constant, unless it is NULL.

use client::{Client, ClientError};
use relation::schema::TYPES;
use relation::schema::samples::{SAMPLES, Sample};

use crate::server::{Server, Setup, request};

/// What gives a column's value back, by the prefix of the columns of its table. `d` is a column of the same type without a value.
struct Given {
    of: fn(&str) -> String,
    or: Or,
}

/// What it may give instead.
#[derive(Clone, Copy, PartialEq)]
enum Or {
    /// A value of the column's type.
    Same,
    Number,
    /// A text, beside which each constant is one.
    Text,
    /// The moment of its statement.
    Moment,
    /// NULL, of what is not NULL.
    Null,
}

const fn given(of: fn(&str) -> String) -> Given {
    or(of, Or::Same)
}

const fn or(of: fn(&str) -> String, or: Or) -> Given {
    Given { of, or }
}

const GIVEN: &[Given] = &[
    given(|p| format!("{p}c")),
    given(|p| format!("COALESCE({p}c, NULL)")),
    given(|p| format!("COALESCE({p}c, {p}d)")),
    given(|p| format!("COALESCE(NULL, {p}c)")),
    or(|p| format!("IFNULL({p}c, 0)"), Or::Number),
    or(|p| format!("IFNULL({p}c, 'none')"), Or::Text),
    or(|p| format!("IFNULL({p}c, NOW())"), Or::Moment),
    given(|p| format!("IF(1, {p}c, NULL)")),
    or(|p| format!("IF({p}n > 5, 'none', {p}c)"), Or::Text),
    given(|p| format!("CASE WHEN 1 THEN {p}c END")),
    given(|p| format!("CASE {p}n WHEN 1 THEN {p}c ELSE {p}d END")),
    or(|p| format!("NULLIF({p}c, {p}d)"), Or::Null),
    given(|p| format!("GREATEST({p}c, {p}c)")),
    given(|p| format!("LEAST({p}c, {p}c)")),
    given(|p| format!("COALESCE(IF({p}n = 1, {p}c, {p}d), {p}d)")),
];

/// Where a condition stands: a statement that finds one row where a column, or what gives its value back, equals the constant.
type Place = fn(&dyn Fn(&str) -> String, &str) -> String;

const PLACES: &[Place] = &[
    |c, k| format!("SELECT id FROM t WHERE {} = {k}", c("")),
    |c, k| format!("SELECT id FROM t WHERE {k} <=> {}", c("")),
    |c, k| format!("SELECT id FROM t WHERE n = 1 AND NOT ({} <> {k})", c("")),
    |c, k| format!("SELECT id FROM t WHERE {} IN (NULL, {k})", c("")),
    |c, k| {
        format!(
            "SELECT id FROM t WHERE (id, {}) IN ((7, {k}), (1, {k}))",
            c("")
        )
    },
    |c, k| format!("SELECT id FROM t WHERE {} BETWEEN {k} AND {k}", c("")),
    |c, k| format!("SELECT id FROM t WHERE {0} >= {k} AND {0} <= {k}", c("")),
    |c, k| {
        format!(
            "SELECT id FROM t WHERE CASE WHEN {} = {k} THEN 1 ELSE 0 END = 1",
            c("")
        )
    },
    |c, k| format!("SELECT id, {} = {k} AS e FROM t WHERE e = 1", c("")),
    |c, k| format!("SELECT id, {} AS e FROM t WHERE e = {k}", c("")),
    |c, k| {
        format!(
            "SELECT {} AS e, MIN(id) AS least FROM t GROUP BY e HAVING e = {k}",
            c("")
        )
    },
    |c, k| {
        format!(
            "SELECT id, MAX({}) AS e FROM t GROUP BY id HAVING e = {k}",
            c("")
        )
    },
    |c, k| {
        format!(
            "SELECT id FROM t GROUP BY id HAVING MIN({}) IN ({k})",
            c("")
        )
    },
    |c, k| {
        format!(
            "SELECT a.id FROM t a JOIN t b ON a.id = b.id AND {} = {k}",
            c("b.")
        )
    },
    |c, k| {
        format!(
            "SELECT a.id FROM t a JOIN t b ON {} = {} WHERE {} = {k}",
            c("a."),
            c("b."),
            c("a.")
        )
    },
    |c, k| {
        format!(
            "SELECT id FROM (SELECT id FROM t WHERE {} = {k}) LIMIT 5",
            c("")
        )
    },
    |c, k| format!("SELECT id FROM t WHERE MATCH('cat') AND {} = {k}", c("")),
    |c, k| format!("SELECT n FROM q WHERE {} = {k}", c("")),
    |c, k| format!("SELECT n FROM y WHERE {} = {k}", c("")),
    |c, k| {
        format!(
            "SELECT id FROM t WHERE n = 1 AND NULLIF({0}, {k}) IS NULL AND {0} IS NOT NULL",
            c("")
        )
    },
    |c, k| {
        format!(
            "SELECT id FROM t WHERE n = 1 AND INTERVAL({}, {k}) = 1",
            c("")
        )
    },
    |c, k| format!("SELECT id FROM t WHERE REMAP({}, 0, ({k}), (1)) = 1", c("")),
    |c, k| {
        format!(
            "SELECT id FROM t WHERE CASE {} WHEN {k} THEN 1 END = 1",
            c("")
        )
    },
];

/// As [`PLACES`], of statements that find each row whose value is not NULL and unlike the constant.
const PLACES_OF_UNLIKE: &[Place] = &[
    |c, k| format!("SELECT id FROM t WHERE {} <> {k}", c("")),
    |c, k| format!("SELECT id FROM t WHERE {k} <> {}", c("")),
    |c, k| format!("SELECT id FROM t WHERE NOT ({} = {k})", c("")),
    |c, k| format!("SELECT id FROM t WHERE NOT {} IN ({k})", c("")),
    |c, k| format!("SELECT id FROM t WHERE {} NOT IN ({k})", c("")),
    |c, k| {
        format!(
            "SELECT id FROM t WHERE (1, {0}) NOT IN ((1, {k}), (7, {k})) AND {0} IS NOT NULL",
            c("")
        )
    },
    |c, k| {
        format!(
            "SELECT id FROM t WHERE CASE WHEN {} <> {k} THEN 1 ELSE 0 END = 1",
            c("")
        )
    },
    |c, k| format!("SELECT id, {} <> {k} AS e FROM t WHERE e = 1", c("")),
    |c, k| format!("SELECT id, {} AS e FROM t WHERE e <> {k}", c("")),
    |c, k| {
        format!(
            "SELECT id, MAX({}) AS e FROM t GROUP BY id HAVING e <> {k}",
            c("")
        )
    },
    |c, k| {
        format!(
            "SELECT a.id FROM t a JOIN t b ON a.id = b.id AND {} <> {k}",
            c("b.")
        )
    },
    |c, k| {
        format!(
            "SELECT a.id FROM t a LEFT JOIN t b ON a.id = b.id AND {} = {k} WHERE b.id IS NULL AND {} IS NOT NULL",
            c("b."),
            c("a.")
        )
    },
    |c, k| format!("SELECT id FROM t WHERE NULLIF({}, {k}) IS NOT NULL", c("")),
    |c, k| {
        format!(
            "SELECT id FROM t WHERE REMAP({0}, 0, ({k}), (1)) = 0 AND {0} IS NOT NULL",
            c("")
        )
    },
    |c, k| format!("SELECT n FROM q WHERE {} <> {k}", c("")),
    |c, k| format!("SELECT n FROM y WHERE {} <> {k}", c("")),
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
    let Sample { name, value, .. } = sample;
    for statement in [
        "DROP TABLE IF EXISTS t".to_owned(),
        "DROP TABLE IF EXISTS q".to_owned(),
        "DROP TABLE IF EXISTS p".to_owned(),
        "DROP TEMPORARY TABLE IF EXISTS y".to_owned(),
        format!("CREATE TABLE t (body text, n int, c {name}, d {name})"),
        format!("CREATE TABLE q (n int, c {name}, d {name}) ENGINE=QUEUE"),
        format!("CREATE TABLE p (body text, n int, c {name}, d {name}) type='pq'"),
        format!("CREATE TEMPORARY TABLE y (n int, c {name}, d {name})"),
        format!("INSERT INTO t (id, n, body, c) VALUES (1, 1, 'cat', {value})"),
        "INSERT INTO t (id, n, body) VALUES (2, 2, 'dog')".to_owned(),
        format!("INSERT INTO q (n, c) VALUES (1, {value})"),
        "INSERT INTO q (n) VALUES (2)".to_owned(),
        format!("INSERT INTO y (n, c) VALUES (1, {value})"),
        "INSERT INTO y (n) VALUES (2)".to_owned(),
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
fn found(server: &Server, body: &str) -> Result<usize, u16> {
    let (status, reply) = request(server.http(), "POST /search", "", body.as_bytes());
    match status {
        200 => Ok(reply.matches(r#""_id":"#).count()),
        refused => Err(refused),
    }
}

/// As [`run`], over HTTP's `/sql`. The error is one of MySQL, as the status is 400 for all of them.
fn selected(server: &Server, statement: &str) -> Result<usize, bool> {
    let (status, reply) = request(
        server.http(),
        "POST /sql?mode=raw",
        "",
        statement.as_bytes(),
    );
    let reply: serde_json::Value = serde_json::from_str(&reply).unwrap_or_default();
    match (status, reply[0]["data"].as_array()) {
        (200, Some(rows)) if reply[0]["error"] == "" => Ok(rows.len()),
        (status, _) => Err(status < 500),
    }
}

impl Given {
    /// Whether its value of the second row of a table is not NULL.
    fn has_second(&self, table: &str, client: &mut Client) -> bool {
        let of = (self.of)("");
        let is_null = format!("SELECT n FROM {table} WHERE n = 2 AND {of} IS NULL");
        run(client, &is_null) == Ok(0)
    }
}

/// A sample under test.
struct Test<'s> {
    of: &'s Sample,
}

impl Test<'_> {
    /// Compares what is given with each constant in each place.
    fn check(&self, given: &Given, server: &Server, client: &mut Client, wrong: &mut Vec<String>) {
        let refusal = match given.or == Or::Text || self.of.refused.is_empty() {
            true => Ok(0),
            false => Err(1292),
        };
        let constants = self.of.equal.iter().map(|constant| (*constant, Ok(1)));
        let constants = constants.chain(self.of.refused.iter().map(|it| (*it, refusal)));
        let seconds = ["t", "q", "y"].map(|table| (table, given.has_second(table, client)));
        for (constant, wanted) in constants {
            for place in PLACES {
                let statement = place(&given.of, constant);
                self.check_place(
                    given,
                    (constant, &statement, wanted),
                    (server, client),
                    wrong,
                );
            }
            for place in PLACES_OF_UNLIKE {
                let statement = place(&given.of, constant);
                let second = seconds
                    .iter()
                    .find(|(table, _)| statement.contains(&format!(" FROM {table} ")));
                let second = second.is_some_and(|(_, has)| *has);
                let wanted = wanted.map(|equal| 1 - equal + usize::from(second));
                self.check_place(
                    given,
                    (constant, &statement, wanted),
                    (server, client),
                    wrong,
                );
            }
            // None outlives its statement, and expressions of HTTP have no moment.
            if given.or == Or::Moment {
                continue;
            }
            self.check_standing(given, (constant, wanted), client, wrong);
            if let Some(constant) = json(constant) {
                self.check_http(given, (&constant, wanted), server, wrong);
            }
        }
    }

    /// Compares it in a statement, over MySQL's protocol and over HTTP.
    fn check_place(
        &self,
        given: &Given,
        (constant, statement, wanted): (&str, &str, Result<usize, u16>),
        (server, client): (&Server, &mut Client),
        wrong: &mut Vec<String>,
    ) {
        // The bool of a queue is MySQL's tinyint, which reads no words.
        let is_of_session = statement.contains(" y ");
        if (is_of_session || statement.contains(" q ")) && constant == "'true'" {
            return;
        }
        // MIN and MAX forget which of several kinds a value has: a constant that means two values is refused.
        let is_extreme = statement.contains("GROUP BY id HAVING");
        let may_lose = given.or != Or::Same && is_extreme;
        let got = run(client, statement);
        if got != wanted && !(may_lose && got == Err(1210)) {
            let kind = self.of.name;
            wrong.push(format!("{kind}: {statement}: {got:?}, not {wanted:?}"));
        }
        if !is_of_session && selected(server, statement) != got.map_err(|_| true) {
            wrong.push(format!("{}: /sql: {statement}: not {got:?}", self.of.name));
        }
    }

    /// Compares it in a filter of a standing query and in a condition of a queue.
    fn check_standing(
        &self,
        given: &Given,
        (constant, wanted): (&str, Result<usize, u16>),
        client: &mut Client,
        wrong: &mut Vec<String>,
    ) {
        let kind = self.of.name;
        let condition = format!("{} = {constant}", (given.of)("")).replace('\'', "''");
        let stored =
            format!("REPLACE INTO p (id, query, filters) VALUES (1, 'cat', '{condition}')");
        let got = run(client, &stored).map(|_| 1);
        if got != wanted.map(|_| 1) {
            wrong.push(format!("{kind}: {stored}: {got:?}"));
        }
        if constant != "'true'" {
            let wait = format!("SELECT queue_wait('q:{condition}', 0)");
            let got = taken(client, &wait);
            if got != wanted {
                wrong.push(format!("{kind}: {wait}: {got:?}, not {wanted:?}"));
            }
        }
        if let Ok(hits) = wanted {
            let value = json(self.of.value).unwrap_or_default();
            let call = format!(r#"CALL PQ ('p', ('{{"body":"cat","n":1,"c":{value}}}'))"#);
            let got = run(client, &call);
            if got != Ok(hits) {
                wrong.push(format!("{kind}: {condition}: {call}: {got:?}"));
            }
        }
    }

    /// Compares it in filters of HTTP.
    fn check_http(
        &self,
        given: &Given,
        (constant, wanted): (&str, Result<usize, u16>),
        server: &Server,
        wrong: &mut Vec<String>,
    ) {
        let wanted = wanted.map_err(|_| 400);
        let of = (given.of)("");
        for query in [
            format!(r#"{{"equals":{{"e":{constant}}}}}"#),
            format!(r#"{{"in":{{"e":[{constant}]}}}}"#),
            format!(r#"{{"range":{{"e":{{"gte":{constant},"lte":{constant}}}}}}}"#),
        ] {
            let body = format!(r#"{{"table":"t","expressions":{{"e":"{of}"}},"query":{query}}}"#);
            let got = found(server, &body);
            if got != wanted {
                wrong.push(format!("{}: {body}: {got:?}, not {wanted:?}", self.of.name));
            }
        }
    }
}

/// The rows that a queue gives for a condition, none or one, which it gets back. A refusal is NULL and a warning.
fn taken(client: &mut Client, wait: &str) -> Result<usize, u16> {
    let mut first = |statement: &str| -> Vec<Option<String>> {
        let rows = client.query(statement).unwrap().rows;
        let row = rows.into_iter().next().unwrap_or_default().into_iter();
        row.map(|cell| Some(String::from_utf8_lossy(&cell?).into_owned()))
            .collect()
    };
    let given = first(wait).into_iter().next().flatten();
    let warning = first("SHOW WARNINGS").into_iter().nth(2).flatten();
    if given.is_some() {
        first("SELECT queue_abort()");
    }
    match (given.as_deref(), warning) {
        (Some("1"), None) => Ok(1),
        (Some("0"), None) => Ok(0),
        (None, Some(warning)) if warning.contains("is no ") => Err(1292),
        (given, warning) => panic!("{wait}: {given:?}, {warning:?}"),
    }
}

#[test]
fn a_constant_means_the_same_beside_a_column_of_each_type_in_each_place() {
    let server = Setup::default().start();
    let mut client = server.client();
    let mut wrong = Vec::new();
    let mut families = Vec::new();
    let samples = SAMPLES.iter().zip(TYPES);
    for (of, kind) in samples.filter(|(of, _)| !of.equal.is_empty()) {
        make(&mut client, of);
        // Types of one family differ in their columns alone.
        let calls = match families.contains(&kind.family()) {
            true => &GIVEN[..1],
            false => GIVEN,
        };
        families.push(kind.family());
        for given in calls {
            Test { of }.check(given, &server, &mut client, &mut wrong);
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

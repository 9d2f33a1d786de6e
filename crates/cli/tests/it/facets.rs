//! Each FACET gives what the SELECT with GROUP BY gives that it stands for, and pages of a composite aggregation are one list.

use client::{Client, ClientError};
use serde_json::{Value as Json, json};

use crate::random::XorShift;
use crate::server::{Server, Setup, request};

/// Rows of the table.
const ROWS: usize = 700;

/// Statements with FACETs that are compared.
const STATEMENTS: usize = 300;

/// A table with rows in segments and in memory, some of them changed or deleted since.
fn fill(client: &mut Client, random: &mut XorShift) {
    let table = "CREATE TABLE t (body text, n int, s string, f float, tags multi, j json)";
    client.query(table).unwrap();
    let words = ["ant", "bee", "cat", "ant bee", "cat cat", "bee ant cat"];
    let texts = ["a", "A", "b", "", "ü"];
    let documents = [r#"{"k":1}"#, r#"{"k":"x"}"#, r#"{"k":[1,2]}"#, "{}"];
    for first in (1..=ROWS).step_by(100) {
        let row = |id: usize| {
            let tags: Vec<String> = (0..random.below(3))
                .map(|_| random.below(4).to_string())
                .collect();
            format!(
                "({id}, '{}', {}, '{}', {}.5, ({}), '{}')",
                words[random.below(words.len())],
                random.below(9) as i64 - 3,
                texts[random.below(texts.len())],
                random.below(4),
                tags.join(", "),
                documents[random.below(documents.len())],
            )
        };
        let rows: Vec<String> = (first..first + 100).map(row).collect();
        let insert = "INSERT INTO t (id, body, n, s, f, tags, j) VALUES";
        client
            .query(&format!("{insert} {}", rows.join(", ")))
            .unwrap();
        if first % 300 == 1 {
            client.query("FLUSH TABLE t").unwrap();
        }
    }
    client
        .query("UPDATE t SET n = n * 2 WHERE id < 50")
        .unwrap();
    client.query("DELETE FROM t WHERE f > 3 AND n > 1").unwrap();
}

/// A FACET, and the SELECT that it stands for behind `FROM t …`.
struct Facet {
    written: String,
    items: String,
    tail: String,
}

impl Facet {
    fn random(random: &mut XorShift) -> Facet {
        // What a key shows, and the key. A list is shown as its item.
        let keys = [
            ("n", "n"),
            ("s", "s"),
            ("f", "f"),
            ("n + 1 AS m", "n + 1"),
            ("j.k", "j.k"),
            ("tags", "tags"),
            ("INTERVAL(n, 0, 2, 4)", "INTERVAL(n, 0, 2, 4)"),
            ("p", "n * 2"),
        ];
        let (shown, key) = keys[random.below(keys.len())];
        let item = match key {
            "tags" | "j.k" => "GROUPBY()",
            key => key,
        };
        let (mut written, mut items, mut group) =
            (format!("FACET {shown}"), item.to_owned(), key.to_owned());
        if item == key && random.below(3) == 0 {
            written += " BY s, n";
            "s, n".clone_into(&mut group);
        }
        if random.below(3) == 0 {
            written += " DISTINCT n";
            items += ", COUNT(DISTINCT n)";
        }
        items += ", COUNT(*)";
        let orders = [
            ("", ""),
            (" ORDER BY COUNT(*) DESC", " ORDER BY COUNT(*) DESC"),
            (" ORDER BY FACET() ASC", " ORDER BY GROUPBY() ASC"),
            (
                " ORDER BY count(*) ASC, FACET() DESC",
                " ORDER BY COUNT(*) ASC, GROUPBY() DESC",
            ),
        ];
        let (order, meant) = orders[random.below(orders.len())];
        let limits = ["", " LIMIT 3", " LIMIT 1, 4", " LIMIT 100"];
        let limit = limits[random.below(limits.len())];
        // A FACET without LIMIT has 20 groups, a SELECT all.
        let meant_limit = if limit.is_empty() { " LIMIT 20" } else { limit };
        Facet {
            written: format!("{written}{order}{limit}"),
            items,
            tail: format!(" GROUP BY {group}{meant}{meant_limit}"),
        }
    }
}

type Rows = Vec<Vec<Option<Vec<u8>>>>;

fn rows(client: &mut Client, statement: &str) -> Rows {
    let found = client.query(statement);
    found
        .unwrap_or_else(|error| panic!("{statement}: {error}"))
        .rows
}

#[test]
fn a_facet_is_its_group_by() {
    let server = Server::start();
    let (mut client, mut random) = (server.client(), XorShift::new(22));
    fill(&mut client, &mut random);
    let wheres = [
        ("", ""),
        ("WHERE MATCH('cat')", "WHERE MATCH('cat')"),
        (
            "WHERE MATCH('ant | bee') AND n > 0",
            "WHERE MATCH('ant | bee') AND n > 0",
        ),
        ("WHERE p > 4", "WHERE n * 2 > 4"),
        (
            "WHERE id IN (1, 5, 70, 71, 72, 3)",
            "WHERE id IN (1, 5, 70, 71, 72, 3)",
        ),
        ("WHERE n = 1000", "WHERE n = 1000"),
    ];
    for _ in 0..STATEMENTS {
        let (filter, plain) = wheres[random.below(wheres.len())];
        let facets: Vec<Facet> = (0..1 + random.below(4))
            .map(|_| Facet::random(&mut random))
            .collect();
        let head = format!("SELECT id, n * 2 AS p FROM t {filter} ORDER BY id DESC LIMIT 2");
        let written: Vec<&str> = facets.iter().map(|facet| &*facet.written).collect();
        let statement = format!("{head} OPTION ranker=bm25 {}", written.join(" "));
        let sets = client.query_sets(&statement);
        let sets = sets.unwrap_or_else(|error| panic!("{statement}: {error}"));
        assert_eq!(sets.len(), 1 + facets.len(), "{statement}");
        assert_eq!(sets[0].rows, rows(&mut client, &head), "{statement}");
        for (set, facet) in sets[1..].iter().zip(&facets) {
            let meant = format!(
                "SELECT {} FROM t {plain}{} OPTION ranker=bm25",
                facet.items, facet.tail
            );
            assert_eq!(set.rows, rows(&mut client, &meant), "{statement}\n{meant}");
        }
    }
}

/// Number of the error of a statement.
fn refused(client: &mut Client, statement: &str) -> (u16, String) {
    match client.query_sets(statement) {
        Err(ClientError::Server(error)) => (error.code, error.message),
        other => panic!("{statement}: {other:?}"),
    }
}

#[test]
fn facets_end_where_their_memory_does_and_leave_the_connection_usable() {
    let server = Setup::default()
        .variable("SEINE_SEARCH_MEMORY", "1MiB")
        .start();
    let mut client = server.client();
    client.query("CREATE TABLE t (n int)").unwrap();
    for first in (1..60_000).step_by(10_000) {
        let rows: Vec<String> = (first..first + 10_000)
            .map(|id| format!("({id}, {id})"))
            .collect();
        let insert = format!("INSERT INTO t (id, n) VALUES {}", rows.join(", "));
        client.query(&insert).unwrap();
    }
    let (code, message) = refused(&mut client, "SELECT id FROM t LIMIT 1 FACET n FACET n + 1");
    assert_eq!(code, 1038, "{message}");
    let sets = client
        .query_sets("SELECT id FROM t LIMIT 1 FACET n DIV 10000")
        .unwrap();
    assert_eq!((sets[0].rows.len(), sets[1].rows.len()), (1, 7));
}

/// The reply of POST /search.
fn searched(server: &Server, body: &Json) -> Json {
    let sent = body.to_string();
    let (status, reply) = request(server.http(), "POST /search", "", sent.as_bytes());
    assert_eq!(status, 200, "{body}: {reply}");
    serde_json::from_str(&reply).unwrap()
}

#[test]
fn the_pages_of_a_composite_are_one_list() {
    let server = Server::start();
    let (mut client, mut random) = (server.client(), XorShift::new(23));
    fill(&mut client, &mut random);
    for _ in 0..25 {
        let fields = ["n", "s", "f", "tags", "m"];
        let mut sources = Vec::new();
        for at in 0..1 + random.below(3) {
            let field = fields[(at * 2 + random.below(2)) % fields.len()];
            let order = ["asc", "desc"][random.below(2)];
            sources.push(json!({ format!("k{at}"): {"terms": {"field": field, "order": order}} }));
        }
        let page = |size: usize, after: Option<&Json>| {
            let mut composite = json!({"size": size, "sources": sources});
            if let Some(after) = after {
                composite["after"] = after.clone();
            }
            let body = json!({
                "table": "t", "limit": 0, "expressions": {"m": "n DIV 2"},
                "query": {"match": {"body": "ant"}},
                "aggs": {"c": {"composite": composite, "aggs": {"sum": {"sum": {"field": "f"}}}}},
            });
            searched(&server, &body)["aggregations"]["c"].clone()
        };
        let whole = page(10_000, None);
        let whole = whole["buckets"].as_array().unwrap();
        let size = 1 + random.below(20);
        let (mut pages, mut after) = (Vec::new(), None);
        loop {
            let found = page(size, after.as_ref());
            let buckets = found["buckets"].as_array().unwrap();
            pages.extend(buckets.iter().cloned());
            assert!(buckets.len() <= size);
            match found.get("after_key") {
                Some(key) => after = Some(key.clone()),
                None => break,
            }
        }
        assert_eq!(pages, *whole, "{sources:?}");
        assert!(whole.len() > 1, "{sources:?}");
    }
}

/// An aggregation of buckets, and the query that finds the documents of a bucket.
type BucketKind = (Json, fn(&Json) -> Json);

fn bucket_kinds() -> Vec<BucketKind> {
    vec![
        (
            json!({"terms": {"field": "n", "size": 4, "order": {"_key": "desc"}}}),
            |bucket| json!({"equals": {"n": bucket["key"]}}),
        ),
        (
            json!({"terms": {"field": "s", "min_doc_count": 2}}),
            |bucket| json!({"equals": {"s": bucket["key"]}}),
        ),
        (
            json!({"terms": {"field": "tags", "size": 2}}),
            |bucket| json!({"equals": {format!("tag{}", bucket["key"]): 1}}),
        ),
        (
            json!({"histogram": {"field": "m", "interval": 3, "offset": 1}}),
            |bucket| {
                let from = bucket["key"].as_i64().unwrap();
                json!({"range": {"m": {"gte": from, "lt": from + 3}}})
            },
        ),
        (
            json!({"range": {"field": "f", "ranges": [{"to": 1}, {"from": 1, "to": 3}, {"from": 50}]}}),
            |bucket| within("f", bucket),
        ),
        (
            json!({"range": {"field": "n", "ranges": [{"to": 4}, {"from": 2}, {"from": 3, "to": 6}]}}),
            |bucket| within("n", bucket),
        ),
    ]
}

/// The query that finds the documents of a range.
fn within(field: &str, bucket: &Json) -> Json {
    let mut range = serde_json::Map::new();
    for (end, bound) in [("from", "gte"), ("to", "lt")] {
        if let Some(end) = bucket.get(end) {
            range.insert(bound.to_owned(), end.clone());
        }
    }
    json!({"range": {field: range}})
}

#[test]
fn buckets_inside_a_bucket_are_those_of_a_search_for_its_documents() {
    let server = Server::start();
    let (mut client, mut random) = (server.client(), XorShift::new(24));
    fill(&mut client, &mut random);
    let search = |query: &[Json], aggregations: &Json| {
        let mut body = json!({
            "table": "t", "limit": 0, "expressions": {"m": "n * 2"},
            "query": {"bool": {"must": query}}, "aggs": aggregations,
        });
        for tag in 0..4 {
            body["expressions"][format!("tag{tag}")] = json!(format!("any(tags) = {tag}"));
        }
        searched(&server, &body)["aggregations"].clone()
    };
    let kinds = bucket_kinds();
    for outer in 0..kinds.len() {
        for inner in (0..kinds.len()).filter(|inner| *inner != outer) {
            let others = (0..kinds.len()).filter(|other| ![outer, inner].contains(other));
            let others: Vec<usize> = others.collect();
            let innermost = others[random.below(others.len())];
            let words = ["ant", "cat", "bee"][random.below(3)];
            let query = json!({"match": {"body": words}});
            let mut parts = kinds[inner].0.clone();
            parts["aggs"] = json!({"deep": kinds[innermost].0, "sum": {"sum": {"field": "f"}}});
            let parts = json!({"in": parts, "most": {"max": {"field": "f"}}, "by_j": {"terms": {"field": "j.k"}}});
            let mut whole = kinds[outer].0.clone();
            whole["aggs"] = parts.clone();
            let found = search(
                std::slice::from_ref(&query),
                &json!({"out": whole, "all": {"value_count": {"field": "f"}}}),
            );
            let buckets = found["out"]["buckets"].as_array().unwrap();
            assert!(!buckets.is_empty(), "{whole}");
            for bucket in buckets {
                let of_bucket = search(&[query.clone(), kinds[outer].1(bucket)], &parts);
                for part in ["in", "by_j", "most"] {
                    assert_eq!(
                        bucket[part], of_bucket[part],
                        "{part} of {whole} in {bucket}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_pages_of_a_composite_by_a_key_of_any_type_are_one_list() {
    let server = Server::start();
    let mut client = server.client();
    let table = "CREATE TABLE v (body text, de decimal(10,2), tm time(1), da date, dt datetime(3), ts timestamp, f float, \
                 d double, o bool, y year, b bigint unsigned, j json)";
    client.query(table).unwrap();
    let mut random = XorShift::new(43);
    let row = |_| {
        let mut below = |most| random.below(most);
        let sign = ["", "-"][below(2)];
        format!(
            "('', '{sign}{}.{:02}', '{sign}{}:10:11.{}', '20{:02}-0{}-1', '2024-01-02 03:04:0{}.{}', {}, {}, {}, {}, {}, {}, \
             '{{\"k\":{}}}')",
            below(300),
            below(100),
            below(300),
            below(3),
            below(100),
            1 + below(9),
            below(3),
            below(120),
            below(2_000_000_000),
            below(1_000) as f32 / 7.0,
            below(1_000) as f64 / 7.0,
            below(2),
            1995 + below(10),
            u64::MAX - below(20) as u64,
            ["true", "7", "\"7\"", "-1.5", "[2]", "{}"][below(6)],
        )
    };
    let rows: Vec<String> = (0..60).map(row).collect();
    let columns = "body, de, tm, da, dt, ts, f, d, o, y, b, j";
    let insert = format!("INSERT INTO v ({columns}) VALUES {}", rows.join(", "));
    client.query(&insert).unwrap();
    let fields = "de tm da dt ts f d o y b j.k id";
    for (field, order) in fields.split(' ').flat_map(|it| [(it, "asc"), (it, "desc")]) {
        let page = |size: usize, after: Option<&Json>| {
            let source = json!({"k": {"terms": {"field": field, "order": order}}});
            let mut composite = json!({"size": size, "sources": [source]});
            if let Some(after) = after {
                composite["after"] = after.clone();
            }
            let aggregation = json!({"p": {"composite": composite}});
            let body = json!({"table": "v", "limit": 0, "aggs": aggregation});
            searched(&server, &body)["aggregations"]["p"].clone()
        };
        let whole = page(1_000, None);
        let whole = whole["buckets"].as_array().unwrap();
        let (mut pages, mut after) = (Vec::new(), None);
        for _ in 0..whole.len() {
            let found = page(7, after.as_ref());
            pages.extend(found["buckets"].as_array().unwrap().iter().cloned());
            after = Some(found["after_key"].clone());
            if pages.len() >= whole.len() {
                break;
            }
        }
        assert_eq!(pages, *whole, "{field} {order}");
    }
}

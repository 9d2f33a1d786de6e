//! Percolates in a server with Elasticsearch's percolate API.

use std::ops::Range;

use language::tree::{Form, Node, Term};
use serde_json::{Value, json};

use super::{Table, body::Body};
use crate::{
    Server,
    error::{Error, Result},
    http::{Http, JSON, Kind},
    percolate::{
        Prepared,
        caller::{Caller, Counts},
        matcher::{self, FIELD},
        queries::Query,
    },
};

/// Count of queries in a _bulk request.
const BULK_QUERIES: usize = 1_000;

const LINES: Kind = Kind {
    content_type: "application/x-ndjson",
    accept: "application/json",
};

/// The index of queries on the server.
pub(super) struct Index {
    server: Server,
    body: Body,
}

/// A connection and its counts.
struct Connection<'p> {
    http: Http,
    index: &'p Index,
    request: String,
    counts: Counts,
}

impl Index {
    pub(super) fn create(server: &Server, prepared: &Prepared) -> Result<Index> {
        if prepared.filtered {
            return Err(Error::BadOption(
                "filters are not asked through this door yet",
            ));
        }
        let mut http = Http::connect(server)?;
        http.ask("DELETE", "/bench_alerts", JSON, b"")?; // it may not be there
        let mapping = json!({
            "settings": {"index": {"max_result_window": 100_000, "number_of_replicas": 0}},
            "mappings": {"properties": {"query": {"type": "percolator"}, FIELD: {"type": "text"}}},
        });
        http.get("PUT", "/bench_alerts", JSON, mapping.to_string().as_bytes())?;
        let queries: Vec<Query<'_>> = prepared.queries.iter().collect();
        for queries in queries.chunks(BULK_QUERIES) {
            store(&mut http, queries)?;
        }
        http.get("POST", "/bench_alerts/_refresh", JSON, b"")?;
        let begin = "{\"size\":100000,\"_source\":false,\"query\":{\"constant_score\":{\"filter\":{\"percolate\":\
                     {\"field\":\"query\",\"documents\":[";
        Ok(Index {
            server: server.clone(),
            body: Body::array(prepared, begin, "]}}}}}"),
        })
    }
}

/// Stores queries by a _bulk request. Its answer must have no error.
fn store(http: &mut Http, queries: &[Query<'_>]) -> Result<()> {
    let mut lines = String::new();
    for query in queries {
        let action = json!({"index": {"_index": "bench_alerts", "_id": query.id.to_string()}});
        let asked = translated(&matcher::parse(query.text)?)
            .ok_or_else(|| Error::Query(format!("{}: not for this door", query.text)))?;
        lines += &format!("{action}\n{}\n", json!({"query": asked}));
    }
    let answer = http.get("POST", "/_bulk", LINES, lines.as_bytes())?;
    let answer: Value = read(answer)?;
    match answer["errors"] == json!(false) {
        true => Ok(()),
        false => {
            let told: String = answer.to_string().chars().take(300).collect();
            Err(Error::Http(format!("queries refused: {told}")))
        }
    }
}

/// A query tree as an Elasticsearch query; `None`: it has no plain form there.
fn translated(node: &Node) -> Option<Value> {
    match node {
        Node::Word(word) => word_query(&word.term),
        Node::Phrase { words, .. } => {
            let follow = words
                .iter()
                .zip(0..)
                .all(|((_, distance), place)| *distance == place);
            let texts: Vec<&str> = words.iter().map(|(term, _)| &*term.text).collect();
            let phrase = json!({"match_phrase": {FIELD: texts.join(" ")}});
            (follow && words.iter().all(|(term, _)| term.is_plain())).then_some(phrase)
        }
        Node::Or(parts) => {
            let parts = parts.iter().map(translated).collect::<Option<Vec<_>>>()?;
            Some(json!({"bool": {"should": parts}}))
        }
        Node::And(parts) => {
            let (mut must, mut must_not) = (Vec::new(), Vec::new());
            for part in parts {
                match part {
                    Node::Not(inner) => must_not.push(translated(inner)?),
                    other => must.push(translated(other)?),
                }
            }
            Some(json!({"bool": {"must": must, "must_not": must_not}}))
        }
        _ => None,
    }
}

fn word_query(term: &Term) -> Option<Value> {
    let text = &*term.text;
    match term.form {
        Form::Whole if term.is_plain() => Some(json!({"match": {FIELD: text}})),
        Form::Pattern if !text.contains('%') => Some(json!({"wildcard": {FIELD: {"value": text}}})),
        _ => None,
    }
}

fn read(answer: &[u8]) -> Result<Value> {
    serde_json::from_slice(answer)
        .map_err(|error| Error::Http(format!("the answer is no JSON: {error}")))
}

impl Table for Index {
    fn connect<'p>(&'p self, _: &'p Prepared) -> Result<Box<dyn Caller + 'p>> {
        Ok(Box::new(Connection {
            http: Http::connect(&self.server)?,
            index: self,
            request: String::new(),
            counts: Counts::default(),
        }))
    }

    fn remove(&self) -> Result<()> {
        let mut http = Http::connect(&self.server)?;
        http.get("DELETE", "/bench_alerts", JSON, b"").map(|_| ())
    }
}

impl Caller for Connection<'_> {
    /// Sends a search and reads every hit and its slots, as the study's client did.
    fn call(&mut self, documents: Range<usize>) -> Result<()> {
        self.index.body.write(documents, &mut self.request);
        let path = "/bench_alerts/_search";
        let answer = self.http.get("POST", path, JSON, self.request.as_bytes())?;
        let answer = read(answer)?;
        let hits = answer["hits"]["hits"].as_array();
        let hits = hits.ok_or_else(|| Error::Http("an answer without hits".to_owned()))?;
        let slots = |hit: &Value| {
            let slots = hit["fields"]["_percolator_document_slot"].as_array();
            slots.map_or(0, |slots| slots.len() as u64)
        };
        self.counts.pairs += hits.iter().map(slots).sum::<u64>();
        self.counts.rows += hits.len() as u64;
        Ok(())
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}

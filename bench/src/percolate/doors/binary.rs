//! Percolates in a server, by POST /pq/{table}/search with the compact answer.

use std::ops::Range;

use wire::pq;

use super::{Table, body::Body, mysql};
use crate::{
    Server,
    error::{Error, Result},
    http::{Http, JSON, Kind},
    percolate::{
        Prepared,
        caller::{Caller, Counts},
    },
};

/// Queries in one INSERT.
const INSERT_QUERIES: usize = 1_000;

const TEXTS: Kind = Kind {
    content_type: "text/plain",
    accept: pq::CONTENT_TYPE,
};

/// Documents with attributes.
const OBJECTS: Kind = Kind {
    content_type: "application/x-ndjson",
    ..TEXTS
};

/// The table of queries on the server.
pub(super) struct Alerts {
    server: Server,
    kind: Kind,
    body: Body,
}

/// A connection and its counts.
struct Connection<'p> {
    http: Http,
    alerts: &'p Alerts,
    request: String,
    counts: Counts,
}

impl Alerts {
    pub(super) fn create(server: &Server, prepared: &Prepared) -> Result<Alerts> {
        let mut http = Http::connect(server)?;
        for statement in mysql::anew(mysql::ALERTS) {
            run(&mut http, &statement)?;
        }
        for statement in mysql::inserts(
            "INSERT",
            mysql::ALERTS,
            prepared.queries.iter(),
            INSERT_QUERIES,
        ) {
            run(&mut http, &statement)?;
        }
        Ok(Alerts {
            server: server.clone(),
            kind: if prepared.filtered { OBJECTS } else { TEXTS },
            body: Body::lines(prepared),
        })
    }
}

/// Runs a statement and ignores its answer.
fn run(http: &mut Http, statement: &str) -> Result<()> {
    let plain = Kind {
        content_type: "text/plain",
        ..JSON
    };
    http.get("POST", "/sql?mode=raw", plain, statement.as_bytes())
        .map(|_| ())
}

impl Table for Alerts {
    fn connect<'p>(&'p self, _: &'p Prepared) -> Result<Box<dyn Caller + 'p>> {
        Ok(Box::new(Connection {
            http: Http::connect(&self.server)?,
            alerts: self,
            request: String::new(),
            counts: Counts::default(),
        }))
    }

    fn remove(&self) -> Result<()> {
        run(&mut Http::connect(&self.server)?, "DROP TABLE bench_alerts")
    }
}

impl Caller for Connection<'_> {
    /// Sends a request and decodes its answer into rows.
    fn call(&mut self, documents: Range<usize>) -> Result<()> {
        self.alerts.body.write(documents, &mut self.request);
        let path = "/pq/bench_alerts/search";
        let body = self.request.as_bytes();
        let answer = self.http.get("POST", path, self.alerts.kind, body)?;
        let decoded = pq::decode(answer).map_err(|error| Error::Http(error.to_string()))?;
        self.counts.pairs += decoded.pairs() as u64;
        self.counts.rows += decoded.head.rows;
        Ok(())
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}

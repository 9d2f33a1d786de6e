//! Doors of a server that percolate documents.

mod binary;
mod body;
mod elastic;
mod mysql;

use std::{fmt, str::FromStr};

use super::{Prepared, caller::Caller};
use crate::{Server, error::Result};

pub(super) use mysql::{ALERTS, Alerts, CHANGING, create_table, inserts};
pub(crate) use mysql::{cell, count, insert_queries};

/// Protocol of a percolation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// `CALL PQ` over the MySQL protocol.
    Mysql,
    /// `POST /pq/{table}/search` with the compact answer.
    HttpBinary,
    /// Elasticsearch's percolate query: `_search` over an index of queries.
    Elasticsearch,
}

impl FromStr for Door {
    type Err = ();

    /// Parses `mysql`, `http-binary` or `elasticsearch`.
    fn from_str(name: &str) -> std::result::Result<Door, ()> {
        match name {
            "mysql" => Ok(Door::Mysql),
            "http-binary" => Ok(Door::HttpBinary),
            "elasticsearch" => Ok(Door::Elasticsearch),
            _ => Err(()),
        }
    }
}

impl fmt::Display for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Door::Mysql => "CALL PQ over MySQL",
            Door::HttpBinary => "POST /pq/bench_alerts/search, compact answer,",
            Door::Elasticsearch => "percolate by POST /bench_alerts/_search",
        })
    }
}

/// A table of queries on a server. Its owner must call [`remove`](Self::remove).
pub(super) trait Table: Sync {
    /// Opens a connection that percolates the documents of the workload.
    fn connect<'p>(&'p self, prepared: &'p Prepared) -> Result<Box<dyn Caller + 'p>>;

    /// Drops the table on the server.
    fn remove(&self) -> Result<()>;
}

/// Creates `bench_alerts` again and stores the queries in it.
pub(super) fn create(door: Door, server: &Server, prepared: &Prepared) -> Result<Box<dyn Table>> {
    match door {
        Door::Mysql => Ok(Box::new(mysql::Alerts::create(server, prepared)?)),
        Door::HttpBinary => Ok(Box::new(binary::Alerts::create(server, prepared)?)),
        Door::Elasticsearch => Ok(Box::new(elastic::Index::create(server, prepared)?)),
    }
}

/// The existing `bench_alerts` of a server. Checks that it has every query.
pub(super) fn stored(server: &Server, prepared: &Prepared) -> Result<impl Table> {
    mysql::Alerts::stored(server, prepared)
}

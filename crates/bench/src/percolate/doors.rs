//! The doors of a server that answer which queries some documents hit.

mod binary;
mod body;
mod elastic;
mod mysql;

use std::{fmt, str::FromStr};

use super::{Prepared, caller::Caller};
use crate::{Server, error::Result};

pub(super) use mysql::{ALERTS, Alerts, CHANGING, create_table, inserts};
pub(crate) use mysql::{cell, count, insert_queries};

/// How a server is asked.
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

    /// `mysql`, `http-binary` or `elasticsearch`.
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

/// A table of queries on a server. Dropping it on the server is the owner's to do.
pub(super) trait Table: Sync {
    /// A connection that asks about the documents of the workload.
    fn connect<'p>(&'p self, prepared: &'p Prepared) -> Result<Box<dyn Caller + 'p>>;

    /// Takes the table away.
    fn remove(&self) -> Result<()>;
}

/// Makes `bench_alerts` anew and stores the queries in it.
pub(super) fn create(door: Door, server: &Server, prepared: &Prepared) -> Result<Box<dyn Table>> {
    match door {
        Door::Mysql => Ok(Box::new(mysql::Alerts::create(server, prepared)?)),
        Door::HttpBinary => Ok(Box::new(binary::Alerts::create(server, prepared)?)),
        Door::Elasticsearch => Ok(Box::new(elastic::Index::create(server, prepared)?)),
    }
}

/// `bench_alerts` as it is on a server, with every query in it.
pub(super) fn stored(server: &Server, prepared: &Prepared) -> Result<impl Table> {
    mysql::Alerts::stored(server, prepared)
}

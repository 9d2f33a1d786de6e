//! The open connections, and the searches of HTTP requests.

use std::collections::BTreeMap;

use super::{Asked, NUMBER, Relation, Rows, named, number, text};
use crate::errors::Failure;
use crate::places::Peer;
use crate::searches::Listed;

pub(super) const RELATIONS: &[Relation] = &[Relation {
    name: "system.processes",
    columns: named!(id: NUMBER, user, host, db, command, time: NUMBER, state, info),
    asks: None,
    rows: processes,
}];

/// The open connections, then the searches of HTTP requests.
pub(super) fn processes(asked: &Asked<'_>) -> Result<Rows, Failure> {
    let (node, session) = (asked.node, asked.session);
    let now_us = node.clock.steady_us();
    let mut searches: BTreeMap<u64, Listed> = BTreeMap::new();
    for search in node.searches.list() {
        searches.insert(search.session, search);
    }
    let mut rows = Rows::new();
    for peer in node.places.all() {
        let mut process = Process::of_peer(&peer);
        if peer.id == session.id.0 {
            process.user = session.user.clone();
            process.database = session.database.clone().unwrap_or_default();
            process.command = "Query";
        }
        rows.push(process.with(searches.remove(&peer.id)).row(now_us));
    }
    let unconnected = searches.into_values().map(|search| {
        let process = Process::new(search.session, "http");
        process.with(Some(search)).row(now_us)
    });
    rows.extend(unconnected);
    Ok(rows)
}

struct Process {
    id: u64,
    user: String,
    host: String,
    database: String,
    command: &'static str,
    since_us: u64,
    door: &'static str,
    info: String,
}

impl Process {
    fn new(id: u64, door: &'static str) -> Process {
        Process {
            id,
            user: String::new(),
            host: String::new(),
            database: String::new(),
            command: "Connect",
            since_us: 0,
            door,
            info: String::new(),
        }
    }

    fn of_peer(peer: &Peer) -> Process {
        Process {
            host: peer.host.clone(),
            since_us: peer.since_us,
            ..Process::new(peer.id, peer.door)
        }
    }

    /// Adds the search that it runs, if any: command, start and text.
    fn with(self, search: Option<Listed>) -> Process {
        match search {
            None => self,
            Some(search) => Process {
                command: "Query",
                since_us: search.since_us,
                info: search.text.to_string(),
                ..self
            },
        }
    }

    fn row(self, now_us: u64) -> Vec<relation::value::Value> {
        let seconds = now_us.saturating_sub(self.since_us) / 1_000_000;
        vec![
            number(self.id),
            text(self.user),
            text(self.host),
            text(self.database),
            text(self.command),
            number(seconds),
            text(self.door),
            text(self.info),
        ]
    }
}

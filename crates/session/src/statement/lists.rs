//! SHOW lists that clients and graphical tools ask for: engines, collations, connections.

use std::collections::BTreeMap;

use wire::sql::ShowList;

use crate::node::Node;
use crate::places::Peer;
use crate::searches::Listed;
use crate::session::Session;

/// Column headers of a list.
pub(super) fn headers(list: ShowList) -> &'static [&'static str] {
    match list {
        ShowList::Engines => &[
            "Engine",
            "Support",
            "Comment",
            "Transactions",
            "XA",
            "Savepoints",
        ],
        ShowList::CharacterSets => &["Charset", "Description", "Default collation", "Maxlen"],
        ShowList::Collations => &[
            "Collation",
            "Charset",
            "Id",
            "Default",
            "Compiled",
            "Sortlen",
        ],
        ShowList::Plugins => &["Name", "Status", "Type", "Library", "License"],
        ShowList::Processes => &[
            "Id", "User", "Host", "db", "Command", "Time", "State", "Info",
        ],
        ShowList::Triggers => &["Trigger", "Event", "Table", "Statement", "Timing"],
        ShowList::Routines => &["Db", "Name", "Type"],
        ShowList::Events => &["Db", "Name", "Status"],
        ShowList::Grants => &["Grants"],
    }
}

/// Rows of a list. Lists that have no meaning here are empty: graphical tools ask for them all the same.
pub(super) fn rows(node: &Node, session: &Session, list: ShowList) -> Vec<Vec<String>> {
    let owned = |row: &[&str]| {
        row.iter()
            .map(|cell| (*cell).to_owned())
            .collect::<Vec<String>>()
    };
    match list {
        ShowList::Engines => vec![
            owned(&[
                "seine",
                "DEFAULT",
                "search tables and standing queries",
                "NO",
                "NO",
                "NO",
            ]),
            owned(&[
                "queue",
                "YES",
                "rows for workers: queue_wait, queue_end, queue_abort",
                "NO",
                "NO",
                "NO",
            ]),
        ],
        ShowList::CharacterSets => vec![owned(&[
            "utf8mb4",
            "UTF-8 Unicode",
            "utf8mb4_general_ci",
            "4",
        ])],
        ShowList::Collations => vec![owned(&[
            "utf8mb4_general_ci",
            "utf8mb4",
            "45",
            "Yes",
            "Yes",
            "1",
        ])],
        ShowList::Processes => processes(node, session),
        ShowList::Plugins
        | ShowList::Triggers
        | ShowList::Routines
        | ShowList::Events
        | ShowList::Grants => Vec::new(),
    }
}

/// SHOW PROCESSLIST: the open connections, then the searches of HTTP requests.
fn processes(node: &Node, session: &Session) -> Vec<Vec<String>> {
    let now_us = node.clock.steady_us();
    let mut searches: BTreeMap<u64, Listed> = BTreeMap::new();
    for search in node.searches.list() {
        searches.insert(search.session, search);
    }
    let mut rows: Vec<Vec<String>> = Vec::new();
    for peer in node.places.all() {
        let mut process = Process::of(&peer);
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
    rows
}

/// A row of SHOW PROCESSLIST.
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

    fn of(peer: &Peer) -> Process {
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

    fn row(self, now_us: u64) -> Vec<String> {
        let seconds = now_us.saturating_sub(self.since_us) / 1_000_000;
        vec![
            self.id.to_string(),
            self.user,
            self.host,
            self.database,
            self.command.to_owned(),
            seconds.to_string(),
            self.door.to_owned(),
            self.info,
        ]
    }
}

//! Lists that clients and graphical tools ask for: engines, collations, connections.

use wire::sql::ShowList;

use super::Session;
use crate::node::{Node, Peer};

/// Headers of a list.
pub fn headers(list: ShowList) -> &'static [&'static str] {
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
        ShowList::Indexes => &[
            "Table",
            "Non_unique",
            "Key_name",
            "Seq_in_index",
            "Column_name",
        ],
        ShowList::Triggers => &["Trigger", "Event", "Table", "Statement", "Timing"],
        ShowList::Routines => &["Db", "Name", "Type"],
        ShowList::Events => &["Db", "Name", "Status"],
        ShowList::Grants => &["Grants"],
    }
}

/// Its rows.
pub fn rows(node: &Node, session: &Session, list: ShowList) -> Vec<Vec<String>> {
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
        | ShowList::Indexes
        | ShowList::Triggers
        | ShowList::Routines
        | ShowList::Events
        | ShowList::Grants => Vec::new(),
    }
}

fn processes(node: &Node, session: &Session) -> Vec<Vec<String>> {
    let now_us = node.clock.steady_us();
    let row = |peer: &Peer| {
        let own = peer.id == session.id.0;
        let seconds = now_us.saturating_sub(peer.since_us) / 1_000_000;
        let command = if own { "Query" } else { "Connect" };
        let user = if own {
            session.user.clone()
        } else {
            String::new()
        };
        let database = if own {
            session.database.clone().unwrap_or_default()
        } else {
            String::new()
        };
        vec![
            peer.id.to_string(),
            user,
            peer.host.clone(),
            database,
            command.to_owned(),
            seconds.to_string(),
            peer.door.to_owned(),
            String::new(),
        ]
    };
    node.peers().iter().map(|peer| row(peer)).collect()
}

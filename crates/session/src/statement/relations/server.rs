//! The server: its variables and counters, and lists that clients and graphical tools ask for.

use super::last::pairs;
use super::{Asked, NUMBER, Relation, Rows, named, number, text};
use crate::errors::Failure;
use crate::session::DATABASE;
use crate::statement::variables;

/// The only character set.
pub(super) const CHARSET: &str = "utf8mb4";

/// The only collation, which says how other servers would compare these texts.
pub(super) const COLLATION: &str = "utf8mb4_general_ci";

pub(super) const RELATIONS: &[Relation] = &[
    Relation {
        name: "system.databases",
        columns: named!(database),
        asks: None,
        rows: |_| Ok(vec![vec![text(DATABASE)]]),
    },
    Relation {
        name: "system.version",
        columns: named!(component, version),
        asks: None,
        rows: |_| Ok(vec![vec![text("seine"), text(env!("CARGO_PKG_VERSION"))]]),
    },
    Relation {
        name: "system.status",
        columns: named!(counter, value),
        asks: None,
        rows: counters,
    },
    Relation {
        name: "system.variables",
        columns: named!(variable_name, value),
        asks: None,
        rows: |asked| Ok(pairs(variables::all(asked.node, asked.session).into_iter())),
    },
    Relation {
        name: "system.engines",
        columns: named!(engine, support, comment, transactions, xa, savepoints),
        asks: None,
        rows: |_| {
            let row = |name, support, comment| {
                let cells = [name, support, comment, "YES", "NO", "NO"];
                cells.map(text).to_vec()
            };
            Ok(vec![
                row("seine", "DEFAULT", "search tables and standing queries"),
                row(
                    "queue",
                    "YES",
                    "rows for workers: queue_wait, queue_end, queue_abort",
                ),
            ])
        },
    },
    Relation {
        name: "system.character_sets",
        columns: named!(charset, description, default_collation, maxlen: NUMBER),
        asks: None,
        rows: |_| {
            let row = vec![
                text(CHARSET),
                text("UTF-8 Unicode"),
                text(COLLATION),
                number(4),
            ];
            Ok(vec![row])
        },
    },
    Relation {
        name: "system.collations",
        columns: named!(collation, charset, id: NUMBER, default, compiled, sortlen: NUMBER),
        asks: None,
        rows: |_| {
            let names = [text(COLLATION), text(CHARSET), number(45)];
            let rest = [text("Yes"), text("Yes"), number(1)];
            Ok(vec![names.into_iter().chain(rest).collect()])
        },
    },
    Relation {
        name: "system.plugins",
        columns: named!(name, status, type, library, license),
        asks: None,
        rows: nothing,
    },
    Relation {
        name: "system.triggers",
        columns: named!(trigger, event, table, statement, timing),
        asks: None,
        rows: nothing,
    },
    Relation {
        name: "system.routines",
        columns: named!(db, name, type),
        asks: None,
        rows: nothing,
    },
    Relation {
        name: "system.events",
        columns: named!(db, name, status),
        asks: None,
        rows: nothing,
    },
    Relation {
        name: "system.grants",
        columns: named!(grants),
        asks: None,
        rows: nothing,
    },
];

/// There are none here: graphical tools ask for them all the same.
pub(super) fn nothing(_: &Asked<'_>) -> Result<Rows, Failure> {
    Ok(Rows::new())
}

/// The server's counters.
pub(super) fn counters(asked: &Asked<'_>) -> Result<Rows, Failure> {
    let samples = asked.node.samples().into_iter();
    let mut rows: Vec<(String, String)> = samples
        .map(|sample| {
            let number = match sample.status {
                "uptime" => sample.value / 1_000_000,
                _ => sample.value,
            };
            (sample.status.to_owned(), number.to_string())
        })
        .collect();
    let version = env!("CARGO_PKG_VERSION").to_owned();
    rows.insert(1, ("version".to_owned(), version));
    Ok(pairs(rows.into_iter()))
}

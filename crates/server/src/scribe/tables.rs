//! Makes the tables of a configuration's stores, and keeps the standing queries that it names.

use std::collections::BTreeMap;

use collect::config::Configuration;
use collect::{MARK, Making, making, quoted_text};
use relation::value::Value;
use session::errors::{Failure, NO_SUCH_TABLE};

use crate::server::Server;

/// Makes what a configuration names and what is not there. Gives the tables that could not be made, with the reasons.
pub(super) async fn make(server: &Server, configuration: &Configuration) -> Vec<(String, String)> {
    let mut refused = Vec::new();
    for making in making(configuration) {
        if let Err(failure) = make_one(server, &making).await {
            refused.push((making.table, failure.to_string()));
        }
    }
    refused
}

async fn make_one(server: &Server, making: &Making) -> Result<(), Failure> {
    let is_there = server
        .run(&format!("SHOW CREATE TABLE `{}`", making.table))
        .await;
    match is_there {
        Ok(_) => {}
        Err(failure) if failure.kind == NO_SUCH_TABLE => {
            for create in &making.create {
                server.run(create).await?;
            }
        }
        Err(failure) => return Err(failure),
    }
    match &making.queries {
        Some(queries) => keep_queries(server, &making.table, queries).await,
        None => Ok(()),
    }
}

/// Stores the queries of a configuration that the table lacks or has with another text, and deletes those of an earlier one.
async fn keep_queries(
    server: &Server,
    table: &str,
    wanted: &[(u64, String)],
) -> Result<(), Failure> {
    let mark = quoted_text(MARK);
    let select = format!("SELECT id, query FROM `{table}` WHERE tags={mark} LIMIT 1000000");
    let mut stored: BTreeMap<u64, String> = BTreeMap::new();
    for row in server.run(&select).await? {
        if let [Value::Int(id), Value::Str(text)] = &*row {
            stored.insert(u64::try_from(*id).unwrap_or_default(), text.clone());
        }
    }
    for (id, text) in wanted {
        if stored.remove(id).as_ref() != Some(text) {
            let text = quoted_text(text);
            let replace =
                format!("REPLACE INTO `{table}` (id, query, tags) VALUES ({id}, {text}, {mark})");
            server.run(&replace).await?;
        }
    }
    for id in stored.keys() {
        server
            .run(&format!("DELETE FROM `{table}` WHERE id={id}"))
            .await?;
    }
    Ok(())
}

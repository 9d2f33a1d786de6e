//! System relations: each is read by SELECT and printed by its SHOW.

use client::{Client, QueryResult};

use crate::server::{Server, Setup};

fn rows(client: &mut Client, statement: &str) -> Vec<Vec<String>> {
    let QueryResult { rows, .. } = client
        .query(statement)
        .unwrap_or_else(|error| panic!("{statement}: {error}"));
    let text =
        |cell: Option<Vec<u8>>| cell.map_or("NULL".to_owned(), |it| String::from_utf8(it).unwrap());
    rows.into_iter()
        .map(|row| row.into_iter().map(text).collect())
        .collect()
}

fn fill(client: &mut Client) {
    for statement in [
        "CREATE TABLE posts (body text, n int, d decimal(6,2), KEY (n))",
        "CREATE TABLE jobs (payload varchar(20), due datetime(3)) ENGINE=queue groups='a,b'",
        "CREATE TABLE alerts (body text) type='pq'",
        "CREATE TEMPORARY TABLE own (id bigint)",
        "INSERT INTO posts (id, body, n) VALUES (1, 'x', 3), (2, 'y', 4)",
    ] {
        client.query(statement).unwrap();
    }
}

/// A relation that is added to the register is read here by being there: its rows have the width of its columns, and the docs name it.
#[test]
fn each_relation_is_read_by_its_columns() {
    let server = Server::start();
    let mut client = server.client();
    fill(&mut client);
    let columns = rows(
        &mut client,
        "SELECT relation, column_name FROM system.relations LIMIT 100000",
    );
    let mut relations: Vec<&String> = columns.iter().map(|row| &row[0]).collect();
    relations.dedup();
    assert!(relations.len() > 40, "{relations:?}");
    let document = include_str!("../../../../docs/sql.md");
    for relation in relations {
        let (_, name) = relation.split_once('.').unwrap();
        assert!(
            document.contains(&format!("`{name}`")),
            "docs/sql.md lacks {relation}"
        );
        let names: Vec<String> = columns
            .iter()
            .filter(|row| row[0] == *relation)
            .map(|row| format!("`{}`", row[1]))
            .collect();
        let all = rows(
            &mut client,
            &format!("SELECT * FROM {relation} LIMIT 100000"),
        );
        let named = format!("SELECT {} FROM {relation} LIMIT 100000", names.join(", "));
        let named = rows(&mut client, &named);
        assert_eq!(all.len(), named.len(), "{relation}");
        let count = rows(&mut client, &format!("SELECT COUNT(*) FROM {relation}"));
        assert_eq!(count, [[all.len().to_string()]], "{relation}");
    }
}

/// A catalog of very many columns is paid for as it is described: the statement is refused, and the server goes on.
#[test]
fn a_catalog_that_takes_more_memory_than_there_is_is_refused() {
    let server = Setup::default().flag("--memory", "64MiB").start();
    let mut client = server.client();
    let columns: Vec<String> = (0..250)
        .map(|at| format!("a_column_of_the_number_{at} int"))
        .collect();
    for table in 0..200 {
        let create = format!(
            "CREATE TABLE t{table} ({}) ENGINE=queue",
            columns.join(", ")
        );
        client.query(&create).unwrap();
    }
    for statement in [
        "SELECT COUNT(*) FROM information_schema.columns",
        "CREATE TEMPORARY TABLE kept SELECT * FROM system.columns",
    ] {
        let error = client.query(statement).unwrap_err().to_string();
        assert!(
            error.contains("1040") || error.contains("memory"),
            "{statement}: {error}"
        );
    }
    let one = "SELECT COUNT(*) FROM information_schema.tables";
    assert_eq!(rows(&mut client, one), [["200"]]);
    let one = rows(
        &mut client,
        "SHOW COLUMNS FROM t7 WHERE Field = 'a_column_of_the_number_7'",
    );
    assert_eq!(one.len(), 1);
}

//! ALTER TABLE of a search table beside other statements, and across a kill.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use client::Client;

use crate::server::{Server, number};

/// Rows that the table begins with. A turn writes fewer, so jobs run.
const ROWS: u64 = 30_000;

/// `id` to `n` and what `column` shows, of all rows.
fn rows(client: &mut Client, column: &str) -> BTreeMap<u64, (String, String)> {
    let select = format!("SELECT id, n, {column} FROM news LIMIT 1000000");
    let cell = |cell: &Option<Vec<u8>>| {
        cell.as_ref().map_or("NULL".to_owned(), |cell| {
            String::from_utf8(cell.clone()).unwrap()
        })
    };
    let found = client.query(&select).unwrap().rows;
    let row = |row: &Vec<Option<Vec<u8>>>| {
        (
            cell(&row[0]).parse().unwrap(),
            (cell(&row[1]), cell(&row[2])),
        )
    };
    found.iter().map(row).collect()
}

fn fill(client: &mut Client) {
    client
        .query("CREATE TABLE news (title text, body text, n int)")
        .unwrap();
    for first in (1..=ROWS).step_by(2_000) {
        let row = |id| format!("({id}, 'cat number {id}', 'dog', {})", id % 10);
        let rows: Vec<String> = (first..first + 2_000).map(row).collect();
        let insert = format!(
            "INSERT INTO news (id, title, body, n) VALUES {}",
            rows.join(",")
        );
        client.query(&insert).unwrap();
        if first % 10_000 == 1 {
            client.query("FLUSH TABLE news").unwrap();
        }
    }
}

/// Changes rows until `stop`; gives what the rows must be: `n` by id. It begins before the ALTER and goes on after it.
fn change(client: &mut Client, stop: &AtomicBool) -> BTreeMap<u64, String> {
    let mut expected: BTreeMap<u64, String> =
        (1..=ROWS).map(|id| (id, (id % 10).to_string())).collect();
    for round in 1.. {
        if stop.load(Ordering::Relaxed) && round > 200 {
            break;
        }
        let (new, changed, gone) = (ROWS + round, round * 7 % ROWS + 1, round * 11 % ROWS + 1);
        client
            .query(&format!(
                "INSERT INTO news (id, title, n) VALUES ({new}, 'cat bird', 5)"
            ))
            .unwrap();
        expected.insert(new, "5".to_owned());
        client
            .query(&format!("UPDATE news SET n = {round} WHERE id = {changed}"))
            .unwrap();
        if let Some(n) = expected.get_mut(&changed) {
            *n = round.to_string();
        }
        client
            .query(&format!("DELETE FROM news WHERE id = {gone}"))
            .unwrap();
        expected.remove(&gone);
    }
    expected
}

#[test]
fn writes_beside_an_alter_are_in_the_altered_table_and_a_kill_loses_none() {
    let mut server = Server::start();
    let mut client = server.client();
    fill(&mut client);
    let stop = AtomicBool::new(false);
    let mut writer = server.client();
    let expected = std::thread::scope(|scope| {
        let writing = scope.spawn(|| change(&mut writer, &stop));
        client
            .query("ALTER TABLE news ADD COLUMN stars int DEFAULT 3, DROP COLUMN body")
            .unwrap();
        client.query("ALTER TABLE news ADD KEY (n)").unwrap();
        stop.store(true, Ordering::Relaxed);
        writing.join().unwrap()
    });
    let check = |client: &mut Client| {
        let found = rows(client, "stars");
        assert!(found.values().all(|(_, stars)| stars == "3"));
        let found: BTreeMap<u64, String> = found.into_iter().map(|(id, (n, _))| (id, n)).collect();
        assert_eq!(found.len(), expected.len());
        assert_eq!(found, expected);
        let five = expected.values().filter(|n| *n == "5").count();
        assert_eq!(
            number(client, "SELECT COUNT(*) FROM news WHERE n = 5"),
            five as i64
        );
        assert_eq!(
            number(client, "SELECT COUNT(*) FROM news WHERE MATCH('cat')"),
            expected.len() as i64
        );
        assert_eq!(
            number(client, "SELECT COUNT(*) FROM news WHERE MATCH('dog')"),
            0
        );
    };
    check(&mut client);
    drop(client);
    server.kill_and_restart();
    check(&mut server.client());
    server.stop_and_restart();
    check(&mut server.client());
}

#[test]
fn an_alter_killed_half_way_is_done_or_not_done() {
    let mut server = Server::start();
    let mut client = server.client();
    fill(&mut client);
    drop(client);
    for delay_ms in [0, 20, 60, 150] {
        let before = rows(&mut server.client(), "n");
        let mut altering = server.client();
        let altered = std::thread::scope(|scope| {
            let waiting = scope.spawn(move || {
                altering
                    .query(&format!(
                        "ALTER TABLE news ADD COLUMN after_{delay_ms} int DEFAULT 4"
                    ))
                    .is_ok()
            });
            // The kill comes at different steps of the ALTER; which one does not matter.
            let kill = std::time::Instant::now() + std::time::Duration::from_millis(delay_ms);
            while std::time::Instant::now() < kill && !waiting.is_finished() {
                std::thread::yield_now();
            }
            server.kill();
            waiting.join().unwrap()
        });
        server.again();
        let mut client = server.client();
        assert_eq!(rows(&mut client, "n"), before);
        let select = format!("SELECT COUNT(*) FROM news WHERE after_{delay_ms} = 4");
        match client.query(&select) {
            Ok(_) => assert_eq!(number(&mut client, &select), before.len() as i64),
            Err(error) => {
                assert!(!altered, "the client was told that it is done");
                assert!(error.to_string().contains("no column"), "{error}");
            }
        }
    }
}

#[test]
fn a_table_that_is_dropped_or_renamed_ends_its_alter_with_an_error() {
    let server = Server::start();
    let mut client = server.client();
    for statement in ["RENAME TABLE news TO old", "DROP TABLE news"] {
        client.query("DROP TABLE IF EXISTS old").unwrap();
        fill(&mut client);
        let mut altering = server.client();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(move || altering.query("ALTER TABLE news DROP COLUMN body"));
            client.query(statement).unwrap();
            // Either the ALTER was first, or it was told.
            if let Err(error) = waiting.join().unwrap() {
                let error = error.to_string();
                assert!(
                    error.contains("renamed or dropped") || error.contains("no table"),
                    "{error}"
                );
            }
        });
    }
}

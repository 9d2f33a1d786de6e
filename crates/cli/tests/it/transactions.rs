//! Transactions whose statements come in one text, and so go to the engine together.

use client::Client;

use crate::server::{Server, number, until_waiting};

/// A server with a table `done` and a queue `q` that holds rows 1 to `rows`.
fn start(rows: u32) -> Server {
    let server = Server::start();
    let mut client = server.client();
    client.query("CREATE TABLE done (n int)").unwrap();
    client.query("CREATE TABLE q (n int) ENGINE=queue").unwrap();
    for row in 1..=rows {
        client
            .query(&format!("INSERT INTO q VALUES ({row})"))
            .unwrap();
    }
    server
}

/// The rows that a text shows, or its error.
fn told(client: &mut Client, text: &str) -> Result<Vec<String>, String> {
    let cell =
        |cell: &Option<Vec<u8>>| String::from_utf8(cell.clone().unwrap_or_default()).unwrap();
    let result = client.query(text).map_err(|error| error.to_string())?;
    Ok(result.rows.iter().map(|row| cell(&row[0])).collect())
}

#[test]
fn a_workers_text_stores_its_result_ends_its_row_and_takes_the_next() {
    let server = start(3);
    let mut worker = server.client();
    assert_eq!(
        told(&mut worker, "CALL QUEUE_NEXT('q', 60)").unwrap(),
        ["1"]
    );
    for taken in 1..3 {
        let text = format!(
            "BEGIN; INSERT INTO done (id) VALUES ({taken}); CALL QUEUE_NEXT('q', 60); COMMIT"
        );
        assert_eq!(told(&mut worker, &text).unwrap(), [(taken + 1).to_string()]);
    }
    let last = "BEGIN; INSERT INTO done (id) VALUES (3); SELECT queue_end(); COMMIT";
    assert_eq!(told(&mut worker, last).unwrap(), ["1"]);
    drop(worker);
    let mut client = server.client();
    assert_eq!(number(&mut client, "SELECT COUNT(*) FROM done"), 3);
    assert_eq!(
        told(&mut client, "CALL QUEUE_NEXT('q', 0)").unwrap(),
        [""; 0]
    );
}

#[test]
fn nothing_behind_a_refused_statement_is_done() {
    let server = start(2);
    let mut client = server.client();
    client.query("INSERT INTO done (id) VALUES (7)").unwrap();
    for (refused, why) in [
        ("INSERT INTO done (id) VALUES (7)", "1062"),
        ("INSERT INTO done (id, nothing) VALUES (8, 8)", "1054"),
        ("CALL QUEUE_NEXT('nothing', 0)", "1146"),
        ("INSERT INTO", "1064"),
    ] {
        let mut worker = server.client();
        let text = format!(
            "BEGIN; INSERT INTO done (id) VALUES (1); {refused}; CALL QUEUE_NEXT('q', 0); COMMIT"
        );
        let error = told(&mut worker, &text).unwrap_err();
        assert!(error.contains(why), "{refused}: {error}");
        assert_eq!(
            number(&mut client, "SELECT COUNT(*) FROM done"),
            1,
            "{refused}"
        );
        // The transaction is open, and the queue's row is free.
        assert_eq!(told(&mut worker, "SELECT @@in_transaction").unwrap(), ["1"]);
        worker.query("COMMIT").unwrap();
        assert_eq!(
            number(&mut client, "SELECT COUNT(*) FROM done"),
            2,
            "{refused}"
        );
        client.query("DELETE FROM done WHERE id = 1").unwrap();
        assert_eq!(told(&mut client, "CALL QUEUE_NEXT('q', 0)").unwrap(), ["1"]);
        client.query("SELECT queue_abort()").unwrap();
    }
}

#[test]
fn a_text_that_waits_for_a_row_is_committed_once_it_has_one() {
    let server = start(0);
    let mut client = server.client();
    std::thread::scope(|scope| {
        let mut worker = server.client();
        let text = "BEGIN; INSERT INTO done (id) VALUES (1); CALL QUEUE_NEXT('q', 60); \
                    INSERT INTO done (id) VALUES (2); COMMIT";
        let waiting = scope.spawn(move || (told(&mut worker, text), worker));
        until_waiting(&mut client, 1);
        assert_eq!(number(&mut client, "SELECT COUNT(*) FROM done"), 0);
        client.query("INSERT INTO q VALUES (5)").unwrap();
        let (taken, _worker) = waiting.join().unwrap();
        assert_eq!(taken.unwrap(), ["5"]);
        assert_eq!(number(&mut client, "SELECT COUNT(*) FROM done"), 2);
    });
}

#[test]
fn a_commit_that_is_refused_stores_nothing_and_gives_the_row_back() {
    let server = start(1);
    let mut client = server.client();
    let mut worker = server.client();
    worker
        .query("BEGIN; INSERT INTO done (id) VALUES (1)")
        .unwrap();
    client
        .query("INSERT INTO done (id, n) VALUES (1, 9)")
        .unwrap();
    let text = "INSERT INTO done (id) VALUES (2); CALL QUEUE_NEXT('q', 0); COMMIT; SELECT 1";
    let error = told(&mut worker, text).unwrap_err();
    assert!(error.contains("rolled back"), "{error}");
    assert_eq!(number(&mut client, "SELECT COUNT(*) FROM done"), 1);
    assert_eq!(told(&mut client, "CALL QUEUE_NEXT('q', 0)").unwrap(), ["1"]);
}

#[test]
fn transactions_of_one_text_are_stored_one_by_one() {
    let server = start(0);
    let mut client = server.client();
    let text = "SET autocommit=0; INSERT INTO done (id) VALUES (1); INSERT INTO done (id) VALUES (2); COMMIT; \
                INSERT INTO done (id) VALUES (3); DELETE FROM done WHERE id = 1; COMMIT; \
                INSERT INTO done (id) VALUES (4); INSERT INTO done (id) VALUES (5); ROLLBACK";
    client.query(text).unwrap();
    let mut other = server.client();
    assert_eq!(
        told(&mut other, "SELECT id FROM done ORDER BY id ASC").unwrap(),
        ["2", "3"]
    );
}

#[test]
fn a_hundred_clients_sell_a_stock_to_the_last_piece_and_no_further() {
    const CLIENTS: usize = 100;
    const STOCK: usize = 40;
    let server = Server::start();
    let mut client = server.client();
    client.query("CREATE TABLE stock (n int)").unwrap();
    let filled = format!("INSERT INTO stock VALUES (1, {STOCK})");
    client.query(&filled).unwrap();
    let all_have_told = std::sync::Barrier::new(CLIENTS);
    let (mut sold, mut refused) = (0, 0);
    std::thread::scope(|scope| {
        let buyers = (0..CLIENTS).map(|_| {
            let (mut buyer, all_have_told) = (server.client(), &all_have_told);
            scope.spawn(move || {
                buyer.query("BEGIN").unwrap();
                let sell = "UPDATE stock SET n = n - 1 WHERE id = 1 AND n > 0";
                assert_eq!(buyer.query(sell).unwrap().affected, 1);
                all_have_told.wait();
                buyer.query("COMMIT").map_err(|error| error.to_string())
            })
        });
        let buyers: Vec<_> = buyers.collect();
        for buyer in buyers {
            match buyer.join().unwrap() {
                Ok(_) => sold += 1,
                Err(error) => {
                    assert!(error.contains("1213"), "{error}");
                    refused += 1;
                }
            }
        }
    });
    assert_eq!((sold, refused), (STOCK, CLIENTS - STOCK));
    assert_eq!(told(&mut client, "SELECT n FROM stock").unwrap(), ["0"]);
}

//! Standing queries, which stay in memory: a client stores them until the server refuses.

use super::{attack, refusal, server, wanted};
use crate::server::until;

/// Stores queries, `at_once` by each INSERT, until the server refuses them for good.
fn fill(name: &str, at_once: usize, query: &dyn Fn(usize) -> String) {
    let server = server();
    let mut client = server.client();
    client
        .query("CREATE TABLE pq (title text, body text) type='pq'")
        .unwrap();
    attack(name, &server, |_| {
        let refused = (0..2_000_000).step_by(at_once).find_map(|start| {
            let rows: Vec<String> = (start..start + at_once)
                .map(|id| format!("({}, '{}')", id + 1, query(id)))
                .collect();
            let insert = format!("INSERT INTO pq (id, query) VALUES {}", rows.join(","));
            stored(&mut client, &insert)
        });
        eprintln!("{} queries", queries(&mut server.client()));
        assert_eq!(refused, Some(1105));
    });
}

#[test]
fn standing_queries_until_memory_is_full() {
    if wanted() {
        fill("standing queries until refused", 2_000, &|id| {
            let (a, b) = (id % 50_021, id * 31 % 70_001);
            format!("word{a} term{b} (common | rare{id})")
        });
    }
}

#[test]
fn simple_standing_queries_until_memory_is_full() {
    if wanted() {
        fill("one-word standing queries until refused", 5_000, &|id| {
            format!("w{id}")
        });
    }
}

/// Sends an INSERT until it is stored or refused for good, and returns the code of the refusal. Error 1040 asks to send it
/// again: the server files queries anew.
fn stored(client: &mut client::Client, insert: &str) -> Option<u16> {
    until("an INSERT is taken or refused for good", || {
        let refused = refusal(&client.query(insert));
        (refused != Some(1040)).then_some(refused)
    })
}

/// Standing queries of the table.
fn queries(client: &mut client::Client) -> String {
    let rows = client.query("SELECT COUNT(*) FROM pq").unwrap().rows;
    let count = rows[0][0].clone().unwrap_or_default();
    String::from_utf8_lossy(&count).into_owned()
}

#[test]
fn rows_of_new_words_in_the_tail() {
    if wanted() {
        let server = server();
        let mut client = server.client();
        attack("tails of 60,000 rows of new words", &server, |_| {
            for start in (0..120_000).step_by(500) {
                let rows: Vec<String> = (start..start + 500)
                    .map(|row| {
                        let words: Vec<String> = (0..40)
                            .map(|word| format!("x{}y{word}", row % 60_000))
                            .collect();
                        format!("('{}', {row})", words.join(" "))
                    })
                    .collect();
                let insert = format!("INSERT INTO docs (body, n) VALUES {}", rows.join(","));
                while let Some(number) = refusal(&client.query(&insert)) {
                    assert_eq!(number, 1040, "it is for later, not for never");
                }
            }
        });
    }
}

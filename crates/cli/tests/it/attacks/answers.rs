//! Answers that are large, and answers that nobody reads.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;

use client::Client;

use super::raw::Raw;
use super::{attack, insert_rows, refusal, server, wanted};
use crate::server::{Server, request, until};

/// Rows of the table whose answers nobody reads.
const ROWS: usize = 300_000;

/// A server with a table of as many rows.
fn full() -> Server {
    let server = server();
    let mut client = server.client();
    client.query("DELETE FROM docs WHERE id > 0").unwrap();
    insert_rows(&mut client, ROWS);
    client.query("FLUSH TABLE docs").unwrap();
    server
}

#[test]
fn sorted_answers_that_nobody_reads() {
    if wanted() {
        let text = format!("SELECT * FROM docs ORDER BY n DESC, id ASC LIMIT {ROWS}");
        attack(
            "60 × ORDER BY … LIMIT 300000, unread",
            &full(),
            |server| {
                ask_all(server, &text);
            },
        );
    }
}

#[test]
fn answers_over_http_that_nobody_reads() {
    if wanted() {
        let text = format!("SELECT * FROM docs LIMIT {ROWS}");
        attack("30 HTTP answers of 60 MB, unread", &full(), |server| {
            let clients: Vec<TcpStream> = (0..30)
                .map(|_| {
                    let mut client = TcpStream::connect(server.http()).unwrap();
                    let head = "POST /sql HTTP/1.1\r\nHost: localhost\r\nContent-Length:";
                    let request = format!("{head} {}\r\n\r\n{text}", text.len());
                    client.write_all(request.as_bytes()).unwrap();
                    client
                })
                .collect();
            for mut client in &clients {
                // The first byte of each.
                client.read_exact(&mut [0]).unwrap();
            }
        });
    }
}

#[test]
fn hits_of_every_query_on_every_document() {
    if wanted() {
        const MANY: usize = 16_000;
        let server = server();
        let mut client = server.client();
        client
            .query("CREATE TABLE pq (body text) type='pq'")
            .unwrap();
        for start in (0..MANY).step_by(4_000) {
            let rows: Vec<String> = (start..start + 4_000)
                .map(|id| format!("({}, 'a')", id + 1))
                .collect();
            let insert = format!("INSERT INTO pq (id, query) VALUES {}", rows.join(","));
            client.query(&insert).unwrap();
        }
        let documents = vec!["'a'"; MANY].join(",");
        let text = format!("CALL PQ('pq', ({documents}), 0 AS docs_json, 1 AS docs)");
        attack("CALL PQ of 16,000 × 16,000, 4 at once", &server, |server| {
            thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        let answer = server.client().query_rows(&text, &mut |_| {});
                        assert!(matches!(refusal(&answer), Some(1040 | 1105)));
                    });
                }
            });
        });
    }
}

#[test]
fn rows_of_12_mb_that_nobody_reads() {
    if wanted() {
        let server = server();
        let mut client = server.client();
        client.query("CREATE TABLE large (body string)").unwrap();
        let insert = format!("INSERT INTO large VALUES (1, '{}')", "x".repeat(12 << 20));
        client.query(&insert).unwrap();
        client.query("FLUSH TABLE large").unwrap();
        let often = format!("SELECT {}body FROM large", "body,".repeat(4_000));
        attack(
            "60 × a row of 12 MB, unread; one of 4,001 times that",
            &server,
            |server| {
                let refused = refusal(&server.client().query(&often));
                assert_eq!(refused, Some(1038));
                ask_all(server, "SELECT body FROM large");
            },
        );
    }
}

#[test]
fn rows_of_queues_and_pq_tables_that_nobody_reads() {
    if wanted() {
        let server = server();
        let mut client = server.client();
        client
            .query("CREATE TABLE jobs (body text) engine=queue")
            .unwrap();
        client
            .query("CREATE TABLE pq (body text) type='pq'")
            .unwrap();
        for start in (0..60_000).step_by(2_000) {
            let rows = |text: &dyn Fn(usize) -> String| {
                let rows: Vec<String> = (start..start + 2_000).map(text).collect();
                rows.join(",")
            };
            let jobs = rows(&|row| format!("('{row} {}')", "lorem ipsum ".repeat(40)));
            let queries = rows(&|row| format!("({}, 'w{row}')", row + 1));
            for insert in [
                format!("INSERT INTO jobs VALUES {jobs}"),
                format!("INSERT INTO pq (id, query) VALUES {queries}"),
            ] {
                client.query(&insert).unwrap();
            }
        }
        let often = "query,".repeat(500);
        for text in [
            "SELECT * FROM jobs".to_owned(),
            "SELECT * FROM jobs ORDER BY body DESC".to_owned(),
            format!("SELECT {often}query FROM pq LIMIT 60000"),
        ] {
            let name = format!("60 × `{}…`, unread", &text[..18]);
            attack(&name, &server, |server| ask_all(server, &text));
        }
    }
}

/// 60 clients ask, and read no more than the first packet: of the answer, or of its refusal.
fn ask_all(server: &Server, text: &str) {
    let mut clients: Vec<Raw> = (0..60)
        .map(|_| {
            let mut client = Raw::connect(server.mysql(), false);
            client.send(text.as_bytes());
            client
        })
        .collect();
    clients.iter_mut().for_each(|client| {
        client.packet();
    });
}

#[test]
fn what_sessions_keep() {
    if wanted() {
        let server = server();
        let long = "x".repeat(8 << 20);
        let words: Vec<String> = (0..16_000).map(|word| format!("w{word}")).collect();
        let words = format!(
            "SELECT id FROM docs WHERE MATCH('{}') LIMIT 1",
            words.join("|")
        );
        let row = format!("SELECT '{}' AS a", "x".repeat(900_000));
        attack(
            "300 sessions that are told to keep much",
            &server,
            |server| {
                let sessions: Vec<Client> = (0..300)
                    .map(|count| {
                        let mut client = server.client();
                        if count < 20 {
                            for text in [format!("USE {long}"), format!("SET @{long}=1")] {
                                assert_eq!(refusal(&client.query(&text)), Some(1105));
                            }
                        }
                        if count % 10 == 0 {
                            client.query(&words).unwrap();
                        }
                        client.query(&row).unwrap();
                        client
                    })
                    .collect();
                drop(sessions);
            },
        );
    }
}

#[test]
fn replies_of_elasticsearch_that_nobody_reads() {
    if wanted() {
        let server = server();
        let send = |head: &str, body: &str| request(server.http(), head, "", body.as_bytes());
        let mapping =
            r#"{"mappings":{"properties":{"q":{"type":"percolator"},"body":{"type":"text"}}}}"#;
        assert_eq!(send("PUT /pqs", mapping).0, 200);
        for start in (0..600).step_by(20) {
            let lines: Vec<String> = (start..start + 20)
                .map(|id| {
                    let words = "lorem ipsum ".repeat(4_000);
                    let query = format!(r#"{{"q":{{"match":{{"body":"w{id} {words}"}}}}}}"#);
                    format!("{{\"index\":{{\"_id\":\"{id}\"}}}}\n{query}\n")
                })
                .collect();
            let (_, stored) = send("POST /pqs/_bulk", &lines.concat());
            assert!(stored.contains(r#""errors":false"#), "{stored:.200}");
        }
        let search = r#"{"size":10000,"query":{"match_all":{}}}"#;
        let searches = format!("{{}}\n{search}\n").repeat(20);
        attack("30 × `_msearch` of 20 × 29 MB", &server, |_| {
            thread::scope(|scope| {
                for _ in 0..30 {
                    scope.spawn(|| send("POST /pqs/_msearch", &searches));
                }
            });
        });
    }
}

#[test]
fn highlights_of_every_query_on_a_long_document() {
    if wanted() {
        let server = server();
        let mut client = server.client();
        client
            .query("CREATE TABLE pq (body text) type='pq'")
            .unwrap();
        let rows: Vec<String> = (1..=400).map(|id| format!("({id}, 'a')")).collect();
        let insert = format!("INSERT INTO pq (id, query) VALUES {}", rows.join(","));
        client.query(&insert).unwrap();
        let document = "a lorem ".repeat(25_000);
        let text = format!("CALL PQ('pq', '{document}', 0 AS docs_json, 1 AS highlight)");
        attack("6 × CALL PQ with 100 MB of highlights", &server, |server| {
            ask_all(server, &text);
        });
    }
}

#[test]
fn statements_that_are_small_and_many() {
    if wanted() {
        let text = "SHOW STATUS;".repeat(50_000);
        attack("3 × 50,000 statements over HTTP", &server(), |server| {
            thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| {
                        request(server.http(), "POST /sql?mode=raw", "", text.as_bytes())
                    });
                }
            });
        });
    }
}

#[test]
fn rows_taken_from_a_queue_that_nobody_reads() {
    if wanted() {
        let server = server();
        let mut client = server.client();
        client
            .query("CREATE TABLE jobs (body longblob) engine=queue")
            .unwrap();
        let insert = format!("INSERT INTO jobs VALUES ('{}')", "x".repeat(1 << 20));
        for _ in 0..300 {
            until("a row is taken", || {
                refusal(&client.query(&insert)).is_none().then_some(())
            });
        }
        attack("60 × CALL QUEUE_NEXT of 16 MB, unread", &server, |server| {
            ask_all(server, "CALL QUEUE_NEXT('jobs', 5, 16)");
        });
        let mut client = server.client();
        let left = client.query("SELECT COUNT(*) FROM jobs").unwrap().rows;
        assert_eq!(left[0][0].as_deref(), Some(&b"300"[..]), "no row is lost");
    }
}

//! Texts and bodies that become many times their size.

use std::io::Write;
use std::thread;

use flate2::Compression;
use flate2::write::GzEncoder;

use client::Client;

use super::raw::Raw;
use super::{attack, attacked, refusal, server, wanted};
use crate::server::{Server, Setup, request};

const MB: usize = 1_000_000;

/// `head`, then `piece` repeated up to `bytes` bytes, then `tail`.
fn repeated(head: &str, piece: &str, tail: &str, bytes: usize) -> String {
    format!("{head}{}{tail}", piece.repeat(bytes / piece.len()))
}

/// One statement of a client that waits for its answer.
fn ask(server: &Server, text: &str) -> Option<u16> {
    refusal(&server.client().query(text))
}

#[test]
fn many_statements_of_a_client_that_may_send_one() {
    if wanted() {
        let text = repeated("", "use a;", "", 120 * MB);
        attack("`use a;` 120 MB, one allowed", &server(), |server| {
            let mut client = Raw::connect(server.mysql(), false);
            client.send(text.as_bytes());
            assert!(client.last_reply().is_some(), "it is refused");
        });
    }
}

#[test]
fn many_statements_of_a_client_that_may_send_several() {
    if wanted() {
        let text = repeated("", "use a;", "", 120 * MB);
        let small = repeated("", "use a;", "", 16 * MB);
        attack(
            "`use a;` 120 MB and 16 MB, several allowed",
            &server(),
            |server| {
                for text in [&text, &small] {
                    let mut client = Raw::connect(server.mysql(), true);
                    client.send(text.as_bytes());
                    assert!(client.last_reply().is_some(), "it is refused");
                }
            },
        );
    }
}

#[test]
fn a_select_list_of_many_items() {
    if wanted() {
        let text = repeated("SELECT ", "n,", "n FROM docs", 16 * MB);
        attack("`SELECT n,n,…` 16 MB", &server(), |server| {
            assert_eq!(ask(server, &text), Some(1105));
        });
    }
}

#[test]
fn keys_to_order_by_without_end() {
    if wanted() {
        let text = repeated("SELECT id FROM docs ORDER BY ", "n,", "n", 16 * MB);
        attack("`ORDER BY n,n,…` 16 MB", &server(), |server| {
            assert_eq!(ask(server, &text), Some(1105));
        });
    }
}

#[test]
fn rows_of_four_bytes() {
    if wanted() {
        let head = "INSERT INTO docs (n) VALUES ";
        let text = repeated(head, "(1),", "(1)", 120 * MB);
        let small = repeated(head, "(1),", "(1)", 12 * MB);
        attack(
            "INSERT of 120 MB and 12 MB of `(1),`",
            &server(),
            |server| {
                assert!(ask(server, &text).is_some());
                assert!(ask(server, &small).is_some());
            },
        );
    }
}

#[test]
fn lists_of_constants() {
    if wanted() {
        let list = |bytes| repeated("SELECT id FROM docs WHERE n IN (", "1,", "1)", bytes);
        let (large, small) = (list(120 * MB), list(12 * MB));
        attack("IN of 120 MB and 12 MB, 4 at once", &server(), |server| {
            assert!(ask(server, &large).is_some());
            thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| ask(server, &small));
                }
            });
        });
    }
}

#[test]
fn conditions_joined_by_or() {
    if wanted() {
        let text = repeated(
            "SELECT id FROM docs WHERE ",
            "n=1 or id=1 or ",
            "n=1",
            30 * MB,
        );
        attack("OR of 30 MB, 2 at once", &server(), |server| {
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| ask(server, &text));
                }
            });
        });
    }
}

#[test]
fn arrays_of_json() {
    if wanted() {
        let search = |bytes| {
            let head = r#"{"table":"docs","query":{"in":{"n":["#;
            repeated(head, "1,", "1]}}}", bytes)
        };
        let standing = repeated(r#"{"query":{"terms":{"n":["#, "[],", "1]}}}", 30 * MB);
        let line = repeated(
            r#"{"insert":{"table":"docs","doc":{"body":["#,
            "[],",
            "1]}}}\n",
            30 * MB,
        );
        attack(
            "JSON arrays, 8 requests of 30 to 100 MB",
            &server(),
            |server| {
                let put =
                    |head: &str, body: &str| request(server.http(), head, "", body.as_bytes());
                put(
                    "PUT /pqs",
                    r#"{"mappings":{"properties":{"q":{"type":"percolator"}}}}"#,
                );
                thread::scope(|scope| {
                    for _ in 0..2 {
                        scope.spawn(|| put("POST /search", &search(100 * MB)));
                        scope.spawn(|| put("POST /search", &search(30 * MB)));
                        scope.spawn(|| put("POST /bulk", &line));
                        scope.spawn(|| put("POST /pqs/_search", &standing));
                    }
                });
            },
        );
    }
}

#[test]
fn bodies_that_unpack_to_a_thousand_times_their_size() {
    if wanted() {
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        for _ in 0..127 {
            packed.write_all(&vec![b' '; 1 << 20]).unwrap();
        }
        let packed = packed.finish().unwrap();
        attack("gzip 129 KB → 127 MiB, 24 at once", &server(), |server| {
            thread::scope(|scope| {
                for _ in 0..24 {
                    let send = || {
                        let headers = "Content-Encoding: gzip\r\n";
                        request(server.http(), "POST /_bulk", headers, &packed).0
                    };
                    scope.spawn(move || assert!(matches!(send(), 400 | 413 | 429)));
                }
            });
        });
    }
}

#[test]
fn copies_of_the_rows_of_large_tables() {
    if wanted() {
        let server = server();
        let mut client = server.client();
        for statement in [
            "CREATE TABLE big (n bigint)",
            "CREATE TABLE wide (s string)",
        ] {
            client.query(statement).unwrap();
        }
        for _ in 0..64 {
            let rows = repeated("(1)", ",(1)", "", 16_383 * 4);
            client
                .query(&format!("INSERT INTO big (n) VALUES {rows}"))
                .unwrap();
        }
        for _ in 0..20 {
            let text = "x".repeat(2 * MB);
            client
                .query(&format!("INSERT INTO wide (s) VALUES ('{text}')"))
                .unwrap();
        }
        attack(
            "INSERT … SELECT of large tables, 4 at once",
            &server,
            |server| {
                thread::scope(|scope| {
                    for _ in 0..4 {
                        scope.spawn(|| {
                            for table in
                                ["big (n) SELECT n FROM big", "wide (s) SELECT s FROM wide"]
                            {
                                let answer = ask(server, &format!("INSERT INTO {table}"));
                                assert_eq!(answer, Some(1105), "{table}");
                            }
                            let part =
                                "INSERT INTO big (n) SELECT n FROM big ORDER BY id ASC LIMIT 50000";
                            assert_eq!(ask(server, part), None);
                        });
                    }
                });
            },
        );
    }
}

#[test]
fn at_the_default_memory_a_million_constants_and_a_packet_of_128_mib_pass() {
    if wanted() {
        a_million_constants_and_a_packet_of_128_mib_pass(Setup::default());
        // The default where a machine has 4 GiB.
        let setup = Setup::default().flag("--memory", "2GiB");
        a_million_constants_and_a_packet_of_128_mib_pass(setup);
    }
}

fn a_million_constants_and_a_packet_of_128_mib_pass(setup: Setup) {
    let server = attacked(setup).start();
    let mut client = server.client();
    client
        .query("CREATE TABLE docs (body string, n bigint)")
        .unwrap();
    client
        .query("INSERT INTO docs (n) VALUES (999999)")
        .unwrap();
    let numbers: Vec<String> = (0..1_000_000).map(|n| n.to_string()).collect();
    let found = |client: &mut Client, condition: &str| {
        let select = format!("SELECT id FROM docs WHERE {condition}");
        client.query(&select).unwrap().rows.len()
    };
    let list = format!("n IN ({})", numbers.join(","));
    assert_eq!(found(&mut client, &list), 1);
    let alternatives = format!("n={}", numbers.join(" OR n="));
    assert_eq!(found(&mut client, &alternatives), 1);
    let row = format!("('{}', 1)", "a".repeat(1_000_000));
    let rows = vec![row; 133].join(",");
    let insert = format!("INSERT INTO docs (body, n) VALUES {rows}");
    assert!(insert.len() > 126 << 20 && insert.len() < 128 << 20);
    assert_eq!(client.query(&insert).unwrap().affected, 133);
}

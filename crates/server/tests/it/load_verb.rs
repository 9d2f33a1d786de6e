//! `seine load`: what is good is stored, what is bad is told with its line.

use std::process::Output;

use crate::server::{Folder, Server, clean_command};

fn load(server: &Server, table: &str, name: &str, text: &str) -> Output {
    let folder = Folder::new();
    let file = folder.0.join(name);
    std::fs::write(&file, text).unwrap();
    let mut command = clean_command();
    command.args(["load", table, name, "--addr", server.mysql()]);
    command.current_dir(&folder.0).output().unwrap()
}

fn count(server: &Server, table: &str) -> String {
    let answer = server
        .client()
        .query(&format!("SELECT COUNT(*) FROM {table}"))
        .unwrap();
    String::from_utf8(answer.rows[0][0].clone().unwrap()).unwrap()
}

#[test]
fn standing_queries_come_from_csv_and_bad_ones_are_told_by_line_and_byte() {
    let server = Server::start();
    server
        .client()
        .query("CREATE TABLE alerts (body text, sub text, price int) type='pq'")
        .unwrap();
    let text = "id,query,tags,filters\n\
                1,google -maps,web,\n\
                2,\"\"\"star wars\"\"\",\"film,war\",price > 5\n\
                3,(open,,\n\
                4,@nothing word,,\n\
                5,good,,nonsense >\n\
                6,this AND that,,\n\
                7,,,price > 7\n\
                8,,,\n";
    let output = load(&server, "alerts", "queries.csv", text);
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    for wanted in [
        "queries.csv:4: query: unclosed bracket at byte 0",
        "queries.csv:5: query: no field 'nothing' found in schema",
        "queries.csv:6: ",
        "warning, 1 times, first at queries.csv:7: AND is searched as a word",
        "2 queries have no word that must be there",
        "5 rows stored",
        "3 refused",
    ] {
        assert!(said.contains(wanted), "{wanted:?} is not in {said}");
    }
    assert_eq!(count(&server, "alerts"), "5");
    let again = load(&server, "alerts", "queries.csv", text);
    assert_eq!(again.status.code(), Some(1));
    assert_eq!(count(&server, "alerts"), "5");
}

#[test]
fn documents_come_from_ndjson() {
    let server = Server::start();
    server
        .client()
        .query("CREATE TABLE posts (body text, n int, at timestamp)")
        .unwrap();
    let mut text = String::new();
    for id in 1..=2_500 {
        text += &format!("{{\"id\":{id},\"body\":\"it's \\\\ {id}\",\"n\":{id}}}\n");
    }
    text += "{\"id\":9001,\"body\":\"late\",\"at\":\"2026-01-01T00:00:00Z\"}\n";
    let output = load(&server, "posts", "posts.ndjson", &text);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(count(&server, "posts"), "2501");
    let row = server
        .client()
        .query("SELECT body FROM posts WHERE id = 2500")
        .unwrap();
    assert_eq!(row.rows[0][0].as_deref(), Some(&b"it's \\ 2500"[..]));
}

#[test]
fn a_load_that_cannot_begin_says_why() {
    let server = Server::start();
    let output = load(&server, "nothing", "a.csv", "id\n1\n");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("1146"));
    let output = load(&server, "nothing", "a.unknown", "");
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("--format")
    );
}

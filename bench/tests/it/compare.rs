//! `seine bench compare`, with a real server on either side.

use std::process::{Command, Output};

use crate::server::{Server, clean};

fn compare(server: &Server, sides: [&str; 2], more: &[&str]) -> Output {
    let queries = server.folder().path("queries");
    std::fs::write(&queries, "cat dog\nw3 w4 w5\ncat\nnobody\ncat dog\n").unwrap();
    let mut command = clean(Command::new(env!("CARGO_BIN_EXE_seine-bench")));
    command.arg("compare").args(sides);
    command.args(["--queries", &queries, "--strict"]).args(more);
    command.output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn one_shard_and_seven_give_the_same_replies_and_other_rows_do_not() {
    let server = Server::start();
    let mut client = server.client();
    for (table, shards) in [("whole", 1), ("parted", 7), ("other", 1)] {
        let create = format!("CREATE TABLE {table} (body text) shards='{shards}'");
        client.query(&create).unwrap();
        for id in 1..90 {
            let last = if table == "other" && id == 50 {
                "dog dog"
            } else {
                ""
            };
            let insert = format!(
                "INSERT INTO {table} (id, body) VALUES ({id}, 'cat w{} w{} {last}')",
                id % 7,
                id % 11
            );
            client.query(&insert).unwrap();
            if id % 40 == 0 {
                client.query(&format!("FLUSH TABLE {table}")).unwrap();
            }
        }
    }
    let side = |table: &str| format!("{}={table}", server.mysql());
    let saved = server.folder().path("results");
    let same = compare(
        &server,
        [&side("whole"), &side("parted")],
        &["--save", &saved],
    );
    let shown = text(&same);
    assert!(same.status.success(), "{shown}");
    assert!(shown.starts_with("4 queries"), "{shown}");
    assert_eq!(shown.matches("100.00 %").count(), 6, "{shown}");
    let again = compare(
        &server,
        [&saved, &side("parted")],
        &["--option-b", "threads=1"],
    );
    assert!(again.status.success(), "{}", text(&again));
    let differs = compare(&server, [&saved, &side("other")], &[]);
    assert_eq!(differs.status.code(), Some(1));
    assert!(
        text(&differs).contains("total found match"),
        "{}",
        text(&differs)
    );
}

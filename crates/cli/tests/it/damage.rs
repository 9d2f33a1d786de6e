//! A damaged segment through the doors: the answer says what it lacks, and the other segments serve.

use std::fs;
use std::os::unix::fs::FileExt;

use client::Client;

use crate::server::{Server, Setup, clean_command, request};

fn cells(client: &mut Client, statement: &str) -> Vec<Vec<String>> {
    let cell = |cell: Option<Vec<u8>>| String::from_utf8(cell.unwrap_or_default()).unwrap();
    let rows = client.query(statement).unwrap().rows;
    let row = |row: Vec<Option<Vec<u8>>>| row.into_iter().map(cell).collect();
    rows.into_iter().map(row).collect()
}

/// A server with a segment of 40 rows, a segment of 2 rows, and a row in the tail. The sizes are too different for a merge while
/// the test runs. Returns also the path of the larger segment's postings below the data directory.
fn server() -> (Server, String) {
    let server = Server::start();
    let mut client = server.client();
    client.query("CREATE TABLE t (body text)").unwrap();
    let rows: Vec<String> = (1..=40).map(|id| format!("({id}, 'cat')")).collect();
    for rows in [rows.join(", "), "(101, 'cat'), (102, 'dog')".to_owned()] {
        let insert = format!("INSERT INTO t (id, body) VALUES {rows}");
        client.query(&insert).unwrap();
        client.query("FLUSH TABLE t").unwrap();
    }
    client
        .query("INSERT INTO t (id, body) VALUES (201, 'cat')")
        .unwrap();
    let table = server.folder().path("data/tables/1");
    let names = fs::read_dir(&table).unwrap();
    let segments = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let bytes = |segment: &String| {
        fs::metadata(format!("{table}/{segment}/rows")).map_or(0, |rows| rows.len())
    };
    let largest = segments.max_by_key(bytes).unwrap();
    (server, format!("tables/1/{largest}/postings"))
}

/// Inverts a bit of a file under the running server.
fn flip(server: &Server, name: &str) {
    let path = server.folder().path(&format!("data/{name}"));
    let file = fs::File::options()
        .read(true)
        .write(true)
        .open(path)
        .unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, 1).unwrap();
    file.write_all_at(&[byte[0] ^ 16], 1).unwrap();
}

/// Inverts a bit of both copies of a small file under the running server.
fn flip_copies(server: &Server, name: &str) {
    let path = server.folder().path(&format!("data/{name}"));
    let mut bytes = fs::read(&path).unwrap();
    let second = bytes.len().div_ceil(2).next_multiple_of(4096);
    bytes[1] ^= 16;
    bytes[second + 1] ^= 16;
    fs::write(path, bytes).unwrap();
}

fn check(server: &Server, postings: &str) {
    let mut client = server.client();
    let found = cells(
        &mut client,
        "SELECT id FROM t WHERE MATCH('cat') ORDER BY id ASC",
    );
    assert_eq!(found, [["101"], ["201"]], "the other segment and the tail");
    let warnings = cells(&mut client, "SHOW WARNINGS");
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0][2].contains(postings), "{warnings:?}");
    let raw = |statement: &str| {
        request(
            server.http(),
            "POST /sql?mode=raw",
            "",
            statement.as_bytes(),
        )
    };
    let (status, body) = raw("SELECT id FROM t WHERE MATCH('cat') ORDER BY id ASC");
    assert_eq!(status, 200);
    assert!(
        body.contains(postings) && body.contains(r#""data":[{"id":101},{"id":201}]"#),
        "{body}"
    );
    let asked = br#"{"index":"t","query":{"match":{"body":"cat"}}}"#;
    let (status, body) = request(server.http(), "POST /search", "", asked);
    assert_eq!(status, 200);
    assert!(
        body.contains(postings) && body.contains(r#""total_relation":"gte""#),
        "{body}"
    );
    let sound = cells(&mut client, "SELECT id FROM t WHERE MATCH('dog')");
    assert_eq!(sound, [["102"]]);
}

#[test]
fn a_byte_that_turns_in_a_segment_is_named_in_every_answer_that_lacks_its_rows() {
    let (mut server, postings) = server();
    flip(&server, &postings);
    check(&server, &postings);
    assert!(server.log().contains(&postings), "{}", server.log());
    for again in [Server::stop_and_restart, Server::kill_and_restart] {
        again(&mut server);
        check(&server, &postings);
        let count = cells(&mut server.client(), "SELECT COUNT(*) FROM t");
        assert_eq!(count, [["43"]], "rows are counted without their words");
    }
    // A merge reads all of it: it does not replace what it cannot read.
    let mut client = server.client();
    client
        .query("INSERT INTO t (id, body) VALUES (202, 'cat')")
        .unwrap();
    client.query("FLUSH TABLE t").unwrap();
    flip(&server, &postings);
    server.stop_and_restart();
    let found = cells(
        &mut server.client(),
        "SELECT COUNT(*) FROM t WHERE MATCH('cat')",
    );
    assert_eq!(
        found,
        [["43"]],
        "the byte is as it was written, and nothing is lost"
    );
}

/// Rows that are read while they are sent: their ids and values are looked at one by one.
#[test]
fn a_table_that_is_read_whole_says_what_it_lacks_and_no_attribution_is_made_of_it() {
    const ROWS: usize = 30_000;
    let mut server = Server::start();
    let mut client = server.client();
    let create = "CREATE TABLE visits (visitor string, time bigint, channel string)";
    client.query(create).unwrap();
    let row = |id: usize| format!("({id}, 'v{id}', {}, 'search')", 1_700_000_000 + id);
    for first in (1..=ROWS).step_by(5_000) {
        let rows: Vec<String> = (first..first + 5_000).map(|id| row(7 * id)).collect();
        let head = "INSERT INTO visits (id, visitor, time, channel) VALUES";
        client
            .query(&format!("{head} {}", rows.join(", ")))
            .unwrap();
    }
    client.query("FLUSH TABLE visits").unwrap();
    client.query("OPTIMIZE TABLE visits").unwrap();
    let last = row(1_000_000);
    let insert = format!("INSERT INTO visits (id, visitor, time, channel) VALUES {last}");
    client.query(&insert).unwrap();
    let table = server.folder().path("data/tables/1");
    let segments = fs::read_dir(&table).unwrap().map(|entry| entry.unwrap());
    let mut files = segments.map(|entry| entry.path().join("rows"));
    let file = files.find(|path| path.exists()).unwrap();
    let whole = fs::read(&file).unwrap();
    let mut lacking = 0;
    for part in 0..6 {
        let mut damaged = whole.clone();
        damaged[whole.len() * (2 * part + 1) / 12] ^= 16;
        fs::write(&file, damaged).unwrap();
        server.stop_and_restart();
        let mut client = server.client();
        let found = cells(&mut client, "SELECT id, visitor, time, channel FROM visits");
        let warnings = cells(&mut client, "SHOW WARNINGS");
        let is_whole = found.len() == ROWS + 1;
        assert_eq!(is_whole, warnings.is_empty(), "{part}: {warnings:?}");
        assert_eq!(found.last().unwrap()[0], "1000000", "the tail serves");
        assert!(found.is_sorted_by_key(|row| row[0].parse::<u64>().unwrap()));
        lacking += usize::from(!is_whole);
        let call = client.query("CALL ATTRIBUTION('visits', 'linear' AS model)");
        assert_eq!(is_whole, call.is_ok(), "{part}: {call:?}");
        let mut report = clean_command();
        report.args(["attribution", "report", "--table", "visits", "--addr"]);
        let report = report.arg(server.mysql()).output().unwrap();
        let said = String::from_utf8_lossy(&report.stderr);
        assert_eq!(is_whole, report.status.success(), "{part}: {said}");
        assert!(is_whole || said.contains("/rows"), "{said}");
    }
    assert!(lacking > 2, "{lacking}");
}

#[test]
fn what_is_made_of_several_selects_names_the_damaged_file_of_each() {
    let (server, postings) = server();
    let mut client = server.client();
    client.query("CREATE TABLE whole (body text)").unwrap();
    client
        .query("INSERT INTO whole (id, body) VALUES (1001, 'cat')")
        .unwrap();
    flip(&server, &postings);
    let (whole, lacking) = (
        "SELECT id FROM whole WHERE MATCH('cat')",
        "SELECT id FROM t WHERE MATCH('cat')",
    );
    for statement in [
        format!("{whole} UNION ALL {lacking}"),
        format!("{lacking} UNION ALL {whole}"),
        format!("{whole} UNION {lacking}"),
        format!("{whole} UNION ALL {lacking} ORDER BY id ASC"),
        format!("SELECT id FROM ({whole} UNION {lacking}) LIMIT 5"),
    ] {
        let mut found = cells(&mut client, &statement);
        found.sort();
        assert_eq!(found, [["1001"], ["101"], ["201"]], "{statement}");
        let warnings = cells(&mut client, "SHOW WARNINGS");
        assert_eq!(warnings.len(), 1, "{statement}: {warnings:?}");
        assert!(
            warnings[0][2].contains(&postings),
            "{statement}: {warnings:?}"
        );
        let meta = cells(&mut client, "SHOW META LIKE 'total_relation'");
        assert_eq!(meta, [["total_relation", "gte"]], "{statement}");
    }
    for statement in [
        format!("INSERT INTO whole (id) {lacking}"),
        format!("CREATE TEMPORARY TABLE copy AS {lacking}"),
    ] {
        client.query(&statement).unwrap();
        let warnings = cells(&mut client, "SHOW WARNINGS");
        assert_eq!(warnings.len(), 1, "{statement}: {warnings:?}");
        assert!(
            warnings[0][2].contains(&postings),
            "{statement}: {warnings:?}"
        );
    }
}

#[test]
fn a_row_that_may_stand_in_an_unreadable_segment_is_neither_deleted_nor_updated_in_silence() {
    let (mut server, postings) = server();
    let commit = postings.replace("postings", "commit");
    server.stop_and_restart();
    flip_copies(&server, &commit);
    server.stop_and_restart();
    let mut client = server.client();
    for statement in [
        "DELETE FROM t WHERE id = 1",
        "DELETE FROM t WHERE id IN (1, 101)",
        "UPDATE t SET n = 1 WHERE id = 1",
    ] {
        let refused = client.query(statement).unwrap_err();
        assert!(
            refused.to_string().contains(&commit),
            "{statement}: {refused}"
        );
    }
}

/// A server with a segment of 3,000 rows, whose `n` is the id modulo 100. Returns also the path of the file that ends with its key:
/// the texts are too many for a list.
fn keyed_server() -> (Server, String) {
    let server = Server::start();
    let mut client = server.client();
    client
        .query("CREATE TABLE t (body text, n int, KEY (n))")
        .unwrap();
    let rows = (1..=3_000).map(|id| format!("({id}, 'cat {id}', {})", id % 100));
    let rows = rows.collect::<Vec<_>>().join(", ");
    let insert = format!("INSERT INTO t (id, body, n) VALUES {rows}");
    client.query(&insert).unwrap();
    client.query("FLUSH TABLE t").unwrap();
    let table = server.folder().path("data/tables/1");
    let mut names = fs::read_dir(&table).unwrap();
    let segment = names.next().unwrap().unwrap().file_name();
    let name = format!("tables/1/{}/rows", segment.into_string().unwrap());
    (server, name)
}

#[test]
fn a_byte_that_turns_in_a_key_is_named_and_no_row_is_lost() {
    let (mut server, rows) = keyed_server();
    let path = server.folder().path(&format!("data/{rows}"));
    let mut bytes = fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 16; // the row of the highest code
    server.stop_and_restart();
    fs::write(&path, &bytes).unwrap();
    let mut client = server.client();
    let count = cells(&mut client, "SELECT COUNT(*) FROM t WHERE n = 99");
    assert_eq!(count, [["30"]]);
    let warnings = cells(&mut client, "SHOW WARNINGS");
    assert!(
        warnings.len() == 1 && warnings[0][2].contains("a KEY of table 't' cannot be used"),
        "{warnings:?}"
    );
    client
        .query("INSERT INTO t (id, body, n) VALUES (5000, 'dog', 99)")
        .unwrap();
    server.terminate();
    let data = server.folder().path("data");
    let checked = clean_command().args(["check", &data]).output().unwrap();
    assert_eq!(checked.status.code(), Some(1));
    let said = String::from_utf8(checked.stdout).unwrap();
    assert!(
        said.contains(&rows) && said.contains("the index of a KEY"),
        "{said}"
    );
    let repaired = clean_command().args(["repair", &data]).output().unwrap();
    assert_eq!(repaired.status.code(), Some(0));
    let said = String::from_utf8(repaired.stdout).unwrap();
    assert!(said.contains("lost: nothing"), "{said}");
    server.restart_as(Setup::default());
    let mut client = server.client();
    let count = cells(&mut client, "SELECT COUNT(*) FROM t WHERE n = 99");
    assert_eq!(count, [["31"]]);
    assert_eq!(
        cells(&mut client, "SHOW WARNINGS"),
        Vec::<Vec<String>>::new()
    );
    let shown = cells(&mut client, "SHOW INDEX FROM t");
    assert_eq!(shown[1], ["t", "1", "n", "1", "n"]);
}

#[test]
fn optimize_writes_a_damaged_key_again() {
    let (mut server, rows) = keyed_server();
    let path = server.folder().path(&format!("data/{rows}"));
    server.stop_and_restart();
    let mut bytes = fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 16;
    fs::write(&path, &bytes).unwrap();
    let mut client = server.client();
    client
        .query("INSERT INTO t (id, body, n) VALUES (5000, 'dog', 99)")
        .unwrap();
    client.query("FLUSH TABLE t").unwrap();
    client.query("OPTIMIZE TABLE t").unwrap();
    let count = cells(&mut client, "SELECT COUNT(*) FROM t WHERE n = 99");
    assert_eq!(count, [["31"]]);
    assert_eq!(
        cells(&mut client, "SHOW WARNINGS"),
        Vec::<Vec<String>>::new()
    );
}

#[test]
fn a_byte_that_turns_in_a_block_of_standing_queries_is_named_by_every_door_and_the_others_serve() {
    let mut server = Server::start();
    let mut client = server.client();
    client.query("CREATE TABLE t (body text)").unwrap();
    client
        .query("CREATE TABLE hits (query_id bigint, doc_id bigint) ENGINE=queue")
        .unwrap();
    client
        .query("CREATE TABLE alerts type='pq' on='t' into='hits'")
        .unwrap();
    let query = |id| format!("({id}, 'word{id} -longword{id} -longerword{id} -thelongest{id}')");
    let queries: Vec<String> = (1..=300).map(query).collect();
    let insert = format!(
        "INSERT INTO alerts (id, query) VALUES {}",
        queries.join(", ")
    );
    client.query(&insert).unwrap();
    server.stop_and_restart();
    let data = server.folder().path("data");
    let table = format!("{data}/tables/3");
    let mut names = fs::read_dir(&table).unwrap();
    let path = names.find_map(|entry| {
        let path = entry.unwrap().path();
        path.extension()
            .is_some_and(|end| end == "queries")
            .then_some(path)
    });
    let path = path.unwrap();
    server.terminate();
    let mut bytes = fs::read(&path).unwrap();
    bytes[4096 + 100] ^= 1;
    fs::write(&path, bytes).unwrap();
    server.restart_as(Setup::default());
    let mut client = server.client();
    let lost = "standing queries 1-";
    for statement in [
        "CALL PQ('alerts', 'word1 word300', 0 AS docs_json)",
        "SELECT id FROM alerts WHERE id > 299",
    ] {
        let found = cells(&mut client, statement);
        assert_eq!(found.len(), 1, "{statement}: {found:?}");
        assert_eq!(found[0][0], "300");
        let warnings = cells(&mut client, "SHOW WARNINGS");
        assert!(
            warnings.len() == 1 && warnings[0][2].contains(lost),
            "{statement}: {warnings:?}"
        );
    }
    for statement in [
        "INSERT INTO t (id, body) VALUES (1, 'word1')",
        "SELECT COUNT(*) FROM alerts",
        "SELECT id FROM alerts WHERE id = 1",
    ] {
        let refused = client.query(statement).unwrap_err().to_string();
        assert!(
            refused.contains(lost) && refused.contains("1030"),
            "{statement}: {refused}"
        );
    }
    let body = br#"{"query":{"percolate":{"document":{"body":"word1 word300"}}}}"#;
    let (status, answer) = request(server.http(), "POST /pq/alerts/search", "", body);
    assert_eq!(status, 200);
    assert!(
        answer.contains(lost) && answer.contains(r#""total_relation":"gte""#),
        "{answer}"
    );
    let compact = "Accept: application/vnd.seine.hits\r\n";
    let (status, answer) = request(server.http(), "POST /pq/alerts/search", compact, body);
    assert!(status == 500 && answer.contains(lost), "{status}: {answer}");
    assert!(server.log().contains(lost), "{}", server.log());
    server.terminate();
    let checked = clean_command().args(["check", &data]).output().unwrap();
    assert_eq!(checked.status.code(), Some(1));
    let said = String::from_utf8(checked.stdout).unwrap();
    assert!(said.contains("alerts: standing queries 1-"), "{said}");
    let repaired = clean_command().args(["repair", &data]).output().unwrap();
    assert_eq!(repaired.status.code(), Some(0));
    server.restart_as(Setup::default());
    let mut client = server.client();
    client
        .query("INSERT INTO t (id, body) VALUES (1, 'word1 word300')")
        .unwrap();
    let hits = cells(&mut client, "SELECT query_id FROM hits");
    assert_eq!(hits, [["300"]]);
}

//! The server's query log: what each door's searches become, in each format, and what ends, renames and full bounds leave of it.

use client::Client;
use study::log::line::parse;
use study::log::{Entry, Form, MatchMode};

use rustix::process::Signal;

use crate::server::{Folder, Server, Setup, number, request, until};

fn started(folder: &Folder, format: &str) -> Server {
    let path = folder.path("query.log");
    let setup = Setup::default()
        .flag("--query-log", &path)
        .variable("SEINE_QUERY_LOG_FORMAT", format);
    let server = setup.start();
    let mut client = server.client();
    for statement in [
        "CREATE TABLE posts (body text, n int)",
        "CREATE TABLE alerts (body text) type='pq'",
        "INSERT INTO posts (id, body, n) VALUES (1, 'storm', 3), (2, 'a storm', 4), (3, 'calm', 5)",
        "INSERT INTO alerts (id, query) VALUES (7, 'storm')",
    ] {
        client.query(statement).unwrap();
    }
    server
}

/// The lines of a log, once there are this many.
fn lines(path: &str, count: usize) -> Vec<Vec<u8>> {
    until("the lines of the query log", || {
        let log = std::fs::read(path).unwrap_or_default();
        let lines = log.split_inclusive(|byte| *byte == b'\n');
        let lines: Vec<Vec<u8>> = lines.map(<[u8]>::to_vec).collect();
        assert!(lines.len() <= count, "{}", String::from_utf8_lossy(&log));
        (lines.len() == count && log.ends_with(b"\n")).then_some(lines)
    })
}

fn entry(line: &[u8]) -> (Form, Entry<'_>) {
    let line = line.strip_suffix(b"\n").unwrap();
    parse(line).unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(line)))
}

fn text<'e>(of: &'e Option<std::borrow::Cow<'_, [u8]>>) -> &'e str {
    std::str::from_utf8(of.as_deref().unwrap_or_default()).unwrap()
}

const SEARCHES: [&str; 5] = [
    "SELECT id, n * 2 AS twice FROM posts WHERE MATCH('storm') AND n > 3 ORDER BY n DESC LIMIT 0, 5 OPTION ranker=bm25, comment='mine'",
    "SELECT n, COUNT(*) FROM posts GROUP BY n ORDER BY n ASC",
    "SELECT id FROM posts WHERE MATCH('storm') FACET n",
    "CALL PQ('alerts', 'a storm here', 0 AS docs_json)",
    "SELECT missing FROM posts",
];

fn ask(client: &mut Client) {
    for search in &SEARCHES[..4] {
        client.query_sets(search).unwrap();
    }
    client.query(SEARCHES[4]).unwrap_err();
}

#[test]
fn each_search_becomes_a_line_with_the_clients_own_text_its_rows_and_its_error() {
    let folder = Folder::new();
    let server = started(&folder, "json");
    let mut client = server.client();
    ask(&mut client);
    client.query("CREATE TABLE other (body text)").unwrap();
    client.query("SHOW TABLES").unwrap();
    let body = br#"{"index": "posts", "query": {"match": {"body": "calm"}}}"#;
    let (status, _) = request(server.http(), "POST /search", "", body);
    assert_eq!(status, 200);
    let documents = br#"{"query": {"percolate": {"document": {"body": "storm"}}}}"#;
    let (status, _) = request(server.http(), "POST /pq/alerts/search", "", documents);
    assert_eq!(status, 200);
    let elastic = br#"{"query":{"percolate":{"document":{"body":"storm"},"field":"query"}}}"#;
    let (status, _) = request(server.http(), "POST /alerts/_search", "", elastic);
    assert_eq!(status, 200);
    let path = folder.path("query.log");
    let lines = lines(&path, 8);
    let entries: Vec<Entry<'_>> = lines.iter().map(|line| entry(line).1).collect();
    for (entry, search) in entries.iter().zip(SEARCHES) {
        assert_eq!(text(&entry.statement), search);
        assert!(entry.real_us >= entry.wall_us && entry.connection.is_some());
    }
    let of = |at: usize| (entries[at].found, entries[at].returned);
    assert_eq!(
        [of(0), of(1), of(2), of(3)],
        [
            (Some(1), Some(1)),
            (Some(3), Some(3)),
            (Some(2), Some(2)),
            (Some(1), Some(1))
        ]
    );
    assert_eq!(text(&entries[0].query), "storm");
    assert!(entries[0].table_bytes > Some(0) && entries[0].table_parts.is_some());
    assert_eq!(entries[3].table_bytes, None, "a pq table has none");
    // What was just written is in memory: nothing was read. A short search without MATCH is not asked.
    assert_eq!(
        (entries[0].faults, entries[0].read_bytes),
        (Some(0), Some(0))
    );
    assert_eq!((entries[1].faults, entries[1].read_bytes), (None, None));
    assert_eq!(text(&entries[0].ranker), "bm25");
    assert_eq!(text(&entries[0].comment), "mine");
    assert_eq!(
        (entries[0].mode, entries[0].filters),
        (Some(MatchMode::Extended2), Some(1))
    );
    assert_eq!(entries[0].window, Some((0, 5)));
    assert_eq!(text(&entries[1].group_by), "n");
    assert_eq!(entries[1].mode, Some(MatchMode::Fullscan));
    assert!(
        text(&entries[4].error).contains("missing"),
        "{:?}",
        entries[4].error
    );
    assert_eq!(entries[4].found, None);
    assert_eq!(entries[5].statement.as_deref(), Some(&body[..]));
    assert_eq!((entries[5].found, entries[5].returned), (Some(1), Some(1)));
    assert_eq!(entries[6].statement.as_deref(), Some(&documents[..]));
    assert_eq!(&*entries[6].tables, b"alerts");
    assert_eq!(entries[7].found, Some(1));
    assert!(text(&entries[7].statement).contains("percolate"));
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&path).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let slow = "SELECT COUNT(*) FROM system.query_log WHERE found = 2";
    assert_eq!(number(&mut client, slow), 1);
    let shown = client.query("SHOW SLOW QUERIES LIKE '%'").unwrap();
    assert_eq!(shown.rows.len(), 9);
}

#[test]
fn lines_in_the_forms_of_sphinx_are_read_back() {
    for (format, form) in [("sphinxql", Form::Sphinxql), ("plain", Form::Plain)] {
        let folder = Folder::new();
        let server = started(&folder, format);
        ask(&mut server.client());
        // A plain line has no place for an error, so Sphinx writes none for a search that failed.
        let count = if form == Form::Plain { 4 } else { 5 };
        let lines = lines(&folder.path("query.log"), count);
        for (at, line) in lines.iter().enumerate() {
            let (own, entry) = entry(line);
            assert_eq!(own, form);
            assert_eq!(entry.found, [Some(1), Some(3), Some(2), Some(1), None][at]);
        }
    }
}

#[test]
fn a_log_that_is_renamed_is_begun_anew_and_quick_searches_are_left_out() {
    let folder = Folder::new();
    let server = started(&folder, "sphinxql");
    let (path, old) = (folder.path("query.log"), folder.path("query.log.1"));
    let mut client = server.client();
    client.query("SELECT 1 FROM posts").unwrap();
    lines(&path, 1);
    std::fs::rename(&path, &old).unwrap();
    client.query("SELECT 2 FROM posts").unwrap();
    lines(&path, 1);
    lines(&old, 1);
    server.signal(Signal::USR1);
    client.query("SELECT 3 FROM posts").unwrap();
    lines(&path, 2);
    std::fs::File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(0)
        .unwrap();
    client.query("SELECT 4 FROM posts").unwrap();
    let line = lines(&path, 1).remove(0);
    assert_eq!(text(&entry(&line).1.statement), "SELECT 4 FROM posts");
    client
        .query("SET GLOBAL query_log_min_msec = 60000")
        .unwrap();
    client.query("SELECT 5 FROM posts").unwrap();
    client
        .query("SET GLOBAL query_log_min_msec = DEFAULT")
        .unwrap();
    client.query("SELECT 6 FROM posts").unwrap();
    let line = lines(&path, 2).remove(1);
    assert_eq!(text(&entry(&line).1.statement), "SELECT 6 FROM posts");
}

#[test]
fn kill_leaves_whole_lines_and_a_half_one_is_taken_away() {
    let folder = Folder::new();
    let mut server = started(&folder, "sphinxql");
    let path = folder.path("query.log");
    server.client().query("SELECT 1 FROM posts").unwrap();
    let whole = lines(&path, 1).remove(0);
    server.kill();
    let mut torn = whole.clone();
    torn.extend_from_slice(&whole[..30]);
    std::fs::write(&path, &torn).unwrap();
    server.again();
    server.client().query("SELECT 2 FROM posts").unwrap();
    let lines = lines(&path, 2);
    assert_eq!(lines[0], whole);
    assert_eq!(text(&entry(&lines[1]).1.statement), "SELECT 2 FROM posts");
}

#[test]
fn each_way_to_search_rows_tells_what_it_read() {
    let folder = Folder::new();
    let server = started(&folder, "json");
    let mut client = server.client();
    let searches = [
        "SELECT id FROM posts WHERE MATCH('storm')",
        "SELECT a.id FROM posts a JOIN posts b ON a.n = b.n WHERE MATCH('storm', a)",
        "SELECT n, COUNT(*) FROM posts WHERE MATCH('storm') GROUP BY n",
        "SELECT id FROM posts WHERE MATCH('storm') UNION SELECT id FROM posts WHERE MATCH('calm')",
    ];
    for search in searches {
        client.query(search).unwrap();
    }
    for (line, search) in lines(&folder.path("query.log"), 4).iter().zip(searches) {
        let read = entry(line).1;
        assert_eq!(
            (read.faults, read.read_bytes),
            (Some(0), Some(0)),
            "{search}"
        );
    }
}

#[test]
fn a_long_statement_is_cut_and_the_line_says_how_long_it_was() {
    let folder = Folder::new();
    let server = started(&folder, "json");
    let long = format!(
        "SELECT id FROM posts WHERE n IN ({}3)",
        "1, ".repeat(20_000)
    );
    server.client().query(&long).unwrap();
    let line = lines(&folder.path("query.log"), 1).remove(0);
    let entry = entry(&line).1;
    assert_eq!(entry.cut_bytes, Some(long.len() as u64));
    let kept = text(&entry.statement);
    assert!(long.starts_with(kept) && kept.len() > 10_000 && kept.len() < 20_000);
}

#[test]
fn a_table_gets_the_entries_and_searches_on_it_are_none() {
    let setup = Setup::default().variable("SEINE_QUERY_LOG_TABLE", "Searches");
    let server = setup.start();
    let mut client = server.client();
    client.query("CREATE TABLE posts (body text)").unwrap();
    for text in ["storm", "calm", "storm"] {
        let search = format!("SELECT id FROM posts WHERE MATCH('{text}')");
        client.query(&search).unwrap();
    }
    let count = "SELECT COUNT(*) FROM searches WHERE MATCH('@query storm')";
    until("two rows of the log", || {
        let made = client.query("SHOW TABLES LIKE 'searches'").unwrap();
        (!made.rows.is_empty() && number(&mut client, count) == 2).then_some(())
    });
    client
        .query("SELECT id FROM posts WHERE MATCH('wind')")
        .unwrap();
    let all = "SELECT COUNT(*) FROM searches";
    until("the fourth row", || {
        (number(&mut client, all) == 4).then_some(())
    });
    assert_eq!(
        number(&mut client, "SELECT COUNT(*) FROM system.query_log"),
        4
    );
    let definition = client.query("SHOW CREATE TABLE searches").unwrap();
    let definition = String::from_utf8(definition.rows[0][1].clone().unwrap()).unwrap();
    assert!(
        definition.ends_with("keep='30d' keep_by='at' sync='never'"),
        "{definition}"
    );
}

#[test]
fn texts_of_an_entry_are_cut_and_the_last_entries_are_bounded() {
    let folder = Folder::new();
    let server = started(&folder, "json");
    let mut client = server.client();
    let comment = "c".repeat(1 << 20);
    let keys = vec!["n = 3"; 5_000].join(" AND ");
    for _ in 0..40 {
        let search = format!("SELECT id FROM posts WHERE {keys} OPTION comment='{comment}'");
        client.query(&search).unwrap();
    }
    let lines = lines(&folder.path("query.log"), 40);
    let entry = entry(&lines[39]).1;
    assert_eq!(entry.comment.as_deref().map(<[u8]>::len), Some(16 << 10));
    assert_eq!(entry.filters, Some(1_000), "no more are counted");
    assert!(lines.iter().all(|line| line.len() < 64 << 10));
    let plain = "SELECT COUNT(*) FROM system.query_log WHERE error IS NOT NULL";
    assert_eq!(number(&mut client, plain), 0);
}

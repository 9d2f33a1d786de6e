//! The HTTP door: access, refusals, and the rows that a bulk load leaves behind.

use crate::server::{Server, Setup, request, request_with_headers};

fn sql(server: &Server, statement: &str) -> String {
    request(
        server.http(),
        "POST /sql?mode=raw",
        "",
        statement.as_bytes(),
    )
    .1
}

#[test]
fn a_password_guards_the_door_and_health_is_open() {
    let server = Setup::default()
        .variable("SEINE_PASSWORD", "sesame")
        .start();
    let ask =
        |headers: &str| request(server.http(), "POST /sql?mode=raw", headers, b"SHOW TABLES").0;
    assert_eq!(ask(""), 401);
    // seine:sesame, then seine:wrong
    assert_eq!(ask("Authorization: Basic c2VpbmU6c2VzYW1l\r\n"), 200);
    assert_eq!(ask("Authorization: Basic c2VpbmU6d3Jvbmc=\r\n"), 401);
    assert_eq!(ask("Authorization: Bearer c2VpbmU6c2VzYW1l\r\n"), 401);
    let (_, headers, _) = request_with_headers(server.http(), "GET /metrics", "", b"");
    assert!(headers.contains("www-authenticate: basic"), "{headers}");
    assert_eq!(request(server.http(), "GET /readyz", "", b"").0, 200);
}

#[test]
fn a_page_of_another_site_is_refused() {
    let server = Server::start();
    let ask =
        |headers: &str| request(server.http(), "POST /sql?mode=raw", headers, b"SHOW TABLES").0;
    let own = server.http();
    assert_eq!(ask(&format!("Host: {own}\r\n")), 200);
    assert_eq!(
        ask(&format!("Host: {own}\r\nOrigin: http://{own}\r\n")),
        200
    );
    assert_eq!(ask("Host: evil.example\r\n"), 403);
    assert_eq!(
        ask(&format!("Host: {own}\r\nOrigin: http://evil.example\r\n")),
        403
    );
    assert_eq!(ask(&format!("Host: {own}\r\nOrigin: null\r\n")), 403);
    assert_eq!(
        request(own, "GET /livez", "Host: evil.example\r\n", b"").0,
        403
    );
}

#[test]
fn errors_are_json_with_the_status_of_their_kind() {
    let server = Server::start();
    let ask = |head: &str, body: &str| request(server.http(), head, "", body.as_bytes());
    let (status, body) = ask("POST /sql", "SELECT * FROM nothing");
    assert_eq!(status, 404);
    let body: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["error"]["type"], "no_such_table");
    assert_eq!(body["error"]["errno"], 1146);
    assert_eq!(body["status"], 404);
    assert_eq!(ask("POST /sql", "DROP TABLE x").0, 400);
    assert_eq!(ask("POST /sql?mode=raw", "").0, 400);
    assert_eq!(ask("POST /search", "{\"table\":").0, 400);
    assert_eq!(ask("GET /nothing", "").0, 404);
    assert_eq!(ask("GET /bulk", "").0, 405);
}

#[test]
fn a_body_beyond_the_limit_is_refused_before_it_is_read() {
    let server = Server::start();
    let (status, body) = request(
        server.http(),
        "POST /sql",
        "Expect: 100-continue\r\n",
        &vec![b' '; (128 << 20) + 1],
    );
    assert_eq!(status, 413, "{body}");
}

#[test]
fn a_bulk_load_commits_at_empty_lines_and_names_the_bad_line() {
    let server = Server::start();
    sql(&server, "CREATE TABLE t (body text, n int)");
    let line = |id: u32, n: &str| {
        format!(
            "{{\"insert\":{{\"table\":\"t\",\"id\":{id},\"doc\":{{\"body\":\"x\",\"n\":{n}}}}}}}\n"
        )
    };
    let body = format!(
        "{}{}\n{}{}{}",
        line(1, "1"),
        line(2, "2"),
        line(3, "3"),
        line(4, "99999999999"),
        line(5, "5")
    );
    let (status, reply) = request(server.http(), "POST /bulk", "", body.as_bytes());
    assert_eq!(status, 400, "{reply}");
    let reply: serde_json::Value = serde_json::from_str(&reply).unwrap();
    let error = reply["error"].as_str().unwrap();
    assert!(error.starts_with("line 5: "), "{error}");
    assert!(error.contains("lines 1 to 3 are stored"), "{error}");
    assert_eq!(reply["errors"], true);
    let found = sql(&server, "SELECT id FROM t");
    assert!(found.contains("\"total\":2"), "{found}");
}

#[test]
fn a_bulk_load_of_many_lines_arrives_whole() {
    let server = Server::start();
    sql(&server, "CREATE TABLE t (body text)");
    let lines: String = (1..=25_000)
        .map(|id| format!("{{\"replace\":{{\"table\":\"t\",\"id\":{id},\"doc\":{{\"body\":\"line {id}\"}}}}}}\n"))
        .collect();
    let (status, reply) = request(server.http(), "POST /bulk", "", lines.as_bytes());
    assert_eq!(status, 200, "{reply}");
    assert!(sql(&server, "SELECT count(*) AS c FROM t").contains("25000"));
}

/// What a change of a `_bulk` did: its status, and the result or why not.
fn outcomes(reply: &str) -> Vec<(u64, String)> {
    let reply: serde_json::Value = serde_json::from_str(reply).unwrap();
    let of = |item: &serde_json::Value| {
        let done = item.as_object().unwrap().values().next().unwrap();
        let status = done["status"].as_u64().unwrap();
        let why = [&done["result"], &done["error"]["type"]];
        let why = why.into_iter().find_map(|it| it.as_str());
        (status, why.unwrap_or_default().to_owned())
    };
    reply["items"].as_array().unwrap().iter().map(of).collect()
}

/// A change that the engine refuses has done nothing: those behind it, of the same `_id` too, do what they do without it.
#[test]
fn changes_of_a_bulk_do_what_they_do_one_by_one() {
    let server = Server::start();
    sql(&server, "CREATE TABLE together (body text) type='pq'");
    sql(&server, "CREATE TABLE alone (body text) type='pq'");
    let mut seed = 11_u32;
    let mut draw = |below: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 16) % below
    };
    let mut change = |n: usize| {
        let id = 1 + draw(5);
        let query = match draw(3) {
            // The parser takes it, and the engine refuses a NOT alone.
            0 => "{\"bool\":{\"must_not\":[{\"match\":{\"body\":\"dog\"}}]}}".to_owned(),
            _ => format!("{{\"match\":{{\"body\":\"cat{n:03}\"}}}}"),
        };
        match draw(4) {
            0 => format!("{{\"delete\":{{\"_id\":\"{id}\"}}}}\n"),
            1 => format!("{{\"create\":{{\"_id\":\"{id}\"}}}}\n{{\"query\":{query}}}\n"),
            _ => format!("{{\"index\":{{\"_id\":\"{id}\"}}}}\n{{\"query\":{query}}}\n"),
        }
    };
    let changes: Vec<String> = (0..300).map(&mut change).collect();
    let done = |path: &str, body: &str| {
        let (status, reply) = request(server.http(), path, "", body.as_bytes());
        assert_eq!(status, 200, "{reply}");
        outcomes(&reply)
    };
    let one_by_one = changes
        .iter()
        .flat_map(|one| done("POST /alone/_bulk", one));
    let wanted: Vec<_> = one_by_one.collect();
    for kind in [200, 201, 400, 404, 409] {
        let count = wanted.iter().filter(|one| one.0 == kind).count();
        assert!(count > 10, "{count} changes of {kind}");
    }
    assert_eq!(done("POST /together/_bulk", &changes.concat()), wanted);
    let stored = |table: &str| sql(&server, &format!("SELECT id, query FROM {table}"));
    assert_eq!(stored("together"), stored("alone"));
}

#[test]
fn metrics_name_each_number_once_and_in_base_units() {
    let server = Server::start();
    sql(&server, "CREATE TABLE t (body text)");
    sql(&server, "INSERT INTO t (id, body) VALUES (1, 'x')");
    let (status, text) = request(server.http(), "GET /metrics", "", b"");
    assert_eq!(status, 200);
    let samples: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let mut names: Vec<&str> = samples
        .iter()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert!(
        names.iter().all(|name| name.starts_with("seine_")),
        "{names:?}"
    );
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    for line in text.lines().filter(|line| line.starts_with("# TYPE")) {
        assert_eq!(
            line.ends_with(" counter"),
            line.contains("_total "),
            "{line}"
        );
    }
    let value = |name: &str| {
        let line = samples
            .iter()
            .find(|line| line.starts_with(&format!("{name} ")))
            .unwrap();
        line.split(' ').nth(1).unwrap().parse::<f64>().unwrap()
    };
    assert_eq!(value("seine_documents_total"), 1.0);
    assert!(value("seine_journal_syncs_total") >= 2.0);
    assert!(value("seine_journal_sync_seconds_total") < 60.0);
}

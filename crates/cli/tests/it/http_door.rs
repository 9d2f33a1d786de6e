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

/// Behind a change that the engine refuses, the others of a unit are sent again without it, in small units.
#[test]
fn changes_of_a_bulk_are_stored_in_their_order_however_many_between_them_are_refused() {
    let server = Server::start();
    sql(&server, "CREATE TABLE p (body text) type='pq'");
    let query = |n: u32| match n % 3 {
        0 => "{\"bool\":{\"must_not\":[{\"match\":{\"body\":\"dog\"}}]}}".to_owned(),
        _ => format!("{{\"match\":{{\"body\":\"cat{n:03}\"}}}}"),
    };
    // Two changes of each id: the last that is stored counts.
    let lines = (0..400).map(|n| {
        let (id, query) = (n / 2 + 1, query(n));
        format!("{{\"index\":{{\"_id\":\"{id}\"}}}}\n{{\"query\":{query}}}\n")
    });
    let body: String = lines.collect();
    let (status, reply) = request(server.http(), "POST /p/_bulk", "", body.as_bytes());
    assert_eq!(status, 200, "{reply}");
    let reply: serde_json::Value = serde_json::from_str(&reply).unwrap();
    let items = reply["items"].as_array().unwrap();
    let statuses = items.iter().map(|item| item["index"]["status"].as_u64());
    let refused: Vec<bool> = statuses.map(|status| status == Some(400)).collect();
    let wanted: Vec<bool> = (0..400).map(|n| n % 3 == 0).collect();
    assert_eq!(refused, wanted, "in the order of the changes");
    let last = |id: u32| [2 * id - 1, 2 * id - 2].into_iter().find(|n| n % 3 != 0);
    for id in [1, 2, 3, 38, 100, 199, 200] {
        let found = sql(&server, &format!("SELECT query FROM p WHERE id = {id}"));
        let wanted = last(id).map_or_else(String::new, |n| format!("cat{n:03}"));
        assert!(found.contains(&wanted), "{id}: {found} has not {wanted}");
    }
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

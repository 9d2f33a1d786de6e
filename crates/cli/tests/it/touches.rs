//! Touches and orders over real HTTP: what pages of named sites and back ends tell, and what is in the table `touches`.

mod orders;
mod script;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::server::{Server, Setup, number, request, request_with_headers};

/// A site that may tell touches.
const SITE: &str = "https://shop.example";

fn setup() -> Setup {
    let sites = format!("{SITE}, https://*.shop.example");
    Setup::default().variable("SEINE_TOUCH_ORIGINS", &sites)
}

fn now_s() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap().as_secs()
}

/// The body of a touch.
fn a_touch(id: u64, source: &str) -> String {
    let now_s = now_s();
    format!(r#"{{"id":"{id:016x}","time":{now_s},"source":"{source}","medium":"cpc","subcat":""}}"#)
}

/// What the server answered.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    /// The visitor's id in `Set-Cookie`.
    fn visitor(&self) -> Option<&str> {
        let (_, rest) = self.head.split_once("set-cookie: seine_visitor=")?;
        rest.split(';').next()
    }
}

fn send(server: &Server, headers: &str, body: &str) -> Answer {
    let (status, head, body) =
        request_with_headers(server.http(), "POST /touch", headers, body.as_bytes());
    Answer { status, head, body }
}

/// From a page of [`SITE`].
fn tell(server: &Server, headers: &str, body: &str) -> Answer {
    send(server, &format!("Origin: {SITE}\r\n{headers}"), body)
}

/// A cookie of a visitor.
fn cookie(visitor: &str) -> String {
    format!("Cookie: a=b; seine_visitor={visitor}; c=d\r\n")
}

/// Rows as texts; NULL as `NULL`.
fn rows(server: &Server, sql: &str) -> Vec<Vec<String>> {
    let found = server.client().query(sql).unwrap().rows;
    let text = |cell: Option<Vec<u8>>| match cell {
        Some(bytes) => String::from_utf8(bytes).unwrap(),
        None => "NULL".to_owned(),
    };
    found
        .into_iter()
        .map(|row| row.into_iter().map(text).collect())
        .collect()
}

fn count(server: &Server) -> i64 {
    number(&mut server.client(), "SELECT COUNT(*) FROM touches")
}

#[track_caller]
fn status(server: &Server, name: &str) -> i64 {
    number(&mut server.client(), &format!("SHOW STATUS LIKE '{name}'"))
}

#[test]
fn a_touch_is_a_row_without_address_and_agent() {
    let server = setup().start();
    let before_s = now_s();
    let answer = tell(
        &server,
        "User-Agent: Secret/1.0\r\nX-Forwarded-For: 203.0.113.77\r\n",
        &a_touch(7, "google"),
    );
    assert_eq!((answer.status, &*answer.body), (204, ""), "{}", answer.head);
    let visitor = answer.visitor().unwrap();
    assert_eq!(visitor.len(), 32);
    for part in ["path=/", "max-age=15552000", "samesite=lax", "httponly"] {
        assert!(answer.head.contains(part), "{part}: {}", answer.head);
    }
    assert!(!answer.head.contains("; secure"), "{}", answer.head);
    let all = rows(&server, "SELECT * FROM touches");
    let text = format!("{all:?}");
    assert!(
        !text.contains("Secret") && !text.contains("203.0.113.77"),
        "{text}"
    );
    let time: u64 = rows(&server, "SELECT time FROM touches")[0][0]
        .parse()
        .unwrap();
    assert!((before_s..=now_s()).contains(&time));
    let told =
        "SELECT id, visitor, source, medium, subcat, value, order_id, confirmed, site FROM touches";
    let wanted = ["7", visitor, "google", "cpc", "", "NULL", "", "0", SITE];
    assert_eq!(rows(&server, told), [wanted]);
}

#[test]
fn a_visitor_keeps_the_id_of_the_cookie() {
    let server = setup().start();
    let first = tell(&server, "", &a_touch(1, "google"));
    let visitor = first.visitor().unwrap();
    let headers = format!("{}X-Forwarded-Proto: https\r\n", cookie(visitor));
    let second = tell(&server, &headers, &a_touch(2, "bing"));
    assert_eq!(second.visitor(), Some(visitor), "its life begins anew");
    assert!(second.head.contains("; secure"), "{}", second.head);
    let forged = cookie("' OR 1=1 --");
    let third = tell(&server, &forged, &a_touch(3, "ask"));
    assert_ne!(third.visitor(), Some(visitor));
    let visitors = rows(&server, "SELECT visitor FROM touches ORDER BY id ASC");
    assert_eq!(visitors[0], visitors[1]);
    assert_eq!(visitors[2][0], third.visitor().unwrap());
}

#[test]
fn a_repeated_beacon_counts_once_replaces_nothing_and_gets_the_first_cookie() {
    let server = setup().start();
    let first = tell(&server, "", &a_touch(5, "google"));
    let again = tell(&server, "", &a_touch(5, "google"));
    let forged = tell(&server, &cookie(&"f".repeat(32)), &a_touch(5, "evil"));
    for answer in [&first, &again, &forged] {
        assert_eq!(answer.status, 204, "{}", answer.body);
    }
    assert_eq!(again.visitor(), first.visitor());
    let stored = rows(&server, "SELECT visitor, source FROM touches");
    assert_eq!(stored, [[first.visitor().unwrap(), "google"]]);
    assert_eq!(status(&server, "touches_stored"), 1);
    assert_eq!(status(&server, "touches_repeated"), 2);
}

#[test]
fn only_pages_of_named_sites_are_heard() {
    let server = setup().start();
    let foreign = [
        "",
        "Origin: null\r\n",
        "Origin: https://evil.example\r\n",
        "Origin: http://shop.example\r\n",
        "Origin: https://shop.example.evil.example\r\n",
    ];
    for headers in foreign {
        let answer = send(&server, headers, &a_touch(1, "google"));
        assert_eq!(answer.status, 403, "{headers}");
        assert!(!answer.head.contains("access-control"), "{}", answer.head);
        assert!(answer.body.contains("foreign_origin"), "{}", answer.body);
    }
    assert_eq!(count(&server), 0);
    assert_eq!(status(&server, "touches_foreign"), foreign.len() as i64);
    for (id, site) in [(1, SITE), (2, "https://de.shop.example")] {
        // A browser marks the request as another site's, and a proxy keeps the site's Host.
        let headers =
            format!("Origin: {site}\r\nHost: shop.example\r\nSec-Fetch-Site: cross-site\r\n");
        let answer = send(&server, &headers, &a_touch(id, "google"));
        assert_eq!(answer.status, 204, "{}", answer.body);
        let allowed = format!("access-control-allow-origin: {site}\r\n");
        assert!(answer.head.contains(&allowed), "{}", answer.head);
        assert!(
            answer
                .head
                .contains("access-control-allow-credentials: true")
        );
        assert!(answer.head.contains("vary: origin"), "{}", answer.head);
    }
}

#[test]
fn a_preflight_is_answered_for_named_sites() {
    let server = setup().start();
    let ask = |origin: &str| {
        let headers = format!(
            "Origin: {origin}\r\nAccess-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: content-type\r\n"
        );
        request_with_headers(server.http(), "OPTIONS /touch", &headers, b"")
    };
    let (status, head, _) = ask(SITE);
    assert_eq!(status, 204);
    for header in [
        "origin: https://shop.example",
        "methods: post",
        "headers: content-type",
    ] {
        assert!(
            head.contains(&format!("access-control-allow-{header}")),
            "{head}"
        );
    }
    let (status, head, _) = ask("https://evil.example");
    assert_eq!(status, 403);
    assert!(!head.contains("access-control-allow"), "{head}");
}

#[test]
fn bodies_that_are_forged_cut_or_long_are_refused_and_store_nothing() {
    let server = setup().start();
    let good = a_touch(1, "google");
    let cut = &good[..good.len() - 9];
    let long = a_touch(1, &"x".repeat(10_000));
    let bodies = [
        ("", 400),
        (cut, 400),
        ("[]", 400),
        ("\u{0}\u{1}", 400),
        (r#"{"id":"1","time":1,"source":"a"}"#, 400),
        (&good.replace("google", "a!b*c"), 400),
        (&good.replace("\"source\"", "\"ip\""), 400),
        (&good.replace("\"time\":", "\"time\":9"), 400),
        (&long, 413),
    ];
    for (body, wanted) in bodies {
        let answer = tell(&server, "", body);
        assert_eq!(answer.status, wanted, "{body}: {}", answer.body);
        assert!(answer.head.contains("access-control-allow-origin"));
        assert_eq!(answer.visitor(), None);
    }
    let packed = tell(&server, "Content-Encoding: gzip\r\n", &good);
    assert_eq!(packed.status, 415);
    assert_eq!(count(&server), 0);
    assert_eq!(status(&server, "touches_failed"), bodies.len() as i64 + 1);
    assert_eq!(tell(&server, "", &good).status, 204);
}

#[test]
fn visitors_who_object_are_not_recorded() {
    let server = setup().start();
    let answer = tell(&server, "Sec-GPC: 1\r\n", &a_touch(1, "google"));
    assert_eq!((answer.status, answer.visitor()), (204, None));
    assert_eq!(
        tell(&server, "DNT: 1\r\n", &a_touch(2, "google")).status,
        204
    );
    assert_eq!(
        count(&server),
        1,
        "DNT is respected only if it is asked for"
    );
    assert_eq!(status(&server, "touches_opted_out"), 1);
    let server = setup()
        .variable("SEINE_TOUCH_RESPECT_DNT", "true")
        .variable("SEINE_TOUCH_RESPECT_GPC", "false")
        .start();
    tell(&server, "Sec-GPC: 1\r\n", &a_touch(1, "google"));
    tell(&server, "DNT: 1\r\n", &a_touch(2, "google"));
    assert_eq!(rows(&server, "SELECT id FROM touches"), [["1"]]);
}

#[test]
fn a_flood_of_one_client_is_refused_and_others_are_heard() {
    let server = setup().variable("SEINE_TOUCH_PER_CLIENT", "5").start();
    let from = |client: &str| format!("X-Forwarded-For: 10.0.0.1, {client}\r\n");
    // A minute may begin meanwhile, once.
    let answers: Vec<Answer> = (1..=11)
        .map(|id| tell(&server, &from("203.0.113.5"), &a_touch(id, "google")))
        .collect();
    let refused: Vec<&Answer> = answers
        .iter()
        .filter(|answer| answer.status == 429)
        .collect();
    let stored = answers.iter().filter(|answer| answer.status == 204).count();
    assert!(!refused.is_empty() && stored >= 5, "{stored} stored");
    assert_eq!(refused.len() + stored, answers.len());
    for answer in &refused {
        assert!(answer.body.contains("too_often"), "{}", answer.body);
        assert!(answer.body.contains("touch.per_client"), "{}", answer.body);
        let (_, after) = answer.head.split_once("retry-after: ").unwrap();
        let after: u32 = after.lines().next().unwrap().parse().unwrap();
        assert!((1..=60).contains(&after));
    }
    let other = tell(&server, &from("203.0.113.6"), &a_touch(100, "google"));
    assert_eq!(other.status, 204, "{}", other.body);
    assert_eq!(status(&server, "touches_flooded"), refused.len() as i64);
    let (_, metrics) = request(server.http(), "GET /metrics", "", b"");
    let metric = format!(
        "seine_touches_total{{outcome=\"too_often\"}} {}\n",
        refused.len()
    );
    assert!(metrics.contains(&metric), "{metric}");
}

#[test]
fn a_flood_of_many_clients_is_refused_by_the_bound_of_their_site() {
    let server = setup().variable("SEINE_TOUCH_PER_ORIGIN", "5").start();
    let from = |client: u64| format!("X-Forwarded-For: 203.0.113.{client}\r\n");
    let refused = (1..=11)
        .map(|id| tell(&server, &from(id), &a_touch(id, "google")))
        .find(|answer| answer.status == 429)
        .unwrap();
    assert!(
        refused.body.contains("touch.per_origin"),
        "{}",
        refused.body
    );
    let headers = "Origin: https://de.shop.example\r\nX-Forwarded-For: 203.0.113.1\r\n";
    assert_eq!(send(&server, headers, &a_touch(200, "google")).status, 204);
}

#[test]
fn without_named_sites_the_routes_are_off_and_no_table_is_made() {
    let server = Server::start();
    for head in [
        "POST /touch",
        "OPTIONS /touch",
        "GET /touch.js",
        "POST /order",
    ] {
        let (status, body) = request(server.http(), head, "", b"{}");
        assert_eq!(status, 404, "{head}: {body}");
        assert!(body.contains("touch.origins"), "{body}");
    }
    assert!(server.client().query("SELECT * FROM touches").is_err());
}

#[test]
fn the_table_is_there_before_the_first_touch_and_is_made_again() {
    let server = setup().start();
    assert_eq!(count(&server), 0);
    server.client().query("DROP TABLE touches").unwrap();
    assert_eq!(tell(&server, "", &a_touch(1, "google")).status, 204);
    assert_eq!(count(&server), 1);
    let keys = rows(&server, "SHOW INDEX FROM touches");
    let keys = format!("{keys:?}");
    assert!(
        keys.contains("visitor") && keys.contains("order_id"),
        "{keys}"
    );
}

#[test]
fn a_visitor_is_deleted_by_one_statement() {
    let server = setup().start();
    let visitors = ["a".repeat(32), "b".repeat(32)];
    for (id, visitor) in [(1, 0), (2, 0), (3, 1)] {
        tell(&server, &cookie(&visitors[visitor]), &a_touch(id, "google"));
    }
    let order = format!(
        r#"{{"id":"{:016x}","time":{},"order":"1","value":5}}"#,
        4,
        now_s()
    );
    tell(&server, &cookie(&visitors[0]), &order);
    let delete = format!("DELETE FROM touches WHERE visitor='{}'", visitors[0]);
    let deleted = server.client().query(&delete).unwrap();
    assert_eq!(deleted.affected, 3);
    assert_eq!(
        rows(&server, "SELECT id, visitor FROM touches"),
        [["3", &*visitors[1]]]
    );
}

#[test]
fn an_acknowledged_touch_is_there_once_after_kill_9() {
    let mut server = setup()
        .variable("SEINE_TOUCH_PER_CLIENT", "1000000")
        .start();
    let acknowledged: Mutex<BTreeMap<u64, String>> = Mutex::default();
    thread::scope(|scope| {
        for thread in 0..4_u64 {
            let (server, acknowledged) = (&server, &acknowledged);
            scope.spawn(move || {
                for number in 0.. {
                    let id = 1 + thread + 4 * number;
                    let Some(status) = told_or_gone(server, &a_touch(id, "google")) else {
                        return;
                    };
                    assert_eq!(status, 204);
                    let mut all = acknowledged.lock().unwrap();
                    all.insert(id, a_touch(id, "google"));
                    if all.len() == 200 {
                        server.signal(rustix::process::Signal::KILL);
                    }
                }
            });
        }
    });
    server.ended();
    server.again();
    let acknowledged = acknowledged.into_inner().unwrap();
    assert!(acknowledged.len() >= 200);
    // Each is sent once more, as by a browser that got no answer.
    for body in acknowledged.values() {
        assert_eq!(tell(&server, "", body).status, 204);
    }
    assert_eq!(
        status(&server, "touches_repeated"),
        acknowledged.len() as i64
    );
    let stored = rows(
        &server,
        "SELECT id FROM touches ORDER BY id ASC LIMIT 100000",
    );
    let stored: BTreeMap<u64, u32> = stored.iter().fold(BTreeMap::new(), |mut all, row| {
        *all.entry(row[0].parse().unwrap()).or_default() += 1;
        all
    });
    for id in acknowledged.keys() {
        assert_eq!(stored.get(id), Some(&1), "{id}");
    }
}

/// The status of a touch; `None`: the server is gone.
fn told_or_gone(server: &Server, body: &str) -> Option<u16> {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(server.http()).ok()?;
    let head = format!(
        "POST /touch HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nOrigin: {SITE}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    let mut reply = String::new();
    // A reply that is not whole is none.
    stream.read_to_string(&mut reply).ok()?;
    reply.split(' ').nth(1)?.parse().ok()
}

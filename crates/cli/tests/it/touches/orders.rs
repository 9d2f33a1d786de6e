//! Orders of pages and of back ends.

use std::thread;

use super::{SITE, a_touch, cookie, count, now_s, rows, setup, tell};
use crate::server::{Server, request};

const VISITOR: &str = "0123456789abcdef0123456789abcdef";

/// POST /order from a back end, on a server without a password.
fn order(server: &Server, body: &str) -> (u16, serde_json::Value) {
    let (status, body) = request(server.http(), "POST /order", "", body.as_bytes());
    (status, serde_json::from_str(&body).unwrap())
}

/// An order of a page of [`VISITOR`].
fn page_order(server: &Server, id: u64, rest: &str) -> u16 {
    let body = format!(r#"{{"id":"{id:016x}","time":{},{rest}}}"#, now_s());
    tell(server, &cookie(VISITOR), &body).status
}

#[test]
fn an_order_of_a_page_has_its_money_and_the_first_touch_of_its_visitor() {
    let server = setup().start();
    let old = now_s() - 46 * 86_400;
    let touches = [
        (1, old, "too-old"),
        (2, now_s() - 86_400, "newsletter"),
        (3, now_s(), "google"),
    ];
    for (id, time, source) in touches {
        let touch = format!(
            r#"{{"id":"{id:016x}","time":{time},"source":"{source}","medium":"email","subcat":"june"}}"#
        );
        assert_eq!(tell(&server, &cookie(VISITOR), &touch).status, 204);
    }
    let told = r#""order":"1042","value":"129.90","currency":"EUR""#;
    assert_eq!(page_order(&server, 9, told), 204);
    let found = rows(
        &server,
        "SELECT visitor, source, value, order_id, currency, confirmed, first_source, first_medium, first_subcat, site \
         FROM touches WHERE value IS NOT NULL",
    );
    let wanted = [
        VISITOR,
        "",
        "129.900000",
        "1042",
        "EUR",
        "0",
        "newsletter",
        "email",
        "june",
        SITE,
    ];
    assert_eq!(found, [wanted]);
}

#[test]
fn an_order_of_a_back_end_is_stored_once_and_takes_the_visitor_that_the_page_told() {
    let server = setup().start();
    let (status, body) = order(
        &server,
        r#"{"order":"1042","value":"129.90","currency":"EUR"}"#,
    );
    assert_eq!(
        (status, &body["error"]["type"]),
        (404, &"no_such_order".into())
    );
    // The page is forged: the back end knows the value.
    page_order(&server, 9, r#""order":"1042","value":1,"currency":"EUR""#);
    let body = r#"{"order":"1042","value":"129.90","currency":"EUR"}"#;
    let (status, first) = order(&server, body);
    assert_eq!((status, &first["stored"]), (200, &true.into()), "{first}");
    assert_eq!(first["visitor"], VISITOR);
    let (status, second) = order(&server, body);
    assert_eq!(
        (status, &second["stored"]),
        (200, &false.into()),
        "{second}"
    );
    assert_eq!(second["id"], first["id"]);
    let found = rows(
        &server,
        "SELECT visitor, value, confirmed FROM touches WHERE order_id='1042' ORDER BY confirmed ASC",
    );
    assert_eq!(
        found,
        [[VISITOR, "1.000000", "0"], [VISITOR, "129.900000", "1"]]
    );
}

#[test]
fn an_order_that_is_recorded_otherwise_is_refused() {
    let server = setup().start();
    let (status, _) = order(
        &server,
        r#"{"order":"7","value":5,"currency":"EUR","visitor":"v"}"#,
    );
    assert_eq!(status, 200);
    for body in [
        r#"{"order":"7","value":6,"currency":"EUR","visitor":"v"}"#,
        r#"{"order":"7","value":-5,"currency":"EUR","visitor":"v"}"#,
        r#"{"order":"7","value":5,"currency":"USD","visitor":"v"}"#,
        r#"{"order":"7","value":5,"currency":"EUR","visitor":"w"}"#,
    ] {
        let (status, reply) = order(&server, body);
        assert_eq!(
            (status, &reply["error"]["type"]),
            (409, &"order_differs".into()),
            "{body}"
        );
    }
    for body in [
        "",
        "{}",
        r#"{"order":"8","value":"1e3"}"#,
        r#"{"order":"8","value":1,"ip":"x"}"#,
    ] {
        assert_eq!(order(&server, body).0, 400, "{body}");
    }
    let long = format!(
        r#"{{"order":"8","value":1,"visitor":"{}"}}"#,
        "v".repeat(10_000)
    );
    assert_eq!(order(&server, &long).0, 413);
    assert_eq!(count(&server), 1);
}

#[test]
fn a_refund_is_an_order_of_its_own_with_the_visitor_of_another() {
    let server = setup().start();
    order(
        &server,
        &format!(r#"{{"order":"7","value":"50.00","visitor":"{VISITOR}"}}"#),
    );
    let refund = r#"{"order":"7-r1","of":"7","value":"-20.05"}"#;
    for stored in [true, false] {
        let (status, reply) = order(&server, refund);
        assert_eq!((status, &reply["stored"]), (200, &stored.into()), "{reply}");
        assert_eq!(reply["visitor"], VISITOR);
    }
    let sum = rows(&server, "SELECT value FROM touches ORDER BY value ASC");
    assert_eq!(sum, [["-20.050000"], ["50.000000"]]);
}

#[test]
fn two_calls_at_the_same_time_store_an_order_once() {
    let server = setup().start();
    let body = r#"{"order":"7","value":5,"visitor":"v"}"#;
    let stored: usize = thread::scope(|scope| {
        let calls: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| order(&server, body)))
            .collect();
        let replies = calls.into_iter().map(|call| call.join().unwrap());
        replies
            .map(|(status, reply)| {
                assert_eq!(status, 200, "{reply}");
                usize::from(reply["stored"] == true)
            })
            .sum()
    });
    assert_eq!((stored, count(&server)), (1, 1));
}

#[test]
fn an_order_whose_row_id_is_held_by_another_row_is_not_lost() {
    let server = setup().start();
    let body = r#"{"order":"7","value":5,"visitor":"v"}"#;
    let (_, first) = order(&server, body);
    let id = first["id"].as_u64().unwrap();
    let delete = format!("DELETE FROM touches WHERE id={id}");
    server.client().query(&delete).unwrap();
    assert_eq!(tell(&server, "", &a_touch(id, "evil")).status, 204);
    let (status, second) = order(&server, body);
    assert_eq!((status, &second["stored"]), (200, &true.into()), "{second}");
    assert_ne!(second["id"], first["id"]);
    let (_, third) = order(&server, body);
    assert_eq!(
        (&third["stored"], &third["id"]),
        (&false.into(), &second["id"])
    );
    assert_eq!(count(&server), 2);
}

#[test]
fn a_back_end_needs_the_password_and_a_page_does_not() {
    let server = setup().variable("SEINE_PASSWORD", "secret").start();
    let body = br#"{"order":"7","value":5,"visitor":"v"}"#;
    let (status, _) = request(server.http(), "POST /order", "", body);
    assert_eq!(status, 401);
    // seine:secret
    let login = "Authorization: Basic c2VpbmU6c2VjcmV0\r\n";
    let (status, reply) = request(server.http(), "POST /order", login, body);
    assert_eq!(status, 200, "{reply}");
    assert_eq!(tell(&server, "", &a_touch(1, "google")).status, 204);
    assert_eq!(request(server.http(), "GET /touch.js", "", b"").0, 200);
    let from_page = format!("Origin: {SITE}\r\n{login}");
    let (status, _) = request(server.http(), "POST /order", &from_page, body);
    assert_eq!(status, 403, "no page sends orders of a back end");
}

#[test]
fn orders_of_a_standing_query_are_rows_of_its_queue() {
    let server = setup().start();
    let mut client = server.client();
    for sql in [
        "CREATE TABLE big_orders (order_id string, visitor string, value decimal(19,6), tags string) ENGINE=queue",
        "CREATE TABLE order_alerts type='pq' on='touches' into='big_orders'",
        "INSERT INTO order_alerts (query, tags, filters) VALUES ('', 'newsletter', 'value > 500 AND first_medium=\\'email\\'')",
    ] {
        client.query(sql).unwrap();
    }
    let touch = format!(
        r#"{{"id":"{:016x}","time":{},"source":"newsletter","medium":"email"}}"#,
        1,
        now_s() - 60
    );
    tell(&server, &cookie(VISITOR), &touch);
    tell(&server, &cookie(VISITOR), &a_touch(2, "google"));
    tell(&server, &cookie(&"c".repeat(32)), &a_touch(3, "google"));
    for body in [
        format!(r#"{{"order":"1","value":"500.00","visitor":"{VISITOR}"}}"#),
        format!(r#"{{"order":"2","value":"500.01","visitor":"{VISITOR}"}}"#),
        format!(r#"{{"order":"2","value":"500.01","visitor":"{VISITOR}"}}"#),
        format!(
            r#"{{"order":"3","value":"900","visitor":"{}"}}"#,
            "c".repeat(32)
        ),
        r#"{"order":"2-r1","of":"2","value":"-500.01"}"#.to_owned(),
    ] {
        assert_eq!(order(&server, &body).0, 200, "{body}");
    }
    let (status, taken) = request(server.http(), "GET /queue/big_orders/next?rows=10", "", b"");
    assert_eq!(status, 200, "{taken}");
    let taken: serde_json::Value = serde_json::from_str(&taken).unwrap();
    let taken = taken["rows"].as_array().unwrap();
    assert_eq!(taken.len(), 1, "{taken:?}");
    let row = &taken[0]["data"];
    assert_eq!(
        (&row["order_id"], &row["visitor"]),
        (&"2".into(), &VISITOR.into()),
        "{row}"
    );
    assert_eq!(super::status(&server, "touches_repeated"), 1);
}

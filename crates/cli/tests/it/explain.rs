//! EXPLAIN and SHOW PROFILE tell the steps of a SELECT.

use client::Client;

use crate::server::Server;

/// Tables with rows in segments and in memory.
fn fill(client: &mut Client) {
    client
        .query("CREATE TABLE t (body text, n int, k int, KEY (k))")
        .unwrap();
    client.query("CREATE TABLE u (body text, n int)").unwrap();
    for first in [1, 1001, 2001] {
        let rows: Vec<String> = (first..first + 1000)
            .map(|id| format!("({id}, 'word{} fox', {}, {})", id % 7, id % 10, id % 50))
            .collect();
        let insert = format!("INSERT INTO t (id, body, n, k) VALUES {}", rows.join(", "));
        client.query(&insert).unwrap();
        if first < 2001 {
            client.query("FLUSH TABLE t").unwrap();
        }
    }
    client
        .query("INSERT INTO u (id, body, n) VALUES (1, 'x', 3), (2, 'y', 4)")
        .unwrap();
}

/// Table, step, rows and detail of each line.
fn explained(client: &mut Client, select: &str) -> Vec<(String, String, u64, String)> {
    let statement = format!("EXPLAIN {select}");
    let found = client.query(&statement);
    let rows = found
        .unwrap_or_else(|error| panic!("{statement}: {error}"))
        .rows;
    let text = |cell: &Option<Vec<u8>>| String::from_utf8(cell.clone().unwrap()).unwrap();
    rows.iter()
        .map(|row| {
            assert!(text(&row[3]).parse::<f64>().unwrap() >= 0.0);
            let rows = row[2]
                .as_ref()
                .map_or(0, |_| text(&row[2]).parse().unwrap());
            (text(&row[0]), text(&row[1]), rows, text(&row[4]))
        })
        .collect()
}

#[test]
fn explain_tells_the_steps_and_rows_of_a_select() {
    let server = Server::start();
    let mut client = server.client();
    fill(&mut client);
    let select = "SELECT * FROM t WHERE MATCH('word3 fox') AND k IN (1, 2) AND n > 0 LIMIT 5";
    let steps = explained(&mut client, select);
    let names: Vec<&str> = steps.iter().map(|(_, step, ..)| &**step).collect();
    assert_eq!(
        names,
        ["parse", "words", "look-up", "search", "rows", "total"]
    );
    assert!(
        steps[0].3.starts_with("AND(\n  AND(KEYWORD(word3"),
        "{steps:?}"
    );
    assert_eq!((steps[1].2, &*steps[1].0), (2, "t"));
    // 60 rows a value of k; some more where a part is in memory.
    assert_eq!(steps[2].2, 120, "{steps:?}");
    let total = client.query(&select.replace('*', "COUNT(*)")).unwrap().rows;
    assert_eq!(total[0][0], Some(steps[3].2.to_string().into_bytes()));
    assert_eq!((steps[4].2, steps[5].2), (5, 5));
    // Nothing of the SELECT changes by it.
    let grouped = "SELECT n, COUNT(*) FROM t WHERE MATCH('fox') GROUP BY n FACET k LIMIT 3";
    let steps = explained(&mut client, grouped);
    let groups = steps.iter().filter(|(_, step, ..)| step == "groups");
    let groups: Vec<u64> = groups.map(|(_, _, rows, _)| *rows).collect();
    assert_eq!(groups, [50, 10], "{steps:?}");
    let joined = explained(
        &mut client,
        "SELECT t.id FROM u JOIN t ON t.k = u.n WHERE t.n < 4",
    );
    let tables: Vec<(&str, &str)> = joined
        .iter()
        .map(|(table, step, ..)| (&**table, &**step))
        .collect();
    assert!(
        tables.contains(&("u", "search")) && tables.contains(&("t", "search")),
        "{joined:?}"
    );
    assert!(tables.contains(&("t", "join")), "{joined:?}");
    assert_eq!(joined.last().unwrap().2, 60, "{joined:?}");
    let union = explained(
        &mut client,
        "SELECT id FROM t WHERE k = 1 UNION ALL SELECT id FROM u",
    );
    assert_eq!(union.last().unwrap().2, 62, "{union:?}");
}

#[test]
fn explain_finds_the_rows_that_a_change_then_changes() {
    let server = Server::start();
    let mut client = server.client();
    fill(&mut client);
    client.query("CREATE TABLE q (n int) ENGINE=queue").unwrap();
    client
        .query("INSERT INTO q (n) VALUES (1), (2), (3)")
        .unwrap();
    client
        .query("CREATE TEMPORARY TABLE mine AS SELECT id, n FROM u")
        .unwrap();
    let sums = "SELECT COUNT(*), SUM(n), SUM(k) FROM t";
    for (change, search) in [
        // More rows than a page of a MATCH.
        ("UPDATE t SET n = n + 100 WHERE MATCH('fox')", 3_000),
        ("UPDATE t SET n = k WHERE k IN (1, 2) AND n > 101", 60),
        ("UPDATE t SET k = 7 WHERE k = 3 ORDER BY n DESC LIMIT 4", 60),
        ("DELETE FROM t WHERE MATCH('word3') AND k < 9", 0),
        ("DELETE FROM t WHERE id IN (1, 2, 900000)", 0),
        ("DELETE FROM t WHERE n > 0 LIMIT 30", 0),
        ("DELETE FROM q WHERE n > 1 ORDER BY n DESC LIMIT 1", 0),
        ("DELETE FROM mine WHERE n = 3", 0),
    ] {
        let before = client.query(sums).unwrap().rows;
        let steps = explained(&mut client, change);
        assert_eq!(client.query(sums).unwrap().rows, before, "{change}");
        let rows = steps.last().unwrap().2;
        let changed = client.query(change).unwrap().affected;
        assert!(rows > 0 && rows == changed, "{change}: {rows} {changed}");
        if search > 0 {
            let found = steps.iter().find(|(_, step, ..)| step == "search");
            assert_eq!(found.unwrap().2, search, "{change}: {steps:?}");
        }
    }
}

#[test]
fn show_profile_adds_up_to_the_time_of_the_select() {
    let server = Server::start();
    let mut client = server.client();
    fill(&mut client);
    client.query("SET profiling = 1").unwrap();
    client
        .query("SELECT * FROM t WHERE MATCH('fox') LIMIT 1000")
        .unwrap();
    let rows = client.query("SHOW PROFILE").unwrap().rows;
    let text = |cell: &Option<Vec<u8>>| String::from_utf8(cell.clone().unwrap()).unwrap();
    let names: Vec<String> = rows.iter().map(|row| text(&row[0])).collect();
    assert_eq!(
        names,
        ["parse", "words", "search", "send", "other", "total"]
    );
    let times: Vec<f64> = rows
        .iter()
        .map(|row| text(&row[1]).parse().unwrap())
        .collect();
    let (total, parts) = times.split_last().unwrap();
    assert!(
        (parts.iter().sum::<f64>() - total).abs() < 1e-5,
        "{times:?}"
    );
}

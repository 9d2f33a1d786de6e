//! The pages of OPTION scroll, one behind the other, are the SELECT itself, whatever is written meanwhile.

use client::Client;

use crate::random::XorShift;
use crate::server::Server;

/// Rows of both tables.
const ROWS: u64 = 400;

/// SELECTs that are read page by page.
const ROUNDS: usize = 60;

/// Two tables, with some ids in both, and keys that many rows share.
fn fill(client: &mut Client, random: &mut XorShift) {
    for table in ["t", "u"] {
        let columns = "(body text, n int, s string, f float, d date)";
        client
            .query(&format!("CREATE TABLE {table} {columns}"))
            .unwrap();
    }
    for id in 1..=ROWS {
        for table in ["t", "u"] {
            if random.below(4) > 0 {
                client.query(&row(table, id, random)).unwrap();
            }
        }
        if id % 150 == 0 {
            client.query("FLUSH TABLES").unwrap();
        }
    }
    client
        .query("DELETE FROM t WHERE n = 2 AND id < 90")
        .unwrap();
}

fn row(table: &str, id: u64, random: &mut XorShift) -> String {
    let words = ["ant", "bee", "cat", "ant bee", "cat cat ant", "bee ant cat"];
    let texts = ["a", "A", "b", "", "ü"];
    let date = ["NULL", "'2026-02-03'", "'2025-01-01'"][random.below(3)];
    format!(
        "REPLACE INTO {table} (id, body, n, s, f, d) VALUES ({id}, '{}', {}, '{}', {}.25, {date})",
        words[random.below(words.len())],
        random.below(5) as i64 - 2,
        texts[random.below(texts.len())],
        random.below(3),
    )
}

/// A SELECT without its LIMIT. It shows what tells one row from another.
fn select(random: &mut XorShift) -> String {
    let keys = [
        "weight()",
        "id",
        "n",
        "s",
        "f",
        "d",
        "n * 2 + f",
        "weight() + n",
    ];
    let count = random.below(4);
    let keys: Vec<String> = (0..count)
        .map(|_| {
            let direction = ["ASC", "DESC"][random.below(2)];
            format!("{} {direction}", keys[random.below(keys.len())])
        })
        .collect();
    let order = match keys.is_empty() {
        true => String::new(),
        false => format!("ORDER BY {}", keys.join(", ")),
    };
    let from = ["t", "t, u", "u, t"][random.below(3)];
    let condition = [
        "",
        "WHERE n > -1",
        "WHERE MATCH('ant | bee')",
        "WHERE MATCH('cat') AND f > 0.5",
        "WHERE MATCH('\"bee ant\"')",
    ][random.below(5)];
    format!("SELECT id, body, n, s, f, d, weight() FROM {from} {condition} {order}")
}

fn rows(client: &mut Client, statement: &str) -> Vec<String> {
    let answer = client.query(statement).unwrap();
    let line = |row: &Vec<Option<Vec<u8>>>| format!("{row:?}");
    answer.rows.iter().map(line).collect()
}

/// All pages, and how many there were. `between` is called behind each page.
fn pages(
    client: &mut Client,
    select: &str,
    limit: usize,
    between: &mut dyn FnMut(&mut Client),
) -> Vec<String> {
    let (mut all, mut scroll) = (Vec::new(), "1".to_owned());
    loop {
        let statement = format!("{select} LIMIT {limit} OPTION scroll='{scroll}'");
        let page = rows(client, &statement);
        assert!(page.len() <= limit, "{statement}");
        let token = client.query("SHOW SCROLL").unwrap();
        let Some([Some(token)]) = token.rows.first().map(Vec::as_slice) else {
            assert!(page.is_empty(), "{statement}: no token behind rows");
            return all;
        };
        all.extend(page);
        scroll = String::from_utf8(token.clone()).unwrap();
        between(client);
    }
}

#[test]
fn pages_one_behind_the_other_are_the_whole_answer() {
    let server = Server::start();
    let mut client = server.client();
    let random = &mut XorShift::new(11);
    fill(&mut client, random);
    for _ in 0..ROUNDS {
        let select = select(random);
        let whole = format!("{select} LIMIT 1000 OPTION max_matches=1000");
        let whole = rows(&mut client, &whole);
        let limit = 1 + random.below(60);
        let found = pages(&mut client, &select, limit, &mut |_| {});
        assert_eq!(found, whole, "{select} LIMIT {limit}");
    }
}

#[test]
fn rows_that_stay_are_given_once_whatever_is_written_meanwhile() {
    let server = Server::start();
    let mut client = server.client();
    let random = &mut XorShift::new(12);
    fill(&mut client, random);
    let select = "SELECT id FROM t WHERE n < 3 ORDER BY n DESC, s ASC";
    let before = rows(&mut client, &format!("{select} LIMIT 1000"));
    let mut next = ROWS;
    let mut gone = Vec::new();
    let found = pages(&mut client, select, 7, &mut |client| {
        for _ in 0..3 {
            next += 1;
            client.query(&row("t", next, random)).unwrap();
        }
        // The row that the token names may go.
        let id = 1 + random.below(ROWS as usize);
        client
            .query(&format!("DELETE FROM t WHERE id = {id}"))
            .unwrap();
        gone.push(format!("{:?}", vec![Some(id.to_string().into_bytes())]));
    });
    for row in before.iter().filter(|row| !gone.contains(row)) {
        let times = found.iter().filter(|other| *other == row).count();
        assert_eq!(times, 1, "{row}");
    }
    let mut once = found.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), found.len(), "no row comes twice");
}

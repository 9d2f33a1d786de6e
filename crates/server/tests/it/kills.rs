//! SIGKILL at random moments under load: what was acknowledged is there, each hit once.
//!
//! `SEINE_KILLS=50` kills fifty times; a few times are enough for every run of the tests. `SEINE_SEED` repeats a run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use bench::client::{Client, QueryResult};
use bench::random::XorShift;
use query::analysis::{Analyzer, Words};
use query::tree::Node;

use crate::server::Server;

/// Standing queries of every kind that analysis and anchors treat apart.
const QUERIES: [(u64, &str); 6] = [
    (1, "alpha"),
    (2, "beta -gamma"),
    (3, "\"one two\""),
    (4, "delta | alpha"),
    (5, "gamma delta"),
    (6, "absent"),
];
const WORDS: [&str; 8] = [
    "alpha", "beta", "gamma", "delta", "one", "two", "three", "Four",
];
const WRITERS: u64 = 4;
const KILLS_DEFAULT: u64 = 4;

/// What clients know: documents and their fate, hits that a worker has taken off the queue.
#[derive(Default)]
struct Account {
    /// Every document that was ever sent.
    sent: Mutex<BTreeMap<u64, String>>,
    /// Those that were acknowledged.
    acknowledged: Mutex<BTreeSet<u64>>,
    /// Hits whose end was acknowledged.
    ended: Mutex<BTreeSet<(u64, u64)>>,
    /// The hit that the worker had in its hands last: whether it ended, a killed server never said.
    in_hand: Mutex<Option<(u64, u64)>>,
    acknowledgements: AtomicU64,
}

#[test]
fn a_server_killed_under_load_loses_nothing_and_doubles_nothing() {
    let kills = number_from("SEINE_KILLS").unwrap_or(KILLS_DEFAULT);
    let seed = number_from("SEINE_SEED").unwrap_or(1);
    let mut random = random(seed);
    let mut server = Server::start();
    create(&mut server.client());
    let account = Arc::new(Account::default());
    for round in 0..kills {
        let enough = account.acknowledgements.load(Ordering::Relaxed) + 1 + random.below(60) as u64;
        let clients = load(&server, &account, round, random.next_u64());
        while account.acknowledgements.load(Ordering::Relaxed) < enough {
            thread::yield_now();
        }
        server.kill_and_restart();
        for client in clients {
            client.join().unwrap();
        }
        check(&mut server.client(), &account, round, seed);
    }
    server.stop_and_restart();
    check(&mut server.client(), &account, kills, seed);
}

/// Numbers spread out from the first one on, which those of a small seed are not.
fn random(seed: u64) -> XorShift {
    XorShift::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

fn number_from(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

fn create(client: &mut Client) {
    client.query("CREATE TABLE posts (body text)").unwrap();
    client
        .query("CREATE TABLE hits (query_id bigint, doc_id bigint) ENGINE=queue")
        .unwrap();
    client
        .query("CREATE TABLE alerts type='pq' on='posts' into='hits'")
        .unwrap();
    for (id, text) in QUERIES {
        client
            .query(&format!(
                "INSERT INTO alerts (id, query) VALUES ({id}, '{text}')"
            ))
            .unwrap();
    }
}

/// Writers and a worker that go on until the server is gone.
fn load(
    server: &Server,
    account: &Arc<Account>,
    round: u64,
    seed: u64,
) -> Vec<thread::JoinHandle<()>> {
    let mut threads = Vec::new();
    for writer in 0..WRITERS {
        let (client, account) = (server.client(), Arc::clone(account));
        let first = (round * WRITERS + writer) * 1_000_000 + 1;
        threads.push(thread::spawn(move || {
            write(client, &account, first, seed ^ writer)
        }));
    }
    let (client, account) = (server.client(), Arc::clone(account));
    threads.push(thread::spawn(move || work(client, &account)));
    threads
}

fn write(mut client: Client, account: &Account, first: u64, seed: u64) {
    let mut random = random(seed);
    let mut next = first;
    loop {
        let ids: Vec<u64> = (next..=next + random.below(4) as u64).collect();
        next += ids.len() as u64;
        let mut rows = Vec::new();
        for id in &ids {
            let text = text(&mut random);
            rows.push(format!("({id}, '{text}')"));
            account.sent.lock().unwrap().insert(*id, text);
        }
        let statement = format!("INSERT INTO posts (id, body) VALUES {}", rows.join(", "));
        if client.query(&statement).is_err() {
            return;
        }
        account.acknowledged.lock().unwrap().extend(ids);
        account.acknowledgements.fetch_add(1, Ordering::Relaxed);
    }
}

fn text(random: &mut XorShift) -> String {
    let count = 1 + random.below(6);
    let words: Vec<&str> = (0..count)
        .map(|_| WORDS[random.below(WORDS.len())])
        .collect();
    words.join(" ")
}

/// Takes hits off the queue, one at a time, as a worker does.
fn work(mut client: Client, account: &Account) {
    loop {
        let Ok(waited) = client.query("SELECT queue_wait('hits', 60)") else {
            return;
        };
        assert_eq!(waited.rows[0][0].as_deref(), Some(&b"1"[..]));
        let Ok(found) = client.query("SELECT query_id, doc_id FROM hits") else {
            return;
        };
        let hit = pairs(&found)[0];
        *account.in_hand.lock().unwrap() = Some(hit);
        if client.query("SELECT queue_end()").is_err() {
            return;
        }
        account.ended.lock().unwrap().insert(hit);
        *account.in_hand.lock().unwrap() = None;
    }
}

/// Compares what is there with what clients know.
fn check(client: &mut Client, account: &Account, round: u64, seed: u64) {
    let place = format!("round {round}, SEINE_SEED={seed}");
    let stored = client
        .query("SELECT id, body FROM posts LIMIT 100000000")
        .unwrap();
    let stored: BTreeMap<u64, String> = stored
        .rows
        .iter()
        .map(|row| {
            (
                number(&row[0]),
                String::from_utf8(row[1].clone().unwrap()).unwrap(),
            )
        })
        .collect();
    let sent = account.sent.lock().unwrap();
    for (id, body) in &stored {
        assert_eq!(sent.get(id), Some(body), "{place}: document {id}");
    }
    let mut acknowledged = account.acknowledged.lock().unwrap();
    let lost: Vec<&u64> = acknowledged
        .iter()
        .filter(|id| !stored.contains_key(id))
        .collect();
    assert_eq!(lost, Vec::<&u64>::new(), "{place}: acknowledged and lost");
    // What was under way and is there now will stay.
    acknowledged.extend(stored.keys());

    let queued = pairs(&client.query("SELECT query_id, doc_id FROM hits").unwrap());
    let mut hits: BTreeSet<(u64, u64)> = queued.iter().copied().collect();
    assert_eq!(
        hits.len(),
        queued.len(),
        "{place}: a hit stands twice in the queue"
    );
    let mut ended = account.ended.lock().unwrap();
    if let Some(hit) = account
        .in_hand
        .lock()
        .unwrap()
        .take()
        .filter(|hit| !hits.contains(hit))
    {
        ended.insert(hit);
    }
    let again: Vec<_> = hits.intersection(&ended).collect();
    assert_eq!(
        again,
        Vec::<&(u64, u64)>::new(),
        "{place}: ended and there again"
    );
    hits.extend(ended.iter());
    assert_eq!(hits, expected(&stored), "{place}: hits");
}

/// The hits by the slow, obvious meaning of the queries.
fn expected(stored: &BTreeMap<u64, String>) -> BTreeSet<(u64, u64)> {
    let analyzer = Analyzer::default();
    let queries: Vec<(u64, Node)> = QUERIES
        .iter()
        .map(|(id, text)| (*id, query::parse(text, &["body"], &analyzer).unwrap().root))
        .collect();
    let hits_of = |(id, body): (&u64, &String)| {
        let mut words = Words::new();
        words.push_field(&analyzer, 0, body);
        let found = query::reference::percolate(&queries, &words);
        found
            .into_iter()
            .map(|query| (query, *id))
            .collect::<Vec<_>>()
    };
    stored.iter().flat_map(hits_of).collect()
}

fn pairs(result: &QueryResult) -> Vec<(u64, u64)> {
    result
        .rows
        .iter()
        .map(|row| (number(&row[0]), number(&row[1])))
        .collect()
}

fn number(cell: &Option<Vec<u8>>) -> u64 {
    std::str::from_utf8(cell.as_deref().unwrap())
        .unwrap()
        .parse()
        .unwrap()
}

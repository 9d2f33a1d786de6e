//! Hits that are sent to an address, with a target of the test's own.

mod target;

use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use client::Client;
use hmac::{Hmac, KeyInit, Mac};
use rustix::process::Signal;
use serde_json::Value;
use sha2::Sha256;
use target::{Answer, Received, Target};

use crate::server::{Server, Setup, until};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// Allowed to send to `target`, and quick to send again.
fn setup(target: &Target) -> Setup {
    Setup::default()
        .variable("SEINE_WEBHOOK_ALLOW", &target.address)
        .variable("SEINE_WEBHOOK_SECRET", SECRET)
        .variable("SEINE_FAULTS", "webhook-pause=5")
}

/// A table whose hits go to `target`, with one query.
fn listen(client: &mut Client, table: &str, target: &Target) {
    let address = &target.address;
    run(
        client,
        &[
            "CREATE TABLE IF NOT EXISTS posts (title text, price int)",
            &format!("CREATE TABLE {table} type='pq' on='posts' into='http://{address}/in?a=b'"),
            &format!("INSERT INTO {table} (id, query, tags) VALUES (7, 'cat', 'pets')"),
        ],
    );
}

fn run(client: &mut Client, statements: &[&str]) {
    for statement in statements {
        client.query(statement).unwrap();
    }
}

fn cell(client: &mut Client, statement: &str) -> String {
    let rows = client.query(statement).unwrap().rows;
    String::from_utf8(rows[0].last().unwrap().clone().unwrap()).unwrap()
}

/// Until the statement's last cell is this.
fn wait_for(client: &mut Client, statement: &str, wanted: &str) {
    until(statement, || {
        (cell(client, statement) == wanted).then_some(())
    });
}

fn check_signature(received: &Received) {
    let key = STANDARD
        .decode(SECRET.strip_prefix("whsec_").unwrap())
        .unwrap();
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
    let (id, time) = (
        received.header("webhook-id"),
        received.header("webhook-timestamp"),
    );
    mac.update(format!("{id}.{time}.{}", received.body).as_bytes());
    let wanted = format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()));
    assert_eq!(received.header("webhook-signature"), wanted);
}

#[test]
fn a_hit_is_sent_once_with_its_document_and_a_signature() {
    let target = Target::start(|_| Answer::Status(204));
    let server = setup(&target).start();
    let mut client = server.client();
    listen(&mut client, "alerts", &target);
    run(
        &mut client,
        &["INSERT INTO posts (id, title, price) VALUES (3, 'a Cat', 5), (4, 'dog', 6)"],
    );
    let received = target.next();
    assert_eq!(received.request, "POST /in?a=b HTTP/1.1");
    assert_eq!(received.header("content-type"), "application/json");
    check_signature(&received);
    let body: Value = serde_json::from_str(&received.body).unwrap();
    assert_eq!(body["type"], "hit");
    let data = &body["data"];
    assert_eq!(data["query_id"], 7);
    assert_eq!(data["query"], "cat");
    assert_eq!(data["tags"], "pets");
    assert_eq!(data["doc_table"], "posts");
    assert_eq!(data["doc_id"], 3);
    assert_eq!(
        data["document"],
        serde_json::json!({"title": "a Cat", "price": 5})
    );
    wait_for(&mut client, "SHOW STATUS LIKE 'webhooks_delivered'", "1");
    wait_for(&mut client, "SHOW STATUS LIKE 'queue_rows'", "0");
    assert!(target.is_quiet());
}

#[test]
fn a_hit_that_was_not_taken_is_sent_again_with_its_id() {
    let target = Target::start(|number| Answer::Status(if number < 2 { 500 } else { 200 }));
    let server = setup(&target).start();
    let mut client = server.client();
    listen(&mut client, "alerts", &target);
    run(&mut client, &["INSERT INTO posts (title) VALUES ('cat')"]);
    let attempts = [target.next(), target.next(), target.next()];
    let ids = attempts
        .each_ref()
        .map(|attempt| attempt.header("webhook-id"));
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    attempts.iter().for_each(check_signature);
    wait_for(&mut client, "SHOW STATUS LIKE 'queue_rows'", "0");
    assert_eq!(cell(&mut client, "SHOW STATUS LIKE 'webhooks_failed'"), "2");
    assert_eq!(cell(&mut client, "SHOW STATUS LIKE 'webhooks_dead'"), "0");
}

#[test]
fn a_redirect_is_not_followed_and_its_hit_goes_to_the_dead() {
    let inward = Target::start(|_| Answer::Status(200));
    let location = inward.address.clone();
    let target = Target::start(move |_| Answer::Redirect(location.clone()));
    let both = format!("{},{}", target.address, inward.address);
    let server = setup(&target)
        .variable("SEINE_WEBHOOK_ALLOW", &both)
        .start();
    let mut client = server.client();
    listen(&mut client, "alerts", &target);
    run(
        &mut client,
        &["INSERT INTO posts (id, title) VALUES (1, 'cat'), (2, 'cat')"],
    );
    for _ in 0..2 {
        assert_eq!(
            cell(&mut client, "SELECT queue_wait('alerts_dead', 60)"),
            "1"
        );
    }
    let why = cell(
        &mut client,
        "SELECT error FROM alerts_dead WHERE doc_id = 2",
    );
    assert_eq!(why, "status 307 Temporary Redirect");
    assert_eq!(target.count(), 2 * 6, "six attempts each");
    assert!(inward.is_quiet());
}

#[test]
fn a_target_that_is_gone_is_not_asked_again() {
    let target = Target::start(|number| Answer::Status(if number == 0 { 410 } else { 200 }));
    let server = setup(&target).start();
    let mut client = server.client();
    listen(&mut client, "alerts", &target);
    run(
        &mut client,
        &["INSERT INTO posts (id, title) VALUES (1, 'cat'), (2, 'cat')"],
    );
    assert_eq!(
        cell(&mut client, "SELECT queue_wait('alerts_dead', 60)"),
        "1"
    );
    assert_eq!(cell(&mut client, "SELECT doc_id FROM alerts_dead"), "1");
    let ids = [target.next(), target.next()].map(|received| received.header("webhook-id"));
    assert_ne!(ids[0], ids[1], "the next hit goes out");
}

#[test]
fn a_hit_is_sent_again_with_its_id_after_kill_9_before_its_end() {
    let target = Target::start(|number| match number {
        0 => Answer::Never,
        _ => Answer::Status(200),
    });
    let mut server = setup(&target).start();
    listen(&mut server.client(), "alerts", &target);
    run(
        &mut server.client(),
        &["INSERT INTO posts (title) VALUES ('cat')"],
    );
    let first = target.next();
    server.kill_and_restart();
    let second = target.next();
    assert_eq!(first.header("webhook-id"), second.header("webhook-id"));
    assert_eq!(first.body, second.body);
    wait_for(&mut server.client(), "SHOW STATUS LIKE 'queue_rows'", "0");
    server.kill_and_restart();
    assert_eq!(
        cell(&mut server.client(), "SHOW STATUS LIKE 'queue_rows'"),
        "0"
    );
    assert!(target.is_quiet());
}

#[test]
fn a_host_that_is_not_allowed_gets_nothing_until_it_is() {
    let target = Target::start(|_| Answer::Status(200));
    let server = Server::start();
    let mut client = server.client();
    listen(&mut client, "alerts", &target);
    run(&mut client, &["INSERT INTO posts (title) VALUES ('cat')"]);
    until("the host is refused", || {
        let log = server.log();
        log.contains("webhook.allow does not name this host")
            .then_some(())
    });
    assert_eq!(
        cell(&mut client, "SELECT count(*) FROM alerts_webhook"),
        "1"
    );
    assert!(target.is_quiet());
    let allow = format!("webhook.allow = '{}'", target.address);
    std::fs::write(server.folder().path("seine.toml"), allow).unwrap();
    server.signal(Signal::HUP);
    let received = target.next();
    assert!(
        !received.head.contains("webhook-signature"),
        "no secret is set"
    );
}

#[test]
fn a_target_that_hangs_holds_up_neither_another_table_nor_the_stop() {
    let hanging = Target::start(|_| Answer::Never);
    let target = Target::start(|_| Answer::Status(200));
    let both = format!("{},{}", target.address, hanging.address);
    let mut server = setup(&target)
        .variable("SEINE_WEBHOOK_ALLOW", &both)
        .start();
    let mut client = server.client();
    listen(&mut client, "slow", &hanging);
    listen(&mut client, "quick", &target);
    run(&mut client, &["INSERT INTO posts (title) VALUES ('cat')"]);
    hanging.next();
    target.next();
    drop(client);
    let asked = Instant::now();
    assert_eq!(server.terminate().code(), Some(0));
    assert!(asked.elapsed() < Duration::from_secs(10));
}

/// Threads of the server's process.
fn threads(server: &Server) -> usize {
    let tasks = format!("/proc/{}/task", server.pid());
    std::fs::read_dir(tasks).unwrap().count()
}

#[test]
fn many_tables_whose_targets_hang_take_few_threads_and_hold_up_no_other() {
    const TABLES: usize = 40;
    let hanging = Target::start(|_| Answer::Never);
    let target = Target::start(|_| Answer::Status(200));
    let both = format!("{},{}", target.address, hanging.address);
    let server = setup(&target)
        .variable("SEINE_WEBHOOK_ALLOW", &both)
        .variable("SEINE_FAULTS", "webhook-timeout=1000")
        .start();
    let mut client = server.client();
    let before = threads(&server);
    for table in 0..TABLES {
        listen(&mut client, &format!("slow{table}"), &hanging);
    }
    listen(&mut client, "quick", &target);
    for sent in 1..=3 {
        run(&mut client, &["INSERT INTO posts (title) VALUES ('cat')"]);
        target.next();
        let delivered = sent.to_string();
        wait_for(
            &mut client,
            "SHOW STATUS LIKE 'webhooks_delivered'",
            &delivered,
        );
    }
    let more = threads(&server).saturating_sub(before);
    assert!(more < TABLES / 2, "{more} threads more");
}

#[test]
fn a_target_that_does_not_answer_in_time_has_not_taken_the_hit() {
    let target = Target::start(|_| Answer::Never);
    let faults = "webhook-pause=5,webhook-timeout=50";
    let server = setup(&target).variable("SEINE_FAULTS", faults).start();
    let mut client = server.client();
    listen(&mut client, "alerts", &target);
    run(&mut client, &["INSERT INTO posts (title) VALUES ('cat')"]);
    assert_eq!(
        cell(&mut client, "SELECT queue_wait('alerts_dead', 60)"),
        "1"
    );
    let why = cell(&mut client, "SELECT error FROM alerts_dead");
    assert!(why.contains("timeout"), "{why}");
}

#[test]
fn an_address_that_is_none_is_refused_where_it_is_written() {
    let server = Server::start();
    let mut client = server.client();
    run(&mut client, &["CREATE TABLE posts (title text)"]);
    for address in [
        "ftp://a.test/",
        "https://user:secret@a.test/",
        "https://a.test:x/",
    ] {
        let create = format!("CREATE TABLE alerts type='pq' on='posts' into='{address}'");
        assert!(client.query(&create).is_err(), "{address}");
    }
}

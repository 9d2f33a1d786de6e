//! The two ways of a batch of posts to the server: an INSERT, or a call of Scribe's `Log`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use client::Client;
use collect::quoted_text;
use serde_json::{Value, json};
use wire::scribe::ResultCode;

use super::child::Server;
use super::home::Home;
use super::posts::Batch;
use super::screen::{Screen, grouped};
use super::{Checks, Failure, Result, failed};
use crate::scribe_client;

/// Category of the posts.
const CATEGORY: &str = "posts";
/// Longest wait for a server that answers TRY_LATER, and for its files.
const PATIENCE: Duration = Duration::from_secs(30);
/// Time between two attempts, and between two looks at files.
const PAUSE: Duration = Duration::from_millis(20);

/// The configuration of `--collect`. The server makes the table `posts`; its ids are given in the order of arrival, and so are
/// those of the demo.
pub(super) const CONFIGURATION: &str = "\
<store>
category=posts
type=file
file_path=posts
base_filename=posts
</store>
<store>
category=posts
type=index
table=posts
format=json
fields=body sub ts:ts:timestamp score:score:int number:number:bigint
</store>
";

/// A connection that posts go over.
pub(super) enum Sending {
    Insert(Box<Client>),
    Log(Box<collect::Client>),
}

impl Sending {
    /// Opens a connection. `collects`: to the Scribe door.
    pub(super) fn open(server: &Server, collects: bool) -> Result<Sending> {
        if !collects {
            return Ok(Sending::Insert(Box::new(server.connect()?)));
        }
        let client = scribe_client::connect(server.scribe());
        let client = client.map_err(failed("connecting to the server"))?;
        Ok(Sending::Log(Box::new(client)))
    }

    /// Sends a batch. Returns once the server has acknowledged it.
    pub(super) fn send(&mut self, batch: &Batch) -> Result<()> {
        match self {
            Sending::Insert(client) => {
                let done = client.query(&insert_statement(batch));
                done.map(drop).map_err(failed("inserting posts"))
            }
            Sending::Log(client) => log(client, batch),
        }
    }
}

fn log(client: &mut collect::Client, batch: &Batch) -> Result<()> {
    let line = |post: &super::posts::Post| {
        let post = json!({
            "number": post.id, "body": post.body, "sub": post.sub, "ts": post.ts, "score": post.score,
        });
        format!("{post}\n")
    };
    let lines: Vec<String> = batch.iter().map(line).collect();
    let end = Instant::now() + PATIENCE;
    loop {
        let messages = lines
            .iter()
            .map(|line| (CATEGORY.as_bytes(), line.as_bytes()));
        let answer = client.log(messages).map_err(failed("collecting posts"))?;
        match answer {
            ResultCode::Ok => return Ok(()),
            ResultCode::TryLater if Instant::now() < end => thread::sleep(PAUSE),
            ResultCode::TryLater => return Err(Failure("the server answers TRY_LATER".to_owned())),
        }
    }
}

fn insert_statement(batch: &Batch) -> String {
    let mut sql = String::with_capacity(batch.len() * 200);
    sql.push_str("INSERT INTO posts (id, body, sub, ts, score) VALUES ");
    for (index, post) in batch.iter().enumerate() {
        sql.push_str(if index == 0 { "(" } else { ",(" });
        let (body, sub, ts) = (
            quoted_text(&post.body),
            quoted_text(&post.sub),
            quoted_text(&post.ts),
        );
        sql.push_str(&format!("{},{body},{sub},{ts},{})", post.id, post.score));
    }
    sql
}

/// Shows that the files of the category hold every acknowledged post.
pub(super) fn check_files(
    screen: &mut Screen,
    checks: &mut Checks,
    home: &Home,
    acknowledged: u64,
) -> Result<()> {
    let folder = home.data().join("collected").join(CATEGORY);
    let end = Instant::now() + PATIENCE;
    let (found, lines) = loop {
        let (found, lines) = numbers(&folder)?;
        if found.len() as u64 >= acknowledged || Instant::now() >= end {
            break (found, lines);
        }
        thread::sleep(PAUSE);
    };
    let holds = found.iter().copied().eq(1..=acknowledged);
    let again = lines - found.len() as u64;
    let fact = format!(
        "the files of the category hold all {} posts; {} came again after the crash",
        grouped(found.len() as u64),
        grouped(again)
    );
    checks.see(screen, holds, &fact);
    Ok(())
}

/// The numbers of the posts in the files of a folder, and the count of lines.
fn numbers(folder: &Path) -> Result<(BTreeSet<u64>, u64)> {
    let (mut found, mut lines) = (BTreeSet::new(), 0);
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok((found, lines)); // no message is written yet
    };
    for entry in entries {
        let entry = entry.map_err(failed(folder.display()))?;
        // Not the link to the newest file, which the server makes anew: it may be gone by now.
        if !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let path = entry.path();
        let text = fs::read_to_string(&path).map_err(failed(path.display()))?;
        // The last line may be half written.
        for line in text
            .split_inclusive('\n')
            .filter(|line| line.ends_with('\n'))
        {
            let post: Value = serde_json::from_str(line).map_err(failed(path.display()))?;
            found.extend(post["number"].as_u64());
            lines += 1;
        }
    }
    Ok((found, lines))
}

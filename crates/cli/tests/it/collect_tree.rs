//! A tree of collectors whose servers are killed with SIGKILL at random moments while clients send: everything that a leaf
//! answered OK comes to the root's files, in order for each client and category. A stretch may come again, from its beginning.
//!
//! ```text
//! root ◁─ 3 in the middle ◁─ 9 leaves ◁─ a client each        a buffer in front of each network, so nothing waits for a server
//! ```
//!
//! A few seconds of a small tree by default. `SEINE_TREE_SECONDS=300` takes the whole tree for so long, and `SEINE_KILL_SEED=7`
//! draws other moments.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use collect::Client;
use wire::scribe::ResultCode;

use crate::random::XorShift;
use crate::server::{Folder, Server, Setup, until};

const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
const SECONDS: u64 = 8;
const CATEGORIES: [&str; 3] = ["web", "mail", "db.slow"];
/// Longest time between two kills, and longest time that a killed server stays away. Milliseconds.
const PAUSE_MS_MAX: usize = 900;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// A client of a leaf, and what the leaf answered OK.
struct Sender {
    name: usize,
    random: XorShift,
    /// Messages of each category that were answered OK.
    acknowledged: BTreeMap<&'static str, u64>,
    /// Messages of each category that were sent at all.
    sent: BTreeMap<&'static str, u64>,
    tries: u64,
}

impl Sender {
    /// Sends calls of 1 to 50 messages until it is over, each until it is answered OK.
    fn send_until(&mut self, addr: &str, over: &AtomicBool) {
        let mut connection = None;
        while !over.load(Ordering::Relaxed) {
            let category = CATEGORIES[self.random.below(CATEGORIES.len())];
            let first = self.acknowledged.get(category).copied().unwrap_or_default();
            let end = first + 1 + self.random.below(50) as u64;
            let bodies: Vec<String> = (first..end)
                .map(|number| format!("{} {number}\n", self.name))
                .collect();
            self.sent.insert(category, end);
            while !over.load(Ordering::Relaxed) {
                self.tries += 1;
                match log(&mut connection, addr, category, &bodies) {
                    Ok(ResultCode::Ok) => {
                        self.acknowledged.insert(category, end);
                        break;
                    }
                    Ok(ResultCode::TryLater) => {}
                    Err(_) => connection = None,
                }
                // Not a wait for something to become true: a client that cannot send does not take the processor.
                thread::park_timeout(Duration::from_millis(5));
            }
        }
    }
}

/// One call over the connection, or over a new one.
fn log(
    connection: &mut Option<Client>,
    addr: &str,
    category: &str,
    bodies: &[String],
) -> Result<ResultCode, String> {
    let client = match connection {
        Some(client) => client,
        None => {
            let (host, port) = addr.rsplit_once(':').unwrap();
            let server = (host, port.parse().unwrap());
            connection.insert(Client::connect(server, Duration::from_secs(20), 1 << 20)?)
        }
    };
    let entries = bodies.iter();
    client.log(entries.map(|body| (category.as_bytes(), body.as_bytes())))
}

/// A server whose doors keep their addresses through its restarts.
fn begin(parent: Option<&str>) -> Server {
    let folder = Folder::new();
    let conf = match parent.and_then(|addr| addr.rsplit_once(':')) {
        None => format!(
            "<store>\ncategory=default\ntype=file\nfile_path={}\nrotate_period=2s\n</store>\n",
            folder.path("files")
        ),
        Some((host, port)) => format!(
            "check_interval=1\n<store>\ncategory=default\ntype=buffer\nretry_interval=1\nretry_interval_range=1\n\
             <primary>\ntype=network\nremote_host={host}\nremote_port={port}\ntimeout=5000\n</primary>\n\
             <secondary>\ntype=file\nfile_path={}\n</secondary>\n</store>\n",
            folder.path("buffer")
        ),
    };
    std::fs::write(folder.0.join("scribe.conf"), conf).unwrap();
    let conf = folder.path("scribe.conf");
    let setup = Setup::default().flag("--scribe-config", &conf);
    let mut server = setup.clone().start_in(folder);
    let addr = server.scribe().to_owned();
    server.kill();
    server.restart_as(setup.flag("--scribe", &addr));
    server
}

/// Which messages the root's files hold. Fails at a message that comes before one that was sent earlier.
#[derive(Default)]
struct Found {
    /// Number behind the greatest message of each client and category.
    next: BTreeMap<(usize, &'static str), u64>,
    repeated: u64,
}

impl Found {
    fn read(root: &Server) -> Found {
        let mut found = Found::default();
        for category in CATEGORIES {
            let Ok(entries) = std::fs::read_dir(root.folder().0.join("files").join(category))
            else {
                continue;
            };
            let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
            files.retain(|path| path.is_file() && !path.is_symlink());
            files.sort();
            for file in files {
                let text = std::fs::read_to_string(&file).unwrap();
                for line in text.split_inclusive('\n') {
                    found.note(category, line, &file.display().to_string());
                }
            }
        }
        found
    }

    fn note(&mut self, category: &'static str, line: &str, file: &str) {
        let parts = line
            .strip_suffix('\n')
            .and_then(|line| line.split_once(' '));
        let numbers = parts.and_then(|(client, number)| {
            let client: usize = client.parse().ok()?;
            let number: u64 = number.parse().ok()?;
            Some((client, number))
        });
        let Some((client, number)) = numbers else {
            // A killed server may leave the beginning of a message; the message follows.
            return;
        };
        let next = self.next.entry((client, category)).or_default();
        assert!(
            number <= *next,
            "{file}: message {number} of client {client} in {category} comes before message {next}"
        );
        self.repeated += u64::from(number < *next);
        *next = (*next).max(number + 1);
    }

    /// The number of messages.
    fn count(&self) -> u64 {
        self.next.values().sum()
    }

    /// What was answered OK and is not there, for people.
    fn missing(&self, senders: &[Sender]) -> Vec<String> {
        let of_sender = |sender: &Sender| {
            let of_category = |(category, count): (&&'static str, &u64)| {
                let next = self.next.get(&(sender.name, *category));
                let next = next.copied().unwrap_or_default();
                (next < *count).then(|| {
                    format!(
                        "{next} of {count} from client {} in {category}",
                        sender.name
                    )
                })
            };
            sender
                .acknowledged
                .iter()
                .filter_map(of_category)
                .collect::<Vec<_>>()
        };
        senders.iter().flat_map(of_sender).collect()
    }
}

/// Waits until the root has everything. Fails when its files do not grow any more.
fn wait_for_all(root: &Server, senders: &[Sender], seed: u64) -> Found {
    loop {
        let before = Found::read(root);
        if before.missing(senders).is_empty() {
            return before;
        }
        let fact = format!(
            "seed {seed}: the root's files grow; there are only {:?}",
            before.missing(senders)
        );
        until(&fact, || {
            (Found::read(root).count() > before.count()).then_some(())
        });
    }
}

#[test]
fn a_tree_of_killed_collectors_delivers_everything_in_order() {
    let seed = number("SEINE_KILL_SEED").unwrap_or(SEED);
    println!("seed {seed}");
    let seconds = number("SEINE_TREE_SECONDS");
    let (middle_count, leaf_count) = if seconds.is_some() { (3, 9) } else { (1, 2) };
    let mut random = XorShift::new(seed);
    let mut servers = vec![begin(None)];
    let root = servers[0].scribe().to_owned();
    servers.extend((0..middle_count).map(|_| begin(Some(&root))));
    for leaf in 0..leaf_count {
        let parent = servers[1 + leaf % middle_count].scribe().to_owned();
        servers.push(begin(Some(&parent)));
    }
    let mut senders: Vec<Sender> = (0..leaf_count)
        .map(|name| Sender {
            name,
            random: XorShift::new(seed ^ (name as u64 + 1)),
            acknowledged: BTreeMap::new(),
            sent: BTreeMap::new(),
            tries: 0,
        })
        .collect();
    let leaves: Vec<String> = servers[1 + middle_count..]
        .iter()
        .map(|server| server.scribe().to_owned())
        .collect();
    let over = AtomicBool::new(false);
    let end = Instant::now() + Duration::from_secs(seconds.unwrap_or(SECONDS));
    let mut kills = 0;
    thread::scope(|scope| {
        for (sender, addr) in senders.iter_mut().zip(&leaves) {
            scope.spawn(|| sender.send_until(addr, &over));
        }
        while Instant::now() < end {
            // The moments of a kill and of a restart are the test's input.
            thread::park_timeout(Duration::from_millis(random.below(PAUSE_MS_MAX) as u64));
            let count = 1 + random.below(3);
            let places: BTreeSet<usize> = (0..count).map(|_| random.below(servers.len())).collect();
            places.iter().for_each(|place| servers[*place].kill());
            thread::park_timeout(Duration::from_millis(random.below(PAUSE_MS_MAX) as u64));
            places.iter().for_each(|place| servers[*place].again());
            kills += places.len();
        }
        over.store(true, Ordering::Relaxed);
    });
    let sent: u64 = senders
        .iter()
        .flat_map(|sender| sender.acknowledged.values())
        .sum();
    assert!(
        sent > 0 && kills > 0,
        "seed {seed}: {sent} messages, {kills} kills"
    );
    let tries: u64 = senders.iter().map(|sender| sender.tries).sum();
    let found = wait_for_all(&servers[0], &senders, seed);
    for ((client, category), next) in &found.next {
        let sent = senders[*client].sent[category];
        assert!(
            *next <= sent,
            "{next} messages of {sent} that client {client} sent to {category}"
        );
    }
    let repeated = found.repeated;
    println!(
        "seed {seed}: {sent} messages in {tries} calls, {kills} kills, {repeated} messages came again"
    );
}

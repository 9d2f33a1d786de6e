//! `seine demo`: shows the whole product in ten seconds and checks each claim. A false claim gives exit status 1.
//!
//! A real server runs as a child process. This process is a client of it, over the MySQL protocol like any other. It records
//! which posts were acknowledged and which queries each post must hit, and compares that with the server's tables.

mod account;
mod child;
mod count;
mod home;
mod load;
mod marks;
mod posts;
mod queries;
mod report;
mod screen;
mod sending;
mod summary;
#[cfg(test)]
mod tests;
mod tour;
mod watch;

use std::fmt;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use account::Account;
use child::{Addresses, Server};
use client::Client;
use home::Home;
use load::Load;
use posts::Posts;
use queries::Choice;
use screen::Screen;
pub(crate) use screen::{bar, grouped, push_clean};
use summary::Story;

/// Options of the demo.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Where the demo keeps its server's data; emptied if a demo made it, refused if not
    #[arg(long, value_name = "DIR", default_value = "./seine-demo")]
    pub data: PathBuf,
    /// Your own standing queries, one a line, in place of the built-in ones
    #[arg(long, value_name = "FILE")]
    pub queries: Option<PathBuf>,
    /// Your own posts, one JSON object a line with `body` (or `text`), and `sub`, `ts`, `score` if you have them
    #[arg(long, value_name = "FILE")]
    pub posts: Option<PathBuf>,
    /// Send the posts as log messages over the Scribe door, by a configuration that collects, keeps, indexes and matches them
    #[arg(long)]
    pub collect: bool,
    /// End after the summary instead of serving on, as the demo does where standard input or output is no terminal
    #[arg(long)]
    pub exit: bool,
}

/// Reason why the demo stops early, for the person at the screen.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    /// The output was closed.
    fn closed() -> Failure {
        Failure("the output was closed".to_owned())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

type Result<T> = std::result::Result<T, Failure>;

/// Makes a [`Failure`] of any error; `doing` names the failed step.
fn failed<E: fmt::Display>(doing: impl fmt::Display) -> impl FnOnce(E) -> Failure {
    move |error| Failure(format!("{doing}: {error}"))
}

/// The checks, in order. A failed one gives exit status 1.
#[derive(Default)]
struct Checks {
    failed: u32,
}

impl Checks {
    /// Shows a fact, and records a failure if it does not hold.
    fn see(&mut self, screen: &mut Screen, holds: bool, fact: &str) {
        screen.check(holds, fact);
        self.failed += u32::from(!holds);
    }
}

/// Runs the demo. It has printed every error when it returns.
#[must_use]
pub(crate) fn run(options: Options) -> ExitCode {
    let mut screen = Screen::new();
    match steps(&options, &mut screen) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(failed) => {
            screen.print(&format!("{failed} checks failed"));
            ExitCode::FAILURE
        }
        // Nobody reads on, as behind `| head`: what was done until then was right.
        Err(_) if screen.is_closed() => ExitCode::SUCCESS,
        Err(failure) => {
            screen.fail(&failure.to_string());
            ExitCode::FAILURE
        }
    }
}

/// Runs the six steps. Gives the count of failed checks.
fn steps(options: &Options, screen: &mut Screen) -> Result<u32> {
    let started = Instant::now();
    let mut checks = Checks::default();
    screen.title("Seine: every new document against all your saved searches, each hit kept");

    // 1. Say what will happen, and where.
    let mut posts = Posts::open(options.posts.as_deref())?;
    let choice = queries::choose(options.queries.as_deref(), &mut posts)?;
    let configuration = options.collect.then_some(sending::CONFIGURATION);
    let home = Home::prepare(&options.data, configuration)?;
    let device = home.device()?;
    let addresses = Addresses::free();
    introduce(screen, options, &home, &device, posts.total());

    // 2. Start a server, create its tables, store the standing queries.
    let mut server = Server::start(&home, addresses)?;
    let mut client = server.connect()?;
    create_tables(&mut client, options.collect)?;
    queries::store(&mut client, &choice.saved)?;
    show_queries(screen, &server, &choice);

    // 3. and 4. Insert the posts, with a crash half-way.
    let account = Account::open(&choice.saved);
    let mut load = Load::new(&choice.saved, account, options.collect);
    load.run(screen, &mut checks, &home, &mut server, &mut posts)?;
    client = server.connect()?;
    let counted = load.settle(screen, &mut checks, &mut client)?;
    if options.collect {
        sending::check_files(screen, &mut checks, &home, counted.documents())?;
    }

    // 5. Check the law; run a worker.
    let search = tour::law(screen, &mut checks, &mut client, &choice.saved, &counted)?;
    tour::worker(screen, &mut checks, &mut client, counted.hits())?;

    // 6. Print the summary.
    if options.queries.is_some() {
        report::print(screen, &choice, &counted, posts.total(), posts.bad());
    }
    let story = Story {
        queries: choice.saved.len(),
        device: &device,
        load: &load,
        counted: &counted,
        search: &search,
        started,
    };
    summary::print(screen, &mut client, &server, &story)?;
    if checks.failed == 0 && !options.exit && Screen::has_person() {
        summary::lines_to_paste(screen, &server);
        screen.print("serving until Ctrl-C");
        return server.wait().map(|()| 0);
    }
    server.stop()?;
    Ok(checks.failed)
}

fn introduce(
    screen: &mut Screen,
    options: &Options,
    home: &Home,
    device: &home::Device,
    posts: usize,
) {
    let queries = if options.queries.is_some() {
        "your"
    } else {
        "10,000"
    };
    screen.print(&format!(
        "This starts a server, stores {queries} standing queries, streams {} posts past them, kills the server \
         half-way, starts it again and counts.",
        grouped(posts as u64)
    ));
    screen.print(&format!(
        "data     {} ({}, {} bare fdatasync a second)",
        home.shown(),
        device.file_system,
        grouped(device.syncs_per_second)
    ));
    if options.collect {
        screen.print("collect  by this configuration of Scribe's stores");
        for line in sending::CONFIGURATION.lines() {
            screen.print(&format!("         {line}"));
        }
    }
    if device.is_memory() {
        screen.warn(
            "this file system is memory: syncs cost nothing here, and nothing outlives the machine",
        );
    }
}

/// Creates the three tables of the demo; `posts` is there if the server `collects`. `sub` is a text column, so that queries can
/// use `@sub`.
fn create_tables(client: &mut Client, collects: bool) -> Result<()> {
    const TABLES: [&str; 3] = [
        "CREATE TABLE posts (body text, sub text, ts timestamp, score int)",
        "CREATE TABLE hits (query_id bigint, tags text, doc_id bigint, sub text, body text) ENGINE=queue",
        "CREATE TABLE alerts type='pq' on='posts' into='hits'",
    ];
    for statement in TABLES.iter().skip(usize::from(collects)) {
        client.query(statement).map_err(failed(statement))?;
    }
    Ok(())
}

fn show_queries(screen: &mut Screen, server: &Server, choice: &Choice) {
    let (mysql, http) = (server.mysql(), server.http());
    screen.print(&format!("server   mysql {mysql}, http {http}"));
    let refused = match choice.bad.len() {
        0 => String::new(),
        bad => format!(", {bad} refused"),
    };
    let stored = grouped(choice.saved.len() as u64);
    screen.print(&format!("queries  {stored} stored{refused}, such as"));
    for query in choice.saved.iter().take(3) {
        screen.print(&format!("         {}", query.text));
    }
}

//! The summary, in at most eight lines, and commands to paste.

use std::time::Instant;

use client::Client;

use super::Result;
use super::child::Server;
use super::count::{self, Counted};
use super::home::Device;
use super::load::Load;
use super::posts::BATCH_POSTS;
use super::screen::{Screen, grouped};
use super::tour::Latencies;

/// Facts of the summary.
pub(super) struct Story<'a> {
    pub(super) queries: usize,
    pub(super) device: &'a Device,
    pub(super) load: &'a Load<'a>,
    pub(super) counted: &'a Counted,
    pub(super) search: &'a Latencies,
    pub(super) started: Instant,
}

/// Prints the summary.
pub(super) fn print(
    screen: &mut Screen,
    client: &mut Client,
    server: &Server,
    story: &Story<'_>,
) -> Result<()> {
    let Story {
        queries,
        device,
        load,
        counted,
        search,
        started,
    } = story;
    let syncs = load.syncs_before() + count::syncs(client)?;
    let millis = |percent| search.percentile(percent).as_secs_f64() * 1_000.0;
    screen.title("summary");
    screen.print(&format!(
        "documents  {} against {} standing queries: {} hits",
        grouped(counted.documents()),
        grouped(*queries as u64),
        grouped(counted.hits())
    ));
    screen.print(&format!(
        "speed      {} documents/s acknowledged durable and searchable, hits queued (one client, {BATCH_POSTS} a statement or call)",
        grouped(load.per_second())
    ));
    screen.print(&format!(
        "syncs      {} fdatasync, {} statements or calls; this disk does {} bare ones a second",
        grouped(syncs),
        grouped(load.statements()),
        grouped(device.syncs_per_second)
    ));
    screen.print(&format!(
        "search     p50 {:.2} ms, p99 {:.2} ms over {} searches, each ranked, first 20 rows",
        millis(50),
        millis(99),
        search.count()
    ));
    screen.print(&format!(
        "crash      back after {:.2} s",
        load.back_after().as_secs_f64()
    ));
    if let Some(mib) = anonymous_mib(server.pid()) {
        screen.print(&format!("memory     {mib} MiB anonymous, resident"));
    }
    screen.print(&format!(
        "whole demo {:.1} s",
        started.elapsed().as_secs_f64()
    ));
    Ok(())
}

/// Prints commands to paste that need no other program.
pub(super) fn lines_to_paste(screen: &mut Screen, server: &Server) {
    let program = program();
    screen.print("");
    screen.print("now paste, in another terminal:");
    screen.print(&format!(
        "  {program} sql --addr {} \"SELECT id, body FROM posts WHERE MATCH('\\\"star wars\\\"') LIMIT 3\"",
        server.mysql()
    ));
    screen.print(&format!(
        "  curl -s {}/sql -d \"SELECT COUNT(*) FROM posts WHERE MATCH('google -maps')\"",
        server.http()
    ));
    screen.print(&format!(
        "  {program} demo --queries mine.txt [--posts mine.ndjson]    # your own queries"
    ));
    screen.print(&format!(
        "  {program} demo --collect    # the posts as log messages"
    ));
}

/// This program's name, as the person would call it.
fn program() -> String {
    let program = std::env::current_exe().unwrap_or_else(|_| "seine".into());
    let here = std::env::current_dir().ok();
    let short = here.and_then(|here| {
        program
            .strip_prefix(here)
            .ok()
            .map(|path| path.display().to_string())
    });
    short.unwrap_or_else(|| program.display().to_string())
}

/// Memory of a process in MiB, without files and swapped pages; `None`: the system does not tell.
fn anonymous_mib(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"))?;
    line.trim()
        .trim_end_matches(" kB")
        .parse::<u64>()
        .ok()
        .map(|kib| kib / 1_024)
}

//! Shows the law on one hit and checks it on twenty queries; shows a worker's round.

use std::time::{Duration, Instant};

use client::Client;
use collect::quoted_text;

use super::count::{self, Counted};
use super::queries::{SHOWN, Saved};
use super::screen::Screen;
use super::{Checks, Result, failed};

/// Times that each search is run for the latency.
const ROUNDS: usize = 5;
/// Most characters of an answer that are shown.
const ANSWER_CHARS: usize = 90;

/// Latencies of searches, ascending.
pub(super) struct Latencies(Vec<Duration>);

impl Latencies {
    /// The latency that `percent` percent of the searches do not exceed.
    pub(super) fn percentile(&self, percent: usize) -> Duration {
        let last = self.0.len().saturating_sub(1);
        self.0
            .get(last * percent / 100)
            .copied()
            .unwrap_or_default()
    }

    pub(super) fn count(&self) -> usize {
        self.0.len()
    }
}

/// Shows that a search finds the post that hit the query. Compares counts of search and percolation for the named queries.
pub(super) fn law(
    screen: &mut Screen,
    checks: &mut Checks,
    client: &mut Client,
    saved: &[Saved],
    counted: &Counted,
) -> Result<Latencies> {
    let shown: Vec<&Saved> = saved.iter().take(SHOWN as usize).collect();
    screen.print("the law: a search finds a post exactly when the post hits the query");
    let hit = shown
        .iter()
        .find_map(|query| Some((query, counted.posts_of(query.id).first()?)));
    if let Some((query, (_, post))) = hit {
        let text = quoted_text(&query.text);
        let sql = format!("SELECT id, body FROM posts WHERE MATCH({text}) AND id = {post}");
        let rows = ask(screen, client, &sql)?;
        let found = rows.len() == 1 && rows[0].starts_with(&format!("{post} | "));
        checks.see(
            screen,
            found,
            &format!("post {post} hit this query, and this search finds it"),
        );
    }
    let mut equal = 0;
    let mut latencies = Vec::new();
    for query in &shown {
        let text = quoted_text(&query.text);
        let sql = format!("SELECT COUNT(*) FROM posts WHERE MATCH({text})");
        let found = count::number(client, &sql)?;
        equal += usize::from(found == counted.posts_of(query.id).len() as u64);
        let sql = format!("SELECT id, weight() FROM posts WHERE MATCH({text})");
        for _ in 0..ROUNDS {
            let asked = Instant::now();
            client.query(&sql).map_err(failed(&sql))?;
            latencies.push(asked.elapsed());
        }
    }
    let fact = format!(
        "{equal} of {} queries: as many posts found as hits kept",
        shown.len()
    );
    checks.see(screen, equal == shown.len(), &fact);
    latencies.sort_unstable();
    Ok(Latencies(latencies))
}

/// Shows a worker's round: take a hit, read it, end it.
pub(super) fn worker(
    screen: &mut Screen,
    checks: &mut Checks,
    client: &mut Client,
    hits: u64,
) -> Result<()> {
    if hits == 0 {
        return Ok(());
    }
    screen.print("a worker's round");
    let waited = ask(screen, client, "SELECT queue_wait('hits', 1)")?;
    let row = ask(
        screen,
        client,
        "SELECT query_id, tags, doc_id, body FROM hits",
    )?;
    let ended = ask(screen, client, "SELECT queue_end()")?;
    let left = count::number(client, "SELECT COUNT(*) FROM hits")?;
    let holds = waited == ["1"] && row.len() == 1 && ended == ["1"] && left == hits - 1;
    checks.see(
        screen,
        holds,
        "one row owned, read and ended; it alone has left the queue",
    );
    Ok(())
}

/// Runs a statement and shows it with its answer. Gives the rows, with ` | ` between the cells.
fn ask(screen: &mut Screen, client: &mut Client, sql: &str) -> Result<Vec<String>> {
    let result = client.query(sql).map_err(failed(sql))?;
    screen.print(&format!("  > {sql}"));
    let cell = |cell: &Option<Vec<u8>>| match cell {
        Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        None => "NULL".to_owned(),
    };
    let rows: Vec<String> = result
        .rows
        .iter()
        .map(|row| row.iter().map(cell).collect::<Vec<_>>().join(" | "))
        .collect();
    for row in &rows {
        let shown: String = row.chars().take(ANSWER_CHARS).collect();
        screen.print(&format!(
            "    {}{}",
            clean(&shown),
            if shown.len() < row.len() { "…" } else { "" }
        ));
    }
    Ok(rows)
}

/// A stranger's text without control characters.
fn clean(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

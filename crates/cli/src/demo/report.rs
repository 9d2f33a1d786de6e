//! Report on the user's own queries: bad, doubtful, silent and noisy ones.

use super::count::Counted;
use super::queries::{Choice, Remark, Saved};
use super::screen::{Screen, grouped};

/// A query is noisy if more than one in this count of posts hits it.
const NOISY_ONE_IN: usize = 20;
/// Most lines of a kind that are shown.
const LINES: usize = 10;

/// Prints the report.
pub(super) fn print(
    screen: &mut Screen,
    choice: &Choice,
    counted: &Counted,
    posts: usize,
    bad_posts: &[usize],
) {
    screen.title("your queries");
    let shown = |one: &Remark| format!("line {}: {}: {}", one.line, one.text, one.why);
    let bad = choice.bad.iter().map(shown).collect();
    section(screen, "bad: refused; the others were stored", bad);
    let doubtful = choice.doubtful.iter().map(shown).collect();
    section(screen, "doubtful: stored as they stand", doubtful);

    let hits = |query: &Saved| counted.posts_of(query.id).len();
    let silent = choice
        .saved
        .iter()
        .filter(|query| hits(query) == 0)
        .map(|query| query.text.clone());
    section(
        screen,
        &format!("silent: no hit in {} posts", grouped(posts as u64)),
        silent.collect(),
    );

    let mut noisy: Vec<&Saved> = choice
        .saved
        .iter()
        .filter(|query| hits(query) * NOISY_ONE_IN > posts)
        .collect();
    noisy.sort_by_key(|query| (std::cmp::Reverse(hits(query)), query.id));
    let noisy = noisy.iter().map(|query| {
        format!(
            "{:5.1} %  {}",
            hits(query) as f64 * 100.0 / posts.max(1) as f64,
            query.text
        )
    });
    section(
        screen,
        &format!("noisy: hit by more than one post in {NOISY_ONE_IN}"),
        noisy.collect(),
    );

    if !bad_posts.is_empty() {
        let lines = bad_posts.iter().map(|line| format!("line {line}"));
        section(
            screen,
            "lines of the posts file: no post in them, left out",
            lines.collect(),
        );
    }
}

fn section(screen: &mut Screen, title: &str, lines: Vec<String>) {
    screen.print(&format!("  {} {title}", grouped(lines.len() as u64)));
    for line in lines.iter().take(LINES) {
        screen.print(&format!("      {line}"));
    }
    if lines.len() > LINES {
        screen.print(&format!("      and {} more", lines.len() - LINES));
    }
}

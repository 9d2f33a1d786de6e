//! Plain words: no placeholder for a doc comment, no phrase that hides who or how many, no Markdown line that is too long.
//! STYLE.md has the reason of each.

use super::Problem;
use super::source::{Source, words};
use super::tree::Tree;

/// Phrases that no sentence of ours needs, in lower case. Between backticks they may stand: STYLE.md lists them so.
const PHRASES: [&str; 10] = [
    "so many",
    "as many as",
    "whoever",
    "its like",
    "their like",
    "the asked",
    "the found",
    "likewise.",
    "see the module's text",
    "what a row weighs",
];

/// Folders of Rust files that are read.
const OURS: [&str; 3] = ["crates/", "bench/", "xtask/"];

/// Characters of a line of Markdown.
const LINE_CHARS_MAX: usize = 130;

/// Pages whose rows of tables may be longer, with the reason.
const LONG_ROWS: [(&str, &str); 3] = [
    (
        "docs/errors.md",
        "a test compares each row with the table in the code",
    ),
    (
        "docs/settings.md",
        "a test compares each row with the table in the code",
    ),
    ("SAFETY.md", "a row names the tests that guard a loss"),
];

/// History, which is not written again, and records of measurements.
const LEFT_ALONE: [&str; 2] = ["CHANGELOG.md", "benchmarks/record/"];

/// Words of a doc comment that is shorter than this are looked at.
const DOC_WORDS: usize = 3;

/// First words of a short doc comment that only repeats the name below it, or asks.
const OPENERS: [&str; 30] = [
    "a", "all", "an", "both", "each", "how", "it", "its", "itself", "likewise", "none", "of",
    "one", "same", "see", "so", "some", "such", "that", "the", "their", "these", "this", "those",
    "what", "when", "where", "which", "who", "whose",
];

/// The single words that say a fact: units and orders.
const FACTS: [&str; 9] = [
    "ascending",
    "bytes",
    "descending",
    "empty",
    "microseconds",
    "milliseconds",
    "rising",
    "seconds",
    "sorted",
];

pub(super) fn check(tree: &Tree, problems: &mut Vec<Problem>) {
    for (path, text) in tree.texts() {
        if LEFT_ALONE.iter().any(|left| path.starts_with(left)) {
            continue;
        }
        if path.ends_with(".md") {
            check_lengths(path, text, problems);
            for paragraph in paragraphs(text) {
                check_phrases(path, &paragraph, problems);
            }
        } else if OURS.iter().any(|folder| path.starts_with(folder)) && path.ends_with(".rs") {
            let source = Source::new(path, text);
            for comment in comments(text, &source) {
                check_phrases(path, &comment, problems);
                check_doc(path, &comment, problems);
            }
        }
    }
}

/// Neighbouring lines that are read as one text.
struct Block<'t> {
    /// Number from 1 and text of each line, without the marks of a comment.
    lines: Vec<(usize, &'t str)>,
    /// The doc comment of an item or a module.
    is_doc: bool,
}

fn check_lengths(path: &str, text: &str, problems: &mut Vec<Problem>) {
    let may_have_long_rows = LONG_ROWS.iter().any(|(page, _)| *page == path);
    for (index, line) in text.lines().enumerate() {
        let chars = line.chars().count();
        let is_free = may_have_long_rows && line.starts_with('|');
        if chars > LINE_CHARS_MAX && !is_free {
            let message = format!("{chars} characters; a line has at most {LINE_CHARS_MAX}");
            problems.push(Problem::new(path, index + 1, message));
        }
    }
}

fn check_phrases(path: &str, block: &Block<'_>, problems: &mut Vec<Problem>) {
    let mut joined = String::new();
    let mut starts = Vec::new();
    for (number, line) in &block.lines {
        starts.push((joined.len(), *number));
        joined.push_str(&without_code(line).to_lowercase());
        joined.push(' ');
    }
    for phrase in PHRASES {
        for at in words(&joined, phrase) {
            let line = starts.iter().rev().find(|(start, _)| *start <= at);
            let number = line.map_or(1, |(_, number)| *number);
            let message = format!("\"{phrase}\": STYLE.md says what to write instead");
            problems.push(Problem::new(path, number, message));
        }
    }
}

fn check_doc(path: &str, comment: &Block<'_>, problems: &mut Vec<Problem>) {
    let Some((first, _)) = comment.lines.first() else {
        return;
    };
    let texts = comment.lines.iter().map(|(_, line)| *line);
    let text = texts.collect::<Vec<_>>().join(" ");
    if comment.is_doc && is_placeholder(&text) {
        let message = format!("\"{text}\" says nothing that the name does not: say a fact");
        problems.push(Problem::new(path, *first, message));
    }
}

/// Whether a doc comment is one or two words, without code, a number or a keyword, that say no fact.
fn is_placeholder(text: &str) -> bool {
    let is_fact = |c: char| c.is_ascii_digit() || matches!(c, '`' | '[');
    let lower = text.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'');
    let count = text.split_whitespace().count();
    if count >= DOC_WORDS || text.contains(is_fact) || !text.contains(|c: char| c.is_lowercase()) {
        return false;
    }
    let first = words.next().unwrap_or_default();
    OPENERS.contains(&first) || count == 1 && !FACTS.contains(&first)
}

/// The line without what stands between backticks.
fn without_code(line: &str) -> String {
    line.split('`')
        .step_by(2)
        .collect::<Vec<_>>()
        .join("\u{fffd}")
}

/// Lines of Markdown between blank lines; code in fences or indented by four is none.
fn paragraphs(text: &str) -> Vec<Block<'_>> {
    let (mut blocks, mut is_fenced) = (Vec::new(), false);
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        is_fenced ^= line.starts_with("```");
        let is_code = is_fenced || line.starts_with("    ") && lines.is_empty();
        if line.trim().is_empty() || is_code {
            end(&mut lines, false, &mut blocks);
        } else {
            lines.push((index + 1, line.trim()));
        }
    }
    end(&mut lines, false, &mut blocks);
    blocks
}

/// Comments on lines of their own, outside of tests.
fn comments<'t>(text: &'t str, source: &Source) -> Vec<Block<'t>> {
    let mut blocks = Vec::new();
    let (mut lines, mut before) = (Vec::new(), "");
    for (index, line) in text.lines().enumerate() {
        let (mark, rest) = comment_of(line.trim());
        let is_read = !mark.is_empty() && !source.is_test(index + 1);
        if !is_read || mark != before {
            end(&mut lines, before != "//", &mut blocks);
        }
        if is_read {
            lines.push((index + 1, rest.trim()));
        }
        before = if is_read { mark } else { "" };
    }
    end(&mut lines, before != "//", &mut blocks);
    blocks
}

/// The mark of a comment and what follows it; nothing of a line that is none.
fn comment_of(line: &str) -> (&str, &str) {
    let mark = ["///", "//!", "//"]
        .into_iter()
        .find(|mark| line.starts_with(mark));
    mark.map_or(("", line), |mark| line.split_at(mark.len()))
}

fn end<'t>(lines: &mut Vec<(usize, &'t str)>, is_doc: bool, blocks: &mut Vec<Block<'t>>) {
    if !lines.is_empty() {
        let lines = std::mem::take(lines);
        blocks.push(Block { lines, is_doc });
    }
}

//! The standing queries: twenty that people can read, and others derived from the posts up to ten thousand; or a file of the
//! user's.

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;
use std::path::Path;

use client::Client;
use collect::quoted_text;
use language::analysis::{Analyzer, Words};
use language::parse;
use language::tree::{Node, Query};

use super::posts::{BATCH_POSTS, Post, Posts};
use super::{Failure, Result, failed};

/// The text columns of `posts`, in order.
pub(super) const FIELDS: [&str; 2] = ["body", "sub"];
/// Index of the column `body` in [`FIELDS`].
pub(super) const BODY: u8 = 0;
pub(super) const SUB: u8 = 1;
/// Standing queries in all.
const QUERIES: usize = 10_000;
/// Batches of posts from which queries are derived.
const SAMPLE_BATCHES: usize = 36_000 / BATCH_POSTS;
/// Count of the sample's posts that a word of a derived query may occur in. A more frequent word would make the query noisy.
const SAMPLE_POSTS: RangeInclusive<u32> = 3..=24;
/// Standing queries in one INSERT.
const INSERT_QUERIES: usize = 1_000;

/// Queries with their tags, for people.
const NAMED: [(&str, &str); 20] = [
    ("google -maps", "brand,web"),
    ("\"star wars\"", "film"),
    ("iphone | samsung", "brand,phones"),
    (
        "linux @sub (linux_gaming | ubuntu | gaming)",
        "software,games",
    ),
    ("nasa (mars | moon | space)", "science"),
    ("\"doctor who\"", "television"),
    ("bitcoin -mining", "money"),
    ("\"game of thrones\" -spoiler -spoilers", "television"),
    ("tesla -nikola", "brand,cars"),
    ("netflix", "brand,television"),
    ("\"new york\" -times", "places"),
    ("coffee (beans | espresso | roast)", "food"),
    ("microsoft (windows | xbox | surface)", "brand,software"),
    ("\"climate change\" | \"global warming\"", "science"),
    ("guitar (amp | pedal | acoustic)", "music"),
    ("minecraft server", "games"),
    ("\"world cup\" | olympics", "sport"),
    (
        "python -monty @sub (programming | python | learnpython)",
        "software",
    ),
    ("\"breaking bad\"", "television"),
    ("(batman | superman) -lego", "film"),
];

/// Highest id of the queries whose hits are shown; the ids begin at 1.
pub(super) const SHOWN: u64 = NAMED.len() as u64;

/// A stored standing query, and its parsed tree for the account.
#[derive(Clone, Debug)]
pub(super) struct Saved {
    pub(super) id: u64,
    pub(super) text: String,
    pub(super) tags: String,
    pub(super) root: Node,
}

/// A remark about a line of the user's file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Remark {
    pub(super) line: usize,
    pub(super) text: String,
    pub(super) why: String,
}

/// The standing queries of this run.
#[derive(Default)]
pub(super) struct Choice {
    pub(super) saved: Vec<Saved>,
    /// Lines that are no queries.
    pub(super) bad: Vec<Remark>,
    /// Lines with a query that probably means something else than intended.
    pub(super) doubtful: Vec<Remark>,
}

/// The user's queries, or the named and derived ones.
pub(super) fn choose(file: Option<&Path>, posts: &mut Posts) -> Result<Choice> {
    let Some(path) = file else {
        let sample = posts.look_ahead(SAMPLE_BATCHES)?;
        let sample: Vec<&Post> = sample.iter().flat_map(|batch| batch.iter()).collect();
        return Ok(Choice {
            saved: built_in(&sample),
            ..Choice::default()
        });
    };
    let text = std::fs::read_to_string(path).map_err(failed(path.display()))?;
    let choice = read(&text);
    if choice.saved.is_empty() {
        let first = choice
            .bad
            .first()
            .map_or(String::new(), |one| format!(" ({})", one.why));
        return Err(Failure(format!(
            "{}: no query in it{first}",
            path.display()
        )));
    }
    Ok(choice)
}

/// Parses the queries of a file, one in each line. Skips empty lines.
pub(super) fn read(text: &str) -> Choice {
    let mut choice = Choice::default();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let remark = |why| Remark {
            line: index + 1,
            text: line.to_owned(),
            why,
        };
        match compile(line) {
            Ok(query) => {
                choice
                    .doubtful
                    .extend(query.warnings.into_iter().map(remark));
                push(&mut choice.saved, line, "", query.root);
            }
            Err(why) => choice.bad.push(remark(why)),
        }
    }
    choice
}

fn compile(text: &str) -> std::result::Result<Query, String> {
    parse(text, &FIELDS, &Analyzer::default())
        .map_err(|error| format!("at byte {}: {}", error.position, error.message))
}

fn push(saved: &mut Vec<Saved>, text: &str, tags: &str, root: Node) {
    let id = saved.len() as u64 + 1;
    saved.push(Saved {
        id,
        text: text.to_owned(),
        tags: tags.to_owned(),
        root,
    });
}

/// The named queries and those derived from the sample: [`QUERIES`] in all, or fewer from a small sample.
pub(super) fn built_in(sample: &[&Post]) -> Vec<Saved> {
    let mut saved = Vec::new();
    let mut texts = HashSet::new();
    let named = NAMED.iter().map(|(text, tags)| ((*text).to_owned(), *tags));
    for (text, tags) in named.chain(derived(sample)) {
        if saved.len() < QUERIES
            && texts.insert(text.clone())
            && let Ok(query) = compile(&text)
        {
            push(&mut saved, &text, tags, query.root);
        }
    }
    saved
}

/// Query texts of five shapes, from words that occur together in the sample. The same sample gives the same texts.
fn derived<'a>(sample: &'a [&'a Post]) -> impl Iterator<Item = (String, &'static str)> + 'a {
    let words: Vec<Vec<(String, u32)>> = sample
        .iter()
        .map(|post| telling_words(&post.body))
        .collect();
    let mut posts_with: HashMap<String, u32> = HashMap::new();
    for (word, _) in words.iter().flatten() {
        *posts_with.entry(word.clone()).or_default() += 1;
    }
    let count = move |word: &String| posts_with.get(word).copied().unwrap_or_default();
    words
        .into_iter()
        .enumerate()
        .filter_map(move |(index, words)| {
            let mut rare: Vec<&(String, u32)> = words
                .iter()
                .filter(|(word, _)| SAMPLE_POSTS.contains(&count(word)))
                .collect();
            rare.sort_by_key(|(word, _)| (count(word), word));
            rare.dedup_by_key(|(word, _)| word);
            let [(a, _), (b, _), (c, at), ..] = rare[..] else {
                return None;
            };
            let next = words.iter().find(|(_, position)| *position == at + 1);
            Some(match (index % 5, next) {
                (0, _) => (format!("{a} {b}"), "pair"),
                (1, Some((next, _))) => (format!("\"{c} {next}\""), "phrase"),
                (2, _) => (format!("{c} ({a} | {b})"), "choice"),
                (3, _) => (format!("{c} -{a}"), "without"),
                _ => (format!("{b} | {c}"), "either"),
            })
        })
}

/// The words of a text that may be in a query, with their positions: at least four letters, and nothing else.
fn telling_words(text: &str) -> Vec<(String, u32)> {
    let mut words = Vec::new();
    Analyzer::default().words(text, &mut |word| {
        if word.text.len() >= 4 && word.text.bytes().all(|byte| byte.is_ascii_lowercase()) {
            words.push((word.text.to_owned(), word.position));
        }
    });
    words
}

/// Stores the queries in `alerts`.
pub(super) fn store(client: &mut Client, saved: &[Saved]) -> Result<()> {
    for queries in saved.chunks(INSERT_QUERIES) {
        let mut sql = String::from("INSERT INTO alerts (id, query, tags) VALUES ");
        for (index, query) in queries.iter().enumerate() {
            sql.push_str(if index == 0 { "(" } else { ",(" });
            sql.push_str(&format!(
                "{},{},{})",
                query.id,
                quoted_text(&query.text),
                quoted_text(&query.tags)
            ));
        }
        client
            .query(&sql)
            .map_err(failed("storing standing queries"))?;
    }
    Ok(())
}

/// The words of a post, as the server's table analyses them.
pub(super) fn words_of(post: &Post) -> Words {
    let analyzer = Analyzer::default();
    let mut words = Words::new();
    words.push_field(&analyzer, BODY, &post.body);
    words.push_field(&analyzer, SUB, &post.sub);
    words
}
